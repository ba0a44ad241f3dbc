"""The structure of a Jacobian: its name, its matrix formula, and the number of entries that may be
nonzero.

It is derived from the deltas of the Jacobian in index notation. If the values of the matrix are
known, a structure that contradicts them is rejected.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...errors import MISFITS, if_applicable
from ...graphs import OPS, Node, walk
from ...graphs.shapes import numel
from ...lazy import np
from .. import tree
from ..formulas.formula import GenericSizes, formula
from ..formulas.simplify import simplify
from ..indices.expressions import Element, Expr, Function, Relation, TooLong, parts, rebuilt
from ..indices.index import Indices
from ..tree import Attribute, Call, Method, Name, Number, Subscript, Tree
from .bands import bands, with_strides
from .jacobian_entry import JacobianEntry, kronecker_name
from .layouts import Layout, Side, layouts
from .matrices import Matrices
from .patterns import KRONECKERS, SELECTIONS, TRANSPOSED, WEIGHTED, by_pattern, is_confirmed
from .tensors import Tensors

LONG_FORM = 9  # a shorter product is searched for a formula longer than this
MOST_ENTRIES = 1_000_000  # largest number of entries of a pattern that is computed entry by entry
MOST_DRAWN = 1_000_000  # largest number of entries of a pattern that is drawn
OUT = Name("out")  # an output without a name
Parts = frozenset[tuple[Node, Tree]]
Known = dict[tuple[Layout, Node | None, bool, Parts, bool], Tree | None]


class Structure(NamedTuple):
    """The name of a structure, its `formula` (None if there is no short one), and the number of
    `nonzero` entries (None if there are too many to count). With `at_most`, some of these entries
    may be 0, depending on unknown values.

    For a block-diagonal matrix, `formula` is that of one block, and `blocks` are the letters that
    number the blocks, each with its size as a formula.
    """

    name: str
    formula: Tree | None
    nonzero: int | None
    total: int
    blocks: tuple[tuple[str, str], ...] = ()
    at_most: bool = False

    @property
    def text(self) -> str | None:
        """The formula of the whole matrix. For a block-diagonal matrix, it is block_diag of a
        list.
        """
        if self.formula is None or not self.blocks:
            return None if self.formula is None else tree.text(self.formula)
        loops = " ".join(f"for {letter} in range({size})" for letter, size in self.blocks)
        return f"block_diag(*[{tree.text(self.formula)} {loops}])"

    def matrix(self, arrays: Callable[[str], Any], shape: tuple[int, int]) -> Any:
        """The value of the formula, in which `arrays` evaluates expressions. None if the value
        cannot be computed, or has another shape.
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
            block = arrays(_substituted(tree.text(self.formula), dict(zip(letters, at))))
            out[k, :, k, :] = _shaped(np.atleast_2d(block), (rows, columns))  # as block_diag does
        return out.reshape(shape)

    def agrees(self, arrays: Callable[[str], Any], matrix: Any) -> bool:
        """Whether the value of the formula is close to a matrix."""
        result = self.matrix(arrays, matrix.shape)
        return result is not None and np.allclose(result, matrix, rtol=1e-6, atol=1e-9)


