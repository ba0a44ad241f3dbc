"""The factors of a product in index notation: their number, and equal ones as powers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any

from .alpha_equivalence import unlettered
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
    """The number above, the number below, and the factors that are none."""
    above: float = 1
    below: float = 1
    rest: list[Expr] = []
    stack = list(factors)[::-1]
    while stack:
        f = stack.pop()
        if isinstance(f, Product):
            stack.extend(reversed(f.factors))
        elif isinstance(f, Number):
            above = above * _whole(f.value)
        elif (
            isinstance(f, Power)
            and f.exponent == MINUS
            and isinstance(f.base, Number)
            and f.base.value != 0
        ):
            below = below * _whole(f.base.value)
        else:
            rest.append(f)
    return above, below, rest


def _whole(value):
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def fraction(above, below) -> list[Expr]:
    """above / below as factors: one for the number, and where it is needed one that divides."""
    if below == 1:
        return [Number(above)]
    if isinstance(above, int) and isinstance(below, int):
        shared = gcd(above, below) * (1 if below > 0 else -1)
        above, below = above // shared, below // shared
        return [Number(above)] if below == 1 else [Number(above), Power(Number(below), MINUS)]
    return [Number(_whole(above / below))]


def powers(factors: Iterable[Expr], cancel: bool = False) -> list[Expr]:
    """Equal factors as powers; above and below a fraction line they stay apart, unless they may
    `cancel`, which makes a number of 0 / 0.
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


def one_way(factors: Sequence[Expr]) -> tuple[int, list[Expr]]:
    """Differences turned as the first of their elements is, (y[j] - x[j]) beside (y[i] - x[i]), and
    the sign that is left of it.
    """
    sign, out = 1, [*factors]
    met: set[Any] = set()
    totals = [k for k, f in enumerate(out) if isinstance(f, Total)]
    for k in totals if len(totals) > 1 else ():
        terms = [split_number([t]) for t in parts(out[k])]
        shape, turned_shape = _shapes(terms)
        turned = _turned(terms)
        if turned_shape in met and (shape not in met or turned in out[:k]):
            sign, out[k] = -sign, turned
        else:
            met.add(shape)
    return sign, out


def _turned(terms: Sequence[tuple[float, float, list[Expr]]]) -> Total:
    """The opposite of terms added up, those without a sign first."""
    turned = sorted(((-above, below, rest) for above, below, rest in terms), key=lambda t: t[0] < 0)
    numbers = ([n for n in fraction(above, below) if n != ONE] for above, below, _ in turned)
    return Total(tuple(product_of(n + rest) for n, (_, _, rest) in zip(numbers, turned)))


def _shapes(terms: Sequence[tuple[float, float, list[Expr]]]) -> tuple[Any, Any]:
    """Terms whatever their letters and their order; and with the opposite signs."""
    counts = [(a / b, frozenset(Counter(map(unlettered, rest)).items())) for a, b, rest in terms]
    return frozenset(counts), frozenset((-number, rest) for number, rest in counts)
