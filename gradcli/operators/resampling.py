"""Resampling: linear maps along one dimension after the other.

Each element of the output is a weighted sum of a few elements of the input.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from ..errors import GradcliError
from ..graphs import OPS, shapes
from ..lazy import np
from .families import composite, named, require, shorthand
from .gathering import repeat_each
from .leaves import Array, eye
from .pointwise import F
from .pooling import adaptive_indices, adaptive_sizes

MODES = ("nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area")
MOST_TERMS = 16  # of a sum that is added term by term; longer ones use np.add.reduceat
MOST_ENTRIES = 1 << 22  # elements of the largest weight matrix in index notation
BLOCK = 1 << 20  # terms that np.add.reduceat adds at a time
NDIM = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
CUBIC_PARAMETERS = -0.75, -0.5  # of bicubic interpolation without and with antialiasing


class _Weights:
    """The weights of one dimension: for each output index, the input indices and their weights. An
    index of -1 marks an unused slot.
    """

    def __init__(self, indices, weights, size):
        self.indices, self.weights, self.size = indices, weights, size

    @property
    def entries(self):
        """The nonzero weights as (output index, input index, weight), sorted by output index."""
        rows, columns = np.nonzero(self.indices >= 0)
        return rows, self.indices[rows, columns], self.weights[rows, columns]

    @property
    def entries_back(self):
        """The same as `entries`, as (input index, output index, weight), sorted by input index."""
        rows, to, weights = self.entries
        order = np.argsort(to, kind="stable")
        return to[order], rows[order], weights[order]

    @property
    def most_back(self):
        """The largest number of output elements that one input element contributes to."""
        return np.bincount(self.indices[self.indices >= 0]).max(initial=0)

    @property
    def transposed(self):
        """The transposed map, from the output to the input."""
        to, rows, weights = self.entries_back
        counts = np.bincount(to, minlength=self.size)
        slot = np.arange(len(to)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = (self.size, max(1, counts.max(initial=0)))
        indices, values = np.full(shape, -1), np.zeros(shape)
        indices[to, slot], values[to, slot] = rows, weights
        return _Weights(indices, values, len(self.indices))

    @property
    def matrix(self):
        """The weights as a dense matrix of shape (output size, input size)."""
        shape = len(self.indices), self.size
        rows, columns, weights = self.entries
        result = np.bincount(rows * self.size + columns, weights, minlength=shapes.numel(shape))
        return result.reshape(shape)


@lru_cache
def _weights(kind, transposed=False):
    """The weights of `kind`, a tuple of the name of a function in KINDS and its arguments."""
    if transposed:
        return _weights(kind).transposed
    name, *arguments = kind
    return KINDS[name](*arguments)


def _resampled_shape(s, *, dim, kind, transposed):
    _, *sizes = kind[:3]
    before, after = reversed(sizes) if transposed else sizes
    if s[dim] != before:
        raise GradcliError("shape", f"resample() with {kind} needs another size, got {s[dim]}")
    return (*s[: len(s) + dim], after, *s[len(s) + dim + 1 :])


def _resampled(x, *, dim, kind, transposed):
    shape = _resampled_shape(x.shape, dim=dim, kind=kind, transposed=transposed)
    if not x.shape[dim]:
        return np.zeros(shape)
    weights = _weights(kind)
    if (weights.most_back if transposed else weights.indices.shape[1]) > MOST_TERMS:
        return _by_reduceat(
            x, dim, shape, *(weights.entries_back if transposed else weights.entries)
        )
    weights = _weights(kind, transposed)
    out, along = 0.0, (-1, *(1,) * (-dim - 1))
    for indices, by in zip(weights.indices.T, weights.weights.T):
        term = np.take(x, np.maximum(indices, 0), axis=dim) * by.reshape(along)
        if (indices < 0).any():  # 0 times inf would be nan
            term = np.where((indices < 0).reshape(along), 0.0, term)
        out = out + term
    return out


def _by_reduceat(x, dim, shape, to, indices, weights):
    """The weighted sums by np.add.reduceat, for a few rows at a time."""
    rows = np.moveaxis(x, dim, -1)
    rows = rows.reshape(-1, rows.shape[-1])
    starts = np.flatnonzero(np.diff(to, prepend=-1))
    out = np.zeros((len(rows), shape[dim]))
    step = max(BLOCK // max(len(to), 1), 1)
    for k in range(0, len(rows) if len(to) else 0, step):
        terms = rows[k : k + step, indices] * weights
        out[k : k + step, to[starts]] = np.add.reduceat(terms, starts, axis=1)
    rest = [n for d, n in enumerate(shape) if d != len(shape) + dim]
    return np.moveaxis(out.reshape(*rest, shape[dim]), -1, dim)


def _in_torch(x, *, dim, kind, transposed):
    """A product with the resampled identity matrix, written with PyTorch's functions."""
    name, *arguments = kind
    matrix = UNITS[name](*arguments)
    if dim == -2:
        return (matrix if transposed else matrix.mT) @ x
    by = matrix.mT if transposed else matrix
    if dim == -1:
        return x @ by
    return (x.transpose(dim0=dim, dim1=-1) @ by).transpose(dim0=dim, dim1=-1)


