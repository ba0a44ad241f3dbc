"""How far a batch has come, on a terminal's standard error."""

from time import monotonic
from typing import Protocol

from .streams import Streams

OFTEN = 0.1  # seconds from one picture to the next
WIDTH = 24  # of the bar
CLEAR = "\r\x1b[K"


class Source(Protocol):
    """What is read: how much of it was, and how large it is where that is known."""

    bytes: int
    lines: int
    size: int | None


class Progress:
    """A line that is written again and again, and is gone at the end; nothing where nobody looks,
    or where it is not to be `shown`.
    """

    def __init__(self, streams: Streams, source: Source, shown: bool):
        self._stream, self._source = streams.stderr, source
        self._shown = (
            shown and streams.stderr.isatty() and streams.variables.get("TERM", "") != "dumb"
        )
        self._bar = "#-" if streams.ascii or streams.wants_ascii else "█░"
        self._began, self._next = monotonic(), 0.0
        self._before, self._done, self._failed = source.lines, 0, 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._next:
            self._write(CLEAR)

    def add(self, ok: bool) -> None:
        """Another line is written."""
        self._done += 1
        self._failed += not ok
        now = monotonic()
        if self._shown and now >= self._next:
            self._next = now + OFTEN
            self._write(CLEAR + self.text(now - self._began))

    def text(self, seconds: float) -> str:
        """The line after so many seconds."""
        done = self._before + self._done
        parts = [f"{done:,} lines", f"{self._done / max(seconds, 1e-3):,.0f} a second"]
        parts += [f"{self._failed:,} failed"] if self._failed else []
        if self._source.size is None:
            return ", ".join(parts)
        part = min(1.0, self._source.bytes / self._source.size * done / self._source.lines)
        filled = int(part * WIDTH)
        bar = self._bar[0] * filled + self._bar[1] * (WIDTH - filled)
        return f"{bar} {part:4.0%}  {', '.join(parts)}"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the answers are what counts
            self._shown = False
