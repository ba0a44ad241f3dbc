"""Numbers as short texts."""

import math
from typing import Any


def number_text(value: Any, precision: int = 5) -> str:
    """2, 0.76159, 1.2e-05, inf, nan: `precision` digits, whole numbers without a point."""
    value = float(value)
    if math.isnan(value) or math.isinf(value):
        return str(value)
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{precision}g}"


def is_short(array: Any, width: int) -> bool:
    """Whether the numbers of an array are at most so many characters, with a comma after each."""
    return array.size <= width and sum(len(number_text(v)) + 2 for v in array.flat) <= width
