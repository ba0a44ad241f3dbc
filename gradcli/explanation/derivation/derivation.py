"""The reverse pass as statements: `h.grad = ...` for each named value, in terms of earlier ones,
then the gradients of the inputs.

Each assignment is treated as a problem of its own, whose seed is the gradient of the assigned
value, so that the lengths of its formulas depend on this assignment only. Formulas are searched for
on demand.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, partial, reduce
from itertools import chain, islice, takewhile
from math import inf
from typing import Any, NamedTuple

from ...autodiff.reverse import Contribution, Step
from ...errors import if_applicable
from ...graphs import Node, downstream, upstream, value_inputs, walk
from ...graphs.shapes import Shape
from ...graphs.substitution import substitute_all
from ...language.arguments.seeds import Seed
from ...language.arguments.values import Reader
from ...language.posing import Posing
from ...language.problem import Problem
from ...lazy import np
from ...notation import tree
from ...notation.formulas.formula import TOO_LONG, Writer, formula, too_long
from ...notation.formulas.sharing import in_terms_of
from ...notation.formulas.simplify import without_ones
from ...notation.tree import Name, Tree
from ..analysis import Analysis, once
from ..formulas.contradictions import named_values
from ..formulas.formula_writer import writer_of
from ..formulas.source_text import role_of
from ..formulas.trials import value_of
from .statements import Assignment, assignments

TRIED = 60  # most assignments of a program for which further names are tried
Known = dict[tuple, tuple[str, dict[str, Tree | None]]]
LEAST_DEFINED = 3  # values with shorter formulas are not replaced by their names
TERMS = 100  # most terms of a formula that is shown
OF = "seed_of_"  # `seed_of_a` is the seed of `a` in a statement that assigns several names


def grad_of(name: str) -> str:
    """The name of the gradient of a value in PyTorch."""
    return f"{name}.grad"


class Line:
    """A line `name.grad = formula` of a derivation. `grad` is the gradient of the node `of`: the
    sum of the gradients that the assignments in `sources` send to it.
    """

    def __init__(self, name: str, of: Node, grad: Node, derivation: "Derivation"):
        self.name, self.of, self.grad = name, of, grad
        self._derivation = derivation
        self.sources: list[Assignment] = []

    @property
    def gradient_name(self) -> str:
        """The name of the gradient in PyTorch."""
        return grad_of(self.name)

    @property
    def via(self) -> list[str]:
        """The names of the values through which the gradient flows back to this one."""
        return list(dict.fromkeys(s.names[-1] for s in self.sources))

    @property
    def text(self) -> str | None:
        """The formula as text; None if it is too long."""
        return None if self.formula is None else tree.text(self.formula)

    @cached_property
    def formula(self) -> Tree | None:
        """The formula, in terms of values and of earlier gradients; None if it is too long."""
        if len(self.sources) > TERMS:
            return None
        derived = self._derivation
        views = [s for s in self.sources if derived.is_view(s, self)]
        each = {s.names: derived.sent(s).get(self.name) for s in self.sources}
        added = derived.sum_of(self, [*each.values()])
        if added is None:
            return derived.as_computed(self)
        shortest, joined = added, derived.sent_by_views(self, views) if len(views) > 1 else None
        if joined is not None:
            others = [f for names, f in each.items() if names not in {s.names for s in views}]
            shortest = min(derived.sum_of(self, [*others, joined]) or added, added, key=tree.size)
        through = derived.sent_through(self)
        candidates = (derived.in_names(f) for f in (shortest, through) if f is not None)
        return tree.shortest(candidates)


@once
def derivation(a: Analysis) -> "Derivation":
    """The derivation of a problem. A value that a rule uses several times (as softmax uses its
    upstream gradient) gets a name unless that lengthens the derivation of its statement.
    """
    branching, repeated = needed_twice(a)
    cache: Known = {}
    whole = Derivation(a, branching | repeated, cache)
    if not repeated or len(whole.assigned) > TRIED:
        return whole
    without = Derivation(a, branching, cache)
    changed = {s.position for s in whole.assigned if not repeated.isdisjoint(s.nodes)}
    shorter = {k for k in changed if whole.length(k) <= without.length(k)}
    named = [n for s in whole.assigned if s.position in shorter for n in s.nodes]
    return Derivation(a, branching | repeated.intersection(named), cache)


class Derivation:
    """The gradients of a problem in terms of the gradients of intermediates, with names for
    some nodes that have none in the program. `cache` has formulas of assignments by their text.
    """

    def __init__(self, a: Analysis, named_nodes: Collection[Node], cache: "Known"):
        self.a, self.p, self._known = a, a.problem, cache
        self.assigned = assignments(self.p, named_nodes)
        self.nodes = {name: i.node for name, i in self.p.inputs.items()}
        for s in self.assigned:
            self.nodes |= dict(zip(s.names, s.nodes))
        self.received = {step.node: step.received for step in a.gradients.steps}
        grads = {x.node: a.gradient(x) for x in self.p.wrt}
        self.received |= {node: grad for node, grad in grads.items() if grad is not None}
        first = {n: s.nodes[-1] for s in self.assigned for n in s.again}
        for n, node in first.items():
            if n in self.received:  # a value that is detached, or used in masks only, has none
                other = self.received.get(node)
                self.received[node] = (
                    self.received[n] if other is None else other + self.received[n]
                )
        self.senders = _senders(a.gradients.steps, {*self.nodes.values()}, first)
        self._sent: dict[tuple[Node, ...], dict[str, Tree | None]] = {}
        self.out_name = next(n for n, node in self.nodes.items() if node is self.p.out)
        self.seeds: dict[str, Tree] = {self.out_name: Name(self.p.seed.name, "seed")}
        self.back, self.gradients = self._lines()

    @property
    def lines(self) -> list[Line]:
        """All lines in the order of computation."""
        return [*self.back, *self.gradients]

    def _lines(self) -> tuple[list[Line], list[Line]]:
        """The lines of intermediates, in the order in which the reverse pass completes their sums,
        and the lines of inputs.
        """
        open_lines: dict[str, Line] = {}
        back = []
        for s in reversed(self.assigned):
            for name in s.names:
                if name in open_lines and self._seed(open_lines[name]):
                    back.append(open_lines[name])
            if self.seeds.keys().isdisjoint(s.names):
                continue
            for name in self._differentiated(s):
                node = self.nodes[name]
                line = open_lines.pop(name, None) or Line(name, node, self.received[node], self)
                line.sources.append(s)
                open_lines[name] = line
        wrt = {x.name for x in self.p.wrt}
        return back, [line for name, line in open_lines.items() if name in wrt]

    def _seed(self, line: Line) -> bool:
        """Name the gradient of a value, and return whether the name is new; a gradient that is
        passed on unchanged keeps its name.
        """
        (first, *further), name = line.sources, grad_of(line.name)
        passed = self.received.get(first.nodes[-1]) if len(first.names) == 1 else None
        seed = self.seeds.get(first.names[-1])
        if further or seed is None or passed is not line.grad:
            self.seeds[line.name] = Name(name)
            return True
        self.seeds[line.name] = seed
        return False

    def _differentiated(self, s: Assignment) -> list[str]:
        """The names that an assignment uses and sends a gradient to."""
        used = [n for n in s.order if n in self.nodes]
        return [n for n in used if not self.senders[self.nodes[n]].isdisjoint(s.nodes)]

    @cached_property
    def names(self) -> set[str]:
        """All names, those of gradients included."""
        return {*self.nodes, *map(grad_of, self.nodes), self.p.seed.name}

    def is_complete_for(self, name: str) -> bool:
        """Whether all gradients of intermediates, and that of one input, have formulas."""
        lines = [*self.back, *(line for line in self.gradients if line.name == name)]
        return bool(self.back) and all(line.formula is not None for line in lines)

    def added(self, lines: Collection[Line]) -> list[Assignment]:
        """The assignments of added names that occur in some lines."""
        text = {word for line in lines if line.formula for word in _names_in(line.formula)}
        added = [s for s in self.assigned if s.is_added]
        return [s for s in added if not text.isdisjoint((*s.names, *map(grad_of, s.names)))]

    def added_formulas(self) -> list[Tree]:
        """The right sides of the added assignments that are used."""
        return [self.written(s.nodes[0]) for s in self.added(self.lines)]

    def written(self, node: Node) -> Tree:
        """A value as a formula of earlier values."""
        writer = self._writer
        previous = writer.trees.get(node)
        # a formula must not use the shape of its own value
        if previous is not None and previous is writer.shapes[node.shape]:
            return formula(node, {n: name for n, name in writer.named.items() if n is not node})
        writer.trees.pop(node, None)
        built = writer.tree(node)
        writer.trees[node] = built if previous is None else previous
        return built

    def in_names(self, written: Tree) -> Tree:
        """A formula in which values that have a name are replaced by it."""
        names = _names_in(written)
        for name, value, used in self._definitions:
            if used <= names:
                written = in_terms_of(written, [(name, value)])
                names.add(name.text)
        return written

    def in_gradients(self, term: Tree, line: Line) -> Tree:
        """A term of a line, or the name of the earlier gradient that has the same formula."""
        if tree.size(term) < LEAST_DEFINED or len(self.assigned) > TRIED:
            return term
        text, earlier = tree.text(term), takewhile(lambda other: other is not line, self.back)
        same = (Name(other.gradient_name) for other in earlier if other.text == text)
        return next(same, term)

    @cached_property
    def _definitions(self) -> list[tuple[Name, Tree, set[str]]]:
        """The named values with formulas: name, formula, and the names in the formula."""
        single = [s for s in self.assigned if len(s.names) == 1 and s.nodes[0] is not self.p.out]
        written = [(Name(s.names[0]), self.written(s.nodes[0])) for s in single]
        return [(name, f, _names_in(f)) for name, f in written if tree.size(f) >= LEAST_DEFINED]

    @cached_property
    def _writer(self) -> Writer:
        roles = {name: role_of(x) for name, x in self.p.inputs.items()}
        return Writer({n: Name(name, roles.get(name, "")) for name, n in self.nodes.items()})

    def arrays(self, a: Analysis) -> dict[str, Any]:
        """The gradients evaluated line by line at an analysis' values. Raises GradcliError."""
        plain = {grad_of(name): f"grad_of_{name}" for name in self.nodes}
        result = named_values(a)
        for s in self.added(self.lines):
            result |= {name: np.asarray(a.value(node)) for name, node in zip(s.names, s.nodes)}
        for line in self.lines:
            text = tree.text(renamed(line.formula, lambda n: Name(plain.get(n.text, n.text))))
            result[plain[line.gradient_name]] = value_of(text, result, self.p)
        return {line.name: result[plain[line.gradient_name]] for line in self.lines}

    def as_computed(self, line: Line) -> Tree | None:
        """The formula of a line as the reverse pass computes it, without a search; None if it is
        too long, or cannot be written in PyTorch.
        """
        node, names_so_far = self._computed[line.grad], self._received_names
        if node in names_so_far and names_so_far[node].text != line.gradient_name:
            return names_so_far[node]
        within = upstream(node, lambda n: () if n in names_so_far and n is not node else n.inputs)
        near = [*islice(within, TOO_LONG + 1)]
        names = {
            n: names_so_far[n] for n in (line.of, *near) if n in names_so_far and n is not node
        }
        writer = Writer(names)
        if len(near) > TOO_LONG or any(writer.is_foreign(n) for n in near if n not in names):
            return None
        written = writer.tree(without_ones(node, names))
        return None if too_long(written) else written

    def gradient_of(self, line: Line) -> Node:
        """The gradient of a line as the reverse pass computes it."""
        return self._computed[line.grad]

    def in_names_of(self, line: Line) -> tuple[Node, dict[Node, Name]]:
        """The gradient of a line, and the names of other nodes."""
        node = self.gradient_of(line)
        return node, {n: name for n, name in self._received_names.items() if n is not node}

    @cached_property
    def _computed(self) -> dict[Node, Node]:
        """The gradients of named values, with 1 in place of an implicit seed."""
        grads, seed = [*dict.fromkeys(self.received.values())], self.p.seed
        one = {seed.node: seed.value} if seed.implicit and seed.value is not None else {}
        return dict(zip(grads, substitute_all(grads, one)))

    @cached_property
    def _received_names(self) -> dict[Node, Name]:
        """The named nodes of the reverse pass: values, and their gradients."""
        roles = {name: role_of(x) for name, x in self.p.inputs.items()}
        result = {node: Name(name, roles.get(name, "")) for name, node in self.nodes.items()}
        result |= {
            self._computed[self.received[self.nodes[name]]]: seed
            for name, seed in self.seeds.items()
            if isinstance(seed, Name) and not (name == self.out_name and self.p.seed.implicit)
        }
        seed = self.p.seed
        return result if seed.implicit else result | {seed.node: Name(seed.name, "seed")}

    # ---- one assignment ----------------------------------------------------------------------

    def sent(self, s: Assignment) -> dict[str, Tree | None]:
        """The gradient that an assignment sends to each value that it uses; None if too long."""
        if s.nodes not in self._sent:
            formulas = partial(if_applicable, lambda: self._formulas(s))
            # None if it cannot be posed by itself
            self._sent[s.nodes] = self.p.limits.budget.search(formulas, dict) or {}
        return self._sent[s.nodes]

    def sum_of(self, line: Line, terms: list[Tree | None]) -> Tree | None:
        """The sum of the terms of a line; None if one is too long, or if there are none."""
        readable = [f for f in terms if f is not None]
        if not readable or len(readable) < len(terms):
            return None
        if len(readable) > 1:
            readable = [self.in_gradients(f, line) for f in readable]
        return reduce(_plus, _broadcast(readable))

    def is_view(self, s: Assignment, line: Line) -> bool:
        """Whether all values of an assignment are made of elements of the line's value."""
        return all(_is_view(node, line.of) for node in s.nodes)

    def sent_by_views(self, line: Line, views: Collection[Assignment]) -> Tree | None:
        """The gradient that several views such as x[:, :k] and x[:, k:] send together."""
        sources = sorted(views, key=lambda s: s.position)
        names, nodes, statements = (tuple(chain.from_iterable(p)) for p in [*zip(*sources)][:3])
        joined = Assignment(names, nodes, statements, sources[-1].position)
        return self.sent(joined).get(line.name)

    @cached_property
    def _generic_shapes(self) -> dict[str, Shape]:
        """The shapes of named values at generic sizes."""
        generic = writer_of(self.a).generic
        return {} if generic is None else {n: x.shape for n, x in generic.problem.named.items()}

    def _has_equal_sizes(self, names: Collection[str]) -> bool:
        """Whether several values have one shape because the program requires it."""
        if len({self.nodes[n].shape for n in names}) > 1:
            return False
        shapes = {self._generic_shapes.get(n) for n in names}
        return len(shapes) == 1 and None not in shapes

    def sent_through(self, line: Line) -> Tree | None:
        """The gradient of a value that only one assignment uses, in terms of the gradient of a
        later value: `p - y` for `z`, if `p = sigmoid(z)` is followed by a cross-entropy of `p`.
        None if nothing is expected to cancel.
        """
        s, *others = line.sources
        above = self._lines_by_name.get(s.names[-1])
        if others or above is None or len(above.sources) > 1 or len(self.assigned) > TRIED:
            return None
        sent = self.sent(s).get(line.name)
        if sent is None or above.formula is None or not _may_cancel(above, sent):
            return None
        return self.sent(s.then(above.sources[0])).get(line.name)

    @cached_property
    def _lines_by_name(self) -> dict[str, Line]:
        return {line.name: line for line in self.back}

    def _formulas(self, s: Assignment) -> dict[str, Tree | None]:
        roles = {x.name: role_of(x) for x in self.p.inputs.values()}
        received = {OF + n: self.seeds[n] for n in s.names if n in self.seeds}
        seed, formulas = self._cached_formulas(s)
        received[seed] = self.seeds.get(s.names[-1], Name(seed))

        def renaming(name: Name) -> Tree:
            return received.get(name.text) or name._replace(role=roles.get(name.text, ""))

        return {name: None if f is None else renamed(f, renaming) for name, f in formulas.items()}

    def _cached_formulas(self, s: Assignment) -> tuple[str, dict[str, Tree | None]]:
        """The name of an assignment's seed and the formulas of the gradients, when the assignment
        is posed as a problem of its own; cached.
        """
        key = s.text, s.names, tuple(self._differentiated(s))
        if key not in self._known:
            p = self._as_problem(s)
            a = Analysis(p, self.a.dtype)
            w = writer_of(a)
            formulas = {x.name: w.gradient(x) for x in p.wrt if a.gradient(x) is not None}
            self._known[key] = p.seed.name, formulas
        return self._known[key]

    def length(self, position: int) -> float:
        """The length of a statement's formulas, with added assignments; inf if too long."""
        statements = [s for s in self.assigned if s.position == position]
        sent = [f for s in statements for f in self.sent(s).values()]
        if None in sent:
            return inf
        added = sum(tree.size(self.written(s.nodes[0])) for s in statements if s.is_added)
        return added + sum(tree.size(f) for f in sent if f is not None)

    def _sum_times_seeds(self, names: Collection[str]) -> str:
        """The text of the sum of (value * seed).sum(); values of one shape are stacked."""
        if not self._has_equal_sizes(names):
            return " + ".join(f"({n} * {OF}{n}).sum()" for n in names)
        values, seeds = ", ".join(names), ", ".join(OF + n for n in names)
        return f"(stack([{values}]) * stack([{seeds}])).sum()"

    def _as_problem(self, s: Assignment) -> Problem:
        """An assignment as a problem; for several values the output is the sum of each times its
        seed.
        """
        used = [n for n in s.order if n in self.nodes]
        nodes = {n: self.nodes[n] for n in used}
        seeded = [n for n in s.names if n in self.seeds]
        end, several = "", len(s.names) > 1
        if several:
            nodes |= {OF + n: self.nodes[n] for n in seeded}
            end = self._sum_times_seeds(seeded)
        arrays = {n: self.a.value(node) for n, node in nodes.items() if node.dtype != "float"}
        arrays = {n: v for n, v in arrays.items() if v is not None}
        shapes = {n: node.shape for n, node in nodes.items() if n not in arrays}
        reader = Reader(self.p.limits.without("elements"), 0, None)
        assume = {n: words for n, words in self.p.assume.items() if n in nodes}
        posing = Posing(s.program(end), [*nodes], shapes, arrays, reader, assume)
        problem = posing.problem(self._differentiated(s))
        # true of the output, and of the terms of a sum that is the output
        passed_on = self.seeds.get(s.names[-1]) is self.seeds[self.out_name]
        is_implicit = several or (passed_on and self.p.seed.implicit)
        return (
            problem if is_implicit else problem._replace(seed=Seed(problem.seed.node, None, None))
        )


