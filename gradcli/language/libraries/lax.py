"""The functions of `jax.lax`: elementwise functions, reductions, shapes, slices, products."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, Outputs, as_node
from ...graphs.shapes import axes, broadcast
from ...graphs.shapes import axis as axis_of
from ...lazy import np
from ...operators.leaves import numbers
from .function import array, op
from .numpy import array_list, bounded, choose, dot, full_like, known, part, refuse, several, sign
from .scipy import polygamma

# ---- along dimensions ----------------------------------------------------------------------------


def _reduce(name: str) -> Any:
    return lambda operand, axes: op[name](operand, dim=tuple(axes)) if axes else operand


def _reduce_prod(operand, axes):
    for d in sorted((axis_of(a, operand.ndim) for a in axes), reverse=True):
        operand = op.prod(operand, dim=d)
    return operand


def _running(name: str, pick: Any = lambda out: out) -> Any:
    def run(operand, axis=0, reverse=False):
        flipped = op.flip(operand, dims=(axis,)) if reverse else operand
        out = pick(op[name](flipped, dim=axis))
        return op.flip(out, dims=(axis,)) if reverse else out

    return run


def _sort(operands, dimension=-1, num_keys=1):
    if isinstance(operands, tuple):
        raise refuse("sort() of several arrays", "argsort the first and index the others with it")
    return op.sort(operands, dimension)[0]


def _top_k(operand, k, *, axis=-1):
    return op.topk(operand, k, axis)


# ---- shapes --------------------------------------------------------------------------------------


def _broadcast_in_dim(operand, shape, broadcast_dimensions):
    sizes = [1] * len(shape)
    for d, size in zip(broadcast_dimensions, operand.shape, strict=True):
        sizes[d] = size
    return op.expand(op.reshape(operand, sizes), shape=tuple(shape))


def _reshape(operand, new_sizes, dimensions=None):
    operand = operand if dimensions is None else op.permute(operand, dims=dimensions)
    return op.reshape(operand, tuple(new_sizes))


def _expand_dims(array, dimensions):
    for d in sorted(axes(tuple(dimensions), array.ndim + len(dimensions))):
        array = op.unsqueeze(array, dim=d)
    return array


def _squeeze(array, dimensions):
    return op.squeeze(array, dim=axes(tuple(dimensions), array.ndim))


def _collapse(operand, start_dimension, stop_dimension=None):
    stop = operand.ndim if stop_dimension is None else stop_dimension
    last = (stop + operand.ndim if stop < 0 else stop) - 1
    return op.flatten(operand, start_dimension, last)


def _pad(operand, padding_value, padding_config):
    for axis, (low, high, between) in enumerate(padding_config):
        operand = _padded(operand, array(padding_value), axis, low, high, between)
    return operand


def _padded(a: Node, value: Node, axis: int, low: int, high: int, between: int) -> Node:
    size = a.shape[axis]
    length = (size * (between + 1) - between if size else 0) + low + high
    bounded(max(length, 0))
    positions = np.arange(size) * (between + 1)
    source = np.full(max(length, 0) + 2 * size, size)
    inside = positions + low
    keep = (inside >= 0) & (inside < length)
    source[inside[keep]] = np.flatnonzero(keep)
    shape = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    whole = op.cat([a, op.expand(value, shape=shape)], dim=axis)
    return op.index_select(whole, dim=axis, index=numbers(source[: max(length, 0)]))


def _split(operand, sizes, axis=0):
    ends = [0, *np.cumsum(sizes).tolist()]
    return Outputs(part(operand, low, high, axis) for low, high in pairwise(ends))


# ---- parts ---------------------------------------------------------------------------------------


def _slice(operand, start_indices, limit_indices, strides=None):
    strides = strides or (1,) * operand.ndim
    return operand[tuple(map(slice, start_indices, limit_indices, strides))]


def _slice_in_dim(operand, start_index, limit_index, stride=1, axis=0):
    before = (slice(None),) * axis_of(axis, operand.ndim)
    return operand[(*before, slice(start_index, limit_index, stride))]


def _index_in_dim(operand, index, axis=0, keepdims=True):
    axis = axis_of(axis, operand.ndim)
    out = part(operand, index % operand.shape[axis], index % operand.shape[axis] + 1, axis)
    return out if keepdims else op.squeeze(out, dim=axis)


def _starts(start_indices: Sequence, sizes: Sequence[int], operand: Node) -> list[int]:
    """The start indices of a slice, clamped as in JAX so that the slice fits."""
    starts = [known(s) for s in start_indices]
    if not all(isinstance(s, int) for s in starts):
        raise GradcliError("arguments", "start_indices must be integer constants")
    starts = [s + n if s < 0 else s for s, n in zip(starts, operand.shape)]
    return [max(0, min(s, n - k)) for s, n, k in zip(starts, operand.shape, sizes, strict=True)]


def _dynamic_slice(operand, start_indices, slice_sizes):
    starts = _starts(several(start_indices), slice_sizes, operand)
    return operand[tuple(slice(s, s + k) for s, k in zip(starts, slice_sizes))]


def _dynamic_slice_in_dim(operand, start_index, slice_size, axis=0):
    axis = axis_of(axis, operand.ndim)
    starts, sizes = [0] * operand.ndim, list(operand.shape)
    starts[axis], sizes[axis] = start_index, slice_size
    return _dynamic_slice(operand, tuple(starts), sizes)


def _dynamic_index_in_dim(operand, index, axis=0, keepdims=True):
    out = _dynamic_slice_in_dim(operand, index, 1, axis)
    return out if keepdims else op.squeeze(out, dim=axis)


def _dynamic_update_slice(operand, update, start_indices):
    starts = _starts(several(start_indices), update.shape, operand)
    indices = np.arange(operand.numel).reshape(operand.shape)
    ends = [s + k for s, k in zip(starts, update.shape)]
    indices[tuple(map(slice, starts, ends))] = operand.numel + np.arange(update.numel).reshape(
        update.shape
    )
    both = op.cat([op.flatten(operand), op.flatten(update)], dim=0)
    return op.take(both, numbers(indices))


def _dynamic_update_slice_in_dim(operand, update, start_index, axis):
    starts = [0] * operand.ndim
    starts[axis_of(axis, operand.ndim)] = start_index
    return _dynamic_update_slice(operand, update, tuple(starts))


def _dynamic_update_index_in_dim(operand, update, index, axis):
    update = update if update.ndim == operand.ndim else op.unsqueeze(update, dim=axis)
    return _dynamic_update_slice_in_dim(operand, update, index, axis)


def _select_n(which, *cases):
    arrays = list(map(array, cases))
    return op.where(which, arrays[1], arrays[0]) if which.dtype == "bool" else choose(which, arrays)


# ---- products ------------------------------------------------------------------------------------


def _dot(lhs, rhs, *, dimension_numbers=None):
    return dot(lhs, rhs) if dimension_numbers is None else _dot_general(lhs, rhs, dimension_numbers)


def _dot_general(lhs, rhs, dimension_numbers):
    (left, right), (left_batch, right_batch) = dimension_numbers
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    a, b = [next(letters) for _ in lhs.shape], [next(letters) for _ in rhs.shape]
    for i, j in (*zip(left, right), *zip(left_batch, right_batch)):
        b[j] = a[i]
    batch = [a[i] for i in left_batch]
    shared = {*batch, *(a[i] for i in left)}
    out = [*batch, *(n for n in (*a, *b) if n not in shared)]
    return op.einsum(f"{''.join(a)},{''.join(b)}->{''.join(out)}", lhs, rhs)


def _conv(lhs, rhs, window_strides, padding):
    return _conv_general(lhs, rhs, window_strides, padding)


def _conv_general(
    lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None,
    dimension_numbers=None, feature_group_count=1, batch_group_count=1,
):  # fmt: skip
    spatial = lhs.ndim - 2
    _check_convolution(spatial, dimension_numbers, batch_group_count)
    dilation = tuple(rhs_dilation or (1,) * spatial)
    sizes = [(k - 1) * d + 1 for k, d in zip(rhs.shape[2:], dilation)]
    around = [(0, 0, 0)] * 2
    for k, size in enumerate(sizes):
        between = (lhs_dilation or (1,) * spatial)[k] - 1
        length = (lhs.shape[2 + k] - 1) * (between + 1) + 1
        around.append((*_ends(padding, k, length, size, window_strides[k]), between))
    named = {"stride": tuple(window_strides), "dilation": dilation, "groups": feature_group_count}
    return op[f"conv{spatial}d"](_pad(lhs, 0.0, around), rhs, **named)


def _check_convolution(spatial: int, dimension_numbers: Any, batch_group_count: int) -> None:
    """Raise GradcliError for convolutions that PyTorch's conv1d to conv3d cannot compute."""
    if dimension_numbers not in (None, ("NCHW", "OIHW", "NCHW"), ("NCH", "OIH", "NCH")):
        raise refuse("a convolution with dimension_numbers", "transpose to NCHW and OIHW before it")
    if batch_group_count != 1:
        cure = "convolve each part of lhs with its part of rhs, and concatenate along dimension 1"
        raise refuse("a convolution with batch_group_count", cure)
    if spatial not in (1, 2, 3):
        cure = "lhs has a batch, channels, and 1, 2 or 3 spatial dimensions"
        raise refuse(f"a convolution of {spatial + 2}-dimensional arrays", cure)


