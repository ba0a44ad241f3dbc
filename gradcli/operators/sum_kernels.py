"""Sums and maxima of arrays along dimensions."""

from ..graphs.shapes import numel
from ..lazy import np

MANY = 1 << 12  # elements of an array whose rows are added up quicker by a product with ones
SHORT = 1 << 9  # elements of a row that a product adds up as exactly as np.sum
FEW = 1 << 6  # elements of a row that np.max compares one at a time


def total(x, axis, keepdims=False):
    """np.sum along the dimensions `axis`, counted from the front and in order."""
    rows = _rows(x, axis, SHORT)
    if rows is None or x.dtype != np.float64:
        return np.sum(x, axis=axis, keepdims=keepdims)
    outer = x.shape[: x.ndim - len(axis)]
    shape = outer + (1,) * (len(axis) if keepdims else 0)
    return (rows @ np.ones(rows.shape[1])).reshape(shape)


def largest(x, axis):
    """np.max along the dimensions `axis`, counted from the front and in order, which are kept; -inf
    of no elements. Short rows are compared in their transpose, many at a time.
    """
    rows = _rows(x, axis, FEW)
    if rows is None:
        return np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    outer = x.shape[: x.ndim - len(axis)]
    return np.max(np.ascontiguousarray(rows.T), axis=0).reshape(outer + (1,) * len(axis))


def _rows(x, axis, longest):
    """A large array as a matrix, whose rows are the last dimensions `axis`; None where these are
    not the last ones, have more elements than `longest`, or do not lie in memory one by one.
    """
    outer = np.ndim(x) - len(axis)
    if axis != tuple(range(outer, outer + len(axis))) or np.size(x) < MANY:
        return None
    count = numel(x.shape[outer:])
    return x.reshape(-1, count) if count <= longest and x.flags.c_contiguous else None
