"""Atoms: inputs that replace named nodes, such as p for p = softmax(x), so that rules treat p as a
variable.
"""

from ....graphs import OPS, Node
from ....graphs.signature import SUFFIX, signature


def atom_of(node: Node) -> Node:
    """The input that represents a named node in formulas, always the same one for a node."""
    name = f"{SUFFIX}{signature(node)}{SUFFIX}{node.serial}"
    return OPS["input"](name=name, shape=node.shape, dtype=node.dtype)


def definition(node: Node) -> Node | None:
    """The expression that an atom represents, in terms of other atoms; None for any other node."""
    return node.expansion if node.op.name == "input" else None


def defined(node: Node) -> Node:
    """The expression that an atom represents; any other node unchanged."""
    return definition(node) or node
