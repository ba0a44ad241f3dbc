"""`name.grad = formula`, with the shape beside it and what is told of the numbers."""

from typing import Any

from ...graphs import Node
from ...lazy import np
from ...notation import tree
from ...notation.formulas.sharing import in_terms_of, shared
from ...notation.tree import Token, Tree
from ..blocks import EQUALS, Formula, Line, Row, Tensor, equality, plain, text_of, words
from ..numbers import is_short, number_text
from ..phrases import shape_text
from .gradients import Gradients

SHORT = 24  # characters of numbers that are shown rather than their norm
GAP = "    "
LONG, LITTLE = 24, 2  # length of a formula in which a name is worth it that saves this little


def equation(
    found: Gradients, name: Line, formula: Tree | None, otherwise: Line, of: Node, told: Any
) -> list[Row]:
    """The rows of an equation, after statements for what is repeated in its formula and has no name
    yet; `otherwise` stands in the place of a formula that is not shown, `told` is that on its
    numbers.
    """
    if formula is None:
        return [_row(found, (*name, EQUALS, *otherwise), of, told)]
    formula = in_terms_of(formula, found.introduced)
    long = tree.size(formula) > LONG
    written = shared(formula, found.taken, *[LITTLE] * long)
    before = written.statements if isinstance(written, tree.Block) else ()
    found.introduced += before
    rows = [Row((equality(n, f),)) for n, f in before]
    result = written.result if isinstance(written, tree.Block) else written
    return [*rows, _row(found, (*name, EQUALS, Formula(result)), of, told)]


def _row(found: Gradients, line: Line, of: Node, told: Line | Tensor) -> Row:
    if of.shape or not told:
        return Row((line, *_told(found, of, told)))
    number = number_text(told.array) if isinstance(told, Tensor) else text_of(told)
    return Row(((*line, EQUALS, Token(number, "answer")),))


def _told(found: Gradients, of: Node, told: Line | Tensor) -> tuple[Line | Tensor, ...]:
    shape = shape_text(of.shape)
    if not told:
        return (plain(shape),)
    room = " " * (found.widest - len(shape))
    if isinstance(told, Tensor):
        return (Token(shape), Token(room, "word")), told
    # in one cell, which goes behind a long formula
    return ((Token(shape), Token(room + GAP, "word"), *told),)


def brief(value: Any) -> Line | Tensor:
    """Numbers in short: all of a few, or their norm and how many are 0."""
    if value is None:
        return ()
    if is_short(value, SHORT):
        return Tensor(value, "answer")
    zeros = int(np.count_nonzero(value == 0))
    told = f", {zeros:,} of {value.size:,} are 0" if zeros else ""
    return words(f"norm {number_text(np.linalg.norm(value), 4)}{told}")
