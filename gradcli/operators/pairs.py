"""Elementwise functions of two or three tensors; sums and products with a factor."""

import math

from ..graphs import Node, as_node
from ..graphs.operator import check_dtypes, dtypes, result_dtype
from ..lazy import np
from . import elements
from .arithmetic import NO_MASKS, add, double, mul, sub
from .comparisons import clamp, logical_or, where
from .families import elementwise, named, require, shorthand
from .floats import isnan


@elementwise(
    lambda a, b: np.arctan2(a, b),
    symbolic=elements.named("atan2"),
    dtype="float",
    aliases=("arctan2",),
    kink=lambda y, a, b: (a.eq(0) & (b <= 0), a.eq(0) & b.eq(0)),
    caveat="no derivative where both are 0: PyTorch takes 0. Where a is 0 and b is negative, it "
    "jumps: PyTorch takes the slope beside the jump",
    numpy="np.arctan2",
)
def atan2(g, y, a, b):
    """The angle of the point (b, a), between -pi and pi."""
    square = a * a + b * b
    inverse = where(square.eq(0), 0, 1 / square)
    return g * b * inverse, NO_MASKS if a.dtype == "bool" else g * -a * inverse


@elementwise(
    lambda a, b: np.hypot(a, b),
    symbolic=lambda sp, a, b: sp.sqrt(a**2 + b**2),
    dtype="float",
    numpy="np.hypot",
    input_dtypes="floats",
)
def hypot(g, y, a, b):
    """sqrt(a ** 2 + b ** 2), computed without overflow."""
    return g * a / y, g * b / y


@elementwise(
    lambda a, b: np.logaddexp(a, b),
    symbolic=lambda sp, a, b: sp.log(sp.exp(a) + sp.exp(b)),
    dtype="float",
    numpy="np.logaddexp",
    input_dtypes="floats",
)
def logaddexp(g, y, a, b):
    """log(exp(a) + exp(b)), computed without overflow."""
    if "bool" in (a.dtype, b.dtype):
        return NO_MASKS, NO_MASKS
    return g / (1 + (b - a).exp()), g / (1 + (a - b).exp())


@elementwise(
    lambda a, b: np.logaddexp2(a, b),
    symbolic=elements.named("logaddexp2"),
    dtype="float",
    samples=(-3.0, -0.5, 0.0, 0.5, 2.0),
    numpy="np.logaddexp2",
    input_dtypes="floats",
)
def logaddexp2(g, y, a, b):
    """log2(2 ** a + 2 ** b), computed without overflow."""
    if "bool" in (a.dtype, b.dtype):
        return NO_MASKS, NO_MASKS
    return g / (1 + 2 ** (b - a)), g / (1 + 2 ** (a - b))


@elementwise(
    lambda a, b: np.multiply(a, np.power(2.0, b)),
    symbolic=lambda sp, a, b: a * 2**b,
    dtype="float",
    kink=lambda y, a, b: (b < 0) | (b > 62) if b.dtype == "int" else b.ne(b),
    caveat="PyTorch computes 2 ** b in integers if b is an integer: the gradient is 0 at b < 0 "
    "and at b > 63, and has the other sign at 63",
    numpy="{0} * 2.0 ** {1}",
)
def ldexp(g, y, a, b):
    """a * 2 ** b."""
    power = 2.0**b
    if b.dtype == "int":
        power = where(b < 0, 0, where(b > 63, 0, where(b.eq(63), -power, power)))
    return g * power, g * y * math.log(2)


@shorthand("ldexp", only_aliases=True)
def scaled(input, other):
    """a * 2 ** b."""
    if as_node(input).dtype == "float" and as_node(other).dtype == "bool":
        check_dtypes("ldexp", "no masks", [other])
    return ldexp(input, other)


@shorthand()
def float_power(input, exponent):
    """input to the power of exponent, as floating-point numbers."""
    base = as_node(input)
    if base.op.name == "constant":
        return as_node(float(base.attrs["value"])) ** exponent
    if isinstance(exponent, Node) and exponent.dtype == "bool":
        exponent = double(exponent)
    return (base if base.dtype == "float" else double(base)) ** exponent


def _first(name, symbol, relation, sentence):
    @named(name, sentence)
    def rule(g, y, a, b):
        first = getattr(a, relation)(b) | isnan(b)
        return where(first, g, 0), where(first, 0, g)

    return elementwise(
        lambda a, b: getattr(np, name)(a, b),
        symbolic=lambda sp, a, b: elements.extreme(sp, symbol, a, b),
        kink=lambda y, a, b: a.eq(b),
        caveat="at a tie PyTorch gives the first the whole gradient",
        numpy=f"np.{name}",
        exact="all",
    )(rule)


