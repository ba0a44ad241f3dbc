"""Gathering and scattering of elements and slices; dimensions of size 1.

v.put_at(shape, index) is zeros(shape) with v added at the index; v.scatter_to(shape, dim, index) is
zeros(shape).scatter_add(dim, index, v).
"""

from collections.abc import Sequence
from typing import Any

from ....graphs import OPS, Node
from ....graphs.shapes import Shape, axes, axis
from ....graphs.substitution import with_attributes
from ....lazy import np
from ....operators.indexing import full_index, is_array
from ....operators.leaves import Array
from .identities import identities
from .products import constant_value
from .registry import NORMAL, candidate, layout, normal, rule

RESHAPING = ("reshape", "squeeze", "unsqueeze")
MOST = 20_000_000  # most elements of a tensor that is evaluated
VALUES = {"sort_indices": "sort_values", "topk_indices": "topk_values"}

identities(NORMAL, """
    reshape(u, shape=n) = unsqueeze(u, dim=1) where n[1:] == (1,)
    reshape(u, shape=n) = unsqueeze(u, dim=0) where n == (1, *u.shape)
""")  # fmt: skip


@rule(*RESHAPING)
def reshape_of_reshape(node: Node) -> Node | None:
    """x.unsqueeze(0).squeeze(0) = x; x.reshape(a).reshape(b) = x.reshape(b)."""
    base = node
    while base.op.name in RESHAPING:
        base = base.parents[0]
        if base.shape == node.shape:
            return base
    if node.op.name == "reshape" and node.parents[0].op.name in RESHAPING:
        return base.reshape(shape=node.shape)
    if base.op.name in ("ones", "zeros"):
        return base.op(size=node.shape)
    return _without_kept_dimensions(node) or _expand_after_reshape(node)


@layout("reshape")
def unsqueeze_from_reshape(node: Node) -> Node | None:
    """x.reshape(x.shape[0], 1) = x.unsqueeze(1); x.reshape(x.shape[0]) = x.squeeze(1)."""
    x = node.parents[0]
    fewer, more = sorted((x.shape, node.shape), key=len)
    places = [d for d, n in enumerate(more) if n == 1 and (*more[:d], *more[d + 1 :]) == fewer]
    if node.span is not None or len(more) != len(fewer) + 1 or not places:
        return None
    return x.unsqueeze(dim=places[0]) if more is node.shape else x.squeeze(dim=places[0])


@rule("permute")
def transpose_from_permute(node: Node) -> Node | None:
    """x.permute(0, 2, 1) = x.mT; x.permute(0, 1) = x; a permutation of ones is ones."""
    x = node.parents[0]
    if x.op.name in ("ones", "zeros"):
        return x.op(size=node.shape)
    dims = [axis(d, x.ndim) for d in node.attrs["dims"]]
    changed = [d for d, k in enumerate(dims) if d != k]
    if not changed:
        return x
    if len(changed) > 2:
        return None
    return x.mT if changed == [x.ndim - 2, x.ndim - 1] else OPS["transpose"](x, *changed)


def _expand_after_reshape(node: Node) -> Node | None:
    """x.expand(2, 1).squeeze(1) = x.squeeze(1).expand(2); a reshaped scalar expand is an expand."""
    spread = node.parents[0]
    if spread.op.name != "expand":
        return None
    inner = spread.parents[0]
    if node.op.name == "reshape":
        return None if inner.ndim else inner.expand(shape=node.shape)
    lead, position = spread.ndim - inner.ndim, node.attrs["dim"]
    if position is None or (lead and inner.ndim and node.op.name == "unsqueeze"):
        return None
    position = axis(position, max(spread.ndim, node.ndim)) - lead
    new = inner if position < 0 or not inner.ndim else node.op(inner, dim=position)
    return new.expand(shape=node.shape)