def _substituted(text: str, letters: Mapping[str, int]) -> str:
    """The text with letters replaced by numbers."""
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
    generic_sizes: GenericSizes | None = None,
    like: Name | None = None,
    composing: bool = True,
    known: Known | None = None,
) -> Structure:
    """The structure of the Jacobian of `out` with respect to `x`.

    `matrix` holds the Jacobian's values at some point, of shape (out.numel, x.numel), to confirm
    the name. `parts` are nodes that are treated as atoms, with their formulas. `generic_sizes` has
    the same meaning as in `formula`. `like` names a tensor with the shape of an unnamed `out`. If
    `composing` is False, no product of Jacobians is searched for a formula. `known` caches factors
    of products, for structures with the same names, sizes and `like`.
    """
    total = out.numel * x.numel
    matrix = None if matrix is None else np.asarray(matrix, float).reshape(out.numel, x.numel)
    rows, layout = like or names.get(out, OUT), Layout(out, grad, seed_node)
    entry_of = partial(_jacobian_entry, names=names, parts=parts or {}, generic_sizes=generic_sizes)
    result, entry = _best_of(
        (entry_of(each, x, like=rows) for each in (layouts(*layout) if total else ())),
        lambda e: _structure(e, layout, x, names, matrix, generic_sizes),
    )
    if composing and result is not None and _may_be_composed(result):
        key_parts = frozenset((parts or {}).items()), generic_sizes is not None
        composed = _composed(entry_of, layout, x, rows, key_parts, {} if known is None else known)
        result = _shortened(result, composed, entry)
        if result.formula is None and entry:
            other = entry_of(layout, x, like=rows, unit_vectors=True)
            result = _with_formula(result, None if other is None else other.formula())
    result = result or _structure_of_matrix(matrix, total)
    return result._replace(formula=result.formula and with_strides(result.formula, names))


def _shortened(
    structure: Structure, composed: Tree | None, entry: JacobianEntry | None
) -> Structure:
    """The structure with a product of Jacobians, or bands, as its formula if that is shorter."""
    banded = None
    if entry:
        written = partial(bands, entry.write, entry.e, entry.rows, entry.columns)
        banded = if_applicable(written, (TooLong,))
    other = _composed_or_banded(composed, banded)
    return _with_formula(structure, _shorter(other, structure.formula))


def _best_of(
    entries: Iterable[JacobianEntry | None], structure_of: Callable[[JacobianEntry], Structure]
) -> tuple[Structure | None, JacobianEntry | None]:
    """The structure of the first of these entries that has a formula, otherwise of the first that
    is not dense; and the last entry that was examined.
    """
    result: Structure | None = None
    entry: JacobianEntry | None = None
    for entry in entries:
        if entry is None:
            break
        candidate = structure_of(entry)
        if result is None or result.name == "dense" or candidate.formula is not None:
            result = candidate
        if result.formula is not None or result.name == "zero":
            break
    return result, entry


def _composed(
    entry_of: Callable[..., JacobianEntry | None],
    layout: Layout,
    x: Node,
    rows: Name,
    key_parts: tuple[Parts, bool],
    known: Known,
) -> Tree | None:
    """The formula of the Jacobian as a product or sum of Jacobians of parts. `entry_of` returns the
    entry of a part's Jacobian; `known` caches formulas, with `key_parts` in their keys.
    """

    from .composed import Composition

    def write(part: Layout, to_input: bool) -> Tree | None:
        by, like = x if to_input else None, rows if part.out is layout.out else None
        key = part, by, like is not None, *key_parts
        if key not in known:
            entry = entry_of(part, by, like=like)
            known[key] = None if entry is None else entry.formula()
        return known[key]

    return Composition(write)(layout)


def _shorter(composed: Tree | None, formula: Tree | None) -> Tree | None:
    """The composed formula if it is shorter, else the other one."""
    if composed is None or formula is None:
        return composed or formula
    return min(formula, composed, key=_length)


def _length(written: Tree) -> float:
    """The length of a formula, in which `diag` counts nothing, because diag(w) @ A is more readable
    than A * w[:, None], while the contents of an index count.
    """
    return tree.length_in_statements(written) + sum(map(_more, _parts(written)))


def _more(part: Tree) -> int:
    if isinstance(part, Subscript):
        return sum(map(tree.size, part.items)) - 1
    return -1 if isinstance(part, Call) and part.function == "diag" else 0


def _parts(written: Tree) -> Iterator[Tree]:
    yield written
    for part in tree.children(written):
        yield from _parts(part)


def _may_be_composed(result: Structure) -> bool:
    """Whether to search for a product of Jacobians. This is so if the deltas give no formula, or a
    long one of a dense matrix, such as diag(p) @ A - outer(p, A.T @ p).
    """
    if result.formula is None:
        return result.name != "zero"
    return result.name == "dense" and tree.size(result.formula) > LONG_FORM


