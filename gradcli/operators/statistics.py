"""Variance, covariance and quantiles; sums and means that ignore nan."""

import math

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, Outputs, as_node, shapes
from ..lazy import np
from . import elements
from .arithmetic import ceil, floor, round
from .bounds import NOT_NEGATIVE
from .comparisons import where
from .families import composite, flops_per_element, named, reduced, reduction, require, shorthand
from .floats import isnan
from .guards import otherwise, raise_where, unless
from .leaves import size
from .pairs import lerp
from .permuting import permuted
from .precision import unit
from .reductions import average
from .sorting import FIRST_FIRST, sorted_last
from .sum_kernels import total
from .ties import equal_to_neighbour


def _sum_of_squares(x, axis):
    """The sum of squared deviations from the mean, and the mean."""
    mean = average(x, axis, True)
    distance = x - mean
    return total(np.square(distance, out=distance if distance.ndim else None), axis, True), mean


def _variance(x, axis, keepdims, *, correction):
    """The variance; as in PyTorch, exactly 0 if elements are equal, unless all dims are reduced."""
    count = shapes.numel([x.shape[d] for d in axis])
    freedom = count - correction
    spread, mean = _sum_of_squares(x, axis)
    rounding = count * np.square(count * unit(x) * mean)  # bound of `spread` for equal elements
    if 0 < len(axis) < x.ndim and np.any(spread <= rounding):
        first = x[tuple(slice(0, 1) if d in axis else slice(None) for d in range(x.ndim))]
        spread, _ = _sum_of_squares(x - first, axis)
    spread = np.divide(spread, np.float64(freedom if freedom > 0 else 0))
    return spread if keepdims else np.squeeze(spread, axis)


def _canonical(*, dim, correction, unbiased=None, **attrs):
    """The attributes, with `unbiased`, or a bool in place of dim, converted to `correction`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        _check_unbiased(unbiased)
        correction = unbiased
    if dim == ():
        message = (
            "with dim=() PyTorch computes the variance of all elements, and returns a wrong "
            "gradient"
        )
        raise GradcliError("arguments", message, hint="leave dim out, or list every dimension")
    return {"dim": dim, "correction": 1 if correction is None else +correction, **attrs}


def _check_unbiased(unbiased):
    """Raise GradcliError unless `unbiased` is a bool. A number is probably meant as `correction`,
    which PyTorch accepts by keyword only.
    """
    cure = f"as a keyword it is correction={unbiased!r}"
    require(isinstance(unbiased, bool), f"unbiased must be True or False, got {unbiased!r}: {cure}")


def _slope_of_variance(x, dim, correction):
    count = size(x, dim=dim)
    return 2 / (count - correction if correction else count) * (x - x.mean(dim=dim, keepdim=True))


def _slope_of_all(x, correction):
    """The derivative of the variance without dim; PyTorch's is infinite for too few elements."""
    if x.numel <= correction:
        return where(x.eq(x.mean()), math.nan, math.inf)
    return _slope_of_variance(x, tuple(range(x.ndim)), correction)


def _gradient_of_variance(g, y):
    """The gradient of the variance, from the gradient g of its root y."""
    return where(y.eq(0), 0, g / (y * 2))


def _spread_flops(out, s, **_):
    """FLOP: the mean, and the sum of squared deviations."""
    return 4 * flops_per_element(out, s)


@reduction(
    _variance,
    symbolic=elements.variance,
    dtype="float",
    order="x dim unbiased keepdim * correction",
    canonical_attributes=_canonical,
    examples=(("x.var()", "x=2x3"), ("x.var(dim=1, correction=0)", "x=2x3")),
    index=lambda lower, i, x, **attrs: lower.variance(x, **attrs),
    flops=_spread_flops,
    numpy="{0}.var(axis={dim}, ddof={correction}, keepdims={keepdim})",
    of_all=lambda g, y, x, *, correction: g * _slope_of_all(x, correction),
    bounds=NOT_NEGATIVE,
    input_dtypes="floats",
    exact="value",
)
def var(g, y, x, dim, *, correction=1):
    """Mean squared distance from the mean; divided by n - correction."""
    return g * _slope_of_variance(x, dim, correction)


