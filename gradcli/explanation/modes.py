"""Forward mode and reverse mode for the same Jacobian: input, output and cost of a pass, computed
from shapes.
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
    """One way to multiply with the Jacobian.

    `node` is the graph of a pass, `needed` the number of passes for the full Jacobian, `passes`
    their cost; `saved` are the bytes of intermediates saved for it, none in forward mode.
    """

    node: Node
    needed: int
    passes: Passes
    saved: int


class Modes(NamedTuple):
    """Both modes for one input; `tangent` is the symbol of its tangent."""

    forward: Mode
    reverse: Mode
    tangent: Node


def modes(a: Analysis, x: Input, name: str) -> Modes | None:
    """Both modes, the tangent called `name`; None if the output does not depend on the input."""
    grad, p = a.gradient(x), a.problem
    if grad is None:
        return None
    tangent = tangent_symbol(name, x)
    pushed_forward = jvp(p.out, {x.node: tangent}) or OPS["zeros"](size=p.out.shape)
    result = cost(Analysis(p._replace(wrt=[x]), a.dtype))
    saved = sum(size_of(node, a.dtype) for node in result.saved_tensors if node.op.family != "leaf")
    forward = Mode(pushed_forward, x.node.numel, result.jvp, 0)
    return Modes(forward, Mode(grad, p.out.numel, result.vjp, saved), tangent)


def forward_formula(a: Analysis, x: Input, m: Modes) -> Tree | None:
    """A forward-mode pass as a formula, as `gradcli jvp` has it; None if it is too long."""
    with_tangent = a.problem._replace(tangents=(Tangent(x, m.tangent, None, None),))
    j = Jvp(Analysis(with_tangent, a.dtype))
    return j.w.formula(m.forward.node) if j.node is None else j.formula