fmax = _first("fmax", "Max", "ge", "The larger of two, or the one that is not nan.")
fmin = _first("fmin", "Min", "le", "The smaller of two, or the one that is not nan.")


@shorthand()
def clamp_min(input, min):
    """input, or min where that is larger."""
    return clamp(input, min=min)


@shorthand()
def clamp_max(input, max):
    """input, or max where that is smaller."""
    return clamp(input, max=max)


# ---- sums with a factor --------------------------------------------------------------------------


def _times_alpha(name, input, other, alpha):
    """alpha * other, with alpha converted to the dtype of the sum; alpha of masks is boolean."""
    kind = result_dtype("promote", [*dtypes((input, other))])
    if isinstance(alpha, bool):
        require(kind == "bool", f"alpha of {name}() can be True or False only for masks")
    elif isinstance(alpha, float):
        check_dtypes(f"with alpha={alpha}, {name}", "floats", (input, other))
    if kind == "bool" and isinstance(alpha, int):
        alpha = bool(alpha)
    return other if alpha == 1 else mul(other, alpha)


@shorthand(deprecated_orders=("input alpha other",))
def add_(input, other, *, alpha=1):
    """input + alpha * other; of masks, whether one of the two is True."""
    scaled = _times_alpha("add", input, other, alpha)
    return (logical_or if {*dtypes((input, scaled))} == {"bool"} else add)(input, scaled)


@shorthand("subtract", deprecated_orders=("input alpha other",))
def sub_(input, other, *, alpha=1):
    """input - alpha * other."""
    sub.check_dtypes((input, other))
    return sub(input, _times_alpha("sub", input, other, alpha))


@shorthand()
def rsub(input, other, alpha=1):
    """other - alpha * input."""
    return sub_(other, input, alpha=alpha)


def _lerp(a, b, weight):
    way = np.subtract(b, a)
    return np.where(np.abs(weight) < 0.5, a + weight * way, b - way * np.subtract(1, weight))


@elementwise(
    _lerp,
    symbolic=lambda sp, a, b, weight: a + weight * (b - a),
    dtype="float",
    examples=(("lerp(a, b, 0.3)", "a=2x3,b=3"), ("lerp(a, b, c)", "a=2x3,b=3,c=2x1")),
    numpy="{0} + {2} * ({1} - {0})",
    numbers=("weight",),
    input_dtypes="floats of one dtype",
    exact="all",
)
def lerp(g, y, input, end, weight):
    """input + weight * (end - input)."""
    return g * (1 - weight), g * weight, g * (end - input)


def _addcmul(a, b, c, *, value):
    integral = np.result_type(a, b, c).kind in "iub"  # PyTorch truncates `value` for integers
    return a + (int(value) if integral else value) * b * c


@elementwise(
    _addcmul,
    symbolic=lambda sp, a, b, c, *, value: a + value * b * c,
    examples=(
        ("addcmul(a, b, c)", "a=2x3,b=2x1,c=3"),
        ("addcmul(a, b, c, value=0.5)", "a=3,b=3,c=3"),
    ),
    numpy="{0} + {value} * {1} * {2}",
    order="input tensor1 tensor2 * value",
    deprecated_orders=("input value tensor1 tensor2",),
    input_dtypes="numbers",
    exact="all",
)
def addcmul(g, y, input, tensor1, tensor2, *, value=1):
    """input + value * tensor1 * tensor2."""
    return g, g * (tensor2 * value), g * (tensor1 * value)


@elementwise(
    lambda a, b, c, *, value: a + np.divide(value * b, c),
    symbolic=lambda sp, a, b, c, *, value: a + value * b / c,
    dtype="float",
    domain=(0.5, 2.0),
    examples=(
        ("addcdiv(a, b, c)", "a=2x3,b=2x1,c=3"),
        ("addcdiv(a, b, c, value=0.5)", "a=3,b=3,c=3"),
    ),
    numpy="{0} + {value} * {1} / {2}",
    order="input tensor1 tensor2 * value",
    deprecated_orders=("input value tensor1 tensor2",),
    input_dtypes=("floats", slice(2, None)),
    exact="all",
    poles=("tensor2",),
)
def addcdiv(g, y, input, tensor1, tensor2, *, value=1):
    """input + value * tensor1 / tensor2."""
    return (
        g,
        g * (value / tensor2),
        -g * (value * tensor1 / (tensor2 * tensor2)),
    )
