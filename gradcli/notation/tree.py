"""Formulas as trees, and the one printer of all of them.

A formula is never a string before it is shown. The printer gives tokens, pieces of text with the
role they play (the seed, an input, a number), so that a renderer can colour them. The text of a
matrix formula is valid in the language and, under PyTorch's names, in Python. Trees may share parts
and be deep: nothing here recurses, and what would be too long to read is cut.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, Union

Tree = Union[
    "Name", "Number", "Infix", "Prefix", "Call", "Method", "Attribute", "Subscript", "Listing",
    "Indexed", "Sum", "Verbatim", "Bracketed", "Block",
]  # fmt: skip
NAMED = 3  # names, numbers and symbols of a part that needs no name
LISTED = 8  # numbers of a list that count as much as one name
LONG = 20_000  # tokens that are printed of any formula; callers find out earlier, with size()


class Token(NamedTuple):
    """A piece of text and its role: "seed", "input:NAME", "number", or "" for everything else."""

    text: str
    role: str = ""


class Name(NamedTuple):
    """A name: an input, the seed, an intermediate; `also` are other names of the same."""

    text: str
    role: str = ""
    also: tuple[str, ...] = ()


class Number(NamedTuple):
    """A number, as short as it can be read back; `point` keeps the point of 2.0."""

    value: float
    point: bool = False


class Infix(NamedTuple):
    """left symbol right; the symbols and their precedence are in PRECEDENCE."""

    symbol: str
    left: Tree
    right: Tree


class Prefix(NamedTuple):
    """-x or ~x."""

    symbol: str
    operand: Tree


class Call(NamedTuple):
    """function(args, name=value)."""

    function: str
    args: tuple[Tree, ...]
    named: tuple[tuple[str, Tree], ...] = ()


class Method(NamedTuple):
    """base.name(args, name=value)."""

    base: Tree
    name: str
    args: tuple[Tree, ...] = ()
    named: tuple[tuple[str, Tree], ...] = ()


class Attribute(NamedTuple):
    """base.name."""

    base: Tree
    name: str


class Subscript(NamedTuple):
    """base[index], index as Python writes it."""

    base: Tree
    index: str  # type: ignore[assignment]  # it hides tuple.index, which nobody needs


class Listing(NamedTuple):
    """(a, b), or with other brackets [a, b]."""

    items: tuple[Tree, ...]
    brackets: str = "()"


class Indexed(NamedTuple):
    """One element in index notation: name[i,j+1,0]; without places, no brackets."""

    base: Tree
    places: tuple[str, ...]


class Sum(NamedTuple):
    """The sum of body over all values of the letters."""

    letters: tuple[str, ...]
    body: Tree


class Verbatim(NamedTuple):
    """Text that is already what it should be: a shape, a list, an option."""

    text: str


class Bracketed(NamedTuple):
    """Brackets that nothing needs but the eye."""

    inner: Tree


class Block(NamedTuple):
    """name = ...; name = ...; result."""

    statements: tuple[tuple[Name, Tree], ...]
    result: Tree


# How tightly a symbol binds; what binds less is put in brackets. " " and "·" multiply elements.
PRECEDENCE = {
    "==": 0, "!=": 0, "<": 0, "<=": 0, ">": 0, ">=": 0, "|": 1, "&": 3, "+": 4, "-": 4,
    "*": 5, "/": 5, "//": 5, "%": 5, "@": 5, "·": 5, " ": 5, "unary": 6, "**": 7, "atom": 9,
}  # fmt: skip
REGROUPED = ("·", " ")  # in index notation a product is a product, however it is grouped
SUM = 5  # a sum reaches over the products to its right
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def tokens(tree: Tree) -> list[Token]:
    """The pieces of text of a formula, from left to right."""
    found = []
    for token in _tokens(tree):
        found.append(token)
        if len(found) == LONG:
            return [*found, Token("...")]
    return found


def text(tree: Tree) -> str:
    """A formula as text."""
    return "".join(token.text for token in tokens(tree))


def _counts(part: Tree) -> int:
    if isinstance(part, Subscript) and "None" in part.index:  # it lays the dimensions out anew
        return 1 + part.index.count(",")
    return not isinstance(part, Bracketed) and 1 + listed(part)


def listed(part: Tree) -> int:
    """What the numbers of a list count for beside its name: some of them as much as one name."""
    if isinstance(part, Verbatim):
        return part.text.count(",") // LISTED
    return part.index.count(",") // LISTED if isinstance(part, Subscript) else 0


def taken(names: Collection[Name]) -> set[str]:
    """The words that have a meaning where there are these names."""
    return {word for name in names for word in (name.text, *name.also)}


def size(tree: Tree) -> int:
    """How many names, numbers and symbols a formula has when it is written out."""
    sizes: dict[int, int] = {}
    stack = [tree]
    while stack:
        part = stack[-1]
        inner = children(part)
        waiting = [child for child in inner if id(child) not in sizes]
        if waiting:
            stack.extend(waiting)
        else:
            stack.pop()
            sizes[id(part)] = _counts(part) + sum([sizes[id(child)] for child in inner])
    return sizes[id(tree)]


def shortest(found: Iterable[Tree | None]) -> Tree | None:
    """The one of them with the least size; None where there is none."""
    return min((f for f in found if f is not None), key=size, default=None)


def _opened(part: Tree) -> tuple[float, list[Tree]]:
    return _counts(part), children(part)


def length(tree: Tree, opened: Callable[[Tree], tuple[float, list[Tree]]] = _opened) -> float:
    """The same where what is repeated is written once, and has a name, if that is shorter; `opened`
    says of a formula what it counts without those that it is made of, and which these are.
    """
    times: dict[int, int] = {}
    total, stack = 0.0, [tree]
    while stack:
        part = stack.pop()
        met = times[id(part)] = times.get(id(part), 0) + 1
        if met > 1:
            total += _again(part, met)
            continue
        own, inner = opened(part)
        total += own
        stack += inner
    return total


def _again(part: Tree, times: int) -> int:
    """What a part adds when it is met again: itself, or a name, which once has to be given."""
    own, stack = 0, [part]
    while stack and own <= NAMED:
        inner = stack.pop()
        own += _counts(inner)
        stack += children(inner)
    return own if own <= NAMED else NAMED if times == 2 else 1


def children(tree: Tree) -> list[Tree]:
    """The formulas that a formula is made of, in the order in which they are read."""
    return _CHILDREN[type(tree)](tree)


class _Part(NamedTuple):
    """A formula within another, where what binds less than `room` needs brackets."""

    tree: Tree
    room: int = 0


_Pieces = Iterator[Token | _Part]


def _tokens(tree: Tree) -> Iterator[Token]:
    stack: list[Token | _Part] = [_Part(tree)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, Token):
            yield piece
            continue
        pieces = list(_PRINTERS[type(piece.tree)](piece.tree))
        if binding(piece.tree) < piece.room:
            pieces = [Token("("), *pieces, Token(")")]
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


def _name(tree: Name) -> _Pieces:
    yield Token(tree.text, tree.role)


def _number(tree: Number) -> _Pieces:
    yield Token(repr(tree.value) if tree.point else number(tree.value), "number")


def number(value: float) -> str:
    """A number as short as it reads back: 2, 0.5, 1e-05; whole floats without their point."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) >= 2**63 and float(value) == value:
        return str(float(value))  # PyTorch has no whole number of this size
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole and str(value) != "-0.0" else str(value)