def _without_kept_dimensions(node: Node) -> Node | None:
    """x.sum(dim=1, keepdim=True).squeeze(1) = x.sum(dim=1), likewise for x.argmin(dim=1)."""
    reduced = node.parents[0]
    reduces = reduced.op.family == "reduction" or reduced.op.finds_indices
    if not reduces or not reduced.attrs.get("keepdim"):
        return None
    new = with_attributes(reduced, keepdim=False)
    return new if new.shape == node.shape else None


@layout("put_at")
def matmul_from_put_at(node: Node) -> Node | None:
    """v.put_at((n, m), (0,)) = outer(eye(n)[0], v); with the index [0, 2], eye(n)[[0, 2]].T @ v."""
    v, shape = node.parents[0], node.shape
    index = node.attrs["index"]
    if not 1 <= len(shape) <= 2 or any(is_unsupported_index(item) for item in index):
        return None
    full = full_index(index, len(shape))
    if sum(map(is_array, full)) > 1 or v.shape != picked_shape(shape, index):
        return None
    if len(shape) == 1:
        return _scatter_last(v, shape[0], full[0])
    rows, columns = full
    if not isinstance(columns, int):
        v = _scatter_last(v, shape[1], columns)
        return _scatter_rows(v, shape[0], rows)
    if not isinstance(rows, int):
        return OPS["outer"](_scatter_last(v, shape[0], rows), _identity_rows(shape[1], columns))
    return element(shape, rows, columns) if constant_value(v) == 1 else None


@candidate("sub")
def difference_of_neighbours(node: Node) -> Node | None:
    """x[1:] - x[:-1] = diff(x)."""
    a, b = node.parents
    if not a.op.name == b.op.name == "getitem" or a.parents[0] is not b.parents[0]:
        return None
    (x,) = a.parents
    along = [d for d, (n, m) in enumerate(zip(x.shape, a.shape)) if n == m + 1]
    differences = (x.diff() if d == x.ndim - 1 else x.diff(dim=d) for d in along)
    return next((n for n in differences if n.op.expanded(n) is node), None)


@normal("getitem")
def whole_dimensions_at_the_end(node: Node) -> Node | None:
    """x[1:, :] = x[1:]."""
    index = node.attrs["index"]
    kept = len(index)
    while kept > 1 and index[kept - 1] == slice(None):
        kept -= 1
    return None if kept == len(index) or Ellipsis in index else node.parents[0][index[:kept]]


def element(shape: tuple[int, ...], row: int, column: int) -> Node:
    """The matrix that is 1 at [row, column] and 0 elsewhere."""
    return OPS["outer"](_identity_rows(shape[0], row), _identity_rows(shape[1], column))


def picked_shape(shape: tuple[int, ...], index: tuple) -> tuple[int, ...]:
    """The shape of x[index] for an x of this shape."""
    return OPS["ones"](size=shape)[index].shape


def is_unsupported_index(item) -> bool:
    """Whether an item is None, a mask, or an array that is not one-dimensional."""
    unsupported = isinstance(item, Array) and (item.value.ndim != 1 or item.dtype == "bool")
    return item is None or unsupported or _nested(item)


def _nested(item) -> bool:
    return isinstance(item, tuple) and any(isinstance(i, tuple) for i in item)


def _identity_rows(size: int, item) -> Node:
    return OPS["eye"](n=size)[(item,)]


def _scatter_last(v: Node, size: int, item) -> Node:
    """v scattered to `item` of the last dimension."""
    if item == slice(None):
        return v
    rows = _identity_rows(size, item)
    return at_unit(v, rows) if isinstance(item, int) else v @ rows


def at_unit(v: Node, unit: Node) -> Node:
    """v times a unit vector, or the unit vector if v is 1."""
    return unit if constant_value(v) == 1 else v * unit


def _scatter_rows(v: Node, size: int, item) -> Node:
    """v scattered to `item` of the last but one dimension."""
    if item == slice(None):
        return v
    rows = _identity_rows(size, item)
    return OPS["outer"](rows, v) if isinstance(item, int) else rows.mT @ v


