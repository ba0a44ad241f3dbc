"""Nested `where` with one condition, and products of masks with `where`."""

from collections.abc import Collection
from itertools import product

from ....graphs import OPS, Node
from .identities import identities
from .products import NOTHING, Coefficient, build, constant_value, product_of, unconverted
from .registry import NORMAL, normal, rule

identities(NORMAL, """
    where(x, where(x, a, b), c) = where(x, a, c)
    where(x, y * where(x, a, b), c) = where(x, y * a, c)
    where(x, a, where(x, b, c)) = where(x, a, c)
    where(x, a, y * where(x, b, c)) = where(x, a, y * c)
""")  # fmt: skip


@normal("mul", "div")
def half_at_a_tie(node: Node) -> Node | None:
    """where(a == b, 1 / 2, 1) * (a >= b) = (1 + sign(a - b)) / 2."""
    result = product_of(node) or NOTHING
    for half, mask in product(result.once(), repeat=2):
        operands = _larger_or_tied(mask)
        constant = None if operands is None else _halved_where_equal(half, operands)
        if operands is not None and constant is not None:
            larger, smaller = operands
            signed = {1 + OPS["sign"](larger - smaller): 1}
            return build(result.without(half, mask).times(signed, constant / 2), node.shape)
    return None


def _larger_or_tied(mask: Node) -> tuple[Node, Node] | None:
    """a and b of a >= b or b <= a; None for any other mask."""
    plain = unconverted(mask)
    if plain.op.name not in ("ge", "le"):
        return None
    a, b = plain.parents
    return (a, b) if plain.op.name == "ge" else (b, a)


def _halved_where_equal(choice: Node, operands: Collection[Node]) -> Coefficient | None:
    """c of where(a == b, c / 2, c), where `operands` are a and b; None for other nodes."""
    if choice.op.name != "where" or choice.parents[0].op.name != "eq":
        return None
    a, b = choice.parents[0].parents
    equal = a.parents if a.op.name == "sub" and constant_value(b) == 0 else (a, b)
    if {*equal} != {*operands}:
        return None
    at_tie, otherwise = (product_of(side) for side in choice.parents[1:])
    if at_tie is None or otherwise is None or at_tie.factors or otherwise.factors:
        return None
    return otherwise.coefficient if at_tie.coefficient * 2 == otherwise.coefficient else None


@normal("prod_others")
@rule("written out")
def torch_equivalent(node: Node) -> Node | None:
    """gated(x, a) = x * sigmoid(a); elu_backward(g, x) = where(x < 0, g * exp(x), g); the product
    of all other elements is x.prod() / x.
    """
    return node.op.in_torch(node)
