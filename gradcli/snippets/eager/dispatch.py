"""Operators and functions by name, for the files that these are made of.

The backward passes of views and of products call operators, which record such backward passes in
their turn. As in PyTorch's dispatcher, who calls knows the name alone: `apply` and `calls` register
what they do.
"""

from collections.abc import Callable
from typing import Any

from .tensor import Tensor

Implementation = Callable[..., Any]
_implementations: dict[str, Implementation] = {}


def implements(kind: str) -> Callable[[Implementation], Implementation]:
    """Register a function as what calls an "operator" or a "function" by name."""

    def register(function: Implementation) -> Implementation:
        _implementations[kind] = function
        return function

    return register


def call_operator(name: str, *inputs: Any, **attrs: Any) -> Tensor:
    """An operator on tensors and numbers."""
    return _implementations["operator"](name, *inputs, **attrs)


def call(name: str, *args: Any) -> Any:
    """What a function of PyTorch gives."""
    return _implementations["function"](name, args, {})
