"""Spans of syntax nodes in the text that a user typed."""

import ast

from ..errors import Span


class Source:
    """A text that a user typed, and the conversion from nodes of its syntax tree to spans."""

    def __init__(self, text: str, origin: str):
        self.text, self.origin = text, origin
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._ascii = text.isascii()

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
        start = self._lines[line - 1]
        if not self._ascii:  # ast counts columns in bytes of UTF-8
            end = self._lines[line] if line < len(self._lines) else len(self.text)
            column = len(self.text[start:end].encode()[:column].decode(errors="ignore"))
        return start + column
