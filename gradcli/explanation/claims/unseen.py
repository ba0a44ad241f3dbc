"""Small numbers that are added in a right claim, where no point tells whether they belong there."""

from collections.abc import Iterator

from ...errors import GradcliError
from ...graphs import Node, walk
from ...language.program import Program, read_again
from .changes import without_small_term
from .drafts import Change, Draft
from .findings import holds
from .given import ORIGIN, Claim
from .parts import parts
from .points import Point


def unseen(claim: Claim, points: list[Point]) -> list[float]:
    """The small numbers without any one of which the claim is as right, but the program's own."""
    problem = points[0].problem
    known = _numbers([problem.out, points[0].gradient(claim.name)])
    found = (
        number
        for draft, number in _without(claim.program)
        if number not in known and _holds(draft, claim.name, points)
    )
    return list(dict.fromkeys(found))


def _without(program: Program) -> Iterator[tuple[Draft, float]]:
    """The claim without one of its small numbers, and that number."""
    for place, value in enumerate(program.values):
        for part in parts(value):
            for rest, number in without_small_term(part):
                yield Draft(program, place, part, Change(rest, "", 0)), number


def _holds(draft: Draft, name: str, points: list[Point]) -> bool:
    try:
        return holds(read_again(draft.text, ORIGIN), name, points)
    except GradcliError:
        return False


def _numbers(roots: list[Node | None]) -> set[float]:
    """The numbers of a graph: constants and attributes."""
    attrs = (n.attrs.values() for n in walk([r for r in roots if r is not None]))
    return {a for values in attrs for a in values if isinstance(a, float)}
