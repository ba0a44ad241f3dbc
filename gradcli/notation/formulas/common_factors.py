"""Products within products of a formula, in whatever order their factors stand."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from .. import tree
from ..tree import Infix, Name, Prefix, Tree

MOST = 16  # products of a formula that are held against each other
Factor = tuple[str, Tree]  # "*" or "/", and what the product is multiplied with or divided by


class Chain(NamedTuple):
    """A product with all its factors, and its sign."""

    whole: Tree
    negative: bool
    factors: tuple[Factor, ...]

    def without(self, common: Counter, name: Name) -> Tree:
        """The product with a name for some of its factors."""
        left = Counter(common)
        out: Tree = Prefix("-", name) if self.negative else name
        for symbol, part in self.factors:
            if left[symbol, part]:
                left[symbol, part] -= 1
            else:
                out = Infix(symbol, out, part)
        return out


def common_products(wholes: list[Tree]) -> Iterator[tuple[Tree, list[Chain], Counter]]:
    """What several products have in common that is none of their parts as they stand, the products,
    and its factors.
    """
    chains = [c for whole in wholes for c in _chains(whole)]
    if len(chains) > MOST:
        return
    met = set()
    counts = [Counter(c.factors) for c in chains]
    for p, q in combinations(range(len(chains)), 2):
        common = counts[p] & counts[q]
        key = frozenset(common.items())
        if common.total() < 2 or key in met or not any(s == "*" for s, _ in common):
            continue
        met.add(key)
        having = [c for c, own in zip(chains, counts, strict=True) if common <= own]
        yield _product(chains[p].factors, common), having, common


def _product(factors: tuple[Factor, ...], common: Counter) -> Tree:
    """The product of some of the factors, in their order, none below a line first."""
    left, taken = Counter(common), list[Factor]()
    for f in factors:
        if left[f]:
            left[f] -= 1
            taken.append(f)
    taken.sort(key=lambda f: f[0] != "*")
    (_, out), *rest = taken
    for symbol, part in rest:
        out = Infix(symbol, out, part)
    return out


def _chains(whole: Tree) -> Iterator[Chain]:
    """All products in a formula."""
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
