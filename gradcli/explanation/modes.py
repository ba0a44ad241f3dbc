"""Forward mode and reverse mode for the same Jacobian: what a pass takes, gives and costs. From
shapes alone.
"""

from collections.abc import Collection
from typing import NamedTuple

from ..autodiff.forward import jvp
from ..graphs import OPS, Node, walk
from ..language.problem import Input
from .analysis import Analysis


class Mode(NamedTuple):
    """One way to multiply by the Jacobian.

    `node` is a pass as graph, `passes` how many give the whole Jacobian; `operations` and `numbers`
    are what a pass computes on top of the forward pass, but for what only moves elements; `kept`
    are the numbers of the forward pass, inputs apart, that must be kept for it: none in forward
    mode, which goes along with it.
    """

    node: Node
    passes: int
    operations: int
    numbers: int
    kept: int


class Modes(NamedTuple):
    """Both modes for one input; `tangent` stands for the direction in which it moves."""

    forward: Mode
    reverse: Mode
    tangent: Node


def modes(a: Analysis, x: Input, name: str) -> Modes | None:
    """Both modes, the tangent called `name`; None where the output does not depend on the input."""
    grad, p = a.gradient(x), a.problem
    if grad is None:
        return None
    tangent = OPS["input"](name=name, shape=x.shape, is_seed=True)
    moved = jvp(p.out, {x.node: tangent})
    assert moved is not None
    computed = set(walk([p.out]))
    forward = _mode(moved, x.node.numel, computed)._replace(kept=0)
    return Modes(forward, _mode(grad, p.out.numel, computed), tangent)


def _mode(node: Node, passes: int, computed: Collection[Node]) -> Mode:
    new = [n for n in walk([node]) if n not in computed and n.op.family != "leaf"]
    kept = {i for n in new for i in n.parents if i in computed and i.op.family != "leaf"}
    own = [n for n in new if n.op.family != "movement"]
    return Mode(node, passes, len(own), sum(n.numel for n in own), sum(n.numel for n in kept))
