"""Indexing of tensors, for reading and assignment.

As in PyTorch, an index with several parts is several operations: x[0, 1] is two selects, and all
lists and tensors in an index are one more operation (advanced indexing).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ...graphs import OPS
from ...lazy import np
from ...operators import lookup
from ...operators.leaves import Array
from ..python.operations import plain
from ..python.values import Machine, Unsupported, error
from .apply import apply, call_operator, cast
from .checks import check_output
from .mode import MODE
from .nested import NEGATIVE_STRIDE, NO_INDEX
from .records import zeros_like
from .tensor import Copied, Gradients, Meta, Overwritten, Record, Tensor
from .transforms import in_vmap
from .views import (
    as_view,
    check_batched,
    check_writable,
    gathered,
    rebase,
    warn_of_repeats,
    without,
)

ZERO_DIM = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
    "to convert a 0-dim tensor to a number"
)


SEQUENCES = (list, tuple, str, range, slice, type(...), Tensor)
INDICES = ("int64", "int32", "uint8", "bool")  # allowed dtypes; uint8 is a mask


def get(tensor: Tensor, index: Any) -> Tensor:
    """tensor[index]."""
    result, picks = _basic(tensor, index)
    if any(p is not None for p in picks):
        return _advanced(result, picks)
    return _alias(tensor) if result is tensor else result


def _alias(tensor: Tensor) -> Tensor:
    """A view of a whole tensor: x[...]."""
    output = as_view(Tensor(tensor.data[...], tensor.dtype), tensor)
    if MODE.recording and tensor.requires_grad:
        metas = [Meta(output.shape, output.dtype)]
        record = Record("AliasBackward0", [tensor.edge], metas, lambda m, r, grads: grads)
        output.set_record(record)
    return output


def set_item(m: Machine, tensor: Tensor, index: Any, value: Any) -> None:
    """tensor[index] = value."""
    check_batched(tensor, value)
    place, picks = _basic(tensor, index, written=True)
    source = _source(tensor, value)
    if any(p is not None for p in picks):
        _index_put(place, picks, _without_leading_ones(source))
    elif place.shape != source.shape and not source.ndim:
        copy_into(place, source, "FillBackward3")
    else:
        if place.shape != source.shape:
            source = _without_leading_ones(source)
        _check_fits(place, source)
        copy_into(place, source)


def _without_leading_ones(source: Tensor) -> Tensor:
    """A tensor without its leading dimensions of size 1."""
    extra = next((k for k, size in enumerate(source.shape) if size != 1), source.ndim)
    if not extra:
        return source
    return call_operator("reshape", source, shape=source.shape[extra:])


def _source(tensor: Tensor, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool | int | float):
        return Tensor(np.asarray(value).astype(tensor.dtype.numpy), tensor.dtype)
    text = f"can't assign a {_kind(value)} to a torch.{tensor.dtype.legacy}"
    raise error("TypeError", text)


def _parts(index: Any) -> list[Any]:
    """The parts of an index: the items of a tuple, or of a list for which `holds_parts` is true."""
    parts = getattr(index, "payload", index)  # the tuple in a result of torch.sort
    if isinstance(parts, tuple) or holds_parts(index):
        return list(parts)
    return [index]


def holds_parts(index: Any) -> bool:
    """Whether a list is an index of several parts, as in old versions of NumPy: it has fewer than
    32 items, and one of them is a sequence, tensor, slice or None.
    """
    if not isinstance(index, list | str | range) or len(index) >= 32:
        return False
    return any(
        isinstance(i, SEQUENCES) or i is None or isinstance(getattr(i, "array", None), np.ndarray)
        for i in index
    )


def _basic(tensor: Tensor, index: Any, written: bool = False) -> tuple[Tensor, list[Any]]:
    """Apply the basic parts of an index: integers, slices, None, `...`.

    Returns the resulting view and `picks`: for each dimension of the view, the array that indexes
    it, or None. A full slice is no operation, unless it is the whole index and `written` is False.
    """
    too_many = f"too many indices for tensor of dimension {tensor.ndim}"
    given = _parts(index)
    floats = any(isinstance(p, Tensor) and p.dtype.is_floating for p in given)
    taking = [p for p in given if p is not None and p is not Ellipsis]
    texts = isinstance(index, str) and len(index) > tensor.ndim
    if texts or (floats and len(taking) > max(tensor.ndim, 1)):  # before the error on dtypes
        raise error("IndexError", too_many)
    parts = [_plain(p) for p in given]
    consumed = sum(_dimensions(p) for p in parts)
    if tensor.ndim == 0 and len(parts) == 1:
        _check_zero_dim(parts[0])
    if consumed > tensor.ndim:
        raise error("IndexError", too_many)
    expanded: list[Any] = []
    for part in parts:
        if part is Ellipsis:
            expanded += [slice(None)] * (tensor.ndim - consumed)
        else:
            expanded.append(part)
    plain = len(parts) == 1 and isinstance(parts[0], slice) and not written
    return _apply_parts(tensor, expanded, plain)


def _check_zero_dim(part: Any) -> None:
    """Refuse to index a 0-dim tensor."""
    if isinstance(part, slice):
        raise error("IndexError", "slice() cannot be applied to a 0-dim tensor.")
    if type(part) is int and part:
        raise error("IndexError", f"index {part} is out of bounds for dimension 0 with size 0")
    if type(part) is int:
        raise error("IndexError", ZERO_DIM)


def _plain(part: Any) -> Any:
    """A part of an index as a Python value, or as a NumPy array of indices or a mask."""
    part = _host(part)
    if isinstance(part, Tensor):
        return _of_tensor(part)
    if isinstance(part, bool):
        return np.asarray(part)
    if isinstance(part, str | bytes):
        raise error("TypeError", f"new(): invalid data type '{type(part).__name__}'")
    if isinstance(part, list | tuple | range):
        array = np.asarray(_nested(part), dtype=None if part else int)
        return array.astype(int) if array.dtype.kind == "f" else array
    if isinstance(part, np.ndarray):
        return _of_array(part)
    if isinstance(part, slice):
        return slice(*map(_slice_bound, (part.start, part.stop, part.step)))
    if isinstance(part, int) or part is None or part is Ellipsis:
        return part
    raise error(
        "IndexError",
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {_kind(part)})",
    )


def _of_tensor(part: Tensor) -> Any:
    """An index tensor or a mask as an array; a 0-dim integer tensor as a number."""
    if part.dtype.name not in INDICES:
        text = "tensors used as indices must be long, int, byte or bool tensors"
        raise error("IndexError", text)
    if part.ndim == 0 and part.dtype.kind == "int":
        return int(part.data)
    return part.data.astype(bool) if part.dtype.name == "uint8" else part.data


def has_byte_mask(index: Any) -> bool:
    """Whether an index has a uint8 tensor, which PyTorch treats as a mask."""
    tensors = [p for p in _parts(index) if isinstance(p, Tensor)]
    return any(t.dtype.name == "uint8" and t.ndim > 0 for t in tensors)


def check_filled(value: Any) -> None:
    """Refuse to assign a 0-dim tensor or a number through a uint8 mask."""
    if not isinstance(value, Tensor) or value.numel == 1:
        text = "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
        raise error("RuntimeError", text)


def _host(part: Any) -> Any:
    """A part of an index, unwrapped if it is a NumPy array or scalar of the program."""
    part = plain(part)
    array = getattr(part, "array", None)
    if isinstance(array, np.ndarray):
        return array
    return array.item() if isinstance(array, np.integer | np.bool_) else part


def _of_array(array: Any) -> Any:
    """A NumPy array in an index as an integer or boolean array; as an int if it is 0-dim."""
    if any(n < 0 for n in array.strides):
        raise error("ValueError", NEGATIVE_STRIDE)
    if array.dtype.kind == "f":
        array = array.astype(int)
    return int(array) if array.ndim == 0 and array.dtype.kind == "i" else array


def _slice_bound(end: Any) -> Any:
    """The start, stop or step of a slice as an integer or None."""
    end = _host(end)
    if isinstance(end, Tensor):
        if end.dtype.is_floating or end.numel != 1:
            raise error("TypeError", NO_INDEX)
        return int(end.data.item())
    if end is None or isinstance(end, int):
        return end
    text = "slice indices must be integers or None or have an __index__ method"
    raise error("TypeError", text)


def _kind(value: Any) -> str:
    return getattr(getattr(value, "cls", None), "name", type(value).__name__)


def _nested(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.data
    if isinstance(value, str):
        raise error("TypeError", "new(): invalid data type 'str'")
    value = getattr(value, "array", value)
    return [_nested(v) for v in value] if isinstance(value, list | tuple | range) else value


def _dimensions(part: Any) -> int:
    """How many dimensions of the tensor a part of an index indexes."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, np.ndarray):
        return part.ndim if part.dtype.kind == "b" else 1
    return 1


