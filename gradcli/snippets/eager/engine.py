"""The backward pass through autograd's graph, in the order of PyTorch's engine.

A node (`Record`, a grad_fn) runs once all nodes that depend on it have run; among those ready, the
latest recorded runs first. Gradients that arrive from several nodes are added in that order. This
module knows no operations: each node has its own backward function.
"""

import heapq
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from ...lazy import np
from ..python.values import Machine, error
from .apply import call_operator, cast
from .hooks import after_accumulation, after_pre_hooks, after_record_hooks, after_tensor_hooks
from .mode import MODE, recording
from .printing import size
from .records import Target, copied, detached_copy, inputs_first
from .tensor import Accumulator, Edge, Gradients, MetaTensor, Record, Tensor

LEAF_OF_GRAD = (
    "A leaf node was passed to _will_engine_execute_node but we are currently running "
    "autograd.grad(). This is currently not supported."
)


class Pass:
    """One backward pass, from the `roots` (edges of the outputs, with their gradients) to the
    leaves, or to the `wanted` edges. `keep` is retain_graph.
    """

    def __init__(
        self,
        m: Machine,
        roots: Sequence[tuple[Edge, Tensor]],
        *,
        keep: bool,
        create_graph: bool,
        wanted: Sequence[Edge] | None = None,
        accumulate: bool = True,
    ):
        self.m, self.roots, self.keep, self.create_graph = m, roots, keep, create_graph
        self.accumulate = accumulate
        self.captured: dict[Edge, Tensor | None] = dict.fromkeys(wanted or ())  # their gradients
        self.buffers: dict[Target, Gradients] = {}  # gradients that have arrived at a node
        self.waiting: dict[Target, int] = {}  # nodes that a node waits for
        self.needed: set[Target] | None = None  # nodes before the wanted edges; None: all
        self.callbacks: list[Any] = []  # functions to call at the end: queue_callback
        self.fused: set[Record] = set()  # nodes that PyTorch fuses with a node that has run
        self.wanted_nodes: set[Target] = set()  # that run too: the pass adds to .grad
        self._prepare(wanted)

    def _prepare(self, wanted: Sequence[Edge] | None) -> None:
        """Count the nodes that each node waits for; collect those that lead to `wanted` edges."""
        order = inputs_first(edge.record for edge, _ in self.roots)
        for record in order:
            for edge in record.edges:
                if edge:
                    self.waiting[edge.record] = self.waiting.get(edge.record, 0) + 1
        if wanted is not None:
            wanted_nodes = {edge.record for edge in wanted}
            self.wanted_nodes = wanted_nodes if self.accumulate else set()
            self.needed = set()
            for record in order:  # a node comes after the nodes to which its edges lead
                if record in wanted_nodes or any(
                    e and e.record in self.needed for e in record.edges
                ):
                    self.needed.add(record)

    def will_run(self, record: Target) -> bool:
        """Whether the pass will run a node."""
        if isinstance(record, Accumulator) and not self.accumulate:
            raise error("RuntimeError", LEAF_OF_GRAD)
        if self.needed is not None:
            return record in self.needed
        return record in self.waiting or any(edge.record is record for edge, _ in self.roots)

    def run(self) -> None:
        """Run the backward pass."""
        for edge, gradient in self.roots:
            self._send(edge, gradient)
        starts = dict.fromkeys(edge.record for edge, _ in self.roots)
        serial = count()
        ready = [(-r.sequence, next(serial), r) for r in starts if not self.waiting.get(r)]
        heapq.heapify(ready)
        while ready:
            record = heapq.heappop(ready)[2]
            self.m.spend(5)
            for edge in self._run_one(record):
                self.waiting[edge.record] -= 1
                if not self.waiting[edge.record]:
                    heapq.heappush(ready, (-edge.record.sequence, next(serial), edge.record))
        for record in self.fused:
            record.release()
        for callback in self.callbacks:
            self.m.call(callback)

    def _run_one(self, record: Target) -> list[Edge]:
        """Run one node if the pass needs it. Returns its edges, which no longer wait for it."""
        sent = [edge for edge in record.edges if edge]
        arrived = self.buffers.pop(record, [None] * len(record.metas))
        if self.needed is not None and record not in self.needed:
            if [edge.record for edge, _ in self.roots] == [record]:
                self._after_hooks(record, arrived)
            return sent
        grads = self._after_hooks(record, list(arrived))
        sends_on = self.needed is None or any(e.record in self.needed for e in sent)
        runs = sends_on or record in self.wanted_nodes
        for edge in self.captured:  # captured before the pre-hooks run, as in PyTorch
            if edge.record is record:
                self.captured[edge] = (arrived if runs else grads)[edge.output]
        if not runs:
            return sent
        if isinstance(record, Accumulator):
            self._accumulate(record, grads)
            return sent
        for target, gradient in zip(record.edges, self._sent_back(record, grads)):
            if target and gradient is not None:
                self._send(target, gradient)
        if not self.keep:
            record.release()
            self.fused.update(record.fused_with)
        return sent

    def _accumulate(self, record: Accumulator, grads: Gradients) -> None:
        """Add to a leaf's .grad, between the hooks of its AccumulateGrad node."""
        grads = after_pre_hooks(self.m, record, grads)
        accumulate(self.m, record.tensor, grads[0], self.create_graph)
        after_record_hooks(self.m, record, (), grads)

    def _after_hooks(self, record: Target, grads: Gradients) -> Gradients:
        """The gradients of a node's outputs after tensor hooks; sets .grad after retain_grad()."""
        return after_tensor_hooks(self.m, record, grads)

    def _sent_back(self, record: Record, grads: Gradients) -> list[Tensor | None]:
        """The gradients of a node's inputs, after its hooks and the checks of PyTorch's engine."""
        if record.pre_hooks:
            grads = after_pre_hooks(self.m, record, grads)
        with recording(self.create_graph):
            answers = list(record.backward(self.m, record, grads))
            checked = [
                None if edge is None or a is None else fitted(a, edge, k, record)
                for k, (edge, a) in enumerate(zip(record.edges, answers, strict=False))
            ]
            if MODE.anomaly and MODE.check_nan:
                check_nan(record, checked)
            return after_record_hooks(self.m, record, checked, grads) if record.hooks else checked

    def _send(self, edge: Edge, gradient: Tensor) -> None:
        """Add a gradient to those that have arrived at the output of a node."""
        buffer = self.buffers.setdefault(edge.record, [None] * len(edge.record.metas))
        have = buffer[edge.output]
        if have is None:
            buffer[edge.output] = gradient
            return
        with recording(self.create_graph):
            buffer[edge.output] = call_operator("add", have, gradient)


