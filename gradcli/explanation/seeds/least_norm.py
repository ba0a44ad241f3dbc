"""Linear equations g·J = t: the solution of least norm, the null space, and, if there is no
solution, the conditions on t that are violated. Arrays in, arrays out.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm
from typing import Any

from ...lazy import np, scipy_linalg
from ...limits import Limits

AGREE = 1e-9  # relative tolerance for equality
TINY = 1e-10  # numbers below this count as 0, relative to numbers of size 1
ROUNDING = 1e-14  # relative rounding error
REFINEMENTS = 4  # steps of iterative refinement
LARGEST_DENOMINATOR = 1000
PER_SECOND = 4e8  # rows * columns * min(rows, columns) of a block, on a slow core
EXACT = 10_000  # entries up to which fractions are verified in exact arithmetic


Block = tuple[Any, Any]  # the indices of its rows and of its columns


class Equations:
    """The equations g·J = target, one for each column of J.

    Columns are divided by their largest number before anything is compared with 0, so that the
    scale of an equation does not matter. `spread` is the smallest singular value that counts as
    nonzero, relative to the largest. Raises GradcliError ("limit") before anything is solved if
    that would exceed `limits`.
    """

    def __init__(self, J: Any, target: Any, limits: Limits | None = None):
        self.J, self.target, self.blocks = J, target, blocks(J)
        if limits is not None:
            seconds = ceil(sum(map(_operations, self.blocks)) / PER_SECOND)
            limits.check("seconds", seconds, f"solving {J.shape[1]:,} equations")
        sizes = np.max(np.abs(J), axis=0, initial=0.0)
        self.sizes = np.where(sizes > 0, sizes, 1.0)
        self.scaled = J / self.sizes
        self._first, self.ranks, self.spread = self._solved(self.scaled, target / self.sizes)
        self.rank = sum(self.ranks)

    def _solved(self, J: Any, target: Any) -> tuple[Any, list[int], float]:
        """The least-squares solution of least norm, the rank of each block, and the ratio of the
        smallest nonzero singular value to the largest.
        """
        g, ranks, extremes = np.zeros(len(J)), [], []
        for rows, columns in self.blocks:
            g[rows], rank, values = _solved(J[np.ix_(rows, columns)], target[columns])
            ranks.append(rank)
            extremes += [values[0], values[rank - 1]] if rank else []
        return g, ranks, float(min(extremes) / max(extremes)) if extremes else 1.0

    # ---- the shortest solution -------------------------------------------------------------------

    @cached_property
    def g(self) -> Any:
        """The least-squares solution of least norm."""
        if self.exact is not None:
            return np.array([float(f) for f in self.exact])
        return self._g

    @cached_property
    def _g(self) -> Any:
        g = self._refined() if self.solvable else self._solved(self.J, self.target)[0]
        if np.all(np.abs(g @ self.J) <= ROUNDING * np.max(np.abs(self.target), initial=0.0)):
            return np.zeros_like(g)
        parts = np.abs(g)[:, None] * np.abs(self.J)
        idle = np.all(parts <= ROUNDING * np.sum(parts, axis=0), axis=1)
        return np.where(idle, 0.0, g)

    def _refined(self) -> Any:
        g = self._first
        for _ in range(REFINEMENTS):
            left = self.target - g @ self.J
            if np.all(np.abs(left) <= ROUNDING * (np.abs(g) @ np.abs(self.J))):
                break
            g = g + self._solved(self.scaled, left / self.sizes)[0]
        return g

    @cached_property
    def exact(self) -> list[Fraction] | None:
        """g in small fractions, if they solve the normal equations J (g·J - target) = 0 exactly."""
        J, target, g = self.J, self.target, self._g
        if J.size > EXACT or not (_whole(J) and _whole(target)):
            return None
        result = [Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in g]
        if not np.allclose([float(f) for f in result], g, rtol=AGREE, atol=AGREE):
            return None
        rows = [[int(v) for v in row] for row in J]
        off = [
            sum(f * row[k] for f, row in zip(result, rows) if row[k]) - int(t)
            for k, t in enumerate(target)
        ]
        proved = all(sum(v * o for v, o in zip(row, off)) == 0 for row in rows)
        return result if proved else None

    # ---- null spaces: what may be added to g, and why there may be no g --------------------------

    @cached_property
    def free(self) -> "Dependence":
        """The vectors n with n·J = 0."""
        return self._dependence(self.scaled, self.blocks)

    @cached_property
    def ties(self) -> "Dependence":
        """The vectors n with J·n = 0, so that g·J·n = 0 for every g. See `tie`."""
        return self._dependence(self.scaled.T, [(c, r) for r, c in self.blocks])

    def _dependence(self, J: Any, blocks: Sequence[Block]) -> "Dependence":
        parts = [
            (rows, Dependence(J[np.ix_(rows, columns)], rank))
            for (rows, columns), rank in zip(blocks, self.ranks, strict=True)
        ]
        return parts[0][1] if len(parts) == 1 else joined(len(J), parts)

    def tie(self, k: int) -> Any:
        """The k-th vector of `ties`, in the units of the target."""
        return in_proportion(self.ties.vector(k) / self.sizes)

    @cached_property
    def broken(self) -> Any:
        """The indices of ties that the target violates, the shortest first; empty if solvable."""
        places = np.flatnonzero(self.ties.excess(self.target / self.sizes))
        return places[np.argsort(self.ties.lengths()[places], kind="stable")]

    @property
    def solvable(self) -> bool:
        """Whether there is a g with g·J = target."""
        return not len(self.broken)


def _solved(J: Any, target: Any) -> tuple[Any, int, Any]:
    """The least-squares solution of least norm, the rank, and the singular values."""
    if not J.size:
        return np.zeros(len(J)), 0, ()
    g, _, rank, values = np.linalg.lstsq(J.T, target, rcond=None)
    return g, int(rank), values


def _operations(block: Block) -> int:
    """The number of operations for solving one block."""
    rows, columns = map(len, block)
    return rows * columns * min(rows, columns)


def blocks(J: Any) -> list[Block]:
    """The smallest blocks of rows and columns outside of which all entries are 0: each is an
    independent system of equations.
    """
    nonzero = J != 0
    result, row_left, column_left = [], np.ones(len(J), bool), np.ones(J.shape[1], bool)
    for row in range(len(J)):
        if not row_left[row] or not nonzero[row].any():
            continue
        rows, columns = _reached(nonzero, row)
        row_left[rows], column_left[columns] = False, False
        result.append((rows, columns))
    left = np.flatnonzero(row_left), np.flatnonzero(column_left)
    return [*result, left] if len(left[0]) or len(left[1]) or not result else result


def _reached(nonzero: Any, row: int) -> Block:
    """The rows and columns that nonzero entries connect with a row."""
    rows, columns = np.zeros(len(nonzero), bool), np.zeros(nonzero.shape[1], bool)
    rows[row], latest = True, np.array([row])
    while len(latest):
        met = nonzero[latest].any(axis=0) & ~columns
        columns |= met
        further = nonzero[:, np.flatnonzero(met)].any(axis=1) & ~rows
        rows |= further
        latest = np.flatnonzero(further)
    return np.flatnonzero(rows), np.flatnonzero(columns)


def _whole(array: Any) -> bool:
    return bool(np.all(np.abs(array) < 2**40) and np.all(array == np.rint(array)))


class Dependence:
    """The dependence of the other rows of J on `rank` independent ones.

    Row others[k] is the sum of parts[:, k] times the rows at `independent`.
    """

    def __init__(self, J: Any, rank: int):
        self.rows = len(J)
        if rank in (0, self.rows):
            order, upper = np.arange(self.rows), np.eye(rank, self.rows)
        else:
            upper, order = scipy_linalg.qr(J.T, mode="r", pivoting=True)
        self.independent = order[:rank]
        last = np.argsort(order[rank:])
        self.others = order[rank:][last]
        right = upper[:rank, rank:][:, last]
        parts = scipy_linalg.solve_triangular(upper[:rank, :rank], right) if rank else right
        self.parts = np.where(np.abs(parts) < TINY, 0.0, parts)

    def __len__(self) -> int:
        """The number of dependent rows."""
        return len(self.others)

    def vector(self, k: int) -> Any:
        """The vector n with n·J = 0 that has a 1 for the k-th dependent row, and otherwise only
        independent ones.
        """
        out = np.zeros(self.rows)
        out[self.independent], out[self.others[k]] = -self.parts[:, k], 1.0
        return out

    def lengths(self) -> Any:
        """The number of nonzero elements of each vector."""
        return 1 + np.count_nonzero(self.parts, axis=0)

    def excess(self, target: Any) -> Any:
        """Each vector times `target`, in which rounding errors are set to 0."""
        at, of = target[self.independent], target[self.others]
        off = of - self.parts.T @ at
        sizes = np.abs(of) + np.abs(self.parts).T @ np.abs(at)
        return np.where(np.abs(off) > AGREE * sizes, off, 0.0)


def joined(rows: int, parts: Sequence[tuple[Any, Dependence]]) -> Dependence:
    """The dependence of all rows, from that of disjoint sets of rows."""
    result = Dependence(np.zeros((rows, 0)), 0)
    result.independent = np.concatenate([at[d.independent] for at, d in parts])
    result.others = np.concatenate([at[d.others] for at, d in parts])
    result.parts = np.zeros((len(result.independent), len(result.others)))
    i = k = 0
    for _, d in parts:
        high, wide = d.parts.shape
        result.parts[i : i + high, k : k + wide] = d.parts
        i, k = i + high, k + wide
    order = np.argsort(result.others)
    result.others, result.parts = result.others[order], result.parts[:, order]
    return result


def in_proportion(row: Any) -> Any:
    """A multiple of a vector with small integers if possible, otherwise with smallest element 1, or
    largest if these are far apart; its first nonzero element is positive.
    """
    first, sizes = row[np.flatnonzero(row)[0]], np.abs(row[row != 0])
    row, smallest, largest = row * np.sign(first), np.min(sizes), np.max(sizes)
    if largest > LARGEST_DENOMINATOR * smallest:
        return row / largest
    for unit in (largest, smallest):
        parts = [Fraction(float(v / unit)).limit_denominator(LARGEST_DENOMINATOR) for v in row]
        if np.allclose([float(f) for f in parts], row / unit, rtol=AGREE, atol=AGREE * 1e-3):
            scale = lcm(*(f.denominator for f in parts))
            whole = [int(f * scale) for f in parts]
            if scale <= LARGEST_DENOMINATOR:
                return np.array(whole, float) / np.gcd.reduce(whole)
    return row / smallest
