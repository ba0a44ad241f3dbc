"""Attributes and methods of tensors that are not operators."""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from ...graphs import OPS
from ...lazy import np
from ...public_names import has
from ..python.objects import Generator
from ..python.operations import plain
from ..python.values import (
    EXCEPTIONS,
    MISSING,
    Builtin,
    Class,
    Machine,
    Property,
    Unsupported,
    error,
)
from . import calls, indexing, wrapped
from .apply import apply, call_operator, cast, mark_rows
from .checks import LONG_NAMES, check_broadcast, check_fits, dimension
from .creation import TO_SCALAR, check_flag, finished, leaf_tensor, shape_of
from .devices import CPU, MESSAGES, STRIDED, WITHOUT_LIBRARY, Device, check_device
from .dimension_refusals import check_split
from .dtypes import ALL, BY_NAME, DType
from .mode import MODE, recording
from .parameter_lists import positional_counts
from .records import detached, underived
from .sizes import shape_value
from .tables import (
    PYTHON_CLASSES,
    PYTHON_METHODS,
    TABLES,
    check_places,
    define,
    dtype_of,
    number,
    of_numbers,
)
from .tensor import TENSOR, Copied, Elements, Meta, MetaTensor, Record, Tensor, Version
from .transforms import NO_STORAGE, in_vmap, refuse_flag, refuse_number
from .views import address, as_view, check_batched, check_writable, overwritten, regenerated

NOT_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information. (Triggered internally at "
    "/__w/pytorch/pytorch/build/aten/src/ATen/core/TensorBody.h:493.)"
)
SHAPES_FILE = "/__w/pytorch/pytorch/aten/src/ATen/native/TensorShape.cpp"
REVERSED = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
    "and it will throw an error in a future release. Consider `x.mT` to transpose batches of "
    "matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a "
    f"tensor. (Triggered internally at {SHAPES_FILE}:4314.)"
)
OF_ONE_NUMBER = "Tensor.{} is deprecated on 0-D tensors. {} (Triggered internally at {}:{}.)"
IDENTITY = "This function is the identity in these cases."
CONJUGATE = "Consider using x.conj()."
WARNINGS_OF_ONE = {  # with the line of PyTorch's source, which the warning shows
    **{"T": (IDENTITY, 4321), "mT": (IDENTITY, 4373)},
    **{"H": (CONJUGATE, 4335), "mH": (CONJUGATE, 4382)},
}
ONLY_LEAVES = "you can only change requires_grad flags of leaf variables."
USE_DETACH = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation "
    "use var_no_grad = var.detach()."
)


def attribute(name: str, fset: Any = None, fdel: Any = None) -> Callable[[Any], Any]:
    """Declare an attribute of tensors. The decorated function `(m, self)` returns its value, where
    `m` is the interpreter; `fset` and `fdel` set and delete it.
    """

    def declare(fget: Any) -> Any:
        setter = Builtin(name, fset) if fset else None
        TENSOR.members[name] = Property(Builtin(name, fget), setter, fdel and Builtin(name, fdel))
        return fget

    return declare


def method(name: str) -> Callable[[Any], Any]:
    """Declare a special method of tensors."""

    def declare(function: Any) -> Any:
        TENSOR.members[name] = Builtin(name, function)
        return function

    return declare


# ---- properties of a tensor ----------------------------------------------------------------------


attribute("shape")(lambda m, self: shape_value(self.shape))
attribute("ndim")(lambda m, self: self.ndim)
attribute("dtype")(lambda m, self: self.dtype)
attribute("is_leaf")(lambda m, self: self.is_leaf)
method("is_inference")(lambda m, self: self.inference)


@attribute("_version")
def _version(m: Machine, self: Tensor) -> int:
    if self.inference:
        raise error("RuntimeError", "Inference tensors do not track version counter.")
    return self.version.number


@define("Tensor", "torch")
def is_inference(m: Machine, self: Tensor) -> bool:
    """Whether a tensor was made in inference mode."""
    return self.inference


@method("_is_view")
def _is_view(m: Machine, self: Tensor) -> bool:
    if self.inference:
        raise Unsupported("Tensor._is_view() of a tensor created in inference mode")
    return self.view is not None


attribute("output_nr")(lambda m, self: self.output)
attribute("itemsize")(lambda m, self: self.dtype.size)
attribute("_base")(lambda m, self: self.view.base if self.view else None)


def _transposed(m: Machine, self: Tensor, name: str) -> Tensor:
    """The value of the attribute T, mT, H or mH."""
    allowed = "matrices (2-D tensors)" if name == "H" else "matrices or batches of matrices"
    if name != "T" and (self.ndim == 1 or (name == "H" and self.ndim > 2)):
        text = f"tensor.{name} is only supported on {allowed}. Got {self.ndim}-D tensor."
        more = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise error("RuntimeError", text + more)
    if self.ndim == 0:
        why, line = WARNINGS_OF_ONE[name]
        text = OF_ONE_NUMBER.format(name, why, SHAPES_FILE, line)
        m.warn(EXCEPTIONS["UserWarning"], text, once=True)
    elif name == "T" and self.ndim != 2:
        m.warn(EXCEPTIONS["UserWarning"], REVERSED, once=True)
    return calls.call(name, (self,), {}, method=True)


