"""Patterns of nonzero entries: names, checks against values, and pictures."""

from math import gcd
from typing import Any

from ...lazy import np

EMPTY, SOME, FULL = range(3)  # shades of a picture
TRANSPOSED = "transposed selection"  # a 1 in each column, and at most one in a row
WEIGHTED = "generalized permutation"  # one entry of any value in each row and column
KRONECKER, PERMUTED_KRONECKER = "kronecker", "permuted kronecker"  # the second has permuted rows
KRONECKERS = (KRONECKER, PERMUTED_KRONECKER)
SKEW = "skew-symmetric"  # for example that of cross(a, b)
CYCLIC = "cyclically banded"  # for example x - x.roll(1): a band that wraps around
BLOCKS, PERMUTED_BLOCKS = "block-diagonal", "permuted block-diagonal"
SELECTIONS = ("identity", "permutation", "selection", TRANSPOSED)
# at most one entry in each row
ONE_A_ROW = ("identity", "scaled identity", "diagonal", "permutation", "selection", WEIGHTED)
LEAST_BAND = 3  # rows and columns of the smallest matrix that is called banded
LEAST_CYCLIC = 4  # rows and columns of the smallest matrix that is called cyclically banded


def by_pattern(pattern: Any, units: bool) -> str:
    """The name of a pattern; `units`: all entries are 1."""
    rows, columns = pattern.shape
    square = rows == columns
    if not pattern.any():
        return "zero"
    if rows == 1:
        return "row"
    once = (pattern.sum(1) == 1).all()
    if square and not pattern[~np.eye(rows, dtype=bool)].any():
        return "identity" if units and once else "diagonal"
    if units and once:
        return "permutation" if square and (pattern.sum(0) == 1).all() else "selection"
    if units and (pattern.sum(0) == 1).all() and (pattern.sum(1) <= 1).all():
        return TRANSPOSED
    if _has_blocks(pattern):
        return BLOCKS
    if is_banded(pattern):
        return "banded"
    if square and not np.triu(pattern, 1).any():
        return "lower-triangular"
    if square and not np.tril(pattern, -1).any():
        return "upper-triangular"
    if is_cyclic(pattern):
        return CYCLIC
    return WEIGHTED if square and once and (pattern.sum(0) == 1).all() else "dense"


