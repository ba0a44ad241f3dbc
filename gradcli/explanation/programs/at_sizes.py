"""The graphs from which programs are written, without source spans and with short gradients."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ...autodiff import reverse
from ...errors import EXPRESSION, GradcliError, if_applicable
from ...graphs import OPS, Node, as_node, walk
from ...graphs.substitution import rebuilt, rebuilt_all, substitute, substitute_all
from ...language.building.build import Builder
from ...language.problem import Input, Problem
from ...language.program import read_again
from ...notation import tree
from ...notation.formulas.rules import IN_CODE
from ...notation.formulas.simplify import simplify, stripped
from ...notation.tree import Name
from ...operators.indexing import inputs_and_indices
from ..analysis import Analysis, before_writing, is_large
from ..derivation.derivation import Derivation as Derived
from ..derivation.derivation import Line, grad_of, renamed
from ..formulas.formula_writer import writer_of
from ..short.gradients import Gradients

# Names that programs use: an input with such a name gets a trailing underscore.
RESERVED = (
    "torch", "F", "np", "jnp", "jax", "scipy", "check_grads", "once_differentiable", "rng", "ctx",
    "saved", "put", "put_over", "put_diagonal", "direction",
)  # fmt: skip
GRADIENT_PREFIX = "grad_of_"  # h.grad is grad_of_h in the text of a formula


def safe(name: str) -> str:
    """A user's name, with a trailing underscore if programs use it."""
    return f"{name}_" if name in RESERVED else name


class AtSizes:
    """The graphs of a problem, which is the `original` one or the same at other sizes, with
    gradients with respect to the inputs `wrt`.
    """

    def __init__(self, problem: Problem, original: Analysis, wrt: Sequence[Input]):
        self.problem, self.original, self.wrt = problem, original, wrt
        self.generic_sizes = problem.generic_sizes  # as in the formulas of answers
        self._bare: dict[Node, Node] = {}

    @cached_property
    def names(self) -> dict[Node, Name]:
        """The names of the inputs."""
        return {i.node: Name(safe(i.name)) for i in self.problem.inputs.values()}

    @cached_property
    def all_names(self) -> dict[Node, Name]:
        """The names of the inputs, and of the seed if there is one."""
        seed = self.original.problem.seed
        return self.names if seed.implicit else self.names | {self.seed: Name(seed.name)}

    @property
    def seed(self) -> Node:
        """The seed."""
        return self.problem.seed.node

    @cached_property
    def inputs(self) -> set[Node]:
        """The inputs."""
        return {i.node for i in self.problem.inputs.values()}

    @cached_property
    def named_nodes(self) -> dict[Node, str]:
        """The names of intermediates and output, by nodes without spans."""
        p = self.problem
        named = {n: name for name, n in p.named.items() if n.op.inputs}
        self._make_bare([*named])
        of_out = named.get(p.out, p.out_name)
        bare = {self.bare(n): name for n, name in named.items()} | {self.out: of_out}
        order = [
            n for n in walk([self.out], inputs_and_indices) if n in bare and n not in self.inputs
        ]
        return {n: safe(bare[n]) for n in order}

    @cached_property
    def intermediates(self) -> dict[Node, str]:
        """The names of intermediates, without the output."""
        return {node: name for node, name in self.named_nodes.items() if node is not self.out}

    def bare(self, node: Node) -> Node:
        """A node of the problem without its source span."""
        if node not in self._bare:
            self._make_bare([node])
        return self._bare[node]

    def _make_bare(self, nodes: Sequence[Node]) -> None:
        stripped = substitute_all(nodes, {}, lambda _: None)
        self._bare |= zip(nodes, rebuilt_all(stripped, _float_ones))

    @cached_property
    def out(self) -> Node:
        """The output."""
        return self.bare(self.problem.out)

    def gradients(self, *, seeded: bool) -> list[Node]:
        """The shortened gradients with respect to `wrt`; unless `seeded`, with 1 for an implicit
        seed.

        Raises GradcliError if the output is a scalar in the original problem, but not here.
        """
        names = {} if seeded else self._seed_value
        return [self._shortened_in_time(self._substituted(g, names)) for g in self._of_inputs()]

    def _of_inputs(self) -> list[Node]:
        """The gradients with respect to `wrt`, without missing ones."""
        grads = (self._gradients.of[self.problem.inputs[x.name].node] for x in self.wrt)
        return [grad for grad in grads if grad is not None]

    def derivation(self) -> "Derivation":
        """The gradients of intermediates in the order of computation, and those of `wrt`: each in
        terms of earlier ones, as in explanations. Closed forms if these are as short.
        """
        derived = None if is_large(self.problem) else self._derived
        stated = None if derived is None else if_applicable(lambda: self._stated(derived))
        return stated or Derivation([], self.gradients(seeded=False), {}, {})

    @property
    def _derived(self) -> Derived | None:
        """The derivation of the original problem. None if a line has no formula, or if the program
        has an operator that PyTorch lacks: code expands it to others, and then intermediate
        gradients differ.
        """
        operators = {n.op for n in walk([self.problem.out])}
        if any(op.torch is None and op.expand is not None for op in operators):
            return None
        result = Gradients(self.original, writer_of(self.original)).derivation
        if result is None or any(line.formula is None for line in result.lines):
            return None
        return result

    def _stated(self, derived: Derived) -> "Derivation | None":
        """A derivation as graphs at these sizes. None if the text of a statement, parsed again,
        does not give the node of the program, for example because it draws random numbers. Raises
        GradcliError.
        """
        values = self._values(derived)
        same_seed = self.original.problem.seed.implicit == self.problem.seed.implicit
        if not same_seed or not {*values.values()} <= {
            *walk([self.out], inputs_and_indices),
            *self.inputs,
        }:
            return None
        grads = {
            name: OPS["input"](name=grad_of(safe(name)), shape=node.shape)
            for name, node in values.items()
        }
        scope = {**values, self.problem.seed.name: self.seed}
        scope |= {GRADIENT_PREFIX + name: node for name, node in grads.items()}
        added = [name for s in derived.added(derived.lines) for name in s.names]
        plain = {grad_of(name): GRADIENT_PREFIX + name for name in grads}

        def grad(line: Line) -> Node:
            written = renamed(line.formula, lambda n: Name(plain.get(n.text, n.text)))
            return self._graph_of(tree.text(written), scope)

        ends = {line.name: grad(line) for line in derived.gradients}
        back = [(safe(line.name), grad(line)) for line in derived.back]
        names = {node: Name(node.attrs["name"]) for node in grads.values()}
        return Derivation(
            back, [ends[x.name] for x in self.wrt], names, {scope[n]: safe(n) for n in added}
        )

    def _values(self, derived: Derived) -> dict[str, Node]:
        """The values of a derivation at these sizes, by name. Raises GradcliError."""
        result = {name: self.bare(i.node) for name, i in self.problem.inputs.items()}
        for s in derived.assigned:
            text = s.text
            result |= {name: self._graph_of(f"{text}\n{name}", result) for name in s.names}
        return result

    def _graph_of(self, text: str, scope: Mapping[str, Node]) -> Node:
        """The graph of a formula. Raises GradcliError."""
        p = self.problem
        values = {scope[name]: i.value for name, i in p.inputs.items() if i.value is not None}
        known = {**p.constants, **scope}
        build = Builder(read_again(text, EXPRESSION), known, values=values, limits=p.limits)
        (bare,) = substitute_all([as_node(build.run())], {}, lambda _: None)
        return _in_floats(bare, {*scope.values()})

    def _substituted(self, grad: Node, names: Mapping[Node, Node]) -> Node:
        """A gradient with the nodes of `names` substituted. Raises GradcliError if the output is a
        scalar in the original problem, but not here.
        """
        if self.original.problem.seed.implicit and not self.problem.seed.implicit:
            raise GradcliError(
                "unsupported", "a program without a seed is only for an output of one element"
            )
        return substitute(grad, names)

    def _shortened_in_time(self, grad: Node) -> Node:
        """A gradient, shortened if the time limit allows it."""
        p, named = self.problem, self._named
        short = before_writing(p)(lambda: _shortened(grad, named), lambda: grad)
        return _in_floats(stripped(short, named, written=()), self._bare_named)

    @cached_property
    def _seed_value(self) -> dict[Node, Node]:
        """Maps an implicit seed to its value, 1."""
        one = self.problem.seed.value if self.original.problem.seed.implicit else None
        return {} if one is None else {self.seed: one}

    @cached_property
    def _named(self) -> dict[Node, Node]:
        """Named nodes other than inputs, by the same nodes with spans."""
        p = self.problem
        named = [n for n in (*p.named.values(), p.out) if n.op.name != "input"]
        self._make_bare(named)
        return {n: self.bare(n) for n in named}

    @cached_property
    def _bare_named(self) -> set[Node]:
        return set(self._named.values())

    @cached_property
    def _gradients(self) -> reverse.Gradients:
        here = self.problem is self.original.problem
        analysis = self.original if here else Analysis(self.problem)
        return analysis.gradients


