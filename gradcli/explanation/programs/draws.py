"""Where the random values of a program's test are drawn: where the output is smooth and finite."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...backends.numeric import Evaluator
from ...errors import GradcliError
from ...graphs import Node, walk
from ...language.problem import Input
from ...lazy import np
from .plan import Plan

LARGEST = 1_000_000  # elements of all nodes together that are tried out
TRIES = 3
CLOSE = 1e-4  # of a slope to the gradient, relative to the larger of 1 and the slope


class Draw(NamedTuple):
    """Normal numbers, or uniform ones from low to high; `positive`: square matrices are positive
    definite.
    """

    low: float = 0.0
    high: float = 0.0
    positive: bool = False

    def array(self, rng: Any, shape: tuple[int, ...]) -> Any:
        """Numbers of this kind."""
        if self.is_matrix(shape):
            half = rng.normal(size=shape)
            return half @ half.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])
        return rng.uniform(self.low, self.high, shape) if self.high else rng.normal(size=shape)

    def is_matrix(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape is drawn as a positive definite matrix."""
        return self.positive and len(shape) > 1 and shape[-1] == shape[-2]


DRAWS = (
    Draw(),
    Draw(0.3, 1.7),
    Draw(0.1, 0.9),
    Draw(1.1, 2.9),
    Draw(positive=True),
    Draw(0.3, 1.7, positive=True),
)


class Choice(NamedTuple):
    """What a program is tested at: the values given, where they are kept, and a draw for the rest;
    None where there is no rest.
    """

    draw: Draw | None
    kept: bool = True


def suitable(plan: Plan) -> Choice:
    """The first choice at which gradient and finite differences agree; values given come first.

    Raises GradcliError where they agree nowhere.
    """
    if sum(n.numel for n in walk([plan.problem.out])) > LARGEST:
        return Choice(DRAWS[1])
    if all(plan.is_written(i) for i in plan.inputs) and _agrees(plan, Choice(None)):
        return Choice(None)
    for kept in (True, False):
        for draw in DRAWS:
            if all(_agrees(plan, Choice(draw, kept), seed) for seed in range(TRIES)):
                return Choice(draw, kept)
    raise GradcliError(
        "unsupported",
        "gradient and finite differences agree at no random values, so that the program could "
        "not be tested",
        hint="give values: -v x=[...]; gradcli check says where they differ",
    )


def finite(plan: Plan) -> Choice:
    """The same, for a test without finite differences: values given stay."""
    try:
        return Choice(suitable(plan).draw or DRAWS[0])
    except GradcliError:
        return Choice(DRAWS[1])


def drawn(plan: Plan, x: Input, choice: Choice) -> Draw | None:
    """How the value of an input is drawn; None where its own is written."""
    stays = plan.is_written(x) and (choice.kept or x.node.dtype != "float")
    return None if stays else choice.draw or DRAWS[0]


def _agrees(plan: Plan, choice: Choice, seed: int = 0) -> bool:
    rng = np.random.default_rng(seed)
    values = {}
    for i in plan.problem.inputs.values():
        draw = drawn(plan, i, choice)
        values[i.node] = i.value if draw is None else draw.array(rng, i.shape)
    p = plan.problem
    weights = rng.normal(size=p.out.shape)
    try:
        with np.errstate(all="ignore"):
            grads = Evaluator({**values, p.seed.node: weights}, limits=p.limits)
            return all(
                abs(found - slope) <= CLOSE * max(1.0, abs(slope))
                for found, slope in _slopes(plan, values, weights, grads, rng)
            )
    except GradcliError:
        return False


def _slopes(
    plan: Plan, values: dict[Node, Any], weights: Any, grads: Evaluator, rng: Any
) -> Iterator[tuple[float, float]]:
    """Along a random direction of each input: the slope by gradient, and by two differences."""
    out = plan.problem.out

    def at(node: Node, by: Any) -> Any:
        return Evaluator({**values, node: values[node] + by})(out)[0]

    for x in plan.wrt:
        direction = rng.normal(size=x.shape)
        grad = plan.analysis.gradients.of[x.node]
        assert grad is not None
        found = float(np.sum(grads(grad)[0] * direction))
        for step in (1e-6, -1e-6):  # the sides differ at a corner
            rise = at(x.node, step * direction) - at(x.node, 0.0)
            yield found, float(np.sum(weights * rise)) / step
