"""Elements selected by integer indices and masks."""

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes, walk
from ..graphs.arguments import REQUIRED
from ..lazy import np
from . import elements
from .arithmetic import remainder
from .comparisons import where
from .families import (
    composite,
    is_integer,
    movement,
    no_flops,
    operator,
    require,
    shorthand,
)
from .indexing import in_range
from .leaves import Array, arange, numbers, zeros
from .permuting import movedim
from .shaping import expand, flatten, reshape, unflatten


def along_dim(s, index, *_, dim, **attrs):
    """Raise GradcliError if an index is out of range for dimension `dim` of a tensor of shape s."""
    in_range(index, s[dim] if s else 1)


# ---- an index for each element -------------------------------------------------------------------


# Fields of operators with an integer tensor as the index along one dimension.
BY_INDEX = {
    "dtype": "first", "integer_inputs": ("index",), "check_indices": along_dim, "method": True,
}  # fmt: skip


def check_index(s, index, dim, name):
    """Raise GradcliError unless the shape of operator `name`'s index fits a tensor of shape s."""
    axis = shapes.axis(dim, len(s))
    if 0 in index:
        return
    if max(len(index), 1) != max(len(s), 1):
        raise GradcliError(
            "shape",
            f"{name}() needs an index with {len(s)} dimensions, as the input has, got {len(index)}",
        )
    for d, (n, k) in enumerate(zip(s, index, strict=False)):
        if d != axis and k > n:
            raise shapes.Conflict(
                f"the index of {name}() has size {k} along dimension {d}, the input only size {n}",
                k,
                n,
            )


def _gathered(s, index, *, dim):
    check_index(s, index, dim, "gather")
    return index


def _equal_sizes(s, index, *, dim):
    """Sizes that are equal in x.gather(1, labels.unsqueeze(1)), where each row has one label."""
    axis = shapes.axis(dim, len(s))
    return [*zip(s[:axis], index[:axis])] if index[axis:] == (1,) and axis else []


def flat_indices(index, shape, dim):
    """The row-major flat indices of the elements that an index of gather or scatter selects."""
    if not index.size:
        return np.zeros(0, int)
    shape, index = shape or (1,), np.atleast_1d(index)
    grid = list(np.indices(index.shape, sparse=True))
    grid[dim] = in_range(index, shape[dim])
    return np.ravel_multi_index(np.broadcast_arrays(*grid), shape).reshape(-1)


def _gather(x, index, *, dim):
    index = np.asarray(index)
    return np.reshape(x, -1)[flat_indices(index, np.shape(x), dim)].reshape(index.shape)


@operator(
    shape=_gathered,
    value=_gather,
    symbolic=lambda sp, x, index, *, dim: elements.gathered(sp, _gather, x, index, dim),
    order="x dim index * sparse_grad",
    canonical_attributes=lambda *, dim, sparse_grad=False: {"dim": dim},
    typical_equal_sizes=_equal_sizes,
    **BY_INDEX,
    examples=(
        ("x.gather(1, tensor([[0, 0], [2, 1]]))", "x=2x3"),
        ("gather(x, 0, tensor([[1, 0, 1]]))", "x=2x3"),
    ),
    index=lambda lower, i, x, index, *, dim: lower.gathered(i, x, index, dim),
    flops=no_flops,
    saved=(..., "x"),
)
def gather(g, y, x, index, *, dim):
    """The elements at the indices along dim."""
    return g.scatter_to(shape=x.shape, dim=dim, index=index), None


@shorthand()
def take_along_dim(input, indices, dim=None):
    """The elements at the indices along dim, with broadcasting; without dim, of the flattened
    tensor.
    """
    if dim is None:
        return gather(flatten(input), dim=0, index=flatten(indices))
    if input.ndim != indices.ndim:
        text = f"indices of take_along_dim() must have {input.ndim} dimensions, as input has"
        raise GradcliError("shape", f"{text}, got {indices.ndim}")
    require(indices.dtype == "int", "indices of take_along_dim() must be integers, got a mask")
    axis = shapes.axis(dim, input.ndim)
    size = input.shape[axis]
    if size:  # indices out of range wrap around, as in PyTorch
        wrapped = remainder(indices, size)
        indices = where(indices < 0, wrapped, where(indices >= size, wrapped, indices))
    common = shapes.broadcast(_without(input, axis), _without(indices, axis))
    sizes = [(*common[:axis], x.shape[axis], *common[axis + 1 :]) for x in (input, indices)]
    return gather(expand(input, shape=sizes[0]), dim=dim, index=expand(indices, shape=sizes[1]))


