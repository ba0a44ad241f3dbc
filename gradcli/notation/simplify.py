"""The shortest graph that means the same, for display: numbers are never computed from it.

The identities stand in notation/rules; here they are applied, inputs first, until nothing changes.
"""

from collections.abc import Collection, Mapping

from ..graphs import OPS, Node, intern, walk
from ..graphs.substitution import substitute
from .rules import LAYOUT, RULES, Rule
from .rules.products import constant_value

WRITTEN = {"shape", "size"}  # attributes that a user may have written out
LARGE = 300  # nodes; a larger graph is not read, however it is written
PASSES = 12
REWRITES = 20  # of one node in one pass


def simplify(node: Node, keep: Collection[Node] = ()) -> Node:
    """An equal node that reads shorter; the nodes in `keep` are not looked into."""
    held = [n for n in keep if n.op.name != "input" and n is not node]
    atoms = {
        n: OPS["input"](name=f"\0{k}", shape=n.shape, dtype=n.dtype) for k, n in enumerate(held)
    }
    short = _rebuilt(node, atoms, {}, set())
    if len(walk([short])) > LARGE:
        return node
    settled: set[Node] = set()
    for _ in range(PASSES):
        new = _rebuilt(short, {}, RULES, settled)
        if new is short:
            break
        short = new
    short = _rebuilt(short, {}, LAYOUT, set())
    return substitute(short, {atom: n for n, atom in atoms.items()})


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


def _rebuilt(
    node: Node, new: Mapping[Node, Node], rules: Mapping[str, list[Rule]], settled: set[Node]
) -> Node:
    """`node` without spans, which keep equal things apart, each part rewritten by the rules.

    Where a shape was written the span stays: it tells a formula that the sizes are the user's own.
    `settled` are the nodes to which no rule applies; more are added.
    """
    done: dict[Node | None, Node | None] = {None: None}
    done.update(new.items())
    for n in walk([node], lambda n: () if n in new else n.inputs):
        if n not in done:
            inputs = tuple(done[i] for i in n.inputs)
            span = n.span if n.attrs.keys() & WRITTEN else None
            same = n.span is span and inputs == n.inputs
            fresh = n if same else intern(n.op, inputs, n.attrs, span)
            if fresh not in settled:
                fresh = _rewritten(fresh, rules, settled)
            done[n] = fresh
    return done[node]  # type: ignore[return-value]


def _rewritten(node: Node, rules: Mapping[str, list[Rule]], settled: set[Node]) -> Node:
    for _ in range(REWRITES):
        new = _once(node, rules)
        if new is None:
            settled.add(node)
            break
        node = new
    return node


def _once(node: Node, rules: Mapping[str, list[Rule]]) -> Node | None:
    for rule in (*rules.get(node.op.name, ()), *rules.get(node.op.family, ())):
        new = rule(node)
        if new is not None and new is not node:
            assert new.shape == node.shape, f"{rule.__name__}: {node.shape} became {new.shape}"
            if new.dtype == node.dtype:
                return new
    return None
