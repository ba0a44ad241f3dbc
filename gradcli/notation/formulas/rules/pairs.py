"""Sums over pairs: what a function of x[:, None] and x becomes where the two change places."""

from ....graphs import OPS, Node, walk
from ....graphs.shapes import axes
from ....graphs.substitution import substitute
from .factoring import ODD
from .parts import new_dimensions
from .products import Product, product_of
from .registry import normal
from .sums import multiple_of

EVEN = ("abs", "cos", "cosh", "vector_norm", "square")
WITHIN = ("sum", "mean", "vector_norm", "unsqueeze")  # where they leave the pairs apart
DEEP = 12  # operators one inside the other


@normal("sum", "mean")
def sum_over_the_first_of_pairs(node: Node) -> Node | None:
    """sign(x[:, None] - x).sum(dim=0) = -sign(x[:, None] - x).sum(dim=1)."""
    x = node.parents[0]
    if x.ndim < 2 or x.shape[0] != x.shape[1] or node.attrs["keepdim"]:
        return None
    if axes(node.attrs["dim"], x.ndim) != (0,):
        return None
    spread = {n: new_dimensions(n) for n in walk([x]) if n.op.name == "getitem"}
    plain = substitute(x, {n: new for n, new in spread.items() if new is not None})
    parity = _parity(plain, x.ndim, DEEP)
    new = node.op(x, dim=1)
    return new if parity == 1 else -new if parity == -1 else None


def _parity(x: Node, ndim: int, depth: int) -> int | None:
    """1 where x stays as it is when its first two dimensions change places, -1 where it turns its
    sign; None where that cannot be seen.
    """
    if depth == 0:
        return None
    if x.ndim < ndim - 1:
        return 1
    if x.op.name in WITHIN and x.ndim == ndim:
        inner = x.parents[0]
        added = x.op.name == "unsqueeze"
        dims = (x.attrs["dim"] % ndim,) if added else axes(x.attrs["dim"], inner.ndim)
        if inner.ndim >= 2 and dims and min(dims) > 1:
            return _with_sign(x, _parity(inner, inner.ndim, depth - 1))
    found = product_of(x)
    if found is not None and x not in found.factors:
        return _of_product(found, ndim, depth - 1)
    if x.op.family == "elementwise" and len(x.inputs) == 1:
        return _with_sign(x, _parity(x.parents[0], ndim, depth - 1))
    if x.op.name in ("add", "sub"):
        alike = {_parity(i, ndim, depth - 1) for i in x.parents}
        if len(alike) == 1 and None not in alike:
            return alike.pop()
    turned = _turned(x, ndim)
    times = None if turned is None else multiple_of(turned, x)
    return int(times) if times in (1, -1) else None


def _of_product(p: Product, ndim: int, depth: int) -> int | None:
    out = 1
    for f, e in p.factors.items():
        own = _parity(f, ndim, depth)
        if own is None or e != int(e):
            return None
        out *= own if e % 2 else 1
    return out


def _with_sign(x: Node, parity: int | None) -> int | None:
    """The parity of a function from that of its argument."""
    if parity != -1 or x.op.name in (*ODD, "sum", "mean", "unsqueeze"):
        return parity
    return 1 if x.op.name in EVEN else None


def _turned(x: Node, ndim: int) -> Node | None:
    """A sum of x[:, None] and x with its first two dimensions in each other's place."""
    if x.ndim < ndim - 1:
        return x
    if x.ndim == ndim - 1:
        return x.unsqueeze(dim=1)
    if x.op.name == "unsqueeze" and x.attrs["dim"] % x.ndim < 2:
        inner = x.parents[0]
        return inner if x.attrs["dim"] % x.ndim else inner.unsqueeze(dim=1)
    if x.op.name not in ("add", "sub"):
        return None
    a, b = (_turned(i, ndim) for i in x.parents)
    return None if a is None or b is None else OPS[x.op.name](a, b)
