"""Ranks that a built program tells of: with them nothing is broadcast by accident."""

from collections.abc import Collection, Sequence
from itertools import permutations

from ..graphs import Node, walk


def ranks_not_broadcast(roots: list[Node]) -> dict[str, int]:
    """Ranks with which inputs are not broadcast where people seldom mean it.

    What is subtracted has the rank of what it is subtracted from, what is multiplied with whole
    numbers, as one_hot gives them, theirs, and what is compared by a loss that of what it is
    compared with; X in upper case is no row of a matrix; and lam in `loss + lam * norm(w)` and in
    `A + lam * eye(n)` is a number.
    """
    found: dict[str, int] = {}
    order = walk(roots, _made_of)
    sums = [n.parents for n in order if n.op.name in ("add", "sub")]
    terms = [pair for both in sums for pair in permutations(both)]
    beside_numbers = {n for n, other in terms if not other.ndim and other.parents}
    summed = {n for n, _ in terms}
    for node in order:
        for x, other in permutations(_operands(node), 2):
            if x.op.name != "input" or not x.ndim or x in walk([other]):
                continue
            if _multiplies(node, other, beside_numbers, summed):
                found[x.attrs["name"]] = 0
            elif x.ndim < other.ndim and 1 not in other.shape and _is_alike(node, x, other):
                found[x.attrs["name"]] = other.ndim
    return found


def _operands(node: Node) -> Sequence[Node]:
    """The two operands of an elementwise operation or of a loss; nothing elsewhere."""
    elementwise = node.op.family == "elementwise" and len(node.parents) == 2
    return node.parents[:2] if elementwise or "reduction" in node.attrs else ()


def _is_alike(node: Node, x: Node, other: Node) -> bool:
    """Whether an operand has as many dimensions as the other one."""
    counts = node.op.name == "mul" and other.dtype == "int" and other.op.name != "input"
    is_loss = "reduction" in node.attrs and x.dtype == "float" and not node.op.labels
    return is_loss or counts or node.op.name == "sub" or x.attrs["name"][0].isupper()


def _multiplies(
    node: Node, other: Node, beside_numbers: Collection[Node], summed: Collection[Node]
) -> bool:
    """Whether a product is a multiple, in a sum: of a number, beside a number, or of a matrix that
    has no inputs.
    """
    if node.op.name != "mul":
        return False
    constant = other.ndim == 2 and all(n.op.name != "input" for n in walk([other]))
    return (not other.ndim and node in beside_numbers) or (constant and node in summed)


def _made_of(node: Node) -> Sequence[Node | None]:
    """The inputs of a node, or its meaning where it has one."""
    return node.inputs if node.expansion is None else (node.expansion,)
