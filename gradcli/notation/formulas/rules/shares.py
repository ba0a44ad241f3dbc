"""Shares that add up to one, as those of softmax do, beside what they weigh."""

from ....graphs import Node
from ....graphs.shapes import axes
from .atoms import definition
from .products import Product, build, number_node, product_of
from .registry import normal
from .sums import added, terms_of


@normal("sum")
def shift_beside_shares(node: Node) -> Node | None:
    """(softmax(x, 1) * (y + 1)).sum(dim=1) = (softmax(x, 1) * y).sum(dim=1) + 1."""
    x = node.parents[0]
    found = product_of(x)
    over = axes(node.attrs["dim"], x.ndim)
    if found is None or found.coefficient == 0 or sorted(found.factors.values()) != [1, 1]:
        return None
    shares = [f for f in found.factors if f.shape == x.shape and _adds_up(f, over)]
    weighed = next((f for f in found.factors if f not in shares), None)
    terms = terms_of(weighed) if weighed and weighed.op.name in ("add", "sub") else None
    others = [t for t in terms or () if t.factors]
    numbers = [t for t in terms or () if not t.factors]
    if not others or not numbers or not shares:
        return None
    total = node.op(shares[0] * added(others), **node.attrs) + number_node(numbers[0].coefficient)
    return build(Product(found.coefficient, {total: 1}), node.shape)


def _adds_up(f: Node, over: tuple[int, ...]) -> bool:
    """Whether the sum of a factor over these dimensions is 1."""
    share = definition(f) or f
    return f.numel > 0 and share.op.name == "softmax" and axes(share.attrs["dim"], f.ndim) == over
