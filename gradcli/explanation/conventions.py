"""Operations met exactly where they have no derivative, and a convention answers."""

from typing import Any

from ..graphs import Node, walk
from ..lazy import np
from .analysis import Analysis


def kinks(a: Analysis) -> list[tuple[Node, Any]]:
    """The operations that are at a kink, and the mask of where."""
    found = []
    for node in walk([a.problem.out], _made_of):
        if node.op.kink is not None and all(a.known(i) for i in node.parents):
            hit = a.value(node.op.kink(node, *node.inputs, **node.attrs))
            if np.any(hit):
                found.append((node, hit))
    return found


def _made_of(node: Node) -> tuple[Node | None, ...]:
    """The inputs of a node, and its meaning where it has no rule of its own."""
    return node.inputs if node.op.rule is not None else (*node.inputs, node.expansion)
