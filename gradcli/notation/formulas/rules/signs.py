"""Signs, and differences the other way round."""

from ....graphs import OPS, Node
from ....graphs.signature import signature
from .products import ONE, Product, build, constant_value, product_of, with_factors
from .registry import normal, other, rule


@rule("side")
def sign_of_any_kind(node: Node) -> Node:
    """side(x) = sign(x): both have no slope."""
    return OPS["sign"](*node.parents)


@rule("sign")
def sign_of_a_constant(node: Node) -> Node | None:
    """sign(x.detach()) = sign(x): both have no slope."""
    (x,) = node.parents
    return OPS["sign"](x.parents[0]) if x.op.family == "barrier" else None


@normal("sign")
def sign_of_zero(node: Node) -> Node | None:
    """sign(0) = 0."""
    return OPS["zeros"](size=node.shape) if constant_value(node.parents[0]) == 0 else None


@normal("mul", "pow")
def even_power_of_a_sign(node: Node) -> Node | None:
    """g * sign(x) ** 2 = g * (x != 0)."""
    found = product_of(node)
    for f, e in found.factors.items() if found and len(found.factors) > 1 else ():
        if f.op.name == "sign" and e > 0 and e % 2 == 0:
            factors = with_factors(found.factors, {f: -e, f.parents[0].ne(0): 1})  # type: ignore[union-attr]
            return build(found._replace(factors=factors), node.shape)  # type: ignore[union-attr]
    return None


@normal("sign")
def sign_of_opposite(node: Node) -> Node | None:
    """sign(-2 * x) = -sign(x); sign(b - a) = -sign(a - b)."""
    (x,) = node.parents
    found = product_of(x)
    if found is None or found.coefficient == 0:
        return None
    swapped = [f for f, e in found.factors.items() if e == int(e) and _is_swapped(f)]
    if found.coefficient == 1 and not swapped:
        return None
    factors, negative = found.factors, found.coefficient < 0
    for f in swapped:
        e = factors[f]
        factors = with_factors(factors, {f: -e, _swapped(f): e})
        negative ^= e % 2 == 1
    out = OPS["sign"](build(Product(ONE, factors), x.shape))
    return -out if negative else out


def _is_swapped(f: Node) -> bool:
    """Whether it is the b - a of two that have a - b as well."""
    return f.op.name == "sub" and signature(f.parents[0]) > signature(f.parents[1])


def _swapped(difference: Node) -> Node:
    a, b = difference.parents
    return b - a


@other("neg", "mul", "div")
def sign_takes_the_minus(node: Node) -> Node | None:
    """-sign(a - b) = sign(b - a)."""
    found = product_of(node)
    if found is None or found.coefficient >= 0:
        return None
    signs = (f for f, e in found.factors.items() if f.op.name == "sign" and e == 1)
    sign = next((f for f in signs if f.parents[0].op.name == "sub"), None)
    if sign is None:
        return None
    opposite = sign.op(_swapped(sign.parents[0]))
    factors = with_factors(found.factors, {sign: -1, opposite: 1})
    return build(Product(-found.coefficient, factors), node.shape)
