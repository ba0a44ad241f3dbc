"""Numeric values of a graph, with NumPy.

Knows nothing about single operators: each brings its own NumPy function, or is made of others that
do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..budget import tick
from ..errors import MISUSES, GradcliError, Span
from ..graphs import Node, downstream, walk
from ..graphs.flops import flops
from ..graphs.shapes import numel
from ..lazy import np
from ..limits import Limits

Values = dict[Node | None, Any]

Kernels = Callable[[str, Callable[..., Any]], Callable[..., Any]]

PYTHONS = (bool, int, float)
KINDS = {"float": float, "int": int, "bool": bool}
KIND_CODES = {float: "f", int: "i", bool: "b"}  # of NumPy's dtypes
DEFAULT = Limits()
FLOPS = 32  # of a product or a decomposition of matrices, which take as long as an element
LARGE = 1 << 18  # elements of a tensor that is worth evaluating block by block: 2 MB


def sources(node: Node) -> Sequence[Node | None]:
    """The nodes that the value of `node` is computed from."""
    op = node.op
    return node.inputs if op.value or not op.expand else (op.expanded(node),)


class Schedule:
    """Nodes, inputs first, each with its function and what that takes: made once, run as often as
    need be. `largest`: the elements of the largest tensor; `kernels`: what computes an operator by
    its name, in the place of its own function.
    """

    __slots__ = ("largest", "nodes", "steps")

    def __init__(self, nodes: Sequence[Node], kernels: Kernels | None = None):
        self.nodes = nodes
        self.steps = [(n, _function(n, kernels), sources(n), n.attrs) for n in nodes]
        self.largest = max(map(numel, {n.shape for n in nodes}), default=0)


def _function(node: Node, kernels: Kernels | None = None) -> Callable[..., Any]:
    """What gives the value of a node from those of its sources and its attributes."""
    op = node.op
    if kernels is not None and op.value is not None and node.dtype == "float":
        return kernels(op.name, _function(node))
    if op.value is None:
        return _meant if op.expand else partial(_no_value, node)
    if op.family == "leaf" or op.dtype in ("bool", "int"):
        return op.value
    others = [k for k, i in enumerate(node.inputs) if i is not None and i.dtype != "float"]
    if node.dtype == "float" and not others:
        return op.value
    return partial(_in_kind, node, [k for k in others if not op.is_label(k)])


def _in_kind(node: Node, places: Sequence[int], /, *arrays: Any, **attrs: Any) -> Any:
    """The value of a node, in the kind of its dtype, from arrays of which those at `places` hold
    integers or masks. NumPy computes functions of a mask in half precision, or has none: they are
    computed with the numbers 0 and 1.
    """
    kind = float if node.dtype == "float" else int
    if node.op.dtype not in ("first", "last"):
        arrays = tuple(as_kind(a, kind) if k in places else a for k, a in enumerate(arrays))
    value = node.op.value(*arrays, **attrs)
    if node.dtype == "int" and all(type(a) in PYTHONS for a in arrays):
        return value  # of sizes, which are divided as Python's numbers are
    return as_kind(value, KINDS[node.dtype])


def as_kind(value: Any, kind: type) -> Any:
    """An array or a number as one of floats, integers or truth values; floats as they are."""
    if type(value) in PYTHONS:
        return kind(value) if type(value) is bool or kind is not float else value
    return value if value.dtype.kind == KIND_CODES[kind] else value.astype(kind)


def _meant(array: Any, **_: Any) -> Any:
    return array


def _no_value(node: Node, **attrs: Any) -> Any:
    raise GradcliError("needs-value", f"{attrs.get('name', node.op.name)} has no value")


class Evaluator:
    """Values of nodes, each computed once.

    `given` holds an array for every input that counts; floats are computed as `dtype`.
    """

    def __init__(
        self,
        given: Mapping[Any, Any],
        *,
        dtype: str = "float64",
        limits: Limits | None = None,
        kernels: Kernels | None = None,
    ):
        self.values: Values = {None: None, **given}
        self.dtype, self.limits, self.kernels = dtype, limits or DEFAULT, kernels

    def __call__(self, *roots: Node) -> list[Any]:
        """The arrays of `roots`, in their order."""
        self.run(Schedule(self.missing(roots), self.kernels))
        return [np.asarray(self.values[root]) for root in roots]

    def missing(self, roots: Iterable[Node]) -> list[Node]:
        """What is yet to be computed for `roots`, in order."""
        values = self.values
        needed = walk(roots, lambda node: () if node in values else sources(node))
        return [node for node in needed if node not in values]

    def run(self, schedule: Schedule) -> None:
        """Compute the nodes of a schedule that have no value yet."""
        with np.errstate(all="ignore"):
            self.run_quietly(schedule)

    def run_quietly(self, schedule: Schedule) -> None:
        """The same where NumPy's warnings are off already."""
        self.check(schedule)
        if schedule.largest >= LARGE:
            self._check_memory(schedule)
        values, exact = self.values, self.dtype == "float64"
        for node, function, inputs, attrs in schedule.steps:
            if node in values:
                continue
            tick()
            arrays = [values[i] for i in inputs]
            try:
                value = function(*arrays, **attrs)
            except (GradcliError, *MISUSES) as error:
                refused = _refusal(node, error)
                raise refused.at(written_for(node, schedule.nodes)) from refused.__cause__
            values[node] = value if exact else self._rounded(node, value, arrays)

    def varying(self, root: Node, by: Node) -> "Varying":
        """`root` as a function of the value of `by`; what is independent of it is computed once."""
        return Varying(self, root, by)

    def value(self, node: Node, arrays: Sequence[Any]) -> Any:
        """The value of a node from those of its sources."""
        try:
            value = _function(node)(*arrays, **node.attrs)
        except (GradcliError, *MISUSES) as error:
            refused = _refusal(node, error)
            raise refused from refused.__cause__
        return value if self.dtype == "float64" else self._rounded(node, value, arrays)

    def _rounded(self, node: Node, value: Any, arrays: Sequence[Any]) -> Any:
        """A value in `dtype`. Numbers that no tensor has met stay Python's, in double precision."""
        if node.dtype != "float" or type(value) in PYTHONS:
            return value
        if np.ndim(value) == 0 and arrays and all(type(array) in PYTHONS for array in arrays):
            return value.item()
        return np.asarray(value, dtype=self.dtype)

    def check(self, schedule: Schedule) -> None:
        """Refuse tensors that are too large."""
        if schedule.largest > self.limits.sizes["elements"]:
            for node in schedule.nodes:
                what = f"the value of {node.op.name}, of shape {node.shape}"
                self.limits.check("elements", node.numel, what, node.span)

    def _check_memory(self, schedule: Schedule) -> None:
        """Refuse tensors that are too large together: all of them stay; views take nothing."""
        built = [n for n in schedule.nodes if n not in self.values]
        there = [n for n in self.values if n is not None]
        held = sum(map(array_bytes, (*there, *built))) + max(map(workspace, built), default=0)
        self.limits.check("memory", held, f"the values of {len(built):,} operations")


