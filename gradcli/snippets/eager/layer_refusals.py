"""Checks of the arguments of layers and losses, with PyTorch's error messages."""

from collections.abc import Sequence
from typing import Any

from ...lazy import np
from ..python.values import Unsupported, error
from .checks import (
    LONG_NAMES,
    Check,
    check,
    check_batches,
    check_broadcast,
    check_mm,
    check_same,
    per_dimension,
    refuse_if,
)
from .dtypes import BFLOAT16, FLOAT32, INT32, INT64, result_type
from .mode import MODE
from .tensor import Tensor

# ---- convolutions --------------------------------------------------------------------------------


def _check_options(n: int, **options: Any) -> None:
    """Refuse options of a convolution that have the wrong length or are out of range."""
    for name, value in options.items():
        sizes = per_dimension(value, n)
        text = f"expected {name} to be a single integer value or a list of {n} values to match the "
        refuse_if(len(sizes) not in (1, n), f"{text}convolution dimensions, but got {name}={sizes}")
    stride = per_dimension(options["stride"], n)
    refuse_if(min(stride) < 1, "non-positive stride is not supported")
    refuse_if(min(per_dimension(options["padding"], n)) < 0, "negative padding is not supported")
    dilation = per_dimension(options["dilation"], n)
    text = f"dilation should be greater than zero, but got {dilation}"
    refuse_if(min(dilation) < 1, text)


def _check_bias(start: str, weight: Tensor, bias: Any, channels: int) -> None:
    if isinstance(bias, Tensor) and bias.shape != (channels,):
        text = (
            f"{start}weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
        )
        text += f"{channels} elements, but got bias of size {list(bias.shape)} instead"
        raise error("RuntimeError", text)


def _check_dtypes(input: Tensor, weight: Tensor, bias: Any) -> None:
    """Refuse a weight or bias of a convolution whose dtype differs from the input's."""
    if isinstance(bias, Tensor) and bias.dtype is not input.dtype:
        kinds = LONG_NAMES[input.dtype.name], LONG_NAMES[bias.dtype.name]
        text = "Input type ({}) and bias type ({}) should be the same".format(*kinds)
        raise error("RuntimeError", text)
    if weight.dtype is not input.dtype:
        kinds = input.dtype.scalar_name, weight.dtype.scalar_name
        text = "expected scalar type {} but found {}"
        if input.dtype is FLOAT32 and weight.dtype is not BFLOAT16:  # MKLDNN
            kinds = input.dtype.type_name, weight.dtype.type_name
            text = "Input type ({}) and weight type ({}) should be the same or input should be a "
            text += "MKLDNN tensor and weight is a dense tensor"
        raise error("RuntimeError", text.format(*kinds))


def _define_convolution(n: int) -> None:
    """Register the check of conv1d, conv2d or conv3d."""

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        **_: Any,
    ) -> None:
        if input.ndim not in (n + 1, n + 2):
            raise error(
                "RuntimeError",
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{n}d, "
                f"but got input of size: {list(input.shape)}",
            )
        if weight.ndim < 3:
            raise error("RuntimeError", "weight should have at least three dimensions")
        _check_dtypes(input, weight, bias)
        shape = input.shape if input.ndim == n + 2 else (1, *input.shape)
        channels = weight.shape[1] * groups
        if shape[1] != channels:
            raise error(
                "RuntimeError",
                f"Given groups={groups}, weight of size {list(weight.shape)}, expected "
                f"input{list(shape)} to have {channels} channels, but got {shape[1]} channels "
                "instead",
            )
        if isinstance(padding, str):
            padding = 0
        else:
            _check_kernel(shape[2:], weight.shape[2:], padding, dilation)
        if weight.ndim == n + 2:
            _check_options(n, stride=stride, padding=padding, dilation=dilation)
            _check_bias("Given ", weight, bias, weight.shape[0])

    check(f"conv{n}d")(conv)


def _check_kernel(sizes: Any, kernel: Any, padding: Any, dilation: Any) -> None:
    pads, steps = per_dimension(padding, len(sizes)), per_dimension(dilation, len(sizes))
    padded = [n + 2 * p for n, p in zip(sizes, pads)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, steps)]
    if any(k > n for k, n in zip(reach, padded)):
        raise error(
            "RuntimeError",
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel "
            f"size: ({' x '.join(map(str, reach))}). Kernel size can't be greater than actual "
            "input size",
        )


