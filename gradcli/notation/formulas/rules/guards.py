"""Bounds of values; simplification of masks and comparisons, and of guards against infinities and
tiny denominators.
"""

from functools import lru_cache, reduce
from math import inf

from ....graphs import OPS, Node, walk
from ....operators import precision
from ....operators.bounds import ANY, NOT_NEGATIVE, PROBABILITY, Bounds
from .atoms import definition
from .broadcasting import unbroadcast
from .factoring import add_up_to_zero, added, terms_of
from .identities import condition, identities
from .matrices import is_column
from .products import (
    CACHE_SIZE,
    NOTHING,
    ONE,
    Coefficient,
    Product,
    add_numbers,
    build,
    common_factors,
    constant_value,
    is_mask,
    is_scalar,
    is_zero_or_one,
    number_node,
    product_of,
    with_factor,
)
from .registry import RULES, candidate, normal, rule
from .triangular import DIAGONAL

CORRELATION = (-1.0, 1.0)


def is_not_negative(x: Node) -> bool:
    """Whether all elements are known to be nonnegative."""
    return bounds_of(x)[0] >= 0


@lru_cache(maxsize=CACHE_SIZE)
def bounds_of(x: Node) -> Bounds:
    """The lower and upper bounds of all elements."""
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
    covariance = next(iter(p.once("cov")), None)
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


OPPOSITE = {"gt": "le", "le": "gt", "lt": "ge", "ge": "lt", "eq": "ne", "ne": "eq"}
MIRRORED = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}
TINY = precision.SINGLE_UNIT  # the largest lower bound of a denominator that is dropped
SATURATED = 20  # above this, sigmoid is 1 to nine digits, and softplus is linear in PyTorch


@condition
def is_tiny(s: Node) -> bool:
    """Whether a number is positive and within rounding of 0."""
    return 0 < (constant_value(s) or 0) <= TINY


identities(RULES, """
    raise_where(x, y, message=d) = x
    where(abs(x) > s, y, z) = y where is_tiny(s)
""")  # fmt: skip


@rule("mul")
def mask_as_numbers(node: Node) -> Node | None:
    """1 * (x > 0) = (x > 0).double()."""
    for one, mask in (node.parents, node.parents[::-1]):
        if mask.dtype == "bool" and mask.shape == node.shape and constant_value(one) == 1:
            return mask.double() if node.dtype == "float" else None
    return None


@rule("logical_not")
def opposite_comparison(node: Node) -> Node | None:
    """~(a < b) = a >= b."""
    (x,) = node.parents
    return OPS[OPPOSITE[x.op.name]](*x.parents) if x.op.name in OPPOSITE else None


def is_negligible_bound(bound: Node | float, length: Node) -> bool:
    """Whether a lower bound of `length` is a tiny positive number, and `length` itself is never
    negative.
    """
    least, greatest = _fixed_bounds(bound) if isinstance(bound, Node) else (bound, bound)
    return least > 0 and greatest <= TINY and is_not_negative(length)


def _fixed_bounds(x: Node) -> Bounds:
    """The bounds of a constant, or of an operator whose bounds do not depend on its operands, such
    as the eps of a dtype.
    """
    value, declared = constant_value(x), x.op.bounds
    if value is not None:
        return float(value), float(value)
    return declared if isinstance(declared, tuple) else ANY


@normal("div", "mul")
def mask_of_a_tiny_length(node: Node) -> Node | None:
    """x * (y >= 1e-12) / y = x / y for a y that is never negative."""
    result = product_of(node) or NOTHING
    for mask, e in result.factors.items():
        if mask.op.name not in ("ge", "gt") or e != 1:
            continue
        y, bound = mask.parents
        lengths = (y, unbroadcast(y) or y)
        divides = any(result.factors.get(length, 0) < 0 for length in lengths)
        if divides and is_negligible_bound(bound, y):
            return build(result.without(mask), node.shape)
    return None


@normal("where")
def where_domain_holds(node: Node) -> Node | None:
    """where(inside, x, nan) = x."""
    _, a, b = node.parents
    is_nan = b.op.name == "constant" and b.attrs["value"] != b.attrs["value"]
    return a if is_nan else None


@normal("xlogy")
def xlogy_of_nonzero(node: Node) -> Node | None:
    """xlogy(2 / n, x) = 2 / n * log(x) for numbers and sizes, which are not 0; xlogy(y, softmax(x,
    1)) = y * log_softmax(x, 1), which is finite.
    """
    a, b = node.parents
    result = product_of(a)
    if result is None or result.coefficient == 0 or b.shape != node.shape:
        return None
    if b.op.name == "softmax" and not is_masked(b.parents[0]):
        logarithm = OPS["log_softmax"](*b.inputs, **b.attrs)
    elif all(f.op.name == "size" for f in result.factors):
        logarithm = b.log()
    else:
        return None
    return build(Product(result.coefficient, with_factor(result.factors, logarithm)), node.shape)


