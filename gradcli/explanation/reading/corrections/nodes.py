"""Queries of a syntax node: what it calls, contains and reads."""

import ast
import operator
from collections.abc import Callable
from typing import Any, TypeVar, overload

N = TypeVar("N", bound=ast.AST)


@overload
def within(node: ast.AST | None, kind: type[N], /) -> list[N]: ...
@overload
def within(node: ast.AST | None, *kinds: type[ast.AST]) -> list[Any]: ...
def within(node: ast.AST | None, *kinds: Any) -> list[Any]:
    """The nodes of these classes in a node, including itself."""
    return [] if node is None else [n for n in ast.walk(node) if isinstance(n, kinds)]


def calls_in(node: ast.AST | None, *names: str) -> list[ast.Call]:
    """The calls of functions or methods with these names, or all calls, in a node."""
    return [c for c in within(node, ast.Call) if not names or method(c) in names]


def dotted(node: ast.AST | None) -> str:
    """The dotted name of a name or attribute, such as "torch.nn.init"; "" for other nodes."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def method(node: ast.AST | None) -> str:
    """The name of the called function, without the part before the last dot."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def owner(node: ast.AST | None) -> Any:
    """The node `x` of x.item() and x.grad; None for other nodes."""
    name = node.func if isinstance(node, ast.Call) else node
    return name.value if isinstance(name, ast.Attribute) else None


def operands(call: ast.Call) -> list[Any]:
    """The operands of torch.f(x, ...) or x.f(...): x and the other positional arguments."""
    return [*call.args] if dotted(owner(call)) == "torch" else [owner(call), *call.args]


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword argument with this name."""
    return next((k for k in call.keywords if k.arg == name), None)


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """The argument of a call at a position, or by keyword."""
    named = keyword(call, name)
    if named:
        return named.value
    return call.args[place] if len(call.args) > place else None


def value_of(node: ast.AST | None) -> Any:
    """The value of an assignment, a return or a constant; None for other nodes."""
    return getattr(node, "value", None)


def elements(node: ast.AST | None) -> list[ast.expr]:
    """The items of a list or tuple display; [] for other nodes."""
    return node.elts if isinstance(node, ast.List | ast.Tuple) else []


def parts(node: ast.expr) -> list[ast.expr]:
    """The items of a tuple or list display; for other nodes, the node itself."""
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def targets(statement: ast.AST) -> list[str]:
    """The names and attributes that an assignment assigns, as source text."""
    return [dotted(t) for t in getattr(statement, "targets", [])]


def target_of(statement: ast.AST | None, *types: type[N]) -> N | None:
    """The first target of an assignment, if it is of one of these classes."""
    first = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return first if isinstance(first, types) else None


def is_operation(node: ast.AST | None, sign: Any) -> bool:
    """Whether a node is a binary operation with this operator class."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, sign)


def is_transposed(node: ast.AST | None) -> bool:
    """Whether an expression is the transpose of a matrix: x.T, x.mT, x.t()."""
    return method(node) == "t" or getattr(node, "attr", "") in ("T", "mT")


def names_in(node: ast.AST | None) -> list[str]:
    """The names, and attributes of self, that an expression reads."""
    read = [dotted(n) for n in within(node, ast.Name, ast.Attribute)]
    return [n for n in read if n and ("." not in n or n.startswith("self."))]


ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def number_of(node: ast.AST | None) -> int | None:
    """The integer value of a literal or of a product of literals, such as 16 * 5 * 5."""
    if isinstance(node, ast.BinOp):
        sides = number_of(node.left), number_of(node.right)
        apply = ARITHMETIC.get(type(node.op))
        return None if apply is None or None in sides else apply(*sides)  # type: ignore[arg-type]
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is int else None


def factors_of(node: ast.expr) -> list[ast.expr]:
    """The factors of a product; for other nodes, the node itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*factors_of(node.left), *factors_of(node.right)]
    return [node]


def size(text: str) -> tuple[int, ...]:
    """The sizes in a message: "[2, 3]"."""
    return tuple(int(n) for n in text.strip("[]()").split(",") if n.strip())


def dims_of(call: ast.Call) -> list[ast.expr]:
    """The dimension of a reduction, as a list; [] if the call has no argument for it."""
    named = keyword(call, "dim")
    return [named.value] if named else call.args[-1:]
