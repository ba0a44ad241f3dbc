"""Elements selected by their order along a dimension: sort, topk, kthvalue, median and mode.

Each has two operators, as PyTorch returns two tensors: the indices, which have no gradient, and the
values at these indices. nan is greater than any number.
"""

from ..errors import GradcliError
from ..graphs import OPS, Outputs, as_node, shapes
from ..graphs.arguments import REQUIRED
from ..lazy import np
from .elements import NotWritable, symbolic_argsort
from .families import (
    composite,
    named,
    operator,
    reduced,
    reduced_nonempty,
    same_with_axis,
    shorthand,
)
from .reductions import of_all, tied
from .tie_breaking import ascending, descending, first_k, insertion_sorted, quick_select
from .ties import equal_to_neighbour

ONE_OF_EQUALS = "of equal elements the one that PyTorch selects receives the whole gradient"
OF_MANY = f"{ONE_OF_EQUALS}; which one is chosen in a long dimension depends on the machine"
FIRST_FIRST = (
    "equal elements keep their order; in PyTorch too with stable=True or up to 16 elements, "
    "otherwise its order depends on the machine"
)


# ---- the family ----------------------------------------------------------------------------------


def selected(
    name, shape, indices_of, symbolic_indices_of=None, *,
    call, examples, kink=None, caveat=ONE_OF_EQUALS, numpy=None, running=False, **fields,
):  # fmt: skip
    """Declare the operators `{name}_values` and `{name}_indices`; `fields` are their attributes.

    `indices_of(rows, **attrs)` returns the indices along the last dimension,
    `symbolic_indices_of(sp, row, **attrs)` those of one row. `call` is the spelling of PyTorch's
    function. `kink` is that field of both operators; its y are always the values. `running`:
    whether PyTorch saves the input for backward too.
    """
    kink = kink or (tied if "keepdim" in fields else None)
    common = {"attributes": fields, "order": " ".join(("x", *fields)), "caveat": caveat}
    common["torch"] = f"torch.{name}"

    @operator(
        shape=shape,
        value=_indices_along(indices_of),
        symbolic=_symbolic_indices_along(symbolic_indices_of),
        dtype="int",
        finds_indices=True,
        kink=kink and (lambda y, x, **attrs: kink(OPS[f"{name}_values"](x, **attrs), x, **attrs)),
        spelling=call + ".indices",
        numpy=numpy,
        examples=tuple((f"x * {text}.indices", s) for text, s in examples[-1:]),
        **common,
    )
    @named(f"{name}_indices", f"The indices of {name}().")
    def indices(g, y, x, **_):
        return None

    values = composite(
        saved=_saved(indices, running),
        kink=kink,
        spelling=call + ".values",
        examples=tuple((f"{text}.values", s) for text, s in examples),
        exact="all",
        **common,
    )(_values_at(indices, name))
    return values, indices


def _saved(indices, running):
    """What PyTorch saves for the values: the indices and, if `running`, the input."""
    return lambda y, x, **attrs: (indices(x, **_keeping_dim(attrs)), *([x] if running else []))


def _keeping_dim(attrs):
    return attrs | {"keepdim": True} if "keepdim" in attrs else attrs


def _values_at(indices, name):
    """The definition of the values: the elements at the indices."""

    @named(f"{name}_values", f"The values of {name}().")
    def values(x, **attrs):
        gathered = x.gather(dim=attrs["dim"], index=indices(x, **_keeping_dim(attrs)))
        return gathered if attrs.get("keepdim", True) else gathered.squeeze(dim=attrs["dim"])

    return values


def _indices_along(indices_of):
    """The field `value` of the indices, computed by `indices_of` along the last dimension."""

    def evaluate(x, *, dim, keepdim=True, **attrs):
        if not np.ndim(x):
            return np.zeros((), int)
        result = np.moveaxis(indices_of(np.moveaxis(x, dim, -1), **attrs), -1, dim)
        return result if keepdim else np.squeeze(result, axis=dim)

    return evaluate


