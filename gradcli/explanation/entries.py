"""Entries of a Jacobian: numbers, or formulas if inputs have no values."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from ..graphs import Node
from ..language.problem import Input
from ..lazy import np
from ..notation import tree
from ..notation.formulas.spelling import read_element
from ..notation.indices.collect import Simplifier
from ..notation.indices.expressions import Expr, TooLong, resolved_values, substituted, with_sizes
from ..notation.indices.written import EXACT, IndexRenaming, Writing
from ..notation.tree import Token
from .analysis import Analysis, is_large, none_if_unwritable, within_budget
from .blocks import UNWRITTEN, ZERO, Formula, typed, verbatim
from .formulas import by_index
from .formulas.formula_writer import FormulaWriter
from .phrases import number_text

WIDE = 24  # for entries with more characters, few columns are shown
Entry = Callable[[int, int], Formula]  # by flat index of the output and of the input


NOUGHT = verbatim("0")


def numbers(values: Iterable[float], precision: int, zero: Formula = NOUGHT) -> tuple[Formula, ...]:
    """Numbers as formulas; an exact 0 becomes `zero`."""
    return tuple(zero if v == 0 else verbatim(number_text(v, precision)) for v in values)


def of_rows(
    a: Analysis, x: Input, entry: Entry | None, at: list[int], columns: list[int], precision: int
) -> tuple[tuple[Formula, ...], ...]:
    """The entries at some rows and columns; `entry` is the result of `in_symbols`."""
    if entry is None:
        rows = none_if_unwritable(lambda: [*a.jacobian(x).rows(at)])
        if rows is None:
            a.problem.limits.budget.spent = True
            return ((UNWRITTEN,) * len(columns),) * len(at)
        return tuple(numbers(row[columns], precision, ZERO) for row in rows)
    return tuple(tuple(entry(k, c) for c in columns) for k in at)


def in_symbols(a: Analysis, w: FormulaWriter, x: Input, precision: int = 5) -> Entry | None:
    """A function that returns the formula of an entry, UNWRITTEN in large programs; None if the
    Jacobian is numeric, or zero. Values of inputs are written with `precision` digits.
    """
    if a.jacobian(x).numeric:
        return None
    if is_large(a.problem):
        return lambda k, c: UNWRITTEN
    grad = by_index.shortest_form(w, x)
    if grad is None:
        return None
    entry = _by_index(a, w, x, grad, precision) or _by_elements(a.rows(grad), w)
    budget = a.problem.limits.budget
    return lambda k, c: budget.search(lambda: entry(k, c), lambda: UNWRITTEN)


def _by_elements(row: Callable[[int], Any], w: FormulaWriter) -> Entry:
    """Entries over SymPy elements, in which inputs with a value are numbers."""
    from ..backends.elements import element_text

    rows: dict[int, Any] = {}
    elements = _ElementText(w)

    def entry(k: int, c: int) -> Formula:
        if k not in rows:
            refused = any(result is None for result in rows.values())  # if one fails, all would
            rows[k] = None if refused else none_if_unwritable(lambda: row(k))
        if rows[k] is None:
            return UNWRITTEN
        if rows[k][c] == 0:
            return ZERO
        return elements.formula(element_text(rows[k][c]))

    return entry


class _ElementText:
    """Parses texts of elements to formulas in which the names of the program have roles."""

    def __init__(self, w: FormulaWriter):
        self.names = {name.text: name for name in w.names.values()}
        spelled = "|".join(map(re.escape, self.names)) or "(?!)"
        self.places = re.compile(rf"(?<![\w.])({spelled})(?:\[[\d,]+\])?(?![\w(])")

    def formula(self, text: str) -> Formula:
        """The formula with this text."""
        try:
            written = read_element(text, self.names)
        except (SyntaxError, RecursionError, MemoryError):
            written = tree.Verbatim(text)
        return Formula(written, "", tuple(self._tokens(text)))

    def _tokens(self, text: str) -> Iterator[Token]:
        end = 0
        for result in self.places.finditer(text):
            if end < result.start():
                yield Token(text[end : result.start()])
            yield Token(result[0], self.names[result[1]].role)
            end = result.end()
        if end < len(text):
            yield Token(text[end:])


@within_budget()
def _by_index(a: Analysis, w: FormulaWriter, x: Input, grad: Node, precision: int) -> Entry | None:
    """Entries from the index notation of the Jacobian, in the user's names and with the given
    values of inputs; None if it has no index notation.
    """
    p = a.problem
    valued = any(i.value is not None for i in p.inputs.values())
    indices = w.indices
    result = indices.jacobian_expression(grad)
    if result is None:
        return None
    expression, places, sizes = result
    write = Writing(indices.names, "·", digits=precision if valued else EXACT)

    @lru_cache(maxsize=1)
    def row(k: int) -> tuple[Expr, Simplifier]:
        in_row = _index_values(indices.out_places, p.out, k)
        return substituted(expression, in_row, sizes), Simplifier(sizes)

    def entry(k: int, c: int) -> Formula:
        in_row, simplify = row(k)
        simplify.work = 0
        try:
            e = with_sizes(substituted(in_row, _index_values(places, x.node, c), sizes))
            e = simplify(resolved_values(e, a.value_if_possible) if valued else e)
        except (TooLong, RecursionError):
            return UNWRITTEN
        written = typed(write(IndexRenaming({}, sizes)(e, indices.reserved)))
        return ZERO if written.text == "0" else written

    return entry


def _index_values(places: tuple, node: Node, flat: int) -> dict[str, Any]:
    """The values of a node's indices at a flat index."""
    at = np.unravel_index(flat, node.shape) if node.shape else ()
    return {letter: int(k) for letter, k in zip(places, at, strict=True) if isinstance(letter, str)}
