"""Elements moved, repeated and joined: all of it linear, so that each rule is a transpose."""

from itertools import pairwise

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes
from ..lazy import np
from .families import movement, operator, shorthand

MOST_PARTS = 10_000  # of a tensor that is taken apart

# ---- order of dimensions -------------------------------------------------------------------------


def _swap(items, a, b):
    items = list(items)
    if items:
        a, b = shapes.axis(a, len(items)), shapes.axis(b, len(items))
        items[a], items[b] = items[b], items[a]
    return tuple(items)


@movement(
    lambda x, *, dim0, dim1: np.swapaxes(x, dim0, dim1),
    shape=lambda s, *, dim0, dim1: _swap(s, dim0, dim1),
    rows=lambda s, *, dim0, dim1: (0 not in (dim0 % len(s), dim1 % len(s)) if s else False,),
    index=lambda lower, i, x, *, dim0, dim1: lower(x, _swap(i, dim0, dim1)),
    aliases=("swapaxes", "swapdims"),
    examples=(("x.transpose(0, 1)", "x=2x3"), ("x.mT", "x=2x3")),
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
)
def permute(g, y, x, *, dims):
    """Dimensions in another order."""
    return g.permute(dims=_inverse(_order(dims, x.ndim)))


@shorthand("T")
def t(input):
    """Dimensions in reverse order; for a matrix, its transpose."""
    if input.ndim == 2:
        return transpose(input, dim0=0, dim1=1)
    return input if input.ndim < 2 else permute(input, dims=tuple(reversed(range(input.ndim))))


@shorthand("mT", "mH", "adjoint")
def matrix_transpose(input):
    """The last two dimensions exchanged."""
    if input.ndim < 2:
        have = shapes.text(input.shape)
        raise GradcliError(
            "shape", f"mT exchanges the last two dimensions, and the shape is {have}"
        )
    return transpose(input, dim0=-2, dim1=-1)


@shorthand("H")
def hermitian(input):
    """The transpose of a matrix of real numbers."""
    return t(input)


def _unchanged(s, *, dims):
    shapes.axes(dims, len(s))
    return s


@movement(
    lambda x, *, dims: np.flip(x, dims if np.ndim(x) else ()),
    shape=_unchanged,
    collect="dims",
    index=lambda lower, i, x, *, dims: lower.mirrored(i, x, dims),
    examples=(("x.flip(0, 1)", "x=2x3"), ("flip(x, (1,))", "x=2x3")),
)
def flip(g, y, x, *, dims):
    """Read backward along dims."""
    return g.flip(dims=dims)


# ---- sizes ---------------------------------------------------------------------------------------


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
)
def reshape(g, y, x, *, shape):
    """The same elements in another shape, row by row."""
    return g.reshape(shape=x.shape)


