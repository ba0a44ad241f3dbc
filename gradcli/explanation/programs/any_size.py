"""The text of a program that holds for every size, if there is one.

A program is generated at generic sizes, and again with all sizes changed. If both texts are equal,
they depend on no size. A third text is generated with the order of sizes reversed, because it may
be different for tall and for wide matrices. In the same way, other values of an input show whether
the text depends on them, as it does on a scalar index.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ...errors import if_applicable
from ...graphs.shapes import GENERIC_SIZES, text
from ...language.generic_sizes import (
    at_generic_sizes,
    at_shapes,
    generic_factor,
    multiples,
    oblong_sizes,
    with_values,
)
from ...language.problem import Input, Problem
from ...lazy import np
from ..analysis import is_large
from ..formulas.other_sizes import longer_shapes, other_shapes
from .at_sizes import AtSizes
from .plan import Plan

ALONE = "only for these sizes"
VALUES = "only for these values"
ORDERED = "only for sizes ordered like these"
SQUARE = "only for square matrices"
Write = Callable[[Plan, AtSizes], str]


def written(plan: Plan, write: Write) -> str:
    """The program for all sizes and values, if there is one; otherwise, or if time runs out, the
    program for the given ones, with a comment that says so unless the expression accepts no others.
    Raises GradcliError.
    """
    search = plan.problem.limits.budget.search

    def depends_on(x: Input) -> bool:
        return search(lambda: _depends_on_value(plan, write, x), lambda: _may_depend_on(plan, x))

    def here() -> str:
        return f"{_remark(ALONE, plan)}{write(plan, plan.here)}"

    once = is_large(plan.problem) or plan.is_wide  # generating the text a second time is too slow
    result = here() if once else search(lambda: _for_sizes(plan, write), here)
    fixed = [plan.safe(i.name) for i in plan.inputs if depends_on(i)]
    return f"# {VALUES}: {', '.join(fixed)}\n{result}" if fixed else result


def _for_sizes(plan: Plan, write: Write) -> str:
    """The program, at generic sizes if its text depends on no sizes, and a remark."""
    factor = generic_factor(plan.problem)
    rising = multiples(factor)
    result, even = (_at_generic_sizes(plan, write, n) for n in (rising, multiples(2 * factor)))
    if result is not None and result == even:
        places = sum(n > 1 for i in plan.problem.inputs.values() for n in i.shape)
        falling = _at_generic_sizes(plan, write, (*rising[:places][::-1], *rising[places:]))
        if falling not in (None, result):
            return f"{_remark(ORDERED, plan)}{result}"
        sides = oblong_sizes(plan.problem)
        is_square = sides is not None and _program_at(plan, write, sides) != result
        return f"{_remark(SQUARE, plan)}{result}" if is_square else result
    here = write(plan, plan.here)
    elsewhere = [other for other in (result, even) if other is not None]
    if all(other == here for other in (*elsewhere, *_at_changed_sizes(plan, write))):
        return here
    return f"{_remark(ALONE, plan)}{here}"


def _remark(scope: str, plan: Plan) -> str:
    sizes = ", ".join(f"{plan.safe(i.name)} {text(i.shape)}" for i in plan.inputs)
    return f"# {scope}: {sizes}\n"


def _at_generic_sizes(plan: Plan, write: Write, sizes: Sequence[int]) -> str | None:
    problem = at_generic_sizes(plan.problem, sizes)
    if problem is None or not _is_generic(plan.problem, problem):
        return None
    return _program_at(plan, write, problem)


def _program_at(plan: Plan, write: Write, problem: Problem) -> str | None:
    """The program of a problem at other sizes; None if it cannot be written."""
    return if_applicable(lambda: write(plan, plan.at_sizes(problem)))


def _is_generic(problem: Problem, generic: Problem) -> bool:
    """Whether each size is a generic size or the given one. Otherwise the program requires certain
    sizes, as x.reshape(-1, 3) does.
    """
    shapes = generic.shapes
    pairs = [p for i in problem.inputs.values() for p in zip(i.shape, shapes[i.name], strict=True)]
    return all(n == m or m >= GENERIC_SIZES[0] for n, m in pairs)


def _at_changed_sizes(plan: Plan, write: Write) -> Iterator[str]:
    problem = plan.problem
    for shapes in (*other_shapes(problem), *longer_shapes(problem.shapes)):
        other = if_applicable(partial(at_shapes, problem, shapes))
        text = None if other is None else _program_at(plan, write, other)
        if text is not None:
            yield text


def _depends_on_value(plan: Plan, write: Write, x: Input) -> bool:
    """Whether the program contains values of an input, so that it changes with these."""
    if not _may_depend_on(plan, x):
        return False
    here = _with_value(plan, write, x, x.value)
    tried = (_with_value(plan, write, x, other) for other in _other_values(x.value))
    return here is not None and any(text not in (here, None) for text in tried)


def _may_depend_on(plan: Plan, x: Input) -> bool:
    return x.value is not None and (bool(plan.problem.indices) or x.node.dtype != "float")


def _with_value(plan: Plan, write: Write, x: Input, value: Any) -> str | None:
    other = if_applicable(lambda: with_values(plan.problem, {x.name: value}))
    return None if other is None else _program_at(plan, write, other)


def _other_values(value: Any) -> Iterator[Any]:
    """Other values for an input: permuted, or, if all elements are equal, changed by 1."""
    if len(np.unique(value)) > 1:
        yield np.roll(value, 1)
        yield np.flip(value)
        yield np.where(value == value.max(), value.min(), value)
    elif value.dtype.kind == "b":
        yield ~value
    else:
        yield value + 1
        yield value - 1
