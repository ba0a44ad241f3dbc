"""Products of what one condition chooses."""

from collections.abc import Collection
from itertools import product

from ....graphs import OPS, Node
from ....graphs.shapes import Shape, broadcast
from .guards import OPPOSITE
from .products import (
    ONE,
    Coefficient,
    Product,
    build,
    constant_value,
    is_zero_or_one,
    magnitude,
    number_node,
    product_of,
    with_factor,
)
from .registry import normal, other, rule
from .sums import terms_of

Powers = dict[Node, Coefficient]


@normal("mul", "div")
def chosen_together(node: Node) -> Node | None:
    """where(c, a, 0) * where(c, b, 1) = where(c, a * b, 0)."""
    found = product_of(node)
    if found is None:
        return None
    for condition, alike in _by_condition(found.factors).items():
        if len(alike) > 1:
            rest = {f: e for f, e in found.factors.items() if f not in alike}
            sides = [_side(alike, k) for k in (1, 2)]
            one = None if None in sides else OPS["where"](condition, *sides)
            if one is not None and not rest.get(one):
                return build(Product(found.coefficient, with_factor(rest, one)), node.shape)
    return None


@other("mul", "div")
def chosen_by_a_mask(node: Node) -> Node | None:
    """where(c, a, b) * c = a * c; where(c, a, b) * ~c = b * ~c."""
    found = product_of(node)
    if found is None:
        return None
    factors = found.factors
    masks = {f.parents[0] if f.op.name == "double" else f for f in factors if is_zero_or_one(f)}
    for f, e in factors.items():
        k = _side_taken(f.parents[0], masks) if f.op.name == "where" else 0
        if k:
            rest = {other: power for other, power in factors.items() if other is not f}
            out = build(found._replace(factors=rest), node.shape)
            out = _times_power(out, f.parents[k], e)
            return out if out.shape == node.shape else None
    return None


def _side_taken(condition: Node, masks: Collection[Node]) -> int:
    """Which side a where has, wherever the masks hold: 1, 2, or 0 for either."""
    if condition in masks:
        return 1
    name = OPPOSITE.get(condition.op.name)
    opposite = OPS["logical_not"](condition) if name is None else OPS[name](*condition.inputs)
    return 2 if opposite in masks else 0


@normal("mul", "div")
def half_at_a_tie(node: Node) -> Node | None:
    """where(a == b, 1 / 2, 1) * (a >= b) = (1 + sign(a - b)) / 2."""
    found = product_of(node)
    if found is None:
        return None
    once = [f for f, e in found.factors.items() if e == 1]
    for half, mask in product(once, repeat=2):
        two = _larger_or_tied(mask)
        whole = None if two is None else _halved_where_equal(half, two)
        if two is not None and whole is not None:
            larger, smaller = two
            rest = {f: e for f, e in found.factors.items() if f not in (half, mask)}
            factors = with_factor(rest, 1 + OPS["sign"](larger - smaller))
            return build(Product(found.coefficient * whole / 2, factors), node.shape)
    return None


def _larger_or_tied(mask: Node) -> tuple[Node, Node] | None:
    """a and b of a >= b."""
    plain = mask.parents[0] if mask.op.name == "double" else mask
    if plain.op.name not in ("ge", "le"):
        return None
    a, b = plain.parents
    return (a, b) if plain.op.name == "ge" else (b, a)


def _halved_where_equal(choice: Node, two: Collection[Node]) -> Coefficient | None:
    """The number that a where has, if it has half of it where the two are equal."""
    if choice.op.name != "where" or choice.parents[0].op.name != "eq":
        return None
    a, b = choice.parents[0].parents
    equal = a.parents if a.op.name == "sub" and constant_value(b) == 0 else (a, b)
    if {*equal} != {*two}:
        return None
    at_tie, whole = (product_of(side) for side in choice.parents[1:])
    if at_tie is None or whole is None or at_tie.factors or whole.factors:
        return None
    return whole.coefficient if at_tie.coefficient * 2 == whole.coefficient else None


@normal("where")
def chosen_before(node: Node) -> Node | None:
    """where(c, x * where(c, a, b), d) = where(c, x * a, d)."""
    condition, *sides = node.parents
    new = [_chosen(side, condition, k) for k, side in enumerate(sides, 1)]
    made = OPS["where"](condition, *new) if new != sides else None
    return made if made is not None and made.shape == node.shape else None


def _chosen(side: Node, condition: Node, k: int) -> Node:
    """A side of a choice, its factors that the same condition chooses settled."""
    found = product_of(side)
    if found is None:
        return side
    settled = [f for f in found.factors if f.op.name == "where" and f.parents[0] is condition]
    if not settled:
        return side
    rest = {f: e for f, e in found.factors.items() if f not in settled}
    out = build(found._replace(factors=rest), side.shape if rest else ())
    for f in settled:
        out = _times_power(out, f.parents[k], found.factors[f])
    return out


def _times_power(node: Node, factor: Node, e: Coefficient) -> Node:
    """node * factor ** e."""
    power = factor if e in (1, -1) else factor ** number_node(magnitude(e))
    return node * power if e > 0 else node / power


@rule("written out")
def as_it_is_meant(node: Node) -> Node | None:
    """gated(x, a) = x * sigmoid(a); bent(g, x) = where(x < 0, g * exp(x), g)."""
    return node.op.in_torch(node)


@normal("where")
def no_edge_between(node: Node) -> Node | None:
    """where(x < 0, a * exp(x) + x, where(x <= 0, a, b)) = where(x <= 0, a * exp(x) + x, b)."""
    condition, below, rest = node.parents
    if condition.op.name != "lt" or rest.op.name != "where":
        return None
    inner = rest.parents[0]
    if inner.op.name != "le" or condition.parents != inner.parents:
        return None
    x, edge = condition.parents
    found = terms_of(below) if constant_value(edge) == 0 else None
    at_zero = [_at_zero(t, x, below.shape) for t in found or ()]
    if not at_zero or terms_of(sum(at_zero) - rest.parents[1]) != []:
        return None
    new = OPS["where"](inner, below, rest.parents[2])
    return new if new.shape == node.shape else None


def _at_zero(term: Product, x: Node, shape: Shape) -> Node:
    """What a term is where x is 0, as far as its factors x and exp(x) say."""
    ones = [f for f in term.factors if f.op.name == "exp" and _is_multiple(f.parents[0], x)]
    kept = {f: e for f, e in term.factors.items() if f not in ones}
    return build(term._replace(factors=kept), shape) if kept.get(x, 0) <= 0 else number_node(0)


def _is_multiple(y: Node, x: Node) -> bool:
    """Whether y is 0 where x is 0."""
    found = product_of(y)
    return found is not None and found.factors.get(x, 0) > 0


def _by_condition(factors: Powers) -> dict[Node, Powers]:
    found: dict[Node, Powers] = {}
    for f, e in factors.items():
        if f.op.name == "where" and f.dtype == "float":
            found.setdefault(f.parents[0], {})[f] = e
    return found


def _side(choices: Powers, k: int) -> Node | None:
    """What they come to together where the condition holds (1), or where it does not (2)."""
    coefficient: Coefficient = ONE
    factors: Powers = {}
    for choice, e in choices.items():
        p = product_of(choice.parents[k])
        if p is None or (p.coefficient == 0 and e < 0):
            return None
        coefficient *= p.coefficient**e
        for f, times in p.factors.items():
            factors[f] = factors.get(f, 0) + times * e
    kept = {f: e for f, e in factors.items() if e and coefficient}
    return build(Product(coefficient, kept), broadcast((), *(f.shape for f in kept)))
