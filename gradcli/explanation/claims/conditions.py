"""What an input would have to be for a wrong claim to be right after all.

A condition is said where it makes the claim right at every point, and no more than that: each is
tried apart from the others, on all branches that there are within it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ...graphs import Node
from ...graphs.shapes import is_square
from ...lazy import np
from .branches import on_all_branches
from .findings import Finding, at_point, holds
from .given import Claim
from .points import Point, Points

Special = Callable[[Any], Any]


class Condition(NamedTuple):
    """What is said of an input, how its values are brought to it, and which inputs it is for: the
    node, and whether the claim is about another one.
    """

    said: str
    special: Special
    fits: Callable[[Node, bool], bool]


def condition(claim: Claim, findings: list[Finding]) -> str | None:
    """`A is symmetric`, where the claim is right for an input of that kind and not for others."""
    problem = findings[0].point.problem
    for name in (x.name for x in problem.inputs.values() if x.node.dtype == "float"):
        nodes = [t.point.problem.inputs[name].node for t in findings]
        for said, special, fits in CONDITIONS:
            fitting = all(fits(node, name != claim.name) for node in nodes)
            if fitting and _right_for(claim, findings, name, special):
                return f"{name} {said}"
    seed = problem.seed
    square = all(is_square(t.point.problem.seed.node.shape) for t in findings)
    if seed.value is None and square and _right_for(claim, findings, seed.name, _symmetric):
        return f"{seed.name} is symmetric"
    return _among_symmetric(claim, findings)


def _among_symmetric(claim: Claim, findings: list[Finding]) -> str | None:
    """`X varies among symmetric matrices alone`, where the claim is what books have for that:
    G + G.T - G * eye for the gradient G (the Matrix Cookbook, "Symmetric").
    """
    name = claim.name
    inputs = [t.point.problem.inputs.get(name) for t in findings]
    if not all(x is not None and is_square(x.shape) for x in inputs):
        return None
    points = [p for p in (_within(t.point, name, _symmetric) for t in findings) if p.finite([name])]
    if not points or not all(_has_both(claim, p) for p in points):
        return None
    return f"{name} varies among symmetric matrices alone"


def _has_both(claim: Claim, point: Point) -> bool:
    """Whether the claim has at each place off the diagonal what the gradient has at both sides."""
    found = at_point(claim.program, claim.name, point)
    diagonal = found.right * np.eye(found.right.shape[-1])
    return found._replace(right=2 * _symmetric(found.right) - diagonal).agrees


def _right_for(claim: Claim, findings: list[Finding], name: str, special: Special) -> bool:
    """Whether the claim is right where an input, or the seed, is made special."""
    points = [_within(t.point, name, special) for t in findings]
    if not all(p.finite([claim.name]) and holds(claim.program, claim.name, [p]) for p in points):
        return False
    found = on_all_branches(
        Points(points, False), [claim], [claim.name], partial(_made, points[0], name, special)
    )
    return holds(claim.program, claim.name, found.tried[len(points) :])


def _within(point: Point, name: str, special: Special) -> Point:
    values = {i.node: point(i.node) for i in point.problem.inputs.values()}
    seed = point.seed if name in point.problem.inputs else special(point.seed)
    return Point(point.problem, _made(point, name, special, values), seed)


def _made(point: Point, name: str, special: Special, values: dict[Node, Any]) -> dict[Node, Any]:
    """The values with an input made special; as they are where it is the seed."""
    if name not in point.problem.inputs:
        return values
    node = point.problem.inputs[name].node
    return values | {node: special(values[node])}


# ---- the conditions ------------------------------------------------------------------------------


def _is_square(node: Node, _: bool) -> bool:
    return is_square(node.shape)


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
