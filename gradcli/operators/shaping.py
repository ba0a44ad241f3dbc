"""Reshaping, expansion and repetition."""

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes
from ..lazy import np
from .families import exactly_one, movement, operator, shorthand


@movement(
    lambda x, *, shape: np.reshape(x, shape),
    shape=lambda s, *, shape: shapes.reshape(s, shape),
    collect="shape",
    aliases=("view",),
    index="reshape",
    examples=(
        ("x.reshape(3, 2)", "x=2x3"),
        ("x.view(-1)", "x=2x3"),
        ("reshape(x, (1, 6, 1))", "x=2x3"),
    ),
    view=True,
)
def reshape(g, y, x, *, shape):
    """The same elements in another shape, row by row."""
    return g.reshape(shape=x.shape)


@shorthand()
def ravel(input):
    """All dimensions merged into one."""
    return flatten(input)


@shorthand()
def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions from start_dim to end_dim merged into one."""
    first, last = shapes.axis(start_dim, input.ndim), shapes.axis(end_dim, input.ndim)
    if input.ndim == 0:
        return reshape(input, shape=(1,))
    if first > last:
        raise GradcliError(
            "arguments", f"flatten() needs start_dim {start_dim} to come before end_dim {end_dim}"
        )
    middle = shapes.numel(input.shape[first : last + 1])
    return reshape(input, shape=(*input.shape[:first], middle, *input.shape[last + 1 :]))


@shorthand()
def unflatten(input, dim, sizes):
    """A dimension split into several; one of their sizes may be -1."""
    axis = shapes.axis(dim, input.ndim)
    if not input.ndim:
        raise GradcliError("index", "unflatten() needs at least one dimension")
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    parts = shapes.reshape(input.shape[axis : axis + 1], sizes)
    return reshape(input, shape=(*input.shape[:axis], *parts, *input.shape[axis + 1 :]))


@shorthand()
def view_as(input, other):
    """input in the shape of other."""
    return reshape(input, shape=other.shape)


@shorthand()
def reshape_as(input, other):
    """input in the shape of other."""
    return reshape(input, shape=other.shape)


def _squeezed(s, *, dim):
    over = [] if dim == () else [d for d in shapes.axes(dim, len(s)) if s and s[d] == 1]
    return shapes.reduce(s, over, False)


@movement(
    lambda x, *, dim: np.reshape(x, _squeezed(x.shape, dim=dim)),
    shape=_squeezed,
    attributes={"dim": None},
    index="reshape",
    examples=(
        ("x.squeeze()", "x=1x3"),
        ("squeeze(x, 1)", "x=2x1x3"),
        ("exp(x[None]).squeeze((0, 1))", "x=2x3"),
    ),
    view=True,
)
def squeeze(g, y, x, *, dim):
    """Dimensions of size 1 removed."""
    return g.reshape(shape=x.shape)


def _unsqueezed(s, *, dim):
    axis = shapes.axis(dim, len(s) + 1)
    return (*s[:axis], 1, *s[axis:])


@movement(
    lambda x, *, dim: np.expand_dims(x, dim),
    shape=_unsqueezed,
    rows=lambda s, *, dim: (dim not in (0, -len(s) - 1),),
    index="reshape",
    examples=(("x.unsqueeze(0)", "x=3"), ("unsqueeze(x, -1)", "x=2x3")),
    view=True,
)
def unsqueeze(g, y, x, *, dim):
    """A dimension of size 1 inserted at dim."""
    return g.squeeze(dim=dim)


def _expanded(s, *, shape):
    lead = len(shape) - len(s)
    full = tuple(s[d - lead] if n == -1 and d >= lead else n for d, n in enumerate(shape))
    if -1 in full:
        text = f"shape {shapes.text(s)} has no dimension at the position of the first -1 of {shape}"
        raise GradcliError("shape", text, hint="-1 keeps a size, and new dimensions come first")
    if lead < 0 or not shapes.fits(s, full):
        different = [(a, b) for a, b in zip(s[::-1], full[::-1], strict=False) if a not in (1, b)]
        old, new = different[0] if different else (0, 0)
        message = f"shape {shapes.text(s)} cannot be expanded to {shapes.text(shape)}"
        raise shapes.Conflict(
            message,
            old,
            new,
            hint="only dimensions of size 1 are repeated",
        )
    return full


@movement(
    lambda x, *, shape: np.broadcast_to(x, _expanded(np.shape(x), shape=shape)),
    shape=_expanded,
    integer_attributes=("shape",),
    collect="shape",
    aliases=("broadcast_to",),
    index=lambda lower, i, x, **_: lower.of(x, i),
    examples=(("x.expand(2, 3)", "x=3"), ("x.expand(2, -1)", "x=1x3")),
    torch="torch.Tensor.{name}",
    view=True,
)
def expand(g, y, x, *, shape):
    """Dimensions of size 1 repeated, without copying."""
    return g.sum_to_size(shape=x.shape)


@shorthand()
def expand_as(input, other):
    """input in the shape of other, repeated where its size is 1."""
    return expand(input, shape=other.shape)


@shorthand()
def broadcast_tensors(*tensors):
    """Each tensor in the shape that all of them broadcast to."""
    nodes = listed(tensors)
    shape = shapes.broadcast(*(x.shape for x in nodes))
    return Outputs(expand(x, shape=shape) for x in nodes)


def listed(tensors):
    """Tensors as nodes, passed separately or as a list."""
    inputs = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple) else tensors
    if not inputs:
        raise GradcliError("arguments", "at least one tensor is needed")
    return tuple(map(as_node, inputs))


def summed_axes(old, new):
    """The dimensions of `old` that are summed over to obtain `new`."""
    lead = len(old) - len(new)
    return tuple(d for d, n in enumerate(old) if d < lead or (new[d - lead] == 1 != n))


def _summable(s, *, shape):
    if not shapes.fits(shape, s):
        raise GradcliError(
            "shape", f"shape {shapes.text(s)} cannot be summed to {shapes.text(shape)}"
        )
    return shape


@operator(
    shape=_summable,
    value=lambda x, *, shape: np.reshape(np.sum(x, axis=summed_axes(x.shape, shape)), shape),
    dtype="number",
    collect="shape",
    method=True,
    index="sum_to_size",
    examples=(("x.sum_to_size(1, 3)", "x=2x3"), ("x.sum_to_size(3)", "x=2x3")),
    torch="torch.Tensor.{name}",
    exact="all",
)
def sum_to_size(g, y, x, *, shape):
    """Summed over what was broadcast, to `shape`: the transpose of expand."""
    return g.expand(shape=x.shape)


def _repeats(s, repeats):
    if len(repeats) < len(s):
        raise GradcliError("shape", f"repeat() needs a count for each of the {len(s)} dimensions")
    return (1,) * (len(repeats) - len(s)) + tuple(s)


@movement(
    lambda x, *, repeats: np.tile(x, repeats),
    shape=lambda s, *, repeats: tuple(
        n * r for n, r in zip(_repeats(s, repeats), repeats, strict=True)
    ),
    collect="repeats",
    examples=(("x.repeat(2, 3)", "x=3"),),
    torch="torch.Tensor.{name}",
    index=lambda lower, i, x, *, repeats: lower.repeated(i, x),
    numpy="np.tile({0}, {repeats})",
)
def repeat(g, y, x, *, repeats):
    """The whole tensor repeated along each dimension, as often as listed."""
    laid: list[int] = []
    over: list[int] = []
    for often, size in zip(repeats, _repeats(x.shape, repeats), strict=True):
        if often != 1:
            over.append(len(laid))
            laid.append(often)
        laid.append(size)
    laid_out = g.reshape(shape=tuple(laid))
    return (laid_out.sum(dim=tuple(over)) if over else laid_out).reshape(shape=x.shape)


@shorthand()
def tile(input, *counts, dims=None):
    """As repeat; missing counts are 1."""
    listed = counts[0] if len(counts) == 1 else counts or None
    dims = exactly_one("tile(x, (2, 3))", "dims", listed, dims)
    dims = dims if isinstance(dims, tuple) else (dims,)
    return repeat(input, repeats=(1,) * (input.ndim - len(dims)) + dims)


# ---- at least n dimensions -----------------------------------------------------------------------


def _each(function, tensors):
    nodes = tuple(map(function, listed(tensors)))
    single = len(tensors) == 1 and not isinstance(tensors[0], tuple)
    return nodes[0] if single else Outputs(nodes)


@shorthand()
def atleast_1d(*tensors):
    """A single number as a vector of one element; other tensors unchanged."""
    return _each(as_vector, tensors)


@shorthand()
def atleast_2d(*tensors):
    """A vector as a row; tensors of two or more dimensions unchanged."""
    return _each(as_matrix, tensors)


@shorthand()
def atleast_3d(*tensors):
    """A matrix with a last dimension of 1; tensors of three or more dimensions unchanged."""
    return _each(as_box, tensors)


def as_vector(x):
    """x with at least one dimension."""
    return x if x.ndim else reshape(x, shape=(1,))


def as_matrix(x):
    """x with at least two dimensions; a vector becomes a row."""
    return x if x.ndim > 1 else unsqueeze(as_vector(x), dim=0)


def as_box(x):
    """x with at least three dimensions: a matrix becomes (rows, columns, 1)."""
    return x if x.ndim > 2 else unsqueeze(as_matrix(x), dim=-1)