def _by_matrix(lower, i, x, *, dim, kind, transposed):
    """The field `index`: a product with the weight matrix; None if this matrix is too large."""
    if kind[1] * kind[2] > MOST_ENTRIES:
        return None
    return resample.expand(x, dim=dim, kind=kind, transposed=transposed)


@composite(
    torch_expand=_in_torch,
    shape=_resampled_shape,
    value=_resampled,
    index=_by_matrix,
    dtype="float",
    rule=lambda g, y, x, *, dim, kind, transposed: g.resample(
        dim=dim, kind=kind, transposed=not transposed
    ),
    examples=(
        ("resample(x, -1, ('linear', 3, 4, None, False))", "x=2x3"),
        ("resample(x, -2, ('averages', 3, 2), transposed=True)", "x=2x3"),
    ),
    torch=None,
    flops=lambda out, s, *, dim, kind, transposed: (
        2 * shapes.numel(out) * _longest_sum(kind, transposed)
    ),
    workspace=lambda *given, **attrs: _workspace(*given, **attrs),
)  # fmt: skip
def resample(x, *, dim, kind, transposed=False):
    """Weighted sums of elements along dim, which is negative; or their transpose."""
    times, axis = _repetitions(_weights(kind)), x.ndim + dim
    if times and transposed:
        grouped = x.reshape(shape=(*x.shape[:axis], kind[1], times, *x.shape[axis + 1 :]))
        return grouped.sum(dim=axis + 1)
    if times:
        return repeat_each(x, repeats=times, dim=axis)
    matrix = OPS["tensor"](data=_matrix(kind, transposed))
    if dim == -1:
        return x @ matrix.mT
    return (x.transpose(dim0=dim, dim1=-1) @ matrix.mT).transpose(dim0=dim, dim1=-1)


def _longest_sum(kind, transposed):
    """The largest number of terms in a sum."""
    weights = _weights(kind)
    return max(weights.most_back, 1) if transposed else weights.indices.shape[1]


@lru_cache(maxsize=16)
def _matrix(kind, transposed):
    """The weight matrix; cached, so that equal calls return the same Array."""
    matrix = _weights(kind).matrix
    return Array(matrix.T if transposed else matrix, f"{kind[0]}_weights")


def _workspace(out, s, *, dim, kind, transposed):
    """Elements of the sorted weights, and of the terms that are added at a time."""
    most = {"cubic": 4, "linear": 2, "nearest": 1}.get(kind[0], 2)
    return 9 * most * max(kind[1], kind[2]) + BLOCK


def _repetitions(weights):
    """The number of repetitions, if each element is repeated equally often in a row; else 0."""
    times = len(weights.indices) // max(weights.size, 1)
    in_order = np.repeat(np.arange(weights.size), times)[:, None]
    is_repeated = np.array_equal(weights.indices, in_order) and (weights.weights == 1).all()
    return times if is_repeated else 0


# ---- weights -------------------------------------------------------------------------------------


def _step(size, count, factor, align_corners=False):
    """The distance between neighbouring output elements, in input elements."""
    if align_corners:
        return (size - 1) / (count - 1) if count > 1 else 0.0
    return 1.0 / factor if factor else size / count


def _centres(size, count, factor, align_corners):
    """The coordinates of output elements, as indices of the input."""
    step = _step(size, count, factor, align_corners)
    at = np.arange(count)
    return step * at if align_corners else step * (at + 0.5) - 0.5


def nearest(size, count, factor, exact):
    """The nearest element; without `exact`, with the rounding of PyTorch's mode "nearest"."""
    at = np.arange(count) + (0.5 if exact else 0.0)
    rounded = np.floor((at * _step(size, count, factor)).astype(np.float32)).astype(int)
    indices = np.minimum(rounded, size - 1)[:, None]
    return _Weights(indices, np.ones(indices.shape), size)


def linear(size, count, factor, align_corners):
    """Linear interpolation between two neighbours."""
    at = np.maximum(_centres(size, count, factor, align_corners), 0)
    if size == count:
        at = np.arange(count, dtype=float)
    low = np.minimum(at.astype(int), size - 1)
    part = np.clip(at - low, 0, 1)
    indices = np.stack((low, np.minimum(low + 1, size - 1)), 1)
    return _Weights(indices, np.stack((1 - part, part), 1), size)


