"""A program as text and as a syntax tree, and edits of the text.

Knows the positions of nodes; nothing of PyTorch.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

Block = list[ast.stmt]
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.ListComp)


class Edit(NamedTuple):
    """An edit: the characters from start to end are replaced by a text."""

    start: int
    end: int
    text: str


class Text:
    """The text of a program that parses."""

    def __init__(self, source: str):
        self.source = source
        self.tree = ast.parse(source)
        self.lines = source.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.parents: dict[ast.AST, ast.AST] = {}
        self.blocks: dict[ast.stmt, Block] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list):
                    self.blocks |= dict.fromkeys(block, block)

    # ---- positions of nodes ----------------------------------------------------------------------

    def offset(self, line: int, column: int) -> int:
        """The offset of a character; `column` counts bytes, as in syntax trees."""
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return self.starts[line - 1] + column

    def start(self, node: Any) -> int:
        """The offset at which a node begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        """The offset at which a node ends."""
        return self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.AST | None) -> str:
        """The text of a node; "" for None."""
        return "" if node is None else self.source[self.start(node) : self.end(node)]

    def operand(self, node: ast.expr) -> str:
        """The text of an expression, in parentheses if a method call on it needs them."""
        text = self.of(node)
        number = isinstance(node, ast.Constant) and not isinstance(node.value, str)
        return text if isinstance(node, ATOMS) and not number else f"({text})"

    def first_line(self, statement: ast.stmt) -> int:
        """The first line of a statement, including decorators."""
        decorators = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *(d.lineno for d in decorators)])

    def indent(self, statement: ast.stmt) -> str:
        """The indentation of a statement."""
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def alone(self, statement: ast.stmt) -> bool:
        """Whether no other statement is on its lines."""
        before = self.lines[statement.lineno - 1].encode()[: statement.col_offset].decode()
        after = self.source[self.end(statement) :].split("\n", 1)[0].strip()
        return not before.strip() and (not after or after.startswith("#"))

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The statement that contains a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that contain a node, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        """The innermost named function that contains a node."""
        return next((n for n in self.around(node) if isinstance(n, ast.FunctionDef)), None)

    def statements_of(self, line: int) -> list[ast.stmt]:
        """The innermost statements of a line."""
        result = [
            n
            for n in ast.walk(self.tree)
            if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or n.lineno)
        ]
        return [n for n in result if not any(self.parents.get(m) is n for m in result)]

    def nodes_of(self, line: int) -> list[Any]:
        """All nodes of the statements of a line."""
        statements = self.statements_of(line)
        simple = [s for s in statements if not hasattr(s, "body")]
        if simple:
            return [n for s in simple for n in ast.walk(s)]
        heads = [h for s in statements for h in _heads(s)]
        return [n for h in heads for n in ast.walk(h)]

    # ---- edits -----------------------------------------------------------------------------------

    def edited(self, *edits: Edit) -> str:
        """The text after edits that do not overlap."""
        result = self.source
        for edit in sorted(edits, reverse=True):
            result = result[: edit.start] + edit.text + result[edit.end :]
        return result

    def replacing(self, node: ast.AST, text: str) -> Edit:
        """Replace a node."""
        return Edit(self.start(node), self.end(node), text)

    def spanning(self, nodes: Sequence[ast.AST], text: str) -> Edit:
        """Replace the text from the first of some nodes to the last."""
        return Edit(self.start(nodes[0]), self.end(nodes[-1]), text)

    def appending(self, node: ast.expr, text: str) -> Edit:
        """Append text to an expression, such as a method call."""
        if isinstance(node, ATOMS) and not isinstance(node, ast.Constant):
            return Edit(self.end(node), self.end(node), text)
        return Edit(self.start(node), self.end(node), f"({self.of(node)}){text}")

    def inserting(self, node: ast.AST, text: str) -> Edit:
        """Insert text right before a node."""
        return Edit(self.start(node), self.start(node), text)

    def adding(self, node: ast.AST, text: str) -> Edit:
        """Insert text right after a node."""
        return Edit(self.end(node), self.end(node), text)

    def before(self, statement: ast.stmt, *lines: str) -> Edit:
        """Insert statements before another."""
        line = self.first_line(statement)
        if not self.lines[line - 1].encode()[: statement.col_offset].strip():
            indent, at = self.indent(statement), self.starts[line - 1]
            return Edit(at, at, "".join(f"{indent}{text}".rstrip() + "\n" for text in lines))
        at = self.start(statement)
        return Edit(at, at, "".join(f"{text}; " for text in lines))

    def after(self, statement: ast.stmt, *lines: str) -> Edit:
        """Insert statements after another."""
        if self.alone(statement):
            at = self.starts[statement.end_lineno or 0] - 1
            indent = self.indent(statement)
            return Edit(at, at, "".join(f"\n{indent}{text}".rstrip(" ") for text in lines))
        at = self.end(statement)
        return Edit(at, at, "".join(f"; {text}" for text in lines))

    def span(self, statements: Sequence[ast.stmt]) -> tuple[int, int]:
        """The offsets of whole lines of consecutive statements."""
        first, last = self.first_line(statements[0]), statements[-1].end_lineno or 0
        return self.starts[first - 1], min(self.starts[last], len(self.source))

    def naming(self, function: ast.FunctionDef, name: str) -> Edit:
        """Rename a function."""
        start = self.start(function) + len("def ")
        return Edit(start, start + len(function.name), name)

    def removing(self, statement: ast.stmt) -> Edit:
        """Remove a statement."""
        if len(self.blocks.get(statement, [])) == 1 and not isinstance(
            self.parents[statement], ast.Module
        ):
            return self.replacing(statement, "pass")
        if self.alone(statement):
            return Edit(*self.span([statement]), "")
        start, end = self.start(statement), self.end(statement)
        rest = re.match(r"\s*;\s*", self.source[end:])
        if rest:
            return Edit(start, end + rest.end(), "")
        head = re.search(r";\s*$", self.source[:start])
        return Edit(head.start() if head else start, end, "")

    def without_lines(self, node: Any) -> Edit:
        """Remove the lines of a decorator or a function."""
        return Edit(self.starts[node.lineno - 1], self.starts[node.end_lineno], "")

    def lines_of(self, statement: ast.stmt) -> list[str]:
        """The lines of a statement, without the indentation of the first one."""
        if not self.alone(statement):
            return self.of(statement).split("\n")
        start, end = self.span([statement])
        indent = self.indent(statement)
        lines = self.source[start:end].rstrip("\n").split("\n")
        return [line.removeprefix(indent) for line in lines]

    def wrapping(self, statements: Sequence[ast.stmt], header: str) -> Edit:
        """Put statements into a block with this header."""
        if not all(self.alone(s) for s in statements):
            (statement,) = statements[:1]
            outer = self.parents[statement]
            if isinstance(outer, ast.stmt) and outer.lineno == statement.lineno:
                return self.wrapping([outer], header)
            indent = self.indent(statement)
            text = f"\n{indent}{header}\n{indent}    {self.of(statement)}\n{indent}"
            rest = re.match(r"[ \t]*;?[ \t]*", self.source[self.end(statement) :])
            head = re.search(r";?[ \t]*$", self.source[: self.start(statement)])
            start = head.start() if head else self.start(statement)
            at_head = not self.source[self.starts[statement.lineno - 1] : start].strip()
            return Edit(
                start,
                self.end(statement) + (rest.end() if rest else 0),
                text.lstrip("\n").removeprefix(indent) if at_head else text.rstrip(" "),
            )
        start, end = self.span(statements)
        indent = self.indent(statements[0])
        body = self.source[start:end].rstrip("\n").split("\n")
        inner = [f"    {line}" if line.strip() else line for line in body]
        close = "\n" if self.source[start:end].endswith("\n") else ""
        return Edit(start, end, "\n".join([f"{indent}{header}", *inner]) + close)

    def unwrapping(self, block: ast.With) -> Edit:
        """Replace a block by its statements."""
        start, end = self.span([block])
        if block.body[0].lineno == block.lineno:
            return Edit(self.start(block), self.end(block), self.of(block.body[0]))
        inner = self.indent(block.body[0])
        cut = len(inner) - len(self.indent(block))
        first = self.starts[block.body[0].lineno - 1]
        body = self.source[first:end].split("\n")
        return Edit(start, end, "\n".join(b[cut:] if b[:cut].isspace() else b for b in body))


def _heads(statement: ast.stmt) -> list[ast.AST]:
    """The parts of a compound statement that are on its own line."""
    return [
        child
        for child in ast.iter_child_nodes(statement)
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
    ] or [statement]
