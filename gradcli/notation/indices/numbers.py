"""Numbers of a line of index notation at other sizes than those at which it was written."""

from collections.abc import Callable, Iterator
from typing import Any

from ...graphs import Node
from ...graphs.shapes import TELLING, Shape
from ...lazy import np
from .expressions import Element, Evaluation, Expr, Number, Sum, Unknown, inner, parts, rebuilt
from .index import Notation

Values = Callable[[Node], Any]
RATIOS = (1, 3, 5, 8)  # what numbers of a program are often divided by


def numbers(line: Notation, shape: Shape, value_of: Values) -> Any:
    """The right side at every place of the left one, which has the `shape`; `value_of` gives arrays
    of the nodes in it. Raises LookupError where they do not tell how long its sums are, and where a
    number may be computed from the sizes at which it was written.
    """
    if any(isinstance(part, Number) and not _is_small(part.value) for part in inner(line.expr)):
        raise LookupError("a size")
    known: dict[Node, Any] = {}

    def value(node: Node) -> Any:
        if node not in known:
            known[node] = np.asarray(value_of(node))
        return known[node]

    e, evaluate, out = _resized(line.expr, value), Evaluation(value), np.empty(shape)
    for at in np.ndindex(*shape):
        letters = {p: k for p, k in zip(line.places, at, strict=True) if isinstance(p, str)}
        try:
            out[at] = evaluate(e, letters)
        except Unknown as error:
            raise LookupError from error
    return out


def _is_small(value: float) -> bool:
    """Whether a number is a small ratio: sizes at which lines are written are large and prime."""
    return abs(value) < TELLING[0] and any((value * n) % 1 == 0 for n in RATIOS)


def _resized(e: Expr, value: Values) -> Expr:
    """The expression with sums as long as the dimensions that their letters run over."""
    built = tuple(_resized(part, value) for part in parts(e))
    if not isinstance(e, Sum):
        return rebuilt(e, built) if built else e
    size = next(_sizes(e, value), None)
    if size is None:
        raise LookupError(e.letter)
    return Sum(e.letter, size, *built)


def _sizes(e: Sum, value: Values) -> Iterator[int]:
    for part in inner(e):
        if isinstance(part, Element) and e.letter in part.places:
            yield value(part.node).shape[part.places.index(e.letter)]
