"""grid_sample: an image interpolated at coordinates, differentiable with respect to both.

A sample is a weighted sum of the elements around its coordinates. A weight is a product of
polynomials, one for each coordinate, so the derivative with respect to a coordinate is a sample
with other weights: `orders` are the orders of these derivatives, one for each coordinate.
"""

from itertools import product
from math import nan
from types import SimpleNamespace

from ..errors import GradcliError
from ..graphs import OPS, as_node, shapes
from ..lazy import np
from .arithmetic import abs, floor, remainder, round
from .comparisons import where
from .contractions import einsum
from .elements import NotWritable
from .families import composite, one_of, shorthand
from .guards import unless
from .joining import stack
from .leaves import arange, eye, zeros, zeros_like
from .pointwise import F
from .resampling import CUBIC_PARAMETERS

PADDINGS = ("zeros", "border", "reflection")
TENSORS = SimpleNamespace(**{f.name: f for f in (abs, floor, remainder, round, where, zeros_like)})

# ---- one dimension -------------------------------------------------------------------------------

_A = CUBIC_PARAMETERS[0]
# For each neighbour: the coefficients, constant term first, of a polynomial in the distance between
# the coordinate and the element before it.
WEIGHTS = {
    "bilinear": ((1, -1), (0, 1)),
    "nearest": ((1,),),
    "bicubic": (
        (0, _A, -2 * _A, _A),
        (1, 0, -_A - 3, _A + 2),
        (0, -_A, 2 * _A + 3, -_A - 2),
        (0, 0, _A, -_A),
    ),
}


def _derivative(polynomial, times):
    for _ in range(times):
        polynomial = tuple(k * c for k, c in enumerate(polynomial))[1:]
    return polynomial


def _polynomial_value(polynomial, x):
    """The value of a polynomial at x."""
    value, *others = reversed(polynomial or (0.0,))
    for c in others:
        value = value * x + c
    return value


def _reflect_coordinates(m, at, low, high):
    """Coordinates reflected at both ends until they are within the range, and their derivative."""
    if low == high:
        return m.zeros_like(at), 0.0
    span, distance = high - low, m.abs(at - low)
    reflections = m.floor(distance / span)
    rest, is_odd = m.remainder(distance, span), m.remainder(reflections, 2) > 0
    slope = m.where(at < low, -1.0, 1.0)
    return m.where(is_odd, span - rest + low, rest + low), m.where(is_odd, -slope, slope)


def _reflection_ends(size, align_corners):
    """The coordinates at which padding_mode="reflection" reflects."""
    return (0, size - 1) if align_corners else (-0.5, size - 0.5)


def _clip_coordinates(m, at, size, padding_mode, align_corners):
    """Coordinates clipped to the first and last element, and their derivative: 0 where clipped."""
    if padding_mode == "zeros":
        return at, 1.0
    slope = 1.0
    if padding_mode == "reflection":
        at, slope = _reflect_coordinates(m, at, *_reflection_ends(size, align_corners))
    low, high = at <= 0, at >= size - 1
    return m.where(low, 0.0, m.where(high, size - 1.0, at)), m.where(low | high, 0.0, slope)


def _unnormalize(at, size, align_corners):
    """Coordinates from -1 to 1 as indices of elements, and the derivative of this map."""
    low, high = _reflection_ends(size, align_corners)
    scale = (high - low) / 2
    return (at + 1) * scale + low, scale


def _has_kink(at, size, mode, padding_mode, align_corners):
    """The mask of coordinates at which the weights have a kink or jump: those of elements, or for
    mode "nearest" those halfway between two elements.
    """
    at, scale = _unnormalize(at, size, align_corners)
    if mode == "bicubic" or not scale:  # smooth, or constant
        return at < at
    if padding_mode == "reflection":
        at, _ = _reflect_coordinates(TENSORS, at, *_reflection_ends(size, align_corners))
    around, beside = int(padding_mode == "zeros"), at + 0.5 * (mode == "nearest")
    return (at >= -around) & (at <= size - 1 + around) & beside.eq(floor(beside))


