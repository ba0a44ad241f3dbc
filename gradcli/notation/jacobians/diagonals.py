"""Deltas that hold on the diagonal of a matrix alone: δ[i,l] δ[i,k] δ[i,j] says that rows i, j and
columns k, l are the same, as δ[i,k] δ[j,l] δ[i,j] does.
"""

from collections.abc import Sequence

from ..indices.collect import is_delta
from ..indices.expressions import Expr, delta, factors_of, product_of


def along_diagonal(e: Expr, rows: Sequence[str], columns: Sequence[str]) -> Expr:
    """A product with a delta for each row's letter and its column's, where its deltas make them
    equal; the same expression where they do not. Letters of neither stay tied to them.
    """
    deltas = [f for f in factors_of(e) if is_delta(f)]
    if len(deltas) <= len(rows) or len(rows) != len(columns):
        return e
    first = {k: k for f in deltas for k in (f.left, f.right)}  # of all that are equal to it
    for f in deltas:
        one, other = first[f.left], first[f.right]
        first = {k: one if to == other else to for k, to in first.items()}
    if any(r not in first or first[r] != first.get(c) for r, c in zip(rows, columns)):
        return e
    pairs = [delta(r, c) for r, c in zip(rows, columns)]
    lead: dict[str, str] = {}
    tied = (*rows, *(k for k in first if k not in rows and k not in columns))
    ties = [delta(lead[first[k]], k) for k in tied if lead.setdefault(first[k], k) != k]
    return product_of([*pairs, *ties, *(f for f in factors_of(e) if f not in deltas)])
