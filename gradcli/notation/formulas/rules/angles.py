"""Double angles: functions of x that together are one of 2 * x."""

from ....graphs import Node
from .products import build, constant_value, product_of, with_factors
from .registry import other


@other("sub")
def double_angle(node: Node) -> Node | None:
    """cos(x) ** 2 - sin(x) ** 2 = cos(2 * x)."""
    found = [product_of(i) for i in node.parents]
    names = []
    for p in found:
        if p is None or p.coefficient != 1 or list(p.factors.values()) != [2]:
            return None
        names.append(next(iter(p.factors)))
    a, b = names
    same = a.op.name == "cos" and b.op.name == "sin" and a.parents == b.parents
    return (2 * a.parents[0]).cos() if same else None


@other("mul", "div")
def double_angle_of_a_tangent(node: Node) -> Node | None:
    """(1 + tan(x) ** 2) / tan(x) = 2 / sin(2 * x)."""
    found = product_of(node)
    for f, e in found.factors.items() if found else ():
        tangent = _beside_one(f) if e == 1 else None
        if tangent is None or found.factors.get(tangent) != -1:  # type: ignore[union-attr]
            continue
        sine = (2 * tangent.parents[0]).sin()
        factors = with_factors(found.factors, {f: -1, tangent: 1, sine: -1})  # type: ignore[union-attr]
        return build(found._replace(coefficient=2 * found.coefficient, factors=factors), node.shape)  # type: ignore[union-attr]
    return None


def _beside_one(f: Node) -> Node | None:
    """tan(x) of 1 + tan(x) ** 2."""
    for one, square in (f.parents, f.parents[::-1]) if f.op.name == "add" else ():
        found = product_of(square) if constant_value(one) == 1 else None
        if found is not None and found.coefficient == 1 and [*found.factors.values()] == [2]:
            (tangent,) = found.factors
            return tangent if tangent.op.name == "tan" else None
    return None
