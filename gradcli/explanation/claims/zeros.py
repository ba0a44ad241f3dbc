"""Where a right claim parts from PyTorch after all: at the values given, and at 0, where kinks are.

Inputs that keep the values that were given, as masks do, are not tried at 0.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...graphs import Node
from ...lazy import np
from .given import Claim
from .points import Point, at_values
from .trials import Trial, tried


class Apart(NamedTuple):
    """A trial that disagrees, and where that is: `x = 0`."""

    where: str
    trial: Trial


def apart(claim: Claim, first: Point) -> Apart | None:
    """The first of these points at which output and gradient are finite, and the claim is not the
    gradient; `first` has numbers for all inputs.
    """
    for where, values in _candidates(first):
        point = at_values(first.problem, values, first.seed)
        if point is not None and point.finite([claim.name]):
            trial = tried(claim.program, claim.name, point)
            if trial.value is not None and not trial.agrees:
                return Apart(where, trial)
    return None


def _candidates(first: Point) -> Iterator[tuple[str, dict[Node, Any]]]:
    problem = first.problem
    values = {x.node: first(x.node) for x in problem.inputs.values()}
    if problem.numeric:
        yield "the values given", values | problem.values
    for x in problem.inputs.values():
        stays = x.value is not None and np.array_equal(values[x.node], x.value)
        if x.node.dtype == "float" and not stays:
            yield f"{x.name} = 0", values | {x.node: np.zeros(x.shape)}
