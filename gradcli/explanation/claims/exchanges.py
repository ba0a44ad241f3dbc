"""One part of a formula exchanged for a part of another: of the right formula, or of the program.

Knows no mistakes: what a claim has in the place of the right part may be anything.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import takewhile

from ...language.program import Program
from .drafts import Change, Draft, replaced
from .lengths import PART
from .missing import without_operand
from .parts import around, parts

MOST = 20  # parts of a formula that are exchanged


def parts_of(values: Iterable[ast.expr]) -> list[ast.expr]:
    """The parts of several formulas that are short, each once."""
    found = (part for value in values for part in parts(value))
    return [e for text, e in {ast.unparse(e): e for e in found}.items() if len(text) <= PART]


def exchanges(
    program: Program, others: list[ast.expr], ranks: Callable[[str], int] | None
) -> list[Draft]:
    """One of `others` in the place of each part, what is most like it first; nothing of fewer
    dimensions, where `ranks` says how many a text has.
    """
    made = _exchanges(program, others, cache(ranks or (lambda text: 0)))
    return sorted(made, key=lambda draft: draft.change.rank)


def _exchanges(
    program: Program, others: list[ast.expr], ranks: Callable[[str], int]
) -> Iterator[Draft]:
    last = program.result
    for place, value in enumerate(program.values):
        so_far = program.only(range(place + 1))
        texts = [(ast.unparse(p), p) for p in parts(value) if p is not last]
        for old, part in sorted(texts[:MOST], key=lambda pair: len(pair[0])):
            for new in others:
                text = ast.unparse(new)
                if text != old and ranks(text) >= ranks(so_far.written(place, part)):
                    yield from _put(program, place, part, new)


def _put(program: Program, place: int, part: ast.expr, new: ast.expr) -> Iterator[Draft]:
    """A part exchanged where it stands; and everywhere, from the first place where it does."""
    value, apart = program.values[place], _distance(ast.unparse(part), ast.unparse(new))
    yield Draft(program, place, part, Change(new, _why(part, new, around(part, value)), apart))
    same = [e for e in parts(value) if ast.unparse(e) == ast.unparse(part)]
    if len(same) > 1 and same[0] is part:
        made = value
        for e in same:
            made = replaced(made, e, new)
        yield Draft(program, place, value, Change(made, _why(part, new, None), apart * len(same)))


def _distance(old: str, new: str) -> int:
    """How many characters go and come, but for those that both begin and end with."""
    begins = _shared(old, new)
    ends = _shared(old[begins:][::-1], new[begins:][::-1])
    return len(old) + len(new) - 2 * (begins + ends)


def _shared(a: str, b: str) -> int:
    """The length of what two texts begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b)))


def _why(old: ast.expr, new: ast.expr, place: ast.expr | None) -> str:
    """`the term b is missing beside W @ x`, `x - y belongs where x stands in norm(x)`."""
    here, inside = ast.unparse(old), f" in {ast.unparse(place)}" if place else ""
    for rest, missing in without_operand(new):
        if ast.unparse(rest) == here:
            return f"{missing} is missing beside {here}{inside}"
    return f"{ast.unparse(new)} belongs where {here} stands{inside}"
