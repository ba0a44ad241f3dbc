"""Long formulas in several lines, broken before the operators that bind least."""

import re
from collections.abc import Iterator
from itertools import takewhile

from rich.text import Text

from ..budget import tick

LEAST = 0.25  # fraction of a line that is filled before it is broken, if possible
# How tightly a word is bound to the one before it. Lines are broken at the lowest number, so before
# equality signs rather than in sums, and in sums rather than in products.
BINDING = {"=": 0, "+": 1, "-": 1, "|": 1, "&": 1, "*": 2, "/": 2, "@": 2}
AFTER_COMMA, BESIDE = 1, 2  # after a comma, and between factors without a sign in index notation
NEVER = 9  # between an operator and its right operand, or before a power
OPERATORS = {*BINDING, "**", "<", ">", "<=", ">=", "==", "!=", "≤", "≥", "≠"}
WORD = re.compile(r"\S+")


def broken(text: Text, room: int) -> Text:
    """The text with lines of at most `room` columns, as far as it has places to break them."""
    lines, rest = list[Text](), text
    while "\n" not in rest.plain and rest.cell_len > room:
        tick()
        places = list(takewhile(lambda p: p[1] <= room, _places(rest.plain)))
        late = [p for p in places if p[1] >= LEAST * room] or places
        if not late:
            break
        _, at = min(late, key=lambda p: (p[0], -p[1]))
        line, rest = rest.divide([at])
        line.rstrip()
        lines.append(line)
    return Text("\n").join([*lines, rest])


def _places(line: str) -> Iterator[tuple[tuple[int, int], int]]:
    """The positions before words, and how tightly they are bound: by brackets, then by operators;
    what follows a wider gap stays in one line.
    """
    depth, before = 0, ""
    for match in WORD.finditer(line):
        word, at = match[0], match.start()
        if line[max(at - 2, 0) : at] == "  " and before:
            yield (0, 0), at
            break
        bound = _bound(before, word)
        if before:
            yield (depth + bound * (bound == NEVER), bound), at
        depth += sum(c in "([{" for c in word) - sum(c in ")]}" for c in word)
        before = word


def _bound(before: str, word: str) -> int:
    if before in OPERATORS or before.startswith("Σ") or word == "**":
        return NEVER
    return AFTER_COMMA if before.endswith(",") else BINDING.get(word, BESIDE)
