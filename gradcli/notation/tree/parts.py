"""The parts of formulas.

A formula is a tree until it is shown: `as_text` and the writers of `typeset` print it. Trees may
share parts and may be deep, so no function recurses over them.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple, Union

Tree = Union[
    "Name", "Number", "Infix", "Prefix", "Call", "Method", "Attribute", "Subscript", "Slice",
    "Listing", "Indexed", "Derivative", "Multiples", "Quotient", "Condition", "Between", "Sum",
    "Verbatim", "LeftOut", "Bracketed", "Block",
]  # fmt: skip
Inner = Any  # a Tree within a Tree: mypy is slow for recursive unions of tuples


class Token(NamedTuple):
    """A piece of text and its role: "seed" (the upstream gradient), "input:NAME", "number", or ""
    for any other piece.
    """

    text: str
    role: str = ""


class Name(NamedTuple):
    """A name of an input, the seed or an intermediate, with its role as in Token; `also` are other
    names of the same node.
    """

    text: str
    role: str = ""
    also: tuple[str, ...] = ()


class Number(NamedTuple):
    """A number, written with the fewest digits that identify it; with `point`, 2.0 is not 2."""

    value: float
    point: bool = False


class Infix(NamedTuple):
    """left symbol right; `ndims` are the numbers of dimensions of both sides, if known."""

    symbol: str
    left: Inner
    right: Inner
    ndims: tuple[int, int] | None = None


class Prefix(NamedTuple):
    """-x or ~x."""

    symbol: str
    operand: Inner


class Call(NamedTuple):
    """function(args, name=value)."""

    function: str
    args: tuple[Inner, ...]
    named: tuple[tuple[str, Inner], ...] = ()


class Method(NamedTuple):
    """base.name(args, name=value)."""

    base: Inner
    name: str
    args: tuple[Inner, ...] = ()
    named: tuple[tuple[str, Inner], ...] = ()


class Attribute(NamedTuple):
    """base.name."""

    base: Inner
    name: str


class Subscript(NamedTuple):
    """base[items], in Python's indexing."""

    base: Inner
    items: tuple[Inner, ...]


class Slice(NamedTuple):
    """start:stop:step in an index."""

    start: Inner | None = None
    stop: Inner | None = None
    step: Inner | None = None


class Listing(NamedTuple):
    """(a, b), or [a, b] according to `brackets`."""

    items: tuple[Inner, ...]
    brackets: str = "()"


class Indexed(NamedTuple):
    """An element in index notation: name[i,j+1,0]; without brackets if there are no places."""

    base: Inner
    places: tuple[Inner, ...]


class Derivative(NamedTuple):
    """A derivative, ∂²of/∂x[i]∂y[j], whose order is the number of elements in `by`."""

    of: Inner
    by: tuple[Inner, ...]


class Multiples(NamedTuple):
    """An index that is a sum: 2i+j+1. Each term is an indivisible part, such as i, and its
    coefficient; `times` is the symbol between them, "" or "*".
    """

    terms: tuple[tuple[Inner, int], ...]
    offset: int
    times: str = ""


class Quotient(NamedTuple):
    """The place place//by%size, without // if `by` is 1, and without % if `size` is 0."""

    place: Inner
    by: int
    size: int


class Condition(NamedTuple):
    """[condition], which is 1 if it holds, otherwise 0."""

    condition: Inner


class Between(NamedTuple):
    """low ≤ place < high."""

    low: int
    place: Inner
    high: int


class Sum(NamedTuple):
    """The sum of body over all values of the letters."""

    letters: tuple[str, ...]
    body: Inner


class Verbatim(NamedTuple):
    """Text that is printed unchanged: a shape, a list, an option."""

    text: str


class LeftOut(NamedTuple):
    """The ellipsis in a sum of `count` terms."""

    count: int  # type: ignore[assignment]  # it hides tuple.count


class Bracketed(NamedTuple):
    """Redundant parentheses that help the reader."""

    inner: Inner


class Block(NamedTuple):
    """name = ...; name = ...; result."""

    statements: tuple[tuple[Name, Tree], ...]
    result: Tree


ALL = Slice()  # : in an index
NEW_DIMENSION = Verbatim("None")


