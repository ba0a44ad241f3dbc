"""Sampling: the elements of a tensor at places that are given as numbers too.

A sample is a sum over the elements around its place, each with a product of one weight for each
dimension. A weight is a polynomial of the place between two elements. So the derivative by a place
is again a sample, with derivatives as weights: `slopes` counts how often, for each coordinate.
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
from .elements import Unwritten
from .families import composite, one_of, shorthand
from .guards import unless
from .joining import stack
from .leaves import arange, eye, zeros, zeros_like
from .pointwise import F
from .resampling import SHARPNESS

PADDINGS = ("zeros", "border", "reflection")
TENSORS = SimpleNamespace(**{f.name: f for f in (abs, floor, remainder, round, where, zeros_like)})

# ---- one dimension -------------------------------------------------------------------------------

_A = SHARPNESS[0]
# For each element around a place its weight: a polynomial of how far the place is after the element
# before it, the constant first.
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


def _at(polynomial, x):
    """The polynomial's value."""
    value, *others = reversed(polynomial or (0.0,))
    for c in others:
        value = value * x + c
    return value


def _reflected(m, at, low, high):
    """A place reflected at both ends until it is between them, and its slope."""
    if low == high:
        return m.zeros_like(at), 0.0
    span, away = high - low, m.abs(at - low)
    turns = m.floor(away / span)
    over, back = m.remainder(away, span), m.remainder(turns, 2) > 0
    slope = m.where(at < low, -1.0, 1.0)
    return m.where(back, span - over + low, over + low), m.where(back, -slope, slope)


def _ends(size, align_corners):
    """The places where a reflection turns around."""
    return (0, size - 1) if align_corners else (-0.5, size - 0.5)


def _within(m, at, size, padding_mode, align_corners):
    """A place between the first and the last element, and its slope: 0 where it was moved there."""
    if padding_mode == "zeros":
        return at, 1.0
    slope = 1.0
    if padding_mode == "reflection":
        at, slope = _reflected(m, at, *_ends(size, align_corners))
    low, high = at <= 0, at >= size - 1
    return m.where(low, 0.0, m.where(high, size - 1.0, at)), m.where(low | high, 0.0, slope)


def _counted(at, size, align_corners):
    """Places from -1 to 1 counted in elements from 0, and how many of these 1 is long."""
    low, high = _ends(size, align_corners)
    scale = (high - low) / 2
    return (at + 1) * scale + low, scale


def _meets(at, size, mode, padding_mode, align_corners):
    """Whether weights have a kink at a place: at an element; for the nearest, between two."""
    at, scale = _counted(at, size, align_corners)
    if mode == "bicubic" or not scale:  # smooth, or one place for all numbers
        return at < at
    if padding_mode == "reflection":
        at, _ = _reflected(TENSORS, at, *_ends(size, align_corners))
    around, beside = int(padding_mode == "zeros"), at + 0.5 * (mode == "nearest")
    return (at >= -around) & (at <= size - 1 + around) & beside.eq(floor(beside))


