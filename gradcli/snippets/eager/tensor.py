"""Tensors, and autograd's graph of the operations that computed them.

A tensor has a NumPy array, a version counter, which counts in-place changes, and a grad_fn. Views
share memory with their base, so an in-place change is visible in all of them. This module knows no
operations: each node of the graph (`Record`, a grad_fn) has its own backward function.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...graphs import Operator
from ..python.values import Class, Machine, Object, Unsupported, error
from .dtypes import BFLOAT16, DType, of_array, rounded
from .mode import MODE, recording


class TensorClass(Class):
    """The class of tensors. Its members, such as the methods of operators, are created on first use
    by `find`, which library/pytorch.py sets.
    """

    __slots__ = ("find",)
    find: Callable[[str], Any]

    def own(self, name: str) -> Any:
        """The member `name`; MISSING if tensors have none of this name."""
        if name not in self.members:
            self.members[name] = self.find(name)
        return self.members[name]


TENSOR = TensorClass("Tensor", module="torch")
DUAL = TensorClass("Tensor", (TENSOR,), module="torch")  # the class of dual tensors
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
}  # name of a grad_fn -> its name in messages
INFERENCE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)


class Version:
    """The version counter of tensors that share memory.

    `number` counts their in-place changes; `lines` has the program's lines that made them. The
    tensor that `x.data` returns has a counter of its own, whose `beside` is the counter of x; its
    changes are counted there in `unseen`.
    """

    __slots__ = ("beside", "lines", "number", "unseen")

    def __init__(self, beside: "Version | None" = None) -> None:
        self.number = self.unseen = 0
        self.lines: list[int] = []
        self.beside = beside


class ViewOf(NamedTuple):
    """How a differentiable view was made, and its base.

    `creation` is "" if the view may be changed in place; otherwise the reason why not: "multi" (one
    of several outputs of an operation), "no_grad", "inference", "custom" (made in an autograd
    Function). `regenerate` sets a new grad_fn after a change of the memory.
    """

    base: "Tensor"
    creation: str
    regenerate: "Callable[[Tensor], None]"


LARGE = 50_000  # bytes; larger tensors count against the memory budget


class Origin(NamedTuple):
    """The call that computed a tensor without grad_fn, such as a mask or an integer tensor. `depth`
    is the length of the longest chain of such calls that leads to it.
    """

    op: Operator
    operands: Sequence[Any]
    attrs: dict[str, Any]
    depth: int


class Composed(NamedTuple):
    """A call that PyTorch computes by several operations, with the edges of its operands."""

    function: str
    operands: Sequence[Any]
    edges: Sequence[Any]


class Edge(NamedTuple):
    """An edge of the graph, along which a gradient is sent: a node and the index of its output."""

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
        """A leaf with this array; for bfloat16, a float32 array, which is rounded."""
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
        self.recorded_version = 0  # the version when grad_fn was set
        self.view: ViewOf | None = None
        self.hooks: list[Any] = []
        self.retains_grad = False
        self.accumulator: Accumulator | None = None
        self.inference = MODE.inference
        self.level = len(MODE.transforms)  # the number of torch.func transforms around its creation
        self.fields: dict[str, Any] = {}
        self.line: int | None = None  # the line of the program that made it
        self.origin: Origin | None = None

    # ---- sizes -----------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all dimensions."""
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
        """Strides in elements. Where NumPy has stride 0 for a dimension of size 1, the stride of a
        contiguous tensor.
        """
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
        """The grad_fn. That of a view is regenerated if the memory was changed after it was set."""
        stale = self.view is not None and self.version.number != self.recorded_version
        if stale and self.view is not None and self.view.base.requires_grad:
            self.view.regenerate(self)
        return self._record

    def set_record(self, record: "Record | None", output: int = 0) -> None:
        """Set the grad_fn, and the number of its output that this tensor is."""
        self._record, self.output = record, output
        self.recorded_version = self.version.number

    @property
    def requires_grad(self) -> bool:
        """Whether the tensor, or the base of which it is a view, requires a gradient."""
        if self._required or self._record is not None:
            return True
        return self.view is not None and self.view.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._required = value

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor has no grad_fn."""
        return self.record is None

    @property
    def edge(self) -> Edge | None:
        """The edge along which the tensor's gradient is sent; None if it requires no gradient."""
        record = self.record
        if record is not None:
            return Edge(record, self.output)
        if not self._required:
            return None
        if self.accumulator is None or self.accumulator.metas[0].dtype is not self.dtype:
            self.accumulator = Accumulator(self)
        if self.accumulator.metas[0].shape != self.shape:  # .data was replaced
            return Edge(UnknownAccumulator(self), 0)
        return Edge(self.accumulator, 0)

    def write(self, numbers: Any, place: Any = ...) -> None:
        """Assign elements, or those at the index `place`, without counting a change."""
        self.data[place] = rounded(numbers, self.dtype)

    def changed(self) -> None:
        """Increment the version counter. Refuses inference tensors outside inference mode."""
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
    """The shape and dtype that the gradient of an output must have."""

    shape: tuple[int, ...]
    dtype: DType


