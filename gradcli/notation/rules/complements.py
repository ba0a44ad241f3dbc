"""Terms of a sum that make one together, such as two masks of which one holds wherever the other
does not.
"""

from itertools import combinations

from ...graphs import OPS, Node, as_node
from .factoring import negative, sum_of
from .guards import OPPOSITE
from .products import Product, with_factor
from .registry import normal
from .sums import terms_of

EITHER = {  # what holds where one of two comparisons does that never hold at once
    frozenset(("gt", "lt")): "ne", frozenset(("gt", "eq")): "ge", frozenset(("lt", "eq")): "le",
}  # fmt: skip


@normal("add", "sub")
def complements(node: Node) -> Node | None:
    """g * (x > 0) + g * (x < 0) = g * (x != 0); g * sigmoid(x) + g * sigmoid(-x) = g."""
    terms = terms_of(node) or []
    for p, q in combinations(terms, 2):
        together = _together(p, q)
        if together is not None:
            total = sum_of([together, *(t for t in terms if t is not p and t is not q)])
            return total if total.shape == node.shape else total.expand(shape=node.shape)
    return None


def _together(p: Product, q: Product) -> Product | None:
    """The sum of two terms that differ by one factor, where the two factors make one."""
    left = [f for f, e in p.factors.items() if q.factors.get(f) != e]
    right = [f for f, e in q.factors.items() if p.factors.get(f) != e]
    if p.coefficient != q.coefficient or len(left) != 1 or len(right) != 1:
        return None
    (f,), (k,) = left, right
    total = _added(f, k) if p.factors[f] == q.factors[k] == 1 else None
    rest = {h: e for h, e in p.factors.items() if h is not f}
    if total is None or not any(h.dtype == "float" for h in (*rest, f)):
        return None
    return p._replace(factors=rest if total.op.name == "constant" else with_factor(rest, total))


def _added(f: Node, k: Node) -> Node | None:
    """f + k, where that is one factor or 1."""
    if f.op.name == k.op.name == "sigmoid":
        return as_node(1) if negative(f.parents[0]) is k.parents[0] else None
    if f.op.name not in OPPOSITE or f.parents != k.parents:
        return None
    if OPPOSITE[f.op.name] == k.op.name:
        return as_node(1)
    name = EITHER.get(frozenset((f.op.name, k.op.name)))
    return None if name is None else OPS[name](*f.parents)
