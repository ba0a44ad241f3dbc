"""Inputs that stay symmetric where they are moved: of which an operation reads one triangle."""

from ..graphs import Node, walk


def kept_symmetric(out: Node) -> set[Node]:
    """The nodes of which an operation on the way to `out` reads one triangle, while its gradient is
    for matrices that stay symmetric.
    """
    found = set()
    for node in walk([out]):
        pairs = zip(node.op.inputs, node.inputs, strict=False) if node.op.symmetric else ()
        found |= {i for name, i in pairs if i is not None and name in node.op.symmetric}
    return found
