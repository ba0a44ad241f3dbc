"""Embeddings: rows of a table, selected by indices."""

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..graphs.operator import check_dtypes
from ..lazy import np
from .comparisons import where
from .families import is_integer, no_flops, operator, require, shorthand
from .floats import isnan
from .gathering import index_select
from .indexing import in_range
from .leaves import Array, eye, numbers, zeros
from .pointwise import F
from .shaping import expand, reshape


def _check_arguments(s, max_norm, padding_idx, name):
    """Check the arguments that embedding and embedding_bag share."""
    if max_norm is not None:
        raise GradcliError(
            "unsupported",
            f"{name}() with max_norm changes its weight in place, which gradcli never does",
            hint="leave max_norm out",
        )
    if len(s) != 2:
        raise GradcliError(
            "shape", f"weight of {name}() must be a matrix, got shape {shapes.text(s)}"
        )
    valid = padding_idx is None or is_integer(padding_idx)
    require(valid, f"padding_idx of {name}() must be an integer, got {padding_idx!r}")
    if padding_idx is not None and not -s[0] <= padding_idx < s[0]:
        raise GradcliError("index", f"padding_idx {padding_idx} is out of range for {s[0]} rows")


def _embedding_shape(index, s, *, padding_idx, max_norm, **_):
    _check_arguments(s, max_norm, padding_idx, "embedding")
    return (*index, s[1])


def _without_true_gradient(y, input, weight, *, padding_idx, scale_grad_by_freq, **_):
    """The mask of rows whose gradient in PyTorch is not the derivative: padding_idx, and repeated
    rows with scale_grad_by_freq.
    """
    index = reshape(input, shape=(-1,))
    mask = index < 0  # False everywhere: indices are at least 0
    if padding_idx is not None:
        mask = index.eq(padding_idx % weight.shape[0])
    if scale_grad_by_freq:
        mask = mask | (_frequencies(index, weight.shape[0]) > 1)
    return reshape(mask, shape=(*input.shape, 1))


