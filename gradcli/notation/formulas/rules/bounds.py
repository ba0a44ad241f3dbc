"""Lower and upper bounds of the elements of a node."""

from functools import lru_cache, reduce
from math import inf

from ....graphs import OPS, Node, walk
from ....operators.bounds import ANY, NOT_NEGATIVE, PROBABILITY, Bounds
from .matrices import is_column
from .products import CACHE_SIZE, Coefficient, Product, constant_value, is_zero_or_one, product_of
from .registry import candidate, normal
from .triangular import DIAGONAL

CORRELATION = (-1.0, 1.0)


def is_not_negative(x: Node) -> bool:
    """Whether the lower bound of all elements is at least 0."""
    return bounds_of(x)[0] >= 0


@lru_cache(maxsize=CACHE_SIZE)
def bounds_of(x: Node) -> Bounds:
    """The lower and upper bound of all elements."""
    result: dict[Node | None, Bounds] = {}
    for n in walk([x]):
        result[n] = _bounds(n, result)
    return result[x]


def _bounds(n: Node, result: dict[Node | None, Bounds]) -> Bounds:
    value = constant_value(n)
    if value is not None:
        return float(value), float(value)
    if is_zero_or_one(n):
        return PROBABILITY
    declared = n.op.bounds
    if declared is not None:
        return declared(*map(result.get, n.inputs), **n.attrs) if callable(declared) else declared
    p = product_of(n)
    if p is None or n in p.factors:
        return NOT_NEGATIVE if n.op.name == "pow" and result[n.parents[0]][0] >= 0 else ANY
    if _is_correlation(p):
        return CORRELATION
    c = float(p.coefficient)
    return reduce(_times, (_raised(result[f], e) for f, e in p.factors.items()), (c, c))


def _is_correlation(p: Product) -> bool:
    """Whether a product is cov(x) / outer(u, u) with u = sqrt(diag(cov(x)))."""
    covariance = next((f for f, e in p.factors.items() if f.op.name == "cov" and e == 1), None)
    if covariance is None or p.coefficient != 1:
        return False
    others = p.without(covariance).factors
    for f in [f for f in others if f.op.name == "outer"]:
        (row, column), e = f.parents, others.pop(f)
        others |= {row: e, column.unsqueeze(dim=1): e}
    deviations = [f.parents[0] if is_column(f) else f for f in others]
    return (
        {f.ndim for f in others} == {1, 2}
        and all(e == -1 for e in others.values())
        and all(_is_deviation(f, covariance) for f in deviations)
    )


def _is_deviation(f: Node, covariance: Node) -> bool:
    """Whether f is sqrt(diag(covariance))."""
    diagonal = f.parents[0] if f.op.name == "sqrt" else f
    return diagonal is not f and diagonal.op.name in DIAGONAL and diagonal.parents[0] is covariance


@normal("ge", "le")
def comparison_decided_by_bounds(node: Node) -> Node | None:
    """sigmoid(x) <= 1 is True, and so is cov(x) / outer(u, u) >= -1 for u = sqrt(cov(x).diag())."""
    a, b = (bounds_of(x) for x in node.parents)
    certain = a[0] >= b[1] if node.op.name == "ge" else a[1] <= b[0]
    return OPS["full"](size=node.shape, fill_value=True) if certain else None


@normal("clamp")
def redundant_clamp(node: Node) -> Node | None:
    """clamp(sigmoid(x), 0, 1) = sigmoid(x)."""
    x, low, high = node.inputs
    if x is None or x.shape != node.shape:
        return None
    least, most = bounds_of(x)
    above = low is None or bounds_of(low)[1] <= least
    return x if above and (high is None or most <= bounds_of(high)[0]) else None


@normal("logical_and", "logical_or")
def logical_with_constant(node: Node) -> Node | None:
    """mask & True = mask; mask & False = False; mask | False = mask."""
    absorbing = node.op.name == "logical_or"
    for one, mask in (node.parents, node.parents[::-1]):
        constant = one.attrs.get("value", one.attrs.get("fill_value"))
        if constant is (not absorbing):
            return mask if mask.shape == node.shape else mask.expand(shape=node.shape)
        if constant is absorbing:
            return OPS["full"](size=node.shape, fill_value=absorbing)
    return None


@candidate("logical_and")
def abs_from_two_bounds(node: Node) -> Node | None:
    """(x >= -2) & (x <= 2) = abs(x) <= 2."""
    for low, high in (node.parents, node.parents[::-1]):
        strict = low.op.name == "gt" and high.op.name == "lt"
        if not strict and (low.op.name, high.op.name) != ("ge", "le"):
            continue
        (x, least), (y, most) = low.parents, high.parents
        bound = constant_value(most)
        if x is y and bound is not None and constant_value(least) == -bound:
            return high.op(OPS["abs"](x), most)
    return None


def _times(a: Bounds, b: Bounds) -> Bounds:
    ends = [x * y if x and y else 0.0 for x in a for y in b]
    return min(ends), max(ends)


def _raised(x: Bounds, e: Coefficient) -> Bounds:
    if e == 1:
        return x
    if x[0] < 0 and e % 2 == 1:
        return ANY
    return PROBABILITY if e > 0 and max(-x[0], x[1]) <= 1 else (0.0, inf)
