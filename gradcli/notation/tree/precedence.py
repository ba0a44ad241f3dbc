"""How tightly symbols bind, and the walk that puts brackets round what binds less than it must."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from .parts import Infix, Number, Prefix, Sum, Tree

# How tightly a symbol binds; what binds less is put in brackets. " " and "·" multiply elements.
PRECEDENCE = {
    "==": 0, "!=": 0, "<": 0, "<=": 0, ">": 0, ">=": 0, "|": 1, "&": 3, "+": 4, "-": 4,
    "*": 5, "/": 5, "//": 5, "%": 5, "@": 5, "·": 5, " ": 5, "unary": 6, "**": 7, "atom": 9,
}  # fmt: skip
REGROUPED = ("·", " ")  # products in index notation are associative
SUM = 5  # a sum includes the products to its right
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


Piece = TypeVar("Piece")


class Part(NamedTuple):
    """A formula within another, where what binds less than `room` needs brackets."""

    tree: Tree
    room: float = 0


class Form(NamedTuple):
    """What a formula is written with, and how tightly the outermost sign of that binds."""

    binding: float
    pieces: Iterable


def walk(
    tree: Tree, form: Callable[[Tree], Form], brackets: tuple[Piece, Piece]
) -> Iterator[Piece]:
    """The pieces of a formula from left to right; `form` says what a tree is written with: pieces,
    and parts that are written in turn.
    """
    stack: list = [Part(tree)]
    while stack:
        piece = stack.pop()
        if not isinstance(piece, Part):
            yield piece
            continue
        binding, pieces = form(piece.tree)
        pieces = list(pieces)
        if binding < piece.room:
            pieces = [brackets[0], *pieces, brackets[1]]
        stack.extend(reversed(pieces))


def binding(tree: Tree) -> int:
    """How tightly the outermost symbol of a formula binds."""
    if isinstance(tree, Infix):
        return PRECEDENCE[tree.symbol]
    if isinstance(tree, Prefix):
        return PRECEDENCE["unary"]
    if isinstance(tree, Number) and number(tree.value).startswith("-"):
        return PRECEDENCE["unary"]
    return SUM if isinstance(tree, Sum) else PRECEDENCE["atom"]


def number(value: float) -> str:
    """A number as short as it reads back: 2, 0.5, 1e-05; whole floats without their point."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) >= 2**63 and float(value) == value:
        return str(float(value))  # too large for an integer in PyTorch
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole and str(value) != "-0.0" else str(value)