def _senders(
    steps: Iterable[Step], named: Collection[Node], first: Mapping[Node, Node]
) -> defaultdict[Node, set[Node]]:
    """For each node, the named nodes that send it a gradient, directly or through unnamed nodes.
    `first` maps nodes that are computed again to their first computation.
    """
    senders = defaultdict[Node, set[Node]](set)
    for step in steps:
        node = first.get(step.node, step.node)
        through = {node} if node in named else senders[node]
        for c in step.contributions:
            senders[first.get(c.to, c.to)] |= through
    return senders


def renamed(part: Any, change: Callable[[Name], Tree]) -> Any:
    """A formula with its names replaced by formulas."""
    if isinstance(part, Name):
        return change(part)
    if isinstance(part, tuple):
        parts = (renamed(field, change) for field in part)
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
    return part


def _broadcast(terms: list[Tree]) -> list[Tree]:
    """The terms of a sum, without expand_as if another term has the full shape, to which the sum
    broadcasts them anyway.
    """
    whole = [t for t in terms if not _is_expanded(t)]
    return [t.base if whole and _is_expanded(t) else t for t in terms]  # type: ignore[union-attr]


def _is_view(node: Node, of: Node) -> bool:
    """Whether a value consists of elements of another one: movement operators, no arithmetic."""
    while node is not of and node.op.family == "movement":
        node = node.parents[0]
    return node is of


