"""Grids of coordinates for grid_sample."""

from ..errors import GradcliError
from ..graphs import shapes
from .families import composite, is_integer, one_of
from .joining import stack
from .leaves import linspace, ones, zeros
from .pointwise import F


@composite(
    torch=F + "affine_grid",
    examples=(
        ("affine_grid(theta, (1, 1, 2, 3), align_corners=False)", "theta=1x2x3"),
        ("affine_grid(theta, (1, 1, 2, 2, 3), align_corners=True)", "theta=1x3x4"),
    ),
    aliases=("affine_grid_generator",),
    saved=(),
    input_dtypes="floats",
    canonical_attributes=one_of(align_corners=(None, True, False)),
)
def affine_grid(theta, *, size, align_corners=None):
    """The coordinates at which grid_sample transforms an image by the matrices theta."""
    n = len(size) - 2
    if n not in (2, 3) or theta.ndim != 3 or not all(is_integer(s) and s > 0 for s in size):
        raise GradcliError(
            "shape",
            "affine_grid() needs matrices and a size of (batch, channels, rows, columns), or one "
            f"more dimension, got {shapes.text(theta.shape)} and {size}",
        )
    message = f"affine_grid() to {size} needs matrices {(size[0], n, n + 1)}, got {theta.shape}"
    shapes.require_equal(theta.shape, (size[0], n, n + 1), message)
    sizes = size[2:]
    lines = [
        _line(count, align_corners).reshape(shape=(count, *(1,) * (n - d - 1))).expand(shape=sizes)
        for d, count in enumerate(sizes)
    ]
    coordinates = stack([*reversed(lines), ones(size=sizes)], dim=-1)
    flat = coordinates.reshape(shape=(shapes.numel(sizes), n + 1))
    return (flat @ theta.mT).reshape(shape=(size[0], *sizes, n))


def _line(count, align_corners):
    """`count` coordinates of pixels: with align_corners from -1 to 1, both included; otherwise the
    centres of `count` equal parts of that interval.
    """
    if count == 1:
        return zeros(size=(1,))
    line = linspace(start=-1, end=1, steps=count)
    return line if align_corners else line * (count - 1) / count
