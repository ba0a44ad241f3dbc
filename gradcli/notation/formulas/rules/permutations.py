"""Elements that are moved and moved back, or put where there is no other place."""

from collections.abc import Iterator

from ....graphs import Node, walk
from ....graphs.shapes import axes
from ....operators.indexing import full_index
from .factoring import MOST_TERMS
from .products import build, constant_value
from .registry import normal, other, rule
from .scatter_add import beside_what_is_put
from .sums import terms_of

WHOLE = {"cumsum": "sum", "cumprod": "prod"}
PLAIN = (int, slice, type(...))  # items of an index


@rule("flip")
def turned_back(node: Node) -> Node | None:
    """x.flip(0).flip(0) = x; x.flip(0).flip(1) = x.flip((0, 1))."""
    inner = node.parents[0]
    if inner.op is not node.op:
        return None
    (x,) = inner.parents
    both = {*axes(node.attrs["dims"], x.ndim)} ^ {*axes(inner.attrs["dims"], x.ndim)}
    return node.op(x, dims=tuple(sorted(both))) if both else x


@normal("flip")
def turned_within(node: Node) -> Node | None:
    """(exp(x.flip(0)) * y.flip(0)).flip(0) = exp(x) * y."""
    x = node.parents[0]
    if x.op is node.op or not _is_turned(x, node):
        return None
    inputs = [i if i is None or not i.shape else node.op(i, **node.attrs) for i in x.inputs]
    return x.op(*inputs, **x.attrs)


def _is_turned(x: Node, as_in: Node) -> bool:
    """Whether x is flipped as another node is, or computed element by element of what is."""

    def within(n: Node) -> list[Node]:
        return [i for i in n.parents if i.shape] if n.op.family == "elementwise" else []

    def is_turned(n: Node) -> bool:
        if n.op is as_in.op:
            return axes(n.attrs["dims"], n.ndim) == axes(as_in.attrs["dims"], as_in.ndim)
        return bool(within(n)) and all(i.shape == n.shape for i in within(n))

    return all(map(is_turned, walk([x], within)))


@rule("flip")
def alike_both_ways(node: Node) -> Node | None:
    """ones(3).flip(0) = ones(3); s.expand(3).flip(0) = s.expand(3)."""
    x = node.parents[0]
    if constant_value(x) is not None:
        return x
    if x.op.name != "expand":
        return None
    lead = x.ndim - x.parents[0].ndim
    turned = axes(node.attrs["dims"], x.ndim)
    return x if all(d < lead or x.parents[0].shape[d - lead] == 1 for d in turned) else None


@rule("roll")
def rolled_together(node: Node) -> Node | None:
    """x.roll(1).roll(2) = x.roll(3); x.roll(1).roll(-1) = x; ones that roll are ones."""
    inner = node.parents[0]
    if constant_value(inner) is not None:
        return inner
    both = [n.attrs["shifts"] for n in (node, inner) if n.op is node.op]
    if len(both) < 2 or any(isinstance(n, tuple) for n in both):
        return None
    (x,), dims = inner.parents, [_one(n.attrs["dims"], n.ndim) for n in (node, inner)]
    if dims[0] != dims[1]:
        return None
    return node.op(x, **node.attrs | {"shifts": sum(both)}) if sum(both) else x


def _one(dims: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...] | None:
    return None if dims is None and ndim != 1 else axes(dims, ndim)


@other("roll", "flip")
def moved_apart(node: Node) -> Iterator[Node]:
    """(x - x.roll(1)).roll(-1) = x.roll(-1) - x."""
    terms = terms_of(node.parents[0]) or []
    if 2 <= len(terms) <= MOST_TERMS:
        out = [node.op(build(t, node.shape), **node.attrs) for t in terms]
        yield sum(out[1:], start=out[0])


@rule("getitem")
def picked_where_it_was_put(node: Node) -> Node | None:
    """pad(x, (1, 1))[1:-1] = x."""
    put = node.parents[0]
    if put.op.name != "put_at" or put.parents[0].shape != node.shape:
        return None
    put_at, picked = (n.attrs["index"] for n in (put, node))
    if any(not isinstance(i, PLAIN) for i in (*put_at, *picked)):
        return None
    places = [
        [range(n)[i] for i, n in zip(full_index(index, put.ndim), put.shape, strict=True)]
        for index in (put_at, picked)
    ]
    return put.parents[0] if places[0] == places[1] else None


@rule("cumsum")
def summed_from_the_only_place(node: Node) -> Node | None:
    """v.put_at((4, 3), (-1,)).flip(0).cumsum(0) = v.unsqueeze(0).expand(4, 3); so it is where the
    put is beside a factor.
    """
    turned = node.parents[0]
    put = turned.parents[0] if turned.op.name == "flip" else node
    put = beside_what_is_put(put) or put
    (dim,) = axes(node.attrs["dim"], node.ndim) or (-1,)
    if put.op.name != "put_at" or axes(turned.attrs["dims"], node.ndim) != (dim,):
        return None
    index = put.attrs["index"]
    if any(not isinstance(i, PLAIN) for i in index):
        return None
    full, last = full_index(index, node.ndim), (-1, node.shape[dim] - 1)
    if full[dim] not in last or any(i != slice(None) for d, i in enumerate(full) if d != dim):
        return None
    (v,) = put.parents
    rest = tuple(n for d, n in enumerate(node.shape) if d != dim)
    if v.shape != rest:
        return None
    return (v.unsqueeze(dim=dim) if v.shape else v).expand(shape=node.shape)


@rule("put_at")
def put_into_the_only_place(node: Node) -> Node | None:
    """v.put_at((1, 3), (0,)) = v.unsqueeze(0)."""
    (x,), index, shape = node.parents, node.attrs["index"], node.shape
    if any(not isinstance(i, int | slice) for i in index):
        return None
    full = full_index(index, len(shape))
    picked = [isinstance(i, int) for i in full]
    if not any(picked) or any(i != slice(None) for i, one in zip(full, picked) if not one):
        return None
    if any(n != 1 for n, one in zip(shape, picked) if one):
        return None
    return x.reshape(shape=shape) if x.numel == node.numel else None
