"""Slices added, written or combined at indices along a dimension."""

from ..errors import GradcliError
from ..graphs import as_node, shapes
from .arithmetic import in_kind_of
from .comparisons import where
from .families import composite, require
from .gathering import along_dim, as_gather_index
from .leaves import zeros
from .reductions import TIE
from .scattering import LAST_WINS, scatter_reduce, tied
from .shaping import expand, reshape


def _scatter_index(x, index, source, dim, name, *, any_shape=False):
    """The index of slices as an index of scatter. Raises GradcliError unless the shapes fit."""
    axis, n = shapes.axis(dim, x.ndim), index.numel
    want = (*x.shape[:axis], n, *x.shape[axis + 1 :]) if x.ndim else ()
    if index.ndim > 1 or not (any_shape or source.shape == want):
        message = (
            f"{name}() needs a vector as index and a source of shape {shapes.text(want)}, "
            f"not {shapes.text(index.shape)} and {shapes.text(source.shape)}"
        )
        shapes.require_equal(source.shape, want, message)
        raise GradcliError("shape", message)
    return as_gather_index(index, dim, source.shape)


SLICES = {"integer_inputs": ("index",), "method": True}


@composite(
    rule=lambda g, y, x, index, source, *, dim, alpha: (
        g,
        None,
        _times(g.index_select(dim=dim, index=index), alpha),
    ),
    order="x dim index source * alpha",
    examples=(
        ("x.index_add(0, tensor([1, 1]), v)", "x=3x2,v=2x2"),
        ("index_add(x, 1, tensor([0, 2]), v, alpha=2)", "x=2x3,v=2x2"),
    ),
    saved=("index", "source"),
    check_indices=along_dim,
    **SLICES,
    input_dtypes="any of one dtype",
    exact="all",
)
def index_add(x, index, source, *, dim, alpha=1):
    """x with the slices of source added at the indices along dim."""
    index = _scatter_index(x, index, source, dim, "index_add")
    return x.scatter_add(dim=dim, index=index, src=_times(source, alpha))


def _times(x, alpha):
    return x if alpha == 1 else x * alpha


@composite(
    rule=lambda g, y, x, index, source, *, dim: (
        g.index_fill(dim=dim, index=index, value=0),
        None,
        g.index_select(dim=dim, index=index),
    ),
    order="x dim index source",
    kink=lambda y, x, index, source, *, dim: _count(x, index, dim) > 1,
    caveat=LAST_WINS,
    examples=(("x.index_copy(0, tensor([2, 0]), v)", "x=3x2,v=2x2"),),
    saved=("index", "source"),
    check_indices=along_dim,
    **SLICES,
    input_dtypes="any of one dtype",
    exact="all",
)
def index_copy(x, index, source, *, dim):
    """x with the slices of source written at the indices along dim."""
    single = source.numel == index.numel == x.numel == 1  # for these PyTorch checks no shapes
    index = _scatter_index(x, index, source, dim, "index_copy", any_shape=single)
    return x.scatter(dim=dim, index=index, src=source)


@composite(
    rule=lambda g, y, x, index, value, *, dim: (
        g.index_fill(dim=dim, index=index, value=0),
        None,
        where(_selected_mask(x, index, dim), g, 0).sum(),
    ),
    order="x dim index value",
    numbers=True,
    examples=(
        ("x.index_fill(0, tensor([2, 0]), v)", "x=3x2,v=()"),
        ("index_fill(x, 1, tensor([1]), 2.5)", "x=2x3"),
    ),
    saved=("index",),
    **SLICES,
    exact="all",
)
def index_fill(x, index, value, *, dim):
    """x with one value in the slices at the indices along dim."""
    if value.ndim:
        have = shapes.text(value.shape)
        raise GradcliError("shape", f"index_fill() needs a single number, not shape {have}")
    return where(_selected_mask(x, index, dim), in_kind_of(value, x), x)


def _selected_mask(x, index, dim):
    """The mask of slices that index selects, which broadcasts to x. PyTorch ignores the index if
    the slices are empty.
    """
    if not x.numel and x.shape[shapes.axis(dim, x.ndim)]:
        return x.ne(x)
    return _count(x, index, dim) > 0


def _count(x, index, dim):
    """How often index, which may be negative, selects each slice along dim."""
    axis = shapes.axis(dim, x.ndim)
    require(index.ndim <= 1, "an index along a dimension is a vector or a number")
    size = x.shape[axis] if x.ndim else 1
    ones = expand(as_node(1.0), shape=(index.numel,))
    count = zeros(size=(size,)).put(reshape(index, shape=(-1,)), ones, accumulate=True)
    return reshape(count, shape=tuple(size if d == axis else 1 for d in range(x.ndim)))


@composite(
    rule=lambda g, y, x, index, source, *, dim, **how: scatter_reduce.rule(
        g, y, x, as_gather_index(index, dim, source.shape), source, dim=dim, **how
    ),
    order="x dim index source reduce * include_self",
    kink=lambda y, x, index, source, *, dim, **how: tied(
        y, x, as_gather_index(index, dim, source.shape), source, dim=dim, **how
    ),
    caveat=TIE,
    examples=(
        ("x.index_reduce(0, tensor([0, 0, 2]), v, 'prod')", "x=3x2,v=3x2"),
        ("x.index_reduce(0, tensor([0, 0]), v, 'mean', include_self=False)", "x=3,v=2"),
    ),
    saved=("x", "index", "source", "output"),
    check_indices=along_dim,
    input_dtypes="any of one dtype",
    **SLICES,
    exact="all",
)
def index_reduce(x, index, source, *, dim, reduce, include_self=True):
    """x combined with slices at the indices along dim, by mean, prod, amax or amin."""
    if reduce == "sum":
        raise GradcliError("arguments", "index_reduce() has no 'sum'", hint="index_add() sums")
    index = _scatter_index(x, index, source, dim, "index_reduce")
    return x.scatter_reduce(
        dim=dim, index=index, src=source, reduce=reduce, include_self=include_self
    )
