"""A problem at other sizes: which sizes it may have, the problem posed there, and what was found
there brought back to its own sizes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any, TypeVar

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import GradcliError, if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import TELLING, Conflict, Shape
from ...graphs.substitution import rebuilt
from ...language.generic_sizes import in_general_sizes
from ...language.problem import Problem
from ...lazy import np
from ..derived import of_gradient
from ..random_numbers import Numbers
from .trial_values import random_values

# Even ones, the next ones, what was smallest as largest.
CHANGES: tuple[Callable[[int, int], int], ...] = (
    lambda n, both: 2 * n,
    lambda n, both: n + 1,
    lambda n, both: both - n,
)
MOST_TIED = 8  # dimensions that are tried against each other
MOST_FOLLOWING = 3  # dimensions that follow from another
T = TypeVar("T")
Shapes = Mapping[str, Shape]
Place = tuple[str, int]  # a dimension of an input
CLOSE = 1e-9  # relative
LARGEST = 20_000  # elements of what is compared in numbers


def other_shapes(problem: Problem) -> Iterator[dict[str, Shape]]:
    """Shapes of the inputs where all sizes are others, and equal where they were."""
    shapes = problem.shapes
    sizes = {n for shape in shapes.values() for n in shape if n > 1}
    if not sizes:
        return
    both = min(sizes) + max(sizes)
    for change in CHANGES:
        other = {n: change(n, both) for n in sizes}
        if any(n != m for n, m in other.items()):
            yield {x: tuple(other.get(n, n) for n in shape) for x, shape in shapes.items()}


def single_shapes(shapes: Shapes) -> Iterator[dict[str, Shape]]:
    """The shapes where one of the sizes is 1, wherever it stands."""
    yield from _one_changed(shapes, lambda n: 1)


def longer_shapes(shapes: Shapes) -> Iterator[dict[str, Shape]]:
    """The shapes where one of the sizes is larger by 1, wherever it stands."""
    yield from _one_changed(shapes, lambda n: n + 1)


def _one_changed(shapes: Shapes, change: Callable[[int], int]) -> Iterator[dict[str, Shape]]:
    for one in {n: None for shape in shapes.values() for n in shape if n > 1}:
        yield {x: tuple(change(n) if n == one else n for n in shape) for x, shape in shapes.items()}


def untied_shapes(
    problem: Problem, fit: Callable[[dict[str, Shape]], bool]
) -> Iterator[dict[str, Shape]]:
    """Shapes that `fit` where only products of sizes need to be equal, as in a program that
    flattens: all are squares, one is another, or a factor has moved from one dimension to another.
    """
    if not _has_products(problem):
        return
    shapes = problem.shapes
    squares = {x: tuple(n * n for n in shape) for x, shape in shapes.items()}
    if fit(squares):
        yield squares
    tied = []
    for x, d in _places(shapes):
        other = _scaled(shapes, {(x, d): _longer(shapes, (x, d))})
        if fit(other):
            yield other
        else:
            tied.append((x, d))
    doubled = {x: tuple(2 * n if n > 1 else n for n in shape) for x, shape in shapes.items()}
    pairs = permutations(tied[:MOST_TIED], 2)
    for place, other_place in sorted(pairs, key=_is_far):
        moved = _scaled(doubled, {place: (1, 2), other_place: (2, 1)})
        if fit(moved):
            yield moved


def _is_far(pair: tuple[Place, Place]) -> tuple[bool, int, int]:
    """Dimensions of one input come first, those beside each other, of one input as of another."""
    (x, d), (y, e) = pair
    return x != y, abs(d - e), d


def followed_shapes(
    shapes: Shapes, fit: Callable[[dict[str, Shape]], T | Exception]
) -> Iterator[T]:
    """What fits where one dimension is larger by 1, and others are what has to follow from that,
    as `fit` says by a Conflict: in a program that flattens what it computes.
    """
    for place in _places(shapes)[:MOST_TIED]:
        result = _followed(_scaled(shapes, {place: _longer(shapes, place)}), {place}, fit)
        if result is not None:
            yield result


def _followed(
    shapes: dict[str, Shape],
    fixed: set[Place],
    fit: Callable[[dict[str, Shape]], T | Exception],
) -> T | None:
    """What fits, with other sizes than the `fixed` ones made equal to what they conflict with."""
    built = fit(shapes)
    if not isinstance(built, Conflict):
        return None if isinstance(built, Exception) else built
    sizes = built.left, built.right
    for place in _places(shapes) if len(fixed) <= MOST_FOLLOWING else ():
        x, d = place
        if place not in fixed and shapes[x][d] in sizes:
            (other,) = {*sizes} - {shapes[x][d]}
            changed = _scaled(shapes, {place: (other, shapes[x][d])})
            result = _followed(changed, {*fixed, place}, fit)
            if result is not None:
                return result
    return None


def _longer(shapes: Shapes, place: Place) -> tuple[int, int]:
    x, d = place
    return shapes[x][d] + 1, shapes[x][d]


def _places(shapes: Shapes) -> list[Place]:
    return [(x, d) for x, shape in shapes.items() for d, n in enumerate(shape) if n > 1]


def _scaled(shapes: Shapes, by: Mapping[Place, tuple[int, int]]) -> dict[str, Shape]:
    """The shapes with some sizes multiplied by a fraction."""

    def size(place: Place, n: int) -> int:
        over, under = by.get(place, (1, 1))
        return n * over // under

    return {x: tuple(size((x, d), n) for d, n in enumerate(shape)) for x, shape in shapes.items()}


def _has_products(problem: Problem) -> bool:
    """Whether a node has a size that none of its inputs has, as that of a flattened matrix."""
    return any(
        n > 1 and node.parents and all(n not in i.shape for i in node.parents)
        for node in walk([problem.out])
        for n in node.shape
    )


# ---- posed there ---------------------------------------------------------------------------------


Pose = Callable[[Problem], Problem | None]  # the same problem at other sizes


def in_general(problem: Problem, keeps_ones: bool = False) -> Problem | None:
    """The problem where its formula is derived; None where that is at the user's own sizes."""
    return posed_again(problem, partial(in_general_sizes, keeps_ones=keeps_ones))


