"""Lines in, lines out."""

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO

from ..errors import unreadable
from ..limits import Limits
from ..requests import batch
from .streams import Streams


def request_lines(file: str, streams: Streams) -> Iterator[str]:
    """The lines of a file, or of standard input, that are not blank."""
    if file == "-":
        yield from _lines(streams.stdin_bytes())
        return
    try:
        with open(file, "rb") as source:
            yield from _lines(source)
    except OSError as error:
        raise unreadable(file, error) from None


def _lines(source: Iterable[bytes | str]) -> Iterator[str]:
    for line in source:
        text = line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line
        text = text.removeprefix("\ufeff")  # as some editors begin a file
        if text.strip():
            yield text


def answer_lines(lines: Iterable[str], streams: Streams, file: str | None, limits: Limits) -> bool:
    """Write an answer for each line as soon as it is there; whether all of them are answers."""
    good, file = True, None if file == "-" else file
    with streams.writing(file), _target(file, streams) as target:
        for answer in batch(lines, limits):
            good = good and answer["ok"]
            target.write(json.dumps(answer, ensure_ascii=False) + "\n")
            if not file:
                target.flush()
    return good


def _target(file: str | None, streams: Streams) -> AbstractContextManager[IO[str]]:
    return open(file, "w", encoding="utf-8") if file else nullcontext(streams.stdout)