@shorthand("ravel")
def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions from start_dim to end_dim made into one."""
    if input.ndim == 0:
        return reshape(input, shape=(1,))
    first, last = shapes.axis(start_dim, input.ndim), shapes.axis(end_dim, input.ndim)
    if first > last:
        raise GradcliError(
            "arguments", f"flatten() needs start_dim {start_dim} to come before end_dim {end_dim}"
        )
    middle = shapes.numel(input.shape[first : last + 1])
    return reshape(input, shape=(*input.shape[:first], middle, *input.shape[last + 1 :]))


@shorthand()
def view_as(input, other):
    """input in the shape of other."""
    return reshape(input, shape=other.shape)


@shorthand()
def reshape_as(input, other):
    """input in the shape of other."""
    return reshape(input, shape=other.shape)


def _squeezed(s, *, dim):
    over = [d for d in shapes.axes(dim, len(s)) if s and s[d] == 1]
    return shapes.reduce(s, over, False)


@movement(
    lambda x, *, dim: np.reshape(x, _squeezed(x.shape, dim=dim)),
    shape=_squeezed,
    attributes={"dim": None},
    index="reshape",
    examples=(("x.squeeze()", "x=1x3"), ("squeeze(x, 1)", "x=2x1x3")),
)
def squeeze(g, y, x, *, dim):
    """Dimensions of size 1 left out."""
    return g.reshape(shape=x.shape)


def _unsqueezed(s, *, dim):
    place = shapes.axis(dim, len(s) + 1)
    return (*s[:place], 1, *s[place:])


@movement(
    lambda x, *, dim: np.expand_dims(x, dim),
    shape=_unsqueezed,
    rows=lambda s, *, dim: (dim not in (0, -len(s) - 1),),
    index="reshape",
    examples=(("x.unsqueeze(0)", "x=3"), ("unsqueeze(x, -1)", "x=2x3")),
)
def unsqueeze(g, y, x, *, dim):
    """A dimension of size 1 put in at dim."""
    return g.squeeze(dim=dim)


def _expanded(s, *, shape):
    lead = len(shape) - len(s)
    full = tuple(s[d - lead] if n == -1 and d >= lead else n for d, n in enumerate(shape))
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
    collect="shape",
    aliases=("broadcast_to",),
    index=lambda lower, i, x, **_: lower.of(x, i),
    examples=(("x.expand(2, 3)", "x=3"), ("x.expand(2, -1)", "x=1x3")),
    torch="torch.Tensor.{name}",
)
def expand(g, y, x, *, shape):
    """Dimensions of size 1 repeated, without copying."""
    return g.sum_to_size(shape=x.shape)


@shorthand()
def expand_as(input, other):
    """input in the shape of other, repeated where its size is 1."""
    return expand(input, shape=other.shape)


def summed_axes(old, new):
    """The dimensions of `old` that are summed over to make `new`."""
    lead = len(old) - len(new)
    return tuple(d for d, n in enumerate(old) if d < lead or (new[d - lead] == 1 != n))


def _sum_to(x, *, shape):
    return np.reshape(np.sum(x, axis=summed_axes(x.shape, shape)), shape)


def _summable(s, *, shape):
    if not shapes.fits(shape, s):
        raise GradcliError(
            "shape", f"shape {shapes.text(s)} cannot be summed to {shapes.text(shape)}"
        )
    return shape


@operator(
    shape=_summable,
    value=_sum_to,
    collect="shape",
    method=True,
    index="sum_to_size",
    examples=(("x.sum_to_size(1, 3)", "x=2x3"), ("x.sum_to_size(3)", "x=2x3")),
    torch="torch.Tensor.{name}",
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
)
def repeat(g, y, x, *, repeats):
    """The whole tensor laid side by side, so often in each dimension."""
    sizes = _repeats(x.shape, repeats)
    pairs = tuple(n for pair in zip(repeats, sizes, strict=True) for n in pair)
    return g.reshape(shape=pairs).sum(dim=tuple(range(0, len(pairs), 2))).reshape(shape=x.shape)


@shorthand()
def tile(input, *dims):
    """As repeat; counts that are left out are 1."""
    counts = tuple(dims[0]) if dims and isinstance(dims[0], tuple | list) else dims
    return repeat(input, repeats=(1,) * (input.ndim - len(counts)) + tuple(counts))


# ---- parts of a matrix ---------------------------------------------------------------------------


def _is_matrix(s, *, diagonal):
    if len(s) < 2:
        raise GradcliError("shape", f"a triangle needs a matrix, and the shape is {shapes.text(s)}")
    return s


@movement(
    lambda x, *, diagonal: np.tril(x, diagonal),
    shape=_is_matrix,
    examples=(("x.tril()", "x=3x3"), ("tril(x, -1)", "x=3x3")),
    index=lambda lower, i, x, *, diagonal: lower.product(
        lower.at_most(i[-1], lower.plus(i[-2], diagonal)), lower(x, i)
    ),
)
def tril(g, y, x, *, diagonal=0):
    """The elements on and below a diagonal; 0 above."""
    return g.tril(diagonal=diagonal)


@movement(
    lambda x, *, diagonal: np.triu(x, diagonal),
    shape=_is_matrix,
    examples=(("x.triu()", "x=3x3"), ("triu(x, 1)", "x=2x3")),
    index=lambda lower, i, x, *, diagonal: lower.product(
        lower.at_most(lower.plus(i[-2], diagonal), i[-1]), lower(x, i)
    ),
)
def triu(g, y, x, *, diagonal=0):
    """The elements on and above a diagonal; 0 below."""
    return g.triu(diagonal=diagonal)


def _diag_shape(s, *, diagonal):
    if len(s) == 1:
        return (s[0] + _distance(diagonal),) * 2
    if len(s) == 2:
        return (max(0, min(s[0] + min(diagonal, 0), s[1] - max(diagonal, 0))),)
    raise GradcliError("shape", f"diag() takes a vector or a matrix, not shape {shapes.text(s)}")


def _distance(diagonal):
    return max(diagonal, -diagonal)


@movement(
    lambda x, *, diagonal: np.diag(x, diagonal),
    shape=_diag_shape,
    index=lambda lower, i, x, *, diagonal: lower.diagonal(i, x, diagonal),
    examples=(("diag(x)", "x=3"), ("diag(x)", "x=3x3"), ("x.diag(1)", "x=2x3")),
)
def diag(g, y, x, *, diagonal=0):
    """A vector as a diagonal, or a matrix's diagonal as a vector."""
    if x.ndim == 1 or x.shape[0] == x.shape[1]:
        return g.diag(diagonal=diagonal)
    rows, columns = (
        tuple(range(start, start + y.shape[0])) for start in (max(-diagonal, 0), max(diagonal, 0))
    )
    return g.index_put(shape=x.shape, index=(rows, columns))


