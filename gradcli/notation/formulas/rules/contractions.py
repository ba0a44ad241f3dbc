"""Sums of elementwise products as products of matrices and vectors."""

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
from .registry import CANDIDATES, NORMAL, candidate, normal


@condition
def is_unexpanded(x: Node) -> bool:
    """Whether x is a floating-point tensor that is not broadcast."""
    return x.dtype == "float" and x.op.name not in ("expand", "ones")


@condition
def is_factor(x: Node) -> bool:
    """Whether x is neither a product nor a power."""
    return is_unexpanded(x) and product_of(x) == Product(ONE, {x: 1})


identities(NORMAL, """
    sum(outer(u, v)) = sum(u) * sum(v)
    sum(outer(u, v), dim=0) = sum(u) * v
    sum(outer(u, v), dim=1) = u * sum(v)
""")  # fmt: skip

identities(CANDIDATES, """
    sum(outer(u, v) * A) = u @ A @ v where is_unexpanded(A)
    sum(u * v) = u @ v where is_factor(v) and v is not u
    sum(A.mT * B) = trace(A @ B) where is_factor(B)
    sum(A * B) = trace(B) where is_unit(A) and is_factor(B)
    sum(A @ B, dim=0, keepdim=k) = sum(A, dim=0, keepdim=k) @ B
    sum(A @ B, dim=1, keepdim=k) = A @ sum(B, dim=1, keepdim=k)
    mean(A @ B, dim=0, keepdim=k) = mean(A, dim=0, keepdim=k) @ B
    mean(A @ B, dim=1, keepdim=k) = A @ mean(B, dim=1, keepdim=k)
""")  # fmt: skip


@candidate("matmul")
def outer_out_of_matmul(node: Node) -> Iterator[Node]:
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
        scaled_x = x * v ** number_node(e)
        product = inner @ scaled_x if matrix is a else scaled_x @ inner
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
    outer = {
        new: result.factors[f]
        for f in same
        if (new := without_dimension(f, x, over[0])) is not None
    }
    inner = {f: e for f, e in result.factors.items() if f not in same}
    if not outer or len(outer) < len(same) or not inner or is_mask(inner):
        return None
    total = node.op(build(Product(ONE, inner), x.shape), **node.attrs)
    new = build(result._replace(factors=with_factor(outer, total)), node.shape)
    return new if new.shape == node.shape else None


@normal("sum")
def matmul_from_sum(node: Node) -> Node | None:
    """(a.unsqueeze(2) * b).sum(dim=1) = a @ b; (a.unsqueeze(1) * b).sum(dim=2) = a @ b.mT."""
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if x.ndim == 3 and dim is not None else None
    reduced = axes(dim, 3) if result is not None else ()
    if result is None or len(reduced) != 1 or node.attrs["keepdim"]:
        return None
    (k,) = reduced
    i, j = (d for d in range(3) if d != k)
    numbers = {f: e for f, e in result.factors.items() if f.shape == ()}
    sides = {f: i if constant_along(f, x, (i,)) else j for f in result.factors if f not in numbers}
    if any(not constant_along(f, x, (d,)) for f, d in sides.items()):
        return None
    left, right = (
        _matrix_operand(result, x, [f for f in sides if sides[f] == d], d) for d in (j, i)
    )
    if left is None or right is None:
        return None
    product = (left if i < k else left.mT) @ (right if k < j else right.mT)
    return scaled(Product(result.coefficient, numbers), product)


def _matrix_operand(result: Product, x: Node, factors: list[Node], along: int) -> Node | None:
    """The product of factors that are constant along a dimension of x, without that dimension;
    None if it is no matrix.
    """
    shape = tuple(n for d, n in enumerate(x.shape) if d != along)
    powers: dict[Node, Coefficient] = {}
    for f in factors:
        new = without_dimension(f, x, along)
        if new is None:
            return None
        powers = with_factors(powers, {new: result.factors[f]})
    if is_mask(powers) or all(f.shape != shape for f in powers):
        return None
    return build(Product(ONE, powers), shape)


def without_dimension(f: Node, x: Node, along: int) -> Node | None:
    """A factor of x without dimension `along`, if it lacks it or has it from unsqueeze or keepdim;
    else None.
    """
    if f.ndim < x.ndim:
        return f if along == 0 else None
    f = (new_dimensions(f) if f.op.name == "getitem" else None) or f
    return f.squeeze(dim=along) if f.op.name == "unsqueeze" or f.op.family == "reduction" else None
