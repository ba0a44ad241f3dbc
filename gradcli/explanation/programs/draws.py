"""The random values of a program's test, at which the output is smooth and finite."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from ...backends.numeric import Evaluator, Schedule, sources
from ...errors import GradcliError, if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import is_square
from ...language.problem import Input
from ...lazy import np
from ..analysis import before_writing
from .plan import Plan

LARGEST = 1_000_000  # total elements of all nodes in a numerical trial
TRIES = ((0, 0), (0, 1), (0, -1), (1, 0), (2, 0))  # seeds of the generator, and sides (see Draw)
FAR = (2.2, 2.8)  # a normally distributed number seldom exceeds these
# largest difference of gradient and finite difference, relative to the latter (or 1 if larger)
CLOSE = 1e-4


class Draw(NamedTuple):
    """Normal numbers, or uniform ones; `positive`: square matrices are positive definite."""

    low: float = 0.0
    high: float = 0.0
    positive: bool = False

    def array(self, rng: Any, shape: tuple[int, ...], side: int = 0) -> Any:
        """Random numbers. If `side` is 1 or -1, extreme ones near the ends of the range; for the
        same generator, the elements of side 1 and of side -1 are at opposite ends.
        """
        if self.is_matrix(shape):
            half = rng.normal(size=shape)
            return half @ half.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])
        if side:
            end = side * rng.choice([-1, 1], shape) * rng.uniform(*FAR, shape)
            middle, reach = (self.low + self.high) / 2, (self.high - self.low) / 2
            return middle + reach * end / FAR[1] if self.high else end
        return rng.uniform(self.low, self.high, shape) if self.high else rng.normal(size=shape)

    def is_matrix(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape is drawn as a positive definite matrix."""
        return self.positive and is_square(shape)


DRAWS = (
    Draw(),
    Draw(0.3, 1.7),
    Draw(0.1, 0.9),
    Draw(1.1, 2.9),
    Draw(-1.7, -0.3),
    Draw(0.1, 0.4),
    Draw(0.01, 0.05),
    Draw(6.0, 9.0),
    Draw(positive=True),
    Draw(0.3, 1.7, positive=True),
)


def _no_point_error(reason: str, plan: Plan) -> GradcliError:
    names = " ".join(f"-v {x.name}=[...]" for x in plan.wrt)
    return GradcliError(
        "unsupported",
        f"{reason}, so that the program could not be tested",
        hint=f"give values at which the function is smooth: {names}",
    )


class Choice(NamedTuple):
    """The values of a test: given values, if they are used, and a draw for other inputs."""

    draw: Draw | None
    keeps_values: bool = True


@lru_cache(maxsize=1)
def suitable(plan: Plan) -> Choice:
    """The first choice at which gradient and finite differences agree, given values first; the
    first one untested if a test takes long.

    Raises GradcliError if there is none.
    """
    untried = Choice(DRAWS[1])
    if plan.is_wide or sum(n.numel for n in walk([plan.problem.out])) > LARGEST:
        return untried
    search = before_writing(plan.problem)
    return cast(Choice, search(lambda: _suitable(plan), lambda: untried))


def _suitable(plan: Plan) -> Choice:
    if all(plan.is_written(i) for i in plan.inputs) and _agrees(plan, Choice(None)):
        return Choice(None)
    for keep_values in (True, False):
        for draw in DRAWS:
            if all(_agrees(plan, Choice(draw, keep_values), *how) for how in TRIES):
                return Choice(draw, keep_values)
    raise _no_point_error(
        "no random values were found at which gradient and finite differences agree", plan
    )


@lru_cache(maxsize=1)
def finite(plan: Plan, in_jax: bool = False) -> Choice:
    """The first choice at which output and gradients are finite, untested if a test takes long;
    given values are used. With `in_jax` intermediate gradients must be finite too, because JAX
    multiplies them with masks.

    Raises GradcliError if there is none.
    """
    untried = Choice(DRAWS[1])
    if sum(n.numel for n in walk([plan.problem.out])) > LARGEST:
        return untried
    search = before_writing(plan.problem)
    return cast(Choice, search(lambda: _finite(plan, in_jax), lambda: untried))


