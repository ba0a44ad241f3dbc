"""Conversion of arrays to JSON values."""

from typing import Any

from ..lazy import np
from ..limits import Limits


def jsonable(value: Any) -> Any:
    """`value` with arrays as nested lists, and "inf", "-inf", "nan" for these numbers."""
    if isinstance(value, dict):
        return {k: jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, float):
        return value if -np.inf < value < np.inf else str(value)
    if value is None or isinstance(value, str | int):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        return jsonable(array.tolist())
    return array.tolist()


def check_numbers(value: Any, limits: Limits) -> None:
    """Raise GradcliError if an answer has more numbers than may be written as JSON."""
    limits.check("numbers", _count(value), "the answer as JSON")


def _count(value: Any) -> int:
    """The total number of elements of the arrays of an answer."""
    if isinstance(value, dict | list | tuple):
        return sum(map(_count, value.values() if isinstance(value, dict) else value))
    return getattr(value, "size", 0)


def rounded(value: Any, digits: int | None) -> Any:
    """`value` rounded to `digits` significant digits; unchanged for None."""
    if value is None or digits is None:
        return value
    array = np.asarray(value)
    near = [float(f"{x:.{digits}g}") for x in array.ravel().tolist()]
    return np.array(near, dtype=float).reshape(array.shape)
