"""What one should know besides."""

from collections.abc import Iterable

from ..blocks import Note, Section, words


def notes(result: Iterable[tuple[str, str]]) -> Section:
    """A line for every note, of a code and a sentence; without any, the section is not shown."""
    shown = tuple(Note(code, words(message)) for code, message in result)
    return Section("notes", words("Notes"), (), shown)
