"""Formulas as text, which is valid input for gradcli and, with PyTorch's names, in Python.

The writer returns tokens: pieces of text with a role (the seed, which is the upstream gradient; an
input; a number), so that a renderer can colour them. A text that is too long is cut.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from ...budget import tick
from .parts import (
    Attribute,
    Between,
    Block,
    Bracketed,
    Call,
    Condition,
    Derivative,
    Indexed,
    Infix,
    LeftOut,
    Listing,
    Method,
    Multiples,
    Name,
    Number,
    Prefix,
    Quotient,
    Slice,
    Subscript,
    Sum,
    Token,
    Tree,
    Verbatim,
)

# Operator precedence; an operand of lower precedence needs parentheses. " " and "·" are products of
# elements.
PRECEDENCE = {
    "==": 0, "!=": 0, "<": 0, "<=": 0, ">": 0, ">=": 0, "|": 1, "&": 3, "+": 4, "-": 4,
    "*": 5, "/": 5, "//": 5, "%": 5, "@": 5, "·": 5, " ": 5, "unary": 6, "**": 7, "atom": 9,
}  # fmt: skip
REGROUPED = ("·", " ")  # associative in index notation
SUM = 5  # the precedence of a sum's body: it includes products to the right
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


Piece = TypeVar("Piece")


class Part(NamedTuple):
    """A formula within another; it needs parentheses if its precedence is below `room`."""

    tree: Tree
    room: float = 0


class Form(NamedTuple):
    """The pieces that a formula is written with, and the precedence of its outermost operator."""

    binding: float
    pieces: Iterable


def walk(
    tree: Tree, form: Callable[[Tree], Form], brackets: tuple[Piece, Piece]
) -> Iterator[Piece]:
    """The pieces of a formula from left to right. `form` returns the Form of a tree: pieces, and
    Parts that are written in turn.
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
    """The precedence of the outermost operator of a formula."""
    if isinstance(tree, Infix):
        return PRECEDENCE[tree.symbol]
    if isinstance(tree, Prefix):
        return PRECEDENCE["unary"]
    if isinstance(tree, Number) and number(tree.value).startswith("-"):
        return PRECEDENCE["unary"]
    return SUM if isinstance(tree, Sum) else PRECEDENCE["atom"]


def number(value: float) -> str:
    """The shortest text of a number: 2, 0.5, 1e-05; integral floats have no point."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) >= 2**63 and float(value) == value:
        return str(float(value))  # too large for PyTorch's integers
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole and str(value) != "-0.0" else str(value)


# ---- precedence ----------------------------------------------------------------------------------


LONG = 20_000  # most tokens; callers check the size before
BRACKETS = Token("("), Token(")")
_Pieces = Iterator[Token | Part]


def tokens(tree: Tree) -> list[Token]:
    """The tokens of a formula, from left to right; cut after LONG tokens."""
    tick()
    result = []
    for token in walk(tree, _form, BRACKETS):
        result.append(token)
        if len(result) == LONG:
            return [*result, Token("...")]
    return result


def text(tree: Tree) -> str:
    """The text of a formula."""
    return "".join(token.text for token in tokens(tree))


def beginning(tree: Tree, most: int) -> str:
    """The first `most` characters of a formula's text, without writing the rest."""
    result, length = [], 0
    for token in walk(tree, _form, BRACKETS):
        result.append(token.text)
        length += len(token.text)
        if length >= most:
            break
    return "".join(result)[:most]


class Texts:
    """Caches the texts of formulas and of their parts; they are never cut."""

    def __init__(self) -> None:
        # by id; the tree is stored too, so that its id is not reused
        self._known: dict[int, tuple[Tree, str]] = {}

    def __call__(self, tree: Tree) -> str:
        """The text of a formula."""
        if isinstance(tree, Name):
            return tree.text
        known = self._known.get(id(tree))
        if known is None:
            written = "".join([token.text for token in walk(tree, self._form, BRACKETS)])
            known = self._known[id(tree)] = tree, written
        return known[1]

    def _form(self, tree: Tree) -> Form:
        known = self._known.get(id(tree))
        return _form(tree) if known is None else Form(binding(tree), (Token(known[1]),))


def _form(tree: Tree) -> Form:
    return Form(binding(tree), _PRINTERS[type(tree)](tree))


def _name(tree: Name) -> _Pieces:
    yield Token(tree.text, tree.role)


def _number(tree: Number) -> _Pieces:
    yield Token(repr(tree.value) if tree.point else number(tree.value), "number")


def _infix(tree: Infix) -> _Pieces:
    own = PRECEDENCE[tree.symbol]
    if tree.symbol == "**":
        left, right = own + 1, PRECEDENCE["unary"]
    elif tree.symbol in COMPARISONS:
        left = right = PRECEDENCE["|"] + 1
    else:
        left, right = own, own if _regrouped(tree) else own + 1
    yield Part(tree.left, left + (isinstance(tree.left, Sum) and own >= SUM))
    yield Token(tree.symbol if tree.symbol in REGROUPED else f" {tree.symbol} ")
    yield Part(tree.right, right)


def _regrouped(tree: Infix) -> bool:
    """Whether the right operand of equal precedence needs no parentheses: a·(b·c)."""
    right = tree.right
    return tree.symbol in REGROUPED and isinstance(right, Infix) and right.symbol == tree.symbol


def _prefix(tree: Prefix) -> _Pieces:
    yield Token(tree.symbol)
    yield Part(tree.operand, PRECEDENCE["unary"])


