"""Permutations of dimensions and of elements."""

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..lazy import np
from .families import composite, is_integer, movement, named, require, shorthand
from .pointwise import F


def _swap(items, a, b):
    items = list(items)
    a, b = shapes.axis(a, len(items)), shapes.axis(b, len(items))
    if items:
        items[a], items[b] = items[b], items[a]
    return tuple(items)


@movement(
    lambda x, *, dim0, dim1: np.swapaxes(x, dim0, dim1) if np.ndim(x) else x,
    shape=lambda s, *, dim0, dim1: _swap(s, dim0, dim1),
    rows=lambda s, *, dim0, dim1: (0 not in (dim0 % len(s), dim1 % len(s)) if s else False,),
    index=lambda lower, i, x, *, dim0, dim1: lower(x, _swap(i, dim0, dim1)),
    aliases=("swapaxes", "swapdims"),
    examples=(("x.transpose(0, 1)", "x=2x3"), ("x.mT", "x=2x3")),
    rank="unchanged",
    view=True,
)
def transpose(g, y, x, *, dim0, dim1):
    """Two dimensions exchanged."""
    return g.transpose(dim0=dim0, dim1=dim1)


def _order(dims, ndim):
    order = tuple(shapes.axis(d, ndim) for d in dims)
    if sorted(order) != list(range(ndim)):
        raise GradcliError("shape", f"dims {dims} do not name each of the {ndim} dimensions once")
    return order


def _inverse(order):
    return tuple(order.index(d) for d in range(len(order)))


@movement(
    lambda x, *, dims: np.transpose(x, dims),
    shape=lambda s, *, dims: tuple(s[d] for d in _order(dims, len(s))),
    collect="dims",
    index=lambda lower, i, x, *, dims: lower(x, [i[d] for d in _inverse(_order(dims, x.ndim))]),
    examples=(("x.permute(2, 0, 1)", "x=2x3x4"),),
    view=True,
)
def permute(g, y, x, *, dims):
    """Dimensions in another order."""
    return g.permute(dims=_inverse(_order(dims, x.ndim)))


def permuted(x, dims):
    """x with its dimensions permuted; x itself for the identity."""
    return x if dims == tuple(range(x.ndim)) else permute(x, dims=dims)


@shorthand("moveaxis")
def movedim(input, source, destination):
    """Dimensions moved to other positions; the rest keep their order."""
    input = as_node(input)
    sources, to = (_distinct_dims(dims, input.ndim) for dims in (source, destination))
    if len(sources) != len(to):
        raise GradcliError(
            "arguments",
            f"movedim() moves {len(sources)} dimension{'s' * (len(sources) != 1)} to {len(to)} "
            "positions",
        )
    rest = iter(d for d in range(input.ndim) if d not in sources)
    places = dict(zip(to, sources, strict=True))
    return permute(
        input, dims=tuple(places[d] if d in places else next(rest) for d in range(input.ndim))
    )


def _distinct_dims(dims, ndim):
    """The dimensions, non-negative, in the given order. Raises GradcliError for repeated ones."""
    result = tuple(shapes.axis(d, ndim) for d in (dims if isinstance(dims, tuple) else (dims,)))
    if len(set(result)) != len(result):
        raise GradcliError("arguments", f"dims {dims} name a dimension twice")
    return result if ndim else ()


@shorthand()
def t(input):
    """The transpose of a matrix; a vector as it is."""
    return reverse_dims(_at_most_a_matrix(input))


def _at_most_a_matrix(x):
    if x.ndim > 2:
        have = shapes.text(x.shape)
        raise GradcliError("shape", f"t() and H are for matrices, and the shape is {have}")
    return x


@shorthand("T", only_aliases=True)
def reverse_dims(input):
    """Dimensions in reverse order; for a matrix, its transpose."""
    if input.ndim == 2:
        return transpose(input, dim0=0, dim1=1)
    return input if input.ndim < 2 else permute(input, dims=tuple(reversed(range(input.ndim))))


