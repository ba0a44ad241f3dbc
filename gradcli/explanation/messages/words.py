"""Normalises texts to words that can be compared despite changes by terminals, web pages or people.

Two words are equal if they differ only in case, plural, hyphens or quotes, or if they are synonyms,
such as "Variable" and "Tensor", or "can't" and "cannot".
"""

import html
import re
from typing import NamedTuple

HOLE = re.compile(r"\{(\w+)\}")
PIECES = re.compile(
    r"(?<=for )[-+*/@%&|^<>=]+(?=:)"  # the operator in "unsupported operand type(s) for *:"
    r"|(?<=[a-z0-9A-Z])Backward(?![a-z])"  # AddBackward0 is the grad_fn of Add
    r"|(?:(?!(?<=[a-z0-9A-Z])Backward)[^\W\d\u3400-\u9fff])+(?:'t\b)?"
    r"|\d+(?:\.\d+)?"
    r"|[\u3400-\u9fff]"
)
QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "′": "'", "´": "'", "“": '"', "”": '"', "\u00a0": " ", "…": " ... "}
)
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# Prefixes of lines in terminals, test runners, launchers and web pages.
LINE_HEAD = re.compile(
    r"^(?:E  +|> ?|\[rank\d+\]: ?|\[\d+\]<std\w+>: ?|\d+: (?=[A-Z]))+", re.MULTILINE
)
ADDRESS = re.compile(r"(?:https?://|www\.)[^\s\"'<>]+")
FILE_LINE = re.compile(r'^.*\bFile "[^"\n]*", line \d+.*$', re.MULTILINE)
JOINED = {("in", "place"): "inplace", ("can", "not"): "cannot", ("re", "entrant"): "reentrant"}
SYNONYMS = {"variable": "tensor", "in_place": "inplace", "cant": "cannot", "can't": "cannot"}


class Word(NamedTuple):
    """A normalised word, and its position in the text."""

    text: str
    start: int
    end: int


def clean(text: str) -> str:
    """A pasted text without terminal escapes, HTML entities, prompts and file lines."""
    text = ESCAPES.sub("", html.unescape(text)).translate(QUOTES)
    return FILE_LINE.sub("", LINE_HEAD.sub("", text))


def words(text: str) -> list[Word]:
    """The words of a cleaned text, in order."""
    result: list[Word] = []
    for piece in PIECES.finditer(ADDRESS.sub(lambda address: " " * len(address[0]), text)):
        for word in _normalized(piece[0].lower()):
            result.append(Word(word, piece.start(), piece.end()))
        if len(result) > 1 and (result[-2].text, result[-1].text) in JOINED:
            last, first = result.pop(), result.pop()
            result.append(Word(JOINED[first.text, last.text], first.start, last.end))
    return result


def _normalized(word: str) -> list[str]:
    if word.endswith("n't") and word not in SYNONYMS:
        return [word[:-3], "not"]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return [SYNONYMS.get(word, word)]
