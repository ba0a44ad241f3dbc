"""Words, code and formulas as HTML, coloured by role."""

import re
from collections.abc import Iterable
from html import escape, unescape
from itertools import groupby
from typing import Any

from ...budget import tick
from ...explanation.blocks import (
    EQUALS,
    MOST_COLOURED,
    Document,
    Formula,
    Line,
    Piece,
    input_roles,
    tokens_of,
)
from ...explanation.phrases import number_text
from ...notation.typeset.mathml import mathml
from ..environment import Environment

MARKS = {"✓": "ok", "✗": "bad"}


def tag(name: str, inside: str, /, **attributes: str | None) -> str:
    """An HTML element; attributes that are None are omitted, those that are "" have no value."""
    tick()
    text = "".join(
        f" {key.strip('_').replace('_', '-')}" + (f'="{escape(value)}"' if value else "")
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{text}>{inside}</{name}>"


def _is_sign(piece: Piece) -> bool:
    """Whether a token is punctuation that belongs to the adjacent formulas."""
    return not isinstance(piece, Formula) and (
        piece == EQUALS or piece.role == "number" or not piece.text.strip()
    )


def kind_of(piece: Piece) -> str:
    """The kind of a piece: formula, sign, word or code."""
    if isinstance(piece, Formula):
        return "formula"
    return "sign" if _is_sign(piece) else "word" if piece.role == "word" else "code"


class Markup:
    """Writes the pieces of one document."""

    def __init__(self, environment: Environment, document: Document):
        self.environment = environment
        met = input_roles(document)
        few = len(met) <= MOST_COLOURED
        self.classes = {role: f"in-{k}" if few else "in" for k, role in enumerate(met, 1)}
        self.classes |= {"seed": "seed", "answer": "answer", "number": "num"}
        self.inputs = _pattern(met)

    def line(self, line: Line) -> str:
        """A line of words, code and formulas; formulas next to code are code too."""
        if any(kind_of(piece) == "code" and not piece.role for piece in line):
            line = tuple(tokens_of(line))
        return "".join(self.pieces(pieces, kind) for kind, pieces in groupby(line, kind_of))

    def pieces(self, pieces: Iterable[Any], kind: str) -> str:
        """Consecutive pieces of one kind."""
        if kind == "formula":
            return "".join(map(self.formula, pieces))
        text = "".join(self.span(p.text, p.role) for p in pieces)
        if kind == "word" and text[:1] in MARKS:
            return f'<span class="{MARKS[text[0]]}">{text[0]}</span>{text[1:]}'
        return f"<code>{text}</code>" if kind == "code" else text

    def span(self, text: str, role: str) -> str:
        """A text in the colour of its role."""
        name = self.classes.get(role)
        return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)

    def formula(self, formula: Formula) -> str:
        """A formula as mathematics, in the colours of its roles."""
        built = re.sub(r' data-role="([^"]*)"', self._role, mathml(formula.tree))
        whole = self.classes.get(formula.role)
        return f'<span class="{whole}">{built}</span>' if whole else built

    def _role(self, result: re.Match[str]) -> str:
        """A matched input in its colour."""
        name = self.classes.get(unescape(result[1]))
        return f' class="{name}"' if name else ""

    def coloured(self, formula: Formula) -> str:
        """A formula as text, coloured by role."""
        runs = groupby(formula.tokens, lambda token: token.role)
        return "".join(self.span("".join(t.text for t in run), role) for role, run in runs)

    def question(self, text: str) -> str:
        """A program with its inputs coloured."""
        out, end = "", 0
        for result in self.inputs.finditer(text):
            out += escape(text[end : result.start()])
            out += self.span(result[0], f"input:{result[1]}")
            end = result.end()
        return out + escape(text[end:])

    def number(self, value: Any) -> str:
        """An element of a tensor."""
        if isinstance(value, str):
            return escape(value)
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, str | bool):
            return escape(str(value))
        return number_text(value, self.environment.precision)


def _pattern(met: list[str]) -> re.Pattern[str]:
    """A pattern for the names of inputs, and their elements, within a program."""
    names = "|".join(re.escape(role.removeprefix("input:")) for role in met) or "(?!)"
    return re.compile(rf"(?<![\w.])({names})(\[[\d,]+\])?(?![\w(])")