def _define_transposed(n: int) -> None:
    """Register the check of conv_transpose1d, conv_transpose2d or conv_transpose3d."""
    name = f"conv_transpose{n}d"

    def checked(
        input: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> None:
        text = (
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input "
        )
        refuse_if(input.ndim not in (n + 1, n + 2), f"{text}of size: {list(input.shape)}")
        _check_options(n, stride=stride, padding=padding, dilation=dilation)
        shape = input.shape if input.ndim == n + 2 else (1, *input.shape)
        rows = weight.shape[0]
        text = f"Given transposed=1, weight of size {list(weight.shape)}, expected input"
        text += f"{list(shape)} to have {rows} channels, but got {shape[1]} channels instead"
        refuse_if(shape[1] != rows, text)
        _check_bias("Given transposed=1, ", weight, bias, weight.shape[1] * groups)
        kinds = input.dtype.scalar_name, weight.dtype.scalar_name
        text = "expected scalar type {} but found {}".format(*kinds)
        refuse_if(kinds[0] != kinds[1], text)
        if n == 2:
            _check_output_padding(
                *(per_dimension(v, 2) for v in (output_padding, stride, dilation))
            )

    check(name)(checked)


def _check_output_padding(pads: list[int], strides: list[int], steps: list[int]) -> None:
    if any(p >= s and p >= d for p, s, d in zip(pads, strides, steps)):
        parts = zip(("output_padding", "stride", "dilation"), (pads, strides, steps))
        text = "output padding must be smaller than either stride or dilation, but got "
        text += " ".join(f"{n}_height: {a} {n}_width: {b}" for n, (a, b) in parts)
        raise error("RuntimeError", text)


for _n in (1, 2, 3):
    _define_convolution(_n)
    _define_transposed(_n)


# ---- padding, windows, sizes ---------------------------------------------------------------------

COMBINATIONS = (
    "\nSupported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)


@check("pad")
def _pad(input: Tensor, pad: Any, mode: str = "constant", *_: Any, **__: Any) -> None:
    pads = [int(p) for p in getattr(pad, "payload", pad)]
    refuse_if(len(pads) % 2 == 1, "Padding length must be divisible by 2")
    text = "Padding length should be less than or equal to two times the input dimension but got "
    text += f"padding length {len(pads)} and input of dimension {input.ndim}"
    refuse_if(len(pads) > 2 * input.ndim, text)
    if mode == "constant":
        return
    known = mode in ("reflect", "replicate", "circular")
    text = f"Padding size {len(pads)} is not supported for {input.ndim}D input tensor."
    fits = len(pads) in (2, 4, 6) and input.ndim - len(pads) // 2 in (1, 2)
    refuse_if(not fits, text + COMBINATIONS, "NotImplementedError")
    refuse_if(not known, f"Unrecognised padding mode {mode}", "NotImplementedError")
    for k, pair in enumerate(zip(pads[::2], pads[1::2])):
        place = input.ndim - 1 - k
        size = input.shape[place]
        text = f"Argument #{4 + 2 * k}: Padding size should be less than the corresponding input "
        text += f"dimension, but got: padding ({pair[0]}, {pair[1]}) at dimension {place} of input "
        refuse_if(mode == "reflect" and max(pair) >= size, text + str(list(input.shape)))
        text = "Padding value causes wrapping around more than once."
        refuse_if(mode == "circular" and max(pair) > size, text)


@check("F.unfold")
def _unfold(
    input: Tensor,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> None:
    text = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    refuse_if(input.ndim == 2, text, "IndexError")
    if input.ndim not in (3, 4):
        return
    kernel, steps, pads, strides = (
        tuple(per_dimension(v, 2)) for v in (kernel_size, dilation, padding, stride)
    )
    sizes = tuple(input.shape[-2:])
    parts = zip(sizes, kernel, steps, pads, strides)
    counts = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in parts)
    text = (
        f"Given input with spatial size {sizes}, kernel_size={kernel}, dilation={steps}, "
        f"padding={pads}, calculated shape of the array of sliding blocks as {counts}, but its "
        "components must be at least one."
    )
    refuse_if(min(counts) < 1, text)


MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
DIMS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
FORMAT = (
    "Input and {name} must have the same number of spatial dimensions, but got input with spatial "
    "dimensions of {dims} and {what} of {given}. Please provide input tensor in (N, C, d1, d2, "
    "...,dK) format and {what} in ({letter}1, {letter}2, ...,{letter}K) format."
)


@check("interpolate")
def _interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    **_: Any,
) -> None:
    smooth = mode in ("linear", "bilinear", "bicubic", "trilinear")
    text = "align_corners option can only be set with the interpolating modes: linear | bilinear | "
    refuse_if(align_corners is not None and not smooth, text + "bicubic | trilinear", "ValueError")
    both, none = None not in (size, scale_factor), size is None and scale_factor is None
    refuse_if(both, "only one of size or scale_factor should be defined", "ValueError")
    dims = list(input.shape[2:])
    target = getattr(size if scale_factor is None else scale_factor, "payload", None)
    target = (size if scale_factor is None else scale_factor) if target is None else target
    if isinstance(target, list | tuple) and len(target) != len(dims):
        named = {"name": "output", "what": "output size", "given": tuple(target), "letter": "o"}
        if scale_factor is not None:
            named = {"name": "scale_factor", "what": "scale_factor", "letter": "s"}
            named["given"] = f"shape {tuple(target)}"
        raise error("ValueError", FORMAT.format(dims=dims, **named))
    refuse_if(none, "either size or scale_factor should be defined", "ValueError")
    known = mode in MODES.split(" | ") and 3 <= input.ndim <= 5
    if known and DIMS.get(mode, input.ndim) != input.ndim:
        text = f"Got {input.ndim}D input, but {mode} mode needs {DIMS[mode]}D input"
        raise error("NotImplementedError", text)
    text = f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the "
    refuse_if(not known, f"{text}modes: {MODES} (got {mode})", "NotImplementedError")


@check("grid_sample")
def _grid_sample(input: Tensor, grid: Tensor, *_: Any, **__: Any) -> None:
    have, places = list(input.shape), list(grid.shape)
    text = "grid_sampler(): expected grid and input to have same batch size, but got input with "
    refuse_if(have[:1] != places[:1], f"{text}sizes {have} and grid with sizes {places}")
    text = (
        f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got "
    )
    refuse_if(places[-1:] != [input.ndim - 2], f"{text}grid with sizes {places}")
    for place, size in enumerate(have[2:], 2):
        text = "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
        refuse_if(not size, f"{text}sizes {have} with dimension {place} being empty")
    kinds = f"{input.dtype.scalar_name} but found {grid.dtype.scalar_name}"
    refuse_if(input.dtype is not grid.dtype, f"expected scalar type {kinds}")


@check("fold")
def _fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> None:
    text = "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
    text += f"non-zero dimensions for input, but got: {list(input.shape)}"
    refuse_if(input.ndim not in (2, 3) or 0 in input.shape[-2:], text)
    channels, columns = input.shape[-2:]
    pairs = (output_size, kernel_size, dilation, padding, stride)
    output, kernel, dilation, padding, stride = (tuple(per_dimension(v, 2)) for v in pairs)
    text = (
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
    )
    text += f"got input.size(1)={channels} and kernel_size={kernel}."
    refuse_if(bool(channels % (kernel[0] * kernel[1])), text)
    rows = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(output, kernel, dilation, padding, stride, strict=True)
    ]
    text = f"Given output_size={output}, kernel_size={kernel}, dilation={dilation}, "
    text += (
        f"padding={padding}, stride={stride}, expected size of input's dimension 2 to match the "
    )
    text += f"calculated number of sliding blocks {rows[0]} * {rows[1]} = {rows[0] * rows[1]}, but "
    text += f"got input.size(2)={columns}."
    refuse_if(columns != rows[0] * rows[1], text)


