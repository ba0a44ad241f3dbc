"""Whether nodes of a problem correspond to nodes of the same problem at generic sizes."""

from collections.abc import Iterable

from ...autodiff.reverse import Step
from ...graphs import Node
from ...graphs.shapes import Shape
from ...notation.formulas.sizes import of_sizes
from ...operators.leaves import Array

Pair = tuple[Node, Node]
MOST_DIMENSIONS = 8  # longer tuples are data, not shapes


class SameComputation:
    """Decides whether nodes at two sizes are computed by the same operations, and caches pairs.

    Lists of numbers among the attributes of two nodes must be equal.
    """

    def __init__(self) -> None:
        self.known: set[Pair] = set()

    def __call__(self, pairs: Iterable[Pair]) -> bool:
        """Whether the nodes of each pair are computed by the same operations. A constant at the
        first sizes may be an expression of sizes at the second; size 1 may become larger.
        """
        waiting, compared = list(pairs), set[Pair]()
        while waiting:
            pair = waiting.pop()
            if pair in compared or pair in self.known:
                continue
            compared.add(pair)
            a, b = pair
            if a.op.name == "constant" and b.shape == () and of_sizes(b):
                continue
            same_slots = [i is None for i in a.inputs] == [i is None for i in b.inputs]
            if a.op is not b.op or not same_slots or not _may_become(a.shape, b.shape):
                return False
            if a.attrs.get("name") != b.attrs.get("name") or _lists(a) != _lists(b):
                return False
            waiting += zip(a.parents, b.parents, strict=True)
        self.known |= compared
        return True

    def steps(self, a: Step, b: Step) -> bool:
        """Whether two steps receive and send gradients computed by the same operations."""
        sent = [[(c.slot, c.sent.op) for c in step.contributions] for step in (a, b)]
        if sent[0] != sent[1]:
            return False
        both = zip(a.contributions, b.contributions, strict=True)
        pairs = [(a.node, b.node), (a.received, b.received)]
        return self([*pairs, *((c.local, d.local) for c, d in both)])


def _may_become(shape: Shape, other: Shape) -> bool:
    """Whether each size of `other` equals that of `shape`, or both are positive and the one of
    `other` is larger than 1.
    """
    return len(shape) == len(other) and all(
        n == m or (n > 0 and m > 1) for n, m in zip(shape, other)
    )


def _lists(node: Node) -> list[str]:
    """The lists of numbers among the attributes of a node, as texts."""
    result: list[str] = []
    waiting = [*node.attrs.values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Array):
            result.append(value.text)
        elif isinstance(value, tuple):
            waiting += value
            result += [str(value)] * (len(value) > MOST_DIMENSIONS)
    return result