def _apply_parts(tensor: Tensor, parts: Sequence[Any], plain: bool) -> tuple[Tensor, list[Any]]:
    """Apply the parts of an index one by one. Returns the view and `picks`, as _basic does."""
    picks: list[Any] = []
    place = dim = 0
    for part in parts:
        if part is None:
            tensor = _view_along(tensor, place, None, "UnsqueezeBackward0")
            picks.append(None)
            place += 1
        elif isinstance(part, slice):
            if part.step == 0:
                raise error("ValueError", "slice step cannot be zero")
            if part.step is not None and part.step < 0:
                raise error("ValueError", "step must be greater than zero")
            if plain or part.indices(tensor.shape[place]) != (0, tensor.shape[place], 1):
                tensor = _view_along(tensor, place, part, "SliceBackward0")
            picks.append(None)
            place, dim = place + 1, dim + 1
        elif isinstance(part, np.ndarray):
            if part.ndim == 0:  # True or False adds a dimension of size 1 or 0
                tensor = _view_along(tensor, place, None, "UnsqueezeBackward0")
                part = np.asarray([0] if part else [], dtype=int)
            picks.append(part)
            picks += [...] * (part.ndim - 1 if part.dtype.kind == "b" else 0)
            width = part.ndim if part.dtype.kind == "b" else 1
            place, dim = place + width, dim + width
        else:
            size = tensor.shape[place]
            if not -size <= part < size:
                text = f"index {part} is out of bounds for dimension {dim} with size {size}"
                raise error("IndexError", text)
            tensor = _view_along(tensor, place, part, "SelectBackward0")
            dim += 1
    return tensor, picks