def _symbolic_indices_along(symbolic_indices_of):
    """The field `symbolic` of the indices: `symbolic_indices_of` for each row, or an error if this
    is None.
    """

    def write(sp, x, *, dim, keepdim=True, **attrs):
        if not x.ndim:
            return np.zeros((), int)
        result = np.apply_along_axis(
            lambda row: np.array(symbolic_indices_of(sp, list(row), **attrs), object), dim, x
        )
        return result if keepdim else np.squeeze(result, axis=dim)

    return (
        write
        if symbolic_indices_of
        else NotWritable("which element is selected depends on the values")
    )


def keepdim_text(index, keepdim):
    """NumPy's expression for an index, with `dim` kept as a dimension of size 1 if `keepdim`."""
    return f"np.expand_dims({index}, {{dim}})" if keepdim else index


def _pair(selection, input, **attrs):
    """PyTorch's named tuple of values and indices."""
    return Outputs((one(as_node(input), **attrs) for one in selection), ("values", "indices"))


def _stable_argsort(rows, is_descending=False):
    """The indices that sort rows, stably."""
    if is_descending:
        return rows.shape[-1] - 1 - np.flip(_stable_argsort(np.flip(rows, -1)), -1)
    return np.argsort(rows, axis=-1, kind="stable")


def _with_ties(result, rows, order, select):
    """`result`, but in rows with ties the indices that `select` chooses, as PyTorch does; `order`
    are the indices that sort the rows.
    """
    ranked = np.take_along_axis(rows, order, axis=-1)
    low, high = ranked[..., :-1], ranked[..., 1:]
    equal = ((low == high) | ((low != low) & (high != high))).any(-1)
    for row_index in map(tuple, np.argwhere(equal)):
        result[row_index] = select(rows[row_index])
    return result


# ---- sort ----------------------------------------------------------------------------------------


def _tied_ranks(y, x, *, dim, descending=False, largest=False, **_):
    """The mask of the ranks in y whose elements equal a neighbour in sorted order."""
    axis = shapes.axis(dim, x.ndim)
    if not x.ndim or x.shape[axis] < 2:
        return y < y
    ranked = sort_values(x, dim=axis, descending=descending or largest)
    before = (slice(None),) * axis
    equal = ranked[(*before, slice(1, None))].eq(ranked[(*before, slice(-1))])
    return equal_to_neighbour(equal, axis)[(*before, slice(y.shape[axis]))]


sort_values, sort_indices = selected(
    "sort",
    lambda s, *, dim, descending: same_with_axis(s, dim=dim),
    lambda rows, *, descending: _stable_argsort(rows, descending),
    lambda sp, row, *, descending: symbolic_argsort(sp, row, descending),
    call="sort({0}, dim={dim}, descending={descending})",
    numpy=lambda *, dim, descending: (
        f"np.argsort({'-' * descending}{{0}}, axis={{dim}}, stable=True)"
    ),
    kink=_tied_ranks,
    caveat=FIRST_FIRST,
    examples=(("x.sort()", "x=2x3"), ("sort(x, 0, descending=True)", "x=3x2")),
    dim=-1,
    descending=False,
)  # fmt: skip


def sorted_last(x):
    """The elements sorted along the last dimension."""
    return x.gather(dim=-1, index=sort_indices(x)) if x.ndim else x


@shorthand()
def sort(input, dim=-1, descending=False, *, stable=False):
    """The elements sorted along dim, and their indices; stable: equal elements keep their order."""
    return _pair((sort_values, sort_indices), input, dim=dim, descending=descending)


@shorthand()
def argsort(input, dim=-1, descending=False, *, stable=False):
    """The indices that sort the elements along dim; no gradient."""
    return sort_indices(input, dim=dim, descending=descending)


