"""Softmax: recognised by what it is made of; shifts in it; what its sum of 1 does beside sums."""

from collections.abc import Sequence
from fractions import Fraction

from ....graphs import OPS, Node
from ....graphs.shapes import axes, axis
from .atoms import definition
from .products import Product, build, number_node, product_of, with_factors
from .reductions import constant_along
from .registry import normal
from .sums import added, terms_of


@normal("mul", "div")
def softmax_by_its_parts(node: Node) -> Node | None:
    """exp(x) / exp(x).sum() = softmax(x)."""
    result = product_of(node)
    factors = result.factors if result is not None and result.coefficient else {}
    for total, e in factors.items():
        inner = _opened(total)
        if inner.op.name != "sum" or e >= 0:
            continue
        top = inner.parents[0]
        x = _exponent(top)
        over = axes(inner.attrs["dim"], inner.parents[0].ndim)
        if x is None or len(over) != 1 or not (inner.attrs["keepdim"] or over == (0,)):
            continue
        if factors.get(top, 0) < 1:
            continue
        dim = inner.attrs["dim"] if isinstance(inner.attrs["dim"], int) else over[0]
        new = with_factors(factors, {top: -1, total: 1, x.softmax(dim=dim): 1})
        return build(result._replace(factors=new), node.shape)  # type: ignore[union-attr]
    return None


def _opened(node: Node) -> Node:
    return definition(node) or node


def _exponent(node: Node) -> Node | None:
    """x of exp(x)."""
    inner = _opened(node)
    return inner.parents[0] if inner.op.name == "exp" else None


@normal("exp")
def exp_of_difference(node: Node) -> Node | None:
    """exp(x - logsumexp(x, dim)) = softmax(x, dim)."""
    result = node.parents[0]
    if result.op.name not in ("add", "sub"):
        return None
    terms = terms_of(result) or []
    for p in terms:
        total = _single(p, Fraction(-1))
        kept = None if total is None else _as_kept(total)
        if kept is None:
            continue
        x, dim = kept
        own = terms_of(x) if x.op.name in ("add", "sub") else [product_of(x)]
        rest = [t for t in terms if t is not p]
        if own and _said(own) == _said(rest):
            return x.softmax(dim=dim)
    return None


def _said(terms: Sequence[Product | None]) -> set:
    return {(t.key, t.coefficient) for t in terms if t is not None}


def _single(p: Product, coefficient: Fraction) -> Node | None:
    """The one factor of a term."""
    ((factor, e), *more) = p.factors.items() or [(None, 0)]
    return factor if p.coefficient == coefficient and e == 1 and not more else None


def _as_kept(node: Node) -> tuple[Node, int] | None:
    """x and dim of logsumexp(x, dim, keepdim=True), however its dimension was put back."""
    place = None
    if node.op.name == "unsqueeze":
        place, node = node.attrs["dim"] % node.ndim, node.parents[0]
    inner = _opened(node)
    if inner.op.name != "logsumexp":
        return None
    x = inner.parents[0]
    over = axes(inner.attrs["dim"], x.ndim)
    as_row = over == (0,) and place is None  # a first dimension that is missing is broadcast
    if len(over) != 1 or not (inner.attrs["keepdim"] or place == over[0] or as_row or x.ndim == 1):
        return None
    dim = inner.attrs["dim"]
    return x, dim if isinstance(dim, int) else over[0]


@normal("sum")
def softmax_adds_up_to_one(node: Node) -> Node | None:
    """softmax(x, dim).sum(dim) = 1."""
    inner = _opened(node.parents[0])
    if inner.op.name != "softmax":
        return None
    over = axes(node.attrs["dim"], inner.ndim)
    if over != axes(inner.attrs["dim"], inner.ndim):
        return None
    return OPS["ones"](size=node.shape) if node.shape else OPS["constant"](value=1.0)


@normal("elementwise")
def number_in_a_tensor(node: Node) -> Node | None:
    """x * tensor(2.) = x * 2; maximum(x, tensor(2.)) takes no number."""
    if not node.op.spelling:
        return None
    new = [i if i is None else _as_plain_number(i) for i in node.inputs]
    return node.op(*new, **node.attrs) if new != [*node.inputs] else None


def _as_plain_number(x: Node) -> Node:
    single = x.op.name == "tensor" and x.shape == () and x.dtype == "float"
    return OPS["constant"](value=float(x.attrs["data"].value)) if single else x


@normal("softmax", "log_softmax")
def softmax_of_a_shift(node: Node) -> Node | None:
    """softmax(x - x.max(), 0) = softmax(x, 0): what is one along the dimension changes nothing."""
    x, over = node.parents[0], axes(node.attrs["dim"], node.ndim)
    terms = (terms_of(x) if x.op.name in ("add", "sub") else None) or []
    kept = [t for t in terms if not all(constant_along(f, x, over) for f in t.factors)]
    if not kept or len(kept) == len(terms):
        return None
    rest = added(kept)
    return node.op(rest, **node.attrs) if rest.shape == x.shape else None


@normal("softmax", "log_softmax")
def softmax_of_a_transpose(node: Node) -> Node | None:
    """softmax(x.mT, dim=1) = softmax(x, dim=2).mT."""
    x = node.parents[0]
    if x.op.name != "transpose":
        return None
    swapped = [axis(d, x.ndim) for d in x.attrs.values()]
    dim = axis(node.attrs["dim"], x.ndim)
    new = swapped[1 - swapped.index(dim)] if dim in swapped else dim
    return x.op(node.op(x.parents[0], **node.attrs | {"dim": new}), **x.attrs)


@normal("sum")
def shift_beside_shares(node: Node) -> Node | None:
    """(softmax(x, 1) * (y + 1)).sum(dim=1) = (softmax(x, 1) * y).sum(dim=1) + 1."""
    x = node.parents[0]
    result = product_of(x)
    over = axes(node.attrs["dim"], x.ndim)
    if result is None or result.coefficient == 0 or sorted(result.factors.values()) != [1, 1]:
        return None
    shares = [f for f in result.factors if f.shape == x.shape and _adds_up(f, over)]
    weighed = next((f for f in result.factors if f not in shares), None)
    terms = terms_of(weighed) if weighed and weighed.op.name in ("add", "sub") else None
    others = [t for t in terms or () if t.factors]
    numbers = [t for t in terms or () if not t.factors]
    if not others or not numbers or not shares:
        return None
    total = node.op(shares[0] * added(others), **node.attrs) + number_node(numbers[0].coefficient)
    return build(Product(result.coefficient, {total: 1}), node.shape)


def _adds_up(f: Node, over: tuple[int, ...]) -> bool:
    """Whether the sum of a factor over these dimensions is 1."""
    share = definition(f) or f
    return f.numel > 0 and share.op.name == "softmax" and axes(share.attrs["dim"], f.ndim) == over
