"""PyTorch's checks of pooling: windows larger than the input, padding larger than half a window."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..python.values import error
from .checks import check, dimension, per_dimension, refuse_if
from .tensor import Tensor


def _output_sizes(
    n: int, shape: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: Any
) -> list[int]:
    """The output sizes of a pooling over n dimensions. Raises RuntimeError for a wide padding."""
    kernels = per_dimension(kernel, n)
    strides = kernels if stride is None or stride == () else per_dimension(stride, n)
    if 0 in strides:
        raise error("RuntimeError", "stride should not be zero")
    sizes = []
    for size, k, s, pad, step in zip(
        shape[-n:],
        kernels,
        strides,
        per_dimension(padding, n),
        per_dimension(dilation, n),
        strict=True,
    ):
        effective_kernel = step * (k - 1) + 1
        if pad > effective_kernel // 2:
            text = "pad should be at most half of effective kernel size, but got "
            raise error("RuntimeError", f"{text}pad={pad}, kernel_size={k} and dilation={step}")
        count = (size + 2 * pad - effective_kernel + (s - 1 if ceil else 0)) // s + 1
        sizes.append(count - 1 if ceil and (count - 1) * s >= size + pad else count)
    return sizes


def _check_output_sizes(n: int, shape: Sequence[int], sizes: Sequence[int]) -> None:
    """Raise RuntimeError if an output size of a pooling over n dimensions is less than 1."""
    if min(sizes) < 1:
        channels = shape[-n - 1]
        in_text, out_text = ("x".join(map(str, [channels, *s])) for s in (shape[-n:], sizes))
        text = f"Given input size: ({in_text}). Calculated output size: ({out_text}). "
        raise error("RuntimeError", text + "Output size is too small")


def _max_pool(
    n: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: Any = False,
    *_: Any,
    **__: Any,
) -> None:
    """The checks of max_pool1d, max_pool2d and max_pool3d, for n dimensions."""
    fits = input.ndim in (n + 1, n + 2)
    if n == 1:
        text = "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size "
        refuse_if(not fits, f"{text}for input, but got:{list(input.shape)}")
        (kernel,), (pad,) = per_dimension(kernel_size, 1), per_dimension(padding, 1)
        text = "max_pool1d() padding should be at most half of kernel size, but got "
        refuse_if(pad > kernel // 2, f"{text}padding={pad} and kernel_size={kernel}")
    dims = f"{n + 1}D or {n + 2}D"
    refuse_if(not fits, f"non-empty {dims} (batch mode) tensor expected for input")
    sizes = _output_sizes(n, input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    if n == 1:
        refuse_if(sizes[0] < 1, f"max_pool1d() Invalid computed output size: {sizes[0]}")
    _check_output_sizes(n, input.shape, sizes)


def _avg_pool(
    n: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: Any = False,
    *_: Any,
    **__: Any,
) -> None:
    """The checks of avg_pool1d and avg_pool2d, for n dimensions."""
    shape = list(input.shape)
    if n == 1:
        text = f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument "
        end = "#1 'self' (while checking arguments for avg_pool1d)"
        refuse_if(input.ndim not in (2, 3), text + end)
    if n == 2:
        dimension(-3, input.ndim)
    text = "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
    refuse_if(n == 2 < input.ndim and (input.ndim > 4 or 0 in shape[-2:]), f"{text}but got:{shape}")
    if input.ndim > n:
        sizes = _output_sizes(n, shape, kernel_size, stride, padding, 1, ceil_mode)
        if n == 1:  # PyTorch computes it by avg_pool2d
            shape, sizes = [*shape[:-1], 1, shape[-1]], [1, *sizes]
        _check_output_sizes(2, shape, sizes)


for _n in (1, 2, 3):
    check(f"max_pool{_n}d")(partial(_max_pool, _n))
for _n in (1, 2):
    check(f"avg_pool{_n}d")(partial(_avg_pool, _n))
