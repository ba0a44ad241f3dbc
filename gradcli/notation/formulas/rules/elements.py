"""Tensors that are put together from elements, rows or columns at known places: stacks.

v.put_at(shape, index) is zeros(shape) with v added at the index.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from ....graphs import OPS, Node
from ....graphs.shapes import Shape, axis
from ....operators.indexing import full_index
from .blocks import scattered_term
from .factoring import terms_of
from .matrices import is_unit
from .products import ONE, Product, build, constant_value, product_of
from .registry import candidate

MOST = 16  # elements, rows or columns of a stack
Place = tuple[int, ...]


class Parts(NamedTuple):
    """The parts of a tensor that is 0 elsewhere, by their places in the dimensions `dims`."""

    dims: tuple[int, ...]
    at: Mapping[Place, Node]


@candidate("add", "sub")
def stack_from_sum(node: Node) -> Node | None:
    """a.put_at((2,), (0,)) + 2 * eye(2)[1] = stack([a, 2.0]), and with rows or columns of a matrix
    in place of elements. Elements of a matrix become a stack of its rows.
    """
    terms = [_parts_of_term(t, node.shape) for t in terms_of(node) or ()]
    parts = _sum([t for t in terms if t is not None])
    sizes = [node.shape[d] for d in parts.dims] if parts else []
    if parts is None or None in terms or not 2 * len(parts.at) > prod(sizes) <= MOST:
        return None
    return _stacked(parts, sizes) if len(parts.at) > 1 else None


def _sum(terms: Sequence[Parts]) -> Parts | None:
    """The sum of terms with parts in the same dimensions; None for other terms."""
    if len({t.dims for t in terms}) != 1:
        return None
    total: dict[Place, Node] = {}
    for term in terms:
        for place, value in term.at.items():
            total[place] = total[place] + value if place in total else value
    return Parts(terms[0].dims, total)


def _stacked(parts: Parts, sizes: Sequence[int], place: Place = ()) -> Node:
    """Nested stacks of the parts whose places begin with `place`."""
    depth = len(place)
    if depth == len(sizes):
        shape = next(iter(parts.at.values())).shape
        return parts.at[place] if place in parts.at else OPS["zeros"](size=shape)
    inner = [_stacked(parts, sizes, (*place, k)) for k in range(sizes[depth])]
    return OPS["stack"](inner, dim=parts.dims[depth] - depth)


def _parts_of_term(term: Product, shape: Shape) -> Parts | None:
    """The parts of a term of a sum; None if it has none."""
    scattered = scattered_term(term, shape)
    if scattered is not None:
        whole, inner = scattered
        return _put_parts(whole, build(inner, whole.parents[0].shape))
    tensors = [f for f in term.factors if f.shape]
    parts = _parts(tensors[0]) if len(tensors) == 1 and tensors[0].shape == shape else None
    if parts is None or term.factors[tensors[0]] != 1:
        return None
    scale = term.without(tensors[0])
    return Parts(parts.dims, {k: build(_times(scale, v), v.shape) for k, v in parts.at.items()})


def _times(scale: Product, part: Node) -> Product:
    inner = product_of(part)
    return scale.times({part: 1} if inner is None else inner.factors, inner.coefficient if inner else ONE)


def _put_parts(whole: Node, value: Node) -> Parts | None:
    """The only part of a value that is put at one place; None if the place is not made of numbers
    and whole dimensions.
    """
    index = full_index(whole.attrs["index"], whole.ndim)
    dims = tuple(d for d, i in enumerate(index) if isinstance(i, int))
    others = [i for i in index if not isinstance(i, int)]
    if any(i != slice(None) for i in others) or value.ndim != len(others) or not dims:
        return None
    return Parts(dims, {tuple(index[d] % whole.shape[d] for d in dims): value})


def _parts(node: Node) -> Parts | None:
    """The parts of a row of an identity matrix, of an outer product of such rows, or of a stack."""
    one = OPS["constant"](value=1.0)
    if node.op.name == "stack":
        dim = axis(node.attrs["dim"], node.ndim)
        rows = [_parts(part) for part in node.parents] if node.ndim == 2 and not dim else [None]
        if None in rows:
            return Parts((dim,), {(k,): part for k, part in enumerate(node.parents)})
        return Parts((0, 1), {(k, *p): v for k, row in enumerate(rows) for p, v in row.at.items()})
    units = [_unit_place(row) for row in (node.parents if node.op.name == "outer" else [node])]
    return None if None in units else Parts(tuple(range(node.ndim)), {tuple(units): one})


def _unit_place(x: Node) -> int | None:
    """k for eye(n)[k]; None for any other node."""
    if x.op.name != "getitem" or not is_unit(x.parents[0]):
        return None
    index = x.attrs["index"]
    return index[0] % x.numel if len(index) == 1 and isinstance(index[0], int) else None


@candidate("stack")
def whole_from_stack(node: Node) -> Node | None:
    """stack([x[0], x[1]]) = x and stack([sin(x[0]), sin(x[1])]) = sin(x), for all elements of x."""
    return _whole(node.parents, axis(node.attrs["dim"], node.ndim))


def _whole(parts: Sequence[Node], dim: int) -> Node | None:
    """The tensor with these parts along a dimension; or, if they are equal, one that is broadcast
    to it; None if there is none.
    """
    first = parts[0]
    if all(p is first for p in parts):
        return first.unsqueeze(dim=dim) if first.ndim else first
    if any(p.op is not first.op or len(p.inputs) != len(first.inputs) for p in parts):
        return None
    if first.op.name == "getitem":
        return _read(parts, dim)
    if first.op.family != "elementwise" or any(p.attrs != first.attrs for p in parts):
        return None
    inputs = [_whole(operands, dim) for operands in zip(*(p.parents for p in parts), strict=True)]
    return None if None in inputs else first.op(*inputs, **first.attrs)


def _read(parts: Sequence[Node], dim: int) -> Node | None:
    """The tensor whose parts along a dimension are read by getitem; None if it is none."""
    (x,) = parts[0].parents
    indices = [full_index(p.attrs["index"], x.ndim) for p in parts]
    if any(p.parents[0] is not x for p in parts) or any(len(i) != x.ndim for i in indices):
        return None
    along = [d for d, items in enumerate(zip(*indices)) if any(i != items[0] for i in items)]
    if len(along) != 1 or x.shape[along[0]] != len(parts):
        return None
    (d,), index = along, indices[0]
    in_order = [i[d] for i in indices] == [*range(len(parts))]
    before = sum(isinstance(i, slice) for i in index[:d])
    whole = (*index[:d], slice(None), *index[d + 1 :])
    return x[whole] if in_order and before == dim else None


@candidate("stack")
def factors_out_of_stack(node: Node) -> Node | None:
    """stack([s * a, s * b]) = s * stack([a, b]) for a scalar s, or a number."""
    products = [product_of(p) for p in node.parents]
    if None in products:
        return None
    first, *others = (p for p in products if p.coefficient)
    shared = {
        f: e
        for f, e in first.factors.items()
        if not f.shape and all(p.factors.get(f) == e for p in others)
    }
    same = all(abs(p.coefficient) == abs(first.coefficient) for p in others)
    number = first.coefficient if same else ONE
    if not shared and number == 1:
        return None
    rest = [p._replace(coefficient=p.coefficient / number).without(*shared) for p in products]
    inner = [build(p, n.shape) for p, n in zip(rest, node.parents, strict=True)]
    return build(Product(number, {**shared, node.op(inner, **node.attrs): 1}), node.shape)


@candidate("mul", "div", "neg")
def factors_into_stack(node: Node) -> Node | None:
    """s * stack([a, b]) = stack([s * a, s * b]) for a scalar s, or a number."""
    product = product_of(node)
    stacks = [] if product is None else [f for f in product.once("stack") if f.shape == node.shape]
    if len(stacks) != 1 or any(f.shape for f in product.factors if f is not stacks[0]):
        return None
    (stack,) = stacks
    scale = product.without(stack)
    inner = [build(_times(scale, p), p.shape) for p in stack.parents]
    return stack.op(inner, **stack.attrs)
