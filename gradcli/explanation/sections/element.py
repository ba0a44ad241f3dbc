"""One element of a gradient as a line: written out, or in terms of reductions if it is long."""

import re
from collections.abc import Mapping

from ...graphs import Node
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.indices.element import WIDEST, place_to_show, short, written_out
from ...notation.indices.index import Notation
from ...notation.tree import Indexed, Name, Token
from ..analysis import Analysis, within_budget
from ..blocks import EQUALS, Formula, Line, equality, text_of
from ..formulas import by_index
from ..formulas.formula_writer import FormulaWriter
from ..formulas.source_text import role_of
from ..phrases import number_text

READ = 140  # largest number of characters of one element that is written out
ONE_LINE = 76  # the same for an element without numbers, if there is a shorter form


@within_budget()
def element_row(
    a: Analysis, w: FormulaWriter, x: Input, index: tuple[int, ...] | None
) -> Line | None:
    """The element at `index`, or the first nonzero one, written out."""
    return element_line(a, w, x, _place(a, w, x, index)) if x.node.numel else None


@within_budget()
def shown_element(
    a: Analysis, w: FormulaWriter, x: Input, index: tuple[int, ...] | None
) -> Line | None:
    """The element at `index`, or the first nonzero one, in its shorter form (see `readable`); None
    if it cannot be written out and no `index` is given.
    """
    if not x.node.numel:
        return None
    place = _place(a, w, x, index)
    element = element_line(a, w, x, place)
    return readable(a, w, x, place, element) if element is not None or index else None


def _place(
    a: Analysis, w: FormulaWriter, x: Input, index: tuple[int, ...] | None
) -> tuple[int, ...]:
    grad = a.gradient(x)
    assert grad is not None
    if index is not None:
        return index
    return place_to_show(w.without_implicit_seed(grad), w.names, a.value_if_possible)


def unexpanded(a: Analysis, w: FormulaWriter, x: Input, index: tuple[int, ...]) -> Line | None:
    """An element whose sums are not expanded: `x.grad[0] = Σ_j g[j] A[j,0]`."""
    equations = by_index.with_reductions(w, x, index), _by_letters(w, x, index)
    shortest = min((e for e in equations if e is not None), key=lambda e: len(str(e)), default=None)
    if shortest is None:
        return None
    line = equality(shortest.left, shortest.right)
    value = a.grad_value(x)
    if value is None:
        return line
    return (*line, EQUALS, Token(number_text(value[index]), "number"))


def _by_letters(w: FormulaWriter, x: Input, at: tuple[int, ...]) -> Notation | None:
    """An element in the index notation of the gradient, with numbers for its indices."""
    index = by_index.gradient(w, x)
    left = index.left.places if index is not None and isinstance(index.left, Indexed) else ()
    letters = [*map(tree.text, left)]
    if index is None or not at or len(letters) != len(at) or not all(map(str.isalpha, letters)):
        return None
    return index.at(dict(zip(letters, map(str, at))))


def readable(
    a: Analysis, w: FormulaWriter, x: Input, index: tuple[int, ...], element: Line | None
) -> Line | None:
    """The element written out, or with sums not expanded if that is shorter and it is long."""
    longest = ONE_LINE if a.grad_value(x) is None else READ
    if element is not None and len(text_of(element)) <= longest:
        return element
    lines = (element, unexpanded(a, w, x, index))
    return min(filter(None, lines), key=lambda line: len(text_of(line)), default=None)


@within_budget()
def element_line(a: Analysis, w: FormulaWriter, x: Input, index: tuple[int, ...]) -> Line | None:
    """`x.grad[0,0] = 1·1 + 2·1 + 3·1 + 4·1 = 10`; None if it cannot be written out."""
    grad = a.gradient(x)
    assert grad is not None
    names = {n: name for n, name in w.indices.names.items() if n is not grad}
    form = w.without_implicit_seed(grad)
    if not w.is_long(x):
        form = _readable_form(a, w, form, index, names)
    return line_of_element(a, form, w.gradient_of(x), role_of(x), index, names)


def _readable_form(
    a: Analysis, w: FormulaWriter, grad: Node, index: tuple[int, ...], names: Mapping[Node, Name]
) -> Node:
    """The shortened form of a gradient if its element has names for reductions, symbols where that
    of the gradient has none, or fewer conditions; else the gradient.
    """
    symbols, _, total = written_out(grad, index, names, a.value_if_possible)
    if not w.introduced and symbols is not None and not _conditions(symbols):
        return grad
    short = w.shortened(grad)
    other, _, other_total = written_out(short, index, names, a.value_if_possible)
    if not _is_equal(total, other_total):
        return grad
    better = w.introduced or symbols is None or _conditions(symbols) > _conditions(other)
    return short if better else grad


def _is_equal(value: float | None, other: float | None) -> bool:
    """Whether two numbers are close, and not nan, or both are None."""
    if value is None or other is None:
        return value is other
    return bool(np.isclose(value, other))


def _conditions(written: tree.Tree | None) -> int:
    """The number of conditions in a formula."""
    count, parts = 0, [] if written is None else [written]
    while parts:
        part = parts.pop()
        count += isinstance(part, tree.Condition)
        parts += tree.children(part)
    return count


def line_of_element(
    a: Analysis,
    node: Node,
    left: tree.Tree,
    role: str,
    index: tuple[int, ...],
    names: Mapping[Node, Name],
    widest: int = WIDEST,
) -> Line | None:
    """An element of any node as a line, `left[index] = symbols = value`; symbols and numbers have
    at most `widest` characters.
    """
    written = written_out(node, index, names, a.value_if_possible, widest)
    if written.symbols is None and written.numbers is None and written.total is None:
        return None
    at = tuple(map(tree.Number, index))
    line: Line = (Formula(tree.Indexed(left, at) if at else left, role),)
    if _contradicts(written.numbers, written.total):  # a note says so, with both numbers
        return None if written.symbols is None else (*line, EQUALS, Formula(written.symbols))
    for part in (written.symbols, written.numbers):
        if part is not None:
            line += (EQUALS, Formula(part))
    if written.total is None:
        return line
    return (*line, EQUALS, Token(short(written.total), "number"))


NUMERAL = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?")


def _contradicts(numbers: tree.Tree | None, total: float | None) -> bool:
    """Whether a formula is a single number that differs from the value of the element."""
    text = "" if numbers is None else tree.text(numbers)
    if total is None or not NUMERAL.fullmatch(text):
        return False
    value = float(text)
    return abs(value - total) > 0.01 * max(abs(value), abs(total))
