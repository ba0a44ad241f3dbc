"""Records that stand for no operator, and what is done with records as they are.

The records of operators are made in `apply`, those of views that were changed in `views`.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Any

from ...lazy import np
from ..python.values import Machine, Unsupported, error
from .grad_names import OURS
from .mode import MODE
from .tensor import Accumulator, Gradients, Meta, Record, Tensor, record_class

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


def shown(record: Any) -> str:
    """The name of a record, which a program shows."""
    if record.name in OURS:
        raise Unsupported("the name of the record of this gradient")
    return record.name


def rename(tensor: Tensor, name: str) -> None:
    """Give a tensor's record, where it has one, another name."""
    record = tensor.record
    if record is not None:
        record.name, record.cls = name, record_class(name)


def detached(tensor: Tensor) -> Tensor:
    """The same memory, cut off from the graph."""
    output = Tensor(tensor.data, tensor.dtype)
    output.version, output.level = tensor.version, tensor.level
    output.inference = tensor.inference
    return output


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


class Underived:
    """Where PyTorch has no backward: the message that going back raises."""

    places: tuple[int, ...] = ()

    def __init__(self, message: str):
        self.message = message

    @property
    def name(self) -> str | None:
        """The name of its record, where that is not the operator's."""
        return "NotImplemented" if self.message.startswith("derivative for aten") else None

    def __call__(self, m: Machine, record: Record, grads: Gradients) -> Gradients:
        """Raise the message."""
        raise error(UNDERIVED.get(self.message.split()[0], "RuntimeError"), self.message)


UNDERIVED = {"the": "NotImplementedError"}  # "the derivative for 'zeta' is not implemented."
QR = {
    "r": "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
    "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.",
    "complete": "The QR decomposition is not differentiable when mode='complete' and nrows > "
    "ncols.",
}


def underived(
    message: str, name: str | None, inputs: Sequence[Any], output: Tensor, line: int | None
) -> None:
    """Give a tensor a record whose backward raises a message."""
    back = Underived(message)
    edges = [i.edge if isinstance(i, Tensor) else None for i in inputs]
    metas = [Meta(output.shape, output.dtype)]
    output.set_record(Record(back.name or name or "", edges, metas, back, (), line))
