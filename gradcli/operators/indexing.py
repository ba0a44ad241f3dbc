"""Indexing, as in `x[1:, 0]`.

An index is a tuple of integers, slices, None, `...`, tuples of integers, and Arrays. As in PyTorch,
and unlike NumPy, integers are applied first and arrays afterwards.
"""

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, shapes
from ..lazy import np
from .families import movement
from .leaves import Array


def in_range(index, size, first=0, of=None):
    """An index as an array. Raises GradcliError unless its elements are at least `first` and below
    size; `of` describes what is indexed.
    """
    index = np.asarray(index)
    if index.dtype == object:
        raise GradcliError("needs-value", "which elements an index selects depends on its values")
    if index.size and (index.min() < first or index.max() >= size):
        bad = index[(index < first) | (index >= size)].flat[0]
        raise shapes.out_of_range(bad, size, first, of)
    return index


def full_index(index, ndim):
    """The index with `...` expanded, and with one item for each dimension."""
    used = sum(_consumed(item) for item in index)
    if used > ndim:
        raise GradcliError(
            "index",
            f"too many indices: {used} for a tensor with {ndim} dimension{'s' * (ndim != 1)}",
            hint="leave some out, or declare the tensor with more dimensions",
        )
    dots = [k for k, item in enumerate(index) if item is Ellipsis]
    if len(dots) > 1:
        raise GradcliError("index", "an index can contain only one ...")
    k = dots[0] if dots else len(index)
    return (*index[:k], *(slice(None),) * (ndim - used), *index[k + 1 :])


def _consumed(item):
    if item is None or item is Ellipsis:
        return 0
    return item.value.ndim if is_mask(item) else 1


def is_array(item):
    """Whether an item of an index is a list of indices or an Array."""
    return isinstance(item, Array | tuple)


def is_mask(item):
    """Whether an item of an index is a boolean mask."""
    return isinstance(item, Array) and item.dtype == "bool"


def inputs_and_indices(node):
    """The inputs of a node, and the nodes that compute Arrays in its index."""
    index = node.attrs.get("index", ())
    items = index if isinstance(index, tuple) else ()
    read = (i.node for i in items if isinstance(i, Array) and i.node is not None)
    return (*node.inputs, *read)


def advanced(full):
    """The index without integers, for the dimensions that are left after `basic` indexing."""
    remaining = [item for item in full if not isinstance(item, int)]
    return tuple(_array(item) if is_array(item) else slice(None) for item in remaining)


def _array(item):
    if isinstance(item, Array):
        return item.value
    return np.asarray(item) if item else np.zeros(0, int)


def basic(full):
    """The index with a full slice for each dimension that an array or mask indexes."""
    return tuple(
        part
        for item in full
        for part in ((slice(None),) * _consumed(item) if is_array(item) else (item,))
    )


def picked_shape(s, *, index):
    """The shape of x[index] for x of shape s."""
    full = full_index(index, len(s))
    out, sizes = [], iter(s)
    for item in basic(full):
        if item is None:
            out.append(1)
            continue
        size = next(sizes)
        if isinstance(item, slice):
            if (item.step or 1) < 1:
                raise GradcliError(
                    "index",
                    "the step of a slice must be above 0, as in PyTorch",
                    hint="flip(x, (dim,)) reverses a dimension",
                )
            out.append(len(range(*item.indices(size))))
        elif not -size <= item < size:
            raise shapes.out_of_range(item, size, -size)
    if not any(map(is_array, full)):
        return tuple(out)
    return _shape_by_arrays(out, advanced(full))


def _shape_by_arrays(sizes, index):
    """The shape of the result of NumPy's advanced indexing, without allocating it.

    The index is applied to two arrays without memory, whose sliced dimensions all have size 1 and
    all have size 0: the dimensions in which the results differ are the sliced ones.
    """
    is_slice = []
    for item in index:
        mask = not isinstance(item, slice) and item.dtype == bool
        is_slice += [isinstance(item, slice)] * (item.ndim if mask else 1)
    one, none = (
        _pick(np.broadcast_to(0, [n if w else m for m, w in zip(sizes, is_slice)]), index).shape
        for n in (1, 0)
    )
    left = iter([m for m, w in zip(sizes, is_slice) if w])
    return tuple(next(left) if a != b else a for a, b in zip(one, none))


def _pick(x, index):
    """x[index] for an index of slices and arrays. Raises GradcliError if an array does not fit."""
    axis = 0
    for item in index:
        is_mask = not isinstance(item, slice) and item.dtype == bool
        have = x.shape[axis : axis + item.ndim] if is_mask else ()
        if is_mask and item.shape != have:
            whole, mask_shape = shapes.text(have), shapes.text(item.shape)
            message = f"a mask of shape {mask_shape} does not fit dimensions of shape {whole}"
            raise GradcliError("index", message, hint="a mask has True or False for each element")
        if isinstance(item, np.ndarray) and not is_mask:
            in_range(item, x.shape[axis], -x.shape[axis])
        axis += item.ndim if is_mask else 1
    shapes.broadcast(*map(_array_shape, index))
    return x[index]


def _array_shape(item):
    """The shape of an array of an index, as it is broadcast with the other arrays."""
    if isinstance(item, slice):
        return ()
    return (int(item.sum()),) if item.dtype == bool else item.shape


def _getitem(x, *, index):
    full = full_index(index, np.ndim(x))
    result = np.asarray(x)[basic(full)]
    return _pick(result, advanced(full)) if any(map(is_array, full)) else result


def index_text(index, size=str, array=str) -> str:
    """An index in Python's syntax, without brackets. `size` formats its integers and the ends of
    slices, `array` its Arrays.
    """
    return ", ".join(_item_text(item, size, array) for item in index)


def _item_text(item, size, array):
    if item is Ellipsis:
        return "..."
    if isinstance(item, slice):
        ends = ["" if end is None else size(end) for end in (item.start, item.stop)]
        return ":".join(ends) + ("" if item.step is None else f":{item.step}")
    if isinstance(item, int) and not isinstance(item, bool):
        return size(item)
    if isinstance(item, tuple):
        return str(list(item))
    return array(item) if isinstance(item, Array) else str(item)


def _equal_sizes(s, *, index):
    """Sizes that are equal in x[arange(5), labels], where each row has one label."""
    full = full_index(index, len(s))
    if len(full) != len(s) or not any(isinstance(i, Array) and i.dtype == "int" for i in full):
        return []
    picked = [(n, _array(i)) for n, i in zip(s, full, strict=True) if is_array(i)]
    rows = [(n, i.size) for n, i in picked if i.ndim == 1 and np.array_equal(i, range(i.size))]
    return rows[:1] if len(picked) > 1 else []


def _saved_of_getitem(y, x, *, index):
    return [INTERMEDIATE] * any(is_array(i) for i in index)


@movement(
    _getitem,
    shape=picked_shape,
    typical_equal_sizes=_equal_sizes,
    index=lambda lower, i, x, *, index: lower.getitem(i, x, index),
    method=False,
    examples=(
        ("x[0, 1:]", "x=2x3"),
        ("x[..., None, 0]", "x=2x3"),
        ("x[:, ::2]", "x=2x3"),
        ("x[[0, 0, 2]]", "x=3x2"),
        ("x[-1]", "x=3"),
    ),
    torch="torch.Tensor.__getitem__",
    saved=_saved_of_getitem,
    view=lambda *, index: all(i is None or isinstance(i, int | slice | type(...)) for i in index),
)
def getitem(g, y, x, *, index):
    """The elements at an index."""
    return g.put_at(shape=x.shape, index=index)