def fitted(gradient: Tensor, edge: Edge, place: int, record: Record) -> Tensor:
    """A gradient summed and cast to its input's shape and dtype, with the engine's checks."""
    meta = edge.record.metas[edge.output]
    if isinstance(gradient, MetaTensor):
        text = f"Function {record.name} returned an invalid gradient at index {place} - expected "
        raise error("RuntimeError", text + "device cpu but got meta")
    if gradient.shape != meta.shape:
        if not expandable(meta.shape, gradient.shape):
            raise error(
                "RuntimeError",
                f"Function {record.name} returned an invalid gradient at index {place} - got "
                f"{list(gradient.shape)} but expected shape compatible with {list(meta.shape)}",
            )
        gradient = call_operator("sum_to_size", gradient, shape=meta.shape)
    return gradient if gradient.dtype is meta.dtype else cast(gradient, meta.dtype)


def expandable(shape: Sequence[int], to: Sequence[int]) -> bool:
    """Whether `shape` can be broadcast to the shape `to`."""
    return len(shape) <= len(to) and all(
        a in (1, b) for a, b in zip(reversed(shape), reversed(to), strict=False)
    )


def check_nan(record: Record, gradients: Sequence[Tensor | None]) -> None:
    """In anomaly mode, refuse nan in the gradients that a node returns."""
    for place, gradient in enumerate(gradients):
        if gradient is not None and np.isnan(gradient.data).any():
            text = f"Function '{record.name}' returned nan values in its {place}th output."
            raise error("RuntimeError", text)


def accumulate(m: Machine, leaf: Tensor, gradient: Tensor | None, create_graph: bool) -> None:
    """Add a gradient, if there is one, to a leaf's .grad, and call its post-accumulate hooks."""
    if not leaf.requires_grad:  # a hook may have set it to False
        return
    if gradient is not None:
        _add(leaf, gradient, create_graph)
    after_accumulation(m, leaf)


def _add(leaf: Tensor, gradient: Tensor, create_graph: bool) -> None:
    if "sparse_gradients" in leaf.fields:
        leaf.fields["sparse_gradient"] = True
    if leaf.grad is None:
        leaf.grad = copied(gradient) if create_graph else detached_copy(gradient)
    elif create_graph:
        with recording(True):
            leaf.grad = call_operator("add", leaf.grad, gradient)
    else:
        np.add(leaf.grad.data, gradient.data, out=leaf.grad.data, casting="unsafe")
        leaf.grad.changed()


def outputs_and_seeds(
    outputs: Sequence[Tensor], seeds: Sequence[Tensor | None]
) -> list[tuple[Edge, Tensor]]:
    """The edges of the outputs with their gradients (1 by default). Raises PyTorch's errors."""
    roots = []
    checked_seeds = [_seed(o, seed, place) for place, (o, seed) in enumerate(zip(outputs, seeds))]
    for place, (output, checked) in enumerate(zip(outputs, checked_seeds)):
        edge = output.edge
        if edge is None:
            raise error(
                "RuntimeError",
                f"element {place} of tensors does not require grad and does not have a grad_fn",
            )
        roots.append((edge, checked))
    return roots


def _seed(output: Tensor, seed: Tensor | None, place: int) -> Tensor:
    """The gradient of an output: `seed`, or 1 if it is None and the output has one element."""
    if seed is not None:
        if seed.shape != output.shape:
            raise error(
                "RuntimeError",
                f"Mismatch in shape: grad_output[{place}] has a shape of {size(seed.shape)} and "
                f"output[{place}] has a shape of {size(output.shape)}.",
            )
        return seed if seed.dtype is output.dtype else cast(seed, output.dtype)
    if output.requires_grad and output.numel != 1:
        raise error("RuntimeError", "grad can be implicitly created only for scalar outputs")
    if output.requires_grad and not output.dtype.is_floating:
        raise error(
            "RuntimeError",
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype!r}",
        )
    return Tensor(np.ones_like(output.data), output.dtype)


def go_back(
    m: Machine,
    roots: Sequence[tuple[Edge, Tensor]],
    *,
    keep: bool,
    create_graph: bool,
    wanted: Sequence[Edge] | None = None,
    accumulate: bool = True,
) -> Mapping[Edge, Tensor | None]:
    """Run a backward pass; returns the gradients of the `wanted` edges."""
    now = Pass(m, roots, keep=keep, create_graph=create_graph, wanted=wanted, accumulate=accumulate)
    before = MODE.accumulates, MODE.running
    MODE.accumulates, MODE.running = wanted is None, now
    try:
        now.run()
    finally:
        MODE.accumulates, MODE.running = before
    return now.captured
