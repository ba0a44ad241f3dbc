"""Ranks that a built program tells of: with them nothing is broadcast by accident."""

from collections.abc import Sequence
from itertools import permutations

from ..graphs import Node, walk


def ranks_not_broadcast(roots: list[Node]) -> dict[str, int]:
    """Ranks with which inputs are not broadcast where people seldom mean it: what is subtracted has
    the rank of what it is subtracted from, and lam in `loss + lam * norm(w)` is a number.
    """
    found: dict[str, int] = {}
    order = walk(roots, _made_of)
    sums = [n.parents for n in order if n.op.name in ("add", "sub")]
    beside_numbers = {
        n for pair in sums for n, other in permutations(pair) if not other.ndim and other.parents
    }
    for node in order:
        if node.op.name not in ("sub", "mul") or len(node.parents) != 2:
            continue
        for x, other in permutations(node.parents):
            less = node.op.name == "sub" and 0 < x.ndim < other.ndim and 1 not in other.shape
            scales = node in beside_numbers and node.op.name == "mul" and x.ndim > other.ndim == 0
            if x.op.name == "input" and (less or scales) and x not in walk([other]):
                found[x.attrs["name"]] = other.ndim
    return found


def _made_of(node: Node) -> Sequence[Node | None]:
    """The inputs of a node, or its meaning where it has one."""
    return node.inputs if node.expansion is None else (node.expansion,)
