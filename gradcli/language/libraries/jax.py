"""The functions of `jax`, `jax.numpy`, `jax.nn` and `jax.scipy.special` that differ from those of
NumPy and SciPy.

At kinks they have JAX's derivatives.
"""

import math
from collections.abc import Callable
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, Outputs
from ...graphs.shapes import axis as axis_of
from .function import array, op
from .lax import ndtri, power
from .linalg import NUMPY, SCIPY
from .numpy import ARRAYS as NUMPY_ARRAYS
from .numpy import along, angle_by, flat, mask, refuse
from .scipy import SPECIAL as SCIPY_SPECIAL
from .scipy import gamma_by, is_pole, logsumexp
from .stats import LAPLACE as LAPLACE_OF_SCIPY
from .stats import NORM as NORM_OF_SCIPY
from .stats import densities


def clip(arr, /, min=None, max=None):
    """minimum(maximum(x, min), max), which shares the gradient where two are equal."""
    arr = arr if min is None else op.maximum(array(min), array(arr))
    return arr if max is None else op.minimum(array(max), arr)


def _hypot(x1, x2):
    a, b = op.jax_abs(x1), op.jax_abs(x2)
    large, small = op.maximum(a, b), op.minimum(a, b)
    finite = large * op.sqrt(1.0 + op.square(small / op.where(op.eq(large, 0.0), 1.0, large)))
    return op.where(op.eq(large, math.inf), math.inf, finite)


def _float_power(x, y):
    """The power of floats, also where an exponent is an integer."""
    return power(x, op.double(y) if isinstance(y, Node) and y.dtype != "float" else y * 1.0)


def _without_nearest(name: str) -> Callable:
    """NumPy's quantiles without method "nearest", for which JAX rounds halves down."""

    def quantile(a, q, axis=None, *, method="linear", keepdims=False):
        if method == "nearest":
            raise refuse("method='nearest' of JAX", "write method='lower' or method='higher'")
        return NUMPY_ARRAYS[name](a, q, axis, method=method, keepdims=keepdims)

    return quantile


def _sort(a, axis=-1, *, stable=True, descending=False):
    return op.sort(*flat(a, axis), descending=descending)[0]


def _std(a, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=None):
    return op.sqrt(
        NUMPY_ARRAYS["var"](a, axis, ddof=ddof, keepdims=keepdims, correction=correction)
    )


def _norm(x, ord=None, axis=None, keepdims=False):
    if ord is None or (ord == "fro" and isinstance(axis, tuple | None)):
        return _length(x, axis, keepdims)
    if isinstance(axis, int) or (axis is None and x.ndim == 1):
        return _vector_norm(x, axis=axis, ord=ord, keepdims=keepdims)
    if ord not in (1, -1, math.inf, -math.inf):
        out = NUMPY["norm"](x, ord, axis, keepdims)
        return op.maximum(out, 0.0) if ord == 2 else out
    rows, columns = (axis_of(d, x.ndim) for d in axis or (0, 1))
    inner, outer = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = op.sum(op.jax_abs(x), dim=inner, keepdim=True)
    out = _extreme(sums, ord, {"dim": outer, "keepdim": True})
    return out if keepdims else op.squeeze(out, dim=(rows, columns))


def _length(x, axis, keepdims):
    return op.sqrt(op.sum(op.square(x), **along(x, axis, keepdims)))


def _extreme(sizes, ord, over):
    """The largest of `sizes`, or for a negative `ord` the smallest. The largest is compared with 0
    by maximum(), as in JAX: if it is 0, half of the gradient flows to it.
    """
    if ord < 0:
        return op.amin(sizes, **over)
    return op.maximum(op.amax(sizes, **over), 0.0)


def _vector_norm(x, *, axis=None, ord=2, keepdims=False):
    over = along(x, axis, keepdims)
    if ord == 2:
        return _length(x, axis, keepdims)
    if ord in (math.inf, -math.inf):
        return _extreme(op.jax_abs(x), ord, over)
    if ord == 0:
        return op.sum(op.double(op.ne(x, 0)), **over)
    sums = op.sum(op.jax_abs(x) if ord == 1 else op.pow(op.jax_abs(x), ord), **over)
    return sums if ord == 1 else op.pow(sums, 1 / ord)


def _symmetric_part(a):
    return (a + op.matrix_transpose(a)) / 2


def _of_symmetric_part(name: str) -> Callable:
    """NumPy's function, applied to the symmetric part of a matrix: JAX, unlike NumPy, reads both
    triangles of its argument.
    """

    def of_both(a, *args, symmetrize_input=True, **named):
        if not symmetrize_input:
            message = f"{name}() does not take symmetrize_input=False"
            raise GradcliError("arguments", message, hint="leave it out: both triangles are read")
        return NUMPY[name](_symmetric_part(a), *args, **named)

    return of_both


def _if_hermitian(function: Callable) -> Callable:
    """A function that is applied to the symmetric part of a matrix if `hermitian=True`."""

    def of_both(a, *args, hermitian=False, **named):
        return function(_symmetric_part(a) if hermitian else a, *args, **named)

    return of_both


