"""Tensors that are put together from elements, rows or columns at known places: stacks.

v.put_at(shape, index) is zeros(shape) with v added at the index.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import NamedTuple

from ....graphs import OPS, Node
from ....graphs.shapes import Shape, axis
from ....operators.indexing import full_index
from .blocks import scattered_term
from .factoring import added, sum_of, terms_of, terms_of_sum
from .matrices import is_unit
from .products import (
    NOTHING,
    ONE,
    Product,
    build,
    common_powers,
    constant_value,
    is_scalar,
    magnitude,
    multiplied_by,
    product_of,
    scaled,
)
from .registry import candidate, normal, rule

MOST = 16  # elements, rows or columns of a stack
Place = tuple[int, ...]


class Parts(NamedTuple):
    """The parts of a tensor that is 0 elsewhere, by their places in the dimensions `dims`."""

    dims: tuple[int, ...]
    at: Mapping[Place, Node]

    def sizes(self, node: Node) -> Shape:
        """The sizes of these dimensions of the tensor."""
        return tuple(node.shape[d] for d in self.dims)


@rule("add", "sub")
def stack_from_sum(node: Node) -> Node | None:
    """a.put_at((2,), (0,)) + 2 * eye(2)[1] = stack([a, 2.0]), and with rows or columns of a matrix
    in place of elements. Elements of a matrix become a stack of its rows.
    """
    has_few = min(node.shape, default=MOST + 1) <= MOST
    parts = _parts_of_sum(node) if has_few else None
    if parts is None or not 1 < len(parts.at) > prod(parts.sizes(node)) / 2:
        return None
    return as_stack(node)


def as_stack(node: Node) -> Node | None:
    """A tensor with few elements, rows or columns as the stack of these; None if they are not
    known.
    """
    parts = _parts_of_sum(node)
    if parts is None or prod(parts.sizes(node)) > MOST:
        return None
    return _stacked(parts, parts.sizes(node))


def _parts_of_sum(node: Node) -> Parts | None:
    """The parts of a sum, all of whose terms have parts in the same dimensions; None for others."""
    terms: dict[Place, list[Product]] = {}
    dims: tuple[int, ...] | None = None
    for term in terms_of(node) or ():
        parts = _parts_of_term(term, node.shape)
        if parts is None or dims not in (None, parts.dims):
            return None
        dims = parts.dims
        for place, value in parts.at.items():
            terms.setdefault(place, []).append(product_of(value) or Product(ONE, {value: 1}))
    return None if dims is None else Parts(dims, {k: sum_of(ts) for k, ts in terms.items()})


def _stacked(parts: Parts, sizes: Sequence[int], place: Place = ()) -> Node:
    """Nested stacks of the parts whose places begin with `place`."""
    depth = len(place)
    if depth == len(sizes):
        shape = next(iter(parts.at.values())).shape
        zero = OPS["zeros"](size=shape) if shape else OPS["constant"](value=0.0)
        return parts.at.get(place, zero)
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
    return Parts(parts.dims, {place: _times(scale, v) for place, v in parts.at.items()})


def _times(scale: Product, part: Node) -> Node:
    """A part times scalars; a number is multiplied into the terms of a sum."""
    terms = [] if scale.factors else terms_of_sum(part)
    return added([multiplied_by(scale, t) for t in terms]) if terms else scaled(scale, part)


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
        rows = [_parts(part) for part in node.parents] if node.ndim == 2 and not dim else []
        known = [row for row in rows if row is not None]
        if not known or len(known) < len(rows):
            return Parts((dim,), {(k,): part for k, part in enumerate(node.parents)})
        return Parts((0, 1), {(k, *p): v for k, row in enumerate(known) for p, v in row.at.items()})
    units = node.parents if node.op.name == "outer" else [node]
    places = [place for x in units if (place := _unit_place(x)) is not None]
    at_one = len(places) == len(units) == node.ndim
    return Parts((*range(node.ndim),), {(*places,): one}) if at_one else None


def _unit_place(x: Node) -> int | None:
    """k for eye(n)[k]; None for any other node."""
    if x.op.name != "getitem" or not is_unit(x.parents[0]):
        return None
    index = x.attrs["index"]
    return index[0] % x.numel if len(index) == 1 and isinstance(index[0], int) else None


@normal("stack")
def zeros_in_stack(node: Node) -> Node | None:
    """Single zeros in a stack as numbers, as the writer expects."""
    zero = OPS["constant"](value=0.0)
    parts = [zero if p.op.name == "zeros" and not p.shape else p for p in node.parents]
    return None if parts == [*node.parents] else node.op(parts, **node.attrs)


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
    products = [p for part in node.parents if (p := product_of(part)) is not None]
    scalars = [p.split(is_scalar)[0] for p in products if p.coefficient]
    if len(products) < len(node.parents) or not scalars:
        return None
    first, *others = scalars
    shared = reduce(lambda p, q: Product(ONE, common_powers(p, q)), others, first).factors
    same = all(magnitude(p.coefficient) == magnitude(first.coefficient) for p in others)
    number = first.coefficient if same else ONE
    if not shared and number == 1:
        return None
    less = {f: -e for f, e in shared.items()}
    rest = [p.times(less, 1 / number) if p.coefficient else p for p in products]
    inner = [build(p, n.shape) for p, n in zip(rest, node.parents, strict=True)]
    return scaled(Product(number, shared), node.op(inner, **node.attrs))


@candidate("mul", "div", "neg")
def factors_into_stack(node: Node) -> Node | None:
    """s * stack([a, b]) = stack([s * a, s * b]) for a scalar s, or a number."""
    factors = product_of(node) or NOTHING
    tensors = [f for f in factors.factors if f.shape]
    if len(tensors) != 1 or tensors != factors.once("stack") or tensors[0].shape != node.shape:
        return None
    (stack,) = tensors
    scale = factors.without(stack)
    return stack.op([_times(scale, p) for p in stack.parents], **stack.attrs)


@candidate("stack")
def diagonal_from_stack(node: Node) -> Node | None:
    """stack([stack([a, 0]), stack([0, b])]) = stack([a, b]).diag()."""
    parts = _parts(node)
    if parts is None or parts.dims != (0, 1) or node.shape[0] != node.shape[1]:
        return None
    if any(constant_value(v) != 0 for (i, j), v in parts.at.items() if i != j):
        return None
    return OPS["stack"]([parts.at[k, k] for k in range(node.shape[0])]).diag()


@candidate("reshape")
def flat_stack(node: Node) -> Node | None:
    """stack([stack([a, b]), stack([c, d])]).reshape(4) = stack([a, b, c, d])."""
    parts = _parts(node.parents[0])
    if parts is None or parts.dims != (0, 1) or node.ndim != 1:
        return None
    rows, columns = node.parents[0].shape
    zero = OPS["constant"](value=0.0)
    places = product(range(rows), range(columns))
    return OPS["stack"]([parts.at.get(place, zero) for place in places])


@candidate("mul", "div")
def product_of_stacks(node: Node) -> Node | None:
    """stack([a, b]) * stack([c, d]) = stack([a * c, b * d])."""
    a, b = node.parents
    if not a.op.name == b.op.name == "stack" or a.shape != b.shape or a.attrs != b.attrs:
        return None
    return a.op([node.op(x, y) for x, y in zip(a.parents, b.parents, strict=True)], **a.attrs)


@candidate("matmul")
def dot_product_of_stacks(node: Node) -> Node | None:
    """stack([a, b]) @ stack([c, d]) = a * c + b * d."""
    a, b = node.parents
    if not a.op.name == b.op.name == "stack" or node.shape:
        return None
    return sum_of([product_of(x * y) or NOTHING for x, y in zip(a.parents, b.parents, strict=True)])


@candidate("sum")
def sum_of_stack(node: Node) -> Node | None:
    """stack([a, b]).sum() = a + b for single numbers a and b."""
    x = node.parents[0]
    if x.op.name != "stack" or x.ndim != 1 or node.shape:
        return None
    return sum_of([product_of(part) or NOTHING for part in x.parents])
