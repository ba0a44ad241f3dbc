"""Grad_fns (class Record) that belong to no operator, and functions on grad_fns of all kinds.

The module `apply` makes the grad_fns of operators, `views` those of views that were changed in
place.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from operator import attrgetter
from typing import Any

from ...lazy import np
from ..python.values import Machine, Unsupported, error
from .grad_names import OURS
from .mode import MODE
from .tensor import Accumulator, Composed, Gradients, Meta, Record, Tensor, record_class

Target = Record | Accumulator


def inputs_first(
    roots: Iterable[Target],
    cut: Container[Target] = (),
    edges: Callable[[Target], Sequence[Any]] = attrgetter("edges"),
) -> list[Target]:
    """The nodes that can be reached from `roots` along `edges`, in topological order: each node
    after its inputs, leaves first. Edges to nodes in `cut` are not followed.
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
            inner = [edge.record for edge in edges(record)[::-1] if edge]
            stack += [(r, False) for r in inner if r not in seen and r not in cut]
    return order


def leaves(tensor: Tensor) -> list[Tensor]:
    """The leaves of a tensor's graph; a leaf is its own."""
    edge = tensor.edge
    reached = inputs_first([edge.record]) if edge else []
    return [node.tensor for node in reached if isinstance(node, Accumulator)]


def shown(record: Any) -> str:
    """The name of a grad_fn for a print. Raises Unsupported if PyTorch's name is not known."""
    if record.name in OURS:
        raise Unsupported("the name of this grad_fn")
    return record.name


def compose(output: Tensor, function: str, *operands: Tensor) -> Tensor:
    """`output`, with a note at its grad_fn that `function`, which PyTorch composes of several
    operations, computed it from `operands`.
    """
    if output.record is not None:
        output.record.composed = Composed(function, operands, [x.edge for x in operands])
    return output


def rename(tensor: Tensor, name: str) -> None:
    """Rename a tensor's grad_fn, if it has one."""
    record = tensor.record
    if record is not None:
        record.name, record.cls = name, record_class(name)


def detached(tensor: Tensor) -> Tensor:
    """A tensor with the same memory that is not connected to the graph."""
    output = Tensor(tensor.data, tensor.dtype)
    output.version, output.level = tensor.version, tensor.level
    output.inference = tensor.inference
    return output


def copied(gradient: Tensor) -> Tensor:
    """A copy of a gradient with grad_fn CopyBackwards, as backward(create_graph=True) stores it."""
    output = detached_copy(gradient)
    if gradient.requires_grad:
        edges = [None, gradient.edge]
        metas = [Meta(output.shape, output.dtype)]
        output.set_record(Record("CopyBackwards", edges, metas, lambda m, r, grads: [None, *grads]))
    return output


def detached_copy(tensor: Tensor) -> Tensor:
    """A leaf with a copy of the elements that requires no gradient."""
    return Tensor(np.array(tensor.data), tensor.dtype)


def zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of a tensor's shape and dtype."""
    return Tensor(np.zeros(tensor.shape, tensor.dtype.numpy), tensor.dtype)


def zero_record(name: str, sources: Sequence[Any], output: Tensor) -> Record:
    """A grad_fn whose backward returns zeros for all `sources`."""
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
    """`output`, with a grad_fn that returns zeros if a source requires a gradient."""
    if MODE.recording and any(isinstance(s, Tensor) and s.requires_grad for s in sources):
        output.set_record(zero_record(name, sources, output))
    return output


class Underived:
    """The backward of an operation that PyTorch does not differentiate: it raises an error."""

    places: tuple[int, ...] = ()

    def __init__(self, message: str):
        self.message = message

    @property
    def name(self) -> str | None:
        """The name of the grad_fn; None if it is that of the operator."""
        return "NotImplemented" if self.message.startswith("derivative for aten") else None

    def __call__(self, m: Machine, record: Record, grads: Gradients) -> Gradients:
        """Raise the error."""
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
    """Give a tensor a grad_fn whose backward raises the error `message`."""
    back = Underived(message)
    edges = [i.edge if isinstance(i, Tensor) else None for i in inputs]
    metas = [Meta(output.shape, output.dtype)]
    output.set_record(Record(back.name or name or "", edges, metas, back, (), line))