@reduction(
    lambda x, axis, keepdims, *, correction: np.sqrt(
        _variance(x, axis, keepdims, correction=correction)
    ),
    symbolic=lambda sp, *xs, correction: sp.sqrt(elements.variance(sp, *xs, correction=correction)),
    dtype="float",
    order="x dim unbiased keepdim * correction",
    canonical_attributes=_canonical,
    kink=lambda y, x, *, dim, keepdim, correction: y.eq(0),
    between_kinks="smooth",
    caveat="no derivative where all are equal: PyTorch takes 0",
    examples=(("x.std()", "x=2x3"), ("x.std(dim=1, correction=0)", "x=2x3")),
    index=lambda lower, i, x, **attrs: lower.variance(x, **attrs).sqrt(),
    flops=_spread_flops,
    numpy="{0}.std(axis={dim}, ddof={correction}, keepdims={keepdim})",
    of_all=lambda g, y, x, *, correction: (
        _gradient_of_variance(g, y) * _slope_of_all(x, correction)
    ),
    bounds=NOT_NEGATIVE,
    input_dtypes="floats",
    exact="value",
)
def std(g, y, x, dim, *, correction=1):
    """Square root of the variance."""
    return _gradient_of_variance(g, y) * _slope_of_variance(x, dim, correction)


def _with_mean(spread, input, dim, unbiased, keepdim, correction):
    x = as_node(input)
    result = spread(x, dim, unbiased, keepdim, correction=correction)
    return Outputs((result, x.mean(dim=result.attrs["dim"], keepdim=keepdim)))


@shorthand(input_dtypes="floats")
def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    """The variance and the mean."""
    return _with_mean(var, input, dim, unbiased, keepdim, correction)


@shorthand(input_dtypes="floats")
def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    """The standard deviation and the mean."""
    return _with_mean(std, input, dim, unbiased, keepdim, correction)


# ---- covariance ----------------------------------------------------------------------------------


def _deviations(x, weights=None):
    """The rows of x, one for each variable, minus their (weighted) mean."""
    rows = x if x.ndim == 2 else x.reshape(shape=(1, -1))
    if weights is None:
        return rows - (rows.sum(dim=1) / size(rows, dim=(1,))).unsqueeze(dim=1)
    return rows - ((rows * weights).sum(dim=1) / weights.sum()).unsqueeze(dim=1)


def _degrees_of_freedom(x, correction):
    """The number of observations less the correction; None if that is not positive."""
    if (x.shape[-1] if x.ndim else 1) <= correction:
        return None
    count = size(x, dim=(-1,)) if x.ndim else 1
    return count - correction if correction else count


def _cov_rule(g, y, x, fweights, aweights, *, correction):
    if fweights is not None or aweights is not None or _degrees_of_freedom(x, correction) is None:
        return NotImplemented
    away = _deviations(x)
    square = g.reshape(shape=(away.shape[0],) * 2)
    to_x = (square + square.mT) @ away / _degrees_of_freedom(x, correction)
    through_mean = to_x.sum(dim=1, keepdim=True)  # 0, unless there are inf or nan
    to_x = unless(through_mean.ne(through_mean), to_x, instead=math.nan)
    return to_x.reshape(shape=x.shape), None, None


def _checked_weights(name, weights, x):
    """The weights. Raises GradcliError if their number is wrong or one is negative."""
    count = x.shape[-1] if x.ndim else 1
    message = f"cov() needs {count} weights here, got shape {shapes.text(weights.shape)}"
    shapes.require_equal(weights.shape or (1,), (count,), message)
    return raise_where(weights, weights < 0, message=f"{name} of cov() cannot be negative")


