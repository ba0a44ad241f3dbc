"""Piecewise linear functions such as relu and clamp, multiplied by masks and signs."""

from collections.abc import Collection, Iterator

from ....graphs import OPS, Node, walk
from ....graphs.substitution import substitute
from .atoms import definition
from .factoring import multiple_of, terms_of, terms_of_sum
from .guards import normalised_comparison
from .products import (
    NOTHING,
    SUMS,
    Coefficient,
    Product,
    build,
    constant_value,
    is_zero_or_one,
    product_of,
    unconverted,
    without_tensor,
)
from .registry import candidate, normal

LARGE = 60  # most nodes of a factor that is searched for clamps
ABOVE = {"gt": 1, "ge": 1, "lt": -1, "le": -1}  # the side of 0 on which a comparison holds


@candidate("mul", "div")
def mask_within(node: Node) -> Node | None:
    """relu(x) * (x > 0) = relu(x); maximum(x, 0) * (1 + sign(x)) = 2 * maximum(x, 0)."""
    result = product_of(node) or NOTHING
    for f, e in result.factors.items():
        x = _relu_argument(f) if e > 0 else None
        if x is None:
            continue
        coefficient, unknown = result.coefficient, {}
        for k, n in result.factors.items():
            value = _where_positive(k, x)
            if value is None or (value == 0 and n < 0):
                unknown[k] = n
            else:
                coefficient *= value**n
        if len(unknown) < len(result.factors):
            return build(Product(coefficient, unknown), node.shape)
    return None


@normal("mul", "div")
def sign_beside_an_extreme(node: Node) -> Node | None:
    """sign(x - y) * (minimum(x, y) - x) = minimum(x, y) - x, because x > y wherever the difference
    is not 0; likewise sign(x - y) * (maximum(x, y) - x) = x - maximum(x, y). The factors
    1 + sign(x - y), x > y and x == y are replaced by their values in the same way.
    """
    result = product_of(node) or NOTHING
    for total in result.once(*SUMS):
        x = _positive_beside_extreme(total)
        for f in result.once() if x is not None else ():
            value = None if f is total or x is None else _where_positive(f, x)
            if value is not None:
                return build(result.times({f: -1}, value), node.shape)
    return None


def _positive_beside_extreme(total: Node) -> Node | None:
    """x - y for a multiple of minimum(x, y) - x, and y - x for one of maximum(x, y) - x: positive
    wherever `total` is not 0. None for any other sum.
    """
    terms = terms_of_sum(total)
    for extreme in [f for t in terms for f in t.once("minimum", "maximum")]:
        x, y = extreme.parents
        for one, other in ((x, y), (y, x)):
            if len(terms) == 2 and multiple_of(total, extreme - one):
                return one - other if extreme.op.name == "minimum" else other - one
    return None


@candidate("mul", "div")
def relu_from_mask(node: Node) -> Iterator[Node]:
    """x * (x > 0) = relu(x); (x - y) * (x < y) = -relu(y - x)."""
    result = product_of(node) or NOTHING
    for mask in result.once():
        above = _above(mask)
        for f, e in result.factors.items() if above else ():
            times = multiple_of(f, above) if e == int(e) and e > 0 else None  # type: ignore[arg-type]
            if times and above is not None and f.dtype == "float":
                new = {mask: -1, f: -e, OPS["relu"](above): e}
                yield build(result.times(new, times**e), node.shape)


@candidate("where")
def clamped(node: Node) -> Node | None:
    """where(abs(x) >= 1, sign(x), x) = where(abs(x) <= 1, x, sign(x)) = clamp(x, -1, 1), and
    clamp(2 * x, -2, 2) if both are multiplied by 2.
    """
    condition, a, b = node.parents
    if condition.op.name not in ABOVE or condition.parents[0].op.name != "abs":
        return None
    if ABOVE[condition.op.name] < 0:
        a, b = b, a
    x, bound = condition.parents[0].parents[0], constant_value(condition.parents[1])
    times = 1 if b is x else _multiple_of(b, x)
    if times <= 0 or bound is None or bound <= 0:
        return None
    result = product_of(a)
    if result is None or result.factors != {OPS["sign"](x): 1}:
        return None
    most = float(times) * float(bound)
    return OPS["clamp"](b, min=-most, max=most) if result.coefficient == most else None


def _multiple_of(b: Node, x: Node) -> Coefficient:
    """2 for 2 * x; 0 if b is no multiple of x."""
    result = product_of(b)
    return result.coefficient if result is not None and result.factors == {x: 1} else 0


@normal("mul", "div")
def clamped_within(node: Node) -> Node | None:
    """f(clamp(x, -1, 1)) * ((x >= -1) & (x <= 1)) = f(x) * ((x >= -1) & (x <= 1))."""
    result = product_of(node) or NOTHING
    for mask in [f for f in result.factors if is_zero_or_one(f)]:
        for f, e in result.factors.items():
            new = _unclamped(f, mask) if f is not mask and f.shape else None
            if new is not None:
                return build(result.without(f).times({new: e}), node.shape)
    return None


def _unclamped(f: Node, mask: Node) -> Node | None:
    """f without the clamps that change nothing where a mask holds; None if there are none."""
    new: dict[Node, Node] = {}
    nodes = walk([f])
    for n in nodes if len(nodes) < LARGE else ():
        if n.op.name == "clamp" and n.shape == n.parents[0].shape and _is_inside(mask, n):
            new[n] = n.parents[0]
        inner = definition(n)
        unclamped = None if inner is None else _unclamped(inner, mask)
        if unclamped is not None:
            new[n] = unclamped
    return substitute(f, new) if new else None