def words_in_use(names: Collection[Name]) -> set[str]:
    """The words that these names use, so that other names cannot."""
    return {word for name in names for word in (name.text, *name.also)}


def children(tree: Tree) -> list[Tree]:
    """The direct subformulas, in reading order; an index and a condition have none."""
    return _CHILDREN[type(tree)](tree)


def leaves(tree: Tree) -> int:
    """The number of leaves of a formula, with repetitions; a shared part is visited once."""
    counts: dict[int, int] = {}
    stack = [tree]
    while stack:
        below = children(stack[-1])
        missing = [t for t in below if id(t) not in counts]
        if missing:
            stack += missing
            continue
        counts[id(stack.pop())] = sum(counts[id(t)] for t in below) or 1
    return counts[id(tree)]


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
    Slice: lambda tree: [],
    Listing: lambda tree: [*tree.items],
    Indexed: lambda tree: [tree.base],
    Derivative: lambda tree: [tree.of, *tree.by],
    Multiples: lambda tree: [],
    Quotient: lambda tree: [],
    Condition: lambda tree: [],
    Between: lambda tree: [],
    LeftOut: lambda tree: [],
    Sum: lambda tree: [tree.body],
    Bracketed: lambda tree: [tree.inner],
    Block: lambda tree: [*chain.from_iterable(tree.statements), tree.result],
}


# ---- sizes ---------------------------------------------------------------------------------------
# A size is the number of names, numbers and symbols; a repeated part may count as a name.


MOST_REPEATED = 3  # a part of at most this size is repeated rather than named
LISTED, MOST_LISTED = 8, 20  # 8 numbers of a list count as one name; a list as 20 names at most


def _counts(part: Tree) -> int:
    if isinstance(part, Subscript) and NEW_DIMENSION in part.items:  # a reshaped operand
        return len(part.items)
    return not isinstance(part, Bracketed) and 1 + listed(part)


def listed(part: Tree) -> int:
    """The size of a list of numbers: LISTED numbers count as one name."""
    if isinstance(part, Verbatim):
        return min(part.text.count(",") // LISTED, MOST_LISTED)
    if isinstance(part, Listing) and part.brackets == "[]":
        return min(len(part.items) // LISTED, MOST_LISTED)
    return sum(map(listed, part.items)) if isinstance(part, Subscript) else 0


def size(tree: Tree) -> int:
    """The number of names, numbers and symbols in a formula, with repetitions."""
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


def product(factors: Sequence[Tree]) -> Tree:
    """factor * factor * ...; 1 if there are none."""
    return reduce(lambda a, b: Infix("*", a, b), factors) if factors else Number(1)


def shortest(result: Iterable[Tree | None]) -> Tree | None:
    """The shortest formula, ignoring None; None if there is none."""
    return min((f for f in result if f is not None), key=size, default=None)


def _opened(part: Tree) -> tuple[float, list[Tree]]:
    return _counts(part), children(part)


def length(
    tree: Tree,
    opened: Callable[[Tree], tuple[float, list[Tree]]] = _opened,
    identity: Callable[[Tree], Hashable] = id,
) -> float:
    """The size of a formula in which a repeated part is counted once, and as a name where it is
    repeated, if that is smaller.

    `opened` returns the size of a part without its subformulas, and the subformulas. Parts with the
    same `identity` are the same.
    """
    times: dict[Hashable, int] = {}
    total, stack = 0.0, [tree]
    while stack:
        part = stack.pop()
        occurrence = times[identity(part)] = times.get(identity(part), 0) + 1
        if occurrence > 1:
            total += _repeated_size(part, occurrence)
            continue
        own, inner = opened(part)
        total += own
        stack += inner
    return total


def length_in_statements(tree: Tree) -> float:
    """The size of a formula in which equal parts are counted once."""
    return length(tree, identity=lambda part: part)


def _repeated_size(part: Tree, times: int) -> int:
    """The size that a further occurrence of a part adds to a formula: the size of the part if it is
    small. A larger part is defined once: its second occurrence adds the size of a definition and a
    name, later ones the size of a name.
    """
    own, stack = 0, [part]
    while stack and own <= MOST_REPEATED:
        inner = stack.pop()
        own += _counts(inner)
        stack += children(inner)
    return own if own <= MOST_REPEATED else MOST_REPEATED if times == 2 else 1
