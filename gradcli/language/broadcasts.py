"""Ranks that a built program tells of: with them nothing is broadcast by accident."""

from collections.abc import Collection, Sequence
from itertools import permutations

from ..graphs import Node, downstream, walk
from .coefficients import COEFFICIENTS


def ranks_not_broadcast(roots: list[Node]) -> dict[str, int]:
    """Ranks with which inputs are not broadcast where people seldom mean it.

    What is subtracted has the rank of what it is subtracted from, what is multiplied with whole
    numbers, as one_hot gives them, theirs, and what is compared by a loss that of what it is
    compared with; X in upper case is no row of a matrix; lam in `loss + lam * norm(w)` and in
    `A + lam * eye(n)` is a number, and so is y in `y - w @ x`.
    """
    found: dict[str, int] = {}
    order = walk(roots, _made_of)
    sums = [n.parents for n in order if n.op.sign in ("+", "-")]
    terms = [pair for both in sums for pair in permutations(both)]
    beside_numbers = {n for n, other in terms if not other.ndim and other.parents}
    summed = {n for n, _ in terms}
    varying = downstream(order, [n for n in order if n.op.name == "input"], _made_of)
    of_products = downstream(order, [n for n in order if n.op.matrices], _made_of)
    for node in order:
        for operand, other in permutations(_operands(node), 2):
            by_number = not other.ndim and other in varying
            x = _begins_with(operand, varying) if by_number else operand
            if x.op.name != "input" or not x.ndim or x in walk([other]):
                continue
            is_number = x.attrs["name"] in COEFFICIENTS or other in of_products
            is_multiple = _multiplies(node, other, beside_numbers, summed)
            if is_multiple or (by_number and is_number):
                found[x.attrs["name"]] = 0
            elif x.ndim < other.ndim and 1 not in other.shape and _is_alike(node, x, other):
                found[x.attrs["name"]] = other.ndim
    return found


def _operands(node: Node) -> Sequence[Node]:
    """The two operands of an elementwise operation, or what a loss compares; nothing elsewhere."""
    elementwise = node.op.family == "elementwise" and len(node.parents) == 2
    return node.parents if elementwise else _compared(node)


def _compared(node: Node) -> list[Node]:
    pairs = zip(node.op.inputs, node.inputs, strict=False)
    return [i for name, i in pairs if name in node.op.alike and i is not None]


def _is_alike(node: Node, x: Node, other: Node) -> bool:
    """Whether an operand has as many dimensions as the other one."""
    counts = node.op.sign == "*" and other.dtype == "int" and other.op.name != "input"
    compared = x in _compared(node) and x.dtype == "float"
    return compared or counts or node.op.sign == "-" or x.attrs["name"][0].isupper()


def _multiplies(
    node: Node, other: Node, beside_numbers: Collection[Node], summed: Collection[Node]
) -> bool:
    """Whether a product is a multiple, in a sum: of a number, beside a number, or of a matrix that
    has no inputs.
    """
    if node.op.sign != "*":
        return False
    constant = other.ndim == 2 and all(n.op.name != "input" for n in walk([other]))
    return (not other.ndim and node in beside_numbers) or (constant and node in summed)


def _begins_with(node: Node, varying: Collection[Node]) -> Node:
    """y of `-y` and `1 - y`: what elementwise operations with constants change."""
    while node.op.family == "elementwise" and sum(i in varying for i in node.parents) == 1:
        node = next(i for i in node.parents if i in varying)
    return node


def _made_of(node: Node) -> Sequence[Node | None]:
    """The inputs of a node, or its meaning where it has one."""
    return node.inputs if node.expansion is None else (node.expansion,)
