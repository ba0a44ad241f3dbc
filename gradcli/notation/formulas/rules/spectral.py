"""Matrices rebuilt from eigenvalues or singular values; pseudoinverses; matrix exponentials."""

from itertools import pairwise

from ....graphs import OPS, Node
from .assumed import is_symmetric
from .atoms import definition
from .chains import Chain, Factor, cancel_inverses, chain_of, node_of
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
from .registry import candidate, normal
from .sums import terms_of


@normal("matmul")
def matrix_from_decomposition(node: Node) -> Node | None:
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
    """The exponent k where a node is the right singular vectors of x, with rows multiplied by
    values ** k, or its eigenvectors, with columns multiplied by them; 0 for any other node.
    """
    result = product_of(node) if node.ndim == 2 else None
    if result is None or result.coefficient != 1 or len(result.factors) != 2:
        return 0
    powers = result.factors.items()
    others = [(f, e) for f, e in powers if not (_is_result_of(f, vectors, x) and e == 1)]
    if len(others) != 1 or is_column(others[0][0]) != (vectors == "svd_right"):
        return 0
    ((f, e),) = others
    inner = product_of(f.parents[0] if is_column(f) else f)
    if inner is None or inner.coefficient != 1 or len(inner.factors) != 1:
        return 0
    ((base, power),) = inner.factors.items()
    return e * power if _is_result_of(base, values, x) else 0


def _is_result_of(node: Node, name: str, x: Node) -> bool:
    """Whether a node is the result of an operator of this name for x, such as `svdvals`."""
    inner = definition(node) or node
    return inner.op.name == name and inner.parents[0] is x


@candidate("matmul")
def pseudoinverse(node: Node) -> Node | None:
    """X @ inv(X.T @ X) = pinv(X).T = inv(X @ X.T) @ X."""
    chain = chain_of(node) if node.ndim <= 2 else None
    factors = () if chain is None else chain.factors
    for k, (f, g) in enumerate(pairwise(factors)):
        for x, inverse, inner in ((f, g, (f.flip(), f)), (g, f, (g, g.flip()))):
            product = inverse.node.parents[0] if inverse.node.op.name == "inv" else None
            whole = None if product is None else chain_of(product)
            if whole is not None and whole.factors == inner and whole.scale == Product(ONE, {}):
                new = Factor(OPS["pinv"](x.node), not x.transposed)
                rest = (*factors[:k], new, *factors[k + 2 :])
                return node_of(chain._replace(factors=rest), node.shape)  # type: ignore[union-attr]
    return None


@candidate("matmul")
def projection_of_a_sum(node: Node) -> Node | None:
    """X @ pinv(X) @ (y - X @ z) = X @ pinv(X) @ y - X @ z."""
    chain = chain_of(node) if node.ndim == 1 else None
    if chain is None or not any(f.node.op.name == "pinv" for f in chain.factors):
        return None
    *before, total = chain.factors
    terms = terms_of(total.node) if total.node.op.name in ("add", "sub") else None
    if terms is None or len(terms) > MOST_TERMS or total.transposed:
        return None
    parts = [p for t in terms if (p := chain_of(build(t, total.node.shape))) is not None]
    if len(parts) < len(terms) or all(len(p.factors) <= 1 for p in parts):
        return None
    built = [
        node_of(cancel_inverses(Chain(p.scale, (*before, *p.factors))), node.shape) for p in parts
    ]
    return scaled(chain.scale, sum_of([product_of(m) or Product(ONE, {m: 1}) for m in built]))


@candidate("sum")
def derivative_of_exponential(node: Node) -> Node | None:
    """(L * A).sum() = (g * (A @ matrix_exp(t * A))).sum(), where L is the gradient of
    matrix_exp(t * A) for the upstream gradient g: A commutes with t * A.
    """
    x = node.parents[0]
    result = product_of(x) if x.ndim == 2 and not node.shape else None
    for f, e in result.factors.items() if result else ():
        vjp = _exponential_vjp(f)
        if vjp is None or e != 1:
            continue
        x_transposed, g = vjp
        numbers, rest = scalars_of(x_transposed)
        a = _transpose(rest or x_transposed)
        matrices = {k: v for k, v in result.factors.items() if k is not f and k.shape}  # type: ignore[union-attr]
        if matrices != {a: 1}:
            continue
        exponent = a if numbers is None else scaled(numbers, a)
        total = (g * (a @ OPS["matrix_exp"](exponent))).sum()
        scale = {k: v for k, v in result.factors.items() if not k.shape}  # type: ignore[union-attr]
        return scaled(result._replace(factors=scale), total)  # type: ignore[union-attr]
    return None


def _exponential_vjp(node: Node) -> tuple[Node, Node] | None:
    """X.T and g, if a node is the gradient of matrix_exp(X) for the upstream gradient g."""
    whole = node.parents[0] if node.op.name == "getitem" else node
    rows = whole.parents[0].parents if whole.op.name == "matrix_exp" else []
    if len(rows) != 2 or any(r.op.name != "cat" or len(r.parents) != 2 for r in rows):
        return None
    (x_transposed, g), (zeros, second_diagonal_block) = (r.parents for r in rows)
    if second_diagonal_block is not x_transposed or constant_value(zeros) != 0:
        return None
    n = x_transposed.shape[-1]
    vjp = OPS["matrix_exp"](OPS["cat"](*rows, dim=-2))[..., :n, n:]
    return (x_transposed, g) if node is vjp else None


def _transpose(node: Node) -> Node:
    """node.T, without a transpose if the node is one."""
    return node.parents[0] if node.op.name == "transpose" else node.mT
