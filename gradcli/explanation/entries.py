"""Entries of a Jacobian: numbers, or formulas where inputs have no value."""

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
from ..notation.indices.expressions import Expr, TooLong, resolved_values, substituted
from ..notation.indices.written import Lettering, Writing
from ..notation.tree import Token
from .analysis import Analysis, is_large, searched, unless_unwritten
from .blocks import UNWRITTEN, ZERO, Formula, typed, verbatim
from .formulas import by_index
from .formulas.wording import Wording
from .phrases import number_text

WIDE = 24  # characters of an entry beside which few others fit
Entry = Callable[[int, int], Formula]  # the one at a flat place of the output and one of the input


NOUGHT = verbatim("0")


def numbers(values: Iterable[float], precision: int, zero: Formula = NOUGHT) -> tuple[Formula, ...]:
    """Numbers; an exact 0 as `zero`."""
    return tuple(zero if v == 0 else verbatim(number_text(v, precision)) for v in values)


def of_rows(
    a: Analysis, x: Input, entry: Entry | None, at: list[int], columns: list[int], precision: int
) -> tuple[tuple[Formula, ...], ...]:
    """The entries of some rows and columns; `entry` is what `in_symbols` gives."""
    if entry is None:
        return tuple(numbers(row[columns], precision, ZERO) for row in a.jacobian(x).rows(at))
    return tuple(tuple(entry(k, c) for c in columns) for k in at)


def in_symbols(a: Analysis, w: Wording, x: Input) -> Entry | None:
    """The formulas of entries, which in large programs are not written out; None where the Jacobian
    has numbers.
    """
    if a.jacobian(x).numeric:
        return None
    if is_large(a.problem):
        return lambda k, c: UNWRITTEN
    grad = by_index.shortest_way(w, x)
    if grad is None:
        return None
    entry = _by_index(a, w, x, grad) or _by_elements(a.rows(grad), w)
    budget = a.problem.limits.budget
    return lambda k, c: budget.search(lambda: entry(k, c), lambda: UNWRITTEN)


def _by_elements(row: Callable[[int], Any], w: Wording) -> Entry:
    """Entries over SymPy elements, in which inputs with a value are numbers."""
    from ..backends.symbolic import element_text

    known: dict[int, Any] = {}
    spoken = _Spoken(w)

    def entry(k: int, c: int) -> Formula:
        if k not in known:
            refused = any(result is None for result in known.values())  # as all of them are
            known[k] = None if refused else unless_unwritten(lambda: row(k))
        if known[k] is None:
            return UNWRITTEN
        if known[k][c] == 0:
            return ZERO
        return spoken.formula(element_text(known[k][c]))

    return entry


class _Spoken:
    """Texts of elements as formulas, in which the names of a program have their roles."""

    def __init__(self, w: Wording):
        self.names = {name.text: name for name in w.names.values()}
        spelled = "|".join(map(re.escape, self.names)) or "(?!)"
        self.places = re.compile(rf"(?<![\w.])({spelled})(?:\[[\d,]+\])?(?![\w(])")

    def formula(self, text: str) -> Formula:
        """The formula that is written so."""
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


@searched()
def _by_index(a: Analysis, w: Wording, x: Input, grad: Node) -> Entry | None:
    """Entries read off the Jacobian in index notation, in the user's own names, with the numbers of
    inputs that have values.
    """
    p = a.problem
    valued = any(i.value is not None for i in p.inputs.values())
    indices = w.indices
    result = indices.jacobian_expression(grad)
    if result is None:
        return None
    expression, places, sizes = result
    write = Writing(w.names, "·")

    @lru_cache(maxsize=1)
    def row(k: int) -> tuple[Expr, Simplifier]:
        in_row = _letters(indices.out_places, p.out, k)
        return substituted(expression, in_row, sizes), Simplifier(sizes)

    def entry(k: int, c: int) -> Formula:
        in_row, simplify = row(k)
        simplify.work = 0
        try:
            e = substituted(in_row, _letters(places, x.node, c), sizes)
            e = simplify(resolved_values(e, a.value) if valued else e)
        except (TooLong, RecursionError):
            return UNWRITTEN
        written = typed(write(Lettering({}, sizes)(e, indices.reserved)))
        return ZERO if written.text == "0" else written

    return entry


def _letters(places: tuple, node: Node, flat: int) -> dict[str, Any]:
    """What the letters of a node stand for at one of its elements."""
    at = np.unravel_index(flat, node.shape) if node.shape else ()
    return {letter: int(k) for letter, k in zip(places, at, strict=True) if isinstance(letter, str)}
