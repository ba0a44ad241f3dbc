"""The floating-point precision of NumPy computations."""

import math
from collections.abc import Callable
from typing import Any

from ..lazy import np, scipy_special

MANY = 1 << 14  # elements from which SciPy is used
SINGLE_UNIT, DOUBLE_UNIT = 2.0**-23, 2.0**-52  # machine epsilon of float32 and float64


def floats(x: Any) -> Any:
    """An array of floats, with its precision; integers become double precision."""
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def unit(x: Any) -> float:
    """The distance from 1 to the next float, in the precision of an array."""
    return float(np.finfo(floats(x).dtype).eps)


def by_python(name: str) -> Callable:
    """The elementwise function `name` of Python's `math`, or of SciPy for large arrays.

    SciPy's is 15 times as fast, but importing it takes longer than computing a few elements; the
    last digits may differ.
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
    """NumPy's function of this name, computed in double precision even for float32, to which the
    evaluator rounds the result. In single precision NumPy's results are off by up to three units in
    the last place, PyTorch's by one.
    """

    def value(*xs: Any) -> Any:
        function = getattr(np, name)
        return function(*(map(_in_double, xs) if isinstance(function, np.ufunc) else xs))

    return value


def _in_double(x: Any) -> Any:
    return x.astype(float) if getattr(x, "dtype", None) == np.float32 else x
