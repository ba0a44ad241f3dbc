"""A problem at sizes that have nothing to do with each other.

At the user's own sizes two dimensions may be equal by accident, and a formula cannot tell them
apart. So formulas are derived where the sizes are `shapes.TELLING`.
"""

import re

from ..errors import GradcliError
from ..graphs import walk
from ..graphs.shapes import TELLING, Shape
from ..lazy import np
from .infer import Trial, in_general
from .problem import Posing, Problem, different_sides
from .values import Reader

LARGEST = 400  # nodes; the formula of a larger program is not read


def in_general_sizes(problem: Problem) -> Problem | None:
    """The same problem at other sizes, without the values that it does not need; None where it has
    no other.
    """
    if not problem.as_written or _may_be_mistaken(problem) or _is_large(problem):
        return None
    labels = {i.name: i.value for i in problem.inputs.values() if i.node.dtype != "float"}
    given = {i.name: i.shape for i in problem.inputs.values() if i.name not in labels}
    known = {name: i.shape for name, i in problem.inputs.items() if name in labels}
    try:
        trial: Trial = _posing(problem, {}, labels).trial
        if different_sides(problem.roots):
            trial = _with_sides(trial)
        shapes = in_general(given, known, trial)
        posing = _posing(problem, shapes, labels, sizes=True)
        return posing.problem([x.name for x in problem.wrt])
    except GradcliError:
        return None


def at_shapes(problem: Problem, shapes: dict[str, Shape]) -> Problem:
    """The same problem at these shapes; labels are said again as often as it takes, and so are all
    values where a mask needs them. Raises GradcliError where it has no such sizes.
    """
    values = {
        i.name: np.resize(i.value, shapes.get(i.name, i.shape))
        for i in problem.inputs.values()
        if i.value is not None
    }
    labels = {name: values[name] for name, i in problem.inputs.items() if i.node.dtype != "float"}
    try:
        return _at_shapes(problem, shapes, labels)
    except GradcliError as error:
        if error.code != "needs-value" or len(values) == len(labels):
            raise
        return _at_shapes(problem, shapes, values)


def decided_by_values(problem: Problem) -> bool:
    """Whether values of floats decide on its graph, as those of a mask in brackets do."""
    labels = {i.name: i.value for i in problem.inputs.values() if i.node.dtype != "float"}
    try:
        _at_shapes(problem, {i.name: i.shape for i in problem.inputs.values()}, labels)
    except GradcliError as error:
        return error.code == "needs-value"
    return False


def _at_shapes(problem: Problem, shapes: dict[str, Shape], values: dict) -> Problem:
    shapes = {name: shape for name, shape in shapes.items() if name not in values}
    return _posing(problem, shapes, values).problem([x.name for x in problem.wrt])


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
