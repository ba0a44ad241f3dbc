"""Caveats of a right claim: values at which it differs from PyTorch, and constants in it that are
too small to make a difference.

It may differ at the given values, and at kinks, which are at 0 and where inputs are equal. Inputs
that keep their given values, as masks do, are not changed.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

from ...errors import if_applicable
from ...graphs import Node, walk
from ...language.arguments.assumptions import with_properties
from ...language.program import Program
from ...lazy import np
from .claim import Claim, reread
from .edits import Edit
from .findings import NOISE, Finding, at_point, holds
from .points import Point, Values, Within
from .syntax import is_sum, parts, small_number


class Deviation(NamedTuple):
    """A finding that disagrees, and at which values: `x = 0`."""

    where: str
    finding: Finding


def deviation(claim: Claim, points: Sequence[Point]) -> Deviation | None:
    """The first of these values at which output and gradient are finite and the claim is not the
    gradient; None if there are none. Tried are the given values, then an input set to 0 or equal to
    another one, with the other values of each of the first two points.
    """
    first = points[0]
    if first.problem.numeric:
        finding = _disagreeing(claim, first, first.picking | first.problem.values, dict)
        if finding is not None:
            return Deviation("the values given", finding)
    moving = list(_moving(first))
    for name, other in [*((name, None) for name in moving), *_of_one_shape(first, moving)]:
        findings = [_at(claim, p, partial(_with_equal, p, name, other)) for p in points[:2]]
        if findings[0] is not None and None not in findings:
            return Deviation(f"{name} = {other or 0}", findings[0])
    return None


def _at(claim: Claim, point: Point, within: Within) -> Finding | None:
    return _disagreeing(claim, point, within(point.picking), within)


def _disagreeing(claim: Claim, point: Point, values: Values, within: Within) -> Finding | None:
    other = if_applicable(lambda: point.at_other_values(values))
    if other is None or not other.sound([claim.name], within):
        return None
    finding = at_point(claim.program, claim.name, other)
    if finding.value is None or finding.agrees or (finding.comparable and _is_rounding(finding)):
        return None
    return finding


def _is_rounding(finding: Finding) -> bool:
    return bool(np.all(np.abs(finding.value - finding.right) <= NOISE))


def _of_one_shape(point: Point, names: Sequence[str]) -> Iterator[tuple[str, str]]:
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
    for x in point.problem.inputs.values():
        stays = x.value is not None and np.array_equal(point(x.node), x.value)
        never_0 = np.any(with_properties(x.node.attrs["known"], np.zeros(x.shape)))
        if x.node.dtype == "float" and not stays and not never_0:
            yield x.name


# ---- small numbers -------------------------------------------------------------------------------


def negligible(claim: Claim, points: list[Point]) -> list[float]:
    """The small constants that can be dropped from the claim, without those of the program."""
    problem = points[0].problem
    program_numbers = _numbers([problem.out, points[0].gradient(claim.name)])
    result = (
        number
        for edit, number in _without(claim.program)
        if number not in program_numbers and _holds(edit, claim.name, points)
    )
    return list(dict.fromkeys(result))


def _without(program: Program) -> Iterator[tuple[Edit, float]]:
    """The claim without one of its small numbers, and that number."""
    for place, value in enumerate(program.values):
        for e in filter(is_sum, parts(value)):
            for rest, term in ((e.left, e.right), (e.right, e.left)):
                number = small_number(term)
                if number is not None:
                    yield Edit(program, place, e, rest, ""), number


def _holds(edit: Edit, name: str, points: list[Point]) -> bool:
    program = reread(edit.text)
    return program is not None and holds(program, name, points)


def _numbers(roots: list[Node | None]) -> set[float]:
    """The numbers of a graph: constants and attributes."""
    attrs = (n.attrs.values() for n in walk([r for r in roots if r is not None]))
    return {a for values in attrs for a in values if isinstance(a, float)}
