"""Cached plans: an operator for inputs of given shapes and dtype kinds, which computes its value
and its backward.

The backward is a graph of gradcli's operators; the values on which it depends are those that
autograd saves. Computed values are counted against the program's budget.
"""

import math
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator, Schedule
from ...errors import GradcliError
from ...graphs import AGAIN, OPS, Node, Operator, as_node, intern, walk
from ...lazy import np
from ..python.values import Unsupported
from . import last_digits
from .dtypes import DType, rounded
from .mode import MODE
from .single import backward_of, composite, in_half, kernel_of

MOST_PLANS = 4096
STEPS = 20  # budget steps per operation
PRODUCTS_IN_STEP = 8_000  # multiplications that take as long as one step
BYTES = 16  # budget bytes per element, with intermediate results
PRODUCTS = ("matmul", "mm", "bmm", "mv", "addmm", "linear")
Signature = tuple[Any, ...]


# The gradient of the second input is computed as that of the first with the inputs exchanged, as
# in PyTorch: where both inputs are equal, the sign of the gradient 0 depends on this.
EXCHANGED = ("mse_loss", "smooth_l1_loss", "huber_loss")


class SavedInPyTorch(NamedTuple):
    """What PyTorch saves for a backward pass: `places` are the positions of saved inputs, `output`
    and `intermediate` whether the output and intermediate results are saved.
    """

    places: tuple[int, ...]
    output: bool
    intermediate: bool


class InputGradients:
    """The gradients of some inputs of an operation, as a graph.

    `gradients` has a node, or None, for each input position in `places`. `reads` has the positions
    of the inputs on which they depend, and `reads_output` is True if they depend on the output.
    """

    def __init__(self, plan: "Plan", places: tuple[int, ...]):
        self.plan, self.places = plan, places
        self._schedules: dict[str, Schedule] = {}
        self.seed = OPS["input"](name="g", shape=plan.node.shape, is_direction=True)
        wrt = [leaf for place in places if (leaf := plan.leaves[place]) is not None]
        of = backward(plan.node, self.seed, wrt).of
        self.gradients: list[Node | None] = [of[x] for x in wrt]
        if plan.node.op.name in EXCHANGED and 1 in places:
            self.gradients[places.index(1)] = self._exchanged()
        self.order = walk(
            [n for n in self.gradients if n is not None],
            lambda n: () if n is plan.node else n.inputs,
        )
        used = set(self.order)
        if plan.node in used and AGAIN in plan.node.op.saved_for(plan.node):
            # PyTorch recomputes the output from the inputs
            used |= {x for x in plan.leaves if x is not None}
        self.reads = tuple(k for k, x in enumerate(plan.leaves) if x in used)
        if plan.node.op.name in ("mul", "matmul", "mm") and len(self.reads) == 2:
            self.reads = (1, 0)  # PyTorch saves the second factor first
        self.reads_output = plan.node in used

    def _exchanged(self) -> Node | None:
        """The gradient of the second input, computed by exchanging the first and second input."""
        first, second, *others = self.plan.leaves
        assert second is not None
        node = intern(self.plan.node.op, (second, first, *others), self.plan.node.attrs)
        return backward(node, self.seed, [second]).of[second]

    @cached_property
    def saved(self) -> SavedInPyTorch:
        """What PyTorch saves to compute these gradients."""
        node, leaves = self.plan.node, self.plan.leaves
        places, output, intermediate = set[int](), False, False
        for part in node.op.saved_for(node):
            if part is ... or part == AGAIN:
                places |= set(self.reads)
                output = output or (self.reads_output and part is ...)
            elif part == "output" or part is node:
                output = True
            elif part in node.op.inputs:
                place = node.op.inputs.index(part)
                places |= {place} & {*self.reads, *self.places}
            elif part in leaves:
                places.add(leaves.index(part))
            else:
                intermediate = True
        present = sorted(k for k in places if k < len(leaves))
        return SavedInPyTorch(tuple(present), output, intermediate)

    def schedule(self, precision: str) -> Schedule:
        """The operations that compute the gradients in the given precision, in order; cached."""
        built = self._schedules.get(precision)
        if built is None:
            known = dict.fromkeys((*self.plan.leaves, self.plan.node, self.seed))
            nodes = Evaluator(known).missing([n for n in self.gradients if n is not None])
            kernels = kernel_of if precision == "float32" else None
            built = self._schedules[precision] = Schedule(nodes, kernels)
        return built

    def numbers(self, values: dict[Any, Any], precision: str) -> list[Any]:
        """The arrays of the gradients, one for each of `places`. `values` maps nodes to arrays."""
        evaluator = Evaluator(values, dtype=precision)
        with np.errstate(all="ignore"):
            by_kernel = self._by_kernel(values)
            if by_kernel is not None and self.places == (0,):
                return [by_kernel]
            evaluator.run_quietly(self.schedule(precision))
        arrays = [None if n is None else np.asarray(evaluator.values[n]) for n in self.gradients]
        return arrays if by_kernel is None else [by_kernel, *arrays[1:]]

    def _by_kernel(self, values: dict[Any, Any]) -> Any:
        """The gradient of the first input in the steps of PyTorch's kernel; None if not known."""
        if 0 not in self.places:
            return None
        node, plan = self.plan.node, self.plan
        nodes = (self.seed, *plan.leaves, node)
        arrays = [None if n is None else values.get(n) for n in nodes]
        kernel = backward_of(node.op.name, [a for a in arrays if a is not None])
        answer = None if kernel is None else kernel(*arrays, **node.attrs)
        return None if answer is None else np.asarray(answer)