@shorthand()
def msort(input):
    """The elements sorted along the first dimension."""
    return sort_values(input, dim=0, descending=False)


# ---- topk and kthvalue ---------------------------------------------------------------------------


def _top_shape(s, *, k, dim, **_):
    axis = shapes.axis(dim, len(s))
    size = s[axis] if s else 1
    if not isinstance(k, int) or not 0 <= k <= size:
        raise GradcliError("arguments", f"k of topk() must be from 0 to {size}, got {k!r}")
    return (*s[:axis], k, *s[axis + 1 :]) if s else s


def _top(rows, *, k, largest, sorted):
    indices = _stable_argsort(rows, largest)
    if k * 64 <= rows.shape[-1]:  # PyTorch uses another algorithm for small k; ties may differ
        return indices[..., :k]
    order = descending if largest else ascending
    return _with_ties(
        indices[..., :k].copy(), rows, indices, lambda r: first_k(r, k, order, sorted)
    )


topk_values, topk_indices = selected(
    "topk",
    _top_shape,
    _top,
    lambda sp, row, *, k, largest, sorted: symbolic_argsort(sp, row, largest)[:k],
    call="topk({0}, {k}, dim={dim}, largest={largest}, sorted={sorted})",
    numpy=lambda *, largest, **_: (
        f"np.take(np.argsort({'-' * largest}{{0}}, axis={{dim}}), np.arange({{k}}), axis={{dim}})"
    ),
    kink=_tied_ranks,
    caveat=OF_MANY,
    examples=(("x.topk(2)", "x=2x3"), ("topk(x, 1, dim=0, largest=False)", "x=2x3")),
    k=REQUIRED,
    dim=-1,
    largest=True,
    sorted=True,
)


