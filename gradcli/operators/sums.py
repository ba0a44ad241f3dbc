"""Sums of arrays along dimensions."""

from ..graphs.shapes import numel
from ..lazy import np

MANY = 1 << 12  # elements of an array whose rows are added up quicker by a product with ones
SHORT = 1 << 9  # elements of a row that a product adds up as exactly as np.sum


def total(x, axis, keepdims=False):
    """np.sum along the dimensions `axis`, counted from the front and in order."""
    outer = np.ndim(x) - len(axis)
    if axis == tuple(range(outer, outer + len(axis))) and np.size(x) >= MANY:
        count = numel(x.shape[outer:])
        if count <= SHORT and x.dtype == np.float64 and x.flags.c_contiguous:
            shape = x.shape[:outer] + (1,) * (len(axis) if keepdims else 0)
            return (x.reshape(-1, count) @ np.ones(count)).reshape(shape)
    return np.sum(x, axis=axis, keepdims=keepdims)
