"""Operators and functions by name, for the files that these are made of.

A backward pass calls operators, which record such backward passes in their turn. As with PyTorch's
dispatcher, the caller knows the name alone: `apply` and `calls` register what they do.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...graphs import Node
from .tensor import Tensor

Implementation = Callable[..., Any]
_implementations: dict[str, Implementation] = {}


def implements(kind: str) -> Callable[[Implementation], Implementation]:
    """Register a function as what calls an "operator" or a "function", or computes a "graph"."""

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


def run_graph(
    roots: Sequence[Node], values: dict[Node, Any], names: Mapping[Node, str | None]
) -> None:
    """Compute nodes as operations on tensors, which `values` gets; records have these names."""
    _implementations["graph"](roots, values, names)
