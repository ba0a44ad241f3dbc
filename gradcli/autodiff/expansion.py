"""A graph in terms of what its operators are made of."""

from collections.abc import Callable, Iterable

from ..graphs import Node, intern, walk


def expanded(
    roots: Iterable[Node], kept: Callable[[Node], bool] = lambda node: False
) -> dict[Node, Node]:
    """For every node that `roots` need: the same value, said with operators that have no meaning
    but their own, or are to be `kept`.
    """
    result: dict[Node, Node] = {}
    for node in walk(roots):
        result[node] = _whole(node, result, kept)
    return result


def _whole(node: Node, result: dict[Node, Node], kept: Callable[[Node], bool]) -> Node:
    """`node` over what was found for its inputs, taken apart as far as it goes."""
    inputs = tuple(i and result[i] for i in node.inputs)
    if node.op.expand is None or kept(node):
        same = inputs == node.inputs
        return node if same else intern(node.op, inputs, node.attrs, node.span)
    meaning = node.op.expand(*inputs, **node.attrs)
    inner = {i: i for i in inputs if i is not None}  # these are taken apart already
    for part in walk([meaning], lambda n: () if n in inner else n.inputs):
        if part not in inner:
            inner[part] = _whole(part, inner, kept)
    return inner[meaning]