def _composed_or_banded(composed: Tree | None, banded: Tree | None) -> Tree | None:
    """The composed formula, such as D.T @ diag(w) @ D, unless the sum of diagonals is much
    shorter.
    """
    if composed is None or banded is None:
        return composed or banded
    return banded if 3 * tree.size(banded) <= 2 * tree.size(composed) else composed


def _with_formula(result: Structure, formula: Tree | None) -> Structure:
    """The structure with this formula of the whole matrix; if it is a Kronecker product, it is also
    the structure's name, unless that is diagonal.
    """
    if formula is None or result.name == "diagonal":
        return result._replace(formula=formula)
    return result._replace(name=kronecker_name(formula) or result.name, formula=formula)


def _structure(
    entry: JacobianEntry,
    layout: Layout,
    x: Node,
    names: Mapping[Node, Name],
    matrix: Any,
    generic_sizes: GenericSizes | None,
) -> Structure:
    """The structure according to the deltas, or to the matrix if its values contradict them."""
    pattern = entry.pattern(MOST_ENTRIES)
    result = _structure_of_deltas(entry, pattern, layout, x, names, generic_sizes)
    return result if matrix is None else _confirmed(result, entry, pattern, matrix)


def _structure_of_deltas(
    entry: JacobianEntry,
    pattern: Any,
    layout: Layout,
    x: Node,
    names: Mapping[Node, Name],
    generic_sizes: GenericSizes | None,
) -> Structure:
    """The structure of an entry, whose pattern of nonzero values may be unknown."""
    size = layout.out.numel
    name, formula = entry.named(pattern, size)
    blocks = entry.blocks() if name == "block-diagonal" else ()
    if formula is None and name in SELECTIONS:
        formula, blocks = entry.block(), entry.blocks()
        if formula is None and x not in walk(entry.index_tensors):
            transposed, blocks = name == TRANSPOSED, ()
            formula = selection(layout, x, names, transposed, generic_sizes)
    nonzero = entry.count(MOST_ENTRIES) if pattern is None else int(pattern.sum())
    if (pattern is None or entry.index_tensors) and name in SELECTIONS:
        nonzero = x.numel if name == TRANSPOSED else size
    blocks = blocks if formula is not None else ()
    return Structure(name, formula, nonzero, size * x.numel, blocks)


def _confirmed(result: Structure, entry: JacobianEntry, pattern: Any, matrix: Any) -> Structure:
    """The structure, or what the values of the matrix show if they contradict it."""
    if result.name == "dense" and entry.index_tensors:  # its pattern depends on values
        observed = _structure_of_matrix(matrix, result.total)
        if observed.name in (*SELECTIONS, WEIGHTED):
            return observed._replace(formula=result.formula)
    if pattern is not None and (matrix[~pattern] != 0).any():
        return _structure_of_matrix(matrix, result.total)
    if is_confirmed(result.name, matrix):
        return result
    if result.name in KRONECKERS:  # named by the formula, as the pattern may have another name
        return result._replace(name=entry.name_by_pattern(pattern))
    return _structure_of_matrix(matrix, result.total)


def jacobian_pattern(
    out: Node, x: Node, grad: Node, seed_node: Node, names: Mapping[Node, Name]
) -> Any:
    """The boolean pattern of entries that may be nonzero, of shape (out.numel, x.numel); None if it
    is unknown or too large.
    """
    entry = _jacobian_entry(Layout(out, grad, seed_node), x, names, {}, like=names.get(out, OUT))
    return None if entry is None else entry.pattern(MOST_DRAWN)


