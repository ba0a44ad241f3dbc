"""Explanations as Markdown that displays well on GitHub, Discourse and Stack Overflow.

User input is in code spans or escaped: it is shown, never interpreted.
"""

import re
import textwrap
from collections.abc import Sequence

from ..explanation.blocks import (
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
    text_of,
    tokens_of,
)
from .drawn_graph import mermaid
from .environment import Environment
from .matrix import Cut, column_width, cut, drawn, shortened, texts
from .tensors import tensor_lines

LINE = 80  # largest number of characters of a tensor that is shown in one line
WIDEST = 100  # largest width of the entries in a row of a table, and of a matrix as text
WIDE = 10_000  # Markdown has no width: lines are wrapped by the reader's browser


def fenced(text: str, language: str) -> str:
    """Code between fences that are longer than any run of backticks in it."""
    fence = _fence(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def _fence(text: str, least: int) -> str:
    """At least this many backticks, more than any run of them in the text."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _table(lines: Sequence[Sequence[str]]) -> str:
    """The lines of a table, from their cells."""
    cells = ([text.replace("|", "\\|") for text in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def escape(text: str) -> str:
    """Text with the characters escaped that mean something within a line of Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>#|~&$])", r"\\\1", text)


def code_span(text: str) -> str:
    """Text as a code span, also if it contains backticks. A |, which would end the cell of a table,
    is escaped by `_table`.
    """
    fence = _fence(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def _runs(line: Line) -> list[tuple[bool, str]]:
    """A line as pairs (whether it is words, text); adjacent tokens of one kind are joined."""
    runs: list[tuple[bool, str]] = []
    for token in tokens_of(line):
        word = token.role == "word"
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + token.text)
        else:
            runs.append((word, token.text))
    return runs


class Page:
    """Blocks as GitHub-flavoured Markdown."""

    def __init__(self, environment: Environment):
        self.environment = environment

    def documents(self, documents: Sequence[Document]) -> str:
        """Documents one after another."""
        return "\n".join(map(self.document, documents))

    def document(self, document: Document) -> str:
        """The question, the answers, the sections, and the command that reproduces them."""
        parts = [self.fenced(document.question, "python")] if document.question else []
        parts += [self.answers(document.answers)] if document.answers else []
        parts += map(self.section, document.sections)
        # on a site, the command is for readers, who want the answer in their terminal
        form = "" if self.environment.place else " -f markdown"
        parts += [f"Made by {code_span(document.command + form)}"] if document.command else []
        return "\n\n".join(parts) + "\n"

    def escaped(self, text: str) -> str:
        """Text with special characters escaped."""
        return escape(text)

    def fenced(self, text: str, language: str) -> str:
        """A fenced block of code."""
        return fenced(text, language)

    def answers(self, answers: Sequence[Answer]) -> str:
        """One answer as a line, several as a list."""
        if len(answers) == 1:
            return f"**Answer:** {self.answer(answers[0])}"
        return "\n".join(f"- {self.answer(a, indent=2)}" for a in answers)

    def answer(self, answer: Answer, indent: int = 0) -> str:
        name, formula, remark = map(text_of, (answer.name, answer.formula, answer.remark))
        remark = f", {self.escaped(remark)}" if remark else ""
        if answer.value is None:
            return code_span(f"{name} = {formula}") + remark
        value = self.tensor(answer.value)
        if len(value) > LINE:
            text = f"{code_span(f'{name} = {formula}')}{remark}"
            return f"{text}\n{self.block_of(answer.value, indent)}"
        return f"{code_span(f'{name} = {value}')} — {code_span(formula)}{remark}"

    def tensor(self, tensor: Tensor) -> str:
        return " ".join(tensor_lines(tensor.array, WIDE, self.environment))

    def beyond(self, cell: Line | Tensor) -> bool:
        """Whether a cell is a tensor that does not fit into a line."""
        return isinstance(cell, Tensor) and len(self.tensor(cell)) > LINE

    def block_of(self, tensor: Tensor, indent: int) -> str:
        """A tensor in a block, which is nested in a list if indented."""
        lines = tensor_lines(tensor.array, LINE, self.environment)
        text = self.fenced("\n".join(lines), "text")
        return "\n".join(" " * indent + line for line in text.split("\n"))

    def heading(self, section: Section) -> str:
        """The title, followed by its remark."""
        remark = self.cell(section.remark)
        head = f"### {self.cell(section.title)}" if section.title else ""
        return head + (f" ({remark})" if remark else "")

    def section(self, section: Section) -> str:
        head = self.heading(section)
        parts: list[str] = [head] * bool(head)
        before: Block | None = None
        for block in section.blocks:
            parts += [self.glue(before, block), self.block(block)]
            before = block
        return "".join(parts).strip("\n")

    def glue(self, before: Block | None, block: Block) -> str:
        """The separator between a block, or the heading, and the next block."""
        return "\n" if isinstance(block, Step | Note) else "\n\n"

    def block(self, block: Block) -> str:
        return getattr(self, type(block).__name__.lower())(block)

    def cell(self, cell: Line | Tensor) -> str:
        if isinstance(cell, Tensor):
            return code_span(self.tensor(cell))
        return "".join(self.escaped(t) if word else code_span(t) for word, t in _runs(cell))

    def row(self, row: Row, indent: int = 0) -> str:
        """A list item; tensors that do not fit into its line follow as blocks."""
        indent += 2 * row.depth
        beside = [self.cell(cell) for cell in row.cells if not self.beyond(cell)]
        below = [c for c in row.cells if isinstance(c, Tensor) and self.beyond(c)]
        head = " " * indent + "- " + " ".join(filter(None, beside))
        return "\n".join([head, *(self.block_of(tensor, indent + 2) for tensor in below)])

    def table(self, block: Table) -> str:
        return "\n".join(self.row(row) for row in block.rows)

    def prose(self, block: Prose) -> str:
        return self.cell(block.line)

    def note(self, block: Note) -> str:
        text = self.escaped(text_of(block.line))
        return f"- **{block.code}:** {text}" if block.code else f"- {text}"

    def step(self, block: Step) -> str:
        title, remark = self.cell(block.title), self.cell(block.remark)
        head, indent = f"{block.number}. {title} {remark}", len(f"{block.number}. ")
        if block.value is not None and self.beyond(block.value):
            head += f"\n{self.block_of(block.value, indent)}"
        elif block.value is not None:
            head += f" {self.cell(block.value)}"
        return "\n".join([head, *(self.row(row._replace(depth=0), indent) for row in block.sent)])

    def code(self, block: Code) -> str:
        return self.fenced(block.text, block.language)

    def picture(self, block: Picture) -> str:
        pattern = self.code(Code(drawn(block), "text"))
        return "\n\n".join(filter(None, [pattern, self.cell(block.legend)]))

    def graph(self, block: Graph) -> str:
        return self.fenced(mermaid(block), "mermaid")

    def matrix(self, formulas: Matrix[Formula]) -> str:
        block = texts(formulas)
        shown = cut(block, None, self.environment)
        short = shortened(block)
        if sum(column_width(short, k) for k in shown.columns if k is not None) > WIDEST:
            return self.drawn_matrix(formulas)
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
            weight, result = (self.entry(n, r) if n else "" for n in (block.seed, block.result))
            row = [code_span(block.row_labels[r]), *entries]
            lines.append(self.beside(block, weight, row, result))
        below = ""
        if block.product is not None:
            lines.append(self.product_row(block, block.product, shown))
            below = f"The last row is {code_span(block.product_name)}."
        return "\n\n".join(filter(None, [_table(lines), shown.left_out, below]))

    def product_row(self, block: Matrix[str], product: tuple[str, ...], shown: Cut) -> list[str]:
        """The cells of the row below the matrix, the product with the seed, in bold."""
        entries = [self.entry(product, k) for k in shown.columns]
        bold = [f"**{text}**" if text != "…" else text for text in entries]
        return self.beside(block, "", [f"**{code_span(block.product_label)}**", *bold], "")

    def drawn_matrix(self, block: Matrix[Formula]) -> str:
        """A matrix that is too wide for a table, as preformatted text."""
        from .terminal import render_terminal

        page = Document((), (Section("", (), (), (block,)),))
        environment = self.environment._replace(width=WIDEST, color=False)
        return self.fenced(textwrap.dedent(render_terminal(page, environment)).strip("\n"), "text")

    def line(
        self,
        block: Matrix[str],
        shown: Cut,
        left: str | None,
        head: str | None,
        names: Sequence[str],
        right: str | None,
    ) -> list[str]:
        """A line of names or numbers aligned with the columns."""
        cells = ["…" if k is None else code_span(names[k]) for k in shown.columns]
        left, head, right = (code_span(text or "") for text in (left, head, right))
        return self.beside(block, left, [head, *cells], right)

    def beside(self, block: Matrix[str], left: str, cells: list[str], right: str) -> list[str]:
        """A line of cells, with `left` before them if the matrix has a column for the seed, and
        `right` after them if it has one for the result.
        """
        return [*[left] * bool(block.seed_name), *cells, *[right] * bool(block.result_name)]

    def entry(self, row: tuple[str, ...], k: int | None) -> str:
        if k is None:
            return "…"
        return row[k] if re.fullmatch(r"[-\d.e+·]+|nan|-?inf", row[k]) else code_span(row[k])
