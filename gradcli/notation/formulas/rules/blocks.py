"""Sums of values that are scattered into zeros, rewritten as `cat` and `stack`.

v.put_at(shape, index) is zeros(shape) with v at the index.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ....graphs import OPS, Node
from ....graphs.shapes import Shape, axis
from ....operators.indexing import full_index
from .factoring import sum_of, terms_of
from .matrices import is_unit
from .products import ONE, Product, build
from .registry import candidate, rule

MOST = 12  # terms of a sum, above which no blocks are searched for


class Block(NamedTuple):
    """A value scattered into zeros at a slice of one dimension."""

    dim: int
    at: range
    value: Node


@candidate("add", "sub")
def joined_blocks(node: Node) -> Iterator[Node]:
    """a.put_at((4,), (slice(2),)) + b.put_at((4,), (slice(2, None),)) = cat([a, b]), and
    a.put_at((4,), (slice(0, 4, 2),)) + b.put_at((4,), (slice(1, 4, 2),)) =
    stack([a, b], dim=1).reshape(4); other terms remain.
    """
    terms = terms_of(node) or []
    if not 2 <= len(terms) <= MOST:
        return
    blocks = {k: b for k, t in enumerate(terms) if (b := _block_of_term(t, node.shape))}
    for dim, step in dict.fromkeys((b.dim, b.at.step) for b in blocks.values()):
        alike = {k: b for k, b in blocks.items() if (b.dim, b.at.step) == (dim, step)}
        joined = _joined([*alike.values()], node.shape)
        if joined is not None:
            rest = [t for k, t in enumerate(terms) if k not in alike]
            yield sum_of([*rest, Product(ONE, {joined: 1})]) if rest else joined


def _joined(blocks: list[Block], shape: Shape) -> Node | None:
    """The sum of blocks with the same dimension and step, as `cat` or `stack`, if together they
    cover the dimension exactly once; else None.
    """
    dim, step = blocks[0].dim, blocks[0].at.step
    values: dict[range, Node] = {}
    for b in blocks:
        values[b.at] = values[b.at] + b.value if b.at in values else b.value
    places = sorted(values, key=lambda at: at.start)
    ordered = [values[at] for at in places]
    if step == 1:
        ends = [0, *(at.stop for at in places)]
        complete = len(places) > 1 and ends == [*(at.start for at in places), shape[dim]]
        return OPS["cat"](ordered, dim=dim) if complete else None
    if places != [range(k, shape[dim], step) for k in range(step)] or shape[dim] % step:
        return None
    after = -1 if dim + 1 == len(shape) else dim + 1
    return OPS["stack"](ordered, dim=after).reshape(shape=shape)


@rule("getitem")
def item_of_a_stack(node: Node) -> Node | None:
    """stack([a, b], dim=1)[:, 0] = a."""
    stack = node.parents[0]
    if stack.op.name != "stack":
        return None
    index, dim = full_index(node.attrs["index"], stack.ndim), axis(stack.attrs["dim"], stack.ndim)
    if len(index) != stack.ndim or not isinstance(index[dim], int):
        return None
    rest = (*index[:dim], *index[dim + 1 :])
    part = stack.parents[index[dim]]
    return part if all(i == slice(None) for i in rest) else None


@candidate("getitem")
def every_nth(node: Node) -> Node | None:
    """x.reshape(2, 3, 2)[:, :, 1] = x[:, 1::2] for a 2x6 x."""
    split = node.parents[0]
    index = full_index(node.attrs["index"], split.ndim)
    chosen = [d for d, item in enumerate(index) if isinstance(item, int)]
    if split.op.name != "reshape" or len(chosen) != 1 or chosen[0] == 0:
        return None
    x = split.parents[0]
    (d,) = chosen
    n, step = split.shape[d - 1 : d + 1]
    others = [item for k, item in enumerate(index) if k not in (d - 1, d)]
    if x.shape != (*split.shape[: d - 1], n * step, *split.shape[d + 1 :]):
        return None
    if index[d - 1] != slice(None) or any(item != slice(None) for item in others):
        return None
    return x[(*index[: d - 1], slice(index[d] % step or None, None, step), *index[d + 1 :])]


@candidate("add", "sub")
def stack_from_put_at(node: Node) -> Node | None:
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
    scattered, inner = scattered_term(p, shape) or (None, p)
    if scattered is None:
        return None
    full, v = full_index(scattered.attrs["index"], len(shape)), scattered.parents[0]
    positions = [(d, i % shape[d]) for d, i in enumerate(full) if isinstance(i, int)]
    slices = [i for i in full if not isinstance(i, int)]
    if len(positions) != 1 or any(i != slice(None) for i in slices) or v.ndim + 1 != len(shape):
        return None
    return positions[0], build(inner, v.shape)


def scattered_term(t: Product, shape: Shape) -> tuple[Node, Product] | None:
    """The put_at of a term, and its value times the scalars; None for other terms."""
    whole = next(iter(t.once("put_at")), None)
    rest = t.without(whole)
    if whole is None or whole.shape != shape or any(f.shape for f in rest.factors):
        return None
    return whole, rest.times({whole.parents[0]: 1})


def _block_of_term(p: Product, shape: Shape) -> Block | None:
    """The block of a term that scatters a value into zeros of a shape; None for any other term."""
    scattered = [f for f in p.once() if f.shape == shape and _block(f)]
    if len(scattered) != 1 or any(f.shape for f in p.factors if f is not scattered[0]):
        return None
    result = _block(scattered[0])
    if result is None:
        return None
    product = p.without(scattered[0]).times({result.value: 1})
    size = tuple(len(result.at) if d == result.dim else n for d, n in enumerate(shape))
    return result._replace(value=build(product, size))


def _block(f: Node) -> Block | None:
    """The block of v.put_at(...) with one slice, or of v @ eye(n)[1:]; None for any other node."""
    if f.op.name == "matmul":
        v, rows = f.parents
        unit = rows.parents[0] if rows.op.name == "getitem" else rows
        if unit is rows or not is_unit(unit) or rows.ndim != 2:
            return None
        at = _ranges(rows.attrs["index"], unit.shape)
        whole = at is not None and at[1] == range(f.shape[-1])
        return Block(f.ndim - 1, at[0], v) if at and whole else None
    at = _ranges(f.attrs["index"], f.shape) if f.op.name == "put_at" else None
    dims = [d for d, r in enumerate(at or ()) if r != range(f.shape[d])]
    return Block(dims[0], at[dims[0]], f.parents[0]) if at and len(dims) == 1 else None


def _ranges(index: tuple, shape: Shape) -> list[range] | None:
    """The positions that slices select along each dimension; None if an index is not a slice."""
    full = full_index(index, len(shape))
    if len(full) != len(shape) or any(not isinstance(i, slice) for i in full):
        return None
    return [range(n)[i] for i, n in zip(full, shape)]
