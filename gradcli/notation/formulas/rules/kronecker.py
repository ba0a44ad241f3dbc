"""Sums of Kronecker products times other factors, with four dimensions, two of each matrix."""

from ....graphs import OPS, Node, intern
from ....graphs.shapes import axes, numel
from .identities import identities
from .matrices import is_unit
from .products import NOTHING, Product, build, product_of, with_factor
from .registry import CANDIDATES, NORMAL, candidate, normal

identities(NORMAL, """
    inv(kron(A, B), check=c) = kron(inv(A, check=c), inv(B, check=c))
        where is_square(A) and is_square(B)
    pinv(kron(A, B)) = kron(pinv(A), pinv(B))
    kron(A, B).mT = kron(A.mT, B.mT)
    kron(A, B) @ kron(C, X) = kron(A @ C, B @ X) where A.shape[1] == C.shape[0]
    trace(kron(A, B)) = trace(A) * trace(B) where is_square(A) and is_square(B)
""")  # fmt: skip

identities(CANDIDATES, """
    kron(inv(A), inv(B)) = inv(kron(A, B))
    kron(A.mT, B.mT) = kron(A, B).mT
""")  # fmt: skip


@normal("sum")
def sum_of_kron_product(node: Node) -> Node | None:
    """For K = kron(A, B).reshape(m, p, n, q), (K * B[None, :, None]).sum((1, 3)) is
    A * (B * B).sum(), and the sum over the dimensions of A, times A, is B * (A * A).sum();
    eye(m * n) is kron(eye(m), eye(n)).
    """
    x, (over, result) = node.parents[0], _summed(node)
    for kron, e in result.factors.items():
        operands = _kron_operands(kron)
        if e != 1 or operands is None:
            continue
        kept, summed = operands if over == (1, 3) else operands[::-1]
        rest = result.without(kron).factors
        if kron.shape == x.shape and all(_is_reshaped_matrix(f, summed.shape, over) for f in rest):
            inner = {f.parents[0]: e for f, e in rest.items()}
            total = build(result._replace(factors=with_factor(inner, summed)), summed.shape).sum()
            return kept * total
    return None


def _summed(total: Node) -> tuple[tuple[int, ...], Product]:
    """The dimensions of one of two matrices, over which a product with four dimensions is summed,
    and the product; NOTHING for any other sum.
    """
    x, over = total.parents[0], axes(total.attrs["dim"], total.parents[0].ndim)
    applies = x.ndim == 4 and over in ((1, 3), (0, 2)) and not total.attrs["keepdim"]
    return over, (product_of(x) if applies else None) or NOTHING


def _kron_operands(kron: Node) -> tuple[Node, Node] | None:
    """A and B, if a node is kron(A, B) or its transpose, reshaped, or an identity; else None."""
    pair = kron.parents[0] if kron.op.name == "reshape" else kron
    inner = pair.parents[0] if pair.op.name == "transpose" and pair.ndim == 2 else pair
    if inner is not pair and inner.op.name == "kron" and all(s.ndim == 2 for s in inner.parents):
        return inner.parents[0].mT, inner.parents[1].mT
    if pair.op.name == "kron" and all(s.ndim == 2 for s in pair.parents):
        return pair.parents[0], pair.parents[1]
    if is_unit(pair) and kron.ndim == 4 and kron.shape[:2] == kron.shape[2:]:
        return OPS["eye"](n=kron.shape[0]), OPS["eye"](n=kron.shape[1])
    return None


@candidate("sum")
def sum_of_matrix_as_kron(node: Node) -> Node | None:
    """For K = M.reshape(m, p, n, q), (K * B[None, :, None]).sum((1, 3)) is U @ B @ V.T if M is
    outer(u, v), with U = u.reshape(m, p) and V = v.reshape(n, q). For any other M it is an einsum,
    or a matrix-vector product if the result has one column. The sum over (0, 2) is similar.
    """
    x, (over, result) = node.parents[0], _summed(node)
    if result.coefficient != 1:
        return None
    shape = tuple(x.shape[d] for d in over)
    multipliers = {f: e for f, e in result.factors.items() if _is_reshaped_matrix(f, shape, over)}
    rest = [f for f in result.factors if f not in multipliers]
    if not multipliers or len(rest) != 1 or result.factors[rest[0]] != 1:
        return None
    (reshaped,) = rest
    inner = {f.parents[0]: e for f, e in multipliers.items()}
    side = build(result._replace(factors=inner), shape)
    matrix = reshaped.parents[0] if reshaped.op.name == "reshape" else reshaped
    if reshaped.shape != x.shape or matrix.ndim != 2:
        return None
    rows, columns = x.shape[:2], x.shape[2:]
    if matrix.op.name == "outer" and matrix.shape == (numel(rows), numel(columns)):
        u, v = matrix.parents[0].reshape(shape=rows), matrix.parents[1].reshape(shape=columns)
        return u @ side @ v.mT if over == (1, 3) else u.mT @ side @ v
    flat, count = side.reshape(shape=(side.numel,)), side.numel
    if over == (0, 2) and x.shape[1] == 1:
        return (flat @ matrix.reshape(shape=(count, x.shape[3]))).unsqueeze(dim=0)
    if over == (1, 3) and x.shape[2] == 1:
        return (matrix.reshape(shape=(x.shape[0], count)) @ flat).unsqueeze(dim=1)
    equation = "ikjl,kl->ij" if over == (1, 3) else "ikjl,ij->kl"
    return intern(OPS["einsum"], (reshaped, side), {"equation": equation})


def _is_reshaped_matrix(f: Node, shape: tuple[int, ...], over: tuple[int, ...]) -> bool:
    """Whether a factor is a matrix of this shape, reshaped to the dimensions `over` of four."""
    expected = tuple(shape[over.index(d)] if d in over else 1 for d in range(4))
    return f.op.name == "reshape" and f.shape == expected and f.parents[0].shape == shape
