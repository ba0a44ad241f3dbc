"""Finite differences of <seed, out>, compared with the gradient of an input.

The elements of a small input are perturbed one by one. If an input is larger, or its output takes
many operations, all elements are perturbed together along a few random directions, or along a
single one if that takes long.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import is_square
from ...lazy import np
from ..random_numbers import Numbers

EVERY_ELEMENT = 200  # largest number of elements of an input that are perturbed one by one
EVERY_OPERATION = 5_000  # largest product of elements and operations for which that is done
DIRECTIONS = 3  # number of random directions for a larger input
# if one value of the output needs more computed elements than LONG, one direction is tried; if it
# needs more than MUCH, no sample is tried even if the slope along that direction is unclear
LONG = 1 << 20
MUCH = 1 << 24
SAMPLE = 100  # elements that are perturbed if all of them together show no clear slope
TOLERANCE = 1e-6  # relative to the larger of 1 and the gradient
STEP, SMALL = 1e-3, 1e-6  # relative to the larger of 1 and the perturbed values
OTHER_STEPS = 10.0, 100.0, 0.1, 0.01  # times STEP, tried if no slope equals the gradient
CORNER_ANGLE = 1e-3  # the least relative difference of the one-sided slopes at a corner
SAME, OTHER, CORNER, NOT_FINITE, UNCLEAR = "same", "other", "corner", "not finite", "unclear"


class Compared(NamedTuple):
    """The result for a direction: its name, an outcome (SAME, ...), and the relative error."""

    place: str
    outcome: str
    error: float


class Line:
    """<seed, out> along a line of input values; `at(t)` is the output at distance t."""

    def __init__(self, at: Callable[[float], Any], here: Any, seed: Any, scale: float):
        self.at, self.here, self.seed, self.scale = at, here, seed, scale

    def rise(self, high: float, low: float) -> float:
        """The change of <seed, out>; elements that stay the same do not count."""
        above, below = (self.at(t) if t else self.here for t in (high, low))
        same = (above == below) | (np.isnan(above) & np.isnan(below))
        return float(np.sum(np.where(same, 0.0, self.seed * (above - below))))

    def slopes(self, step: float) -> tuple[float, float, float]:
        """Central differences with two steps, and their Richardson extrapolation, which has about
        12 correct digits for smooth functions.
        """
        step *= self.scale
        coarse, fine = self.rise(step, -step) / (2 * step), self.rise(step / 2, -step / 2) / step
        return coarse, fine, (4 * fine - coarse) / 3

    def sides(self, step: float) -> tuple[float, float]:
        """The one-sided slopes, to the right and to the left."""
        step *= self.scale
        return self.rise(step, 0.0) / step, self.rise(0.0, -step) / step

    def rounding(self) -> float:
        """The rounding error of <seed, out>."""
        sizes = np.abs(self.seed * self.here)
        return float(np.finfo(float).eps) * float(np.sum(sizes, where=np.isfinite(sizes)))

    def has_jump(self) -> bool:
        """Whether a small step to one side changes the output as much as a longer one."""
        for step in (SMALL * self.scale, -SMALL * self.scale):
            near, far = self.rise(step, 0.0), self.rise(100 * step, 0.0)
            if abs(near) > 100 * self.rounding() and abs(far - near) < abs(near) / 10:
                return True
        return False

    def has_corner(self, right: float, left: float) -> bool:
        """Whether these one-sided slopes differ because of a corner: with larger steps a difference
        by rounding would decrease, and one by curvature would increase.
        """
        difference = abs(right - left)
        if not difference > CORNER_ANGLE * max(1.0, abs(right), abs(left)):
            return False
        wider, widest = (abs(r - s) for r, s in map(self.sides, (10 * SMALL, 100 * SMALL)))
        rounding = min(wider, widest) < difference / 3
        curve = wider > 5 * difference and widest > 5 * wider
        return not rounding and not curve


def compare(line: Line, expected: float) -> tuple[str, float]:
    """Compare the slopes of a line with the expected one; returns outcome and relative error."""
    size = max(1.0, abs(expected))
    with np.errstate(all="ignore"):
        slopes = [line.slopes(STEP)[-1]]
        right, left = line.sides(SMALL)
        corner = line.has_corner(right, left)
        # Where the second derivative jumps, as that of elu at 0, small steps are better.
        slopes = [right] if corner else [*slopes, (right + left) / 2]
        errors = [abs(s - expected) / size for s in slopes if np.isfinite(s - expected)]
        if not errors:
            return NOT_FINITE, np.inf
        error = min(errors)
        if corner or error <= TOLERANCE:
            return CORNER if corner else SAME, error
        for step in OTHER_STEPS:
            slopes.append(line.slopes(STEP * step)[-1])
            if abs(slopes[-1] - expected) <= TOLERANCE * size:
                return SAME, abs(slopes[-1] - expected) / size
        rounding = line.rounding() / (STEP * max(OTHER_STEPS) * line.scale)
        clear = _agree(slopes, error * size / 10) and 10 * rounding < error * size
        return OTHER if clear and not line.has_jump() else UNCLEAR, error


def _agree(slopes: Sequence[float], within: float) -> bool:
    """Whether two of the slopes are nearly equal, which excludes rounding and corners as causes."""
    finite = sorted(s for s in slopes if np.isfinite(s))
    return any(b - a <= within for a, b in pairwise(finite))


class Perturbed:
    """The output as a function `out` of the input `name`, which is perturbed.

    If `symmetric`, perturbations are symmetric matrices; `within` projects a direction onto the
    allowed ones. `work` is the number of elements that are computed for one value, in so many
    `operations`.
    """

    def __init__(
        self,
        name: str,
        out: Callable[[Any], Any],
        value: Any,
        seed: Any,
        gradient: Any,
        symmetric: bool,
        within: Callable,
        work: int,
        operations: int = 1,
    ):
        self.name, self.out, self.value, self.seed = name, out, value, seed
        self.gradient, self.symmetric, self.within = gradient, symmetric, within
        self.work, self.operations = work, operations
        self.here = out(value)
        self.sampled = ""  # how it was perturbed, if not every element on its own

    def compared(self, label: Callable[[int], str]) -> Iterator[Compared]:
        """The results for all directions; `label` returns the name of an element."""
        size, shape = self.value.size, self.value.shape
        if self._is_quick(size):
            for k in range(size):
                direction = np.zeros(size)
                direction[k] = 1.0
                direction = self.within(direction.reshape(shape))
                if np.any(direction):
                    yield Compared(label(k), *compare(*self._line(direction)))
        elif self.work > LONG:
            yield Compared(self.name, *self._at_once())
        else:
            self.sampled = f"along {DIRECTIONS} random directions"
            rng = Numbers(3)
            for k in range(DIRECTIONS):
                direction = self.within(rng.normal(size=shape) / np.sqrt(size))
                place = f"{self.name} along random direction {k + 1}"
                yield Compared(place, *compare(*self._line(direction)))

    def _is_quick(self, size: int) -> bool:
        """Whether each of so many elements is perturbed on its own."""
        few = size <= DIRECTIONS or size * self.operations <= EVERY_OPERATION
        return size <= EVERY_ELEMENT and few

    def _at_once(self) -> tuple[str, float]:
        """The result for all elements along one direction; for a sample if that is unclear."""
        size, shape = self.value.size, self.value.shape
        self.sampled = "along one random direction"
        signs = Numbers(3).signs(shape)
        line, expected = self._line(self.within(signs * size**-0.25))
        with np.errstate(all="ignore"):
            coarse, fine, slope = line.slopes(STEP)
        error, doubt = abs(slope - expected), abs(fine - coarse)
        outcome = SAME if error <= TOLERANCE * max(1.0, abs(expected)) else OTHER
        if outcome == SAME or (self.work <= MUCH and 10 * max(doubt, self._kink(line)) < error):
            return outcome, error / max(1.0, abs(expected))
        if self.work > MUCH:
            return UNCLEAR, error
        self.sampled = f"at {SAMPLE} of its {size:,} elements"
        few = np.zeros(size)
        few[(Numbers(5).uniform(0, 1, (SAMPLE,)) * size).astype(int)] = 1.0
        return compare(*self._line(self.within(few.reshape(shape) * signs)))

    @staticmethod
    def _kink(line: Line) -> float:
        """The difference of the one-sided slopes that is not due to curvature."""
        with np.errstate(all="ignore"):
            wide, narrow = (r - s for r, s in map(line.sides, (STEP, STEP / 2)))
        return abs(2 * narrow - wide)

    def _line(self, direction: Any) -> tuple[Line, float]:
        """The line along a direction, and its slope according to the gradient."""
        if self.symmetric:
            direction = (direction + np.swapaxes(direction, -1, -2)) / 2
        nonzero = direction != 0
        largest = float(np.max(np.abs(self.value), where=nonzero, initial=0.0))
        expected = float(np.sum(self.gradient[nonzero] * direction[nonzero]))

        def at(distance: float) -> Any:
            result = if_applicable(lambda: self.out(self.value + distance * direction))
            singular = result is None  # a matrix has no inverse there
            return np.full_like(self.here, np.nan, dtype=float) if singular else result

        return Line(at, self.here, self.seed, max(1.0, largest)), expected


# ---- symmetric inputs ----------------------------------------------------------------------------

MOST = 1 << 16  # largest number of elements of a graph that is tested for symmetric inputs
PERTURBATION = 1e-9  # relative perturbation of the inputs
# largest relative change of a well-conditioned gradient; rounding is a millionth of PERTURBATION
CHANGE = 1e-4


def symmetric_inputs(out: Node) -> set[Node]:
    """The inputs that must be symmetric because an operation reads one triangle of a matrix and has
    the gradient for symmetric matrices: A in `cholesky(A + eye(3))`, but not x in
    `cholesky(x @ x.T)`. Determined with random values.
    """
    return {x for node in _triangular_operands(out) for x in _inputs_that_must_be_symmetric(node)}


def symmetrized(array: Any) -> Any:
    """The symmetric matrix with this lower triangle."""
    return np.tril(array) + np.swapaxes(np.tril(array, -1), -1, -2)


def is_symmetric(array: Any) -> bool:
    """Whether matrices are symmetric up to rounding."""
    return bool(np.allclose(array, np.swapaxes(array, -1, -2)))


def _triangular_operands(out: Node) -> set[Node]:
    """The nodes of which an operation reads one triangle."""
    result = set()
    for node in walk([out]):
        pairs = zip(node.op.inputs, node.inputs, strict=False) if node.op.symmetric else ()
        result |= {i for name, i in pairs if i is not None and name in node.op.symmetric}
    return result


def _inputs_that_must_be_symmetric(node: Node) -> set[Node]:
    """The square inputs that must be symmetric so that the value of a node is symmetric."""
    below = walk([node])
    inputs = [x for x in below if x.op.name == "input"]
    square = [x for x in inputs if x.dtype == "float" and is_square(x.shape)]
    if node in square or sum(n.numel for n in below) > MOST:
        return {node} & set(square)
    draw = Numbers(0)
    base = {x: draw.uniform(0.5, 1.5, x.shape) * (x.dtype == "float") for x in inputs}
    base |= {x: symmetrized(base[x]) + x.shape[-1] * np.eye(x.shape[-1]) for x in square}
    if not _is_symmetric_at(node, base):
        return set()
    slanted = {x: base[x] + draw.uniform(0.0, 0.1, x.shape) for x in square}
    return {x for x in square if not _is_symmetric_at(node, base | {x: slanted[x]})}


def _is_symmetric_at(node: Node, values: dict[Node, Any]) -> bool:
    with np.errstate(all="ignore"):
        result = if_applicable(lambda: Evaluator(values)(node)[0])
    return result is None or is_symmetric(result)  # True if it cannot be evaluated


# ---- conditioning --------------------------------------------------------------------------------


def perturbed(values: Mapping[Node, Any], moving: Iterable[Node], draw: int = 4) -> dict[Node, Any]:
    """The values with those of `moving` inputs perturbed; `draw` is the random seed."""
    numbers = Numbers(draw)
    factors = {x: numbers.uniform(1 - PERTURBATION, 1 + PERTURBATION, x.shape) for x in moving}
    return {x: value * factors[x] if x in factors else value for x, value in values.items()}


def is_well_conditioned(here: Any, near: Any) -> bool:
    """Whether a gradient is finite, and nearly equal at two nearby points relative to its size."""
    with np.errstate(all="ignore"):
        change = np.max(np.abs(here - near), initial=0.0)
        return bool(change <= CHANGE * np.max(np.abs(here), initial=0.0) < np.inf)
