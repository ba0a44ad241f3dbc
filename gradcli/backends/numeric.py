"""Numeric values of a graph, with NumPy.

No operator is special here: each has a NumPy function, or is expanded into operators that have one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, NoReturn

from ..budget import EVERY, expect, tick
from ..errors import MISUSES, GradcliError, Span
from ..graphs import Node, downstream, walk
from ..graphs.flops import flops
from ..graphs.shapes import numel
from ..lazy import np
from ..limits import Limits, hint

Values = dict[Node | None, Any]

Kernels = Callable[[str, Callable[..., Any]], Callable[..., Any]]

PYTHON_NUMBERS = (bool, int, float)
PYTHON_TYPES = {"float": float, "int": int, "bool": bool}
DTYPE_CODES = {float: "f", int: "i", bool: "b"}  # the `kind` of NumPy's dtypes
FLOPS = 32  # FLOP of a matrix product or decomposition in the time of an elementwise operation
FLOPS_PER_SECOND = 15e9  # on a slow core, in products and decompositions of large matrices
SPEEDUP = 2  # speed of a typical core relative to a slow one
LARGE = 1 << 18  # elements, 2 MB, from which a tensor is evaluated block by block


def sources(node: Node) -> Sequence[Node | None]:
    """The nodes that the value of `node` is computed from."""
    op = node.op
    return node.inputs if op.value or not op.expand else (op.expanded(node),)


class Schedule:
    """Nodes, inputs first, each with its function and arguments, to be run repeatedly. `largest` is
    the number of elements of the largest tensor; `kernels` may replace the function of an operator,
    given its name.
    """

    __slots__ = ("largest", "nodes", "steps")

    def __init__(self, nodes: Sequence[Node], kernels: Kernels | None = None):
        self.nodes = nodes
        self.steps = [(n, _function(n, kernels), sources(n), n.attrs) for n in nodes]
        self.largest = max(map(numel, {n.shape for n in nodes}), default=0)


def _function(node: Node, kernels: Kernels | None = None) -> Callable[..., Any]:
    """The function of a node, which takes the values of its sources and its attributes."""
    op = node.op
    if kernels is not None and op.value is not None and node.dtype == "float":
        return kernels(op.name, _function(node))
    if op.value is None:
        return _same_value if op.expand else partial(_no_value, node)
    if op.family == "leaf" or op.dtype in ("bool", "int"):
        return op.value
    others = [k for k, i in enumerate(node.inputs) if i is not None and i.dtype != "float"]
    if node.dtype == "float" and not others:
        return op.value
    return partial(_with_dtypes, node, [k for k in others if not op.is_integer_input(k)])


def _with_dtypes(node: Node, positions: Sequence[int], /, *arrays: Any, **attrs: Any) -> Any:
    """The value of a node in its dtype, from arrays of which those at `positions` are integers or
    masks. These are converted first, because NumPy computes functions of masks in half precision,
    or not at all.
    """
    dtype = float if node.dtype == "float" else int
    if node.op.dtype not in ("first", "last"):
        arrays = tuple(as_dtype(a, dtype) if k in positions else a for k, a in enumerate(arrays))
    value = node.op.value(*arrays, **attrs)
    if node.dtype == "int" and all(type(a) in PYTHON_NUMBERS for a in arrays):
        return value  # computed from sizes, which are Python numbers
    return as_dtype(value, PYTHON_TYPES[node.dtype])


def as_dtype(value: Any, dtype: type) -> Any:
    """An array or number converted to float, int or bool; floats are unchanged."""
    if type(value) in PYTHON_NUMBERS:
        return dtype(value) if type(value) is bool or dtype is not float else value
    return value if value.dtype.kind == DTYPE_CODES[dtype] else value.astype(dtype)


def _same_value(array: Any, **_: Any) -> Any:
    return array


def _no_value(node: Node, **attrs: Any) -> Any:
    raise GradcliError("needs-value", f"{attrs.get('name', node.op.name)} has no value")


class Evaluator:
    """Values of nodes, each computed once.

    `given` maps inputs to arrays; floats are computed in `dtype`.
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
        self.dtype, self.limits, self.kernels = dtype, limits or Limits(), kernels

    def __call__(self, *roots: Node) -> list[Any]:
        """The arrays of `roots`, in their order."""
        missing = self.missing(roots)
        if missing:
            self.run(Schedule(missing, self.kernels))
        return [np.asarray(self.values[root]) for root in roots]

    def missing(self, roots: Iterable[Node]) -> list[Node]:
        """The nodes without a value that `roots` depend on, in order."""
        values = self.values
        needed = walk(roots, lambda node: () if node in values else sources(node))
        return [node for node in needed if node not in values]

    def run(self, schedule: Schedule) -> None:
        """Compute the nodes of a schedule that have no value yet."""
        with np.errstate(all="ignore"):
            self.run_quietly(schedule)

    def run_quietly(self, schedule: Schedule) -> None:
        """As `run`, if NumPy's warnings are already off."""
        self.check(schedule)
        if schedule.largest < LARGE:
            self._compute(schedule)
        else:
            self._check_memory(schedule)
            self.in_time(schedule, lambda: self._compute(schedule))

    def in_time(self, schedule: Schedule, compute: Callable[[], None]) -> None:
        """Compute a schedule of large tensors. Raises GradcliError "limit" if it takes too long."""

        def refuse() -> NoReturn:
            limit = self.limits.sizes["seconds"]
            message = f"the values of {len(schedule.nodes):,} operations take more than"
            raise GradcliError("limit", f"{message} {limit:,} seconds", hint=hint("seconds"))

        self.limits.budget.compute(compute, refuse)

    def _compute(self, schedule: Schedule) -> None:
        values, exact = self.values, self.dtype == "float64"
        for node, function, inputs, attrs in schedule.steps:
            if node in values:
                continue
            tick(EVERY)
            arrays = [values[i] for i in inputs]
            try:
                value = function(*arrays, **attrs)
            except (GradcliError, *MISUSES) as error:
                refused = _refusal(node, error)
                raise refused.at(span_of_user(node, schedule.nodes)) from refused.__cause__
            values[node] = value if exact else self._rounded(node, value, arrays)

    def varying(self, root: Node, by: Node) -> "Reevaluation":
        """`root` as a function of the value of `by`; other nodes are evaluated once."""
        return Reevaluation(self, root, by)

    def value(self, node: Node, arrays: Sequence[Any]) -> Any:
        """The value of a node, from the arrays of its sources."""
        try:
            value = _function(node)(*arrays, **node.attrs)
        except (GradcliError, *MISUSES) as error:
            refused = _refusal(node, error)
            raise refused from refused.__cause__
        return value if self.dtype == "float64" else self._rounded(node, value, arrays)

    def _rounded(self, node: Node, value: Any, arrays: Sequence[Any]) -> Any:
        """A value converted to `dtype`; results of Python numbers alone stay Python floats."""
        if node.dtype != "float" or type(value) in PYTHON_NUMBERS:
            return value
        if np.ndim(value) == 0 and arrays and all(type(a) in PYTHON_NUMBERS for a in arrays):
            return value.item()
        return np.asarray(value, dtype=self.dtype)

    def check(self, schedule: Schedule) -> None:
        """Raise GradcliError "limit" for too large tensors, or if large ones take too long."""
        if schedule.largest > self.limits.sizes["elements"]:
            for node in schedule.nodes:
                what = f"the value of {node.op.name}, of shape {node.shape}"
                self.limits.check("elements", node.numel, what, node.span)

        if schedule.largest >= LARGE:
            missing = [n for n in schedule.nodes if n not in self.values]
            seconds = sum(flops(n) for n in missing if n.op.flops) / FLOPS_PER_SECOND
            usual = seconds / SPEEDUP
            longest = max(seconds, self.limits.budget.computed + usual)
            what = f"the values of {len(missing):,} operations"
            self.limits.check("seconds", int(longest), what)
            expect(usual)

    def _check_memory(self, schedule: Schedule) -> None:
        """Raise GradcliError "limit" if all values together are too large; views take no memory."""
        missing = [n for n in schedule.nodes if n not in self.values]
        present = [n for n in self.values if n is not None]
        total = sum(map(array_bytes, (*present, *missing)))
        total += max(map(workspace, missing), default=0)
        self.limits.check("memory", total, f"the values of {len(missing):,} operations")