@composite(
    rule=_cov_rule,
    order="x * correction fweights aweights",
    integer_inputs=("fweights",),
    integer_attributes=("correction",),
    index=lambda lower, i, *_, **__: None,
    examples=(
        ("cov(x)", "x=2x3"),
        ("x.cov(correction=0)", "x=3"),
        ("cov(x, fweights=tensor([1, 3, 2]))", "x=2x3"),
    ),
    input_dtypes=("numbers", slice(1)),
    saved=(..., INTERMEDIATE),
)
def cov(x, fweights=None, aweights=None, *, correction=1):
    """Covariances of variables, one per row; fweights counts observations, aweights weighs them."""
    if x.ndim > 2:
        message = (
            f"cov() needs a matrix with a row for each variable, got shape {shapes.text(x.shape)}"
        )
        raise GradcliError("shape", message)
    if aweights is not None:
        require(
            aweights.dtype == "float", "aweights of cov() must be floating point, as tensor([2.0])"
        )
        aweights = _checked_weights("aweights", aweights, x)
    if fweights is not None:
        fweights = _checked_weights("fweights", fweights.double(), x)
    if fweights is None and aweights is None:
        away = _deviations(x)
        freedom = _degrees_of_freedom(x, correction)
        return (away @ away.mT / (0.0 if freedom is None else freedom)).squeeze()
    weights = aweights if fweights is None else fweights
    if aweights is not None and fweights is not None:
        weights = weights * aweights
    weights = raise_where(weights, weights.sum().eq(0), message="the weights of cov() add up to 0")
    away, freedom = _deviations(x, weights), weights.sum() - correction
    if aweights is not None and correction:
        freedom = weights.sum() - correction * (weights * aweights).sum() / weights.sum()
    return (away @ (away * weights).mT / where(freedom <= 0, 0.0, freedom)).squeeze()


@composite(
    index=lambda lower, i, x: None,
    examples=(("corrcoef(x)", "x=2x3"),),
    input_dtypes="numbers",
    saved=(..., INTERMEDIATE),
)
def corrcoef(x):
    """Covariances divided by both standard deviations: from -1 to 1."""
    c = cov(x)
    if not c.ndim:
        return c / c
    deviation = c.diag().sqrt()
    return (c / deviation.unsqueeze(dim=1) / deviation.unsqueeze(dim=0)).clamp(min=-1, max=1)


# ---- quantiles -----------------------------------------------------------------------------------


OF_FLOATS = {"input_dtypes": "floats of one dtype"}
OUTSIDE = "q must be a number from 0 to 1, or a vector of them"
INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(ranks_of, **fields):
    """A decorator for quantile and nanquantile; `ranks_of(rows, q)` returns the ranks."""

    def declare(function):
        @named(function.__name__, function.__doc__)
        def meaning(x, q, *, dim=None, keepdim=False, interpolation="linear"):
            _check(x, q, interpolation)
            if q.ndim:
                q = raise_where(q, (q < 0) | (q > 1), message=OUTSIDE)
            rows = _sorted_along(x, dim)
            result = _at_ranks(rows, ranks_of(rows, q), interpolation)
            result = permuted(result, (result.ndim - 1, *range(result.ndim - 1)))
            return result.reshape(shape=q.shape + reduced(x.shape, dim=dim, keepdim=keepdim))

        def kink(y, x, q, *, dim, keepdim, interpolation):
            rows = _sorted_along(x, dim)
            ranks = ranks_of(rows, q)
            return _ties(rows, ranks, interpolation).any(), ranks.eq(floor(ranks)).any()

        return composite(
            kink=kink,
            caveat=f"{FIRST_FIRST}; where q falls exactly on an element, PyTorch takes 0 as the "
            "gradient of q",
            order="x q dim keepdim * interpolation",
            numbers=("q",),
            saved=(..., INTERMEDIATE),
            **fields,
        )(meaning)

    return declare


