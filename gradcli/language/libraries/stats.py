"""Densities and distribution functions of `scipy.stats`, which `jax.scipy.stats` has too."""

import math
from collections.abc import Callable
from typing import Any

from .function import array, op
from .scipy import betaln


def densities(log_density: Callable, *parameters: str) -> dict[str, Any]:
    """`logpdf` and `pdf` with loc and scale, from a log density with loc 0 and scale 1 that has
    these other parameters.
    """

    def logarithm(x: Any, loc: Any, scale: Any, *others: Any) -> Any:
        return log_density((x - loc) / scale, *others) - op.log(scale)

    def named(f: Callable) -> Callable:
        by_parameters: dict[tuple[str, ...], Callable] = {
            (): lambda x, loc=0, scale=1: f(x, loc, scale),
            ("a",): lambda x, a, loc=0, scale=1: f(x, loc, scale, a),
            ("df",): lambda x, df, loc=0, scale=1: f(x, loc, scale, df),
            ("a", "b"): lambda x, a, b, loc=0, scale=1: f(x, loc, scale, a, b),
        }
        return by_parameters[parameters]

    return {"logpdf": named(logarithm), "pdf": named(lambda *args: op.exp(logarithm(*args)))}


def _within(inside: Any, x: Any, log_density: Callable, default: float = 1.0) -> Any:
    """The log density for elements within the support, and -inf elsewhere."""
    return op.where(inside, log_density(op.where(inside, x, default)), -math.inf)


def _gamma(x, a):
    return _within(x >= 0, x, lambda x: op.xlogy(a - 1, x) - x - op.lgamma(a))


def _beta(x, a, b):
    return _within(
        (x >= 0) & (x <= 1),
        x,
        lambda x: op.xlogy(a - 1, x) + op.xlog1py(b - 1, -x) - betaln(a, b),
        0.5,
    )


def _t(x, df):
    half = (df + 1) / 2
    scale = op.lgamma(half) - op.lgamma(df / 2) - 0.5 * op.log(df * math.pi)
    return scale - half * op.log1p(op.square(x) / df)


def _normal(name: str, sign: int = 1) -> Callable:
    return lambda x, loc=0, scale=1: op[name](sign * (x - loc) / scale)


def _poisson(k, mu, loc=0):
    k = array(k) - loc
    inside = (k >= 0) & op.eq(k, op.floor(k))
    return _within(inside, k, lambda k: op.xlogy(k, mu) - op.lgamma(k + 1) - mu)


def _bernoulli(k, p, loc=0):
    k = array(k) - loc
    return _within(op.eq(k, 0) | op.eq(k, 1), k, lambda k: op.xlogy(k, p) + op.xlog1py(1 - k, -p))


def _multivariate_normal(x, mean, cov):
    away = x - mean
    size = mean.shape[-1] if mean.ndim else 1
    if cov.ndim == 0 and size > 1:  # a scalar stands for cov * eye(size)
        square = op.sum(op.square(away), dim=-1)
        return -0.5 * (square / cov + size * op.log(2 * math.pi * cov))
    if away.ndim == 0 or cov.ndim == 0:
        return -0.5 * (op.square(away) / cov + op.log(2 * math.pi * cov))
    factor = op["linalg.cholesky"](cov)
    white = op["linalg.solve_triangular"](
        op.expand(factor, shape=(*away.shape[:-1], *factor.shape[-2:])),
        away[..., None],
        upper=False,
    )[..., 0]
    log_det = op.sum(op.log(op.diagonal(factor, dim1=-2, dim2=-1)), dim=-1)
    constant = 0.5 * away.shape[-1] * math.log(2 * math.pi)
    return -0.5 * op.sum(op.square(white), dim=-1) - log_det - constant


def _dirichlet(x, alpha):
    """The log density; -inf off the simplex, with the tolerance of JAX."""
    x = array(x)
    scale = op.sum(op.lgamma(alpha)) - op.lgamma(op.sum(alpha))
    on_simplex = op.all(x > 0) & (op.abs(op.sum(x) - 1) < 1e-6)
    return op.where(on_simplex, op.sum(op.xlogy(alpha - 1, x)) - scale, -math.inf)


NORM = densities(lambda x: -0.5 * (op.square(x) + math.log(2 * math.pi))) | {
    "cdf": _normal("ndtr"),
    "logcdf": _normal("log_ndtr"),
    "sf": _normal("ndtr", -1),
    "logsf": _normal("log_ndtr", -1),
    "ppf": lambda q, loc=0, scale=1: op.ndtri(q) * scale + loc,
    "isf": lambda q, loc=0, scale=1: -op.ndtri(q) * scale + loc,
}
T = densities(_t, "df")
GAMMA = densities(_gamma, "a") | {
    "cdf": lambda x, a, loc=0, scale=1: op.gammainc(a, op.relu((x - loc) / scale))
}
BETA = densities(_beta, "a", "b")
CHI2 = densities(lambda x, df: _gamma(x / 2, df / 2) - math.log(2), "df") | {
    "cdf": lambda x, df, loc=0, scale=1: op.gammainc(df / 2, op.relu((x - loc) / scale) / 2)
}
EXPON = densities(lambda x: _within(x >= 0, x, lambda x: -x))
LAPLACE = densities(lambda x: -op.abs(x) - math.log(2)) | {
    "cdf": lambda x, loc=0, scale=1: _laplace_cdf((x - loc) / scale)
}
LOGISTIC = densities(lambda x: -x - 2 * op.logaddexp(-x, 0.0)) | {
    "cdf": lambda x, loc=0, scale=1: op.sigmoid((x - loc) / scale),
    "sf": lambda x, loc=0, scale=1: op.sigmoid((loc - x) / scale),
}
CAUCHY = densities(lambda x: -op.log1p(op.square(x)) - math.log(math.pi)) | {
    "cdf": lambda x, loc=0, scale=1: 0.5 + op.atan((x - loc) / scale) / math.pi
}
UNIFORM = densities(lambda x: _within((x >= 0) & (x <= 1), x, lambda x: 0 * x)) | {
    "cdf": lambda x, loc=0, scale=1: op.clamp((x - loc) / scale, 0, 1)
}
POISSON = {
    "cdf": lambda k, mu, loc=0: op.gammaincc(op.floor(array(k) - loc) + 1, mu),
    "logpmf": _poisson,
    "pmf": lambda k, mu, loc=0: op.exp(_poisson(k, mu, loc)),
}
BERNOULLI = {"logpmf": _bernoulli, "pmf": lambda k, p, loc=0: op.exp(_bernoulli(k, p, loc))}
MULTIVARIATE_NORMAL = {
    "logpdf": _multivariate_normal,
    "pdf": lambda x, mean, cov: op.exp(_multivariate_normal(x, mean, cov)),
    "entropy": lambda mean, cov: 0.5 * op.logdet(2 * math.pi * math.e * cov),
}
DIRICHLET = {
    "logpdf": _dirichlet,
    "pdf": lambda x, alpha: op.exp(_dirichlet(x, alpha)),
}


def _laplace_cdf(x):
    half = 0.5 * op.exp(op.where(x <= 0, x, -x))
    return op.where(x <= 0, half, 1 - half)
