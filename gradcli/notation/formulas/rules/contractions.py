"""Sums of products that are products of matrices and vectors."""

from collections.abc import Iterator

from ....graphs import Node
from ....graphs.shapes import axes
from .identities import condition, identities
from .parts import new_dimensions
from .products import (
    NOTHING,
    ONE,
    Coefficient,
    Product,
    build,
    is_mask,
    number_node,
    product_of,
    scaled,
    with_factor,
    with_factors,
)
from .reductions import constant_along
from .registry import NORMAL, OTHERS, normal, other


@condition
def is_whole(x: Node) -> bool:
    """Whether it has numbers of its own in each place: no mask, and nothing that is repeated."""
    return x.dtype == "float" and x.op.name not in ("expand", "ones")


@condition
def is_factor(x: Node) -> bool:
    """Whether it is no product, nor a power."""
    return is_whole(x) and product_of(x) == Product(ONE, {x: 1})


identities(NORMAL, """
    sum(outer(u, v)) = sum(u) * sum(v)
    sum(outer(u, v), dim=0) = sum(u) * v
    sum(outer(u, v), dim=1) = u * sum(v)
""")  # fmt: skip

identities(OTHERS, """
    sum(outer(u, v) * A) = u @ A @ v where is_whole(A)
    sum(u * v) = u @ v where is_factor(v) and v is not u
    sum(A.mT * B) = trace(A @ B) where is_factor(B)
    sum(A * B) = trace(B) where is_unit(A) and is_factor(B)
    sum(A @ B, dim=0, keepdim=k) = sum(A, dim=0, keepdim=k) @ B
    sum(A @ B, dim=1, keepdim=k) = A @ sum(B, dim=1, keepdim=k)
    mean(A @ B, dim=0, keepdim=k) = mean(A, dim=0, keepdim=k) @ B
    mean(A @ B, dim=1, keepdim=k) = A @ mean(B, dim=1, keepdim=k)
""")  # fmt: skip


@other("matmul")
def scaled_rows_and_columns(node: Node) -> Iterator[Node]:
    """(A / outer(u, v)) @ v = A.sum(dim=1) / u; (A * outer(u, v)) @ x = u * (A @ (v * x))."""
    a, b = node.parents
    if {a.ndim, b.ndim} != {1, 2}:
        return
    matrix, x = (a, b) if a.ndim == 2 else (b, a)
    result = product_of(matrix) or NOTHING
    for f, e in result.factors.items():
        rest = result.without(f).factors
        if f.op.name != "outer" or is_mask(rest) or all(k.shape != f.shape for k in rest):
            continue
        inner = build(result._replace(factors=rest), matrix.shape)
        u, v = f.parents if matrix is a else f.parents[::-1]
        beside = x * v ** number_node(e)
        product = inner @ beside if matrix is a else beside @ inner
        yield u ** number_node(e) * product


@normal("sum")
def factors_out_of_a_sum(node: Node) -> Node | None:
    """(a * b.unsqueeze(1)).sum(dim=1) = b * a.sum(dim=1)."""
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if dim is not None and not node.attrs["keepdim"] else None
    over = axes(dim, x.ndim) if result is not None else ()
    if result is None or len(over) != 1 or over == (0,):
        return None
    same = [f for f in result.factors if f.shape and constant_along(f, x, over)]
    outer = {new: result.factors[f] for f in same if (new := without(f, x, over[0])) is not None}
    inner = {f: e for f, e in result.factors.items() if f not in same}
    if not outer or len(outer) < len(same) or not inner or is_mask(inner):
        return None
    total = node.op(build(Product(ONE, inner), x.shape), **node.attrs)
    new = build(result._replace(factors=with_factor(outer, total)), node.shape)
    return new if new.shape == node.shape else None


@normal("sum")
def sum_of_matrices_beside_each_other(node: Node) -> Node | None:
    """(a.unsqueeze(2) * b).sum(dim=1) = a @ b; (a.unsqueeze(1) * b).sum(dim=2) = a @ b.mT."""
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if x.ndim == 3 and dim is not None else None
    over = axes(dim, 3) if result is not None else ()
    if result is None or len(over) != 1 or node.attrs["keepdim"]:
        return None
    (k,) = over
    i, j = (d for d in range(3) if d != k)
    numbers = {f: e for f, e in result.factors.items() if f.shape == ()}
    sides = {f: i if constant_along(f, x, (i,)) else j for f in result.factors if f not in numbers}
    if any(not constant_along(f, x, (d,)) for f, d in sides.items()):
        return None
    left, right = (_side(result, x, [f for f in sides if sides[f] == d], d) for d in (j, i))
    if left is None or right is None:
        return None
    product = (left if i < k else left.mT) @ (right if k < j else right.mT)
    return scaled(Product(result.coefficient, numbers), product)


def _side(result: Product, x: Node, factors: list[Node], along: int) -> Node | None:
    """The matrix that factors make which have one value along a dimension of x."""
    shape = tuple(n for d, n in enumerate(x.shape) if d != along)
    thin: dict[Node, Coefficient] = {}
    for f in factors:
        new = without(f, x, along)
        if new is None:
            return None
        thin = with_factors(thin, {new: result.factors[f]})
    if is_mask(thin) or all(f.shape != shape for f in thin):
        return None
    return build(Product(ONE, thin), shape)


def without(f: Node, x: Node, along: int) -> Node | None:
    """A factor of x without a dimension that it has not, or was given."""
    if f.ndim < x.ndim:
        return f if along == 0 else None
    f = (new_dimensions(f) if f.op.name == "getitem" else None) or f
    return f.squeeze(dim=along) if f.op.name == "unsqueeze" or f.op.family == "reduction" else None
