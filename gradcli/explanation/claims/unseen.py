"""Small numbers that are added in a right claim, where no point tells whether they belong there."""

from collections.abc import Iterator

from ...graphs import Node, walk
from ...language.program import Program
from .edits import Edit
from .findings import holds
from .given import Claim, reread
from .points import Point
from .syntax import is_sum, parts, small_number


def unseen(claim: Claim, points: list[Point]) -> list[float]:
    """The small numbers without any one of which the claim is as right, but the program's own."""
    problem = points[0].problem
    known = _numbers([problem.out, points[0].gradient(claim.name)])
    found = (
        number
        for edit, number in _without(claim.program)
        if number not in known and _holds(edit, claim.name, points)
    )
    return list(dict.fromkeys(found))


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