@shorthand(input_dtypes="numbers")
def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest elements along dim, or the smallest, in order, and their indices."""
    attrs = {"k": k, "dim": dim, "largest": largest, "sorted": sorted}
    return _pair((topk_values, topk_indices), input, **attrs)


def _kth_shape(s, *, k, dim, keepdim):
    size = s[shapes.axis(dim, len(s))] if s else 1
    if not isinstance(k, int) or not 1 <= k <= size:
        message = (
            f"k of kthvalue() must be from 1 to {size}, the size of dimension {dim}, got {k!r}"
        )
        raise GradcliError("arguments", message)
    return reduced(s, dim=dim, keepdim=keepdim)


def _kth(rows, *, k):
    order = _stable_argsort(rows)
    result = order[..., k - 1 : k].copy()
    return _with_ties(result, rows, order, lambda row: quick_select(row, k - 1))


kthvalue_values, kthvalue_indices = selected(
    "kthvalue",
    _kth_shape,
    _kth,
    lambda sp, row, *, k: symbolic_argsort(sp, row, False)[k - 1 : k],
    call="kthvalue({0}, {k}, dim={dim}, keepdim={keepdim})",
    numpy=lambda *, keepdim, **_: keepdim_text(
        "np.take(np.argsort({0}, axis={dim}), {k} - 1, axis={dim})", keepdim
    ),
    examples=(("x.kthvalue(2)", "x=2x3"), ("kthvalue(x, 1, 0, True)", "x=2x3")),
    k=REQUIRED,
    dim=-1,
    keepdim=False,
)


@shorthand(input_dtypes="numbers")
def kthvalue(input, k, dim=-1, keepdim=False):
    """The k-th smallest element along dim, counted from 1, and its index."""
    return _pair((kthvalue_values, kthvalue_indices), input, k=k, dim=dim, keepdim=keepdim)


# ---- median and mode -----------------------------------------------------------------------------


def _median(rows):
    """The index of the lower median; of the first nan, if there is one."""
    nan = np.isnan(rows)
    median = _stable_argsort(rows)[..., (rows.shape[-1] - 1) // 2]
    return np.where(nan.any(-1), np.argmax(nan, axis=-1), median)[..., None]


def _nanmedian(rows):
    count = np.count_nonzero(rows == rows, axis=-1, keepdims=True)
    return np.take_along_axis(_stable_argsort(rows), np.maximum(count - 1, 0) // 2, axis=-1)


def _declare_median(name, indices_of, in_numpy=None):
    return selected(
        name,
        reduced_nonempty,
        indices_of,
        lambda sp, row: [symbolic_argsort(sp, row, False)[(len(row) - 1) // 2]],
        call=f"{name}({{0}}, dim={{dim}}, keepdim={{keepdim}})",
        numpy=in_numpy,
        examples=((f"x.{name}(dim=1)", "x=2x3"), (f"{name}(x, 0, keepdim=True)", "x=3x2")),
        dim=REQUIRED,
        keepdim=False,
    )


def _declare_median_of_all(name, along, sentence):
    """Declare the median of all elements; `along` is the operator for one dimension."""

    def meaning(x):
        row = x.reshape(shape=(-1,))
        if x.numel:
            return along(row, dim=0)
        # as in PyTorch, the median of an empty tensor is nan, or the smallest integer
        return row.sum() * float("nan") if x.dtype == "float" else row.sum() + -(2**63)

    return of_all(name, meaning, sentence, ((f"{name}(x)", "x=3"),))


LOWER_MEDIAN = "np.take(np.argsort({0}, axis={dim}), ({0}.shape[{dim}] - 1) // 2, axis={dim})"
along_median = _declare_median(
    "median", _median, lambda *, keepdim, **_: keepdim_text(LOWER_MEDIAN, keepdim)
)
along_nanmedian = _declare_median("nanmedian", _nanmedian)
median_all = _declare_median_of_all(
    "median",
    along_median[0],
    "Median of all elements (the lower one of two); nan if any element is nan.",
)
nanmedian_all = _declare_median_of_all(
    "nanmedian",
    along_nanmedian[0],
    "Median of all elements that are not nan (the lower one of two).",
)


@shorthand(input_dtypes="numbers")
def median(input, dim=None, keepdim=False):
    """Median of all elements, or along dim with its index; the lower one of two."""
    if dim is None:
        return median_all(input)
    return _pair(along_median, input, dim=dim, keepdim=keepdim)


@shorthand(input_dtypes="numbers")
def nanmedian(input, dim=None, keepdim=False):
    """Median of the elements that are not nan: of all, or along dim with its index."""
    if dim is None:
        return nanmedian_all(input)
    return _pair(along_nanmedian, input, dim=dim, keepdim=keepdim)


def _mode(rows):
    """The last index of the longest run of equal elements, in sorted rows."""
    order = _stable_argsort(rows)
    for row_index in map(tuple, np.argwhere(np.isnan(rows).any(-1))):
        order[row_index] = insertion_sorted(rows[row_index])
    ranked = np.take_along_axis(rows, order, axis=-1)
    rank = np.arange(rows.shape[-1])
    starts = np.concatenate(
        [np.ones_like(ranked[..., :1], bool), ranked[..., 1:] != ranked[..., :-1]], axis=-1
    )
    length = rank - np.maximum.accumulate(np.where(starts, rank, 0), axis=-1)
    return np.take_along_axis(order, np.argmax(length, axis=-1)[..., None], axis=-1)


mode_values, mode_indices = selected(
    "mode",
    reduced_nonempty,
    _mode,
    caveat=OF_MANY,
    call="mode({0}, dim={dim}, keepdim={keepdim})",
    examples=(("x.mode()", "x=2x3"), ("mode(x, 0, True)", "x=2x3")),
    dim=-1,
    keepdim=False,
)


@shorthand()
def mode(input, dim=-1, keepdim=False):
    """Most frequent value along dim (the smallest if tied), and the index where it occurs last."""
    return _pair((mode_values, mode_indices), input, dim=dim, keepdim=keepdim)
