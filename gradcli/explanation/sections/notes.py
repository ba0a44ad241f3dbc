"""The notes."""

from collections.abc import Iterable

from ..blocks import Note, Section, words


def notes(result: Iterable[tuple[str, str]]) -> Section:
    """A line for every note; without notes the section is empty, and not shown."""
    blocks = tuple(Note(code, words(message)) for code, message in result)
    return Section("notes", words("Notes"), (), blocks)
