"""What lies between which numbers: the field `bounds` of operators, of the bounds of their inputs.

Bounds are pairs, the least and the greatest number that an element may be.
"""

from math import inf

Bounds = tuple[float, float]

ANY: Bounds = (-inf, inf)
NOT_NEGATIVE: Bounds = (0.0, inf)
PROBABILITY: Bounds = (0.0, 1.0)
WAVE: Bounds = (-1.0, 1.0)


def unchanged(x: Bounds, *_, **__) -> Bounds:
    """Of what is one of the numbers given, or their average."""
    return x


def with_zero(x: Bounds, *_, **__) -> Bounds:
    """Of numbers moved to places beside which there may be zeros."""
    return min(x[0], 0.0), max(x[1], 0.0)


def summed(x: Bounds, *_, **__) -> Bounds:
    """Of a sum of any number of elements."""
    return 0.0 if x[0] >= 0 else -inf, 0.0 if x[1] <= 0 else inf


def added(a: Bounds, b: Bounds) -> Bounds:
    """Of a + b."""
    return a[0] + b[0], a[1] + b[1]


def subtracted(a: Bounds, b: Bounds) -> Bounds:
    """Of a - b."""
    return a[0] - b[1], a[1] - b[0]


def larger(a: Bounds, b: Bounds) -> Bounds:
    """Of the larger of two."""
    return max(a[0], b[0]), max(a[1], b[1])


def smaller(a: Bounds, b: Bounds) -> Bounds:
    """Of the smaller of two."""
    return min(a[0], b[0]), min(a[1], b[1])


def either(_: Bounds, a: Bounds, b: Bounds) -> Bounds:
    """Of one of two, by a mask."""
    return min(a[0], b[0]), max(a[1], b[1])


def clamped(x: Bounds, low: Bounds | None, high: Bounds | None) -> Bounds:
    """Of x held above the one and below the other, where they are given."""
    x = x if low is None else larger(x, low)
    return x if high is None else smaller(x, high)
