"""Python's syntax trees: spans of nodes, queries, and replacement of nodes."""

import ast
from collections.abc import Sequence
from copy import deepcopy
from typing import TypeVar

from ..errors import Span

E = TypeVar("E", bound=ast.AST)


class Transformer(ast.NodeTransformer):
    """A transformer that traverses a + b + c + ..., a left-deep tree, without recursion."""

    def visit_BinOp(self, e: ast.BinOp) -> ast.expr:
        """The operation on transformed operands."""
        inner = e
        while isinstance(inner.left, ast.BinOp):
            inner.right = self.visit(inner.right)
            inner = inner.left
        inner.left, inner.right = self.visit(inner.left), self.visit(inner.right)
        return e


def dotted(node: ast.AST) -> str | None:
    """The dotted name of an expression of names and dots, such as `torch.linalg.inv`; None for
    other expressions.
    """
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def name_of(e: ast.AST) -> str | None:
    """The name, if an expression is a single name."""
    return e.id if isinstance(e, ast.Name) else None


def target(s: ast.stmt) -> str | None:
    """The name that a statement assigns to, if it is a single name."""
    return name_of(s.targets[0]) if isinstance(s, ast.Assign) and len(s.targets) == 1 else None


def called_name(e: ast.AST) -> str | None:
    """The last part of the name of a called function: `grad` for `torch.autograd.grad(y, x)`."""
    if not isinstance(e, ast.Call):
        return None
    return e.func.attr if isinstance(e.func, ast.Attribute) else name_of(e.func)


def keyword(e: ast.AST, name: str) -> ast.expr | None:
    """The value of a keyword argument of a call; None if it is missing."""
    keywords = e.keywords if isinstance(e, ast.Call) else []
    return next((k.value for k in keywords if k.arg == name), None)


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, the positional ones first."""
    return [*call.args, *(k.value for k in call.keywords)]


def negated(e: ast.AST | None) -> ast.expr | None:
    """x for `-x`; None for other expressions."""
    return e.operand if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub) else None


def is_false(e: ast.AST) -> bool:
    """Whether an expression is the literal False or None."""
    return isinstance(e, ast.Constant) and e.value in (False, None)


def is_true(e: ast.AST) -> bool:
    """Whether an expression is the literal True."""
    return isinstance(e, ast.Constant) and e.value is True


def is_whole_number(e: ast.AST) -> bool:
    """Whether an expression is an integer literal, with or without a sign."""
    bare = e.operand if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub | ast.UAdd) else e
    return isinstance(bare, ast.Constant) and type(bare.value) is int


def loaded(e: ast.AST) -> set[str]:
    """The names that are read."""
    return {n.id for n in ast.walk(e) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def bound(e: ast.AST) -> list[str]:
    """The names that are assigned to."""
    return [n.id for n in ast.walk(e) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def unplaced(e: E) -> E:
    """A copy of a node without positions."""
    e = deepcopy(e)
    for n in ast.walk(e):
        n.__dict__.pop("lineno", None)
    return e


def path(text: str) -> ast.expr:
    """The syntax of a dotted name such as `torch.linalg.inv`, without positions."""
    first, *attributes = text.split(".")
    e: ast.expr = ast.Name(first, ast.Load())
    for name in attributes:
        e = ast.Attribute(e, name, ast.Load())
    return e


def placed_at(e: E, place: ast.AST) -> E:
    """Give the nodes of `e` that have no position the position of `place`, and return `e`. These
    nodes are marked as new, because they are not the text typed there.
    """
    for n in ast.walk(e):
        if isinstance(n, ast.expr | ast.keyword) and not hasattr(n, "lineno"):
            ast.copy_location(n, place)
            n.is_new = True  # type: ignore[union-attr]
    return e


def has_new(e: ast.AST) -> bool:
    """Whether an expression contains nodes that the user did not type."""
    return any(hasattr(n, "is_new") for n in ast.walk(e))


class Source:
    """A text that a user typed, and the conversion of syntax nodes to its spans."""

    def __init__(self, text: str, origin: str):
        self.text, self.origin = text, origin
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._ascii = text.isascii()
        self._columns: dict[int, Sequence[int]] = {}

    def span(self, node: ast.AST) -> Span:
        """The characters that a syntax node was read from."""
        start = self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return Span(self.text, start, end, self.origin)

    def segment(self, node: ast.AST) -> str:
        """The text that a syntax node was read from."""
        span = self.span(node)
        return self.text[span.start : span.end]

    def _offset(self, line: int, column: int) -> int:
        if not self._ascii:  # ast counts columns in bytes of UTF-8
            column = self._characters_before(line)[column]
        return self._lines[line - 1] + column

    def _characters_before(self, line: int) -> Sequence[int]:
        """For each byte of a line, the number of characters that end before it."""
        if line not in self._columns:
            characters = self.text[self._lines[line - 1] : self._lines[line]]
            counts = (k for k, c in enumerate(characters) for _ in c.encode())
            self._columns[line] = (
                range(len(characters) + 1) if characters.isascii() else [*counts, len(characters)]
            )
        return self._columns[line]
