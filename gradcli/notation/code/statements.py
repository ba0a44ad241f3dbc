"""A graph as statements: nodes that are used repeatedly, or that are too long for a line, are
assigned to names.
"""

import builtins
import keyword
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ...graphs import Node, walk
from .. import tree
from ..formulas.formula import Writer
from ..tree import Name, Tree

LONGEST = 68  # most characters of a right side
SHORT = 8  # characters of a formula that is repeated instead of named
LETTERS = "tuvwzpqrs"


class Statement(NamedTuple):
    """A statement `name = text`; bit k of `needed` is set if root k depends on it."""

    name: str
    text: str
    needed: int


class Names:
    """Generates unused names."""

    def __init__(self, used: Collection[str]):
        self.used = set(used)
        self.counts: dict[str, int] = {}  # for each wanted name: the last number appended to it

    def free(self, wanted: str) -> str:
        """An unused name: `wanted`, with a number appended if necessary."""
        name, count = wanted, self.counts.get(wanted, 1)
        while name in self.used:
            count += 1
            name = f"{wanted}{count}"
        self.counts[wanted] = count
        self.used.add(name)
        return name

    def of(self, node: Node) -> str:
        """A name for the result of an operation: the operator's name, or a letter."""
        word = node.op.name.removesuffix("_values").removesuffix("_indices")
        several = node.op.family in ("elementwise", "movement") and len(node.inputs) != 1
        if several or node.op.family == "movement" or node.op.spelling or "_" in word:
            letter = next((c for c in LETTERS if c not in self.used), "t")
            return self.free(letter)
        return self.free(f"{word}_" if word in dir(builtins) or keyword.iskeyword(word) else word)


class Statements:
    """The statements that `roots` need, in order; `formulas` are those of the roots after them.

    `wanted` are names for intermediate nodes; nodes that have names in the writer need no
    statement. Right sides have at most `longest` characters, if possible.
    """

    def __init__(
        self,
        writer: Writer,
        roots: Sequence[Node],
        wanted: Mapping[Node, str],
        names: Names,
        longest: int = LONGEST,
    ):
        self.longest = longest
        self.writer, self.roots, self.wanted, self.names = writer, roots, wanted, names
        self.lines: list[Statement] = []
        self.named: dict[Node, str] = {}  # nodes that are assigned to names
        self._written = set(writer.trees)
        self._text = tree.Texts()
        self._read: dict[Node, tuple[Node | None, ...]] = {}
        reached = set(walk(roots, self._sources))
        self._order = walk([*(n for n in wanted if n in reached), *roots], self._sources)
        self._uses: Counter[Node | None] = Counter(roots)
        for node in self._order:
            for source, times in zip(self._sources(node), self._mentions(node)):
                self._uses[source] += times
        self._needed = self._roots_by_node()
        for node in self._order:
            if node not in self._written:
                self._write(node)
        self.formulas: list[Tree] = [writer.trees[root] for root in roots]

    def _sources(self, node: Node) -> tuple[Node | None, ...]:
        if node not in self._read:
            at_hand = node in self._written
            self._read[node] = () if at_hand else tuple(self.writer.sources(node))
        return self._read[node]

    def _mentions(self, node: Node) -> tuple[int, ...]:
        if node in self._written:
            return ()
        return tuple(self.writer.mentions(node))

    def _roots_by_node(self) -> dict[Node | None, int]:
        needed: dict[Node | None, int] = dict.fromkeys((None, *self._order), 0)
        for place, root in enumerate(self.roots):
            needed[root] |= 1 << place
        for node in reversed(self._order):
            for source in self._sources(node):
                needed[source] |= needed[node]
        return needed

    def _write(self, node: Node) -> None:
        self._shorten(node)
        if node in self.wanted:
            self._name(node, self.wanted[node])
        elif self._uses[node] > 1 and self._is_costly(node):
            self._name(node, self.names.of(node))

    def _shorten(self, node: Node) -> None:
        """Write the formula of a node, and name its longest parts until it fits in a line."""
        trees = self.writer.trees
        written = self.writer.tree(node)
        while len(self._text(written)) > self.longest:
            parts = [p for p in dict.fromkeys(self._parts(node)) if not _is_plain(trees[p])]
            if not parts:
                break
            longest = sorted(parts, key=lambda p: len(self._text(trees[p])), reverse=True)
            for part in longest if len(parts) > LONGEST else longest[:1]:
                self._name(part, self.names.of(part))
            for stale in self._containing(node, longest[0]):
                del trees[stale]
            written = self.writer.tree(node)

    def _parts(self, node: Node) -> list[Node]:
        """The sources of a node's formula, skipping nodes with the same formula as their source."""
        result = []
        for source in self._sources(node):
            if source is not None:
                result.append(source)
        if len(result) == 1 and self.writer.trees[result[0]] is self.writer.trees[node]:
            return self._parts(result[0])
        return result

    def _containing(self, node: Node, part: Node) -> list[Node]:
        """The nodes from `node` down to `part` whose formulas contain that of `part`."""
        chain = [node]
        while part not in self._sources(chain[-1]):
            chain += [s for s in self._sources(chain[-1]) if s is not None][:1]
        return chain

    def _is_costly(self, node: Node) -> bool:
        written = self.writer.trees[node]
        if _is_plain(written) or node in self.writer.numbers:
            return False
        light = node.op.family in ("elementwise", "movement", "leaf")
        return not light or len(self._text(written)) > SHORT

    def _name(self, node: Node, name: str) -> None:
        trees = self.writer.trees
        self.lines.append(Statement(name, self._text(trees[node]), self._needed[node]))
        trees[node] = Name(name)
        self.named[node] = name


def _is_plain(written: Tree) -> bool:
    """Whether a formula is a name or number, possibly with a sign, an attribute or an index."""
    while isinstance(written, tree.Prefix | tree.Attribute | tree.Subscript):
        written = written.operand if isinstance(written, tree.Prefix) else written.base
    if isinstance(written, tree.Verbatim):
        return len(written.text) <= SHORT
    return isinstance(written, tree.Name | tree.Number)
