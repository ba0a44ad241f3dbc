"""Markdown for the place where it is pasted, within what that place shows.

GitHub, Discourse and Stack Overflow read GitHub-flavoured Markdown. Reddit reads an older one, in
which code is indented. A chat shows what a terminal shows, in its width and in messages of its
length.
"""

import re
import textwrap
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..explanation.blocks import Block, Code, Document, Matrix, Prose, Section
from .environment import Environment
from .markdown_math import DOLLARS, DOLLARS_AND_TABLES, FENCES, MathPage
from .markdown_page import Page, fenced
from .names import DISCOURSE_WITH_MATH

ANSWER_LINES = 25  # of an answer that is read on a page of answers
MESSAGE = 1_890  # characters: Discord takes 2,000
BACKTICKS = re.compile("```+")


class Brief(Page):
    """An answer among others: the gradients, one reason, code, and no headings."""

    def document(self, document: Document) -> str:
        """Without the code where that makes it too long."""
        made = super().document(_with(document, _is_reason_or_code))
        if made.count("\n") > ANSWER_LINES:
            made = super().document(_with(document, _is_reason))
        return made


class Indented(Page):
    """Markdown in which code is indented and tables are pictures of text."""

    def escaped(self, text: str) -> str:
        """A ^ raises what follows it."""
        return super().escaped(text).replace("^", "\\^")

    def fenced(self, text: str, language: str) -> str:
        """Four spaces before each line."""
        return textwrap.indent(text, " " * 4, lambda _: True)

    def matrix(self, block: Matrix) -> str:
        """As a terminal draws it."""
        return self.drawn_matrix(block)


class Chat:
    """What a terminal shows, in a fence a message."""

    def __init__(self, environment: Environment, width: int, longest: int | None = None):
        self.environment = environment._replace(width=width, color=False)
        self.longest = longest

    def document(self, document: Document) -> str:
        """The command, or what was asked, and the answer below it; messages that are one of several
        say which.
        """
        from .terminal import render_terminal

        asked = f"$ {document.command}" if document.command else document.question
        head = textwrap.fill(asked, self.environment.width, subsequent_indent="  ")
        said = render_terminal(document._replace(more=()), self.environment).strip("\n")
        text = BACKTICKS.sub(lambda run: "\u200b".join(run[0]), f"{head}\n\n{said}".strip("\n"))
        messages = [text] if self.longest is None else [*_messages(text, self.longest)]
        if len(messages) == 1:
            return fenced(messages[0], "") + "\n"
        last = len(messages)
        return (
            "\n\n".join(f"{fenced(m, '')}\n({k}/{last})" for k, m in enumerate(messages, 1)) + "\n"
        )


class Place(NamedTuple):
    """How a place is written for, and what it shows where no section is named."""

    page: Callable[[Environment], Page | Chat]
    sections: tuple[str, ...] = ()


BY_PLACE = {  # "" is anywhere
    "": Place(Page),
    "github": Place(lambda environment: MathPage(environment, FENCES)),
    "discourse": Place(Page),
    DISCOURSE_WITH_MATH: Place(lambda environment: MathPage(environment, DOLLARS_AND_TABLES)),
    "stackoverflow": Place(Brief, ("answer", "seed", "code")),
    "stackexchange": Place(lambda environment: MathPage(environment, DOLLARS)),
    "reddit": Place(Indented),
    "slack": Place(lambda environment: Chat(environment, 80)),
    "discord": Place(lambda environment: Chat(environment, 60, MESSAGE)),
}


def render_markdown(document: Document, environment: Environment) -> str:
    """The document as the place where it is pasted shows it."""
    return BY_PLACE[environment.place].page(environment).document(document)


def shown_at(place: str, full: bool) -> tuple[str, ...]:
    """The sections that are shown at a place where none is named; none for the usual ones."""
    return () if full else BY_PLACE[place].sections


def _with(document: Document, wanted: Callable[[Block], bool]) -> Document:
    """The document with the blocks that are wanted, one reason among them, and no headings."""
    blocks = [block for section in document.sections for block in section.blocks if wanted(block)]
    reasons = [block for block in blocks if isinstance(block, Prose)]
    kept = [block for block in blocks if block not in reasons[1:]]
    return document._replace(sections=tuple(Section("", (), (), (block,)) for block in kept))


def _is_reason(block: Block) -> bool:
    return isinstance(block, Prose)


def _is_reason_or_code(block: Block) -> bool:
    return isinstance(block, Prose | Code)


def _messages(text: str, longest: int) -> Iterator[str]:
    """A text in messages: paragraphs stay together where they can, and lines where they can."""
    room = longest - len("```\n\n```\n(999/999)")
    message = ""
    for part in _parts(text, room):
        if message and len(message) + len(part) > room:
            yield message.strip("\n")
            message = ""
        message += part
    yield message.strip("\n")


def _parts(text: str, longest: int) -> Iterator[str]:
    """Paragraphs with the empty lines after them, or the lines of those that are too long, or
    pieces of lines.
    """
    for paragraph in re.findall(r"(?s).+?(?:\n\n+|\Z)", text):
        if len(paragraph) <= longest:
            yield paragraph
            continue
        for line in paragraph.splitlines(keepends=True):
            yield from (line[k : k + longest] for k in range(0, len(line), longest))
