"""A problem at other sizes: candidate shapes, the problem at these shapes, and the translation of
nodes found there back to the original sizes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any, TypeVar

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import GradcliError, if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import GENERIC_SIZES, Conflict, Shape
from ...graphs.substitution import rebuilt
from ...language.generic_sizes import to_generic_sizes
from ...language.problem import Problem
from ...lazy import np
from ..derived import of_gradient
from ..random_numbers import Numbers
from .trial_values import random_values

# Double each size, add 1, or reverse their order.
CHANGES: tuple[Callable[[int, int], int], ...] = (
    lambda n, both: 2 * n,
    lambda n, both: n + 1,
    lambda n, both: both - n,
)
MOST_TIED = 8  # largest number of dimensions that are tried in pairs
MOST_ADAPTED = 3  # largest number of dimensions that are adapted when another one changes
T = TypeVar("T")
Shapes = Mapping[str, Shape]
Axis = tuple[str, int]  # a dimension of an input
CLOSE = 1e-9  # relative tolerance
LARGEST = 20_000  # largest number of elements of an array that is compared


def other_shapes(problem: Problem) -> Iterator[dict[str, Shape]]:
    """Shapes of the inputs with all sizes changed, equal sizes staying equal."""
    shapes = problem.shapes
    sizes = {n for shape in shapes.values() for n in shape if n > 1}
    if not sizes:
        return
    both = min(sizes) + max(sizes)
    for change in CHANGES:
        other = {n: change(n, both) for n in sizes}
        if any(n != m for n, m in other.items()):
            yield {x: tuple(other.get(n, n) for n in shape) for x, shape in shapes.items()}


def shapes_with_ones(shapes: Shapes) -> Iterator[dict[str, Shape]]:
    """The shapes with one of the sizes replaced by 1 wherever it occurs."""
    yield from _one_changed(shapes, lambda n: 1)


def longer_shapes(shapes: Shapes) -> Iterator[dict[str, Shape]]:
    """The shapes with one of the sizes increased by 1 wherever it occurs."""
    yield from _one_changed(shapes, lambda n: n + 1)


def _one_changed(shapes: Shapes, change: Callable[[int], int]) -> Iterator[dict[str, Shape]]:
    for one in {n: None for shape in shapes.values() for n in shape if n > 1}:
        yield {x: tuple(change(n) if n == one else n for n in shape) for x, shape in shapes.items()}


def untied_shapes(
    problem: Problem, fit: Callable[[dict[str, Shape]], bool]
) -> Iterator[dict[str, Shape]]:
    """Shapes that satisfy `fit`, for programs in which only products of sizes must be equal, as in
    one that flattens: all sizes squared, one size changed, or a factor moved from one dimension to
    another.
    """
    if not _has_products(problem):
        return
    shapes = problem.shapes
    squares = {x: tuple(n * n for n in shape) for x, shape in shapes.items()}
    if fit(squares):
        yield squares
    tied = []  # dimensions that cannot be changed alone
    for x, d in _axes(shapes):
        other = _scaled(shapes, {(x, d): _longer(shapes, (x, d))})
        if fit(other):
            yield other
        else:
            tied.append((x, d))
    doubled = {x: tuple(2 * n if n > 1 else n for n in shape) for x, shape in shapes.items()}
    pairs = permutations(tied[:MOST_TIED], 2)
    for axis, other_axis in sorted(pairs, key=_is_far):
        shapes_with_factor = _scaled(doubled, {axis: (1, 2), other_axis: (2, 1)})
        if fit(shapes_with_factor):
            yield shapes_with_factor


def _is_far(pair: tuple[Axis, Axis]) -> tuple[bool, int, int]:
    """A sort key: pairs of dimensions of one input first, then nearby dimensions."""
    (x, d), (y, e) = pair
    return x != y, abs(d - e), d


def adapted_shapes(shapes: Shapes, fit: Callable[[dict[str, Shape]], T | Exception]) -> Iterator[T]:
    """The results of `fit` for shapes in which one size is increased by 1. If `fit` returns a
    Conflict of two sizes, as in a program that flattens, another dimension that has one of them is
    changed to the other.
    """
    for axis in _axes(shapes)[:MOST_TIED]:
        result = _adapted(_scaled(shapes, {axis: _longer(shapes, axis)}), {axis}, fit)
        if result is not None:
            yield result


def _adapted(
    shapes: dict[str, Shape],
    fixed: set[Axis],
    fit: Callable[[dict[str, Shape]], T | Exception],
) -> T | None:
    """The result of `fit`, after dimensions that are not `fixed` were changed until no sizes
    conflict; None if that fails.
    """
    built = fit(shapes)
    if not isinstance(built, Conflict):
        return None if isinstance(built, Exception) else built
    sizes = built.left, built.right
    for axis in _axes(shapes) if len(fixed) <= MOST_ADAPTED else ():
        x, d = axis
        if axis not in fixed and shapes[x][d] in sizes:
            (other,) = {*sizes} - {shapes[x][d]}
            changed = _scaled(shapes, {axis: (other, shapes[x][d])})
            result = _adapted(changed, {*fixed, axis}, fit)
            if result is not None:
                return result
    return None


def _longer(shapes: Shapes, axis: Axis) -> tuple[int, int]:
    x, d = axis
    return shapes[x][d] + 1, shapes[x][d]


def _axes(shapes: Shapes) -> list[Axis]:
    return [(x, d) for x, shape in shapes.items() for d, n in enumerate(shape) if n > 1]


def _scaled(shapes: Shapes, by: Mapping[Axis, tuple[int, int]]) -> dict[str, Shape]:
    """The shapes with some sizes multiplied by a fraction."""

    def size(axis: Axis, n: int) -> int:
        over, under = by.get(axis, (1, 1))
        return n * over // under

    return {x: tuple(size((x, d), n) for d, n in enumerate(shape)) for x, shape in shapes.items()}


def _has_products(problem: Problem) -> bool:
    """Whether a node has a size that none of its inputs has, as a flattened matrix does."""
    return any(
        n > 1 and node.parents and all(n not in i.shape for i in node.parents)
        for node in walk([problem.out])
        for n in node.shape
    )


# ---- the problem at other sizes ------------------------------------------------------------------


Pose = Callable[[Problem], Problem | None]  # the same problem at other sizes


def generic_problem(problem: Problem, keeps_ones: bool = False) -> Problem | None:
    """The problem at generic sizes, at which formulas are derived; None if it has none."""
    return posed_again(problem, partial(to_generic_sizes, keeps_ones=keeps_ones))


def posed_again(problem: Problem, pose: Pose) -> Problem | None:
    """The problem at other sizes, as `pose` returns it; None if it returns None. If the output of
    the problem is a gradient, `pose` is applied to the problem of lower order, and the gradient is
    derived again.
    """
    result = pose(problem) if problem.lower_order is None else _gradient_again(problem, pose)
    if result is None:
        return None
    return result._replace(seed=result.seed._replace(implicit=problem.seed.implicit))


def _gradient_again(problem: Problem, pose: Pose) -> Problem | None:
    """The gradient problem derived again from that of lower order; None if impossible."""
    assert problem.lower_order is not None
    seed = problem.lower_order.seed
    has_seed = seed.value is not None and not seed.implicit
    lower_order = None if has_seed else posed_again(problem.lower_order, pose)
    if lower_order is None or lower_order.seed.implicit is not (lower_order.seed.value is not None):
        return None
    (x,) = lower_order.wrt
    built = lower_order.named.values()  # so that terms are added in the same order
    grad = backward(lower_order.out, lower_order.seed.node, [x.node], tuple(built)).of[x.node]
    if grad is None:
        return None
    wrt = [lower_order.inputs[z.name] for z in problem.wrt]
    return of_gradient(lower_order, x, grad, problem.seed.name, wrt)


# ---- back to the original sizes ------------------------------------------------------------------


class NotBySizes(Exception):
    """It is not known which value a number or an array has at other sizes."""


def at_original_sizes(
    node: Node, generic: Problem, original: Problem, expected: Node
) -> Node | None:
    """A node of the `generic` problem as a node of the `original` one; None if it cannot be
    translated, or its value differs from that of `expected`.
    """
    errors = (NotBySizes, GradcliError)
    built = if_applicable(lambda: rebuilt(node, _ToOriginalSizes(generic, original)), errors)
    same = built is not None and if_applicable(lambda: _equal(built, expected, original))
    return built if same else None


class _ToOriginalSizes:
    """Rebuilds nodes of the generic problem at the sizes of the original one."""

    def __init__(self, generic: Problem, original: Problem):
        self.nodes = {generic.out: original.out}
        self.nodes |= {n: original.named[name] for name, n in generic.named.items()}
        self.nodes |= {i.node: original.inputs[name].node for name, i in generic.inputs.items()}
        for generic_order, order in zip(generic.orders, original.orders):
            self.nodes |= {generic_order.out: order.out, generic_order.seed.node: order.seed.node}
        pairs = {p for n, m in self.nodes.items() for p in zip(n.shape, m.shape)}
        self.sizes = dict(pairs)
        if any(self.sizes[big] != small for big, small in pairs):
            raise NotBySizes

    def __call__(self, n: Node, inputs: Sequence[Node | None]) -> Node:
        if n in self.nodes:
            return self.nodes[n]
        return n.op(
            *inputs, **{name: self._original_value(value) for name, value in n.attrs.items()}
        )

    def _original_value(self, value: Any) -> Any:
        """An attribute with generic sizes replaced by the original ones. Raises NotBySizes."""
        if isinstance(value, tuple):
            return tuple(map(self._original_value, value))
        if isinstance(value, slice):
            return slice(*map(self._original_value, (value.start, value.stop, value.step)))
        if value is None or isinstance(value, bool | str | type(...)):
            return value
        if not isinstance(value, int | float):
            raise NotBySizes
        if abs(value) < GENERIC_SIZES[0]:
            return value
        if value not in self.sizes:
            raise NotBySizes
        return self.sizes[value]  # type: ignore[index]


def _equal(node: Node, expected: Node, problem: Problem) -> bool:
    """Whether two nodes have the same value at random values of inputs and seeds."""
    if node.shape != expected.shape or problem.out.numel > LARGEST or node.numel > LARGEST:
        return False
    values = random_values(problem)
    draw = Numbers(node.numel)
    for p in problem.orders:
        shape = p.seed.node.shape
        values[p.seed.node] = np.ones(shape) if p.seed.implicit else draw.uniform(0.5, 1.5, shape)
    evaluate = Evaluator(values, limits=problem.limits)
    return np.allclose(evaluate(node)[0], evaluate(expected)[0], rtol=CLOSE, atol=CLOSE)
