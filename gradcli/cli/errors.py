"""Errors for people: what is wrong, where, and what would be right."""

import unicodedata

from ..errors import EXPRESSION, GradcliError, Span

WIDTH = 96
LONGEST = 400  # characters of a line of a message: it may hold what was typed


def message(error: GradcliError) -> str:
    """The lines of an error, the place underlined."""
    lines = [f"error[{error.code}]: {error.message}"]
    if error.span is not None and error.span.text:
        lines += _place(error.span)
    if error.hint:
        lines += [f"  {line}" for line in error.hint.splitlines()]
    return "\n".join(visible(_shortened(line)) for line in lines) + "\n"


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 20]}…{line[-18:]}"


def visible(text: str) -> str:
    """Text whose control characters are shown and do nothing."""
    return "".join(
        c if c == "\t" or unicodedata.category(c)[0] != "C" else f"\\x{ord(c):02x}" for c in text
    )


def _place(span: Span) -> list[str]:
    """The line in question and a caret under each of its characters.

    A long line is cut to what is near.
    """
    start = span.text.rfind("\n", 0, span.start) + 1
    end = span.text.find("\n", span.start)
    line = span.text[start : end if end >= 0 else len(span.text)]
    column = span.start - start
    length = max(1, min(span.end - span.start, len(line) - column))
    first = max(0, column - WIDTH // 2) if len(line) > WIDTH else 0
    shown, length = line[first : first + WIDTH], min(length, WIDTH)
    head, tail = "…" * bool(first), "…" * (first + WIDTH < len(line))
    number = span.text.count("\n", 0, span.start) + 1
    where = f"line {number}: " if "\n" in span.text.strip() else ""
    origin = "" if span.origin == EXPRESSION else f"{span.origin}: "
    lead = f"  {where}{origin}{head}"
    return [
        f"{lead}{shown}{tail}",
        " " * (len(lead) + _columns(shown[: column - first])) + "^" * length,
    ]


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
