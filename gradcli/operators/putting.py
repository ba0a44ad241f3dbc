"""Elements written into zeros: the transpose of indexing, and how it is expressed in PyTorch's
operators.
"""

from ..errors import GradcliError
from ..graphs import OPS, shapes
from ..lazy import np
from .arithmetic import where
from .families import operator
from .indexing import advanced, basic, full_index, is_array, is_mask, picked_shape
from .leaves import Array, arange, numbers, ones, zeros


def _put_at(v, *, shape, index):
    full = full_index(index, len(shape))
    out = np.zeros(shape, dtype=np.asarray(v).dtype)
    if any(map(is_array, full)):
        np.add.at(out[(*basic(full), ...)], advanced(full), v)
    else:
        out[basic(full)] = v
    return out


def _put_shape(s, *, shape, index):
    """The shape of the output. Raises GradcliError if values of shape s do not fit the index."""
    picked = picked_shape(shape, index=index) if min(shape, default=0) >= 0 else s
    extra = max(len(s) - len(picked), 0)  # leading dimensions of size 1 are ignored
    if shapes.numel(s[:extra]) != 1 or not shapes.fits(s[extra:], picked):
        where = f"the indexed elements have shape {shapes.text(picked)}"
        raise GradcliError("shape", f"{where}, and the values {shapes.text(s)}")
    return shape


def _in_torch(v, *, shape, index):
    picked = picked_shape(shape, index=index)
    return put_into_zeros(v, shape, index, full_index(index, len(shape)), picked)


@operator(
    shape=_put_shape,
    value=_put_at,
    torch_expand=_in_torch,
    method=True,
    dtype="first",
    index="put_at",
    examples=(("x.put_at((2, 3), (0,))", "x=3"),),
    torch=None,
    exact="all",
)
def put_at(g, y, v, *, shape, index):
    """v added into zeros of `shape` at `index`; repeated indices add up."""
    return g[index]


def put_into_zeros(v, shape, index, full, picked):
    """An expression for put_at in PyTorch's operators. `full` is the index with one item for each
    dimension; `picked` is the shape of what it selects.
    """
    if not shapes.numel(picked):  # zero_pad cannot express slices that select nothing
        return zeros(size=shape)
    mask = _single_mask(index)
    if mask is not None:
        return _at_mask(mask, v, shape, picked)
    v = _expanded(v, picked)
    parts = _parts(full, shape)
    margins = {d: _margins(item) for d, item in parts if _margins(item)}
    written = [(d, item) for d, item in parts if d not in margins]
    several = len(written) > 1 and not _is_nested(full)
    if (
        several
        or any(map(_needs_flat_indices, full))
        or (None in full and any(map(is_array, full)))
    ):
        return at_flat_indices(v, shape, lambda flat: flat[index], repeated=_may_repeat(full))
    for d in reversed(_new_dimensions(full)):
        v = v.squeeze(dim=d)
    if len(written) > 1:
        return _into_zeros_nested(v, shape, [i for i in full if i is not None])
    if margins:
        integer_dims = [d for d, item in written if isinstance(item, int)]
        other_dims = [d for d in range(len(shape)) if d not in integer_dims]
        v = v.zero_pad(amount=tuple(margins.get(d, (0, 0)) for d in other_dims))
    return _into_zeros(v, shape, *written[0]) if written else v


def _single_mask(index):
    """The mask, if the index is a single mask; otherwise None."""
    (item,) = index if len(index) == 1 else (None,)
    return item if is_mask(item) else None


def _at_mask(mask, v, shape, picked):
    """The elements of v, in order, written into zeros where a mask of leading dimensions holds."""
    trailing = len(shape) - mask.value.ndim
    if trailing:
        rows = mask.value.reshape(mask.value.shape + (1,) * trailing)
        literal = mask.text.startswith("[") or mask.text in ("True", "False")
        name = mask.text if mask.text.isidentifier() else f"({mask})"
        text = f"tensor({mask})" if literal else name
        mask = Array(rows, text + ".unsqueeze(-1)" * trailing)
    condition = OPS["tensor"](data=mask)
    number = _common_number(v)
    if number is not None:
        return where(condition, number, 0.0).expand(shape=shape)
    return OPS["masked_scatter"](zeros(size=shape), condition, _expanded(v, picked))


