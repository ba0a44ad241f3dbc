"""Lines in, lines out."""

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO

from ..errors import unreadable
from ..limits import Limits
from ..requests import batch
from .streams import Streams

PART, LONGEST = 1 << 20, 1 << 30


def request_lines(file: str, streams: Streams, limits: Limits) -> Iterator[str]:
    """The lines of a file, or of standard input, that are not blank; of one that is too long, so
    much that this shows.
    """
    if file == "-":
        yield from _lines(streams.stdin_bytes(), limits.bytes_of_text)
        return
    try:
        with open(file, "rb") as source:
            yield from _lines(source, limits.bytes_of_text)
    except OSError as error:
        raise unreadable(file, error) from None


def _lines(source: IO[bytes], most: int) -> Iterator[str]:
    while line := source.readline(most):
        text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")  # of some editors
        if text.strip():
            yield text
        if len(line) == most and not line.endswith(b"\n") and not _ends(source):
            return


def _ends(source: IO[bytes]) -> bool:
    """Whether the line ends before LONGEST bytes of its rest, which are passed over."""
    parts = (source.readline(PART) for _ in range(LONGEST // PART))
    return any(len(part) < PART or part.endswith(b"\n") for part in parts)


def answer_lines(lines: Iterable[str], streams: Streams, file: str | None, limits: Limits) -> bool:
    """Write an answer for each line as soon as it is there; whether all of them are answers."""
    good, count, file = True, 0, None if file == "-" else file
    with streams.writing(file), _target(file, streams) as target:
        for answer in batch(lines, limits):
            good, count = good and answer["ok"], count + 1
            target.write(json.dumps(answer, ensure_ascii=False) + "\n")
            if not file:
                target.flush()
    if file:
        streams.wrote(file, count)
    return good


def _target(file: str | None, streams: Streams) -> AbstractContextManager[IO[str]]:
    return open(file, "w", encoding="utf-8") if file else nullcontext(streams.stdout)
