"""Test points (values of the inputs) that cover the branches of conditions and kinks in the
program, its gradients and the claims.

Values are drawn around the constants of conditions, and at other scales. A point is added if a
combination of conditions holds there that held at no earlier point. If an operation returns indices
(sorting, argmax, max pooling), points with the elements in other orders are added. A point is
excluded if it is at a kink, if a denominator is clamped there (formulas omit the clamp), or if
rounding would decide whether a claim holds.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice, product
from typing import Any

from ...backends.numeric import Evaluator, sources
from ...budget import EVERY, tick
from ...errors import if_applicable
from ...graphs import Node, downstream, walk
from ...graphs.substitution import expanded
from ...language.arguments.assumptions import with_properties
from ...lazy import np
from ...notation.formulas.rules.guards import TINY, is_negligible_bound, negligibly_clamped
from ..checking.finite_differences import symmetric_inputs, symmetrized
from ..in_pytorch.kinks import kinks
from .claim import Claim, built
from .findings import NOISE, close
from .points import Point, Points, Values, Within, fixed_values

MOST = 8  # largest number of points that are added
TRIES = 72  # largest number of candidates
ELEMENTS = 4_000_000  # limit on the elements of all nodes together, in all tries
# how many elements per input are moved next to an edge (0 or ± a constant of a comparison), and the
# relative distance from the edge
MOVED_ELEMENTS, OFFSET = 6, 0.05
CONSTANTS = 8  # largest number of constants that values are drawn around
SPREAD = 3  # draws of values from all ranges between constants
RELATIVE_SCALES = (100, 0.01)  # scales of one input relative to the others
SCALES = (10, 0.1, 100, 0.01, 1e-3, 1e-6, 1e-9, 1e3)
# tolerance at these points: looser than usual because rounding errors are larger; a wrong branch
# gives a larger error
FAR_OUT = 1e-6
ROUGH = 1e-3  # the tolerance in single precision; a larger error means that digits cancel
ASKS_FOR_NAN = ("isnan", "isfinite")

Compared = list[tuple[Node, Node | None]]  # pairs of tensors that are compared; None means 0


def on_all_branches(
    points: Points, claims: Sequence[Claim], names: Sequence[str], within: Within = dict
) -> Points:
    """The points, followed by new points that cover further branches. `within` projects values onto
    a condition that all points satisfy.
    """
    branches = _Branches(points.tried[0], claims, names, within)
    if not branches.free or not (branches.compared or branches.ordered):
        return points
    same = [p for p in points.tried if p.problem is branches.base.problem]
    met = {s for p in same for s in branches.sides(p)}
    ordered = filter(None, map(branches.point, branches.orders()))
    result = [point for point in ordered if branches.is_conclusive(point)]
    for point in filter(None, map(branches.point, islice(branches.candidates(), branches.tries))):
        if len(result) == MOST:
            break
        tick(EVERY)
        sides = if_applicable(partial(branches.sides, point)) or set()
        if sides - met and branches.is_conclusive(point):
            result.append(point)
            met |= sides
    return points._replace(tried=points.tried + result)


class _Branches:
    """The comparisons of a program, its gradients and claims, and points on both sides of them."""

    def __init__(self, base: Point, claims: Sequence[Claim], names: Sequence[str], within: Within):
        self.base, self.names, self.within = base, names, within
        self.claimed = list(_formulas(claims, base))
        self.kinks = tuple(mask for _, mask in kinks(base.problem))
        roots = [base.problem.out, *filter(None, map(base.gradient, names)), *self.claimed]
        self.given = {x.node: base(x.node) for x in base.problem.inputs.values()}
        fixed = fixed_values(base.problem)
        self.free = [x for x in self.given if x.dtype == "float" and x not in fixed]
        self.symmetric = symmetric_inputs(base.problem.out)
        order = walk([*roots, *self.kinks, *_kink_masks(self.claimed, self.free)], sources)
        self.compared = _compared(order, self.free)
        pairs = chain.from_iterable(self.compared)
        self.compared_nodes = tuple(dict.fromkeys(n for n in pairs if n is not None))
        self.clamped = [y for y, c in self.compared if c is not None and is_negligible_bound(c, y)]
        self.clamped += _clamped_tensors(order)
        self.ordered = any(node.op.finds_indices for node in order)
        self.with_nan = any(node.op.name in ASKS_FOR_NAN for node in order)
        self.tries = min(TRIES, ELEMENTS // max(1, sum(node.numel for node in order)))

    def point(self, values: Values) -> Point | None:
        """The point at these values, projected onto the assumptions; None if refused."""
        assumed = {x: with_properties(x.attrs["known"], values[x]) for x in self.free}
        arrays = self.within(values | assumed)
        symmetric_values = {
            x: symmetrized(v) if x in self.symmetric else v for x, v in arrays.items()
        }
        point = if_applicable(lambda: self.base.at_other_values(symmetric_values))
        if point is not None:
            point.tolerance = FAR_OUT
        return point

    def is_conclusive(self, point: Point) -> bool:
        """Whether the claims can be judged at a point."""
        with np.errstate(all="ignore"):
            return bool(if_applicable(lambda: self._is_sound(point)))

    def _is_sound(self, point: Point) -> bool:
        special = any(map(np.any, point.arrays(self.kinks)))
        clamped = any(np.any(point(y) <= TINY) for y in self.clamped)
        return not special and not clamped and point.sound(self.names) and self._keeps_digits(point)

    def _keeps_digits(self, point: Point) -> bool:
        """Whether every claim is finite, agrees in single and double precision to ROUGH (no
        cancellation), and is 0 or larger than NOISE.
        """
        values = {x: point(x) for x in self.given}
        arrays = {x: v.astype("float32") if x.dtype == "float" else v for x, v in values.items()}
        single = Evaluator(arrays | {point.problem.seed.node: point.seed}, dtype="float32")
        for n in self.claimed:
            result, here = np.asarray(single(n)[0], float), np.asarray(point(n), float)
            if 0 < np.max(np.abs(here), initial=0.0) <= NOISE or not close(result, here, ROUGH):
                return False
        return True

    def sides(self, point: Point) -> set[Any]:
        """The set of combinations of signs of the comparisons. Comparisons of one shape are
        combined elementwise. If the graph depends on values, each combination includes the
        element's position.
        """
        with np.errstate(all="ignore"):
            signs: dict[tuple[int, ...], list[Any]] = {}
            arrays = dict(zip(self.compared_nodes, point.arrays(self.compared_nodes)))
            for left, right in self.compared:
                other = 0 if right is None else arrays[right]
                sign = np.sign(np.subtract(arrays[left], other, dtype=float))
                signs.setdefault(sign.shape, []).append(np.ravel(sign))
        return {
            (s, self.base.depends_on_values and flat_index, met)
            for s, rows in signs.items()
            for flat_index, met in enumerate(zip(*(r.tolist() for r in rows)))
        }

    def candidates(self) -> Iterator[Values]:
        """Candidate values, in this order: a nan as first element, if the program tests for nan;
        values next to an edge, if the graph depends on values; random values between constants; the
        base point's values with random signs and one input much larger or smaller; the base point's
        values at other scales, with their signs or all of one sign; one input alone at another
        scale.
        """
        for x in self.free if self.with_nan else ():
            yield self.given | {x: _with_nan_first(self.given[x])}
        rng = np.random.default_rng(2)
        constants = _constants(self.compared, self.free, self.base)
        edges = np.unique([0.0, *constants, *(-c for c in constants)])
        yield from self._near_edges(edges) if self.base.depends_on_values else ()
        for _ in range(SPREAD if constants else 0):
            yield self.given | {x: _between(rng, edges, x.shape) for x in self.free}
        yield from self._with_other_signs(rng)
        scales = [k * c for c in constants for k in (1, 3, 0.3)] + [*SCALES]
        for s in scales:
            for changed in (partial(np.multiply, s), *(partial(_signed, k * s) for k in (1, -1))):
                yield self.given | {x: changed(self.given[x]) for x in self.free}
        for s in scales if len(self.free) > 1 else ():
            for x in self.free:
                yield self.given | {x: self.given[x] * s}

    def _near_edges(self, edges: Any) -> Iterator[Values]:
        """The base point's values, with one element moved just above or below an edge. Used if the
        graph depends on values, because random values would usually give another graph.
        """
        for x in self.free:
            size = np.max(np.abs(self.given[x]), initial=0.0)
            for flat_index, edge in product(range(min(x.numel, MOVED_ELEMENTS)), edges):
                for sign in (1, -1):
                    array = np.array(self.given[x])
                    array.flat[flat_index] = edge + sign * OFFSET * (abs(edge) or size)
                    yield self.given | {x: array}

    def _with_other_signs(self, rng: Any) -> Iterator[Values]:
        """The base point's values with random signs, and one input at another scale with either
        sign, so that one mask is decided independently of the others.
        """
        for s in RELATIVE_SCALES if len(self.free) > 1 else ():
            for alone in self.free:
                signed = {x: self.given[x] * rng.choice([-1, 1], x.shape) for x in self.free}
                for sign in (s, -s):
                    yield self.given | signed | {alone: sign * signed[alone]}

    def orders(self) -> Iterator[Values]:
        """If an operation returns indices, the base point's values, sorted in ascending or
        descending order and rolled by one along every dimension. The permutation that sorts these
        values differs from its inverse, so that a claim that confuses the two is found wrong.
        """
        for direction in (1, -1) if self.ordered else ():
            yield self.given | {x: _reordered(self.given[x], direction) for x in self.free}


# ---- conditions ----------------------------------------------------------------------------------


def _formulas(claims: Sequence[Claim], base: Point) -> Iterator[Node]:
    """The graphs of the claims, without claims that raise an error at the shapes of `base`."""
    result = (partial(built, c.program, base.problem, base.input_values) for c in claims)
    return filter(None, map(if_applicable, result))


def _kink_masks(claimed: Sequence[Node], free: Sequence[Node]) -> Iterator[Node]:
    """Boolean nodes that are true for the elements at which a claim has a kink."""
    order = walk(claimed)
    moving = downstream(order, free)
    for node in order:
        yield from node.op.kink_masks(node, moving)


def _compared(order: Sequence[Node], free: Sequence[Node]) -> Compared:
    """The operands of comparisons that depend on free inputs."""
    moving = downstream(order, free, sources)
    result: dict[tuple[Node, Node | None], None] = {}
    for node in order:
        numbers = node.dtype == "bool" and all(x.dtype != "bool" for x in node.parents)
        if numbers and 0 < len(node.parents) < 3 and any(x in moving for x in node.parents):
            left, *right = node.parents
            result[left, right[0] if right else None] = None
    return list(result)


def _clamped_tensors(order: Sequence[Node]) -> Iterator[Node]:
    """The tensors that are clamped from below by a negligible bound, also inside composite
    operations, such as (1 - p) * p in the gradient of binary_cross_entropy.
    """
    return filter(None, map(negligibly_clamped, walk(expanded(order).values())))


def _constants(compared: Compared, free: Sequence[Node], base: Point) -> list[float]:
    """The absolute values of constants in comparisons, which do not depend on free inputs."""
    order = walk([x for pair in compared for x in pair if x is not None])
    moving = downstream(order, free)
    result: dict[float, None] = {}
    for node in order:
        if node not in moving and node.numel <= CONSTANTS:
            sizes = np.abs(np.ravel(base(node)).astype(float))
            result |= dict.fromkeys(sizes[np.isfinite(sizes) & (sizes > 0)].tolist())
    return list(result)[:CONSTANTS]


# ---- values --------------------------------------------------------------------------------------


def _with_nan_first(array: Any) -> Any:
    """The array with nan in place of its first element."""
    return np.where(np.arange(array.size).reshape(array.shape) == 0, np.nan, array)


def _signed(scale: float, array: Any) -> Any:
    return scale * np.abs(array)


def _between(rng: Any, edges: Any, shape: tuple[int, ...]) -> Any:
    """A random number for every element, in a random range between the edges or outside of them."""
    ends = np.concatenate([2 * edges[:1], edges, 2 * edges[-1:]])
    k = rng.integers(0, len(ends) - 1, shape)
    return ends[k] + np.round(rng.uniform(0.1, 0.9, shape), 2) * (ends[k + 1] - ends[k])


def _reordered(array: Any, direction: int) -> Any:
    result = np.sort(array, axis=None)[::direction].reshape(array.shape)
    for axis in range(result.ndim):
        result = np.roll(result, 1, axis)
    return result
