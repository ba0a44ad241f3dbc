"""Gradients that are flat: of derivative 0, where nothing that they are computed with says so.

The gradient of relu(x) is g or 0, chosen by a condition, and no derivative goes through that.
PyTorch has one function for it, which answers 0; the field `flat` says for which operators.
"""

from collections.abc import Sequence

from ..autodiff.reverse import conducting
from ..graphs import Node, walk
from ..language.problem import Problem


def is_flat(p: Problem, x: Node) -> bool:
    """Whether PyTorch answers 0 for the derivative by x of an output that is a gradient, where none
    flows to x.
    """
    while p.before is not None:
        p = p.before
        order = walk([p.out])
        by_both = conducting(order, {i.node for i in p.wrt}).keys() & conducting(order, {x}).keys()
        if _any_flat([n for n in order if n in by_both]):
            return True
    return False


def _any_flat(nodes: Sequence[Node]) -> bool:
    """Whether one of the nodes is of a flat operator, or stands for one that is."""
    return any(n.op.flat for n in nodes) or any(
        _any_flat(walk([n.op.expanded(n)])) for n in nodes if n.op.rule is None and n.op.expand
    )
