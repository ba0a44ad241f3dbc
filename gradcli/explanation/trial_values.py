"""Values for inputs that have none."""

from typing import Any

from ..backends.numeric import Evaluator
from ..errors import GradcliError
from ..graphs import Node
from ..language.problem import Problem
from ..lazy import np

RANGES = ((0.3, 1.7), (0.1, 0.9))  # where random values are drawn; probabilities want the second


def random_values(problem: Problem) -> dict[Node, Any]:
    """A value for every input, random where none was given, at which the output is finite."""
    drawn = [_drawn(problem, low, high) for low, high in RANGES]
    for values in drawn:
        try:
            out = Evaluator(values, limits=problem.limits)(problem.out)[0]
        except GradcliError:  # an operator refuses such values
            continue
        if np.all(np.isfinite(out)):
            return values
    return drawn[0]


def _drawn(problem: Problem, low: float, high: float) -> dict[Node, Any]:
    rng = np.random.default_rng(1)
    return {
        i.node: i.value if i.value is not None else rng.uniform(low, high, size=i.shape)
        for i in problem.inputs.values()
    }
