"""Forward mode and reverse mode for the same Jacobian: what a pass takes, gives and costs. From
shapes alone.
"""

from typing import NamedTuple

from ..autodiff.forward import jvp
from ..graphs import OPS, Node
from ..language.problem import Input, Tangent
from ..notation.tree import Tree
from .analysis import Analysis
from .cost import Passes, cost, size_of
from .derived import tangent_symbol
from .higher.jvp import Jvp


class Mode(NamedTuple):
    """One way to multiply by the Jacobian.

    `node` is a pass as graph, `needed` how many passes give the whole Jacobian, at the cost of
    `passes`; `saved` are the bytes of the forward pass, inputs apart, that are kept for it: none in
    forward mode, which goes along with it.
    """

    node: Node
    needed: int
    passes: Passes
    saved: int


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
    tangent = tangent_symbol(name, x)
    moved = jvp(p.out, {x.node: tangent}) or OPS["zeros"](size=p.out.shape)
    result = cost(Analysis(p._replace(wrt=[x]), a.dtype))
    saved = sum(size_of(node, a.dtype) for node in result.kept if node.op.family != "leaf")
    forward = Mode(moved, x.node.numel, result.jvp, 0)
    return Modes(forward, Mode(grad, p.out.numel, result.vjp, saved), tangent)


def forward_formula(a: Analysis, x: Input, m: Modes) -> Tree | None:
    """A pass forward as a formula, that of `gradcli jvp`; None where it is too long to be read."""
    moving = a.problem._replace(tangents=(Tangent(x, m.tangent, None, None),))
    j = Jvp(Analysis(moving, a.dtype))
    return j.w.formula(m.forward.node) if j.node is None else j.formula
