"""Caveats of a right claim: values at which it differs from PyTorch, and constants in it that are
too small to make a difference.

The claim is compared with PyTorch's gradient at the given values and at likely kinks: with an input
set to 0, or to the values of another input. Integer and boolean inputs, and inputs fixed at their
given values, are not changed.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from ...errors import if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import is_square
from ...language.arguments.assumptions import with_properties
from ...language.program import Program
from ...lazy import np
from .branches import on_all_branches
from .claim import Claim, reread
from .edits import Edit
from .findings import NOISE, Finding, at_point, holds
from .points import Point, Points, Values, Within
from .syntax import is_sum, parts, small_number


class Deviation(NamedTuple):
    """A finding that disagrees with PyTorch, and the values at which it does, such as `x = 0`."""

    where: str
    finding: Finding


def deviation(claim: Claim, points: Sequence[Point]) -> Deviation | None:
    """The first values at which output and gradient are finite and the claim is not the gradient;
    None if there are none. The given values are tried first, also if the output is nan there. Then
    one input is set to 0, or equal to another input, while the other inputs have their values at
    each of the first two points.
    """
    first = points[0]
    given = _at_given_values(claim, first) if first.problem.numeric else None
    if given is not None:
        return given
    moving = list(_moving(first))
    for name, other in [*((name, None) for name in moving), *_pairs_of_one_shape(first, moving)]:
        findings = [_at(claim, p, partial(_with_equal, p, name, other)) for p in points[:2]]
        if findings[0] is not None and None not in findings:
            return Deviation(f"{name} = {other or 0}", findings[0])
    return None


def _at_given_values(claim: Claim, point: Point) -> Deviation | None:
    values = point.input_values | point.problem.values
    finding = _disagreeing(claim, point, values, dict)
    if finding is not None:
        return Deviation("the values given", finding)
    given = if_applicable(lambda: point.at_other_values(values))
    if given is None or not np.all(np.isnan(given(point.problem.out))):
        return None
    finding = _unlike(claim, given)
    if finding is None or not np.all(np.isfinite(finding.right)):
        return None
    return Deviation(f"the values given, where {point.problem.out_name} is nan", finding)


def _at(claim: Claim, point: Point, within: Within) -> Finding | None:
    return _disagreeing(claim, point, within(point.input_values), within)


def _disagreeing(claim: Claim, point: Point, values: Values, within: Within) -> Finding | None:
    other = if_applicable(lambda: point.at_other_values(values))
    if other is None or not other.sound([claim.name], within):
        return None
    return _unlike(claim, other)


def _unlike(claim: Claim, point: Point) -> Finding | None:
    finding = at_point(claim.program, claim.name, point)
    if finding.value is None or finding.agrees:
        return None
    if finding.comparable and np.all(np.abs(finding.value - finding.right) <= NOISE):
        return None
    return finding


def _pairs_of_one_shape(point: Point, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of inputs with the same shape and the same assumptions."""
    nodes = [(name, point.problem.inputs[name].node) for name in names]
    for (a, x), (b, y) in combinations(nodes, 2):
        if x.shape == y.shape and x.attrs["known"] == y.attrs["known"]:
            yield a, b


def _with_equal(point: Point, name: str, other: str | None, values: Values) -> Values:
    """The values with an input set equal to another one, or to 0 if `other` is None."""
    inputs = point.problem.inputs
    x = inputs[name]
    return values | {x.node: values[inputs[other].node] if other else np.zeros(x.shape)}


def _moving(point: Point) -> Iterator[str]:
    """The names of the float inputs that may be changed, and may be 0."""
    for x in point.problem.inputs.values():
        stays = x.value is not None and np.array_equal(point(x.node), x.value)
        never_0 = np.any(with_properties(x.node.attrs["known"], np.zeros(x.shape)))
        if x.node.dtype == "float" and not stays and not never_0:
            yield x.name


# ---- small numbers -------------------------------------------------------------------------------


