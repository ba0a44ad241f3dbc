"""Points at which claims are tried: values of the inputs and the seed.

Values are drawn on both sides of 0, or in other ranges if the program needs these, so that output
and gradients are finite and well conditioned. A matrix is symmetric if the program reads only one
of its triangles. If the graph depends on values (for example through a boolean index), values near
the given ones that give the same graph are used.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice, product
from typing import Any, NamedTuple

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator, Schedule, sources
from ...errors import GradcliError, if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import Shape, is_square
from ...graphs.signature import signature
from ...language.arguments.assumptions import with_properties
from ...language.generic_sizes import decided_by_values, with_values
from ...language.problem import Input, Problem
from ...lazy import np
from ..analysis import Analysis, before_writing, is_large
from ..checking.finite_differences import (
    is_symmetric,
    is_well_conditioned,
    perturbed,
    symmetric_inputs,
    symmetrized,
)
from ..formulas.formula_writer import FormulaWriter
from ..formulas.readings import resized
from ..formulas.trial_values import Draw, combinations
from ..in_pytorch.kinks import kinks_hit
from .claim import targets

DRAWS = 40  # how often values are drawn until all are different
POINTS = 5  # number of points at the first sizes, if there are no other sizes
SPREADS = (0.8, 0.3, 0.1, 0.01, 1e-3, 0)  # relative distances from the given values
MORE = 20  # how many finite points are tried to find one at which no gradient is 0
# how many combinations of ranges are tried until output and gradients are finite
COMBINATIONS = 100
ELEMENTS = 1_000_000  # random values are drawn up to this total number of elements of all nodes
TOLERANCE = 1e-9  # tolerance relative to the largest element, because terms of a claim may cancel
SINGLE = 1e-6  # tolerance if PyTorch rounds a constant of the gradient to single precision
PERTURBATIONS = (4, 5, 6)  # random seeds; at one of them rounding errors may agree by chance
MOST_SIZES = 12  # how many sizes are tried if the program is singular at some of them

Values = dict[Node, Any]
Within = Callable[[Values], Values]  # projects values onto a condition


class Point:
    """A problem with values for its inputs and its seed."""

    def __init__(self, problem: Problem, values: dict[Node, Any], seed: Any):
        self.problem = problem
        single = any(n.op.digits == "single" for n in walk([problem.out]))
        self.tolerance = SINGLE if single else TOLERANCE
        self.numbers = Evaluator(values, limits=problem.limits)
        seed_value = problem.seed.value
        self.seed = seed if seed_value is None else self.numbers(seed_value)[0].astype(float)
        self.numbers.values[problem.seed.node] = self.seed
        self._schedules: dict[tuple[Node, ...], Schedule] = {}
        self._gradients: dict[str, Node | None] = {}
        self._vanishing: dict[str, bool] = {}

    def __call__(self, node: Node) -> Any:
        """The array of a node."""
        (array,) = self.arrays((node,))
        return array

    def arrays(self, nodes: tuple[Node, ...]) -> list[Any]:
        """The arrays of several nodes, computed in one pass."""
        if not self.numbers.values.keys() >= {*nodes}:
            if nodes not in self._schedules:
                self._schedules[nodes] = Schedule(walk(nodes, sources))
            self.numbers.run(self._schedules[nodes])
        return [np.asarray(self.numbers.values[node]) for node in nodes]

    def gradient(self, name: str) -> Node | None:
        """The gradient of an input or an intermediate as a graph; None if there is none."""
        if name not in self._gradients:
            p, node = self.problem, targets(self.problem)[name]
            self._gradients[name] = backward(p.out, p.seed.node, [node]).of[node]
        return self._gradients[name]

    def vanishes(self, name: str) -> bool:
        """Whether a gradient is 0 by assumption, as of x @ A @ x for a skew-symmetric A."""
        if name not in self._vanishing:
            assumed = any(i.node.attrs["known"] for i in self.problem.inputs.values())
            grad = self.gradient(name) if assumed else None
            short = None if grad is None else self.writer.shortened(grad)
            self._vanishing[name] = short is not None and short.op.name == "zeros"
        return self._vanishing[name]

    def right(self, name: str) -> Any:
        """The value of a gradient; zeros if there is none."""
        grad = self.gradient(name)
        if grad is None or self.vanishes(name):
            return np.zeros(targets(self.problem)[name].shape)
        return self(grad)

    @cached_property
    def writer(self) -> FormulaWriter:
        """The object that simplifies and writes the formulas of the problem."""
        return FormulaWriter(Analysis(self.problem))

    @cached_property
    def input_values(self) -> dict[Node, Any]:
        """The values of the inputs, at which indices and masks of a formula are evaluated."""
        return {i.node: self(i.node) for i in self.problem.inputs.values()}

    @cached_property
    def depends_on_values(self) -> bool:
        """Whether the graph of the problem depends on values."""
        return depends_on_values(self.problem)

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the inputs."""
        return self.problem.shapes

    def finite(self, names: Sequence[str]) -> bool:
        """Whether output and gradients are finite."""
        arrays = if_applicable(lambda: [self(self.problem.out), *map(self.right, names)])
        return arrays is not None and all(np.all(np.isfinite(a)) for a in arrays)

    def has_gradient(self, names: Sequence[str]) -> bool:
        """Whether a gradient is not 0."""
        return any(np.any(self.right(name)) for name in names)

    def at_other_values(self, values: dict[Node, Any], seed: Any = None) -> "Point":
        """The point at other values, with the same seed unless another is given. Raises
        GradcliError if they do not fit the problem, or give another graph.
        """
        if self.depends_on_values and not is_graph_of(self.problem, values):
            raise GradcliError("value", "at these values the program takes another branch")
        other = Point(self.problem, values, self.seed if seed is None else seed)
        other._gradients, other.depends_on_values = self._gradients, self.depends_on_values
        other._vanishing, other._schedules = self._vanishing, self._schedules
        return other

    def sound(self, names: Sequence[str], within: Within = dict) -> bool:
        """Whether output and gradients are finite and well conditioned; perturbed values are
        projected by `within`.
        """
        if not self.finite(names):
            return False
        free = [x.node for x in self.problem.wrt if x.node.dtype == "float" and not _is_mask(x)]
        given = {x.node: self(x.node) for x in self.problem.inputs.values()}
        near = (within(perturbed(given, free, draw)) for draw in PERTURBATIONS)
        return all(self._is_well_conditioned(values, names) for values in near)

    def _is_well_conditioned(self, values: dict[Node, Any], names: Sequence[str]) -> bool:
        near = self.at_other_values(values)
        pairs = ((self.right(n), near.right(n)) for n in names if not self.vanishes(n))
        return near.finite(names) and all(is_well_conditioned(*pair) for pair in pairs)


