"""Values added into zeros, in products, sums and reductions: v.put_at(shape, index) is
zeros(shape) with v added at the index.
"""

from collections.abc import Iterator

from ....graphs import OPS, Node, walk
from ....graphs.shapes import axes
from ....graphs.substitution import substitute
from ....operators.indexing import full_index, is_array
from ....operators.leaves import Array
from .blocks import scattered_term
from .factoring import expand_product, sum_of, terms_of
from .labels import one_hot_indices
from .places import element, is_unsupported_index, matmul_from_put_at, picked_shape
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
from .registry import candidate, layout, normal


@candidate("mul", "div")
def multiply_into_put_at(node: Node) -> Node | None:
    """x * v.put_at(x.shape, (0,)) = (x[0] * v).put_at(x.shape, (0,))."""
    result = product_of(node) or NOTHING
    scattered = result.once("put_at")
    if len(scattered) != 1 or scattered[0].shape != node.shape:
        return None
    (whole,) = scattered
    v, index = whole.parents[0], whole.attrs["index"]
    rest = result.without(whole).factors
    if any(map(is_unsupported_index, index)) or any(f.shape not in ((), node.shape) for f in rest):
        return None
    picked = {f[index] if f.shape else f: e for f, e in rest.items()}
    new = build(result._replace(factors=with_factor(picked, v)), v.shape)
    return whole.op(new, **whole.attrs) if new.shape == v.shape else None


@layout("mul", "div", "neg")
def scalars_into_put_at(node: Node) -> Node | None:
    """2 * v.put_at(x.shape, (0,)) = (2 * v).put_at(x.shape, (0,)), likewise for any scalar."""
    result = product_of(node) or NOTHING
    wholes = [(f.op.name, e) for f, e in result.factors.items() if f.shape]
    if wholes != [("put_at", 1)]:
        return None
    (whole,) = (f for f in result.factors if f.shape)
    v = scaled(result.without(whole), whole.parents[0])
    return whole.op(v, **whole.attrs) if whole.shape == node.shape else None


@normal("put_at")
def product_from_masked_put_at(node: Node) -> Node | None:
    """(2 * x[m]).put_at(x.shape, (m,)) = 2 * x * m for a mask m, likewise for other elementwise
    functions that are finite.
    """
    (v,), index = node.parents, node.attrs["index"]
    mask = index[0] if len(index) == 1 else None
    if not isinstance(mask, Array) or mask.dtype != "bool":
        return None
    replacements: dict[Node, Node] = {}
    for n in walk([v], lambda n: () if _is_picked(n, index) else n.inputs):
        if _is_picked(n, index):
            replacements[n] = n.parents[0]
        elif n.shape and not (n.op.family == "elementwise" and n.op.finite):
            return None
    product = substitute(v, replacements) if replacements else None
    if product is None or product.shape != node.shape:
        return None
    mask_node = OPS["tensor"](data=mask)
    for _ in range(node.ndim - mask_node.ndim):
        mask_node = mask_node.unsqueeze(dim=-1)
    return product * mask_node


@candidate("put_at")
def matrix_element_from_put_at(node: Node) -> Node | None:
    """v.put_at((3, 4), (0, 1)) = v * outer(eye(3)[0], eye(4)[1])."""
    v, index = node.parents[0], _matrix_index(node)
    return None if index is None or v.shape else v * element(node.shape, *index)


@normal("put_at")
def unit_matrix_from_put_at(node: Node) -> Node | None:
    """ones(()).put_at((3, 4), (0, 1)) = outer(eye(3)[0], eye(4)[1])."""
    index = _matrix_index(node) if constant_value(node.parents[0]) == 1 else None
    return None if index is None else element(node.shape, *index)


def _matrix_index(node: Node) -> tuple[int, int] | None:
    """Row and column, if put_at sets one element of a matrix; else None."""
    index = node.attrs["index"]
    is_element = node.ndim == len(index) == 2 and all(isinstance(i, int) for i in index)
    return index if is_element else None


