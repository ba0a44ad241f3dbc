"""Nodes with a name, as rules see them: inputs whose definition can be looked up."""

from ....graphs import OPS, Node
from ....graphs.signature import APART, signature


def atom_of(node: Node) -> Node:
    """What stands for a named node in a formula; two of one node are the same."""
    name = f"{APART}{signature(node)}{APART}{node.serial}"
    return OPS["input"](name=name, shape=node.shape, dtype=node.dtype)


def definition(node: Node) -> Node | None:
    """What a name stands for, in terms of other names; None for inputs and all other nodes."""
    return node.expansion if node.op.name == "input" else None