def _finite(plan: Plan, in_jax: bool) -> Choice:
    computed = _computed(plan, in_jax)
    for draw in DRAWS:
        if all(_is_finite(plan, Choice(draw), computed, *how) for how in TRIES):
            return Choice(draw)
    whose = "JAX's" if in_jax else "the"
    if all(plan.is_written(i) for i in plan.inputs):
        raise _no_point_error(f"{whose} output or gradient is not finite at the values given", plan)
    raise _no_point_error(f"no random values were found at which {whose} gradient is finite", plan)


def drawn(plan: Plan, x: Input, choice: Choice) -> Draw | None:
    """The distribution of an input's random value; None if its given value is used."""
    stays = plan.is_written(x) and (choice.keeps_values or x.node.dtype != "float")
    return None if stays else choice.draw or DRAWS[0]


def input_lines(
    plan: Plan,
    choice: Choice,
    inputs: Sequence[Input],
    written: Callable[[Input], str],
    random: Callable[[Input, Draw], list[str]],
) -> list[str]:
    """Lines that assign values to inputs, by a library's functions `written` and `random`."""
    lines = []
    for i in inputs:
        draw = drawn(plan, i, choice)
        if draw is None:
            remark = "  # example values" if i.supposed else ""
            lines.append(f"{plan.safe(i.name)} = {written(i)}{remark}")
        else:
            lines += random(i, draw)
    return lines


def _point(plan: Plan, choice: Choice, seed: int, side: int) -> tuple[dict[Node, Any], Any, Any]:
    """Values of the inputs, a seed for the output, and the generator of more numbers."""
    rng, values = np.random.default_rng(seed), {}
    for i in plan.problem.inputs.values():
        draw = drawn(plan, i, choice)
        values[i.node] = i.value if draw is None else draw.array(rng, i.shape, side)
    return values, rng.normal(size=plan.problem.out.shape), rng


def _evaluator(plan: Plan, values: dict[Node, Any], weights: Any) -> Evaluator:
    p = plan.problem
    return Evaluator({**values, p.seed.node: weights}, limits=p.limits)


class _Computed(NamedTuple):
    """The nodes whose values must be finite, and the inputs from which they are computed."""

    nodes: list[Node]
    schedule: Schedule


def _computed(plan: Plan, in_jax: bool) -> _Computed:
    grads = [plan.analysis.gradients.of[x.node] for x in plan.wrt]
    nodes = [plan.problem.out, *grads, *(plan.contributions if in_jax else ())]
    needed = [n for n in nodes if n is not None]
    return _Computed(needed, Schedule(walk(needed, sources)))


def _is_finite(plan: Plan, choice: Choice, computed: _Computed, seed: int, side: int) -> bool:
    drawn_values, weights, _ = _point(plan, choice, seed, side)
    evaluator = _evaluator(plan, drawn_values, weights)

    def arrays() -> list[Any]:
        evaluator.run(computed.schedule)
        return [evaluator.values[n] for n in computed.nodes]

    result = if_applicable(arrays)
    return result is not None and all(bool(np.all(np.isfinite(array))) for array in result)


def _agrees(plan: Plan, choice: Choice, seed: int = 0, side: int = 0) -> bool:
    values, weights, rng = _point(plan, choice, seed, side)
    grads = _evaluator(plan, values, weights)
    with np.errstate(all="ignore"):
        slopes = if_applicable(lambda: [*_slopes(plan, values, weights, grads, rng)])
    return slopes is not None and all(
        abs(result - slope) <= CLOSE * max(1.0, abs(slope)) for result, slope in slopes
    )


def _slopes(
    plan: Plan, values: dict[Node, Any], weights: Any, grads: Evaluator, rng: Any
) -> Iterator[tuple[float, float]]:
    """Along a random direction of each input: the slope, and two finite differences."""
    for x in plan.wrt:
        fixed = {node: value for node, value in values.items() if node is not x.node}
        out = Evaluator(fixed, limits=plan.problem.limits).varying(plan.problem.out, x.node)
        here = out(values[x.node])
        direction = rng.normal(size=x.shape)
        if x in plan.symmetric:
            direction = (direction + direction.swapaxes(-1, -2)) / 2
        grad = plan.analysis.gradients.of[x.node]
        assert grad is not None
        result = float(np.sum(grads(grad)[0] * direction))
        for step in (1e-6, -1e-6):  # one-sided differences differ at a corner
            rise = out(values[x.node] + step * direction) - here
            yield result, float(np.sum(weights * rise)) / step
