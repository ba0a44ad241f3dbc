"""Sums of quotients over a common denominator, and polynomial division."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from ....graphs import Node
from .factoring import MOST_TERMS, expand_product, sum_of, terms_of
from .products import (
    CACHE_SIZE,
    NOTHING,
    ONE,
    SUMS,
    Coefficient,
    Product,
    add_numbers,
    build,
    multiplied_by,
    product_of,
    with_factors,
)
from .registry import candidate

STEPS = 6  # most steps of a polynomial division


@candidate("add", "sub")
def common_denominator(node: Node) -> Iterator[Node]:
    """y / p - (1 - y) / (1 - p) = (y - p) / (p * (1 - p)); x / (n - 1) + x = n * x / (n - 1)."""
    terms = terms_of(node) or []
    if not 2 <= len(terms) <= MOST_TERMS:
        return
    for pair in combinations(terms, 2):
        result = _sum_of_quotients(*pair)
        if result is not None:
            yield sum_of([result, *(t for t in terms if t not in pair)])


def _sum_of_quotients(p: Product, q: Product) -> Product | None:
    """The sum of two quotients as one quotient; None if its numerator has more than two terms."""
    denominator: dict[Node, Coefficient] = {}
    for t in (p, q):
        for f, e in t.factors.items():
            if e < 0:
                denominator[f] = max(denominator.get(f, 0), -e)
    if not any(f.op.name in SUMS for f in denominator):
        return None
    numerator = [t for part in (p, q) for t in _expand_all(part.times(denominator))]
    if len(numerator) > 2 * MOST_TERMS:
        return None
    terms = terms_of(sum_of(numerator)) or []
    if not 1 <= len(terms) <= 2:
        return None
    quotient = {f: -e for f, e in denominator.items()}
    if len(terms) == 1:
        return terms[0].times(quotient)
    return Product(ONE, with_factors(quotient, {sum_of(terms): 1}))


def _expand_all(t: Product) -> list[Product]:
    """The terms of a product, with all sums among its factors expanded."""
    parts = expand_product(t)
    if len(parts) == 1 or len(parts) > MOST_TERMS:
        return parts
    return [part for one in parts for part in _expand_all(one)]


@candidate("mul", "div")
def exact_division(node: Node) -> Iterator[Node]:
    """(x ** 2 - y ** 2 + y - x) / (x - y) = x + y - 1."""
    result = product_of(node) or NOTHING
    sums = {f: e for f, e in result.factors.items() if f.op.name in SUMS}
    for below in (f for f, e in sums.items() if e < 0):
        for above in (f for f, e in sums.items() if e > 0):
            quotient = _quotient(above, below)
            if quotient is not None:
                yield build(result.times({above: -1, below: 1, quotient: 1}), node.shape)


@lru_cache(maxsize=CACHE_SIZE)
def _quotient(dividend: Node, divisor: Node) -> Node | None:
    """The quotient of two sums by polynomial division; None if it leaves a remainder."""
    divisor_terms = terms_of(divisor) or []
    remainder = _expanded_terms(dividend) if len(divisor_terms) == 2 else []
    if not 2 <= len(remainder) <= MOST_TERMS:
        return None
    first, quotient = divisor_terms[0], list[Product]()
    for _ in range(STEPS):
        parts = [q for t in remainder if (q := _divide_term(t, first)) is not None]
        if not parts:
            return None
        part = max(parts, key=lambda q: sum(q.factors.values()))
        quotient.append(part)
        subtracted = [-multiplied_by(part, t) for t in divisor_terms]
        remainder = _collect_terms([*remainder, *subtracted])
        if not remainder:
            total = sum_of(quotient)
            return total if len(quotient) <= MOST_TERMS else None
    return None


def _expanded_terms(above: Node) -> list[Product]:
    terms = terms_of(above) or []
    whole = [t for one in terms for t in _expand_all(one)]
    return (terms_of(sum_of(whole)) or []) if 1 < len(whole) <= 2 * MOST_TERMS else []


def _collect_terms(terms: list[Product]) -> list[Product]:
    """The terms, like terms collected, without those that cancel."""
    result: dict[frozenset, Product] = {}
    for t in terms:
        previous = result.get(t.key, t._replace(coefficient=0))
        result[t.key] = t._replace(coefficient=add_numbers(previous.coefficient, t.coefficient))
    return [t for t in result.values() if t.coefficient != 0]


def _divide_term(t: Product, by: Product) -> Product | None:
    """One term divided by another; None if the divisor's factors do not cancel."""
    inverse = Product(ONE / by.coefficient, {f: -e for f, e in by.factors.items()})
    result = multiplied_by(t, inverse)
    return result if all(result.factors.get(f, 0) >= 0 for f in by.factors) else None


@candidate("mul", "div")
def number_into_a_sum(node: Node) -> Iterator[Node]:
    """2 * (x - y - 1 / (2 * t)) = 2 * (x - y) - 1 / t."""
    result = product_of(node) or NOTHING
    number = result.coefficient
    if number in (0, 1, -1):
        return
    for f in result.once(*SUMS):
        terms = terms_of(f) or []
        cancelled = [t for t in terms if abs(t.coefficient * number) == 1 != abs(t.coefficient)]
        rest = [t for t in terms if t not in cancelled]
        if not cancelled or not rest:
            continue
        inner = sum_of(rest)
        new = (
            Product(number, {inner: 1})
            if len(rest) > 1
            else multiplied_by(rest[0], Product(number, {}))
        )
        total = sum_of([new, *(multiplied_by(t, Product(number, {})) for t in cancelled)])
        if total.shape == f.shape:
            factors = with_factors(result.factors, {f: -1, total: 1})
            yield build(Product(ONE, factors), node.shape)
