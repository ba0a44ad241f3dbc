"""Equality of expressions in index notation up to renaming of bound letters (alpha equivalence)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .expressions import (
    CACHE_SIZE,
    Expr,
    Function,
    Relation,
    Sum,
    letters_of,
    parts,
    rebuilt,
    substituted,
)


def equality_keys(products: Sequence[Sequence[Expr]]) -> list[Any]:
    """A key for each product, which is given as a sequence of factors.

    Two products have equal keys if and only if they have the same factors in any order, up to the
    letters of sums and the order of the two indices of a delta. Within a factor the order counts:
    the keys of sum_i x[i] * y[i] and sum_j y[j] * x[j] differ. Keys of different calls cannot be
    compared, because canonical forms are only computed for products with the same cheap key.
    """
    cheap_keys = [_multiset(map(_cheap_key, factors)) for factors in products]
    counts = Counter(cheap_keys)
    return [
        _multiset(map(canonical, factors)) if counts[cheap_key] > 1 else cheap_key
        for factors, cheap_key in zip(products, cheap_keys, strict=True)
    ]


def _cheap_key(e: Expr) -> Any:
    """A key that is cheap to compute, and equal for expressions with the same canonical form:
    mostly the type of the expression.
    """
    return e.op if isinstance(e, Function) else type(e) if parts(e) else _ordered_delta(e)


def _ordered_delta(e: Expr) -> Expr:
    """A delta with its two indices sorted as text; other expressions unchanged."""
    if not isinstance(e, Relation) or e.symbol != "==" or str(e.left) <= str(e.right):
        return e
    return Relation(e.symbol, e.right, e.left)


def _multiset(things: Iterable[Any]) -> frozenset:
    """A hashable multiset."""
    return frozenset(Counter(things).items())


@lru_cache(maxsize=CACHE_SIZE)
def canonical(e: Expr) -> Expr:
    """The expression with `#0`, `#1`, ... for the letters of its sums, from the outermost inwards,
    and the indices of deltas sorted. Expressions that differ only in letters of sums become equal.
    """
    return _with_numbered_letters(e, {})


def _with_numbered_letters(e: Expr, new: Mapping[str, str]) -> Expr:
    """`new` has the numbered letters of the sums around e."""
    if isinstance(e, Sum):
        letter = f"#{len(new)}"
        return Sum(letter, e.size, _with_numbered_letters(e.body, {**new, e.letter: letter}))
    inner = parts(e)
    if inner:
        return rebuilt(e, tuple([_with_numbered_letters(part, new) for part in inner]))
    return _ordered_delta(substituted(e, new, {}) if new else e)


@lru_cache(maxsize=CACHE_SIZE)
def without_free_letters(e: Expr) -> Expr:
    """The canonical form with `_` for every free letter. Expressions that differ only in letters
    become equal; so do x[i, j] and x[i, i].
    """
    return canonical(substituted(e, dict.fromkeys(letters_of(e), "_"), {}))
