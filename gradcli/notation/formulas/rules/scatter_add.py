"""Values put into zeros: what multiplies them, adds them up, and stands beside them."""

from ....graphs import OPS, Node, walk
from ....graphs.shapes import Shape, axes
from ....graphs.substitution import substitute
from ....operators.indexing import full_index
from ....operators.leaves import Array
from .factoring import opened, sum_of
from .labels import rows_of_unit
from .places import element, is_hard, picked_shape, picks
from .products import (
    NOTHING,
    ONE,
    Product,
    build,
    constant_value,
    product_of,
    scaled,
    with_factor,
)
from .registry import layout, normal, other
from .sums import terms_of


@other("mul", "div")
def beside_what_is_put(node: Node) -> Node | None:
    """x * v.put_at(x.shape, (0,)) = (x[0] * v).put_at(x.shape, (0,))."""
    result = product_of(node)
    put = (
        [f for f, e in result.factors.items() if f.op.name == "put_at" and e == 1] if result else []
    )
    if result is None or len(put) != 1 or put[0].shape != node.shape:
        return None
    (whole,) = put
    v, index = whole.parents[0], whole.attrs["index"]
    rest = result.without(whole).factors
    if any(map(is_hard, index)) or any(f.shape not in ((), node.shape) for f in rest):
        return None
    there = {f[index] if f.shape else f: e for f, e in rest.items()}
    new = build(result._replace(factors=with_factor(there, v)), v.shape)
    return whole.op(new, **whole.attrs) if new.shape == v.shape else None


@layout("mul", "div", "neg")
def numbers_within_what_is_put(node: Node) -> Node | None:
    """2 * v.put_at(x.shape, (0,)) = (2 * v).put_at(x.shape, (0,)), a number of inputs alike."""
    result = product_of(node)
    wholes = [f for f in result.factors if f.shape] if result else []
    if (
        result is None
        or [f.op.name for f in wholes] != ["put_at"]
        or result.factors[wholes[0]] != 1
    ):
        return None
    (whole,) = wholes
    rest = {f: e for f, e in result.factors.items() if f is not whole}
    v = scaled(result._replace(factors=rest), whole.parents[0])
    return whole.op(v, **whole.attrs) if whole.shape == node.shape else None


@normal("put_at")
def put_where_a_mask_holds(node: Node) -> Node | None:
    """2 * x[m], put where a mask m holds, is 2 * x * m; so it is for what is finite where x is."""
    (v,), index = node.parents, node.attrs["index"]
    mask = index[0] if len(index) == 1 else None
    if not isinstance(mask, Array) or mask.dtype != "bool":
        return None
    whole: dict[Node, Node] = {}
    for n in walk([v], lambda n: () if _is_picked(n, index) else n.inputs):
        if _is_picked(n, index):
            whole[n] = n.parents[0]
        elif n.shape and not (n.op.family == "elementwise" and n.op.finite):
            return None
    built = substitute(v, whole) if whole else None
    if built is None or built.shape != node.shape:
        return None
    holds = OPS["tensor"](data=mask)
    for _ in range(node.ndim - holds.ndim):
        holds = holds.unsqueeze(dim=-1)
    return built * holds


def _is_picked(n: Node, index: tuple) -> bool:
    return n.op.name == "getitem" and n.attrs["index"] == index


@other("put_at")
def put_in_a_matrix(node: Node) -> Node | None:
    """v.put_at((3, 4), (0, 1)) = v * outer(eye(3)[0], eye(4)[1])."""
    v, place = node.parents[0], _place_in_a_matrix(node)
    return None if place is None or v.shape else v * element(node.shape, *place)


@normal("put_at")
def one_in_a_matrix(node: Node) -> Node | None:
    """1 put at (0, 1) = outer(eye(3)[0], eye(4)[1])."""
    place = _place_in_a_matrix(node) if constant_value(node.parents[0]) == 1 else None
    return None if place is None else element(node.shape, *place)


def _place_in_a_matrix(node: Node) -> tuple[int, int] | None:
    """The row and the column of the one element that is put into a matrix."""
    index = node.attrs["index"]
    one = node.ndim == len(index) == 2 and all(isinstance(i, int) for i in index)
    return index if one else None


@other("add", "sub")
def put_in_one_place(node: Node) -> Node | None:
    """s * a.put_at((4,), (0,)) + b.put_at((4,), (0,)) = (s * a + b).put_at((4,), (0,))."""
    terms = terms_of(node) or []
    result = [_what_is_put(t, node.shape) for t in terms]
    for first in result:
        alike = [j for j, p in enumerate(result) if first and p and _same_place(first[0], p[0])]
        if len(alike) > 1 and first is not None:
            total = sum_of([result[j][1] for j in alike])  # type: ignore[index]
            rest = [t for j, t in enumerate(terms) if j not in alike]
            return sum_of([Product(ONE, {first[0].op(total, **first[0].attrs): 1}), *rest])
    return None


def _what_is_put(t: Product, shape: Shape) -> tuple[Node, Product] | None:
    """What a term puts somewhere, and its value; None for a term that does not."""
    whole = next((f for f, e in t.factors.items() if f.op.name == "put_at" and e == 1), None)
    rest = t.without(whole).factors
    if whole is None or whole.shape != shape or any(f.shape for f in rest):
        return None
    return whole, t._replace(factors=with_factor(rest, whole.parents[0]))


def _same_place(a: Node, b: Node) -> bool:
    """Whether two put values of one shape into the same places."""
    same = a.parents[0].shape == b.parents[0].shape and a.attrs["index"] == b.attrs["index"]
    return same and not any(map(is_hard, a.attrs["index"]))


@other("mul", "div")
def put_before_a_product(node: Node) -> Node | None:
    """x * (v.put_at(x.shape, (0,)) + y) = (x[0] * v).put_at(x.shape, (0,)) + x * y; diag(v) and
    eye(n)[y] are 0 elsewhere too.
    """
    result = product_of(node) or NOTHING
    terms = opened(result)
    if len(terms) < 2 or not any(_is_mostly_zero(f) for t in terms for f in t.factors):
        return None
    built = [build(t, node.shape) for t in terms]
    first, *others = (beside_what_is_put(part) or part for part in built)
    total = sum(others, first)
    return total if total.shape == node.shape else None


def _is_mostly_zero(f: Node) -> bool:
    return f.op.name in ("put_at", "diag") or rows_of_unit(f) is not None


@normal("sum")
def sum_of_what_is_put(node: Node) -> Node | None:
    """v.put_at((3, 4), (0,)).sum(dim=0) = v, where v fills its place; of all elements, v.sum()."""
    x, dim = node.parents[0], node.attrs["dim"]
    if x.op.name != "put_at" or any(map(is_hard, x.attrs["index"])):
        return None
    v, index = x.parents[0], x.attrs["index"]
    if any(map(picks, index)) or (dim is None and node.attrs["keepdim"]):
        return None
    if v.shape != picked_shape(x.shape, index):
        return None
    if dim is None:
        return v.sum() if v.ndim else v
    over, full = axes(dim, x.ndim), full_index(index, x.ndim)
    one = all((isinstance(i, int) if d in over else i == slice(None)) for d, i in enumerate(full))
    for d in over if one and node.attrs["keepdim"] else ():
        v = v.unsqueeze(dim=d)
    return v if one else None
