"""Masks and whole numbers from tensors, and a tensor in the kind of another."""

from ..graphs import as_node
from .arithmetic import double, long
from .families import shorthand


@shorthand()
def bool_(input):
    """True where it is not 0; no gradient."""
    return input.ne(0)


@shorthand()
def logical_xor(input, other):
    """Where one of two is not 0 and the other is; no gradient."""
    return input.ne(0).ne(other.ne(0))


@shorthand()
def type_as(input, other):
    """input in the kind of other: as floats, whole numbers or a mask."""
    kinds = {"float": double, "int": long, "bool": bool_}
    return input if input.dtype == other.dtype else kinds[other.dtype](input)


# ---- where numbers stand among others ------------------------------------------------------------


@shorthand()
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether it is one of the others; no gradient."""
    others = as_node(test_elements)
    same = as_node(elements).unsqueeze(dim=-1).eq(others.reshape(shape=(others.numel,)))
    found = same.sum(dim=-1) > 0
    return found.logical_not() if invert else found


@shorthand()
def bucketize(input, boundaries, *, right=False, out_int32=False):
    """How many of the boundaries are below it, or not above it, if right; no gradient."""
    x = as_node(input).unsqueeze(dim=-1)
    return (x >= boundaries if right else x > boundaries).sum(dim=-1)


@shorthand()
def searchsorted(sorted_sequence, input, *, right=False, side=None, out_int32=False):
    """How many of a sorted sequence, row by row, are below each number; no gradient."""
    rows = sorted_sequence if sorted_sequence.ndim == 1 else sorted_sequence.unsqueeze(dim=-2)
    return bucketize(input, rows, right=right or side == "right")
