"""Inverses, determinants and diagonals of square matrices."""

from ....graphs import OPS, Node, walk
from ....graphs.shapes import axes
from ....operators.leaves import size_of
from .chains import Chain, Factor, chain_of, factor_node, is_square, node_of
from .identities import condition, identities
from .matrices import is_unit
from .products import Product, build, product_of, scaled, with_factor
from .registry import NORMAL, RULES, candidate, normal
from .triangular import DIAGONAL, is_diagonal


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
    result = product_of(off_diagonal)
    units = [f for f in result.factors if is_unit(f)] if result is not None else []
    if result is None or len(units) != 1 or any(f.shape for f in result.factors if f not in units):
        return None
    rest = {f: e for f, e in result.factors.items() if f not in units}
    return scaled(Product(result.coefficient, rest), exponential.op(a))


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
    if x.op.name not in ("add", "sub") or x.ndim != 2 or node.ndim != 1:
        return None
    is_main = not any(node.attrs.get(k) for k in ("diagonal", "offset"))
    if (
        not is_main
        or not any(map(is_diagonal, x.parents))
        or {i.shape for i in x.parents} != {x.shape}
    ):
        return None
    return x.op(*(node.op(i, **node.attrs) for i in x.parents))


@normal("diag", "diagonal")
def diagonal_of_product(node: Node) -> Node | None:
    """outer(a, b).diag() = a * b; A.T.diag() = A.diag(); diag(x).diag() = x; x.expand(n, n).diag()
    = x, and so for an expanded column.
    """
    x = node.parents[0]
    if x.ndim != 2 or node.ndim != 1 or any(node.attrs.get(k) for k in ("diagonal", "offset")):
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
    result = product_of(node) if node.ndim == 2 else None
    powers = {} if result is None else result.factors
    diagonal = next((f for f, e in powers.items() if e == 1 and is_diagonal(f)), None)
    rest = {f: e for f, e in powers.items() if f is not diagonal}
    shapes = [f.shape for f in rest]
    if result is None or diagonal is None or node.shape not in shapes:
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
    """(A @ diag(x) @ B).diag() = (A * B.T) @ x; (A @ diag(x)).diag() = A.diag() * x."""
    x = node.parents[0]
    if x.ndim != 2 or node.ndim != 1 or any(node.attrs.get(k) for k in ("diagonal", "offset")):
        return None
    chain = chain_of(x)
    if chain is None or not is_square(x) or any(f.node.ndim != 2 for f in chain.factors):
        return None
    if len(chain.factors) == 3:
        left, middle, right = chain.factors
        if is_diagonal(middle.node):
            of_rows = factor_node(left) * factor_node(right.flip())
            return scaled(chain.scale, of_rows @ middle.node.parents[0])
    if len(chain.factors) == 2:
        for d, other in (chain.factors, chain.factors[::-1]):
            if is_diagonal(d.node):
                return scaled(chain.scale, node.op(other.node) * d.node.parents[0])
    return None
