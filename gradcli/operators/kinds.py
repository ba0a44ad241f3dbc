"""Integer tensors and masks computed from tensors, and conversions of dtypes."""

from ..budget import EVERY, tick
from ..errors import GradcliError
from ..graphs import Node, Outputs, as_node, shapes
from ..graphs.operator import check_dtypes
from ..lazy import np
from .arithmetic import double, long
from .comparisons import logical_and, logical_not, logical_or, ne, truth
from .elements import NotWritable
from .families import elementwise, is_integer, named, operator, require, shorthand
from .leaves import Array, numbers


@shorthand()
def bool_(input):
    """True where x is not 0; no gradient."""
    return input.ne(0)


@shorthand()
def logical_xor(input, other):
    """Whether exactly one of the two is True (nonzero); no gradient."""
    return truth(input).ne(truth(other))


@shorthand()
def type_as(input, other):
    """input in the dtype of other: as floats, integers or a mask."""
    kinds = {"float": double, "int": long, "bool": bool_}
    return input if input.dtype == other.dtype else kinds[other.dtype](input)


# ---- search in sorted sequences ------------------------------------------------------------------


@shorthand(input_dtypes="no masks")
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element is one of test_elements; no gradient."""
    others = as_node(test_elements)
    same = as_node(elements).unsqueeze(dim=-1).eq(others.reshape(shape=(others.numel,)))
    result = same.sum(dim=-1) > 0
    return result.logical_not() if invert else result


def _bisected(rows, x, *, right):
    """searchsorted by bisection; if there are nan, the order of comparisons affects the result."""
    x, count = np.asarray(x), rows.shape[-1]
    low, high = np.zeros(x.shape, int), np.full(x.shape, count)
    while (low < high).any():
        tick(EVERY)
        middle = (low + high) // 2
        at = np.minimum(middle, count - 1)
        result = rows[at] if rows.ndim == 1 else np.take_along_axis(rows, at, axis=-1)
        above = result > x if right else result >= x
        low, high = np.where(above | (low == high), low, middle + 1), np.where(above, middle, high)
    return low


def _counted(rows, x, *, right):
    """searchsorted by comparing each number with all elements of its row, and counting."""
    rows = rows if rows.ndim == 1 else rows.unsqueeze(dim=-2)
    x = x.unsqueeze(dim=-1)
    return (x < rows if right else x <= rows).logical_not().sum(dim=-1)


def _row_by_row(rows, x, **_):
    if not rows:
        raise GradcliError("shape", "a sorted sequence has at least one dimension")
    if len(rows) != 1 and rows[:-1] != x[:-1]:
        have, want = shapes.text(x), shapes.text(rows)
        raise GradcliError(
            "shape", f"numbers of shape {have} do not fit sorted sequences of shape {want}"
        )
    return x


@operator(
    shape=_row_by_row,
    value=_bisected,
    expand=_counted,
    dtype="int",
    torch="torch.searchsorted",
    spelling="searchsorted({0}, {1}, right={right})",
    flops=lambda out, rows, x, **_: shapes.numel(x) * rows[-1].bit_length(),
    workspace=lambda out, rows, x, **_: 6 * shapes.numel(x),  # of one step of the bisection
    examples=(("x * searchsorted(tensor([0.0, 1.0]), x.detach())", "x=3"),),
    exact="all",
)
def place_in_row(g, y, rows, x, *, right=False):
    """The index at which a number is inserted into a sorted row: the count of smaller elements, or
    of those not greater if `right`.
    """
    return None, None


@shorthand(input_dtypes="numbers")
def bucketize(input, boundaries, *, right=False, out_int32=False):
    """How many of the boundaries are below input, or with right=True not above it; no gradient."""
    vector = isinstance(boundaries, Node) and boundaries.ndim == 1
    require(vector, "the boundaries of bucketize() must be a vector, as tensor([0.0, 1.0])")
    return place_in_row(boundaries, input, right=right)


@shorthand()
def searchsorted(sorted_sequence, input, *, right=False, side=None, out_int32=False, sorter=None):
    """How many elements of a sorted sequence, row by row, are below each number; no gradient."""
    require(side in (None, "left", "right"), f"side must be 'left' or 'right', got {side!r}")
    require(not right or side != "left", "right=True of searchsorted() contradicts side='left'")
    if isinstance(input, Node):
        check_dtypes("searchsorted", "numbers", (sorted_sequence, input))
    if sorter is not None:
        rows, order = as_node(sorted_sequence), as_node(sorter)
        message = "sorter has the shape of the sorted sequence, {want}"
        shapes.require_equal(order.shape, rows.shape, message)
        sorted_sequence = rows.gather(dim=-1, index=order)
    return place_in_row(sorted_sequence, input, right=right or side == "right")


# ---- counts --------------------------------------------------------------------------------------


def _integers(values):
    return values.value if isinstance(values, Array) else np.atleast_1d(values)


def _bins(input, weights=None, minlength=0):
    return max(_integers(input).max(initial=-1) + 1, minlength)


@shorthand(concrete=("input",), allocates=_bins)
def bincount(input, weights=None, minlength=0):
    """How many times each integer from 0 on occurs; no gradient."""
    if weights is not None:
        message = "bincount() with weights has no derivative in PyTorch: it is not implemented"
        raise GradcliError("unsupported", message, hint="zeros(n).index_add(0, input, weights) has")
    result = _integers(input)
    require(
        result.ndim == 1 and result.dtype.kind == "i",
        "input of bincount() must be a vector of integers",
    )
    require(not result.size or result.min() >= 0, "input of bincount() must be at least 0")
    return numbers(np.bincount(result, minlength=minlength))


@shorthand(concrete=("input",))
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct integers or truth values, sorted; of floats it has no derivative."""
    require(dim is None, "unique() compares single elements here, not slices: leave dim out")
    array = _integers(input)
    values, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    parts = [numbers(values)]
    parts += [numbers(inverse.reshape(array.shape))] if return_inverse else []
    parts += [numbers(counts)] if return_counts else []
    return parts[0] if len(parts) == 1 else Outputs(parts)


