"""Calls operators and functions by name, for modules that `apply` and `calls` import.

A backward pass calls operators, which are differentiable themselves. As in PyTorch's dispatcher,
the caller knows only the name; `apply` and `calls` register the implementations.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...graphs import Node
from .tensor import Tensor

Implementation = Callable[..., Any]
_implementations: dict[str, Implementation] = {}


def implements(kind: str) -> Callable[[Implementation], Implementation]:
    """Register the function that calls an "operator" or a "function", or computes a "graph"."""

    def register(function: Implementation) -> Implementation:
        _implementations[kind] = function
        return function

    return register


def call_operator(name: str, *inputs: Any, **attrs: Any) -> Tensor:
    """Apply an operator to tensors and numbers."""
    return _implementations["operator"](name, *inputs, **attrs)


def call(name: str, *args: Any) -> Any:
    """Call a function of PyTorch."""
    return _implementations["function"](name, args, {})


def run_graph(
    roots: Sequence[Node], values: dict[Node, Any], names: Mapping[Node, str | None]
) -> None:
    """Compute a graph with tensors; `values` is filled in, `names` are names for grad_fns."""
    _implementations["graph"](roots, values, names)
