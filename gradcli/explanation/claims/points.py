"""Where a claim is tried: values that are not special in any way.

They are drawn on both sides of 0, or where the output asks for others, such that output and
gradients are finite, and not those of a matrix that is as good as singular. Of a matrix of which
one triangle is read, the other one is its mirror image. Where values decide what is picked, as
those of a mask in brackets do, they are near those given, and decide on the same.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice, product
from typing import Any, NamedTuple

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import GradcliError, if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import Shape, is_square
from ...graphs.signature import signature
from ...language.generic_sizes import decided_by_values, with_values
from ...language.given.assumptions import with_properties
from ...language.problem import Input, Problem
from ...lazy import np
from ..analysis import Analysis, is_large
from ..checking.perturbation import (
    is_symmetric,
    is_well_conditioned,
    kept_symmetric,
    perturbed,
    symmetrized,
)
from ..formulas.readings import resized
from ..formulas.trial_values import Draw, combinations
from ..formulas.wording import Wording
from ..in_pytorch.conventions import kinks_met
from .given import targets

DRAWS = 40  # of values, until no two are the same
POINTS = 5  # for the first sizes, where there are no others
SPREADS = (0.8, 0.3, 0.1, 0.01, 1e-3, 0)  # of values around those given, relative to them
MORE = 20  # points that are finite, until one is found where no gradient is 0
COMBINATIONS = 100  # of ranges, until output and gradients are finite
ELEMENTS = 1_000_000  # of all nodes together that random values are drawn for
TOLERANCE = 1e-9  # relative to the largest element, for a claim whose terms may cancel
SINGLE = 1e-6  # the same where the gradient has a number that PyTorch rounds to single precision
PERTURBATIONS = (4, 5, 6)  # rounding may be the same at one point nearby
MOST_SIZES = 12  # that are tried where the program is singular at some

Values = dict[Node, Any]
Within = Callable[[Values], Values]  # brings values to where a claim is tried


class Point:
    """A problem, with a number for every element of its inputs and its seed."""

    def __init__(self, problem: Problem, values: dict[Node, Any], seed: Any):
        self.problem = problem
        single = any(n.op.digits == "single" for n in walk([problem.out]))
        self.tolerance = SINGLE if single else TOLERANCE
        self.numbers = Evaluator(values, limits=problem.limits)
        given = problem.seed.value
        self.seed = seed if given is None else self.numbers(given)[0].astype(float)
        self.numbers.values[problem.seed.node] = self.seed
        self._gradients: dict[str, Node | None] = {}
        self._vanishing: dict[str, bool] = {}

    def __call__(self, node: Node) -> Any:
        """The array of a node."""
        return self.numbers(node)[0]

    def gradient(self, name: str) -> Node | None:
        """The gradient of an input or an intermediate, as graph; None where nothing flows."""
        if name not in self._gradients:
            p, node = self.problem, targets(self.problem)[name]
            self._gradients[name] = backward(p.out, p.seed.node, [node]).of[node]
        return self._gradients[name]

    def vanishes(self, name: str) -> bool:
        """Whether a gradient is 0 by what is assumed: that of x @ A @ x by x, where A is skew."""
        if name not in self._vanishing:
            assumed = any(i.node.attrs["known"] for i in self.problem.inputs.values())
            grad = self.gradient(name) if assumed else None
            short = None if grad is None else self.wording.shortened(grad)
            self._vanishing[name] = short is not None and short.op.name == "zeros"
        return self._vanishing[name]

    def right(self, name: str) -> Any:
        """The numbers of a gradient; zeros where nothing flows."""
        grad = self.gradient(name)
        if grad is None or self.vanishes(name):
            return np.zeros(targets(self.problem)[name].shape)
        return self(grad)

    @cached_property
    def wording(self) -> Wording:
        """How the nodes of the problem are written."""
        return Wording(Analysis(self.problem))

    @cached_property
    def picking(self) -> dict[Node, Any]:
        """The arrays that say what a formula picks."""
        return {i.node: self(i.node) for i in self.problem.inputs.values()}

    @cached_property
    def decided(self) -> bool:
        """Whether values decide on the graph of the problem."""
        return is_decided(self.problem)

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the inputs."""
        return self.problem.shapes

    def finite(self, names: Sequence[str]) -> bool:
        """Whether output and gradients are."""
        arrays = if_applicable(lambda: [self(self.problem.out), *map(self.right, names)])
        return arrays is not None and all(np.all(np.isfinite(a)) for a in arrays)

    def moved(self, values: dict[Node, Any], seed: Any = None) -> "Point":
        """The point of other values, with the same seed if no other is given. Raises GradcliError
        where they do not fit the problem, or decide on another graph.
        """
        if self.decided and not is_graph_of(self.problem, values):
            raise GradcliError("value", "these values decide on another graph")
        other = Point(self.problem, values, self.seed if seed is None else seed)
        other._gradients, other.decided = self._gradients, self.decided
        other._vanishing = self._vanishing
        return other

    def sound(self, names: Sequence[str], within: Within = dict) -> bool:
        """Whether output and gradients are finite, and the gradients more than rounding, for values
        `within` what the point's own meet.
        """
        if not self.finite(names):
            return False
        free = [x.node for x in self.problem.wrt if x.node.dtype == "float" and not _is_mask(x)]
        given = {x.node: self(x.node) for x in self.problem.inputs.values()}
        near = (within(perturbed(given, free, draw)) for draw in PERTURBATIONS)
        return all(self._steady(values, names) for values in near)

    def _steady(self, values: dict[Node, Any], names: Sequence[str]) -> bool:
        near = self.moved(values)
        pairs = ((self.right(n), near.right(n)) for n in names if not self.vanishes(n))
        return near.finite(names) and all(is_well_conditioned(*pair) for pair in pairs)