def _infix(tree: Infix) -> _Pieces:
    own = PRECEDENCE[tree.symbol]
    if tree.symbol == "**":
        left, right = own + 1, PRECEDENCE["unary"]
    elif tree.symbol in COMPARISONS:
        left = right = PRECEDENCE["|"] + 1
    else:
        left, right = own, own if _regrouped(tree) else own + 1
    yield _Part(tree.left, left + (isinstance(tree.left, Sum) and own >= SUM))
    yield Token(tree.symbol if tree.symbol in REGROUPED else f" {tree.symbol} ")
    yield _Part(tree.right, right)


def _regrouped(tree: Infix) -> bool:
    """Whether the right side may go without brackets though it binds no tighter: a·(b·c)."""
    right = tree.right
    return tree.symbol in REGROUPED and isinstance(right, Infix) and right.symbol == tree.symbol


def _prefix(tree: Prefix) -> _Pieces:
    yield Token(tree.symbol)
    yield _Part(tree.operand, PRECEDENCE["unary"])


def _separated(items: tuple[Tree, ...]) -> _Pieces:
    for place, item in enumerate(items):
        if place:
            yield Token(", ")
        yield _Part(item)


def _arguments(args: tuple[Tree, ...], named: tuple[tuple[str, Tree], ...]) -> _Pieces:
    yield Token("(")
    yield from _separated(args)
    for place, (key, arg) in enumerate(named):
        yield Token((", " if place or args else "") + key + "=")
        yield _Part(arg)
    yield Token(")")


