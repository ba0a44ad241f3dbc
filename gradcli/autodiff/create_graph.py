"""Gradients that are differentiated again, as PyTorch computes them with create_graph=True."""

from collections.abc import Sequence

from ..graphs import Node, walk
from ..graphs.substitution import rebuilt
from .reverse import conducting


def with_graph(grad: Node) -> Node:
    """A gradient with the values that its operators have with create_graph=True."""

    def for_second_order(node: Node, inputs: Sequence[Node | None]) -> Node | None:
        return node.op.with_graph and node.op.with_graph(*inputs, **node.attrs)

    return rebuilt(grad, for_second_order)


def refused_again(out: Node, x: Node) -> dict[str, str]:
    """The operators between x and out whose gradients PyTorch does not differentiate, by their
    names in PyTorch, with its error messages.
    """
    nodes = conducting(walk([out]), {x})
    messages = ((n.op, n.op.refused_again(n)) for n in nodes)
    return {op.part_of or op.name: text for op, text in messages if text is not None}
