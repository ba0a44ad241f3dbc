"""The shortest graph that means the same, for display: numbers are never computed from it.

The identities stand in rules/; here they are applied, inputs first, until nothing changes.
"""

from collections.abc import Collection, Mapping

from ...graphs import Node, intern, walk
from ...graphs.substitution import substitute
from .rules import LAYOUT, RULES, Rule, apply_rules
from .rules.atoms import atom_of
from .rules.products import constant_value

WRITTEN = {"shape", "size"}  # attributes that a user may have written out
LARGE = 300  # nodes; a larger graph is not read, however it is written
PASSES = 12
REWRITES = 20  # of one node in one pass


def simplify(
    node: Node, keep: Collection[Node] = (), layout: Mapping[str, list[Rule]] = LAYOUT
) -> Node:
    """An equal node that reads shorter; the nodes in `keep` are not looked into. `layout` are the
    rules that are tried last.
    """

    def is_held(n: Node) -> bool:
        return n in keep and n.op.name != "input" and n is not node

    met = walk([node], lambda n: () if is_held(n) else n.inputs)
    atoms = {n: atom_of(n) for n in met if is_held(n)}
    short = stripped(node, atoms)
    if len(walk([short])) > LARGE:
        return node
    short = Rewriter(layout).once(Rewriter(RULES)(short))
    return substitute(short, {atom: n for n, atom in atoms.items()})


def without_spans(node: Node) -> Node:
    """The same without places in the text, which keep apart what is equal."""
    return stripped(node, {}, written=set())


def without_ones(node: Node) -> Node:
    """The same numbers to the last digit, without the products by 1 that a seed of 1 leaves."""
    done: dict[Node | None, Node | None] = {None: None}
    for n in walk([node]):
        inputs = tuple(done[i] for i in n.inputs)
        fresh = n if inputs == n.inputs else intern(n.op, inputs, n.attrs, n.span)
        done[n] = _other_factor(fresh)
    return done[node]  # type: ignore[return-value]


def _other_factor(node: Node) -> Node:
    """x for 1 * x and x * 1; any other node as it is."""
    if node.op.name == "mul":
        for one, other in (node.parents, node.parents[::-1]):
            while one.op.name == "expand":
                (one,) = one.parents
            same = other.shape == node.shape and other.dtype == node.dtype
            if same and constant_value(one) == 1:
                return other
    return node


def stripped(node: Node, new: Mapping[Node, Node], written: Collection[str] = WRITTEN) -> Node:
    """`node` without spans, which keep equal things apart, with other nodes in place of some.

    With an attribute out of `written` the span stays: it tells a formula that the sizes are the
    user's own.
    """
    kept = set(written)
    return substitute(node, new, lambda n: n.span if n.attrs.keys() & kept else None)


class Rewriter:
    """A table of rules, applied to each part of a graph; remembers what became of each node."""

    def __init__(self, rules: Mapping[str, list[Rule]]):
        self.rules = rules
        self.rewritten: dict[Node, Node] = {}
        self.fixed: set[Node | None] = {None}  # no rule applies to them, nor to what they need
        self.done: dict[Node, Node] = {}

    def __call__(self, node: Node) -> Node:
        """The node when all rules are done."""
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
            fresh = n if inputs == n.inputs else intern(n.op, inputs, n.attrs, n.span)
            done[n] = self.top(fresh)
            if done[n] is n and fixed.issuperset(n.inputs):
                fixed.add(n)
        return done[node]  # type: ignore[return-value]

    def top(self, node: Node) -> Node:
        """The node rewritten, its inputs as they are; what it was on the way becomes the same."""
        way: dict[Node, None] = {}
        while node not in self.rewritten and node not in way and len(way) < REWRITES:
            way[node] = None
            node = next((n for n in apply_rules(node, self.rules) if n is not node), node)
        node = self.rewritten.get(node, node)
        self.rewritten |= dict.fromkeys(way, node)
        return node


def merged(*tables: Mapping[str, list[Rule]]) -> dict[str, list[Rule]]:
    """Several tables of rules as one."""
    out: dict[str, list[Rule]] = {}
    for table in tables:
        for name, rules in table.items():
            out.setdefault(name, []).extend(rules)
    return out
