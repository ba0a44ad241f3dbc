"""Sizes that a problem may have besides its own."""

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import TypeVar

from ...graphs import walk
from ...graphs.shapes import Conflict, Shape
from ...language.problem import Problem

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
