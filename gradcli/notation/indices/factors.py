"""The factors of a product in index notation: numbers collected, equal factors merged into
powers.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any

from .alpha_equivalence import without_free_letters
from .expressions import (
    MINUS,
    ONE,
    Expr,
    Number,
    Power,
    Product,
    Total,
    is_condition,
    parts,
    product_of,
)


def split_number(factors: Iterable[Expr]) -> tuple[float, float, list[Expr]]:
    """Numerator and denominator of the coefficient, and the other factors, including those of
    factors that are products.
    """
    numerator: float = 1
    denominator: float = 1
    rest: list[Expr] = []
    stack = list(factors)[::-1]
    while stack:
        f = stack.pop()
        if isinstance(f, Product):
            stack.extend(reversed(f.factors))
        elif isinstance(f, Number):
            numerator = numerator * _as_int(f.value)
        elif (
            isinstance(f, Power)
            and f.exponent == MINUS
            and isinstance(f.base, Number)
            and f.base.value != 0
        ):
            denominator = denominator * _as_int(f.base.value)
        else:
            rest.append(f)
    return numerator, denominator, rest


def _as_int(value):
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def fraction(numerator, denominator) -> list[Expr]:
    """A fraction as factors: for integers, the reduced numerator, and the power that divides unless
    the denominator is 1; for floats, the quotient.
    """
    if denominator == 1:
        return [Number(numerator)]
    if isinstance(numerator, int) and isinstance(denominator, int):
        shared = gcd(numerator, denominator) * (1 if denominator > 0 else -1)
        numerator, denominator = numerator // shared, denominator // shared
        divisor = [] if denominator == 1 else [Power(Number(denominator), MINUS)]
        return [Number(numerator), *divisor]
    return [Number(_as_int(numerator / denominator))]


def powers(factors: Iterable[Expr], cancel: bool = False) -> list[Expr]:
    """Equal factors merged into powers; equal conditions into one. Factors of the numerator and
    the denominator stay separate unless `cancel`, which turns 0 / 0 into a number.
    """
    counts: dict = {}
    for f in factors:
        base, exponent = f, 1
        if (
            isinstance(f, Power)
            and isinstance(f.exponent, Number)
            and isinstance(f.exponent.value, int)
        ):
            base, exponent = f.base, f.exponent.value
        key = base, exponent > 0 or cancel
        counts[key] = counts.get(key, 0) + exponent
    return [
        base if exponent == 1 or is_condition(base) else Power(base, Number(exponent))
        for (base, _), exponent in counts.items()
        if exponent
    ]


def canonical_signs(factors: Sequence[Expr]) -> tuple[int, list[Expr]]:
    """The sign, and the factors with their differences in one order. (x[j] - y[j]) becomes -(y[j] -
    x[j]) if (y[i] - x[i]) is another factor.
    """
    sign, out = 1, [*factors]
    seen: set[Any] = set()
    totals = [k for k, f in enumerate(out) if isinstance(f, Total)]
    for k in totals if len(totals) > 1 else ():
        terms = [split_number([t]) for t in parts(out[k])]
        signature, negated_signature = _signatures(terms)
        negated = _negated(terms)
        if negated_signature in seen and (signature not in seen or negated in out[:k]):
            sign, out[k] = -sign, negated
        else:
            seen.add(signature)
    return sign, out


def _negated(terms: Sequence[tuple[float, float, list[Expr]]]) -> Total:
    """The negated sum of terms, positive terms first."""
    negated = sorted(((-a, b, rest) for a, b, rest in terms), key=lambda t: t[0] < 0)
    numbers = ([n for n in fraction(a, b) if n != ONE] for a, b, _ in negated)
    return Total(tuple(product_of(n + rest) for n, (_, _, rest) in zip(numbers, negated)))


def _signatures(terms: Sequence[tuple[float, float, list[Expr]]]) -> tuple[Any, Any]:
    """Keys of a sum of terms and of its negation, equal up to letters and the order of terms."""
    counts = [
        (a / b, frozenset(Counter(map(without_free_letters, rest)).items())) for a, b, rest in terms
    ]
    return frozenset(counts), frozenset((-number, rest) for number, rest in counts)