def posed_again(problem: Problem, pose: Pose) -> Problem | None:
    """What `pose` makes of a problem; where its output is a gradient, the gradient of what it makes
    of the problem before. None where there is none.
    """
    result = pose(problem) if problem.before is None else _gradient_again(problem, pose)
    if result is None:
        return None
    return result._replace(seed=result.seed._replace(implicit=problem.seed.implicit))


def _gradient_again(problem: Problem, pose: Pose) -> Problem | None:
    assert problem.before is not None
    seed = problem.before.seed
    given = seed.value is not None and not seed.implicit
    before = None if given else posed_again(problem.before, pose)
    if before is None or before.seed.implicit is not (before.seed.value is not None):
        return None
    (x,) = before.wrt
    built = before.named.values()  # so that sums are in the same order
    grad = backward(before.out, before.seed.node, [x.node], tuple(built)).of[x.node]
    if grad is None:
        return None
    wrt = [before.inputs[z.name] for z in problem.wrt]
    return of_gradient(before, x, grad, problem.seed.name, wrt)


# ---- brought back --------------------------------------------------------------------------------


class NotBySizes(Exception):
    """A number or an array of which it is not known what it is at other sizes."""


def at_own_sizes(node: Node, general: Problem, own: Problem, expected: Node) -> Node | None:
    """The node of the problem in `general` as one of the `own`; None where it cannot be brought
    back, or has other numbers than what is `expected`.
    """
    errors = (NotBySizes, GradcliError)
    built = if_applicable(lambda: rebuilt(node, _Back(general, own)), errors)
    same = built is not None and if_applicable(lambda: _equal(built, expected, own))
    return built if same else None


class _Back:
    """Makes nodes at the sizes of one problem of those of another."""

    def __init__(self, general: Problem, own: Problem):
        self.nodes = {general.out: own.out}
        self.nodes |= {n: own.named[name] for name, n in general.named.items()}
        self.nodes |= {i.node: own.inputs[name].node for name, i in general.inputs.items()}
        for there, here in zip(general.orders, own.orders):
            self.nodes |= {there.out: here.out, there.seed.node: here.seed.node}
        pairs = {p for n, m in self.nodes.items() for p in zip(n.shape, m.shape)}
        self.sizes = dict(pairs)
        if any(self.sizes[big] != small for big, small in pairs):
            raise NotBySizes

    def __call__(self, n: Node, inputs: Sequence[Node | None]) -> Node:
        if n in self.nodes:
            return self.nodes[n]
        return n.op(*inputs, **{name: self._at(value) for name, value in n.attrs.items()})

    def _at(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._at, value))
        if isinstance(value, slice):
            return slice(*map(self._at, (value.start, value.stop, value.step)))
        if value is None or isinstance(value, bool | str | type(...)):
            return value
        if not isinstance(value, int | float):
            raise NotBySizes
        if abs(value) < TELLING[0]:
            return value
        if value not in self.sizes:
            raise NotBySizes
        return self.sizes[value]  # type: ignore[index]


def _equal(made: Node, expected: Node, own: Problem) -> bool:
    """Whether two nodes have the same numbers at random values of inputs and seeds."""
    if made.shape != expected.shape or own.out.numel > LARGEST or made.numel > LARGEST:
        return False
    values = random_values(own)
    draw = Numbers(made.numel)
    for p in own.orders:
        shape = p.seed.node.shape
        values[p.seed.node] = np.ones(shape) if p.seed.implicit else draw.uniform(0.5, 1.5, shape)
    evaluate = Evaluator(values, limits=own.limits)
    return np.allclose(evaluate(made)[0], evaluate(expected)[0], rtol=CLOSE, atol=CLOSE)
