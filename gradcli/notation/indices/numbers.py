"""Values of an equation in index notation at sizes other than those for which it was derived."""

from collections.abc import Callable, Iterator
from typing import Any

from ...graphs import Node
from ...graphs.shapes import GENERIC_SIZES, Shape
from ...lazy import np
from .expressions import Element, Evaluation, Expr, Number, Sum, Unknown, inner, parts, rebuilt
from .index import Notation

Values = Callable[[Node], Any]
RATIOS = (1, 3, 5, 8)  # common denominators of numbers in programs


def numbers(line: Notation, shape: Shape, value_of: Values) -> Any:
    """The array of values of the right side, of this shape; `value_of` returns the arrays of nodes.

    Raises LookupError if the size of a sum is unknown, or if a number may depend on the original
    sizes.
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
    """Whether a number is a small ratio; the original sizes are large primes."""
    return abs(value) < GENERIC_SIZES[0] and any((value * n) % 1 == 0 for n in RATIOS)


def _resized(e: Expr, value: Values) -> Expr:
    """The expression with the sizes of sums taken from the dimensions that their letters index."""
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
