"""What a kernel meets at each of its positions: the part that convolutions and pooling share.

`kernel`, `stride` and `dilation` have a number for each of the last dimensions, over which the
kernel moves.
"""

from itertools import product

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from .families import operator


def several(value, n):
    """One number for each of n dimensions, from one for all or a tuple of them."""
    given = value if isinstance(value, tuple) else (value,)
    if len(given) not in (1, n) or not all(isinstance(v, int) for v in given):
        raise GradcliError("arguments", f"{value!r} is not a whole number, or {n} of them")
    return given if len(given) == n else given * n


def _count(size, kernel, stride, dilation):
    if min(kernel, stride, dilation) < 1:
        raise GradcliError("arguments", "kernel, stride and dilation must be above 0")
    reach = dilation * (kernel - 1) + 1
    count = (size - reach) // stride + 1
    if count < 1:
        raise GradcliError(
            "shape",
            f"the kernel reaches over {reach} elements and the padded input has only {size}",
        )
    return count


def _windows_shape(s, *, kernel, stride, dilation):
    n = len(kernel)
    counts = tuple(map(_count, s[-n:], kernel, stride, dilation))
    return (*s[:-n], *counts, *kernel)


def _windows(x, *, kernel, stride, dilation):
    """A view of x: nothing is copied."""
    n = len(kernel)
    step, lead = x.strides[-n:], x.strides[:-n]
    moves = tuple(a * b for a, b in zip(step, stride)), tuple(a * b for a, b in zip(step, dilation))
    shape = _windows_shape(x.shape, kernel=kernel, stride=stride, dilation=dilation)
    return np.lib.stride_tricks.as_strided(x, shape, (*lead, *moves[0], *moves[1]), writeable=False)


def _overlap(w, *, shape, stride, dilation):
    n = len(stride)
    positions, kernel = w.shape[-2 * n : -n], w.shape[-n:]
    out = np.zeros(shape, w.dtype)
    for place in product(*map(range, kernel)):
        met = tuple(
            slice(k * d, k * d + (count - 1) * s + 1, s)
            for k, d, s, count in zip(place, dilation, stride, positions)
        )
        out[(..., *met)] += w[(..., *place)]
    return out


@operator(
    family="movement",
    shape=_windows_shape,
    value=_windows,
    dtype="first",
    examples=(
        ("windows(x, (2, 2), (1, 2), (1, 1))", "x=3x4"),
        ("x.windows((2,), (1,), (2,))", "x=2x4"),
    ),
    method=True,
    torch=None,
    index=lambda lower, i, x, *, kernel, stride, dilation: lower.window(i, x, stride, dilation),
)
def windows(g, y, x, *, kernel, stride, dilation):
    """The part of the last dimensions under a kernel, at each of its positions."""
    return g.overlap(shape=x.shape, stride=stride, dilation=dilation)


def _overlapped(s, *, shape, stride, dilation):
    kernel = s[-len(stride) :]
    met = _windows_shape(shape, kernel=kernel, stride=stride, dilation=dilation)
    shapes.require_equal(s, met, f"a kernel over {shape} has windows of shape {met}, not {s}")
    return shape


@operator(
    shape=_overlapped,
    value=_overlap,
    dtype="first",
    method=True,
    examples=(("windows(x, (2, 2), (1, 1), (1, 1)).overlap((3, 4), (1, 1), (1, 1))", "x=3x4"),),
    torch=None,
    index=lambda lower, i, w, *, shape, stride, dilation: lower.overlapping(i, w, stride, dilation),
)
def overlap(g, y, w, *, shape, stride, dilation):
    """Windows laid back where they came from and added up: the transpose of windows."""
    return g.windows(kernel=w.shape[-len(stride) :], stride=stride, dilation=dilation)


def _padded_shape(s, *, amount):
    return tuple(n + a + b for n, (a, b) in zip(s, amount, strict=True))


@operator(
    shape=_padded_shape,
    value=lambda x, *, amount: np.pad(x, amount),
    dtype="first",
    examples=(("zero_pad(x, ((0, 0), (1, 2)))", "x=2x3"),),
    method=True,
    torch=None,
    index=lambda lower, i, x, *, amount: lower.padded(i, x, amount),
)
def zero_pad(g, y, x, *, amount):
    """Zeros before and after each dimension."""
    return g[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, amount, strict=True))]


def zeros_around(x, amount):
    """x with zeros before and after its last dimensions; x itself where there are none."""
    if any(a < 0 or b < 0 for a, b in amount):
        raise GradcliError("arguments", "padding must not be below 0")
    whole = ((0, 0),) * (x.ndim - len(amount)) + tuple(amount)
    return x.zero_pad(amount=whole) if any(map(any, amount)) else x
