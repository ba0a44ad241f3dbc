"""What is seen of a program while it runs: names, prints, and each way back."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .eager.engine import Accumulator, Record, Saved
from .eager.tensor import Tensor
from .python.values import Instance, Machine


class Assignment(NamedTuple):
    """A name that was given a tensor."""

    name: str
    tensor: Tensor
    line: int


class Backward(NamedTuple):
    """One way back: where it stands, from what, with which seeds, to which leaves.

    `before` has for each leaf its gradient before, as an array or None; `values` the numbers of
    the leaves then.
    """

    line: int
    kind: str  # "backward" or "grad"
    outputs: list[Tensor]
    seeds: list[Tensor]
    wanted: list[Tensor] | None
    leaves: list[Tensor]
    before: dict[Tensor, Any]
    values: dict[Tensor, Any]
    names: dict[Tensor, str]
    paths: dict[Tensor, str]  # of parameters: "net.weight"

    def data(self) -> dict[str, Any]:
        """The keys of the JSON."""
        return {
            "line": self.line,
            "output": [self.names.get(t) for t in self.outputs],
            "seed": [t.data.tolist() for t in self.seeds],
        }


class Trace:
    """What was seen."""

    def __init__(self) -> None:
        self.assignments: list[Assignment] = []
        self.prints: list[tuple[int, str]] = []
        self.backwards: list[Backward] = []
        self.modules: dict[str, Instance] = {}
        self.refused: tuple[Record, Saved | None] | None = None  # what a way back could not read

    def assigned(self, name: str, value: Any, line: int) -> None:
        """A name was given a value."""
        if isinstance(value, Instance) and "_parameters" in value.fields:
            self.modules[name] = value
        if isinstance(value, Tensor):
            self.assignments.append(Assignment(name, value, line))

    def printed(self, line: int, text: str) -> None:
        """Something was printed."""
        self.prints.append((line, text))

    @property
    def names(self) -> dict[Tensor, str]:
        """The last name of each tensor."""
        return {a.tensor: a.name for a in self.assignments}

    @property
    def paths(self) -> dict[Tensor, str]:
        """The parameters of modules that have a name, by their paths."""
        found: dict[Tensor, str] = {}
        for name, module in self.modules.items():
            for path, tensor in parameters_of(module, name):
                found.setdefault(tensor, path)
        return found

    def backward(
        self,
        m: Machine,
        outputs: Sequence[Tensor],
        seeds: Sequence[Tensor],
        wanted: Sequence[Tensor] | None,
        kind: str,
    ) -> None:
        """The program goes back; called before it does."""
        leaves = leaves_of(outputs)
        before = {x: None if x.grad is None else x.grad.data.copy() for x in leaves}
        values = {x: x.data.copy() for x in leaves}
        self.backwards.append(
            Backward(
                m.place,
                kind,
                list(outputs),
                list(seeds),
                None if wanted is None else list(wanted),
                leaves,
                before,
                values,
                self.names,
                self.paths,
            )
        )


def parameters_of(module: Instance, path: str) -> Iterator[tuple[str, Tensor]]:
    """The parameters of a module and of those within it, with their paths."""
    for name, value in module.fields.get("_parameters", {}).items():
        if isinstance(value, Tensor):
            yield f"{path}.{name}", value
    for name, inner in module.fields.get("_modules", {}).items():
        if isinstance(inner, Instance):
            yield from parameters_of(inner, f"{path}.{name}")


def leaves_of(outputs: Sequence[Tensor]) -> list[Tensor]:
    """The leaves that gradients of outputs flow to, in the order in which they are met."""
    found: dict[Tensor, None] = {}
    seen: set[Any] = set()
    stack: list[Any] = [t.edge.record for t in outputs if t.edge]
    while stack:
        record = stack.pop()
        if record in seen:
            continue
        seen.add(record)
        if isinstance(record, Accumulator):
            found[record.tensor] = None
        stack += [e.record for e in reversed(record.edges) if e]
    return list(found)