def _has_blocks(pattern: Any) -> bool:
    """Whether all entries are in diagonal blocks of equal size."""
    rows, columns = pattern.shape
    row, column = np.nonzero(pattern)
    counts = (k for k in range(2, gcd(rows, columns) + 1) if rows % k == columns % k == 0)
    return any((row // (rows // k) == column // (columns // k)).all() for k in counts)


def is_banded(pattern: Any) -> bool:
    """Whether all entries are on a few adjacent diagonals. These diagonals, or those on the wider
    side including the main one, are at most half of the rows and columns.
    """
    least = min(pattern.shape)
    if least < LEAST_BAND:
        return False
    rows, columns = np.nonzero(pattern)
    offsets = columns - rows
    first, last = int(offsets.min()), int(offsets.max())
    return 2 * (max(last, -first) + 1) <= least or 2 * (last - first + 1) <= least + 1


def is_cyclic(pattern: Any) -> bool:
    """Whether the entries of a square matrix fill a cyclic band about its main diagonal: diagonals
    wrap around and have n entries each. If their distances share a divisor with n, the matrix is a
    permuted block-diagonal one instead.
    """
    if not _is_narrow_cyclic(pattern):
        return False
    n, diagonals = len(pattern), _cyclic_diagonals(pattern)
    if gcd(n, *diagonals.tolist()) != 1:
        return False
    farthest = int(np.minimum(diagonals, n - diagonals).max())
    return len(diagonals) > farthest and np.count_nonzero(pattern) == n * len(diagonals)


def _is_narrow_cyclic(pattern: Any) -> bool:
    """Whether the entries of a square matrix are on at most half of its cyclic diagonals."""
    n, columns = pattern.shape
    return n == columns and n >= LEAST_CYCLIC and 2 * len(_cyclic_diagonals(pattern)) <= n


def _cyclic_diagonals(pattern: Any) -> Any:
    """The cyclic diagonals (column - row modulo n) of a square matrix that have entries."""
    row, column = np.nonzero(pattern)
    return np.unique((column - row) % len(pattern))


def _may_be_banded(pattern: Any) -> bool:
    """Whether a third of the diagonals are outside of the band, or more."""
    rows, columns = np.nonzero(pattern)
    width, diagonals = int(np.ptp(columns - rows)) + 1, sum(pattern.shape) - 1
    return min(pattern.shape) >= LEAST_BAND and 3 * width <= 2 * diagonals


def is_confirmed(name: str, matrix: Any) -> bool:
    """Whether the values of a matrix agree with the name of its structure. KeyError for a name that
    CONFIRMED_BY lacks.
    """
    return bool(CONFIRMED_BY[name](matrix))


def _is_diagonal(matrix: Any) -> bool:
    rows, columns = matrix.shape
    return rows == columns and not matrix[~np.eye(rows, dtype=bool)].any()


def _is_selection(matrix: Any) -> bool:
    """Whether each row has a single entry, which is 1."""
    return bool(np.isin(matrix, (0, 1)).all() and (matrix.sum(1) == 1).all())


def _is_generalized_permutation(matrix: Any) -> bool:
    nonzero, (rows, columns) = matrix != 0, matrix.shape
    return rows == columns and bool((nonzero.sum(0) <= 1).all() and (nonzero.sum(1) <= 1).all())


def _is_permuted_kronecker(matrix: Any) -> bool:
    rows, columns = matrix.shape
    permuted = (matrix.reshape(k, -1, columns).swapaxes(0, 1) for k in _divisors(rows))
    return any(_is_kronecker(t.reshape(rows, columns)) for t in permuted)


def _is_kronecker(matrix: Any) -> bool:
    """Whether a matrix is kron(a, b) for an a and b of more than one element: rearranged, with a
    row for each element of a, it has rank 1 (Van Loan and Pitsianis 1993).
    """
    rows, columns = matrix.shape
    for m in _divisors(rows):
        for n in _divisors(columns):
            blocks = matrix.reshape(m, rows // m, n, columns // n)
            if 1 < m * n < matrix.size and _has_rank_one(
                blocks.swapaxes(1, 2).reshape(m * n, matrix.size // (m * n))
            ):
                return True
    return False


def _has_rank_one(matrix: Any) -> bool:
    """Whether each row is a multiple of the one with the largest element; True for zeros."""
    row, column = np.unravel_index(np.argmax(np.abs(matrix)), matrix.shape)
    largest = matrix[row, column]
    built = np.outer(matrix[:, column], matrix[row] / (largest or 1))
    return bool(np.abs(built - matrix).max() <= 1e-7 * abs(largest))


def _divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


CONFIRMED_BY = {  # for every name of a structure, the test of its values
    **dict.fromkeys(("row", "dense", "low-rank update", PERMUTED_BLOCKS), lambda x: True),
    "zero": lambda x: not x.any(),
    "identity": lambda x: _is_diagonal(x) and np.allclose(np.diag(x), 1),
    "scaled identity": lambda a: _is_diagonal(a) and np.allclose(np.diag(a), a[0, 0]),
    "diagonal": _is_diagonal,
    "permutation": lambda x: _is_selection(x) and (x.sum(0) == 1).all(),
    "selection": _is_selection,
    TRANSPOSED: lambda x: _is_selection(x.T),
    WEIGHTED: _is_generalized_permutation,
    "banded": lambda x: not x.any() or _may_be_banded(x),
    CYCLIC: lambda x: not x.any() or _is_narrow_cyclic(x),  # zeros may leave gaps in the triangle
    BLOCKS: lambda x: not x.any() or _has_blocks(x != 0),
    "lower-triangular": lambda x: not np.triu(x, 1).any(),
    "upper-triangular": lambda x: not np.tril(x, -1).any(),
    KRONECKER: _is_kronecker,
    PERMUTED_KRONECKER: _is_permuted_kronecker,
    SKEW: lambda x: x.shape[0] == x.shape[1] and np.allclose(x, -x.T, equal_nan=True),
    "symmetric low-rank update": lambda x: np.allclose(x, x.T, equal_nan=True),
}


def picture(pattern: Any, size: int) -> tuple[tuple[int, ...], ...]:
    """The pattern in cells of size × size entries: EMPTY if all entries of a cell are 0, FULL if
    none is, otherwise SOME.
    """
    starts = [np.arange(0, n, size) for n in pattern.shape]
    counts = np.add.reduceat(np.add.reduceat(pattern.astype(int), starts[0], 0), starts[1], 1)
    ends = zip(starts, pattern.shape, strict=True)
    areas = np.outer(*(np.diff(at, append=n) for at, n in ends))
    shades = np.where(counts == 0, EMPTY, np.where(counts == areas, FULL, SOME))
    return tuple(tuple(map(int, row)) for row in shades)
