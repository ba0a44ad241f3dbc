"""In which precision NumPy computes a value."""

from collections.abc import Callable
from typing import Any

from ..lazy import np


def floats(x: Any) -> Any:
    """An array of floats in the precision they have; whole numbers in double precision."""
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def by_python(function: Callable) -> Callable:
    """A function of Python's, for each element."""

    def value(x: Any) -> Any:
        x = floats(x)
        return np.asarray(np.frompyfunc(function, 1, 1)(x), x.dtype)

    return value


def named(name: str) -> Callable:
    """NumPy's function, of single precision in double: the evaluator rounds what it finds, once.
    In single precision NumPy's would be three units of the last place off, and PyTorch's one.
    """
    return lambda *xs: getattr(np, name)(*map(_in_double, xs))


def _in_double(x: Any) -> Any:
    return x.astype(float) if getattr(x, "dtype", None) == np.float32 else x
