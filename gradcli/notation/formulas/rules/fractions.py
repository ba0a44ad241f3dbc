"""Sums of quotients over one line, and sums that others divide without a rest."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from ....graphs import Node
from .factoring import MOST_TERMS, opened, sum_of
from .products import (
    NOTHING,
    ONE,
    REMEMBERED,
    Coefficient,
    Product,
    added_up,
    build,
    multiplied_by,
    product_of,
    with_factors,
)
from .registry import other
from .sums import terms_of

STEPS = 6  # of a long division


@other("add", "sub")
def over_one_line(node: Node) -> Iterator[Node]:
    """y / p - (1 - y) / (1 - p) = (y - p) / (p * (1 - p)); x / (n - 1) + x = n * x / (n - 1)."""
    terms = terms_of(node) or []
    if not 2 <= len(terms) <= MOST_TERMS:
        return
    for pair in combinations(terms, 2):
        result = _over_one_line(*pair)
        if result is not None:
            total = sum_of([result, *(t for t in terms if t not in pair)])
            if total.shape == node.shape:
                yield total


def _over_one_line(p: Product, q: Product) -> Product | None:
    """The sum of two quotients as one, where its numerator has no more terms than there were."""
    below: dict[Node, Coefficient] = {}
    for t in (p, q):
        for f, e in t.factors.items():
            if e < 0:
                below[f] = max(below.get(f, 0), -e)
    if not any(f.op.name in ("add", "sub") for f in below):
        return None
    above = [
        t for part in (p, q) for t in _multiplied_out(multiplied_by(part, Product(ONE, below)))
    ]
    if len(above) > 2 * MOST_TERMS:
        return None
    left = terms_of(sum_of(above)) or []
    if not 1 <= len(left) <= 2:
        return None
    quotient = {f: -e for f, e in below.items()}
    if len(left) == 1:
        return multiplied_by(left[0], Product(ONE, quotient))
    return Product(ONE, with_factors(quotient, {sum_of(left): 1}))


def _multiplied_out(t: Product) -> list[Product]:
    """The terms of a term, where it has sums among its factors."""
    parts = opened(t)
    if len(parts) == 1 or len(parts) > MOST_TERMS:
        return parts
    return [part for one in parts for part in _multiplied_out(one)]


@other("mul", "div")
def divided_without_rest(node: Node) -> Iterator[Node]:
    """(x ** 2 - y ** 2 + y - x) / (x - y) = x + y - 1."""
    result = product_of(node) or NOTHING
    sums = {f: e for f, e in result.factors.items() if f.op.name in ("add", "sub")}
    for below in (f for f, e in sums.items() if e < 0):
        for above in (f for f, e in sums.items() if e > 0):
            quotient = _quotient(above, below)
            if quotient is not None:
                yield build(result.times({above: -1, below: 1, quotient: 1}), node.shape)


@lru_cache(maxsize=REMEMBERED)
def _quotient(above: Node, below: Node) -> Node | None:
    """What times one sum is another."""
    by = terms_of(below) or []
    left = _opened_terms(above) if len(by) == 2 else []
    if not 2 <= len(left) <= MOST_TERMS:
        return None
    first, quotient = by[0], list[Product]()
    for _ in range(STEPS):
        parts = [q for t in left if (q := _whole_quotient(t, first)) is not None]
        if not parts:
            return None
        part = max(parts, key=lambda q: sum(q.factors.values()))
        quotient.append(part)
        taken = [multiplied_by(multiplied_by(part, t), Product(-ONE, {})) for t in by]
        left = _like_ones_added([*left, *taken])
        if not left:
            total = sum_of(quotient)
            return total if len(quotient) <= MOST_TERMS else None
    return None


def _opened_terms(above: Node) -> list[Product]:
    terms = terms_of(above) or []
    whole = [t for one in terms for t in _multiplied_out(one)]
    return (terms_of(sum_of(whole)) or []) if 1 < len(whole) <= 2 * MOST_TERMS else []


def _like_ones_added(terms: list[Product]) -> list[Product]:
    """The terms that do not vanish."""
    result: dict[frozenset, Product] = {}
    for t in terms:
        have = result.get(t.key, t._replace(coefficient=0))
        result[t.key] = t._replace(coefficient=added_up(have.coefficient, t.coefficient))
    return [t for t in result.values() if t.coefficient != 0]


def _whole_quotient(t: Product, by: Product) -> Product | None:
    """One term divided by another, where no factor is left below the line."""
    inverse = Product(ONE / by.coefficient, {f: -e for f, e in by.factors.items()})
    result = multiplied_by(t, inverse)
    return result if all(result.factors.get(f, 0) >= 0 for f in by.factors) else None


@other("mul", "div")
def number_into_a_sum(node: Node) -> Iterator[Node]:
    """2 * (x - y - 1 / (2 * t)) = 2 * (x - y) - 1 / t."""
    result = product_of(node)
    times = result.coefficient if result is not None else 0
    if result is None or times in (0, 1, -1):
        return
    for f in [f for f, e in result.factors.items() if e == 1 and f.op.name in ("add", "sub")]:
        terms = terms_of(f) or []
        alone = [t for t in terms if abs(t.coefficient * times) == 1 != abs(t.coefficient)]
        rest = [t for t in terms if t not in alone]
        if not alone or not rest:
            continue
        inner = sum_of(rest)
        new = (
            Product(times, {inner: 1})
            if len(rest) > 1
            else multiplied_by(rest[0], Product(times, {}))
        )
        total = sum_of([new, *(multiplied_by(t, Product(times, {})) for t in alone)])
        if total.shape == f.shape:
            factors = with_factors(result.factors, {f: -1, total: 1})
            yield build(Product(ONE, factors), node.shape)
