"""Numbers as they are written: 8 ** 0.5 for 2.8284271247461903."""

from math import isfinite, isqrt

from ..tree import Infix, Number, Prefix, Tree

CLOSE = 1e-15  # relative
LARGEST = 1_000  # of the roots that are known, and one over them


def numeral(value: float, point: bool = False) -> Tree:
    """A finite number: the root of a whole number as that, or one over it, others as they are."""
    if not (isinstance(value, float) and isfinite(value)):
        return Number(value, point)
    found = _root(abs(value))
    if found is None:
        return Number(value, point)
    return Prefix("-", found) if value < 0 else found


def _root(value: float) -> Tree | None:
    if value == round(value, 6) or not 1 / LARGEST < value < LARGEST:
        return None
    power = 0.5 if value > 1 else -0.5
    whole = round(value ** (1 / power))
    if isqrt(whole) ** 2 == whole:  # a third is no root
        return None
    close = abs(whole**power - value) <= CLOSE * value
    return Infix("**", Number(whole), Number(power)) if close else None
