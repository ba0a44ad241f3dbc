"""Spans of syntax nodes in the text that a user typed."""

import ast
from collections.abc import Sequence

from ..errors import Span


class Source:
    """A text that a user typed, and the conversion from nodes of its syntax tree to spans."""

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
        """For each byte of a line, how many of its characters end before it."""
        if line not in self._columns:
            start, end = self._lines[line - 1], self._lines[line]
            characters = self.text[start:end]
            counts = (k for k, c in enumerate(characters) for _ in c.encode())
            ascii = characters.isascii()
            self._columns[line] = (
                range(len(characters) + 1) if ascii else [*counts, len(characters)]
            )
        return self._columns[line]
