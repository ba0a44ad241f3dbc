"""Calls of functions as PyTorch took them once, and still does: factors before the tensors."""

from typing import Any

from .tensor import Tensor

FACTORS = {  # functions with one factor, and its name now
    **dict.fromkeys(("add", "sub"), "alpha"),
    **dict.fromkeys(("addcdiv", "addcmul"), "value"),
}
PRODUCTS = ("addbmm", "addmm", "addmv", "addr", "baddbmm")  # of beta, and of alpha perhaps
Call = tuple[tuple[Any, ...], dict[str, Any]]


def current(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Call:
    """The arguments of a call as the function takes them now; those of a method begin with its
    tensor, and its name may end with an underscore.
    """
    own = name.rstrip("_")
    if own in FACTORS and len(args) > 2 and _is_factor(args[1]) and isinstance(args[2], Tensor):
        return (args[0], *args[2:]), {**named, FACTORS[own]: args[1]}
    if own in PRODUCTS and any(map(_is_factor, args[:2])):
        factors = [a for a in args if _is_factor(a)]
        tensors = tuple(a for a in args if isinstance(a, Tensor))
        if len(factors) < 3 and len(tensors) == 3 and len(args) == len(factors) + 3:
            return tensors, {**named, **dict(zip(("beta", "alpha"), factors))}
    return args, named


def _is_factor(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
