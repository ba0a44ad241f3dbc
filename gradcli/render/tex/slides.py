"""Blocks as Beamer slides: equations appear one by one, and each slide holds what fits."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ...explanation.blocks import Block, Code, Document, Matrix, Note, Section, Step, Table
from ...notation.typeset.latex import plain
from .lines import align, grouped, inline, length, rows_of
from .matrix import render_matrix
from .page import Page

HEIGHT = 12.0  # lines of a slide below its title
SMALLER = 0.8  # scale of content that is too high
ROW, AROUND = 1.7, 1.0  # heights, in lines, of a row with fractions and of the space around rows
MOST_ROWS = 5  # rows of an equation on one slide
MOST_CODE = 12  # lines of code on one slide
ANNOUNCING = r":\s*(\\end\{itemize\})?$"  # a block that stays with the next one
LINE = 56  # characters of a line of text


class Slides(Page):
    """Blocks as slides."""

    def document(self, document: Document) -> Iterator[str]:
        """Slides for the question and its answers, and for each section."""
        first = [self.verbatim(document.question)] * bool(document.question)
        if document.answers:
            first.append(self.answers(document.answers))
        yield from slides("Question", first)
        for section in document.sections:
            title = inline(section.title or section.remark)
            yield from slides(title, [*self.parts(section)])

    def parts(self, section: Section) -> Iterator[str]:
        """The content of a section in parts that fit on a slide."""
        for block in section.blocks:
            yield from self.parts_of(block)

    def parts_of(self, block: Block) -> Iterator[str]:
        if isinstance(block, Step):
            yield uncovered(f"\\textbf{{{block.number}.}} {self.step_head(block)}")
            yield from self.parts_of(Table(block.sent))
        elif isinstance(block, Note):
            yield uncovered(f"\\textbf{{{plain(block.code)}}} {inline(block.line, self.room)}")
        elif isinstance(block, Code):
            lines = block.text.split("\n")
            for k in range(0, len(lines), MOST_CODE):
                yield self.code(block._replace(text="\n".join(lines[k : k + MOST_CODE])))
        elif isinstance(block, Table):
            yield from self.rows_one_by_one(block)
        elif isinstance(block, Matrix):
            built = render_matrix(block, self.environment)
            yield from [*built.arrays, built.left_out]
            rows = rows_of(((d, "") for d in built.definitions), self.room)
            yield from map(align, in_parts(rows))
        else:
            yield from self.blocks([block])

    def rows_one_by_one(self, block: Table) -> Iterator[str]:
        """Equations and list items that appear one by one."""
        for are_equations, rows in grouped(block.rows):
            for row in rows:
                if not are_equations:
                    yield self.items([row]).replace("{itemize}", "{itemize}[<+->]", 1)
                    continue
                yield from (uncovered(align(part)) for part in in_parts(self.equation_rows([row])))


def uncovered(built: str) -> str:
    """LaTeX that appears on the next overlay."""
    return f"\\uncover<+->{{%\n{built}}}"


def in_parts(rows: Sequence[str]) -> list[Sequence[str]]:
    """Rows of equations in groups that fit on a slide."""
    return [rows[k : k + MOST_ROWS] for k in range(0, len(rows), MOST_ROWS)]


def slides(title: str, parts: Iterable[str]) -> Iterator[str]:
    """Frames, each with as many parts as fit."""
    frame: list[str] = []
    height = 0.0
    for part in filter(None, parts):
        high = _height(part)
        if frame and height + high > HEIGHT:
            announcing = len(frame) > 1 and re.search(ANNOUNCING, frame[-1]) is not None
            yield _frame(title, frame[:-1] if announcing else frame)
            frame, height = (frame[-1:], AROUND) if announcing else ([], 0.0)
        small = high > HEIGHT and "verbatim" not in part
        frame.append(f"\\begingroup\\footnotesize\n{part}\n\\endgroup" if small else part)
        height += high * (SMALLER if small else 1)
    if frame:
        yield _frame(title, frame)


def _frame(title: str, parts: list[str]) -> str:
    """A frame; it is fragile if it contains code."""
    inside = "\n\n".join(parts)
    return f"\\begin{{frame}}[fragile]{{{title}}}\n{inside}\n\\end{{frame}}"


def _height(part: str) -> float:
    """The approximate height of a part, in lines."""
    if "\\begin{verbatim}" in part:
        return part.count("\n") + AROUND
    rows = part.count("\\\\") + 1
    tall = ROW if "\\begin{align*}" in part and "\\frac" in part else 1.2
    text = re.sub(r"(?s)\\begin\{(align\*|array)\}.*?\\end\{\1\}", "", part)
    return rows * tall + length(text) // LINE + AROUND * ("\\begin" in part)
