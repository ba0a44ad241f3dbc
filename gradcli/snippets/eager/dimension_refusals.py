"""Checks of dimensions, shapes and ranges along a dimension, with PyTorch's error messages."""

from collections.abc import Sequence
from typing import Any

from ..python.values import Unsupported, error
from .checks import check, check_broadcast, check_dims, dimension, needs, refuse_if
from .dtypes import BOOL
from .kernels import not_implemented
from .tensor import Tensor
from .zeros import UNKNOWN, mixed_zeros

# ---- dimensions ----------------------------------------------------------------------------------


@check("squeeze")
def _dims(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    check_dims(input, dim)


@check("unsqueeze")
def _unsqueeze(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    if isinstance(dim, int):
        dimension(dim, input.ndim + 1)


@check("transpose", "swapaxes", "swapdims")
def _transpose(input: Tensor, dim0: Any = 0, dim1: Any = 0, **_: Any) -> None:
    check_dims(input, (dim0, dim1))


@check("t")
def _t(input: Tensor) -> None:
    if input.ndim > 2:
        text = f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D"
        raise error("RuntimeError", text)


def _listed(args: Sequence[Any]) -> tuple[Any, ...]:
    """The numbers in x.permute(1, 0), x.permute((1, 0)) or x.permute(shape)."""
    values = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    return tuple(getattr(values, "payload", values))


@check("permute")
def _permute(input: Tensor, *dims: Any, **named: Any) -> None:
    order = _listed(dims)
    if not named and len(order) != input.ndim:
        raise error(
            "RuntimeError",
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {input.ndim} is not "
            f"equal to len(dims) = {len(order)}",
        )
    if not named:
        places = [dimension(d, input.ndim) for d in order]
        text = "permute(): duplicate dims are not allowed."
        refuse_if(len(set(places)) < len(places), text)


@check("narrow")
def _narrow(input: Tensor, dim: int, start: Any, length: int) -> None:
    refuse_if(length < 0, "narrow(): length must be non-negative.")
    size = input.shape[dimension(dim, input.ndim)] if input.ndim else 1
    if not isinstance(start, int):
        return
    text = f"start out of range (expected to be in range of [-{size}, {size}], but got {start})"
    refuse_if(not -size <= start <= size, text, "IndexError")
    start += size if start < 0 else 0
    text = f"start ({start}) + length ({length}) exceeds dimension size ({size})."
    refuse_if(start + length > size, text)


@check("logsumexp")
def _dim_given(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    text = 'logsumexp() missing 1 required positional arguments: "dim"'
    refuse_if(dim is None, text, "TypeError")


@check("logsumexp", "cumprod", "sort", "argsort", "any")
def _along(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    if not isinstance(dim, Tensor):
        check_dims(input, dim)


@check("sum", "flip")
def _dims_once(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    check_dims(input, dim)
    if isinstance(dim, list | tuple):
        places = [dimension(d, input.ndim) for d in dim]
        for place in places:
            text = f"dim {place} appears multiple times in the list of dims"
            refuse_if(places.count(place) > 1, text)


@check("diagonal")
def _diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> None:
    same = dimension(dim1, input.ndim) == dimension(dim2, input.ndim)
    refuse_if(same, f"diagonal dimensions cannot be identical {dim1}, {dim2}")


@check("diag")
def _diag(input: Tensor, *_: Any, **__: Any) -> None:
    text = f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D"
    refuse_if(input.ndim not in (1, 2), text)


@check("roll")
def _roll(input: Tensor, shifts: Any, dims: Any = None) -> None:
    if dims is not None:
        counts = [len(v) if isinstance(v, list | tuple) else 1 for v in (shifts, dims)]
        text = "shifts and dimensions must align. shifts: {}, dims:{}".format(*counts)
        refuse_if(counts[0] != counts[1], text)


@check("rot90")
def _rot90(input: Tensor, *_: Any, **__: Any) -> None:
    text = f"expected total dims >= 2, but got total dims = {input.ndim}"
    refuse_if(input.ndim < 2, text)


for _function in ("triu", "tril"):
    needs(2, f"{_function}: input tensor must have at least 2 dimensions", _function)


# ---- shapes --------------------------------------------------------------------------------------


@check("expand")
def check_expand(input: Tensor, *sizes: Any, **_: Any) -> None:
    """Refuse sizes that a tensor cannot be expanded to."""
    to = _listed(sizes)
    kind = f"{input.dtype.type_name}{{{list(input.shape)}}}"
    if len(to) < input.ndim:
        raise error(
            "RuntimeError",
            f"expand({kind}, size={list(to)}): the number of sizes provided ({len(to)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({input.ndim})",
        )
    for back in range(1, input.ndim + 1):
        want, have = to[-back], input.shape[-back]
        if have != 1 and want not in (-1, have):
            raise error(
                "RuntimeError",
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) "
                f"at non-singleton dimension {len(to) - back}.  Target sizes: {list(to)}.  "
                f"Tensor sizes: {list(input.shape)}",
            )

    leading = [d for d, size in enumerate(to[: len(to) - input.ndim]) if size == -1]
    if leading and not input.ndim:
        raise error("RuntimeError", "numel: integer multiplication overflow")
    if leading:
        text = "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
        raise error("RuntimeError", f"{text}dimension {leading[-1]}")


@check("expand_as")
def _expand_as(input: Tensor, other: Tensor) -> None:
    check_expand(input, other.shape)


@check("repeat")
def _repeat(input: Tensor, *counts: Any, **_: Any) -> None:
    text = "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
    refuse_if(len(_listed(counts)) < input.ndim, f"{text}tensor")


@check("reshape_as")
def _reshape_as(input: Tensor, other: Tensor) -> None:
    text = f"shape '{list(other.shape)}' is invalid for input of size {input.numel}"
    refuse_if(input.numel != other.numel, text)


@check("unflatten")
def _unflatten(input: Tensor, dim: int, sizes: Any) -> None:
    parts = [int(n) for n in getattr(sizes, "payload", sizes)]
    place = dimension(dim, input.ndim)
    size, count = input.shape[place], 1
    for n in parts:
        count *= n
    if count != size and -1 not in parts:
        text = f"unflatten: Provided sizes {parts} don't multiply up to the size of dim {place} "
        raise error("RuntimeError", f"{text}({size}) in the input tensor")


def check_split(part: int, size: int) -> None:
    """Refuse split sizes that are negative, or 0 for a dimension that is not empty."""
    text = f"split expects split_size be non-negative, but got split_size={part}"
    refuse_if(part < 0, text)
    text = f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
    refuse_if(part == 0 and size > 0, text)


@check("tensor_split")
def _tensor_split(input: Tensor, sections: Any, *_: Any, **__: Any) -> None:
    text = "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
    refuse_if(input.ndim < 1, text)
    text = f"number of sections must be larger than 0, got {sections}"
    refuse_if(isinstance(sections, int) and sections < 1, text)


@check("meshgrid")
def _meshgrid(*tensors: Any, **_: Any) -> None:
    inputs = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    kinds = {t.dtype for t in inputs if isinstance(t, Tensor)}
    refuse_if(len(kinds) > 1, "meshgrid expects all tensors to have the same dtype")


@check("cartesian_prod", "combinations")
def _vectors(*tensors: Any, **_: Any) -> None:
    for tensor in tensors:
        if isinstance(tensor, Tensor):
            text = f"Expect a 1D vector, but got shape {list(tensor.shape)}"
            refuse_if(tensor.ndim != 1, text)


def _joined(name: str, least: int, dim: int) -> None:
    """Define the check of hstack, vstack or dstack: cat along `dim` in at least `least` dims."""

    def checked(tensors: Any, **_: Any) -> None:
        shapes = [_at_least(t.shape, least) for t in tensors if isinstance(t, Tensor)]
        place = 0 if name == "hstack" and len(shapes[0]) == 1 else dim
        for k, shape in enumerate(shapes[1:], 1):
            text = "Tensors must have same number of dimensions: got {} and {}"
            refuse_if(len(shape) != len(shapes[0]), text.format(len(shapes[0]), len(shape)))
            for d, (a, b) in enumerate(zip(shapes[0], shape)):
                text = f"Sizes of tensors must match except in dimension {place}. Expected size "
                text += f"{a} but got size {b} for tensor number {k} in the list."
                refuse_if(d != place and a != b, text)

    check(name)(checked)


def _at_least(shape: Sequence[int], least: int) -> tuple[int, ...]:
    if len(shape) < least:
        shape = {2: (1, *shape), 3: (1, *shape)}.get(least, tuple(shape)) if shape else (1,)
    return (*shape, *(1,) * (least - len(shape)))


_joined("hstack", 1, 1)
_joined("vstack", 2, 0)
_joined("dstack", 3, 2)


# ---- extremes and ranges -------------------------------------------------------------------------


def _define_arg_extreme(name: str) -> None:
    def checked(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
        if input.dtype.kind == "bool":
            raise error("RuntimeError", f"{name}(): does not support bool input")
        _along(input, dim)
        if not input.numel and dim is None:
            text = f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
            raise error("IndexError", text)
        _not_empty(f"{name}()", input, dim)

    check(name)(checked)


for _function in ("argmax", "argmin"):
    _define_arg_extreme(_function)


def _not_empty(name: str, input: Tensor, dim: Any) -> None:
    """Refuse a dimension of size 0, along which no extreme exists."""
    if type(dim) is int and input.ndim and not input.shape[dim]:
        text = f"{name}: Expected reduction dim {dim} to have non-zero size."
        raise error("IndexError", text)


def _order_statistic(name: str, shown: str) -> None:
    """Register a check that an order statistic, such as median, is not taken along a dimension of
    size 0. `shown` is the name of the function in the message.
    """

    def checked(input: Tensor, *args: Any, **named: Any) -> None:
        given = args[:1] if name != "kthvalue" else args[1:2]
        dim = named.get("dim", given[0] if given else None)
        if type(dim) is int:
            _not_empty(shown, input, dimension(dim, input.ndim))

    check(name)(checked)


for _function in ("max", "min", "amax", "amin", "median", "mode", "kthvalue"):
    _order_statistic(_function, f"{_function}()")
_order_statistic("nanmedian", "median()")
_order_statistic("aminmax", "aminmax")


@check("renorm")
def _renorm(input: Tensor, *_: Any, **__: Any) -> None:
    text = f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions"
    refuse_if(input.ndim < 2, text)


@check("max", "min")
def _extreme(input: Tensor, dim: Any = None, *_: Any, **named: Any) -> None:
    if dim is None and not input.numel:
        text = (
            "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
        raise error("RuntimeError", text)
    _along(input, dim)
    check_broadcast(input, named.get("other", dim))


@check("aminmax")
def _aminmax(input: Tensor, *_: Any, **__: Any) -> None:
    if mixed_zeros(input.data):
        raise Unsupported(UNKNOWN)


@check("clamp", "clip")
def _clamp(input: Tensor, min: Any = None, max: Any = None, **_: Any) -> None:
    if min is None and max is None:
        text = "torch.clamp: At least one of 'min' or 'max' must not be None"
        raise error("RuntimeError", text)


@check("topk")
def _topk(input: Tensor, k: int, dim: int = -1, *_: Any, **__: Any) -> None:
    if not 0 <= k <= (input.shape[dimension(dim, input.ndim)] if input.ndim else 1):
        raise error("RuntimeError", "selected index k out of range")


@check("kthvalue")
def _kthvalue(input: Tensor, k: int, dim: int = -1, *_: Any, **__: Any) -> None:
    place = dimension(dim, input.ndim)
    text = f"kthvalue(): selected number k out of range for dimension {place}"
    refuse_if(bool(input.ndim) and not 1 <= k <= input.shape[place], text)


@check("quantile", "nanquantile")
def _quantile(input: Tensor, q: Any, *_: Any, **__: Any) -> None:
    refuse_if(not input.numel, "quantile() input tensor must be non-empty")
    if not input.dtype.is_floating:
        text = "quantile() input tensor must be either float or double dtype"
        raise error("RuntimeError", text)
    if isinstance(q, Tensor):
        refuse_if(q.ndim > 1, "quantile() q must be a scalar or 1D tensor")
        text = "quantile() q tensor must be same dtype as the input tensor"
        refuse_if(q.dtype is not input.dtype, text)
        outside = bool(((q.data < 0) | (q.data > 1)).any())
        refuse_if(outside, "quantile() q values must be in the range [0, 1]")
    elif isinstance(q, int | float):
        refuse_if(not 0 <= q <= 1, f"quantile() q must be in the range [0, 1] but got {q:g}")


@check("sign", "sgn")
def _sign(input: Tensor, *_: Any, **__: Any) -> None:
    if input.dtype is BOOL:
        raise Unsupported("the sign of a boolean tensor")


def _require_floats(name: str, kernel: str) -> None:
    """Register a check that the input of a function is floating."""

    def checked(input: Tensor, *_: Any, **__: Any) -> None:
        if not input.dtype.is_floating:
            raise not_implemented(kernel, input.dtype)

    check(name)(checked)


_require_floats("lerp", "lerp_kernel_scalar")
_require_floats("histc", "histogram_cpu")


@check("unfold")
def _unfold(input: Tensor, dimension: int, size: int, step: int) -> None:
    check_dims(input, dimension)
    place = dimension % max(input.ndim, 1)
    have = input.shape[place] if input.ndim else 1
    refuse_if(size < 0, f"size is {size} but must be >= 0")
    refuse_if(
        size > have,
        f"maximum size for tensor at dimension {place} is {have} but size is {size}",
    )
    refuse_if(step <= 0, f"step is {step} but must be > 0")
