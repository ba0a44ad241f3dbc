"""The sections on checks and notes, and placeholders for omitted sections."""

from collections.abc import Iterable

from ..blocks import Note, Prose, Row, Section, Table, words
from ..checks import Check
from ..phrases import sentence


def notes(result: Iterable[tuple[str, str]]) -> Section:
    """A line for every distinct note. Without notes the section is empty, and is not shown."""
    blocks = tuple(Note(code, words(message)) for code, message in dict.fromkeys(result))
    return Section("notes", words("Notes"), (), blocks)


def left_out(name: str) -> Section:
    """The placeholder for a section that was omitted for lack of time."""
    text = "left out, as it takes longer (--limit seconds=N)"
    return Section(name, words(sentence(name)), (), (Prose(words(text)),))


def checks(result: Iterable[Check]) -> Section:
    """A row for every check."""
    return Section("checks", words("Checked"), (), (Table(tuple(map(_row, result))),))


def _row(c: Check) -> Row:
    outcome = {True: "✓", False: "✗ disagrees", None: "–"}[c.ok]
    text = "; ".join(part for part in (_error(c), c.remark) if part)
    return Row((words(c.name), words(outcome), words(text)))


def _error(c: Check) -> str:
    if c.max_error is None:
        return ""
    at = f", at {c.place}" if c.place else ""
    return "exact" if c.max_error == 0 else f"{c.max_error:.0e} at most{at}"