def _jacobian_entry(
    layout: Layout,
    x: Node | None,
    names: Mapping[Node, Name],
    parts: Mapping[Node, Tree],
    generic_sizes: GenericSizes | None = None,
    like: Name | None = OUT,
    unit_vectors: bool = False,
) -> JacobianEntry | None:
    """An entry of the Jacobian in index notation; None if it is too long. Sizes of columns are
    written as sizes of `x`, those of rows as sizes of `like`, unless these are None. With
    `unit_vectors`, δ[i,0] is written as an element of a unit vector; None if there is no such δ.
    """
    out, grad, seed = layout
    closed = {node: Name(f"part {k}") for k, node in enumerate(parts)}  # this name is never shown
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
    if seed in names and like is not None:  # so that sizes are written as those of this tensor
        named[seed] = names[x] if x is not None and x.shape == out.shape else like
    write = Matrices(named, sizes, sides, generic_sizes is not None)
    if unit_vectors:
        without, e = e, with_unit_vectors(e, write, named)
        if e == without:
            return None
    return JacobianEntry(e, letters.out_places, at, write)


def _structure_of_matrix(matrix: Any, total: int) -> Structure:
    """The structure that the values of the matrix show; dense if they are not known."""
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
    layout: Layout,
    x: Node,
    names: Mapping[Node, Name],
    transposed: bool,
    generic_sizes: GenericSizes | None = None,
) -> Tree:
    """The formula of the Jacobian of `out` with respect to `x`, where `out` selects elements of x:
    rows of an identity. `transposed`: the gradient selects elements of the seed.
    """
    out, grad, seed = layout
    node, source, like = out, x, names[x]
    if transposed:
        node, source, like = grad, seed, names.get(out, names[seed])
    node = _unreshaped(node)  # a reshape does not change the rows
    shape = Attribute(like, "shape")
    is_vector = source.ndim == 1
    count: Tree = Subscript(shape, (Number(0),)) if is_vector else Method(like, "numel")
    flat: Tree = Call("arange", (count,))
    places = flat if is_vector else Method(flat, "reshape", (shape,))
    known = {n: name for n, name in names.items() if n.op.name == "input" and n is not seed}
    known[source], indices = Name(tree.text(places)), simplify(node)
    vectors = (n for n in walk([indices]) if n.op.index == "reshape" and n.ndim == 1)
    known |= {n: Name(tree.text(flat)) for n in vectors if _unreshaped(n) is source}
    index = formula(indices, known, generic_sizes)
    if node.ndim != 1:
        index = Method(index, "flatten")
    at: tuple[Tree, ...] = (index,)
    if isinstance(index, Subscript) and tree.text(index.base) == tree.text(flat):
        at = index.items  # arange(n)[::2] as an index is ::2
    built = Subscript(Call("eye", (count,)), at)
    return Attribute(built, "T") if transposed else built


def _unreshaped(node: Node) -> Node:
    while node.op.index == "reshape":
        (node,) = node.parents
    return node


# ---- unit vectors --------------------------------------------------------------------------------
# δ[i,0] is eye(n)[0][i].


def with_unit_vectors(e: Expr, write: Tensors, names: dict[Node, Tree]) -> Expr:
    """The expression with elements of unit vectors in place of δ[i,0]; the rows are added to the
    `names` of nodes. A delta inside a function may be a condition, and is unchanged.
    """
    if isinstance(e, Function):
        return e
    unit = _letter_and_row(e)
    if unit is None:
        return rebuilt(e, tuple(with_unit_vectors(part, write, names) for part in parts(e)))
    letter, row = unit
    node = OPS["eye"](n=write.sizes[letter])[(row,)]
    names[node] = Subscript(write.identity([letter], [letter]), (tree.Number(row),))
    return Element(node, (letter,))


def _letter_and_row(e: Expr) -> tuple[str, int] | None:
    """i and 0 for δ[i,0], a delta of a letter and a number; None for other expressions."""
    if not isinstance(e, Relation) or e.symbol != "==":
        return None
    letter, row = (e.left, e.right) if isinstance(e.left, str) else (e.right, e.left)
    return (letter, row) if isinstance(letter, str) and isinstance(row, int) else None