@check("pixel_shuffle")
def _pixel_shuffle(input: Tensor, upscale_factor: int) -> None:
    _check_pixels("pixel_shuffle", input)
    channels = input.shape[-3]
    square = upscale_factor * upscale_factor
    text = "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
    text += f"upscale_factor, but input.size(-3)={channels} is not divisible by {square}"
    refuse_if(bool(channels % square), text)


@check("pixel_unshuffle")
def _pixel_unshuffle(input: Tensor, downscale_factor: int) -> None:
    _check_pixels("pixel_unshuffle", input)
    for place, name in ((-2, "height"), (-1, "width")):
        size = input.shape[place]
        text = f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
        text += f"input.size({place})={size} is not divisible by {downscale_factor}"
        refuse_if(bool(size % downscale_factor), text)


def _check_pixels(name: str, input: Tensor) -> None:
    text = f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} "
    refuse_if(input.ndim < 3, text + "dimension(s)")


@check("glu")
def _glu(input: Tensor, dim: int = -1) -> None:
    text = "glu does not support scalars because halving size must be even"
    refuse_if(not input.ndim, text)
    if -input.ndim <= dim < input.ndim:
        place, size = dim % input.ndim, input.shape[dim]
        text = f"Halving dimension must be even, but dimension {place} is size {size}"
        refuse_if(bool(size % 2), text)


