"""Small systems of equations in single precision, in the steps of PyTorch's LAPACK: every product
and difference is rounded.
"""

from typing import Any

from ...lazy import np
from .single import KERNELS, TAKES

MOST_ROWS = 5  # of a matrix that is eliminated here


def eliminated(matrix: Any) -> tuple[Any, list[int], int]:
    """L and U in one matrix, the order of the rows, and the sign of that order."""
    lu, order, sign = np.array(matrix), list(range(len(matrix))), 1
    size = len(lu)
    for k in range(size):
        largest = k + int(np.argmax(np.abs(lu[k:, k])))
        if largest != k:
            lu[[k, largest]] = lu[[largest, k]]
            order[k], order[largest] = order[largest], order[k]
            sign = -sign
        below = lu[k + 1 :]
        last = size < MOST_ROWS and k == size - 2
        below[:, k] = below[:, k] / lu[k, k] if last else below[:, k] * (np.float32(1) / lu[k, k])
        below[:, k + 1 :] -= below[:, k : k + 1] * lu[k, k + 1 :]
    return lu, order, sign


def _less(row: Any, factors: Any, rows: Any) -> Any:
    """A row less multiples of others, which are added up first."""
    if not len(rows):
        return row
    total = factors[0] * rows[0]
    for factor, other in zip(factors[1:], rows[1:], strict=True):
        total = total + factor * other
    return row - total


def solution(matrix: Any, right: Any) -> Any:
    """x of `matrix @ x = right`; NotImplemented where the matrix is singular."""
    lu, order, _ = eliminated(matrix)
    if not np.all(np.diag(lu)):
        return NotImplemented
    x, size = np.array(right)[order], len(lu)
    for k in range(size):
        x[k] = _less(x[k], lu[k, :k], x[:k])
    step = 1 if size < 4 else -1  # in which order what is known already is added up
    for k in reversed(range(size)):
        x[k] = _less(x[k], lu[k, k + 1 :][::step], x[k + 1 :][::step])
        x[k] = x[k] * (np.float32(1) / lu[k, k])
    return x


def inverse(x: Any, *, check: bool) -> Any:
    """The solution for the columns of an identity matrix."""
    return solution(x, np.eye(len(x), dtype=np.float32))


def solve(a: Any, b: Any, *, left: bool, check: bool) -> Any:
    """The solution for a vector, or for the columns of a matrix."""
    return solution(a, b)


def det(x: Any) -> Any:
    """The product of the pivots: of the transpose, whose rows lie one after the other to LAPACK."""
    lu, _, sign = eliminated(x.T)
    product = np.float32(1)
    for pivot in np.diag(lu):
        product = product * pivot
    return product * np.float32(sign)


def _small(x: Any, b: Any = None, *, left: bool = True, **_: Any) -> bool:
    return bool(left and x.ndim == 2 and 0 < len(x) <= MOST_ROWS and np.all(np.isfinite(x)))


KERNELS |= {"inv": inverse, "solve": solve, "det": det}
TAKES |= dict.fromkeys(("inv", "solve", "det"), _small)
