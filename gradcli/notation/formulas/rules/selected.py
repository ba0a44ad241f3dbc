"""Rows and columns of products of matrices."""

from ....graphs import Node
from ....graphs.shapes import axis
from ....operators.indexing import full_index
from .matrices import is_unit, last_two
from .products import constant_value
from .registry import normal, other


@other("matmul")
def selected_by_the_unit_matrix(node: Node) -> Node | None:
    """A @ eye(n)[k] = A[:, k]; eye(n)[:2] @ A = A[:2]; eye(n)[k] @ A = A.T @ eye(n)[k] = A[k]."""
    a, b = node.parents
    if max(a.ndim, b.ndim) > 2:
        return None
    if (item := _of_unit(a)) is not None:
        return _line(b, 0, item)
    columns = b if b.ndim == 1 else b.parents[0] if b.op.name == "transpose" else None
    item = None if columns is None else _of_unit(columns)
    return None if item is None else _line(a, a.ndim - 1, item)


@other("matmul")
def rows_at_places(node: Node) -> Node | None:
    """ones(4, 1).scatter_to((4, 3), 1, p.unsqueeze(1)) @ C = C.index_select(0, p): what has a 1 in
    each row picks rows.
    """
    a, b = node.parents
    if a.op.name != "scatter_to" or a.ndim != 2 or b.ndim > 2 or axis(a.attrs["dim"], 2) != 1:
        return None
    v, index = a.parents
    one_each = v.shape == index.shape == (a.shape[0], 1)
    if not one_each or constant_value(v) != 1:
        return None
    return b.index_select(dim=0, index=index.squeeze(dim=1))


def _of_unit(rows: Node) -> int | slice | None:
    """The item of eye(n)[item], a number or a slice."""
    if rows.op.name != "getitem" or not is_unit(rows.parents[0]):
        return None
    (item, *more) = rows.attrs["index"]
    return item if isinstance(item, int | slice) and not more else None


def _line(x: Node, dim: int, item: int | slice) -> Node:
    """Rows of a matrix, or columns; or one of them."""
    if x.op.name == "transpose" and last_two(x):
        line = _line(x.parents[0], 1 - dim, item)
        return line.mT if line.ndim == 2 else line
    return x[:, item] if dim else x[item]


@normal("getitem")
def part_of_an_outer_product(node: Node) -> Node | None:
    """outer(a, b)[:, :4] = outer(a, b[:4]); outer(a, b)[0] = a[0] * b."""
    product = node.parents[0]
    full = _plain_index(node) if product.op.name == "outer" else None
    if full is None:
        return None
    a, b = (_of_it(v, (i,)) for v, i in zip(product.parents, full, strict=True))
    return product.op(a, b) if node.ndim == 2 else a * b


@other("getitem")
def part_of_a_matrix_product(node: Node) -> Node | None:
    """(A @ B)[0] = A[0] @ B; (A @ B)[:, 0] = A @ B[:, 0]."""
    product = node.parents[0]
    full = _plain_index(node) if product.op.name == "matmul" and 1 <= product.ndim <= 2 else None
    if full is None:
        return None
    a, b = product.parents
    left = _of_it(a, (full[0],)) if a.ndim == 2 else a
    return left @ (_of_it(b, (slice(None), full[-1])) if b.ndim == 2 else b)


def _plain_index(node: Node) -> list | None:
    """What an index takes of each dimension; None where that is no number and no slice."""
    full = full_index(node.attrs["index"], node.parents[0].ndim)
    return full if all(isinstance(i, int | slice) for i in full) else None


def _of_it(x: Node, index: tuple) -> Node:
    """x[index]; x itself where that leaves nothing out."""
    return x if index[-1] == slice(None) else x[index]
