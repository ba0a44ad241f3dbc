"""Markdown for the sites on which it is pasted, restricted to what each site supports.

GitHub, Discourse and Stack Overflow support GitHub-flavoured Markdown. Reddit supports an older
one, in which code is indented. A chat shows the terminal's output, in its width and in messages of
limited length.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..explanation.blocks import (
    Block,
    Code,
    Document,
    Formula,
    Graph,
    Matrix,
    Note,
    Picture,
    Prose,
    Row,
    Section,
    Step,
    Table,
    Tensor,
    without_extras,
)
from .environment import Environment
from .markdown_page import Page, fenced
from .names import DISCOURSE_WITH_MATH
from .tex import page as tex
from .tex.lines import grouped
from .wrapping import shell_lines


class Signs(NamedTuple):
    """Delimiters of displayed mathematics; `matrices`: whether Jacobians are displayed mathematics
    too, not tables.
    """

    start: str
    end: str
    matrices: bool


FENCES = Signs("```math\n", "\n```", matrices=False)  # GitHub
DOLLARS = Signs("$$\n", "\n$$", matrices=True)  # MathJax
DOLLARS_AND_TABLES = DOLLARS._replace(matrices=False)


class MathPage(Page):
    """Markdown with equations as mathematics; names within sentences are code."""

    def __init__(self, environment: Environment, signs: Signs):
        super().__init__(environment)
        self.signs, self.latex = signs, tex.Page(environment)

    def table(self, block: Table) -> str:
        """Aligned equations; other rows as list items."""
        return "\n\n".join(
            self.equations(rows) if are_equations else super(MathPage, self).table(Table((*rows,)))
            for are_equations, rows in grouped(block.rows)
        )

    def equations(self, rows: Sequence[Row]) -> str:
        """Equations below each other."""
        return self.within_signs(self.latex.equations(rows))

    def within_signs(self, text: str) -> str:
        """LaTeX with its mathematics in the delimiters of this site."""
        text = text.replace("\\begin{align*}", f"{self.signs.start}\\begin{{aligned}}")
        text = text.replace("\\end{align*}", f"\\end{{aligned}}{self.signs.end}")
        return text.replace("\\[\n", self.signs.start).replace("\n\\]", self.signs.end)

    def matrix(self, block: Matrix[Formula]) -> str:
        """A table, or mathematics."""
        if not self.signs.matrices:
            return super().matrix(block)
        return self.within_signs(self.latex.matrix(block))


ANSWER_LINES = 25  # largest number of lines of an answer on a question-and-answer site
UNTITLED = ("seed", "code")  # sections without a heading
SPARED = ("code", "program", "backward")  # sections that a long answer omits, in this order
LISTED = ("backward", "gradient")  # sections whose equations form one list
MESSAGE = 1_890  # largest number of characters of a message; Discord accepts 2,000
BACKTICKS = re.compile("```+")


class Brief(Page):
    """A brief answer: the gradients, one reason, and code; requested sections in full, under bold
    titles in place of headings.
    """

    def document(self, document: Document) -> str:
        """The document without sections of SPARED if it would be too long."""
        if self.environment.full:
            return super().document(without_extras(document))
        sections = [*_briefly(document)]
        equations = any(s.name == "gradient" for s in sections)
        spared_of = [n for n in SPARED if not (equations and n in LISTED)]
        built = super().document(document._replace(sections=tuple(sections)))
        while built.count("\n") > ANSWER_LINES:
            spared = next((n for n in spared_of if any(s.name == n for s in sections)), None)
            if spared is None:
                break
            del sections[max(k for k, s in enumerate(sections) if s.name == spared)]
            built = super().document(document._replace(sections=tuple(sections)))
        return built

    def heading(self, section: Section) -> str:
        """The title in bold; "" for sections without a title."""
        if section.name in UNTITLED or not section.title:
            return ""
        remark = f" ({self.cell(section.remark)})" if section.remark else ""
        return f"**{self.cell(section.title)}**{remark}"


EMPTY_PARAGRAPH = "&#x200B;"  # as Reddit's editor writes it


class Indented(Page):
    """Markdown with indented code, and tables as preformatted text."""

    def escaped(self, text: str) -> str:
        """Escaped text; a ^ would make what follows a superscript."""
        return super().escaped(text).replace("^", "\\^")

    def fenced(self, text: str, language: str) -> str:
        """Each line indented by four spaces."""
        return textwrap.indent(text, " " * 4, lambda _: True)

    def block_of(self, tensor: Tensor, indent: int) -> str:
        """A tensor after an empty line, without which it would continue the paragraph; nested twice
        as deep in a list, since older Markdown uses four spaces per level.
        """
        return "\n" + super().block_of(tensor, 2 * indent)

    def glue(self, before: Block | None, block: Block) -> str:
        """The separator of two blocks. Code directly after a list would belong to its last item: an
        empty paragraph ends the list.
        """
        is_code = isinstance(block, Code | Graph | Matrix | Picture)
        if is_code and isinstance(before, Note | Step | Table):
            return f"\n\n{EMPTY_PARAGRAPH}\n\n"
        return super().glue(before, block)

    def matrix(self, block: Matrix[Formula]) -> str:
        """The matrix as in a terminal."""
        return self.drawn_matrix(block)


class Chat:
    """Terminal output in code fences, one per message."""

    def __init__(self, environment: Environment, width: int, longest: int | None = None):
        self.environment = environment._replace(width=width, color=False, fixed=True)
        self.longest = longest

    def documents(self, documents: Sequence[Document]) -> str:
        """All documents in one message, or in numbered messages."""
        text = "\n\n".join(map(self.document, documents))
        text = BACKTICKS.sub(lambda run: "\u200b".join(run[0]), text)
        messages = [text] if self.longest is None else [*_messages(text, self.longest)]
        if len(messages) == 1:
            return fenced(messages[0], "") + "\n"
        last = len(messages)
        return (
            "\n\n".join(f"{fenced(m, '')}\n({k}/{last})" for k, m in enumerate(messages, 1)) + "\n"
        )

    def document(self, document: Document) -> str:
        """The command or the question, and the answer below it."""
        from .terminal import render_terminal

        width = self.environment.width
        head = (
            shell_lines(f"$ {document.command}", width)
            if document.command
            else textwrap.fill(document.question, width, subsequent_indent="  ")
        )
        message = render_terminal(document._replace(more=()), self.environment).strip("\n")
        return f"{head}\n\n{message}".strip("\n")


class Place(NamedTuple):
    """How Markdown is written for a site."""

    page: Callable[[Environment], Page | Chat]


BY_PLACE = {  # "": no specific site
    "": Place(Page),
    "github": Place(lambda environment: MathPage(environment, FENCES)),
    "discourse": Place(Page),
    DISCOURSE_WITH_MATH: Place(lambda environment: MathPage(environment, DOLLARS_AND_TABLES)),
    "stackoverflow": Place(Brief),
    "stackexchange": Place(lambda environment: MathPage(environment, DOLLARS)),
    "reddit": Place(Indented),
    "slack": Place(lambda environment: Chat(environment, 80)),
    "discord": Place(lambda environment: Chat(environment, 60, MESSAGE)),
}


def render_markdown(documents: Sequence[Document], environment: Environment) -> str:
    """The documents as Markdown for the site of the environment."""
    return BY_PLACE[environment.place].page(environment).documents(documents)


def _briefly(document: Document) -> Iterator[Section]:
    """The sections of a brief answer: a list of all gradients' equations, and one reason."""
    named = [s for n in document.briefly for s in document.sections if s.name == n]
    listed = [s for s in named if s.name in LISTED]
    if len(listed) and document.briefly:
        rows = [r for s in listed for b in s.blocks if isinstance(b, Table) for r in b.rows]
        text = [b for s in listed[:-1] for b in s.blocks if isinstance(b, Prose)]
        first = Table(tuple(_equation(row) for row in rows if not row.depth))
        yield listed[-1]._replace(title=(), remark=(), blocks=(first, *text))
    for section in named or document.sections:
        if section not in listed:
            yield _reason(section) if section.name == "seed" else section


def _equation(row: Row) -> Row:
    """An equation and its numbers, without the shape: `x.grad = 2 * x = [2, 4]`."""
    first, *others = row.cells
    return Row((first, *(cell for cell in others if isinstance(cell, Tensor))))


def _reason(section: Section) -> Section:
    """The section with its first paragraph only."""
    return section._replace(blocks=tuple(b for b in section.blocks if isinstance(b, Prose))[:1])


def _messages(text: str, longest: int) -> Iterator[str]:
    """A text split into messages, between paragraphs if possible, or between lines."""
    room = longest - len("```\n\n```\n(999/999)")
    message = ""
    for part in _parts(text, room):
        if message and len(message) + len(part) > room:
            yield message.strip("\n")
            message = ""
        message += part
    yield message.strip("\n")


def _parts(text: str, longest: int) -> Iterator[str]:
    """Paragraphs with the empty lines after them; lines of paragraphs that are too long; or parts
    of lines.
    """
    for paragraph in re.findall(r"(?s).+?(?:\n\n+|\Z)", text):
        if len(paragraph) <= longest:
            yield paragraph
            continue
        for line in paragraph.splitlines(keepends=True):
            yield from (line[k : k + longest] for k in range(0, len(line), longest))
