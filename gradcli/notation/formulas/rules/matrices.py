"""Matrix products, transposes and outer products, also of batches."""

from ....graphs import OPS, Node
from ....graphs.shapes import axes, axis, numel
from ....graphs.substitution import with_attributes
from .broadcasting import unbroadcast
from .products import NOTHING, Product, build, product_of
from .registry import candidate, layout, normal, rule


def last_two(node: Node) -> bool:
    """Whether a transpose swaps the last two dimensions."""
    return {axis(d, node.ndim) for d in node.attrs.values()} == {node.ndim - 2, node.ndim - 1}


def is_transposed(x: Node) -> bool:
    """Whether a node is x.mT."""
    return x.op.name == "transpose" and last_two(x)


@rule("transpose")
def transpose_of_product(node: Node) -> Node | None:
    """x.T.T = x; (a @ b).T = b.T @ a.T; outer(a, b).T = outer(b, a); x.reshape(1, 6).T =
    x.reshape(6, 1). Expanded tensors, and a dimension transposed with itself, are simplified too.
    """
    x = node.parents[0]
    if not x.ndim or len({axis(d, x.ndim) for d in node.attrs.values()}) == 1:
        return x
    if x.op.name == "transpose":
        pairs = [{axis(d, x.ndim) for d in n.attrs.values()} for n in (node, x)]
        return x.inputs[0] if pairs[0] == pairs[1] else None
    if not last_two(node):
        return None
    if x.op.name == "matmul" and all(i.ndim > 1 for i in x.parents):
        a, b = x.parents
        return b.mT @ a.mT
    if x.op.name == "outer":
        return x.op(*reversed(x.inputs))
    if x.op.name in ("ones", "zeros"):
        return x.op(size=node.shape)
    if x.op.name == "reshape" and 1 in x.shape[-2:]:
        return x.parents[0].reshape(shape=node.shape)
    if x.op.name == "expand" and 1 <= x.parents[0].ndim <= x.ndim == 2:
        row = x.parents[0]
        column = row.unsqueeze(dim=1) if row.ndim == 1 else transpose_of_product(row.mT) or row.mT
        return column.expand(shape=node.shape)
    is_mT = node.attrs == {"dim0": -2, "dim1": -1}
    return None if is_mT else x.mT


def is_unit(x: Node) -> bool:
    """Whether a node is eye(n)."""
    return x.op.name == "eye" and x.shape[0] == x.shape[1]


@layout("mul")
def outer_product(node: Node) -> Node | None:
    """a.unsqueeze(1) * b = outer(a, b) for vectors."""
    result = product_of(node) or NOTHING
    if node.ndim != 2 or any(e < 0 for e in result.factors.values()):
        return None
    columns = [f for f in result.factors if is_column(f)]
    rows = [f for f in result.factors if f.ndim == 1]
    rest = result.without(*columns, *rows).factors
    if not columns or not rows or any(f.shape for f in rest):
        return None
    left = Product(result.coefficient, rest | {c.parents[0]: result.factors[c] for c in columns})
    right = Product(type(result.coefficient)(1), {r: result.factors[r] for r in rows})
    return OPS["outer"](build(left, node.shape[:1]), build(right, node.shape[1:]))


def is_column(f: Node) -> bool:
    """Whether a node is v.unsqueeze(1) for a vector v."""
    return f.op.name == "unsqueeze" and f.ndim == 2 and axis(f.attrs["dim"], 2) == 1


@rule("sum")
def sum_of_products(node: Node) -> Node | None:
    """(g.unsqueeze(1) * x).sum(dim=0) = g @ x; (x * b).sum(dim=1) = x @ b for a vector b."""
    x = node.parents[0]
    if node.attrs["keepdim"] or node.attrs["dim"] is None or x.op.name != "mul" or x.ndim != 2:
        return None
    over = axes(node.attrs["dim"], x.ndim)
    a, b = x.parents
    if a.dtype != b.dtype:
        return None  # PyTorch has no matmul of a mask and a floating-point tensor
    if over == (0,):
        for one, other in ((a, b), (b, a)):
            if is_column(one) and other.shape == x.shape:
                return one.inputs[0] @ other
    if over == (1,):
        for one, other in ((a, b), (b, a)):
            if one.ndim == 1 and one.shape == x.shape[1:] and other.shape == x.shape:
                return other @ one
    return None


# ---- batches of matrices -------------------------------------------------------------------------


ROWS, COLUMNS = -2, -1


@normal("matmul")
def matmul_of_expanded(node: Node) -> Node | None:
    """A @ c.expand(3, 4, 5) = A.sum(dim=2, keepdim=True) * c if c has one row, and
    (A @ c).expand(3, 2, 5) if it has one column; likewise for c.expand(...) @ A, and for ones.
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
    if is_transposed(x):
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
    if is_transposed(x):
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
    transposed = is_transposed(a) and v.ndim == a.ndim
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
    result = (product_of(x) if x.ndim > 2 and dim is not None else None) or NOTHING
    v = next((f for f in result.once() if f.ndim == 1), None)
    rest = result.without(v)
    if v is None or axes(dim, x.ndim) != (x.ndim - 1,) or node.attrs["keepdim"]:
        return None
    return build(rest, x.shape) @ v if any(f.shape == x.shape for f in rest.factors) else None


@normal("reshape")
def reshape_into_operand(node: Node) -> Node | None:
    """(T.reshape(2, 1, 3, 4) @ v).reshape(2, 3) = T.reshape(2, 3, 4) @ v for a vector v;
    T.sum(dim=1, keepdim=True).reshape(2, 3) = T.sum(dim=1).reshape(2, 3).
    """
    x = node.parents[0]
    if x.op.family == "reduction" and x.attrs["keepdim"] and x.attrs["dim"] is not None:
        reduced = with_attributes(x, keepdim=False)
        return node.with_inputs((reduced,))
    if x.op.name != "matmul" or x.parents[1].ndim != 1 or x.parents[0].op.name != "reshape":
        return None
    reshaped, v = x.parents
    return reshaped.parents[0].reshape(shape=(*node.shape, *v.shape)) @ v