def _factor(a, lower=False):
    """The Cholesky factor of a symmetric matrix, computed from one of its triangles."""
    factor = op["cholesky_by_element"](a if lower else op.matrix_transpose(a))
    return factor if lower else op.matrix_transpose(factor)


def _cholesky(a, *, upper=False, symmetrize_input=True):
    if symmetrize_input:
        return NUMPY["cholesky"](_symmetric_part(a), upper=upper)
    factor = _factor(a, lower=True)
    return op.matrix_transpose(factor) if upper else factor


LINALG: dict[str, Any] = {
    "norm": _norm,
    "vector_norm": _vector_norm,
    "matrix_norm": lambda x, *, ord="fro", keepdims=False: _norm(x, ord, (-2, -1), keepdims),
    "cholesky": _cholesky,
    **{name: _of_symmetric_part(name) for name in ("eigh", "eigvalsh")},
    **{name: _if_hermitian(NUMPY[name]) for name in ("pinv", "svd")},
}
SCIPY_LINALG: dict[str, Any] = {
    "eigh": lambda a, *args, **named: SCIPY["eigh"](_symmetric_part(a), *args, **named),
    "cholesky": _factor,
    "cho_factor": lambda a, lower=False: (_factor(a, lower), lower),
}


def _floor_divide(x1, x2):
    """The quotient rounded down, whose zeros have the sign of x2."""
    quotient = op.floor_divide(op.detach(x1), op.detach(x2))
    return op.signed_zeros(quotient, x2) if quotient.dtype == "float" else quotient


def _divmod(x1, x2):
    return Outputs((_floor_divide(x1, x2), op.remainder(x1, x2)))


def _modf(x):
    whole = op.trunc(x)
    return Outputs((x - whole, whole))


ARRAYS: dict[str, Any] = {
    **dict.fromkeys(("abs", "absolute", "fabs"), "jax_abs"),
    "clip": clip,
    "fmax": lambda x1, x2: op.where((x1 > x2) | op.isnan(x2), x1, x2),
    "fmin": lambda x1, x2: op.where((x1 < x2) | op.isnan(x2), x1, x2),
    "hypot": _hypot,
    "std": _std,
    **dict.fromkeys(("mod", "remainder"), "remainder"),
    "divmod": _divmod,
    "floor_divide": _floor_divide,
    "modf": _modf,
    **dict.fromkeys(("power", "pow"), power),
    "float_power": _float_power,
    **dict.fromkeys(("arctan2", "atan2"), "jax_arctan2"),
    "angle": angle_by("jax_arctan2"),
    "copysign": lambda x1, x2: op.where(op.signbit(x2), -op.jax_abs(x1), op.jax_abs(x1)),
    "logaddexp": "jax_logaddexp",
    "logaddexp2": "jax_logaddexp2",
    "sort": _sort,
    **{
        name: _without_nearest(name)
        for name in ("quantile", "percentile", "nanquantile", "nanpercentile")
    },
}


# ---- jax.nn --------------------------------------------------------------------------------------


def _hard_sigmoid(x):
    return op.relu6(x + 3.0) / 6.0


def _softplus(x):
    return op.jax_logaddexp(x, 0.0)


def _elu(x, alpha=1.0):
    return op.where(x > 0, x, alpha * op.expm1(op.where(x > 0, 0.0, x)))


def _gelu(x, approximate=True):
    return op.gelu(x, approximate="tanh" if approximate else "none")


def _glu(x, axis=-1):
    a, b = op.chunk(x, 2, axis)
    return a * op.sigmoid(b)


def _logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """SciPy's logsumexp of the elements that the mask `where` selects; no gradient flows to a
    weight of 0.
    """
    a = a if where is None else op.where(mask(where), a, -math.inf)
    weights = b if b is None else op.where(op.eq(b, 0), 0.0, b)
    return logsumexp(a, axis, weights, keepdims, return_sign)


def _softmax(x, axis=-1, where=None, initial=None):
    x = x if where is None else op.where(mask(where), x, -math.inf)
    over = SCIPY_SPECIAL["softmax"](x, axis)
    return over if where is None else op.where(mask(where), over, 0.0)


def _log_softmax(x, axis=-1, where=None, initial=None):
    x = x if where is None else op.where(mask(where), x, -math.inf)
    over = SCIPY_SPECIAL["log_softmax"](x, axis)
    return over if where is None else op.where(mask(where), over, -math.inf)


def _standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None):
    if where is not None:
        raise refuse("standardize() with where=", "write (x - mean) / sqrt(variance + epsilon)")
    mean = op.mean(x, dim=axis, keepdim=True) if mean is None else mean
    if variance is None:
        variance = op.mean(op.square(x), dim=axis, keepdim=True) - op.square(mean)
    return (x - mean) * op.rsqrt(variance + epsilon)


def _one_hot(x, num_classes, *, axis=-1):
    classes = op.arange(end=num_classes)
    return op.movedim(op.double(op.eq(x[..., None], classes)), -1, axis)


def _sparse_plus(x):
    middle = op.square(x + 1.0) / 4
    return op.where(x <= -1.0, 0.0, op.where(x >= 1.0, x, middle))