class Points(NamedTuple):
    """The points, in the order in which they are tried; whether sizes vary among them."""

    tried: list[Point]
    sizes_vary: bool


def points(problems: Sequence[Problem], names: Sequence[str]) -> Points:
    """Points at which the gradients of `names` are finite, some for each of `problems`, which are
    one program at several sizes.

    The first ones have numbers that are short. Raises GradcliError where there are none.
    """
    first = problems[0]
    if sum(n.numel for n in walk([first.out])) > ELEMENTS:
        hint = "leave -s out, or give smaller shapes: a claim is about all sizes"
        raise GradcliError("limit", "the tensors are too large to try a claim on", hint=hint)
    rng = np.random.default_rng(0)
    count = 1 if is_large(first) else POINTS - 1
    others = [*problems[1:], first] if len(problems) > 1 else [first] * count
    drawn = [_drawn(first, names, rng, short=True), *(_drawn(p, names, rng) for p in others)]
    if len(problems) > 1 and None in drawn:
        drawn += _elsewhere(problems, names, rng, drawn.count(None))
    given = None if kinks_met(Analysis(first)) else _as_given(first, names)
    tried = [p for p in (drawn[0], given, *drawn[1:]) if p is not None]
    if not tried:
        message = "no numbers were found at which the gradients are finite and more than rounding"
        raise GradcliError("needs-value", message, hint="give values with -v")
    return Points(tried, len({tuple(p.shapes.values()) for p in tried}) > 1)


def _elsewhere(
    problems: Sequence[Problem], names: Sequence[str], rng: Any, count: int
) -> Iterator[Point]:
    """Points at other sizes, for a program that is singular at some, as `logdet(X.T @ X)` where X
    has fewer rows than columns.
    """
    known = [p.shapes for p in problems]
    more = (p for p in resized(problems[0], MOST_SIZES) if p.shapes not in known)
    result = (_drawn(p, names, rng) for p in more)
    return islice((p for p in result if p is not None), count)


# ---- values --------------------------------------------------------------------------------------


def _mixed(rng: Any, shape: Shape) -> Any:
    return rng.uniform(0.2, 1.8, shape) * rng.choice([-1, 1], shape)


def _dominant(rng: Any, shape: Shape) -> Any:
    """Matrices that have an inverse and a Cholesky factor, and are not symmetric."""
    if not is_square(shape):
        return rng.uniform(0.2, 1.8, shape)
    return 2 * np.eye(shape[-1]) + _mixed(rng, shape) / shape[-1]


DRAWN: tuple[Draw, ...] = (
    _mixed,
    lambda rng, shape: rng.uniform(0.2, 1.8, shape),
    lambda rng, shape: rng.uniform(0.1, 0.9, shape),
    _dominant,
    lambda rng, shape: rng.uniform(1.2, 2.8, shape),
)


def _short(rng: Any, draw: Draw, shape: Shape) -> Any:
    """Numbers of one digit after the point, no two of them equal where there are enough."""
    array = np.round(draw(rng, shape), 1)
    for _ in range(DRAWS):
        if len(np.unique(np.abs(array))) == array.size and np.all(array):
            break
        array = np.round(draw(rng, shape), 1)
    return np.where(array == 0, 0.1, array)


