"""Gradients with explicit zeros for second derivatives, as PyTorch computes them.

The gradient of relu(x) is g or 0, selected by a condition, whose derivative is 0 everywhere.
PyTorch multiplies that zero with the upstream gradient of the second pass, so that an infinite one
gives nan. The field `zero_second_derivative` of operators says for which this holds.
"""

from ..autodiff.reverse import cached_backward, with_graph
from ..graphs import OPS, Node
from ..graphs.substitution import substitute
from ..language.problem import Problem
from ..notation.formulas.simplify import without_ones


def with_zeros(p: Problem) -> Node:
    """The output of a problem with explicit zeros in the gradients of lower order that it depends
    on; the output itself if there are none.
    """
    if p.lower_order is None:
        return p.out
    result = _with_zeros(p.lower_order)
    return p.out if result is without_ones(p.out) else result


def _with_zeros(q: Problem) -> Node:
    """The gradient of a problem, with explicit zeros for second derivatives."""
    (x,) = q.wrt
    built = tuple(q.named.values())
    grad = cached_backward(with_zeros(q), q.seed.node, (x.node,), built, True).of[x.node]
    return OPS["zeros"](size=x.shape) if grad is None else with_seed_given(q, with_graph(grad))


def with_seed_given(p: Problem, node: Node) -> Node:
    """A gradient in which the seed is replaced by its value, if it has one."""
    value = p.seed.value
    if value is None:
        return node
    single = value.shape == () and "data" in value.attrs
    if single:
        value = OPS["constant"](value=float(value.attrs["data"].value))
    return without_ones(substitute(node, {p.seed.node: value}))
