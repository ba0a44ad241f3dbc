"""Products of matrices in batches."""

from ....graphs import Node, intern
from ....graphs.shapes import axes, numel
from .broadcasting import thinner
from .matrices import last_two
from .products import build, product_of
from .registry import normal, other

ROWS, COLUMNS = -2, -1


@normal("matmul")
def equal_within_batches(node: Node) -> Node | None:
    """A @ c.expand(3, 4, 5) is A.sum(dim=2, keepdim=True) * c where the rows of c are equal, and
    (A @ c).expand(3, 2, 5) for its columns where those are; so with the sides exchanged, and ones.
    """
    a, b = node.parents
    if node.ndim < 3 or a.ndim < 2 or b.ndim < 2 or node.numel == 0:
        return None
    if (thin := _one_of(a, COLUMNS)) is not None:
        out = thin * _total(b, ROWS)
    elif (thin := _one_of(b, ROWS)) is not None:
        out = _total(a, COLUMNS) * thin
    elif (thin := _one_of(a, ROWS)) is not None:
        out = thin @ b
    elif (thin := _one_of(b, COLUMNS)) is not None:
        out = a @ thin
    else:
        return None
    return out if out.shape == node.shape else out.expand(shape=node.shape)


def _one_of(x: Node, place: int) -> Node | None:
    """x with one of its rows, or columns, where all of them are seen to be equal."""
    if x.op.name == "transpose" and last_two(x):
        one = _one_of(x.parents[0], ROWS + COLUMNS - place)
        return None if one is None else one.mT
    thin = thinner(x) if x.op.name in ("expand", "ones", "full") and x.shape[place] > 1 else None
    if thin is None or (thin.ndim >= -place and thin.shape[place] != 1):
        return None
    shape = list(x.shape)
    shape[place] = 1
    return thin.expand(shape=tuple(shape)) if thin.shape != tuple(shape) else thin


def _total(x: Node, place: int) -> Node:
    """The sum over the rows of matrices, or over the columns, as one of them."""
    if x.op.name == "transpose" and last_two(x):
        inner = x.parents[0]
        total = inner.sum(dim=inner.ndim + ROWS + COLUMNS - place)
        return total.unsqueeze(dim=x.ndim + place)
    return x.sum(dim=x.ndim + place, keepdim=True)


@normal("matmul")
def spread_by_the_other_batch(node: Node) -> Node | None:
    """A @ B.expand(5, 2, 3) = A @ B where A has 5 matrices."""
    for place, x in enumerate(node.parents):
        (inner,) = x.parents if x.op.name == "expand" else (x,)
        if inner is not x and inner.ndim >= 2 and inner.shape[-2:] == x.shape[-2:]:
            new = node.op(*node.inputs[:place], inner, *node.inputs[place + 1 :])
            if new.shape == node.shape:
                return new
    return None


@normal("reshape")
def rows_of_batches(node: Node) -> Node | None:
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


@other("sum")
def sum_of_batches(node: Node) -> Node | None:
    """(A.mT @ v.unsqueeze(-1)).squeeze(-1).sum(dim=0) = (A * v.unsqueeze(-1)).sum(dim=(0, 1))."""
    x = node.parents[0]
    product = x.parents[0] if x.op.name == "squeeze" else x
    if product is x or product.op.name != "matmul" or node.attrs["keepdim"]:
        return None
    a, v = product.parents
    turned = a.op.name == "transpose" and last_two(a) and v.ndim == a.ndim
    lead = tuple(range(x.ndim - 1))
    if not turned or v.shape[-1] != 1 or x.shape != product.shape[:-1]:
        return None
    if v.shape[:-2] != a.shape[:-2] or axes(node.attrs["dim"], x.ndim) != lead:
        return None
    return (a.parents[0] * v).sum(dim=(*lead, len(lead)))


@other("sum")
def rows_beside_a_vector(node: Node) -> Node | None:
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
def laid_out_before(node: Node) -> Node | None:
    """(T.reshape(2, 1, 3, 4) @ v).reshape(2, 3) = T.reshape(2, 3, 4) @ v for a vector v;
    T.sum(dim=1, keepdim=True).reshape(2, 3) = T.sum(dim=1).reshape(2, 3).
    """
    x = node.parents[0]
    if x.op.family == "reduction" and x.attrs["keepdim"] and x.attrs["dim"] is not None:
        thin = x.op(*x.inputs, **x.attrs | {"keepdim": False})
        return intern(node.op, (thin,), node.attrs, node.span)
    if x.op.name != "matmul" or x.parents[1].ndim != 1 or x.parents[0].op.name != "reshape":
        return None
    laid, v = x.parents
    return laid.parents[0].reshape(shape=(*node.shape, *v.shape)) @ v
