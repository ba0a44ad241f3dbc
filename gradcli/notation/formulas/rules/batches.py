"""Batched matrix products."""

from ....graphs import Node, intern
from ....graphs.shapes import axes, numel
from .broadcasting import unbroadcast
from .matrices import last_two
from .products import build, product_of
from .registry import candidate, normal

ROWS, COLUMNS = -2, -1


@normal("matmul")
def matmul_of_expanded(node: Node) -> Node | None:
    """A @ c.expand(3, 4, 5) = A.sum(dim=2, keepdim=True) * c if c has one row, and
    (A @ c).expand(3, 2, 5) if it has one column; so with the operands exchanged, and for ones.
    """
    a, b = node.parents
    if node.ndim < 3 or a.ndim < 2 or b.ndim < 2 or node.numel == 0:
        return None
    if (thin := _unexpanded(a, COLUMNS)) is not None:
        out = thin * _sum_along(b, ROWS)
    elif (thin := _unexpanded(b, ROWS)) is not None:
        out = _sum_along(a, COLUMNS) * thin
    elif (thin := _unexpanded(a, ROWS)) is not None:
        out = thin @ b
    elif (thin := _unexpanded(b, COLUMNS)) is not None:
        out = a @ thin
    else:
        return None
    return out if out.shape == node.shape else out.expand(shape=node.shape)


def _unexpanded(x: Node, dim: int) -> Node | None:
    """x with one row (or column) in place of equal ones, if x is expanded along them; else None."""
    if x.op.name == "transpose" and last_two(x):
        inner = _unexpanded(x.parents[0], ROWS + COLUMNS - dim)
        return None if inner is None else inner.mT
    is_expanded = x.op.name in ("expand", "ones", "full") and x.shape[dim] > 1
    smaller = unbroadcast(x) if is_expanded else None
    if smaller is None or (smaller.ndim >= -dim and smaller.shape[dim] != 1):
        return None
    shape = list(x.shape)
    shape[dim] = 1
    return smaller.expand(shape=tuple(shape)) if smaller.shape != tuple(shape) else smaller


def _sum_along(x: Node, along: int) -> Node:
    """The sum of x over its rows or columns, with keepdim=True."""
    if x.op.name == "transpose" and last_two(x):
        inner = x.parents[0]
        total = inner.sum(dim=inner.ndim + ROWS + COLUMNS - along)
        return total.unsqueeze(dim=x.ndim + along)
    return x.sum(dim=x.ndim + along, keepdim=True)


@normal("matmul")
def expand_by_other_batch(node: Node) -> Node | None:
    """A @ B.expand(5, 2, 3) = A @ B where A has 5 matrices."""
    for place, x in enumerate(node.parents):
        (inner,) = x.parents if x.op.name == "expand" else (x,)
        if inner is not x and inner.ndim >= 2 and inner.shape[-2:] == x.shape[-2:]:
            new = node.op(*node.inputs[:place], inner, *node.inputs[place + 1 :])
            if new.shape == node.shape:
                return new
    return None


@normal("reshape")
def reshape_of_matmul(node: Node) -> Node | None:
    """(A.flatten(0, 1) @ B).reshape(4, 2, 5) = A @ B for an A of shape (4, 2, 3)."""
    product = node.parents[0]
    if product.op.name != "matmul":
        return None
    flat, b = product.parents
    if flat.op.name != "reshape" or flat.ndim != 2 or b.ndim != 2:
        return None
    (x,) = flat.parents
    rows = x.ndim > 2 and flat.shape == (numel(x.shape[:-1]), x.shape[-1])
    return x @ b if rows and node.shape[:-1] == x.shape[:-1] else None


@candidate("sum")
def sum_of_matrix_vector_products(node: Node) -> Node | None:
    """(A.mT @ v.unsqueeze(-1)).squeeze(-1).sum(dim=0) = (A * v.unsqueeze(-1)).sum(dim=(0, 1))."""
    x = node.parents[0]
    product = x.parents[0] if x.op.name == "squeeze" else x
    if product is x or product.op.name != "matmul" or node.attrs["keepdim"]:
        return None
    a, v = product.parents
    transposed = a.op.name == "transpose" and last_two(a) and v.ndim == a.ndim
    lead = tuple(range(x.ndim - 1))
    if not transposed or v.shape[-1] != 1 or x.shape != product.shape[:-1]:
        return None
    if v.shape[:-2] != a.shape[:-2] or axes(node.attrs["dim"], x.ndim) != lead:
        return None
    return (a.parents[0] * v).sum(dim=(*lead, len(lead)))


@candidate("sum")
def matmul_with_vector_from_sum(node: Node) -> Node | None:
    """(T * v).sum(dim=-1) = T @ v for a vector v."""
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if x.ndim > 2 and dim is not None else None
    if result is None or axes(dim, x.ndim) != (x.ndim - 1,) or node.attrs["keepdim"]:
        return None
    v = next((f for f, e in result.factors.items() if e == 1 and f.ndim == 1), None)
    rest = result.without(v).factors
    if v is None or not any(f.shape == x.shape for f in rest):
        return None
    return build(result._replace(factors=rest), x.shape) @ v


@normal("reshape")
def reshape_into_operand(node: Node) -> Node | None:
    """(T.reshape(2, 1, 3, 4) @ v).reshape(2, 3) = T.reshape(2, 3, 4) @ v for a vector v;
    T.sum(dim=1, keepdim=True).reshape(2, 3) = T.sum(dim=1).reshape(2, 3).
    """
    x = node.parents[0]
    if x.op.family == "reduction" and x.attrs["keepdim"] and x.attrs["dim"] is not None:
        reduced = x.op(*x.inputs, **x.attrs | {"keepdim": False})
        return intern(node.op, (reduced,), node.attrs, node.span)
    if x.op.name != "matmul" or x.parents[1].ndim != 1 or x.parents[0].op.name != "reshape":
        return None
    reshaped, v = x.parents
    return reshaped.parents[0].reshape(shape=(*node.shape, *v.shape)) @ v
