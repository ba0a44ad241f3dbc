"""Triangular matrices, and the Cholesky decomposition."""

from itertools import permutations

from ....graphs import OPS, Node
from .atoms import defined
from .chains import Factor, chain_of, factor, product_node
from .factoring import added, sum_of, terms_of, terms_of_sum
from .identities import identities
from .matrices import is_transposed, is_unit
from .products import Product, build, product_of, scaled, with_factor, with_factors
from .registry import CANDIDATES, NORMAL, candidate, normal

DIAGONAL = ("diag", "diagonal", "diag_embed")


identities(NORMAL, """
    tril(tril(x, diagonal=j), diagonal=k) = tril(x, diagonal=j if j < k else k)
    triu(triu(x, diagonal=j), diagonal=k) = triu(x, diagonal=k if j < k else j)
    tril(A, diagonal=k).mT = triu(A, diagonal=-k) where is_symmetric(A)
    triu(A, diagonal=k).mT = tril(A, diagonal=-k) where is_symmetric(A)
""")  # fmt: skip

identities(CANDIDATES, """
    tril(A, diagonal=k) + tril(B, diagonal=k) = tril(A + B, diagonal=k)
    tril(A, diagonal=k) - tril(B, diagonal=k) = tril(A - B, diagonal=k)
    triu(A, diagonal=k) + triu(B, diagonal=k) = triu(A + B, diagonal=k)
    triu(A, diagonal=k) - triu(B, diagonal=k) = triu(A - B, diagonal=k)
""")  # fmt: skip


@normal("diag", "diag_embed")
def diagonal_of_a_number(node: Node) -> Node | None:
    """diag(2 * ones(n)) = 2 * eye(n)."""
    x = node.parents[0]
    result = product_of(x)
    if x.ndim != 1 or node.shape != 2 * x.shape or result is None:
        return None
    if any(f.shape for f in result.factors):
        return None
    return scaled(result, OPS["eye"](n=node.shape[0]))


@normal("tril", "triu")
def triangle_without_diagonal(node: Node) -> Node | None:
    """(A - diag(x)).tril(-1) = A.tril(-1)."""
    x = node.parents[0]
    terms = terms_of_sum(x) if x.ndim == 2 else []
    if not any(is_unit(f) or is_diagonal(f) for t in terms for f in t.factors):
        return None
    parts = [node.op(build(t, x.shape), **node.attrs) for t in terms]
    return sum(parts[1:], start=parts[0])


def is_diagonal(x: Node) -> bool:
    """Whether x is the diagonal matrix of a vector."""
    return x.op.name in DIAGONAL and x.parents[0].ndim == 1 and is_plain(x)


@candidate("add", "sub")
def both_triangles(node: Node) -> Node | None:
    """A.tril() + A.triu(1) = A."""
    terms = terms_of(node) or []
    for t, k in permutations(terms, 2):
        lower = next((f for f in t.factors if f.op.name == "tril"), None)
        if lower is None or t.coefficient != k.coefficient:
            continue
        a, above = lower.parents[0], lower.attrs["diagonal"] + 1
        complement = with_factors(t.factors, {lower: -1, OPS["triu"](a, diagonal=above): 1})
        if complement == k.factors:
            return sum_of([t.times({lower: -1, a: 1}), *(p for p in terms if p not in (t, k))])
    return None


def is_plain(x: Node) -> bool:
    """Whether x is a matrix and its diagonal the main one, without an offset."""
    return x.ndim == 2 and _is_main(x)


def is_main_diagonal(x: Node) -> bool:
    """Whether x, of an operator in DIAGONAL, is the main diagonal of a matrix."""
    return x.ndim == 1 and x.parents[0].ndim == 2 and _is_main(x)


def _is_main(x: Node) -> bool:
    return not any(x.attrs.get(k) for k in ("diagonal", "offset"))


@normal("tril")
def lower_part_of_an_upper(node: Node) -> Node | None:
    """(L.T @ diag(x)).tril() = diag(x * L.diag()) for a lower triangular L; L.T.tril() too."""
    product = node.parents[0]
    if product.ndim != 2 or node.attrs["diagonal"] != 0:
        return None
    if product.op.name == "transpose" and _cholesky_input(product.parents[0]) is not None:
        return OPS["diag"](product.parents[0].diagonal())
    if product.op.name != "matmul":
        return None
    upper, d = product.parents
    if upper.op.name != "transpose" or d.op.name not in DIAGONAL or not is_plain(d):
        return None
    lower, x = upper.parents[0], d.parents[0]
    if x.ndim != 1 or _cholesky_input(lower) is None:
        return None
    result = product_of(x) or Product(1, {x: 1})
    diagonal = next((f for f in result.factors if _is_diagonal_of(f, lower)), lower.diagonal())
    return d.op(build(Product(result.coefficient, with_factor(result.factors, diagonal)), x.shape))


