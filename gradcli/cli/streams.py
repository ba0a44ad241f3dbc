"""Standard streams of a command, and the capabilities of its terminal."""

import errno
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from ..errors import GradcliError
from ..limits import Limits
from ..render.environment import Environment

PIPE_WIDTH = 80
NARROWEST = 40


class ReaderGone(Exception):
    """The reader of the output has closed it, as in `gradcli ... | head`."""


class Closed(io.StringIO):
    """A stream that was closed when the process started, as in `gradcli ... >&-`."""

    def write(self, text: str) -> int:
        """Raises OSError: nothing can be written."""
        raise OSError(errno.EBADF, "it is closed")


class Streams:
    """Standard streams and environment variables, in one object that tests can construct."""

    def __init__(
        self,
        stdin: IO[str] | None,
        stdout: IO[str],
        stderr: IO[str],
        variables: Mapping[str, str],
    ):
        self.stdin, self.stdout, self.stderr, self.variables = stdin, stdout, stderr, variables
        self._read = False
        self.arguments: list[str] = []  # command-line arguments
        self.piped = ""  # the expression, if it was read from standard input
        self.command = "gradcli"  # the name of the command, if known
        self.ascii = False  # whether only ASCII may be written, in any format

    @classmethod
    def of_process(cls) -> "Streams":
        """The streams of this process."""
        sys.stdout = sys.stdout or Closed()  # typer writes help there, and must not find None
        return cls(sys.stdin, sys.stdout, sys.stderr or io.StringIO(), os.environ)

    @property
    def is_terminal(self) -> bool:
        """Whether the output is a terminal."""
        return self.stdout.isatty()

    def environment(
        self,
        color: str,
        width: int | None,
        precision: int,
        full: bool,
        to_file: bool,
    ) -> Environment:
        """The capabilities of the output."""
        shown = self.is_terminal and not to_file
        return Environment(
            width=width or (shown and self.columns(self.stdout)) or PIPE_WIDTH,
            color=self.in_color(color, shown),
            ascii=self.ascii or self.wants_ascii,
            precision=precision,
            full=full,
        )

    def in_color(self, color: str, shown: bool) -> bool:
        """Whether to use colours: decided by the option, then NO_COLOR, then FORCE_COLOR, then
        whether the output is `shown` in a terminal.
        """
        if color != "auto":
            return color == "always"
        v = self.variables
        if v.get("NO_COLOR"):
            return False
        return bool(v.get("FORCE_COLOR")) or (shown and v.get("TERM") != "dumb")

    def columns(self, stream: IO[str]) -> int | None:
        """The columns of a stream's terminal, at least NARROWEST; None if it is none."""
        if not stream.isatty():
            return None
        text = self.variables.get("COLUMNS", "")
        if text.isascii() and text.isdigit() and int(text) > 0:
            return max(NARROWEST, int(text))
        try:
            return max(NARROWEST, os.get_terminal_size(stream.fileno()).columns)
        except (OSError, ValueError):
            return PIPE_WIDTH

    @property
    def wants_ascii(self) -> bool:
        """Whether the locale is C, or the output cannot encode anything else."""
        v = self.variables
        locale = v.get("LC_ALL") or v.get("LANG") or ""
        return locale in ("C", "POSIX") or not (
            getattr(self.stdout, "encoding", None) or "utf-8"
        ).lower().startswith("utf")

    def expression(self, text: str, limits: Limits) -> str:
        """The expression: `-` means standard input, which is read up to a limit."""
        if text != "-":
            return text
        data = self.stdin_bytes().read(limits.bytes_of_text).decode("utf-8", errors="replace")
        limits.check("length", len(data), "the text on standard input")
        self.piped = data
        return data

    def stdin_bytes(self) -> IO[bytes]:
        """Standard input as bytes; it can be read only once."""
        if self._read:
            raise GradcliError(
                "option",
                "standard input can be read only once",
                hint="put one of them into a file: @file",
            )
        if self.stdin is None:
            raise GradcliError("file", "standard input cannot be read: it is closed")
        self._read = True
        return getattr(self.stdin, "buffer", self.stdin)  # type: ignore[arg-type]

    def write(self, text: str, file: str | None = None, called: str = "") -> None:
        """Write text to the output, or to a file; a message then says what the file is `called`,
        such as an HTML page.
        """
        file, text = None if file == "-" else file, self._shown(text, self.ascii)
        with self.writing(file):
            if file is None:
                self.stdout.write(text)
                self.stdout.flush()
            else:
                with open(file, "w", encoding="utf-8") as target:
                    target.write(text)
                self.wrote(file, text.count("\n"), called)

    def wrote(self, file: str, lines: int, called: str = "") -> None:
        """Report on standard error that a file was written: `an HTML page (26 lines)`."""
        counted = f"{lines:,} line{'s' * (lines != 1)}"
        self.warn(f"wrote {f'{called} ({counted})' if called else counted} to {file}")

    def _shown(self, text: str, ascii_only: bool) -> str:
        if not ascii_only or text.isascii():
            return text
        from ..render.ascii import in_ascii

        return in_ascii(text)

    @contextmanager
    def writing(self, file: str | None) -> Iterator[None]:
        """A context for writing to a file or the output. Raises GradcliError if writing fails."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            if file is None:
                self.silence()
            name = "standard output" if file is None else file or "a file without a name"
            message = f"{name} cannot be written: {error.strerror}"
            absent = isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError)
            hint = "write -o and the name of a file in a folder that is there" if absent else None
            raise GradcliError("file", message, hint=hint) from None

    def silence(self) -> None:
        """Discard buffered output, so that it causes no error at exit."""
        if self.stdout is sys.stdout and not isinstance(self.stdout, Closed):
            _discard(sys.stdout)

    def warn(self, text: str) -> None:
        """Write lines to standard error, wrapped in a terminal."""
        from ..render.errors import wrapped

        text = wrapped(text, self.columns(self.stderr))
        self._write_error(self._shown(text, self.ascii or self.wants_ascii))

    def fail(self, error: GradcliError, color: str) -> None:
        """Write an error to standard error, with its code in colour."""
        from ..render.errors import head, message

        text = message(error, self.columns(self.stderr)).removesuffix("\n")
        text = self._shown(text, self.ascii or self.wants_ascii)
        if self.in_color(color, self.stderr.isatty()):
            text = head(error, colored=True) + text.removeprefix(head(error))
        self._write_error(text)

    def _write_error(self, text: str) -> None:
        try:
            self.stderr.write(text + "\n")
            self.stderr.flush()
        except OSError:  # the message cannot be written either
            if self.stderr is sys.stderr:
                _discard(sys.stderr)


def _discard(stream: IO[str]) -> None:
    """Redirect a stream of this process to nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class LazyInput:
    """Standard input as bytes, opened on first use."""

    def __init__(self, streams: Streams):
        self._streams = streams

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        stream = self._streams.stdin_bytes()
        self.__dict__["read"] = stream.read
        return getattr(stream, name)