def _sorted_along(x, dim):
    """x sorted along dim, which is moved last."""
    rows = x.reshape(shape=(-1,)) if x.ndim != 1 and (dim is None or not x.ndim) else x
    axis = 0 if dim is None else shapes.axis(dim, rows.ndim)
    return sorted_last(permuted(rows, (*(d for d in range(rows.ndim) if d != axis), axis)))


def _ties(rows, ranks, interpolation):
    """The mask of quantiles for which an element that they depend on is tied."""
    if rows.shape[-1] < 2:
        return rows < rows
    tied = equal_to_neighbour(rows[..., 1:].eq(rows[..., :-1]), rows.ndim - 1)
    return _at_ranks(tied.double(), ranks, interpolation) > 0


def _check(x, q, interpolation):
    if interpolation not in INTERPOLATIONS:
        names = ", ".join(INTERPOLATIONS)
        message = f"interpolation must be one of {names}, got {interpolation!r}"
        raise GradcliError("arguments", message)
    value = q.attrs["value"] if q.op.name == "constant" else 0
    if q.ndim > 1 or not 0 <= value <= 1:
        raise GradcliError("arguments", OUTSIDE)
    if not x.numel:
        raise GradcliError("shape", "quantile() of an empty tensor")


def _at_ranks(rows, ranks, interpolation):
    """The elements at ranks, interpolated between two if a rank is not an integer."""
    rounded = {"lower": floor, "higher": ceil, "nearest": round}.get(interpolation)
    ranks = rounded(ranks) if rounded else ranks
    below = ranks.long()
    low = rows.gather(dim=-1, index=below)
    if rounded:
        return low
    high = rows.gather(dim=-1, index=ceil(ranks).long())
    return lerp(low, high, 0.5 if interpolation == "midpoint" else ranks - below)


def _ranks(rows, q):
    """The ranks of quantiles; for a row with nan, the last rank, because nan is sorted last."""
    last = size(rows, dim=(-1,)) - 1
    return otherwise(isnan(rows).sum(dim=-1, keepdim=True) > 0, q * last, last)


def _ranks_of_known(rows, q):
    """The ranks of quantiles among the elements that are not nan, which are sorted first."""
    last = (~isnan(rows)).sum(dim=-1, keepdim=True) - 1
    return where(last < 0, 0.0, q * last)


@_quantile(
    _ranks,
    examples=(
        ("quantile(x, 0.5)", "x=3"),
        ("x.quantile(0.3, dim=1)", "x=2x3"),
        ("quantile(x, tensor([0.1, 0.75]), 0, interpolation='lower')", "x=3x2"),
    ),
    **OF_FLOATS,
)
def quantile():
    """The q-th quantile, q from 0 to 1, interpolated between the two nearest elements."""


@_quantile(_ranks_of_known, examples=(("nanquantile(x, 0.6, dim=1)", "x=2x3"),), **OF_FLOATS)
def nanquantile():
    """The q-th quantile of the elements that are not nan."""


# ---- without nan ---------------------------------------------------------------------------------


@reduction(
    lambda x, axis, keepdims: np.sum(np.where(x == x, x, 0), axis=axis, keepdims=keepdims),
    symbolic=lambda sp, *xs: sp.Add(*(x for x in xs if x is not sp.nan)),
    dtype="number",
    index=lambda lower, i, x, **attrs: where(isnan(x), 0, x).sum(**attrs),
    numpy="np.nansum({0}, axis={dim}, keepdims={keepdim})",
    exact="all",
)
def nansum(g, y, x, dim):
    """Sum of the elements along dim that are not nan."""
    return g * ~isnan(x)


@composite(
    method=True,
    order="x dim keepdim * dtype",
    examples=(("x.nanmean()", "x=2x3"), ("nanmean(x, 1)", "x=2x3")),
    input_dtypes="floats",
)
def nanmean(x, *, dim=None, keepdim=False):
    """Average of the elements along dim that are not nan."""
    return nansum(x, dim=dim, keepdim=keepdim) / (~isnan(x)).sum(dim=dim, keepdim=keepdim)
