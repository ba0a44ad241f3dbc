"""An output that was half written, and what of it stays."""

import json
from collections.abc import Iterator
from itertools import count
from typing import IO, Any

from ..batches import identity_of
from ..errors import GradcliError, unreadable
from ..limits import Limits


def written_before(file: str, lines: Iterator[str], limits: Limits) -> tuple[int, bool]:
    """How many answers a file has, and whether none is an error; their lines are passed over.

    A last line that is not whole is cut off. Raises GradcliError where the file has something else.
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
    """Answers, whether all are good, and the bytes of the whole lines."""
    good, size = True, 0
    for number in count(1):
        line = output.readline()
        if not line.endswith(b"\n"):
            return number - 1, good, size
        answer, request = _answer(line), next(lines, None)
        if answer is None or request is None or answer["id"] != identity_of(request, limits):
            message = f"line {number} of {file} is no answer to line {number} of the requests"
            hint = "--resume goes on with the output of the same requests; leave it out to begin"
            raise GradcliError("file", message, hint=hint)
        good, size = good and answer["ok"], size + len(line)
    raise AssertionError


def _answer(line: bytes) -> dict[str, Any] | None:
    """A line of an output, if it is one."""
    try:
        result = json.loads(line)
    except ValueError:
        return None
    return result if isinstance(result, dict) and {"id", "ok"} <= result.keys() else None
