"""Common products of factors in a formula, independent of the order of factors."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from .. import tree
from ..tree import Infix, Name, Prefix, Tree

MOST = 16  # products of a formula that are compared pairwise
Factor = tuple[str, Tree]  # "*" or "/", and the factor or divisor


class Chain(NamedTuple):
    """A product, its sign, and its factors."""

    whole: Tree
    negative: bool
    factors: tuple[Factor, ...]

    def without(self, common: Counter, name: Name) -> Tree:
        """The product with a name in place of some of its factors."""
        remaining = Counter(common)
        out: Tree = Prefix("-", name) if self.negative else name
        for symbol, part in self.factors:
            if remaining[symbol, part]:
                remaining[symbol, part] -= 1
            else:
                out = Infix(symbol, out, part)
        return out


def common_products(wholes: list[Tree]) -> Iterator[tuple[Tree, list[Chain], Counter]]:
    """Yield products that several others contain, with these others and the factors."""
    chains = [c for whole in wholes for c in _chains(whole)]
    if len(chains) > MOST:
        return
    seen = set()
    counts = [Counter(c.factors) for c in chains]
    for p, q in combinations(range(len(chains)), 2):
        common = counts[p] & counts[q]
        key = frozenset(common.items())
        if common.total() < 2 or key in seen or not any(s == "*" for s, _ in common):
            continue
        seen.add(key)
        products = [c for c, factors in zip(chains, counts, strict=True) if common <= factors]
        yield _product(chains[p].factors, common), products, common


def _product(factors: tuple[Factor, ...], common: Counter) -> Tree:
    """The product of some of the factors, in their order, but not starting with a divisor."""
    remaining, chosen = Counter(common), list[Factor]()
    for f in factors:
        if remaining[f]:
            remaining[f] -= 1
            chosen.append(f)
    chosen.sort(key=lambda f: f[0] != "*")
    (_, out), *rest = chosen
    for symbol, part in rest:
        out = Infix(symbol, out, part)
    return out


def _chains(whole: Tree) -> Iterator[Chain]:
    """Yield all products in a formula."""
    stack = [whole]
    while stack:
        part = stack.pop()
        if not _is_product(part):
            stack += tree.children(part)
            continue
        factors: list[Factor] = []
        spine = part
        while _is_product(spine):
            factors.append((spine.symbol, spine.right))  # type: ignore[union-attr]
            spine = spine.left  # type: ignore[union-attr]
        negative = isinstance(spine, Prefix) and spine.symbol == "-"
        factors.append(("*", spine.operand if negative else spine))  # type: ignore[union-attr]
        yield Chain(part, negative, tuple(reversed(factors)))
        stack += [f for _, f in factors]


def _is_product(part: Tree) -> bool:
    return isinstance(part, Infix) and part.symbol in ("*", "/")
