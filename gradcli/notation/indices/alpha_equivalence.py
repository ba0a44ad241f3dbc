"""Which expressions of index notation are equal, whatever the letters of their sums."""

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


def alike(products: Sequence[Sequence[Expr]]) -> list[Any]:
    """A key for each product, given as its factors: the same for those that are equal, in whatever
    order. They are looked into only where several could be.
    """
    glances = [_counted(map(_glance, factors)) for factors in products]
    often = Counter(glances)
    return [
        _counted(map(canonical, factors)) if often[glance] > 1 else glance
        for factors, glance in zip(products, glances, strict=True)
    ]


def _glance(e: Expr) -> Any:
    """What an expression has in common with all that are equal to it, seen without looking into
    it.
    """
    return e.op if isinstance(e, Function) else type(e) if parts(e) else _either_way(e)


def _either_way(e: Expr) -> Expr:
    """δ[i,j] for δ[j,i]."""
    if not isinstance(e, Relation) or e.symbol != "==" or str(e.left) <= str(e.right):
        return e
    return Relation(e.symbol, e.right, e.left)


def _counted(things: Iterable[Any]) -> frozenset:
    """How often each occurs."""
    return frozenset(Counter(things).items())


@lru_cache(maxsize=CACHE_SIZE)
def canonical(e: Expr) -> Expr:
    """The expression with the letters of its sums numbered, so that equal sums are equal."""
    return _numbered(e, {})


def _numbered(e: Expr, new: Mapping[str, str]) -> Expr:
    if isinstance(e, Sum):
        letter = f"#{len(new)}"
        return Sum(letter, e.size, _numbered(e.body, {**new, e.letter: letter}))
    built = parts(e)
    if built:
        return rebuilt(e, tuple([_numbered(part, new) for part in built]))
    return _either_way(substituted(e, new, {}) if new else e)


@lru_cache(maxsize=CACHE_SIZE)
def unlettered(e: Expr) -> Expr:
    """The same whatever its letters: of expressions that differ in their free letters alone, too,
    it is one.
    """
    return canonical(substituted(e, dict.fromkeys(letters_of(e), "_"), {}))