@check("prelu")
def _prelu(input: Tensor, weight: Tensor) -> None:
    if input.dtype is not weight.dtype:
        kinds = f"{input.dtype.scalar_name} and {weight.dtype.scalar_name}"
        raise error("RuntimeError", f"prelu: Type promoting not supported. Got {kinds}")
    channels = input.shape[1] if input.ndim > 1 else 1
    text = "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
    text += f"{weight.numel} and channel size = {channels}."
    refuse_if(weight.ndim == 1 and weight.numel not in (1, channels), text)


@check("bilinear")
def _bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Any = None, **_: Any) -> None:
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    tensors = {name: t for name, t in given.items() if isinstance(t, Tensor)}
    if any(t.dtype is not input1.dtype for t in tensors.values()):
        kinds = ", ".join(f"{n}: {LONG_NAMES[t.dtype.name]}" for n, t in tensors.items())
        raise error("RuntimeError", f"All tensors must have the same dtype, got {kinds}")
    for place, tensor in enumerate((input1, input2), 1):
        sizes = tensor.shape[-1], weight.shape[place]
        text = (
            f"bilinear(): input{place} size does not match weight size: got {{}} but expected {{}}"
        )
        refuse_if(sizes[0] != sizes[1], text.format(*sizes))


# ---- norms ---------------------------------------------------------------------------------------


def _one_dtype(input: Tensor, *parameters: Any) -> None:
    """Refuse parameters whose dtype differs from the input's; PyTorch checks the first one."""
    dtypes = [p.dtype for p in parameters if isinstance(p, Tensor)]
    others = [d for d in dtypes if d is not input.dtype]
    if not others:
        return
    if input.dtype.size == 2 and set(dtypes) == {FLOAT32}:
        raise Unsupported(f"normalising {input.dtype!r} with parameters of torch.float32")
    text = "mixed dtype (CPU): all inputs must share same datatype."
    if dtypes[0] is input.dtype:
        kinds = input.dtype.scalar_name, others[0].scalar_name
        text = "expected scalar type {} but found {}".format(*kinds)
    elif input.dtype is FLOAT32:
        text = "mixed dtype (CPU): expect parameter to have scalar type of Float"
    raise error("RuntimeError", text)


@check("batch_norm")
def _batch_norm(
    input: Tensor,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: Any = False,
    *_: Any,
    **__: Any,
) -> None:
    _one_dtype(input, weight, bias, running_mean, running_var)
    vectors = {"running_mean": running_mean, "running_var": running_var}
    for name, vector in vectors.items():
        text = f"{name} must be defined in evaluation mode"
        refuse_if(vector is None and not training, text)
    _check_channels(input, {**vectors, "weight": weight, "bias": bias})


def _check_channels(input: Tensor, vectors: dict[str, Any]) -> None:
    channels = input.shape[1] if input.ndim > 1 else 0
    for name, vector in vectors.items():
        if isinstance(vector, Tensor):
            text = f"{name} should contain {channels} elements not {vector.numel}"
            refuse_if(vector.numel != channels, text)


@check("instance_norm")
def _instance_norm(
    input: Tensor, mean: Any = None, var: Any = None, weight: Any = None, bias: Any = None, **_: Any
) -> None:
    size = 1
    for n in input.shape[2:]:
        size *= n
    shape = ", ".join(map(str, input.shape))
    text = (
        f"Expected more than 1 spatial element when training, got input size torch.Size([{shape}])"
    )
    refuse_if(input.ndim > 1 and size == 1, text, "ValueError")
    _check_channels(input, {"weight": weight, "bias": bias})


