"""Explanations as Markdown that survives a paste into GitHub, Discourse and Stack Overflow.

Everything that a user typed stands in code spans or is escaped: it is shown, never interpreted.
"""

import re
from collections.abc import Sequence

from ..explanation.blocks import (
    Answer,
    Block,
    Code,
    Document,
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
    text_of,
)
from .environment import Environment
from .graphs import mermaid
from .matrix import Cut, cut, drawn
from .tensors import tensor_lines

WIDE = 10_000  # a page has no width: lines are wrapped where they are read


def render_markdown(document: Document, environment: Environment) -> str:
    """The document as GitHub-flavoured Markdown."""
    page = _Page(environment)
    parts = [page.code(Code(document.question, "python"))] if document.question else []
    parts += [page.answer(a) for a in document.answers]
    for section in document.sections:
        parts.append(page.section(section))
    if document.command:
        parts.append(f"Made by {code_span(document.command)}")
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text in which nothing has a meaning in Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>#|~&$])", r"\\\1", text)


def code_span(text: str) -> str:
    """Text as code, whatever backticks it holds; a | would end a table's cell, so it is escaped
    there by `cell`.
    """
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def _runs(line: Line) -> list[tuple[bool, str]]:
    """A line as runs of words and of code; spaces at the ends of code belong to the words around
    it.
    """
    runs: list[tuple[bool, str]] = []
    for token in line:
        word = token.role == "word"
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + token.text)
        else:
            runs.append((word, token.text))
    return runs


class _Page:
    def __init__(self, environment: Environment):
        self.environment = environment

    def answer(self, answer: Answer) -> str:
        name, formula, remark = map(text_of, (answer.name, answer.formula, answer.remark))
        value = "" if answer.value is None else self.tensor(answer.value)
        said = f"{code_span(f'{name} = {value or formula}')}"
        if value:
            said += f" — {code_span(formula)}"
        return f"**Answer:** {said}" + (f", {escape(remark)}" if remark else "")

    def tensor(self, tensor: Tensor) -> str:
        return " ".join(tensor_lines(tensor.array, WIDE, self.environment))

    def section(self, section: Section) -> str:
        remark = text_of(section.remark)
        head = f"### {self.cell(section.title)}" if section.title else ""
        head += f" ({code_span(remark)})" if remark else ""
        parts: list[str] = [head] * bool(head)
        for block in section.blocks:
            glue = "\n" if parts and isinstance(block, Step | Note) else "\n\n"
            parts += [glue, self.block(block)]
        return "".join(parts).strip("\n")

    def block(self, block: Block) -> str:
        return getattr(self, type(block).__name__.lower())(block)

    def cell(self, cell: Line | Tensor) -> str:
        if isinstance(cell, Tensor):
            return code_span(self.tensor(cell))
        return "".join(escape(t) if word else code_span(t) for word, t in _runs(cell))

    def row(self, row: Row) -> str:
        return "  " * row.depth + "- " + " ".join(filter(None, map(self.cell, row.cells)))

    def table(self, block: Table) -> str:
        return "\n".join(map(self.row, block.rows))

    def prose(self, block: Prose) -> str:
        return self.cell(block.line)

    def note(self, block: Note) -> str:
        said = escape(text_of(block.line))
        return f"- **{block.code}:** {said}" if block.code else f"- {said}"

    def step(self, block: Step) -> str:
        value = "" if block.value is None else " " + self.cell(block.value)
        title, remark = self.cell(block.title), self.cell(block.remark)
        head = f"{block.number}. {title} {remark}{value}"
        return "\n".join([head, *("   - " + self.row(row).lstrip(" -") for row in block.sent)])

    def code(self, block: Code) -> str:
        longest = max(map(len, re.findall(r"`+", block.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{block.language}\n{block.text}\n{fence}"

    def picture(self, block: Picture) -> str:
        return self.code(Code(drawn(block), "text"))

    def graph(self, block: Graph) -> str:
        return f"```mermaid\n{mermaid(block)}\n```"

    def matrix(self, block: Matrix) -> str:
        shown = cut(block, None)
        names = block.column_labels
        lines = [self.line(block, shown, block.seed_name, "", names, block.result_name)]
        rule = ["---:"] * len(shown.columns)
        lines.append(self.beside(block, "---:", ["---", *rule], "---:"))
        if block.tangent is not None:
            lines.append(self.line(block, shown, "", block.tangent_name, block.tangent, ""))
        for r in shown.rows:
            if r is None:
                lines.append(self.beside(block, "⋮", ["…"] * (1 + len(shown.columns)), "⋮"))
                continue
            entries = [self.entry(block.entries[r], k) for k in shown.columns]
            weight, result = (n[r] if n else "" for n in (block.seed, block.result))
            lines.append(
                self.beside(block, weight, [code_span(block.row_labels[r]), *entries], result)
            )
        if block.product is not None:
            bold = [f"**{block.product[k]}**" if k is not None else "…" for k in shown.columns]
            head = f"**{code_span(block.product_label)}**"
            lines.append(self.beside(block, "", [head, *bold], ""))
        table = "\n".join(
            "| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines
        )
        below = (
            f"The last row is {code_span(block.product_name)}." if block.product is not None else ""
        )
        return "\n\n".join(filter(None, [table, shown.left_out, below]))

    def line(
        self, block: Matrix, shown: Cut, left: str, head: str, texts: Sequence[str], right: str
    ) -> list[str]:
        """A line of names or numbers that belong to the columns."""
        cells = ["…" if k is None else code_span(texts[k]) for k in shown.columns]
        return self.beside(block, code_span(left), [code_span(head), *cells], code_span(right))

    def beside(self, block: Matrix, left: str, cells: list[str], right: str) -> list[str]:
        """A line with what stands left of the matrix and right of it, where there is room."""
        return [*[left] * bool(block.seed_name), *cells, *[right] * bool(block.result_name)]

    def entry(self, row: tuple[str, ...], k: int | None) -> str:
        if k is None:
            return "…"
        return row[k] if re.fullmatch(r"[-\d.e+·]+|nan|-?inf", row[k]) else code_span(row[k])
