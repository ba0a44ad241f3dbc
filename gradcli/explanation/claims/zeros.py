"""Where a right claim parts from PyTorch after all: at the values given, and at 0, where kinks are.

Inputs that keep the values that were given, as masks do, are not tried at 0.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...graphs import Node
from ...language.given.assumptions import made
from ...lazy import np
from .findings import NOISE, Finding, at_point
from .given import Claim
from .points import Point, at_values


class Apart(NamedTuple):
    """A finding that disagrees, and where that is: `x = 0`."""

    where: str
    finding: Finding


def apart(claim: Claim, points: Sequence[Point]) -> Apart | None:
    """The first of these places at which output and gradient are sound, and the claim is not the
    gradient; with an input at 0, beside the numbers of each of the first two points.
    """
    first = points[0]
    if first.problem.numeric:
        given = _disagreeing(claim, first, first.problem.values)
        if given is not None:
            return Apart("the values given", given)
    for name in _moving(first):
        findings = [_disagreeing(claim, p, _at_0(p, name)) for p in points[:2]]
        if findings[0] is not None and None not in findings:
            return Apart(f"{name} = 0", findings[0])
    return None


def _disagreeing(claim: Claim, point: Point, changed: dict[Node, Any]) -> Finding | None:
    values = {x.node: point(x.node) for x in point.problem.inputs.values()} | changed
    other = at_values(point.problem, values, point.seed)
    if other is None or not other.sound([claim.name]):
        return None
    finding = at_point(claim.program, claim.name, other)
    if finding.value is None or finding.agrees or (finding.comparable and _is_rounding(finding)):
        return None
    return finding


def _is_rounding(finding: Finding) -> bool:
    return bool(np.all(np.abs(finding.value - finding.right) <= NOISE))


def _at_0(point: Point, name: str) -> dict[Node, Any]:
    x = point.problem.inputs[name]
    return {x.node: np.zeros(x.shape)}


def _moving(point: Point) -> Iterator[str]:
    for x in point.problem.inputs.values():
        stays = x.value is not None and np.array_equal(point(x.node), x.value)
        never_0 = np.any(made(x.node.attrs["known"], np.zeros(x.shape)))
        if x.node.dtype == "float" and not stays and not never_0:
            yield x.name