def _neighbours(m, at, size, orders, mode, padding_mode, align_corners):
    """Yield the index and the weight of each neighbour of coordinates from -1 to 1. `m` provides
    the functions: NumPy, or TENSORS. Indices may be out of range.
    """
    (at, scale), inside = _unnormalize(at, size, align_corners), 1.0
    edges = size, padding_mode, align_corners
    if mode != "bicubic":
        at, inside = _clip_coordinates(m, at, *edges)
    before, polynomials = m.round(at) if mode == "nearest" else m.floor(at), WEIGHTS[mode]
    for k, polynomial in enumerate(polynomials):
        index = before + (k - (len(polynomials) - 1) // 2)
        if mode == "bicubic":
            index = _clip_coordinates(m, index, *edges)[0]
        weight = _polynomial_value(_derivative(polynomial, orders), at - before)
        yield index, weight * (scale * inside) ** orders if orders else weight


def _weights(at, *, size, orders, **how):
    elements, out = np.arange(size), 0.0
    for index, weight in _neighbours(np, at, size, orders, **how):
        weight = np.broadcast_to(weight, at.shape)
        out = out + np.where(index[..., None] == elements, weight[..., None], 0.0)
    return out


@composite(
    shape=lambda s, *, size, **_: (*s, size),
    value=_weights,
    symbolic=NotWritable("the elements next to a coordinate depend on its value"),
    index=lambda lower, i, at, **_: None,
    dtype="float",
    rule=lambda g, y, at, *, orders, **how: (g * grid_weights(at, orders=orders + 1, **how)).sum(
        dim=-1
    ),
    examples=(
        ("grid_weights(x, 3, mode='bilinear', padding_mode='border')", "x=4"),
        ("grid_weights(x, 2, mode='bicubic', align_corners=True)", "x=2x2"),
    ),
    torch=None,
)
def grid_weights(at, *, size, orders=0, mode="bilinear", padding_mode="zeros", align_corners=False):
    """The weights of all elements along one dimension, or their derivatives of this order."""
    out = 0
    for index, weight in _neighbours(TENSORS, at, size, orders, mode, padding_mode, align_corners):
        matches = index.unsqueeze(dim=-1).eq(arange(start=0, end=size, step=1))
        out = where(matches, as_node(weight).unsqueeze(dim=-1), 0.0) + out
    return out


# ---- all dimensions ------------------------------------------------------------------------------


def _corners(grid, sizes, orders, **how):
    """For each corner around the coordinates: flat indices, whether within the image, weights."""
    coordinates = grid.reshape(len(grid), -1, len(sizes))
    along = [
        list(_neighbours(np, coordinates[..., -d - 1], size, orders[-d - 1], **how))
        for d, size in enumerate(sizes)
    ]
    for corner in product(*along):
        flat, inside, weight = np.zeros((), int), np.True_, np.ones(())
        for (index, factor), size in zip(corner, sizes):
            valid = (index >= 0) & (index < size)
            flat = flat * size + np.where(valid, index, 0).astype(int)
            inside, weight = inside & valid, weight * factor
        if len(sizes) == 3:  # outside the image, weights are 0 even for a coordinate of nan
            weight = np.where(inside, weight, 0.0)
        yield flat, inside, np.broadcast_to(weight, flat.shape)


def _nan_at_last(grid, padding_mode):
    """`grid` with 1, the end of the image, in place of nan, as in PyTorch for three dimensions;
    with reflection also in place of inf.
    """
    replaced = ~np.isfinite(grid) if padding_mode == "reflection" else np.isnan(grid)
    return np.where(replaced, 1.0, grid)


def _sampled(input, grid, *, orders, **how):
    batch, channels, *sizes = input.shape
    if len(sizes) == 3 and how["padding_mode"] != "zeros" and not any(orders):
        grid = _nan_at_last(grid, how["padding_mode"])
    rows, out = input.reshape(batch, channels, -1), np.zeros(())
    for flat, inside, weight in _corners(grid, sizes, orders, **how):
        values = np.take_along_axis(rows, flat[:, None], -1)
        out = out + np.where(inside[:, None], values, 0.0) * weight[:, None]
    return out.reshape(batch, channels, *grid.shape[1:-1])


def _transposed(x, grid, *, size, orders, **how):
    batch, channels = x.shape[:2]
    count = shapes.numel(size)
    rows, out = x.reshape(batch, channels, -1), np.zeros(batch * channels * count)
    first = (np.arange(batch * channels) * count).reshape(batch, channels, 1)
    for flat, inside, weight in _corners(grid, size, orders, **how):
        mask = np.broadcast_to(inside[:, None], rows.shape)
        targets, parts = (first + flat[:, None])[mask], (rows * weight[:, None])[mask]
        out += np.bincount(targets, weights=parts, minlength=out.size)
    return out.reshape(batch, channels, *size)


def _by_dimension(equation, x, grid, sizes, orders, how):
    """An einsum of x and the weights of each dimension. `equation` is "ep" if x has the dimensions
    of image elements and the result those of sample points, "pe" for the reverse.
    """
    weights = [
        grid_weights(grid[..., -d - 1], size=size, orders=orders[-d - 1], **how)
        for d, size in enumerate(sizes)
    ]
    n = len(sizes)
    names = {"e": "abc"[:n], "p": "ijk"[:n]}
    terms = [f"uv{{{equation[0]}}}", *(f"u{{p}}{letter}" for letter in names["e"])]
    full = f"{','.join(terms)}->uv{{{equation[1]}}}".format(**names)
    return einsum(full, x, *weights)


def _grid_gradient(x, input, grid, orders, how):
    """The gradient of <x, samples of input> with respect to the grid."""
    degree = len(WEIGHTS[how["mode"]][0]) - 1
    gradients = []
    for d in range(len(orders)):
        if orders[d] == degree:
            gradients.append(zeros(size=grid.shape[:-1]))
            continue
        raised = (*orders[:d], orders[d] + 1, *orders[d + 1 :])
        gradients.append((x * grid_sampled(input, grid, orders=raised, **how)).sum(dim=1))
    slope = stack(gradients, dim=-1)
    if how["mode"] != "bicubic":
        return slope
    # inf times weights of both signs is nan
    not_finite = (x - x).sum(dim=1).ne(0).unsqueeze(dim=-1)
    return unless(not_finite, slope, instead=nan)


def _flops(out, s, grid, *, mode="bilinear", **_):
    """FLOP: each sample is a weighted sum of the elements around it."""
    samples = shapes.numel(s[:2]) * shapes.numel(grid[1:-1])
    return 2 * samples * len(WEIGHTS[mode]) ** grid[-1]


def _as_grid_sample(input, grid, *, orders, **how):
    """An equal call of PyTorch's grid_sample; None for derivatives, which it cannot compute."""
    return None if any(orders) else OPS["grid_sample"](input, grid, **how)


def _by_sampled_units(x, grid, *, size, orders, **how):
    """The transpose as a matrix product: x times the samples of each image that is 1 at one element
    and 0 elsewhere.
    """
    many, letters = shapes.numel(size), "ijk"[: len(size)]
    units = eye(n=many).reshape(shape=(1, many, *size)).expand(shape=(grid.shape[0], many, *size))
    samples = _as_grid_sample(units, grid, orders=orders, **how)
    if samples is None:
        return None
    return einsum(f"np{letters},nc{letters}->ncp", samples, x).reshape(shape=(*x.shape[:2], *size))


def _sampled_shape(s, grid, **_):
    shapes.require_equal(s[:1], grid[:1], "each image of a batch needs a grid")
    return (*s[:2], *grid[1:-1])


def _transposed_shape(s, grid, *, size, **_):
    if 0 in size:
        raise GradcliError("shape", "grid_sample() of a shape without elements")
    shapes.require_equal((s[0], *s[2:]), grid[:-1], "each sample of a batch needs coordinates")
    return (*s[:2], *size)


@composite(
    shape=_sampled_shape,
    value=_sampled,
    torch_expand=_as_grid_sample,
    dtype="float",
    rule=lambda g, y, input, grid, *, orders, **how: (
        grid_sample_transpose(g, grid, size=input.shape[2:], orders=orders, **how),
        _grid_gradient(g, input, grid, orders, how),
    ),
    examples=(("grid_sampled(x, tensor([[[[0.3, -0.2], [-0.9, 0.4]]]]), (0, 1))", "x=1x1x2x3"),),
    torch=None,
    flops=_flops,
)
def grid_sampled(
    input, grid, *, orders, mode="bilinear", padding_mode="zeros", align_corners=False
):
    """grid_sample, or its derivative of these orders with respect to each coordinate."""
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    return _by_dimension("ep", input, grid, input.shape[2:], orders, how)


@composite(
    shape=_transposed_shape,
    value=_transposed,
    torch_expand=_by_sampled_units,
    dtype="float",
    rule=lambda g, y, x, grid, *, size, orders, **how: (
        grid_sampled(g, grid, orders=orders, **how),
        _grid_gradient(x, g, grid, orders, how),
    ),
    examples=(
        ("grid_sample_transpose(x, tensor([[[[0.3, -0.2]]]]), (2, 3), (0, 0))", "x=1x2x1x1"),
    ),
    torch=None,
    flops=_flops,
)
def grid_sample_transpose(
    x, grid, *, size, orders, mode="bilinear", padding_mode="zeros", align_corners=False
):
    """The transpose of grid_sampled: samples added to the elements that they came from."""
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    return _by_dimension("pe", x, grid, size, orders, how)


# ---- PyTorch's names -----------------------------------------------------------------------------


def _check(s, grid, mode, padding_mode):
    n = len(s) - 2
    if n not in (2, 3) or len(grid) != len(s):
        raise GradcliError(
            "shape",
            "grid_sample() needs shapes (batch, channels, rows, columns) and (batch, rows, "
            f"columns, 2), or one more dimension and 3, got {shapes.text(s)} and "
            f"{shapes.text(grid)}",
        )
    if mode not in WEIGHTS or (mode == "bicubic" and n == 3):
        known = list(WEIGHTS)[: 5 - n]
        raise GradcliError(
            "arguments",
            f"grid_sample() has no mode {mode!r} for {n} dimensions",
            hint=f"supported: {', '.join(known)}",
        )
    if padding_mode not in PADDINGS:
        raise GradcliError(
            "arguments",
            f"grid_sample() has no padding_mode {padding_mode!r}",
            hint=f"supported: {', '.join(PADDINGS)}",
        )
    if 0 in s[2:]:
        raise GradcliError("shape", "grid_sample() of a shape without elements")
    message = f"grid_sample() needs equal batches and {n} coordinates, got {shapes.text(s)} and "
    shapes.require_equal((grid[0], grid[-1]), (s[0], n), message + shapes.text(grid))


def _grid_kinks(y, input, grid, **how):
    hits = [_has_kink(grid[..., d], size, **how) for d, size in enumerate(input.shape[:1:-1])]
    return None, stack(hits, dim=0).any(dim=0)


@composite(
    torch=F + "grid_sample",
    saved=("input", "grid"),
    kink=_grid_kinks,
    order="input grid mode padding_mode align_corners",
    examples=(
        ("grid_sample(x, tensor([[[[0.3, -0.2]]]]), align_corners=False)", "x=1x1x2x3"),
        ("grid_sample(x, p, align_corners=True)", "x=1x2x2x3,p=1x2x1x2"),
        ("grid_sample(x, p, 'bicubic', 'reflection', False)", "x=1x1x2x3,p=1x1x2x2"),
        ("grid_sample(x, p, 'bilinear', 'border', False)", "x=1x1x2x1x2,p=1x1x1x2x3"),
    ),
    caveat="at the coordinate of an element the derivative is that towards the next one; "
    "coordinates of inf and nan are outside of the image, though PyTorch's bicubic mode "
    "treats nan as inside",
    input_dtypes="floats of one dtype",
    canonical_attributes=one_of(align_corners=(None, True, False)),
)
def grid_sample(input, grid, *, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of input at the coordinates in grid, from -1 to 1, last dimension first."""
    _check(input.shape, grid.shape, mode, padding_mode)
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)}
    return grid_sampled(input, grid, orders=(0,) * grid.shape[-1], **how)


@shorthand(
    "grid_sampler_2d",
    "grid_sampler_3d",
    input_dtypes="floats of one dtype",
    booleans=("align_corners",),
)
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sample with modes given as integers."""
    if interpolation_mode not in range(len(WEIGHTS)) or padding_mode not in range(len(PADDINGS)):
        raise GradcliError("arguments", "grid_sampler() has modes and padding modes 0, 1 and 2")
    mode, padding = list(WEIGHTS)[interpolation_mode], PADDINGS[padding_mode]
    return grid_sample(input, grid, mode=mode, padding_mode=padding, align_corners=align_corners)
