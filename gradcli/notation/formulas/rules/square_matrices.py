"""Inverses, determinants, diagonals and decompositions of square matrices."""

from itertools import pairwise

from ....graphs import OPS, Node, walk
from ....graphs.shapes import axes
from ....operators.leaves import size_of
from .assumed import is_orthogonal, is_symmetric
from .atoms import defined
from .chains import Chain, Factor, cancel_inverses, chain_of, factor_node, is_square, node_of
from .factoring import MOST_TERMS, sum_of, terms_of_sum
from .identities import condition, identities
from .matrices import is_column, is_unit
from .products import (
    NOTHING,
    ONE,
    SUMS,
    Coefficient,
    Product,
    build,
    constant_value,
    product_of,
    scalars_of,
    scaled,
    with_factor,
)
from .registry import NORMAL, RULES, candidate, normal
from .triangular import DIAGONAL, is_diagonal, is_main_diagonal


@normal("matmul")
def matrix_from_decomposition(node: Node) -> Node | None:
    """(V * L) @ V.T = A for L, V = eigh(A) of a symmetric A, and inv(A) with 1 / L in place of L;
    U @ (S.unsqueeze(1) * Vh) = X for U, S, Vh = svd(X), and pinv(X).T with 1 / S in place of S.
    """
    a, b = node.parents
    left = defined(a)
    if left.op.name == "svd_left":
        x = left.parents[0]
        power = _power_of_values(b, "svd_right", "svdvals", x)
        return x if power == 1 else OPS["pinv"](x).mT if power == -1 else None
    vectors = b.parents[0] if b.op.name == "transpose" else b
    right = defined(vectors)
    if vectors is b or right.op.name != "eigh_vectors" or not is_symmetric(right.parents[0]):
        return None
    x = right.parents[0]
    power = _power_of_values(a, "eigh_vectors", "eigvalsh", x)
    return x if power == 1 else OPS["inv"](x) if power == -1 else None


def _power_of_values(node: Node, vectors: str, values: str, x: Node) -> Coefficient:
    """k, if a node is Vh with rows multiplied by S ** k for U, S, Vh = svd(x), or V with columns
    multiplied by L ** k for L, V = eigh(x); 0 for any other node. `vectors` and `values` are the
    operators that compute Vh and S, or V and L.
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
    inner = defined(node)
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
def inverse_into_a_sum(node: Node) -> Node | None:
    """inv(A) @ (A @ x - b) = x - inv(A) @ b; likewise for Q.T of an orthogonal Q, and projections:
    X @ pinv(X) @ (y - X @ z) = X @ pinv(X) @ y - X @ z.
    """
    chain = chain_of(node)
    if chain is None or not any(_may_cancel(f.node) for f in chain.factors):
        return None
    *before, total = chain.factors
    terms = terms_of_sum(total.node)
    if len(terms) > MOST_TERMS or total.transposed:
        return None
    parts = [p for t in terms if (p := chain_of(build(t, total.node.shape))) is not None]
    short = [cancel_inverses(Chain(p.scale, (*before, *p.factors))) for p in parts]
    cancels = any(
        len(s.factors) < len(before) + len(p.factors) for s, p in zip(short, parts, strict=True)
    )
    if len(parts) < len(terms) or not cancels:
        return None
    built = [node_of(s, node.shape) for s in short]
    return scaled(chain.scale, sum_of([product_of(m) or Product(ONE, {m: 1}) for m in built]))


def _may_cancel(x: Node) -> bool:
    """Whether a product of x with another matrix may be shorter."""
    return x.op.name in ("inv", "pinv") or is_orthogonal(x)


@candidate("sum")
def derivative_of_exponential(node: Node) -> Node | None:
    """(L * A).sum() = (g * (A @ matrix_exp(t * A))).sum(), where L is the gradient of
    matrix_exp(t * A) for the upstream gradient g: A commutes with t * A.
    """
    x = node.parents[0]
    result = (product_of(x) if x.ndim == 2 and not node.shape else None) or NOTHING
    for f, e in result.factors.items():
        vjp = _exponential_vjp(f)
        if vjp is None or e != 1:
            continue
        x_transposed, g = vjp
        scalars, rest = scalars_of(x_transposed) or (NOTHING, x_transposed)
        a = _transpose(rest)
        matrices = {k: v for k, v in result.factors.items() if k is not f and k.shape}
        if matrices != {a: 1}:
            continue
        total = (g * (a @ OPS["matrix_exp"](scaled(scalars, a)))).sum()
        return scaled(result.without(f, *matrices), total)
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


@condition
def rows(A: Node) -> Node:
    """The number of rows of a matrix, as a node."""
    return size_of(A.shape, (0,))


identities(RULES, """
    A @ x = x where is_unit(A)
    x @ A = x where is_unit(A)