class Elements(NamedTuple):
    """A note on an operation whose outputs are elements of its input: flat indices for each."""

    at: tuple[Any, ...]


class Copied(NamedTuple):
    """A note on an operation that overwrites its first input with its second: `value`."""

    value: Any


class Overwritten(NamedTuple):
    """A note on an in-place operation on a part of a tensor: the elements of the first input at the
    flat indices `at` were replaced by the result of `call` on them and the other inputs. `tensor`
    shares the memory of that part.
    """

    tensor: Tensor
    at: Any
    call: Any


class Saved:
    """A tensor saved for the backward pass, with its version at that time."""

    __slots__ = (
        *("hooks", "in_pytorch", "output", "owned", "packed", "record", "tensor", "unseen"),
        *("version", "viewed_as"),
    )

    def __init__(self, tensor: Tensor, own_record: "Record | None" = None):
        """`own_record` is the grad_fn that saves the tensor, if the tensor is its output."""
        if tensor.inference and own_record is None:
            raise error("RuntimeError", INFERENCE_SAVED)
        self.tensor, self.owned = tensor, own_record is not None
        self.in_pytorch = True  # whether PyTorch saves this tensor
        self.viewed_as: tuple[int, ...] | None = None  # the shape of the view that PyTorch saves
        self.record = own_record or tensor.record
        self.output = 0 if own_record else tensor.output
        self.version, self.unseen = tensor.version.number, tensor.version.unseen
        self.hooks = MODE.saved_hooks[-1] if MODE.saved_hooks else None

    @property
    def changed_unseen(self) -> bool:
        """Whether the tensor was changed through `.data`, which its version does not count."""
        return self.tensor.version.unseen != self.unseen

    def pack(self) -> "Saved":
        """Apply the program's pack hook (saved_tensors_hooks), if there is one. Returns `self`."""
        if self.hooks is not None:
            m, pack, _ = self.hooks
            with recording(False):
                self.packed = m.call(pack, [self.tensor])
        return self

    def _unpacked(self) -> Tensor:
        """The tensor that the program's unpack hook returns."""
        assert self.hooks is not None
        m, _, unpack = self.hooks
        with recording(False):
            tensor = m.call(unpack, [self.packed])
        if not isinstance(tensor, Tensor):
            text = "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
            raise error("TypeError", f"{text}type {m.class_of(tensor).name}")
        return tensor

    def unpack(self, for_record: "Record") -> Tensor:
        """The saved tensor. Raises the program's RuntimeError if it was changed in place."""
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
            label, output = "AsStrided", 0  # the change gave the view this grad_fn
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
    """A node of autograd's graph: the grad_fn of the outputs of one operation.

    `edges` has an edge or None for each input. `metas` describe the outputs. `backward(m, record,
    grads)` returns the gradients of the inputs for those of the outputs; `m` is the interpreter.
    `call` is how the outputs were computed: (node, operands, output), or Elements, Copied or
    Overwritten; None if not known. `composed` is the call of which this is the last of several
    operations, or None.
    """

    __slots__ = (
        "backward",
        "call",
        "cls",
        "composed",
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
        self.composed: Composed | None = None
        # tensors that PyTorch saves, but on which `backward` does not depend
        self.guards: list[Saved] = []
        self.fused_with: list[Record] = []  # nodes that are one node in PyTorch
        self.freed = self.saves_intermediate = False
        self.freed_line = 0
        self.hooks: list[Any] = []
        self.pre_hooks: list[Any] = []
        self.tensor_hooks: dict[int, list[Any]] = {}  # by output
        self.retained: dict[int, Tensor] = {}  # outputs with retain_grad()
        self.fields: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """The name in error messages, without Backward0: "Mul" for MulBackward0."""
        start, _, number = self.name.rpartition("Backward")
        return LABELS.get(self.name) or start + number.removesuffix("0") or self.name

    def release(self) -> None:
        """Free the saved tensors."""
        if self.saves_intermediate or self.guards or any(s.in_pytorch for s in self.saved):
            self.freed, self.freed_line = True, MODE.place()

    def check_not_freed(self) -> None:
        """Raise PyTorch's error if the saved tensors were freed by an earlier backward pass."""
        if self.freed:
            MODE.refused = self, None
            raise error("RuntimeError", FREED)

    def unpack(self) -> list[Tensor]:
        """All saved tensors, in order."""
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
    """The class of the nodes with this name."""
    if name not in _classes:
        _classes[name] = Class(name, (RECORD,))
    return _classes[name]


def function_class(name: str) -> Class:
    """The class of the nodes of a custom autograd Function."""
    key = f"torch.autograd.function.{name}"
    if key not in _classes:
        _classes[key] = Class(name, (FUNCTION_RECORD,), module="torch.autograd.function")
    return _classes[key]


class Accumulator(Object):
    """AccumulateGrad: the node at which gradients of a leaf arrive, to be added to its .grad."""

    __slots__ = ("cls", "fields", "hooks", "metas", "pre_hooks", "tensor")
    name = "torch::autograd::AccumulateGrad"

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        self.metas = [Meta(tensor.shape, tensor.dtype)]  # .data may be replaced later
        self.cls = record_class("AccumulateGrad")
        self.fields: dict[str, Any] = {}
        self.hooks: list[Any] = []
        self.pre_hooks: list[Any] = []

    @property
    def edges(self) -> list[Edge | None]:
        """A leaf has no inputs."""
        return []

    @property
    def sequence(self) -> int:
        """A large number: of the nodes that are ready, leaves run first."""
        return (1 << 64) - 1


class UnknownAccumulator(Accumulator):
    """The AccumulateGrad of a leaf whose `.data` was replaced by a tensor of another shape. PyTorch
    uses the former AccumulateGrad if a graph still refers to it; whether one does is not known
    here.
    """

    __slots__ = ()

    @property
    def metas(self) -> list[Meta]:
        """Raises Unsupported, so that gradients that arrive are refused."""
        raise Unsupported("backward to a leaf whose .data got another shape after the forward pass")

    @metas.setter
    def metas(self, value: list[Meta]) -> None:
        pass


# ---- tensors without elements --------------------------------------------------------------------


class Numberless(Tensor):
    """A tensor of known shape and dtype whose elements must not be read."""

    __slots__ = ("sizes",)
    reason = ""

    def __init__(self, like: Tensor):
        super().__init__(None, like.dtype)
        self.sizes = like.shape
        self.set_record(like.record, like.output)

    @property
    def data(self) -> Any:
        """Raises Unsupported, as there are no elements."""
        raise Unsupported(self.reason)

    @data.setter
    def data(self, value: Any) -> None:
        pass

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all dimensions."""
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
    """A tensor on the meta device, which has no elements."""

    __slots__ = ()
    reason = "a tensor on the device meta"


class DualTensor(Numberless):
    """A tensor with a tangent, for forward-mode AD.

    It is dual in the level (dual_level()) in which it was made; afterwards it acts as its primal.
    Operators compute its JVP (forward.applied); functions that would read the elements, and so lose
    the tangent, raise Unsupported.
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
        """Whether the level in which the tensor was made is still active."""
        return self.of_level == MODE.dual_level

    @property
    def data(self) -> Any:
        """The elements of the primal, once the level has ended. Raises Unsupported before that."""
        if self.lives:
            raise Unsupported(self.reason)
        return self.primal.data

    @data.setter
    def data(self, value: Any) -> None:
        pass


def scalar(value: Any) -> Any:
    """The number in a 0-dim tensor that requires no gradient; other values unchanged."""
    is_number = isinstance(value, Tensor) and not value.ndim and not value.requires_grad
    return value.data.item() if is_number else value


def tensors_in(values: Sequence[Any]) -> list[Tensor]:
    """The tensors among `values`, also those in lists, tuples and dicts."""
    result: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            result.append(value)
        elif isinstance(value, list | tuple):
            result += tensors_in(value)
        elif isinstance(value, dict):
            result += tensors_in(list(value.values()))
    return result
