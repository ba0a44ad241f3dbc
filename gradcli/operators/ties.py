"""Masks of values of matrix decompositions that are equal, or 0, up to rounding errors."""

from .arithmetic import abs
from .floats import rounding_unit
from .joining import cat


def equal_to_neighbour(equal, dim):
    """The mask of values along dim that equal a neighbour; `equal` is the mask of equal pairs."""
    end = equal[(*(slice(None),) * dim, slice(1))]
    none = end & ~end
    return cat([none, equal], dim=dim) | cat([equal, none], dim=dim)


def nearly_equal(values, size):
    """The mask of values, sorted along the last dimension, that are nearly equal to a neighbour."""
    if values.shape[-1] < 2:
        return values < values
    gaps = abs(values[..., 1:] - values[..., :-1])
    return equal_to_neighbour(gaps <= _rounding(values, size), values.ndim - 1)


def nearly_zero(values, size):
    """The mask of values that are nearly 0."""
    return abs(values) <= _rounding(values, size) if values.numel else values < values


def _rounding(values, size):
    """The rounding error of singular values or eigenvalues of a matrix of this size."""
    return abs(values).amax(dim=-1, keepdim=True) * (rounding_unit(values) * max(size))
