"""The signs of zeros in the results of PyTorch's kernels, where both 0 and -0 are correct.

A maximum or minimum of several zeros has the sign of the first of them, or of the last for a
reduction to one element, if the kernel processes elements one by one; in a vectorised kernel, the
sign depends on their positions. The gradient of a loss with class indices may be -0, as it is
assigned and not added to 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...lazy import np
from ..python.values import Unsupported

REDUCED = ("amax", "amin")
ALL_ELEMENTS = ("max_all", "min_all")
PAIRS = ("maximum", "minimum", "fmax", "fmin")
EXTREMES = frozenset((*REDUCED, *ALL_ELEMENTS, *PAIRS))
VECTOR = 64  # bytes of a vector register
UNKNOWN = "the sign of a maximum or minimum of 0 and -0"


def with_signs(name: str, arrays: Sequence[Any], attrs: Mapping[str, Any], value: Any) -> Any:
    """`value`, a maximum or minimum, with the signs that zeros have in PyTorch's result."""
    x = arrays[0]
    if getattr(x, "dtype", None) is None or x.dtype.kind != "f" or np.all(value):
        return value
    if name in PAIRS:
        return _of_pairs(name, x, arrays[1], value)
    if not mixed_zeros(x):
        return value
    if name in ALL_ELEMENTS:
        if x.nbytes >= VECTOR // 2:
            raise Unsupported(UNKNOWN)
        return np.copysign(value, x.reshape(-1)[np.flatnonzero(x == 0)[-1]])
    return _reduced(x, attrs, np.asarray(value))


def mixed_zeros(x: Any) -> bool:
    """Whether an array contains both 0 and -0."""
    zeros = np.signbit(x[x == 0]) if x.dtype.kind == "f" else np.zeros(0, bool)
    return bool(zeros.any() and not zeros.all())


def _of_pairs(name: str, a: Any, b: Any, value: Any) -> Any:
    a, b = np.broadcast_arrays(a, b)
    tied = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    if not tied.any():
        return value
    if name in ("maximum", "minimum") and a.size * a.itemsize >= VECTOR:
        raise Unsupported(UNKNOWN)
    return np.where(tied, a, value).astype(value.dtype)


def _reduced(x: Any, attrs: Mapping[str, Any], value: Any) -> Any:
    """The maximum or minimum along dimensions; 0 has the sign of the first zero in memory."""
    dim = attrs["dim"]
    dims = range(x.ndim) if dim in (None, ()) else (dim,) if isinstance(dim, int) else dim
    along = sorted((d % x.ndim for d in dims), key=lambda d: -x.strides[d])  # in memory order
    unreduced = [d for d in range(x.ndim) if d not in along]
    rows = x.transpose(*unreduced, *along).reshape(*(x.shape[d] for d in unreduced), -1)
    if max(rows.shape[-1], _side_by_side(x, unreduced)) * x.itemsize >= 2 * VECTOR:
        raise Unsupported(UNKNOWN)
    first = np.take_along_axis(rows, np.argmax(rows == 0, axis=-1)[..., None], -1)
    signed = np.copysign(value, first.reshape(value.shape))
    return np.where(value == 0, signed, value).astype(value.dtype)


def _side_by_side(x: Any, unreduced: Sequence[int]) -> int:
    """The number of adjacent results that a vectorised kernel computes at once, else 0."""
    inner = min(
        (d for d in range(x.ndim) if x.shape[d] > 1), key=lambda d: x.strides[d], default=-1
    )
    return int(np.prod([x.shape[d] for d in unreduced])) if inner in unreduced else 0


def negative_zeros(x: Any) -> Any:
    """An array with 1 where an element of x is -0, and 0 elsewhere."""
    return (np.signbit(x) & (x == 0)).astype(x.dtype)


def of_softmax(gradient: Any, answer: Any, dim: int) -> Any:
    """`answer`, the gradient of softmax, with 0 where `gradient` is -0 along the dimension."""
    return np.where(np.all(negative_zeros(gradient), axis=dim, keepdims=True), 0.0, answer)


LABELLED = frozenset(("nll_loss", "cross_entropy"))


def of_labels(target: Any, gradient: Any, answer: Any) -> Any:
    """`answer`, the gradient of a loss with class indices, with the signs of zeros that PyTorch's
    has.

    Where the upstream gradient is 0, the gradient is -0 at the target class and 0 elsewhere; for
    class probabilities as target, 0 everywhere.
    """
    if np.all(gradient):
        return answer
    answer = answer + 0.0
    if target.dtype.kind == "f":
        return answer
    axis = 0 if answer.ndim == 1 else 1
    places = np.expand_dims(target.reshape(answer.shape[:axis] + answer.shape[axis + 1 :]), axis)
    counted = (places >= 0) & (places < answer.shape[axis])
    label = np.where(counted, places, 0)
    there = np.take_along_axis(answer, label, axis)
    sent = -(np.expand_dims(gradient, axis) if gradient.ndim else gradient)
    written = np.where(counted & (there == 0) & (sent == 0), sent, there).astype(answer.dtype)
    np.put_along_axis(answer, label, written, axis)
    return answer
