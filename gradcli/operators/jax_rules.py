"""Functions whose gradient differs between JAX and PyTorch at single points.

The body of each computes its value; its rule computes JAX's gradient.
"""

import math

from .arithmetic import abs as absolute
from .arithmetic import floor
from .arithmetic import pow as power
from .comparisons import where
from .families import composite
from .gamma import digamma, lgamma, polygamma
from .pairs import atan2, logaddexp, logaddexp2
from .pointwise import exp, exp2, expm1, log, log1p, rsqrt
from .special import xlog1py, xlogy

PAIR = "a=2x3,b=3"


def _jax(rule, shapes=PAIR, **fields):
    """A composite with JAX's rule for its gradient."""

    def declare(meaning):
        call = f"{meaning.__name__}({', '.join(meaning.__code__.co_varnames)})"
        return composite(rule=rule, torch=None, examples=((call, shapes),), **fields)(meaning)

    return declare


@_jax(lambda g, y, x: g * where(x >= 0, 1.0, -1.0), "x=3")
def jax_abs(x):
    """abs(x) with JAX's gradient, whose slope at 0 is 1."""
    return absolute(x)


@_jax(lambda g, y, x: g * (y / x) * -0.5, "x=3", domain=(0.2, 3.0))
def jax_rsqrt(x):
    """rsqrt(x) with JAX's gradient, which has the sign of a zero."""
    return rsqrt(x)


def _through_power(g, y, a, b):
    return g * (b * jax_power(a, b - 1)), g * (log(where(a.eq(0), 1, a)) * y)


@_jax(_through_power, domain=(0.2, 2.0))
def jax_power(a, b):
    """a ** b with JAX's gradient.

    It is nan for a where a and b are 0, and nan for b where a is 0 and the power infinite.
    """
    return power(a, b)


def _through_angle(g, y, a, b):
    square = a * a + b * b
    return g * (b / square), g * (-a / square)


@_jax(_through_angle)
def jax_arctan2(a, b):
    """atan2(a, b) with JAX's gradient, which is nan where both are 0."""
    return atan2(a, b)


def _without_inf(x):
    return where(x.eq(math.inf), 0, x)


def _through_logarithm(exponential):
    """The rule of a logarithm of a sum of two exponentials."""

    def rule(g, y, a, b):
        top = _without_inf(y)
        return tuple(g * exponential(_without_inf(x) - top) for x in (a, b))

    return rule


@_jax(_through_logarithm(exp))
def jax_logaddexp(a, b):
    """logaddexp(a, b) with JAX's gradient at inf."""
    return logaddexp(a, b)


@_jax(_through_logarithm(exp2))
def jax_logaddexp2(a, b):
    """logaddexp2(a, b) with JAX's gradient at inf."""
    return logaddexp2(a, b)


@_jax(lambda g, y, x: g / (x * (1 - x)), "x=3", domain=(0.1, 0.9))
def jax_logit(x):
    """logit(x) with JAX's gradient, which is infinite at 0 and 1."""
    return log(x / (1 - x))


@_jax(lambda g, y, x: g / expm1(x), "x=3", domain=(0.2, 2.0))
def jax_log1mexp(x):
    """log(1 - exp(-x)) with JAX's gradient, which is infinite at 0."""
    return where(x < math.log(2), log(-expm1(-x)), log1p(-exp(-x)))


@_jax(lambda g, y, a, b: (g * log(b), g * a / b), domain=(0.2, 3.0))
def jax_xlogy(a, b):
    """xlogy(a, b) with JAX's gradient, which is infinite where b is 0, also where a is."""
    return xlogy(a, b)


@_jax(lambda g, y, a, b: (g * log1p(b), g * a / (1 + b)), domain=(-0.8, 3.0))
def jax_xlog1py(a, b):
    """xlog1py(a, b) with JAX's gradient, which is infinite where b is -1, also where a is 0."""
    return xlog1py(a, b)


def _through_digamma(g, y, x):
    pole = (x <= 0) & x.eq(floor(x))
    slope = where(x.eq(math.inf), math.nan, polygamma(1, x))
    return g * where(pole, math.inf, slope)


@_jax(_through_digamma, "x=3", domain=(0.2, 3.0))
def jax_digamma(x):
    """digamma(x), nan at 0, with JAX's gradient: inf at poles and nan at inf."""
    return where(x.eq(0), math.nan, digamma(x))


@_jax(lambda g, y, x: g * jax_digamma(x), "x=3", domain=(0.2, 3.0))
def jax_lgamma(x):
    """lgamma(x) with JAX's gradient, which is nan at 0."""
    return lgamma(x)