@check("layer_norm")
def _layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, *_: Any, **__: Any
) -> None:
    _one_dtype(input, weight, bias)
    sizes = tuple(int(n) for n in getattr(normalized_shape, "payload", normalized_shape))
    if input.shape[len(input.shape) - len(sizes) :] != sizes:
        wanted = ", ".join(["*", *map(str, sizes)])
        raise error(
            "RuntimeError",
            f"Given normalized_shape={list(sizes)}, expected input with shape [{wanted}], but got "
            f"input of size{list(input.shape)}",
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if isinstance(tensor, Tensor):
            text = f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
            text += f"shape {list(tensor.shape)} and normalized_shape = {list(sizes)}"
            refuse_if(tensor.shape != sizes, text)


@check("group_norm")
def _group_norm(
    input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, *_: Any, **__: Any
) -> None:
    of = f"input of shape {list(input.shape)}"
    if input.ndim > 1 and num_groups > 0 and input.shape[1] % num_groups:
        text = "Expected number of channels in input to be divisible by num_groups, but got "
        raise error("RuntimeError", f"{text}{of} and num_groups={num_groups}")
    for name, vector in (("weight", weight), ("bias", bias)):
        if isinstance(vector, Tensor) and vector.shape != input.shape[1:2]:
            text = f"Expected {name} to be a vector of size equal to the number of channels in "
            shape = list(vector.shape)
            raise error("RuntimeError", f"{text}input, but got {name} of shape {shape} and {of}")
    _one_dtype(input, weight, bias)


@check("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell")
def _cell(input: Tensor, hx: Any, w_ih: Tensor, *_: Any, **__: Any) -> None:
    check_same("mat1 and mat2", input, w_ih)


# ---- embeddings and attention --------------------------------------------------------------------


def _check_indices(indices: Sequence[Tensor], name: str) -> None:
    """Refuse indices that are not int32 or int64; the message has their promoted dtype."""
    dtype = result_type(indices)
    if dtype not in (INT32, INT64):
        text = "Expected tensor for argument #1 'indices' to have one of the following scalar types"
        text += f": Long, Int; but got {dtype.type_name} instead (while checking arguments for "
        raise error("RuntimeError", f"{text}{name})")


@check("embedding")
def _embedding(input: Tensor, weight: Tensor, *_: Any, **__: Any) -> None:
    if weight.ndim != 2:
        raise error("RuntimeError", "'weight' must be 2-D")
    _check_indices([input], "embedding")
    if ((input.data < 0) | (input.data >= weight.shape[0])).any():
        raise error("IndexError", "index out of range in self")


@check("embedding_bag")
def _embedding_bag(input: Tensor, weight: Tensor, offsets: Any = None, *_: Any, **__: Any) -> None:
    _check_indices([t for t in (input, offsets) if t is not None], "embedding_bag")
    if input.ndim == 1:
        kind = "None" if offsets is None else ""
        text = f"offsets has to be a 1D Tensor but got {kind}"
        refuse_if(offsets is None, text, "ValueError")
        first = int(offsets.data[0]) if offsets.numel else 0
        text = (
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
        )
        text += f"position 0. However, got {first}\n[ torch.LongTensor{{}} ]"
        refuse_if(first != 0, text)
    elif input.ndim == 2:
        text = (
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
        )
        text += "fixed length sequences. However, found offsets of type <class 'torch.Tensor'>"
        refuse_if(offsets is not None, text, "ValueError")
    flat = input.data.reshape(-1)
    outside = np.flatnonzero((flat < 0) | (flat >= weight.shape[0]))
    if outside.size:
        text = (
            f"Index {outside[0]} of input takes value {flat[outside[0]]} which is not in the valid "
        )
        raise error("RuntimeError", f"{text}range [0, {weight.shape[0]})")


def _like(shape: Sequence[int]) -> Tensor:
    return Tensor(np.broadcast_to(np.float32(0), tuple(shape)))


@check("scaled_dot_product_attention")
def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: Any = False,
    **more: Any,
) -> None:
    tensors = {"query": query, "key": key, "value": value}
    text = "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
    text += f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
    refuse_if(min(t.ndim for t in tensors.values()) < 2, text)
    names = [LONG_NAMES[t.dtype.name] for t in tensors.values()]
    text = "Expected query, key, and value to have the same dtype, but got query.dtype: {} "
    text += "key.dtype: {} and value.dtype: {} instead."
    refuse_if(len(set(names)) > 1, text.format(*names))
    if more:
        return
    if isinstance(attn_mask, Tensor):
        kind = LONG_NAMES[attn_mask.dtype.name]
        text = "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
        text += f"attn_mask.dtype: {kind} and  query.dtype: {names[0]} instead."
        refuse_if(attn_mask.dtype.kind == "int", text)
        if is_causal and query.ndim == 4 and not (dropout_p or attn_mask.requires_grad):
            raise Unsupported("attn_mask together with is_causal=True")  # depends on the kernel
        text = "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
        refuse_if(bool(is_causal), text + "is_causal=True")
    if query.shape[-1] != key.shape[-1] or query.ndim != key.ndim != 4:
        _check_product(query.shape, (*key.shape[:-2], key.shape[-1], key.shape[-2]))
    scores = (*query.shape[:-1], key.shape[-2])
    if isinstance(attn_mask, Tensor):
        check_broadcast(_like(scores), attn_mask)
    if key.ndim == value.ndim == 3:
        _check_product(scores, value.shape)


