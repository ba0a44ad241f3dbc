"""Matrices put together again out of their eigenvalues or singular values; pseudoinverses;
exponentials of matrices.
"""

from itertools import pairwise

from ....graphs import OPS, Node
from .assumed import is_symmetric
from .atoms import definition
from .chains import Chain, Factor, chain_of, node_of, settled
from .factoring import MOST_TERMS, sum_of
from .matrices import is_column
from .products import (
    ONE,
    Coefficient,
    Product,
    build,
    constant_value,
    product_of,
    scalars_of,
    scaled,
)
from .registry import normal, other
from .sums import terms_of


@normal("matmul")
def put_together_again(node: Node) -> Node | None:
    """(V * L) @ V.T = A for L, V = eigh(A) of a symmetric A, and inv(A) for 1 / L; of singular
    values U @ diag(S) @ Vh = X, and pinv(X).T for 1 / S.
    """
    a, b = node.parents
    left = definition(a) or a
    if left.op.name == "svd_left":
        x = left.parents[0]
        power = _power_of_values(b, "svd_right", "svdvals", x)
        return x if power == 1 else OPS["pinv"](x).mT if power == -1 else None
    vectors = b.parents[0] if b.op.name == "transpose" else b
    right = definition(vectors) or vectors
    if vectors is b or right.op.name != "eigh_vectors" or not is_symmetric(right.parents[0]):
        return None
    x = right.parents[0]
    power = _power_of_values(a, "eigh_vectors", "eigvalsh", x)
    return x if power == 1 else OPS["inv"](x) if power == -1 else None


def _power_of_values(node: Node, vectors: str, values: str, x: Node) -> Coefficient:
    """The power of the values of x that multiplies the rows of its right singular vectors, or the
    columns of its eigenvectors; 0 where a node is anything else.
    """
    result = product_of(node) if node.ndim == 2 else None
    if result is None or result.coefficient != 1 or len(result.factors) != 2:
        return 0
    others = [(f, e) for f, e in result.factors.items() if not (_is(f, vectors, x) and e == 1)]
    if len(others) != 1 or is_column(others[0][0]) != (vectors == "svd_right"):
        return 0
    ((f, e),) = others
    inner = product_of(f.parents[0] if is_column(f) else f)
    if inner is None or inner.coefficient != 1 or len(inner.factors) != 1:
        return 0
    ((own, times),) = inner.factors.items()
    return e * times if _is(own, values, x) else 0


def _is(node: Node, name: str, x: Node) -> bool:
    """Whether a node is what an operator of this name makes of x."""
    inner = definition(node) or node
    return inner.op.name == name and inner.parents[0] is x


@other("matmul")
def pseudoinverse(node: Node) -> Node | None:
    """X @ inv(X.T @ X) = pinv(X).T = inv(X @ X.T) @ X."""
    chain = chain_of(node) if node.ndim <= 2 else None
    factors = () if chain is None else chain.factors
    for k, (f, g) in enumerate(pairwise(factors)):
        for x, inverse, inner in ((f, g, (f.flip(), f)), (g, f, (g, g.flip()))):
            product = inverse.node.parents[0] if inverse.node.op.name == "inv" else None
            whole = None if product is None else chain_of(product)
            if whole is not None and whole.factors == inner and whole.scale == Product(ONE, {}):
                new = Factor(OPS["pinv"](x.node), not x.turned)
                rest = (*factors[:k], new, *factors[k + 2 :])
                return node_of(chain._replace(factors=rest), node.shape)  # type: ignore[union-attr]
    return None


@other("matmul")
def projection_of_a_sum(node: Node) -> Node | None:
    """X @ pinv(X) @ (y - X @ z) = X @ pinv(X) @ y - X @ z."""
    chain = chain_of(node) if node.ndim == 1 else None
    if chain is None or not any(f.node.op.name == "pinv" for f in chain.factors):
        return None
    *before, total = chain.factors
    terms = terms_of(total.node) if total.node.op.name in ("add", "sub") else None
    if terms is None or len(terms) > MOST_TERMS or total.turned:
        return None
    parts = [p for t in terms if (p := chain_of(build(t, total.node.shape))) is not None]
    if len(parts) < len(terms) or all(len(p.factors) <= 1 for p in parts):
        return None
    built = [node_of(settled(Chain(p.scale, (*before, *p.factors))), node.shape) for p in parts]
    return scaled(chain.scale, sum_of([product_of(m) or Product(ONE, {m: 1}) for m in built]))


@other("sum")
def exponential_along_itself(node: Node) -> Node | None:
    """(L * A).sum() = (g * (A @ matrix_exp(t * A))).sum(), where L is what matrix_exp(t * A) sends
    back for g: a matrix and its multiples are multiplied in any order.
    """
    x = node.parents[0]
    result = product_of(x) if x.ndim == 2 and not node.shape else None
    for f, e in result.factors.items() if result else ():
        sent = _sent_by_exponential(f)
        if sent is None or e != 1:
            continue
        turned, g = sent
        numbers, rest = scalars_of(turned)
        along = _transposed(rest or turned)
        others = {k: v for k, v in result.factors.items() if k is not f and k.shape}  # type: ignore[union-attr]
        if others != {along: 1}:
            continue
        exponent = along if numbers is None else scaled(numbers, along)
        total = (g * (along @ OPS["matrix_exp"](exponent))).sum()
        scale = {k: v for k, v in result.factors.items() if not k.shape}  # type: ignore[union-attr]
        return scaled(result._replace(factors=scale), total)  # type: ignore[union-attr]
    return None


def _sent_by_exponential(node: Node) -> tuple[Node, Node] | None:
    """X.T and g, where a node is what matrix_exp(X) sends back for g; None for any other."""
    whole = node.parents[0] if node.op.name == "getitem" else node
    rows = whole.parents[0].parents if whole.op.name == "matrix_exp" else []
    if len(rows) != 2 or any(r.op.name != "cat" or len(r.parents) != 2 for r in rows):
        return None
    (turned, g), (below, again) = (r.parents for r in rows)
    if again is not turned or constant_value(below) != 0:
        return None
    n = turned.shape[-1]
    sent = OPS["matrix_exp"](OPS["cat"](*rows, dim=-2))[..., :n, n:]
    return (turned, g) if node is sent else None


def _transposed(node: Node) -> Node:
    """A for A.T."""
    return node.parents[0] if node.op.name == "transpose" else node.mT
