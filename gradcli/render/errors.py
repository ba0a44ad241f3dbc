"""Errors as text: what is wrong, where, and a correction."""

import textwrap
import unicodedata

from .. import option_spelling
from ..errors import EXPRESSION, GradcliError, Span

WIDTH = 100
LEAST = 20  # smallest number of columns of the shown line, even after a long prefix
LONGEST = 400  # longer lines of a message, which may contain user input, are shortened


def message(error: GradcliError, columns: int | None = None) -> str:
    """The lines of an error, with its span underlined; wrapped to the columns of a terminal."""
    lines = _wrapped(f"{head(error)} {error.message}", columns, "  ")
    if error.span is not None and error.span.text:
        lines += _underlined(error.span, min(WIDTH, columns or WIDTH))
    for line in (error.hint or "").splitlines():
        lines += _wrapped(f"  {line}", columns, "    ")
    return "\n".join(map(visible, lines)) + "\n"


def head(error: GradcliError, colored: bool = False) -> str:
    """The start of an error message, with its code; `colored`: in a red that is always legible."""
    text = f"error[{error.code}]:"
    return f"\x1b[1;38;5;131m{text}\x1b[0m" if colored else text


def as_json(error: GradcliError) -> str:
    """An error as JSON, as in `batch`, with the options of a shell; its span refers to `text`."""
    from .json import render_json

    text: dict[str, object] = {"code": error.code, "message": error.message}
    text |= {"hint": error.hint} if error.hint else {}
    if error.span is not None:
        span = error.span
        field = "expr" if span.origin == EXPRESSION else option_spelling.field_of(span.origin)
        text |= {"span": [span.start, span.end], "in": field, "text": span.text}
    return render_json({"ok": False, "error": text}) + "\n"


def wrapped(text: str, columns: int | None, indent: str = "  ") -> str:
    """Text wrapped to the columns of a terminal; unchanged for None."""
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, columns, indent))


def _wrapped(line: str, columns: int | None, indent: str) -> list[str]:
    """A line wrapped between words; without `columns` one line, shortened if very long."""
    line = _shortened(line)
    if columns is None or len(line) <= columns:
        return [line]
    return textwrap.wrap(
        line,
        columns,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
    )


def _shortened(line: str) -> str:
    """A line without its middle if it is too long, cut between words if possible."""
    if len(line) <= LONGEST:
        return line
    head, tail = line[: LONGEST - 20], line[-18:]
    space, after = head.rfind(" "), tail.find(" ")
    head = head[:space] if space > LONGEST // 2 else head
    return f"{head}…{tail[after:] if after >= 0 else tail}"


def visible(text: str) -> str:
    """Text with control characters made visible, and so without effect."""
    return "".join(
        c if c == "\t" or unicodedata.category(c)[0] != "C" else f"\\x{ord(c):02x}" for c in text
    )


def _underlined(span: Span, width: int) -> list[str]:
    """The line of a span, with a caret under each character of the span.

    Of a long line only the neighbourhood of the span is shown.
    """
    start = span.text.rfind("\n", 0, span.start) + 1
    end = span.text.find("\n", span.start)
    line = span.text[start : end if end >= 0 else len(span.text)]
    column = span.start - start
    length = max(1, min(span.end - span.start, len(line) - column))
    number = span.text.count("\n", 0, span.start) + 1
    where = f"line {number}: " if "\n" in span.text.strip() else ""
    origin = "" if span.origin == EXPRESSION else f"{span.origin}: "
    room = max(LEAST, width - len(f"  {where}{origin}……"))
    first = max(0, column - room // 2) if len(line) > room else 0
    shown, length = line[first : first + room], min(length, len(line[column : first + room]) or 1)
    head, tail = "…" * bool(first), "…" * (first + room < len(line))
    lead, before = f"  {where}{origin}{head}", column - first
    return [
        f"{lead}{shown}{tail}",
        " " * (len(lead) + _columns(shown[:before])) + "^" * _columns(shown[before:][:length]),
    ]


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
