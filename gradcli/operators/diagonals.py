"""Diagonals and triangles of matrices: extracted, overwritten, and zeroed."""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from .families import is_integer, movement, overwriting, require, shorthand
from .leaves import zeros
from .shaping import flatten


def _is_matrix(s, *, diagonal):
    if len(s) < 2:
        raise GradcliError("shape", f"a triangle needs a matrix, and the shape is {shapes.text(s)}")
    require(is_integer(diagonal), f"diagonal must be an integer, got {diagonal!r}")
    return s


@movement(
    lambda x, *, diagonal: np.tril(x, diagonal),
    shape=_is_matrix,
    integer_attributes=("diagonal",),
    examples=(("x.tril()", "x=3x3"), ("tril(x, -1)", "x=3x3")),
    index=lambda lower, i, x, *, diagonal: lower.product(
        lower.at_most(i[-1], lower.plus(i[-2], diagonal)), lower(x, i)
    ),
    numpy="np.tril({0}, {diagonal?})",
)
def tril(g, y, x, *, diagonal=0):
    """The elements on and below a diagonal; 0 above."""
    return g.tril(diagonal=diagonal)


@movement(
    lambda x, *, diagonal: np.triu(x, diagonal),
    shape=_is_matrix,
    integer_attributes=("diagonal",),
    examples=(("x.triu()", "x=3x3"), ("triu(x, 1)", "x=2x3")),
    index=lambda lower, i, x, *, diagonal: lower.product(
        lower.at_most(lower.plus(i[-2], diagonal), i[-1]), lower(x, i)
    ),
    numpy="np.triu({0}, {diagonal?})",
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
    typical_inputs=("square",),
    index=lambda lower, i, x, *, diagonal: lower.diagonal(i, x, diagonal),
    examples=(("diag(x)", "x=3"), ("diag(x)", "x=3x3"), ("x.diag(1)", "x=2x3")),
    numpy="np.diag({0}, {diagonal?})",
)
def diag(g, y, x, *, diagonal=0):
    """A vector as a diagonal, or a matrix's diagonal as a vector."""
    if x.ndim == 1 or x.shape[0] == x.shape[1]:
        return g.diag(diagonal=diagonal)
    return zeros(size=x.shape).diagonal_scatter(g, offset=diagonal)


@shorthand()
def diagflat(input, offset=0):
    """A matrix with all elements, row by row, on a diagonal."""
    return diag(flatten(input), diagonal=offset)


# ---- diagonals of any two dimensions -------------------------------------------------------------


def _plane(s, dim1, dim2):
    """The two dimensions of a diagonal, non-negative. Raises GradcliError if they are equal."""
    first, second = shapes.axis(dim1, len(s)), shapes.axis(dim2, len(s))
    if len(s) < 2 or first == second:
        raise GradcliError(
            "arguments",
            f"a diagonal needs two different dimensions, and the shape is {shapes.text(s)}",
        )
    return first, second


def _diagonal_shape(s, *, offset, dim1, dim2):
    plane = _plane(s, dim1, dim2)
    rows, columns = (s[d] for d in plane)
    rest = tuple(n for d, n in enumerate(s) if d not in plane)
    return (*rest, max(0, min(rows + min(offset, 0), columns - max(offset, 0))))


def _diagonal(x, *, offset, dim1, dim2):
    """The diagonal as a writable view."""
    view = np.diagonal(x, offset, dim1, dim2)
    view.flags.writeable = x.flags.writeable
    return view


def _on_diagonal(lower, i, x, *, offset, dim1, dim2):
    first, second = _plane(x.shape, dim1, dim2)
    rest, along = iter(i[:-1]), i[-1]
    index_of = {
        first: lower.plus(along, max(-offset, 0)),
        second: lower.plus(along, max(offset, 0)),
    }
    return lower(x, [index_of[d] if d in index_of else next(rest) for d in range(x.ndim)])


@movement(
    _diagonal,
    shape=_diagonal_shape,
    integer_attributes=("offset", "dim1", "dim2"),
    typical_inputs=("square",),
    index=_on_diagonal,
    examples=(("x.diagonal()", "x=2x3"), ("diagonal(x, 1, 0, 2)", "x=2x2x3")),
    view=True,
    numpy="np.diagonal({0}, offset={offset?}, axis1={dim1?}, axis2={dim2?})",
)
def diagonal(g, y, x, *, offset=0, dim1=0, dim2=1):
    """A diagonal of two dimensions, as a new last dimension."""
    return zeros(size=x.shape).diagonal_scatter(g, offset=offset, dim1=dim1, dim2=dim2)


@shorthand("linalg.diagonal", only_aliases=True)
def matrix_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """A diagonal of the last two dimensions."""
    return diagonal(A, offset=offset, dim1=dim1, dim2=dim2)


def _position_on_diagonal(lower, i, size, *, offset, dim1, dim2):
    """In index notation: a factor that is 1 if the multi-index i is on the diagonal, otherwise 0;
    and the multi-index of that element in a tensor whose last dimension is the diagonal.
    """
    first, second = _plane(i, dim1, dim2)
    row = lower.plus(i[first], -max(-offset, 0))
    on = lower.delta(row, lower.plus(i[second], -max(offset, 0)))
    rest = [p for d, p in enumerate(i) if d not in (first, second)]
    return lower.product(on, lower.within(row, 0, size)), [*rest, row]


def _over_diagonal(lower, i, x, src, **where):
    if not src.numel:
        return lower(x, i)
    on, index = _position_on_diagonal(lower, i, src.shape[-1], **where)
    return lower.choice(on, lower(src, index), lower(x, i))


@overwriting(
    _diagonal,
    index=_over_diagonal,
    examples=(("x.diagonal_scatter(v)", "x=2x3,v=2"), ("diagonal_scatter(x, v, 1)", "x=3x3,v=2")),
)
def diagonal_scatter(g, y, x, src, *, offset=0, dim1=0, dim2=1):
    """x with src in place of a diagonal."""
    where = {"offset": offset, "dim1": dim1, "dim2": dim2}
    return g.diagonal_scatter(zeros(size=src.shape), **where), g.diagonal(**where)


def _embedded_shape(s, *, offset, dim1, dim2):
    size = s[-1] + _distance(offset)
    plane = _plane((*s, 1), dim1, dim2)
    rest = iter(s[:-1])
    return tuple(size if d in plane else next(rest) for d in range(len(s) + 1))


def _embedded(x, *, offset, dim1, dim2):
    out = np.zeros(_embedded_shape(x.shape, offset=offset, dim1=dim1, dim2=dim2), x.dtype)
    _diagonal(out, offset=offset, dim1=dim1, dim2=dim2)[...] = x
    return out


def _zero_off_diagonal(lower, i, x, **where):
    on, index = _position_on_diagonal(lower, i, x.shape[-1], **where)
    return lower.product(on, lower(x, index))


@movement(
    _embedded,
    shape=_embedded_shape,
    index=_zero_off_diagonal,
    examples=(("x.diag_embed()", "x=2x3"), ("diag_embed(x, 1, 0, 2)", "x=2x2")),
)
def diag_embed(g, y, x, *, offset=0, dim1=-2, dim2=-1):
    """The last dimension as a diagonal of two dimensions, zeros elsewhere."""
    return g.diagonal(offset=offset, dim1=dim1, dim2=dim2)
