"""Calls operators and functions by name, for the modules that `apply` and `calls` import.

A backward function calls operators, which are recorded for a second derivative. As in PyTorch's
dispatcher, the caller knows only the name; `apply` and `calls` register the implementations, so
that imports have no circle.
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
    """Compute a graph with tensors. `values` maps nodes to tensors; the results are added to it.
    `names` are the names of grad_fns.
    """
    _implementations["graph"](roots, values, names)
