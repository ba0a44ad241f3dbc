"""The shortest formula that can be found for a node: a search, under a budget.

A gradient is first brought into a normal form (the rules of RULES and NORMAL). Then, inputs first,
each node keeps the few shortest ways to say it that the rules of OTHERS and LAYOUT lead to, made of
the few shortest ways to say its inputs. Rounds are repeated until nothing gets shorter. Nodes that
have names are names; products that are a name's definition become the name.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ..graphs import Node, intern, walk
from . import tree
from .formula import Writer
from .names import Names
from .rules import LAYOUT, NORMAL, OTHERS, RULES
from .simplify import LARGE, Rewriter, merged, substitute
from .tree import Name

KEPT = 4  # ways to say a node
ROUNDS = 4
BUDGET = 4000  # nodes that are compared in one search

NORMALISING = merged(RULES, NORMAL)
ALTERNATIVES = merged(OTHERS, LAYOUT)


def shortest(node: Node, names: Mapping[Node, Name]) -> Node:
    """An equal node whose formula is the shortest that was found, in terms of `names`."""
    inputs = {n: m for n, m in names.items() if n.op.name == "input"}
    found = []
    for known in (names, inputs) if len(names) > len(inputs) else (names,):
        search = Search(known)
        if (short := search(node)) is not None:
            found.append((Length(names)(short), short))
    return min(found, key=lambda f: f[0])[1] if found else node


class Length:
    """How long formulas are: names, numbers, operators and calls."""

    def __init__(self, names: Mapping[Node, Name]):
        self.writer, self.sizes, self.found = Writer(names), {}, {}  # type: ignore[var-annotated]

    def __call__(self, node: Node) -> float:
        """The length; a row times a matrix counts more than the same as a column."""
        if node not in self.found:
            written = self.writer.tree(node)
            rows = 0.0
            self.found[node] = tree.size(written, self.sizes) + rows
        return self.found[node]


class Search:
    """One search for a short formula, with some names."""

    def __init__(self, names: Mapping[Node, Name]):
        self.names = Names(names)
        self.normal = Rewriter(NORMALISING)
        self.left = BUDGET

    def __call__(self, node: Node) -> Node | None:
        start = self.names.hide(node)
        if len(walk([start])) > LARGE:
            return None
        self.names.settle(self.normal)
        self.length = Length(self.names.words)
        best = root = self._normalised(start)
        for _ in range(ROUNDS):
            new = self._round(root)
            if self.length(new) < self.length(best):
                best = new
            again = self._normalised(new)
            if again is root or self.left <= 0:
                break
            root = again
        return self.names.show(best)

    def _normalised(self, node: Node) -> Node:
        return self.names.folded(self.normal(node), self.normal)

    def _round(self, root: Node) -> Node:
        ways: dict[Node, list[Node]] = {}
        for n in walk([root]):
            ways[n] = self._ways(n, ways) if n.inputs else [n]
        return ways[root][0]

    def _ways(self, n: Node, ways: Mapping[Node, list[Node]]) -> list[Node]:
        """The shortest ways to say a node, and always the node itself."""
        seen: dict[Node, None] = {n: None}
        for made in self._made(n, ways):
            seen.setdefault(made)
        for found in list(seen):
            for new in self._others(found):
                seen.setdefault(new)
                if new not in ways:
                    for newer in self._others(new):
                        seen.setdefault(newer)
        order = sorted(seen, key=self.length)
        self.left -= len(order)
        kept = order[:KEPT]
        return kept if n in kept else [*kept, n]

    def _made(self, n: Node, ways: Mapping[Node, list[Node]]) -> Iterator[Node]:
        """The node made of other ways to say its inputs, one of them changed at a time."""
        best = [None if i is None else ways[i][0] for i in n.inputs]
        yield from self._both(n, best)
        for k, i in enumerate(n.inputs):
            for way in () if i is None else ways[i][1:]:
                yield from self._both(n, [*best[:k], way, *best[k + 1 :]])

    def _both(self, n: Node, inputs: list[Any]) -> Iterator[Node]:
        """The node as it is, and in its normal form."""
        new = intern(n.op, tuple(inputs), n.attrs, n.span)
        yield new
        yield self.normal.top(new)

    def _others(self, n: Node) -> Iterator[Node]:
        if self.left <= 0:
            return
        for rule in (*ALTERNATIVES.get(n.op.name, ()), *ALTERNATIVES.get(n.op.family, ())):
            found = rule(n)
            for new in () if found is None else (found,) if isinstance(found, Node) else found:
                if new.shape == n.shape and new.dtype == n.dtype:
                    yield new
                    yield self.normal(new)
        yield from self.names.spoken(n, self.normal)