def _without(x, axis):
    return tuple(1 if d == axis else n for d, n in enumerate(x.shape))


# ---- an index for each slice ---------------------------------------------------------------------


def as_gather_index(index, dim, shape):
    """An index of index_select as an index of gather, for a result of this shape."""
    if not shape:
        return reshape(index, shape=())
    axis = shapes.axis(dim, len(shape))
    along = tuple(index.numel if d == axis else 1 for d in range(len(shape)))
    return expand(reshape(index, shape=along), shape=shape)


def _selected(s, index, *, dim):
    axis = shapes.axis(dim, len(s))
    if len(index) > 1 or (not s and shapes.numel(index) != 1):
        raise GradcliError(
            "shape", f"index_select() needs a vector as index, not shape {shapes.text(index)}"
        )
    return (*s[:axis], shapes.numel(index), *s[axis + 1 :]) if s else ()


def _index_select(x, index, *, dim):
    index = in_range(index, x.shape[dim] if np.ndim(x) else 1).reshape(-1)
    return np.take(x, index, axis=dim) if np.ndim(x) else x


@composite(
    shape=_selected,
    value=_index_select,
    rule=lambda g, y, x, index, *, dim: (
        zeros(size=x.shape).index_add(dim=dim, index=index, source=g),
        None,
    ),
    order="x dim index",
    **BY_INDEX,
    examples=(
        ("x.index_select(0, tensor([2, 0, 2]))", "x=3x2"),
        ("index_select(x, -1, tensor([1]))", "x=2x3"),
    ),
    exact="all",
)
def index_select(x, index, *, dim):
    """The slices at the indices along dim."""
    return gather(
        x, dim=dim, index=as_gather_index(index, dim, _selected(x.shape, index.shape, dim=dim))
    )


@shorthand(concrete=("index",))
def select(input, dim, index):
    """The slice at index along dim, without that dimension."""
    axis = shapes.axis(dim, input.ndim)
    if isinstance(index, Array) and index.value.size == 1:
        index = index.value.item()
    require(is_integer(index), f"index of select() must be an integer, got {index}")
    return input[(*(slice(None),) * axis, index)]


@shorthand("narrow_copy", concrete=("start",))
def narrow(input, dim, start, length):
    """The slice of the given length along dim, from start on."""
    axis = shapes.axis(dim, input.ndim)
    if not input.ndim:
        raise GradcliError("shape", "narrow() needs at least one dimension")
    size = input.shape[axis]
    first = start + size if start < 0 else start
    if not 0 <= first <= first + length <= size:
        raise GradcliError(
            "index", f"a dimension of size {size} has no {length} elements from index {start} on"
        )
    return input[(*(slice(None),) * axis, slice(first, first + length))]


def copies(input, repeats, dim=None, *, output_size=None):
    """The number of indices that repeat_interleave creates; 0 for a single repetition count."""
    counts = repeats.value if isinstance(repeats, Array) else np.asarray(repeats)
    return counts.sum() if counts.size > 1 else 0


