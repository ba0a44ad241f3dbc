"""In which precision NumPy computes a value."""

import math
from collections.abc import Callable
from typing import Any

from ..lazy import np, scipy_special

MANY = 1 << 14  # elements
SINGLE_UNIT, DOUBLE_UNIT = 2.0**-23, 2.0**-52  # `unit` of a precision


def floats(x: Any) -> Any:
    """An array of floats in the precision they have; integers in double precision."""
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def unit(x: Any) -> float:
    """The distance from 1 to the next float in the precision of an array."""
    return float(np.finfo(floats(x).dtype).eps)


def by_python(name: str) -> Callable:
    """A function of Python's `math`, for each element; from MANY elements on SciPy's of that name:
    it is 15 times as fast, takes longer to import than few elements take, and differs in the last
    digits.
    """

    def value(x: Any) -> Any:
        x = floats(x)
        if x.size < MANY:
            result = np.frompyfunc(getattr(math, name), 1, 1)(x)
        else:
            result = getattr(scipy_special, name)(x.astype(float, copy=False))
        return np.asarray(result, x.dtype)

    return value


def named(name: str) -> Callable:
    """NumPy's function. In single precision that is up to three units of the last place off, and
    PyTorch's one: so it is computed in double, for the evaluator to round, where it is one step.
    """

    def value(*xs: Any) -> Any:
        function = getattr(np, name)
        return function(*(map(_in_double, xs) if isinstance(function, np.ufunc) else xs))

    return value


def _in_double(x: Any) -> Any:
    return x.astype(float) if getattr(x, "dtype", None) == np.float32 else x
