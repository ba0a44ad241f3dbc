"""A square matrix as the sum of its diagonals: diag(pad(12 * x[:-1] ** 2, (0, 1))) + diag(w, 1).

A delta between the indices of rows and columns determines the diagonal of a term, and bounds of
these indices determine which part of the diagonal it fills.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...graphs import OPS, Node
from .. import tree
from ..formulas.formula import (
    LAYOUT_PRESERVING,
    LAYOUT_PRESERVING_FAMILIES,
    ROW_MAJOR_RESULTS,
    is_row_major,
)
from ..indices.collect import Simplifier
from ..indices.expressions import Expr, Relation, Total, factors_of, product_of, solve, substituted
from ..indices.places import linear, plus
from ..indices.written import opposite
from ..tree import Attribute, Call, Infix, Method, Name, Prefix, Subscript, Tree, Verbatim
from .masks import has_relation
from .matrix_products import added, in_numbers
from .relation_matrices import INSIDE, weights_along_diagonal

if TYPE_CHECKING:
    from .matrices import Matrices


MOST = 12  # largest number of terms


class Part(NamedTuple):
    """The diagonal `down` rows below the main one, from the `first` to the `last` column."""

    down: int
    first: int
    last: int


def _whole_diagonal(down: int, size: int) -> Part:
    """The part that consists of a whole diagonal of a square matrix of this size."""
    return Part(down, max(0, -down), size - 1 - max(0, down))


def bands(write: "Matrices", e: Expr, rows: Sequence[str], columns: Sequence[str]) -> Tree | None:
    """The sum of diagonals. None if the matrix is not square, has several letters of rows or of
    columns, or is diagonal or zero; if a term is not on one diagonal or its weight has no formula;
    and if there are too many terms. Raises TooLong.
    """
    if len(rows) != 1 or len(columns) != 1 or write.sizes[rows[0]] != write.sizes[columns[0]]:
        return None
    (row,), (column,) = rows, columns
    simplify = Simplifier(write.sizes)
    parts: dict[Part, list[Expr]] = {}
    for count, term in enumerate(_expanded_terms(e, simplify)):
        result = _part_and_weight(term, row, column, write.sizes) if count < MOST else None
        if result is None:
            return None
        parts.setdefault(result[0], []).append(result[1])
    if {*parts} <= {_whole_diagonal(0, write.sizes[column])}:  # diagonal, or zero
        return None
    weights = {part: simplify.total(parts[part]) for part in parts}
    out: Tree | None = None
    for part in sorted(parts, key=lambda p: (opposite(weights[p]) is not None, abs(p.down), *p)):
        minus = opposite(weights[part])
        written = _diagonal(write, minus or weights[part], part, column)
        if written is None:
            return None
        out = added(out, written, minus is not None)
    return out


def _expanded_terms(e: Expr, simplify: Simplifier) -> Iterator[Expr]:
    """The terms of a product, with its sums that contain relations expanded."""
    factors = factors_of(e)
    total = next((f for f in factors if isinstance(f, Total) and has_relation(f)), None)
    if total is None:
        yield e
        return
    others = [f for f in factors if f is not total]
    for term in total.terms:
        yield from _expanded_terms(simplify.product([*others, term]), simplify)


def _part_and_weight(
    e: Expr, row: str, column: str, sizes: Mapping[str, int]
) -> tuple[Part, Expr] | None:
    """The part of a diagonal that a term fills, and its weight in terms of the column's letter;
    None if it is zero, or not a range of one diagonal.
    """
    relations = [f for f in factors_of(e) if isinstance(f, Relation)]
    rest = [f for f in factors_of(e) if not isinstance(f, Relation)]
    deltas = [f for f in relations if f.symbol == "=="]
    if len(deltas) != 1 or any(map(has_relation, rest)):
        return None
    down = plus(solve(deltas[0].left, deltas[0].right, row), column, -1)
    if not isinstance(down, int):
        return None
    column_of_row = {row: plus(column, down)}
    _, first, last = _whole_diagonal(down, sizes[column])
    for bound in relations:
        restricted = substituted(bound, column_of_row, sizes)
        assert isinstance(restricted, Relation)
        terms, offset = linear(plus(restricted.right, restricted.left, -1))
        if bound.symbol == "<=" and terms == ((column, 1),):
            first = max(first, -offset)
        elif bound.symbol == "<=" and terms == ((column, -1),):
            last = min(last, offset)
        elif bound.symbol == "<=":
            return None
    weight = substituted(product_of(rest), column_of_row, sizes)
    return (Part(down, first, last), weight) if first <= last else None


def _diagonal(write: "Matrices", weight: Expr, part: Part, column: str) -> Tree | None:
    """The matrix with one part of a diagonal: diag(w), diag(w, 1), or with zeros before and after
    the part, diag(pad(w, (0, 1))). None if the weights have no formula.
    """
    inside = write.with_sizes({INSIDE: part.last - part.first + 1})
    at_first = {column: plus(INSIDE, part.first)}
    number, rest = write.number(substituted(weight, at_first, inside.sizes))
    written = weights_along_diagonal(inside, product_of(rest), column)
    if written is None:
        return None
    whole = _whole_diagonal(part.down, write.sizes[column])
    padding = (part.first - whole.first, whole.last - part.last)
    if any(padding):
        written = Call("pad", (written, Verbatim(str(padding))))
    offset = (tree.Number(-part.down),) if part.down else ()
    return write.scaled(number, Call("diag", (in_numbers(written), *offset)))


# ---- strides -------------------------------------------------------------------------------------


LEAVES = ("eye", "ones", "zeros", "arange")
METHODS = {
    *LAYOUT_PRESERVING,
    "double",
    "flatten",
    "reshape",
    "contiguous",
    "numel",
    "shape",
    "sum",
    "unfold",
}


def with_strides(formula: Tree, names: Mapping[Node, Tree]) -> Tree:
    """The formula with contiguous operands of Kronecker products: kron(eye(n), a).T for
    kron(eye(n), a.T), and kron(a, inv(b).contiguous()) for kron(a, inv(b)).
    """
    if "kron(" not in tree.text(formula):
        return formula
    nodes = {name.text: node for node, name in names.items() if isinstance(name, Name)}
    return _rewritten(formula, lambda part: _is_contiguous(part, nodes))


def _rewritten(part: Tree, by_rows: Callable[[Tree], bool]) -> Tree:
    def inside(inner: Tree) -> Tree:
        return _rewritten(inner, by_rows)

    if isinstance(part, Infix):
        return part._replace(left=inside(part.left), right=inside(part.right))
    if isinstance(part, Prefix):
        return part._replace(operand=inside(part.operand))
    if isinstance(part, Method | Subscript | Attribute):
        return part._replace(base=inside(part.base))
    if not isinstance(part, Call):
        return part
    call = part._replace(args=tuple(map(inside, part.args)))
    return _kron(call, by_rows) if call.function == "kron" else call


def _kron(call: Call, by_rows: Callable[[Tree], bool]) -> Tree:
    if all(map(by_rows, call.args)):
        return call
    transposed = [t for part in call.args if (t := _transposed(part)) is not None]
    if len(transposed) == len(call.args) and all(map(by_rows, transposed)):
        return Attribute(call._replace(args=tuple(transposed)), "T")
    parts = (part if by_rows(part) else Method(part, "contiguous") for part in call.args)
    return call._replace(args=tuple(parts))


def _transposed(part: Tree) -> Tree | None:
    """The transpose of a formula with .T, or of a symmetric matrix; None for other formulas."""
    if isinstance(part, Attribute) and part.name == "T":
        return part.base
    if not isinstance(part, Call):
        return None
    is_square_ones = part.function == "ones" and len({*part.args}) == 1 < len(part.args)
    is_diagonal = part.function in ("eye", "diag") and len(part.args) == 1
    return part if is_square_ones or is_diagonal else None


def _is_contiguous(part: Tree, nodes: Mapping[str, Node]) -> bool:
    """Whether a tensor is known to be contiguous in memory."""
    if isinstance(part, Name):
        return part.text in nodes and is_row_major(nodes[part.text])
    if isinstance(part, Call):
        op = OPS.get(part.function)
        if part.function in LEAVES or (op and op.name in ROW_MAJOR_RESULTS):
            return True
        if op is None or not (
            op.family in LAYOUT_PRESERVING_FAMILIES or op.name in LAYOUT_PRESERVING
        ):
            return False
    elif isinstance(part, Infix) and (part.symbol == "@" or _decides_strides(part.left, nodes)):
        return True
    elif isinstance(part, Attribute) and part.name == "T":
        return isinstance(part.base, Call) and part.base.function == "inv"  # column-major
    elif isinstance(part, Method | Attribute) and part.name not in METHODS:
        return False
    inner = [part.base] if isinstance(part, Method) else tree.children(part)
    return all(_is_contiguous(child, nodes) for child in inner)


def _decides_strides(left: Tree, nodes: Mapping[str, Node]) -> bool:
    """Whether the left operand determines the strides of a result, such as a contiguous A in A +
    A.T.
    """
    node = nodes.get(left.text) if isinstance(left, Name) else None
    if node is None or node.ndim < 2 or min(node.shape[-2:]) < 2:
        return False
    return is_row_major(node)
