"""Gradients with the zeros that PyTorch sends on where they are differentiated again.

The gradient of relu(x) is g or 0, chosen by a condition, and no derivative goes through that.
PyTorch has one function for it, which answers 0, and multiplies that by what comes before: it is
nan beside infinity. The field `flat` says for which operators.
"""

from ..autodiff.kept import with_graph
from ..autodiff.reverse import remembered_backward
from ..graphs import OPS, Node
from ..language.problem import Problem
from .given_seed import with_seed_given


def with_zeros(p: Problem) -> Node:
    """The output of a problem, flat by what flat operators are computed with in the gradients it is
    made of.
    """
    if p.before is None:
        return p.out
    q = p.before
    (by,) = q.wrt
    built = tuple(q.named.values())
    grad = remembered_backward(with_zeros(q), q.seed.node, (by.node,), built, True).of[by.node]
    return OPS["zeros"](size=by.shape) if grad is None else with_seed_given(q, with_graph(grad))
