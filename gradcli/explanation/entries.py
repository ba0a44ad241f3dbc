"""Entries of a Jacobian as texts: numbers, or symbols where inputs have no value."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from ..graphs import Node
from ..language.problem import Input
from ..lazy import np
from ..notation import tree
from ..notation.indices.collect import Simplifier
from ..notation.indices.expressions import Expr, TooLong, settled, substituted
from ..notation.indices.written import Lettering, Writing
from .analysis import Analysis, is_large, searched, unless_unwritten
from .formulas import by_index
from .formulas.wording import Wording
from .numbers import number_text

ZERO = "·"
UNWRITTEN = "?"
WIDE = 24  # characters of an entry beside which few others fit
Entry = Callable[[int, int], str]  # the text at a flat place of the output and one of the input


def numbers(values: Iterable[float], precision: int, zero: str = "0") -> tuple[str, ...]:
    """Numbers as texts; an exact 0 as `zero`."""
    return tuple(zero if v == 0 else number_text(v, precision) for v in values)


def of_rows(
    a: Analysis, x: Input, entry: Entry | None, at: list[int], columns: list[int], precision: int
) -> tuple[tuple[str, ...], ...]:
    """The texts of some rows and columns; `entry` is what `in_symbols` gives."""
    if entry is None:
        return tuple(numbers(row[columns], precision, ZERO) for row in a.jacobian(x).rows(at))
    return tuple(tuple(entry(k, c) for c in columns) for k in at)


def in_symbols(a: Analysis, w: Wording, x: Input) -> Entry | None:
    """The texts of entries, which in large programs are not written out; None where the Jacobian
    has numbers.
    """
    if a.jacobian(x).numeric:
        return None
    if is_large(a.problem):
        return lambda k, c: UNWRITTEN
    grad = by_index.shortest_way(w, x)
    if grad is None:
        return None
    entry = _by_index(a, w, x, grad) or _by_elements(a.rows(grad))
    budget = a.problem.limits.budget
    return lambda k, c: budget.search(lambda: entry(k, c), lambda: UNWRITTEN)


def _by_elements(row: Callable[[int], Any]) -> Entry:
    """Entries over SymPy elements, in which inputs with a value are numbers."""
    from ..backends.symbolic import element_text

    known: dict[int, Any] = {}

    def entry(k: int, c: int) -> str:
        if k not in known:
            refused = any(found is None for found in known.values())  # as all of them are
            known[k] = None if refused else unless_unwritten(lambda: row(k))
        if known[k] is None:
            return UNWRITTEN
        return ZERO if known[k][c] == 0 else element_text(known[k][c])

    return entry


@searched()
def _by_index(a: Analysis, w: Wording, x: Input, grad: Node) -> Entry | None:
    """Entries read off the Jacobian in index notation, in the user's own names, with the numbers of
    inputs that have values.
    """
    p = a.problem
    valued = any(i.value is not None for i in p.inputs.values())
    indices = w.indices
    found = indices.jacobian_expression(grad)
    if found is None:
        return None
    expression, places, sizes = found
    write = Writing(w.names, "·")

    @lru_cache(maxsize=1)
    def row(k: int) -> tuple[Expr, Simplifier]:
        in_row = _letters(indices.out_places, p.out, k)
        return substituted(expression, in_row, sizes), Simplifier(sizes)

    def entry(k: int, c: int) -> str:
        in_row, simplify = row(k)
        simplify.work = 0
        try:
            e = substituted(in_row, _letters(places, x.node, c), sizes)
            e = simplify(settled(e, a.value) if valued else e)
        except (TooLong, RecursionError):
            return UNWRITTEN
        text = tree.text(write(Lettering({}, sizes)(e, indices.reserved)))
        return ZERO if text == "0" else text

    return entry


def _letters(places: tuple, node: Node, flat: int) -> dict[str, Any]:
    """What the letters of a node stand for at one of its elements."""
    at = np.unravel_index(flat, node.shape) if node.shape else ()
    return {letter: int(k) for letter, k in zip(places, at, strict=True) if isinstance(letter, str)}
