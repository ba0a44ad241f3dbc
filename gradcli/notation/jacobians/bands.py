"""A square matrix as the sum of its diagonals: diag(pad(12 * x[:-1] ** 2, (0, 1))) + diag(w, 1).

A delta between the letters of rows and columns determines the diagonal of a term, and bounds of
these letters the part of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .. import tree
from ..indices.collect import Simplifier
from ..indices.expressions import (
    Expr,
    Relation,
    Total,
    factors_of,
    product_of,
    solve,
    substituted,
)
from ..indices.places import linear, plus
from ..indices.written import opposite
from ..tree import Call, Tree, Verbatim
from .masks import has_relation
from .matrix_products import added, in_numbers
from .placed import INSIDE, weights_along_diagonal

if TYPE_CHECKING:
    from .matrices import Matrices

MOST = 12  # terms


class Part(NamedTuple):
    """The diagonal `down` rows below the main one, from the `first` to the `last` column."""

    down: int
    first: int
    last: int


def _whole_diagonal(down: int, size: int) -> Part:
    """All of a diagonal."""
    return Part(down, max(0, -down), size - 1 - max(0, down))


def bands(write: "Matrices", e: Expr, rows: Sequence[str], columns: Sequence[str]) -> Tree | None:
    """The sum of diagonals; None if a term is on no diagonal, or there are too many."""
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
    None if it is on no diagonal.
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
    """diag(w), diag(w, 1), diag(pad(w, (0, 1))): with zeros before and after the part."""
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
