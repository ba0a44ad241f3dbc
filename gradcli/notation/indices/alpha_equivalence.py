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
    """A key for each product, given as its factors. Two keys are equal if the products are, up to
    the order of factors and the letters of sums. Canonical forms are only computed for products
    with the same cheap key.
    """
    cheap_keys = [_multiset(map(_cheap_key, factors)) for factors in products]
    counts = Counter(cheap_keys)
    return [
        _multiset(map(canonical, factors)) if counts[cheap_key] > 1 else cheap_key
        for factors, cheap_key in zip(products, cheap_keys, strict=True)
    ]


def _cheap_key(e: Expr) -> Any:
    """A key that is equal for equal expressions, and cheap to compute."""
    return e.op if isinstance(e, Function) else type(e) if parts(e) else _ordered_delta(e)


def _ordered_delta(e: Expr) -> Expr:
    """δ[i,j] for δ[j,i]; other expressions unchanged."""
    if not isinstance(e, Relation) or e.symbol != "==" or str(e.left) <= str(e.right):
        return e
    return Relation(e.symbol, e.right, e.left)


def _multiset(things: Iterable[Any]) -> frozenset:
    """A hashable multiset."""
    return frozenset(Counter(things).items())


@lru_cache(maxsize=CACHE_SIZE)
def canonical(e: Expr) -> Expr:
    """The expression with the letters of its sums numbered, so that equal sums are equal."""
    return _with_numbered_letters(e, {})


def _with_numbered_letters(e: Expr, new: Mapping[str, str]) -> Expr:
    if isinstance(e, Sum):
        letter = f"#{len(new)}"
        return Sum(letter, e.size, _with_numbered_letters(e.body, {**new, e.letter: letter}))
    built = parts(e)
    if built:
        return rebuilt(e, tuple([_with_numbered_letters(part, new) for part in built]))
    return _ordered_delta(substituted(e, new, {}) if new else e)


@lru_cache(maxsize=CACHE_SIZE)
def unlettered(e: Expr) -> Expr:
    """The canonical expression with all free letters replaced by one, so that expressions that
    differ only in letters are equal.
    """
    return canonical(substituted(e, dict.fromkeys(letters_of(e), "_"), {}))