class Derivation(NamedTuple):
    """Gradients in terms of earlier ones: those of intermediates by name (`back`) and those of
    inputs (`ends`). `names` maps nodes that stand for gradients of intermediates to their names;
    `added` has names for values that the program does not name.
    """

    back: list[tuple[str, Node]]
    ends: list[Node]
    names: Mapping[Node, Name]
    added: Mapping[Node, str]


def _shortened(grad: Node, named: Collection[Node]) -> Node:
    """A gradient in which a normalisation and its gradient share one rsqrt."""

    def by_root(n: Node, inputs: Sequence[Node | None]) -> Node | None:
        if n.op is not OPS["standardize"]:
            return None
        return simplify(_standardized(*inputs, **n.attrs), named, IN_CODE)

    return rebuilt(simplify(grad, named, IN_CODE), by_root, named)


def _standardized(x: Any, *, dim: tuple[int, ...], eps: float) -> Node:
    spread = OPS["var"](x, dim=dim, correction=0, keepdim=True) + eps
    return (x - OPS["mean"](x, dim=dim, keepdim=True)) * OPS["rsqrt"](spread)


def _in_floats(node: Node, same: Collection[Node]) -> Node:
    """A node with 1.0 for an integer 1 among floats, so that 1 - p is the same node wherever it
    occurs; the nodes in `same` are not changed.
    """
    return rebuilt(node, _float_ones, same)


def _float_ones(n: Node, inputs: Sequence[Node | None]) -> Node | None:
    if n.dtype != "float" or n.op.family != "elementwise":
        return None
    changed = tuple(map(_as_float, inputs))
    return None if changed == inputs else n.with_inputs(changed)


def _as_float(node: Node | None) -> Node | None:
    if node is None or node.op.name != "constant" or node.dtype != "int":
        return node
    return OPS["constant"](value=float(node.attrs["value"]))
