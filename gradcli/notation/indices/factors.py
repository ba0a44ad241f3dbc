"""The factors of a product in index notation: their number, and equal ones as powers."""

from collections.abc import Iterable
from math import gcd

from .expressions import MINUS, Expr, Number, Power, Product, is_condition


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
