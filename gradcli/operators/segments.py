"""Segment reductions: consecutive slices along a dimension are reduced to one element each."""

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..lazy import np
from .comparisons import where
from .families import composite, named, one_of, reduction, require, shorthand
from .floats import isnan
from .guards import otherwise
from .joining import stack
from .leaves import Array, full
from .reductions import amax, amin, prod, tied, without_each

# the result for an empty segment
EMPTY = {"sum": 0.0, "mean": float("nan"), "prod": 1.0, "max": float("-inf"), "min": float("inf")}
NOT_AGAIN = "derivative for aten::_segment_reduce_backward is not implemented"
OTHER_NAMES = {"amax": "max", "amin": "min"}
check_reduction = one_of(reduce=(*EMPTY, *OTHER_NAMES))


def _extreme(name, value, expansion, sentence):
    @named(name, sentence)
    def rule(g, y, x, dim):
        hit = x.eq(y) | isnan(x)
        return where(hit, g / where(g > 0, hit.sum(dim=dim, keepdim=True), 1), 0)

    return reduction(
        value,
        torch=None,
        expand=lambda x, *, dim, keepdim: expansion(x, dim=dim, keepdim=keepdim),
        kink=tied,
        caveat="ties share a positive gradient equally; any other gradient goes to each of them in"
        " full",
        examples=((f"{name}(x, 0)", "x=3x2"), (f"{name}(x, 1)", "x=2x3")),
        exact="all",
    )(rule)


segment_max = _extreme(
    "segment_max",
    lambda x, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims),
    amax,
    "amax, whose gradient goes to every nan if there are any, as that of segment_reduce.",
)
segment_min = _extreme(
    "segment_min",
    lambda x, axis, keepdims: np.min(x, axis=axis, keepdims=keepdims),
    amin,
    "amin, whose gradient goes to every nan if there are any, as that of segment_reduce.",
)


@reduction(
    lambda x, axis, keepdims: np.prod(x, axis=axis, keepdims=keepdims),
    torch=None,
    expand=lambda x, *, dim, keepdim: prod(x, dim=dim if x.ndim > 1 else None, keepdim=keepdim),
    examples=(("segment_prod(x, 0)", "x=3x2"), ("segment_prod(x, 1)", "x=2x3")),
)
def segment_prod(g, y, x, dim):
    """prod, whose gradient avoids division at 0 and nan only, as segment_reduce."""
    excluded = x.eq(0) | isnan(x)
    return otherwise(excluded, g * y / otherwise(excluded, x, 1), g * without_each(x, dim))


@composite(
    torch=None,
    part_of="segment_reduce",
    once_differentiable=NOT_AGAIN,
    index=lambda lower, i, *tensors: lower.stacked(i, tensors, 0),
    examples=(("segment_reduce(x, 'sum', lengths=tensor([2, 1]))", "x=3"),),
    exact="all",
)
def segments(*tensors):
    """The reduced segments, stacked along the first dimension."""
    return stack(tensors, dim=0)


@shorthand(concrete=("lengths", "offsets"))
def segment_reduce(
    data, reduce, *, lengths=None, indices=None, offsets=None, dim=0, unsafe=False, initial=None
):
    """Each segment along axis, as long as lengths say, to its sum, mean, prod, max or min.

    An empty segment gives `initial`; without it 0, nan, 1, -inf or inf.
    """
    x = as_node(data)
    check_reduction(reduce=reduce)
    reduce = OTHER_NAMES.get(reduce, reduce)
    if indices is not None:
        raise GradcliError("unsupported", "PyTorch accepts segments by lengths or offsets only")
    require(
        (lengths is None) != (offsets is None), "segment_reduce() needs either lengths or offsets"
    )
    if offsets is None:
        counts = _integers(lengths)
        starts = np.cumsum(counts, axis=-1) - counts
    else:
        counts, starts = np.diff(_integers(offsets)), _integers(offsets)[..., :-1]
    before = shapes.axis(dim, x.ndim)
    message = "lengths must have the sizes of data before dim"
    shapes.require_equal(counts.shape[:-1], x.shape[:before], message)
    require(np.all(counts >= 0), "lengths of segments cannot be negative")
    for total in () if unsafe or lengths is None else {*counts.sum(axis=-1).ravel().tolist()}:
        message = (
            f"lengths of segments add up to {total}, but the dimension has size {x.shape[before]}"
        )
        shapes.require_equal((total,), (x.shape[before],), message)
    return _segments(x, reduce, starts, counts, initial)


def _integers(lengths):
    return np.asarray(lengths.value if isinstance(lengths, Array) else lengths, int)


def _segments(x, reduce, starts, counts, initial):
    if counts.ndim > 1:
        rows = zip(starts, counts, strict=True)
        return stack([_segments(x[k], reduce, *row, initial) for k, row in enumerate(rows)], dim=0)
    parts = [
        _reduced(x[start : start + n], reduce, initial)
        for start, n in zip(starts.tolist(), counts.tolist(), strict=True)
    ]
    return segments(*parts)


def _reduced(part, reduce, initial):
    size = part.shape[0]
    start = EMPTY[reduce] if initial is None else float(initial)
    if not size:
        return full(size=part.shape[1:], fill_value=start)
    if reduce == "max":
        result = segment_max(part, dim=0)
        return result if initial is None else where(result < start, start, result)
    if reduce == "min":
        result = segment_min(part, dim=0)
        return result if initial is None else where(result > start, start, result)
    if reduce == "prod":
        result = segment_prod(part, dim=0)
        return result * start if start != 1 else result
    total = part.sum(dim=0)
    total = total + initial if initial else total
    return total / size if reduce == "mean" else total
