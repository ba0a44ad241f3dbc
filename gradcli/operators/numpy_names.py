"""What NumPy means by names that PyTorch has for something else, or has not: np.max, np.var."""

from itertools import pairwise

from ..errors import GradcliError
from ..graphs import Node, as_node
from ..graphs.shapes import axes, axis
from ..lazy import np
from .families import require, shorthand
from .leaves import arange, numbers
from .matrix import matmul
from .ordering import permute, turned
from .reductions import amax, amin, prod
from .rounding import round_
from .running import cumsum
from .selecting import copies, index_select, repeat_interleave, take
from .shaping import flatten, reshape, unflatten, unsqueeze
from .splitting import chunk, split
from .statistics import std, var


@shorthand("np.max", "np.amax", alone=True)
def largest(a, dim=None, keepdim=False):
    """Largest element along an axis."""
    return amax(a, dim=dim, keepdim=keepdim)


@shorthand("np.min", "np.amin", alone=True)
def smallest(a, dim=None, keepdim=False):
    """Smallest element along an axis."""
    return amin(a, dim=dim, keepdim=keepdim)


@shorthand("np.prod", alone=True)
def product(a, dim=None, keepdim=False):
    """Product along one axis or several."""
    node = as_node(a)
    if not isinstance(dim, tuple):
        return prod(node, dim=dim, keepdim=keepdim)
    along = axes(dim, node.ndim) if dim else ()
    if along and len(along) == node.ndim:
        return prod(node, keepdim=keepdim)
    for place in reversed(along):
        node = prod(node, dim=place, keepdim=keepdim)
    return node


@shorthand("np.arange", alone=True, of_numbers=True)
def numbers_below(start, stop=None, step=1):
    """start, start + step, ... below stop; none, where stop comes first."""
    start, stop = (0, start) if stop is None else (start, stop)
    require(all(isinstance(n, int | float) for n in (start, stop, step)), "arange() takes numbers")
    if (stop - start) * step < 0:
        stop = start
    return arange(start=start, end=stop, step=step)


@shorthand("np.var", alone=True)
def population_variance(a, dim=None, *, ddof=0, keepdim=False):
    """Variance; divided by n unless ddof says otherwise."""
    return var(a, dim=dim, correction=ddof, keepdim=keepdim)


@shorthand("np.std", alone=True)
def population_deviation(a, dim=None, *, ddof=0, keepdim=False):
    """Square root of the variance; divided by n unless ddof says otherwise."""
    return std(a, dim=dim, correction=ddof, keepdim=keepdim)


@shorthand("np.transpose", "np.permute_dims", alone=True)
def with_axes(a, axes=None):
    """Dimensions in another order; reversed, if none is given."""
    return turned(a) if axes is None else permute(a, dims=axes)


@shorthand("np.split", "np.array_split", alone=True)
def into_parts(a, parts, dim=0):
    """So many equal parts along an axis, or parts that end at the places listed."""
    if isinstance(parts, int):
        size = as_node(a).shape[dim]
        if parts < 1 or size % parts:
            raise GradcliError("shape", f"size {size} does not divide into {parts} equal parts")
        return chunk(a, parts, dim)
    ends = [0, *parts, as_node(a).shape[dim]]
    return split(a, [high - low for low, high in pairwise(ends)], dim)


@shorthand("np.dot", alone=True)
def numpy_dot(a, b):
    """Product of vectors, of matrices, or by a number."""
    a, b = as_node(a), as_node(b)
    return a * b if 0 in (a.ndim, b.ndim) else matmul(a, b)


@shorthand("np.expand_dims", alone=True)
def with_axis(a, dim):
    """A dimension of size 1 put in at an axis."""
    return unsqueeze(a, dim=dim)


@shorthand("np.cumsum", alone=True)
def running_sum(a, dim=None):
    """Running sum along an axis, or of all elements in a row."""
    node: Node = as_node(a)
    return cumsum(reshape(node, shape=(-1,)), dim=0) if dim is None else cumsum(node, dim=dim)


@shorthand("np.round", "np.around", alone=True)
def rounded(a, decimals=0):
    """The nearest number with so many decimals."""
    return round_(a, decimals=decimals)


@shorthand("np.repeat", alone=True, numbers=("repeats",), makes=copies)
def each_repeated(a, repeats, dim=None):
    """Each element, or each slice along an axis, so many times: not the repeat of PyTorch."""
    return repeat_interleave(as_node(a), repeats, dim)


@shorthand("np.take", alone=True)
def taken(a, indices, dim=None):
    """The elements, or the slices along an axis, that indices name."""
    node = as_node(a)
    index = numbers(np.array(indices)) if isinstance(indices, tuple) else as_node(indices)
    if dim is None:
        return take(node, index)
    place = axis(dim, node.ndim)
    return unflatten(index_select(node, dim=place, index=flatten(index)), place, index.shape)
