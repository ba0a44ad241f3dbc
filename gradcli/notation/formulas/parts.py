"""The parts of a gradient that do not depend on the seed."""

from collections.abc import Collection

from ...graphs import Node, walk


def beside(grad: Node, seed: Node, names: Collection[Node], with_moved: bool = False) -> list[Node]:
    """The largest of these parts that compute numbers and have no name, or `with_moved` hold
    numbers that were moved; products of matrices are looked into, and so is what else only moves
    elements.
    """
    flows = {seed}
    for n in walk([grad]):
        if not flows.isdisjoint(n.parents):
            flows.add(n)
    result: list[Node] = []
    waiting, met = [grad], set[Node]()
    while waiting:
        n = waiting.pop()
        if n in met or n in names:
            continue
        met.add(n)
        product = n.op.name == "matmul" and n.ndim > 1
        moved = n.op.family in ("movement", "leaf") and not (with_moved and _holds_numbers(n))
        if n in flows or product or moved or n.dtype == "bool":
            waiting += n.parents
        else:
            result.append(n)
    return result


def _holds_numbers(node: Node) -> bool:
    """Whether its elements are not told by their places alone, as those of ones and eye are."""
    return any(n.ndim and not n.inputs and not n.op.index for n in walk([node]))
