"""Rows and columns that are selected from matrix products and outer products."""

from ....graphs import Node
from ....graphs.shapes import axis
from ....operators.indexing import full_index
from .matrices import is_unit, last_two
from .products import constant_value
from .registry import candidate, normal


@candidate("matmul")
def matmul_by_identity_rows(node: Node) -> Node | None:
    """A @ eye(n)[k] = A[:, k]; eye(n)[:2] @ A = A[:2]; eye(n)[k] @ A = A.T @ eye(n)[k] = A[k]."""
    a, b = node.parents
    if max(a.ndim, b.ndim) > 2:
        return None
    if (item := _identity_index(a)) is not None:
        return _rows_or_columns(b, 0, item)
    columns = b if b.ndim == 1 else b.parents[0] if b.op.name == "transpose" else None
    item = None if columns is None else _identity_index(columns)
    return None if item is None else _rows_or_columns(a, a.ndim - 1, item)


@candidate("matmul")
def index_select_from_scatter(node: Node) -> Node | None:
    """ones(4, 1).scatter_to((4, 3), 1, p.unsqueeze(1)) @ C = C.index_select(0, p): a matrix with a
    1 in each row selects rows.
    """
    a, b = node.parents
    if a.op.name != "scatter_to" or a.ndim != 2 or b.ndim > 2 or axis(a.attrs["dim"], 2) != 1:
        return None
    v, index = a.parents
    one_each = v.shape == index.shape == (a.shape[0], 1)
    if not one_each or constant_value(v) != 1:
        return None
    return b.index_select(dim=0, index=index.squeeze(dim=1))


def _identity_index(rows: Node) -> int | slice | None:
    """The integer or slice of eye(n)[item]; None for any other node."""
    if rows.op.name != "getitem" or not is_unit(rows.parents[0]):
        return None
    (item, *more) = rows.attrs["index"]
    return item if isinstance(item, int | slice) and not more else None


def _rows_or_columns(x: Node, dim: int, item: int | slice) -> Node:
    """x[item] for dim 0, x[:, item] for dim 1."""
    if x.op.name == "transpose" and last_two(x):
        selected = _rows_or_columns(x.parents[0], 1 - dim, item)
        return selected.mT if selected.ndim == 2 else selected
    return x[:, item] if dim else x[item]


@normal("getitem")
def index_of_outer(node: Node) -> Node | None:
    """outer(a, b)[:, :4] = outer(a, b[:4]); outer(a, b)[0] = a[0] * b."""
    product = node.parents[0]
    full = _plain_index(node) if product.op.name == "outer" else None
    if full is None:
        return None
    a, b = (_indexed(v, (i,)) for v, i in zip(product.parents, full, strict=True))
    return product.op(a, b) if node.ndim == 2 else a * b


@candidate("getitem")
def index_of_matmul(node: Node) -> Node | None:
    """(A @ B)[0] = A[0] @ B; (A @ B)[:, 0] = A @ B[:, 0]."""
    product = node.parents[0]
    full = _plain_index(node) if product.op.name == "matmul" and 1 <= product.ndim <= 2 else None
    if full is None:
        return None
    a, b = product.parents
    left = _indexed(a, (full[0],)) if a.ndim == 2 else a
    return left @ (_indexed(b, (slice(None), full[-1])) if b.ndim == 2 else b)


def _plain_index(node: Node) -> list | None:
    """The items of an index, one for each dimension; None unless all are integers and slices."""
    full = full_index(node.attrs["index"], node.parents[0].ndim)
    return full if all(isinstance(i, int | slice) for i in full) else None


def _indexed(x: Node, index: tuple) -> Node:
    """x[index]; x itself if the index selects all of it."""
    return x if index[-1] == slice(None) else x[index]