class Points(NamedTuple):
    """The points in the order of trials, and whether their sizes vary."""

    tried: list[Point]
    sizes_vary: bool


def points(problems: Sequence[Problem], names: Sequence[str]) -> Points:
    """Points at which the gradients of `names` are finite, for each of `problems`, which are the
    same program at several sizes. The first point has numbers of few digits. The search ends at the
    time limit. Raises GradcliError if there are no points.
    """
    first = problems[0]
    if sum(n.numel for n in walk([first.out])) > ELEMENTS:
        hint = "leave -s out, or give smaller shapes: a claim is about all sizes"
        raise GradcliError("limit", "the tensors are too large to test a claim on", hint=hint)
    rng = np.random.default_rng(0)
    count = 0 if is_large(first) else POINTS - 1
    further = [*problems[1:], first] if len(problems) > 1 else [first] * count
    search = before_writing(first)

    def at_random(p: Problem, short: bool = False) -> Point | None:
        result: Point | None = search(lambda: _random_point(p, names, rng, short), lambda: None)
        return result

    random_points = [at_random(first, short=True), *map(at_random, further)]
    if len(problems) > 1:
        random_points = _without_singular_sizes(random_points, names)
    if len(problems) > 1 and None in random_points:
        missing = random_points.count(None)
        random_points += search(
            lambda: [*_at_other_sizes(problems, names, rng, missing)], lambda: []
        )
    given_point = None if kinks_hit(Analysis(first)) else _given_point(first, names)
    tried = [p for p in (random_points[0], given_point, *random_points[1:]) if p is not None]
    if not tried:
        message = (
            "no numbers were found at which the gradients are finite and larger than rounding "
            "errors"
        )
        values = "other values with -v, or none" if first.values else "values with -v"
        more = ", or more time with --limit seconds=N" * first.limits.budget.spent
        raise GradcliError("needs-value", message, hint=f"give {values}{more}")
    return Points(tried, len({tuple(p.shapes.values()) for p in tried}) > 1)