@shorthand("mT", "mH", "adjoint")
def matrix_transpose(input):
    """The last two dimensions exchanged."""
    if not input.ndim:
        return input  # as in PyTorch, which warns
    if input.ndim < 2:
        have = shapes.text(input.shape)
        raise GradcliError(
            "shape", f"mT exchanges the last two dimensions, and the shape is {have}"
        )
    return transpose(input, dim0=-2, dim1=-1)


@shorthand("H", input_dtypes="floats")
def hermitian(input):
    """The transpose of a matrix of real numbers."""
    shape = as_node(input).shape
    if len(shape) not in (0, 2):
        raise GradcliError("shape", f"H is of a matrix, and the shape is {shapes.text(shape)}")
    return t(input)


def _unchanged(s, *, dims):
    shapes.axes(dims, len(s))
    return s


@movement(
    lambda x, *, dims: np.flip(x, dims if np.ndim(x) else ()),
    shape=_unchanged,
    collect="dims",
    index=lambda lower, i, x, *, dims: lower.flipped(i, x, dims),
    examples=(("x.flip(0, 1)", "x=2x3"), ("flip(x, (1,))", "x=2x3")),
    numpy="np.flip({0}, {dims})",
)
def flip(g, y, x, *, dims):
    """Elements in reverse order along dims."""
    return g.flip(dims=dims)


@shorthand()
def fliplr(input):
    """Elements in reverse order along dimension 1."""
    return _flipped(input, 1)


@shorthand()
def flipud(input):
    """Elements in reverse order along dimension 0."""
    return _flipped(input, 0)


def _flipped(input, dim):
    if input.ndim <= dim:
        have = shapes.text(input.shape)
        raise GradcliError("shape", f"shape {have} has no dimension {dim} to reverse")
    return flip(input, dims=(dim,))


def _rolls(s, shifts, dims):
    """The shift of each dimension."""
    shifts = shifts if isinstance(shifts, tuple) else (shifts,)
    over = dims if isinstance(dims, tuple) else (dims,)
    if len(shifts) != len(over):
        raise GradcliError(
            "arguments",
            f"roll() needs a shift for each dimension, got {len(shifts)} for {len(over)}",
        )
    totals = [0] * max(len(s), 1)
    for shift, dim in zip(shifts, over, strict=True):
        totals[shapes.axis(dim, len(s))] += shift
    return totals


def _rolled_shape(s, *, shifts, dims):
    if dims not in (None, ()):
        _rolls(s, shifts, dims)
        if not s:
            raise GradcliError("index", "roll() along dims needs at least one dimension")
    elif isinstance(shifts, tuple) and len(shifts) != 1:
        raise GradcliError("arguments", "roll() without dims takes one shift")
    return s


def _rolled(x, *, shifts, dims):
    if dims in (None, ()):
        return np.roll(x, shifts)
    return np.roll(x, _rolls(x.shape, shifts, dims), tuple(range(x.ndim))) if x.ndim else x


@movement(
    _rolled,
    shape=_rolled_shape,
    integer_attributes=("shifts",),
    index=lambda lower, i, x, *, shifts, dims: (
        x.reshape(shape=(x.numel,)).roll(shifts=shifts, dims=0).reshape(shape=x.shape)
        if dims in (None, ())
        else lower.rolled(i, x, _rolls(x.shape, shifts, dims))
    ),
    examples=(
        ("x.roll(1, 0)", "x=3x2"),
        ("roll(x, (1, -1), (0, 1))", "x=2x3"),
        ("x.roll(2)", "x=2x2"),
    ),
    numpy="np.roll({0}, {shifts}, {dims})",
)
def roll(g, y, x, *, shifts, dims=None):
    """Elements shifted along dims; those shifted out at one end come in at the other."""
    back = tuple(-n for n in shifts) if isinstance(shifts, tuple) else -shifts
    return g.roll(shifts=back, dims=dims)


