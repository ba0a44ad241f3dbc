"""Nodes, operators and shapes, on which every other package is built."""

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
    "walk",
    "with_graph",
]
