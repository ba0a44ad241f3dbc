"""Perturbations of inputs: which must be symmetric because an operation reads one triangle only,
and whether a gradient is well conditioned, as that of a nearly singular matrix is not.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import is_square
from ...lazy import np
from ..random_numbers import Numbers

MOST = 1 << 16  # elements of a graph that is evaluated to find which inputs must be symmetric
PERTURBATION = 1e-9  # relative, of the inputs
CHANGE = 1e-4  # relative, of a gradient; rounding is a millionth of PERTURBATION


def symmetric_inputs(out: Node) -> set[Node]:
    """The inputs that must be symmetric because an operation reads one triangle of a matrix and has
    the gradient for symmetric matrices: A in `cholesky(A + eye(3))`, but not x in
    `cholesky(x @ x.T)`. Determined with random values.
    """
    return {x for node in _read(out) for x in _needed(node)}


def symmetrized(array: Any) -> Any:
    """The symmetric matrix with this lower triangle."""
    return np.tril(array) + np.swapaxes(np.tril(array, -1), -1, -2)


def is_symmetric(array: Any) -> bool:
    """Whether matrices are symmetric up to rounding."""
    return bool(np.allclose(array, np.swapaxes(array, -1, -2)))


def _read(out: Node) -> set[Node]:
    """The nodes of which an operation reads one triangle."""
    result = set()
    for node in walk([out]):
        pairs = zip(node.op.inputs, node.inputs, strict=False) if node.op.symmetric else ()
        result |= {i for name, i in pairs if i is not None and name in node.op.symmetric}
    return result


def _needed(node: Node) -> set[Node]:
    """The inputs that must be symmetric for a node to be symmetric."""
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
    return result is None or is_symmetric(result)  # True if it cannot be evaluated


# ---- well-conditioned ----------------------------------------------------------------------------


def perturbed(values: Mapping[Node, Any], moving: Iterable[Node], draw: int = 4) -> dict[Node, Any]:
    """The values with those of `moving` inputs perturbed; `draw` is the random seed."""
    numbers = Numbers(draw)
    factors = {x: numbers.uniform(1 - PERTURBATION, 1 + PERTURBATION, x.shape) for x in moving}
    return {x: value * factors[x] if x in factors else value for x, value in values.items()}


def is_well_conditioned(here: Any, near: Any) -> bool:
    """Whether a gradient is finite, and nearly equal at two nearby points relative to its size."""
    with np.errstate(all="ignore"):
        change = np.max(np.abs(here - near), initial=0.0)
        return bool(change <= CHANGE * np.max(np.abs(here), initial=0.0) < np.inf)
