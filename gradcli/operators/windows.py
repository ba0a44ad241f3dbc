"""Sliding windows: the elements under a kernel at each of its positions.

`kernel`, `stride` and `dilation` have one number for each of the last dimensions, along which the
kernel moves.
"""

from itertools import product

from ..errors import GradcliError
from ..graphs import OPS, shapes
from ..lazy import np
from .families import composite, is_integer, no_flops, operator, require
from .pointwise import F
from .putting import at_flat_indices


def several(value, n):
    """A tuple of n numbers, from one number or a tuple."""
    values = value if isinstance(value, tuple) else (value,)
    if len(values) not in (1, n) or not all(map(is_integer, values)):
        raise GradcliError("arguments", f"{value!r} must be an integer or a tuple of {n} integers")
    return values if len(values) == n else values * n


def _count(size, kernel, stride, dilation):
    if min(kernel, stride, dilation) < 1:
        raise GradcliError("arguments", "kernel, stride and dilation must be positive")
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
    """The windows as a view of x."""
    n = len(kernel)
    strides = x.strides[-n:]
    between = tuple(a * b for a, b in zip(strides, stride))
    within = tuple(a * b for a, b in zip(strides, dilation))
    shape = _windows_shape(x.shape, kernel=kernel, stride=stride, dilation=dilation)
    strides = (*x.strides[:-n], *between, *within)
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def _overlap(w, *, shape, stride, dilation):
    n = len(stride)
    positions, kernel = w.shape[-2 * n : -n], w.shape[-n:]
    out = np.zeros(shape, w.dtype)
    for place in product(*map(range, kernel)):
        covered = tuple(
            slice(k * d, k * d + (count - 1) * s + 1, s)
            for k, d, s, count in zip(place, dilation, stride, positions)
        )
        out[(..., *covered)] += w[(..., *place)]
    return out


def _unfolded(x, *, kernel, stride, dilation):
    """The windows by unfold, one dimension after the other; slices give the dilation."""
    for size, step, spacing in zip(kernel, stride, dilation, strict=True):
        reach = spacing * (size - 1) + 1
        x = x.unfold(dimension=-len(kernel), size=reach, step=step)
    steps = tuple(slice(None, None, spacing) for spacing in dilation)
    return x if set(dilation) == {1} else x[(..., *steps)]


@operator(
    family="movement",
    shape=_windows_shape,
    value=_windows,
    torch_expand=_unfolded,
    dtype="first",
    examples=(
        ("windows(x, (2, 2), (1, 2), (1, 1))", "x=3x4"),
        ("x.windows((2,), (1,), (2,))", "x=2x4"),
    ),
    method=True,
    torch=None,
    index=lambda lower, i, x, *, kernel, stride, dilation: lower.window(i, x, stride, dilation),
    flops=no_flops,
    view=True,
)
def windows(g, y, x, *, kernel, stride, dilation):
    """The part of the last dimensions under a kernel, at each of its positions."""
    return g.overlap(shape=x.shape, stride=stride, dilation=dilation)


def _overlapped(s, *, shape, stride, dilation):
    kernel = s[-len(stride) :]
    expected = _windows_shape(shape, kernel=kernel, stride=stride, dilation=dilation)
    shapes.require_equal(
        s, expected, f"a kernel over {shape} must have windows of shape {expected}, got {s}"
    )
    return shape


def _by_flat_indices(w, *, shape, stride, dilation):
    how = {"kernel": w.shape[-len(stride) :], "stride": stride, "dilation": dilation}
    return at_flat_indices(w, shape, lambda flat: flat.windows(**how))


@operator(
    shape=_overlapped,
    torch_expand=_by_flat_indices,
    value=_overlap,
    dtype="first",
    examples=(("windows(x, (2, 2), (1, 1), (1, 1)).overlap((3, 4), (1, 1), (1, 1))", "x=3x4"),),
    torch=None,
    index=lambda lower, i, w, *, shape, stride, dilation: lower.folded(i, w, stride, dilation),
)
def overlap(g, y, w, *, shape, stride, dilation):
    """The transpose of windows: windows added to the elements that they came from."""
    return g.windows(kernel=w.shape[-len(stride) :], stride=stride, dilation=dilation)


def _padded(x, *, amount):
    """The padding by PyTorch's pad, whose pairs start with the last dimension."""
    pairs = list(amount)
    while len(pairs) > 1 and pairs[0] == (0, 0):
        pairs.pop(0)
    return OPS["pad"](x, pad=tuple(n for pair in reversed(pairs) for n in pair))


@operator(
    shape=lambda s, *, amount: tuple(n + a + b for n, (a, b) in zip(s, amount, strict=True)),
    torch_expand=_padded,
    value=lambda x, *, amount: np.pad(x, amount),
    dtype="first",
    examples=(("zero_pad(x, ((0, 0), (1, 2)))", "x=2x3"),),
    method=True,
    torch=None,
    index=lambda lower, i, x, *, amount: lower.padded(i, x, amount),
    flops=no_flops,
    numpy="np.pad({0}, {amount})",
)
def zero_pad(g, y, x, *, amount):
    """Zeros before and after each dimension."""
    return g[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, amount, strict=True))]


def zeros_around(x, amount):
    """x with its last dimensions padded with zeros; x itself if there is no padding."""
    amounts = ((0, 0),) * (x.ndim - len(amount)) + tuple(amount)
    return x.zero_pad(amount=amounts) if any(map(any, amount)) else x


