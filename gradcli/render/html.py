"""Explanations as one page of HTML that asks nothing of any other place.

Formulas are MathML, tensors and Jacobians tables with headers. What a user typed is escaped: it is
shown, never interpreted. Everything can be read without the script, which adds what moves:
pointing at an element of a gradient lights its column, and a slider steps through both passes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
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
    Piece,
    Prose,
    Row,
    Section,
    Step,
    Table,
    Tensor,
    text_of,
    tokens_of,
)
from ..explanation.numbers import number_text
from ..explanation.phrases import element_name
from ..lazy import np
from ..notation.tree import Indexed
from ..notation.typeset.mathml import mathml
from . import page, roles
from .drawn_graph import drawn_graph
from .environment import Environment
from .matrix import cut
from .tensors import EDGE, LONG, MANY

MOST_LINES = 3  # of a question that is the heading
CODED = ("answer", "backward", "gradient")  # sections whose formulas are shown as code, too
MARKS = {"✓": "ok", "✗": "bad"}
ZERO, UNWRITTEN = "·", "?"
KINDS = {Step: "ol", Note: "ul"}
Place = tuple[int, ...]


def render_html(documents: Sequence[Document], environment: Environment) -> str:
    """Documents as a page of their own, one below the other."""
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
    """A document to stand within another page: its styles hold for nothing else there."""
    body = _Page(environment, document).article(document, alone=False)
    return f'<div class="gradcli"><style>\n{page.text("style.css")}</style>\n{body}</div>'


def _tag(name: str, inside: str, **attributes: str | None) -> str:
    """An element; attributes that are None are left out, those without a text stand alone."""
    said = "".join(
        f" {key.strip('_').replace('_', '-')}" + (f'="{escape(value)}"' if value else "")
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{inside}</{name}>"


def _is_sign(piece: Piece) -> bool:
    """Whether a token belongs to the formulas around it."""
    return not isinstance(piece, Formula) and (
        piece == EQUALS or piece.role == "number" or not piece.text.strip()
    )


def _kind(piece: Piece) -> str:
    if isinstance(piece, Formula):
        return "formula"
    return "sign" if _is_sign(piece) else "word" if piece.role == "word" else "code"


def _tied(part: Any) -> Iterator[str]:
    """The gradients whose elements have columns somewhere."""
    if isinstance(part, Matrix):
        if part.seed_name and part.column_places:
            yield part.product_label
    elif isinstance(part, Section | Document):
        for inner in part.sections if isinstance(part, Document) else part.blocks:
            yield from _tied(inner)


class _Page:
    def __init__(self, environment: Environment, document: Document):
        self.environment = environment
        met = roles.input_roles(document)
        few = len(met) <= roles.MOST
        self.classes = {role: f"in-{k}" if few else "in" for k, role in enumerate(met, 1)}
        self.classes |= {"seed": "seed", "answer": "answer", "number": "num"}
        self.tied = frozenset(_tied(document))
        self.coloured = self._pattern(met)
        self.coded = False

    def _pattern(self, met: list[str]) -> re.Pattern[str]:
        """Elements of inputs within the texts of entries."""
        names = "|".join(re.escape(role.removeprefix("input:")) for role in met) or "(?!)"
        return re.compile(rf"(?<![\w.])({names})(\[[\d,]+\])?(?![\w(])")

    # ---- the page ----------------------------------------------------------------------------

    def article(self, document: Document, alone: bool = True) -> str:
        """A document; `alone`: with its question as the heading, and with buttons that copy."""
        head = self.header(document) if alone else ""
        answers = [self.answer(a) for a in document.answers]
        parts = [_tag("ul", "".join(answers), class_="answers")] * bool(answers)
        asked = document.question.strip() if alone else ""
        parts += [self.section(section, asked) for section in document.sections]
        made = _tag("code", escape(document.command))
        foot = f"\n<footer>Made by {made}</footer>" if document.command and alone else ""
        return f"<article>\n{head}" + "\n".join(parts) + f"{foot}\n</article>"

    def header(self, document: Document) -> str:
        """What was asked, and buttons."""
        asked = document.question.strip("\n")
        code = _tag("code", self.program(asked))
        if not asked:
            heading = "<h1>" + escape(_heading(document)) + "</h1>"
        elif asked.count("\n") < MOST_LINES:
            heading = f'<h1 class="question scroll">{code}</h1>'
        else:
            heading = f'<h1>Its gradients</h1>\n<pre class="question scroll">{code}</pre>'
        buttons = "".join(
            _tag("button", f"Copy {what}", type="button", data_copy=text)
            for what, text in self.copies(document)
            if text
        )
        return f'<header>\n{heading}\n<p class="copies" hidden>{buttons}</p>\n</header>\n'

    def program(self, text: str) -> str:
        """A program with its inputs in colour."""
        return self.entry(text)

    def copies(self, document: Document) -> list[tuple[str, str]]:
        """What there is to copy: a name, and a text."""
        from .markdown import render_markdown

        programs = (b.text for s in document.sections for b in s.blocks if isinstance(b, Code))
        return [
            ("command", document.command),
            ("Markdown", render_markdown(document, self.environment)),
            ("PyTorch", next(programs, "")),
        ]

    def section(self, section: Section, asked: str) -> str:
        """A heading with its remark, and the blocks; a title that the page begins with is not
        said again.
        """
        self.coded = section.name in CODED
        title, remark = text_of(section.title), self.line(section.remark)
        again = bool(title) and title in asked.split("\n")
        said = f' <span class="remark">{remark}</span>' if remark else ""
        head = f"<h2>{self.line(section.title)}{said}</h2>" if title and not again else ""
        if again and remark:
            head = f'<p class="shapes">{remark}</p>'
        body = "".join(self.blocks(section.blocks))
        return f'<section class="{escape(section.name)}">{head}\n{body}</section>'

    def blocks(self, blocks: Sequence[Block]) -> Iterator[str]:
        """The blocks; steps and notes next to each other make a list."""
        for kind, group in groupby(blocks, lambda b: KINDS.get(type(b))):
            made = "".join(map(self.block, group))
            yield _tag(kind, made, class_="steps" if kind == "ol" else "notes") if kind else made

    def block(self, block: Block) -> str:
        return getattr(self, type(block).__name__.lower())(block) + "\n"

    # ---- pieces ------------------------------------------------------------------------------

    def line(self, line: Line) -> str:
        """Words as they are, code as code, formulas as mathematics where no code is beside them."""
        if any(_kind(piece) == "code" for piece in line) and not all(map(_is_said, line)):
            line = tuple(tokens_of(line))
        return "".join(
            "".join(map(self.formula, pieces)) if kind == "formula" else self.tokens(pieces, kind)
            for kind, pieces in groupby(line, _kind)
        )

    def tokens(self, pieces: Iterable[Any], kind: str) -> str:
        said = "".join(self.span(p.text, p.role) for p in pieces)
        if kind == "word" and said[:1] in MARKS:
            return f'<span class="{MARKS[said[0]]}">{said[0]}</span>{said[1:]}'
        return f"<code>{said}</code>" if kind == "code" else said

    def span(self, text: str, role: str) -> str:
        """A text in the colour of its role."""
        name = self.classes.get(role)
        return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)

    def formula(self, formula: Formula) -> str:
        """A formula as mathematics, in the colours of its roles."""
        made = re.sub(r' data-role="([^"]*)"', self._role, mathml(formula.tree))
        whole = self.classes.get(formula.role)
        return f'<span class="{whole}">{made}</span>' if whole else made

    def _role(self, found: re.Match[str]) -> str:
        name = self.classes.get(unescape(found[1]))
        return f' class="{name}"' if name else ""

    def entry(self, text: str) -> str:
        """An entry of a matrix, elements of inputs in their colours."""
        out, end = "", 0
        for found in self.coloured.finditer(text):
            out += escape(text[end : found.start()])
            out += self.span(found[0], f"input:{found[1]}")
            end = found.end()
        return out + escape(text[end:])

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
        return f'<ul class="rows" style="--columns:{max(most - 1, 0)}">{rows}</ul>'

    def row(self, row: Row) -> str:
        cells = "".join(self.cell(cell, k == 0) for k, cell in enumerate(row.cells))
        return _tag("li", cells, class_=f"deep d{min(row.depth, 4)}" if row.depth else None)

    def cell(self, cell: Line | Tensor, first: bool = True) -> str:
        """A line in a box of its own, or a tensor."""
        if isinstance(cell, Tensor):
            return self.tensor(cell)
        code = self.as_code(cell) if self.coded and first else ""
        return f'<div class="cell"><span class="line scroll">{self.line(cell)}</span>{code}</div>'

    def as_code(self, line: Line) -> str:
        """A formula as it is typed, below the same as mathematics."""
        formulas = [p.tree for p in line if isinstance(p, Formula)]
        by_element = any(isinstance(f, Indexed) for f in formulas[:1])
        if not formulas or by_element or any(_kind(p) in ("code", "word") for p in line):
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
        head = f'<span class="title">{self.line(block.title)}</span> '
        head += f'<span class="remark">{self.line(block.remark)}</span>'
        sent = self.table(Table(tuple(r._replace(depth=0) for r in block.sent)))
        return f'<div class="head">{head}{value}</div>{sent if block.sent else ""}'

    def code(self, block: Code) -> str:
        inside = _tag("code", escape(block.text))
        return f'<pre class="program scroll {escape(block.language)}">{inside}</pre>'

    # ---- tensors -----------------------------------------------------------------------------

    def tensor(self, tensor: Tensor) -> str:
        """A tensor as tables of rows and columns, with their places as headers; the middle of a
        large one is left out.
        """
        array = np.asarray(tensor.array)
        role = self.classes.get(tensor.role, "")
        if not array.ndim or not array.size:
            said = self.number(array[()]) if array.size else "[]"
            return f'<code class="scalar {role}">{said}</code>'
        whole = array.size <= (self.environment.entries if self.environment.full else MANY)
        kept = [_kept(n, whole) for n in array.shape]
        grids = "".join(self.grids(array, kept, (), tensor, role))
        return f'<div class="tensors scroll">{grids}</div>'

    def grids(
        self, array: Any, kept: list[list[int | None]], at: Place, tensor: Tensor, role: str
    ) -> Iterator[str]:
        """A table for each place in the dimensions before the last two."""
        if array.ndim > 2:
            for k in kept[0]:
                if k is None:
                    yield '<p class="gap">…</p>'
                else:
                    yield from self.grids(array[k], kept[1:], (*at, k), tensor, role)
            return
        rows = kept[0] if array.ndim == 2 else [-1]
        caption = f"<caption>[{','.join(map(str, at))}]</caption>" if at else ""
        head = "".join("<th>…</th>" if c is None else _head(c) for c in kept[-1])
        corner = "<td></td>" if array.ndim == 2 else ""
        body = ""
        for r in rows:
            cells = ""
            for c in kept[-1]:
                place = (*at, r, c) if array.ndim == 2 else (*at, c)
                cells += "<td>…</td>" if None in place else self.element(array, place, at, tensor)
            left = "" if array.ndim == 1 else "<th>⋮</th>" if r is None else _head(r, "row")
            body += f"<tr>{left}{cells}</tr>"
        tied = tensor.name in self.tied
        yield _tag(
            "table",
            f"{caption}<thead><tr>{corner}{head}</tr></thead><tbody>{body}</tbody>",
            class_=f"tensor {role}".strip(),
            role="grid" if tied else None,
            aria_label=tensor.name if tied else None,
        )

    def element(self, array: Any, place: Place, at: Place, tensor: Tensor) -> str:
        value = array[place[len(at) :]]
        return _tag(
            "td",
            self.number(value),
            title=_unrounded(value, self.environment.precision),
            data_el=element_name(tensor.name, place) if tensor.name else None,
        )

    def number(self, value: Any) -> str:
        if isinstance(value, str):
            return escape(value)
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, str | bool):
            return escape(str(value))
        return number_text(value, self.environment.precision)

    # ---- Jacobians ---------------------------------------------------------------------------

    def matrix(self, block: Matrix) -> str:
        """The seed at the left, labels, entries, seed times matrix below; then the gradient in the
        shape of the input, and the sum that makes each of its elements.
        """
        shown = cut(block, None, self.environment.say)
        names = _element_names(block)
        head = self.matrix_row(
            block,
            _tag("th", self.span(block.seed_name, "seed"), scope="col"),
            "<td></td>",
            [self.column_head(block, c, names) for c in shown.columns],
            _tag("th", self.span(block.result_name, "seed"), scope="col"),
        )
        if block.tangent is not None:
            weights = [
                self.weight(block.tangent[c] if c is not None else "…") for c in shown.columns
            ]
            name = _tag("th", self.span(block.tangent_name, "seed"), scope="row")
            head += self.matrix_row(block, "<td></td>", name, weights, "<td></td>")
        body = "".join(self.body_row(block, r, shown.columns, names) for r in shown.rows)
        foot = self.foot(block, shown.columns, names)
        table = f'<table class="matrix"><thead>{head}</thead><tbody>{body}</tbody>{foot}</table>'
        below = self.elements(block, names) if names else ""
        left_out = f'<p class="remark">{escape(shown.left_out)}</p>' if shown.left_out else ""
        of = block.product_label if names else None
        inside = f'<div class="scroll">{table}</div>{left_out}{below}'
        return _tag("figure", inside, class_="jacobian", data_of=of)

    def matrix_row(self, block: Matrix, left: str, name: str, cells: list[str], right: str) -> str:
        sides = left if block.seed_name else "", right if block.result_name else ""
        return f"<tr>{sides[0]}{name}{''.join(cells)}{sides[1]}</tr>"

    def column_head(self, block: Matrix, c: int | None, names: list[str]) -> str:
        if c is None:
            return "<td>…</td>"
        inside = self.span(block.column_labels[c], block.input_role)
        return _tag("th", inside, scope="col", data_el=names[c] if names else None)

    def weight(self, text: str, of: str | None = None) -> str:
        return _tag("td", escape(text), class_="seed", data_el=of)

    def body_row(
        self, block: Matrix, r: int | None, columns: list[int | None], names: list[str]
    ) -> str:
        if r is None:
            gap = ["<td>…</td>"] * len(columns)
            return self.matrix_row(block, "<td>⋮</td>", "<td>…</td>", gap, "<td>⋮</td>")
        place = block.row_places[r] if block.row_places else ()
        seeded = element_name(block.seed_name, place) if names else None
        left = self.weight(block.seed[r], seeded) if block.seed else "<td></td>"
        name = _tag("th", escape(block.row_labels[r]), scope="row")
        cells = [self.matrix_entry(block.entries[r], c, names) for c in columns]
        result = f'<td class="answer">{escape(block.result[r])}</td>' if block.result else ""
        return self.matrix_row(block, left, name, cells, result)

    def matrix_entry(self, row: tuple[str, ...], c: int | None, names: list[str]) -> str:
        if c is None:
            return "<td>…</td>"
        of = names[c] if names else None
        kind = "zero" if row[c] == ZERO else None
        return _tag("td", self.entry(row[c]), class_=kind, data_el=of)

    def foot(self, block: Matrix, columns: list[int | None], names: list[str]) -> str:
        if block.product is None:
            return ""
        cells = [
            "<td>…</td>"
            if c is None
            else _tag("td", escape(block.product[c]), data_el=names[c] if names else None)
            for c in columns
        ]
        left = f'<td class="seed">{escape(block.product_name)}</td>'
        name = _tag("th", self.span(block.product_label, block.input_role), scope="row")
        return f"<tfoot>{self.matrix_row(block, left, name, cells, '<td></td>')}</tfoot>"

    def elements(self, block: Matrix, names: list[str]) -> str:
        """The gradient, to point at, and its elements as sums."""
        sums = [self.sum(block, c, names[c]) for c in range(len(names))]
        first = next(
            (c for c, terms in enumerate(map(_terms_of(block), range(len(names)))) if terms), 0
        )
        items = "".join(_tag("li", s, data_sum=name) for s, name in zip(sums, names, strict=True))
        every = f"<details><summary>Every element</summary><ol>{items}</ol></details>"
        name = self.span(block.product_label, block.input_role)
        return (
            f'<div class="elements"><div><p class="caption">{name}</p>'
            f'<div class="scroll">{self.grid(block, names)}</div></div>'
            f'<div class="sums"><p class="sum" role="status">{sums[first]}</p>{every}</div></div>'
        )

    def grid(self, block: Matrix, names: list[str]) -> str:
        """The elements of the gradient in its shape, or in one row where some are left out."""
        places = block.column_places
        shaped = not block.skipped_columns[1] and len(places[0]) == 2
        cell = {
            place: _tag(
                "td",
                escape(block.product[c]) if block.product else escape(",".join(map(str, place))),
                data_el=names[c],
                class_=None if block.product else "place",
            )
            for c, place in enumerate(places)
        }
        if not shaped:
            body = f"<tr>{''.join(cell.values())}</tr>"
        else:
            rows = groupby(places, lambda place: place[0])
            body = "".join(f"<tr>{''.join(cell[p] for p in row)}</tr>" for _, row in rows)
        label = f"{block.product_label}: arrow keys go from element to element"
        return _tag(
            "table", f"<tbody>{body}</tbody>", class_="tensor", role="grid", aria_label=label
        )

    def sum(self, block: Matrix, c: int, name: str) -> str:
        """`x.grad[0,0] = 1·a[0,0] + 2·a[0,1] = 10`."""
        terms = [
            f'<span class="term"><span class="seed">{escape(_factor(weight))}</span>·'
            f"{self.entry(_factor(entry))}</span>"
            for weight, entry in _terms_of(block)(c)
        ]
        terms += ["…"] * bool(block.skipped_rows[1])
        said = f'<span class="{self.classes.get(block.input_role, "")}">{escape(name)}</span> = '
        said += " + ".join(terms) or "0"
        total = f" = <strong>{escape(block.product[c])}</strong>" if block.product and terms else ""
        return f"<code>{said}{total}</code>"

    # ---- pictures ----------------------------------------------------------------------------

    def picture(self, block: Picture) -> str:
        """Cells of three shades."""
        cells = "".join(
            f'<rect class="shade-{shade}" x="{c}" y="{r}" width="1" height="1"/>'
            for r, row in enumerate(block.cells)
            for c, shade in enumerate(row)
        )
        wide, high = max(map(len, block.cells), default=0), len(block.cells)
        size = f'viewBox="0 0 {wide} {high}" style="--wide:{wide}"'
        name = f"where a matrix has entries, in {high}×{wide} cells"
        return f'<svg class="picture" {size} role="img" aria-label="{name}">{cells}</svg>'

    def graph(self, block: Graph) -> str:
        """The graph, and what happens at its nodes, one after the other."""
        steps = "".join(self.passed(p, block) for p in block.passes)
        listed = f'<ol class="passes">{steps}</ol>' if steps else ""
        count = len(block.passes)
        slider = (
            '<p class="stepper" hidden><button type="button" data-by="-1" aria-label="back">◀'
            f'</button><input type="range" min="0" max="{count}" value="0" aria-label="step">'
            '<button type="button" data-by="1" aria-label="on">▶</button> <output></output></p>'
        )
        drawing = f'<div class="scroll drawing">{drawn_graph(block)}</div>'
        told = f'<div class="told">{slider}{listed}</div>' if steps else ""
        return f'<figure class="walk">{drawing}{told}</figure>'

    def passed(self, p: Pass, graph: Graph) -> str:
        """What happens at a node: a step of the forward pass, or of the way back."""
        way = "back" if p.back else "forward"
        said = f'<span class="way {way}">{way}</span>'
        return f'<li data-node="{p.node}" data-way="{way}">{said}{self.step_body(p.step)}</li>'


def _heading(document: Document) -> str:
    titles = (text_of(s.title) for s in document.sections)
    return next(filter(None, titles), "Explained by gradcli")


def _is_said(piece: Piece) -> bool:
    """Whether a piece is words, or a name or number among them."""
    return isinstance(piece, Formula) or piece.role != ""


def _kept(count: int, whole: bool) -> list[int | None]:
    """The places of a dimension that are shown, None for those left out between."""
    if whole or count <= LONG:
        return [*range(count)]
    return [*range(EDGE), None, *range(count - EDGE, count)]


def _head(place: int, scope: str = "col") -> str:
    return f'<th scope="{scope}">{place}</th>'


def _unrounded(value: Any, precision: int) -> str | None:
    """A number in all its digits, where it is shown with fewer."""
    if isinstance(value, str | np.str_ | bool | np.bool_ | np.integer):
        return None
    full = number_text(value, 17)
    return repr(float(value)) if full != number_text(value, precision) else None


def _element_names(block: Matrix) -> list[str]:
    """What the elements of the gradient are called that the columns belong to; nothing where no
    seed makes one of them.
    """
    if not block.seed_name or not block.column_places:
        return []
    return [element_name(block.product_label, place) for place in block.column_places]


def _terms_of(block: Matrix) -> Any:
    """The weights and entries of a column that are not zero."""

    def terms(c: int) -> list[tuple[str, str]]:
        column = [row[c] for row in block.entries]
        return [(w, e) for w, e in zip(block.seed or (), column, strict=False) if e != ZERO]

    return terms


def _factor(text: str) -> str:
    """A text as a factor: sums and negative numbers in brackets."""
    bare = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)
    return f"({text})" if text.startswith("-") or re.search(r" [-+] ", bare) else text
