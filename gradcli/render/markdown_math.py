"""Markdown with mathematics, as the places write it that show some."""

from collections.abc import Sequence
from typing import NamedTuple

from ..explanation.blocks import Formula, Matrix, Row, Table
from .environment import Environment
from .markdown_page import Page
from .tex import page as tex
from .tex.lines import grouped


class Signs(NamedTuple):
    """What stands before and after mathematics in a line of its own; whether Jacobians are set so
    too, and not as a table.
    """

    start: str
    end: str
    matrices: bool


FENCES = Signs("```math\n", "\n```", matrices=False)  # GitHub
DOLLARS = Signs("$$\n", "\n$$", matrices=True)  # MathJax
DOLLARS_AND_TABLES = DOLLARS._replace(matrices=False)


class MathPage(Page):
    """Markdown in which equations are mathematics; names within sentences stay code."""

    def __init__(self, environment: Environment, signs: Signs):
        super().__init__(environment)
        self.signs, self.latex = signs, tex.Page(environment)

    def displayed(self, made: str) -> str:
        """Mathematics in a line of its own."""
        return f"{self.signs.start}{made}{self.signs.end}"

    def table(self, block: Table) -> str:
        """Equations lined up, and items of a list for other rows."""
        return "\n\n".join(
            self.equations(rows) if are_equations else super(MathPage, self).table(Table((*rows,)))
            for are_equations, rows in grouped(block.rows)
        )

    def equations(self, rows: Sequence[Row]) -> str:
        """Equations below each other."""
        return self.displayed(self.latex.equations(rows).replace("{align*}", "{aligned}"))

    def matrix(self, block: Matrix[Formula]) -> str:
        """A table, or mathematics."""
        if not self.signs.matrices:
            return super().matrix(block)
        built = self.latex.matrix(block)
        return built.replace("\\[\n", self.signs.start).replace("\n\\]", self.signs.end)
