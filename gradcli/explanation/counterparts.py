"""What a problem has in common with the same one at sizes that hold for any: the nodes there that
stand for its own.
"""

from collections.abc import Iterable

from ..autodiff.reverse import Step
from ..graphs import Node, walk
from ..graphs.shapes import Shape

Pair = tuple[Node, Node]


class Counterparts:
    """Says which nodes are computed alike at two sizes, and remembers those that it has seen."""

    def __init__(self) -> None:
        self.known: set[Pair] = set()

    def __call__(self, pairs: Iterable[Pair]) -> bool:
        """Whether the nodes of each pair are computed by the same operations, with dimensions of 1
        in the same places; what is a number at the first sizes may be computed from the others.
        """
        waiting, met = list(pairs), set[Pair]()
        while waiting:
            pair = waiting.pop()
            if pair in met or pair in self.known:
                continue
            met.add(pair)
            a, b = pair
            if a.op.name == "constant" and _is_of_sizes(b):
                continue
            given = [i is None for i in a.inputs] == [i is None for i in b.inputs]
            if a.op is not b.op or not given or _few(a.shape) != _few(b.shape):
                return False
            if a.attrs.get("name") != b.attrs.get("name"):
                return False
            waiting += zip(a.parents, b.parents, strict=True)
        self.known |= met
        return True

    def steps(self, a: Step, b: Step) -> bool:
        """Whether two operations receive and send alike."""
        sent = [[(c.slot, c.sent.op) for c in step.contributions] for step in (a, b)]
        if sent[0] != sent[1]:
            return False
        both = zip(a.contributions, b.contributions, strict=True)
        pairs = [(a.node, b.node), (a.received, b.received)]
        return self([*pairs, *((c.local, d.local) for c, d in both)])


def _few(shape: Shape) -> list[int]:
    return [min(n, 2) for n in shape]


def _is_of_sizes(node: Node) -> bool:
    """Whether it is a number that is computed from sizes alone."""
    within = walk([node], lambda n: () if n.op.name == "size" else n.inputs)
    return node.shape == () and all(n.op.name in ("size", "constant") or n.inputs for n in within)