def _without_singular_sizes(points: list[Point | None], names: Sequence[str]) -> list[Point | None]:
    """The points, with None for those where all gradients are 0, if they are not 0 at the first
    point. At the sizes of such points the program inverts a singular matrix, and rounding errors
    decide the result.
    """
    if points[0] is None or not points[0].has_gradient(names):
        return points
    return [p if p is not None and p.has_gradient(names) else None for p in points]


def _at_other_sizes(
    problems: Sequence[Problem], names: Sequence[str], rng: Any, count: int
) -> Iterator[Point]:
    """Points at other sizes, for a program that is singular at some sizes, such as `logdet(X.T @
    X)` if X has fewer rows than columns.
    """
    tried_shapes = [p.shapes for p in problems]
    more = (p for p in resized(problems[0], MOST_SIZES) if p.shapes not in tried_shapes)
    result = (_random_point(p, names, rng) for p in more)
    return islice((p for p in result if p is not None and p.has_gradient(names)), count)


# ---- values --------------------------------------------------------------------------------------


def _mixed(rng: Any, shape: Shape) -> Any:
    """Random numbers of both signs."""
    return rng.uniform(0.2, 1.8, shape) * rng.choice([-1, 1], shape)


def _dominant(rng: Any, shape: Shape) -> Any:
    """Diagonally dominant matrices, which are invertible and not symmetric."""
    if not is_square(shape):
        return rng.uniform(0.2, 1.8, shape)
    return 2 * np.eye(shape[-1]) + _mixed(rng, shape) / shape[-1]


RANGES: tuple[Draw, ...] = (
    _mixed,
    lambda rng, shape: rng.uniform(0.2, 1.8, shape),
    lambda rng, shape: rng.uniform(0.1, 0.9, shape),
    _dominant,
    lambda rng, shape: rng.uniform(1.2, 2.8, shape),
)


def _with_few_digits(rng: Any, draw: Draw, shape: Shape) -> Any:
    """Numbers with one decimal, all with different absolute values if possible."""
    array = np.round(draw(rng, shape), 1)
    for _ in range(DRAWS):
        if len(np.unique(np.abs(array))) == array.size and np.all(array):
            break
        array = np.round(draw(rng, shape), 1)
    return np.where(array == 0, 0.1, array)


def _random_point(
    problem: Problem, names: Sequence[str], rng: Any, short: bool = False
) -> Point | None:
    """A point with random values, from the first ranges in which everything is finite and no
    gradient is 0 (the gradient of `relu(m - norm(a))` is 0 for small m). If there is none, the
    point with the fewest zero gradients, or else the point at the given values, or None.
    """
    result = islice(_sound(problem, names, rng, short), MORE)
    best, most = None, -1
    for point in result:
        count = sum(bool(np.any(point.right(name))) for name in names)
        if count > most:
            best, most = point, count
        if most == len(names):
            break
    return best or _given_point(problem, names)


def _sound(problem: Problem, names: Sequence[str], rng: Any, short: bool) -> Iterator[Point]:
    """Points with random values that are `sound`. The first point has `short` numbers, and is
    searched for without an end. The search for further ones ends after MORE finite points, because
    none is well conditioned if the program inverts a singular matrix.
    """
    finite = 0
    draws = _near_given_values if depends_on_values(problem) else _in_all_ranges
    for values in draws(problem, rng, short):
        seed = (
            _with_few_digits(rng, _mixed, problem.out.shape)
            if short
            else _mixed(rng, problem.out.shape)
        )
        result = at_values(problem, values, seed)
        if result is not None and result.finite(names):
            finite += 1
            if result.sound(names):
                yield result
        if finite == MORE and not short:
            return


