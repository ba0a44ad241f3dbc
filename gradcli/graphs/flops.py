"""Floating-point operations, counted from shapes.

Each output element of an elementwise function counts 1, whichever function it is, and so does each
input element of a reduction; a product of m×n by n×k counts 2·m·n·k; moving elements counts 0. The
field `flops` of an operator has its count; an operator without it counts as its expansion.
"""

from collections.abc import Iterable

from .node import Node, walk


def flops(node: Node) -> int:
    """Floating-point operations of one node, without those of its inputs."""
    count = node.op.flops
    if count is not None:
        return count(node.shape, *[i and i.shape for i in node.inputs], **node.attrs)
    inputs = {*node.inputs, None}
    nodes = walk([node.op.expanded(node)], lambda n: () if n in inputs else n.inputs)
    return total(n for n in nodes if n not in inputs)


def total(nodes: Iterable[Node]) -> int:
    """Floating-point operations of several nodes."""
    return sum(map(flops, nodes))
