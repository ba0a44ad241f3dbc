"""The table of errors: a message, why PyTorch raises it, and the function that proposes cures.

Each file of cures enters its own with the decorator `cures`.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .case import Case, Proposal

Cures = Callable[[Case], Iterator[Proposal]]


class Kind(NamedTuple):
    """A kind of error: its message, one sentence why PyTorch raises it, and its cures."""

    pattern: re.Pattern[str]
    why: str
    cures: Cures


KINDS: list[Kind] = []


def cures(pattern: str, why: str) -> Callable[[Cures], Cures]:
    """Register the cures of the errors whose messages begin like this."""

    def register(function: Cures) -> Cures:
        KINDS.append(Kind(re.compile(pattern, re.S), why, function))
        return function

    return register


def kinds(message: str) -> Iterator[tuple[Kind, re.Match[str]]]:
    """The kinds of errors that have a message."""
    for kind in KINDS:
        match = kind.pattern.match(message)
        if match:
            yield kind, match