def _attention(
    query, key, value, bias=None, mask=None, *, scale=None, is_causal=False
):  # (batch, sequence, heads, size)
    query, key, value = (op.transpose(array(t), dim0=-3, dim1=-2) for t in (query, key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    logits = op.matmul(query, op.matrix_transpose(key)) * scale
    logits = logits if bias is None else logits + bias
    if is_causal:
        mask = op.tril(op.ones(logits.shape[-2:])) > 0
    logits = logits if mask is None else op.where(mask, logits, -math.inf)
    return op.transpose(op.matmul(op.softmax(logits, dim=-1), value), dim0=-3, dim1=-2)


NN: dict[str, Any] = {
    **{name: name for name in ("relu", "relu6", "sigmoid", "silu", "tanh")},
    "swish": "silu",
    "celu": lambda x, alpha=1.0: (
        op.maximum(x, 0.0) + alpha * op.expm1(op.minimum(x, 0.0) / alpha)
    ),
    "dot_product_attention": _attention,
    "elu": _elu,
    "gelu": _gelu,
    "glu": _glu,
    "hard_sigmoid": _hard_sigmoid,
    "hard_silu": lambda x: x * _hard_sigmoid(x),
    "hard_swish": lambda x: x * _hard_sigmoid(x),
    "hard_tanh": lambda x: op.where(x > 1, 1.0, op.where(x < -1, -1.0, x)),
    "identity": lambda x: op.clone(x),
    "leaky_relu": lambda x, negative_slope=0.01: op.where(x >= 0, x, negative_slope * x),
    "log_sigmoid": lambda x: -_softplus(-x),
    "log_softmax": _log_softmax,
    "log1mexp": "jax_log1mexp",
    "logmeanexp": lambda x, axis=None, where=None, keepdims=False: (
        _log_mean_exp(x, axis, where, keepdims)
    ),
    "logsumexp": _logsumexp,
    "mish": lambda x: x * op.tanh(_softplus(x)),
    "one_hot": _one_hot,
    "selu": lambda x: 1.0507009873554804934193349852946 * _elu(
        x, 1.6732632423543772848170429916717
    ),
    "soft_sign": lambda x: x / (op.abs(x) + 1),
    "softmax": _softmax,
    "softplus": _softplus,
    "sparse_plus": _sparse_plus,
    "sparse_sigmoid": lambda x: 0.5 * clip(x + 1.0, 0.0, 2.0),
    "squareplus": lambda x, b=4: (x + op.sqrt(op.square(x) + b)) / 2,
    "standardize": _standardize,
}  # fmt: skip


def _segment_sum(data, segment_ids, num_segments=None):
    """The sums of the rows of data that have the same number in segment_ids."""
    if num_segments is None:
        raise refuse("segment_sum() without num_segments", "pass the number of segments")
    sums = op.zeros(size=(num_segments, *data.shape[1:]))
    return op.index_add(sums, dim=0, index=array(segment_ids), source=data)


OPS = {"segment_sum": _segment_sum}


def _log_mean_exp(x, axis, where, keepdims):
    if where is not None:
        raise refuse("logmeanexp() with where=", "write logsumexp(x, b=where) and the count")
    out = logsumexp(x, axis, keepdims=keepdims)
    return out - math.log(x.numel / out.numel)


gamma = gamma_by(lambda x: op.jax_lgamma(x))


def _poch(z, m):
    """SciPy's function, but nan at negative poles of a gamma function."""
    pole = [is_pole(x) & op.ne(x, 0) for x in (z, z + m)]
    return op.where(pole[0] | pole[1], math.nan, SCIPY_SPECIAL["poch"](z, m))


SPECIAL: dict[str, Any] = {
    "beta": lambda a, b: gamma(a) * gamma(b) / gamma(a + b),
    "betaln": lambda a, b: op.jax_lgamma(a) + op.jax_lgamma(b) - op.jax_lgamma(a + b),
    "digamma": "jax_digamma",
    "erfinv": "erfinv",
    "factorial": lambda n: op.where(n < 0, 0.0, op.exp(op.jax_lgamma(array(n) + 1.0))),
    "gamma": gamma,
    "gammaln": "jax_lgamma",
    "loggamma": lambda z: op.where(z > 0, op.jax_lgamma(z), math.nan),
    "poch": _poch,
    "i0": lambda x: op.exp(op.jax_abs(x)) * op.i0e(x),
    "logit": "jax_logit",
    "logsumexp": _logsumexp,
    "ndtri": ndtri,
    "xlog1py": "jax_xlog1py",
    "xlogy": "jax_xlogy",
}


# ---- jax.scipy.stats -----------------------------------------------------------------------------

NORM = NORM_OF_SCIPY | {
    "ppf": lambda q, loc=0, scale=1: ndtri(q) * scale + loc,
    "isf": lambda q, loc=0, scale=1: -ndtri(q) * scale + loc,
}
LAPLACE = {
    **LAPLACE_OF_SCIPY,
    **densities(lambda x: -op.jax_abs(x) - math.log(2)),
}
