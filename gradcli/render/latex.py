"""Explanations as LaTeX: a section to be pasted into a paper, a document, or slides.

The commands are those of amsmath. Everything that a user typed is set as mathematics
or as text in which nothing is a command.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ..explanation.blocks import (
    EQUALS,
    THEN,
    ZERO,
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
from ..notation.tree import Infix, Name, Tree, Verbatim
from ..notation.typeset.latex import latex, plain, text_in_math
from ..notation.typeset.mathematics import is_term
from .ascii import in_ascii
from .environment import Environment
from .matrix import Cut, cut
from .tensors import nested, tensor_lines

ARTICLE = r"""\documentclass{article}
\usepackage{amsmath}
\begin{document}
"""
SLIDES = ARTICLE.replace("article", "beamer")
END = "\n\\end{document}"
ROOM = {"standalone": 62, "overlay": 48}  # characters of an equation on a page
WIDEST = 200  # characters of a tensor that is no vector and no matrix
MOST = 48  # elements of a tensor that is set as a matrix
SHAPE = r"\s*\(?\d+(?:×\d+)*,?\)?\s*"
UNSEEN = r"\\(left|right|math\w+|operatorname|text)"  # commands that print nothing
SHADES = ("\\cdot", "\\circ", "\\bullet")


def render_latex(document: Document, environment: Environment) -> str:
    """The document as a section, or as what `environment.page` says."""
    slides = environment.page == "overlay"
    page = Slides(environment) if slides else Page(environment)
    built = "\n\n".join(page.document(document))
    return f"{as_page(built, environment, document.command)}\n"


def as_page(made: str, environment: Environment, command: str) -> str:
    """Lines below a comment with the command that makes them again; within a document of their own
    where that is asked for.
    """
    comment = f"% {' '.join(command.split())} -f latex\n" if command else ""
    if environment.page == "overlay":
        return f"{comment}{SLIDES}\n{made}\n{END}"
    return f"{comment}{ARTICLE}\n{made}\n{END}" if environment.page else comment + made


def aligned(lines: Iterable[Line], room: int | None = None) -> str:
    """Equations below each other, lined up at their first sign of equality; sums of more than
    `room` characters in several lines.
    """
    rows = [row for line in lines for row in _rows(line, room=room)]
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _rows(line: Line, beside: str = "", room: int | None = None) -> list[str]:
    """A row for each statement of a line; what stands beside is said of the last."""
    statements: list[list[Any]] = [[]]
    for piece in line:
        if piece == THEN:
            statements.append([])
        else:
            statements[-1].append(piece)
    rows = [row for statement in statements for row in _equation(statement, room)]
    return [*rows[:-1], rows[-1] + beside]


def _equation(pieces: Sequence[Any], room: int | None) -> Iterator[str]:
    """`left &= right`, and below it what there is no room for beside it."""
    sign = next((k for k, piece in enumerate(pieces) if piece == EQUALS), None)
    if sign is None:
        yield f"& {mathematics(pieces)}"
        return
    left, right = mathematics(pieces[:sign]), pieces[sign + 1 :]
    if room is None or _length(mathematics(right)) <= room:
        yield f"{left} &= {mathematics(right)}"
        return
    for side in _sides(right):
        for k, line in enumerate(_lines(side, room)):
            yield f"{left} &{'= ' if not k else chr(92) + 'quad {} '}{line}"
            left = ""


def _length(made: str) -> int:
    """About as many characters as are seen."""
    return len(re.sub(r"\\[a-zA-Z]+|[{}_^&]| +", "x", re.sub(UNSEEN, "", made)))


def _sides(pieces: Sequence[Any]) -> Iterator[list[Any]]:
    """What stands between signs of equality."""
    for equals, side in groupby(pieces, lambda piece: piece == EQUALS):
        if not equals:
            yield [*side]


def _lines(pieces: Sequence[Any], room: int) -> Iterator[str]:
    """A side of an equation, a sum in lines that there is room for."""
    if len(pieces) != 1 or not isinstance(pieces[0], Formula):
        yield mathematics(pieces)
        return
    line = ""
    for symbol, term in _terms(pieces[0].tree):
        built = latex(term)
        if line and _length(line + built) > room:
            yield line
            line = f"{symbol} {built}"
        else:
            line += f" {symbol} {built}" if line else built
    yield line


def _terms(written: Tree) -> list[tuple[str, Tree]]:
    """The terms of a sum, each with the sign before it."""
    result: list[tuple[str, Tree]] = []
    while isinstance(written, Infix) and written.symbol in ("+", "-"):
        if not is_term(written.right):
            break
        result.append((written.symbol, written.right))
        written = written.left
    return [*reversed([*result, ("", written)])]


def mathematics(pieces: Iterable[Any]) -> str:
    """Pieces of a line in math mode."""
    return " ".join(_in_math(piece) for piece in pieces).strip()


def _in_math(piece: Any) -> str:
    if isinstance(piece, Formula):
        return latex(piece.tree)
    text = piece.text.strip()
    if text in ("=", ""):
        return text
    if piece.role in ("number", "answer"):
        return latex(Verbatim(text))
    if piece.role == "seed" or piece.role.startswith("input:"):
        return latex(Name(text))
    return text_in_math(piece.text)


def inline(line: Line) -> str:
    """A line of words and formulas within text."""
    out: list[str] = []
    for piece in line:
        out.append(f"${_in_math(piece)}$" if _is_math(piece) else _said(piece))
    return "".join(out).replace("$$", " ")


def _is_math(piece: Any) -> bool:
    if isinstance(piece, Formula) or piece.text == EQUALS.text:
        return True
    return piece.role in ("seed", "number", "answer") or piece.role.startswith("input:")


def _said(piece: Any) -> str:
    if re.fullmatch(SHAPE, piece.text):
        return re.sub(r"\S+", lambda shape: f"${_shape(shape[0])}$", piece.text)
    return _code(piece.text) if _is_code(piece) else plain(piece.text)


def _shape(said: str) -> str:
    return said.replace("×", " \\times ")


def _is_code(piece: Any) -> bool:
    return not piece.role and re.search(r"[\w\]]", piece.text) is not None


def _code(text: str) -> str:
    """Code within text, its spaces at the ends outside."""
    inner = text.strip()
    start = text[: len(text) - len(text.lstrip())]
    return f"{start}\\texttt{{{plain(inner)}}}{text[len(text.rstrip()) :]}" if inner else text


def grouped(rows: Iterable[Row]) -> Iterator[tuple[bool, list[Row]]]:
    """Rows that follow one another: whether they are equations, and which they are."""
    for are_equations, group in groupby(rows, lambda row: _is_equation(row.cells[0])):
        yield are_equations, [*group]


def _is_equation(cell: Line | Tensor) -> bool:
    """Whether a cell is set as an equation: it has a formula, and no words."""
    if isinstance(cell, Tensor):
        return False
    has = any(isinstance(piece, Formula) for piece in cell)
    return has and EQUALS in cell and not any(p[1] == "word" for p in cell if p[0] and p != EQUALS)


class Page:
    """Blocks as a section of a paper."""

    def __init__(self, environment: Environment):
        self.environment = environment
        self.room = ROOM.get(environment.page)

    def document(self, document: Document) -> Iterator[str]:
        """The question, the answers, and a subsection each."""
        yield "\\section*{Gradient}" if not document.sections else "\\section*{Explanation}"
        if document.question:
            yield verbatim(document.question)
        if document.answers:
            yield self.answers(document.answers)
        yield from filter(None, map(self.section, document.sections))

    def answers(self, answers: Sequence[Answer]) -> str:
        """An equation each."""
        rows = []
        for a in answers:
            sides = [mathematics(a.name), *([self.tensor(a.value)] if a.value else [])]
            formula = [*mathematics_of(a.formula)]
            left, *right = [*sides, *formula]
            remark = f" && {text(a.remark)}" if a.remark else ""
            rows.append(f"{left} &= {' = '.join(right)}{remark}")
        return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"

    def heading(self, section: Section) -> str:
        """The title, its remark beside it."""
        remark = f"\\quad\\textnormal{{\\small {inline(section.remark)}}}" if section.remark else ""
        return f"\\subsection*{{{inline(section.title)}{remark}}}" if section.title else ""

    def section(self, section: Section) -> str:
        """A heading and what stands below it."""
        parts = [self.heading(section), *self.blocks(section.blocks)]
        return "\n\n".join(filter(None, parts))

    def blocks(self, blocks: Sequence[Block]) -> Iterator[str]:
        """Blocks one after the other."""
        for block in blocks:
            yield getattr(self, type(block).__name__.lower())(block)

    def tensor(self, tensor: Tensor) -> str:
        """A vector or a matrix, in math mode; others as the text that they are."""
        array, environment = tensor.array, self.environment
        rows = nested(array, environment.precision, MOST)
        if isinstance(rows, str):
            return entry(rows)
        if rows and all(isinstance(row, str) for row in rows):
            rows = [rows]
        flat = [row for row in rows if isinstance(row, list)]
        if not flat or any(not isinstance(c, str) for row in flat for c in row):
            line = " ".join(tensor_lines(array, 10_000, environment))
            cut_off = line if len(line) <= WIDEST else f"{line[:WIDEST]}…"
            return text_in_math(cut_off, "texttt")
        columns = max(map(len, flat))
        lines = [row if isinstance(row, list) else ["⋮"] * columns for row in rows]
        built = array_of([[entry(c) for c in row] for row in lines], "r" * columns)
        return f"\\left[{built}\\right]"

    def table(self, block: Table) -> str:
        """Equations lined up, and items of a list for other rows."""
        return "\n\n".join(
            self.equations(rows) if are_equations else self.items(rows)
            for are_equations, rows in grouped(block.rows)
        )

    def equations(self, rows: Sequence[Row]) -> str:
        """Equations below each other, what else is told of them at the right."""
        built: list[str] = []
        for row in rows:
            first, *others = row.cells
            assert not isinstance(first, Tensor)
            built += _rows(first, self.beside(others), self.room)
        return "\\begin{align*}\n" + " \\\\\n".join(built) + "\n\\end{align*}"

    def beside(self, cells: Sequence[Line | Tensor]) -> str:
        """Cells at the right of an equation."""
        message = [self.tensor(c) if isinstance(c, Tensor) else text(c) for c in cells]
        return " && " + " \\quad ".join(message) if any(message) else ""

    def items(self, rows: Sequence[Row]) -> str:
        """Rows as items of a list."""
        items = [f"\\item {'~' * (2 * row.depth)}{self.cells(row.cells)}" for row in rows]
        return "\\begin{itemize}\n" + "\n".join(items) + "\n\\end{itemize}"

    def cells(self, cells: Sequence[Line | Tensor]) -> str:
        """Cells side by side within text."""
        text = (f"${self.tensor(c)}$" if isinstance(c, Tensor) else inline(c) for c in cells)
        return " \\quad ".join(filter(str.strip, text)) or "~"

    def prose(self, block: Prose) -> str:
        """A paragraph."""
        return inline(block.line)

    def note(self, block: Note) -> str:
        """A paragraph with its code in front."""
        return f"\\paragraph{{{plain(block.code)}}} {inline(block.line)}"

    def step(self, block: Step) -> str:
        """An operation on the way back, and below it what it sends."""
        cells: list[Line | Tensor] = [block.title, block.remark]
        cells += [block.value] if block.value is not None else []
        head = f"\\paragraph{{{block.number}.}} {self.cells(cells)}"
        return f"{head}\n{self.items(block.sent)}" if block.sent else head

    def graph(self, block: Graph) -> str:
        """The nodes in order, each with the numbers of those that it is made of."""
        items = []
        for k, node in enumerate(block.nodes, 1):
            of = ", ".join(str(i + 1) for i in node.inputs)
            items.append(f"\\item[{k}.] {inline(node.label)}" + (f" (of {of})" if of else ""))
        return "\\begin{itemize}\n" + "\n".join(items) + "\n\\end{itemize}"

    def code(self, block: Code) -> str:
        """Lines as they are."""
        return verbatim(block.text)

    def picture(self, block: Picture) -> str:
        """A dot for each cell, as black as there are entries."""
        width = max(map(len, block.cells), default=1)
        rows = [[SHADES[shade] for shade in row] for row in block.cells]
        pattern = displayed(array_of(rows, "@{}c@{}" * width))
        return "\n\n".join(filter(None, [pattern, inline(block.legend)]))

    def matrix(self, block: Matrix[Formula]) -> str:
        """The seed, labels, entries; seed times matrix below; a tangent above, the result right."""
        shown = cut(block, None, self.environment.say)
        rows = [*self.above(block, shown), *self.within(block, shown)]
        if block.product is not None:
            name, label = set_cell(block.product_name), set_cell(block.product_label)
            rows.append(["\\hline " + name, label, *_picked(block.product, shown), ""])
        edges = (bool(block.seed_name), True, *[True] * len(shown.columns), bool(block.result_name))
        kept = [_kept(row, edges, k) for k, row in enumerate(rows)]
        columns = "r|" * edges[0] + "l|" + "r" * len(shown.columns) + "|r" * edges[-1]
        return "\n\n".join(
            filter(None, [displayed(array_of(kept, columns)), plain(shown.left_out)])
        )

    def above(self, block: Matrix[Formula], shown: Cut) -> Iterator[list[str]]:
        """The labels of columns, and a tangent."""
        labels = _picked(block.column_labels, shown)
        yield [set_cell(block.seed_name), "", *labels, set_cell(block.result_name)]
        if block.tangent is not None:
            yield ["", set_cell(block.tangent_name), *_picked(block.tangent, shown), ""]

    def within(self, block: Matrix[Formula], shown: Cut) -> Iterator[list[str]]:
        """A row each, with its weight and what it gives."""
        rule = "\\hline "
        for r in shown.rows:
            if r is None:
                yield [rule + "\\vdots", "\\vdots", *["\\vdots"] * len(shown.columns), "\\vdots"]
            else:
                weight, result = (set_cell(n[r]) if n else "" for n in (block.seed, block.result))
                entries = _picked(block.entries[r], shown)
                yield [rule + weight, set_cell(block.row_labels[r]), *entries, result]
            rule = ""


class Slides(Page):
    """Blocks as slides, an equation after the other."""

    def document(self, document: Document) -> Iterator[str]:
        """A slide for the question and its answers, and for each section."""
        first = [verbatim(document.question)] * bool(document.question)
        first += [self.answers(document.answers)] * bool(document.answers)
        if first:
            yield slide("Question", "\n\n".join(first))
        for section in document.sections:
            built = "\n\n".join(self.blocks(section.blocks))
            if built:
                yield slide(inline(section.title or section.remark), built)

    def equations(self, rows: Sequence[Row]) -> str:
        """Equations that come one at a time."""
        built = (super(Slides, self).equations([row]) for row in rows)
        return "\n".join(f"\\uncover<+->{{%\n{one}}}" for one in built)

    def items(self, rows: Sequence[Row]) -> str:
        """Items that come one at a time."""
        return super().items(rows).replace("{itemize}", "{itemize}[<+->]", 1)


def slide(title: str, made: str) -> str:
    """A frame; what it has of code is read as it stands."""
    return f"\\begin{{frame}}[fragile]{{{title}}}\n{made}\n\\end{{frame}}"


def mathematics_of(line: Line) -> list[str]:
    """What a formula is, where there is one."""
    return [] if not line else [text(line) if is_words(line) else mathematics(line)]


def text(line: Line) -> str:
    """A line within an equation."""
    return "".join(_text(piece) for piece in line).strip()


def _text(piece: Any) -> str:
    if _is_math(piece) or not piece.text.strip():
        return _in_math(piece)
    if re.fullmatch(SHAPE, piece.text):
        return _shape(piece.text.strip())
    return text_in_math(piece.text, "texttt" if _is_code(piece) else "text")


def entry(said: str) -> str:
    """An element of a tensor, in math mode."""
    if said == "…":
        return "\\cdots"
    return latex(Verbatim(said))


def set_cell(cell: Formula | None) -> str:
    """A cell of a matrix, in math mode."""
    return "" if cell is None else "\\cdot" if cell == ZERO else latex(cell.tree)


def _picked(cells: Sequence[Formula], shown: Cut) -> list[str]:
    return ["\\cdots" if k is None else set_cell(cells[k]) for k in shown.columns]


def _kept(row: list[str], edges: Sequence[bool], place: int) -> list[str]:
    """The cells of a row for which there is room; a rule above it stays."""
    rule = "\\hline " if row[0].startswith("\\hline ") else ""
    kept = [cell for cell, keep in zip([row[0].removeprefix(rule), *row[1:]], edges) if keep]
    return [rule + kept[0], *kept[1:]]


def array_of(rows: Sequence[Sequence[str]], columns: str) -> str:
    """Cells in columns."""
    lines = " \\\\\n".join(" & ".join(row) for row in rows)
    return f"\\begin{{array}}{{{columns}}}\n{lines}\n\\end{{array}}"


def displayed(made: str) -> str:
    """Mathematics in a line of its own."""
    return f"\\[\n{made}\n\\]"


def verbatim(code: str) -> str:
    """Lines of code, none of which ends them."""
    inside = in_ascii(code).replace("\\end{verbatim}", "\\end {verbatim}")
    return f"\\begin{{verbatim}}\n{inside}\n\\end{{verbatim}}"
