"""Sentences of docstrings as lines, in which code is distinguished from words."""

import re

from ..notation.tree import Token
from .blocks import Line

NAME = r"(?!then\b)[A-Za-z_]\w*(?:\.\w+)*"
BRACKETS = r"\((?:[^()]|\([^()]*\))*\)"
ATOM = rf"(?:{NAME}{BRACKETS}|{NAME}|\d+(?:\.\d+)?|{BRACKETS}|\|[^|]+\|)"
OPERATOR = r"(?: (?:\*\*|[-+*/@]|[<>=]=?) |\*\*|[*/])"  # - without blanks joins words
CODE = re.compile(
    rf"`(?P<quoted>[^`]+)`|-?{ATOM}(?:{OPERATOR}{ATOM})+"  # x ** 2, (input - target) * w
    rf"|\|[^|]+\||{NAME}{BRACKETS}|\w+_\w+|{NAME}=\w+"
)


def sentence(text: str) -> Line:
    """A sentence in one line."""
    text = " ".join(text.split())
    line: list[Token] = []
    end = 0
    for code in CODE.finditer(text):
        line += [Token(text[end : code.start()], "word"), Token(code["quoted"] or code[0])]
        end = code.end()
    return tuple(token for token in [*line, Token(text[end:], "word")] if token.text)
