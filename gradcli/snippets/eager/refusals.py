"""Checks of what PyTorch refuses of a call, by function. The files of topics declare them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..python.values import Class, error
from .tensor import Tensor

LINALG_ERROR = Class("_LinAlgError", (error("RuntimeError", "").value.cls,), module="torch._C")
Check = Callable[..., None]
CHECKS: dict[str, list[Check]] = {}  # of a function, in the order in which they are made


def check(*names: str) -> Callable[[Check], Check]:
    """A check of the arguments of these functions."""

    def register(function: Check) -> Check:
        for name in names:
            CHECKS.setdefault(name, []).append(function)
        return function

    return register


def refuse(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise what PyTorch raises of these arguments, where a check of this function knows it."""
    first = args[0] if args else None
    if isinstance(first, list | tuple) and first:
        first = first[0]
    if isinstance(first, Tensor | str):
        for function in CHECKS.get(name, ()):
            function(*args, **named)


def refuse_if(condition: bool, text: str, kind: str = "RuntimeError") -> None:
    """Raise an exception of the program where a condition holds."""
    if condition:
        raise error(kind, text)


def needs(ndim: int, message: str, *names: str) -> None:
    """Refuse a tensor of fewer dimensions."""

    def checked(input: Tensor, *_: Any, **__: Any) -> None:
        refuse_if(input.ndim < ndim, message)

    check(*names)(checked)
