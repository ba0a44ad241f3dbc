"""The logarithm of the gamma function, its derivatives and its multivariate form."""

import math

from ..lazy import np, scipy_special
from . import elements
from .families import composite, elementwise, is_integer, require
from .leaves import arange
from .precision import floats

POSITIVE = (0.5, 3.0)
WRITTEN_OUT = 10  # most terms of mvlgamma that are separate operations; more are rows of a tensor


def _lgamma(x):
    """SciPy's gammaln, corrected: finite for the smallest numbers, and nan at -inf."""
    size = np.abs(x)
    result = np.where(np.isneginf(x), np.inf, scipy_special.gammaln(x))
    return np.where(size < 1e-300, -np.log(size), result)


@elementwise(
    _lgamma,
    symbolic=elements.named("lgamma"),
    dtype="float",
    aliases=("gammaln",),
    domain=POSITIVE,
    numpy="scipy.special.gammaln",
    poles=("x",),
)
def lgamma(g, y, x):
    """Logarithm of the absolute value of the gamma function."""
    return g * digamma(x)


def _digamma(x):
    """SciPy's digamma for x >= 0, and its reflection below, as in PyTorch: near -0.5 SciPy sums a
    series, which takes 40 times as long.
    """
    x = np.asarray(x, float)
    below = x < 0
    result = scipy_special.digamma(np.where(below, 1 - x, x))
    reflected = result - np.pi / np.tan(np.pi * (x - np.trunc(x)))
    return np.where(below, np.where(x == np.trunc(x), np.nan, reflected), result)


@elementwise(
    _digamma,
    symbolic=elements.named("digamma"),
    dtype="float",
    aliases=("psi",),
    domain=POSITIVE,
    numpy="scipy.special.digamma",
    poles=("x",),
)
def digamma(g, y, x):
    """Derivative of lgamma."""
    return g * polygamma(1, x)


def _trigamma(x):
    """polygamma(1, x) by PyTorch's algorithm, which has nine correct digits."""
    x = floats(x)
    left = x < 0.5
    reflected = np.where(left, np.pi**2 / np.sin(np.pi * x) ** 2, 0)
    x = np.where(left, 1 - x, x)
    total = np.zeros_like(x)
    for _ in range(6):
        total += 1 / (x * x)
        x = x + 1
    square = 1 / (x * x)
    series = square * (1 / 6 - square * (1 / 30 - square * (1 / 42)))
    total += (1 + 1 / (2 * x) + series) / x
    return np.where(left, reflected - total, total)


def _polygamma(x, *, n):
    if n < 2:
        return _trigamma(x) if n else scipy_special.digamma(x)
    sizes = math.gamma(n + 1.0) * scipy_special.zeta(n + 1.0, x)
    return np.where(np.isposinf(x), np.nan, (-1.0) ** (n + 1) * sizes)  # nan as in PyTorch


def _derivative(*, n):
    require(
        is_integer(n) and n >= 0, f"n of polygamma() must be an integer of at least 0, got {n!r}"
    )
    return {"n": n}


@elementwise(
    _polygamma,
    symbolic=lambda sp, x, *, n: elements.named("polygamma")(sp, sp.Integer(n), x),
    dtype="float",
    order="n x",
    canonical_attributes=_derivative,
    domain=POSITIVE,
    examples=(("polygamma(1, x)", "x=3"), ("x.polygamma(2)", "x=2x3")),
    numpy="scipy.special.polygamma({n}, {0})",
)
def polygamma(g, y, x, *, n):
    """The n-th derivative of digamma."""
    return g * polygamma(n + 1, x)


def _arguments(x, p):
    """x - k / 2 for k in range(p), along an additional last dimension."""
    return x.unsqueeze(dim=-1) + arange(start=(1 - p) / 2, end=0.5, step=0.5)


def _sum_of_digammas(g, y, x, *, p):
    if p > WRITTEN_OUT:
        return g * digamma(_arguments(x, p)).sum(dim=-1)
    slope = digamma(x + (1 - p) / 2)
    for k in range(2, p + 1):
        slope = slope + digamma(x + (k - p) / 2)  # x + 0 as in PyTorch, so that -0 becomes 0
    return g * slope


@composite(
    rule=_sum_of_digammas,
    aliases=("multigammaln",),
    domain=(2.0, 4.0),
    examples=(("mvlgamma(x, 2)", "x=3"), ("mvlgamma(x, p=3)", "x=2x3")),
    input_dtypes="numbers",
)
def mvlgamma(x, *, p):
    """Logarithm of the multivariate gamma function of dimension p."""
    require(is_integer(p) and p > 0, f"p of mvlgamma() must be a positive integer, got {p!r}")
    if p > WRITTEN_OUT:
        total = lgamma(_arguments(x, p)).sum(dim=-1)
    else:
        total = sum((lgamma(x - k / 2) for k in range(1, p)), lgamma(x))
    return total + p * (p - 1) / 4 * math.log(math.pi)