def _check_product(a: Sequence[int], b: Sequence[int]) -> None:
    (check_mm if len(a) == len(b) == 2 else check_batches)(_like(a), _like(b))


# ---- losses --------------------------------------------------------------------------------------


def _fixed(function: str, **positions: int) -> Check:
    """A check of a loss that PyTorch does not differentiate with respect to some inputs: refuses
    those inputs if they require a gradient. `positions` has their positions among the arguments, by
    name.
    """

    def checked(*args: Any, **named: Any) -> None:
        for name, position in positions.items():
            value = args[position] if position < len(args) else named.get(name)
            if isinstance(value, Tensor) and value.requires_grad and MODE.recording:
                raise error(
                    "RuntimeError",
                    f"The function '{function}' is not differentiable with respect to argument "
                    f"'{name}'. This input cannot have requires_grad True.",
                )

    return checked


check("nll_loss")(_fixed("nll_loss_forward", weight=2))


@check("nll_loss", "cross_entropy")
def _class_weights(input: Any, target: Any = None, weight: Any = None, *_: Any, **__: Any) -> None:
    """Refuse class weights unless there is one for each class."""
    if not isinstance(weight, Tensor) or not isinstance(input, Tensor) or not input.ndim:
        return
    classes = input.shape[0 if input.ndim == 1 else 1]
    if weight.shape != (classes,):
        soft = isinstance(target, Tensor) and target.shape == input.shape
        text = "weight tensor should be defined either for all or no classes"
        if soft or input.ndim <= 2:
            text = (
                f"weight tensor should be defined either for all {classes} classes or no classes "
                f"but got weight tensor of shape: {list(weight.shape)}"
            )
        raise error("RuntimeError", f"cross_entropy: {text}" if soft else text)


check("binary_cross_entropy")(_fixed("binary_cross_entropy", weight=2))
check("binary_cross_entropy_with_logits")(
    _fixed("binary_cross_entropy_with_logits", weight=2, pos_weight=6)
)


def _pairs(*names: str, target_first: bool = False) -> None:
    """Register a check of losses that broadcast input and target. With `target_first`, the size of
    the target comes first in the message.
    """

    def checked(input: Tensor, target: Any, *_: Any, **__: Any) -> None:
        check_broadcast(*((target, input) if target_first else (input, target)))

    check(*names)(checked)


_pairs("soft_margin_loss")
check("soft_margin_loss")(_fixed("soft_margin_loss", target=1))
_pairs("kl_div", "poisson_nll_loss", "hinge_embedding_loss", target_first=True)
_pairs("multilabel_soft_margin_loss", target_first=True)


def _sizes(tensor: Tensor) -> str:
    return str(list(tensor.shape))


@check("cosine_embedding_loss")
def _cosine_embedding(input1: Tensor, input2: Tensor, target: Tensor, **_: Any) -> None:
    text = "0D or 1D target tensor expected, multi-target not supported"
    refuse_if(target.ndim > 1, text)
    pair = f"but found inputs with sizes {_sizes(input1)} and {_sizes(input2)}."
    wanted = target.ndim + 1
    text = f"{target.ndim}D target tensor expects {wanted}D input tensors, {pair}"
    refuse_if(input1.ndim != wanted or input2.ndim != wanted, text)
    check_broadcast(input1, input2)
    check_broadcast(target, _like(np.broadcast_shapes(input1.shape, input2.shape)[:1]))