def is_masked(x: Node) -> bool:
    """Whether x is computed from a constant -inf, so that some exponentials may be 0."""
    nodes = walk([x], lambda n: n.inputs if definition(n) is None else (definition(n),))
    return any(n.op.name == "constant" and n.attrs["value"] == -inf for n in nodes)


@rule("unless", "without_slope", "otherwise", "through")
def finite_guards(node: Node) -> Node | None:
    """unless(c, x), without_slope(c, x), otherwise(c, x, y), through(y, x) = x for finite x, y."""
    value = node.parents[1]
    return value if value.shape == node.shape else value.expand(shape=node.shape)


@normal("where")
def saturated_sigmoid(node: Node) -> Node | None:
    """where(x > 20, a, a * sigmoid(x)) = a * sigmoid(x) and
    where(x >= 20, 0, a * sigmoid(x) * sigmoid(-x)) = a * sigmoid(x) * sigmoid(-x), to nine digits.
    """
    condition, a, b = node.parents
    if condition.op.name not in ("gt", "ge") or b.shape != node.shape:
        return None
    x, limit = condition.parents
    if (constant_value(limit) or 0) < SATURATED:
        return None
    result, product_a = product_of(b) or NOTHING, product_of(a)
    sigmoids = {f: f.parents[0] for f in result.factors if f.op.name == "sigmoid"}
    sigmoid = next((f for f, y in sigmoids.items() if y is x), None)
    if sigmoid is None or product_a is None:
        return None
    if product_a.coefficient == 0:
        return b if _is_slope_of_sigmoid(result, x) else None
    return b if result.without(sigmoid) == product_a else None


def _is_slope_of_sigmoid(p: Product, x: Node) -> bool:
    """Whether a product has sigmoid(x) as a factor, and sigmoid(-x) or 1 - sigmoid(x)."""
    sigmoids = {f.parents[0]: f for f in p.once("sigmoid")}
    if x not in sigmoids:
        return False
    opposite = any(y.shape == x.shape and add_up_to_zero(x, y) for y in sigmoids)
    return opposite or any(
        f.op.name == "sub" and constant_value(f.parents[0]) == 1 and f.parents[1] is sigmoids[x]
        for f in p.once()
    )


@candidate("where")
def as_mask(node: Node) -> Node | None:
    """where(x > 0, g, 0) = g * (x > 0); where(x <= 0, 0, g) = g * (x > 0)."""
    condition, a, b = node.parents
    for value, zero, mask in ((a, b, condition), (b, a, _not(condition))):
        if constant_value(zero) == 0 and mask is not None and mask.shape == node.shape:
            if value.op.name == "constant" and constant_value(value) is None:
                return None  # inf times False is nan
            if constant_value(value) is not None or value.dtype != "float":
                return None if constant_value(value) is None else _mask_times_constant(mask, value)
            return value * mask
    return None


def _mask_times_constant(mask: Node, value: Node) -> Node:
    """value * mask, as a floating-point tensor."""
    as_number = mask.double()
    return as_number if constant_value(value) == 1 else value * as_number


def _not(condition: Node) -> Node | None:
    name = OPPOSITE.get(condition.op.name)
    return None if name is None else OPS[name](*condition.inputs)


@candidate("mul")
def redundant_conversion(node: Node) -> Node | None:
    """g * (x > 0).double() = g * (x > 0)."""
    result = product_of(node) or NOTHING
    converted = [f for f, e in result.factors.items() if _is_converted_mask(f, e)]
    rest, masks = result.without(*converted), [f.parents[0] for f in converted]
    if not masks or not any(f.dtype == "float" and f.ndim for f in rest.factors):
        return None
    out = build(rest, node.shape)
    for mask in masks:
        out = out * mask
    return out


def _is_converted_mask(f: Node, e: Coefficient) -> bool:
    """Whether a factor is a converted tensor, or a positive power of a converted mask."""
    return f.op.name == "double" and (e == 1 or (e > 0 and f.parents[0].dtype == "bool"))


def negligibly_clamped(f: Node) -> Node | None:
    """The operand x of clamp(x, min) or clamp_with_gradient(x, min), if x is never negative and the
    bound is tiny; None for any other node.
    """
    if f.op.name == "clamp_with_gradient":
        bound = f.attrs["min"]
    else:
        bound = f.inputs[1] if f.op.name == "clamp" and f.inputs[2] is None else None
    return f.parents[0] if bound is not None and is_negligible_bound(bound, f.parents[0]) else None


