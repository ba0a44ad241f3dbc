"""Random values for inputs without a value."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, product
from typing import Any

from ...backends.numeric import Evaluator
from ...errors import GradcliError
from ...graphs import Node
from ...graphs.shapes import Shape, is_square
from ...language.arguments.assumptions import with_properties
from ...language.problem import Input, Problem
from ...lazy import np
from ..random_numbers import Numbers

Draw = Callable[[Any, Shape], Any]

ATTEMPTS = 60  # choices of ranges, until the output is finite
CHOSEN = 5  # inputs whose ranges are chosen independently


def _between(low: float, high: float) -> Draw:
    return lambda rng, shape: rng.uniform(low, high, size=shape)


def _dominant(rng: Any, shape: Shape) -> Any:
    """Diagonally dominant matrices: they have a positive determinant, and are not symmetric."""
    array = rng.uniform(0.3, 1.7, size=shape)
    return array + 2 * shape[-1] * np.eye(shape[-1]) if is_square(shape) else array


# Probabilities need the second range, log-determinants and factorisations the third.
RANGES: tuple[Draw, ...] = (
    _between(0.3, 1.7),
    _between(0.1, 0.9),
    _dominant,
    _between(1.2, 2.8),
    _between(-1.7, -0.3),
)


def combinations(draws: Sequence[Draw], count: int) -> Iterator[tuple[Draw, ...]]:
    """A range for each of `count` inputs: first the same for all, then a few different ones."""
    yield from ((draw,) * count for draw in draws)
    places = product(range(len(draws)), repeat=min(count, CHOSEN))
    for chosen in sorted(places, key=lambda chosen: sum(k != 0 for k in chosen)):
        yield tuple(draws[k] for k in chosen) + (draws[0],) * (count - len(chosen))


def random_values(problem: Problem, draw: int = 1) -> dict[Node, Any]:
    """A value for every input, random for those without one, by input node.

    The output is finite at these values, or can at least be computed. Random values satisfy the
    assumptions on inputs, if the output can be computed at such values. `draw` selects other
    values. Raises GradcliError, with a span, if no values are found.
    """
    not_finite, refusals = [], []
    free = [x for x in problem.inputs.values() if x.value is None]
    if not free:
        return problem.values
    kinds = (True, False) if any(x.node.attrs["known"] for x in free) else (False,)
    for some in chain.from_iterable(in_ranges(free, draw, assumed) for assumed in kinds):
        values = problem.values | some
        try:
            out = Evaluator(values, limits=problem.limits)(problem.out)[0]
        except GradcliError as error:  # an operator rejects such values
            refusals.append(error)
            continue
        if np.all(np.isfinite(out)):
            return values
        not_finite.append(values)
    if not_finite:
        return not_finite[0]
    hints = refusals[0].hint, "random values were tried: give others with -v"
    refusals[0].hint = "; ".join(filter(None, hints))
    raise refusals[0].at(problem.program.span)


def in_ranges(free: Sequence[Input], draw: int, assumed: bool) -> Iterator[dict[Node, Any]]:
    """Random values for inputs in one choice of ranges after another. They satisfy the assumptions
    on inputs if `assumed`; `draw` selects other values.
    """
    for ranges in islice(combinations(RANGES, len(free)), ATTEMPTS):
        yield _random_values(free, ranges, draw, assumed)


def _random_values(
    free: Sequence[Input], ranges: Sequence[Draw], draw: int, assumed: bool
) -> dict[Node, Any]:
    """Random values in these ranges, which satisfy the assumptions on inputs if `assumed`."""
    rng = Numbers(draw)
    arrays = {x.node: within(rng, x.shape) for x, within in zip(free, ranges, strict=True)}
    return {x: with_properties(x.attrs["known"], v) if assumed else v for x, v in arrays.items()}