def _common_number(v):
    """The number that all elements of v equal, if v is a constant, full() or ones(), possibly
    expanded; otherwise None.
    """
    if v.op is OPS["expand"]:
        v = v.parents[0]
    if v.op is OPS["ones"]:
        return 1.0
    return v.attrs.get({"constant": "value", "full": "fill_value"}.get(v.op.name))


def at_flat_indices(v, shape, pick, repeated=True):
    """v written into zeros of `shape` at flat indices. `pick` selects these from the tensor of all
    flat indices; `repeated` says whether one may occur twice.
    """
    indices = pick(arange(end=shapes.numel(shape)).reshape(shape=shape))
    return zeros(size=shape).put(indices, v, accumulate=repeated)


def _expanded(v, shape):
    """v expanded to `shape`, the shape of the selected elements; the number 1 becomes ones()."""
    if v.op is OPS["constant"] and v.attrs["value"] == 1:
        return ones(size=shape)
    if v.shape == shape:
        return v
    return v.reshape(shape=v.shape[max(v.ndim - len(shape), 0) :]).expand(shape=shape)


def _parts(full, shape):
    """Pairs of dimension and item, for the items of an index that are not full slices."""
    items = [item for item in full if item is not None]
    pairs = zip(items, shape, strict=False)
    return [(d, item) for d, (item, size) in enumerate(pairs) if not _is_full_slice(item, size)]


def _is_full_slice(item, size):
    return isinstance(item, slice) and item.indices(size) == (0, size, 1)


def _as_array(item):
    if isinstance(item, Array):
        return item.value
    return np.asarray(item, dtype=None if item else int)  # NumPy takes [] as floats


def _new_dimensions(full):
    """The dimensions of the selection that None in the index adds."""
    items = [item for item in full if not isinstance(item, int)]
    return [d for d, item in enumerate(items) if item is None]


def _needs_flat_indices(item):
    """Whether an item of an index is a mask, or has negative indices or several dimensions, which
    index_add does not accept.
    """
    if not is_array(item):
        return False
    array = _as_array(item)
    return array.ndim != 1 or array.dtype.kind == "b" or (array < 0).any()


def _may_repeat(full):
    """Whether an index may select an element twice."""
    return any(is_array(i) and _as_array(i).dtype.kind != "b" for i in full)


def _is_nested(full):
    """Whether the items of an index are written one after the other, each by its own operation. If
    not, several items are written by a single operation, at flat indices.
    """
    items = list(full)
    while items and items[-1] == slice(None):
        items.pop()
    return sum(map(is_array, items)) < 2 and any(isinstance(item, slice) for item in items)


def _into_zeros_nested(v, shape, full):
    """v written into zeros, by one item of the index after the other: first lists and arrays, then
    slices, then integers.
    """
    parts = _parts(full, shape)
    d, item = min(parts, key=lambda part: (not isinstance(part[1], int), is_array(part[1])))
    remaining = () if isinstance(item, int) else (slice(None),)
    inner = (*full[:d], *remaining, *full[d + 1 :])
    sizes = OPS["zeros"](size=shape)[(*(slice(None),) * d, item)].shape
    return _into_zeros(put_into_zeros(v, sizes, inner, inner, v.shape), shape, d, item)


def _margins(item):
    """The numbers of elements before and after a slice, if they are the same for dimensions of all
    sizes; otherwise None.
    """
    if not isinstance(item, slice) or item.step not in (None, 1):
        return None
    if (item.start or 0) < 0 or (item.stop is not None and item.stop >= 0):
        return None
    return item.start or 0, -(item.stop or 0)


def _into_zeros(v, shape, d, item):
    """v written into zeros of `shape` at one item of an index, along dimension d."""
    base = zeros(size=shape)
    if isinstance(item, int):
        return base.select_scatter(v, dim=d, index=item)
    if isinstance(item, slice):
        start = item.start or None
        return base.slice_scatter(v, dim=d, start=start, end=item.stop, step=item.step or 1)
    named = isinstance(item, Array) and not item.text.startswith("[")
    indices = OPS["tensor"](data=item) if named else numbers(_as_array(item))
    return base.index_add(dim=d, index=indices, source=v)
