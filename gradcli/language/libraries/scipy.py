"""The functions of `scipy.special`."""

import math
from collections.abc import Callable
from typing import Any

from ...graphs import Node
from .function import op
from .numpy import part, refuse

# ---- gamma and related functions -----------------------------------------------------------------


def sign_of_gamma(x: Node) -> Node:
    """The sign of the gamma function, which changes at 0 and at every integer below."""
    below = 1 - 2 * op.remainder(op.floor(x), 2)
    at_zero = op.where(op.signbit(x), -1.0, 1.0)
    return op.where(x < 0, below, op.where(op.eq(x, 0), at_zero, 1.0))


def is_pole(x: Node) -> Node:
    """The mask of poles of the gamma function."""
    return (x <= 0) & op.eq(x, op.floor(x))


def _gammasgn(x):
    undefined = op.isnan(x) | (is_pole(x) & op.ne(x, 0))
    return op.where(undefined, math.nan, sign_of_gamma(x))


def polygamma(n, x):
    """The derivative of digamma of integer order n, which may be a float."""
    return op.polygamma(int(n) if isinstance(n, float) and n.is_integer() else n, x)


def gamma_by(lgamma: Callable) -> Callable:
    """The gamma function, computed from its logarithm; nan at negative integers."""

    def gamma(x):
        size = op.exp(lgamma(x))
        return op.where(is_pole(x) & op.ne(x, 0), math.nan, sign_of_gamma(x) * size)

    return gamma


gamma = gamma_by(lambda x: op.lgamma(x))


def betaln(a, b):
    """The logarithm of the absolute value of the beta function."""
    out = op.lgamma(a) + op.lgamma(b) - op.lgamma(a + b)
    return op.where(is_pole(a) & is_pole(b), math.inf, out)


def _reciprocal(x):
    """1 / Γ(x) as a logarithm and a factor. At the poles of Γ, where it is 0, the factor has the
    right derivative, by Γ(x) Γ(1 - x) = π / sin(π x).
    """
    pole, at = is_pole(x), op.detach(x)
    inside, reflected = op.where(pole, 1.0, x), op.where(pole, 1 - x, 1.0)
    zero = (1 - 2 * op.remainder(at, 2)) * op.sin(math.pi * (x - at)) / math.pi
    logarithm = op.where(pole, op.lgamma(reflected), -op.lgamma(inside))
    return logarithm, op.where(pole, zero, sign_of_gamma(x))


def _beta(a, b):
    sign = sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(a + b)
    sign = op.where(is_pole(a) | is_pole(b), 1.0, sign)
    at_zero = is_pole(a + b) & ~is_pole(a) & ~is_pole(b)
    out = sign * op.exp(betaln(op.where(at_zero, 1.0, a), op.where(at_zero, 1.0, b)))
    below, factor = _reciprocal(op.where(at_zero, a + b, 1.0))
    c, d = op.where(at_zero, a, 1.0), op.where(at_zero, b, 1.0)
    zero = sign_of_gamma(c) * sign_of_gamma(d) * factor
    return op.where(at_zero, zero * op.exp(op.lgamma(c) + op.lgamma(d) + below), out)


def _rgamma(x):
    inside = op.where(op.isneginf(x), 1.0, x)
    logarithm, factor = _reciprocal(inside)
    return op.where(op.isneginf(x), 0.0, factor * op.exp(logarithm))


def _binom(x, y):
    x, y = _as_array(x), _as_array(y)
    (below, sign), (beside, other) = _reciprocal(y + 1), _reciprocal(x - y + 1)
    out = sign * other * sign_of_gamma(x + 1) * op.exp(op.lgamma(x + 1) + below + beside)
    return op.where(is_pole(x + 1), math.nan, out)


def _poch(z, m):
    z, m = _as_array(z), _as_array(m)
    between_poles = is_pole(z) & is_pole(z + m)  # where Γ(u) / Γ(v) is ± Γ(1 - v) / Γ(1 - u)
    above = op.where(between_poles, 1.0, z + m)
    below, factor = _reciprocal(op.where(between_poles, 1.0, z))
    out = sign_of_gamma(above) * factor * op.exp(op.lgamma(above) + below)
    u, v = op.where(between_poles, 1 - z, 1.0), op.where(between_poles, 1 - z - m, 1.0)
    reflected = (1 - 2 * op.remainder(m, 2)) * op.exp(op.lgamma(u) - op.lgamma(v))
    out = op.where(between_poles, reflected, out)
    return op.where(op.eq(m, 0) & ~op.isfinite(z), 1.0, out)


