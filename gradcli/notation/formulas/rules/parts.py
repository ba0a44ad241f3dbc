"""Parts of parts, and parts put beside each other."""

from typing import Any, NamedTuple

from ....graphs import OPS, Node
from ....graphs.shapes import Shape
from ....operators.indexing import full_index
from .matrices import is_unit
from .products import Product, build, with_factor
from .registry import normal, other
from .sums import terms_of


@normal("getitem")
def part_of_a_part(node: Node) -> Node | None:
    """x[:, :4][:, 1:] = x[:, 1:4]."""
    inner = node.parents[0]
    if inner.op.name != "getitem":
        return None
    x, first = inner.parents[0], _spans(inner.attrs["index"], inner.parents[0].shape)
    then = full_index(node.attrs["index"], inner.ndim)
    if first is None or any(not isinstance(i, slice | int) for i in then):
        return None
    items = zip(then, first, x.shape, strict=True)
    index = [_within(item, start, stop, size) for item, (start, stop), size in items]
    return None if None in index else x[tuple(index)]


@other("getitem")
def new_dimensions(node: Node) -> Node | None:
    """x[None, :] = x.unsqueeze(0); x[:, None] = x.unsqueeze(1)."""
    out, index = node.parents[0], full_index(node.attrs["index"], node.parents[0].ndim)
    if any(i is not None and i != slice(None) for i in index) or None not in index:
        return None
    for dim in (d for d, item in enumerate(index) if item is None):
        out = out.unsqueeze(dim=dim)
    return out


def _spans(index: tuple, shape: Shape) -> list[tuple[int, int]] | None:
    """Start and stop along each dimension; None where an index holds more than plain slices."""
    full = full_index(index, len(shape))
    if any(not isinstance(i, slice) or i.step not in (None, 1) for i in full):
        return None
    spans = [i.indices(size)[:2] for i, size in zip(full, shape, strict=True)]
    return [(start, max(start, stop)) for start, stop in spans]


def _within(item: slice | int, start: int, stop: int, size: int) -> Any:
    """An item of an index into x[start:stop] as one into x; None where it has a step."""
    if isinstance(item, int):
        return start + item % (stop - start)
    if item.step not in (None, 1):
        return None
    a, b, _ = item.indices(stop - start)
    return slice(start + a or None, None if start + b == size else start + b)


class Laid(NamedTuple):
    """What is put into zeros along one dimension, and from where to where."""

    dim: int
    start: int
    stop: int
    value: Node


@other("add", "sub")
def put_beside_each_other(node: Node) -> Node | None:
    """a.put_at((4,), (slice(2),)) + b.put_at((4,), (slice(2, None),)) = cat([a, b])."""
    parts = [_laid(p, node.shape) for p in terms_of(node) or ()]
    if len(parts) < 2 or any(p is None or p.dim != parts[0].dim for p in parts):  # type: ignore[union-attr]
        return None
    laid = sorted((p for p in parts if p is not None), key=lambda p: p.start)
    dim = laid[0].dim
    ends = [0, *(p.stop for p in laid)]
    if ends != [*(p.start for p in laid), node.shape[dim]]:
        return None
    return OPS["cat"]([p.value for p in laid], dim=dim)


@other("add", "sub")
def put_as_rows(node: Node) -> Node | None:
    """a.put_at((2, 3), (0,)) + b.put_at((2, 3), (1,)) = stack([a, b])."""
    rows: dict[tuple[int, int], Node] = {}  # by dimension and place
    for p in terms_of(node) or ():
        result = _row(p, node.shape)
        if result is None:
            return None
        at, value = result
        rows[at] = rows[at] + value if at in rows else value
    dims = {d for d, _ in rows}
    if len(rows) < 2 or len(dims) > 1 or any(v.op.name == "constant" for v in rows.values()):
        return None
    (dim,) = dims
    places = sorted(place for _, place in rows)
    if places != [*range(node.shape[dim])]:
        return None
    return OPS["stack"]([rows[dim, place] for place in places], dim=dim)


def _row(p: Product, shape: Shape) -> tuple[tuple[int, int], Node] | None:
    """A term as what it puts at one place of one dimension of a shape; None for any other."""
    whole = next((f for f, e in p.factors.items() if f.op.name == "put_at" and e == 1), None)
    rest = p.without(whole).factors
    if whole is None or whole.shape != shape or any(f.shape for f in rest):
        return None
    full, v = full_index(whole.attrs["index"], len(shape)), whole.parents[0]
    at = [(d, i % shape[d]) for d, i in enumerate(full) if isinstance(i, int)]
    others = [i for i in full if not isinstance(i, int)]
    if len(at) != 1 or any(i != slice(None) for i in others) or v.ndim + 1 != len(shape):
        return None
    return at[0], build(Product(p.coefficient, with_factor(rest, v)), v.shape)


def _laid(p: Product, shape: Shape) -> Laid | None:
    """A term as what it puts into zeros of a shape; None for any other."""
    whole = [f for f, e in p.factors.items() if f.shape == shape and e == 1]
    if len(whole) != 1 or any(f.shape for f in p.factors if f is not whole[0]):
        return None
    result = _put(whole[0])
    if result is None:
        return None
    rest = p.without(whole[0]).factors
    size = tuple(result.stop - result.start if d == result.dim else n for d, n in enumerate(shape))
    return result._replace(
        value=build(Product(p.coefficient, with_factor(rest, result.value)), size)
    )


def _put(f: Node) -> Laid | None:
    """v.put_at(...) with one slice, also as v @ eye(n)[1:]."""
    if f.op.name == "matmul":
        v, rows = f.parents
        unit = rows.parents[0] if rows.op.name == "getitem" else rows
        if unit is rows or not is_unit(unit) or rows.ndim != 2:
            return None
        spans, dim = _spans(rows.attrs["index"], unit.shape), f.ndim - 1
        return None if spans is None or spans[1] != (0, f.shape[-1]) else Laid(dim, *spans[0], v)
    spans = _spans(f.attrs["index"], f.shape) if f.op.name == "put_at" else None
    dims = [d for d, span in enumerate(spans or ()) if span != (0, f.shape[d])]
    return Laid(dims[0], *spans[dims[0]], f.parents[0]) if spans and len(dims) == 1 else None