def _halves(name, sentence, count):
    @named(name, sentence)
    def meaning(input, dim=None):
        x = as_node(input)
        over = tuple(range(x.ndim)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
        moves = tuple(count(x.shape[shapes.axis(d, x.ndim)]) for d in over)
        return roll(x, shifts=moves, dims=over)

    names = (name, f"fft.{name}", f"torch.fft.{name}")
    return shorthand(*names, only_aliases=True)(meaning)


fftshift = _halves(
    "fftshift",
    "The two halves of each of the dimensions exchanged, so that frequency 0 is in the middle.",
    lambda n: n // 2,
)
ifftshift = _halves("ifftshift", "The inverse of fftshift.", lambda n: -(n // 2))


@shorthand()
def rot90(input, k=1, dims=(0, 1), *, axes=None):
    """Rotated by 90 degrees k times, from the first of dims toward the second."""
    input, dims = as_node(input), dims if axes is None else axes
    if len(dims) != 2 or len(_distinct_dims(dims, input.ndim)) != 2:
        raise GradcliError(
            "arguments", f"dims of rot90() must be two different dimensions, got {dims}"
        )
    require(is_integer(k), f"k of rot90() must be an integer, got {k!r}")
    first, second = dims
    if k % 4 == 0:
        return input
    if k % 4 == 2:
        return flip(input, dims=(first, second))
    return transpose(flip(input, dims=(second if k % 4 == 1 else first,)), dim0=first, dim1=second)


# ---- channels ------------------------------------------------------------------------------------


def _image(input, name, divisors):
    """Raise GradcliError unless the size of each dimension in `divisors`, a dict, is divisible by
    its value.
    """
    for dim, n in divisors.items():
        if n < 1 or input.ndim < 3 or input.shape[dim] % n:
            have = shapes.text(input.shape)
            raise GradcliError(
                "shape",
                f"{name}() needs dimension {dim} to be a multiple of {n}, and the shape is {have}",
            )


@composite(
    torch=F + "pixel_shuffle",
    rule=lambda g, y, input, *, upscale_factor: pixel_unshuffle(g, downscale_factor=upscale_factor),
    examples=(("pixel_shuffle(x, 2)", "x=1x4x1x2"), ("pixel_shuffle(x, 2)", "x=4x3x2")),
    exact="all",
)
def pixel_shuffle(input, *, upscale_factor):
    """Channels laid out as squares of pixels: (C r², H, W) becomes (C, H r, W r)."""
    r = upscale_factor
    _image(input, "pixel_shuffle", {-3: r * r})
    *head, channels, rows, columns = input.shape
    grouped = input.reshape(shape=(*head, channels // (r * r), r, r, rows, columns))
    n = len(head)
    side_by_side = grouped.permute(dims=(*range(n + 1), n + 3, n + 1, n + 4, n + 2))
    return side_by_side.reshape(shape=(*head, channels // (r * r), rows * r, columns * r))


@composite(
    torch=F + "pixel_unshuffle",
    rule=lambda g, y, input, *, downscale_factor: pixel_shuffle(g, upscale_factor=downscale_factor),
    examples=(("pixel_unshuffle(x, 2)", "x=1x1x2x4"), ("pixel_unshuffle(x, 2)", "x=1x2x6")),
    exact="all",
)
def pixel_unshuffle(input, *, downscale_factor):
    """Squares of pixels laid out as channels: the reverse of pixel_shuffle."""
    r = downscale_factor
    _image(input, "pixel_unshuffle", {-2: r, -1: r})
    *head, channels, rows, columns = input.shape
    grouped = input.reshape(shape=(*head, channels, rows // r, r, columns // r, r))
    n = len(head)
    stacked = grouped.permute(dims=(*range(n + 1), n + 2, n + 4, n + 1, n + 3))
    return stacked.reshape(shape=(*head, channels * r * r, rows // r, columns // r))


@composite(
    torch=F + "channel_shuffle", examples=(("channel_shuffle(x, 2)", "x=1x4x1x2"),), exact="all"
)
def channel_shuffle(input, *, groups):
    """The channels of the groups interleaved: the first of each group, then the second, ..."""
    if input.ndim < 3 or groups < 1 or input.shape[1] % groups:
        have = shapes.text(input.shape)
        raise GradcliError(
            "shape", f"channel_shuffle() needs channels in {groups} groups, and the shape is {have}"
        )
    batch, channels, *image = input.shape
    grouped = input.reshape(shape=(batch, groups, channels // groups, *image))
    return grouped.transpose(dim0=1, dim1=2).reshape(shape=input.shape)