for _name in ("T", "mT", "H", "mH"):
    attribute(_name)(partial(_transposed, name=_name))
attribute("real")(lambda m, self: calls.call("real", (self,), {}, method=True))
attribute("name")(lambda m, self: None)
attribute("device")(lambda m, self: Device("meta") if isinstance(self, MetaTensor) else CPU)
attribute("layout")(lambda m, self: STRIDED)
attribute("is_meta")(lambda m, self: isinstance(self, MetaTensor))


@attribute("volatile")
def _volatile(m: Machine, self: Tensor) -> bool:
    m.warn(EXCEPTIONS["UserWarning"], "volatile was removed (Variable.volatile is always False)")
    return False


attribute("nbytes")(lambda m, self: self.numel * self.dtype.size)
attribute("is_cpu")(lambda m, self: not isinstance(self, MetaTensor))
attribute("is_cuda")(lambda m, self: False)
attribute("is_sparse")(lambda m, self: False)


@define("Tensor")
def size(m: Machine, self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension."""
    if dim is not None and not self.ndim:
        text = f"Dimension specified as {dim} but tensor has no dimensions"
        raise error("IndexError", text)
    return shape_value(self.shape) if dim is None else self.shape[dimension(dim, self.ndim)]


@define("Tensor")
def element_size(m: Machine, self: Tensor) -> int:
    """Bytes per element."""
    return self.dtype.size


@define("Tensor", "torch")
def is_same_size(m: Machine, input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return input.shape == other.shape


@define("Tensor", "torch")
def unique(
    m: Machine,
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    """The distinct elements, sorted."""
    if dim is not None or in_vmap():
        raise Unsupported("unique() along a dimension, or inside vmap()")
    values, places, counts = np.unique(input.data, return_inverse=True, return_counts=True)
    result = [Tensor(values, input.dtype)]
    if MODE.recording and input.requires_grad:
        text = "the derivative for '_unique2' is not implemented."
        underived(text, "Unique2Backward0", [input], result[0], None)
    if return_inverse:
        result.append(Tensor(np.asarray(places).reshape(input.shape)))
    if return_counts:
        result.append(Tensor(counts))
    return result[0] if len(result) == 1 else tuple(result)


@define("Tensor", "torch")
def unique_consecutive(
    m: Machine,
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    """The elements of the flattened tensor without those that equal their predecessor."""
    if dim is not None or in_vmap() or (MODE.recording and input.requires_grad):
        raise Unsupported("unique_consecutive() with dim, inside vmap(), or with a gradient")
    flat = input.data.reshape(-1)
    starts = np.append(True, flat[1:] != flat[:-1])[: flat.size]
    result = [Tensor(flat[starts], input.dtype)]
    if return_inverse:
        result.append(Tensor((np.cumsum(starts) - 1).reshape(input.shape)))
    if return_counts:
        ends = np.append(np.flatnonzero(starts), flat.size)
        result.append(Tensor(np.diff(ends)))
    return result[0] if len(result) == 1 else tuple(result)


@define("Tensor")
def new_tensor(m: Machine, self: Tensor, data: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A new leaf with the values of `data`, in this tensor's dtype unless `dtype` is passed."""
    return finished(leaf_tensor(data, dtype or self.dtype), copies=True, **options)


@define("Tensor")
def new_full(
    m: Machine, self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any
) -> Tensor:
    """A tensor filled with one number, in this tensor's dtype unless `dtype` is passed."""
    kind = dtype or self.dtype
    array = np.full(shape_of((size,)), fill_value, kind.numpy)
    return finished(Tensor(array, kind), like=self, **options)


@define("Tensor")
def stride(m: Machine, self: Tensor, dim: int | None = None) -> Any:
    """The strides in elements."""
    return self.strides if dim is None else self.strides[dim]


for _name in ("is_complex", "is_neg", "is_conj"):
    define("torch", "Tensor", name=_name)(lambda m, self: False)
for _name in ("to_dense", "share_memory_"):
    define("Tensor", name=_name)(lambda m, self: self)
define("torch", "Tensor", name="is_signed")(
    lambda m, self: self.dtype.name != "uint8" and self.dtype.kind != "bool"
)


@define("torch", "Tensor")
def is_nonzero(m: Machine, self: Tensor) -> bool:
    """Whether the only element is not 0."""
    return bool(m.truth(self))


@define("Tensor")
def storage_offset(m: Machine, self: Tensor) -> int:
    """The position of the first element in the memory of the base, in elements."""
    if self.view is None:
        return 0
    start, base = (t.data.__array_interface__["data"][0] for t in (self, self.view.base))
    return int(start - base) // self.data.itemsize


for _name in ("dim", "ndimension"):
    define("Tensor", name=_name)(lambda m, self: self.ndim)
for _name in ("numel", "nelement"):
    define("Tensor", "torch", name=_name)(lambda m, self: self.numel)


@define("Tensor")
def is_contiguous(m: Machine, self: Tensor, **_: Any) -> bool:
    """Whether the elements are in row-major order in memory, without gaps."""
    return bool(self.data.flags.c_contiguous)


@define("Tensor", "torch")
def is_floating_point(m: Machine, self: Tensor) -> bool:
    """Whether the dtype is a floating one."""
    return self.dtype.is_floating


@define("Tensor")
def data_ptr(m: Machine, self: Tensor) -> int:
    """The address of the first element."""
    return self.data.__array_interface__["data"][0]


# ---- gradient ------------------------------------------------------------------------------------


def _set_grad(m: Machine, self: Tensor, value: Any) -> None:
    if value is None:
        self.grad = None
        self.fields.pop("sparse_gradient", None)
        return
    if value is self:
        raise error("RuntimeError", "can't assign Variable as its own grad")
    if not isinstance(value, Tensor):
        kind = m.class_of(value).name
        text = f"assigned grad expected to be a Tensor or None but got grad of type {kind}"
        raise error("TypeError", text)
    if isinstance(value, MetaTensor):
        text = (
            "attempting to assign a gradient with device type 'meta' to a tensor with device type "
            "'cpu'. Please ensure that the gradient and the tensor are on the same device"
        )
        raise error("RuntimeError", text)
    wanted = self.fields.get("grad_dtype", self.dtype)
    if wanted not in (None, value.dtype):
        raise error(
            "RuntimeError",
            f"attempting to assign a gradient with dtype '{LONG_NAMES[value.dtype.name]}' to a "
            f"tensor with grad_dtype '{wanted.scalar_name}'. The gradient must match the tensor's "
            "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype "
            "attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
            "caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match.",
        )
    if value.shape != self.shape:
        raise error(
            "RuntimeError",
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
            f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same "
            "size",
        )
    self.grad = value


@attribute("grad", _set_grad, lambda m, self: _set_grad(m, self, None))
def _grad(m: Machine, self: Tensor) -> Tensor | None:
    if "sparse_gradient" in self.fields and m.line:
        raise Unsupported("a sparse gradient")
    if self.grad is None and not _was_leaf(self) and not self.retains_grad:
        m.warn(EXCEPTIONS["UserWarning"], NOT_LEAF)
    return self.grad


attribute("_grad", _set_grad, lambda m, self: _set_grad(m, self, None))(_grad)


def _was_leaf(tensor: Tensor) -> bool:
    """Whether a tensor is a leaf. For a view whose in-place changes autograd does not track, such
    as one made under no_grad(): whether it was a leaf before these changes.
    """
    follows = tensor.view is None or not tensor.view.creation
    return tensor.is_leaf if follows else tensor._record is None


def _set_grad_dtype(m: Machine, self: Tensor, value: Any) -> None:
    if not self.is_leaf:
        raise error("RuntimeError", "grad_dtype can only be set on leaf tensors.")
    if value is not None and self.grad is not None and self.grad.dtype is not value:
        raise error(
            "RuntimeError",
            f"Cannot set grad_dtype to '{value.scalar_name}' because there is already a gradient "
            f"with dtype '{LONG_NAMES[self.grad.dtype.name]}'. Please clear the gradient (.grad = "
            "None) before changing grad_dtype, or ensure the new grad_dtype matches the existing "
            "gradient's dtype.",
        )
    self.fields["grad_dtype"] = value


attribute("grad_dtype", _set_grad_dtype)(lambda m, self: self.fields.get("grad_dtype", self.dtype))


def _no_record(m: Machine, self: Tensor, value: Any) -> None:
    text = "attribute 'grad_fn' of 'torch._C.TensorBase' objects is not writable"
    raise error("AttributeError", text)


attribute("grad_fn", _no_record, lambda m, self: _no_record(m, self, None))(
    lambda m, self: self.record
)


def _set_requires(m: Machine, self: Tensor, value: Any) -> None:
    if not isinstance(value, bool):
        raise error("RuntimeError", "requires_grad must be a bool")
    if value and not self.is_leaf:
        raise error("RuntimeError", ONLY_LEAVES)
    refusal = "only Tensors of floating point and complex dtype can require gradients"
    _change_flag(self, value, refusal)


def _change_flag(self: Tensor, value: bool, refusal: str) -> None:
    if not self.is_leaf and not value:
        raise error("RuntimeError", ONLY_LEAVES + USE_DETACH)
    if not self.is_leaf:
        return
    if value and not self.dtype.is_floating:
        raise error("RuntimeError", refusal)
    if value and self.inference and not MODE.inference:
        text = (
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )
        raise error("RuntimeError", text)
    if value and self.inference:
        raise Unsupported("requires_grad=True on a tensor created in inference mode")
    self.requires_grad = value


attribute("requires_grad", _set_requires)(lambda m, self: self.requires_grad)


@define("Tensor")
def requires_grad_(m: Machine, self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set requires_grad of a leaf."""
    refuse_flag()
    check_flag("requires_grad_", requires_grad, " (position 1)")
    refusal = "only Tensors of floating point dtype can require gradients"
    _change_flag(self, requires_grad, refusal)
    return self


attribute("retains_grad")(lambda m, self: self.retains_grad)


@define("Tensor")
def retain_grad(m: Machine, self: Tensor) -> None:
    """Store the gradient of a tensor that is not a leaf in .grad during the backward pass."""
    if not self.requires_grad:
        text = "can't retain_grad on Tensor that has requires_grad=False"
        raise error("RuntimeError", text)
    if self.record is not None:
        self.retains_grad = True
        self.record.retained[self.output] = self


@define("Tensor")
def backward(
    m: Machine,
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Run the backward pass from this tensor."""
    from .autograd import backward as go

    go(m, self, gradient, retain_graph, create_graph, inputs=inputs)


@define("Tensor")
def register_hook(m: Machine, self: Tensor, hook: Any) -> Any:
    """Register a function that receives the gradient of this tensor during the backward pass."""
    from .autograd import Handle

    if not self.requires_grad:
        text = "cannot register a hook on a tensor that doesn't require gradient"
        raise error("RuntimeError", text)
    record = self.record
    hooks = self.hooks if record is None else record.tensor_hooks.setdefault(self.output, [])
    hooks.append(hook)
    return Handle(hooks, hook)


@define("Tensor")
def register_post_accumulate_grad_hook(m: Machine, self: Tensor, hook: Any) -> Any:
    """Register a function that is called with this leaf after its .grad was updated."""
    from .autograd import Handle

    if not self.requires_grad:
        text = "cannot register a hook on a tensor that doesn't require gradient"
        raise error("RuntimeError", text)
    if not self.is_leaf:
        text = "post accumulate grad hooks cannot be registered on non-leaf tensors"
        raise error("RuntimeError", text)
    hooks = self.fields.setdefault("post_accumulate_grad_hooks", [])
    hooks.append(hook)
    return Handle(hooks, hook)


# ---- memory --------------------------------------------------------------------------------------


@define("Tensor", "torch")
def detach(m: Machine, self: Tensor) -> Tensor:
    """A tensor with the same memory that is not connected to the graph."""
    return detached(self)


@define("Tensor")
def detach_(m: Machine, self: Tensor) -> Tensor:
    """Detach this tensor from the graph."""
    if MODE.inference and self.requires_grad:
        raise Unsupported("detach_() inside inference_mode()")
    if self.view is not None:
        raise error("RuntimeError", CANNOT_DETACH)
    self.set_record(None)
    self.requires_grad = False
    return self


CANNOT_DETACH = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
    "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
    "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
    "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)


def _set_data(m: Machine, self: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise error(
            "TypeError", f"Variable data has to be a tensor, but got {m.class_of(value).name}"
        )
    if self.requires_grad and not value.dtype.is_floating:
        raise error(
            "RuntimeError",
            "data set to a tensor that requires gradients must be floating point or complex dtype",
        )
    self.data, self.dtype = value.data, value.dtype
    self.version.unseen += 1


@attribute("data", _set_data)
def _data(m: Machine, self: Tensor) -> Tensor:
    if in_vmap():
        raise error("RuntimeError", "accessing `data` under vmap transform is not allowed")
    output = Tensor(self.data, self.dtype)
    output.version = Version(beside=self.version)
    output.inference, output.level = self.inference, self.level
    if self.inference:
        output.fields["counts_changes"] = True  # other inference tensors do not count theirs
    return output


@define("Tensor", "torch")
def clone(m: Machine, self: Tensor, **_: Any) -> Tensor:
    """A copy; gradients flow through it."""
    return _copy(self)


def _copy(self: Tensor) -> Tensor:
    output = Tensor(self.data.copy("K"), self.dtype)
    if MODE.recording and self.requires_grad:
        metas = [Meta(output.shape, output.dtype)]
        record = Record("CloneBackward0", [self.edge], metas, lambda m, r, grads: grads)
        record.call = ("clone", self)
        output.set_record(record)
    if MODE.transforms:
        mark_rows(output, [self])
    return output


@define("Tensor")
def contiguous(m: Machine, self: Tensor, **_: Any) -> Tensor:
    """The tensor itself if it is contiguous, else a contiguous copy."""
    if self.data.flags.c_contiguous:
        return self
    output = _copy(self)
    output.data = np.ascontiguousarray(output.data)
    return output


for _name in ("cpu",):
    define("Tensor", name=_name)(lambda m, self, *_, **__: self)


@define("Tensor")
def cuda(m: Machine, self: Tensor, device: Any = None, *_: Any, **__: Any) -> Tensor:
    """Raise PyTorch's error for moving a tensor to a GPU."""
    check_device(device)
    raise error(*MESSAGES["cuda"])


@define("Tensor")
def get_device(m: Machine, self: Tensor) -> int:
    """The index of its device: -1 for the CPU."""
    return -1


@define("Tensor")
def to(m: Machine, self: Tensor, *args: Any, **named: Any) -> Tensor:
    """The tensor in another dtype. The only devices are the CPU and meta."""
    dtype = dtype_of(named.get("dtype"))
    device = check_device(named.get("device"))
    for arg in map(dtype_of, args):
        if isinstance(arg, DType):
            dtype = arg
        elif isinstance(arg, Tensor):
            dtype = arg.dtype
        elif not isinstance(arg, bool):
            device = check_device(arg)
    if device.type == "meta":
        return MetaTensor(self)
    copied = named.get("copy", False)
    if dtype in (None, self.dtype):
        return _copy(self) if copied else self
    return cast(self, dtype)


@define("Tensor", name="type")
def _type(m: Machine, self: Tensor, dtype: Any = None, **_: Any) -> Any:
    """x.type(): the name of the tensor's legacy type; x.type(dtype): the tensor in that dtype."""
    if dtype is None:
        return f"torch.{self.dtype.legacy}"
    of_cuda = isinstance(dtype, Class) and dtype.module == "torch.cuda"
    if of_cuda or (isinstance(dtype, str) and dtype.startswith("torch.cuda.")):
        raise error("RuntimeError", WITHOUT_LIBRARY)
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.")
        dtype = next((d for d in ALL if d.legacy == name), None)
        if dtype is None:
            raise error("ValueError", f"invalid type: '{name}'")
    elif not isinstance(dtype, DType):
        name = getattr(dtype, "name", "")
        if isinstance(dtype, Class) and name in PYTHON_CLASSES:
            raise error("ValueError", f"invalid type: '{name}'")
        dtype = next((d for d in ALL if d.legacy == name), None)
    return self if dtype is self.dtype else cast(self, dtype)


@define("Tensor")
def type_as(m: Machine, self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another one."""
    return self if other.dtype is self.dtype else cast(self, other.dtype)


NAMED = BY_NAME | {"byte": BY_NAME["uint8"], "char": BY_NAME["int8"]}
for _name in (
    *("float", "double", "half", "bfloat16"),
    *("long", "int", "short", "bool", "byte", "char"),
):

    def _as(m: Machine, self: Tensor, _dtype: DType = NAMED[_name], **_: Any) -> Tensor:
        return self if self.dtype is _dtype else cast(self, _dtype)

    define("Tensor", name=_name)(_as)


# ---- numbers -------------------------------------------------------------------------------------


@define("Tensor")
def item(m: Machine, self: Tensor) -> Any:
    """The only element as a Python number."""
    refuse_number(self, control_flow=False)
    if self.numel != 1:
        text = f"a Tensor with {self.numel} elements cannot be converted to Scalar"
        raise error("RuntimeError", text)
    return self.data.item()


@define("Tensor")
def tolist(m: Machine, self: Tensor) -> Any:
    """The elements in nested lists."""
    if in_vmap() and "batched" in self.fields:
        raise error("RuntimeError", NO_STORAGE)
    return self.data.tolist()


def _one_number(m: Machine, self: Tensor) -> Any:
    if self.numel != 1:
        raise error("ValueError", "only one element tensors can be converted to Python scalars")
    refuse_number(self, control_flow=False)
    if self.requires_grad and MODE.recording:
        m.warn(EXCEPTIONS["UserWarning"], TO_SCALAR)
    return self.data.item()


method("__float__")(lambda m, self: float(_one_number(m, self)))
method("__int__")(lambda m, self: int(_one_number(m, self)))


@method("__index__")
def _index(m: Machine, self: Tensor) -> int:
    if self.dtype.is_floating or self.numel != 1:
        text = "only integer tensors of a single element can be converted to an index"
        raise error("TypeError", text)
    refuse_number(self, control_flow=False)
    return int(self.data.item())


@method("__bool__")
def _bool(m: Machine, self: Tensor) -> bool:
    refuse_number(self, control_flow=True)
    if self.numel > 1:
        text = "Boolean value of Tensor with more than one value is ambiguous"
        raise error("RuntimeError", text)
    if not self.numel:
        raise error("RuntimeError", "Boolean value of Tensor with no values is ambiguous")
    return bool(self.data.item())


@method("__len__")
def _len(m: Machine, self: Tensor) -> int:
    if not self.ndim:
        raise error("TypeError", "len() of a 0-d tensor")
    return self.shape[0]


@method("__iter__")
def _iter(m: Machine, self: Tensor) -> Any:
    if not self.ndim:
        raise error("TypeError", "iteration over a 0-d tensor")
    return Generator(iter(unbind(m, self)), "tensor_iterator")


@method("__contains__")
def _contains(m: Machine, self: Tensor, value: Any) -> bool:
    other = value.data if isinstance(value, Tensor) else value
    return bool((self.data == other).any())


method("__hash__")(lambda m, self: m.identity(self))
method("__repr__")(lambda m, self: wrapped.text(self))


@method("__format__")
def _format(m: Machine, self: Tensor, spec: str = "") -> str:
    if not self.ndim and m.class_of(self).name == "Tensor":
        return m.format(self.data.item(), spec)
    if spec:
        text = f"unsupported format string passed to {m.class_of(self).name}.__format__"
        raise error("TypeError", text)
    return m.repr(self)


@method("__getitem__")
def _get_item(m: Machine, self: Tensor, index: Any) -> Tensor:
    _warn_of_index(m, index)
    return indexing.get(self, index)


@method("__setitem__")
def _set_item(m: Machine, self: Tensor, index: Any, value: Any) -> None:
    if indexing.has_byte_mask(index):
        indexing.check_filled(value)
    _warn_of_index(m, index)
    indexing.set_item(m, self, index, number(value))


@method("__delitem__")
def _delete_item(m: Machine, self: Tensor, index: Any) -> None:
    raise error("TypeError", "Tensor does not support deleting items")


def _warn_of_index(m: Machine, index: Any) -> None:
    """Warn of deprecated indices: a list instead of a tuple, and uint8 masks."""
    if type(index) is int or type(index) is slice:
        return
    if indexing.holds_parts(index):
        m.warn(EXCEPTIONS["UserWarning"], NO_TUPLE)
    if indexing.has_byte_mask(index):
        m.warn(EXCEPTIONS["UserWarning"], BYTE_MASK)


NO_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
    "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
    "tensor index, x[torch.tensor(seq)], which will result either in an error or a different "
    "result (Triggered internally at "
    "/__w/pytorch/pytorch/torch/csrc/autograd/python_variable_indexing.cpp:349.)"
)
BYTE_MASK = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead. "
    "(Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/IndexingUtils.h:37.)"
)


@method("__copy__")
def _shallow(m: Machine, self: Tensor) -> Tensor:
    output = detach(m, self)
    output.requires_grad, output.cls = self.requires_grad, self.cls
    return output


@method("__deepcopy__")
def _deepcopy(m: Machine, self: Tensor, memo: Any = None) -> Tensor:
    if not self.is_leaf:
        raise error("RuntimeError", NO_DEEPCOPY)
    output = Tensor(self.data.copy(), self.dtype, requires_grad=self.requires_grad)
    output.cls = self.cls
    if self.grad is not None:
        output.grad = Tensor(self.grad.data.copy(), self.grad.dtype)
    return output


NO_DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
    "the moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)


# ---- in place ------------------------------------------------------------------------------------


@define("Tensor")
def zero_(m: Machine, self: Tensor) -> Tensor:
    """Fill with 0."""
    return _constant(self, 0, "ZeroBackward0")


@define("Tensor")
def fill_(m: Machine, self: Tensor, value: Any) -> Tensor:
    """Fill with a number."""
    if isinstance(value, Tensor):
        if value.ndim:
            text = "fill_ only supports 0-dimension value tensor but got tensor with "
            raise error("RuntimeError", f"{text}{value.ndim} dimensions.")
        check_batched(self, value, "fill_")
        return indexing.copy_into(self, value, "FillBackward3")
    return _constant(self, value, "FillBackward2")


def _constant(self: Tensor, value: Any, name: str) -> Tensor:
    called = "zero_" if name == "ZeroBackward0" else "fill_.Scalar"
    check_writable(self, repeats=True, called=called)
    check_fits(value, self.dtype)
    return overwritten(self, value, name, Copied(value))


@define("Tensor")
def fill_diagonal_(m: Machine, self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Fill the main diagonal with a number."""
    if self.ndim < 2:
        raise error("RuntimeError", "dimensions must larger than 1")
    if wrap or self.ndim > 2:
        raise Unsupported("fill_diagonal_() of a tensor that is not a matrix, or with wrap=True")
    place = calls.call("diagonal", (self,), {}, method=True)
    _constant(place, fill_value, "FillBackward2")
    return self


@define("Tensor")
def resize_(m: Machine, self: Tensor, *shape: Any, **_: Any) -> Tensor:
    """Change the shape in place; the first elements stay, the others are dropped."""
    if self.requires_grad:
        raise error("RuntimeError", "cannot resize variables that require grad")
    sizes = shape_of_view(shape)
    count = math.prod(sizes)
    if count > self.numel or self.view or not self.data.flags.c_contiguous:
        raise Unsupported("resize_() of a view or a non-contiguous tensor, or to more elements")
    self.data = self.data.reshape(-1)[:count].reshape(sizes)
    return self


@define("Tensor")
def apply_(m: Machine, self: Tensor, callable: Any) -> Tensor:
    """Replace each element by the result of a Python function."""
    if self.requires_grad:
        text = "Can't call apply_() on Variable that requires grad. Use var.detach().apply_() "
        raise error("RuntimeError", text + "instead.")
    self.data[...] = np.reshape(
        [m.call(callable, [v]) for v in self.data.ravel().tolist()], self.shape
    )
    self.changed()
    return self


@define("Tensor")
def copy_(m: Machine, self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Copy another tensor's elements, or a number, into this one."""
    if isinstance(src, bool | int | float):
        src = Tensor(np.asarray(src, self.data.dtype), self.dtype)
    check_batched(self, src)
    return indexing.copy_into(self, src)


# ---- shapes that are views -----------------------------------------------------------------------


@define("Tensor")
def view(m: Machine, self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape, in the same memory."""
    if len(shape) == 1 and isinstance(shape[0], DType):
        raise Unsupported("Tensor.view(dtype)")
    return _viewed(self, completed(self, shape_of_view(shape)))


def shape_of_view(shape: Any) -> tuple[int, ...]:
    """The shape passed to view() or reshape(), which may contain -1."""
    if len(shape) == 1 and not isinstance(shape[0], int | Tensor):
        shape = tuple(plain(shape[0]))
    return tuple(int(s.data.item()) if isinstance(s, Tensor) else s for s in shape)


def completed(self: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with -1 replaced by the size that follows from the number of elements."""
    known = int(np.prod([s for s in shape if s != -1], dtype=int))
    count = shape.count(-1)
    if count > 1:
        raise error("RuntimeError", "only one dimension can be inferred")
    fits = known == self.numel if not count else known and self.numel % known == 0
    if not fits:
        text = f"shape '{list(shape)}' is invalid for input of size {self.numel}"
        raise error("RuntimeError", text)
    return tuple(self.numel // known if s == -1 else s for s in shape)


def _viewed(self: Tensor, shape: tuple[int, ...]) -> Tensor:
    array = self.data.view()
    try:
        array.shape = shape  # NumPy raises AttributeError if that needs a copy
    except AttributeError:
        raise error("RuntimeError", NO_VIEW) from None
    return apply(OPS["reshape"], [self], {"shape": shape}, name="ViewBackward0")


NO_VIEW = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans "
    "across two contiguous subspaces). Use .reshape(...) instead."
)


@define("Tensor", "torch")
def reshape(m: Machine, input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The same elements in another shape: a view if possible."""
    sizes = shape or (named["shape"],)
    return call_operator("reshape", input, shape=completed(input, shape_of_view(sizes)))


@define("Tensor", "torch")
def flatten(m: Machine, input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` joined; the tensor itself for one dimension."""
    if input.ndim and dimension(start_dim, input.ndim) > dimension(end_dim, input.ndim):
        text = "flatten() has invalid args: start_dim cannot come after end_dim"
        raise error("RuntimeError", text)
    if input.ndim and dimension(start_dim, input.ndim) == dimension(end_dim, input.ndim):
        return input
    return calls.call("flatten", [input, start_dim, end_dim], {}, method=True)


@define("Tensor", "torch")
def squeeze(m: Machine, input: Tensor, dim: Any = None) -> Tensor:
    """A view without dimensions of size 1: all of them, or only `dim`."""
    return calls.call("squeeze", [input] if dim is None else [input, dim], {}, method=True)


@define("Tensor")
def masked_fill_(m: Machine, self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Write a number where a mask is True."""
    if isinstance(value, int | float) and self.dtype.kind == "int":
        value = int(value)
    if mask.dtype.kind == "bool":
        check_broadcast(self, mask)
    return calls.in_place("masked_fill", self, [mask, value], {})


@define("Tensor")
def view_as(m: Machine, self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of another tensor."""
    return _viewed(self, completed(self, other.shape))


@define("Tensor", "torch")
def unbind(m: Machine, input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, as views that may not be changed in place."""
    dim = dimension(dim, input.ndim)
    if not input.ndim:
        raise error("IndexError", "Dimension specified as 0 but tensor has no dimensions")
    parts = [_select(input, dim, k) for k in range(input.shape[dim])]
    return several_views(input, parts, "UnbindBackward0", "stack", dim)


def _select(input: Tensor, dim: int, place: int) -> Tensor:
    with recording(False):
        return indexing.get(input, (*(slice(None),) * dim, place))


@define("Tensor", "torch")
def select(m: Machine, input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at one index along a dimension, as a view."""
    place = index.data.item() if isinstance(index, Tensor) else index
    dim = dimension(dim, input.ndim)
    if type(place) is not int or not input.ndim:
        return calls.call("select", [input, dim, index], {}, method=True)
    if not -input.shape[dim] <= place < input.shape[dim]:
        raise error(
            "IndexError",
            f"select(): index {place} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}",
        )
    return indexing.get(input, (*(slice(None),) * dim, place))


@define("Tensor", "torch")
def as_strided(
    m: Machine, input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A view with the given sizes and strides, in elements of the tensor's memory."""
    base = input.view.base if input.view else input
    tracked = MODE.recording and input.requires_grad
    if MODE.transforms or not base.data.flags.c_contiguous or (tracked and input is not base):
        raise Unsupported("as_strided() of this view")
    offset = storage_offset
    if offset is None:
        offset = (address(input.data) - address(base.data)) // base.data.itemsize
    sizes, steps = tuple(size), tuple(stride)
    count = 1 + offset + sum((n - 1) * s for n, s in zip(sizes, steps, strict=True))
    width, numbers = base.data.itemsize, base.data.reshape(-1)
    if count > base.numel and 0 not in sizes:
        raise error(
            "RuntimeError",
            f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {offset}, and "
            f"itemsize {width} requiring a storage size of {count * width} are out of bounds for "
            f"storage of size {base.numel * width}",
        )
    of_view = np.lib.stride_tricks.as_strided(numbers[offset:], sizes, [s * width for s in steps])
    output = as_view(Tensor(of_view, input.dtype), input)
    if tracked:
        output.set_record(regenerated(output, base))
    return output


def _reshaped_in_place(name: str) -> Any:
    """Define a method that changes a tensor's shape in place, such as x.unsqueeze_(0)."""

    def call(m: Machine, self: Tensor, *args: Any, **named: Any) -> Tensor:
        if not MODE.transforms and self.requires_grad:
            check_writable(self)
        if MODE.transforms or self.requires_grad:
            raise Unsupported(f"{name}_() on a tensor that requires a gradient, or in a transform")
        with recording(False):
            view = m.call(method_of(name), (self, *args), named)
        self.data = view.data
        self.changed()
        return self

    return call


for _plain in ("unsqueeze", "squeeze", "t", "transpose", "swapaxes", "swapdims", "as_strided"):
    define("Tensor", name=f"{_plain}_")(_reshaped_in_place(_plain))


def several_views(
    of: Tensor, parts: list[Tensor], name: str, join: str, dim: int
) -> tuple[Tensor, ...]:
    """The `parts` of a tensor, as views that one operation computes. They have one grad_fn, whose
    backward joins their gradients by the function `join`, "cat" or "stack".
    """
    for part in parts:
        as_view(part, of, "multi")
    if MODE.recording and of.requires_grad:
        metas = [Meta(p.shape, p.dtype) for p in parts]

        def back(m: Machine, record: Record, grads: Any) -> Any:
            if all(g is None for g in grads):
                return [None]
            zeros = (Tensor(np.zeros(m.shape, m.dtype.numpy), m.dtype) for m in metas)
            filled = [z if g is None else g for g, z in zip(grads, zeros)]
            return [calls.call(join, [filled], {"dim": dim})]

        from .views import flat_indices

        at = tuple(flat_indices(part, of) for part in parts)
        record = Record(name, [of.edge], metas, back, call=Elements(at))
        for place, part in enumerate(parts):
            part.set_record(record, place)
    return tuple(parts)


def _check_not_single(name: str, tensor: Tensor) -> None:
    if not tensor.ndim:
        raise error("RuntimeError", f"{name} expects at least a 1-dimensional tensor")


@define("Tensor", "torch")
def split(m: Machine, tensor: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Split along a dimension into parts of the given sizes."""
    _check_not_single("split", tensor)
    dim = dimension(dim, tensor.ndim)
    whole = tensor.shape[dim]
    if isinstance(split_size, int):
        check_split(split_size, whole)
        starts = range(0, max(whole, 1), split_size)
        sizes = [min(split_size, whole - s) for s in starts]
        name = "SplitBackward0"
    elif isinstance(split_size, Tensor) and split_size.ndim:
        text = "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints"
        raise error("TypeError", f"{text}, not Tensor")
    else:
        sizes, name = list(split_size), "SplitWithSizesBackward0"
        if sum(sizes) != whole:
            text = (
                f"split_with_sizes expects split_sizes to sum exactly to {whole} (input tensor's "
                f"size at dimension {dim}), but got split_sizes={sizes}"
            )
            raise error("RuntimeError", text)
    ends = np.cumsum([0, *sizes]).tolist()
    with recording(False):
        parts = [
            indexing.get(tensor, (*(slice(None),) * dim, slice(a, b))) for a, b in pairwise(ends)
        ]
    return several_views(tensor, parts, name, "cat", dim)


@define("Tensor", "torch")
def chunk(m: Machine, input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split along a dimension into at most `chunks` parts."""
    _check_not_single("chunk", input)
    whole = input.shape[dimension(dim, input.ndim)]
    if chunks <= 0:
        text = f"chunk expects `chunks` to be greater than 0, got: {chunks}"
        raise error("RuntimeError", text)
    return split(m, input, max(-(-whole // chunks), 1), dim)


# ---- methods that are operators ------------------------------------------------------------------


PRIVATE = frozenset(  # attributes of PyTorch's tensors that its public lists omit
    ("_values", "_indices", "_nnz", "_grad", "_grad_fn", "_is_zerotensor", "_conj", "_is_param")
    + ("_backward_hooks", "_post_accumulate_grad_hooks", "_make_subclass", "_cdata", "_to_dense")
)


def _counting_positional(name: str, function: Any) -> Any:
    """`function`, the method `name`, with a check of the number of positional arguments."""
    if positional_counts("torch.Tensor", name) is None:
        return function

    def checked(m: Machine, self: Tensor, *args: Any, **named: Any) -> Any:
        check_places("torch.Tensor", name, len(args))
        return function(m, self, *args, **named)

    return checked


def method_of(name: str) -> Any:
    """The tensor method `name`, such as exp or exp_; MISSING if PyTorch has no such method."""
    builtin = TABLES["Tensor"].get(name)
    if builtin is not None:
        return Builtin(builtin.name, of_numbers(_counting_positional(name, builtin.function), name))
    if not has("torch.Tensor", name):
        if name in PRIVATE:
            raise Unsupported(f"Tensor.{name}")
        return MISSING
    if name.endswith("_"):
        plain = name[:-1]
        if calls.known(plain) or calls.known(f"Tensor.{plain}"):
            return Builtin(
                name, of_numbers(lambda m, self, *a, **k: calls.in_place(plain, self, a, k), name)
            )
    if calls.known(name) or calls.known(f"Tensor.{name}"):

        def called(m: Machine, self: Tensor, *args: Any, **named: Any) -> Any:
            return calls.call(name, (self, *args), named, method=True)

        return Builtin(name, of_numbers(_counting_positional(name, called), name))
    raise Unsupported(f"Tensor.{name}")


for _name in PYTHON_METHODS:  # Python's errors show the class with these names
    TABLES["Tensor"][_name].name = f"Tensor.{_name}"