def array_bytes(node: Node) -> int:
    """How much memory the value of a node takes; a view takes nothing."""
    if node.op.shares_memory(node):
        return 0
    return node.numel * (1 if node.dtype == "bool" else 8)


def workspace(node: Node) -> int:
    """How many bytes of arrays its value makes on the way, beside the output."""
    if node.op.value is None or node.op.workspace is None:
        return 0
    return 8 * node.op.workspace(node.shape, *[i and i.shape for i in node.inputs], **node.attrs)


def _refusal(node: Node, error: Exception) -> GradcliError:
    """What a function says of a node, at the node's place."""
    if isinstance(error, GradcliError):
        return error.at(node.span)
    message = f"{node.op.name}() has no value here: {error}"
    refused = GradcliError("arguments", message, span=node.span)
    refused.__cause__ = error
    return refused


def written_for(node: Node, order: Sequence[Node]) -> Span | None:
    """The text of the first node that a node of no text of its own is computed for."""
    needing = downstream(order, [node], sources)
    return next((n.span for n in order if n in needing and n.span), None)


class Varying:
    """A node as a function of the value of one input."""

    def __init__(self, evaluator: Evaluator, root: Node, by: Node):
        self.evaluator, self.root, self.by = evaluator, root, by
        order = evaluator.missing([root])
        depends = downstream(order, [by], sources)
        evaluator.run(Schedule([n for n in order if n not in depends]))
        self.schedule = Schedule([n for n in order if n in depends and n is not by])

    @property
    def work(self) -> int:
        """How many elements are computed for one value of `by`, or as many as take as long."""
        return sum(
            max(n.numel, flops(n) // FLOPS if n.op.flops else 0) for n in self.schedule.nodes
        )

    def __call__(self, value: Any) -> Any:
        """The array of the root when `by` has this value."""
        values = self.evaluator.values
        values[self.by] = value
        try:
            self.evaluator.run(self.schedule)
            return np.asarray(values[self.root])
        finally:  # what has a value is not computed again
            for node in (self.by, *self.schedule.nodes):
                values.pop(node, None)
