"""Elements picked and put back; shapes with sizes of 1."""

from collections.abc import Sequence

from ....graphs import OPS, Node
from ....graphs.shapes import axes, axis
from ....lazy import np
from ....operators.indexing import full_index
from ....operators.leaves import Array
from .products import constant_value
from .registry import layout, normal, rule

RESHAPING = ("reshape", "squeeze", "unsqueeze")
MOST = 20_000_000  # known numbers that are looked at
VALUES = {"sort_indices": "sort_values", "topk_indices": "topk_values"}


@rule(*RESHAPING)
def there_and_back(node: Node) -> Node | None:
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
    return _without_kept_dimensions(node) or _expanded_later(node)


@layout("reshape")
def dimension_put_in(node: Node) -> Node | None:
    """x.reshape(x.shape[0], 1) = x.unsqueeze(1); x.reshape(x.shape[0]) = x.squeeze(1)."""
    x = node.parents[0]
    fewer, more = sorted((x.shape, node.shape), key=len)
    places = [d for d, n in enumerate(more) if n == 1 and (*more[:d], *more[d + 1 :]) == fewer]
    if node.span is not None or len(more) != len(fewer) + 1 or not places:
        return None
    return x.unsqueeze(dim=places[0]) if more is node.shape else x.squeeze(dim=places[0])


@rule("permute")
def dimensions_exchanged(node: Node) -> Node | None:
    """x.permute(0, 2, 1) = x.mT; x.permute(0, 1) = x; ones that are permuted are ones."""
    x = node.parents[0]
    if x.op.name in ("ones", "zeros"):
        return x.op(size=node.shape)
    dims = [axis(d, x.ndim) for d in node.attrs["dims"]]
    moved = [d for d, k in enumerate(dims) if d != k]
    if not moved:
        return x
    if len(moved) > 2:
        return None
    return x.mT if moved == [x.ndim - 2, x.ndim - 1] else OPS["transpose"](x, *moved)


def _expanded_later(node: Node) -> Node | None:
    """x.expand(2, 1).squeeze(1) = x.squeeze(1).expand(2); a number's reshape is its expand."""
    spread = node.parents[0]
    if spread.op.name != "expand":
        return None
    inner = spread.parents[0]
    if node.op.name == "reshape":
        return None if inner.ndim else inner.expand(shape=node.shape)
    lead, place = spread.ndim - inner.ndim, node.attrs["dim"]
    if place is None or (lead and inner.ndim and node.op.name == "unsqueeze"):
        return None
    place = axis(place, max(spread.ndim, node.ndim)) - lead
    new = inner if place < 0 or not inner.ndim else node.op(inner, dim=place)
    return new.expand(shape=node.shape)


def _without_kept_dimensions(node: Node) -> Node | None:
    """x.sum(dim=1, keepdim=True).squeeze(1) = x.sum(dim=1); so it is for x.argmin(dim=1)."""
    kept = node.parents[0]
    reduces = kept.op.family == "reduction" or kept.op.finds_places
    if not reduces or not kept.attrs.get("keepdim"):
        return None
    new = kept.op(*kept.inputs, **kept.attrs | {"keepdim": False})
    return new if new.shape == node.shape else None


def picks(item) -> bool:
    return isinstance(item, Array | tuple)


@layout("put_at")
def by_selection(node: Node) -> Node | None:
    """v put at row 0 = outer(eye(n)[0], v); at rows [0, 2] = eye(n)[[0, 2]].T @ v."""
    v, shape = node.parents[0], node.shape
    index = node.attrs["index"]
    if not 1 <= len(shape) <= 2 or any(is_hard(item) for item in index):
        return None
    full = full_index(index, len(shape))
    if sum(map(picks, full)) > 1 or v.shape != picked_shape(shape, index):
        return None
    if len(shape) == 1:
        return _along(v, shape[0], full[0])
    rows, columns = full
    if not isinstance(columns, int):
        v = _along(v, shape[1], columns)
        return _down(v, shape[0], rows)
    if not isinstance(rows, int):
        return OPS["outer"](_along(v, shape[0], rows), _unit(shape[1], columns))
    return element(shape, rows, columns) if constant_value(v) == 1 else None


def element(shape: tuple[int, ...], row: int, column: int) -> Node:
    """The matrix that is 1 in one place and 0 elsewhere."""
    return OPS["outer"](_unit(shape[0], row), _unit(shape[1], column))


def picked_shape(shape: tuple[int, ...], index: tuple) -> tuple[int, ...]:
    """The shape of x[index], x having the shape given."""
    return OPS["ones"](size=shape)[index].shape


