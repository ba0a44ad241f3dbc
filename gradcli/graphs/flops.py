"""Floating-point operations, counted from shapes.

An elementwise function counts 1 for each output element, whichever function it is; a reduction
counts 1 for each input element; a product of m×n by n×k counts 2·m·n·k; moving elements counts 0.
The field `flops` of an operator computes its count; without it, the operations of its expansion are
counted.
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
