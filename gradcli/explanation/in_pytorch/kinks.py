"""Operations at points without a derivative, at which the gradient is a convention."""

from collections.abc import Iterator
from typing import Any

from ...autodiff.reverse import active_nodes, passes_gradient
from ...graphs import Node, downstream, walk
from ...language.problem import Problem
from ...lazy import np
from ..analysis import Analysis


def kinks_hit(a: Analysis) -> list[tuple[Node, Any]]:
    """The operations through which a gradient flows at a kink, and masks of the elements at it."""
    result = []
    for node, mask in kinks(a.problem):
        if all(map(a.has_numbers, node.parents)):
            hit = a.value(mask)
            if np.any(hit):
                result.append((node, hit))
    return result


def kinks(problem: Problem) -> Iterator[tuple[Node, Node]]:
    """Yield the operations with kinks through which a gradient flows, each with a node that
    computes the mask of elements at the kink. Operations of derivatives of lower order and of the
    computation of indices are included.
    """
    order = walk([*(p.out for p in problem.orders), *problem.indices], on_the_way)
    active = active_nodes(order, {x.node for x in problem.wrt})
    for node in order:
        for mask in node.op.kink_masks(node, active):
            yield node, mask


def written_around(node: Node, a: Analysis) -> Node | None:
    """The operation in the user's text whose expansion contains `node`; None if there is none."""
    order = walk([a.problem.out, *a.problem.indices], on_the_way)
    around = downstream(order, [node], on_the_way)
    return next((n for n in order if n in around and n.span is not None), None)


def on_the_way(node: Node) -> tuple[Node | None, ...]:
    """The nodes to which a gradient flows from `node`: its inputs, and its expansion if the
    operator has neither a rule nor kinks.
    """
    if not passes_gradient(node):
        return ()
    in_one_step = node.op.rule is not None or node.op.kink is not None
    return node.inputs if in_one_step else (*node.inputs, node.expansion)
