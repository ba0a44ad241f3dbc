"""What mathematics is set from: signs, and marks around what stands above, below or beside other
things. The writers of LaTeX and MathML each say how they print these.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Identifier(NamedTuple):
    """A letter, or a word that is one variable; its role is that of a token."""

    text: str
    role: str = ""


class Digits(NamedTuple):
    """A number without a sign."""

    text: str


class Sign(NamedTuple):
    """An operator, a relation, a bracket, as a character of Unicode."""

    text: str


class Function(NamedTuple):
    """The name of a function, which is set upright."""

    text: str


class Words(NamedTuple):
    """Text within a formula."""

    text: str


class Mark(NamedTuple):
    """Where a layout opens, comes to its next part or row, and closes."""

    layout: str
    place: str


Piece = Identifier | Digits | Sign | Function | Words | Mark

# The layouts, and what they have parts for.
FRACTION = "fraction"  # numerator, denominator
ROOT = "root"  # what the root is of
ABOVE = "above"  # base, exponent
BELOW = "below"  # base, index
BELOW_GROUP = "below a group"  # the same, where the base has an index of its own
UNDER = "under"  # sign of a sum, letters
DOT = "dot"  # what has a dot above it
ABSOLUTE, NORM, FLOOR = "absolute", "norm", "floor"  # what stands between the bars
CASES = "cases"  # rows of a value and a condition
MATRIX = "matrix"  # rows of entries
TALL = (FRACTION, CASES, MATRIX, UNDER)  # layouts that brackets around them grow with

TIMES = Sign("\N{INVISIBLE TIMES}")  # side by side
DIFFERENTIAL = Sign("∂")
TRANSPOSED = Sign("⊤")
EQUALS = Sign("=")
OPEN, CLOSE = Sign("("), Sign(")")


def laid_out(layout: str, *parts: Iterable[Any]) -> Iterator[Any]:
    """The pieces of a layout with these parts."""
    yield Mark(layout, "open")
    for place, part in enumerate(parts):
        if place:
            yield Mark(layout, "next")
        yield from part
    yield Mark(layout, "close")


def in_rows(layout: str, rows: Iterable[Iterable[Iterable[Any]]]) -> Iterator[Any]:
    """The pieces of a layout with rows of parts."""
    yield Mark(layout, "open")
    for place, row in enumerate(rows):
        if place:
            yield Mark(layout, "row")
        for k, part in enumerate(row):
            if k:
                yield Mark(layout, "next")
            yield from part
    yield Mark(layout, "close")
