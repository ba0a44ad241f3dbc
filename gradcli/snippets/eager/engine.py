"""Autograd: what was recorded of each operation, and the backward pass through it.

Goes back as PyTorch's engine does: a record is run when all that needs it has been, the latest
first; what arrives from several sides is added in that order. Knows nothing of single operations: a
record brings the function that sends gradients back.
"""

import heapq
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from ...lazy import np
from ..python.values import Class, Machine, Object, Unsupported, error
from .dtypes import DType
from .mode import MODE, recording
from .tensor import Edge, MetaTensor, Tensor

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)
CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [{type} {sizes}]{origin} is at version {now}; expected version {then} instead. "
    "Hint: {hint}"
)
ENABLE_ANOMALY = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)
IN_ANOMALY = (
    "the backtrace further above shows the operation that failed to compute its gradient. The "
    "variable in question was changed in there or anywhere later. Good luck!"
)

LABELS = {
    name: f"torch::autograd::{name}" for name in ("CopySlices", "CopyBackwards", "NotImplemented")
}  # of records, in messages
Gradients = list[Tensor | None]
Backward = Callable[[Machine, "Record", Gradients], Sequence[Tensor | None]]


class Meta(NamedTuple):
    """What the gradient of an output has to be like."""

    shape: tuple[int, ...]
    dtype: DType


class Elements(NamedTuple):
    """How outputs come from the only input: they are its elements at these places, counted in
    order; an array of places for each output.
    """

    at: tuple[Any, ...]


class Copied(NamedTuple):
    """How an output comes from inputs: the second in the place of the first."""

    value: Any


class Overwritten(NamedTuple):
    """How an output comes from inputs: the first, its elements at these places, counted in order,
    replaced by what `call` makes of them and of the other inputs; `tensor` has the memory.
    """

    tensor: Tensor
    at: Any
    call: Any


class Saved:
    """A tensor that an operation keeps for the backward pass, and the version that it had."""

    __slots__ = (
        *("hooks", "in_pytorch", "output", "owned", "packed", "record", "tensor", "unseen"),
        *("version", "viewed_as"),
    )

    def __init__(self, tensor: Tensor, own_record: "Record | None" = None):
        """`own_record` is the record that keeps it, where it is an output of that."""
        if tensor.inference and own_record is None:
            raise error("RuntimeError", INFERENCE_SAVED)
        self.tensor, self.owned = tensor, own_record is not None
        self.in_pytorch = True  # PyTorch keeps it, too
        self.viewed_as: tuple[int, ...] | None = None  # the shape of the view that PyTorch keeps
        self.record = own_record or tensor.record
        self.output = 0 if own_record else tensor.output
        self.version, self.unseen = tensor.version.number, tensor.version.unseen
        self.hooks = MODE.saved_hooks[-1] if MODE.saved_hooks else None

    @property
    def changed_unseen(self) -> bool:
        """Whether its numbers were changed through `.data`, which the backward pass never sees."""
        return self.tensor.version.unseen != self.unseen

    def pack(self) -> "Saved":
        """Itself, after the hook that the program has for what is kept."""
        if self.hooks is not None:
            m, pack, _ = self.hooks
            with recording(False):
                self.packed = m.call(pack, [self.tensor])
        return self

    def _unpacked(self) -> Tensor:
        """What the program's hook makes of what was packed."""
        assert self.hooks is not None
        m, _, unpack = self.hooks
        with recording(False):
            tensor = m.call(unpack, [self.packed])
        if not isinstance(tensor, Tensor):
            text = "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
            raise error("TypeError", f"{text}type {m.class_of(tensor).name}")
        return tensor

    def unpack(self, for_record: "Record") -> Tensor:
        """The tensor as it was. Raises the program's RuntimeError where it was changed."""
        tensor, now = self.tensor, self.tensor.version.number
        if self.hooks is not None:
            tensor = self._unpacked()
        elif now != self.version:
            MODE.refused = for_record, self
            raise error("RuntimeError", self._changed(now))
        if self.record is None:
            return tensor
        handle = Tensor(tensor.data, tensor.dtype)
        handle.version = tensor.version
        handle.set_record(self.record, self.output)
        return handle

    def _changed(self, now: int) -> str:
        tensor = self.tensor
        maker = self.record if self.owned else tensor.record or self.record
        label, output = (maker.label if maker else ""), self.output
        if self.viewed_as is not None and tensor.requires_grad:
            label, output = "AsStrided", 0  # a view, made anew after the change
        origin = f", which is output {output} of {label}," if label else ""
        return CHANGED.format(
            type=tensor.dtype.type_name,
            sizes=list(tensor.shape if self.viewed_as is None else self.viewed_as),
            origin=origin,
            now=now,
            then=self.version,
            hint=IN_ANOMALY if MODE.anomaly else ENABLE_ANOMALY,
        )


