"""Numbers as they are written: 8 ** 0.5 for 2.8284271247461903, 2 * pi for 6.283185307179586."""

from math import isclose, isfinite, isqrt, pi

from ..tree import Infix, Number, Prefix, Tree

CLOSE = 1e-15  # relative
LARGEST = 1_000  # of the roots that are known, and one over them
HALF = Number(0.5)


def numeral(value: float, point: bool = False) -> Tree:
    """A finite number: the root of a whole number as that, or one over it, others as they are."""
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
    if isqrt(whole) ** 2 == whole:  # a third is no root
        return None
    close = abs(whole**power - value) <= CLOSE * value
    return Infix("**", Number(whole), Number(power)) if close else None


def by_pi(value: float, name: Tree) -> Tree | None:
    """A number that rules make of pi, by its `name`, as PyTorch takes it: (2 * pi) ** -0.5."""
    built = (f for number, f in _MADE_OF_PI if isclose(abs(value), number, rel_tol=CLOSE))
    result = next(built, None)
    if result is None:
        return None
    written = result(name)
    return Prefix("-", written) if value < 0 else written


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