def _around(m, at, size, slopes, mode, padding_mode, align_corners):
    """The elements around places from -1 to 1 and their weights.

    `m` has the functions: NumPy, or TENSORS. There are no elements outside of the size.
    """
    (at, scale), inside = _counted(at, size, align_corners), 1.0
    edges = size, padding_mode, align_corners
    if mode != "bicubic":
        at, inside = _within(m, at, *edges)
    before, polynomials = m.round(at) if mode == "nearest" else m.floor(at), WEIGHTS[mode]
    for k, polynomial in enumerate(polynomials):
        place = before + (k - (len(polynomials) - 1) // 2)
        if mode == "bicubic":
            place = _within(m, place, *edges)[0]
        weight = _at(_derivative(polynomial, slopes), at - before)
        yield place, weight * (scale * inside) ** slopes if slopes else weight


def _weighted(at, *, size, slopes, **how):
    whole, out = np.arange(size), 0.0
    for place, weight in _around(np, at, size, slopes, **how):
        weight = np.broadcast_to(weight, at.shape)
        out = out + np.where(place[..., None] == whole, weight[..., None], 0.0)
    return out


@composite(
    shape=lambda s, *, size, **_: (*s, size),
    value=_weighted,
    symbolic=Unwritten("which elements are around a place depends on its numbers"),
    index=lambda lower, i, at, **_: None,
    dtype="float",
    rule=lambda g, y, at, *, slopes, **how: (g * grid_weights(at, slopes=slopes + 1, **how)).sum(
        dim=-1
    ),
    examples=(
        ("grid_weights(x, 3, mode='bilinear', padding_mode='border')", "x=4"),
        ("grid_weights(x, 2, mode='bicubic', align_corners=True)", "x=2x2"),
    ),
    torch=None,
)
def grid_weights(at, *, size, slopes=0, mode="bilinear", padding_mode="zeros", align_corners=False):
    """The weight of each of size elements at places from -1 to 1, or its derivative."""
    out = 0
    for place, weight in _around(TENSORS, at, size, slopes, mode, padding_mode, align_corners):
        met = place.unsqueeze(dim=-1).eq(arange(start=0, end=size, step=1))
        out = where(met, as_node(weight).unsqueeze(dim=-1), 0.0) + out
    return out


# ---- all dimensions ------------------------------------------------------------------------------


def _met(grid, sizes, slopes, **how):
    """For each element around the places of an array: where it is, counted row by row; whether it
    is there; its weight.
    """
    places = grid.reshape(len(grid), -1, len(sizes))
    along = [
        list(_around(np, places[..., -d - 1], size, slopes[-d - 1], **how))
        for d, size in enumerate(sizes)
    ]
    for corner in product(*along):
        flat, there, weight = np.zeros((), int), np.True_, np.ones(())
        for (place, by), size in zip(corner, sizes):
            known = (place >= 0) & (place < size)
            flat = flat * size + np.where(known, place, 0).astype(int)
            there, weight = there & known, weight * by
        if len(sizes) == 3:  # nan is no place there
            weight = np.where(there, weight, 0.0)
        yield flat, there, np.broadcast_to(weight, flat.shape)


def _placed(grid, padding_mode):
    """In three dimensions PyTorch takes a place that padding makes nan for the last element, where
    no gradient flows.
    """
    lost = ~np.isfinite(grid) if padding_mode == "reflection" else np.isnan(grid)
    return np.where(lost, 1.0, grid)


def _sampled(input, grid, *, slopes, **how):
    batch, channels, *sizes = input.shape
    if len(sizes) == 3 and how["padding_mode"] != "zeros" and not any(slopes):
        grid = _placed(grid, how["padding_mode"])
    rows, out = input.reshape(batch, channels, -1), np.zeros(())
    for flat, there, weight in _met(grid, sizes, slopes, **how):
        result = np.take_along_axis(rows, flat[:, None], -1)
        out = out + np.where(there[:, None], result, 0.0) * weight[:, None]
    return out.reshape(batch, channels, *grid.shape[1:-1])


def _laid(x, grid, *, size, slopes, **how):
    batch, channels = x.shape[:2]
    many = shapes.numel(size)
    rows, out = x.reshape(batch, channels, -1), np.zeros(batch * channels * many)
    first = (np.arange(batch * channels) * many).reshape(batch, channels, 1)
    for flat, there, weight in _met(grid, size, slopes, **how):
        keep = np.broadcast_to(there[:, None], rows.shape)
        to, parts = (first + flat[:, None])[keep], (rows * weight[:, None])[keep]
        out += np.bincount(to, weights=parts, minlength=out.size)
    return out.reshape(batch, channels, *size)


def _by_dimension(equation, x, grid, sizes, slopes, how):
    """A sum over products of x and the weights of every dimension."""
    weights = [
        grid_weights(grid[..., -d - 1], size=size, slopes=slopes[-d - 1], **how)
        for d, size in enumerate(sizes)
    ]
    n = len(sizes)
    names = {"e": "abc"[:n], "p": "ijk"[:n]}
    terms = [f"uv{{{equation[0]}}}", *(f"u{{p}}{letter}" for letter in names["e"])]
    whole = f"{','.join(terms)}->uv{{{equation[1]}}}".format(**names)
    return einsum(whole, x, *weights)


def _slope(x, input, grid, slopes, how):
    """The derivative of <x, samples of input> by the grid."""
    most = len(WEIGHTS[how["mode"]][0]) - 1
    each = []
    for d in range(len(slopes)):
        if slopes[d] == most:
            each.append(zeros(size=grid.shape[:-1]))
            continue
        steeper = (*slopes[:d], slopes[d] + 1, *slopes[d + 1 :])
        each.append((x * grid_sampled(input, grid, slopes=steeper, **how)).sum(dim=1))
    slope = stack(each, dim=-1)
    if how["mode"] != "bicubic":
        return slope
    spread = (x - x).sum(dim=1).ne(0).unsqueeze(dim=-1)  # inf, times weights of both signs
    return unless(spread, slope, instead=nan)


def _flops(out, s, grid, *, mode="bilinear", **_):
    """FLOP: each sample is a weighted sum of the elements around its place."""
    samples = shapes.numel(s[:2]) * shapes.numel(grid[1:-1])
    return 2 * samples * len(WEIGHTS[mode]) ** grid[-1]


def _known_sample(input, grid, *, slopes, **how):
    """PyTorch's name; it has none for derivatives by the grid."""
    return None if any(slopes) else OPS["grid_sample"](input, grid, **how)


def _sampled_units(x, grid, *, size, slopes, **how):
    """Each element of x times the samples of images with a single 1."""
    many, letters = shapes.numel(size), "ijk"[: len(size)]
    units = eye(n=many).reshape(shape=(1, many, *size)).expand(shape=(grid.shape[0], many, *size))
    samples = _known_sample(units, grid, slopes=slopes, **how)
    if samples is None:
        return None
    return einsum(f"np{letters},nc{letters}->ncp", samples, x).reshape(shape=(*x.shape[:2], *size))


def _sampled_shape(s, grid, **_):
    shapes.require_equal(s[:1], grid[:1], "a batch of images has a grid for each")
    return (*s[:2], *grid[1:-1])


def _laid_shape(s, grid, *, size, **_):
    shapes.require_equal((s[0], *s[2:]), grid[:-1], "a batch of samples has a place for each")
    return (*s[:2], *size)


@composite(
    shape=_sampled_shape,
    value=_sampled,
    torch_expand=_known_sample,
    dtype="float",
    rule=lambda g, y, input, grid, *, slopes, **how: (
        grid_sample_transpose(g, grid, size=input.shape[2:], slopes=slopes, **how),
        _slope(g, input, grid, slopes, how),
    ),
    examples=(("grid_sampled(x, tensor([[[[0.3, -0.2], [-0.9, 0.4]]]]), (0, 1))", "x=1x1x2x3"),),
    torch=None,
    flops=_flops,
)
def grid_sampled(
    input, grid, *, slopes, mode="bilinear", padding_mode="zeros", align_corners=False
):
    """grid_sample, with weights differentiated slopes times by each coordinate."""
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    return _by_dimension("ep", input, grid, input.shape[2:], slopes, how)


@composite(
    shape=_laid_shape,
    value=_laid,
    torch_expand=_sampled_units,
    dtype="float",
    rule=lambda g, y, x, grid, *, size, slopes, **how: (
        grid_sampled(g, grid, slopes=slopes, **how),
        _slope(x, g, grid, slopes, how),
    ),
    examples=(
        ("grid_sample_transpose(x, tensor([[[[0.3, -0.2]]]]), (2, 3), (0, 0))", "x=1x2x1x1"),
    ),
    torch=None,
    flops=_flops,
)
def grid_sample_transpose(
    x, grid, *, size, slopes, mode="bilinear", padding_mode="zeros", align_corners=False
):
    """Samples laid back among the elements of size that they came from: the transpose."""
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    return _by_dimension("pe", x, grid, size, slopes, how)


# ---- what PyTorch calls it -----------------------------------------------------------------------


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


def _at_elements(y, input, grid, **how):
    hits = [_meets(grid[..., d], size, **how) for d, size in enumerate(input.shape[:1:-1])]
    return None, stack(hits, dim=0).any(dim=0)


@composite(
    torch=F + "grid_sample",
    saved=("input", "grid"),
    kink=_at_elements,
    order="input grid mode padding_mode align_corners",
    examples=(
        ("grid_sample(x, tensor([[[[0.3, -0.2]]]]), align_corners=False)", "x=1x1x2x3"),
        ("grid_sample(x, p, align_corners=True)", "x=1x2x2x3,p=1x2x1x2"),
        ("grid_sample(x, p, 'bicubic', 'reflection', False)", "x=1x1x2x3,p=1x1x2x2"),
        ("grid_sample(x, p, 'bilinear', 'border', False)", "x=1x1x2x1x2,p=1x1x1x2x3"),
    ),
    caveat="at an element's own place the slope is that towards the next element; a place that is "
    "inf or nan is beside all elements, though PyTorch's bicubic lays nan among them",
    takes="floats of one kind",
    canonical_attributes=one_of(align_corners=(None, True, False)),
)
def grid_sample(input, grid, *, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The elements of input at the places in grid, which go from -1 to 1, last dimension first."""
    _check(input.shape, grid.shape, mode, padding_mode)
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)}
    return grid_sampled(input, grid, slopes=(0,) * grid.shape[-1], **how)


@shorthand(
    "grid_sampler_2d",
    "grid_sampler_3d",
    takes="floats of one kind",
    booleans=("align_corners",),
)
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sample with modes by number."""
    if interpolation_mode not in range(len(WEIGHTS)) or padding_mode not in range(len(PADDINGS)):
        raise GradcliError("arguments", "grid_sampler() has modes and padding modes 0, 1 and 2")
    mode, padding = list(WEIGHTS)[interpolation_mode], PADDINGS[padding_mode]
    return grid_sample(input, grid, mode=mode, padding_mode=padding, align_corners=align_corners)
