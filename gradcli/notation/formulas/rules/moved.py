"""Elements that are moved and moved back, or put where there is no other place."""

from collections.abc import Iterator

from ....graphs import OPS, Node, walk
from ....graphs.shapes import Shape, axes, numel
from ....operators.indexing import full_index
from .factoring import MOST_TERMS
from .products import build, constant_value
from .put import beside_what_is_put
from .registry import normal, other, rule
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


@normal("getitem")
def last_of_running(node: Node) -> Node | None:
    """x.cumprod(dim=1)[:, -1] = x.prod(dim=1); x.cumsum(0)[-1] = x.sum(0)."""
    running, index = node.parents[0], node.attrs["index"]
    if running.op.name not in WHOLE or any(not isinstance(i, PLAIN) for i in index):
        return None
    (x,), (dim,) = running.parents, axes(running.attrs["dim"], running.ndim) or (0,)
    full = full_index(index, x.ndim)
    if any((i != slice(None)) != (d == dim) for d, i in enumerate(full)):
        return None
    last = full[dim] in (-1, x.shape[dim] - 1)
    return OPS[WHOLE[running.op.name]](x, dim=dim) if last else None


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


@rule("matmul")
def number_as_a_matrix(node: Node) -> Node | None:
    """ones(1, 1) @ A = A."""
    for one, matrix in (node.parents, node.parents[::-1]):
        if one.shape == (1, 1) and constant_value(one) == 1 and matrix.ndim == 2:
            return matrix
    return None


@rule("reshape")
def row_for_a_column(node: Node) -> Node | None:
    """x.unsqueeze(1).T.reshape(2, 3) = x.reshape(2, 3)."""
    turned = node.parents[0]
    if turned.op.name != "transpose" or turned.ndim != 2 or 1 not in turned.shape:
        return None
    return turned.parents[0].reshape(shape=node.shape)


@normal("sum")
def sum_of_a_reshape(node: Node) -> Node | None:
    """x.reshape(2, 1, 1, 3).sum(dim=(0, 2)) = x.sum(dim=0).unsqueeze(0), for an x of shape (2, 3):
    sizes of 1 are neither summed nor needed.
    """
    laid, dim = node.parents[0], node.attrs["dim"]
    if laid.op.name != "reshape" or dim is None:
        return None
    (x,), over = laid.parents, axes(dim, laid.ndim)
    long = [d for d, n in enumerate(laid.shape) if n > 1]
    if [laid.shape[d] for d in long] != [*x.shape] or len(long) == laid.ndim:
        return None
    mine = tuple(k for k, d in enumerate(long) if d in over)
    total = x.sum(dim=mine if len(mine) > 1 else mine[0]) if mine else x
    if total.shape == node.shape:
        return total
    return total.reshape(shape=node.shape) if total.shape else total.expand(shape=node.shape)


@normal("sum")
def whole_dimensions_summed(node: Node) -> Node | None:
    """x.reshape(2, 3, 5, 7).sum(dim=(1, 2)) = x.sum(dim=1) for an x of shape (2, 15, 7)."""
    laid, dim = node.parents[0], node.attrs["dim"]
    if laid.op.name != "reshape" or dim is None or node.attrs["keepdim"]:
        return None
    (x,), over = laid.parents, set(axes(dim, laid.ndim))
    apart = _taken_apart(x.shape, laid.shape) or []
    whole = tuple(d for d, parts in enumerate(apart) if over.issuperset(parts))
    if not whole or {k for d in whole for k in apart[d]} != over:
        return None
    total = x.sum(dim=whole if len(whole) > 1 else whole[0])
    return total if total.shape == node.shape else total.reshape(shape=node.shape)


def _taken_apart(shape: Shape, new: Shape) -> list[list[int]] | None:
    """The dimensions that each dimension is reshaped into; None where they are not told apart."""
    out: list[list[int]] = []
    places = iter(enumerate(new))
    for n in shape:
        parts: list[int] = []
        while numel([new[k] for k in parts]) < n and (place := next(places, None)) is not None:
            parts.append(place[0])
        if n < 2 or numel([new[k] for k in parts]) != n:
            return None
        out.append(parts)
    return None if 1 in new else out


@rule("getitem")
def one_of_equals(node: Node) -> Node | None:
    """x.unsqueeze(1).expand(3, 5)[:, 0] = x."""
    wide, index = node.parents[0], node.attrs["index"]
    if wide.op.name != "expand" or any(not isinstance(i, int | slice) for i in index):
        return None
    full, (x,) = full_index(index, wide.ndim), wide.parents
    lead = wide.ndim - x.ndim
    picked = [d for d, i in enumerate(full) if isinstance(i, int)]
    if not picked or any(i != slice(None) for d, i in enumerate(full) if d not in picked):
        return None
    if any(d >= lead and x.shape[d - lead] != 1 for d in picked):
        return None
    rest = tuple(n for d, n in enumerate(x.shape, lead) if d not in picked)
    found = x if rest == x.shape else x.reshape(shape=rest)
    return found if rest == node.shape else found.expand(shape=node.shape)


@normal("squeeze")
def squeezed_before(node: Node) -> Node | None:
    """(x.sum(dim=0, keepdim=True) / v).squeeze(0) = x.sum(dim=0) / v, for a vector v."""
    x = node.parents[0]
    if x.op.family != "elementwise" or node.ndim != x.ndim - 1 or node.shape != x.shape[1:]:
        return None
    beside = any(0 < i.ndim < x.ndim for i in x.parents)
    if not beside or x.shape[0] != 1 or len(x.parents) != len(x.inputs):
        return None
    inputs = [i.squeeze(dim=0) if i.ndim == x.ndim else i for i in x.parents]
    return x.op(*inputs, **x.attrs)
