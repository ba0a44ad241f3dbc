"""The trace of a running program: assignments of tensors, prints, and backward passes."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from ..lazy import np
from .eager.tensor import Accumulator, Record, Saved, Tensor
from .python.values import Instance, Machine


class Assignment(NamedTuple):
    """An assignment of a tensor to a name."""

    name: str
    tensor: Tensor
    line: int


class Backward(NamedTuple):
    """One backward pass of a program.

    `seeds` are the upstream gradients of the outputs, `seed_names` their names or None. `wanted`
    are the tensors passed as `inputs`. `before` has the .grad of each leaf before the pass, as an
    array or None; `values` has the elements of leaves and outputs before the pass. `called` has the
    names of tensors, `results` the gradients that the pass computed. `outcome` is empty if the pass
    raised.
    """

    line: int
    kind: str  # "backward" or "grad"
    outputs: list[Tensor]
    seeds: list[Tensor]
    seed_names: list[str | None]
    wanted: list[Tensor] | None
    leaves: list[Tensor]
    before: dict[Tensor, Any]
    values: dict[Tensor, Any]
    called: "Names"
    paths: dict[Tensor, str]  # paths of modules' parameters: "net.weight"
    results: dict[Tensor, Any]
    outcome: list[bool]

    @property
    def ended(self) -> bool:
        """Whether the backward pass ended without an error."""
        return bool(self.outcome)

    @property
    def names(self) -> dict[Tensor, str]:
        """The names of all tensors, in the order of assignment."""
        return self.called.names

    @property
    def bound(self) -> dict[str, Tensor]:
        """The tensor to which each name refers."""
        return self.called.bound

    def data(self) -> dict[str, Any]:
        """The keys of the JSON."""
        return {
            "line": self.line,
            "output": [self.called.get(t) for t in self.outputs],
            "seed": [t.data.tolist() for t in self.seeds],
        }


class Trace:
    """The recorded trace of a program."""

    def __init__(self) -> None:
        self.assignments: list[Assignment] = []
        # the indices of assignments, with the name or the tensor of each
        self.by_tensor: defaultdict[Tensor, list[tuple[int, str]]] = defaultdict(list)
        self.by_name: defaultdict[str, list[tuple[int, Tensor]]] = defaultdict(list)
        self.prints: list[tuple[int, str]] = []
        self.answers: list[tuple[int, str]] = []  # displayed by a session, except the last
        self.backwards: list[Backward] = []
        self.modules: dict[str, Instance] = {}
        # the grad_fn and saved tensor at which a backward pass failed
        self.refused: tuple[Record, Saved | None] | None = None
        # by bytes per element: the line of each operation whose last digits may differ from
        # PyTorch's
        self.unsure: dict[int, dict[str, int]] = {}
        self.near_ties: set[int] = set()  # lines whose printed text depends on the last digit
        self.unseeded = False  # whether it draws random numbers without a seed

    def assigned(self, name: str, value: Any, line: int) -> None:
        """Record an assignment."""
        if isinstance(value, Instance) and "_parameters" in value.fields:
            self.modules[name] = value
        if isinstance(value, Tensor) and name != "_":
            number, names = len(self.assignments), self.by_tensor[value]
            if not names or names[-1][1] != name:
                names.append((number, name))
            self.by_name[name].append((number, value))
            self.assignments.append(Assignment(name, value, line))

    def printed(self, line: int, text: str) -> None:
        """Record a print."""
        self.prints.append((line, text))

    def answered(self, line: int, text: str) -> None:
        """Record the displayed value of an expression in a session."""
        self.answers.append((line, text))

    @property
    def called(self) -> "Names":
        """The names of tensors after the assignments so far."""
        return Names(self, len(self.assignments))

    @property
    def paths(self) -> dict[Tensor, str]:
        """The parameters of modules that have names, with paths such as "net.weight"."""
        result: dict[Tensor, str] = {}
        for name, module in self.modules.items():
            for path, tensor in parameters_of(module, name):
                result.setdefault(tensor, path)
        return result

    def backward(
        self,
        m: Machine,
        outputs: Sequence[Tensor],
        seeds: Sequence[Tensor],
        wanted: Sequence[Tensor] | None,
        kind: str,
    ) -> Callable[[Sequence[Tensor | None]], None]:
        """Record a backward pass that is about to start. Returns the function to call at its end,
        with the gradients of the `wanted` tensors.
        """
        back = self.backward_from(m.place, kind, outputs, seeds, wanted)
        self.backwards.append(back)

        def after(gradients: Sequence[Tensor | None]) -> None:
            back.outcome.append(True)
            for tensor, gradient in zip(back.wanted or (), gradients):
                back.results[tensor] = gradient and gradient.data.copy()
            for leaf in back.leaves if kind == "backward" else ():
                had = back.before[leaf]
                if leaf.grad is not None:
                    with np.errstate(all="ignore"):  # inf - inf is allowed
                        sent = leaf.grad.data.copy() if had is None else leaf.grad.data - had
                    back.results[leaf] = sent

        return after

    def backward_from(
        self,
        line: int,
        kind: str,
        outputs: Sequence[Tensor],
        seeds: Sequence[Tensor],
        wanted: Sequence[Tensor] | None,
    ) -> Backward:
        """The record of a backward pass from `outputs`, with the current leaves and names."""
        leaves, called = leaves_of(outputs), self.called
        return Backward(
            line,
            kind,
            list(outputs),
            [Tensor(t.data.copy(), t.dtype) for t in seeds],  # copied, as backward may change them
            [called.get(t) for t in seeds],
            None if wanted is None else list(wanted),
            leaves,
            {x: None if x.grad is None else x.grad.data.copy() for x in leaves},
            {x: x.data.copy() for x in (*leaves, *outputs)},
            called,
            self.paths,
            {},
            [],
        )


class Names:
    """The names of tensors after the first `count` assignments. The name of a tensor is the first
    one that still refers to it, or else the last one that did.
    """

    def __init__(self, trace: Trace, count: int):
        self._trace, self._count = trace, count

    def get(self, tensor: Tensor, otherwise: Any = None) -> Any:
        """The name of a tensor; `otherwise` if it has none."""
        naming = self._naming(tensor)
        return naming[1] if naming else otherwise

    @cached_property
    def names(self) -> dict[Tensor, str]:
        """The names of all tensors, in the order of assignment."""
        namings = ((self._naming(tensor), tensor) for tensor in self._trace.by_tensor)
        named = sorted(((*naming, t) for naming, t in namings if naming), key=itemgetter(0))
        return {tensor: name for _, name, tensor in named}

    @cached_property
    def bound(self) -> dict[str, Tensor]:
        """The tensor to which each name refers."""
        firsts = ((name, first[0]) for name, (first, *_) in self._trace.by_name.items())
        return {name: self._stands_for(name) for name, k in firsts if k < self._count}

    def tensors(self, name: str) -> list[Tensor]:
        """The tensors whose name is or was `name`, in order of assignment."""
        bound = dict.fromkeys(t for k, t in self._trace.by_name.get(name, ()) if k < self._count)
        return [tensor for tensor in bound if self.get(tensor) == name]

    def _naming(self, tensor: Tensor) -> tuple[int, str] | None:
        """The assignment from which a tensor has its name: index and name. None without a name."""
        namings = [n for n in self._trace.by_tensor.get(tensor, ()) if n[0] < self._count]
        standing = (n for n in namings if self._stands_for(n[1]) is tensor)
        return next(standing, namings[-1] if namings else None)

    def _stands_for(self, name: str) -> Tensor:
        bound = self._trace.by_name[name]
        return bound[bisect_left(bound, self._count, key=itemgetter(0)) - 1][1]


def parameters_of(module: Instance, path: str) -> Iterator[tuple[str, Tensor]]:
    """The parameters of a module and its submodules, with their paths."""
    for name, value in module.fields.get("_parameters", {}).items():
        if isinstance(value, Tensor):
            yield f"{path}.{name}", value
    for name, inner in module.fields.get("_modules", {}).items():
        if isinstance(inner, Instance):
            yield from parameters_of(inner, f"{path}.{name}")


def leaves_of(outputs: Sequence[Tensor]) -> list[Tensor]:
    """The leaves that a backward pass from `outputs` reaches, in the order of traversal."""
    result: dict[Tensor, None] = {}
    seen: set[Any] = set()
    stack: list[Any] = [t.edge.record for t in outputs if t.edge]
    while stack:
        record = stack.pop()
        if record in seen:
            continue
        seen.add(record)
        if isinstance(record, Accumulator):
            result[record.tensor] = None
        stack += [e.record for e in reversed(record.edges) if e]
    return list(result)
