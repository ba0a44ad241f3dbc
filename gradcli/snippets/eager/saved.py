"""Saves tensors for the backward pass: those that PyTorch saves, and those on which gradcli's
derivative rule depends.
"""

import math
from collections.abc import Sequence
from typing import Any

from ...graphs import Node
from ...lazy import np
from .mode import MODE
from .plans import InputGradients, Plan
from .promotion import Operand
from .tensor import Record, Saved, Tensor


def saved_inputs(
    plan: Plan,
    back: InputGradients,
    inputs: Sequence[Operand],
    arrays: Sequence[Any],
    into: Tensor | None,
) -> list[tuple[int, Saved | None, Any]]:
    """The saved values of the inputs on which the backward pass depends.

    Returns triples: the input's position, the saved tensor or None, and the array if there is no
    saved tensor. A tensor that PyTorch does not save, or that the operation overwrites (`into`), is
    copied.
    """
    in_pytorch = back.saved.places
    result: list[tuple[int, Saved | None, Any]] = []
    for place in back.reads:
        tensor, array = inputs[place], arrays[place]
        if not isinstance(tensor, Tensor):
            result.append((place, None, array))
        elif (
            place in in_pytorch
            and array is tensor.data
            and (tensor is not into or place > 0)
            and not in_forward_mode()
        ):
            saved = Saved(tensor)
            saved.viewed_as = _factor_shape(plan.node, place)
            result.append((place, saved.pack(), None))
        else:
            result.append((place, _saved_copy(tensor, array, place in in_pytorch), None))
    return result


def _saved_copy(tensor: Tensor, array: Any, in_pytorch: bool) -> Saved:
    """A saved copy of an input, with its grad_fn. `in_pytorch`: PyTorch saves the input."""
    same = array.dtype.name == tensor.dtype.numpy
    copy = Tensor(np.array(array), tensor.dtype if same else None)
    copy.set_record(tensor.record, tensor.output)
    copy.requires_grad = tensor.requires_grad and tensor.record is None
    copy.accumulator = tensor.edge.record if copy.requires_grad else None  # type: ignore
    saved = Saved(copy)
    saved.hooks, saved.in_pytorch = None, in_pytorch
    return saved


def in_forward_mode() -> bool:
    """Whether the innermost transform is jvp, for which later in-place changes do not matter."""
    return bool(MODE.transforms) and MODE.transforms[-1][0] == "jvp"


def _factor_shape(node: Node, place: int) -> tuple[int, ...] | None:
    """The shape of the view of factor number `place` that PyTorch's matmul saves, or None if it
    saves the factor itself.

    matmul saves batches of rows as one matrix for mm and mv, and other batches with one batch
    dimension for bmm.
    """
    if node.op.name == "linear":
        weight = node.inputs[1]
        return None if place != 1 or weight is None else (weight.shape or ())[::-1]
    if node.op.name == "einsum":
        return _einsum_shape(node, place)
    if node.op.name != "matmul":
        return None
    a, b = (i.shape or () for i in node.inputs if i is not None)
    shape = (a, b)[place]
    if len(a) > 2 and len(b) > 2:
        return (math.prod((node.shape or ())[:-2]), *shape[-2:])
    if place == 0 and len(b) <= 2 and len(a) != 2:
        return (math.prod(a[:-1]), a[-1]) if len(b) == 2 or len(a) > 2 else None
    if len(b) > 2:
        return (math.prod(b[:-2]) * b[-1], b[-2]) if place else a[::-1] if len(a) == 2 else None
    return None


def _einsum_shape(node: Node, place: int) -> tuple[int, ...] | None:
    """The shape in which einsum saves operand number `place` of two: that of a batch of matrices
    for bmm, or with dimensions of size 1 if nothing is summed. None if it is not known.
    """
    left, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != 2 or not arrow or "." in left or any(len(set(t)) < len(t) for t in terms):
        return None
    term, other = terms[place], terms[1 - place]
    operand = node.inputs[place]
    sizes = dict(zip(term, (operand.shape or ()) if operand is not None else ()))
    summed = [c for c in term if c in other and c not in right]
    if not summed:
        return tuple(sizes.get(c, 1) for c in right)
    groups = [
        [c for c in term if c in other and c in right],
        [c for c in term if c not in other],
        summed,
    ]
    batch, rows, inner = (math.prod(sizes[c] for c in group) for group in groups)
    return (batch, inner, rows) if place else (batch, rows, inner)


def _saved_output(back: InputGradients, output: Tensor, record: Record) -> Saved:
    """The output as a saved tensor: itself, or a copy if PyTorch does not save it."""
    if back.saved.output and not in_forward_mode():
        return Saved(output, record).pack()
    saved = Saved(Tensor(output.data.copy(), output.dtype), record)
    saved.hooks, saved.in_pytorch = None, False
    return saved


def save_unread(
    back: InputGradients, inputs: Sequence[Operand], output: Tensor, record: Record
) -> None:
    """Save the output, if PyTorch or the derivative rule uses it, and inputs that PyTorch saves
    although the rule does not depend on them.

    An input that the operation overwrites is the output, and is not saved as an input.
    """
    for place in back.saved.places:
        tensor = inputs[place]
        if place not in back.reads and isinstance(tensor, Tensor) and tensor is not output:
            record.saved.append(Saved(tensor).pack())
    if back.reads_output or back.saved.output:
        record.saved.append(_saved_output(back, output, record))