def _call(tree: Call) -> _Pieces:
    yield Token(tree.function)
    yield from _arguments(tree.args, tree.named)


def _base(tree: Tree) -> _Part:
    """What stands before a dot or a bracket; 2.sum() would be read as the number 2. and a name."""
    return _Part(tree, PRECEDENCE["atom"] + isinstance(tree, Number))


def _method(tree: Method) -> _Pieces:
    yield _base(tree.base)
    yield Token("." + tree.name)
    yield from _arguments(tree.args, tree.named)


def _attribute(tree: Attribute) -> _Pieces:
    yield _base(tree.base)
    yield Token("." + tree.name)


def _subscript(tree: Subscript) -> _Pieces:
    yield _base(tree.base)
    yield Token(f"[{tree.index}]")


def _listing(tree: Listing) -> _Pieces:
    opening, closing = tuple(tree.brackets)
    yield Token(opening)
    yield from _separated(tree.items)
    yield Token("," * (len(tree.items) == 1 and opening == "(") + closing)


def _indexed(tree: Indexed) -> _Pieces:
    yield _base(tree.base)
    if tree.places:
        yield Token(
            f"[{','.join(tree.places)}]", tree.base.role if isinstance(tree.base, Name) else ""
        )


def _sum(tree: Sum) -> _Pieces:
    yield Token(f"Σ_{''.join(tree.letters)} ")
    yield _Part(tree.body, SUM)


def _verbatim(tree: Verbatim) -> _Pieces:
    yield Token(tree.text)


def _bracketed(tree: Bracketed) -> _Pieces:
    yield Token("(")
    yield _Part(tree.inner)
    yield Token(")")


def _block(tree: Block) -> _Pieces:
    for name, value in tree.statements:
        yield _Part(name)
        yield Token(" = ")
        yield _Part(value)
        yield Token("; ")
    yield _Part(tree.result)


_PRINTERS: dict[type, Callable[..., _Pieces]] = {
    Name: _name, Number: _number, Infix: _infix, Prefix: _prefix, Call: _call, Method: _method,
    Attribute: _attribute, Subscript: _subscript, Listing: _listing, Indexed: _indexed, Sum: _sum,
    Verbatim: _verbatim, Bracketed: _bracketed, Block: _block,
}  # fmt: skip

_CHILDREN: dict[type, Callable[..., list[Tree]]] = {
    Name: lambda tree: [],
    Number: lambda tree: [],
    Verbatim: lambda tree: [],
    Infix: lambda tree: [tree.left, tree.right],
    Prefix: lambda tree: [tree.operand],
    Call: lambda tree: [*tree.args, *(arg for _, arg in tree.named)],
    Method: lambda tree: [tree.base, *tree.args, *(arg for _, arg in tree.named)],
    Attribute: lambda tree: [tree.base],
    Subscript: lambda tree: [tree.base],
    Listing: lambda tree: [*tree.items],
    Indexed: lambda tree: [tree.base],
    Sum: lambda tree: [tree.body],
    Bracketed: lambda tree: [tree.inner],
    Block: lambda tree: [*chain.from_iterable(tree.statements), tree.result],
}
