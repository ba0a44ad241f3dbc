"""Simplification of graphs for display; values are never computed from the result.

The rules are in rules/; here they are applied, inputs first, until nothing changes.
"""

from collections.abc import Collection, Mapping

from ...graphs import Node, walk
from ...graphs.substitution import rebuilt, substitute
from .rules import LAYOUT, RULES, Rule, apply_rules
from .rules.atoms import atom_of
from .rules.products import constant_value
from .rules.registry import Rules

WRITTEN = {"shape", "size"}  # attributes that keep the user's spelling
LARGE = 300  # larger graphs are not simplified
PASSES = 12
REWRITES = 20  # most rewrites of one node in a pass


def simplify(
    node: Node, keep: Collection[Node] = (), layout: Mapping[str, list[Rule]] = LAYOUT
) -> Node:
    """An equal node with a shorter formula; nodes in `keep` are treated as inputs. `layout` are the
    rules that are applied last.
    """

    def is_atom(n: Node) -> bool:
        return n in keep and n.op.name != "input" and n is not node

    nodes = walk([node], lambda n: () if is_atom(n) else n.inputs)
    atoms = {n: atom_of(n) for n in nodes if is_atom(n)}
    short = stripped(node, atoms)
    if len(nodes) > LARGE and len(walk([short])) > LARGE:  # equal nodes become one in `short`
        return node
    short = Rewriter(layout).once(Rewriter(RULES)(short))
    return substitute(short, {atom: n for n, atom in atoms.items()})


def without_spans(node: Node) -> Node:
    """The node without spans (positions in the user's text), which make equal nodes differ."""
    return stripped(node, {}, written=set())


def without_ones(node: Node, same: Collection[Node] = ()) -> Node:
    """The node without products by 1, such as an upstream gradient of 1; values do not change.
    Nodes in `same` are unchanged.
    """
    return rebuilt(node, lambda n, inputs: _other_factor(n.with_inputs(inputs)), same)


def _other_factor(node: Node) -> Node:
    """x for 1 * x and x * 1; other nodes unchanged."""
    if node.op.name == "mul":
        for one, other in (node.parents, node.parents[::-1]):
            while one.op.name == "expand":
                (one,) = one.parents
            same = other.shape == node.shape and other.dtype == node.dtype
            if same and constant_value(one) == 1:
                return other
    return node


def stripped(node: Node, new: Mapping[Node, Node], written: Collection[str] = WRITTEN) -> Node:
    """`node` without spans, which make equal nodes differ, and with nodes replaced as in `new`.
    Nodes with an attribute in `written` keep their spans, so that formulas show the user's sizes.
    """
    names = set(written)
    return substitute(node, new, lambda n: n.span if n.attrs.keys() & names else None)


class Rewriter:
    """Applies a table of rules to all nodes of a graph; results are cached."""

    def __init__(self, rules: Mapping[str, list[Rule]]):
        self.rules = rules
        self.rewritten: dict[Node, Node] = {}
        # nodes for which no rule applies to them or to a node they depend on
        self.fixed: set[Node | None] = {None}
        self.done: dict[Node, Node] = {}

    def __call__(self, node: Node) -> Node:
        """The node after all rules, applied until nothing changes."""
        start = node
        for _ in range(PASSES):
            if node in self.done:
                node = self.done[node]
                break
            new = self.once(node)
            if new is node:
                break
            node = new
        self.done[start] = node
        return node

    def once(self, node: Node) -> Node:
        """The node after one pass, inputs first."""
        fixed = self.fixed
        done: dict[Node | None, Node | None] = {None: None}
        for n in walk([node], lambda n: () if n in fixed else n.inputs):
            if n in fixed:
                done[n] = n
                continue
            inputs = tuple(done[i] for i in n.inputs)
            done[n] = self.top(n.with_inputs(inputs))
            if done[n] is n and fixed.issuperset(n.inputs):
                fixed.add(n)
        return done[node]  # type: ignore[return-value]

    def top(self, node: Node) -> Node:
        """The node rewritten, with the same inputs; intermediate results are cached too."""
        seen: dict[Node, None] = {}
        while node not in self.rewritten and node not in seen and len(seen) < REWRITES:
            seen[node] = None
            node = next((n for n in apply_rules(node, self.rules) if n is not node), node)
        node = self.rewritten.get(node, node)
        self.rewritten |= dict.fromkeys(seen, node)
        return node


def merged(*tables: Mapping[str, list[Rule]]) -> Rules:
    """One table with the rules of several."""
    out: dict[str, list[Rule]] = {}
    for table in tables:
        for name, rules in table.items():
            out.setdefault(name, []).extend(rules)
    return Rules(out)