def _drawn(problem: Problem, names: Sequence[str], rng: Any, short: bool = False) -> Point | None:
    """A point with random values, each from the first range in which all is finite and gradients
    are not 0, as those of `relu(m - norm(a))` are wherever m is the smaller.
    """
    result = islice(_sound(problem, names, rng, short), MORE)
    best, most = None, -1
    for point in result:
        count = sum(bool(np.any(point.right(name))) for name in names)
        if count > most:
            best, most = point, count
        if most == len(names):
            break
    return best or _as_given(problem, names)


def _sound(problem: Problem, names: Sequence[str], rng: Any, short: bool) -> Iterator[Point]:
    """Points with random values that are sound."""
    draws = _near_given if is_decided(problem) else _anywhere
    for values in draws(problem, rng, short):
        seed = _short(rng, _mixed, problem.out.shape) if short else _mixed(rng, problem.out.shape)
        result = at_values(problem, values, seed)
        if result is not None and result.sound(names):
            yield result


def _anywhere(
    problem: Problem, rng: Any, short: bool, known: Values | None = None
) -> Iterator[Values]:
    """Random values for inputs that are not `known`, from all ranges."""
    kept = fixed_values(problem) if known is None else known
    free = [x.node for x in problem.inputs.values() if x.node not in kept]
    symmetric = kept_symmetric(problem.out)
    for draws in islice(combinations(DRAWN, len(free)), COMBINATIONS):
        drawn = {
            x: _short(rng, d, x.shape) if short else d(rng, x.shape) for x, d in zip(free, draws)
        }
        yield kept | {x: _as_assumed(symmetric, x, array) for x, array in drawn.items()}


def _near_given(problem: Problem, rng: Any, short: bool) -> Iterator[Values]:
    """Random values that decide on the graph of a problem: near those given, farther ones first."""
    kept = fixed_values(problem)
    free = [x for x in problem.values if x not in kept]
    symmetric = kept_symmetric(problem.out)
    for values in _anywhere(problem, rng, short, problem.values):
        for scaled, spread in product((True, False), SPREADS):
            scale = rng.uniform(0.5, 1.8) if scaled else 1.0
            drawn = {x: _near(rng, scale * values[x], spread, short) for x in free}
            near = values | {x: _as_assumed(symmetric, x, array) for x, array in drawn.items()}
            if is_graph_of(problem, near):
                yield near


def _near(rng: Any, array: Any, spread: float, short: bool) -> Any:
    sizes = np.where(array == 0, np.max(np.abs(array), initial=0.0) or 1.0, np.abs(array))
    result = array + spread * sizes * rng.uniform(-1, 1, array.shape)
    return np.round(result, 1) if short else result


def _as_assumed(symmetric: Collection[Node], x: Node, array: Any) -> Any:
    array = with_properties(x.attrs["known"], array)
    return symmetrized(array) if x in symmetric else array


def is_decided(problem: Problem) -> bool:
    """Whether values that were given decide on the graph of a problem."""
    return bool(problem.values) and decided_by_values(problem)


def is_graph_of(problem: Problem, values: Values) -> bool:
    """Whether the graph of a problem is the one that these values decide on."""
    named = {i.name: values[i.node] for i in problem.inputs.values()}
    first, *_ = problem.orders
    other = if_applicable(lambda: with_values(first, named))
    return other is not None and signature(other.out) == signature(first.out)


def fixed_values(problem: Problem) -> dict[Node, Any]:
    """The values that were given, and stay at all points."""
    smooth = not kinks_met(Analysis(problem))
    return {x.node: x.value for x in problem.inputs.values() if _kept(x, problem, smooth)}


def _kept(x: Input, problem: Problem, smooth: bool) -> bool:
    """Whether the value that was given stays: labels, what -w leaves out, and masks; what is at a
    kink is not taken for a mask.
    """
    if x.value is None:
        return False
    chosen = {y.name for y in problem.wrt}
    return x.node.dtype != "float" or (smooth and _is_mask(x)) or x.name not in chosen


def _is_mask(x: Input) -> bool:
    return x.value is not None and bool(np.all((x.value == 0) | (x.value == 1)))


def _as_given(problem: Problem, names: Sequence[str]) -> Point | None:
    """The point of the values that were given, where all were."""
    if not problem.numeric:
        return None
    rng = np.random.default_rng(1)
    unused = {x.node: _mixed(rng, x.shape) for x in problem.inputs.values() if x.value is None}
    result = at_values(problem, problem.values | unused, _short(rng, _mixed, problem.out.shape))
    if result is None or not result.sound(names):
        return None
    if not all(is_symmetric(result(x)) for x in kept_symmetric(problem.out)):
        return None
    return result


def at_values(problem: Problem, values: dict[Node, Any], seed: Any) -> Point | None:
    """The point of these values; None where they do not fit the problem."""
    return if_applicable(lambda: Point(problem, values, seed))
