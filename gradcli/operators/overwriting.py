"""Replacement of a part of a tensor: a slice, a view, or the elements under a mask."""

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..lazy import np
from .arithmetic import in_kind_of
from .comparisons import where
from .families import composite, no_flops, operator, overwriting, shorthand
from .gathering import check_view, owns_memory, select
from .leaves import zeros
from .shaping import expand, reshape


def _slice(x, *, dim, index):
    size = x.shape[shapes.axis(dim, x.ndim)] if x.ndim else 0
    if not -size <= index < size:
        raise shapes.out_of_range(index, size, -size)
    return x[(*(slice(None),) * shapes.axis(dim, x.ndim), index, ...)]


def _over_slice(lower, i, x, src, *, dim, index):
    axis = shapes.axis(dim, x.ndim)
    is_written = lower.delta(i[axis], index % x.shape[axis])
    return lower.choice(is_written, lower(src, [*i[:axis], *i[axis + 1 :]]), lower(x, i))


@overwriting(
    _slice,
    index=_over_slice,
    examples=(
        ("x.select_scatter(v, 0, 1)", "x=2x3,v=3"),
        ("select_scatter(x, v, 1, -1)", "x=2x3,v=2"),
    ),
)
def select_scatter(g, y, x, src, *, dim, index):
    """x with src in place of the slice at index along dim."""
    to_x = g.select_scatter(zeros(size=src.shape), dim=dim, index=index)
    return to_x, select(g, dim, index)


def _part(ndim, dim, start, end, step):
    return (*(slice(None),) * shapes.axis(dim, ndim), slice(start, end, step))


def _over_slices(lower, i, x, src, *, dim, start, end, step):
    d = shapes.axis(dim, x.ndim)
    first, _, by = slice(start, end, step).indices(x.shape[d])

    def is_written(k):
        return lower.delta(i[d], lower.plus(first, k, by))

    def written(k):
        return lower.product(is_written(k), lower(src, [*i[:d], k, *i[d + 1 :]]))

    if not src.numel:
        return lower(x, i)
    overwritten = lower.over(src.shape[d], is_written)
    remaining = lower.total(lower.number(1), lower.product(lower.number(-1), overwritten))
    return lower.total(lower.product(remaining, lower(x, i)), lower.over(src.shape[d], written))


@overwriting(
    lambda x, *, dim, start, end, step: x[_part(x.ndim, dim, start, end, step)],
    index=_over_slices,
    examples=(
        ("x.slice_scatter(v, 1, 1, 3)", "x=2x3,v=2x2"),
        ("slice_scatter(x, v, start=0, step=2)", "x=3x2,v=2x2"),
    ),
)
def slice_scatter(g, y, x, src, *, dim=0, start=None, end=None, step=1):
    """x with src in place of the slices from start to end along dim."""
    part = {"dim": dim, "start": start, "end": end, "step": step}
    return g.slice_scatter(zeros(size=src.shape), **part), g[_part(g.ndim, **part)]


@operator(
    shape=lambda s, src, *, size, stride, storage_offset: _strided_shape(
        s, src, size, stride, storage_offset
    ),
    value=lambda x, src, *, size, stride, storage_offset: _write_strided(
        np.array(x, order="C"), src, size, stride, storage_offset
    ),
    dtype="first",
    method=True,
    caveat="PyTorch sends x the gradient of the replaced part instead of that of the rest",
    examples=(("as_strided_scatter(zeros(2, 3), v, (2, 2), (1, 2))", "v=2x2"),),
    flops=no_flops,
)
def as_strided_scatter(g, y, x, src, *, size, stride, storage_offset=0):
    """x with src in place of the elements that as_strided selects."""
    view = {"size": size, "stride": stride, "storage_offset": storage_offset}
    seen = g.as_strided(**view)
    return zeros(size=x.shape).as_strided_scatter(seen, **view), seen


@shorthand("as_strided_scatter", only_aliases=True)
def as_strided_scatter_of_own(input, src, size, stride, storage_offset=None):
    """input with src in place of the elements that as_strided selects."""
    base = owns_memory(as_node(input), "as_strided_scatter")
    return as_strided_scatter(
        base, src, size=size, stride=stride, storage_offset=storage_offset or 0
    )


def _strided_shape(s, src, size, stride, offset):
    check_view(size, stride, offset, shapes.numel(s))
    message = f"src of as_strided_scatter() must have shape {shapes.text(size)}"
    shapes.require_equal(src, size, f"{message}, got {shapes.text(src)}")
    return s


def _write_strided(out, src, size, stride, offset):
    steps = [n * out.itemsize for n in stride]
    np.lib.stride_tricks.as_strided(out.reshape(-1)[offset:], size, steps)[...] = src
    return out


# ---- masks ---------------------------------------------------------------------------------------


@composite(
    integer_inputs=("mask",),
    masks=("mask",),
    method=True,
    numbers=True,
    examples=(("masked_fill(x, x > 0.5, v)", "x=2x3,v=()"), ("x.masked_fill(x < 0, 10)", "x=3")),
    exact="all",
)
def masked_fill(input, mask, value):
    """input with one value where mask is True."""
    if value.ndim:
        have = shapes.text(value.shape)
        raise GradcliError(
            "shape",
            f"masked_fill() needs a single number, not shape {have}",
            hint="where(mask, value, input) accepts any shape",
        )
    return where(mask, in_kind_of(value, input), input)


@composite(
    integer_inputs=("mask",),
    masks=("mask",),
    method=True,
    examples=(("x.masked_scatter(tensor([True, False, True]), v)", "x=2x3,v=4"),),
    saved=("mask",),
    input_dtypes="any of one dtype",
    exact="all",
)
def masked_scatter(input, mask, source):
    """input with the elements of source, in their order, where mask is True."""
    shape = shapes.broadcast(input.shape, mask.shape)
    if not source.numel:
        return expand(input, shape=shape)
    wide = expand(mask, shape=shape)
    order = reshape(wide, shape=(-1,)).cumsum(dim=0) - 1
    return where(wide, reshape(source.take(order), shape=shape), input)


def _as_number(s, value):
    if value:
        raise GradcliError("shape", f"fill() needs a single number, not shape {shapes.text(value)}")
    return s


@operator(
    shape=_as_number,
    value=lambda x, value: np.full_like(x, value),
    symbolic=lambda sp, x, value: np.full(x.shape, value[()], dtype=object),
    dtype="first",
    numbers=True,
    index=lambda lower, i, x, value: lower.of(value, ()),
    examples=(("x * fill(x, 2)", "x=2x3"), ("x * fill(x, c)", "x=3,c=()")),
    flops=no_flops,
    numpy="np.full_like({0}, {1})",
)
def fill(g, y, x, value):
    """x with every element replaced by one value."""
    return zeros(size=x.shape), g.sum()
