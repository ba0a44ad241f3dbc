"""Points on all branches: what compares numbers, or has a kink, is tried on its other sides.

Values are drawn around the numbers that a condition compares with, and at other scales; in other
orders where places are found by order. A point is taken where conditions hold that held nowhere
before. None of them is at a kink.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, downstream, walk
from ...lazy import np
from ..conventions import kinks
from .given import Claim, built
from .points import Point, Points, kept_values

MOST = 8  # points that are added
TRIES = 60
ELEMENTS = 4_000_000  # of all nodes together, at all tries
CONSTANTS = 8  # that values are drawn around
SPREAD = 3  # draws in all ranges between constants
SCALES = (10, 0.1, 100, 0.01, 1e-3, 1e-6, 1e-9, 1e3)
TOLERANCE = 1e-6  # far out more is rounding: a wrong branch is wrong by more than that

Compared = list[tuple[Node, Node | None]]  # two tensors, or one and 0
Values = dict[Node, Any]


def on_all_branches(points: Points, claims: Sequence[Claim], names: Sequence[str]) -> Points:
    """The points, and those on other branches of the program, its gradients and the claims."""
    base = points.tried[0]
    masks = [mask for _, mask in kinks(base.problem)]
    roots = [base.problem.out, *filter(None, map(base.gradient, names)), *_formulas(claims, base)]
    free = _free(base)
    order = walk([*roots, *masks])
    compared = _compared(order, free)
    ordered = any(node.op.finds_places for node in order)
    if not free or not (compared or ordered):
        return points
    drawn = _drawn(base, free, _constants(compared, free, base))
    tries = min(TRIES, ELEMENTS // sum(node.numel for node in order))
    met = {s for p in points.tried if p.problem is base.problem for s in _sides(compared, p)}
    orders = (_point(base, v, names, masks) for v in _orders(base, free) if ordered)
    found = [p for p in orders if p is not None]
    for values in islice(drawn, tries):
        point = _point(base, values, names, masks)
        sides = set() if point is None else _sides(compared, point)
        if point is not None and sides - met and len(found) < MOST:
            found.append(point)
            met |= sides
    return points._replace(tried=points.tried + found)


def _point(base: Point, values: Values, names: Sequence[str], masks: list[Node]) -> Point | None:
    """The point of these values; None at a kink, and where it is not sound."""
    with suppress(GradcliError), np.errstate(all="ignore"):
        point = base.moved(values)
        point.tolerance = TOLERANCE
        if not any(np.any(point(mask)) for mask in masks) and point.sound(names):
            return point
    return None


# ---- conditions ----------------------------------------------------------------------------------


def _formulas(claims: Sequence[Claim], base: Point) -> Iterator[Node]:
    """The claims as graphs, as far as they are any."""
    for claim in claims:
        with suppress(GradcliError):
            yield built(claim.program, base.problem, base.picking)


def _compared(order: Sequence[Node], free: Sequence[Node]) -> Compared:
    """What masks compare, where it depends on values that are free."""
    moving = downstream(order, free)
    found: dict[tuple[Node, Node | None], None] = {}
    for node in order:
        numbers = node.dtype == "bool" and all(x.dtype != "bool" for x in node.parents)
        if numbers and 0 < len(node.parents) < 3 and any(x in moving for x in node.parents):
            left, *right = node.parents
            found[left, right[0] if right else None] = None
    return list(found)


def _constants(compared: Compared, free: Sequence[Node], base: Point) -> list[float]:
    """The sizes of the numbers that go into what is compared, and depend on nothing free."""
    order = walk([x for pair in compared for x in pair if x is not None])
    moving = downstream(order, free)
    found: dict[float, None] = {}
    for node in order:
        if node not in moving and node.numel <= CONSTANTS:
            sizes = np.abs(np.ravel(base(node)).astype(float))
            found |= dict.fromkeys(sizes[np.isfinite(sizes) & (sizes > 0)].tolist())
    return list(found)[:CONSTANTS]


def _sides(compared: Compared, point: Point) -> set[Any]:
    """Which is the larger in what is compared: for each shape, all that is met in one place."""
    with np.errstate(all="ignore"):
        signs: dict[tuple[int, ...], list[Any]] = {}
        for left, right in compared:
            other = 0 if right is None else point(right)
            sign = np.sign(np.subtract(point(left), other, dtype=float))
            signs.setdefault(sign.shape, []).append(np.ravel(sign))
    return {(s, met) for s, rows in signs.items() for met in zip(*(r.tolist() for r in rows))}


# ---- values --------------------------------------------------------------------------------------


def _free(base: Point) -> list[Node]:
    """The inputs that can have any numbers."""
    kept = kept_values(base.problem)
    inputs = (x.node for x in base.problem.inputs.values())
    return [x for x in inputs if x.dtype == "float" and x not in kept]


def _drawn(base: Point, free: Sequence[Node], constants: Sequence[float]) -> Iterator[Values]:
    """Values in all ranges between the constants, then the first values at other scales, with
    signs of their own and of one kind, then one input alone at another scale.
    """
    rng = np.random.default_rng(2)
    given = {x.node: base(x.node) for x in base.problem.inputs.values()}
    edges = np.unique([0.0, *constants, *(-c for c in constants)])
    for _ in range(SPREAD if constants else 0):
        yield given | {x: _between(rng, edges, x.shape) for x in free}
    scales = [k * c for c in constants for k in (1, 3, 0.3)] + [*SCALES]
    for s in scales:
        for changed in (partial(np.multiply, s), *(partial(_signed, k * s) for k in (1, -1))):
            yield given | {x: changed(given[x]) for x in free}
    for s in scales if len(free) > 1 else ():
        for x in free:
            yield given | {x: given[x] * s}


def _signed(scale: float, array: Any) -> Any:
    return scale * np.abs(array)


def _between(rng: Any, edges: Any, shape: tuple[int, ...]) -> Any:
    """For every element one of the ranges between the edges, or outside of them, and a number in
    it.
    """
    ends = np.concatenate([2 * edges[:1], edges, 2 * edges[-1:]])
    k = rng.integers(0, len(ends) - 1, shape)
    return ends[k] + np.round(rng.uniform(0.1, 0.9, shape), 2) * (ends[k + 1] - ends[k])


def _orders(base: Point, free: Sequence[Node]) -> Iterator[Values]:
    """The first values in orders that are not their own inverse: up, or down, with the last one
    first along every dimension.
    """
    given = {x.node: base(x.node) for x in base.problem.inputs.values()}
    for direction in (1, -1):
        yield given | {x: _rolled(given[x], direction) for x in free}


def _rolled(array: Any, direction: int) -> Any:
    found = np.sort(array, axis=None)[::direction].reshape(array.shape)
    for axis in range(found.ndim):
        found = np.roll(found, 1, axis)
    return found