def _separated(items: tuple[Tree, ...]) -> _Pieces:
    for place, item in enumerate(items):
        if place:
            yield Token(", ")
        yield Part(item)


def _arguments(args: tuple[Tree, ...], named: tuple[tuple[str, Tree], ...]) -> _Pieces:
    yield Token("(")
    yield from _separated(args)
    for place, (key, arg) in enumerate(named):
        yield Token((", " if place or args else "") + key + "=")
        yield Part(arg)
    yield Token(")")


def _call(tree: Call) -> _Pieces:
    yield Token(tree.function)
    yield from _arguments(tree.args, tree.named)


def _base(tree: Tree) -> Part:
    """The base of an attribute or index, in parentheses if needed: 2.sum() is a syntax error."""
    return Part(tree, PRECEDENCE["atom"] + isinstance(tree, Number))


def _method(tree: Method) -> _Pieces:
    yield _base(tree.base)
    yield Token("." + tree.name)
    yield from _arguments(tree.args, tree.named)


def _attribute(tree: Attribute) -> _Pieces:
    yield _base(tree.base)
    yield Token("." + tree.name)


def _subscript(tree: Subscript) -> _Pieces:
    yield _base(tree.base)
    yield Token(f"[{', '.join(map(text, tree.items))}]")


def _slice(tree: Slice) -> _Pieces:
    ends = ["" if end is None else text(end) for end in (tree.start, tree.stop)]
    yield Token(":".join(ends) + ("" if tree.step is None else f":{text(tree.step)}"))


def _listing(tree: Listing) -> _Pieces:
    opening, closing = tuple(tree.brackets)
    yield Token(opening)
    yield from _separated(tree.items)
    yield Token("," * (len(tree.items) == 1 and opening == "(") + closing)


def _indexed(tree: Indexed) -> _Pieces:
    yield _base(tree.base)
    if tree.places:
        role = tree.base.role if isinstance(tree.base, Name) else ""
        yield Token(f"[{','.join(map(text, tree.places))}]", role)


def _derivative(tree: Derivative) -> _Pieces:
    yield Token("∂" + order(tree))
    yield Part(tree.of)
    yield Token("/")
    for by in tree.by:
        yield Token("∂")
        yield Part(by.base if isinstance(by, Indexed) else by)
        if isinstance(by, Indexed):
            yield Token(f"[{','.join(map(text, by.places))}]")


def order(tree: Derivative) -> str:
    """The order of a derivative as a superscript; "" for the first order."""
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)] for d in str(len(tree.by))) if len(tree.by) > 1 else ""


def _multiples(tree: Multiples) -> _Pieces:
    first = [t for t in tree.terms if t[1] > 0]
    signed = [("+", _multiple(atom, n, tree.times)) for atom, n in first]
    if tree.offset > 0 and not first:
        signed.append(("+", str(tree.offset)))
    signed += [("-", _multiple(atom, -n, tree.times)) for atom, n in tree.terms if n < 0]
    if tree.offset and (tree.offset < 0 or first):
        signed.append(("-" if tree.offset < 0 else "+", str(abs(tree.offset))))
    yield Token("".join(sign + part for sign, part in signed).removeprefix("+") or "0")


def _multiple(atom: Tree, times: int, star: str) -> str:
    if times == 1:
        return text(atom)
    if isinstance(atom, Quotient):
        return f"{times}{star or '·'}({text(atom)})"
    return f"{times}{star}{text(atom)}"


def _quotient(tree: Quotient) -> _Pieces:
    place = text(tree.place)
    place = place if isinstance(tree.place, Name) else f"({place})"
    by, size = (f"//{tree.by}" * (tree.by > 1), f"%{tree.size}" * bool(tree.size))
    yield Token(place + by + size)


def _condition(tree: Condition) -> _Pieces:
    message = text(tree.condition)
    for typed, sign in (("<=", "≤"), (">=", "≥"), ("!=", "≠"), ("==", "=")):
        message = message.replace(typed, sign)
    yield Token(f"[{message}]")


def _between(tree: Between) -> _Pieces:
    yield Token(f"{tree.low} <= {text(tree.place)} < {tree.high}")


def _left_out(tree: LeftOut) -> _Pieces:
    yield Token(f"… ({tree.count} terms)")


def _sum(tree: Sum) -> _Pieces:
    yield Token(f"Σ_{''.join(tree.letters)} ")
    yield Part(tree.body, SUM)


def _verbatim(tree: Verbatim) -> _Pieces:
    yield Token(tree.text)


def _bracketed(tree: Bracketed) -> _Pieces:
    yield Token("(")
    yield Part(tree.inner)
    yield Token(")")


def _block(tree: Block) -> _Pieces:
    for name, value in tree.statements:
        yield Part(name)
        yield Token(" = ")
        yield Part(value)
        yield Token("; ")
    yield Part(tree.result)


_PRINTERS: dict[type, Callable[..., _Pieces]] = {
    Name: _name, Number: _number, Infix: _infix, Prefix: _prefix, Call: _call, Method: _method,
    Attribute: _attribute, Subscript: _subscript, Slice: _slice, Listing: _listing,
    Indexed: _indexed, Derivative: _derivative, Multiples: _multiples, Quotient: _quotient,
    Condition: _condition, Between: _between, Sum: _sum,
    Verbatim: _verbatim, LeftOut: _left_out, Bracketed: _bracketed, Block: _block,
}  # fmt: skip
