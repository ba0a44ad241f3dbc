"""Explanations as a self-contained page of HTML.

Formulas are MathML; tensors and Jacobians are tables with headers. User input is escaped: it is
shown, never interpreted. The page is readable without its script, which adds interaction: pointing
at an element of a gradient highlights its column, and a slider steps through both passes.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

from ..explanation.blocks import (
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
    Pass,
    Picture,
    Prose,
    Row,
    Section,
    Step,
    Table,
    Tensor,
    text_of,
)
from ..notation.tree import Indexed
from . import page
from .drawn_graph import drawn_graph
from .environment import Environment
from .page.markup import Markup, kind_of, tag
from .page.matrices import MatrixFigure
from .page.tensors import tensor_tables
from .spy import fine_legend, fine_rows, outlines

MOST_LINES, LONG_LINE = 3, 50  # lines, and characters of a line, of a question in large letters
CODED = ("answer", "backward", "gradient")  # sections whose formulas are also shown as code
KINDS = {Step: "ol", Note: "ul"}


def render_html(documents: Sequence[Document], environment: Environment) -> str:
    """Documents as a complete page, one after another."""
    style, script = page.text("style.css"), page.text("script.js")
    titles = [d.question.strip().split("\n")[0] for d in documents if d.question.strip()]
    title = escape(" · ".join([*titles[:1], "gradcli"]))
    articles = "\n".join(_Page(environment, d).article(d) for d in documents)
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{page.script_digest()}'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>\n{style}</style>\n</head>\n"
        f'<body>\n<main class="gradcli page">\n{articles}\n</main>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def html_fragment(document: Document, environment: Environment) -> str:
    """A document as an HTML fragment, whose styles apply to nothing outside of it."""
    body = _Page(environment, document).article(document, alone=False)
    return f'<div class="gradcli"><style>\n{page.text("style.css")}</style>\n{body}</div>'


def _tied(part: Any) -> Iterator[str]:
    """The names of gradients for whose elements a Jacobian has columns."""
    if isinstance(part, Matrix):
        if part.seed and part.column_places:
            yield part.product_label.text
    elif isinstance(part, Section | Document):
        for inner in part.sections if isinstance(part, Document) else part.blocks:
            yield from _tied(inner)


class _Page:
    def __init__(self, environment: Environment, document: Document):
        self.environment, self.markup = environment, Markup(environment, document)
        self.line = self.markup.line
        self.tied = frozenset(_tied(document))
        self.coded = False

    # ---- the page ----------------------------------------------------------------------------

    def article(self, document: Document, alone: bool = True) -> str:
        """A document; `alone`: with its question as the heading, and with copy buttons."""
        head = self.header(document) if alone else ""
        answers = [self.answer(a) for a in document.answers]
        parts = [tag("ul", "".join(answers), class_="answers")] * bool(answers)
        question = (document.question.strip() or _heading(document)) if alone else ""
        parts += [self.section(section, question) for section in document.sections]
        built = tag("code", escape(document.command))
        foot = f"\n<footer>Made by {built}</footer>" if document.command and alone else ""
        return f"<article>\n{head}" + "\n".join(parts) + f"{foot}\n</article>"

    def header(self, document: Document) -> str:
        """The question, or else the first section, with copy buttons."""
        lines = _lines(document.question)
        code = tag("code", self.markup.question("\n".join(lines)))
        if not lines:
            heading = "<h1>" + escape(_heading(document)) + "</h1>"
        else:
            long = " long" if len(lines) > MOST_LINES or max(map(len, lines)) > LONG_LINE else ""
            heading = f'<h1 class="question{long} scroll">{code}</h1>'
        buttons = "".join(
            tag("button", f"Copy {what}", type="button", data_copy=text)
            for what, text in self.copies(document)
            if text
        )
        return f'<header>\n{heading}\n<p class="copies" hidden>{buttons}</p>\n</header>\n'

    def copies(self, document: Document) -> list[tuple[str, str]]:
        """The texts that can be copied, each with a name."""
        from .latex import render_latex
        from .markdown import render_markdown

        code = (s for s in document.sections if s.name == "code")
        programs = (b.text for s in code for b in s.blocks if isinstance(b, Code))
        return [
            ("command", document.command),
            ("Markdown", render_markdown([document], self.environment)),
            ("LaTeX", render_latex([document], self.environment)),
            ("PyTorch", next(programs, "")),
        ]

    def section(self, section: Section, question: str) -> str:
        """A heading with its remark, unless it repeats that of the page, and the blocks."""
        self.coded = section.name in CODED
        title, remark = text_of(section.title), self.line(section.remark)
        again = bool(title) and title in question.split("\n")
        text = f' <span class="remark">{remark}</span>' if remark else ""
        head = f"<h2>{self.line(section.title)}{text}</h2>" if title and not again else ""
        if again and remark:
            head = f'<p class="shapes">{remark}</p>'
        body = "".join(self.blocks(section.blocks))
        return f'<section class="of-{escape(section.name)}">{head}\n{body}</section>'

    def blocks(self, blocks: Sequence[Block]) -> Iterator[str]:
        """The blocks; consecutive steps and notes form a list."""
        for kind, group in groupby(blocks, lambda b: KINDS.get(type(b))):
            built = "".join(map(self.block, group))
            yield tag(kind, built, class_="steps" if kind == "ol" else "notes") if kind else built

    def block(self, block: Block) -> str:
        return getattr(self, type(block).__name__.lower())(block) + "\n"

    # ---- rows --------------------------------------------------------------------------------

    def answer(self, answer: Answer) -> str:
        self.coded = True
        formula = (*answer.name, EQUALS, *answer.formula)
        remark = f'<span class="remark">{self.line(answer.remark)}</span>' if answer.remark else ""
        value = "" if answer.value is None else self.tensor(answer.value)
        return f"<li>{self.cell(formula)}{value}{remark}</li>"

    def table(self, block: Table) -> str:
        most = max((len(row.cells) for row in block.rows if not row.depth), default=1)
        rows = "".join(map(self.row, block.rows))
        lined = f' lined" style="--columns:{most - 1}' if most > 1 and len(block.rows) > 1 else ""
        return f'<ul class="rows{lined}">{rows}</ul>'

    def row(self, row: Row) -> str:
        cells = "".join(self.cell(cell, k == 0) for k, cell in enumerate(row.cells))
        return tag("li", cells, class_=f"deep d{min(row.depth, 4)}" if row.depth else None)

    def cell(self, cell: Line | Tensor, first: bool = True) -> str:
        """A line in a separate box, or a tensor."""
        if isinstance(cell, Tensor):
            return self.tensor(cell)
        code = self.as_code(cell) if self.coded and first else ""
        return f'<div class="cell"><span class="line scroll">{self.line(cell)}</span>{code}</div>'

    def as_code(self, line: Line) -> str:
        """A formula as code, below the same formula as mathematics."""
        formulas = [p.tree for p in line if isinstance(p, Formula)]
        by_element = any(isinstance(f, Indexed) for f in formulas[:1])
        if not formulas or by_element or any(kind_of(p) in ("code", "word") for p in line):
            return ""
        return f'<code class="typed scroll">{escape(text_of(line))}</code>'

    def prose(self, block: Prose) -> str:
        return f"<p>{self.line(block.line)}</p>"

    def note(self, block: Note) -> str:
        code = f'<strong class="code">{escape(block.code)}</strong> ' if block.code else ""
        return f"<li>{code}<span>{self.line(block.line)}</span></li>"

    def step(self, block: Step) -> str:
        return f'<li value="{block.number}">{self.step_body(block)}</li>'

    def step_body(self, block: Step) -> str:
        value = "" if block.value is None else self.tensor(block.value)
        head = f'<span class="title scroll">{self.line(block.title)}</span> '
        head += f'<span class="remark">{self.line(block.remark)}</span>'
        sent = self.table(Table(tuple(r._replace(depth=0) for r in block.sent)))
        return f'<div class="head">{head}{value}</div>{sent if block.sent else ""}'

    def code(self, block: Code) -> str:
        inside = tag("code", escape(block.text))
        return f'<pre class="program scroll {escape(block.language)}">{inside}</pre>'

    def tensor(self, tensor: Tensor) -> str:
        return tensor_tables(tensor, self.markup, self.tied)

    def matrix(self, block: Matrix[Formula]) -> str:
        return MatrixFigure(block, self.markup).figure()

    # ---- pictures ----------------------------------------------------------------------------

    def picture(self, block: Picture) -> str:
        """Cells in three shades, one SVG path for each shade."""
        rows = fine_rows(block)
        wide, high = max(map(len, rows), default=0), len(rows)
        cells = "".join(f'<path class="shade-{s}" d="{path}"/>' for s, path in outlines(rows))
        size = f'viewBox="0 0 {wide} {high}" style="--wide:{wide}"'
        name = f"where a matrix has entries, in {high}×{wide} cells"
        legend = self.line(fine_legend(block))
        drawn = f'<svg class="picture" {size} role="img" aria-label="{name}">{cells}</svg>'
        return drawn + (f"<p>{legend}</p>" if legend else "")

    def graph(self, block: Graph) -> str:
        """The graph, and the operations at its nodes, one after another."""
        steps = "".join(self.passed(p) for p in block.passes)
        listed = f'<ol class="passes">{steps}</ol>' if steps else ""
        count = len(block.passes)
        slider = (
            '<p class="stepper" hidden><button type="button" data-by="-1" aria-label="back">◀'
            f'</button><input type="range" min="0" max="{count}" value="0" aria-label="step">'
            '<button type="button" data-by="1" aria-label="on">▶</button> <output></output></p>'
        )
        drawing = f'<div class="scroll drawing">{drawn_graph(block)}</div>'
        text = f'<div class="told">{slider}{listed}</div>' if steps else ""
        return f'<figure class="walk">{drawing}{text}</figure>'

    def passed(self, p: Pass) -> str:
        """A step at a node, in the forward or the reverse pass."""
        way = "back" if p.back else "forward"
        text = f'<span class="way {way}">{way}</span>'
        return f'<li data-node="{p.node}" data-way="{way}">{text}{self.step_body(p.step)}</li>'


def _lines(program: str) -> list[str]:
    """The lines of a program; long ones are broken between statements."""
    lines = program.strip("\n").split("\n") if program.strip() else []
    return [part for line in lines for part in _statements(line)]


def _statements(line: str) -> list[str]:
    return re.split(r"(?<=;)\s*(?=\S)", line) if len(line) > LONG_LINE else [line]


def _heading(document: Document) -> str:
    titles = (text_of(s.title) for s in document.sections)
    return next(filter(None, titles), "Explained by gradcli")
