"""The text of a program that holds for every size, where there is one.

A program is written where its sizes tell what they are the sizes of, and once more where all of
them are others: what stands in both texts depends on none. A third time what was larger is smaller:
a tall matrix may have another text than a wide one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from ...errors import GradcliError
from ...graphs.shapes import text
from ...language.general import at_shapes, factors, multiples, telling_sizes
from ...language.problem import Problem
from ..formulas.other_sizes import other_shapes
from .at_sizes import AtSizes
from .plan import Plan

ALONE = "for these sizes alone"
ORDERED = "for sizes in the order of these"
Write = Callable[[Plan, AtSizes], str]


def written(plan: Plan, write: Write) -> str:
    """The program for every size; else that for the sizes given, which says so in its first line,
    unless the expression has no other sizes. Raises GradcliError.
    """
    tried = factors(plan.problem)
    factor = next((k for k in tried if telling_sizes(plan.problem, multiples(k))), 1)
    rising = multiples(factor)
    found, even = (_where_telling(plan, write, n) for n in (rising, multiples(2 * factor)))
    if found is not None and found == even:
        places = sum(n > 1 for i in plan.problem.inputs.values() for n in i.shape)
        falling = _where_telling(plan, write, (*rising[:places][::-1], *rising[places:]))
        return found if falling in (None, found) else f"{_remark(ORDERED, plan)}{found}"
    own = write(plan, plan.here)
    others = [other for other in (found, even) if other is not None]
    if all(other == own for other in (*others, *_elsewhere(plan, write))):
        return own
    return f"{_remark(ALONE, plan)}{own}"


def _remark(said: str, plan: Plan) -> str:
    sizes = ", ".join(f"{plan.safe(i.name)} {text(i.shape)}" for i in plan.inputs)
    return f"# {said}: {sizes}\n"


def _where_telling(plan: Plan, write: Write, telling: Sequence[int]) -> str | None:
    problem = telling_sizes(plan.problem, telling)
    if problem is None:
        return None
    try:
        return write(plan, plan.at_sizes(problem, problem.of_sizes))
    except GradcliError:
        return None


def _elsewhere(plan: Plan, write: Write) -> Iterator[str]:
    for problem in _posed(plan.problem):
        with suppress(GradcliError):
            yield write(plan, plan.at_sizes(problem))


def _posed(problem: Problem) -> Iterator[Problem]:
    for shapes in other_shapes(problem):
        with suppress(GradcliError):
            yield at_shapes(problem, shapes)
