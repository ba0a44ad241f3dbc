"""Operations met exactly where they have no derivative, and a convention answers."""

from collections.abc import Iterator
from typing import Any

from ...autodiff.reverse import conducting, conducts
from ...graphs import Node, downstream, walk
from ...language.problem import Problem
from ...lazy import np
from ..analysis import Analysis


def kinks_met(a: Analysis) -> list[tuple[Node, Any]]:
    """The operations that are at a kink where a gradient flows, and the mask of where."""
    result = []
    for node, mask in kinks(a.problem):
        if all(map(a.has_numbers, node.parents)):
            hit = a.value(mask)
            if np.any(hit):
                result.append((node, hit))
    return result


def kinks(problem: Problem) -> Iterator[tuple[Node, Node]]:
    """The operations that a gradient flows through and that have kinks, and where these are, as
    masks; and those of what brackets pick by. Of a gradient's gradient those of lower orders count.
    """
    order = walk([*(p.out for p in problem.orders), *problem.indices], on_the_way)
    active = conducting(order, {x.node for x in problem.wrt})
    for node in order:
        for mask in node.op.kink_masks(node, active):
            yield node, mask


def written_around(node: Node, a: Analysis) -> Node | None:
    """The operation that the user wrote, for a node that is a part of what it means."""
    order = walk([a.problem.out, *a.problem.indices], on_the_way)
    around = downstream(order, [node], on_the_way)
    return next((n for n in order if n in around and n.span is not None), None)


def on_the_way(node: Node) -> tuple[Node | None, ...]:
    """The nodes that a gradient goes on to: the inputs, and the meaning where neither a rule nor a
    kink of its own speaks for it.
    """
    if not conducts(node):
        return ()
    speaks = node.op.rule is not None or node.op.kink is not None
    return node.inputs if speaks else (*node.inputs, node.expansion)
