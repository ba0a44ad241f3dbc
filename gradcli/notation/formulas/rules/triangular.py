"""Triangular matrices, and the Cholesky decomposition."""

from ....graphs import OPS, Node
from .atoms import definition
from .matrices import is_unit, last_two
from .products import Product, build, product_of, scaled, with_factor
from .registry import normal, other

DIAGONAL = ("diag", "diagonal", "diag_embed")


@normal("diag", "diag_embed")
def diagonal_of_a_number(node: Node) -> Node | None:
    """diag(2 * ones(n)) = 2 * eye(n)."""
    x = node.parents[0]
    found = product_of(x)
    if x.ndim != 1 or node.shape != 2 * x.shape or found is None:
        return None
    if any(f.shape for f in found.factors):
        return None
    return scaled(found, OPS["eye"](n=node.shape[0]))


@normal("tril", "triu")
def triangle_of_a_diagonal(node: Node) -> Node | None:
    """diag(x).tril() = diag(x); eye(n).tril(-1) = zeros."""
    x, k = node.parents[0], node.attrs["diagonal"]
    if not (is_unit(x) or (x.op.name in DIAGONAL and x.parents[0].ndim == 1 and is_plain(x))):
        return None
    return x if (k >= 0) == (node.op.name == "tril") or k == 0 else OPS["zeros"](size=x.shape)


@normal("tril", "triu")
def triangle_of_a_triangle(node: Node) -> Node | None:
    """A.tril().tril(-1) = A.tril(-1)."""
    inner = node.parents[0]
    if inner.op is not node.op:
        return None
    smaller = min if node.op.name == "tril" else max
    return node.op(inner.parents[0], diagonal=smaller(n.attrs["diagonal"] for n in (node, inner)))


@other("add", "sub")
def triangle_of_a_sum(node: Node) -> Node | None:
    """A.tril() + B.tril() = (A + B).tril()."""
    a, b = node.parents
    alike = a.op is b.op and a.op.name in ("tril", "triu") and a.attrs == b.attrs
    if not alike or a.shape != b.shape:
        return None
    return a.op(node.op(a.parents[0], b.parents[0]), **a.attrs)


def is_plain(x: Node) -> bool:
    """Whether a diagonal is that of a square matrix, not one beside it."""
    return x.ndim == 2 and not any(x.attrs.get(k) for k in ("diagonal", "offset"))


@normal("tril")
def lower_part_of_an_upper(node: Node) -> Node | None:
    """(L.T @ diag(x)).tril() = diag(x * L.diag()) for a lower triangular L; L.T.tril() too."""
    product = node.parents[0]
    if product.ndim != 2 or node.attrs["diagonal"] != 0:
        return None
    if product.op.name == "transpose" and _decomposed(product.parents[0]) is not None:
        return OPS["diag"](product.parents[0].diagonal())
    if product.op.name != "matmul":
        return None
    upper, d = product.parents
    if upper.op.name != "transpose" or d.op.name not in DIAGONAL or not is_plain(d):
        return None
    lower, x = upper.parents[0], d.parents[0]
    if x.ndim != 1 or _decomposed(lower) is None:
        return None
    found = product_of(x) or Product(1, {x: 1})
    own = next((f for f in found.factors if _is_diagonal_of(f, lower)), lower.diagonal())
    return d.op(build(Product(found.coefficient, with_factor(found.factors, own)), x.shape))


def _decomposed(lower: Node) -> Node | None:
    """X of cholesky(X)."""
    inner = definition(lower) or lower
    known = inner.op.name == "cholesky" and not inner.attrs["upper"]
    return inner.parents[0] if known else None


def _is_diagonal_of(f: Node, x: Node) -> bool:
    inner = definition(f) or f
    return inner.op.name in DIAGONAL and inner.parents[0] is x and inner.ndim == 1


@normal("solve_triangular")
def inverse_by_cholesky(node: Node) -> Node | None:
    """inv(L.T) @ inv(L) = inv(X) for L = cholesky(X)."""
    lower, inner = node.parents
    x = _decomposed(lower)
    if x is None or inner.op.name != "solve_triangular" or not is_unit(inner.parents[1]):
        return None
    upper = inner.parents[0]
    turned = upper.op.name == "transpose" and last_two(upper) and upper.parents[0] is lower
    sides = [(n.attrs["upper"], n.attrs["left"], n.attrs["unitriangular"]) for n in (node, inner)]
    known = sides == [(False, False, False), (True, True, False)]
    return OPS["inv"](x) if turned and known else None
