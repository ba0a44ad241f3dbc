"""Changes in place, and what they mean for views: which are refused, and what is recorded of them.

A view that is changed passes the change on to its base: the base's record becomes CopySlices, and
the view's, made anew when it is asked for, AsStridedBackward0.
"""

from collections.abc import Sequence
from typing import Any

from ...lazy import np
from ..python.values import Machine, error
from .engine import Edge, Elements, Gradients, Meta, Overwritten, Record
from .mode import MODE
from .tensor import Tensor

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation."
)
SHARED_PLACES = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)
OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation."
)
INFERENCE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)
IS_VIEW = "Output {output} of {name} is a view and is being modified inplace. "
NO_GRAD = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the no_grad block (if you "
    "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
IN_INFERENCE = (
    "A view was created in inference mode and is being modified inplace in normal mode. "
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the inference_mode block (if "
    "you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
    "tracked)."
)
MULTI = (
    "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)
MULTI_BASE = (
    "Output {output} of {name} is a view and its base or another view of its base has been "
    "modified inplace. " + MULTI
)
CUSTOM = (
    "This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)


NOT_BATCHED = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
    "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
    "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
    "operators instead of inplace arithmetic. If said operator is being called inside the PyTorch "
    "framework, please file a bug report instead."
)


def lacks_batch(target: Tensor, operands: Sequence[Any]) -> bool:
    """Whether a tensor made within vmap, and not of its rows, would be changed by one of a row."""
    base = target.view.base if target.view else target
    rows = (isinstance(o, Tensor) and "batched" in o.fields for o in operands)
    return "unbatched" in base.fields and any(rows)


def check_writable(target: Tensor, operands: Sequence[Any] = ()) -> None:
    """Refuse a change in place that PyTorch refuses."""
    if target.inference and not MODE.inference:
        raise error("RuntimeError", INFERENCE)
    if MODE.recording:
        _check_autograd(target, [o for o in operands if isinstance(o, Tensor)])
    if target.numel and any(s == 0 and n > 1 for s, n in zip(target.data.strides, target.shape)):
        raise error("RuntimeError", SHARED_PLACES)
    for other in operands:
        if isinstance(other, Tensor) and other is not target and _overlaps(target, other):
            raise error("RuntimeError", OVERLAP)


def _check_autograd(target: Tensor, operands: Sequence[Tensor]) -> None:
    view = target.view
    tracked = any(t.requires_grad for t in (target, *operands))
    if view is not None and view.creation and (tracked or view.base.requires_grad):
        raise error("RuntimeError", _refusal(target, view.creation))
    if view is not None and view.base.requires_grad and view.base.is_leaf:
        raise error("RuntimeError", VIEW_OF_LEAF)
    if target.requires_grad and target.is_leaf:
        raise error("RuntimeError", LEAF)


def _refusal(target: Tensor, creation: str) -> str:
    if creation == "no_grad":
        return NO_GRAD
    if creation == "inference":
        return IN_INFERENCE
    record = target._record
    name = record.label if record else "UnknownFunction"
    start = IS_VIEW.format(output=target.output, name=name)
    return start + (MULTI if creation == "multi" else CUSTOM)


def _overlaps(target: Tensor, other: Tensor) -> bool:
    """Whether they have elements in common, and are not the same elements in the same order."""
    a, b = target.data, other.data
    if not np.may_share_memory(a, b):
        return False
    same = a.__array_interface__["data"] == b.__array_interface__["data"]
    if same and a.shape == b.shape and a.strides == b.strides:
        return False
    return bool(np.shares_memory(a, b))


def rebase(target: Tensor, record: Record) -> None:
    """Make `record` the record of a tensor that was changed in place."""
    view = target.view
    if view is None:
        target.set_record(record)
        return
    base = view.base
    base.set_record(copy_slices(base, target, record))
    target.set_record(regenerated(target, base))


def places(view: Tensor, base: Tensor) -> Any:
    """The place in the base's elements, counted in order, of each element of the view."""
    size = base.data.itemsize
    numbered = np.arange(base.numel).reshape(base.shape)
    start = _address(base.data)
    offset = (_address(view.data) - start) // size
    positions = np.full(_extent(base.data), -1)
    np.lib.stride_tricks.as_strided(
        positions, base.shape, [s // size * positions.itemsize for s in base.data.strides]
    )[...] = numbered
    return np.lib.stride_tricks.as_strided(
        positions[offset:], view.shape, [s // size * positions.itemsize for s in view.data.strides]
    ).copy()


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]


def _extent(array: Any) -> int:
    """How many elements of memory an array reaches over."""
    if not array.size:
        return 1
    return 1 + sum((n - 1) * s // array.itemsize for n, s in zip(array.shape, array.strides))


def regenerated(view: Tensor, base: Tensor) -> Record:
    """The record of a view whose base was changed since it was made."""
    if view.view is not None and view.view.creation == "multi":
        label = view._record.label if view._record else "UnknownFunction"
        raise error("RuntimeError", MULTI_BASE.format(output=view.output, name=label))
    at = places(view, base)
    meta = Meta(view.shape, view.dtype)
    shape = base.shape

    def back(m: Machine, record: Record, grads: Gradients) -> Gradients:
        return [None if grads[0] is None else put(grads[0], at, shape)]

    return Record("AsStridedBackward0", [base.edge], [meta], back, call=Elements((at,)))


def put(values: Tensor, at: Any, shape: tuple[int, ...]) -> Tensor:
    """Zeros of a shape with values at these places of its elements, added up where they meet."""
    from ...operators.leaves import Array
    from .apply import call_operator

    size = int(np.prod(shape, dtype=int))
    flat = call_operator("put_at", values, shape=(size,), index=(Array(at),))
    return call_operator("reshape", flat, shape=shape)


def taken(tensor: Tensor, at: Any) -> Tensor:
    """The elements of a tensor at these places."""
    from ...operators.leaves import Array
    from .apply import call_operator

    flat = call_operator("reshape", tensor, shape=(tensor.numel,))
    return call_operator("getitem", flat, index=(Array(at),))


def copy_slices(base: Tensor, view: Tensor, inner: Record) -> Record:
    """The record of a base one of whose views was changed by the operation of `inner`."""
    at = places(view, base)
    edges: list[Edge | None] = [base.edge, *inner.edges[1:]]

    def back(m: Machine, record: Record, grads: Gradients) -> Gradients:
        gradient = grads[0]
        if gradient is None:
            return [None] * len(edges)
        of_view = taken(gradient, at)
        own, *others = [*inner.backward(m, inner, [of_view])] or [None]
        return [_replaced(gradient, own, at), *others]

    call = None if inner.call is None else Overwritten(base, at, inner.call)
    return Record("CopySlices", edges, [Meta(base.shape, base.dtype)], back, inner.saved, call=call)


def _replaced(gradient: Tensor, own: Tensor | None, at: Any) -> Tensor:
    """A gradient in which what went through the change has another one, or 0."""
    from .apply import call_operator

    mask = np.ones(gradient.numel, dtype=bool)
    mask[at] = False
    kept = call_operator("mul", gradient, Tensor(mask.reshape(gradient.shape)))
    return kept if own is None else call_operator("add", kept, put(own, at, gradient.shape))
