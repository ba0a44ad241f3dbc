"""A tensor sampled at places that are tensors themselves, so that they have gradients too."""

from itertools import product

from ..errors import GradcliError
from ..graphs import OPS, shapes
from ..lazy import np
from .arithmetic import abs, floor, remainder, where
from .families import composite, shorthand
from .leaves import Array
from .pointwise import F
from .resampling import cubic_weights
from .shaping import stack

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def _pixel(at, size, align_corners):
    """A place from -1 to 1 as the place of an element."""
    return (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2


def _inside(at, size):
    """A place between the first and the last element; beyond them it has no slope."""
    return where(at <= 0, 0.0, where(at >= size - 1, float(size - 1), at))


def _reflected(at, low, high):
    """A place reflected at both ends until it is between them."""
    if low == high:
        return at * 0
    span, away = high - low, abs(at - low)
    over, turns = remainder(away, span), floor(away / span)
    return where(remainder(turns, 2).eq(0), over + low, span - over + low)


def _within(at, size, padding_mode, align_corners):
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        low, high = (0, size - 1) if align_corners else (-0.5, size - 0.5)
        at = _reflected(at, low, high)
    return _inside(at, size)


def _element(rows, sizes, at):
    """The elements at whole numbers in each dimension; 0 outside."""
    flat, inside = 0, True
    for place, size in zip(at, sizes):
        known = (place >= 0) & (place <= size - 1)
        inside = known & inside
        flat = flat * size + where(known, place, 0).long()
    batch, channels = rows.shape[:2]
    index = flat.reshape(shape=(batch, 1, -1)).expand(shape=(-1, channels, -1))
    found = rows.gather(dim=-1, index=index)
    return where(inside.reshape(shape=(batch, 1, -1)), found, 0.0)


def _corners(at):
    """The elements around a place and their weights."""
    low = [floor(p).detach() for p in at]
    for corner in product((0, 1), repeat=len(at)):
        weight = None
        for p, first, side in zip(at, low, corner):
            part = p - first if side else first + 1 - p
            weight = part if weight is None else weight * part
        yield [first + side for first, side in zip(low, corner)], weight


def _cubic_corners(at, sizes, padding_mode, align_corners):
    """The 16 elements around a place and their weights."""
    low = [floor(p).detach() for p in at]
    parts = [cubic_weights(p - first) for p, first in zip(at, low)]
    for corner in product(range(4), repeat=len(at)):
        there = [first + (k - 1) for first, k in zip(low, corner)]
        there = [_within(p, n, padding_mode, align_corners) for p, n in zip(there, sizes)]
        yield there, parts[0][corner[0]] * parts[1][corner[1]]


@composite(
    torch=F + "grid_sample",
    order="input grid mode padding_mode align_corners",
    examples=(
        ("grid_sample(x, tanh(y))", "x=1x1x2x3,y=1x1x2x2"),
        ("grid_sample(x, y, padding_mode='border', align_corners=True)", "x=1x1x2x2,y=1x1x1x2"),
        ("grid_sample(x, y, mode='nearest')", "x=1x1x2x2,y=1x1x2x2"),
    ),
    caveat="at an element's own place the slope is that towards the next element",
)
def grid_sample(input, grid, *, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The elements of input at the places in grid, which go from -1 to 1, last dimension first."""
    n = input.ndim - 2
    if n not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != n:
        raise GradcliError(
            "shape",
            "grid_sample() needs shapes (batch, channels, rows, columns) and "
            "(batch, rows, columns, 2), or one dimension more and 3, not "
            f"{shapes.text(input.shape)} and {shapes.text(grid.shape)}",
        )
    if mode not in MODES or padding_mode not in PADDINGS or (mode == "bicubic" and n == 3):
        raise GradcliError("arguments", f"grid_sample() has no {mode!r} with {padding_mode!r} here")
    if 0 in input.shape[2:]:
        raise GradcliError("shape", "grid_sample() of a shape without elements")
    message = f"grid_sample() needs one batch, not {input.shape[0]} and {grid.shape[0]}"
    shapes.require_equal(input.shape[:1], grid.shape[:1], message)
    sizes, align = input.shape[2:], bool(align_corners)
    at = [_pixel(grid[..., n - 1 - d], size, align) for d, size in enumerate(sizes)]
    if mode != "bicubic":
        at = [_within(p, size, padding_mode, align) for p, size in zip(at, sizes)]
    rows = input.reshape(shape=(*input.shape[:2], shapes.numel(sizes)))
    out_shape = (*input.shape[:2], *grid.shape[1:-1])
    if mode == "nearest":
        return _element(rows, sizes, [p.round() for p in at]).reshape(shape=out_shape)
    around = _cubic_corners(at, sizes, padding_mode, align) if mode == "bicubic" else _corners(at)
    out = None
    for there, weight in around:
        term = _element(rows, sizes, there) * weight.reshape(shape=(grid.shape[0], 1, -1))
        out = term if out is None else out + term
    return out.reshape(shape=out_shape)


def _sampler(n):
    @shorthand(f"grid_sampler_{n}d", alone=True)
    def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
        """grid_sample with modes by number."""
        modes = {"mode": MODES[interpolation_mode], "padding_mode": PADDINGS[padding_mode]}
        return grid_sample(input, grid, align_corners=align_corners, **modes)


_sampler(2)
_sampler(3)


@shorthand()
def affine_grid(theta, size, align_corners=None):
    """The places at which grid_sample moves an image by the matrices theta."""
    if theta.ndim != 3 or theta.shape[1:] not in ((2, 3), (3, 4)):
        have = shapes.text(theta.shape)
        raise GradcliError("shape", f"affine_grid() needs matrices of 2×3 or 3×4, not {have}")
    sizes = tuple(size)[2:]
    lines = [_line(count, align_corners) for count in sizes]
    across = [
        OPS["tensor"](data=Array(line, f"tensor({line.tolist()})"))
        .reshape(shape=(-1, *(1,) * (len(sizes) - d - 1)))
        .expand(shape=sizes)
        for d, line in enumerate(lines)
    ]
    places = stack([*reversed(across), OPS["ones"](size=sizes)], dim=-1)
    flat = places.reshape(shape=(1, shapes.numel(sizes), len(sizes) + 1))
    return (flat @ theta.mT).reshape(shape=(theta.shape[0], *sizes, len(sizes)))


def _line(count, align_corners):
    if count == 1:
        return np.zeros(1)
    line = np.linspace(-1.0, 1.0, count)
    return line if align_corners else line * (count - 1) / count
