"""Expansion of operators into more elementary ones."""

from collections.abc import Callable, Iterable

from ..graphs import Node, walk


def expanded(
    roots: Iterable[Node], kept: Callable[[Node], bool] = lambda node: False
) -> dict[Node, Node]:
    """Map every node that `roots` depend on to an equal node, made of operators without expansion
    and of nodes for which `kept` is True.
    """
    result: dict[Node, Node] = {}
    for node in walk(roots):
        result[node] = _expanded_node(node, result, kept)
    return result


def _expanded_node(node: Node, result: dict[Node, Node], kept: Callable[[Node], bool]) -> Node:
    """`node` applied to its expanded inputs, expanded recursively."""
    inputs = tuple(i and result[i] for i in node.inputs)
    if node.op.expand is None or kept(node):
        return node.with_inputs(inputs)
    meaning = node.op.expand(*inputs, **node.attrs)
    inner = {i: i for i in inputs if i is not None}  # already expanded
    for part in walk([meaning], lambda n: () if n in inner else n.inputs):
        if part not in inner:
            inner[part] = _expanded_node(part, inner, kept)
    return inner[meaning]