def cubic_weights(t, sharpness=CUBIC_PARAMETERS[0]):
    """The weights of the two elements before and the two after a coordinate, whose distance from
    the second element is t.
    """

    def near(x):
        return ((sharpness + 2) * x - (sharpness + 3)) * x * x + 1

    def far(x):
        return ((sharpness * x - 5 * sharpness) * x + 8 * sharpness) * x - 4 * sharpness

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def cubic(size, count, factor, align_corners):
    """Cubic interpolation between four neighbours."""
    at = _centres(size, count, factor, align_corners)
    if size == count:
        at = np.arange(count, dtype=float)
    low = np.floor(at).astype(int)
    indices = np.clip(low[:, None] + np.arange(-1, 3), 0, size - 1)
    weights = np.stack(cubic_weights(at - low), 1)
    return _Weights(indices, weights, size)


def smooth(size, count, factor, align_corners, is_cubic):
    """Antialiased linear or cubic interpolation, over the extent of an output element."""
    step = _step(size, count, factor, align_corners)
    wide = max(step, 1.0)
    centre = step * (np.arange(count) + 0.5)
    reach = (2.0 if is_cubic else 1.0) * wide
    first = np.maximum((centre - reach + 0.5).astype(int), 0)
    last = np.minimum((centre + reach + 0.5).astype(int), size)
    indices = first[:, None] + np.arange(np.max(last - first))
    distance = np.abs((indices - centre[:, None] + 0.5) / wide)
    if is_cubic:
        close = cubic_weights(distance, CUBIC_PARAMETERS[1])[1]
        far = cubic_weights(distance - 1, CUBIC_PARAMETERS[1])[0]
        weights = np.where(distance < 1, close, np.where(distance < 2, far, 0.0))
    else:
        weights = np.maximum(1 - distance, 0)
    outside = indices >= last[:, None]
    weights = np.where(outside, 0.0, weights)
    weights = weights / weights.sum(axis=1, keepdims=True)
    return _Weights(np.where(outside, -1, indices), weights, size)


def averages(size, count):
    """The averages of `count` parts, which may overlap."""
    indices = adaptive_indices(size, count)
    again = np.diff(indices, axis=1, prepend=-1) == 0
    weights = ~again / np.maximum((~again).sum(axis=1, keepdims=True), 1)
    return _Weights(np.where(again, -1, indices), weights, size)


KINDS = {f.__name__: f for f in (nearest, linear, cubic, smooth, averages)}

# ---- weights by PyTorch's functions: the rows of the identity matrix, resampled ------------------


def _unit_line(size, count, factor, **how):
    to = {"size": count} if factor is None else {"scale_factor": factor}
    return interpolate(eye(n=size).unsqueeze(dim=0), **to, **how)[0]


def _unit_image(size, count, factor, **how):
    """As `_unit_line`, for modes that need images; the first dimension of an image is unchanged."""
    to = {"size": (size, count)} if factor is None else {"scale_factor": (1.0, factor)}
    image = eye(n=size).unsqueeze(dim=0).unsqueeze(dim=0)
    return interpolate(image, **to, **how)[0, 0]


def _unit_smooth(size, count, factor, align_corners, is_cubic):
    how = {"align_corners": align_corners or None, "antialias": True}
    return _unit_image(size, count, factor, mode="bicubic" if is_cubic else "bilinear", **how)


UNITS: dict[str, Callable] = {
    "nearest": lambda size, count, factor, exact: _unit_line(
        size, count, factor, mode="nearest-exact" if exact else "nearest"
    ),
    "linear": lambda size, count, factor, align_corners: _unit_line(
        size, count, factor, mode="linear", align_corners=align_corners or None
    ),
    "cubic": lambda size, count, factor, align_corners: _unit_image(
        size, count, factor, mode="bicubic", align_corners=align_corners or None
    ),
    "smooth": _unit_smooth,
    "averages": lambda size, count: OPS["adaptive_avg_pool1d"](eye(n=size), output_size=count),
}

# ---- PyTorch's functions -------------------------------------------------------------------------


def _along_each(x, kinds):
    """x resampled along its last dimensions, the last first."""
    for k, kind in enumerate(reversed(kinds)):
        x = x.resample(dim=-k - 1, kind=kind)
    return x


