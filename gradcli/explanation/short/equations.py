"""`name.grad = formula`, with the shape beside it and a summary of the numbers."""

from typing import Any

from ...graphs import Node
from ...lazy import np
from ...notation import tree
from ...notation.formulas.sharing import in_terms_of, shared
from ...notation.tree import Token, Tree
from ..blocks import EQUALS, Formula, Line, Row, Tensor, equality, plain, text_of, words
from ..phrases import is_short, number_text, shape_text
from .gradients import Gradients

SHORT = 24  # characters of numbers that are shown rather than their norm
GAP = "    "
LONG, LITTLE = 24, 2  # length of a formula in which a name is worth it that saves this little


def equation(
    grads: Gradients, name: Line, formula: Tree | None, otherwise: Line, of: Node, summary: Any
) -> list[Row]:
    """The rows of an equation, after statements for what is repeated in its formula and has no name
    yet; `otherwise` stands in the place of a formula that is not shown, `summary` is what is shown
    of its numbers.
    """
    if formula is None:
        return [_row(grads, (*name, EQUALS, *otherwise), of, summary)]
    formula = in_terms_of(formula, grads.introduced)
    long = tree.size(formula) > LONG
    written = shared(formula, grads.taken, *[LITTLE] * long)
    before = written.statements if isinstance(written, tree.Block) else ()
    grads.introduced += before
    rows = [Row((equality(n, f),)) for n, f in before]
    result = written.result if isinstance(written, tree.Block) else written
    return [*rows, _row(grads, (*name, EQUALS, Formula(result)), of, summary)]


def _row(grads: Gradients, line: Line, of: Node, summary: Line | Tensor) -> Row:
    if of.shape or not summary:
        return Row((line, *_beside(grads, of, summary)))
    number = number_text(summary.array) if isinstance(summary, Tensor) else text_of(summary)
    return Row(((*line, EQUALS, Token(number, "answer")),))


def _beside(grads: Gradients, of: Node, summary: Line | Tensor) -> tuple[Line | Tensor, ...]:
    shape = shape_text(of.shape)
    if not summary:
        return (plain(shape),)
    room = " " * (grads.widest - len(shape))
    if isinstance(summary, Tensor):
        return (Token(shape), Token(room, "word")), summary
    # in one cell, which goes behind a long formula
    return ((Token(shape), Token(room + GAP, "word"), *summary),)


def brief(value: Any) -> Line | Tensor:
    """Numbers in short: all of a few, or their norm and how many are 0."""
    if value is None:
        return ()
    if is_short(value, SHORT):
        return Tensor(value, "answer")
    zeros = int(np.count_nonzero(value == 0))
    summary = f", {zeros:,} of {value.size:,} are 0" if zeros else ""
    return words(f"norm {number_text(np.linalg.norm(value), 4)}{summary}")