@candidate("add", "sub")
def sum_of_put_at(node: Node) -> Node | None:
    """s * a.put_at((4,), (0,)) + b.put_at((4,), (0,)) = (s * a + b).put_at((4,), (0,))."""
    terms = terms_of(node) or []
    result = [scattered_term(t, node.shape) for t in terms]
    for first in result:
        same = [j for j, p in enumerate(result) if first and p and _same_index(first[0], p[0])]
        if len(same) > 1 and first is not None:
            total = sum_of([result[j][1] for j in same])  # type: ignore[index]
            rest = [t for j, t in enumerate(terms) if j not in same]
            return sum_of([Product(ONE, {first[0].op(total, **first[0].attrs): 1}), *rest])
    return None


@candidate("add", "sub")
def numbers_out_of_put_at(node: Node) -> Node | None:
    """(2 * s).put_at((4,), (0,)) + s.put_at((4,), (1,)) = s * (2 * eye(4)[0] + eye(4)[1]), for a
    scalar s that all terms share.
    """
    terms = terms_of(node) or []
    scattered = [
        p for t in terms if (p := scattered_term(t, node.shape)) and not p[0].parents[0].shape
    ]
    if len(scattered) < 2 or len(scattered) < len(terms):
        return None
    one, units = OPS["constant"](value=1.0), list[Product]()
    for whole, v in scattered:
        scalars = product_of(build(v, ()))
        unit = matmul_from_put_at(whole.op(one, **whole.attrs))
        if scalars is None or unit is None:
            return None
        units.append(scalars.times({unit: 1}))
    first, *others = units
    shared = [f for f in first.factors if all(f in u.factors for u in others)]
    return sum_of(units) if shared else None


@candidate("add", "sub")
def index_add_to_terms(node: Node) -> Iterator[Node]:
    """x - v.put_at((4,), (i,)) = x.index_add(0, i, -v) for an index i that is a tensor."""
    terms = terms_of(node) or []
    for t in terms if len(terms) > 1 else ():
        scattered = scattered_term(t, node.shape)
        rest = sum_of([u for u in terms if u is not t])
        if scattered is None or rest.shape != node.shape:
            continue
        whole, v = scattered
        added = whole.op.in_torch(whole)
        if added is not None and added.op.name == "index_add":
            _, index, source = added.parents
            if source.shape == whole.parents[0].shape:
                yield added.with_inputs((rest, index, build(v, source.shape)))


def _same_index(a: Node, b: Node) -> bool:
    """Whether two put_at nodes scatter values of one shape to the same index."""
    same = a.parents[0].shape == b.parents[0].shape and a.attrs["index"] == b.attrs["index"]
    return same and not any(map(is_unsupported_index, a.attrs["index"]))


@candidate("mul", "div")
def put_at_in_expanded_product(node: Node) -> Node | None:
    """x * (v.put_at(x.shape, (0,)) + y) = (x[0] * v).put_at(x.shape, (0,)) + x * y, likewise with
    diag(v) or eye(n)[y] in place of the put_at.
    """
    result = product_of(node) or NOTHING
    terms = expand_product(result)
    if len(terms) < 2 or not any(_is_sparse(f) for t in terms for f in t.factors):
        return None
    built = [build(t, node.shape) for t in terms]
    first, *others = (multiply_into_put_at(part) or part for part in built)
    return sum(others, first)


def _is_sparse(f: Node) -> bool:
    return f.op.name in ("put_at", "diag") or one_hot_indices(f) is not None


@normal("sum")
def reduction_of_put_at(node: Node) -> Node | None:
    """v.put_at((3, 4), (0,)).sum(dim=0) = v for a v that is not broadcast, and the sum of all
    elements is v.sum().
    """
    x, dim = node.parents[0], node.attrs["dim"]
    if x.op.name != "put_at" or any(map(is_unsupported_index, x.attrs["index"])):
        return None
    v, index = x.parents[0], x.attrs["index"]
    if any(map(is_array, index)) or (dim is None and node.attrs["keepdim"]):
        return None
    if v.shape != picked_shape(x.shape, index):
        return None
    if dim is None:
        return v.sum() if v.ndim else v
    over, full = axes(dim, x.ndim), full_index(index, x.ndim)
    fits = all((isinstance(i, int) if d in over else i == slice(None)) for d, i in enumerate(full))
    for d in over if fits and node.attrs["keepdim"] else ():
        v = v.unsqueeze(dim=d)
    return v if fits else None


def _is_picked(n: Node, index: tuple) -> bool:
    return n.op.name == "getitem" and n.attrs["index"] == index