def array_bytes(node: Node) -> int:
    """The memory of a node's value in bytes; 0 for a view."""
    if node.op.shares_memory(node):
        return 0
    return node.numel * (1 if node.dtype == "bool" else 8)


def workspace(node: Node) -> int:
    """The memory of temporary arrays for a node's value in bytes, without the output."""
    if node.op.value is None or node.op.workspace is None:
        return 0
    return 8 * node.op.workspace(node.shape, *[i and i.shape for i in node.inputs], **node.attrs)


def _refusal(node: Node, error: Exception) -> GradcliError:
    """The error of a node's function as a GradcliError with the node's span."""
    if isinstance(error, GradcliError):
        return error.at(node.span)
    message = f"{node.op.name}() has no value here: {error}"
    refused = GradcliError("arguments", message, span=node.span)
    refused.__cause__ = error
    return refused


def span_of_user(node: Node, order: Sequence[Node]) -> Span | None:
    """The span of the first node in `order` that depends on `node` and has a span."""
    dependent = downstream(order, [node], sources)
    return next((n.span for n in order if n in dependent and n.span), None)


class Reevaluation:
    """A node as a function of the value of one input."""

    def __init__(self, evaluator: Evaluator, root: Node, by: Node):
        self.evaluator, self.root, self.by = evaluator, root, by
        order = evaluator.missing([root])
        depends = downstream(order, [by], sources)
        evaluator.run(Schedule([n for n in order if n not in depends]))
        self.schedule = Schedule([n for n in order if n in depends and n is not by])

    @property
    def work(self) -> int:
        """The cost of one evaluation, in elementwise operations."""
        return sum(
            max(n.numel, flops(n) // FLOPS if n.op.flops else 0) for n in self.schedule.nodes
        )

    @property
    def operations(self) -> int:
        """The number of operations in one evaluation."""
        return len(self.schedule.nodes)

    def check_time(self, count: int) -> None:
        """Raise GradcliError "limit" if `count` evaluations would take too long."""
        seconds = ceil(count * self.work * FLOPS / FLOPS_PER_SECOND / SPEEDUP)
        self.evaluator.limits.check("seconds", seconds, f"{count:,} rows of a Jacobian")

    def __call__(self, value: Any) -> Any:
        """The array of the root if `by` has this value."""
        values = self.evaluator.values
        values[self.by] = value
        try:
            self.evaluator.run(self.schedule)
            return np.asarray(values[self.root])
        finally:  # so that the next call computes them again
            for node in (self.by, *self.schedule.nodes):
                values.pop(node, None)
