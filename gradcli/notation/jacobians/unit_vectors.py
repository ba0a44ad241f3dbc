"""Deltas of a letter and a number as elements of unit vectors: δ[i,0] is eye(n)[0][i]."""

from ...graphs import OPS, Node
from .. import tree
from ..indices.expressions import Element, Expr, Function, Relation, parts, rebuilt
from ..tree import Subscript, Tree
from .tensors import Tensors


def with_unit_vectors(e: Expr, write: Tensors, names: dict[Node, Tree]) -> Expr:
    """The expression with these elements; their rows are added to the `names` of nodes. Within a
    function a delta may be a condition, and stays one.
    """
    if isinstance(e, Function):
        return e
    unit = _letter_and_row(e)
    if unit is None:
        return rebuilt(e, tuple(with_unit_vectors(part, write, names) for part in parts(e)))
    letter, row = unit
    node = OPS["eye"](n=write.sizes[letter])[(row,)]
    names[node] = Subscript(write.identity([letter], [letter]), (tree.Number(row),))
    return Element(node, (letter,))


def _letter_and_row(e: Expr) -> tuple[str, int] | None:
    """The letter and the number of a delta of these; None for other expressions."""
    if not isinstance(e, Relation) or e.symbol != "==":
        return None
    letter, row = (e.left, e.right) if isinstance(e.left, str) else (e.right, e.left)
    return (letter, row) if isinstance(letter, str) and isinstance(row, int) else None
