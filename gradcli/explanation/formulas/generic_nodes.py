"""What a problem has in common with the same one in general: the nodes there that
stand for its own.
"""

from collections.abc import Iterable

from ...autodiff.reverse import Step
from ...graphs import Node
from ...graphs.shapes import Shape
from ...notation.formulas.sizes import of_sizes
from ...operators.leaves import Array

Pair = tuple[Node, Node]
MOST_DIMENSIONS = 8  # longer tuples are lists


class Counterparts:
    """Says which nodes are computed alike at two sizes, and remembers those that it has seen.

    Lists of numbers are read as they are, and have to be the same ones.
    """

    def __init__(self) -> None:
        self.known: set[Pair] = set()

    def __call__(self, pairs: Iterable[Pair]) -> bool:
        """Whether the nodes of each pair are computed by the same operations; what is a number at
        the first sizes may be computed from the others, and what has size 1 there may have more.
        """
        waiting, met = list(pairs), set[Pair]()
        while waiting:
            pair = waiting.pop()
            if pair in met or pair in self.known:
                continue
            met.add(pair)
            a, b = pair
            if a.op.name == "constant" and b.shape == () and of_sizes(b):
                continue
            given = [i is None for i in a.inputs] == [i is None for i in b.inputs]
            if a.op is not b.op or not given or not _may_become(a.shape, b.shape):
                return False
            if a.attrs.get("name") != b.attrs.get("name") or _lists(a) != _lists(b):
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


def _may_become(own: Shape, other: Shape) -> bool:
    """Whether sizes are the same, or larger than 1 in the place of some elements."""
    return len(own) == len(other) and all(n == m or (n > 0 and m > 1) for n, m in zip(own, other))


def _lists(node: Node) -> list[str]:
    """The lists of numbers that an operation goes by."""
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