def _may_cancel(line: Line, sent: Tree) -> bool:
    """Whether the gradient `sent` by a value may become shorter if the formula of the value's own
    gradient is substituted: `sent` uses that gradient several times, or its formula divides by the
    value, so that factors may cancel.
    """
    assert line.formula is not None
    return _times(sent, line.gradient_name) > 1 or _divides_by(line.formula, line.name)


def _times(part: Any, name: str) -> int:
    """The number of occurrences of a name in a formula."""
    if isinstance(part, Name):
        return int(part.text == name)
    return sum(_times(p, name) for p in part) if isinstance(part, tuple) else 0


def _divides_by(part: Any, name: str) -> bool:
    """Whether a formula has a divisor that contains a name."""
    if isinstance(part, tree.Infix) and part.symbol == "/" and _times(part.right, name):
        return True
    return isinstance(part, tuple) and any(_divides_by(p, name) for p in part)


def _is_expanded(t: Tree) -> bool:
    return isinstance(t, tree.Method) and t.name == "expand_as"


def _plus(left: Tree, right: Tree) -> Tree:
    positive = _without_minus(right)
    return tree.Infix("+", left, right) if positive is None else tree.Infix("-", left, positive)


def _without_minus(f: Tree) -> Tree | None:
    """A product, quotient or number without its leading minus; None for other formulas."""
    if isinstance(f, tree.Prefix) and f.symbol == "-":
        return f.operand
    if isinstance(f, tree.Number) and f.value < 0:
        return f._replace(value=-f.value)
    if not isinstance(f, tree.Infix) or f.symbol not in ("*", "/", "@"):
        return None
    left = _without_minus(f.left)
    return None if left is None else f._replace(left=left)


