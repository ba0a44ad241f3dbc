"""In-place operations on views: which ones PyTorch refuses, and the grad_fns that they set.

A change of a view also changes its base. The grad_fn of the base becomes CopySlices; that of the
view becomes AsStridedBackward0, which is made when it is first needed.
"""

from collections.abc import Sequence
from typing import Any

from ...lazy import np
from ...operators.leaves import Array
from ..python.values import Machine, Raised, Unsupported, error
from .checks import check_output
from .dispatch import call_operator
from .mode import MODE
from .records import zero_record
from .tensor import Edge, Elements, Gradients, Meta, Overwritten, Record, Tensor, ViewOf
from .transforms import in_vmap

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation."
)
SHARED_MEMORY = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)
REPEATED = (
    "Use of {0} on expanded tensors is deprecated. Please clone() the tensor before performing "
    "this operation. This also applies to advanced indexing e.g. tensor[{1}] = {2} (Triggered "
    "internally at /__w/pytorch/pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:{3}.)"
)
REPEATING = {
    "index_fill_": ("mask", "scalar", 1913),
    "index_put_": ("indices", "tensor", 976),
    "masked_fill_": ("mask", "scalar", 2450),
}
OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation."
)
AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {0} block (if you don't "
    "want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
MULTI = (
    "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)
CUSTOM = (
    "This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)
REASONS = {  # `creation` of a view -> the reason in the error
    "no_grad": AMBIGUOUS.format("no_grad"),
    "inference": AMBIGUOUS.format("inference_mode"),
    "multi": MULTI,
    "custom": CUSTOM,
}
NOT_BATCHED = (
    "vmap: {0}(self, *extra_args) is not possible because there exists a Tensor "
    "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
    "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
    "operators instead of {0}. If said operator is being called inside the PyTorch "
    "framework, please file a bug report instead."
)

CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
    "in-place operation (aten::{}) that would mutate a captured Tensor. This is not supported; "
    "please rewrite the function being transformed to explicitly accept the mutated Tensor(s) as "
    "inputs."
)


def as_view(output: Tensor, of: Tensor, creation: str = "") -> Tensor:
    """Make `output` a view of the tensor `of`, whose memory it shares. `creation` as in ViewOf."""
    output.inference, output.level = of.inference, of.level
    if of.inference:
        output.version = of.version
        return output
    output.version = of.version
    output.recorded_version = of.version.number
    base = of.view.base if of.view else of
    if MODE.inference:
        creation = "inference"
    elif not MODE.recording:
        creation = "no_grad"
    inherited = of.view.creation if of.view else ""
    output.view = ViewOf(base, creation or inherited, _regenerate)
    return output


def lacks_batch(target: Tensor, operands: Sequence[Any]) -> bool:
    """Whether an in-place operation in a vmap would write values that depend on the mapped
    dimension into a tensor that does not. False if another transform inside the vmap refuses the
    operation anyway.
    """
    if not in_vmap() or (MODE.transforms[-1][0] != "vmap" and target.level < len(MODE.transforms)):
        return False
    base = target.view.base if target.view else target
    rows = (isinstance(o, Tensor) and "batched" in o.fields for o in operands)
    return "batched" not in base.fields and any(rows)


def _is_outside(target: Tensor) -> bool:
    """Whether a tensor was made outside of the vmap. The interpreter calls the function of a vmap
    once for each row, so the tensor would be changed several times.
    """
    base = target.view.base if target.view else target
    return not {"batched", "unbatched"} & {*base.fields, *target.fields}


def check_batched(target: Tensor, value: Any, name: str = "inplace arithmetic") -> None:
    """Refuse to write values that depend on the mapped dimension of a vmap into a tensor that does
    not. `name` is PyTorch's name of the operation.
    """
    if MODE.transforms and lacks_batch(target, [value]):
        raise error("RuntimeError", NOT_BATCHED.format(name))


def check_writable(
    target: Tensor, operands: Sequence[Any] = (), *, repeats: bool = False, called: str = ""
) -> None:
    """Refuse the in-place operations that PyTorch refuses. `repeats` as in check_memory, `called`
    as in _check_captured.
    """
    if MODE.transforms:
        _check_captured(target, operands, called)
    if MODE.recording:
        _check_autograd(target, [o for o in operands if isinstance(o, Tensor)])
    check_memory(target, operands, repeats=repeats)


def _check_captured(target: Tensor, operands: Sequence[Any], called: str) -> None:
    """Refuse to change a tensor from outside of a transform inside it. `called` is PyTorch's name
    of the operator, or "".
    """
    around = [kind for kind, _ in MODE.transforms[target.level :]]
    batched = lacks_batch(target, operands)
    if called and not batched and any(kind != "vmap" for kind in around):
        raise error("RuntimeError", CAPTURED.format(called))
    if any(kind != "vmap" or _is_outside(target) for kind in around):
        raise Unsupported("an in-place change, inside a transform, of a tensor from outside")
    if batched:
        raise Unsupported("an in-place change, inside vmap(), of a tensor that is not batched")


def check_memory(target: Tensor, operands: Sequence[Any] = (), *, repeats: bool = False) -> None:
    """Refuse an in-place operation on a tensor that overlaps an operand, or whose elements share
    memory, unless the operation may write an element several times (`repeats`).
    """
    if not repeats and has_repeats(target):
        raise error("RuntimeError", SHARED_MEMORY)
    if not target.data.flags.writeable:
        raise Unsupported("an in-place change of a gradient that may be an expanded tensor")
    for other in operands:
        if isinstance(other, Tensor) and other is not target:
            _check_overlap(target, other)


def has_repeats(target: Tensor) -> bool:
    """Whether several elements of a tensor have one memory location, as after expand()."""
    strides = zip(target.data.strides, target.shape)
    return target.numel > 0 and any(s == 0 and n > 1 for s, n in strides)


def warn_of_repeats(target: Tensor, name: str) -> None:
    """Warn of an operation, such as index_put_, on a tensor whose elements share memory."""
    if name in REPEATING and has_repeats(target):
        MODE.warn(REPEATED.format(name, *REPEATING[name]))


def _check_autograd(target: Tensor, operands: Sequence[Tensor]) -> None:
    if not any(t.requires_grad for t in (target, *operands)):
        return
    if target.view is not None:
        check_view(target, directly=True)
        if target.requires_grad and target.view.base.is_leaf:
            raise error("RuntimeError", VIEW_OF_LEAF)
    if target.requires_grad and target.is_leaf:
        raise error("RuntimeError", LEAF)


def check_view(view: Tensor, *, directly: bool) -> None:
    """Refuse to change a view if autograd cannot track the change. `directly`: the view itself is
    changed, not its base or another view.
    """
    creation = view.view.creation if view.view else ""
    if not creation:
        return
    record = view._record
    changed = "is being" if directly else "its base or another view of its base has been"
    output = f"Output {view.output} of {record.label} is a view" if record else "A view"
    if creation in ("no_grad", "inference") or record is None:
        start = f"{output} of a view which was created in" if record else f"{output} was created in"
        end = (
            ("inference mode", "in normal mode")
            if creation == "inference"
            else ("no_grad mode", "with grad mode enabled")
        )
        text = f"{start} {end[0]} and {changed} modified inplace {end[1]}. "
    else:
        text = f"{output} and {changed} modified inplace. "
    raise error("RuntimeError", text + REASONS[creation])


def readable(tensor: Tensor) -> bool:
    """Whether the grad_fn of a tensor can be read. Reading that of a view raises an error if its
    memory was changed in a way that autograd cannot track.
    """
    try:
        return tensor.record is None or True
    except Raised:
        return False


def _check_overlap(target: Tensor, other: Tensor) -> None:
    """Refuse to write into memory that an operand occupies, unless target and operand are the same
    elements in the same order.
    """
    a, b = target.data, other.data
    if not np.may_share_memory(a, b):
        return
    if address(a) == address(b) and a.shape == b.shape and a.strides == b.strides:
        return
    if _is_dense(a) and _is_dense(b):
        raise error("RuntimeError", OVERLAP)
    if np.shares_memory(a, b):  # PyTorch does not detect this, and reads what it wrote
        check_output(target, other)
        raise Unsupported("an in-place change that also reads the memory that it writes")


def _is_dense(array: Any) -> bool:
    """Whether an array has no gaps in memory, in any order of dimensions."""
    step = array.itemsize
    for size, stride in sorted(zip(array.shape, array.strides), key=lambda part: part[1]):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def rebase(target: Tensor, record: Record) -> None:
    """Make `record` the grad_fn of a tensor that was changed in place."""
    view, before = target.view, target._record
    if view is None:
        target.set_record(record)
    else:
        base_before = view.base._record
        view.base.set_record(copy_slices(view.base, target, record))
        retain_again(view.base, base_before)
        target.set_record(regenerated(target, view.base))
    retain_again(target, before)


def retain_again(tensor: Tensor, before: Record | None) -> None:
    """After an in-place change, transfer retain_grad() from the former grad_fn to the new one."""
    after = tensor._record
    if tensor.retains_grad and before is not None and after is not None and before is not after:
        place = next((k for k, t in before.retained.items() if t is tensor), None)
        if place is not None:
            del before.retained[place]
            after.retained[tensor.output] = tensor


def flat_indices(view: Tensor, base: Tensor) -> Any:
    """For each element of a view, its flat index in the base."""
    size = base.data.itemsize
    numbered = np.arange(base.numel).reshape(base.shape)
    start = address(base.data)
    offset = (address(view.data) - start) // size
    positions = np.full(_extent(base.data), -1)
    np.lib.stride_tricks.as_strided(
        positions, base.shape, [s // size * positions.itemsize for s in base.data.strides]
    )[...] = numbered
    return np.lib.stride_tricks.as_strided(
        positions[offset:], view.shape, [s // size * positions.itemsize for s in view.data.strides]
    ).copy()


def address(array: Any) -> int:
    """The address of an array's first element."""
    return array.__array_interface__["data"][0]


def _extent(array: Any) -> int:
    """The number of elements of memory between an array's first and last one."""
    if not array.size:
        return 1
    return 1 + sum((n - 1) * s // array.itemsize for n, s in zip(array.shape, array.strides))


def _regenerate(view: Tensor) -> None:
    """Set a new grad_fn for a view, after its memory has changed."""
    assert view.view is not None
    check_view(view, directly=False)
    before = view._record
    view.set_record(regenerated(view, view.view.base))
    retain_again(view, before)


def regenerated(view: Tensor, base: Tensor) -> Record:
    """The grad_fn of a view whose base was changed after the view was made: AsStridedBackward0."""
    indices = flat_indices(view, base)
    meta = Meta(view.shape, view.dtype)
    shape = base.shape

    def back(m: Machine, record: Record, grads: Gradients) -> Gradients:
        return [None if grads[0] is None else scattered(grads[0], indices, shape)]

    return Record("AsStridedBackward0", [base.edge], [meta], back, call=Elements((indices,)))


def scattered(values: Tensor, indices: Any, shape: tuple[int, ...]) -> Tensor:
    """Zeros of the given shape, with `values` added at the flat `indices`."""
    size = int(np.prod(shape, dtype=int))
    flat = call_operator("put_at", values, shape=(size,), index=(Array(indices),))
    return call_operator("reshape", flat, shape=shape)


def gathered(tensor: Tensor, indices: Any) -> Tensor:
    """The elements of a tensor at the flat `indices`."""
    flat = call_operator("reshape", tensor, shape=(tensor.numel,))
    return call_operator("getitem", flat, index=(Array(indices),))


def copy_slices(base: Tensor, view: Tensor, inner: Record) -> Record:
    """The grad_fn of a base after an in-place change of a view, whose grad_fn is `inner`."""
    indices = flat_indices(view, base)
    edges: list[Edge | None] = [base.edge, *inner.edges[1:]]

    def back(m: Machine, record: Record, grads: Gradients) -> Gradients:
        record.check_not_freed()
        gradient = grads[0]
        if gradient is None:
            return [None] * len(edges)
        of_view = gathered(gradient, indices)
        of_target, *others = [*inner.backward(m, inner, [of_view])] or [None]
        return [_replaced(gradient, of_target, indices), *others]

    call = None if inner.call is None else Overwritten(base, indices, inner.call)
    metas = [Meta(base.shape, base.dtype)]
    record = Record("CopySlices", edges, metas, back, inner.saved, call=call)
    record.saves_intermediate = True  # a second backward pass through CopySlices fails
    return record


def without(gradient: Tensor, indices: Any) -> Tensor:
    """A gradient with 0 at the flat `indices`."""
    mask = np.zeros(gradient.numel, dtype=bool)
    mask[indices] = True
    return call_operator("masked_fill", gradient, Tensor(mask.reshape(gradient.shape)), 0.0)


def _replaced(gradient: Tensor, replacement: Tensor | None, indices: Any) -> Tensor:
    """A gradient with `replacement`, or 0 if it is None, at the flat `indices`."""
    if replacement is not None and not MODE.recording:  # assigned, as adding would turn -0 into 0
        numbers = np.array(gradient.data, order="C")
        numbers.reshape(-1)[indices] = replacement.data
        return Tensor(numbers, gradient.dtype)
    outside = without(gradient, indices)
    return (
        outside
        if replacement is None
        else call_operator("add", outside, scattered(replacement, indices, gradient.shape))
    )


def overwritten(target: Tensor, numbers: Any, name: str, call: Any = None) -> Tensor:
    """Overwrite a tensor in place with `numbers`; the gradient of its former values is 0. `name` is
    that of the grad_fn.
    """
    tracked = MODE.recording and target.requires_grad
    record = zero_record(name, [target], target) if tracked else None
    target.write(numbers)
    target.changed()
    if record is not None:
        record.call = call
        rebase(target, record)
    return target
