"""Values for inputs that have none."""

from typing import Any

from ..backends.numeric import Evaluator
from ..errors import GradcliError
from ..graphs import Node
from ..language.problem import Problem
from ..lazy import np

RANGES = ((0.3, 1.7), (0.1, 0.9))  # where random values are drawn; probabilities want the second


def random_values(problem: Problem) -> dict[Node, Any]:
    """A value for every input, random where none was given, at which the output is finite, or can
    at least be computed. Raises GradcliError, with a place, where there is none.
    """
    drawn, refusals = [], []
    for low, high in RANGES:
        values = _drawn(problem, low, high)
        try:
            out = Evaluator(values, limits=problem.limits)(problem.out)[0]
        except GradcliError as error:  # an operator refuses such values
            refusals.append(error)
            continue
        if np.all(np.isfinite(out)):
            return values
        drawn.append(values)
    if drawn:
        return drawn[0]
    if not problem.numeric:
        refusals[0].hint = refusals[0].hint or "random values were tried: give others with -v"
    raise refusals[0].at(problem.program.source.span(problem.program.statements[-1].value))


def _drawn(problem: Problem, low: float, high: float) -> dict[Node, Any]:
    rng = np.random.default_rng(1)
    return {
        i.node: i.value if i.value is not None else rng.uniform(low, high, size=i.shape)
        for i in problem.inputs.values()
    }
