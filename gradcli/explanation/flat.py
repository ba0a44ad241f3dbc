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

    No way leads back from that 0, and the next derivative is refused; but where the gradient is
    computed with the output of the flat operator, as that of relu is, one does, to 0 again.
    """
    of_first = True
    while p.before is not None:
        gradient, p = p.out, p.before
        order = walk([p.out])
        by_both = conducting(order, {i.node for i in p.wrt}).keys() & conducting(order, {x}).keys()
        flat = _flat([n for n in order if n in by_both])
        if flat if of_first else not flat.isdisjoint(walk([gradient])):
            return True
        of_first = False
    return False


def _flat(nodes: Sequence[Node]) -> set[Node]:
    """Those of the nodes that are of a flat operator, and those that others stand for."""
    found = {n for n in nodes if n.op.flat}
    for n in nodes:
        if n.op.rule is None and n.op.expand:
            found |= _flat(walk([n.op.expanded(n)]))
    return found
