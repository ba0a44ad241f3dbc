"""The incomplete gamma functions and the Hurwitz zeta function, and the Heaviside step."""

from ..graphs import NoRule
from ..lazy import np, scipy_special
from . import elements
from .families import elementwise
from .gamma import POSITIVE, lgamma
from .pointwise import exp, log
from .special import special


def _density(a, x):
    """The derivative of gammainc with respect to x: the density of the gamma distribution."""
    return exp((a - 1) * log(x) - x - lgamma(a))


def _examples(name):
    return ((f"{name}(a.detach(), x)", "a=2x1,x=3"), (f"{name}(tensor(2.5), x)", "x=3"))


def _at_bounds(name, below):
    """SciPy's function with PyTorch's values at 0 and inf; `below`: whether it is gammainc."""

    def value(a, x):
        result = getattr(scipy_special, name)(a, x)
        result = np.where(np.isinf(a) & ~np.isinf(x), 0.0 if below else 1.0, result)
        result = np.where(np.isinf(x) & ~np.isinf(a), 1.0 if below else 0.0, result)
        result = np.where(np.equal(x, 0), 0.0 if below else 1.0, result)
        result = np.where(np.equal(a, 0), np.where(np.greater(x, 0), result, np.nan), result)
        return np.where(np.less(a, 0) | np.less(x, 0), np.nan, result)

    return value


@special(
    _at_bounds("gammainc", below=True),
    aliases=("igamma",),
    domain=POSITIVE,
    examples=_examples("gammainc"),
    input_dtypes="floats",
)
def gammainc(g, y, a, x):
    """The regularized lower incomplete gamma function P(a, x)."""
    return NoRule("the derivative for 'igamma: input' is not implemented."), g * _density(a, x)


@special(
    _at_bounds("gammaincc", below=False),
    aliases=("igammac",),
    domain=POSITIVE,
    examples=_examples("gammaincc"),
    samples=(-3.0, 0.0, 1.0, 2.0),
    input_dtypes="floats",
)
def gammaincc(g, y, a, x):
    """The regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x)."""
    return NoRule("the derivative for 'igammac: input' is not implemented."), -g * _density(a, x)


def _zeta(s, x):
    result = scipy_special.zeta(s, x)
    return np.where(np.isposinf(x) & np.greater(s, 1), np.nan, result)  # nan as in PyTorch


@special(
    _zeta,
    domain=POSITIVE,
    numbers=True,
    examples=(("zeta(a.detach() + 1, x)", "a=2x1,x=3"), ("special.zeta(3.0, x)", "x=3")),
)
def zeta(g, y, s, x):
    """The sum of 1 / (x + k) ** s over k = 0, 1, 2, ...: Hurwitz's zeta function."""
    return NoRule("the derivative for 'zeta' is not implemented."), g * -s * zeta(s + 1, x)


def _symbolic_step(sp, x, values):
    beside = elements.above_zero(sp, x, sp.S.One, sp.S.Zero)
    return elements.choice(sp, elements.compare(sp, "Eq", x, sp.S.Zero), values, beside)


UNDERIVED = NoRule("derivative for aten::heaviside is not implemented")


@elementwise(
    lambda x, values: np.where(np.equal(x, 0), values, np.greater(x, 0)),
    symbolic=_symbolic_step,
    examples=(("x * heaviside(x.detach(), tensor(0.5))", "x=2x3"),),
    caveat="PyTorch has not implemented its derivative: backward through it is an error, here as "
    "in PyTorch; after detach() it is a constant",
    numpy="np.heaviside",
    input_dtypes="any of one dtype",
    exact="all",
)
def heaviside(g, y, x, values):
    """0 for negative and 1 for positive numbers; at 0 the number in `values`."""
    return UNDERIVED, UNDERIVED