""")  # fmt: skip

identities(NORMAL, """
    inv(A, check=c) = A where is_unit(A)
    solve(A, x, left=l, check=c) = inv(A) where is_unit(x)
    trace(A) = 1.0 * rows(A) where is_unit(A)
    trace(outer(u, v)) = u @ v
    inv(x.mT, check=c) = inv(x).mT
    inv(inv(x, check=d), check=c) = x
    inv(A, check=c) = A.mT where is_orthogonal(A)
    matrix_exp(x.mT) = matrix_exp(x).mT
    log(det(A)) = logdet(A)
""")  # fmt: skip


@normal("getitem")
def exponential_with_identity_block(node: Node) -> Node | None:
    """matrix_exp([[A, 2 * eye(n)], [0, A]])[:n, n:] = 2 * matrix_exp(A)."""
    exponential, n = node.parents[0], node.shape[-1] if node.ndim == 2 else 0
    upper_right = (..., slice(n), slice(n, None))
    if exponential.op.name != "matrix_exp" or node.attrs["index"] != upper_right:
        return None
    rows = _cat_parts(exponential.parents[0], -2)
    parts = [part for row in rows for part in _cat_parts(row, -1)]
    if len(parts) != 4 or parts[0] is not parts[3] or parts[2].op.name != "zeros":
        return None
    a, off_diagonal = parts[:2]
    result = product_of(off_diagonal) or NOTHING
    units = [f for f in result.factors if f.shape]
    if len(units) != 1 or not is_unit(units[0]):
        return None
    return scaled(result.without(*units), exponential.op(a))


def _cat_parts(x: Node, dim: int) -> list[Node]:
    return x.parents if x.op.name == "cat" and x.attrs["dim"] == dim else []


@normal("inv")
def inverse_of_product(node: Node) -> Node | None:
    """inv(A @ B) = inv(B) @ inv(A) for square matrices; inv(s * A) = inv(A) / s; inv(diag(x)) =
    diag(1 / x).
    """
    x = node.parents[0]
    if x.op.name in ("diag", "diag_embed") and x.parents[0].ndim == 1:
        return x.op(1 / x.parents[0], **x.attrs)
    chain = chain_of(x) if x.ndim == 2 else None
    if chain is None or chain.factors == (Factor(x, False),) or not chain.scale.coefficient:
        return None
    if not chain.factors or not all(is_square(f.node) for f in chain.factors):
        return None
    inverses = tuple(Factor(node.op(f.node), f.transposed) for f in reversed(chain.factors))
    powers = {f: -e for f, e in chain.scale.factors.items()}
    return node_of(Chain(Product(1 / chain.scale.coefficient, powers), inverses), node.shape)


@normal("diag", "diagonal")
def diagonal_of_a_sum(node: Node) -> Node | None:
    """(A - diag(x)).diag() = A.diag() - x."""
    x = node.parents[0]
    if x.op.name not in SUMS or not is_main_diagonal(node):
        return None
    if not any(map(is_diagonal, x.parents)) or {i.shape for i in x.parents} != {x.shape}:
        return None
    return x.op(*(node.op(i, **node.attrs) for i in x.parents))


@normal("diag", "diagonal")
def diagonal_of_product(node: Node) -> Node | None:
    """outer(a, b).diag() = a * b; A.T.diag() = A.diag(); diag(x).diag() = x; x.expand(n, n).diag()
    = x, likewise for an expanded column.
    """
    x = node.parents[0]
    if not is_main_diagonal(node):
        return None
    if x.op.name == "outer" and is_square(x):
        a, b = x.parents
        return a * b
    if x.op.name == "transpose":
        return node.op(x.parents[0], **node.attrs)
    if is_diagonal(x):
        return x.parents[0]
    if x.op.name == "expand" and is_square(x):
        row = x.parents[0]
        if row.ndim == 2:
            row = row.squeeze(dim=int(row.shape[1] == 1))
        return row if row.shape == node.shape else row.expand(shape=node.shape)
    return OPS["ones"](size=node.shape) if x.op.name == "ones" else None


@normal("sum", "mean")
def sum_of_identity(node: Node) -> Node | None:
    """eye(n).sum(dim=0) = ones(n); eye(n).mean(dim=0) = ones(n) / n."""
    x, dim = node.parents[0], node.attrs["dim"]
    if not is_unit(x) or dim is None or len(axes(dim, 2)) != 1:
        return None
    ones = OPS["ones"](size=node.shape)
    return ones if node.op.name == "sum" else ones / size_of(x.shape, axes(dim, 2))


@normal("sum")
def sum_of_a_diagonal(node: Node) -> Node | None:
    """diag(x).sum(dim=0) = x; diag(x).sum() = x.sum()."""
    d, dim = node.parents[0], node.attrs["dim"]
    if not is_diagonal(d) or node.attrs["keepdim"]:
        return None
    return d.parents[0].sum() if dim is None else d.parents[0]


@normal("mul", "div")
def product_with_diagonal(node: Node) -> Node | None:
    """diag(x) * A = diag(x * A.diag())."""
    result = (product_of(node) if node.ndim == 2 else None) or NOTHING
    diagonal = next(filter(is_diagonal, result.once()), None)
    rest = result.without(diagonal).factors
    shapes = [f.shape for f in rest]
    if diagonal is None or node.shape not in shapes:
        return None
    if diagonal.shape != node.shape or {*shapes} - {(), node.shape}:
        return None
    (x,) = diagonal.parents
    operators = (n.op for n in walk([x]) if n.op.name in DIAGONAL and n.ndim == 1)
    take_diagonal = next(operators, OPS["diag"])  # the operator that the program uses
    diagonals = {take_diagonal(f) if f.shape else f: e for f, e in rest.items()}
    return diagonal.op(build(result._replace(factors=with_factor(diagonals, x)), x.shape))


@candidate("diag", "diagonal")
def diagonal_of_matmul_with_diagonal(node: Node) -> Node | None:
    """(A @ diag(x) @ B).diag() = (A * B.T) @ x; (diag(x) @ A).diag() = (A @ diag(x)).diag() =
    x * A.diag().
    """
    x = node.parents[0]
    chain = chain_of(x) if is_main_diagonal(node) else None
    if chain is None or not is_square(x) or any(f.node.ndim != 2 for f in chain.factors):
        return None
    if len(chain.factors) == 3:
        left, middle, right = chain.factors
        if is_diagonal(middle.node):
            of_rows = factor_node(left) * factor_node(right.flip())
            return scaled(chain.scale, of_rows @ middle.node.parents[0])
    for d, rest in ((chain.factors[0], chain.factors[1:]), (chain.factors[-1], chain.factors[:-1])):
        if rest and is_diagonal(d.node):
            inner = node_of(Chain(chain.scale, rest), x.shape)
            return node.op(inner, **node.attrs) * d.node.parents[0]
    return None
