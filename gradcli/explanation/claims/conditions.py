"""What an input would have to be for a wrong claim to be right after all.

A condition is said where it makes the claim right at every point, and no more than that: each is
tried apart from the others.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...graphs import Node
from ...lazy import np
from .given import Claim
from .points import Point
from .trials import Trial, tried

Special = Callable[[Any], Any]


class Condition(NamedTuple):
    """What is said of an input, how its values are brought to it, and which inputs it is for: the
    node, and whether the claim is about another one.
    """

    said: str
    special: Special
    fits: Callable[[Node, bool], bool]


def condition(claim: Claim, trials: list[Trial]) -> str | None:
    """`A is symmetric`, where the claim is right for an input of that kind and not for others."""
    problem = trials[0].point.problem
    for name in (x.name for x in problem.inputs.values() if x.node.dtype == "float"):
        nodes = [t.point.problem.inputs[name].node for t in trials]
        for said, special, fits in CONDITIONS:
            fitting = all(fits(node, name != claim.name) for node in nodes)
            if fitting and _right_for(claim, trials, name, special):
                return f"{name} {said}"
    seed = problem.seed
    square = all(_is_square(t.point.problem.seed.node, True) for t in trials)
    if seed.value is None and square and _right_for(claim, trials, seed.name, _symmetric):
        return f"{seed.name} is symmetric"
    return None


def _right_for(claim: Claim, trials: list[Trial], name: str, special: Special) -> bool:
    """Whether the claim is right where an input, or the seed, is made special."""
    return all(_agrees(claim, t.point, name, special) for t in trials)


def _agrees(claim: Claim, point: Point, name: str, special: Special) -> bool:
    values = {i.node: point(i.node) for i in point.problem.inputs.values()}
    seed = point.seed
    if name in point.problem.inputs:
        node = point.problem.inputs[name].node
        values[node] = special(values[node])
    else:
        seed = special(seed)
    changed = Point(point.problem, values, seed)
    return changed.finite([claim.name]) and tried(claim.program, claim.name, changed).agrees


# ---- the conditions ------------------------------------------------------------------------------


def _is_square(node: Node, _: bool) -> bool:
    return node.ndim > 1 and node.shape[-1] == node.shape[-2]


def _symmetric(array: Any) -> Any:
    return (array + np.swapaxes(array, -1, -2)) / 2


def _is_any(_: Node, __: bool) -> bool:
    return True


def _positive(array: Any) -> Any:
    return np.abs(array)


def _may_hold_shares(node: Node, other: bool) -> bool:
    return other and node.ndim > 0 and node.shape[-1] > 1


def _summing_to_one(array: Any) -> Any:
    """Of positive numbers positive ones; others keep their signs, as far as they can."""
    if np.all(array > 0):
        return _shares(array)
    return array + (1 - array.sum(axis=-1, keepdims=True)) / array.shape[-1]


def _shares(array: Any) -> Any:
    return _positive(array) / _positive(array).sum(axis=-1, keepdims=True)


CONDITIONS = (
    Condition("is symmetric", _symmetric, _is_square),
    Condition("is positive", _positive, _is_any),
    Condition("sums to 1 along its last dimension", _summing_to_one, _may_hold_shares),
    Condition("is positive and sums to 1 along its last dimension", _shares, _may_hold_shares),
)
