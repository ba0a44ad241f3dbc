"""Programs in, what they do out."""

from typing import TYPE_CHECKING

from ..errors import unreadable
from ..limits import Limits
from .streams import Streams

if TYPE_CHECKING:
    from ..explanation.reading.answer import Answer


def read_source(file: str, streams: Streams, limits: Limits) -> "list[Answer]":
    """The answers for a file, or for standard input."""
    from ..explanation.reading.answer import answer

    if file == "-":
        return answer(streams.expression(file, limits))
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            text = source.read(limits.sizes["length"] + 1)
    except OSError as error:
        raise unreadable(file, error) from None
    limits.check("length", len(text), file)
    return answer(text)