@shorthand(
    concrete=("input",),
    floats=True,
    input_dtypes="floats",
    allocates=lambda input, bins=100, min=0, max=0: bins,
)
def histc(input, bins=100, min=0, max=0):
    """How many elements are in each of `bins` equal intervals from min to max; no gradient."""
    require(is_integer(bins) and bins > 0, "bins of histc() must be a positive integer")
    result = np.asarray(input.value if isinstance(input, Array) else input, float).ravel()
    low, high = _ends(result, min, max)
    inside = result[(result >= low) & (result <= high)]
    width = float(high) - float(low)
    require(
        np.isfinite(width * bins),
        "min and max of histc() are too far apart to be divided into bins",
    )
    bin_indices = ((inside - low) * bins / width).astype(int)
    return numbers(np.bincount(np.minimum(bin_indices, bins - 1), minlength=bins).astype(float))


def _ends(result, low, high):
    """The ends of a histogram; those of the data if both are 0."""
    require(low <= high, "max of histc() cannot be below its min")
    if low == high and result.size:
        low, high = result.min(), result.max()
    require(np.isfinite(low) and np.isfinite(high), "min and max of histc() must be finite")
    return (low - 1, high + 1) if low == high else (low, high)


# ---- bitwise operators ---------------------------------------------------------------------------


def _bitwise(name, words, example, of_masks=None):
    """An operator of integers of 64 bits, computed with NumPy's function of its name. Masks are
    combined by `of_masks`; beside integers they are 0 and 1.
    """

    @named(name, f"{words}; no gradient.")
    def rule(g, y, a, b):
        return None, None

    @named(name, rule.__doc__)
    def meaning(input, other):
        nodes = [as_node(x) for x in (input, other)]
        if of_masks and all(x.dtype == "bool" for x in nodes):
            return of_masks(*nodes)
        return of_integers(*(x.long() if x.dtype == "bool" else x for x in nodes))

    def value(a, b):
        return getattr(np, name)(np.asarray(a, np.int64), np.asarray(b, np.int64))

    def symbolic(sp, a, b):
        return sp.Integer(value(int(a), int(b))) if a.is_Integer and b.is_Integer else BITS(sp)

    of_integers = elementwise(
        value,
        symbolic=symbolic,
        integer_inputs=("a", "b"),
        numbers=True,
        numpy=f"np.{name}",
        examples=((f"x * {name}(tensor([5, -3, 2]), {example})", "x=2x3"),),
        exact="all",
    )(rule)
    return shorthand(input_dtypes="any" if of_masks else "numbers")(meaning)


BITS = NotWritable("the bits of an integer depend on its value")
OPERANDS = "tensor([3, 6, 1])"
bitwise_and = _bitwise("bitwise_and", "The bits that both have: a & b", OPERANDS, logical_and)
bitwise_or = _bitwise("bitwise_or", "The bits that at least one has: a | b", OPERANDS, logical_or)
bitwise_xor = _bitwise("bitwise_xor", "The bits that exactly one has: a ^ b", OPERANDS, ne)
bitwise_left_shift = _bitwise("bitwise_left_shift", "The bits of a, b places up: a << b", "2")
bitwise_right_shift = _bitwise("bitwise_right_shift", "The bits of a, b places down: a >> b", "1")


@shorthand()
def bitwise_not(input):
    """All bits inverted: ~x, of a mask whether it is False; no gradient."""
    x = as_node(input)
    return logical_not(x) if x.dtype == "bool" else bitwise_xor(x, -1)


# ---- without gradient ----------------------------------------------------------------------------


@shorthand()
def item(input):
    """The number in a tensor of one element, detached from the graph; no gradient."""
    x = as_node(input)
    require(x.numel == 1, f"item() needs a tensor of one element, not of {x.numel}")
    return x.detach().reshape(shape=())
