"""Cells in columns separated by rules, in lines of any length. Rich's tables are not used, because
they measure each cell several times, which takes seconds for the widest Jacobians.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.text import Text

from ..budget import tick

INDENT = "  "
BETWEEN = Text.assemble(" ", ("│", "dim"), " ")


class Column:
    """The layout of a column. The nonempty cells of a `padded` column already have equal widths."""

    __slots__ = ("padded", "right")

    def __init__(self, *, right: bool = False, padded: bool = False):
        self.right, self.padded = right, padded

    def width(self, cells: Sequence[Text]) -> int:
        """The width of the widest cell."""
        return max(len(c) if self.padded else cell_len(c.plain) for c in cells)

    def set(self, cell: Text, width: int) -> Text:
        """The cell padded to this width."""
        space = " " * (width - (len(cell) if self.padded else cell_len(cell.plain)))
        return Text.assemble(space, cell) if self.right else Text.assemble(cell, space)


def ruled(parts: Sequence[Sequence[Sequence[Text]]], columns: Sequence[Column]) -> Iterator[Text]:
    """The lines of several groups of rows, with a rule between groups."""
    cells = zip(*(row for part in parts for row in part), strict=True)
    widths = [column.width(of_it) for column, of_it in zip(columns, cells, strict=True)]
    for place, part in enumerate(parts):
        if place:
            yield Text("─┼─".join("─" * width for width in widths), "dim")
        for row in part:
            tick()
            aligned = zip(columns, row, widths, strict=True)
            yield BETWEEN.join(c.set(cell, width) for c, cell, width in aligned)


class Unwrapped:
    """Indented lines that are never wrapped."""

    def __init__(self, lines: Sequence[Text]):
        self.lines = lines

    def __rich_console__(self, console: Console, _: ConsoleOptions) -> Iterator[Segment]:
        for line in self.lines:
            tick()
            yield from Text.assemble(INDENT, line).render(console, end="\n")
