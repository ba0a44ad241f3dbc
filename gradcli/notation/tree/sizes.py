"""How long formulas are: in names, numbers and symbols, and with a name for what is repeated."""

from collections.abc import Callable, Iterable

from .parts import NEW_DIMENSION, Bracketed, Listing, Subscript, Tree, Verbatim, children

NAMED = 3  # names, numbers and symbols of a part that needs no name
LISTED, MOST_LISTED = 8, 20  # numbers of a list that count as much as one name; names at most


def _counts(part: Tree) -> int:
    if isinstance(part, Subscript) and NEW_DIMENSION in part.items:  # a reshaped operand
        return len(part.items)
    return not isinstance(part, Bracketed) and 1 + listed(part)


def listed(part: Tree) -> int:
    """The length of a list of numbers: several of them count as much as one name."""
    if isinstance(part, Verbatim):
        return min(part.text.count(",") // LISTED, MOST_LISTED)
    if isinstance(part, Listing) and part.brackets == "[]":
        return min(len(part.items) // LISTED, MOST_LISTED)
    return sum(map(listed, part.items)) if isinstance(part, Subscript) else 0


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


def shortest(result: Iterable[Tree | None]) -> Tree | None:
    """The shortest formula; None if there is none."""
    return min((f for f in result if f is not None), key=size, default=None)


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
    """The length that a repeated part adds: its own, or that of a name and its definition."""
    own, stack = 0, [part]
    while stack and own <= NAMED:
        inner = stack.pop()
        own += _counts(inner)
        stack += children(inner)
    return own if own <= NAMED else NAMED if times == 2 else 1
