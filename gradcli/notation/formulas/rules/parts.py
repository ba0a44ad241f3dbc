"""Indexing of what is indexed; sums of tensors scattered into zeros, as `cat` and `stack`."""

from typing import Any, NamedTuple

from ....graphs import OPS, Node
from ....graphs.shapes import Shape
from ....operators.indexing import full_index
from .matrices import is_unit
from .products import Product, build, with_factor
from .registry import candidate, normal
from .sums import terms_of


@normal("getitem")
def part_of_a_part(node: Node) -> Node | None:
    """x[:, :4][:, 1:] = x[:, 1:4]."""
    inner = node.parents[0]
    if inner.op.name != "getitem":
        return None
    x, first = inner.parents[0], _spans(inner.attrs["index"], inner.parents[0].shape)
    outer = full_index(node.attrs["index"], inner.ndim)
    if first is None or any(not isinstance(i, slice | int) for i in outer):
        return None
    items = zip(outer, first, x.shape, strict=True)
    index = [_within(item, start, stop, size) for item, (start, stop), size in items]
    return None if None in index else x[tuple(index)]


@candidate("getitem")
def new_dimensions(node: Node) -> Node | None:
    """x[None, :] = x.unsqueeze(0); x[:, None] = x.unsqueeze(1)."""
    out, index = node.parents[0], full_index(node.attrs["index"], node.parents[0].ndim)
    if any(i is not None and i != slice(None) for i in index) or None not in index:
        return None
    for dim in (d for d, item in enumerate(index) if item is None):
        out = out.unsqueeze(dim=dim)
    return out


def _spans(index: tuple, shape: Shape) -> list[tuple[int, int]] | None:
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


class Block(NamedTuple):
    """A value that is scattered into zeros, at a slice of one dimension."""

    dim: int
    start: int
    stop: int
    value: Node


@candidate("add", "sub")
def put_beside_each_other(node: Node) -> Node | None:
    """a.put_at((4,), (slice(2),)) + b.put_at((4,), (slice(2, None),)) = cat([a, b])."""
    parts = [_block_of_term(p, node.shape) for p in terms_of(node) or ()]
    if len(parts) < 2 or any(p is None or p.dim != parts[0].dim for p in parts):  # type: ignore[union-attr]
        return None
    blocks = sorted((p for p in parts if p is not None), key=lambda p: p.start)
    dim = blocks[0].dim
    ends = [0, *(p.stop for p in blocks)]
    if ends != [*(p.start for p in blocks), node.shape[dim]]:
        return None
    return OPS["cat"]([p.value for p in blocks], dim=dim)


@candidate("add", "sub")
def put_as_rows(node: Node) -> Node | None:
    """a.put_at((2, 3), (0,)) + b.put_at((2, 3), (1,)) = stack([a, b])."""
    rows: dict[tuple[int, int], Node] = {}  # by dimension and index
    for p in terms_of(node) or ():
        result = _row_of_term(p, node.shape)
        if result is None:
            return None
        position, value = result
        rows[position] = rows[position] + value if position in rows else value
    dims = {d for d, _ in rows}
    if len(rows) < 2 or len(dims) > 1 or any(v.op.name == "constant" for v in rows.values()):
        return None
    (dim,) = dims
    places = sorted(place for _, place in rows)
    if places != [*range(node.shape[dim])]:
        return None
    return OPS["stack"]([rows[dim, place] for place in places], dim=dim)


def _row_of_term(p: Product, shape: Shape) -> tuple[tuple[int, int], Node] | None:
    """Dimension and index, and value, of a term that scatters one slice into zeros, or None."""
    scattered = next((f for f, e in p.factors.items() if f.op.name == "put_at" and e == 1), None)
    rest = p.without(scattered).factors
    if scattered is None or scattered.shape != shape or any(f.shape for f in rest):
        return None
    full, v = full_index(scattered.attrs["index"], len(shape)), scattered.parents[0]
    positions = [(d, i % shape[d]) for d, i in enumerate(full) if isinstance(i, int)]
    slices = [i for i in full if not isinstance(i, int)]
    if len(positions) != 1 or any(i != slice(None) for i in slices) or v.ndim + 1 != len(shape):
        return None
    return positions[0], build(Product(p.coefficient, with_factor(rest, v)), v.shape)


def _block_of_term(p: Product, shape: Shape) -> Block | None:
    """The block of a term that scatters a value into zeros of a shape; None for any other term."""
    scattered = [f for f, e in p.factors.items() if f.shape == shape and e == 1]
    if len(scattered) != 1 or any(f.shape for f in p.factors if f is not scattered[0]):
        return None
    result = _block(scattered[0])
    if result is None:
        return None
    rest = p.without(scattered[0]).factors
    size = tuple(result.stop - result.start if d == result.dim else n for d, n in enumerate(shape))
    return result._replace(
        value=build(Product(p.coefficient, with_factor(rest, result.value)), size)
    )


def _block(f: Node) -> Block | None:
    """The block of v.put_at(...) with one slice, or of v @ eye(n)[1:]; None for any other node."""
    if f.op.name == "matmul":
        v, rows = f.parents
        unit = rows.parents[0] if rows.op.name == "getitem" else rows
        if unit is rows or not is_unit(unit) or rows.ndim != 2:
            return None
        spans, dim = _spans(rows.attrs["index"], unit.shape), f.ndim - 1
        return None if spans is None or spans[1] != (0, f.shape[-1]) else Block(dim, *spans[0], v)
    spans = _spans(f.attrs["index"], f.shape) if f.op.name == "put_at" else None
    dims = [d for d, span in enumerate(spans or ()) if span != (0, f.shape[d])]
    return Block(dims[0], *spans[dims[0]], f.parents[0]) if spans and len(dims) == 1 else None
