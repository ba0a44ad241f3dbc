"""Terms of a sum that make one together, such as two masks of which one holds wherever the other
does not, and two choices by one mask.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from ....graphs import OPS, Node
from ....graphs.shapes import broadcast
from .exponentials import hyperbolic
from .factoring import negative, sum_of
from .guards import OPPOSITE, is_positive
from .products import (
    ONE,
    Product,
    build,
    constant_value,
    multiplied_by,
    product_of,
    with_factor,
    with_factors,
)
from .registry import normal, other
from .sums import add_up_to_zero, terms_of

EITHER = {  # what holds where one of two comparisons does that never hold at once
    frozenset(("gt", "lt")): "ne", frozenset(("gt", "eq")): "ge", frozenset(("lt", "eq")): "le",
}  # fmt: skip
SIDES = {("gt", "lt"): 1, ("lt", "gt"): -1, ("ge", "le"): 1, ("le", "ge"): -1}


@normal("add", "sub")
def complements(node: Node) -> Node | None:
    """g * (x > 0) + g * (x < 0) = g * (x != 0); g * (x > 0) - g * (x < 0) = g * sign(x);
    g * sigmoid(x) + g * sigmoid(-x) = g; relu(x) - relu(-x) = x;
    log(sigmoid(x)) - log(sigmoid(-x)) = x; exp(x) + exp(-x) = 2 * cosh(x).
    """
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
    total = _made_one(f, k, sign) if e == n == 1 else None
    total = total or hyperbolic(f, e, k, n, sign)
    rest = {h: power for h, power in p.factors.items() if h is not f}
    if total is None or not any(h.dtype == "float" for h in (*rest, f)):
        return None
    return multiplied_by(p._replace(factors=rest), total)


def _made_one(f: Node, k: Node, sign: int) -> Product | None:
    """f + k or f - k, where that is one factor or 1."""
    if f.op.name == k.op.name == "sigmoid":
        ones = sign > 0 and negative(f.parents[0]) is k.parents[0]
        return Product(ONE, {}) if ones else None
    if f.op.name == k.op.name == "log" and sign < 0:
        a, b = (n.parents[0] for n in (f, k))
        both = a.op.name == b.op.name == "sigmoid" and add_up_to_zero(*a.parents, *b.parents)
        return Product(ONE, {a.parents[0]: ONE}) if both else None
    if f.op.name == k.op.name == "relu":
        x = f.parents[0]
        opposite = add_up_to_zero(x, k.parents[0])
        return Product(ONE, {OPS["abs"](x) if sign > 0 else x: ONE}) if opposite else None
    return _masks_made_one(f, k, sign)


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
    return t._replace(factors=with_factors(t.factors, {bent: -e, x: e, is_positive(x): 1}))


def _are_complements(f: Node, k: Node) -> bool:
    """Whether one of two masks holds wherever the other does not."""
    one, two = (m.parents[0] if m.op.name == "double" else m for m in (f, k))
    return OPPOSITE.get(one.op.name) == two.op.name and one.parents == two.parents


def _beside(p: Product, taken: set[Node]) -> Node:
    rest = {h: e for h, e in p.factors.items() if h not in taken}
    return build(p._replace(factors=rest), broadcast((), *(h.shape for h in rest)))


@normal("add")
def one_of_two(node: Node) -> Node | None:
    """where(c, a, 0) + where(c, 0, b) = where(c, a, b)."""
    found = [_split(i) for i in node.parents]
    (p, first), (q, second) = found
    if first is None or second is None or first.parents[0] is not second.parents[0]:
        return None
    condition, a, b = first.parents
    _, c, d = second.parents
    if constant_value(b) == 0 and constant_value(c) == 0:
        chosen = (p, a), (q, d)
    elif constant_value(a) == 0 and constant_value(d) == 0:
        chosen = (q, c), (p, b)
    else:
        return None
    sides = [value * factor if factor is not None else value for factor, value in chosen]
    new = OPS["where"](condition, *sides)
    return new if new.shape == node.shape else None


def _split(term: Node) -> tuple[Node | None, Node | None]:
    """A term as what is before a where, and the where."""
    if term.op.name == "where":
        return None, term
    found = product_of(term)
    if found is None:
        return None, None
    wheres = [f for f, e in found.factors.items() if f.op.name == "where" and e == 1]
    if len(wheres) != 1:
        return None, None
    rest = {f: e for f, e in found.factors.items() if f is not wheres[0]}
    shape = term.shape if any(f.shape for f in rest) else ()
    return build(Product(found.coefficient, rest), shape), wheres[0]
