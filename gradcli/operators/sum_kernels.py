"""Sums and maxima of arrays along dimensions, faster than np.sum and np.max for short rows."""

from ..graphs.shapes import numel
from ..lazy import np

MANY = 1 << 12  # elements of an array from which these functions are faster
SHORT = 1 << 9  # elements of the longest row that a product with ones adds as accurately as np.sum
FEW = 1 << 6  # elements of the longest row whose maximum is faster in the transpose


def total(x, axis, keepdims=False):
    """np.sum along `axis`, a tuple of non-negative dimensions in order."""
    rows = _rows(x, axis, SHORT)
    if rows is None or x.dtype != np.float64:
        return np.sum(x, axis=axis, keepdims=keepdims)
    outer = x.shape[: x.ndim - len(axis)]
    shape = outer + (1,) * (len(axis) if keepdims else 0)
    return (rows @ np.ones(rows.shape[1])).reshape(shape)


def largest(x, axis):
    """np.max along `axis`, a tuple of non-negative dimensions in order, with keepdims; -inf if
    empty. Short rows are transposed, so that many are compared at a time.
    """
    rows = _rows(x, axis, FEW)
    if rows is None:
        return np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    outer = x.shape[: x.ndim - len(axis)]
    return np.max(np.ascontiguousarray(rows.T), axis=0).reshape(outer + (1,) * len(axis))


def _rows(x, axis, longest):
    """A large array as a matrix whose rows are the dimensions `axis`. None unless these are the
    last ones, contiguous, and have at most `longest` elements.
    """
    outer = np.ndim(x) - len(axis)
    if axis != tuple(range(outer, outer + len(axis))) or np.size(x) < MANY:
        return None
    count = numel(x.shape[outer:])
    return x.reshape(-1, count) if count <= longest and x.flags.c_contiguous else None