def _in_all_ranges(
    problem: Problem, rng: Any, short: bool, fixed: Values | None = None
) -> Iterator[Values]:
    """Random values, in all combinations of ranges, for inputs that are not `fixed`. By default
    masks of 0 and 1 are first kept and then drawn too: at a given mask a function may have no
    gradient, as the inverse of a matrix of ones.
    """
    if fixed is None:
        for each in _fixed_with_and_without_masks(problem):
            yield from _in_all_ranges(problem, rng, short, each)
        return
    free = [x.node for x in problem.inputs.values() if x.node not in fixed]
    symmetric = symmetric_inputs(problem.out)
    for draws in islice(combinations(RANGES, len(free)), COMBINATIONS):
        arrays = {
            x: _with_few_digits(rng, d, x.shape) if short else d(rng, x.shape)
            for x, d in zip(free, draws)
        }
        yield fixed | {x: _as_assumed(symmetric, x, array) for x, array in arrays.items()}


def _near_given_values(problem: Problem, rng: Any, short: bool) -> Iterator[Values]:
    """Random values near the given ones that give the same graph; larger distances come first."""
    fixed = fixed_values(problem)
    free = [x for x in problem.values if x not in fixed]
    symmetric = symmetric_inputs(problem.out)
    for values in _in_all_ranges(problem, rng, short, problem.values):
        for scaled, spread in product((True, False), SPREADS):
            scale = rng.uniform(0.5, 1.8) if scaled else 1.0
            arrays = {x: _near(rng, scale * values[x], spread, short) for x in free}
            near = values | {x: _as_assumed(symmetric, x, array) for x, array in arrays.items()}
            if is_graph_of(problem, near):
                yield near


def _near(rng: Any, array: Any, spread: float, short: bool) -> Any:
    sizes = np.where(array == 0, np.max(np.abs(array), initial=0.0) or 1.0, np.abs(array))
    result = array + spread * sizes * rng.uniform(-1, 1, array.shape)
    return np.round(result, 1) if short else result


def _as_assumed(symmetric: Collection[Node], x: Node, array: Any) -> Any:
    array = with_properties(x.attrs["known"], array)
    return symmetrized(array) if x in symmetric else array


def depends_on_values(problem: Problem) -> bool:
    """Whether the graph of a problem depends on given values."""
    return bool(problem.values) and decided_by_values(problem)


def is_graph_of(problem: Problem, values: Values) -> bool:
    """Whether these values give the graph of the problem."""
    named = {i.name: values[i.node] for i in problem.inputs.values()}
    first, *_ = problem.orders
    other = if_applicable(lambda: with_values(first, named))
    return other is not None and signature(other.out) == signature(first.out)


def fixed_values(problem: Problem) -> dict[Node, Any]:
    """The given values that must not be changed."""
    smooth = not kinks_hit(Analysis(problem))
    return {x.node: x.value for x in problem.inputs.values() if _is_fixed(x, problem, smooth)}


def _fixed_with_and_without_masks(problem: Problem) -> list[Values]:
    first = fixed_values(problem)
    second = {x.node: x.value for x in problem.inputs.values() if _is_fixed(x, problem, False)}
    return [first] if len(first) == len(second) else [first, second]


def _is_fixed(x: Input, problem: Problem, smooth: bool) -> bool:
    """Whether the given value of an input must not be changed: integer inputs, inputs outside
    `wrt`, and masks of 0 and 1, unless the program is at a kink (not `smooth`).
    """
    if x.value is None:
        return False
    chosen = {y.name for y in problem.wrt}
    return x.node.dtype != "float" or (smooth and _is_mask(x)) or x.name not in chosen


def _is_mask(x: Input) -> bool:
    return x.value is not None and bool(np.all((x.value == 0) | (x.value == 1)))


def _given_point(problem: Problem, names: Sequence[str]) -> Point | None:
    """The point at the given values; None if some are missing, or it is not sound."""
    if not problem.numeric:
        return None
    rng = np.random.default_rng(1)
    unused = {x.node: _mixed(rng, x.shape) for x in problem.inputs.values() if x.value is None}
    result = at_values(
        problem, problem.values | unused, _with_few_digits(rng, _mixed, problem.out.shape)
    )
    if result is None or not result.sound(names):
        return None
    if not all(is_symmetric(result(x)) for x in symmetric_inputs(problem.out)):
        return None
    return result


def at_values(problem: Problem, values: dict[Node, Any], seed: Any) -> Point | None:
    """The point at these values; None if they do not fit the problem."""
    return if_applicable(lambda: Point(problem, values, seed))