@normal("tril")
def diagonal_beside_a_triangle(node: Node) -> Node | None:
    """(L.T @ (diag(x) + B)).tril(-1) = (L.T @ B).tril(-1) for L = cholesky(A), because
    L.T @ diag(x) is upper triangular.
    """
    product, k = node.parents[0], node.attrs["diagonal"]
    if product.op.name != "matmul" or product.ndim != 2 or k > 0:
        return None
    upper, right = product.parents
    if upper.op.name != "transpose" or _cholesky_input(upper.parents[0]) is None:
        return None
    terms = terms_of_sum(right)
    diagonals = [t for t in terms if any(f.op.name in DIAGONAL and is_plain(f) for f in t.factors)]
    rest = [t for t in terms if t not in diagonals]
    if not diagonals or not rest:
        return None
    other_part = node.op(upper @ added(rest), **node.attrs)
    return other_part if k else node.op(upper @ added(diagonals), **node.attrs) + other_part


@normal("tril")
def lower_part_of_a_triangle_product(node: Node) -> Node | None:
    """(L.T @ B.tril()).tril() = (L.T @ B).tril() for L = cholesky(A), because L.T @ B.triu(1) is 0
    on and below the diagonal.
    """
    product = node.parents[0]
    if product.op.name != "matmul" or product.ndim != 2 or node.attrs["diagonal"] > 0:
        return None
    upper, triangle = product.parents
    is_tril = triangle.op.name == "tril" and triangle.attrs["diagonal"] == 0
    if not is_tril or upper.op.name != "transpose" or _cholesky_input(upper.parents[0]) is None:
        return None
    return node.op(upper @ triangle.parents[0], **node.attrs)


def _cholesky_input(lower: Node) -> Node | None:
    """X of cholesky(X), also under a name; None for any other node, and for upper factors."""
    inner = defined(lower)
    known = inner.op.name == "cholesky" and not inner.attrs["upper"]
    return inner.parents[0] if known else None


def _is_diagonal_of(f: Node, x: Node) -> bool:
    inner = defined(f)
    return inner.op.name in DIAGONAL and inner.parents[0] is x and inner.ndim == 1


@normal("solve_triangular")
def inverse_by_cholesky(node: Node) -> Node | None:
    """inv(L.T) @ inv(L) = inv(X) for L = cholesky(X)."""
    lower, inner = node.parents
    x = _cholesky_input(lower)
    if x is None or inner.op.name != "solve_triangular" or not is_unit(inner.parents[1]):
        return None
    upper = inner.parents[0]
    is_transpose = is_transposed(upper) and upper.parents[0] is lower
    sides = [(n.attrs["upper"], n.attrs["left"], n.attrs["unitriangular"]) for n in (node, inner)]
    known = sides == [(False, False, False), (True, True, False)]
    return OPS["inv"](x) if is_transpose and known else None


@normal("solve_triangular")
def triangular_factor_solved(node: Node) -> Node | None:
    """inv(L) @ L @ X = X for L = cholesky(A), also with L.T, and on the right."""
    cancelled, left = _cholesky_factor(node), node.attrs["left"]
    chain = None if cancelled is None else chain_of(node.parents[1])
    if chain is None or len(chain.factors) < 2 or chain.factors[0 if left else -1] != cancelled:
        return None
    rest = chain.factors[1:] if left else chain.factors[:-1]
    return scaled(chain.scale, product_node([*rest], node.shape))


def _cholesky_factor(solution: Node) -> Factor | None:
    """L or L.T, for L = cholesky(A), by which an equation with this triangle is solved; or None."""
    matrix, attrs = solution.parents[0], solution.attrs
    transposed = is_transposed(matrix)
    lower = matrix.parents[0] if transposed else matrix
    fits = attrs["upper"] == transposed and not attrs["unitriangular"]
    return factor(lower, transposed) if fits and _cholesky_input(lower) is not None else None


@candidate("solve_triangular")
def solved_term_by_term(node: Node) -> Node | None:
    """inv(L) @ (L @ X + B) = X + inv(L) @ B for L = cholesky(A)."""
    matrix, right = node.parents
    parts = [node.op(matrix, build(t, node.shape), **node.attrs) for t in terms_of_sum(right)]
    if not any(map(triangular_factor_solved, parts)):
        return None
    return sum(parts[1:], start=parts[0])


@normal("matmul")
def product_of_a_solution(node: Node) -> Node | None:
    """L @ (inv(L) @ X) = X for L = cholesky(A), also with L.T."""
    matrix, x = node.parents
    if x.op.name != "solve_triangular" or x.parents[0] is not matrix or not x.attrs["left"]:
        return None
    return None if _cholesky_factor(x) is None else x.parents[1]
