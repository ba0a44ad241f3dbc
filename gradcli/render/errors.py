"""Errors as text: what is wrong, where, and a correction."""

import textwrap
import unicodedata

from .. import option_spelling
from ..errors import EXPRESSION, GradcliError, Span

MAX_EXCERPT = 100  # columns of the line of input that is shown, with its prefix
MIN_EXCERPT = 20  # columns that the input has there, even after a long prefix
MAX_LINE = 400  # characters; longer lines of a message, which may quote input, are shortened


def message(error: GradcliError, columns: int | None = None) -> str:
    """The lines of an error, with its span underlined; wrapped to the columns of a terminal."""
    lines = _wrapped(f"{head(error)} {error.message}", columns, "  ")
    if error.span is not None and error.span.text:
        lines += _underlined(error.span, min(MAX_EXCERPT, columns or MAX_EXCERPT))
    for line in (error.hint or "").splitlines():
        lines += _wrapped(f"  {line}", columns, "    ")
    return "\n".join(map(visible, lines)) + "\n"


def head(error: GradcliError, colored: bool = False) -> str:
    """The start of an error message, with its code; `colored`: in a red that is always legible."""
    text = f"error[{error.code}]:"
    return f"\x1b[1;38;5;131m{text}\x1b[0m" if colored else text


def as_json(error: GradcliError) -> str:
    """An error as JSON, with the keys that it has in `batch`. Its hint names options as a shell
    spells them; `span` has positions in `text`.
    """
    from .json import render_json

    fields: dict[str, object] = {"code": error.code, "message": error.message}
    fields |= {"hint": error.hint} if error.hint else {}
    if error.span is not None:
        span = error.span
        field = "expr" if span.origin == EXPRESSION else option_spelling.field_of(span.origin)
        fields |= {"span": [span.start, span.end], "in": field, "text": span.text}
    return render_json({"ok": False, "error": fields}) + "\n"


def wrapped(text: str, columns: int | None, indent: str = "  ") -> str:
    """Text wrapped to the columns of a terminal, unless they are None; long lines are shortened."""
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, columns, indent))


def _wrapped(line: str, columns: int | None, indent: str) -> list[str]:
    """A line, shortened if very long, and wrapped between words unless `columns` is None."""
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
    """A line without its middle if it is longer than MAX_LINE, cut between words if possible."""
    if len(line) <= MAX_LINE:
        return line
    head, tail = line[: MAX_LINE - 20], line[-18:]
    space, after = head.rfind(" "), tail.find(" ")
    head = head[:space] if space > MAX_LINE // 2 else head
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
    room = max(MIN_EXCERPT, width - len(f"  {where}{origin}……"))
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
