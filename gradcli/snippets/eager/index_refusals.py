"""Checks of indices and masks, with PyTorch's error messages."""

from typing import Any

from ..python.values import Unsupported, error
from .checks import LONG_NAMES, check, check_broadcast, check_fits, dimension, refuse_if
from .dtypes import INT64
from .kernels import not_implemented
from .tensor import Tensor
from .transforms import in_vmap

# ---- indices -------------------------------------------------------------------------------------


@check("gather")
def _gather(input: Tensor, dim: int, index: Tensor, **_: Any) -> None:
    if index.ndim != input.ndim:
        text = "Index tensor must have the same number of dimensions as input tensor"
        raise error("RuntimeError", text)
    _within(input, dim, index)
    place = dimension(dim, input.ndim)
    for d, (n, size) in enumerate(zip(index.shape, input.shape)):
        text = f"Size does not match at dimension {d} expected index {list(index.shape)} to be no "
        text += f"larger than self {list(input.shape)} apart from dimension {place}"
        refuse_if(d != place and n > size, text)


def _first_outside(index: Tensor, size: int, least: int = 0) -> Any:
    """The first element of `index` below `least` or at least `size`; None if there is none."""
    outside = index.data[(index.data < least) | (index.data >= size)]
    return outside[0] if outside.size else None


def _place_and_size(input: Tensor, dim: int) -> tuple[int, int]:
    """The non-negative equivalent of a dimension, and its size."""
    place = dimension(dim, input.ndim)
    return place, input.shape[place] if input.ndim else 1


def _within(input: Tensor, dim: int, index: Tensor) -> None:
    place, size = _place_and_size(input, dim)
    first = _first_outside(index, size)
    text = f"index {first} is out of bounds for dimension {place} with size {size}"
    refuse_if(first is not None, text)


@check("take_along_dim")
def _take_along_dim(input: Tensor, indices: Tensor, dim: Any = None) -> None:
    if dim is not None and input.ndim != indices.ndim:
        text = "torch.take_along_dim(): input and indices should have the same number of "
        text += f"dimensions, but got {input.ndim} dimensions for input, and {indices.ndim} "
        raise error("RuntimeError", text + "dimensions for indices")


@check("scatter", "scatter_add")
def _scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, **_: Any) -> None:
    if index.dtype.kind != "int":
        raise error("RuntimeError", "scatter(): Expected dtype int32/int64 for index")
    if index.numel and (index.ndim or 1) != (input.ndim or 1):
        text = "Index tensor must have the same number of dimensions as self tensor"
        raise error("RuntimeError", text)
    if isinstance(src, Tensor) and src.dtype is not input.dtype:
        raise error("RuntimeError", "scatter(): Expected self.dtype to be equal to src.dtype")
    _within(input, dim, index)
    place = dimension(dim, input.ndim)
    sizes = list(index.shape)
    large = [d for d, (n, m) in enumerate(zip(sizes, input.shape)) if d != place and n > m]
    text = f"Expected index {sizes} to be no larger than self {list(input.shape)} apart from "
    text += f"dimension {place}"
    if isinstance(src, Tensor):
        if src.ndim != index.ndim:
            return
        large += [d for d, (n, m) in enumerate(zip(sizes, src.shape)) if n > m]
        text += f" and to be no larger size than src {list(src.shape)}"
    refuse_if(bool(large), text)


@check("scatter_reduce")
def _scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Any, reduce: Any, **_: Any
) -> None:
    text = f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
    refuse_if(reduce not in ("sum", "prod", "mean", "amax", "amin"), text)


@check("index_fill")
def _index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> None:
    text = "index_fill_(): Expected dtype int64 for index."
    refuse_if(index.dtype.kind != "int", text, "IndexError")
    _in_bounds(index, *_place_and_size(input, dim))


@check("take")
def _take(input: Tensor, index: Tensor) -> None:
    first = _first_outside(index, input.numel, -input.numel)
    text = f"out of range: tried to access index {first} on a tensor of {input.numel} elements."
    refuse_if(first is not None, text, "IndexError")


@check("index_copy")
def _index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, **_: Any) -> None:
    if source.dtype is not input.dtype:
        kinds = f"(self) {input.dtype.scalar_name} and (source) {source.dtype.scalar_name}"
        text = "index_copy_(): self and source expected to have the same dtype, but got "
        raise error("RuntimeError", text + kinds)
    rows = source.shape[dimension(dim, source.ndim)] if source.ndim else 1
    text = f"index_copy_(): Number of indices ({index.numel}) should be equal to source.size(dim) "
    refuse_if(index.numel != rows, f"{text}({rows})", "IndexError")