def _is_inside(mask: Node, clamp: Node) -> bool:
    """Whether a mask holds exactly where a clamp leaves values unchanged."""
    plain = unconverted(mask)
    x, low, high = clamp.inputs
    sides = [OPS["ge"](x, low)] if low is not None else []
    sides += [OPS["le"](x, high)] if high is not None else []
    parts = plain.parents if plain.op.name == "logical_and" else [plain]
    comparisons = [*map(normalised_comparison, sides)]
    return len(sides) == len(parts) and all(any(_same(s, p) for p in parts) for s in comparisons)


def _same(a: Node, b: Node) -> bool:
    """Whether two comparisons have the same operands, or constants of the same value."""
    pairs = zip(a.parents, b.parents, strict=False)
    return a.op is b.op and all(
        x is y or constant_value(x) == constant_value(y) is not None for x, y in pairs
    )


@normal("mul", "div")
def equal_only_within(node: Node) -> Node | None:
    """a * (1 - sign(a * (x - clamp(x, 0, 1))) + ((x >= 0) & (x <= 1))) =
    2 * a * (a * (x - clamp(x, 0, 1)) <= 0): where a is not 0, the mask is true if the sign is 0.
    """
    result = product_of(node) or NOTHING
    for f in result.once():
        times, mask = _one_sign_and_mask(f, result.factors)
        if mask is not None:
            return build(result.without(f).times({mask: 1}, times), node.shape)
    return None


def _one_sign_and_mask(f: Node, other_factors: Collection[Node]) -> tuple[Coefficient, Node | None]:
    """A number and a comparison whose product equals f, a sum of 1, a sign and a mask, wherever the
    `other_factors` are not 0; 0 and None if there are none.
    """
    terms = terms_of_sum(f)
    one = [t for t in terms if not t.factors]
    single = [(k, t.coefficient) for t in terms for k in t.factors if t.factors == {k: 1}]
    signs = [(k, c) for k, c in single if k.op.name == "sign"]
    masks = [(k, c) for k, c in single if is_zero_or_one(k)]
    if len(terms) != 3 or not len(one) == len(signs) == len(masks) == 1:
        return 0, None
    ((sign, side),), ((mask, times),) = signs, masks
    if one[0].coefficient != times or abs(side) != abs(times):
        return 0, None
    (d,) = sign.parents
    parts = product_of(d)
    remaining = [k for k in parts.factors if k not in other_factors] if parts else []
    if len(remaining) != 1 or not _is_clamping_residual(remaining[0], mask):
        return 0, None
    name = "ge" if side == times else "le"
    return 2 * times, normalised_comparison(OPS[name](d, 0))


def _is_clamping_residual(f: Node, mask: Node) -> bool:
    """Whether f is x - clamp(x, 0, 1), which is 0 exactly where a mask holds."""
    if f.op.name != "sub":
        return False
    return any(
        c.op.name == "clamp" and c.parents[0] is x and _is_inside(mask, c)
        for x, c in (f.parents, f.parents[::-1])
    )


def _relu_argument(f: Node) -> Node | None:
    """x of relu(x), maximum(x, 0) or clamp(x, min=0); None for any other node."""
    if f.op.name == "relu":
        return f.parents[0]
    if f.op.name == "clamp" and f.inputs[2] is None and _is_zero(f.inputs[1]):
        return f.parents[0]
    if f.op.name == "maximum":
        a, b = f.parents
        return a if _is_zero(b) else b if _is_zero(a) else None
    return None


def _is_zero(node: Node | None) -> bool:
    return node is not None and constant_value(without_tensor(node)) == 0


def _where_positive(k: Node, x: Node) -> Coefficient | None:
    """The constant value of a factor, a sum of masks, signs and numbers, wherever x > 0; None if it
    varies there.
    """
    terms = (terms_of(k) if k.op.name in SUMS else None) or [Product(1, {k: 1})]
    total: Coefficient = 0
    for t in terms:
        value = t.coefficient
        for f, e in t.factors.items():
            own = _side_where_positive(f, x)
            if own is None or e != 1:
                return None
            value *= own
        total += value
    return total if any(t.factors for t in terms) else None


def _side_where_positive(f: Node, x: Node) -> int | None:
    """The value of a mask or a sign wherever x > 0; None if it varies there."""
    is_sign, is_equal = f.op.name == "sign", unconverted(f).op.name == "eq"
    d = f.parents[0] if is_sign else _difference(unconverted(f)) if is_equal else _above(f)
    times = None if d is None else multiple_of(d, x)
    if not times:
        return None
    return 0 if is_equal else 1 if times > 0 else -int(is_sign)


def _difference(comparison: Node) -> Node:
    """a - b for a comparison of a and b."""
    a, b = comparison.parents
    return a if _is_zero(b) else a - b


def _above(mask: Node) -> Node | None:
    """a - b for a > b or a >= b, positive where the mask holds; None for other masks."""
    plain = unconverted(mask)
    side = ABOVE.get(plain.op.name)
    if side is None:
        return None
    a, b = plain.parents if side > 0 else plain.parents[::-1]
    return a if _is_zero(b) else -b if _is_zero(a) else a - b
