"""Whether a gradient is well-conditioned: that of a nearly singular matrix changes a lot where
inputs are perturbed a little.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ...graphs import Node
from ...lazy import np
from ..random_numbers import Numbers

PERTURBATION = 1e-9  # relative, of the inputs
CHANGE = 1e-4  # relative, of a gradient: what rounding changes is a millionth of PERTURBATION


def perturbed(values: Mapping[Node, Any], moving: Iterable[Node], draw: int = 4) -> dict[Node, Any]:
    """The values, of which those of some inputs are perturbed; each `draw` in a way of its own."""
    numbers = Numbers(draw)
    factors = {x: numbers.uniform(1 - PERTURBATION, 1 + PERTURBATION, x.shape) for x in moving}
    return {x: value * factors[x] if x in factors else value for x, value in values.items()}


def is_well_conditioned(here: Any, near: Any) -> bool:
    """Whether a gradient is finite and nearly the same at two points, for its own size."""
    with np.errstate(all="ignore"):
        change = np.max(np.abs(here - near), initial=0.0)
        return bool(change <= CHANGE * np.max(np.abs(here), initial=0.0) < np.inf)
