"""A tensor: numbers in memory that views share, a version, and its place in the graph of autograd.

Knows nothing of operations. `data` is a NumPy array; views of a tensor are views of its array, so a
change in place is seen by all of them, as in PyTorch.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..python.values import Class, Object, Unsupported, error
from .dtypes import BFLOAT16, DType, of_array, rounded
from .mode import MODE

if TYPE_CHECKING:
    from ...graphs import Operator
    from .engine import Accumulator, Record


class TensorClass(Class):
    """The class of tensors, whose methods are operators where nothing else is said."""

    __slots__ = ()

    def own(self, name: str) -> Any:
        """The member of this name, or MISSING."""
        if name not in self.members:
            from .members import method_of

            self.members[name] = method_of(name)
        return self.members[name]


TENSOR = TensorClass("Tensor", module="torch")


class DualClass(Class):
    """The class of dual tensors, which programs take for that of tensors."""

    __slots__ = ()

    def own(self, name: str) -> Any:
        """The member of this name, or MISSING."""
        if name not in self.members:
            from .duals import member_of_duals

            self.members[name] = member_of_duals(name)
        return self.members[name]


DUAL = DualClass("Tensor", (TENSOR,), module="torch")
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
    """

    base: "Tensor"
    creation: str


LARGE = 50_000  # bytes from which on the memory of a tensor is counted


class Origin(NamedTuple):
    """What made a mask or whole numbers, which have no record: a call of an operator; `depth` is
    the length of the longest chain of such tensors that leads to it.
    """

    op: "Operator"
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
            from .views import check_view, regenerated, retain_again

            check_view(self, directly=False)
            before = self._record
            self.set_record(regenerated(self, self.view.base))
            retain_again(self, before)
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
            from .engine import Accumulator

            self.accumulator = Accumulator(self)
        if self.accumulator.metas[0].shape != self.shape:  # where a graph still has it, an error
            from .engine import UnknownAccumulator

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
