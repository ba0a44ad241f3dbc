"""Blocks as LaTeX: a section of a paper; with `environment.page` limited to its page's width."""

import re
from collections.abc import Iterator, Sequence

from ...explanation.blocks import (
    EQUALS,
    Answer,
    Block,
    Code,
    Document,
    Formula,
    Graph,
    Line,
    Matrix,
    Note,
    Picture,
    Prose,
    Row,
    Section,
    Step,
    Table,
    Tensor,
    is_words,
)
from ...notation.tree import Token
from ...notation.typeset.latex import plain, text_in_math
from ..environment import Environment
from ..tensors import nested, tensor_lines
from ..wrapping import wrapped
from .lines import (
    DEPTH,
    EQUALS_WIDTH,
    ITEM,
    ROOM,
    align,
    aligned,
    array_of,
    beside_of,
    displayed,
    entry,
    formula_in_math,
    grouped,
    inline,
    length,
    line_width,
    mathematics,
    rows_of,
    text,
    verbatim,
)
from .matrix import render_matrix

WIDEST = 200  # characters of a tensor that is neither a vector nor a matrix
MOST = 48  # elements up to which a tensor is set as a matrix
SHADES = ("\\cdot", "\\circ", "\\bullet")
BESIDE, GAP = 16, 2  # characters next to a tensor, and between its columns