def _comb(N, k):
    N, k = _as_array(N), _as_array(k)
    inside = (k >= 0) & (k <= N)
    k, M = op.where(inside, k, 0.0), op.where(inside, N, 0.0)
    return op.where(inside, op.exp(op.lgamma(M + 1) - op.lgamma(k + 1) - op.lgamma(M - k + 1)), 0.0)


def _factorial(n):
    return op.where(n < 0, 0.0, gamma(op.where(n < 0, 0.0, n) + 1))


# ---- entropies -----------------------------------------------------------------------------------


def rel_entr(x, y):
    """x log(x / y) where x and y are positive; 0 where x is 0 and y is not negative; inf
    elsewhere.
    """
    both = (x > 0) & (y > 0)
    zero = op.eq(x, 0) & (y >= 0)
    inside = op.where(both, x, 1.0), op.where(both, y, 1.0)
    outside = op.where(zero, 0.0, math.inf)
    out = op.where(both, inside[0] * (op.log(inside[0]) - op.log(inside[1])), outside)
    return op.where(op.isnan(x) | op.isnan(y), math.nan, out)


def _huber(delta, r):
    size = op.abs(r)
    out = op.where(size <= delta, 0.5 * op.square(r), delta * (size - 0.5 * delta))
    return op.where(delta < 0, math.inf, out)


def _pseudo_huber(delta, r):
    size = op.where(op.eq(delta, 0), 1.0, delta)
    out = op.square(size) * (op.sqrt(1 + op.square(r / size)) - 1)
    return op.where(delta < 0, math.inf, op.where(op.eq(delta, 0), 0.0, out))


# ---- logarithms ----------------------------------------------------------------------------------


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """The logarithm of the sum of exp(a), weighted with b."""
    if return_sign:
        raise refuse("logsumexp(return_sign=True)", "separate the terms of either sign")
    over = tuple(range(a.ndim)) if axis is None else axis
    if b is None:
        return op.logsumexp(a, dim=over, keepdim=keepdims)
    highest = op.detach(op.amax(op.where(op.eq(b, 0), -math.inf, a), dim=over, keepdim=True))
    highest = op.where(op.isinf(highest), 0.0, highest)
    left_out = op.eq(b, 0) & ~op.isfinite(a)
    terms = b * op.exp(op.where(left_out, 0.0, a) - highest)
    total = op.sum(terms, dim=over, keepdim=True)
    out = op.log(total) + highest
    return out if keepdims else op.sum(out, dim=over)


def softmax(x, axis=None):
    """exp(x) divided by its sum, over all elements if no axis is given."""
    return op.exp(_log_softmax(x, axis)) if _is_several(axis) else op.softmax(x, dim=axis)


def _log_softmax(x, axis=None):
    if _is_several(axis):
        return x - logsumexp(x, axis, keepdims=True)
    return op.log_softmax(x, dim=axis)


def _is_several(axis: Any) -> bool:
    return not isinstance(axis, int)


def _boxcox(x, lmbda):
    x, lmbda = _as_array(x), _as_array(lmbda)
    power = op.where(op.eq(lmbda, 0), 1.0, lmbda)
    at_zero = op.log(x) * _exprel_near_zero(lmbda * op.log(x))
    return op.where(op.eq(lmbda, 0), at_zero, op.expm1(power * op.log(x)) / power)


def _inv_boxcox(y, lmbda):
    y, lmbda = _as_array(y), _as_array(lmbda)
    flat = op.eq(lmbda, 0)
    power, inside = op.where(flat, 1.0, lmbda), op.where(flat, 0.0, y)
    at_zero = op.exp(y - lmbda * op.square(y) / 2 + op.square(lmbda) * op.pow(y, 3) / 3)
    return op.where(flat, at_zero, op.exp(op.log1p(power * inside) / power))


LARGEST_EXPONENT = 717.0  # above which SciPy's exprel(x) is infinite


def _exprel_near_zero(x):
    """The Taylor polynomial of (exp(x) - 1) / x, which has its value and two derivatives at 0."""
    return 1 + x / 2 + op.square(x) / 6


def _exprel(x):
    inside = op.where(op.eq(x, 0), 1.0, x)
    out = op.where(op.eq(x, 0), _exprel_near_zero(x), op.expm1(inside) / inside)
    return op.where(x > LARGEST_EXPONENT, math.inf, out)


