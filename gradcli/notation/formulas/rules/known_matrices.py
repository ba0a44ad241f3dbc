"""Identities for matrices that are known to be triangular or invertible."""

from ....graphs import OPS, Node
from .assumed import known
from .chains import is_square
from .identities import condition, identities
from .products import constant_value
from .registry import NORMAL, RULES, normal, rule

MAX_DEPTH = 8  # of nested operations in the search for properties
OTHER_SIDE = {"lower": "upper", "upper": "lower"}
INVERTIBLE = {"invertible", "posdef", "orthogonal", "permutation"}


def is_triangular(x: Node, side: str, depth: int = MAX_DEPTH) -> bool:
    """Whether a matrix is known to be triangular; `side` is "lower" or "upper"."""
    name, parts = x.op.name, x.parents
    if name == "input":
        return not {side, "diagonal"}.isdisjoint(known(x))
    if x.ndim != 2 or depth == 0:
        return False
    if name in ("eye", "zeros", "diag"):
        return name != "diag" or (parts[0].ndim == 1 and x.attrs["diagonal"] == 0)
    if name == "transpose":
        return is_triangular(parts[0], OTHER_SIDE[side], depth - 1)
    if name in ("tril", "triu"):
        within = x.attrs["diagonal"] <= 0 if name == "tril" else x.attrs["diagonal"] >= 0
        return within and (name == "tril") == (side == "lower")
    if name in ("inv", "neg"):
        return is_triangular(parts[0], side, depth - 1)
    if name == "mul" and any(
        i.shape == x.shape and is_triangular(i, side, depth - 1) for i in parts
    ):
        return True
    if name in ("add", "sub", "matmul"):
        whole = all(i.ndim == 2 if name == "matmul" else i.shape == x.shape for i in parts)
        return whole and all(is_triangular(i, side, depth - 1) for i in parts)
    tensors = [i for i in parts if i.shape]
    scaled = name in ("mul", "div") and len(tensors) == 1 and tensors[0] is parts[0]
    return scaled and is_triangular(tensors[0], side, depth - 1)


def _same_triangle(*nodes: Node) -> bool:
    """Whether all matrices are lower triangular, or all are upper triangular."""
    return any(all(is_triangular(n, side) for n in nodes) for side in OTHER_SIDE)


@condition
def is_square_triangular(A: Node) -> bool:
    """Whether a matrix is square and triangular, on either side."""
    return is_square(A) and _same_triangle(A)


@condition
def are_same_triangles(A: Node, B: Node) -> bool:
    """Whether both matrices are square, and both lower or both upper triangular."""
    return is_square(A) and is_square(B) and _same_triangle(A, B)


@condition
def is_invertible(A: Node) -> bool:
    """Whether a matrix is known to have an inverse."""
    inner = A.parents[0] if A.op.name in ("transpose", "inv") else A
    return not INVERTIBLE.isdisjoint(known(inner))


identities(RULES, """
    pinv(A) = inv(A) where is_invertible(A)
    ne(det(A), 0) = full(size=(), fill_value=True) where is_invertible(A)
    eq(det(A), 0) = full(size=(), fill_value=False) where is_invertible(A)
    sign(det(A)) ** 2 = 1 where is_invertible(A)
    pinv(A.mT @ A) = inv(A) @ inv(A).mT where is_invertible(A)
    pinv(A @ A.mT) = inv(A).mT @ inv(A) where is_invertible(A)
""")  # fmt: skip

identities(NORMAL, """
    det(A) = prod(diag(A)) where is_square_triangular(A)
    trace(inv(A)) = sum(1 / diag(A)) where is_square_triangular(A)
    diag(inv(A)) = 1 / diag(A) where is_square_triangular(A)
    logdet(A) = sum(log(abs(diag(A)))) where is_square_triangular(A)
    diag(matrix_exp(A)) = exp(diag(A)) where is_square_triangular(A)
    trace(matrix_exp(A)) = sum(exp(diag(A))) where is_square_triangular(A)
    diag(A @ B) = diag(A) * diag(B) where are_same_triangles(A, B)
    trace(A @ B) = diag(A) @ diag(B) where are_same_triangles(A, B)
""")  # fmt: skip


@rule("tril", "triu")
def triangle_of_a_triangle(node: Node) -> Node | None:
    """L.tril() = L, L.triu(1) = 0 and L.triu() = diag(diag(L)) for a lower triangular L."""
    x, k = node.parents[0], node.attrs["diagonal"]
    side = "lower" if node.op.name == "tril" else "upper"
    offset = k if side == "lower" else -k
    if offset >= 0 and is_triangular(x, side):
        return x
    if offset > 0 or not is_triangular(x, OTHER_SIDE[side]):
        return None
    return OPS["zeros"](size=x.shape) if offset else _diagonal(x)


def _diagonal(x: Node) -> Node | None:
    return OPS["diag"](OPS["diag"](x)) if is_square(x) else None


@rule("matmul")
def product_with_zeros(node: Node) -> Node | None:
    """A @ zeros(n) = zeros(m)."""
    zero = any(constant_value(i) == 0 for i in node.parents)
    return OPS["zeros"](size=node.shape) if zero else None


@normal("sum")
def sum_of_triangular_product(node: Node) -> Node | None:
    """(L * U).sum() = diag(L) @ diag(U) for a lower and an upper triangular matrix."""
    x = node.parents[0]
    if node.shape or x.op.name != "mul" or not is_square(x):
        return None
    a, b = x.parents
    sides = ((a, b), (b, a))
    opposite = any(is_triangular(p, "lower") and is_triangular(q, "upper") for p, q in sides)
    same_shape = a.shape == b.shape and constant_value(a) is constant_value(b) is None
    return OPS["diag"](a) @ OPS["diag"](b) if opposite and same_shape else None
