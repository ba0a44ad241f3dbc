"""Matrix products, transposes and outer products."""

from ....graphs import OPS, Node
from ....graphs.shapes import axes, axis
from .products import Product, build, product_of
from .registry import layout, rule


def last_two(node: Node) -> bool:
    """Whether a transpose swaps the last two dimensions."""
    return {axis(d, node.ndim) for d in node.attrs.values()} == {node.ndim - 2, node.ndim - 1}


@rule("transpose")
def transpose_of_product(node: Node) -> Node | None:
    """x.T.T = x; (a @ b).T = b.T @ a.T; outer(a, b).T = outer(b, a); x.reshape(1, 6).T =
    x.reshape(6, 1); and so for expand, and a dimension transposed with itself.
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
    result = product_of(node)
    if result is None or node.ndim != 2 or any(e < 0 for e in result.factors.values()):
        return None
    columns = [f for f in result.factors if is_column(f)]
    rows = [f for f in result.factors if f.ndim == 1]
    rest = {f: e for f, e in result.factors.items() if f not in columns and f not in rows}
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