@rule("sum")
def sum_of_scattered(node: Node) -> Node | None:
    """v.scatter_to(x.shape, dim, index).sum(dim) = v.sum(dim)."""
    x = node.parents[0]
    dim = node.attrs["dim"]
    if x.op.name != "scatter_to" or dim is None:
        return None
    v, along = x.parents[0], axis(x.attrs["dim"], x.ndim)
    differ = any(a != b for d, (a, b) in enumerate(zip(v.shape, x.shape)) if d != along)
    if differ or axes(dim, x.ndim) != (along,):
        return None
    return v.sum(dim=dim, keepdim=node.attrs["keepdim"])


@normal(*RESHAPING)
def number_in_a_shape(node: Node) -> Node | None:
    """(2).reshape(1, 1) = full((1, 1), 2.0)."""
    x = node.parents[0]
    value = x.attrs["value"] if x.op.name == "constant" else None
    if value is None or not node.shape or node.dtype != "float":
        return None
    return OPS["full"](size=node.shape, fill_value=value)


@normal("gather")
def gather_sorted(node: Node) -> Node | None:
    """x.gather(-1, sort(x).indices) = sort(x).values."""
    x, index = node.parents
    values = VALUES.get(index.op.name)
    if values is None or index.parents[0] is not x:
        return None
    same = axis(index.attrs["dim"], x.ndim) == axis(node.attrs["dim"], x.ndim)
    return OPS[values](x, **index.attrs) if same else None


@layout("scatter_to")
def comparison_from_scatter(node: Node) -> Node | None:
    """v.scatter_to(x.shape, 1, index) = v * (index == arange(x.shape[1])) for one index per row."""
    v, index = node.parents
    last = node.ndim - 1
    one_per_row = index.ndim == node.ndim and index.shape == (*node.shape[:-1], 1)
    if axis(node.attrs["dim"], node.ndim) != last or not one_per_row or v.dtype != "float":
        return None
    mask = index.eq(OPS["arange"](end=node.shape[last]))
    return mask.double() if constant_value(v) == 1 else v * mask


@rule("elementwise")
def comparison_of_known_values(node: Node) -> Node | None:
    """A comparison of known values that is True everywhere, or False everywhere. Of the values of
    an input, only the fact that indices are not negative is used, as in t != -100.
    """
    if node.dtype != "bool" or node.numel == 0 or not all(map(_is_known_value, node.inputs)):
        return None
    arrays = [i.attrs["data"] for i in node.parents if i.op.name == "tensor"]
    from_inputs = any(n.node for n in arrays)
    if not arrays or (from_inputs and not _is_below_indices(node.parents[-1], arrays)):
        return None
    from ....backends.numeric import Evaluator

    value = np.asarray(Evaluator({})(node)[0])
    if value.all() or not value.any():
        return OPS["full"](size=node.shape, fill_value=bool(value.flat[0]))
    return None


def _is_below_indices(bound: Node, indices: Sequence[Array]) -> bool:
    """Whether a number is negative, and no index is."""
    value = constant_value(bound)
    if value is None or value >= 0:
        return False
    return all(n.dtype == "int" and np.min(n.value) >= 0 for n in indices)


def _is_known_value(node: Node | None) -> bool:
    return node is not None and node.op.name in ("tensor", "constant") and node.numel <= MOST


@rule("getitem")
def trivial_index(node: Node) -> Node | None:
    """x[:, :] = x; ones(4)[1:] = ones(3)."""
    x, index = node.parents[0], node.attrs["index"]
    if x.op.name in ("ones", "zeros"):
        return x.op(size=node.shape)
    if any(map(is_array, index)):
        return None
    return x if all(i in (slice(None), Ellipsis) for i in index) else None