class Kernel:
    """A kernel over n dimensions; `edges` is the padding (before, after) of each."""

    def __init__(self, n, size, stride, padding, dilation):
        self.n, self.size = n, tuple(size[-n:])
        self.stride, self.dilation = several(stride, n), several(dilation, n)
        self.edges = self._edges(padding)
        require(min(min(e) for e in self.edges) >= 0, "padding must not be below 0")

    def _edges(self, padding):
        if padding == "same":
            if set(self.stride) != {1}:
                raise GradcliError("arguments", "padding='same' needs a stride of 1")
            total = [d * (k - 1) for d, k in zip(self.dilation, self.size)]
            return tuple((t // 2, t - t // 2) for t in total)
        if isinstance(padding, str) and padding != "valid":
            raise GradcliError(
                "arguments", f"padding {padding!r} is not a number, 'same' or 'valid'"
            )
        return tuple((p, p) for p in several(0 if padding == "valid" else padding, self.n))

    @property
    def spread(self):
        """The part of the size that n positions cover, n * stride + spread, in each dimension."""
        return tuple(d * (k - 1) + 1 - s for d, k, s in zip(self.dilation, self.size, self.stride))

    def positions(self, size):
        """The number of positions of the kernel over a padded input of `size`, by dimension."""
        return tuple(map(_count, size, self.size, self.stride, self.dilation))

    def parts(self, input):
        """The windows of the padded input, one for each position of the kernel."""
        padded = zeros_around(input, self.edges)
        return padded.windows(kernel=self.size, stride=self.stride, dilation=self.dilation)

    def transposed(self, parts, size):
        """The transpose of `parts`: windows added into an input of `size`."""
        padded = tuple(m + a + b for m, (a, b) in zip(size, self.edges))
        counts = parts.shape[-2 * self.n : -self.n]
        longest = (p * s + more + s - 1 for p, s, more in zip(counts, self.stride, self.spread))
        covered = tuple(map(min, padded, longest))
        head = parts.shape[: -2 * self.n]
        out = parts.overlap(shape=(*head, *covered), stride=self.stride, dilation=self.dilation)
        out = zeros_around(out, tuple((0, m - r) for m, r in zip(padded, covered)))
        if not any(map(any, self.edges)):
            return out
        return out[(..., *(slice(a, a + m) for m, (a, _) in zip(size, self.edges)))]


# ---- windows as columns --------------------------------------------------------------------------


@composite(
    torch=F + "unfold",
    rule=lambda g, y, input, **how: fold(g, output_size=input.shape[-2:], **how),
    aliases=("F.unfold", "functional.unfold"),
    spelling="F.unfold({0}, {kernel_size}, dilation={dilation}, padding={padding}, "
    "stride={stride})",
    examples=(
        ("F.unfold(x, 2)", "x=1x2x3x3"),
        ("F.unfold(x, (2, 1), dilation=2, padding=1, stride=2)", "x=2x4x3"),
    ),
    exact="all",
)
def im2col(input, *, kernel_size, dilation=1, padding=0, stride=1):
    """The part of an image under the kernel at each position, as a column."""
    if input.ndim not in (3, 4):
        raise GradcliError(
            "shape",
            "unfold() needs a shape of (batch, channels, rows, columns), not "
            f"{shapes.text(input.shape)}",
        )
    parts = Kernel(2, several(kernel_size, 2), stride, padding, dilation).parts(input)
    *head, c, h, w, k, m = range(parts.ndim)
    sizes = parts.shape[-4:]
    columns = (input.shape[-3] * sizes[2] * sizes[3], sizes[0] * sizes[1])
    return parts.permute(dims=(*head, c, k, m, h, w)).reshape(shape=(*input.shape[:-3], *columns))


@composite(
    torch=F + "fold",
    rule=lambda g, y, input, *, output_size, **how: im2col(g, **how),
    order="input output_size kernel_size dilation padding stride",
    examples=(
        ("fold(x, (3, 3), 2)", "x=1x4x4"),
        ("fold(x, (4, 3), (2, 1), dilation=2, padding=1, stride=2)", "x=4x6"),
    ),
    exact="all",
)
def fold(input, *, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The columns of unfold, added to the elements that they came from."""
    kernel = Kernel(2, several(kernel_size, 2), stride, padding, dilation)
    size = several(output_size, 2)
    padded = tuple(n + a + b for n, (a, b) in zip(size, kernel.edges))
    counts = kernel.positions(padded)
    area = shapes.numel(kernel.size)
    if input.ndim not in (2, 3) or input.shape[-2] % area:
        raise GradcliError(
            "shape",
            f"fold() with a kernel of {area} elements needs columns of a multiple of that, not "
            f"shape {shapes.text(input.shape)}",
        )
    head, channels = input.shape[:-2], input.shape[-2] // area
    expected = (*input.shape[:-1], shapes.numel(counts))
    message = f"fold() into {shapes.text(size)} needs {expected[-1]} columns, got {input.shape[-1]}"
    shapes.require_equal(input.shape, expected, message)
    parts = input.reshape(shape=(*head, channels, *kernel.size, *counts))
    *first, k, m, h, w = range(parts.ndim)
    return kernel.transposed(parts.permute(dims=(*first, h, w, k, m)), size)