class Record(Object):
    """What was recorded of one operation: PyTorch's grad_fn.

    `edges` has for each input where its gradient goes, or None; `metas` is what its outputs are
    like; `backward(m, record, grads)` gives from the gradients of the outputs those of the inputs.
    `call` says how the outputs come from the inputs: a node with its operands and its output, or
    Elements, Copied, Overwritten; None where that is not known.
    """

    __slots__ = (
        "backward",
        "call",
        "cls",
        "edges",
        "fields",
        "freed",
        "freed_line",
        "guards",
        "hooks",
        "keeps_numbers",
        "line",
        "metas",
        "name",
        "pre_hooks",
        "retained",
        "saved",
        "sequence",
        "tensor_hooks",
    )

    def __init__(
        self,
        name: str,
        edges: Sequence[Edge | None],
        metas: Sequence[Meta],
        backward: Backward,
        saved: Sequence[Saved] = (),
        line: int | None = None,
        call: Any = None,
    ):
        self.name, self.edges, self.metas, self.backward = name, list(edges), list(metas), backward
        self.saved, self.call = list(saved), call
        self.line = MODE.place() if line is None else line
        self.cls: Class = record_class(name)
        self.sequence = next(MODE.sequence)
        # tensors that PyTorch keeps, and that the backward pass here does not read
        self.guards: list[Saved] = []
        self.freed = self.keeps_numbers = False
        self.freed_line = 0
        self.hooks: list[Any] = []
        self.pre_hooks: list[Any] = []
        self.tensor_hooks: dict[int, list[Any]] = {}  # by output
        self.retained: dict[int, Tensor] = {}  # outputs whose gradient is kept, by place
        self.fields: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """What messages call it: without Backward0."""
        start, _, number = self.name.rpartition("Backward")
        return LABELS.get(self.name) or start + number.removesuffix("0") or self.name

    def release(self) -> None:
        """Let go of what was kept for the backward pass."""
        if self.keeps_numbers or any(s.in_pytorch for s in self.saved):
            self.freed, self.freed_line = True, MODE.place()

    def check_kept(self) -> None:
        """Refuse to go back again through what let go of what it kept."""
        if self.freed:
            MODE.refused = self, None
            raise error("RuntimeError", FREED)

    def unpack(self) -> list[Tensor]:
        """All that was kept, in its order."""
        self.check_kept()
        for saved in self.guards:
            saved.unpack(self)
        return [saved.unpack(self) for saved in self.saved]

    def __repr__(self) -> str:
        return f"<{self.name} object at {id(self):#x}>"


_classes: dict[str, Class] = {}
RECORD = Class("Node", module="torch.autograd.graph")
FUNCTION_RECORD = Class("BackwardCFunction", (RECORD,), module="torch.autograd.function")


def record_class(name: str) -> Class:
    """The class of the records of this name."""
    if name not in _classes:
        _classes[name] = Class(name, (RECORD,))
    return _classes[name]


def function_class(name: str) -> Class:
    """The class of the records of a custom Function."""
    key = f"torch.autograd.function.{name}"
    if key not in _classes:
        _classes[key] = Class(name, (FUNCTION_RECORD,), module="torch.autograd.function")
    return _classes[key]


def shown(record: Any) -> str:
    """The name of a record, which a program shows."""
    from .grad_names import OURS

    if record.name in OURS:
        raise Unsupported("the name of the record of this gradient")
    return record.name


def rename(tensor: Tensor, name: str) -> None:
    """Give a tensor's record, where it has one, another name."""
    record = tensor.record
    if record is not None:
        record.name, record.cls = name, record_class(name)


class Accumulator(Object):
    """Where gradients of a leaf arrive and are added to its .grad."""

    __slots__ = ("cls", "fields", "hooks", "metas", "pre_hooks", "tensor")
    name = "torch::autograd::AccumulateGrad"

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        self.metas = [Meta(tensor.shape, tensor.dtype)]  # as they are now: .data may be replaced
        self.cls = record_class("AccumulateGrad")
        self.fields: dict[str, Any] = {}
        self.hooks: list[Any] = []
        self.pre_hooks: list[Any] = []

    @property
    def edges(self) -> list[Edge | None]:
        """Nothing is before a leaf."""
        return []

    @property
    def sequence(self) -> int:
        """A leaf comes before everything else that is ready."""
        return (1 << 64) - 1


