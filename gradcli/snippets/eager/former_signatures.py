"""Calls of functions as PyTorch took them once, and still does: factors before the tensors.

The operators say in which orders (`deprecated_orders`).
"""

from typing import Any

from ...operators import lookup
from .tensor import Tensor

Call = tuple[tuple[Any, ...], dict[str, Any]]
FACTORS = ("alpha", "beta", "value")


def current(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Call:
    """The arguments of a call as the function takes them now; those of a method begin with its
    tensor, and its name may end with an underscore.
    """
    if len(args) < 3 or not any(map(_is_factor, args[:2])):
        return args, named
    for order in getattr(lookup(name.rstrip("_")), "deprecated_orders", ()):
        names = order.split()
        if len(names) == len(args) and all(map(_fits, names, args)):
            given = list(zip(names, args))
            tensors = tuple(a for n, a in given if n not in FACTORS)
            return tensors, {**named, **{n: a for n, a in given if n in FACTORS}}
    return args, named


def _fits(name: str, value: Any) -> bool:
    return _is_factor(value) if name in FACTORS else isinstance(value, Tensor)


def _is_factor(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