class Page:
    """Blocks as a section of a paper."""

    def __init__(self, environment: Environment):
        self.environment = environment
        self.room = ROOM.get(environment.page)

    def document(self, document: Document) -> Iterator[str]:
        """The question, the answers, and a subsection for each section."""
        yield "\\section*{Gradient}" if not document.sections else "\\section*{Explanation}"
        if document.question:
            yield self.verbatim(document.question)
        if document.answers:
            yield self.answers(document.answers)
        yield from filter(None, map(self.section, document.sections))

    def answers(self, answers: Sequence[Answer]) -> str:
        """An equation for each answer; remarks go below unless all fit beside the equations."""
        names, formulas = zip(*((line_width(a.name), line_width(a.formula)) for a in answers))
        remark_width = max(length(text(a.remark)) if a.remark else 0 for a in answers)
        edge = max(names)
        wide = edge + EQUALS_WIDTH + max(formulas) + (remark_width and remark_width + 2)
        valued = any(a.value for a in answers)
        beside = self.room is None or (not valued and wide <= self.room)
        rows = [row for a in answers for row in self.answer(a, beside, edge)]
        remarked = [] if beside else [a for a in answers if a.remark]
        below = [inline((*a.name, Token(": ", "word"), *a.remark)) for a in remarked]
        return "\n\n".join([align(rows), *below])

    def answer(self, a: Answer, beside: bool, edge: float) -> list[str]:
        """The rows of an answer, with its remark if that goes `beside`; `edge` is the largest width
        of a left side.
        """
        value = [self.tensor(a.value)] if a.value else []
        sides = [*value, *formula_in_math(a.formula)]
        name, room = mathematics(a.name), self.room
        if beside or room is None:
            remark = text(a.remark) if a.remark else ""
            return [f"{name} &= {' = '.join(sides)}{beside_of(remark)}"]
        rows = [f"{name} &= {value[0]}"] if value else []
        if a.formula and is_words(a.formula):
            return [*rows, f"{'' if value else name} &= {sides[-1]}"]
        if a.formula:
            left = room - (edge - line_width(a.name))
            formula = rows_of([((*a.name, EQUALS, *a.formula), "")], left)
            rows += [re.sub("^.*? &", " &", formula[0]) if value else formula[0], *formula[1:]]
        return rows

    def heading(self, section: Section) -> str:
        """The title, followed by its remark."""
        remark = f"\\quad\\textnormal{{\\small {inline(section.remark)}}}" if section.remark else ""
        return f"\\subsection*{{{inline(section.title)}{remark}}}" if section.title else ""

    def section(self, section: Section) -> str:
        """A heading and its blocks."""
        parts = [self.heading(section), *self.blocks(section.blocks)]
        return "\n\n".join(filter(None, parts))

    def blocks(self, blocks: Sequence[Block]) -> Iterator[str]:
        """The blocks, one after another."""
        for block in blocks:
            yield getattr(self, type(block).__name__.lower())(block)

    def tensor(self, tensor: Tensor) -> str:
        """A vector or a matrix in math mode; others as text."""
        rows = self.rows(tensor)
        if isinstance(rows, str):
            return entry(rows)
        if not rows:
            return text_in_math(self.tensor_text(tensor), "texttt")
        columns = max(map(len, rows))
        built = array_of([[entry(c) for c in row] for row in rows], "r" * columns)
        return f"\\left[{built}\\right]"

    def rows(self, tensor: Tensor) -> list[list[str]] | str:
        """The rows of a vector or a matrix as strings, without columns that do not fit. A scalar is
        a single string; other tensors have no rows.
        """
        rows = nested(tensor.array, self.environment.precision, MOST)
        if isinstance(rows, str):
            return rows
        if rows and all(isinstance(row, str) for row in rows):
            rows = [rows]
        flat = [row for row in rows if isinstance(row, list)]
        if not flat or any(not isinstance(c, str) for row in flat for c in row):
            return []
        columns = max(map(len, flat))
        lines = [row if isinstance(row, list) else ["⋮"] * columns for row in rows]
        return lines if self.room is None else _cut(lines, self.room - BESIDE)

    def tensor_text(self, tensor: Tensor) -> str:
        line = " ".join(tensor_lines(tensor.array, 10_000, self.environment))
        return line if len(line) <= WIDEST else f"{line[:WIDEST]}…"

    def inner(self, tensor: Tensor) -> str:
        """A tensor within text, which can be broken at spaces."""
        if self.rows(tensor):
            return f"${self.tensor(tensor)}$"
        return f"\\texttt{{{plain(self.tensor_text(tensor))}}}"

    def table(self, block: Table) -> str:
        """Aligned equations; other rows as list items."""
        return "\n\n".join(
            self.equations(rows) if are_equations else self.items(rows)
            for are_equations, rows in grouped(block.rows)
        )

    def equations(self, rows: Sequence[Row]) -> str:
        """Aligned equations, with their other cells at the right."""
        return align(self.equation_rows(rows))

    def equation_rows(self, rows: Sequence[Row]) -> list[str]:
        """The rows of equations."""
        lines = ((row.cells[0], self.beside(row.cells[1:])) for row in rows)
        return rows_of(lines, self.room)  # type: ignore[arg-type]

    def beside(self, cells: Sequence[Line | Tensor]) -> str:
        """Cells to the right of an equation."""
        message = [self.tensor(c) if isinstance(c, Tensor) else text(c) for c in cells]
        return " \\quad ".join(filter(None, message))

    def items(self, rows: Sequence[Row]) -> str:
        """Rows as list items."""
        items = [
            f"\\item {'~' * (DEPTH * row.depth)}{self.cells(row.cells, ITEM + DEPTH * row.depth)}"
            for row in rows
        ]
        return "\\begin{itemize}\n" + "\n".join(items) + "\n\\end{itemize}"

    def cells(self, cells: Sequence[Line | Tensor], indent: float = 0) -> str:
        """Cells next to each other within text."""
        room = self.room and self.room - indent
        text = (self.inner(c) if isinstance(c, Tensor) else inline(c, room) for c in cells)
        return " \\quad ".join(filter(str.strip, text)) or "~"

    def prose(self, block: Prose) -> str:
        """A paragraph."""
        return inline(block.line, self.room)

    def note(self, block: Note) -> str:
        """A paragraph with its code in front."""
        return f"\\paragraph{{{plain(block.code)}}} {inline(block.line, self.room)}"

    def step(self, block: Step) -> str:
        """An operation of the reverse pass, and the gradients that it sends."""
        head = f"\\paragraph{{{block.number}.}} {self.step_head(block)}"
        return f"{head}\n{self.items(block.sent)}" if block.sent else head

    def step_head(self, block: Step) -> str:
        """The operation, and its upstream gradient."""
        cells: list[Line | Tensor] = [block.title, block.remark]
        cells += [block.value] if block.value is not None else []
        return self.cells(cells)

    def graph(self, block: Graph) -> str:
        """The nodes in order, each with the numbers of its inputs."""
        items = []
        for k, node in enumerate(block.nodes, 1):
            of = ", ".join(str(i + 1) for i in node.inputs)
            items.append(f"\\item[{k}.] {inline(node.label)}" + (f" (of {of})" if of else ""))
        return "\\begin{itemize}\n" + "\n".join(items) + "\n\\end{itemize}"

    def code(self, block: Code) -> str:
        """Code; lines wider than a page are broken inside brackets."""
        return self.verbatim(block.text)

    def verbatim(self, program: str) -> str:
        return verbatim(wrapped(program, self.room) if self.room else program)

    def picture(self, block: Picture) -> str:
        """A dot for each cell, darker for more nonzero entries."""
        lines = " \\\\\n".join(" & ".join(SHADES[k] for k in row) for row in block.cells)
        pattern = displayed(f"\\begin{{smallmatrix}}\n{lines}\n\\end{{smallmatrix}}")
        return "\n\n".join(filter(None, [pattern, inline(block.legend)]))

    def matrix(self, block: Matrix[Formula]) -> str:
        """Arrays, and below them the entries that their names denote."""
        built = render_matrix(block, self.environment)
        named = (
            [aligned(built.definitions, self.room or ROOM["standalone"])]
            if built.definitions
            else []
        )
        return "\n\n".join(filter(None, [*built.arrays, *named, built.left_out]))


def _cut(rows: list[list[str]], room: float) -> list[list[str]]:
    """Rows without the middle columns that do not fit."""
    count = max(map(len, rows))
    widths = [GAP + max(len(row[k]) for row in rows if k < len(row)) for k in range(count)]
    keep = [*range(count)]
    while len(keep) > 2 and sum(widths[k] for k in keep) > room:
        keep.pop(len(keep) // 2)
    if len(keep) == count:
        return rows
    gap = next(k for k in range(count) if k not in keep)
    shown = [[row[k] for k in keep] for row in rows]
    return [[*row[:gap], "⋮" if row[0] == "⋮" else "…", *row[gap:]] for row in shown]
