"""What a formula comes to at a point, beside what the gradient comes to there."""

from typing import Any, NamedTuple

from ...errors import GradcliError
from ...graphs import Node
from ...graphs.shapes import Shape, fits
from ...language.program import Program
from ...lazy import np
from .points import Point
from .reading import built

TOLERANCE = 1e-7  # relative to the largest element
MISFITS = ("shape", "index", "singular")  # errors of a formula that can be read, and is wrong


class Trial(NamedTuple):
    """A formula at a point: its graph and its array, or the error instead of them."""

    point: Point
    right: Any
    node: Node | None
    value: Any
    error: GradcliError | None

    @property
    def comparable(self) -> bool:
        """Whether it has the gradient's shape."""
        return self.value is not None and self.shape == self.right.shape

    @property
    def agrees(self) -> bool:
        """Whether it has the gradient's shape and numbers."""
        return self.comparable and self.close()

    @property
    def broadcasts(self) -> bool:
        """Whether its numbers are right but for a shape that is not the gradient's."""
        if self.value is None or self.shape == self.right.shape:
            return False
        shapes = self.shape, self.right.shape
        return (fits(*shapes) or fits(*reversed(shapes))) and self.close()

    @property
    def shape(self) -> Shape:
        """The shape that the formula has."""
        return self.value.shape

    def close(self) -> bool:
        """Whether the numbers are the gradient's, broadcast where shapes differ."""
        return close(self.value, self.right)

    def first_wrong(self) -> tuple[int, ...] | None:
        """The place of the first element that is wrong, where the shape is right."""
        if not self.comparable:
            return None
        with np.errstate(all="ignore"):
            wrong = ~(np.abs(self.value - self.right) <= TOLERANCE * _scale(self.value, self.right))
        found = np.argwhere(wrong)
        return tuple(map(int, found[0])) if len(found) else None


def close(found: Any, right: Any) -> bool:
    """Whether two arrays are the same but for rounding."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.abs(found - right) <= TOLERANCE * _scale(found, right)))


def _scale(*arrays: Any) -> float:
    return max((float(np.max(np.abs(a), initial=0.0)) for a in arrays), default=0.0)


def tried(program: Program, name: str, point: Point) -> Trial:
    """The formula of a program, claimed to be the gradient of `name`, at a point.

    Raises GradcliError where it cannot be read.
    """
    right = point.right(name)
    node = None
    try:
        node = built(program, point.problem)
        value = np.asarray(point(node), float)
    except GradcliError as error:
        if error.code not in MISFITS:
            raise
        return Trial(point, right, node, None, error)
    return Trial(point, right, node, value, None)


def holds(program: Program, name: str, points: list[Point]) -> bool:
    """Whether a formula is right at all points."""
    try:
        return all(tried(program, name, point).agrees for point in points)
    except GradcliError:
        return False
