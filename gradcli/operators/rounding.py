"""Rounding functions, rounded quotients, and fractional parts."""

from ..errors import GradcliError
from ..graphs.operator import check_dtypes
from ..lazy import np
from .arithmetic import BETWEEN_JUMPS, div, floor, nonzero_divisor, piecewise_constant, round
from .families import composite, elementwise, is_integer, named, require, shorthand
from .leaves import zeros


def _truncated(sp, x):
    return sp.sign(x) * sp.floor(sp.Abs(x))


@piecewise_constant(
    lambda x: np.trunc(x),
    _truncated,
    BETWEEN_JUMPS,
    lambda y, x: x.eq(y),
    aliases=("fix",),
    numpy="np.trunc",
    input_dtypes="numbers",
)
def trunc(x):
    """x without the part after the decimal point."""


MOST_DECIMALS = 308  # 10 to a higher power is inf


@elementwise(
    lambda x: x - np.trunc(x),
    symbolic=lambda sp, x: x - _truncated(sp, x),
    kink=lambda y, x: y.eq(0),
    caveat="it jumps there: PyTorch takes 1, the slope on both sides",
    numpy="{0} - np.trunc({0})",
    input_dtypes="floats",
    exact="all",
)
def frac(g, y, x):
    """The part of x after the decimal point, with the sign of x."""
    return g


@elementwise(
    lambda a, b: np.fmod(a, nonzero_divisor(a, b)),
    symbolic=lambda sp, a, b: a - b * _truncated(sp, a / b),
    kink=lambda y, a, b: y.eq(0),
    caveat="jumps where a is a multiple of b: PyTorch takes the derivative beside the jump",
    numpy="np.fmod",
    input_dtypes="numbers",
    exact="all",
    numbers=("b",),
)
def fmod(g, y, a, b):
    """The remainder of a / b, with the sign of a."""
    return g, -g * div_trunc(a, b)


def _quotient(mode, numeric, to_integer, sentence):
    @named(f"div_{mode}", sentence)
    def meaning(a, b):
        return to_integer(a / b)

    def rule(g, y, a, b):
        return zeros(size=a.shape), zeros(size=b.shape)

    return composite(
        rule=rule,
        value=numeric,
        shape=div.shape,
        input_dtypes="numbers",
        torch="torch.div",
        spelling=f"div({{0}}, {{1}}, rounding_mode='{mode}')",
        kink=lambda y, a, b: y.eq(a / b),
        caveat=BETWEEN_JUMPS,
        examples=((f"a * div(a, b, rounding_mode='{mode}')", "a=2x3,b=2x3"),),
        exact="all",
    )(meaning)


def _divided_and_cut(a, b):
    return np.trunc(np.divide(a, nonzero_divisor(a, b))).astype(np.result_type(a, b), copy=False)


div_floor = _quotient(
    "floor", lambda a, b: np.floor_divide(a, nonzero_divisor(a, b)), floor, "a / b, rounded down."
)
div_trunc = _quotient("trunc", _divided_and_cut, trunc, "a / b, rounded towards 0.")
ROUNDED = {None: div, "floor": div_floor, "trunc": div_trunc}


@shorthand("divide", "true_divide")
def div_(input, other, *, rounding_mode=None):
    """Quotient, element by element; rounded as rounding_mode says."""
    if rounding_mode not in ROUNDED:
        raise GradcliError(
            "arguments", f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}"
        )
    return ROUNDED[rounding_mode](input, other)


@shorthand(input_dtypes="numbers")
def round_(input, *, decimals=None):
    """The nearest number with the given number of decimals; halves are rounded to even."""
    if decimals is None:
        return round(input)
    check_dtypes("with decimals, round", "floats", (input,))
    require(is_integer(decimals), f"decimals of round() must be an integer, got {decimals!r}")
    text = f"decimals of round() must be from {-MOST_DECIMALS} to {MOST_DECIMALS}, got {decimals}"
    require(abs(decimals) <= MOST_DECIMALS, text)
    if decimals < 0:
        return round(input / 10**-decimals) * 10**-decimals
    return round(input * 10**decimals) / 10**decimals if decimals else round(input)
