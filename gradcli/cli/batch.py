"""`gradcli batch`: answers JSON Lines by JSON Lines."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from time import monotonic
from typing import IO, Any, Protocol

from ..errors import GradcliError, unreadable
from ..limits import Limits
from .streams import Streams
from .work import Answered, answered

PART, LONGEST = 1 << 20, 1 << 30  # bytes of a line over the limit: skipped at a time; most in all


class Requests:
    """The nonblank lines of a file or of standard input. A line that is too long is cut, but is
    still longer than the limit. `bytes` and `lines` count what was read; `size` is the size of the
    file.
    """

    def __init__(self, file: str, streams: Streams, limits: Limits):
        self.file, self.streams, self.most = file, streams, limits.bytes_of_text
        self.bytes, self.lines, self.size = 0, 0, _size(file)

    @contextmanager
    def opened(self) -> Iterator[Iterator[str]]:
        """The lines; the file is opened at once. Raises GradcliError if it cannot be read."""
        if self.file == "-":
            yield self._lines(_duplicate_of_stdin(self.streams.stdin_bytes()))
            return
        with self._source() as source:
            yield self._of_file(source)

    def _source(self) -> IO[bytes]:
        try:
            return open(self.file, "rb")
        except OSError as error:
            raise unreadable(self.file, error) from None

    def _of_file(self, source: IO[bytes]) -> Iterator[str]:
        try:
            yield from self._lines(source)
        except OSError as error:
            raise unreadable(self.file, error) from None

    def _lines(self, source: IO[bytes]) -> Iterator[str]:
        while line := source.readline(self.most):
            self.bytes += len(line)
            text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")  # its BOM
            if text.strip():
                self.lines += 1
                yield text
            if len(line) == self.most and not line.endswith(b"\n") and not _ends(source):
                return


def _size(file: str) -> int | None:
    """The bytes of a file; None for standard input and for endless files."""
    try:
        return os.path.getsize(file) or None if file != "-" else None
    except (OSError, ValueError):
        return None


def _duplicate_of_stdin(source: IO[bytes]) -> IO[bytes]:
    """A duplicate of standard input: Python cannot exit while a thread reads from sys.stdin."""
    try:
        return os.fdopen(os.dup(source.fileno()), "rb")
    except (AttributeError, OSError):
        return source


def _ends(source: IO[bytes]) -> bool:
    """Whether the line ends within LONGEST further bytes, which are skipped."""
    parts = (source.readline(PART) for _ in range(LONGEST // PART))
    return any(len(part) < PART or part.endswith(b"\n") for part in parts)


def answer_lines(requests: Requests, streams: Streams, options: Any, limits: Limits) -> bool:
    """Write each answer as soon as it is computed; returns whether no answer is an error."""
    file = None if options.output == "-" else options.output
    _check_options(options, file)
    _check_files(requests.file, file)
    with requests.opened() as lines:
        count, good = written_before(file, lines, limits) if options.resume and file else (0, True)
        progress = Progress(streams, requests, shown=not (file is None and streams.is_terminal))
        mode = "a" if options.resume else "w"
        with streams.writing(file), _target(file, mode, streams) as target, progress:
            for ready in _answers(lines, limits, options):
                target.write("".join(answer.text for answer in ready))
                progress.add(ready)
                if not file:
                    target.flush()
    if file:
        streams.wrote(file, count + progress.done)
    return good and not progress.failed


def _check_files(requests: str, output: str | None) -> None:
    """Refuse to overwrite the requests with answers. Raises GradcliError."""
    both_exist = output and os.path.exists(output) and os.path.exists(requests)
    if output and both_exist and os.path.samefile(requests, output):
        message = f"{output} holds the requests, and the answers would overwrite them"
        raise GradcliError("file", message, hint="write -o and the name of another file")


def _check_options(options: Any, file: str | None) -> None:
    """Refuse options that require another one. Raises GradcliError."""
    if options.resume and file is None:
        hint = "write -o and the file that was half written"
        raise GradcliError("option", "--resume needs the file to go on with", hint=hint)
    if options.jobs > 1 and options.executor == "dask":
        hint = "leave it out: the workers of the cluster answer"
        raise GradcliError("option", "--jobs is for processes of this machine", hint=hint)
    if options.scheduler and options.executor != "dask":
        raise GradcliError("option", "--scheduler is for --executor dask", hint="write both")
    if options.executor == "dask" and not options.scheduler:
        hint = "as in --executor dask --scheduler tcp://10.0.0.1:8786"
        raise GradcliError("option", "--executor dask needs the address of a scheduler", hint=hint)


def _answers(lines: Iterable[str], limits: Limits, options: Any) -> Iterator[list[Answered]]:
    """The answers in order, in lists of those that are available at the same time."""
    if options.executor == "dask":
        from .cluster import Cluster

        return _in_parallel(lines, limits, Cluster(options.scheduler))
    if options.jobs > 1:
        from .processes import Processes

        return _in_parallel(lines, limits, Processes(options.jobs))
    return ([answered(line, limits)] for line in lines)


def _in_parallel(lines: Iterable[str], limits: Limits, workers: Any) -> Iterator[list[Answered]]:
    from .parallel import in_parallel

    with workers as slots:
        yield from in_parallel(lines, limits, slots)


def _target(file: str | None, mode: str, streams: Streams) -> AbstractContextManager[IO[str]]:
    return open(file, mode, encoding="utf-8") if file else nullcontext(streams.stdout)


def written_before(file: str, lines: Iterator[str], limits: Limits) -> tuple[int, bool]:
    """The number of answers in a file, and whether none of them is an error. Their requests are
    skipped in `lines`.

    An incomplete last line is removed. Raises GradcliError if the file contains anything else.
    """
    try:
        with open(file, "r+b") as output:
            result = _passed_over(output, file, lines, limits)
            output.truncate(output.seek(result[2]))
            return result[:2]
    except FileNotFoundError:
        return 0, True
    except OSError as error:
        raise unreadable(file, error) from None


def _passed_over(
    output: IO[bytes], file: str, lines: Iterator[str], limits: Limits
) -> tuple[int, bool, int]:
    """The number of answers, whether none is an error, and the bytes of the complete lines."""
    from ..batches import identity_of

    good, size = True, 0
    for number in count(1):
        line = output.readline()
        if not line.endswith(b"\n"):
            return number - 1, good, size
        answer, request = _parsed_answer(line), next(lines, None)
        if answer is None or request is None or answer["id"] != identity_of(request, limits):
            message = f"line {number} of {file} is no answer to line {number} of the requests"
            hint = "--resume goes on with the output of the same requests; leave it out to begin"
            raise GradcliError("file", message, hint=hint)
        good, size = good and answer["ok"], size + len(line)
    raise AssertionError


def _parsed_answer(line: bytes) -> dict[str, Any] | None:
    """A line of an output as an answer; None if it is not one."""
    try:
        result = json.loads(line)
    except ValueError:
        return None
    return result if isinstance(result, dict) and {"id", "ok"} <= result.keys() else None


OFTEN = 0.1  # seconds between updates
WIDTH = 24  # characters of the progress bar
CLEAR = "\r\x1b[K"


class Source(Protocol):
    """The progress of reading: bytes and lines read, and the total size if known."""

    bytes: int
    lines: int
    size: int | None


class Progress:
    """A progress line that is updated, and erased at the end; hidden unless stderr is a terminal
    and `shown` is true. `done` lines are written, of which `failed` are errors.
    """

    def __init__(self, streams: Streams, source: Source, shown: bool):
        self._stream, self._source = streams.stderr, source
        self._shown = (
            shown and streams.stderr.isatty() and streams.variables.get("TERM", "") != "dumb"
        )
        self._bar = "#-" if streams.ascii or streams.wants_ascii else "█░"
        self._began, self._next = monotonic(), 0.0
        self._before, self.done, self.failed = source.lines, 0, 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._next:
            self._write(CLEAR)

    def add(self, answers: Sequence[Answered]) -> None:
        """Count more lines as written."""
        self.done += len(answers)
        self.failed += sum(not answer.ok for answer in answers)
        now = monotonic()
        if self._shown and now >= self._next:
            self._next = now + OFTEN
            self._write(CLEAR + self.text(now - self._began))

    def text(self, seconds: float) -> str:
        """The progress line after so many seconds."""
        done = self._before + self.done
        parts = [f"{done:,} lines", f"{self.done / max(seconds, 1e-3):,.0f} a second"]
        parts += [f"{self.failed:,} failed"] if self.failed else []
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
        except OSError:  # an error of the display must not end the answers
            self._shown = False