def _names_in(formula: Tree) -> set[str]:
    """The names in a formula, those in indices included."""
    names, stack = set[str](), list[Any]([formula])
    while stack:
        part = stack.pop()
        if isinstance(part, Name):
            names.add(part.text)
        elif isinstance(part, tuple):
            stack += part
    return names


# ---- values that get a name ----------------------------------------------------------------------


SECONDARY = ("movement", "leaf")  # families of operators whose results get no names


class Needed(NamedTuple):
    """The unnamed nodes whose gradient is used more than once; of several nodes with the same
    gradient only the latest. `branching`: the gradients of several nodes use it. `repeated`: the
    gradient of one node uses it, or the value, several times.
    """

    branching: set[Node]
    repeated: set[Node]


def needed_twice(a: Analysis) -> Needed:
    """The unnamed nodes to which a derivation may give names."""
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
    if p.seed.implicit:  # a constant gradient gets no name, such as that of z in z.sum()
        candidates = [r for r, n in latest.items() if n in free]
        free -= {
            latest[r] for r in _multiples_of_seed(candidates, p.seed.node).intersection(candidates)
        }
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
        """Record the nodes through which a contribution uses values and gradients."""
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


def _multiples_of_seed(nodes: Collection[Node], seed: Node) -> set[Node]:
    """The nodes, among `nodes` and their inputs, that depend on the seed and numbers only, as -0.5
    * ones_like(x) does.
    """
    order = walk(nodes, value_inputs)
    inputs = [n for n in order if n.op.name == "input" and n is not seed]
    return {*order} - downstream(order, inputs, value_inputs)


def _is_short(node: Node, named: Collection[Node]) -> bool:
    """Whether a value is a scalar that is almost as short to write as a name, such as sqrt(d)."""
    alone = node.op.family == "elementwise" and len(node.parents) == 1
    return alone and node.numel == 1 and node.parents[0] in named
