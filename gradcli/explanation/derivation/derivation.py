"""The reverse pass as statements: `h.grad = ...` for each value that has a name, in terms of those
before it, then the gradients of the inputs.

Each assignment is a problem of its own, whose seed is the gradient of what it assigns. So formulas
are as short as its text, and what they cost grows with the length of the program.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, reduce
from typing import Any, NamedTuple

from ...graphs import Node
from ...language.given.seeds import Seed
from ...language.given.values import Reader
from ...language.posing import Posing
from ...language.problem import Problem
from ...notation import tree
from ...notation.formulas.formula import formula
from ...notation.tree import Name, Tree
from ..analysis import Analysis
from ..formulas.source_text import role_of
from ..formulas.wording import Wording
from .statements import Assignment, assignments

SEED = "#"  # of an assignment, until it is known what that is called
OF = "seed_of_"  # the same, of one of several values


class Line(NamedTuple):
    """`name.grad = formula`; None for a formula that cannot be read. `of` is the value's node,
    `grad` what it receives, `ways` what its gradient comes from where that is several values.
    """

    name: str
    of: Node
    grad: Node
    formula: Tree | None
    ways: tuple[str, ...] = ()

    @property
    def gradient_name(self) -> str:
        """What PyTorch calls it, after retain_grad()."""
        return grad_of(self.name)


def grad_of(name: str) -> str:
    """What the gradient of a value is called."""
    return f"{name}.grad"


class Derivation:
    """The gradients of a problem in terms of the gradients of what they go through."""

    def __init__(self, a: Analysis):
        self.a, self.p = a, a.problem
        self.assigned = assignments(a)
        self.nodes = {name: i.node for name, i in self.p.inputs.items()}
        for s in self.assigned:
            self.nodes |= dict(zip(s.names, s.nodes))
        self.received = {step.node: step.received for step in a.gradients.steps}
        grads = {x.node: a.gradient(x) for x in self.p.wrt}
        self.received |= {node: grad for node, grad in grads.items() if grad is not None}

    @cached_property
    def lines(self) -> list[Line]:
        """All of it, in the order in which it is computed; what nothing asked for needs left
        out.
        """
        return _needed(self._lines(), {x.name for x in self.p.wrt})

    @cached_property
    def back(self) -> list[Line]:
        """The lines of values on the way back."""
        inputs = {x.name for x in self.p.wrt}
        return [line for line in self.lines if line.name not in inputs]

    @cached_property
    def gradients(self) -> list[Line]:
        """The lines of the inputs asked for, in the order in which they are reached."""
        return self.lines[len(self.back) :]

    @property
    def added_formulas(self) -> list[Tree]:
        """What these assign, to be measured."""
        return [formula(s.nodes[0], self._names(s.nodes[0])) for s in self.added]

    @property
    def names(self) -> set[str]:
        """What has a name, those of gradients among them."""
        return {*self.nodes, *map(grad_of, self.nodes), self.p.seed.name}

    def _names(self, node: Node) -> dict[Node, Name]:
        return {n: Name(name) for name, n in self.nodes.items() if n is not node}

    @cached_property
    def added(self) -> list[Assignment]:
        """The assignments that the program does not have, as far as lines use their names."""
        said = {word for line in self.lines if line.formula for word in _words(line.formula)}
        return [s for s in self.assigned if s.is_added and {s.names[0], grad_of(s.names[0])} & said]

    def _lines(self) -> list[Line]:
        sent: dict[str, list[tuple[str, Tree | None]]] = {}
        seeds: dict[str, Tree] = {self.p.out_name: Name(self.p.seed.name, "seed")}
        out: list[Line] = []
        for s in reversed(self.assigned):
            for name, node in zip(s.names, s.nodes):
                if name in sent:
                    line = self._line(name, node, sent[name])
                    if isinstance(line.formula, Name):
                        seeds[name] = line.formula
                    else:
                        seeds[name] = Name(line.gradient_name)
                        out.append(line)
            received = {name: seeds[name] for name in s.names if name in seeds}
            for name, term in self._sent(s, received):
                sent[name] = [
                    *sent.pop(name, []),
                    (s.names[-1], term),
                ]  # the last to arrive last
        reached = [x for name in sent for x in self.p.wrt if x.name == name]
        return [*out, *(self._line(x.name, x.node, sent[x.name]) for x in reached)]

    def _line(self, name: str, node: Node, terms: list[tuple[str, Tree | None]]) -> Line:
        ways = tuple(dict.fromkeys(source for source, _ in terms)) if len(terms) > 1 else ()
        return Line(name, node, self.received[node], _sum([f for _, f in terms]), ways)

    # ---- one assignment ----------------------------------------------------------------------

    def _sent(self, s: Assignment, seeds: Mapping[str, Tree]) -> list[tuple[str, Tree | None]]:
        """What an assignment sends to each value that it uses."""
        wrt = [n for n in self.nodes if n in s.used and self.nodes[n] in self.received]
        if not seeds or not wrt:
            return []
        found = _formulas(self._alone(s, seeds, wrt), self.a.dtype)
        roles = {x.name: role_of(x) for x in self.p.inputs.values()}
        received = {SEED + n: seed for n, seed in seeds.items()} | {SEED: seeds.get(s.names[-1])}

        def own(name: Name) -> Tree:
            return received.get(name.text) or name._replace(role=roles.get(name.text, ""))

        return [(name, None if f is None else renamed(f, own)) for name, f in found.items()]

    def _alone(self, s: Assignment, seeds: Mapping[str, Tree], wrt: list[str]) -> Problem:
        """The problem that an assignment is; of several values, that of their sum, each times its
        seed.
        """
        used = [n for n in self.nodes if n in s.used]
        nodes = {n: self.nodes[n] for n in used}
        end, several = "", len(s.names) > 1
        if several:
            nodes |= {f"{OF}{n}": node for n, node in zip(s.names, s.nodes) if n in seeds}
            end = " + ".join(f"({n} * {OF}{n}).sum()" for n in seeds)
        arrays = {n: self.a.value(node) for n, node in nodes.items() if node.dtype != "float"}
        arrays = {n: v for n, v in arrays.items() if v is not None}
        shapes = {n: node.shape for n, node in nodes.items() if n not in arrays}
        reader = Reader(self.p.limits.without("elements"), 0, None)
        assume = {n: words for n, words in self.p.assume.items() if n in nodes}
        found = Posing(s.program(end), [*nodes], shapes, arrays, reader, assume).problem(wrt)
        is_implicit = several or (s.names[-1] == self.p.out_name and self.p.seed.implicit)
        return found if is_implicit else found._replace(seed=Seed(found.seed.node, None, None))


def _formulas(p: Problem, dtype: str) -> dict[str, Tree | None]:
    """The formulas of the gradients of one assignment, with what it receives called SEED."""
    a = Analysis(p, dtype)
    w = Wording(a)

    def own(name: Name) -> Tree:
        return (
            Name(SEED)
            if name.text == p.seed.name
            else name._replace(text=name.text.replace(OF, SEED))
        )

    found = {}
    for x in p.wrt:
        if a.gradient(x) is not None:
            f = w.gradient(x)
            found[x.name] = None if f is None else renamed(f, own)
    return found


def renamed(part: Any, change: Callable[[Name], Tree]) -> Any:
    """A formula with other formulas in the place of names."""
    if isinstance(part, Name):
        return change(part)
    if isinstance(part, tuple):
        made = (renamed(field, change) for field in part)
        return type(part)(*made) if hasattr(part, "_fields") else tuple(made)
    return part


def _sum(terms: list[Tree | None]) -> Tree | None:
    found = [f for f in terms if f is not None]
    return reduce(_plus, found) if len(found) == len(terms) else None


def _plus(left: Tree, right: Tree) -> Tree:
    if isinstance(right, tree.Prefix) and right.symbol == "-":
        return tree.Infix("-", left, right.operand)
    return tree.Infix("+", left, right)


def _words(formula: Tree) -> set[str]:
    """The names in a formula."""
    found, stack = set[str](), [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, Name):
            found.add(part.text)
        stack += tree.children(part)
    return found


def _needed(lines: list[Line], asked: set[str]) -> list[Line]:
    """The lines that those of the names asked for need."""
    wanted, found = set(map(grad_of, asked)), list[Line]()
    for line in reversed(lines):
        if line.gradient_name in wanted:
            found.append(line)
            wanted |= _words(line.formula) if line.formula else set()
    return found[::-1]
