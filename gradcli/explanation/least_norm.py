"""Linear equations g·J = t with several solutions, or none: the shortest g, what may be added to
it, and what stands in the way. Arrays in, arrays out.
"""

from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

from ..lazy import np, scipy_linalg

AGREE = 1e-9  # relative to the larger of 1 and the target: what counts as equal
TINY = 1e-10  # what counts as 0 beside numbers of size 1
ROUNDING = 1e-14  # of the largest number: what is nothing but rounding
LARGEST_DENOMINATOR = 1000
EXACT = 10_000  # entries up to which fractions are proved by exact arithmetic


class Solution(NamedTuple):
    """The shortest g for which g·J is nearest to the target; the rank of J. `exact` has the numbers
    as fractions, where those are proved.
    """

    g: Any
    rank: int
    exact: list[Fraction] | None


def nearest(J: Any, target: Any) -> Solution:
    """The shortest g for which the sum of squares of g·J - target is smallest."""
    if not J.size:
        return Solution(np.zeros(len(J)), 0, None)
    g, _, rank, _ = np.linalg.lstsq(J.T, target, rcond=None)
    g = np.where(np.abs(g) < ROUNDING * np.max(np.abs(g)), 0.0, g)
    exact = _as_fractions(g, J, target)
    if exact is not None:
        g = np.array([float(f) for f in exact])
    return Solution(g, int(rank), exact)


def _as_fractions(g: Any, J: Any, target: Any) -> list[Fraction] | None:
    """g in small fractions, if those solve the normal equations J (g·J - target) = 0 exactly."""
    if J.size > EXACT or not (_whole(J) and _whole(target)):
        return None
    found = [Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in g]
    if not np.allclose([float(f) for f in found], g, rtol=AGREE, atol=AGREE):
        return None
    rows = [[int(v) for v in row] for row in J]
    off = [
        sum(f * row[k] for f, row in zip(found, rows) if row[k]) - int(t)
        for k, t in enumerate(target)
    ]
    proved = all(sum(v * o for v, o in zip(row, off)) == 0 for row in rows)
    return found if proved else None


def _whole(array: Any) -> bool:
    return bool(np.all(np.abs(array) < 2**40) and np.all(array == np.rint(array)))


class Dependence:
    """How the rows of J that are not among `rank` independent ones are made of these.

    Row others[k] is the sum of parts[:, k] times the rows at `independent`.
    """

    def __init__(self, J: Any, rank: int):
        self.rows = len(J)
        if not rank:
            order, upper = np.arange(self.rows), np.zeros((0, self.rows))
        else:
            upper, order = scipy_linalg.qr(J.T, mode="r", pivoting=True)
        self.independent = order[:rank]
        last = np.argsort(order[rank:])
        self.others = order[rank:][last]
        right = upper[:rank, rank:][:, last]
        parts = scipy_linalg.solve_triangular(upper[:rank, :rank], right) if rank else right
        self.parts = np.where(np.abs(parts) < TINY, 0.0, parts)

    def __len__(self) -> int:
        """How many rows follow from others."""
        return len(self.others)

    def vector(self, k: int) -> Any:
        """A vector n with n·J = 0 that has the k-th of them; most of it is 0."""
        out = np.zeros(self.rows)
        out[self.independent], out[self.others[k]] = -self.parts[:, k], 1.0
        return in_proportion(out)

    def lengths(self) -> Any:
        """How many numbers of each vector are not 0."""
        return 1 + np.count_nonzero(self.parts, axis=0)

    def excess(self, target: Any) -> Any:
        """Each vector times a column for which all of them should give 0; 0 where that is so but
        for rounding.
        """
        made, sizes = (part @ part_of for part, part_of in self._both(target))
        off = target[self.others] - made
        return np.where(np.abs(off) > AGREE * (np.abs(target[self.others]) + sizes), off, 0.0)

    def _both(self, target: Any) -> Any:
        at = target[self.independent]
        return (self.parts.T, at), (np.abs(self.parts).T, np.abs(at))


def in_proportion(row: Any) -> Any:
    """A vector in whole numbers where these are small; its first number is above 0."""
    row = row * np.sign(row[np.flatnonzero(row)[0]])
    parts = [Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in row]
    if not np.allclose([float(f) for f in parts], row, rtol=AGREE, atol=AGREE * 1e-3):
        return row
    scale = lcm(*(f.denominator for f in parts))
    whole = np.array([float(f * scale) for f in parts])
    return whole / np.gcd.reduce(whole.astype(int)) if scale <= LARGEST_DENOMINATOR else row
