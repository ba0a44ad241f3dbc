"""The table of errors that have corrections, read from `table.txt`: for each kind of error the
function that proposes changes, the messages, and why PyTorch raises it; \\1 in that sentence is the
first group of the message.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from .case import Case, Proposal

Cures = Callable[[Case], Iterator[Proposal]]
NO_CURE = "-"  # in place of a function's name
# messages of Python, for which the table has a reason only if the program is known
OF_PYTHON = re.compile(r"(unsupported|bad) operand|'\w+' object|can't multiply|can only concat")


class Kind(NamedTuple):
    """A kind of error: its message, a sentence why PyTorch raises it, and its corrections."""

    pattern: re.Pattern[str]
    why: str
    name: str

    def cures(self, case: Case) -> Iterator[Proposal]:
        """The changes that may correct a program with such an error, likeliest first."""
        if self.name != NO_CURE:
            module, _, function = self.name.partition(".")
            cures: Cures = getattr(import_module(f"{__package__}.{module}"), function)
            yield from cures(case)


@cache
def table() -> list[Kind]:
    """All kinds of errors, in the order in which they are tried."""
    text = (Path(__file__).parent / "table.txt").read_text(encoding="utf-8")
    return [_kind(entry.splitlines()) for entry in text.split("\n\n")[1:]]


def _kind(lines: list[str]) -> Kind:
    """An entry of the table: the function, messages, why."""
    name, *messages, why = lines
    pattern = "|".join(m.removeprefix("    ") for m in messages)
    return Kind(re.compile(pattern, re.S), why, name)


def kinds(message: str) -> Iterator[tuple[Kind, re.Match[str]]]:
    """The kinds of errors that match a message."""
    for kind in table():
        match = kind.pattern.match(message)
        if match:
            yield kind._replace(why=match.expand(kind.why)), match


READ = "gradcli read FILE finds where a program does that"


def hint_of(text: str) -> str:
    """Why PyTorch raises the error in the last line of a text, such as a traceback, and that `read`
    finds its line if it corrects such errors; "" for other texts.
    """
    last = (text.strip().splitlines() or [""])[-1]
    message = re.sub(r"^\s*(E\s+)?\w*Error: ", "", last).strip("`> ").rstrip('"')
    kind = None if OF_PYTHON.match(message) else next((kind for kind, _ in kinds(message)), None)
    if kind is None:
        return ""
    return kind.why.rstrip(".") if kind.name == NO_CURE else f"{kind.why} {READ}"
