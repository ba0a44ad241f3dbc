"""Operations that PyTorch has no backward of: going back through their record raises its error."""

from collections.abc import Sequence
from typing import Any

from ..python.values import Machine, error
from .tensor import Gradients, Meta, Record, Tensor


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