@check("margin_ranking_loss")
def _margin_ranking(input1: Tensor, input2: Tensor, target: Tensor, *_: Any, **__: Any) -> None:
    tensors = {"input1": input1, "input2": input2, "target": target}
    shown = ", ".join(f"{n}: torch.Size({_sizes(t)})" for n, t in tensors.items())
    text = "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
    refuse_if(len({t.ndim for t in tensors.values()}) > 1, f"{text}{shown} ")
    check_broadcast(input1, input2)
    check_broadcast(target, _like(np.broadcast_shapes(input1.shape, input2.shape)))


@check("triplet_margin_loss")
def _triplet(anchor: Tensor, positive: Tensor, negative: Tensor, *_: Any, **__: Any) -> None:
    dims = anchor.ndim, positive.ndim, negative.ndim
    text = "The anchor, positive, and negative tensors are expected to have the same number of "
    text += "dimensions, but got: anchor {}D, positive {}D, and negative {}D inputs"
    refuse_if(len(set(dims)) > 1, text.format(*dims))
    check_broadcast(anchor, positive)
    check_broadcast(anchor, negative)


@check("multi_margin_loss")
def _multi_margin(input: Tensor, target: Tensor, *_: Any, **__: Any) -> None:
    count, classes = (1, input.numel) if input.ndim < 2 else input.shape[:2]
    if input.ndim == 2 and target.shape != (count,):
        text = "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
        text += f"input samples (batch size). Expected target size [{count}], but got "
        raise error("RuntimeError", f"{text}{_sizes(target)}. Input has shape {_sizes(input)}.")
    outside = bool(((target.data < 0) | (target.data >= classes)).any())
    refuse_if(outside, "target out of range")


@check("multilabel_margin_loss")
def _multilabel_margin(input: Tensor, target: Tensor, *_: Any, **__: Any) -> None:
    text = f"inconsistent target size: {_sizes(target)} for input of size: {_sizes(input)}"
    refuse_if(input.shape != target.shape, text)


@check("gaussian_nll_loss")
def _gaussian(input: Tensor, target: Tensor, var: Any, *_: Any, **__: Any) -> None:
    if isinstance(var, Tensor):
        fits = var.shape in (input.shape, input.shape[:-1], (*input.shape[:-1], 1))
        refuse_if(not fits, "var is of incorrect size", "ValueError")
        negative = bool((var.data < 0).any())
        refuse_if(negative, "var has negative entry/entries", "ValueError")


@check("smooth_l1_loss")
def _smooth_l1(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: Any = "mean",
    beta: float = 1.0,
) -> None:  # fmt: skip
    refuse_if(beta < 0, "smooth_l1_loss does not support negative values for beta.")


@check("huber_loss")
def _huber(input: Any, target: Any, reduction: Any = "mean", delta: float = 1.0, **_: Any) -> None:
    check_broadcast(input, target)
    refuse_if(delta <= 0, "huber_loss does not support non-positive values for delta.")


@check("binary_cross_entropy")
def _binary(input: Tensor, target: Tensor, *_: Any, **__: Any) -> None:
    if isinstance(target, Tensor) and target.shape == input.shape:
        outside = bool(((target.data < 0) | (target.data > 1)).any())
        inside = bool(((input.data >= 0) & (input.data <= 1)).all())
        text = "all elements of target should be between 0 and 1"
        refuse_if(inside and outside, text)


@check("ctc_loss")
def _ctc(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, *_: Any, **__: Any
) -> None:
    if log_probs.ndim != 3:
        return
    steps, batch, _classes = log_probs.shape
    lengths = [_lengths(v) for v in (input_lengths, target_lengths)]
    for name, values in zip(("input_lengths", "target_lengths"), lengths):
        refuse_if(len(values) != batch, f"{name} must be of size batch_size")
    checking = "(while checking arguments for ctc_loss_allocate_outputs)"
    longest = max(lengths[0], default=0)
    text = f"Expected input_lengths to have value at most {steps}, but got value {longest} "
    refuse_if(longest > steps, text + checking)
    longest = max(lengths[1], default=0)
    if targets.ndim == 2 and longest > targets.shape[1]:
        text = f"Expected tensor to have size at least {longest} at dimension 1, but got size "
        text += f"{targets.shape[1]} for argument #2 'targets' "
        raise error("RuntimeError", text + checking)


def _lengths(value: Any) -> list[int]:
    return [int(n) for n in (value.data.reshape(-1) if isinstance(value, Tensor) else value)]
