"""What all programs are made from: the graph without places in the text, shortened gradients, and
names that hide no library.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from ...errors import GradcliError
from ...graphs import OPS, Node, intern, walk
from ...graphs.substitution import substitute
from ...language.problem import Input
from ...lazy import np
from ...notation.rules import IN_CODE
from ...notation.simplify import simplify, without_spans
from ...notation.statements import Names
from ...notation.tree import Name
from ..analysis import Analysis

# Names that programs need for themselves: an input that is called so gets a _ after its name.
RESERVED = (
    "torch", "F", "np", "jnp", "jax", "scipy", "check_grads", "once_differentiable", "rng", "ctx",
    "saved", "put", "put_over", "direction",
)  # fmt: skip
LARGE = 60  # numbers of an array that are written out


class Plan:
    """A problem, ready to be written as a program."""

    def __init__(self, analysis: Analysis):
        self.analysis, self.problem = analysis, analysis.problem

    @cached_property
    def inputs(self) -> list[Input]:
        """The inputs that the output, the seed or an index needs, in the user's order."""
        p = self.problem
        used = set(walk([p.out, *([] if p.seed.value is None else [p.seed.value])]))
        asked = {x.node for x in p.wrt}
        return [
            i
            for i in p.inputs.values()
            if i.node in used or i.node in asked or i.node.dtype != "float"
        ]

    @cached_property
    def arguments(self) -> list[Input]:
        """The inputs that the output itself needs, floats and labels."""
        used = set(walk([self.problem.out]))
        return [i for i in self.inputs if i.node in used or i.node.dtype != "float"]

    @cached_property
    def wrt(self) -> list[Input]:
        """The inputs to differentiate by that the output depends on."""
        return [x for x in self.problem.wrt if self.analysis.gradients.of[x.node] is not None]

    @cached_property
    def idle(self) -> list[Input]:
        """The inputs to differentiate by that the output does not depend on."""
        return [x for x in self.problem.wrt if x not in self.wrt]

    # ---- names -----------------------------------------------------------------------------------

    @cached_property
    def names(self) -> dict[Node, Name]:
        """The names of the inputs."""
        return {i.node: Name(self.safe(i.name)) for i in self.problem.inputs.values()}

    @cached_property
    def all_names(self) -> dict[Node, Name]:
        """The names of the inputs, and of the seed where there is one."""
        seed = self.problem.seed
        return self.names if seed.implicit else self.names | {seed.node: Name(seed.name)}

    @cached_property
    def own(self) -> dict[Node, str]:
        """What the program calls its intermediates and its output, over the graph as it is here."""
        p = self.problem
        inputs = {i.node for i in p.inputs.values()}
        named = {n: name for name, n in p.names.items() if n not in inputs and n.op.inputs}
        named.setdefault(p.out, p.out_name)
        order = [n for n in walk([p.out]) if n in named and n not in inputs]
        return {self.bare(n): self.safe(named[n]) for n in order}

    @staticmethod
    def safe(name: str) -> str:
        """A name of the user's, changed where programs need it for themselves."""
        return f"{name}_" if name in RESERVED else name

    def fresh(self, *more: str) -> Names:
        """Names that nothing in a program has, nor any of `more`."""
        p = self.problem
        return Names({*RESERVED, *map(self.safe, (*p.inputs, *p.names, p.seed.name)), *more})

    # ---- graphs ----------------------------------------------------------------------------------

    @cached_property
    def _bare(self) -> dict[Node, Node]:
        return {}

    def bare(self, node: Node) -> Node:
        """A node of the problem without its place in the text."""
        if node not in self._bare:
            self._bare[node] = _in_floats(without_spans(node))
        return self._bare[node]

    @cached_property
    def out(self) -> Node:
        """The output."""
        return self.bare(self.problem.out)

    def gradients(self, *, seeded: bool) -> list[Node]:
        """The shortened gradient by each of `wrt`; not `seeded`, with 1 for an implicit seed."""
        p = self.problem
        kept = {n for n in (*p.names.values(), p.out) if n.op.name != "input"}
        found = []
        for x in self.wrt:
            grad = self.analysis.gradients.of[x.node]
            assert grad is not None
            if p.seed.implicit and not seeded:
                grad = substitute(grad, {p.seed.node: _ones(p.seed.node)})
            short = simplify(grad, kept, IN_CODE)
            short = substitute(short, {n: self.bare(n) for n in kept})
            found.append(_in_floats(without_spans(short)))
        return found

    # ---- numbers ---------------------------------------------------------------------------------

    @cached_property
    def given(self) -> bool:
        """Whether all inputs and the seed have values that can be written out."""
        seed = self.problem.seed
        return seed.value is not None and all(self.is_written(i) for i in self.inputs)

    def is_written(self, x: Input) -> bool:
        """Whether an input's value stands in the program; labels always do."""
        return x.value is not None and (x.value.size <= LARGE or x.node.dtype != "float")

    def expected(self, x: Input):
        """The numbers of a gradient, to 7 digits; None where they are not known or too many."""
        value = self.analysis.grad_value(x) if self.given else None
        if value is None or value.size > LARGE or not np.all(np.isfinite(value)):
            return None
        return np.array([float(f"{v:.7g}") for v in value.flat]).reshape(value.shape)

    @property
    def seed_array(self):
        """The seed where it was given as numbers."""
        value = self.problem.seed.value
        if value is None or value.op.name != "tensor" or value.span is not None:
            return None
        return value.attrs["data"].value

    def refuse_barriers(self, target: str) -> None:
        """Refuse what finite differences see through, where they are the program's test."""
        for node in walk([self.problem.out]):
            if node.op.family == "barrier":
                raise GradcliError(
                    "unsupported",
                    f"finite differences, which test --target {target}, see through "
                    f"{node.op.name}()",
                    span=node.span,
                    hint="--target torch and --target jax have words for it",
                )


def _ones(seed: Node) -> Node:
    return OPS["constant"](value=1.0) if seed.shape == () else OPS["ones"](size=seed.shape)


def _in_floats(node: Node) -> Node:
    """The same with 1.0 for a 1 among floats, so that 1 - p is one node wherever it occurs."""
    done: dict[Node | None, Node | None] = {None: None}
    for n in walk([node]):
        inputs = tuple(done[i] for i in n.inputs)
        if n.dtype == "float" and n.op.family == "elementwise":
            inputs = tuple(map(_as_float, inputs))
        done[n] = n if inputs == n.inputs else intern(n.op, inputs, n.attrs, n.span)
    found = done[node]
    assert found is not None
    return found


def _as_float(node: Node | None) -> Node | None:
    if node is None or node.op.name != "constant" or node.dtype != "int":
        return node
    return OPS["constant"](value=float(node.attrs["value"]))


def unpacked(names: Sequence[str]) -> str:
    """Names as a tuple is unpacked: `(a,)`, `a, b`."""
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def indented(lines: list[str]) -> list[str]:
    """Lines inside a function."""
    return [f"    {line}" if line else line for line in lines]


def named(nodes: Mapping[Node, str]) -> dict[Node, Name]:
    """Names for a writer."""
    return {node: Name(name) for node, name in nodes.items()}
