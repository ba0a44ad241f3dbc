"""Labels: inputs that hold whole numbers or masks, where they stand and what they are if nobody
gave them.
"""

from collections.abc import Collection
from typing import Any

from ..graphs import Node, walk
from ..graphs.operator import Unlabelled
from ..lazy import np

MOST = 10_000  # that are made up one by one


def to_suppose(error: Unlabelled, taken: Collection[str]) -> str | None:
    """The name that stands where labels should, and whose labels can be made up; None where several
    are mixed, or it is among those `taken`.
    """
    free = [n.attrs["name"] for n in walk([error.node]) if n.op.name == "input"]
    return free[0] if len(free) == 1 and free[0] not in taken else None


def made_up(node: Node) -> Any:
    """Labels for an input that has none: 0 and 1 in turn."""
    if node.numel > MOST:  # of sizes that only stand in for others
        return np.broadcast_to(node.dtype == "bool" or 0, node.shape)
    numbers = np.arange(node.numel).reshape(node.shape) % 2
    return numbers == 0 if node.dtype == "bool" else numbers


def picking(roots: Collection[Node], indices: Collection[Node], out: Node) -> set[Node]:
    """The nodes that hold whole numbers, for they lead to `indices`, or to the index, the labels or
    the mask of an operation.

    Where floats may stand, as in argsort, a node is none of them that is also a value in `out`.
    """
    met = walk(roots, lambda n: (*n.inputs, n.expansion))
    labels = [*indices, *(i for node in met for i in _of_operation(node))]
    valued = walk([out], lambda n: [i for i in n.inputs if i not in _of_operation(n)])
    direct = walk(labels, lambda n: () if n.op.dtype in ("int", "bool") else n.inputs)
    return set(direct) | (set(walk(labels)) - set(valued))


def _of_operation(node: Node) -> list[Node]:
    """The inputs of an operation that are indices, labels or masks."""
    named = zip(node.op.inputs, node.inputs, strict=False)
    return [i for name, i in named if name in node.op.labels and i is not None]
