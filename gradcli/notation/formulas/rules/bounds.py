"""Numbers that values are known to lie between."""

from functools import lru_cache, reduce
from math import inf

from ....graphs import Node, walk
from ....operators.bounds import ANY, PROBABILITY, Bounds
from .products import REMEMBERED, Coefficient, constant_value, is_zero_or_one, product_of


def is_not_negative(x: Node) -> bool:
    """Whether it is plain to see that no element is less than 0."""
    return bounds_of(x)[0] >= 0


@lru_cache(maxsize=REMEMBERED)
def bounds_of(x: Node) -> Bounds:
    """The least and the greatest number that an element may be."""
    found: dict[Node | None, Bounds] = {}
    for n in walk([x]):
        found[n] = _bounds(n, found)
    return found[x]


def _bounds(n: Node, found: dict[Node | None, Bounds]) -> Bounds:
    value = constant_value(n)
    if value is not None:
        return float(value), float(value)
    if is_zero_or_one(n):
        return PROBABILITY
    own = n.op.bounds
    if own is not None:
        return own(*map(found.get, n.inputs), **n.attrs) if callable(own) else own
    p = product_of(n)
    if p is None or n in p.factors:
        return ANY
    c = float(p.coefficient)
    return reduce(_times, (_raised(found[f], e) for f, e in p.factors.items()), (c, c))


def _times(a: Bounds, b: Bounds) -> Bounds:
    ends = [x * y if x and y else 0.0 for x in a for y in b]
    return min(ends), max(ends)


def _raised(x: Bounds, e: Coefficient) -> Bounds:
    if e == 1:
        return x
    if x[0] < 0 and e % 2 == 1:
        return ANY
    return PROBABILITY if e > 0 and max(-x[0], x[1]) <= 1 else (0.0, inf)