def _sizes(input, size, scale_factor, recompute):
    """The sizes of the output, and the scale factors used for coordinates."""
    n = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise GradcliError("arguments", "interpolate() needs either size or scale_factor")
    sizes = size if scale_factor is None else scale_factor
    sizes = sizes if isinstance(sizes, tuple) else (sizes,) * n
    if len(sizes) != n or not all(isinstance(v, int | float) and v > 0 for v in sizes):
        raise GradcliError("arguments", f"interpolate() needs {n} sizes or factors above 0")
    if scale_factor is None:
        return tuple(map(int, sizes)), (None,) * n
    counts = tuple(math.floor(m * float(f)) for m, f in zip(input.shape[2:], sizes))
    if min(counts) < 1:
        raise GradcliError("shape", "interpolate() to a size of 0")
    return counts, (None,) * n if recompute else tuple(map(float, sizes))


def _kind(mode, align_corners, antialias, size, count, factor):
    """The kind of weights for one dimension."""
    if mode in ("nearest", "nearest-exact"):
        return "nearest", size, count, factor, mode == "nearest-exact"
    if antialias:
        return "smooth", size, count, factor, align_corners, mode == "bicubic"
    return "cubic" if mode == "bicubic" else "linear", size, count, factor, align_corners


@composite(
    torch=F + "interpolate",
    integer_attributes=("size",),
    examples=(
        ("interpolate(x, scale_factor=2)", "x=1x1x2x2"),
        ("interpolate(x, (3, 4), mode='bilinear')", "x=1x1x2x3"),
        ("interpolate(x, 5, mode='linear', align_corners=True)", "x=1x2x3"),
        ("interpolate(x, (3, 2), mode='area')", "x=1x1x4x3"),
    ),
    input_dtypes="floats",
)
def interpolate(
    input,
    *,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """input resized: each output is the nearest element or a weighted sum of near ones."""
    _check_interpolation(input, mode, align_corners, antialias)
    counts, factors = _sizes(input, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return OPS[f"adaptive_avg_pool{input.ndim - 2}d"](input, output_size=counts)
    sizes = zip(input.shape[2:], counts, factors)
    return _along_each(input, [_kind(mode, bool(align_corners), antialias, *s) for s in sizes])


def _check_interpolation(input, mode, align_corners, antialias):
    """Raise GradcliError unless interpolate() has this mode for the input and the flags."""
    if mode not in MODES or NDIM.get(mode, input.ndim - 2) != input.ndim - 2:
        raise GradcliError(
            "arguments",
            f"interpolate() has no mode {mode!r} for {input.ndim} dimensions",
            hint=f"modes are {', '.join(MODES)}; the batch and the channels come first",
        )
    if input.ndim not in (3, 4, 5):
        raise GradcliError("shape", "interpolate() needs a batch, channels and 1 to 3 dimensions")
    flag = align_corners is None or isinstance(align_corners, bool)
    require(flag, f"align_corners must be True or False, got {align_corners!r}")
    if align_corners is not None and mode not in NDIM:
        raise GradcliError("arguments", f"align_corners is not for mode {mode!r}")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise GradcliError("arguments", "antialias is for modes 'bilinear' and 'bicubic'")
    if 0 in input.shape[1:]:
        raise GradcliError("shape", "interpolate() needs a shape with elements")


@shorthand()
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The older name of interpolate."""
    return interpolate(
        input, size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners
    )


@shorthand(input_dtypes="floats")
def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode='nearest'."""
    return interpolate(input, size=size, scale_factor=scale_factor)


@shorthand(input_dtypes="floats")
def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode='bilinear' and align_corners=True."""
    return interpolate(
        input, size=size, scale_factor=scale_factor, mode="bilinear", align_corners=True
    )


def _adaptive_average(n):
    name = f"adaptive_avg_pool{n}d"

    @named(name, "The average of each of output_size windows.")
    def meaning(input, *, output_size):
        counts = adaptive_sizes(name, n, input.shape, output_size)
        return _along_each(input, [("averages", *sizes) for sizes in zip(input.shape[-n:], counts)])

    def unless_one_window(input, *, output_size):  # PyTorch uses mean() for a single window
        counts = adaptive_sizes(name, n, input.shape, output_size)
        return () if set(counts) == {1} else ("input",)

    composite(
        torch=F + name if n > 1 else f"torch.{name}",
        examples=(
            (f"{name}(x, 2)", f"x=1x1x{'x'.join('3' * n)}"),
            (f"{name}(x, {(3, *(1,) * (n - 1))})", f"x=1x4{'x2' * (n - 1)}"),
        ),
        saved=(..., "input"),
        zero_second_derivative=unless_one_window,
        input_dtypes="floats",
    )(meaning)


for _n in (1, 2, 3):
    _adaptive_average(_n)
