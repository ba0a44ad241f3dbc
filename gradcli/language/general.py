"""A problem at sizes that have nothing to do with each other.

At the user's own sizes two dimensions may be equal by accident, and a formula cannot tell them
apart. So formulas are derived where the sizes are `shapes.TELLING`.
"""

import re
from collections.abc import Sequence
from typing import Any

from ..errors import GradcliError
from ..graphs import walk
from ..graphs.shapes import TELLING, Shape
from ..lazy import np
from .infer import Trial, Tried, in_general
from .problem import Input, Posing, Problem, different_sides
from .values import Reader

FACTORS = (1, 2, 3, 4, 6, 8, 12)  # what sizes may have to be multiples of
LARGEST = 400  # nodes; the formula of a larger program is not read


def in_general_sizes(problem: Problem) -> Problem | None:
    """The same problem at other sizes, those of labels too where they may differ, without the
    values that it does not need; None where it has no other.
    """
    if _is_large(problem):
        return None
    kinds = (True, False) if _labels(problem, {}) else (False,)
    ways = ((k, of_labels) for of_labels in kinds for k in FACTORS)
    found = (telling_sizes(problem, multiples(k), of_labels) for k, of_labels in ways)
    return next((p for p in found if p is not None), None)


def multiples(factor: int) -> tuple[int, ...]:
    """Sizes that tell, and that `factor` divides."""
    return tuple(factor * n for n in TELLING)


def telling_sizes(
    problem: Problem, telling: Sequence[int], of_labels: bool = True
) -> Problem | None:
    """The same problem at sizes among `telling`, those `of_labels` too; None where it has none."""
    if not problem.as_written or _may_be_mistaken(problem):
        return None

    def posing(shapes: dict[str, Shape], sizes: bool = False) -> Posing:
        labels = _labels(problem, shapes)
        floats = {name: shape for name, shape in shapes.items() if name not in labels}
        return _posing(problem, floats, labels, sizes)

    def trial(shapes: dict[str, Shape]) -> Tried:
        return posing(shapes).trial(shapes)

    given = {i.name: i.shape for i in problem.inputs.values()}
    known = {} if of_labels else {name: given.pop(name) for name in _labels(problem, {})}
    different = bool(different_sides(problem.roots))
    try:
        shapes = in_general(given, known, _with_sides(trial) if different else trial, telling)
        return posing(known | shapes, sizes=True).problem([x.name for x in problem.wrt])
    except GradcliError:
        return None


def at_shapes(problem: Problem, shapes: dict[str, Shape]) -> Problem:
    """The same problem at these shapes; labels are said again as often as it takes, and so are all
    values where a mask needs them. Raises GradcliError where it has no such sizes.
    """
    labels = _labels(problem, shapes)
    try:
        return _at_shapes(problem, shapes, labels)
    except GradcliError as error:
        values = _resized([*problem.inputs.values()], shapes)
        if error.code != "needs-value" or len(values) == len(labels):
            raise
        return _at_shapes(problem, shapes, values)


def decided_by_values(problem: Problem) -> bool:
    """Whether values of floats decide on its graph, as those of a mask in brackets do."""
    shapes = {i.name: i.shape for i in problem.inputs.values()}
    try:
        _at_shapes(problem, shapes, _labels(problem, shapes))
    except GradcliError as error:
        return error.code == "needs-value"
    return False


def _at_shapes(problem: Problem, shapes: dict[str, Shape], values: dict) -> Problem:
    shapes = {name: shape for name, shape in shapes.items() if name not in values}
    return _posing(problem, shapes, values).problem([x.name for x in problem.wrt])


def _labels(problem: Problem, shapes: dict[str, Shape]) -> dict[str, Any]:
    """The labels in these shapes, said again as often as it takes."""
    return _resized([i for i in problem.inputs.values() if i.node.dtype != "float"], shapes)


def _resized(inputs: Sequence[Input], shapes: dict[str, Shape]) -> dict[str, Any]:
    """The values of inputs in these shapes, said again as often as it takes."""
    return {
        i.name: np.resize(i.value, shapes.get(i.name, i.shape))
        for i in inputs
        if i.value is not None
    }


def _posing(
    problem: Problem, shapes: dict[str, Shape], labels: dict, sizes: bool = False
) -> Posing:
    assume = {i.name: i.node.attrs["known"] for i in problem.inputs.values()}
    return Posing(
        problem.program,
        [*problem.inputs],
        shapes,
        labels,
        None,
        Reader(problem.limits.without("elements"), 0, None),
        problem.limits.without("elements"),
        {name: words for name, words in assume.items() if words},
        None,
        sizes,
    )


def _with_sides(trial: Trial) -> Trial:
    """A trial that leaves matrices with two sides that differ."""
    return lambda shapes: trial(shapes)._replace(alike=[])


def _is_large(problem: Problem) -> bool:
    return len(walk(problem.roots)) > LARGEST


def _may_be_mistaken(problem: Problem) -> bool:
    """Whether the program has numbers that would be taken for sizes."""
    text = problem.program.source.text
    numbers = {int(n) for n in re.findall(r"(?<![\w.])\d{3,9}(?![\w.])", text)}
    return any(n % t == 0 or n - t in TELLING for n in numbers for t in TELLING)
