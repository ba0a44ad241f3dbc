"""Nodes, operators and shapes: the package that all others import."""

from .node import (
    OPS,
    Node,
    Outputs,
    Ratio,
    Size,
    as_node,
    downstream,
    intern,
    upstream,
    value_inputs,
    walk,
    with_graph,
)
from .operator import AGAIN, INTERMEDIATE, NoRule, Operator, StaysZero

__all__ = [
    "AGAIN",
    "INTERMEDIATE",
    "OPS",
    "NoRule",
    "Node",
    "Operator",
    "Outputs",
    "Ratio",
    "Size",
    "StaysZero",
    "as_node",
    "downstream",
    "intern",
    "upstream",
    "value_inputs",
    "walk",
    "with_graph",
]