def negligible(claim: Claim, points: list[Point]) -> list[float]:
    """The small constants that can be dropped from the claim, except those in the program."""
    problem = points[0].problem
    program_numbers = _numbers([problem.out, points[0].gradient(claim.name)])
    result = (
        number
        for edit, number in _without(claim.program)
        if number not in program_numbers and _holds(edit, claim.name, points)
    )
    return list(dict.fromkeys(result))


def _without(program: Program) -> Iterator[tuple[Edit, float]]:
    """The claim without one of its small numbers, together with that number."""
    for position, value in enumerate(program.values):
        for e in filter(is_sum, parts(value)):
            for rest, term in ((e.left, e.right), (e.right, e.left)):
                number = small_number(term)
                if number is not None:
                    yield Edit(program, position, e, rest, ""), number


def _holds(edit: Edit, name: str, points: list[Point]) -> bool:
    program = reread(edit.text)
    return program is not None and holds(program, name, points)


def _numbers(roots: list[Node | None]) -> set[float]:
    """The numbers of a graph: constants and attributes."""
    attrs = (n.attrs.values() for n in walk([r for r in roots if r is not None]))
    return {a for values in attrs for a in values if isinstance(a, float)}


# ---- conditions under which a wrong claim is right -----------------------------------------------
# A condition is reported if it makes the claim right at every point. Each is tried on its own, on
# all branches that satisfy it.


Projection = Callable[[Any], Any]


class Condition(NamedTuple):
    """The condition in words, and a projection of values onto it. `fits(node, other)` says whether
    it can hold for an input; `other` is true if the claim is about the gradient of another input.
    """

    words: str
    project: Projection
    fits: Callable[[Node, bool], bool]


def condition(claim: Claim, findings: list[Finding]) -> str | None:
    """The condition on an input under which the claim is right, as words: `A is symmetric`; None if
    no condition makes it right.
    """
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
    """The condition `X varies only among symmetric matrices`, if the claim is the gradient in that
    space: G + G.T - G * eye for the gradient G (the Matrix Cookbook, "Symmetric"); None for other
    claims.
    """
    name = claim.name
    inputs = [t.point.problem.inputs.get(name) for t in findings]
    if not all(x is not None and is_square(x.shape) for x in inputs):
        return None
    symmetric_points = filter(None, (_projected_point(t.point, name, _symmetric) for t in findings))
    points = [p for p in symmetric_points if p.finite([name])]
    if not points or not all(_is_gradient_among_symmetric(claim, p) for p in points):
        return None
    return f"{name} varies only among symmetric matrices"


def _is_gradient_among_symmetric(claim: Claim, point: Point) -> bool:
    """Whether the claim is G + G.T - G * eye for the gradient G."""
    result = at_point(claim.program, claim.name, point)
    diagonal = result.right * np.eye(result.right.shape[-1])
    return result._replace(right=2 * _symmetric(result.right) - diagonal).agrees


def _right_for(claim: Claim, findings: list[Finding], name: str, project: Projection) -> bool:
    """Whether the claim is right if an input, or the seed, satisfies the condition."""
    points = [
        p for p in (_projected_point(t.point, name, project) for t in findings) if p is not None
    ]
    right = (p.finite([claim.name]) and holds(claim.program, claim.name, [p]) for p in points)
    if len(points) < len(findings) or not all(right):
        return False
    result = on_all_branches(
        Points(points, False), [claim], [claim.name], partial(_projected, points[0], name, project)
    )
    return holds(claim.program, claim.name, result.tried[len(points) :])


def _projected_point(point: Point, name: str, project: Projection) -> Point | None:
    """The point with an input, or the seed, projected; None if that gives another graph."""
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


def _symmetric(array: Any) -> Any:
    return (array + np.swapaxes(array, -1, -2)) / 2


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
    Condition("is symmetric", _symmetric, lambda x, _: is_square(x.shape)),
    Condition("is positive", _positive, lambda *_: True),
    Condition("sums to 1 along its last dimension", _summing_to_one, _may_sum_to_one),
    Condition("is positive and sums to 1 along its last dimension", _normalized, _may_sum_to_one),
)
