"""gradcli's command line in this process, in any terminal; and in a process of its own."""

import io
import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

from schema import hold_command

from gradcli.cli.main import run
from gradcli.cli.streams import Streams


class Result(NamedTuple):
    """What a command line left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output, read as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """The lines of the output."""
        return self.out.splitlines()


class Terminal(io.StringIO):
    """An output that somebody looks at, or a pipe."""

    def __init__(self, is_terminal: bool = False):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


class Input(io.StringIO):
    """A standard input of bytes."""

    def __init__(self, data: bytes):
        super().__init__()
        self.buffer = io.BytesIO(data)


def gradcli(
    *args: str, stdin: str | bytes = b"", terminal: bool = False, **variables: str
) -> Result:
    """Run a command line here. `variables` are those of the environment; there are no others."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = Terminal(terminal), Terminal()
    status = run(list(args), Streams(Input(data), out, err, variables))
    hold_command([*args], status, out.getvalue())
    return Result(status, out.getvalue(), err.getvalue())


def process(*args: str, stdin: str | None = None, **variables: str) -> Result:
    """Run a command line in a process of its own, as a shell would, with its output in a pipe."""
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", *args],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def shell(command: str, **variables: str) -> Result:
    """Run a line of bash, in which $GRADCLI is the command line and a pipe that fails is failed."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={**os.environ, "GRADCLI": f"{sys.executable} -m gradcli", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return Result(done.returncode, done.stdout, done.stderr)
