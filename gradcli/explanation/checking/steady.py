"""Whether a gradient is more than rounding: a little off the point, that of a singular matrix is
another one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ...graphs import Node
from ...lazy import np
from ..random_numbers import Numbers

NUDGE = 1e-9  # relative, by which numbers are moved
STEADY = 1e-4  # relative, by which a gradient may change there: rounding is a millionth of NUDGE


def nudged(values: Mapping[Node, Any], moving: Iterable[Node], draw: int = 4) -> dict[Node, Any]:
    """The values with those of some inputs a little off; another `draw` is off in another way."""
    numbers = Numbers(draw)
    off = {x: numbers.uniform(1 - NUDGE, 1 + NUDGE, x.shape) for x in moving}
    return {x: value * off[x] if x in off else value for x, value in values.items()}


def is_steady(here: Any, near: Any) -> bool:
    """Whether a gradient is finite and nearly the same at two points, for its own size."""
    with np.errstate(all="ignore"):
        change = np.max(np.abs(here - near), initial=0.0)
        return bool(change <= STEADY * np.max(np.abs(here), initial=0.0) < np.inf)
