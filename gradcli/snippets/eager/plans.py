"""An operator on inputs of known shapes, prepared once: its value, and backward through it.

The backward is the gradient graph of gradcli's operators; what it reads is what autograd keeps.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator, Schedule
from ...graphs import AGAIN, OPS, Node, Operator, as_node, intern, walk
from ...lazy import np
from .single import backward_of, composite, kernel_of

MOST_PLANS = 4096
PRODUCTS = ("matmul", "mm", "bmm", "mv", "addmm", "linear")
Signature = tuple[Any, ...]


EXCHANGED = ("mse_loss", "smooth_l1_loss", "huber_loss")  # differentiated so by PyTorch: where
# the inputs are equal, the sign of 0 depends on it


class InputGradients:
    """The gradients of some inputs of an operation, as a graph.

    `gradients` has a node for each of the `places`, or None; `reads` are the places whose values
    these need, and `reads_output` says whether they need the output's.
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
        if plan.node in used and plan.node.op.saved == (AGAIN,):
            # PyTorch computes the output from them again
            used |= {x for x in plan.leaves if x is not None}
        self.reads = tuple(k for k, x in enumerate(plan.leaves) if x in used)
        if plan.node.op.name in ("mul", "matmul", "mm") and len(self.reads) == 2:
            self.reads = (1, 0)  # what the gradient of the first needs is kept first
        self.reads_output = plan.node in used

    def _exchanged(self) -> Node | None:
        """The gradient of the second input: that of the first, were they exchanged."""
        first, second, *others = self.plan.leaves
        assert second is not None
        node = intern(self.plan.node.op, (second, first, *others), self.plan.node.attrs)
        return backward(node, self.seed, [second]).of[second]

    def schedule(self, precision: str) -> Schedule:
        """How the gradients are computed from the arrays of what they read."""
        built = self._schedules.get(precision)
        if built is None:
            known = dict.fromkeys((*self.plan.leaves, self.plan.node, self.seed))
            nodes = Evaluator(known).missing([n for n in self.gradients if n is not None])
            kernels = kernel_of if precision == "float32" else None
            built = self._schedules[precision] = Schedule(nodes, kernels)
        return built

    def numbers(self, values: dict[Any, Any], precision: str) -> list[Any]:
        """The arrays of the gradients."""
        evaluator = Evaluator(values, dtype=precision)
        with np.errstate(all="ignore"):
            by_kernel = self._by_kernel(values)
            if by_kernel is not None and self.places == (0,):
                return [by_kernel]
            evaluator.run_quietly(self.schedule(precision))
        arrays = [None if n is None else np.asarray(evaluator.values[n]) for n in self.gradients]
        return arrays if by_kernel is None else [by_kernel, *arrays[1:]]

    def _by_kernel(self, values: dict[Any, Any]) -> Any:
        """The gradient of the first input as PyTorch's kernel computes it, where that is known."""
        if 0 not in self.places:
            return None
        node, plan = self.plan.node, self.plan
        nodes = (self.seed, *plan.leaves, node)
        arrays = [None if n is None else values.get(n) for n in nodes]
        kernel = backward_of(node.op.name, [a for a in arrays if a is not None])
        answer = None if kernel is None else kernel(*arrays, **node.attrs)
        return None if answer is None else np.asarray(answer)


class Plan:
    """An operator on inputs of these shapes and kinds."""

    def __init__(self, node: Node, leaves: Sequence[Node | None]):
        self.node, self.leaves = node, leaves
        self._gradients: dict[tuple[int, ...], InputGradients] = {}

    @cached_property
    def products(self) -> int:
        """About how many products of numbers a product of matrices or a convolution takes."""
        name, operands = self.node.op.name, [x for x in self.leaves if x is not None and x.ndim]
        if name.startswith("conv") and len(operands) > 1:
            weight = operands[1].shape
            return self.node.numel * math.prod(weight) // max(weight[0], 1)
        if name in PRODUCTS and len(operands) > 1:
            return self.node.numel * operands[-2].shape[-1]
        return 0

    def value(self, arrays: Sequence[Any], precision: str) -> Any:
        """The output's array from those of the inputs; Python numbers stay as they are."""
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
        """The gradients of the inputs at these places."""
        if places not in self._gradients:
            self._gradients[places] = InputGradients(self, places)
        return self._gradients[places]

    def kept(self, back: InputGradients) -> tuple[set[int], bool]:
        """The places of the inputs that PyTorch keeps, and whether it keeps the output."""
        op = self.node.op
        says = op.saved
        parts = says(self.node, *self.node.inputs, **self.node.attrs) if callable(says) else says
        places, output = set[int](), False
        for part in parts:
            if part is ... or part == AGAIN:
                places |= set(back.reads)
                output = output or (back.reads_output and part is ...)
            elif part == "output" or part is self.node:
                output = True
            elif isinstance(part, str) and part in op.inputs:
                places.add(op.inputs.index(part))
            elif part in self.leaves:
                places.add(self.leaves.index(part))
        return {k for k in places if k < len(self.leaves)}, output


_plans: dict[Any, Plan] = {}
_by_call: dict[Any, Plan] = {}  # by the operator, shapes and kinds, without making a node


def plan(
    op: Operator, inputs: Sequence[tuple[tuple[int, ...], str] | float | None], attrs: Any
) -> Plan:
    """The plan for an operator on inputs of these shapes and kinds; numbers stand for themselves.

    Raises GradcliError where the operator does not take them.
    """
    key: Any = op, tuple(inputs), tuple(attrs.items()), tuple(map(type, inputs))
    try:
        cached = _by_call.get(key)
    except TypeError:  # a list among the attributes
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
    """The node that stands for the tensor at a place."""
    return OPS["input"](name=f"t{place}", shape=shape, dtype=kind)
