"""The parts of a gradient that do not depend on the seed."""

from collections.abc import Collection

from ...graphs import Node, walk


def seedless_parts(
    grad: Node, seed: Node, names: Collection[Node], with_moved: bool = False
) -> list[Node]:
    """The largest unnamed parts of a gradient that do not depend on the seed and compute numbers.
    Matrix products, and nodes that only move elements, are searched for parts themselves;
    `with_moved` counts moved numbers as parts too.
    """
    dependent = {seed}
    for n in walk([grad]):
        if not dependent.isdisjoint(n.parents):
            dependent.add(n)
    result: list[Node] = []
    waiting, seen = [grad], set[Node]()
    while waiting:
        n = waiting.pop()
        if n in seen or n in names:
            continue
        seen.add(n)
        product = n.op.name == "matmul" and n.ndim > 1
        only_moves = n.op.family in ("movement", "leaf") and not (with_moved and _holds_numbers(n))
        if n in dependent or product or only_moves or n.dtype == "bool":
            waiting += n.parents
        else:
            result.append(n)
    return result


def _holds_numbers(node: Node) -> bool:
    """Whether a node depends on elements with values, other than those of ones and eye."""
    return any(n.ndim and not n.inputs and not n.op.index for n in walk([node]))