def _ends(padding: Any, k: int, length: int, size: int, stride: int) -> tuple[int, int]:
    if not isinstance(padding, str):
        return tuple(padding[k])
    if padding.upper() == "VALID":
        return 0, 0
    total = max((-(-length // stride) - 1) * stride + size - length, 0)
    half = total // 2 if padding.upper() == "SAME" else total - total // 2
    return half, total - half


def power(x1, x2):
    """x1 ** x2: `pow` for integer exponents and nonzero constants, else `jax_power`, whose gradient
    at 0 is JAX's.
    """
    exponent = as_node(x2)
    number = exponent.attrs["value"] if exponent.op.name == "constant" else 0
    as_in_pytorch = number != 0 or exponent.dtype != "float"
    return (op.pow if as_in_pytorch else op.jax_power)(x1, x2)


def ndtri(p):
    """The quantiles of the normal distribution; JAX's gradient is 0 at p = 0 and p = 1."""
    end = op.eq(p, 0) | op.eq(p, 1)
    return op.where(
        end, op.where(op.eq(p, 0), -math.inf, math.inf), op.ndtri(op.where(end, 0.5, p))
    )


def _round(x, rounding_method=0):
    """The nearest integer; halves go away from 0, unless the method is 1."""
    if rounding_method == 1:
        return op.round(x)
    whole = op.trunc(x)
    return whole + op.sign(x) * (op.abs(x - whole) >= 0.5)


def _clamp(min, x, max):
    """minimum(maximum(x, min), max); no gradient flows to x at a bound, nor to min >= max."""
    x, min, max = array(x), array(min), array(max)
    on_bound = op.eq(x, min) | op.eq(x, max)
    inside = op.where(on_bound, op.detach(x), x)
    least = op.where(min < max, min, op.detach(max))
    return op.where(x > max, max, op.where(x < min, least, inside))


def _iota(kind, shape, dimension):
    row = _cast(op.arange(end=shape[dimension]), kind)
    row = op.reshape(row, (-1, *(1,) * (len(shape) - 1 - dimension)))
    return op.expand(row, shape=tuple(shape))


def _cast(operand, new_dtype):
    return op[{"int": "long", "bool": "bool"}.get(_kind(new_dtype), "double")](operand)


def _kind(dtype: Any) -> str:
    from ..vocabulary import DTYPES

    return DTYPES.get(dtype, "float")


# Operators with the same name and meaning.
ELEMENTWISE = """
    acos acosh add asin asinh atan atanh ceil cos cosh eq erf erfc exp exp2
    expm1 floor ge gt le log log1p lt mul ne neg
    reciprocal sin sinh sqrt square sub tan tanh zeta real conj cbrt
"""
LAX: dict[str, Any] = {
    **{name: name for name in ELEMENTWISE.split()},
    **{"max": "maximum", "min": "minimum", "div": "div", "rem": "fmod", "erf_inv": "erfinv"},
    **{"bessel_i0e": "i0e", "bessel_i1e": "i1e", "igamma": "gammainc", "igammac": "gammaincc"},
    **{"is_finite": "isfinite", "logistic": "sigmoid", "bitwise_not": "bitwise_not"},
    **{f"bitwise_{name}": f"bitwise_{name}" for name in ("and", "or", "xor")},
    **{"shift_left": "bitwise_left_shift", "shift_right_arithmetic": "bitwise_right_shift"},
    **{"atan2": "jax_arctan2", "pow": power, "lgamma": "jax_lgamma"},
    **{"abs": "jax_abs", "digamma": "jax_digamma", "rsqrt": "jax_rsqrt"},
    "clamp": _clamp,
    "convert_element_type": _cast,
    "integer_pow": lambda x, y: op.pow(x, op.detach(as_node(y)) if isinstance(y, Node) else y),
    "polygamma": polygamma,
    "round": _round,
    "sign": sign,
    "select": lambda pred, on_true, on_false: op.where(pred, on_true, on_false),
    "select_n": _select_n,
    "stop_gradient": lambda x: op.detach(x),
    "optimization_barrier": lambda operand: op.clone(operand),
    # along dimensions
    "argmax": lambda operand, axis, index_dtype=None: op.argmax(operand, dim=axis),
    "argmin": lambda operand, axis, index_dtype=None: op.argmin(operand, dim=axis),
    "cumlogsumexp": _running("logcumsumexp"),
    "cummax": _running("cummax", lambda out: out[0]),
    "cummin": _running("cummin", lambda out: out[0]),
    "cumprod": _running("cumprod"),
    "cumsum": _running("cumsum"),
    "reduce_and": _reduce("all"),
    "reduce_max": _reduce("amax"),
    "reduce_min": _reduce("amin"),
    "reduce_or": _reduce("any"),
    "reduce_prod": _reduce_prod,
    "reduce_sum": _reduce("sum"),
    "sort": _sort,
    "top_k": _top_k,
    # shapes
    "broadcast": lambda operand, sizes: op.expand(operand, shape=(*sizes, *operand.shape)),
    "broadcast_in_dim": _broadcast_in_dim,
    "broadcast_shapes": lambda *shapes: broadcast(*shapes),
    "broadcast_to_rank": lambda x, rank: op.reshape(x, (*(1,) * (rank - x.ndim), *x.shape)),
    "collapse": _collapse,
    "concatenate": lambda operands, dimension: op.cat(array_list(operands), dim=dimension),
    "expand_dims": _expand_dims,
    "full": lambda shape, fill_value: op.full(several(shape), fill_value),
    "full_like": full_like,
    "iota": lambda kind, size: _cast(op.arange(end=size), kind),
    "broadcasted_iota": _iota,
    "pad": _pad,
    "reshape": _reshape,
    "rev": lambda operand, dimensions: op.flip(operand, dims=tuple(dimensions)),
    "split": _split,
    "squeeze": _squeeze,
    "stack": lambda arrays, axis=0: op.stack(array_list(arrays), dim=axis),
    "tile": lambda operand, reps: op.tile(operand, tuple(reps)),
    "transpose": lambda operand, permutation: op.permute(operand, dims=permutation),
    "unstack": lambda operand, axis=0: op.unbind(operand, axis),
    # parts
    "dynamic_index_in_dim": _dynamic_index_in_dim,
    "dynamic_slice": _dynamic_slice,
    "dynamic_slice_in_dim": _dynamic_slice_in_dim,
    "dynamic_update_index_in_dim": _dynamic_update_index_in_dim,
    "dynamic_update_slice": _dynamic_update_slice,
    "dynamic_update_slice_in_dim": _dynamic_update_slice_in_dim,
    "index_in_dim": _index_in_dim,
    "slice": _slice,
    "slice_in_dim": _slice_in_dim,
    # products
    "batch_matmul": lambda lhs, rhs: op.matmul(lhs, rhs),
    "conv": _conv,
    "conv_general_dilated": _conv_general,
    "conv_with_general_padding": lambda lhs, rhs, window_strides, padding, lhs_dilation=None,
    rhs_dilation=None: _conv_general(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation
    ),
    "dot": _dot,
    "dot_general": _dot_general,
}  # fmt: skip
