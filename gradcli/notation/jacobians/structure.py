"""The structure of a Jacobian: its name, its closed form, and how many of its entries can be other
than 0.

Read off the deltas of its index notation. Where a matrix of numbers is given, nothing is claimed
that it contradicts.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...errors import MISFITS, if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import numel
from ...lazy import np
from .. import tree
from ..formulas.formula import Telling, formula
from ..formulas.simplify import simplify
from ..indices.index import Indices
from ..tree import Attribute, Call, Method, Name, Number, Subscript, Tree
from .bands import bands
from .composed import Composition
from .deltas import Reading, kronecker_name
from .layouts import Layout, Side, layouts
from .matrices import Matrices
from .patterns import KRONECKERS, SELECTIONS, TRANSPOSED, WEIGHTED, by_pattern, confirmed
from .strides import with_strides

LONG_FORM = 9  # length of a formula beside which a product may be shorter
MOST_ENTRIES = 1_000_000  # of the pattern of a Jacobian that is looked at entry by entry
MOST_DRAWN = 1_000_000  # the same, where it is drawn
OUT = Name("out")  # an output without a name
Parts = frozenset[tuple[Node, Tree]]
Known = dict[tuple[Layout, Node | None, bool, Parts, bool], Tree | None]


class Structure(NamedTuple):
    """`formula` is None where there is no short one, `nonzero` where they are too many to count;
    `at_most` so many are not 0, where values decide on it that are not known.

    Of a block-diagonal matrix the formula is that of one block, and `blocks` are the letters that
    tell which one, each with its size as it is written.
    """

    name: str
    formula: Tree | None
    nonzero: int | None
    total: int
    blocks: tuple[tuple[str, str], ...] = ()
    at_most: bool = False

    @property
    def text(self) -> str | None:
        """The formula of the whole matrix: of block-diagonal ones, block_diag of a list."""
        if self.formula is None or not self.blocks:
            return None if self.formula is None else tree.text(self.formula)
        loops = " ".join(f"for {letter} in range({size})" for letter, size in self.blocks)
        return f"block_diag(*[{tree.text(self.formula)} {loops}])"

    def matrix(self, arrays: Callable[[str], Any], shape: tuple[int, int]) -> Any:
        """The numbers of the formula; `arrays` evaluates texts of the language. None where it
        cannot be computed, or its numbers are no matrix of the shape.
        """
        with np.errstate(all="ignore"):
            return if_applicable(lambda: self._matrix(arrays, shape), MISFITS)

    def _matrix(self, arrays: Callable[[str], Any], shape: tuple[int, int]) -> Any:
        assert self.formula is not None
        if not self.blocks:
            return _shaped(arrays(tree.text(self.formula)), shape)
        letters = [letter for letter, _ in self.blocks]
        sizes = [int(arrays(size)) for _, size in self.blocks]
        count = numel(sizes)
        rows, columns = (n // count for n in shape)
        out = np.zeros((count, rows, count, columns))
        for k, at in enumerate(np.ndindex(*sizes)):
            block = arrays(_with(tree.text(self.formula), dict(zip(letters, at))))
            out[k, :, k, :] = _shaped(np.atleast_2d(block), (rows, columns))  # as block_diag does
        return out.reshape(shape)

    def agrees(self, arrays: Callable[[str], Any], matrix: Any) -> bool:
        """Whether the formula has the numbers of a matrix."""
        result = self.matrix(arrays, matrix.shape)
        return result is not None and np.allclose(result, matrix, rtol=1e-6, atol=1e-9)


def _with(text: str, letters: Mapping[str, int]) -> str:
    """The text with numbers for its letters."""
    for letter, value in letters.items():
        text = re.sub(rf"\b{letter}\b", str(value), text)
    return text


def _shaped(array: Any, shape: tuple[int, int]) -> Any:
    if np.shape(array) != shape:
        raise LookupError(np.shape(array))
    return np.asarray(array, float)


def jacobian_structure(
    out: Node,
    x: Node,
    grad: Node,
    seed_node: Node,
    names: Mapping[Node, Name],
    matrix: Any = None,
    parts: Mapping[Node, Tree] | None = None,
    telling: Telling | None = None,
    like: Name | None = None,
    composing: bool = True,
    known: Known | None = None,
) -> Structure:
    """The structure of the Jacobian of `out` by `x`.

    `matrix`: its numbers somewhere, (out.numel, x.numel), which confirm the name. `parts` are nodes
    that are not looked into, with their formulas; whether sizes are `telling` is as in `formula`;
    `like` has the shape of an `out` that has no name. Without `composing` there is no formula where
    the deltas alone say none. Factors of products are `known` from other structures with the same
    names, sizes and `like`.
    """
    total = out.numel * x.numel
    matrix = None if matrix is None else np.asarray(matrix, float).reshape(out.numel, x.numel)
    rows = like or names.get(out, OUT)
    result: Structure | None = None
    read = partial(_read, names=names, parts=parts or {}, telling=telling)
    for layout in layouts(out, grad, seed_node) if total else ():
        reading = read(layout, x, like=rows)
        if reading is None:
            break
        other = _structure(reading, out, x, grad, seed_node, names, matrix, telling)
        if result is None or result.name == "dense" or other.formula is not None:
            result = other
        if result.formula is not None or result.name == "zero":
            break
    if composing and result is not None and _may_be_composed(result):
        given = frozenset((parts or {}).items()), telling is not None
        factors = {} if known is None else known
        composed = _composed(read, Layout(out, grad, seed_node), x, rows, given, factors)
        banded = bands(reading.write, reading.e, reading.rows, reading.columns) if reading else None
        written = _plainer(composed, banded)
        result = _with_formula(result, _clearly_shorter(written, result.formula))
    result = result or _of_matrix(matrix, total)
    return result._replace(formula=result.formula and with_strides(result.formula, names))


def _composed(
    read: Callable[..., Reading | None],
    layout: Layout,
    x: Node,
    rows: Name,
    given: tuple[Parts, bool],
    known: Known,
) -> Tree | None:
    """The product, or sum, of the Jacobians of parts; what `read` makes of one is `known` from
    others that are `given` the same.
    """

    def write(part: Layout, to_input: bool) -> Tree | None:
        by, like = x if to_input else None, rows if part.out is layout.out else None
        key = part, by, like is not None, *given
        if key not in known:
            reading = read(part, by, like=like)
            known[key] = None if reading is None else reading.formula()
        return known[key]

    return Composition(write)(layout)


def _clearly_shorter(written: Tree | None, own: Tree | None) -> Tree | None:
    """What is `written` as a product, where its `own` form is longer by more than a sign."""
    if written is None or own is None:
        return written or own
    return written if tree.size(written) + 1 < tree.size(own) else own


def _may_be_composed(result: Structure) -> bool:
    """Whether a product of Jacobians is looked for: where the deltas alone say no formula, or a
    long one that has no structure, as diag(p) @ A - outer(p, A.T @ p).
    """
    if result.formula is None:
        return result.name != "zero"
    return result.name == "dense" and tree.size(result.formula) > LONG_FORM


def _plainer(composed: Tree | None, banded: Tree | None) -> Tree | None:
    """Of D.T @ diag(w) @ D and its diagonals the product, unless these are much shorter."""
    if composed is None or banded is None:
        return composed or banded
    return banded if 3 * tree.size(banded) <= 2 * tree.size(composed) else composed


def _with_formula(result: Structure, formula: Tree | None) -> Structure:
    """A structure with a formula for the whole matrix."""
    if formula is None or result.name == "diagonal":
        return result._replace(formula=formula)
    return result._replace(name=kronecker_name(formula) or result.name, formula=formula)


def _structure(
    reading: Reading,
    out: Node,
    x: Node,
    grad: Node,
    seed_node: Node,
    names: Mapping[Node, Name],
    matrix: Any,
    telling: Telling | None,
) -> Structure:
    """What the deltas say, where the numbers of a matrix do not contradict."""
    total = out.numel * x.numel
    pattern = reading.pattern(MOST_ENTRIES)
    name, formula = reading.named(pattern, out.numel)
    blocks = reading.blocks() if name == "block-diagonal" else ()
    if formula is None and name in SELECTIONS:
        formula, blocks = reading.block(), reading.blocks()
        if formula is None and x not in walk(reading.picking):
            transposed, blocks = name == TRANSPOSED, ()
            formula = selection(out, x, grad, seed_node, names, transposed, telling)
    nonzero = reading.count(MOST_ENTRIES) if pattern is None else int(pattern.sum())
    if (pattern is None or reading.picking) and name in SELECTIONS:
        nonzero = x.numel if name == TRANSPOSED else out.numel
    blocks = blocks if formula is not None else ()
    result = Structure(name, formula, nonzero, total, blocks)
    if matrix is None:
        return result
    if name == "dense" and reading.picking:  # where its entries are is in numbers
        seen = _of_matrix(matrix, total)
        if seen.name in (*SELECTIONS, WEIGHTED):
            return seen._replace(formula=formula)
    if pattern is not None and (matrix[~pattern] != 0).any():
        return _of_matrix(matrix, total)
    if confirmed(name, matrix):
        return result
    if name in KRONECKERS:  # a name for the form, which may hold without it
        return result._replace(name=reading.by_place(pattern))
    return _of_matrix(matrix, total)


def jacobian_pattern(
    out: Node, x: Node, grad: Node, seed_node: Node, names: Mapping[Node, Name]
) -> Any:
    """Where entries can be other than 0, a mask of (out.numel, x.numel); None where that is not
    known, or there are too many.
    """
    reading = _read(Layout(out, grad, seed_node), x, names, {}, like=names.get(out, OUT))
    return None if reading is None else reading.pattern(MOST_DRAWN)


def _read(
    layout: Layout,
    x: Node | None,
    names: Mapping[Node, Name],
    parts: Mapping[Node, Tree],
    telling: Telling | None = None,
    like: Name | None = OUT,
) -> Reading | None:
    """The Jacobian by element; None where that is too long. The sizes of columns are written by
    `x`, those of rows by what is `like` the output, where there are such.
    """
    out, grad, seed = layout
    closed = {node: Name(f"part {k}") for k, node in enumerate(parts)}  # never written
    letters = Indices(out, seed, {**closed, **names})
    result = letters.jacobian_expression(grad)
    if result is None:
        return None
    e, at, sizes = result
    sides = []
    if x is not None:
        sides.append(Side(names[x], at, grad.shape == x.shape))
    if like is not None:
        sides.append(Side(like, letters.out_places, seed in names))
    named: dict[Node, Tree] = {**parts, **names}
    if seed in names and like is not None:  # by it its sizes are written
        named[seed] = names[x] if x is not None and x.shape == out.shape else like
    return Reading(e, letters.out_places, at, Matrices(named, sizes, sides, telling is not None))


def _of_matrix(matrix: Any, total: int) -> Structure:
    """What the numbers alone show."""
    if not total:
        return Structure("zero", None, 0, total)
    if matrix is None:
        return Structure("dense", None, None, total)
    pattern = matrix != 0
    return Structure(
        by_pattern(pattern, bool(np.isin(matrix, (0, 1)).all())), None, int(pattern.sum()), total
    )


# ---- selections ----------------------------------------------------------------------------------


def selection(
    out: Node,
    x: Node,
    grad: Node,
    seed: Node,
    names: Mapping[Node, Name],
    transposed: bool,
    telling: Telling | None = None,
) -> Tree:
    """The Jacobian of `out` by `x`, an identity whose rows are picked as out picks elements of x;
    `transposed` where the gradient picks elements of the seed.
    """
    node, source, like = (
        (grad, seed, names.get(out, names[seed])) if transposed else (out, x, names[x])
    )
    node = _unreshaped(node)  # the rows are the same
    count = (
        Method(like, "numel")
        if source.ndim != 1
        else Subscript(Attribute(like, "shape"), (Number(0),))
    )
    flat: Tree = Call("arange", (count,))
    places = flat if source.ndim == 1 else Method(flat, "reshape", (Attribute(like, "shape"),))
    known = {n: name for n, name in names.items() if n.op.name == "input" and n is not seed}
    known[source], moved = Name(tree.text(places)), simplify(node)
    vectors = (n for n in walk([moved]) if n.op.index == "reshape" and n.ndim == 1)
    known |= {n: Name(tree.text(flat)) for n in vectors if _unreshaped(n) is source}
    index = formula(moved, known, telling)
    if node.ndim != 1:
        index = Method(index, "flatten")
    at: tuple[Tree, ...] = (index,)
    if isinstance(index, Subscript) and tree.text(index.base) == tree.text(flat):
        at = index.items  # arange(n)[::2] picks as ::2 does
    built = Subscript(Call("eye", (count,)), at)
    return Attribute(built, "T") if transposed else built


def _unreshaped(node: Node) -> Node:
    while node.op.index == "reshape":
        (node,) = node.parents
    return node
