"""Programs that do not parse: a print of Python 2, a colon or a bracket that is missing."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ....snippets.python.machine import Failure


class Repair(NamedTuple):
    """A changed text, and one sentence why."""

    source: str
    why: str


def repairs(source: str, failure: Failure) -> Iterator[Repair]:
    """Texts that may parse."""
    yield Repair(printed_as_function(source), "In Python 3 print is a function.")
    lines = source.split("\n")
    place = failure.line - 1
    if not 0 <= place < len(lines):
        return
    code, comment = _without_comment(lines[place])
    if failure.message == "expected ':'":
        yield Repair(_with(lines, place, f"{code}:{comment}"), "A block begins after a colon.")
    closed = re.match(r"'([(\[{])' was never closed", failure.message)
    if closed:
        end = {"(": ")", "[": "]", "{": "}"}[closed[1]]
        why = "A bracket is open to the end."
        yield Repair(_with(lines, place, f"{code}{end}{comment}"), why)
    if failure.message.startswith("unmatched") and code.endswith((")", "]", "}")):
        yield Repair(_with(lines, place, f"{code[:-1]}{comment}"), "A bracket is closed twice.")


def printed_as_function(source: str) -> str:
    """print x of Python 2 as print(x)."""
    return re.sub(r"(?m)^(\s*)print +([^(\n=].*)$", r"\1print(\2)", source)


def _without_comment(line: str) -> tuple[str, str]:
    """A line without its comment, and the comment with the space before it."""
    code = line.partition("#")[0].rstrip() if not re.search("[\"'].*#", line) else line.rstrip()
    return code, line[len(code) :]


def _with(lines: list[str], place: int, line: str) -> str:
    return "\n".join([*lines[:place], line, *lines[place + 1 :]])
