"""Inputs that stay symmetric where they are moved: of which an operation reads one triangle."""

from collections.abc import Callable
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, walk
from ...lazy import np


def kept_symmetric(out: Node) -> set[Node]:
    """The nodes of which an operation on the way to `out` reads one triangle, while its gradient is
    for matrices that stay symmetric.
    """
    found = set()
    for node in walk([out]):
        pairs = zip(node.op.inputs, node.inputs, strict=False) if node.op.symmetric else ()
        found |= {i for name, i in pairs if i is not None and name in node.op.symmetric}
    return found


def one_triangle(out: Node, value: Callable[[Node], Any]) -> set[Node]:
    """The inputs that must be symmetric for what is `kept_symmetric` to be so, as A in
    `cholesky(A + eye(3))`, and not x in `cholesky(x @ x.T)`: told by a `value` for each node.
    """
    found: set[Node] = set()
    for node in kept_symmetric(out):
        if not _is_symmetric(node, value):
            found |= _made_of(node)
    return found


def mirrored(array: Any) -> Any:
    """The lower triangle, and the same above the diagonal."""
    return np.tril(array) + np.swapaxes(np.tril(array, -1), -1, -2)


def _is_symmetric(node: Node, value: Callable[[Node], Any]) -> bool:
    try:
        array = value(node)
    except GradcliError:  # nothing tells
        return True
    return bool(np.allclose(array, np.swapaxes(array, -1, -2)))


def _made_of(node: Node) -> set[Node]:
    """The inputs that elementwise operations make a matrix of, element by element."""
    found: set[Node] = set()
    left = [node]
    while left:
        part = left.pop()
        if part.op.name == "input" and part.shape == node.shape:
            found.add(part)
        elif part.op.family == "elementwise":
            left += part.parents
    return found