@shorthand(concrete=("repeats",), allocates=copies)
def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Each element, or each slice along dim, repeated as often as `repeats` says."""
    text = "repeats of repeat_interleave() must be an integer or a tensor of integers"
    require(not isinstance(repeats, tuple), text)
    if dim is None:
        input, dim = flatten(input), 0
    axis = shapes.axis(dim, input.ndim)
    size = input.shape[axis]
    counts = repeats.value if isinstance(repeats, Array) else np.asarray(repeats)
    require(counts.ndim < 2, "repeats of repeat_interleave() must be a number or a vector")
    require(counts.dtype.kind != "b", "repeats of repeat_interleave() must be integers, got a mask")
    if counts.size not in (1, size) or (counts < 0).any():
        raise GradcliError(
            "arguments", f"repeats must be one integer or {size} of them, each at least 0"
        )
    built = int(counts.sum()) * (size if counts.size == 1 else 1)
    if output_size not in (None, built):
        raise GradcliError("arguments", f"output_size must be {built}, got {output_size}")
    if counts.size == 1 and input.ndim:
        return repeat_each(input, repeats=counts.item(), dim=axis)
    repeated = np.repeat(np.arange(size), counts)
    return index_select(input, dim=dim, index=numbers(repeated))


def _several(s, *, repeats, dim):
    return tuple(n * repeats if d == dim else n for d, n in enumerate(s))


@movement(
    lambda x, *, repeats, dim: np.repeat(x, repeats, dim),
    shape=_several,
    attributes={"repeats": REQUIRED, "dim": REQUIRED},
    spelling="{0}.repeat_interleave({repeats}, dim={dim})",
    index=lambda lower, i, x, *, repeats, dim: lower.repeat_interleaved(i, x, repeats, dim),
    torch="torch.Tensor.repeat_interleave",
    numpy="np.repeat({0}, {repeats}, {dim})",
    examples=(("x.repeat_interleave(2)", "x=2x3"), ("x.repeat_interleave(3, dim=1)", "x=2x2")),
)
def repeat_each(g, y, x, *, repeats, dim):
    """Each slice along a dimension repeated, all of them equally often."""
    grouped = (*x.shape[: dim + 1], repeats, *x.shape[dim + 1 :])
    return g.reshape(shape=grouped).sum(dim=dim + 1)


# ---- flat indices --------------------------------------------------------------------------------


def wrapped(index, size):
    """Flat indices, made non-negative. Raises GradcliError if one is out of range."""
    index = in_range(index, size, -size, f"{size} elements in a row").reshape(-1)
    return np.where(index < 0, index + size, index)


def _take(x, index, *, dim=0):
    return np.reshape(x, -1)[wrapped(index, np.size(x))].reshape(np.shape(index))


@operator(
    shape=lambda s, index: index,
    value=_take,
    symbolic=lambda sp, x, index: elements.gathered(sp, _take, x.reshape(-1), index, 0),
    dtype="first",
    integer_inputs=("index",),
    method=True,
    examples=(("x.take(tensor([0, 2, 2]))", "x=2x3"), ("take(x, tensor([[5, -2]]))", "x=2x3")),
    flops=no_flops,
    saved=(..., "x"),
    numpy="np.take",
    index=lambda lower, i, x, index: lower(_taken_in_a_row(x, index), i),
)
def take(g, y, x, index):
    """The elements at the indices into the flattened tensor."""
    return zeros(size=x.shape).put(index, g, accumulate=True), None


def _taken_in_a_row(x, index):
    row = x.reshape(shape=(x.numel,))
    return row.gather(dim=0, index=index.reshape(shape=(index.numel,))).reshape(shape=index.shape)


def check_view(size, stride, offset, limit):
    """Raise GradcliError unless a view of this size and stride stays within `limit` elements."""
    if len(size) != len(stride):
        raise GradcliError(
            "arguments", f"stride must have {len(size)} numbers, as size has, got {len(stride)}"
        )
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if min((offset, *size, *stride)) < 0 or (last >= limit and 0 not in size):
        raise GradcliError("index", f"this view reads element {last}, but the storage has {limit}")


@composite(
    dtype="first",
    method=True,
    examples=(
        ("x.as_strided((2, 2), (1, 2))", "x=2x3"),
        ("as_strided(x, (2, 2), (1, 1), 1)", "x=4"),
    ),
    saved=(),
    exact="all",
)
def as_strided(x, *, size, stride, storage_offset=0):
    """A view with these strides."""
    check_view(size, stride, storage_offset, x.numel)
    flat = as_node(storage_offset)
    for d, (n, step) in enumerate(zip(size, stride, strict=True)):
        along = reshape(arange(end=n), shape=(n, *(1,) * (len(size) - d - 1)))
        flat = flat + along * step
    return take(x, flat)


def owns_memory(x, name):
    """`x`. Raises GradcliError if x is a view, because the function `name` would index the storage
    of the tensor that x is a view of.
    """
    if any(n.op.shares_memory(n) for n in walk([x])):
        raise GradcliError(
            "unsupported",
            f"{name}() indexes the storage, but in PyTorch this tensor is a view of another",
            hint="take(x, index) selects elements of x itself",
        )
    return x


@shorthand("as_strided", only_aliases=True)
def as_strided_of_base(input, size, stride, storage_offset=None):
    """A view with these strides."""
    base = owns_memory(as_node(input), "as_strided")
    return as_strided(base, size=size, stride=stride, storage_offset=storage_offset or 0)


def _window_shape(s, *, dimension, size, step):
    axis = shapes.axis(dimension, len(s))
    have = s[axis] if s else 1
    if not 0 <= size <= have or step < 1:
        raise GradcliError(
            "arguments",
            f"unfold() needs a size up to {have} and a positive step, got {size} and {step}",
        )
    count = (have - size) // step + 1
    return (*s[:axis], count, *s[axis + 1 :], size) if s else (size,)


def _windows(x, *, dimension, size, step):
    if not np.ndim(x):
        return np.full(size, x)
    if not size:
        return np.zeros(_window_shape(x.shape, dimension=dimension, size=size, step=step), x.dtype)
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return windows[(*(slice(None),) * (dimension % x.ndim), slice(None, None, step))]


def _folded(g, y, x, *, dimension, size, step):
    if not x.ndim or not size:
        return NotImplemented
    axis, last = shapes.axis(dimension, x.ndim), x.ndim - 1
    parts = g if axis == last else movedim(g, axis, -2)
    shape = (*parts.shape[:-2], x.shape[axis])
    out = parts.overlap(shape=shape, stride=(step,), dilation=(1,))
    return out if axis == last else movedim(out, -1, axis)


@composite(
    rule=_folded,
    shape=_window_shape,
    value=_windows,
    torch="torch.Tensor.unfold",
    dtype="first",
    method=True,
    examples=(("x.unfold(0, 2, 1)", "x=4"), ("x.unfold(1, 2, 2)", "x=2x5")),
    view=True,
    saved=(),
    exact="all",
)
def unfold(x, *, dimension, size, step):
    """The windows of the given size along a dimension, `step` apart, as a new last dimension."""
    if not x.ndim:
        return expand(x, shape=(size,))
    axis = shapes.axis(dimension, x.ndim)
    count = _window_shape(x.shape, dimension=dimension, size=size, step=step)[axis]
    indices = reshape(arange(end=count) * step, shape=(count, 1)) + arange(end=size)
    parts = index_select(x, dim=axis, index=flatten(indices))
    return movedim(unflatten(parts, axis, (count, size)), axis + 1, -1)


# ---- masks ---------------------------------------------------------------------------------------


@shorthand(concrete=("mask",))
def masked_select(input, mask):
    """The elements where mask is True, as a vector."""
    if not isinstance(mask, Array) or mask.dtype != "bool":
        raise GradcliError("arguments", "masked_select() needs a mask of True and False")
    shape = shapes.broadcast(input.shape, mask.value.shape)
    expanded = input if input.shape == shape else expand(input, shape=shape)
    if mask.value.shape != shape:
        mask = Array(np.broadcast_to(mask.value, shape), f"{mask}.expand{shape}")
    return expanded[mask]


@shorthand("argwhere", concrete=("input",), floats=True)
def nonzero(input, *, as_tuple=False):
    """The indices of the nonzero elements, a row for each of them; no gradient."""
    result = input.value if isinstance(input, Array) else np.asarray(input)
    indices = np.argwhere(result)
    if not as_tuple:
        return numbers(indices)
    columns = indices.T if result.ndim else [indices[:, :0].sum(1)]
    return Outputs(map(numbers, columns))
