"""What operations are called: by PyTorch's name for them."""

import re

from ...graphs import Node, walk
from ..analysis import Analysis

PREFIXES = ("torch.", "nn.functional.", "Tensor.")
OPERATORS = {"sum_to_size": "sum", "same": "eq", "__getitem__": "getitem"}
FUNCTION = re.compile(r"([A-Za-z_][\w.]*)\(")
METHOD = re.compile(r"\.(\w+)\(")
MODULES = re.compile(r"^(torch\.|nn\.|functional\.|F\.|Tensor\.)+")
ARRAYS = ("np.", "numpy.", "jnp.", "jax.")


def operation_name(a: Analysis, node: Node) -> str:
    """PyTorch's name of an operation, as it was typed where that is a call: `linalg_svd`, `max`."""
    path = typed_name(node) or node.op.torch or typed_name(_around(a, node)) or node.op.name
    for prefix in PREFIXES:
        path = path.removeprefix(prefix)
    return OPERATORS.get(path, path.replace(".", "_"))


def typed_name(node: Node | None) -> str | None:
    """The function that a node's text calls: `linalg.svd`; None for an operator as `*`."""
    if node is None or node.span is None:
        return None
    text = node.span.text[node.span.start : node.span.end].strip()
    if not text.endswith(")"):
        return None
    opening = _opening(text)
    if text.startswith(ARRAYS) or opening < 1:
        return None
    called = re.search(r"[A-Za-z_][\w.]*$", text[:opening])
    if called is None:
        return None
    name = called.group()
    if called.start() == 0 and "." in name and not MODULES.match(name):
        return name if name.split(".")[0] in ("linalg", "special") else name.rsplit(".", 1)[1]
    return MODULES.sub("", name)


def _opening(text: str) -> int:
    """Where the bracket stands that the last character closes."""
    depth = 0
    for k in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[k], 0)
        if depth == 0:
            return k
    return -1


def _around(a: Analysis, node: Node) -> Node | None:
    """The operation that the user wrote around a node that has no text of its own."""
    written = (n for n in walk([a.problem.out]) if n.span is not None and n.inputs)
    return next((n for n in written if node in walk([n])), None)


def element_name(name: str, place: tuple[int, ...]) -> str:
    """`x[0,1]`; the name alone for a single number."""
    return f"{name}[{','.join(map(str, place))}]" if place else name