@normal("where")
def common_factors_of_where(node: Node) -> Node | None:
    """where(c, g * a, g) = g * where(c, a, 1)."""
    condition, *sides = node.parents
    result = [p for p in map(product_of, sides) if p is not None and p.coefficient != 0]
    if len(result) < 2:
        return None
    shared = common_factors(*result)
    rest = [p.without(*shared) for p in result]
    if not shared or any(is_mask(p.factors) for p in rest):
        return None
    inner = [build(p, () if all(map(is_scalar, p.factors)) else node.shape) for p in rest]
    chosen = node.op(condition, *inner)
    return build(Product(ONE, with_factor(shared, chosen)), node.shape)


@normal("gt", "ge", "lt", "le", "eq", "ne")
def compared_with_zero(node: Node) -> Node | None:
    """relu(x) > 0 is x > 0; a - b > 0 is a > b; 1 > x is x < 1; -2 * x > 0 is x < 0."""
    a, b = node.parents
    name = node.op.name
    if a.op.name == b.op.name == "constant":
        return OPS["full"](size=(), fill_value=_holds(name, a.attrs["value"], b.attrs["value"]))
    left, right = _number(a), _number(b)
    if left is not None and right is not None:
        return OPS["full"](size=node.shape, fill_value=_holds(name, left, right))
    if left is not None and a.op.name == "constant":
        return OPS[MIRRORED[name]](b, a)
    if right != 0:
        return None
    result = product_of(a)
    if result is not None and result.factors and result.coefficient not in (0, 1):
        bare = build(result._replace(coefficient=ONE), a.shape)
        return OPS[name if result.coefficient > 0 else MIRRORED[name]](bare, b)
    if a.op.name == "relu" and name in ("gt", "le"):
        return node.op(a.parents[0], b)
    new = node.op(*a.parents) if a.op.name == "sub" and name not in ("eq", "ne") else None
    return new if new is not None and new.shape == node.shape else None


@candidate("gt", "ge", "lt", "le")
def terms_to_either_side(node: Node) -> Node | None:
    """a - b - c > 0 is a > b + c."""
    total, zero = node.parents
    terms = terms_of(total) if constant_value(zero) == 0 else None
    above = [t for t in terms or () if t.coefficient > 0]
    below = [-t for t in terms or () if t.coefficient < 0]
    if len(above) + len(below) < 3 or not above or not below:
        return None
    return node.op(added(above), added(below))


@candidate("gt", "ge", "lt", "le")
def constant_to_right_side(node: Node) -> Node | None:
    """x + 1 > 0 is x > -1, and x + 3 <= 6 is x <= 3."""
    total, bound = node.parents
    value = constant_value(bound)
    if value is None:
        return None
    terms = terms_of(total)
    numbers = [t for t in terms or () if not t.factors]
    others = [t for t in terms or () if t.factors]
    if len(numbers) != 1 or len(others) != 1 or others[0].coefficient != 1:
        return None
    new = node.op(added(others), number_node(add_numbers(value, -numbers[0].coefficient)))
    return new if new.shape == node.shape else None


def is_positive(x: Node) -> Node:
    """x > 0, in normal form."""
    return normalised_comparison(OPS["gt"](x, 0))


def normalised_comparison(mask: Node) -> Node:
    """A comparison in the normal form of `compared_with_zero`."""
    while (new := compared_with_zero(mask)) is not None:
        mask = new
    return mask


@normal("eq", "ne")
def never_zero(node: Node) -> Node | None:
    """1 / x != 0 holds everywhere, as no number is infinite."""
    a, b = node.parents
    result = product_of(a) if constant_value(b) == 0 else None
    if result is None or result.coefficient == 0 or not result.factors:
        return None
    if any(e > 0 and f.op.name != "size" for f, e in result.factors.items()):
        return None
    return OPS["full"](size=node.shape, fill_value=node.op.name == "ne")


def _number(node: Node) -> Coefficient | None:
    """The number that all elements of a node have: 3 for 3 * ones_like(x)."""
    result = product_of(node)
    return None if result is None or result.factors else result.coefficient


@normal("ge", "lt", "eq", "ne")
def compared_arange(node: Node) -> Node | None:
    """arange(n) != -100 holds everywhere, as arange(n) is never negative."""
    a, b = node.parents
    limit = constant_value(b)
    is_nonnegative = a.op.name == "arange" and a.attrs["start"] >= 0 and a.attrs["step"] > 0
    if not is_nonnegative or limit is None or limit >= 0:
        return None
    return OPS["full"](size=node.shape, fill_value=node.op.name in ("ge", "ne"))


def _holds(name: str, a: Coefficient, b: Coefficient) -> bool:
    compare = {"gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "eq": a == b, "ne": a != b}
    return compare[name]


@normal("div", "mul", "pow", "reciprocal")
def no_small_denominator(node: Node) -> Node | None:
    """x / y.clamp(min=1e-12) = x / y for a y that is never negative."""
    result = product_of(node) or NOTHING
    for f, e in result.factors.items():
        x = negligibly_clamped(f) if e < 0 else None
        if x is not None:
            return build(result.times({f: -e, x: e}), node.shape)
    return None