def is_hard(item) -> bool:
    odd = isinstance(item, Array) and (item.value.ndim != 1 or item.dtype == "bool")
    return item is None or odd or _nested(item)


def _nested(item) -> bool:
    return isinstance(item, tuple) and any(isinstance(i, tuple) for i in item)


def _unit(size: int, item) -> Node:
    return OPS["eye"](n=size)[(item,)]


def _along(v: Node, size: int, item) -> Node:
    """v put at `item` of the last dimension."""
    if item == slice(None):
        return v
    return at_unit(v, _unit(size, item)) if isinstance(item, int) else v @ _unit(size, item)


def at_unit(v: Node, unit: Node) -> Node:
    """v where a unit vector is 1, elsewhere 0."""
    return unit if constant_value(v) == 1 else v * unit


def _down(v: Node, size: int, item) -> Node:
    """v put at `item` of the last but one dimension."""
    if item == slice(None):
        return v
    return OPS["outer"](_unit(size, item), v) if isinstance(item, int) else _unit(size, item).mT @ v


@rule("sum")
def sum_of_scattered(node: Node) -> Node | None:
    """Scattering along dim moves elements only along dim: the sum over it stays."""
    x = node.parents[0]
    dim = node.attrs["dim"]
    if x.op.name != "scatter_to" or dim is None:
        return None
    v, place = x.parents[0], axis(x.attrs["dim"], x.ndim)
    others = all(a == b for d, (a, b) in enumerate(zip(v.shape, x.shape)) if d != place)
    return (
        v.sum(dim=dim, keepdim=node.attrs["keepdim"])
        if axes(dim, x.ndim) == (place,) and others
        else None
    )


@normal(*RESHAPING)
def number_in_a_shape(node: Node) -> Node | None:
    """(2).reshape(1, 1) = full((1, 1), 2.0)."""
    x = node.parents[0]
    value = x.attrs["value"] if x.op.name == "constant" else None
    if value is None or not node.shape or node.dtype != "float":
        return None
    return OPS["full"](size=node.shape, fill_value=value)


@normal("gather")
def values_in_order(node: Node) -> Node | None:
    """x.gather(-1, sort(x).indices) = sort(x).values."""
    x, index = node.parents
    values = VALUES.get(index.op.name)
    if values is None or index.parents[0] is not x:
        return None
    same = axis(index.attrs["dim"], x.ndim) == axis(node.attrs["dim"], x.ndim)
    return OPS[values](x, **index.attrs) if same else None


@layout("scatter_to")
def by_comparison(node: Node) -> Node | None:
    """v.scatter_to(x.shape, 1, index) = v * (index == arange(x.shape[1])) for one index a row."""
    v, index = node.parents
    last = node.ndim - 1
    one = index.ndim == node.ndim and index.shape == (*node.shape[:-1], 1)
    if axis(node.attrs["dim"], node.ndim) != last or not one or v.dtype != "float":
        return None
    here = index.eq(OPS["arange"](end=node.shape[last]))
    new = here.double() if constant_value(v) == 1 else v * here
    return new if new.shape == node.shape else None


@rule("elementwise")
def known_masks(node: Node) -> Node | None:
    """A comparison of known numbers that holds everywhere, or nowhere; of an input's, only that
    labels are not below 0: t != -100.
    """
    if node.dtype != "bool" or node.numel == 0 or not all(map(_known, node.inputs)):
        return None
    numbers = [i.attrs["data"] for i in node.parents if i.op.name == "tensor"]
    if not numbers or (any(n.node for n in numbers) and not _is_below(node.parents[-1], numbers)):
        return None
    from ....backends.numeric import Evaluator

    value = np.asarray(Evaluator({})(node)[0])
    if value.all() or not value.any():
        return OPS["full"](size=node.shape, fill_value=bool(value.flat[0]))
    return None


def _is_below(bound: Node, labels: Sequence[Array]) -> bool:
    """Whether a number is below 0, and labels are not."""
    value = constant_value(bound)
    return value is not None and value < 0 and all(np.min(n.value) >= 0 for n in labels)


def _known(node: Node | None) -> bool:
    return node is not None and node.op.name in ("tensor", "constant") and node.numel <= MOST


@rule("getitem")
def all_of_it(node: Node) -> Node | None:
    """x[:, :] = x; a part of ones is ones."""
    x, index = node.parents[0], node.attrs["index"]
    if x.op.name in ("ones", "zeros"):
        return x.op(size=node.shape)
    whole = not any(map(picks, index)) and all(i in (slice(None), Ellipsis) for i in index)
    return x if whole else None