def _view_along(tensor: Tensor, place: int, part: Any, name: str) -> Tensor:
    """A view of a tensor indexed along one dimension."""
    lookup("getitem")
    index = (*(slice(None),) * place, part)
    view = tensor.data[(*index, ...)]  # with `...`, NumPy returns a view even of one element
    return apply(OPS["getitem"], [tensor], {"index": index}, name=name, value=view)


def _advanced(tensor: Tensor, picks: Sequence[Any]) -> Tensor:
    """Advanced indexing with arrays."""
    if in_vmap() and any(isinstance(p, np.ndarray) and p.dtype.kind == "b" for p in picks):
        raise error("RuntimeError", NO_MASKS)
    index = tuple(_items(tensor, picks))
    return apply(OPS["getitem"], [tensor], {"index": index}, name="IndexBackward0")


NO_MASKS = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to "
    "batch over indexing with a boolean mask."
)


def _items(tensor: Tensor, picks: Sequence[Any]) -> Iterator[Any]:
    picked = 0
    _check_masks(tensor, picks)
    _check_together([p for p in picks if isinstance(p, np.ndarray)])
    for dim, pick in enumerate(picks):
        if pick is None:
            yield slice(None)
        elif isinstance(pick, np.ndarray):
            _check_pick(tensor, dim, pick, picked)
            picked += 1
            yield Array(pick)


def _check_masks(tensor: Tensor, picks: Sequence[Any]) -> None:
    """Refuse masks whose shape differs from the dimensions that they index."""
    for dim, pick in enumerate(picks):
        if not isinstance(pick, np.ndarray) or pick.dtype.kind != "b":
            continue
        for k, (have, size) in enumerate(zip(pick.shape, tensor.shape[dim:])):
            if have != size:
                raise error(
                    "IndexError",
                    f"The shape of the mask {list(pick.shape)} at index {k} does not match the "
                    f"shape of the indexed tensor {list(tensor.shape)} at index {dim + k}",
                )


def _check_together(arrays: Sequence[Any]) -> None:
    """Refuse index arrays that do not broadcast. A mask with n dimensions counts as n."""
    shapes: list[tuple[int, ...]] = []
    for array in arrays:
        mask = array.dtype.kind == "b"
        shapes += [(int(array.sum()),)] * array.ndim if mask else [array.shape]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(list(s)) for s in shapes)
        text = "shape mismatch: indexing tensors could not be broadcast together with shapes "
        raise error("IndexError", text + listed) from None


def _check_pick(tensor: Tensor, dim: int, pick: Any, shown: int) -> None:
    """Refuse indices out of bounds in the array `pick`. `shown` is the dimension in the message:
    PyTorch counts only the dimensions that are indexed by arrays.
    """
    if pick.dtype.kind == "b":
        return
    size = tensor.shape[dim]
    outside = pick[(pick < -size) | (pick >= size)]
    if outside.size:
        text = f"index {outside.flat[0]} is out of bounds for dimension {shown} with size {size}"
        raise error("IndexError", text)


