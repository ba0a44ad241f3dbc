"""The text of a program that holds for every size, where there is one.

A program is written where its sizes tell what they are the sizes of, and once more where all of
them are others: what stands in both texts depends on none. A third time what was larger is smaller:
a tall matrix may have another text than a wide one. Values that decide on the graph, as an index of
one number does, are told in the same way: the text is another where they are.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ...errors import if_applicable
from ...graphs.shapes import TELLING, text
from ...language.generic_sizes import (
    at_shapes,
    factor_that_tells,
    multiples,
    oblong_sizes,
    telling_sizes,
    with_values,
)
from ...language.problem import Input, Problem
from ...lazy import np
from ..analysis import is_large
from ..formulas.other_sizes import longer_shapes, other_shapes
from .at_sizes import AtSizes
from .plan import Plan

ALONE = "for these sizes alone"
VALUES = "for these values alone"
ORDERED = "for sizes in the order of these"
SQUARE = "for square matrices alone"
Write = Callable[[Plan, AtSizes], str]


def written(plan: Plan, write: Write) -> str:
    """The program for every size and all values; else that for those given, which says so in its
    first lines, unless the expression has no others, as where nobody has time to look for them.
    Raises GradcliError.
    """
    search = plan.problem.limits.budget.search

    def is_held(x: Input) -> bool:
        return search(lambda: _is_held(plan, write, x), lambda: _may_hold(plan, x))

    def here() -> str:
        return f"{_remark(ALONE, plan)}{write(plan, plan.here)}"

    large = is_large(plan.problem)  # once takes long enough
    result = here() if large else search(lambda: _for_sizes(plan, write), here)
    held = [plan.safe(i.name) for i in plan.inputs if is_held(i)]
    return f"# {VALUES}: {', '.join(held)}\n{result}" if held else result


def _for_sizes(plan: Plan, write: Write) -> str:
    factor = factor_that_tells(plan.problem)
    rising = multiples(factor)
    result, even = (_where_telling(plan, write, n) for n in (rising, multiples(2 * factor)))
    if result is not None and result == even:
        places = sum(n > 1 for i in plan.problem.inputs.values() for n in i.shape)
        falling = _where_telling(plan, write, (*rising[:places][::-1], *rising[places:]))
        if falling not in (None, result):
            return f"{_remark(ORDERED, plan)}{result}"
        sides = oblong_sizes(plan.problem)
        is_square = sides is not None and _at(plan, write, sides) != result
        return f"{_remark(SQUARE, plan)}{result}" if is_square else result
    own = write(plan, plan.here)
    others = [other for other in (result, even) if other is not None]
    if all(other == own for other in (*others, *_elsewhere(plan, write))):
        return own
    return f"{_remark(ALONE, plan)}{own}"


def _remark(said: str, plan: Plan) -> str:
    sizes = ", ".join(f"{plan.safe(i.name)} {text(i.shape)}" for i in plan.inputs)
    return f"# {said}: {sizes}\n"


def _where_telling(plan: Plan, write: Write, telling: Sequence[int]) -> str | None:
    problem = telling_sizes(plan.problem, telling)
    if problem is None or not _is_general(plan.problem, problem):
        return None
    return _at(plan, write, problem)


def _at(plan: Plan, write: Write, problem: Problem) -> str | None:
    """The program at sizes that tell; None where it has none."""
    return if_applicable(lambda: write(plan, plan.at_sizes(problem)))


def _is_general(own: Problem, general: Problem) -> bool:
    """Whether sizes that do not tell are what they were: x.reshape(-1, 3) is another program where
    x has three elements.
    """
    of = general.shapes
    pairs = [p for i in own.inputs.values() for p in zip(i.shape, of[i.name], strict=True)]
    return all(n == m or m >= TELLING[0] for n, m in pairs)


def _elsewhere(plan: Plan, write: Write) -> Iterator[str]:
    own = plan.problem
    for shapes in (*other_shapes(own), *longer_shapes(own.shapes)):
        problem = if_applicable(partial(at_shapes, own, shapes))
        text = None if problem is None else _at(plan, write, problem)
        if text is not None:
            yield text


def _is_held(plan: Plan, write: Write, x: Input) -> bool:
    """Whether the program holds numbers of an input, so that it is another at other values."""
    if not _may_hold(plan, x):
        return False
    own = _with_value(plan, write, x, x.value)
    tried = (_with_value(plan, write, x, other) for other in _others(x.value))
    return own is not None and any(text not in (own, None) for text in tried)


def _may_hold(plan: Plan, x: Input) -> bool:
    return x.value is not None and (bool(plan.problem.indices) or x.node.dtype != "float")


def _with_value(plan: Plan, write: Write, x: Input, value: Any) -> str | None:
    other = if_applicable(lambda: with_values(plan.problem, {x.name: value}))
    return None if other is None else _at(plan, write, other)


def _others(value: Any) -> Iterator[Any]:
    """Other values that an input may have: the same in another order, and where there is none, the
    next ones.
    """
    if len(np.unique(value)) > 1:
        yield np.roll(value, 1)
        yield np.flip(value)
        yield np.where(value == value.max(), value.min(), value)
    elif value.dtype.kind == "b":
        yield ~value
    else:
        yield value + 1
        yield value - 1
