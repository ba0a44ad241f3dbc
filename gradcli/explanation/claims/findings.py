"""Comparisons of the value of a formula with the gradient at a point."""

from typing import Any, NamedTuple

from ...backends.numeric import Evaluator
from ...errors import GradcliError, Singular
from ...graphs import Node
from ...graphs.shapes import Shape, fits
from ...language.program import Program
from ...lazy import np
from .claim import built
from .points import TOLERANCE, Point

NOISE = 1e-14  # rounding error of a gradient that is 0
ROWS = 400  # largest number of rows of a Jacobian whose diagonal is computed


class Finding(NamedTuple):
    """A formula at a point: the gradient (`right`), and the graph and the value of the formula, or
    the error that it raises. `noise` is the tolerated rounding error if the gradient is 0 by
    assumption.
    """

    point: Point
    right: Any
    node: Node | None
    value: Any
    error: GradcliError | None
    noise: float = 0.0

    @property
    def unreadable(self) -> bool:
        """Whether the formula is invalid at any shapes and values."""
        error = self.error
        return error is not None and not (error.is_misfit or isinstance(error, Singular))

    @property
    def comparable(self) -> bool:
        """Whether the formula has the gradient's shape."""
        return self.value is not None and self.shape == self.right.shape

    @property
    def agrees(self) -> bool:
        """Whether the formula has the gradient's shape and values."""
        return self.comparable and self.close()

    @property
    def is_finite(self) -> bool:
        """Whether the formula has the gradient's shape, and no nan or infinity."""
        return self.comparable and bool(np.all(np.isfinite(self.value)))

    @property
    def is_undefined(self) -> bool:
        """Whether the formula is right except for elements that are nan or infinite."""
        if not self.comparable or not np.all(np.isfinite(self.right)):
            return False
        finite = np.isfinite(self.value)
        return not finite.all() and close(
            self.value[finite], self.right[finite], self.point.tolerance
        )

    @property
    def broadcasts(self) -> bool:
        """Whether the formula equals the gradient up to broadcasting."""
        if self.value is None or self.shape == self.right.shape:
            return False
        shapes = self.shape, self.right.shape
        return (fits(*shapes) or fits(*reversed(shapes))) and self.close()

    def same_as(self, other: "Finding") -> bool:
        """Whether another formula has the same value."""
        return self.value is not None and other.value is not None and same(self.value, other.value)

    @property
    def shape(self) -> Shape:
        """The shape of the formula's value."""
        return self.value.shape

    def close(self) -> bool:
        """Whether the formula's value is close to the gradient, with broadcasting."""
        if self.noise and bool(np.all(np.abs(self.value) <= self.noise)):
            return True
        return close(self.value, self.right, self.point.tolerance)

    @property
    def gap(self) -> float:
        """The largest difference relative to the largest element; infinite if shapes differ."""
        if not self.comparable or not np.all(np.isfinite(self.value)):
            return np.inf
        largest = np.max(np.abs(self.right), initial=0.0)
        return float(np.max(np.abs(self.value - self.right), initial=0.0) / (largest or 1.0))

    def first_wrong(self) -> tuple[int, ...] | None:
        """The index of the first wrong element; None if there is none, or the shape is wrong."""
        if not self.comparable:
            return None
        result = np.argwhere(~_near(self.value, self.right, self.point.tolerance))
        return tuple(map(int, result[0])) if len(result) else None


def close(result: Any, right: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether two arrays are finite, and equal up to rounding."""
    return bool(np.all(_near(result, right, tolerance)))


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape, and equal values up to rounding."""
    return a.shape == b.shape and close(a, b)


def _near(result: Any, right: Any, tolerance: float) -> Any:
    """A mask that is true for elements that are close in both arrays, false for nan or inf."""
    with np.errstate(all="ignore"):
        sizes = np.abs(result), np.abs(right)
        largest = max(float(np.max(a, initial=0.0, where=np.isfinite(a))) for a in sizes)
        return np.abs(result - right) <= tolerance * largest


def at_point(program: Program, name: str, point: Point) -> Finding:
    """The formula of a program, claimed to be the gradient of `name`, at a point."""
    right, node = point.right(name), None
    noise = NOISE if point.vanishes(name) else 0.0
    try:
        node = built(program, point.problem, point.input_values)
        return Finding(point, right, node, np.asarray(point(node), float), None, noise)
    except GradcliError as error:
        return Finding(point, right, node, None, error)


def holds(program: Program, name: str, points: list[Point]) -> bool:
    """Whether a formula is right at all points."""
    return all(at_point(program, name, point).agrees for point in points)


def is_jacobian_diagonal(finding: Finding, name: str) -> bool:
    """Whether a claim is the diagonal of the Jacobian times the seed."""
    point, value = finding.point, finding.value
    grad, seed = point.gradient(name), point.problem.seed.node
    comparable = finding.comparable and value.shape == seed.shape
    if grad is None or not comparable or not 1 < seed.numel <= ROWS:
        return False
    values = {i.node: point(i.node) for i in point.problem.inputs.values()}
    vjp = Evaluator(values, limits=point.problem.limits).varying(grad, seed)
    hot = np.eye(seed.numel)
    diagonal = [vjp(row.reshape(seed.shape)).flat[k] for k, row in enumerate(hot)]
    return close(value, point.seed * np.reshape(diagonal, seed.shape))
