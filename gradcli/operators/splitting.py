"""Tensors split into parts."""

from itertools import accumulate, pairwise

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes
from .families import exactly_one, is_integer, require, shorthand
from .leaves import Array

MOST_PARTS = 10_000  # largest number of parts that a call may return
PARTS = "indices or sections"


@shorthand("unsafe_split")
def split(tensor, split_size_or_sections=None, dim=0, *, split_size=None):
    """Parts of one size, or of the sizes listed, along dim."""
    size = exactly_one("x.split(2)", "split_size", split_size_or_sections, split_size)
    return Outputs(_parts_of(as_node(tensor), size, dim))


@shorthand("unsafe_split_with_sizes")
def split_with_sizes(input, split_sizes, dim=0):
    """Parts of the sizes listed, along dim."""
    return split(input, split_sizes, dim)


def _parts_of(tensor, split_size, dim):
    """The parts of split(); for a single `split_size`, a dimension of size 0 has one part."""
    axis = shapes.axis(dim, tensor.ndim)
    size = tensor.shape[axis]
    if isinstance(split_size, int):
        if split_size < min(1, size):
            raise GradcliError("arguments", f"split() needs parts of at least 1, got {split_size}")
        step = max(1, split_size)
        _check_parts(-(-size // step))
        split_size = [min(step, size - k) for k in range(0, size, step)] or [0]  # one part if empty
    elif min(split_size, default=0) < 0:
        raise GradcliError("arguments", f"split() has no parts below 0, got {list(split_size)}")
    elif sum(split_size) != size:
        raise GradcliError(
            "shape",
            f"split() into {list(split_size)} needs size {sum(split_size)} along dimension {dim}, "
            f"got {size}",
        )
    return _parts_between(tensor, [0, *accumulate(split_size)], axis)


def _parts_between(tensor, bounds, axis):
    """The slices [a:b] along an axis, for consecutive positions a and b in `bounds`."""
    leading = (slice(None),) * axis
    return [tensor[(*leading, slice(a, b))] for a, b in pairwise(bounds)]


def _check_parts(count):
    if count > MOST_PARTS:
        raise GradcliError("limit", f"{count:,} parts, but at most {MOST_PARTS:,} are allowed")


@shorthand("unsafe_chunk")
def chunk(input, chunks, dim=0):
    """At most `chunks` parts of equal size along dim; the last may be smaller."""
    require(is_integer(chunks) and chunks > 0, f"chunks must be at least 1, got {chunks!r}")
    size = input.shape[shapes.axis(dim, input.ndim)]
    if not size:
        _check_parts(chunks)
        return split(input, [0] * chunks, dim)
    return split(input, -(-size // chunks), dim)


@shorthand()
def unbind(input, dim=0):
    """The slices along dim."""
    axis = shapes.axis(dim, input.ndim)
    if not input.ndim:
        raise GradcliError("shape", "unbind() needs at least one dimension")
    _check_parts(input.shape[axis])
    leading = (slice(None),) * axis
    return Outputs(input[(*leading, k)] for k in range(input.shape[axis]))


@shorthand(concrete=("indices_or_sections", "indices"))
def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """A number of parts of nearly equal size along dim, or parts that end at the indices listed."""
    parts = exactly_one("tensor_split(x, 2)", PARTS, indices_or_sections, indices, sections)
    return _tensor_split_along(input, parts, shapes.axis(dim, input.ndim), "tensor_split")


def _tensor_split_along(input, parts, axis, name):
    """As tensor_split, along an axis; `name` is the name of the function in messages."""
    if not input.ndim:
        raise GradcliError("shape", f"{name}() needs at least one dimension")
    size = input.shape[axis]
    if isinstance(parts, Array):
        parts = tuple(parts.value.tolist())
    if isinstance(parts, tuple):
        _check_parts(len(parts))
        return Outputs(_parts_between(input, [0, *parts, size], axis))
    if not isinstance(parts, int) or parts < 1:
        raise GradcliError("arguments", f"{name}() needs at least 1 part, got {parts}")
    _check_parts(parts)
    bounds = [k * (size // parts) + min(k, size % parts) for k in range(parts + 1)]
    return Outputs(_parts_between(input, bounds, axis))


def _split_equally(input, parts, axis, min_ndim, name):
    """As tensor_split, but a number of parts must divide the size. Raises GradcliError if it does
    not, or for fewer than `min_ndim` dimensions.
    """
    if input.ndim < min_ndim:
        have, plural = shapes.text(input.shape), "s" * (min_ndim > 1)
        message = f"{name}() needs at least {min_ndim} dimension{plural}, and the shape is {have}"
        raise GradcliError("shape", message)
    if isinstance(parts, int) and parts > 0 and input.shape[axis] % parts:
        size = input.shape[axis]
        raise GradcliError("shape", f"size {size} does not divide into {parts} equal parts")
    return _tensor_split_along(input, parts, axis, name)


def _as_method(function):
    """Also declare the method of a function: x.hsplit(1, 2) means hsplit(x, (1, 2))."""

    def method(input, indices_or_sections=None, *more, indices=None, sections=None):
        by_place = (indices_or_sections, *more) if more else indices_or_sections
        return function(input, by_place, indices=indices, sections=sections)

    method.__doc__ = function.sentence
    shorthand(f"Tensor.{function.name}", only_aliases=True)(method)
    return function


@_as_method
@shorthand()
def hsplit(input, indices_or_sections=None, *, indices=None, sections=None):
    """Parts along dimension 1; those of a vector along dimension 0."""
    parts = exactly_one("hsplit(x, 2)", PARTS, indices_or_sections, indices, sections)
    return _split_equally(input, parts, 0 if input.ndim == 1 else 1, 1, "hsplit")


@_as_method
@shorthand()
def vsplit(input, indices_or_sections=None, *, indices=None, sections=None):
    """Parts along dimension 0."""
    parts = exactly_one("vsplit(x, 2)", PARTS, indices_or_sections, indices, sections)
    return _split_equally(input, parts, 0, 2, "vsplit")


@_as_method
@shorthand()
def dsplit(input, indices_or_sections=None, *, indices=None, sections=None):
    """Parts along dimension 2."""
    parts = exactly_one("dsplit(x, 2)", PARTS, indices_or_sections, indices, sections)
    return _split_equally(input, parts, 2, 3, "dsplit")
