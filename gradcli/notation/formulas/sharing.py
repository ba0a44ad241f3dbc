"""Formulas in several statements: repeated parts get names if that is shorter."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import count

from .. import tree
from ..tree import Block, Name, Tree
from .common_factors import common_products

WORTH = 4  # names, numbers and symbols that a statement must save
CONSTANT_MATRICES = ("eye", "ones", "zeros")


def shared(formula: Tree, taken: Collection[str], worth: int = WORTH) -> Tree:
    """The formula preceded by statements, each of which saves at least `worth` names, numbers and
    symbols; new names are not among those `taken`.
    """
    first: dict[str, Name] = {}
    same: dict[Tree, Tree] = {n: first.setdefault(n.text, n) for n in reversed(_leaves(formula))}
    formula = _replaced(formula, same)
    statements: list[tuple[Name, Tree]] = []
    while True:
        name = Name(f"#{len(statements)}")
        best, new = _best(formula, statements, name, worth)
        if best is None:
            break
        formula = _replaced(formula, new)
        statements = [(n, _replaced(t, new)) for n, t in statements]
        statements.insert(_position(statements, best), (name, best))
    if not statements:
        return formula
    block: Tree = Block(tuple(statements), formula)
    names = (n for n in _names() if n not in taken)
    for (numbered, _), name in zip(statements, names):  # in reading order
        block = _replaced(block, {numbered: Name(name)})
    return block


def in_terms_of(formula: Tree, statements: Iterable[tuple[Name, Tree]]) -> Tree:
    """The formula with names in place of parts that earlier statements define."""
    for name, part in statements:
        formula = _replaced(formula, _named(part, name))
    return formula


def _named(part: Tree, name: Name) -> dict[Tree, Tree]:
    return {part: name, tree.Bracketed(part): name}


def _names():
    yield from ("t", "u")
    yield from (f"t{k}" for k in count(1))


def _best(
    formula: Tree, statements: list[tuple[Name, Tree]], name: Name, worth: int
) -> tuple[Tree | None, dict[Tree, Tree]]:
    """The repeated part whose naming saves most, or None, and the substitution for it."""
    wholes = [formula, *(t for _, t in statements)]
    result: Counter[Tree] = Counter()
    for whole in wholes:
        result.update(_parts(whole))
    best, new, most = None, dict[Tree, Tree](), worth - 1
    for part, occurrences in result.items():
        saved = _saved(part, occurrences) if occurrences > 1 else 0
        if saved > most and (saved >= WORTH or not _is_constant_matrix(part)):
            best, new, most = part, _named(part, name), saved
    for part, products, factors in common_products(wholes):
        saved = _saved(part, len(products))
        if saved > most:
            best, new, most = part, {c.whole: c.without(factors, name) for c in products}, saved
    return best, new


def _is_constant_matrix(part: Tree) -> bool:
    """Whether a part is made of sizes only, as eye(n), and reads as well as a name."""
    return isinstance(part, tree.Call) and part.function in CONSTANT_MATRICES


def _saved(part: Tree, times: int) -> int:
    return (times - 1) * tree.size(part) - times - 1


def _parts(whole: Tree) -> list[Tree]:
    """All calls, operations and methods in a formula."""
    out: list[Tree] = []
    stack = [whole]
    while stack:
        part = stack.pop()
        if isinstance(part, tree.Infix | tree.Call | tree.Method | tree.Prefix):
            out.append(part)
        stack += tree.children(part)
    return out


def _position(statements: list[tuple[Name, Tree]], part: Tree) -> int:
    """The position after the last statement whose name occurs in the part."""
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


def _replaced(whole: Tree, new: Mapping[Tree, Tree]) -> Tree:
    """A formula with parts replaced as in `new`."""
    if whole in new:
        whole = new[whole]
        return whole if isinstance(whole, Name) else _rebuilt(whole, new)
    return _rebuilt(whole, new)


def _rebuilt(whole: Tree, new: Mapping[Tree, Tree]) -> Tree:
    if isinstance(whole, tuple) and hasattr(whole, "_fields"):
        return type(whole)(*(_within(field, new) for field in whole))
    return whole


def _within(field, new: Mapping[Tree, Tree]):
    if isinstance(field, tuple):
        if hasattr(field, "_fields"):
            return _replaced(field, new)  # type: ignore[arg-type]
        return tuple(_within(inner, new) for inner in field)
    return field
