"""PyTorch's names of operations."""

import ast

from ...graphs import Node, walk
from ...language.program import Program
from ..analysis import Analysis

PREFIXES = ("torch.", "nn.functional.", "functional.", "F.", "Tensor.")
OPERATORS = {"sum_to_size": "sum", "same": "eq", "__getitem__": "getitem"}
ARRAYS = ("np.", "numpy.", "jnp.", "jax.")
OUTPUTS = (
    *("values", "indices", "eigenvalues", "eigenvectors", "U", "S", "Vh", "Q", "R", "L", "P", "LU"),
    *("pivots", "sign", "logabsdet", "solution", "mantissa", "exponent"),
)
MODULES = ("linalg", "special")


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
    call = _expression(" ".join(node.span.text[node.span.start : node.span.end].split()))
    if _is_output(node, call):
        call = call.value  # type: ignore[union-attr]
    if not isinstance(call, ast.Call):
        return None
    name = ast.unparse(call.func)
    if isinstance(call.func, ast.Name):
        return name
    if not isinstance(call.func, ast.Attribute) or name.startswith(ARRAYS):
        return None
    is_path = name.replace(".", "").replace("_", "").isalnum()
    is_module = is_path and name.split(".")[-2] in MODULES
    return f"{name.split('.')[-2]}.{call.func.attr}" if is_module else call.func.attr


def _is_output(node: Node, e: ast.expr | None) -> bool:
    """Whether a text picks one of several outputs: split(x, 2)[0], x.max(0).indices."""
    if isinstance(e, ast.Attribute):
        return isinstance(e.value, ast.Call) and e.attr in OUTPUTS
    if not isinstance(e, ast.Subscript) or not isinstance(e.value, ast.Call):
        return False
    spans = [i.span for i in node.parents if i.span is not None]
    texts = [" ".join(s.text[s.start : s.end].split()) for s in spans]
    operands = [inner for inner in map(_expression, texts) if inner is not None]
    return ast.unparse(e.value) not in map(ast.unparse, operands)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _around(a: Analysis, node: Node) -> Node | None:
    """The operation that the user wrote around a node that has no text of its own."""
    written = (n for n in walk([a.problem.out]) if n.span is not None and n.inputs)
    return next((n for n in written if node in walk([n])), None)


def used_for(program: Program, name: str) -> str | None:
    """The uses of an input that do not depend on its values: `ones_like`, `shape`."""
    for e in program.syntax:
        arguments = [*e.args, *(k.value for k in e.keywords)] if isinstance(e, ast.Call) else []
        if any(_is_named(i, name) for i in arguments):
            return ast.unparse(e.func).rsplit(".", 1)[-1]  # type: ignore[attr-defined]
        if isinstance(e, ast.Attribute) and _is_named(e.value, name):
            return e.attr
    return None


def _is_named(e: ast.expr, name: str) -> bool:
    return isinstance(e, ast.Name) and e.id == name