# ---- joining -------------------------------------------------------------------------------------


def _joined(*given, dim):
    if not given:
        raise GradcliError("arguments", "cat() needs at least one tensor")
    first = given[0]
    place = shapes.axis(dim, len(first))
    for s in given[1:]:
        refusal = f"shapes {shapes.text(first)} and {shapes.text(s)} cannot be joined"
        if len(s) != len(first):
            raise GradcliError("shape", f"{refusal}: they differ in their number of dimensions")
        for d, (a, b) in enumerate(zip(first, s, strict=True)):
            if d != place and a != b:
                message = f"{refusal} along dimension {place}: dimension {d} is {a} and {b}"
                raise shapes.Conflict(message, a, b)
    return (*first[:place], sum(s[place] for s in given), *first[place + 1 :])


@operator(
    shape=_joined,
    value=lambda *xs, dim: np.concatenate(xs, axis=dim),
    aliases=("concat", "concatenate"),
    examples=(("cat([a, b], dim=1)", "a=2x3,b=2x2"), ("cat((a, a))", "a=2x3")),
    index=lambda lower, i, *tensors, dim: lower.joined(i, tensors, dim),
)
def cat(g, y, *tensors, dim=0):
    """Tensors one after the other along dim."""
    starts = [0]
    for x in tensors:
        starts.append(starts[-1] + x.shape[dim])
    whole = (slice(None),) * shapes.axis(dim, y.ndim)
    return tuple(g[(*whole, slice(a, b))] for a, b in pairwise(starts))


def _stacked(*given, dim):
    for s in given[1:]:
        if s != given[0]:
            shapes.broadcast(given[0], s)
            raise GradcliError(
                "shape",
                f"stack() needs equal shapes, not {shapes.text(given[0])} and {shapes.text(s)}",
            )
    if not given:
        raise GradcliError("arguments", "stack() needs at least one tensor")
    place = shapes.axis(dim, len(given[0]) + 1)
    return (*given[0][:place], len(given), *given[0][place:])


@operator(
    shape=_stacked,
    value=lambda *xs, dim: np.stack(xs, axis=dim),
    examples=(("stack([a, b])", "a=2x3,b=2x3"), ("stack([a, b], dim=-1)", "a=3,b=3")),
    index=lambda lower, i, *tensors, dim: lower.stacked(i, tensors, dim),
)
def stack(g, y, *tensors, dim=0):
    """Tensors of one shape along a new dimension."""
    whole = (slice(None),) * shapes.axis(dim, y.ndim)
    return tuple(g[(*whole, k)] for k in range(len(tensors)))


@shorthand()
def split(tensor, split_size, dim=0):
    """Parts of split_size, or of the sizes listed, along dim."""
    place = shapes.axis(dim, tensor.ndim)
    size = tensor.shape[place]
    if isinstance(split_size, int):
        if split_size < 1:
            raise GradcliError("arguments", f"split() needs parts of at least 1, not {split_size}")
        _check_parts(-(-size // split_size))
        split_size = [min(split_size, size - k) for k in range(0, size, split_size)]
    elif sum(split_size) != size:
        raise GradcliError(
            "shape",
            f"split() into {list(split_size)} needs size {sum(split_size)} along dimension {dim}, "
            f"which is {size}",
        )
    whole, parts, start = (slice(None),) * place, [], 0
    for length in split_size:
        parts.append(tensor[(*whole, slice(start, start + length))])
        start += length
    return Outputs(parts)


def _check_parts(count):
    if count > MOST_PARTS:
        raise GradcliError("limit", f"{count:,} parts, and {MOST_PARTS:,} are the most")


@shorthand()
def chunk(input, chunks, dim=0):
    """At most `chunks` parts of equal size along dim; the last may be smaller."""
    size = input.shape[shapes.axis(dim, input.ndim)]
    return split(input, max(1, -(-size // chunks)), dim)


@shorthand()
def unbind(input, dim=0):
    """The slices along dim."""
    whole = (slice(None),) * shapes.axis(dim, input.ndim)
    _check_parts(input.shape[dim])
    return Outputs(as_node(input)[(*whole, k)] for k in range(input.shape[dim]))
