"""Special functions: error and Bessel functions, entropies and related logarithms."""

import math

from ..graphs import INTERMEDIATE
from ..lazy import np, scipy_special
from . import elements
from .arithmetic import abs
from .comparisons import clamp, where
from .families import composite, elementwise
from .pointwise import erf, exp, log, log1p
from .precision import by_python

EPS = 2.220446049250313e-16


def special(value=None, **fields):
    """Declare a function of scipy.special; `value` replaces SciPy's if PyTorch's differs."""

    def declare(rule):
        name = rule.__name__
        numeric = value or (lambda *xs: getattr(scipy_special, name)(*xs))
        fields.setdefault("symbolic", elements.named(name))
        fields.setdefault("torch", "torch.special.{name}")
        fields.setdefault("numpy", f"scipy.special.{name}")
        return elementwise(numeric, dtype="float", **fields)(rule)

    return declare


# ---- error functions and the normal distribution -------------------------------------------------


@elementwise(
    by_python("erfc"),
    symbolic=lambda sp, x: sp.erfc(x),
    dtype="float",
    numpy="scipy.special.erfc",
)
def erfc(g, y, x):
    """1 - erf(x), exact where that is small."""
    return -2 / math.sqrt(math.pi) * exp(-(x * x)) * g


@special(
    torch="torch.erfinv",
    domain=(-0.9, 0.9),
    saved=(..., INTERMEDIATE),
)
def erfinv(g, y, x):
    """Inverse of the error function."""
    return 0.5 * math.sqrt(math.pi) * exp(y * y) * g


@special()
def erfcx(g, y, x):
    """exp(x ** 2) * erfc(x), computed without overflow."""
    return (2 * x * y - 2 / math.sqrt(math.pi)) * g


@composite(
    torch="torch.special.ndtr",
    examples=(("special.ndtr(x)", "x=2x3"),),
    saved=(..., INTERMEDIATE),
)
def ndtr(x):
    """The probability that a standard normal variable is below x."""
    return (1 + erf(x * math.sqrt(0.5))) * 0.5


@special()
def log_ndtr(g, y, x):
    """Logarithm of the probability that a standard normal variable is below x."""
    return g / math.sqrt(2 * math.pi) * exp(-(y + x * x / 2))


@special(domain=(0.1, 0.9), poles=("x",))
def ndtri(g, y, x):
    """The inverse of ndtr: the quantile x of a standard normal variable."""
    return g * math.sqrt(2 * math.pi) * exp(y * y / 2)


# ---- Bessel functions ----------------------------------------------------------------------------


def _bessel(name):
    """SciPy's function, but inf where exp(|x|) overflows, as in PyTorch."""

    def value(x):
        result = getattr(scipy_special, name)(x)
        return np.where(np.isinf(np.exp(np.abs(x))) & np.isfinite(x), result * np.inf, result)

    return value


@special(_bessel("i0"), torch="torch.i0")
def i0(g, y, x):
    """Modified Bessel function of the first kind, of order 0."""
    return g * i1(x)


@special(kink=lambda y, x: x.eq(0), caveat="no derivative at 0: PyTorch takes 0")
def i0e(g, y, x):
    """exp(-|x|) * i0(x)."""
    return g * (i1e(x) - x.sign() * y)


@special(_bessel("i1"))
def i1(g, y, x):
    """Modified Bessel function of the first kind, of order 1."""
    far = abs(x) > EPS
    z = where(far, x, EPS)
    return g * where(far, i0(z) - y * z.reciprocal(), 0.5)


@special()
def i1e(g, y, x):
    """exp(-|x|) * i1(x)."""
    far = abs(x) > EPS
    z = where(far, x, EPS)
    return g * where(far, i0e(z) - y * (z.sign() + z.reciprocal()), 0.5)


# ---- logarithms and entropies --------------------------------------------------------------------


def _times_log(x, y, logarithm):
    return np.where(np.equal(x, 0) & ~np.isnan(y), 0, x * logarithm(y))


@elementwise(
    lambda a, b: _times_log(a, b, np.log),
    symbolic=lambda sp, a, b: a * sp.log(b),
    index=lambda lower, i, a, b: a * log(b),
    dtype="float",
    domain=(0.2, 3.0),
    kink=lambda y, a, b: a.eq(0) & (b <= 0),
    caveat="where a is 0 and b <= 0 PyTorch takes 0 as the derivative with respect to a",
    numbers=True,
    numpy="scipy.special.xlogy",
    poles=("b",),
)
def xlogy(g, y, a, b):
    """a * log(b), and 0 where a is 0."""
    return where(a.eq(0) & (b <= 0), 0, xlogy(g, b)), g * a / b


@elementwise(
    lambda a, b: _times_log(a, b, np.log1p),
    symbolic=lambda sp, a, b: a * sp.log(1 + b),
    index=lambda lower, i, a, b: a * log1p(b),
    dtype="float",
    domain=(-0.8, 3.0),
    kink=lambda y, a, b: a.eq(0) & (b <= -1),
    caveat="where a is 0 and b <= -1 PyTorch takes 0 as the derivative with respect to a",
    torch="torch.special.xlog1py",
    numbers=True,
    numpy="scipy.special.xlog1py",
)
def xlog1py(g, y, a, b):
    """a * log(1 + b), and 0 where a is 0."""
    return where(a.eq(0) & (b <= -1), 0, xlog1py(g, b)), g * a / (b + 1)


@special(symbolic=lambda sp, x: -x * sp.log(x), domain=(0.2, 3.0))
def entr(g, y, x):
    """-x * log(x): what x adds to an entropy."""
    return g * -(1 + log(x))


def _slope_of_logit(g, y, x, *, eps):
    slope = (x + 0) * (1 - x)  # at x = -0 the divisor is 0 in PyTorch, not -0
    if eps is None or eps < 0:
        return where((x >= 0) & (x <= 1), g / slope, math.nan)
    return where((x < eps) | (x > 1 - eps), 0, g / slope)


@composite(
    rule=_slope_of_logit,
    kink=lambda y, x, *, eps: x.eq(eps) | x.eq(1 - eps) if eps else x < x,
    caveat="no derivative at eps and 1 - eps: PyTorch takes the slope between them",
    domain=(0.1, 0.9),
    examples=(("logit(x)", "x=3"), ("x.logit(eps=0.2)", "x=2x3")),
    saved=("x",),
)
def logit(x, *, eps=None):
    """log(x / (1 - x)), the inverse of sigmoid; with eps, x is clamped to [eps, 1 - eps]."""
    z = x if eps is None else _within(x, eps, 1 - eps)
    return log(z / (1 - z))


def _within(x, low, high):
    """`x` clamped to bounds; if low > high, elements below low become low, others high."""
    return clamp(x, low, high) if low <= high else where(x < low, low, clamp(x, max=high))
