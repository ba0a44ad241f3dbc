"""The memory layout of results, on which `view`, `stride` and `is_contiguous` depend.

Results of elementwise operations have the layout of their inputs, those of convolutions and the
like stay channels_last, and other results are contiguous. Random numbers are drawn in the order of
a tensor's memory.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...graphs import Node
from ...lazy import np
from .tensor import Tensor

KEEP_ORDER = frozenset(
    (
        *("deg2rad", "rad2deg", "hardshrink", "threshold", "prelu", "softsign", "tanhshrink"),
        *("logit", "flip", "sort_values", "sort_indices"),
    )
)
KEEP_CHANNELS = frozenset(
    (
        *("conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"),
        *("max_pool2d_indices", "interpolate", "standardize", "cat", "pad", "group_norm"),
        *("adaptive_max_pool2d", "adaptive_max_pool2d_indices"),
    )
)
CHANNELS_LAST = 1, 3, 2, 0  # dimensions of a batch of images, innermost first


def laid_out(node: Node, tensors: Sequence[Tensor], value: Any) -> Any:
    """`value`, the result of an operation, in the memory layout that PyTorch's result has."""
    if value.ndim < 2 or not value.size or all(t.data.flags.c_contiguous for t in tensors):
        return value
    name = node.op.name
    attention = name == "scaled_dot_product_attention" and value.ndim == 4
    if node.op.family == "elementwise" or name in KEEP_ORDER or attention:
        return _ordered(value, _order_of_strides(value.shape, tensors))
    if name in KEEP_CHANNELS and any(map(_channels_last, tensors)):
        return _ordered(value, CHANNELS_LAST)
    return np.ascontiguousarray(value)


def _ordered(value: Any, order: Sequence[int]) -> Any:
    """`value` with its dimensions in memory in the given order, innermost first."""
    outer = tuple(reversed(order))
    return np.ascontiguousarray(value.transpose(outer)).transpose(np.argsort(outer))


def laid_out_back(node: Node, operands: Sequence[Any], place: int, value: Any) -> Any:
    """The gradient of operand number `place`, in PyTorch's layout.

    It is contiguous, or column-major for a column-major factor of a matrix product, as `mm`
    computes it. Gradients of elementwise operations are returned unchanged.
    """
    if value.ndim < 2 or node.op.family == "elementwise":
        return value
    if node.op.name not in ("matmul", "addmm") or value.ndim > 2:
        return np.ascontiguousarray(value)
    columns = is_column_major(node, operands, place)
    return np.asfortranarray(value) if columns else np.ascontiguousarray(value)


def is_column_major(node: Node, operands: Sequence[Any], place: int) -> bool:
    """Whether an operand is a column-major factor of a product of two matrices."""
    outer = node.op.name == "matmul" and operands[1].ndim == 1  # as in the backward of mv
    factor = operands[place]
    return not outer and factor.strides == (1, factor.shape[0])


def drawn_over(tensor: Tensor, draw: Callable[[tuple[int, ...]], Any]) -> Any:
    """Random numbers for a tensor; `draw(shape)` draws them in the order of its memory."""
    if tensor.data.flags.c_contiguous:
        return draw(tensor.shape)
    outer = tuple(reversed(_order_of_strides(tensor.shape, [tensor])))
    drawn = draw(tuple(tensor.shape[d] for d in outer))
    return drawn.transpose(np.argsort(outer))


def _order_of_strides(shape: tuple[int, ...], tensors: Sequence[Tensor]) -> list[int]:
    """The dimensions of a result, innermost in memory first, as PyTorch's TensorIterator orders
    them.

    Between two dimensions, the first input in which their strides differ decides.
    """
    steps = [_result_strides(shape, t) for t in tensors]
    order = list(reversed(range(len(shape))))
    for last in range(1, len(order)):
        place = last
        for before in reversed(range(last)):
            side = _compare_strides(shape, steps, order[before], order[place])
            if side > 0:
                order[before], order[place] = order[place], order[before]
                place = before
            elif side < 0:
                break
    return order


def _result_strides(shape: tuple[int, ...], tensor: Tensor) -> list[int]:
    """The stride of an input along each dimension of the result, 0 where the input is broadcast."""
    added = len(shape) - tensor.ndim
    dims = zip(tensor.shape, shape[added:], tensor.strides, strict=True)
    return [0] * added + [0 if n == 1 and wide != 1 else step for n, wide, step in dims]


def _compare_strides(shape: tuple[int, ...], steps: list[list[int]], a: int, b: int) -> int:
    """Compare the strides of two dimensions: positive if those of `a` are larger than those of `b`,
    negative if smaller, 0 if undecided.
    """
    for s in steps:
        if not s[a] or not s[b]:
            continue
        if s[a] != s[b]:
            return s[a] - s[b]
        if shape[a] > shape[b]:
            return 1
    return 0


def _channels_last(tensor: Tensor) -> bool:
    """Whether PyTorch infers from the strides that a batch of images is channels_last."""
    if tensor.ndim != 4:
        return False
    least, strides = 0, tensor.strides
    for d in CHANNELS_LAST:
        if strides[d] < least or (d == 0 and least == strides[1]):
            return False
        least = strides[d] * tensor.shape[d]
    return True