def _zeta(x, q=None):
    if q is None and not (isinstance(x, int | float) and x >= 1):
        raise refuse(
            "zeta() of one argument that is not a number of at least 1", "write zeta(x, 1)"
        )
    return op.zeta(x, 1.0 if q is None else q)


def _in_degrees(name: str) -> Any:
    return lambda x: op[name](op.deg2rad(x))


# Operators with the same name and meaning.
ELEMENTWISE = """
    entr erf erfc erfcx erfinv gammainc gammaincc i0 i0e i1 i1e log_ndtr ndtr ndtri xlog1py
    xlogy digamma
"""
SPECIAL: dict[str, Any] = {
    **{name: name for name in ELEMENTWISE.split()},
    "expit": "sigmoid",
    "beta": _beta,
    "betaln": betaln,
    "boxcox": lambda x, lmbda: _boxcox(x, _as_array(lmbda)),
    "boxcox1p": lambda x, lmbda: _boxcox(1 + x, _as_array(lmbda)),
    "comb": lambda N, k: _comb(_as_array(N), _as_array(k)),
    "factorial": lambda n: _factorial(_as_array(n)),
    "gamma": gamma,
    "gammaln": lambda x: op.where(op.isneginf(x), -math.inf, op.lgamma(x)),
    "gammasgn": _gammasgn,
    "kl_div": lambda x, y: rel_entr(x, y) - x + y,
    "log_softmax": _log_softmax,
    "loggamma": lambda z: op.where(z >= 0, op.lgamma(op.where(z >= 0, z, 1.0)), math.nan),
    "logit": lambda x: op.logit(x),
    "logsumexp": logsumexp,
    "multigammaln": lambda a, d: op.mvlgamma(a, d),
    "poch": lambda z, m: _poch(z, m),
    "polygamma": polygamma,
    "rel_entr": rel_entr,
    "softmax": softmax,
    "zeta": _zeta,
}  # fmt: skip
NOT_IN_JAX: dict[str, Any] = {
    **{name: name for name in ("exp2", "expm1", "log1p", "sinc", "cbrt")},
    "psi": "digamma",
    "binom": _binom,
    "inv_boxcox": lambda y, lmbda: _inv_boxcox(y, _as_array(lmbda)),
    "inv_boxcox1p": lambda y, lmbda: _inv_boxcox(y, _as_array(lmbda)) - 1,
    "cosdg": _in_degrees("cos"),
    "sindg": _in_degrees("sin"),
    "tandg": _in_degrees("tan"),
    "cosm1": lambda x: -2 * op.square(op.sin(x / 2)),
    "erfcinv": lambda y: -op.ndtri(y / 2) / math.sqrt(2),
    "exp10": lambda x: op.pow(10.0, x),
    "exprel": _exprel,
    "huber": lambda delta, r: _huber(_as_array(delta), r),
    "log_expit": lambda x: -op.logaddexp(-x, 0.0),
    "pseudo_huber": lambda delta, r: _pseudo_huber(_as_array(delta), r),
    "rgamma": _rgamma,
    "round": "round",
    "softplus": lambda x: op.logaddexp(x, 0.0),
}  # fmt: skip


def _as_array(value: Any) -> Node:
    return op.mul(value, 1.0)


# ---- scipy.signal --------------------------------------------------------------------------------


def _convolve(in1, in2, mode="full", method="auto"):
    if in1.ndim != in2.ndim or in1.ndim not in (1, 2, 3):
        raise refuse("convolve() of these ranks", "both have 1, 2 or 3 dimensions")
    kernel = op.flip(in2, dims=tuple(range(in2.ndim)))
    around = tuple(n - 1 for n in in2.shape)
    out = op[f"conv{in1.ndim}d"](in1[None, None], kernel[None, None], padding=around)[0, 0]
    for axis, (n, k) in enumerate(zip(in1.shape, in2.shape, strict=True)):
        if mode == "same":
            out = part(out, (k - 1) // 2, (k - 1) // 2 + n, axis)
        if mode == "valid":
            out = part(out, min(n, k) - 1, max(n, k), axis)
    return out


def _correlate(in1, in2, mode="full", method="auto"):
    return _convolve(in1, op.flip(in2, dims=tuple(range(in2.ndim))), mode)


SIGNAL: dict[str, Any] = {
    "convolve": _convolve,
    "convolve2d": lambda in1, in2, mode="full": _convolve(in1, in2, mode),
    "correlate": _correlate,
    "fftconvolve": lambda in1, in2, mode="full": _convolve(in1, in2, mode),
}
