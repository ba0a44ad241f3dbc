"""Changes of parts of formulas, and the texts that they make.

A text is written where it is wanted: the likeliest are, as many as there is time for.
"""

import ast
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...language.program import Program

# How likely a change is: the ranks at which a search for the right one stops, to look elsewhere.
FIRST = 0  # told before anything else, as a mean for a sum
SHAPES = 3  # up to here rows and columns are exchanged, or operands
LIKELY = 5  # up to here something else may be wrong beside it
NEAR = 7  # up to here told before parts are exchanged with those of other formulas
RENAMED = 8  # another name, anywhere


class Change(NamedTuple):
    """Another part in place of one, and why; the likelier ones have the lower rank. `widens`: what
    it adds is a dimension that is lacking; `alone`: it is not told of a claim in which something
    else is wrong too, for it may fit by chance.
    """

    new: ast.expr
    why: str
    rank: int
    widens: bool = False
    alone: bool = False


class Edit(NamedTuple):
    """A changed formula as text, what was the matter, its rank, and whether it is told alone."""

    text: str
    why: str
    rank: int
    alone: bool


class Draft(NamedTuple):
    """A change of one part of a formula, in one of its steps."""

    program: Program
    place: int
    part: ast.expr
    change: Change

    @property
    def text(self) -> str:
        """The changed formula."""
        value = self.program.values[self.place]
        return self.program.written(self.place, replaced(value, self.part, self.change.new))

    def after(self, first: "Draft") -> "Draft":
        """The same as the second of two changes."""
        why = f"{first.change.why}, and {self.change.why}"
        return self._replace(change=self.change._replace(why=why))


def written(drafts: Iterable[Draft], most: int) -> list[Edit]:
    """Changed formulas, each once: the first ones, until they have `most` characters together."""
    made: dict[str, Edit] = {}
    for draft in drafts:
        text = draft.text
        if text not in made:
            change = draft.change
            made[text] = Edit(text, change.why, change.rank, change.alone)
            most -= len(text)
        if most < 0:
            break
    return list(made.values())


def replaced(e: Any, old: ast.expr, new: ast.expr) -> Any:
    """The tree with one part of it replaced; what does not hold that part is kept as it is."""
    if e is old:
        return new
    if isinstance(e, list):
        items = [replaced(item, old, new) for item in e]
        return items if any(a is not b for a, b in zip(items, e)) else e
    if not isinstance(e, ast.expr | ast.keyword):
        return e
    fields = dict(ast.iter_fields(e))
    made = {name: replaced(value, old, new) for name, value in fields.items()}
    return type(e)(**made) if any(made[k] is not fields[k] for k in fields) else e


def ending(program: Program, value: ast.expr) -> str:
    """The text of a formula with another value for its last step."""
    return program.written(len(program.values) - 1, value)
