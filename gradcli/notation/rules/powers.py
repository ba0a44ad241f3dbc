"""Quotients of powers: what has one exponent is raised together."""

from collections.abc import Iterator

from ...graphs import Node, as_node
from .factoring import negative
from .products import Coefficient, build, product_of
from .registry import other


@other("mul", "div")
def quotient_of_powers(node: Node) -> Iterator[Node]:
    """x ** 2 / y ** 2 = (x / y) ** 2; x ** a * y ** -a = (x / y) ** a."""
    found = product_of(node)
    if found is None or found.coefficient == 0:
        return
    for above, e in found.factors.items():
        for under, n in found.factors.items():
            new = _raised_together(above, e, under, n)
            if new is not None:
                rest = {f: k for f, k in found.factors.items() if f not in (above, under)}
                yield build(found._replace(factors={new: 1, **rest}), node.shape)


def _raised_together(above: Node, e: Coefficient, under: Node, n: Coefficient) -> Node | None:
    """above ** e * under ** n as a power of a quotient; None where the exponents differ."""
    if e > 1 and n == -e and e == int(e):
        return (above / under) ** as_node(int(e))
    if e != 1 or above.op.name != "pow" or under.op.name != "pow" or abs(n) != 1:
        return None
    (x, a), (y, b) = above.parents, under.parents
    opposite = a is b if n < 0 else negative(a) is b or negative(b) is a
    return (x / y) ** a if opposite else None
