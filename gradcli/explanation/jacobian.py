"""The Jacobian as rows that are computed when they are looked at."""

from collections.abc import Callable
from typing import Any

from ..graphs.shapes import Shape, numel
from ..lazy import np


class Jacobian:
    """Rows are elements of the output, columns elements of the input, both row by row of their
    tensors.

    `vjp` gives the gradient for a seed, `row` the symbolic row of an output element; without
    either, all is zero.
    """

    def __init__(
        self,
        out: Shape,
        x: Shape,
        vjp: Callable[[Any], Any] | None,
        row: Callable[[int], Any] | None,
    ):
        self.out, self.x, self._vjp, self._row = out, x, vjp, row

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return numel(self.out), numel(self.x)

    @property
    def numeric(self) -> bool:
        """Whether its entries are numbers."""
        return self._row is None

    def row(self, k: int) -> Any:
        """One row, flat: numbers, or SymPy elements."""
        if self._row is not None:
            return self._row(k)
        if self._vjp is None:
            return np.zeros(self.size[1])
        seed = np.zeros(self.size[0])
        seed[k] = 1.0
        return np.ravel(self._vjp(seed.reshape(self.out)))

    def matrix(self) -> Any:
        """All of it, (rows, columns)."""
        rows, columns = self.size
        return np.array([self.row(k) for k in range(rows)]).reshape(rows, columns)
