"""Patterns for rewriting rules: operations by name, constants, squares, roots, reductions."""

from typing import Any

from ....graphs import OPS, Node, as_node


def is_op(node: Node | None, *names: str) -> bool:
    """Whether a node applies one of the operators with these names."""
    return node is not None and node.op.name in names


def constant(node: Node | None) -> float | None:
    """The value of a constant node; None for others."""
    if node is None or not is_op(node, "constant"):
        return None
    value = node.attrs["value"]
    return float(value) if isinstance(value, int | float) else None


def is_number(node: Node | None, value: float) -> bool:
    """Whether a node is a constant with this value."""
    return constant(node) == value


def negated(node: Node) -> Node:
    """The node of -x; x itself for a node -x."""
    if is_op(node, "neg"):
        return node.parents[0]
    number = constant(node)
    return OPS["neg"](node) if number is None else number_node(-number)


def difference(a: Node, b: Node) -> Node:
    """The node of a - b; an operand 0 is omitted."""
    if is_number(a, 0):
        return negated(b)
    return a if is_number(b, 0) else a - b


def single_dim(node: Node) -> Any:
    """The dimension over which a node reduces, if it is a single one; else its attribute `dim`."""
    dim = node.attrs["dim"]
    if dim is None and node.parents[0].ndim == 1:
        return 0
    return dim[0] if isinstance(dim, tuple) and len(dim) == 1 else dim


def number_node(value: float) -> Node:
    """The constant node of a number, an integer if possible."""
    return as_node(int(value) if value % 1 == 0 else value)


def squared(node: Node | None) -> Node | None:
    """x for the node x**2 or x * x; None for others."""
    if node is None:
        return None
    if is_op(node, "square"):
        return node.parents[0]
    if is_op(node, "pow") and is_number(node.inputs[1], 2):
        return node.inputs[0]
    if is_op(node, "mul") and node.inputs[0] is node.inputs[1]:
        return node.inputs[0]
    return None


def rooted(node: Node | None) -> tuple[Node, float] | None:
    """(x, n) for the node of the n-th root of x; None for others."""
    if node is None:
        return None
    if is_op(node, "sqrt"):
        return node.parents[0], 2.0
    if is_op(node, "pow"):
        exponent = constant(node.inputs[1])
        if exponent is None:
            exponent = _ratio(node.inputs[1])
        if exponent is not None and 0 < exponent < 1 and node.inputs[0] is not None:
            return node.inputs[0], 1 / exponent
    return None


def _ratio(node: Node | None) -> float | None:
    """The value of a quotient of constants, such as 1/3; None for other nodes."""
    if node is None or not is_op(node, "div"):
        return None
    a, b = constant(node.inputs[0]), constant(node.inputs[1])
    return None if a is None or not b else a / b
