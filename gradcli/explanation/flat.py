"""Gradients that are flat: of derivative 0, where nothing that they are computed with says so.

The gradient of relu(x) is g or 0, chosen by a condition, and no derivative goes through that.
PyTorch has one function for it, which answers 0; the field `flat` says for which operators.
"""

from ..autodiff.kept import with_graph
from ..autodiff.reverse import backward
from ..graphs import OPS, Node
from ..language.problem import Problem
from .given_seed import with_seed_given


def is_flat(p: Problem, x: Node) -> bool:
    """Whether PyTorch answers 0 for the derivative by x of an output that is a gradient, where none
    flows to x: whether one does once the zeros of flat operators are among what it is made of.
    """
    return backward(_with_zeros(p), p.seed.node, [x]).of[x] is not None


def _with_zeros(p: Problem) -> Node:
    """The output of a problem with the zeros of flat operators in the gradients it is made of."""
    if p.before is None:
        return p.out
    q = p.before
    (by,) = q.wrt
    grad = backward(_with_zeros(q), q.seed.node, [by.node], zeros=True).of[by.node]
    return OPS["zeros"](size=by.shape) if grad is None else with_seed_given(q, with_graph(grad))
