"""Edits of formulas. An edit is a formula with one part replaced, and a sentence that names the
mistake. Other functions change a formula as a whole: scale it, negate it, add a term.

The text of an edit is computed on demand.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import product
from math import gcd
from typing import NamedTuple

from ...language.program import Program
from ...language.syntax import is_whole_number
from .syntax import (
    added,
    ending,
    expression,
    factors_of,
    is_product,
    is_quotient,
    method,
    opposite,
    over,
    replaced,
    times,
)

# Ranks of edits. Likelier edits have lower ranks, and are tried earlier.
FIRST = 0  # edits that are reported before anything else, such as a mean in place of a sum
SHAPES = 3  # edits up to this rank exchange rows and columns, or operands
LIKELY = 5  # edits up to this rank are combined with others
NEAR = 7  # edits up to this rank are tried before exchanges with parts of other formulas
RENAMED = 8  # edits that replace a name anywhere by another name


class Correction(NamedTuple):
    """A formula that may correct a claim, and the mistake in the claim."""

    formula: str
    why: str
    is_right: bool = False


class Edit:
    """A formula in which `new` replaces `part` of the statement at `position`. Likelier edits have
    lower ranks. If `widens` is true, the edit adds a dimension. If `alone` is true, the edit is not
    combined with other edits, because it may fit by chance.
    """

    def __init__(
        self,
        program: Program,
        position: int,
        part: ast.expr,
        new: ast.expr,
        why: str | Callable[[], str],
        rank: int = 0,
        widens: bool = False,
        alone: bool = False,
    ):
        self.program, self.position, self.part, self.new = program, position, part, new
        self._why, self.rank, self.widens, self.alone = why, rank, widens, alone

    @cached_property
    def text(self) -> str:
        """The changed formula."""
        value = self.program.values[self.position]
        return self.program.written(self.position, replaced(value, self.part, self.new))

    @cached_property
    def why(self) -> str:
        """The mistake, as a sentence."""
        return self._why if isinstance(self._why, str) else self._why()

    def after(self, first: "Edit") -> "Edit":
        """This edit made after another one."""
        both = partial("{0.why}, and {1.why}".format, first, self)
        return Edit(self.program, self.position, self.part, self.new, both, self.rank)


def whole(program: Program, new: ast.expr, why: str, rank: int) -> Edit:
    """An edit that replaces the whole last statement."""
    return Edit(program, len(program.values) - 1, program.result, new, why, rank)


def written(edits: Iterable[Edit], most: int) -> list[Edit]:
    """The first edits with different texts, up to `most` characters in total."""
    result: dict[str, Edit] = {}
    for edit in edits:
        if edit.text not in result:
            result[edit.text] = edit
            most -= len(edit.text)
        if most < 0:
            break
    return list(result.values())


# ---- texts of formulas that are changed as a whole -----------------------------------------------


def scaled(program: Program, factor: str, divide: bool = False) -> str:
    """The text of a formula multiplied, or divided, by `factor`."""
    value, other = program.result, expression(factor)
    return ending(program, over(value, other) if divide else times(other, value))


def negated(program: Program) -> str:
    """The text of the negation of a formula."""
    return ending(program, opposite(program.result))


def plus(program: Program, term: str) -> str:
    """The text of a formula plus `term`."""
    return ending(program, added(program.result, expression(term)))


def called(program: Program, name: str, *args: str) -> str:
    """The text of a formula with a method called on it."""
    return ending(program, method(program.result, name, [expression(a) for a in args]))


def with_another(program: Program, old: ast.expr, new: str) -> str:
    """The text of a formula with the part `old` replaced."""
    return ending(program, replaced(program.result, old, expression(new)))


def numbers(program: Program) -> Iterator[tuple[ast.expr, float]]:
    """The numeric factors of a formula, as nodes and values."""
    for e in factors_of(program.result):
        if isinstance(e, ast.Constant) and isinstance(e.value, int | float):
            yield e, e.value


def divisors(program: Program) -> Iterator[tuple[ast.expr, float]]:
    """The numeric divisors in a formula, as nodes and values."""
    for e in (q.right for q in ast.walk(program.result) if is_quotient(q)):
        if isinstance(e, ast.Constant) and isinstance(e.value, int | float):
            yield e, e.value


def divided_by(program: Program, divisor: ast.expr) -> str:
    """The text of a formula divided by a product, with common factors cancelled."""
    above, below = program.result, divisor
    for a, b in product([*factors_of(above)], [*factors_of(below)]):
        rest = _without_shared(a, b)
        if rest is not None:
            above, below = _with_factor(above, a, rest[0]), _with_factor(below, b, rest[1])
    return ending(program, above if _is_one(below) else over(above, below))


def _without_shared(a: ast.expr, b: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Two factors with their common divisor cancelled; None if none is known."""
    if ast.unparse(a) == ast.unparse(b):
        return ast.Constant(1), ast.Constant(1)
    if is_whole_number(a) and is_whole_number(b):
        above, below = ast.literal_eval(a), ast.literal_eval(b)
        shared = gcd(above, below) or 1
        return ast.Constant(above // shared), ast.Constant(below // shared)
    return None


def _with_factor(e: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    """A product with a factor replaced, or dropped if the new one is 1."""
    for p in filter(is_product, ast.walk(e)) if _is_one(new) else ():
        if old in (p.left, p.right):
            return replaced(e, p, p.left if p.right is old else p.right)
    return replaced(e, old, new)


def _is_one(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and e.value == 1
