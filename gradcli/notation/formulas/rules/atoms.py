"""Named nodes as atoms: inputs that keep rules from looking into them, with their definition."""

from ....graphs import OPS, Node
from ....graphs.signature import SUFFIX, signature


def atom_of(node: Node) -> Node:
    """The input that stands for a named node in a formula, always the same for the same node."""
    name = f"{SUFFIX}{signature(node)}{SUFFIX}{node.serial}"
    return OPS["input"](name=name, shape=node.shape, dtype=node.dtype)


def definition(node: Node) -> Node | None:
    """The expression that an atom stands for, in terms of other atoms; None for any other node."""
    return node.expansion if node.op.name == "input" else None


def defined(node: Node) -> Node:
    """The expression that an atom stands for; any other node unchanged."""
    return definition(node) or node