class UnknownAccumulator(Accumulator):
    """That of a leaf whose `.data` got another shape after it was computed with. PyTorch keeps the
    one for the former shape while a graph has it, which is not known here.
    """

    __slots__ = ()

    @property
    def metas(self) -> list[Meta]:
        """What arrives there is refused."""
        raise Unsupported("a leaf whose .data got another shape after it was computed with")

    @metas.setter
    def metas(self, value: list[Meta]) -> None:
        pass


Target = Record | Accumulator


def inputs_first(roots: Iterable[Target], cut: Container[Target] = ()) -> list[Target]:
    """The records that lead to some, those nearest to the leaves first; nothing before what is
    `cut`.
    """
    order: list[Target] = []
    seen: set[Target] = set()
    stack = [(record, False) for record in [*roots][::-1]]
    while stack:
        record, done = stack.pop()
        if done:
            order.append(record)
        elif record not in seen:
            seen.add(record)
            stack.append((record, True))
            inner = [edge.record for edge in record.edges[::-1] if edge]
            stack += [(r, False) for r in inner if r not in seen and r not in cut]
    return order


LEAF_OF_GRAD = (
    "A leaf node was passed to _will_engine_execute_node but we are currently running "
    "autograd.grad(). This is currently not supported."
)


class Pass:
    """One backward pass: from outputs with their gradients to leaves, or to `wanted` tensors."""

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
        self.captured: dict[Edge, Tensor | None] = dict.fromkeys(wanted or ())
        self.buffers: dict[Target, Gradients] = {}
        self.waiting: dict[Target, int] = {}
        self.needed: set[Target] | None = None
        self.callbacks: list[Any] = []  # functions of the program to call at the end
        self.aims: set[Target] = set()  # records that are wanted, and run where .grad is added to
        self._prepare(wanted)

    def _prepare(self, wanted: Sequence[Edge] | None) -> None:
        """Count what each record waits for; with `wanted`, find which are on the way to it."""
        order = inputs_first(edge.record for edge, _ in self.roots)
        for record in order:
            for edge in record.edges:
                if edge:
                    self.waiting[edge.record] = self.waiting.get(edge.record, 0) + 1
        if wanted is not None:
            aims = {edge.record for edge in wanted}
            self.aims = aims if self.accumulate else set()
            self.needed = set()
            for record in order:  # what a record sends to comes before it
                if record in aims or any(e and e.record in self.needed for e in record.edges):
                    self.needed.add(record)

    def will_run(self, record: Target) -> bool:
        """Whether a record is on the way."""
        if isinstance(record, Accumulator) and not self.accumulate:
            raise error("RuntimeError", LEAF_OF_GRAD)
        if self.needed is not None:
            return record in self.needed
        return record in self.waiting or any(edge.record is record for edge, _ in self.roots)

    def run(self) -> None:
        """Go back."""
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
        for callback in self.callbacks:
            self.m.call(callback)

    def _run_one(self, record: Target) -> list[Edge]:
        """Run one record; the edges that it has now answered."""
        sent = [edge for edge in record.edges if edge]
        arrived = self.buffers.pop(record, [None] * len(record.metas))
        if self.needed is not None and record not in self.needed:
            if [edge.record for edge, _ in self.roots] == [record]:
                self._hooked(record, arrived)
            return sent
        grads = self._hooked(record, list(arrived))
        onwards = self.needed is None or any(e.record in self.needed for e in sent)
        runs = onwards or record in self.aims
        for edge in self.captured:  # before the hooks where the record runs, as in PyTorch
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
        return sent

    def _accumulate(self, record: Accumulator, grads: Gradients) -> None:
        """Add to a leaf's .grad, between the hooks of its record."""
        from .hooks import after_pre_hooks, after_record_hooks

        grads = after_pre_hooks(self.m, record, grads)
        accumulate(self.m, record.tensor, grads[0], self.create_graph)
        after_record_hooks(self.m, record, (), grads)

    def _hooked(self, record: Target, grads: Gradients) -> Gradients:
        """Gradients of outputs after the hooks of tensors; some are kept in .grad."""
        from .hooks import after_tensor_hooks

        return after_tensor_hooks(self.m, record, grads)

    def _sent_back(self, record: Record, grads: Gradients) -> list[Tensor | None]:
        from .hooks import after_record_hooks

        if record.pre_hooks:
            from .hooks import after_pre_hooks

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
        buffer = self.buffers.setdefault(edge.record, [None] * len(edge.record.metas))
        have = buffer[edge.output]
        if have is None:
            buffer[edge.output] = gradient
            return
        from .apply import call_operator

        with recording(self.create_graph):
            buffer[edge.output] = call_operator("add", have, gradient)


