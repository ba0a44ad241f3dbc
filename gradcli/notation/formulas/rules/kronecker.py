"""Sums of Kronecker products, and of what stands beside them: laid out with four dimensions, two of
either matrix.
"""

from ....graphs import OPS, Node, intern
from ....graphs.shapes import axes, numel
from .identities import identities
from .matrices import is_unit
from .products import build, product_of, with_factor
from .registry import NORMAL, normal, other

identities(NORMAL, """
    inv(kron(A, B), check=c) = kron(inv(A, check=c), inv(B, check=c))
        where is_square(A) and is_square(B)
    pinv(kron(A, B)) = kron(pinv(A), pinv(B))
""")  # fmt: skip


@normal("sum")
def kronecker_beside_a_side(node: Node) -> Node | None:
    """The sum over the places of B of kron(A, B), opened, times B is A * (B * B).sum(); over those
    of A it is B * (A * A).sum(). So with eye(m * n), which is kron(eye(m), eye(n)).
    """
    x, over = node.parents[0], axes(node.attrs["dim"], node.parents[0].ndim)
    result = product_of(x) if x.ndim == 4 and over in ((1, 3), (0, 2)) else None
    if result is None or node.attrs["keepdim"]:
        return None
    for whole, e in result.factors.items():
        sides = _sides(whole)
        if e != 1 or sides is None:
            continue
        side, other = sides if over == (1, 3) else sides[::-1]
        rest = result.without(whole).factors
        if whole.shape == x.shape and all(_is_opened(f, other.shape, over) for f in rest):
            inner = {f.parents[0]: e for f, e in rest.items()}
            total = build(result._replace(factors=with_factor(inner, other)), other.shape).sum()
            return side * total
    return None


def _sides(whole: Node) -> tuple[Node, Node] | None:
    """The two matrices whose Kronecker product is laid out."""
    pair = whole.parents[0] if whole.op.name == "reshape" else whole
    inner = pair.parents[0] if pair.op.name == "transpose" and pair.ndim == 2 else pair
    if inner is not pair and inner.op.name == "kron" and all(s.ndim == 2 for s in inner.parents):
        return inner.parents[0].mT, inner.parents[1].mT
    if pair.op.name == "kron" and all(s.ndim == 2 for s in pair.parents):
        return pair.parents[0], pair.parents[1]
    if is_unit(pair) and whole.ndim == 4 and whole.shape[:2] == whole.shape[2:]:
        return OPS["eye"](n=whole.shape[0]), OPS["eye"](n=whole.shape[1])
    return None


@other("sum")
def matrix_beside_a_side(node: Node) -> Node | None:
    """The sum over the places of B of outer(u, v), laid out, times B is
    u.reshape(...) @ B @ v.reshape(...).T; of any other matrix it is an einsum, or, where A is a
    column or B a row, a product with all of the other.
    """
    x, over = node.parents[0], axes(node.attrs["dim"], node.parents[0].ndim)
    result = product_of(x) if x.ndim == 4 and over in ((1, 3), (0, 2)) else None
    if result is None or result.coefficient != 1 or node.attrs["keepdim"]:
        return None
    shape = tuple(x.shape[d] for d in over)
    beside = {f: e for f, e in result.factors.items() if _is_opened(f, shape, over)}
    rest = [f for f in result.factors if f not in beside]
    if not beside or len(rest) != 1 or result.factors[rest[0]] != 1:
        return None
    (whole,) = rest
    inner = {f.parents[0]: e for f, e in beside.items()}
    side = build(result._replace(factors=inner), shape)
    laid = whole.parents[0] if whole.op.name == "reshape" else whole
    if whole.shape != x.shape or laid.ndim != 2:
        return None
    rows, columns = x.shape[:2], x.shape[2:]
    if laid.op.name == "outer" and laid.shape == (numel(rows), numel(columns)):
        u, v = laid.parents[0].reshape(shape=rows), laid.parents[1].reshape(shape=columns)
        return u @ side @ v.mT if over == (1, 3) else u.mT @ side @ v
    flat, count = side.reshape(shape=(side.numel,)), side.numel
    if over == (0, 2) and x.shape[1] == 1:
        return (flat @ laid.reshape(shape=(count, x.shape[3]))).unsqueeze(dim=0)
    if over == (1, 3) and x.shape[2] == 1:
        return (laid.reshape(shape=(x.shape[0], count)) @ flat).unsqueeze(dim=1)
    equation = "ikjl,kl->ij" if over == (1, 3) else "ikjl,ij->kl"
    return intern(OPS["einsum"], (whole, side), {"equation": equation})


def _is_opened(f: Node, shape: tuple[int, ...], over: tuple[int, ...]) -> bool:
    """Whether a factor is a matrix of this shape along the dimensions that are summed `over`."""
    opened = tuple(shape[over.index(d)] if d in over else 1 for d in range(4))
    return f.op.name == "reshape" and f.shape == opened and f.parents[0].shape == shape
