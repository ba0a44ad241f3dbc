"""Formulas in several statements: what occurs more than once gets a name, where that is shorter."""

from collections import Counter
from collections.abc import Collection
from itertools import count

from .. import tree
from ..tree import Block, Name, Tree

WORTH = 4  # names, numbers and symbols that a statement must save


def shared(formula: Tree, taken: Collection[str], worth: int = WORTH) -> Tree:
    """The formula with statements before it, each of which saves as much as is `worth` it; new
    names are not among those `taken`.
    """
    statements: list[tuple[Name, Tree]] = []
    while (best := _best(formula, statements, worth)) is not None:
        name = Name(f"#{len(statements)}")
        formula = _replaced(formula, best, name)
        statements = [(n, _replaced(t, best, name)) for n, t in statements]
        statements.insert(_place(statements, best), (name, best))
    if not statements:
        return formula
    block: Tree = Block(tuple(statements), formula)
    names = (n for n in _names() if n not in taken)
    for (numbered, _), name in zip(statements, names):  # in the order in which they are read
        block = _replaced(block, numbered, Name(name))
    return block


def _names():
    yield from ("t", "u")
    yield from (f"t{k}" for k in count(1))


def _best(formula: Tree, statements: list[tuple[Name, Tree]], worth: int) -> Tree | None:
    """The part that saves most when it is said once."""
    found: Counter[Tree] = Counter()
    for whole in (formula, *(t for _, t in statements)):
        found.update(_parts(whole))
    often = {part: times for part, times in found.items() if times > 1}
    saved = {part: (times - 1) * tree.size(part) - times - 1 for part, times in often.items()}
    best = max(saved, key=lambda part: saved[part], default=None)
    return best if best is not None and saved[best] >= worth else None


def _parts(whole: Tree) -> list[Tree]:
    """All calls, products and sums in a formula."""
    out: list[Tree] = []
    stack = [whole]
    while stack:
        part = stack.pop()
        if isinstance(part, tree.Infix | tree.Call | tree.Method | tree.Prefix):
            out.append(part)
        stack += tree.children(part)
    return out


def _place(statements: list[tuple[Name, Tree]], part: Tree) -> int:
    """Behind the last statement whose name the part has."""
    used = {p.text for p in _leaves(part)}
    return max((k + 1 for k, (name, _) in enumerate(statements) if name.text in used), default=0)


def _leaves(whole: Tree) -> list[Name]:
    out, stack = [], [whole]
    while stack:
        part = stack.pop()
        if isinstance(part, Name):
            out.append(part)
        stack += tree.children(part)
    return out


def _replaced(whole: Tree, part: Tree, name: Name) -> Tree:
    """A formula with a name for one of its parts."""
    if whole == part or whole == tree.Bracketed(part):
        return name
    if isinstance(whole, tuple) and hasattr(whole, "_fields"):
        return type(whole)(*(_within(field, part, name) for field in whole))
    return whole


def _within(field, part: Tree, name: Name):
    if isinstance(field, tuple):
        if hasattr(field, "_fields"):
            return _replaced(field, part, name)  # type: ignore[arg-type]
        return tuple(_within(inner, part, name) for inner in field)
    return field
