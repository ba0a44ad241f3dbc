"""Conditions on an input under which a wrong claim is right.

A condition is reported if it makes the claim right at every point. Each is tried on its own, on all
branches that satisfy it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ...errors import if_applicable
from ...graphs import Node
from ...graphs.shapes import is_square
from ...lazy import np
from .branches import on_all_branches
from .claim import Claim
from .findings import Finding, at_point, holds
from .points import Point, Points, Values

Projection = Callable[[Any], Any]


class Condition(NamedTuple):
    """The condition in words; a projection of values onto it; and a predicate for the inputs that
    it applies to, of the node and of whether the claim is about another input.
    """

    words: str
    project: Projection
    fits: Callable[[Node, bool], bool]


def condition(claim: Claim, findings: list[Finding]) -> str | None:
    """`A is symmetric`, if the claim is right for such an input; None if no condition helps."""
    problem = findings[0].point.problem
    for name in (x.name for x in problem.inputs.values() if x.node.dtype == "float"):
        nodes = [t.point.problem.inputs[name].node for t in findings]
        for words, project, fits in CONDITIONS:
            fitting = all(fits(node, name != claim.name) for node in nodes)
            if fitting and _right_for(claim, findings, name, project):
                return f"{name} {words}"
    seed = problem.seed
    square = all(is_square(t.point.problem.seed.node.shape) for t in findings)
    if seed.value is None and square and _right_for(claim, findings, seed.name, _symmetric):
        return f"{seed.name} is symmetric"
    return _among_symmetric(claim, findings)


def _among_symmetric(claim: Claim, findings: list[Finding]) -> str | None:
    """`X varies among symmetric matrices alone`, if the claim is the gradient in that space:
    G + G.T - G * eye for the gradient G (the Matrix Cookbook, "Symmetric").
    """
    name = claim.name
    inputs = [t.point.problem.inputs.get(name) for t in findings]
    if not all(x is not None and is_square(x.shape) for x in inputs):
        return None
    symmetric_points = filter(None, (_within(t.point, name, _symmetric) for t in findings))
    points = [p for p in symmetric_points if p.finite([name])]
    if not points or not all(_has_both_sides(claim, p) for p in points):
        return None
    return f"{name} varies among symmetric matrices alone"


def _has_both_sides(claim: Claim, point: Point) -> bool:
    """Whether the claim is G + G.T - G * eye for the gradient G."""
    result = at_point(claim.program, claim.name, point)
    diagonal = result.right * np.eye(result.right.shape[-1])
    return result._replace(right=2 * _symmetric(result.right) - diagonal).agrees


def _right_for(claim: Claim, findings: list[Finding], name: str, project: Projection) -> bool:
    """Whether the claim is right if an input, or the seed, satisfies the condition."""
    points = [p for p in (_within(t.point, name, project) for t in findings) if p is not None]
    right = (p.finite([claim.name]) and holds(claim.program, claim.name, [p]) for p in points)
    if len(points) < len(findings) or not all(right):
        return False
    result = on_all_branches(
        Points(points, False), [claim], [claim.name], partial(_projected, points[0], name, project)
    )
    return holds(claim.program, claim.name, result.tried[len(points) :])


def _within(point: Point, name: str, project: Projection) -> Point | None:
    """The point with an input, or the seed, projected onto the condition; None if these values give
    another graph.
    """
    values = {i.node: point(i.node) for i in point.problem.inputs.values()}
    seed = point.seed if name in point.problem.inputs else project(point.seed)
    return if_applicable(
        lambda: point.at_other_values(_projected(point, name, project, values), seed)
    )


def _projected(point: Point, name: str, project: Projection, values: Values) -> Values:
    """The values with those of an input projected onto the condition; unchanged for the seed."""
    if name not in point.problem.inputs:
        return values
    node = point.problem.inputs[name].node
    return values | {node: project(values[node])}


# ---- the conditions ------------------------------------------------------------------------------


def _is_square(node: Node, _: bool) -> bool:
    return is_square(node.shape)


def _symmetric(array: Any) -> Any:
    return (array + np.swapaxes(array, -1, -2)) / 2


def _is_any(_: Node, __: bool) -> bool:
    return True


def _positive(array: Any) -> Any:
    return np.abs(array)


def _may_sum_to_one(node: Node, other: bool) -> bool:
    return other and node.ndim > 0 and node.shape[-1] > 1


def _summing_to_one(array: Any) -> Any:
    """The array with sums of 1 along the last dimension; positive if it was positive."""
    if np.all(array > 0):
        return _normalized(array)
    return array + (1 - array.sum(axis=-1, keepdims=True)) / array.shape[-1]


def _normalized(array: Any) -> Any:
    return _positive(array) / _positive(array).sum(axis=-1, keepdims=True)


CONDITIONS = (
    Condition("is symmetric", _symmetric, _is_square),
    Condition("is positive", _positive, _is_any),
    Condition("sums to 1 along its last dimension", _summing_to_one, _may_sum_to_one),
    Condition("is positive and sums to 1 along its last dimension", _normalized, _may_sum_to_one),
)