@check("index_add")
def _index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, **_: Any) -> None:
    if index.dtype.kind != "int":
        text = "index_add_(): Expected dtype int32/int64 for index but got: "
        raise error("RuntimeError", text + index.dtype.scalar_name)
    if source.dtype is not input.dtype:
        raise error(
            "RuntimeError",
            f"index_add_(): self ({input.dtype.scalar_name}) and source "
            f"({source.dtype.scalar_name}) must have the same scalar type",
        )
    place = dimension(dim, input.ndim)
    if source.ndim != input.ndim or index.ndim > 1:
        return
    count, rows = index.numel, source.shape[place]
    text = f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): "
    refuse_if(count != rows, f"{text}({rows}), for dim: {place}")
    other = [d for d, (n, m) in enumerate(zip(input.shape, source.shape)) if n != m and d != place]
    text = "source tensor shape must match self tensor shape, excluding the specified dimension. "
    text += f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
    refuse_if(bool(other), text)
    _within(input, dim, index)


@check("index_select")
def _index_select(input: Tensor, dim: int, index: Tensor) -> None:
    text = "index_select(): Index is supposed to be a vector"
    refuse_if(index.ndim > 1, text, "IndexError")
    if index.dtype.kind != "int":
        text = "index_select(): Expected dtype int32 or int64 for index"
        raise error("RuntimeError", text)
    place, size = _place_and_size(input, dim)
    first = _first_outside(index, size)
    text = f"INDICES element is out of DATA bounds, id={first} axis_dim={size}"
    refuse_if(first is not None and place == 1, text)
    refuse_if(first is not None, "index out of range in self", "IndexError")


@check("index_put")
def _index_put(input: Tensor, indices: Any, values: Tensor, *_: Any, **__: Any) -> None:
    if values.dtype is not input.dtype:
        raise error(
            "RuntimeError",
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for "
            "the source.",
        )
    for dim, index in enumerate(indices if isinstance(indices, tuple | list) else ()):
        if isinstance(index, Tensor) and index.dtype.kind == "int":
            _in_bounds(index, dim, input.shape[dim])


def _in_bounds(index: Tensor, dim: int, size: int) -> None:
    first = _first_outside(index, size, -size)
    text = f"index {first} is out of bounds for dimension {dim} with size {size}"
    refuse_if(first is not None, text, "IndexError")


@check("one_hot")
def _one_hot(input: Tensor, num_classes: Any = -1, **_: Any) -> None:
    if input.dtype is not INT64:
        text = "one_hot is only applicable to index tensor of type LongTensor."
        raise error("RuntimeError", text)
    if input.data.size and isinstance(num_classes, int):
        if input.data.min() < 0:
            raise error("RuntimeError", "Class values must be non-negative.")
        if 0 <= num_classes <= input.data.max():
            raise error("RuntimeError", "Class values must be smaller than num_classes.")


@check("bincount")
def _bincount(input: Tensor, weights: Any = None, *_: Any, **__: Any) -> None:
    if input.dtype.is_floating:
        raise not_implemented("bincount_cpu", input.dtype)
    text = "bincount only supports 1-d non-negative integral inputs."
    refuse_if(input.ndim != 1 or bool((input.data < 0).any()), text)
    if isinstance(weights, Tensor):
        text = "weights should be 1-d and have the same length as input"
        refuse_if(weights.shape != input.shape, text)


@check("bucketize")
def _bucketize(input: Tensor, boundaries: Any, **_: Any) -> None:
    if isinstance(boundaries, Tensor):
        text = f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})"
        refuse_if(boundaries.ndim != 1, text)


@check("searchsorted")
def _searchsorted(sequence: Tensor, input: Any, **_: Any) -> None:
    if isinstance(input, Tensor) and sequence.ndim != 1:
        text = (
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sequence.shape)} and input value tensor {list(input.shape)}"
        )
        refuse_if(sequence.shape[:-1] != input.shape[:-1] or sequence.ndim != input.ndim, text)


# ---- masks ---------------------------------------------------------------------------------------


@check("masked_fill")
def _masked_fill(input: Tensor, mask: Tensor, value: Any = None) -> None:
    check_broadcast(mask, input)
    if mask.dtype.kind != "bool":
        raise error(
            "RuntimeError",
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{LONG_NAMES[mask.dtype.name]}",
        )
    if isinstance(value, Tensor):
        text = "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
        refuse_if(value.ndim > 0, f"{text}{value.ndim} dimension(s).")
    else:
        check_fits(value, input.dtype)


@check("masked_select")
def _masked_select(input: Tensor, mask: Tensor) -> None:
    if in_vmap():
        raise Unsupported("masked_select() inside vmap()")
    if mask.dtype.kind != "bool":
        raise error("RuntimeError", "masked_select: expected BoolTensor for mask")
    check_broadcast(mask, input)


@check("masked_scatter")
def _masked_scatter(input: Tensor, mask: Tensor, source: Any = None) -> None:
    check_broadcast(mask, input)


DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
    "over aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
    "this feature."
)


@check("nonzero", "argwhere")
def _nonzero(*_: Any, **__: Any) -> None:
    if in_vmap():
        raise error("RuntimeError", DYNAMIC.format("nonzero"))
