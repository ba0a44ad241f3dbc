"""Terms of a sum that make one together, such as two masks of which one holds wherever the other
does not, and two choices by one mask.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from ....graphs import OPS, Node
from ....graphs.shapes import broadcast
from .factoring import sum_of
from .guards import OPPOSITE, is_positive
from .identities import identities
from .products import (
    ONE,
    Product,
    build,
    constant_value,
    multiplied_by,
    with_factor,
)
from .registry import NORMAL, normal, other
from .sums import terms_of

EITHER = {  # what holds where one of two comparisons does that never hold at once
    frozenset(("gt", "lt")): "ne", frozenset(("gt", "eq")): "ge", frozenset(("lt", "eq")): "le",
}  # fmt: skip
SIDES = {("gt", "lt"): 1, ("lt", "gt"): -1, ("ge", "le"): 1, ("le", "ge"): -1}


identities(NORMAL, """
    where(x, y, 0) + where(x, 0, z) = where(x, y, z)
    where(x, y, 0) + s * where(x, 0, z) = where(x, y, s * z)
    s * where(x, y, 0) + where(x, 0, z) = where(x, s * y, z)
""")  # fmt: skip


@normal("add", "sub")
def complements(node: Node) -> Node | None:
    """g * (x > 0) + g * (x < 0) = g * (x != 0); g * (x > 0) - g * (x < 0) = g * sign(x)."""
    terms = terms_of(node) or []
    for p, q in combinations(terms, 2):
        together = _together(p, q)
        if together is not None:
            total = sum_of([together, *(t for t in terms if t is not p and t is not q)])
            return total if total.shape == node.shape else total.expand(shape=node.shape)
    return None


def _together(p: Product, q: Product) -> Product | None:
    """The sum of two terms that differ by one factor, where the two factors make one."""
    left = {f: e for f, e in p.factors.items() if q.factors.get(f) != e}
    right = {f: e for f, e in q.factors.items() if p.factors.get(f) != e}
    if len(left) != 1 or len(right) != 1 or abs(p.coefficient) != abs(q.coefficient):
        return None
    ((f, e),), ((k, n),) = left.items(), right.items()
    sign = 1 if p.coefficient == q.coefficient else -1
    total = _masks_made_one(f, k, sign) if e == n == 1 else None
    rest = p.without(f).factors
    if total is None or not any(h.dtype == "float" for h in (*rest, f)):
        return None
    return multiplied_by(p._replace(factors=rest), total)


def _masks_made_one(f: Node, k: Node, sign: int) -> Product | None:
    """The same of two comparisons of the same."""
    if f.op.name not in OPPOSITE or f.parents != k.parents:
        return None
    if sign < 0:
        a, b = f.parents
        side = SIDES.get((f.op.name, k.op.name))
        x = a if constant_value(b) == 0 else a - b
        return None if side is None else Product(Fraction(side), {OPS["sign"](x): ONE})
    if OPPOSITE[f.op.name] == k.op.name:
        return Product(ONE, {})
    name = EITHER.get(frozenset((f.op.name, k.op.name)))
    return None if name is None else Product(ONE, {OPS[name](*f.parents): ONE})


@other("add", "sub")
def chosen_by_opposites(node: Node) -> Iterator[Node]:
    """a * (x > 0) + b * (x <= 0) = where(x > 0, a, b), what both share before it; so where a mask
    is in relu(x).
    """
    terms = [_with_mask(t) for t in terms_of(node) or []]
    for p, q in combinations(terms, 2):
        masks = [(f, k) for f in p.factors for k in q.factors if _are_complements(f, k)]
        for f, k in masks:
            shared = {h: e for h, e in p.factors.items() if q.factors.get(h) == e}
            sides = [_beside(p, {f, *shared}), _beside(q, {k, *shared})]
            chosen = OPS["where"](f.parents[0] if f.op.name == "double" else f, *sides)
            together = Product(ONE, with_factor(shared, chosen))
            total = sum_of([together, *(t for t in terms if t is not p and t is not q)])
            if total.shape == node.shape:
                yield total


def _with_mask(t: Product) -> Product:
    """A term with x * (x > 0) for relu(x)."""
    bent = next((f for f, e in t.factors.items() if f.op.name == "relu" and e > 0), None)
    if bent is None:
        return t
    (x,), e = bent.parents, t.factors[bent]
    return t.times({bent: -e, x: e, is_positive(x): 1})


def _are_complements(f: Node, k: Node) -> bool:
    """Whether one of two masks holds wherever the other does not."""
    one, two = (m.parents[0] if m.op.name == "double" else m for m in (f, k))
    return OPPOSITE.get(one.op.name) == two.op.name and one.parents == two.parents


def _beside(p: Product, taken: set[Node]) -> Node:
    rest = {h: e for h, e in p.factors.items() if h not in taken}
    return build(p._replace(factors=rest), broadcast((), *(h.shape for h in rest)))
