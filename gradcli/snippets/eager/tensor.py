"""Tensors, and the graph of autograd: what was recorded of making them.

A tensor is numbers in memory that views share, a version, and its place in the graph. `data` is a
NumPy array; views of a tensor are views of its array, so a change in place is seen by all of them,
as in PyTorch. This file knows nothing of single operations: a record brings the function that sends
gradients back.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...graphs import Operator
from ..python.values import Class, Machine, Object, Unsupported, error
from .dtypes import BFLOAT16, DType, of_array, rounded
from .mode import MODE, recording


class TensorClass(Class):
    """The class of tensors. What is not among its members yet, `find` makes: a method for an
    operator; the library sets it.
    """

    __slots__ = ("find",)
    find: Callable[[str], Any]

    def own(self, name: str) -> Any:
        """The member of this name, or MISSING."""
        if name not in self.members:
            self.members[name] = self.find(name)
        return self.members[name]


TENSOR = TensorClass("Tensor", module="torch")
DUAL = TensorClass("Tensor", (TENSOR,), module="torch")  # of dual tensors
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
INFERENCE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)


class Version:
    """How often the numbers of a tensor, and of those that share its memory, were changed, and
    the lines of the text that did it. A change through `.data`, whose version is `beside` this one,
    is `unseen`.
    """

    __slots__ = ("beside", "lines", "number", "unseen")

    def __init__(self, beside: "Version | None" = None) -> None:
        self.number = self.unseen = 0
        self.lines: list[int] = []
        self.beside = beside


class ViewOf(NamedTuple):
    """What a differentiable view knows: the tensor that has its memory, and how it was made.

    `creation` is "" for a view that may be changed in place; otherwise why not: "multi" (one of
    several that one operation gave), "no_grad", "inference", "custom" (made in a Function).
    `regenerate` gives a view another record after its memory has changed.
    """

    base: "Tensor"
    creation: str
    regenerate: "Callable[[Tensor], None]"


LARGE = 50_000  # bytes from which on the memory of a tensor is counted


class Origin(NamedTuple):
    """What made a mask or integers, which have no record: a call of an operator; `depth` is
    the length of the longest chain of such tensors that leads to it.
    """

    op: Operator
    operands: Sequence[Any]
    attrs: dict[str, Any]
    depth: int


class Edge(NamedTuple):
    """Where a gradient goes: which output of which record."""

    record: "Record | Accumulator"
    output: int


class Tensor(Object):
    """A tensor of a program."""

    __slots__ = (
        "_record",
        "_required",
        "accumulator",
        "cls",
        "data",
        "dtype",
        "fields",
        "grad",
        "hooks",
        "inference",
        "level",
        "line",
        "origin",
        "output",
        "recorded_version",
        "retains_grad",
        "version",
        "view",
    )

    def __init__(self, data: Any, dtype: DType | None = None, *, requires_grad: bool = False):
        """A leaf with this array; its numbers are those of `dtype`."""
        self.cls: Class = TENSOR
        self.data = data
        if data is not None and data.nbytes > LARGE:
            MODE.spend(0, data.nbytes)
        self.dtype = dtype or of_array(data)
        if dtype is BFLOAT16 and data is not None:
            self.data = rounded(data, dtype)
        self._required = requires_grad
        self.grad: Tensor | None = None
        self._record: Record | None = None
        self.output = 0
        self.version = Version()
        self.recorded_version = 0  # of its memory, when its record was made
        self.view: ViewOf | None = None
        self.hooks: list[Any] = []
        self.retains_grad = False
        self.accumulator: Accumulator | None = None
        self.inference = MODE.inference
        self.level = len(MODE.transforms)  # of torch.func around what made it
        self.fields: dict[str, Any] = {}
        self.line: int | None = None  # of the text that made it
        self.origin: Origin | None = None

    # ---- sizes -----------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.data.ndim

    @property
    def numel(self) -> int:
        """Number of elements."""
        return self.data.size

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements; of a size 1 that NumPy has none for, as if it were laid out."""
        strides = [s // self.data.itemsize for s in self.data.strides]
        if 0 in strides:
            after = 1
            for d in reversed(range(self.ndim)):
                if self.shape[d] == 1 and not strides[d]:
                    strides[d] = after
                after = self.shape[d] * strides[d]
        return tuple(strides)

    # ---- autograd --------------------------------------------------------------------------------

    @property
    def record(self) -> "Record | None":
        """What autograd recorded of its making; made anew where its memory has changed since."""
        stale = self.view is not None and self.version.number != self.recorded_version
        if stale and self.view is not None and self.view.base.requires_grad:
            self.view.regenerate(self)
        return self._record

    def set_record(self, record: "Record | None", output: int = 0) -> None:
        """Its record from now on, and which of the record's outputs it is."""
        self._record, self.output = record, output
        self.recorded_version = self.version.number

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient flows back to it; of a view without a record, whether one does to its
        base, as PyTorch says it.
        """
        if self._required or self._record is not None:
            return True
        return self.view is not None and self.view.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._required = value

    @property
    def is_leaf(self) -> bool:
        """Whether nothing was recorded of its making."""
        return self.record is None

    @property
    def edge(self) -> Edge | None:
        """Where its gradient goes; None where it has none."""
        record = self.record
        if record is not None:
            return Edge(record, self.output)
        if not self._required:
            return None
        if self.accumulator is None or self.accumulator.metas[0].dtype is not self.dtype:
            self.accumulator = Accumulator(self)
        if self.accumulator.metas[0].shape != self.shape:  # where a graph still has it, an error
            return Edge(UnknownAccumulator(self), 0)
        return Edge(self.accumulator, 0)

    def write(self, numbers: Any, place: Any = ...) -> None:
        """Write over its numbers, or those at a place."""
        self.data[place] = rounded(numbers, self.dtype)

    def changed(self) -> None:
        """Count a change of its numbers; refuse one that inference mode is needed for."""
        if self.inference and not MODE.inference and "counts_changes" not in self.fields:
            raise error("RuntimeError", INFERENCE)
        self.version.number += 1
        self.version.lines.append(MODE.place())
        if self.version.beside is not None:
            self.version.beside.unseen += 1


# ---- the graph of autograd ---------------------------------------------------------------------


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
        "fused_with",
        "guards",
        "hooks",
        "line",
        "metas",
        "name",
        "pre_hooks",
        "retained",
        "saved",
        "saves_intermediate",
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
        self.fused_with: list[Record] = []  # in PyTorch they are one operation, itself included
        self.freed = self.saves_intermediate = False
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
        if self.saves_intermediate or self.guards or any(s.in_pytorch for s in self.saved):
            self.freed, self.freed_line = True, MODE.place()

    def check_not_freed(self) -> None:
        """Refuse to go back again through what let go of what it kept."""
        if self.freed:
            MODE.refused = self, None
            raise error("RuntimeError", FREED)

    def unpack(self) -> list[Tensor]:
        """All that was kept, in its order."""
        self.check_not_freed()
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


# ---- tensors without numbers of their own -------------------------------------------------------


class Numberless(Tensor):
    """A tensor of which a shape and a dtype are known, and whose numbers nothing may read."""

    __slots__ = ("sizes",)
    reason = ""

    def __init__(self, like: Tensor):
        super().__init__(None, like.dtype)
        self.sizes = like.shape
        self.set_record(like.record, like.output)

    @property
    def data(self) -> Any:
        """There is none."""
        raise Unsupported(self.reason)

    @data.setter
    def data(self, value: Any) -> None:
        pass

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return self.sizes

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.sizes)

    @property
    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self.sizes)


class MetaTensor(Numberless):
    """A tensor of the device meta: there are no numbers."""

    __slots__ = ()
    reason = "a tensor of the device meta"


class DualTensor(Numberless):
    """A tensor with a tangent, in the level of forward mode that it is made in; afterwards it is
    its primal. Operators compute with it (forward.applied); what reads its numbers otherwise, and
    would lose the tangent, is refused.
    """

    __slots__ = ("of_level", "primal", "tangent")
    reason = "this operation on dual tensors"

    def __init__(self, primal: Tensor, tangent: Tensor):
        super().__init__(primal)
        self.cls = DUAL
        self.primal, self.tangent, self.of_level = primal, tangent, MODE.dual_level
        self.requires_grad = primal.requires_grad and primal.record is None

    @property
    def lives(self) -> bool:
        """Whether its level has not ended."""
        return self.of_level == MODE.dual_level

    @property
    def data(self) -> Any:
        """The numbers of its primal, once the level has ended."""
        if self.lives:
            raise Unsupported(self.reason)
        return self.primal.data

    @data.setter
    def data(self, value: Any) -> None:
        pass


def scalar(value: Any) -> Any:
    """A tensor that stands for a number as that number: one of no dimension that needs no gradient.
    Any other value is returned as it is.
    """
    stands = isinstance(value, Tensor) and not value.ndim and not value.requires_grad
    return value.data.item() if stands else value


def tensors_in(values: Sequence[Any]) -> list[Tensor]:
    """The tensors among values, and within their lists and tuples."""
    result: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            result.append(value)
        elif isinstance(value, list | tuple):
            result += tensors_in(value)
        elif isinstance(value, dict):
            result += tensors_in(list(value.values()))
    return result