def fitted(gradient: Tensor, edge: Edge, place: int, record: Record) -> Tensor:
    """A gradient in the shape and dtype of what it is for, as PyTorch's engine checks it."""
    from .apply import call_operator, cast

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
    """Whether a tensor of `shape` can be broadcast to a shape."""
    return len(shape) <= len(to) and all(
        a in (1, b) for a, b in zip(reversed(shape), reversed(to), strict=False)
    )


def check_nan(record: Record, gradients: Sequence[Tensor | None]) -> None:
    """In anomaly mode, refuse nan in what a record sends back."""
    for place, gradient in enumerate(gradients):
        if gradient is not None and np.isnan(gradient.data).any():
            text = f"Function '{record.name}' returned nan values in its {place}th output."
            raise error("RuntimeError", text)


def accumulate(m: Machine, leaf: Tensor, gradient: Tensor | None, create_graph: bool) -> None:
    """Add a gradient to a leaf's .grad, if there is one, and call the hooks for that."""
    from .hooks import after_accumulation

    if not leaf.requires_grad:  # no longer
        return
    if gradient is not None:
        _add(leaf, gradient, create_graph)
    after_accumulation(m, leaf)


def _add(leaf: Tensor, gradient: Tensor, create_graph: bool) -> None:
    from .apply import call_operator

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


def copied(gradient: Tensor) -> Tensor:
    """A copy through which gradients flow, as one that is accumulated with its graph."""
    output = detached_copy(gradient)
    if gradient.requires_grad:
        edges = [None, gradient.edge]
        metas = [Meta(output.shape, output.dtype)]
        output.set_record(Record("CopyBackwards", edges, metas, lambda m, r, grads: [None, *grads]))
    return output


def detached_copy(tensor: Tensor) -> Tensor:
    """A leaf with its numbers."""
    return Tensor(np.array(tensor.data), tensor.dtype)


def zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of a tensor's shape and dtype."""
    return Tensor(np.zeros(tensor.shape, tensor.dtype.numpy), tensor.dtype)


def zero_record(name: str, sources: Sequence[Any], output: Tensor) -> Record:
    """The record of an operation that sends zeros back to its sources."""
    tensors = [s if isinstance(s, Tensor) else None for s in sources]
    shapes = [None if t is None else (t.shape, t.dtype) for t in tensors]

    def back(m: Machine, record: Record, grads: Gradients) -> Gradients:
        received = grads[0] is not None
        return [
            Tensor(np.zeros(s[0], s[1].numpy), s[1]) if s and e and received else None
            for s, e in zip(shapes, record.edges)
        ]

    edges = [None if t is None else t.edge for t in tensors]
    return Record(name, edges, [Meta(output.shape, output.dtype)], back)


def with_zeros(name: str, sources: Sequence[Any], output: Tensor) -> Tensor:
    """An output whose backward pass sends zeros, where one of its sources requires a gradient."""
    if MODE.recording and any(isinstance(s, Tensor) and s.requires_grad for s in sources):
        output.set_record(zero_record(name, sources, output))
    return output


def outputs_and_seeds(
    m: Machine, outputs: Sequence[Tensor], seeds: Sequence[Tensor | None], batched: bool = False
) -> list[tuple[Edge, Tensor]]:
    """Where the backward pass begins, with the gradients given or 1; PyTorch's errors otherwise."""
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
    """The gradient of an output: the one given, or 1 for a single number."""
    from .apply import cast
    from .printing import size

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
    """Run the backward pass; the gradients of what is `wanted`."""
    now = Pass(m, roots, keep=keep, create_graph=create_graph, wanted=wanted, accumulate=accumulate)
    before = MODE.accumulates, MODE.running
    MODE.accumulates, MODE.running = wanted is None, now
    try:
        now.run()
    finally:
        MODE.accumulates, MODE.running = before
    return now.captured
