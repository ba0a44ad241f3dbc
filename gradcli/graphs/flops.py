"""Floating-point operations, counted from shapes.

An element that an elementwise function gives counts 1, whichever function it is, and so does one
that a reduction takes in; a product of m×n by n×k counts 2·m·n·k; what moves elements counts 0. The
field `flops` of an operator says so. One without that field counts as what it is made of.
"""

from collections.abc import Iterable

from .node import Node, walk


def flops(node: Node) -> int:
    """Floating-point operations of one node, its inputs being there."""
    count = node.op.flops
    if count is not None:
        return count(node.shape, *[i and i.shape for i in node.inputs], **node.attrs)
    given = {*node.inputs, None}
    made_of = walk([node.op.expanded(node)], lambda n: () if n in given else n.inputs)
    return total(n for n in made_of if n not in given)


def total(nodes: Iterable[Node]) -> int:
    """Floating-point operations of several nodes."""
    return sum(map(flops, nodes))