class Plan:
    """An operator for inputs of given shapes and dtype kinds (bool, int, float). `leaves` are the
    input nodes of its `node`.
    """

    def __init__(self, node: Node, leaves: Sequence[Node | None]):
        self.node, self.leaves = node, leaves
        self._gradients: dict[tuple[int, ...], InputGradients] = {}

    @cached_property
    def products(self) -> int:
        """The approximate number of multiplications in a matrix product or a convolution."""
        name, operands = self.node.op.name, [x for x in self.leaves if x is not None and x.ndim]
        if name.startswith("conv") and len(operands) > 1:
            weight = operands[1].shape
            return self.node.numel * math.prod(weight) // max(weight[0], 1)
        if name in PRODUCTS and len(operands) > 1:
            return self.node.numel * operands[-2].shape[-1]
        return 0

    def value(self, arrays: Sequence[Any], precision: str) -> Any:
        """The output's array, from the arrays of the inputs; Python numbers stay numbers."""
        node = self.node
        kernels = kernel_of if precision == "float32" else None
        with np.errstate(all="ignore"):
            if node.op.value is not None:
                uses_kernel = kernels and node.dtype == "float"
                compute = kernel_of(node.op.name, node.op.value) if uses_kernel else node.op.value
                return np.asarray(compute(*arrays, **node.attrs))
            whole = composite(node.op.name, arrays) if kernels else None
            result = whole(*arrays, **node.attrs) if whole else NotImplemented
            if result is not NotImplemented:
                return np.asarray(result)
            values = {x: a for x, a in zip(self.leaves, arrays) if x is not None}
            return Evaluator(values, dtype=precision, kernels=kernels)(node)[0]

    def gradients(self, places: tuple[int, ...]) -> InputGradients:
        """The gradients of the inputs at these positions."""
        if places not in self._gradients:
            self._gradients[places] = InputGradients(self, places)
        return self._gradients[places]


_plans: dict[Any, Plan] = {}
_by_call: dict[Any, Plan] = {}  # by operator, shapes and kinds: a lookup without a node


def plan(
    op: Operator, inputs: Sequence[tuple[tuple[int, ...], str] | float | None], attrs: Any
) -> Plan:
    """The plan of an operator for inputs of these shapes and dtype kinds, or numbers. Plans are
    cached.

    Raises GradcliError if the operator does not accept the inputs.
    """
    key: Any = op, tuple(inputs), tuple(attrs.items()), tuple(map(type, inputs))
    try:
        cached = _by_call.get(key)
    except TypeError:  # unhashable: a list among the attributes
        key, cached = None, None
    if cached is None:
        cached = _plan(op, inputs, attrs)
        if key is not None:
            if len(_by_call) >= MOST_PLANS:
                _by_call.clear()
            _by_call[key] = cached
    return cached


def _plan(op: Operator, inputs: Sequence[Signature | float | None], attrs: Any) -> Plan:
    leaves = [
        None if i is None else leaf(place, *i) if isinstance(i, tuple) else as_node(i)
        for place, i in enumerate(inputs)
    ]
    node = intern(op, tuple(leaves), attrs)
    built = _plans.get(node)
    if built is None:
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        built = _plans[node] = Plan(node, leaves)
    return built


def leaf(place: int, shape: tuple[int, ...], kind: str) -> Node:
    """The graph leaf for the tensor at an argument position."""
    return OPS["input"](name=f"t{place}", shape=shape, dtype=kind)


def computed(plan: Plan, arrays: list[Any], compute: DType) -> Any:
    """The output's array, computed in the dtype `compute`; the work is charged to the budget."""
    work = plan.products // PRODUCTS_IN_STEP
    MODE.spend(STEPS + work, BYTES * math.prod(plan.node.shape or ()))
    last_digits.note(plan.node, compute)
    if compute.size == 2:
        narrow = partial(narrowed, compute)
        value = in_half(plan.node.op.name, compute.name, narrow, arrays, plan.node.attrs)
        if value is not NotImplemented:
            return value
    try:
        return plan.value(arrays, compute.precision)
    except GradcliError as failure:
        raise Unsupported(failure.message) from failure


def narrowed(dtype: DType, x: Any) -> Any:
    """An array rounded to a dtype of half precision, returned in float32."""
    return rounded(np.asarray(x, dtype.numpy), dtype).astype(np.float32)
