"""Triangular matrices, and the Cholesky decomposition."""

from collections.abc import Iterator
from itertools import pairwise, permutations

from ....graphs import OPS, Node
from ....graphs.shapes import Shape
from .atoms import defined
from .chains import Chain, Factor, cancel_inverses, chain_of, node_of, product_node
from .factoring import added, sum_of, terms_of, terms_of_sum
from .identities import condition, identities
from .matrices import is_transposed, is_unit
from .products import NOTHING, Product, build, product_of, scaled, with_factor, with_factors
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
    """(A - diag(x)).tril(-1) = A.tril(-1); the same for L.T @ diag(x), where L = cholesky(A)."""
    x = node.parents[0]
    terms = terms_of_sum(x) if x.ndim == 2 else []
    factors = {f for t in terms for f in t.factors}
    if len(terms) < 2 or not any(is_unit(f) or is_diagonal(f) or _is_upper(f) for f in factors):
        return None
    parts = [node.op(build(t, x.shape), **node.attrs) for t in terms]
    return sum(parts[1:], start=parts[0])


def _is_upper(x: Node) -> bool:
    """Whether x is L.T @ diag(x) for L = cholesky(A)."""
    upper, d = x.parents if x.op.name == "matmul" else (x, x)
    return is_diagonal(d) and is_transposed(upper) and _cholesky_input(upper.parents[0]) is not None


def is_diagonal(x: Node) -> bool:
    """Whether x is the diagonal matrix of a vector."""
    return x.op.name in DIAGONAL and x.parents[0].ndim == 1 and is_plain(x)


@normal("add", "sub")
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
    """(L.T @ diag(x)).tril() = diag(x * L.diag()) and L.T.tril() = diag(L.diag()) for
    L = cholesky(A); (L.T @ diag(x)).tril(-1) = 0.
    """
    product = node.parents[0]
    if node.attrs["diagonal"] < 0 and _is_upper(product):
        return OPS["zeros"](size=node.shape)
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
    """X, if a node, or the definition of a named node, is cholesky(X); None for any other node, and
    for upper factors.
    """
    inner = defined(lower)
    known = inner.op.name == "cholesky" and not inner.attrs["upper"]
    return inner.parents[0] if known else None


def _is_diagonal_of(f: Node, x: Node) -> bool:
    inner = defined(f)
    return inner.op.name in DIAGONAL and inner.parents[0] is x and inner.ndim == 1


@condition
def is_cholesky_factor(A: Node, upper: bool) -> bool:
    """Whether a matrix is cholesky(X), or, if `upper`, its transpose."""
    lower = A.parents[0] if upper and is_transposed(A) else A
    return (lower is not A) == upper and _cholesky_input(lower) is not None


identities(NORMAL, """
    solve_triangular(A, X, upper=upper) = inv(A) @ X where is_cholesky_factor(A, upper)
    solve_triangular(A, X, upper=upper, left=False) = X @ inv(A)
        where is_cholesky_factor(A, upper)
    solve(A, x) = inv(A) @ x where is_cholesky_factor(A, False)
    solve(A.mT, x) = inv(A).mT @ x where is_cholesky_factor(A, False)
    cholesky_solve(X, A) = inv(A).mT @ (inv(A) @ X) where is_cholesky_factor(A, False)
""")  # fmt: skip


@candidate("matmul")
def product_of_cholesky_factors(node: Node) -> Iterator[Node]:
    """L @ L.T = X and inv(L).T @ inv(L) = inv(X) for L = cholesky(X), also within longer products;
    inv(L).T @ inv(L) @ B = cholesky_solve(B, L).
    """
    chain = chain_of(node)
    factors = [] if chain is None else [*chain.factors]
    for k, pair in enumerate(pairwise(factors)):
        joined = _gram(*pair)
        if chain is not None and joined is not None:
            new = chain._replace(factors=(*factors[:k], joined, *factors[k + 2 :]))
            yield node_of(new, node.shape)
            lower, columns = pair[0].node.parents, factors[k + 2 :]
            if joined.node.op.name == "inv" and columns and not factors[-1].is_column:
                solved = OPS["cholesky_solve"](product_node(columns, ()), *lower)
                rest = (*factors[:k], Factor(solved, False))
                yield node_of(chain._replace(factors=rest), node.shape)


def _gram(a: Factor, b: Factor) -> Factor | None:
    """X for L and L.T, inv(X) for inv(L).T and inv(L), if L = cholesky(X); otherwise None."""
    if a.node is not b.node or a.transposed == b.transposed:
        return None
    if a.node.op.name == "inv" and a.transposed:
        x = _cholesky_input(a.node.parents[0])
        return None if x is None else Factor(a.node.op(x), False)
    x = None if a.transposed else _cholesky_input(a.node)
    return None if x is None else Factor(x, False)


@normal("matmul")
def cholesky_factors_into_a_sum(node: Node) -> Node | None:
    """inv(L).T @ (eye(n) + B) @ inv(L) = inv(L).T @ inv(L) + inv(L).T @ B @ inv(L), whose first
    term is inv(X) for L = cholesky(X); likewise for inv(L).T @ (inv(L) + B).
    """
    chain = chain_of(node) or Chain(NOTHING, ())
    has_factor = any(f.node.op.name in ("cholesky", "inv") for f in chain.factors)
    for k, middle in enumerate(chain.factors if has_factor else ()):
        terms = terms_of_sum(middle.node)
        if len(terms) < 2 or middle.node.ndim < 2:
            continue
        factors = (Factor(build(t, middle.node.shape), middle.transposed) for t in terms)
        parts = [_with_factor(chain, k, f, node.shape) for f in factors]
        if any(_grams(chain_of(p)) > _grams(chain) for p in parts):
            return sum(parts[1:], start=parts[0])
    return None


def _grams(chain: Chain | None) -> int:
    """How many pairs of neighbours in a chain are L and L.T, or inv(L).T and inv(L)."""
    return 0 if chain is None else sum(_gram(*p) is not None for p in pairwise(chain.factors))


def _with_factor(chain: Chain, k: int, new: Factor, shape: Shape) -> Node:
    """A chain with another factor k and without pairs of inverses, as a node of this shape."""
    factors = (*chain.factors[:k], new, *chain.factors[k + 1 :])
    return node_of(cancel_inverses(chain._replace(factors=factors)), shape)
