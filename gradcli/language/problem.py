"""A request, understood: the graph, its inputs with shapes and values, and the seed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..graphs import Node, walk
from ..graphs.shapes import Shape
from ..limits import Limits
from .given.seeds import Seed
from .program import Program


class Input(NamedTuple):
    """A free name of the program. `assumed` are the axes whose size nothing fixes; `supposed` are
    labels that nobody gave, `inferred` are shapes that nobody gave.
    """

    name: str
    node: Node
    value: Any
    assumed: tuple[int, ...]
    was_integer: bool
    supposed: bool = False
    inferred: bool = False

    @property
    def shape(self) -> Shape:
        """Its shape."""
        return self.node.shape


class Tangent(NamedTuple):
    """How an input moves.

    `node` stands for it in formulas, `value` is what was given for it, as graph, or None where
    nothing was; `text` is how it was typed.
    """

    x: Input
    node: Node
    value: Node | None
    text: str | None

    @property
    def name(self) -> str:
        """What formulas call it."""
        return self.node.attrs["name"]


class Problem(NamedTuple):
    """Everything that an answer is computed from. `named` are the nodes that the program has names
    for, `constants` the numbers and shapes.

    Where the output is the gradient of another problem, that is the one `before`. Where its sizes
    tell which dimensions they are, `telling` is what the program computes from them.
    """

    program: Program
    inputs: dict[str, Input]
    out: Node
    out_name: str
    named: dict[str, Node]
    seed: Seed
    wrt: list[Input]
    limits: Limits
    constants: dict[str, Any]
    as_written: bool = True  # not in terms of what operators are made of
    tangents: tuple[Tangent, ...] = ()
    before: "Problem | None" = None
    telling: Mapping[float, Node] | None = None
    indices: tuple[Node, ...] = ()  # what its brackets pick by, which is not in the graph
    notes: tuple[tuple[str, str], ...] = ()  # codes and sentences on what an answer leaves out
    statement_values: tuple[
        tuple[Any, ...], ...
    ] = ()  # what each statement of the program gives its names

    @property
    def orders(self) -> "list[Problem]":
        """The problems of order 1, 2 and so on: this is the last of them."""
        return [self] if self.before is None else [*self.before.orders, self]

    @property
    def order(self) -> int:
        """How often its program is differentiated."""
        return len(self.orders)

    @property
    def directions(self) -> "list[Seed | Tangent]":
        """What stands for a tensor that derivatives are multiplied with."""
        return [self.seed, *self.tangents]

    @property
    def assume(self) -> dict[str, tuple[str, ...]]:
        """The words for what matrices are assumed to be, by name."""
        assumptions = {name: i.node.attrs["known"] for name, i in self.inputs.items()}
        return {name: words for name, words in assumptions.items() if words}

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the inputs by name."""
        return {x.name: x.shape for x in self.inputs.values()}

    @property
    def scope(self) -> dict[str, Node]:
        """What an expression may use, by name: inputs, and what the program names."""
        return {name: i.node for name, i in self.inputs.items()} | self.named

    @property
    def values(self) -> dict[Node, Any]:
        """The arrays of the inputs that have one."""
        return {i.node: i.value for i in self.inputs.values() if i.value is not None}

    @property
    def numeric(self) -> bool:
        """Whether every input of the output has a value."""
        used = set(walk([self.out]))
        return all(i.value is not None for i in self.inputs.values() if i.node in used)

    def rebuilt(self, nodes: Mapping[Node, Node]) -> "Problem":
        """The same problem over other nodes: `nodes` has one for every node of its graph."""
        value = self.seed.value
        return self._replace(
            as_written=False,
            out=nodes[self.out],
            statement_values=(),
            named={name: nodes[node] for name, node in self.named.items()},
            seed=self.seed._replace(value=value and nodes[value]),
        )

    @property
    def roots(self) -> list[Node]:
        """What all nodes of its graph are needed for."""
        seed = [self.seed.value] if self.seed.value is not None else []
        return [self.out, *self.named.values(), *seed]
