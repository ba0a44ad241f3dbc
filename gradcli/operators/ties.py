"""Masks of values that are equal, or 0, but for rounding: a decomposition has no exact ones."""

from .arithmetic import abs
from .floats import rounding_unit
from .joining import cat


def beside(equal, dim):
    """Which of the values along dim belong to an equal pair; `equal` tells of every pair of
    neighbours.
    """
    end = equal[(*(slice(None),) * dim, slice(1))]
    none = end & ~end
    return cat([none, equal], dim=dim) | cat([equal, none], dim=dim)


def level(values, size):
    """Which of the values of a matrix, in order along the last dimension, are equal to another."""
    if values.shape[-1] < 2:
        return values < values
    apart = abs(values[..., 1:] - values[..., :-1])
    return beside(apart <= _rounding(values, size), values.ndim - 1)


def vanishing(values, size):
    """Which of the values of a matrix are 0."""
    return abs(values) <= _rounding(values, size) if values.numel else values < values


def _rounding(values, size):
    """How far from exact the values of a matrix of this size may be."""
    return abs(values).amax(dim=-1, keepdim=True) * (rounding_unit(values) * max(size))
