"""Gradients with the seed that was given in its place."""

from ..graphs import OPS, Node
from ..graphs.substitution import substitute
from ..language.problem import Problem
from ..notation.formulas.simplify import without_ones


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
