"""Which unnamed values of a program should get a name in its derivation."""

from collections import defaultdict
from collections.abc import Collection
from functools import partial
from typing import NamedTuple

from ...autodiff.reverse import Contribution, Step
from ...graphs import Node, upstream
from ..analysis import Analysis

SECONDARY = ("movement", "leaf")  # families whose results get no names


class Needed(NamedTuple):
    """The unnamed nodes whose gradient is used in more than one place; of nodes with the same
    gradient the latest. `branching`: it is used by the gradients of several nodes; `repeated`: it,
    or the value, is used several times in the gradient of one node.
    """

    branching: set[Node]
    repeated: set[Node]


def needed_twice(a: Analysis) -> Needed:
    """The nodes that a derivation may name."""
    p, steps = a.problem, a.gradients.steps
    named = {n for built in p.statement_values for n in built if isinstance(n, Node)}
    named |= {i.node for i in p.inputs.values()} | {p.out}
    uses = _Uses(steps, named)
    has_name = {step.received for step in steps if step.node in named}
    latest = {step.received: step.node for step in reversed(steps)}
    received = [r for r in latest if len(uses.users[r]) > 1 and r not in has_name]
    branching = {latest[r] for r in received if len(uses.targets[r]) > 1}
    values = {step.node for step in steps if len(uses.users[step.node]) > 1}
    repeated = {latest[r] for r in received} | {n for n in values if not _is_short(n, named)}
    free = {n for n in branching | repeated if n not in named and n.op.family not in SECONDARY}
    if p.seed.implicit:  # a gradient of ones gets no name, as that of z in z.sum()
        free -= {latest[r] for r in latest if _is_spread(r, p.seed.node)}
    return Needed(branching & free, (repeated - branching) & free)


class _Uses:
    """The uses of values and gradients in the reverse pass: for each node the nodes computed from
    it (`users`), and the nodes whose gradients these contribute to (`targets`).
    """

    def __init__(self, steps: list[Step], named: Collection[Node]):
        self.users: defaultdict[Node, set[Node]] = defaultdict(set)
        self.targets: defaultdict[Node, set[Node]] = defaultdict(set)
        self.named, self.forward = named, {step.node for step in steps} | {*named}
        for step in steps:
            for c in step.contributions:
                self._add(step, c)

    def _add(self, step: Step, c: Contribution) -> None:
        if c.sent is not step.received:
            up_to = partial(_up_to, self.forward, step.received)
            for node in upstream(c.sent, up_to):
                for used in up_to(node):
                    if used is step.received or used in self.forward:
                        self.users[used].add(node)
                        self.targets[used].add(c.to)
        elif c.to in self.named:
            self.users[step.received].add(c.to)
            self.targets[step.received].add(c.to)


def _up_to(ends: set[Node], last: Node, node: Node) -> tuple[Node | None, ...]:
    return () if node is last or node in ends else node.inputs


def _is_spread(node: Node, seed: Node) -> bool:
    """Whether a node is the seed, repeated."""
    while node is not seed and node.op.family == "movement":
        (node,) = node.parents
    return node is seed


def _is_short(node: Node, named: Collection[Node]) -> bool:
    """Whether a value is a number as short to write as its name, as sqrt(d)."""
    alone = node.op.family == "elementwise" and len(node.parents) == 1
    return alone and node.numel == 1 and node.parents[0] in named
