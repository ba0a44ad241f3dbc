"""Inputs that stay symmetric where they are moved: of which an operation reads one triangle."""

from typing import Any

from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import is_square
from ...lazy import np
from ..random_numbers import Numbers

MOST = 1 << 16  # elements of what is computed to see what an operation reads of


def kept_symmetric(out: Node) -> set[Node]:
    """The inputs that must be symmetric for a matrix to be so of which an operation on the way to
    `out` reads one triangle, while its gradient is for matrices that stay symmetric: A in
    `cholesky(A + eye(3))`, and not x in `cholesky(x @ x.T)`. Random numbers tell.
    """
    return {x for node in _read(out) for x in _needed(node)}


def symmetrized(array: Any) -> Any:
    """The lower triangle, and the same above the diagonal."""
    return np.tril(array) + np.swapaxes(np.tril(array, -1), -1, -2)


def is_symmetric(array: Any) -> bool:
    """Whether matrices are symmetric, but for rounding."""
    return bool(np.allclose(array, np.swapaxes(array, -1, -2)))


def _read(out: Node) -> set[Node]:
    """The nodes of which an operation reads one triangle."""
    result = set()
    for node in walk([out]):
        pairs = zip(node.op.inputs, node.inputs, strict=False) if node.op.symmetric else ()
        result |= {i for name, i in pairs if i is not None and name in node.op.symmetric}
    return result


def _needed(node: Node) -> set[Node]:
    """The inputs without whose symmetry a node is not symmetric."""
    below = walk([node])
    inputs = [x for x in below if x.op.name == "input"]
    square = [x for x in inputs if x.dtype == "float" and is_square(x.shape)]
    if node in square or sum(n.numel for n in below) > MOST:
        return {node} & set(square)
    draw = Numbers(0)
    base = {x: draw.uniform(0.5, 1.5, x.shape) * (x.dtype == "float") for x in inputs}
    base |= {x: symmetrized(base[x]) + x.shape[-1] * np.eye(x.shape[-1]) for x in square}
    if not _is_symmetric_at(node, base):
        return set()
    slanted = {x: base[x] + draw.uniform(0.0, 0.1, x.shape) for x in square}
    return {x for x in square if not _is_symmetric_at(node, base | {x: slanted[x]})}


def _is_symmetric_at(node: Node, values: dict[Node, Any]) -> bool:
    with np.errstate(all="ignore"):
        result = if_applicable(lambda: Evaluator(values)(node)[0])
    return result is None or is_symmetric(result)  # where it has no numbers, nothing tells