@operator(
    shape=_embedding_shape,
    integer_attributes=("padding_idx",),
    value=lambda input, weight, **_: np.take(weight, in_range(input, len(weight)), axis=0),
    dtype="last",
    integer_inputs=("input",),
    check_indices=lambda input, s, **_: in_range(input, s[0]),
    torch=F + "embedding",
    kink=_without_true_gradient,
    caveat="the row padding_idx has no gradient; scale_grad_by_freq divides the gradient of a row "
    "by how often its index occurs",
    index=lambda lower, i, input, weight, **_: lower(
        weight, [lower.picked(input, i[:-1], weight.shape[0]), i[-1]]
    ),
    examples=(
        ("embedding(tensor([0, 2, 2]), w)", "w=3x2"),
        ("embedding(tensor([[1], [0]]), w)", "w=3x2"),
    ),
    flops=no_flops,
    numpy="{1}[{0}]",
)
def embedding(
    g,
    y,
    input,
    weight,
    *,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """The rows of weight at the indices in input."""
    index = reshape(input, shape=(-1,))
    row_gradients = reshape(g, shape=(input.numel, weight.shape[1]))
    if padding_idx is not None:
        is_padding = index.eq(padding_idx % weight.shape[0]).unsqueeze(dim=1)
        row_gradients = where(is_padding, 0, row_gradients)
    if scale_grad_by_freq:
        frequencies = _frequencies(index, weight.shape[0])
        row_gradients = row_gradients * frequencies.reciprocal().unsqueeze(dim=1)
    return None, zeros(size=weight.shape).index_add(dim=0, index=index, source=row_gradients)


def _frequencies(index, size):
    """For each element of `index`, how often it occurs in `index`; all are below `size`."""
    ones = expand(as_node(1.0), shape=index.shape)
    return zeros(size=(size,)).index_add(dim=0, index=index, source=ones).index_select(0, index)


@shorthand(concrete=("input", "offsets"), input_dtypes="floats")
def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sum, mean or maximum of the rows of each bag; a bag is a row of input, or the part of it from
    one offset to the next.
    """
    _check_arguments(weight.shape, max_norm, padding_idx, "embedding_bag")
    indices = _values(input)
    _check_bags(indices, mode, scale_grad_by_freq, weight, per_sample_weights)
    index, bag, bag_count = _bags(indices, offsets, include_last_offset)
    not_padding = np.ones(index.size, bool)
    if padding_idx is not None:
        not_padding = index != padding_idx % weight.shape[0]
    rows, bag = _weighted_rows(weight, index, not_padding, per_sample_weights), bag[not_padding]
    if mode == "max":
        return _largest(rows, bag, bag_count)
    total = zeros(size=(bag_count, weight.shape[1])).index_add(
        dim=0, index=numbers(bag), source=rows
    )
    if mode == "sum":
        return total
    sizes = np.maximum(np.bincount(bag, minlength=bag_count), 1).reshape(-1, 1)
    return total / numbers(sizes)


def _weighted_rows(weight, index, not_padding, per_sample_weights):
    """The rows of weight at the indices that are not padding (`not_padding`, a mask), times their
    per-sample weights, if given.
    """
    rows = index_select(weight, dim=0, index=numbers(index[not_padding]))
    if per_sample_weights is None:
        return rows
    factors = reshape(per_sample_weights, shape=(-1,))
    if not not_padding.all():
        factors = index_select(factors, dim=0, index=numbers(not_padding.nonzero()[0]))
    return rows * factors.unsqueeze(dim=1)


def _check_bags(input, mode, scale_grad_by_freq, weight, per_sample_weights):
    if mode not in ("sum", "mean", "max"):
        raise GradcliError("arguments", f"mode must be 'sum', 'mean' or 'max', got {mode!r}")
    if scale_grad_by_freq:
        raise GradcliError(
            "unsupported",
            "with scale_grad_by_freq, PyTorch's embedding_bag() divides the gradient of a row by "
            "how often another row occurs",
            hint="use embedding() with scale_grad_by_freq, and sum or average its rows",
        )
    if per_sample_weights is not None:
        if mode != "sum":
            raise GradcliError("arguments", "per_sample_weights are for mode='sum'")
        check_dtypes("embedding_bag", "floats of one dtype", (weight, per_sample_weights))
        message = "per_sample_weights of embedding_bag() must have the shape of its input"
        shapes.require_equal(as_node(per_sample_weights).shape, np.shape(input), message)


def _values(input):
    return input.value if isinstance(input, Array) else np.asarray(input)


def _bags(index, offsets, include_last_offset):
    """The indices of rows as a vector, the bag of each, and the number of bags. Raises GradcliError
    unless `index` has integers and is a matrix, or a vector with `offsets`.
    """
    require(index.dtype.kind != "b", "input of embedding_bag() must contain integers, got a mask")
    if index.ndim == 2 and offsets is None:
        return index.reshape(-1), np.repeat(np.arange(len(index)), index.shape[1]), len(index)
    if index.ndim != 1 or not isinstance(offsets, Array) or offsets.value.ndim != 1:
        raise GradcliError(
            "arguments",
            "embedding_bag() takes a matrix, whose rows are the bags, or a vector and offsets",
        )
    bounds = offsets.value
    starts = bounds[:-1] if include_last_offset else bounds
    if (bounds.size and bounds[0] != 0) or (np.diff(bounds) < 0).any():
        raise GradcliError("arguments", "offsets must start at 0 and not decrease")
    require(
        bounds.size == 0 or bounds[-1] <= index.size, "offsets must not exceed the length of input"
    )
    return index, np.searchsorted(starts, np.arange(index.size), "right") - 1, len(starts)


def _largest(rows, bag, bag_count):
    """The elementwise maximum of each bag, the first of equal ones; 0 for an empty bag. As in
    PyTorch, a nan in the first row of a bag is its maximum, and later ones are ignored.
    """
    sizes = np.bincount(bag, minlength=bag_count)
    longest = sizes.max(initial=0)
    if not longest:
        return zeros(size=(bag_count, rows.shape[1]))
    within = np.arange(bag.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.zeros((bag_count, longest), int)
    table[bag, within] = np.arange(bag.size)
    filled = (np.arange(longest) < sizes[:, None])[..., None]
    if not filled.all():
        rows = index_select(rows, dim=0, index=numbers(table.reshape(-1)))
    padded = reshape(rows, shape=(bag_count, int(longest), rows.shape[1]))
    if not filled.all():  # pad shorter bags with -inf, which is never greater than an element
        padded = where(numbers(filled), padded, -float("inf"))
    # nan compares as inf in the first row, so that it is the maximum, and as -inf in other rows
    of_nan = np.where(np.arange(longest) == 0, float("inf"), -float("inf"))[:, None]
    compared = where(isnan(padded), numbers(of_nan), padded)
    top = padded.gather(dim=1, index=compared.argmax(dim=1, keepdim=True)).squeeze(dim=1)
    return top if sizes.all() else where(numbers(sizes[:, None] > 0), top, 0)


@shorthand(concrete=("input",), unless="num_classes")
def one_hot(input, num_classes=-1):
    """Each integer as a row of zeros with a 1 at this index; no gradient."""
    require(is_integer(num_classes), "num_classes of one_hot() must be an integer, got a tensor")
    array = _values(input)
    size = int(array.max(initial=-1)) + 1 if num_classes == -1 else num_classes
    in_range(array, size)
    index = input if isinstance(input, Array) else numbers(array).attrs["data"]
    return eye(n=size)[(index,)].long()