@normal("getitem")
def slice_of_slice(node: Node) -> Node | None:
    """x[:, :4][:, 1:] = x[:, 1:4]."""
    inner = node.parents[0]
    if inner.op.name != "getitem":
        return None
    x, first = inner.parents[0], spans(inner.attrs["index"], inner.parents[0].shape)
    outer = full_index(node.attrs["index"], inner.ndim)
    if first is None or any(not isinstance(i, slice | int) for i in outer):
        return None
    items = zip(outer, first, x.shape, strict=True)
    index = [_within(item, start, stop, size) for item, (start, stop), size in items]
    return None if None in index else x[tuple(index)]


@normal("getitem")
def item_of_unit_vector(node: Node) -> Node | None:
    """eye(3)[0][0] = 1.0; eye(3)[0][1:] = zeros(2); (x - eye(3)[0])[1] = x[1] - 0.0."""
    x, (item, *more) = node.parents[0], node.attrs["index"]
    if more or not isinstance(item, int | slice):
        return None
    sides = x.parents if x.op.name in ("add", "sub") else [x]
    known = [_unit_item(i, item) if i.shape == x.shape else None for i in sides]
    if not any(known):
        return None
    new = [i[item] if value is None else value for i, value in zip(sides, known, strict=True)]
    return x.op(*new) if len(new) > 1 else new[0]


def _unit_item(x: Node, item: int | slice) -> Node | None:
    """An item of a row of an identity matrix if it is a number or zeros; else None."""
    at = _unit_place(x)
    if at is None:
        return None
    kept = [k == at for k in range(x.numel)][item]
    if isinstance(kept, bool):
        return OPS["constant"](value=float(kept))
    return None if any(kept) else OPS["zeros"](size=(len(kept),))


def _unit_place(x: Node) -> int | None:
    """The position of the 1 in a row of an identity matrix; None for other nodes."""
    if x.op.name != "getitem" or x.parents[0].op.name != "eye":
        return None
    (item, *more) = x.attrs["index"]
    square = x.parents[0].shape[0] == x.parents[0].shape[1]
    return item % x.numel if square and isinstance(item, int) and not more else None


@normal("squeeze")
def item_from_slice(node: Node) -> Node | None:
    """x[:1].squeeze(0) = x[0]."""
    picked = node.parents[0]
    if picked.op.name != "getitem" or node.attrs["dim"] is None:
        return None
    (x,), dim = picked.parents, axis(node.attrs["dim"], picked.ndim)
    along = spans(picked.attrs["index"], x.shape)
    if along is None or picked.ndim != x.ndim or picked.shape[dim] != 1 or x.shape[dim] == 1:
        return None
    index = full_index(picked.attrs["index"], x.ndim)
    return x[(*index[:dim], along[dim][0], *index[dim + 1 :])]


@candidate("getitem")
def new_dimensions(node: Node) -> Node | None:
    """x[None, :] = x.unsqueeze(0); x[:, None] = x.unsqueeze(1)."""
    out, index = node.parents[0], full_index(node.attrs["index"], node.parents[0].ndim)
    if any(i is not None and i != slice(None) for i in index) or None not in index:
        return None
    for dim in (d for d, item in enumerate(index) if item is None):
        out = out.unsqueeze(dim=dim)
    return out


def spans(index: tuple, shape: Shape) -> list[tuple[int, int]] | None:
    """Start and stop along each dimension; None if the index is not made of slices of step 1."""
    full = full_index(index, len(shape))
    if any(not isinstance(i, slice) or i.step not in (None, 1) for i in full):
        return None
    spans = [i.indices(size)[:2] for i, size in zip(full, shape, strict=True)]
    return [(start, max(start, stop)) for start, stop in spans]


def _within(item: slice | int, start: int, stop: int, size: int) -> Any:
    """An item of an index into x[start:stop] as one of an index into x; None if it has a step."""
    if isinstance(item, int):
        return start + item % (stop - start)
    if item.step not in (None, 1):
        return None
    a, b, _ = item.indices(stop - start)
    return slice(start + a or None, None if start + b == size else start + b)
