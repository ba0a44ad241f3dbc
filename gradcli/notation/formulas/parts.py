"""The parts of a gradient that do not depend on the seed."""

from collections.abc import Collection

from ...graphs import Node, walk


def beside(grad: Node, seed: Node, names: Collection[Node]) -> list[Node]:
    """The largest of these parts that compute numbers and have no name; what only moves elements is
    looked into, and so are products of matrices.
    """
    flows = {seed}
    for n in walk([grad]):
        if not flows.isdisjoint(n.parents):
            flows.add(n)
    found: list[Node] = []
    waiting, met = [grad], set[Node]()
    while waiting:
        n = waiting.pop()
        if n in met or n in names or n.op.family == "leaf":
            continue
        met.add(n)
        product = n.op.name == "matmul" and n.ndim > 1
        if n in flows or product or n.op.family == "movement" or n.dtype == "bool":
            waiting += n.parents
        else:
            found.append(n)
    return found
