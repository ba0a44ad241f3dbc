"""Numbers as formulas: 8 ** 0.5 for 2.8284271247461903, 2 * pi for 6.283185307179586."""

from math import isclose, isfinite, isqrt, pi

from ..tree import Infix, Number, Prefix, Tree

CLOSE = 1e-15  # relative
LARGEST = 1_000  # of roots that are recognised, and their reciprocals
MULTIPLES = 64  # of pi, and parts of it, that are recognised
HALF = Number(0.5)


def numeral(value: float, point: bool = False) -> Tree:
    """A number; square roots of integers, and their reciprocals, are written as powers."""
    if not (isinstance(value, float) and isfinite(value)):
        return Number(value, point)
    result = _root(abs(value))
    if result is None:
        return Number(value, point)
    return Prefix("-", result) if value < 0 else result


def _root(value: float) -> Tree | None:
    if value == round(value, 6) or not 1 / LARGEST < value < LARGEST:
        return None
    power = 0.5 if value > 1 else -0.5
    whole = round(value ** (1 / power))
    if isqrt(whole) ** 2 == whole:  # 1/3 is no root
        return None
    close = abs(whole**power - value) <= CLOSE * value
    return Infix("**", Number(whole), Number(power)) if close else None


def by_pi(value: float, name: Tree) -> Tree | None:
    """A number as a formula in pi, called `name`: (2 * pi) ** -0.5; None for other numbers."""
    formulas = (f for number, f in _MADE_OF_PI if isclose(abs(value), number, rel_tol=CLOSE))
    result = next(formulas, None)
    written = _multiple(abs(value) / pi, name) if result is None else result(name)
    if written is None:
        return None
    if value < 0 and isinstance(written, Infix) and isinstance(written.left, Number):
        return written._replace(left=Number(-written.left.value))  # -2 * pi
    return Prefix("-", written) if value < 0 else written


def _multiple(ratio: float, name: Tree) -> Tree | None:
    """4 * pi, or pi / 3; None for other numbers."""
    larger = ratio if ratio > 1 else 1 / ratio if ratio else 0.0
    if not 1.5 < larger < MULTIPLES + 0.5 or not isclose(larger, round(larger), rel_tol=CLOSE):
        return None
    if ratio > 1:
        return Infix("*", Number(round(larger)), name)
    return Infix("/", name, Number(round(larger)))


_MADE_OF_PI = (
    (pi, lambda p: p),
    (2 * pi, lambda p: Infix("*", Number(2), p)),
    (pi / 2, lambda p: Infix("/", p, Number(2))),
    (pi / 180, lambda p: Infix("/", p, Number(180))),
    (180 / pi, lambda p: Infix("/", Number(180), p)),
    (pi**0.5, lambda p: Infix("**", p, HALF)),
    (2 / pi**0.5, lambda p: Infix("/", Number(2), Infix("**", p, HALF))),
    (pi**0.5 / 2, lambda p: Infix("/", Infix("**", p, HALF), Number(2))),
    ((2 * pi) ** 0.5, lambda p: Infix("**", Infix("*", Number(2), p), HALF)),
    ((2 * pi) ** -0.5, lambda p: Infix("**", Infix("*", Number(2), p), Number(-0.5))),
    ((2 / pi) ** 0.5, lambda p: Infix("**", Infix("/", Number(2), p), HALF)),
)