def _index_put(place: Tensor, picks: Sequence[Any], source: Tensor) -> None:
    """Assign `source` to a tensor or view `place` at the index arrays `picks`."""
    check_writable(place, [source], repeats=True, called="index_put_")
    masks = [p for p in picks if isinstance(p, np.ndarray)]
    filled = source.numel == 1 and len(masks) == 1 and masks[0].dtype.kind == "b"
    warn_of_repeats(place, "masked_fill_" if filled else "index_put_")
    if filled and source.dtype is not place.dtype:  # masked_fill_ casts, index_put_ does not
        source = cast(source, place.dtype)
    if source.dtype is not place.dtype:
        raise error(
            "RuntimeError",
            "Index put requires the source and destination dtypes match, got "
            f"{place.dtype.scalar_name} for the destination and {source.dtype.scalar_name} "
            "for the source.",
        )
    index = tuple(i.value if isinstance(i, Array) else i for i in _items(place, picks))
    at = np.arange(place.numel).reshape(place.shape)[index]
    try:
        np.broadcast_to(source.data, at.shape)
    except ValueError:
        raise error(
            "RuntimeError",
            f"shape mismatch: value tensor of shape {list(source.shape)} cannot be broadcast to "
            f"indexing result of shape {list(at.shape)}",
        ) from None
    tracked = MODE.recording and (place.requires_grad or source.requires_grad)
    edges = [place.edge, source.edge] if tracked else []
    place.write(source.data, index)
    place.changed()
    if tracked:
        metas = [Meta(place.shape, place.dtype)]
        call = Overwritten(place, at, Copied(source))
        back = _IndexPutBackward(at, source.shape)
        rebase(place, Record("IndexPutBackward0", edges, metas, back, call=call))


class _IndexPutBackward:
    """The backward pass of index_put_."""

    def __init__(self, at: Any, shape: tuple[int, ...]):
        self.at, self.shape = at, shape

    def __call__(self, m: Machine, record: Record, grads: Gradients) -> Gradients:
        (gradient,) = grads
        if gradient is None:
            return [None, None]
        outside = without(gradient, self.at)
        return [
            outside,
            call_operator("sum_to_size", gathered(gradient, self.at), shape=self.shape),
        ]


def _check_fits(target: Tensor, source: Tensor) -> None:
    try:
        np.broadcast_to(source.data, target.shape)
    except ValueError:
        raise error("RuntimeError", _expanded(source, target)) from None


def copy_into(target: Tensor, source: Tensor, name: str = "CopyBackwards") -> Tensor:
    """target.copy_(source); `name` is the name of its grad_fn."""
    filled = name == "FillBackward3"  # fill_ copies the number before it writes
    alone = Tensor(source.data.copy(), source.dtype, requires_grad=source.requires_grad)
    called = "fill_.Tensor" if filled else "copy_"
    check_writable(target, [alone if filled else source], called=called)
    check_output(target, source)
    tracked = MODE.recording and (target.requires_grad or source.requires_grad)
    edges = [target.edge, source.edge] if tracked else []
    target.write(source.data)
    target.changed()
    if tracked and target.dtype.is_floating:

        def back(m: Machine, record: Record, grads: Gradients) -> Gradients:
            gradient = grads[0]
            if gradient is None:
                return [None, None]
            nothing = zeros_like(gradient) if edges[0] else None
            if edges[1] is None:
                return [nothing, None]
            if source.dtype is not gradient.dtype:
                gradient = cast(gradient, source.dtype)
            return [nothing, call_operator("sum_to_size", gradient, shape=source.shape)]

        metas = [Meta(target.shape, target.dtype)]
        rebase(target, Record(name, edges, metas, back, call=Copied(source)))
    return target


def _expanded(source: Tensor, target: Tensor) -> str:
    """PyTorch's error text for a `source` that cannot be expanded to the shape of `target`."""
    a, b = target.shape, source.shape
    if len(b) > len(a):
        return (
            f"expand({source.dtype.type_name}{{{list(b)}}}, size={list(a)}): the number of "
            f"sizes provided ({len(a)}) must be greater or equal to the number of dimensions in "
            f"the tensor ({len(b)})"
        )
    for back in range(1, len(b) + 1):
        if b[-back] not in (1, a[-back]):
            dim = len(a) - back
            return (
                f"The expanded size of the tensor ({a[dim]}) must match the existing size "
                f"({b[-back]}) at non-singleton dimension {dim}.  Target sizes: {list(a)}.  Tensor "
                f"sizes: {list(b)}"
            )
    raise Unsupported("copying between tensors of these shapes")
