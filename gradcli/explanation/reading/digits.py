"""Remarks on printed digits that may differ from PyTorch's."""

import re
from collections.abc import Iterator
from typing import Any

from ...snippets.reading import Reading
from .changes import Finding, evidence

NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d+(?:e[-+]?\d+)?")
SURE = {2: 2, 4: 6, 8: 15}  # significant digits that are certain, by bytes per element
ROUNDED_AWAY = "0" * 20
MOST = 3  # operations that are named in a remark


def last_digits(reading: Reading, _: Any) -> Iterator[Finding]:
    """The finding that the program prints more digits than are certain, after operations that
    PyTorch may round differently.
    """
    for size, lines in reading.trace.unsure.items():
        first = min(lines.values())
        ties = reading.trace.near_ties
        shown = [
            n
            for n, text in reading.trace.prints
            if n >= first and (n in ties or _digits(text) > SURE[size])
        ]
        if shown:
            names = [*lines][:MOST]
            yield Finding(
                "last-digits",
                f"The last digits that line {shown[0]} prints are uncertain",
                f"PyTorch's {_listed(names)} may round the last digit differently, depending on "
                f"the processor; the first {SURE[size]} digits agree unless "
                "almost equal numbers are subtracted.",
                "",
                shown[0],
                evidence(reading, *_computed(lines, names)),
            )
            return


def _computed(lines: dict[str, int], names: list[str]) -> Iterator[tuple[int, str]]:
    """Remarks on lines: which of the operations `names` they compute."""
    for line in dict.fromkeys(lines[n] for n in names):
        yield line, f"computes {_listed([n for n in names if lines[n] == line])}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _digits(text: str) -> int:
    """The number of significant digits of the longest number in a text."""
    return max((len(_significant(n)) for n in NUMBER.findall(text)), default=0)


def _significant(number: str) -> str:
    """The significant digits of a number. For `-0.000`, a small number rounded to 0, more digits
    than are certain, as its sign is not.
    """
    digits = number.partition("e")[0].replace(".", "").lstrip("-0")
    return digits or (ROUNDED_AWAY if number.startswith("-") else "")
