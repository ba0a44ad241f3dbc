"""Gradients with the zeros that PyTorch sends on where they are differentiated again.

The gradient of relu(x) is g or 0, chosen by a condition, and no derivative goes through that.
PyTorch has one function for it, which answers 0, and multiplies that by what comes before: it is
nan beside infinity. The field `flat` says for which operators.
"""

from ..autodiff.create_graph import with_graph
from ..autodiff.reverse import remembered_backward
from ..graphs import OPS, Node
from ..graphs.substitution import substitute
from ..language.problem import Problem
from ..notation.formulas.simplify import without_ones


def with_zeros(p: Problem) -> Node:
    """The output of a problem, flat by what flat operators are computed with in the gradients it is
    made of; itself, where that is nothing.
    """
    if p.before is None:
        return p.out
    result = _with_zeros(p.before)
    return p.out if result is without_ones(p.out) else result


def _with_zeros(q: Problem) -> Node:
    """The gradient of a problem, flat in the same way."""
    (by,) = q.wrt
    built = tuple(q.named.values())
    grad = remembered_backward(with_zeros(q), q.seed.node, (by.node,), built, True).of[by.node]
    return OPS["zeros"](size=by.shape) if grad is None else with_seed_given(q, with_graph(grad))


def with_seed_given(p: Problem, node: Node) -> Node:
    """A node of a gradient with what was given for the seed in its place; the 1 that PyTorch puts
    in where nothing was.
    """
    value = p.seed.value
    if value is None:
        return node
    single = value.shape == () and "data" in value.attrs
    if single:
        value = OPS["constant"](value=float(value.attrs["data"].value))
    return without_ones(substitute(node, {p.seed.node: value}))
