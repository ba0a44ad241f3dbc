"""A posed request: the graph, the inputs with shapes and values, the seed (upstream gradient)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..graphs import Node, walk
from ..graphs.shapes import Shape
from ..limits import Limits
from .arguments.seeds import Seed
from .program import Program


class Input(NamedTuple):
    """A free name of the program. `assumed` are the dimensions whose size was chosen freely;
    `supposed`: its value is a placeholder; `inferred`: its shape was inferred.
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
    """The tangent of an input.

    `node` is its symbol in formulas, `value` the given value as a graph, or None; `text` is the
    user's spelling.
    """

    x: Input
    node: Node
    value: Node | None
    text: str | None

    @property
    def name(self) -> str:
        """Its name in formulas."""
        return self.node.attrs["name"]


class Problem(NamedTuple):
    """All data that an answer is computed from.

    `named` are the named nodes of the program, `constants` its named numbers and shapes. If the
    output is the gradient of another problem, `lower_order` is that problem. At generic sizes,
    `generic_sizes` maps numbers that the program computes from sizes to their nodes; otherwise it
    is None.
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
    as_written: bool = True  # not expanded
    tangents: tuple[Tangent, ...] = ()
    lower_order: "Problem | None" = None
    generic_sizes: Mapping[float, Node] | None = None
    indices: tuple[Node, ...] = ()  # integer tensors used as indices, which are not in the graph
    notes: tuple[tuple[str, str], ...] = ()  # (code, sentence): why a part of the answer is missing
    statement_values: tuple[tuple[Any, ...], ...] = ()  # the values that each statement assigns

    @property
    def orders(self) -> "list[Problem]":
        """The problems of order 1, 2, ...; the last one is this problem."""
        return [self] if self.lower_order is None else [*self.lower_order.orders, self]

    @property
    def order(self) -> int:
        """How often the program is differentiated."""
        return len(self.orders)

    @property
    def directions(self) -> "list[Seed | Tangent]":
        """The seed and the tangents."""
        return [self.seed, *self.tangents]

    @property
    def assume(self) -> dict[str, tuple[str, ...]]:
        """The assumptions on inputs, by name."""
        assumptions = {name: i.node.attrs["known"] for name, i in self.inputs.items()}
        return {name: words for name, words in assumptions.items() if words}

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the inputs by name."""
        return {x.name: x.shape for x in self.inputs.values()}

    @property
    def scope(self) -> dict[str, Node]:
        """The nodes that an expression may use, by name: inputs, and named nodes."""
        return {name: i.node for name, i in self.inputs.items()} | self.named

    @property
    def values(self) -> dict[Node, Any]:
        """The arrays of the inputs that have one."""
        return {i.node: i.value for i in self.inputs.values() if i.value is not None}

    @property
    def numeric(self) -> bool:
        """Whether all inputs that the output depends on have values."""
        used = set(walk([self.out]))
        return all(i.value is not None for i in self.inputs.values() if i.node in used)

    def rebuilt(self, nodes: Mapping[Node, Node]) -> "Problem":
        """The problem with other nodes: `nodes` maps every node of its graph to a new one."""
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
        """The nodes from which all nodes of the graph can be reached."""
        seed = [self.seed.value] if self.seed.value is not None else []
        return [self.out, *self.named.values(), *seed]
