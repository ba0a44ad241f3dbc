"""Interval arithmetic for the field `bounds` of operators: the range of the output from those of
the inputs.

Bounds are pairs: the least and the greatest value that an element may have.
"""

from math import inf

Bounds = tuple[float, float]

ANY: Bounds = (-inf, inf)
NOT_NEGATIVE: Bounds = (0.0, inf)
PROBABILITY: Bounds = (0.0, 1.0)
WAVE: Bounds = (-1.0, 1.0)


def unchanged(x: Bounds, *_, **__) -> Bounds:
    """The bounds of one of the elements, or of an average of them."""
    return x


def with_zero(x: Bounds, *_, **__) -> Bounds:
    """The bounds of elements moved into a tensor that may also contain zeros."""
    return min(x[0], 0.0), max(x[1], 0.0)


def summed(x: Bounds, *_, **__) -> Bounds:
    """The bounds of a sum of any number of elements."""
    return 0.0 if x[0] >= 0 else -inf, 0.0 if x[1] <= 0 else inf


def added(a: Bounds, b: Bounds) -> Bounds:
    """The bounds of a + b."""
    return a[0] + b[0], a[1] + b[1]


def subtracted(a: Bounds, b: Bounds) -> Bounds:
    """The bounds of a - b."""
    return a[0] - b[1], a[1] - b[0]


def larger(a: Bounds, b: Bounds) -> Bounds:
    """The bounds of maximum(a, b)."""
    return max(a[0], b[0]), max(a[1], b[1])


def smaller(a: Bounds, b: Bounds) -> Bounds:
    """The bounds of minimum(a, b)."""
    return min(a[0], b[0]), min(a[1], b[1])


def either(_: Bounds, a: Bounds, b: Bounds) -> Bounds:
    """The bounds of where(_, a, b)."""
    return min(a[0], b[0]), max(a[1], b[1])


def clamped(x: Bounds, low: Bounds | None, high: Bounds | None) -> Bounds:
    """The bounds of clamp(x, low, high); an omitted bound is None."""
    x = x if low is None else larger(x, low)
    return x if high is None else smaller(x, high)
