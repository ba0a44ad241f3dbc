"""Elementwise arithmetic."""

from math import isfinite

from ..errors import GradcliError
from ..graphs import AGAIN, INTERMEDIATE, OPS, Node, NoRule, StaysZero
from ..lazy import np
from . import elements
from .bounds import NOT_NEGATIVE, added, subtracted
from .comparisons import where
from .families import elementwise, named, shorthand
from .leaves import zeros
from .precision import floats


@elementwise(lambda a, b: a + b, spelling="{0} + {1}", bounds=added, finite=True, exact="all")
def add(g, y, a, b):
    """Sum of two tensors."""
    return g, g


@elementwise(
    lambda a, b: a - b,
    spelling="{0} - {1}",
    aliases=("subtract",),
    input_dtypes="no masks",
    bounds=subtracted,
    finite=True,
    exact="all",
)
def sub(g, y, a, b):
    """Difference of two tensors."""
    return g, -g


def _with_numbers(*read):
    """What PyTorch saves for a binary operation: `read`, and a tensor for each number operand."""
    return lambda y, a, b: (*read, *[INTERMEDIATE] * (_is_constant(a) or _is_constant(b)))


@elementwise(
    lambda a, b: a * b,
    spelling="{0} * {1}",
    aliases=("multiply",),
    rank="unchanged",
    finite=True,
    saved=_with_numbers(...),
    exact="all",
)
def mul(g, y, a, b):
    """Product, element by element."""
    return g * b, g * a


def _by_reciprocal(a, b):
    """a / b for a number a, computed as in PyTorch: a times the reciprocal of b."""
    return reciprocal(b) * a if _is_constant(a) else a / b


@elementwise(
    lambda a, b: np.divide(a, b),
    symbolic=lambda sp, a, b: sp.sympify(a) / b,
    spelling="{0} / {1}",
    dtype="float",
    aliases=("divide", "true_divide"),
    rank="unchanged",
    with_graph=_by_reciprocal,
    saved=_with_numbers(AGAIN),
    exact="all",
    poles=("b",),
)
def div(g, y, a, b):
    """Quotient, element by element."""
    if _is_constant(a):
        inverse = reciprocal(b)
        return None, -(g * a) * (inverse * inverse)
    return g / b, -g * ((a / b) / b)


@elementwise(
    lambda x: -x,
    spelling="-{0}",
    aliases=("negative",),
    rank="unchanged",
    input_dtypes="no masks",
    exact="all",
)
def neg(g, y, x):
    """Minus x."""
    return -g


def nonzero_divisor(a, b):
    """`b`; raises GradcliError if an integer is divided by an integer 0."""
    if not np.all(b) and np.result_type(a, b).kind in "ib":
        hint = "with floats the quotient is inf or nan: x.double()"
        raise GradcliError("arguments", "an integer is divided by 0", hint=hint)
    return b


WHOLE_POWERS = (-2, -1, 0, 1, 2, 3)  # for these PyTorch multiplies and divides, without pow
SHORT_POWERS = {
    3: lambda a: a * a * a,  # faster than np.power
    -0.5: lambda a: 1 / np.sqrt(a),  # nan at -inf, as in PyTorch
}


NO_MASKS = NoRule("Subtraction, the `-` operator, with a bool tensor is not supported")


def _holds_integers(x):
    return getattr(getattr(x, "dtype", None), "kind", "") in ("i", "b")


def _are_integers(x):
    return type(x) is int or _holds_integers(x)


def _integer_powers(a, b):
    """Integer powers with some negative exponents, which are 0 unless the base is 1 or -1."""
    if type(b) is int:
        message = "integers cannot be raised to a negative power"
        raise GradcliError("arguments", message, hint="convert them to floats: x.double()")
    of_units = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b % 2), 0))
    return np.where(b < 0, of_units, np.power(a, np.maximum(b, 0)))


def _pow(a, b):
    if np.any(np.less(b, 0)):
        if (_holds_integers(a) and type(b) is int) or (_are_integers(a) and _holds_integers(b)):
            return _integer_powers(a, b)
        a = floats(a)
    if type(b) in (int, float):
        short = SHORT_POWERS.get(b)
        return short(a) if short else np.power(a, b)
    # if all exponents of a row are 0.5, np.power uses sqrt, which differs at -0 and -inf
    return (np.float_power if np.any(np.equal(b, 0.5)) else np.power)(a, b)


def _saved_of_power(y, a, b):
    if _is_constant(b):
        return ("a",)
    return ("b", "output") if _is_constant(a) else ("a", "b", "output")


@elementwise(
    _pow,
    symbolic=elements.power,
    spelling="{0} ** {1}",
    domain=(0.2, 2.0),
    caveat="the gradient with respect to the base is 0 where the exponent is 0; with respect to "
    "the exponent it is nan where the base is negative",
    input_dtypes="numbers",
    saved=_saved_of_power,
    exact=lambda y, a, b: (
        "all" if b.op.name == "constant" and b.attrs["value"] in WHOLE_POWERS else ""
    ),
    poles=lambda a, b: ("a",) if b.op.name == "constant" and b.attrs["value"] < 0 else (),
)
def pow(g, y, a, b):
    """a to the power of b."""
    exponent = b.attrs["value"] if b.op.name == "constant" else None
    if b.dtype == "bool" and exponent is None:
        return NO_MASKS, _to_exponent(g, y, a, b)
    to_base = g * (b * a ** (b - 1 if exponent is None else exponent - 1))
    if exponent is not None:
        return to_base if exponent != 0 else zeros(size=a.shape), None
    return where(b.eq(0), 0, to_base), _to_exponent(g, y, a, b)


def _to_exponent(g, y, a, b):
    ends = (
        (a.eq(0)) & (b >= 0) if not _is_constant(a) else (b >= 0 if a.attrs["value"] == 0 else None)
    )
    slope = y * a.log()
    return g * (slope if ends is None else where(ends, 0, slope))


def _is_constant(x: Node) -> bool:
    return x.op.name == "constant"


@elementwise(
    lambda a, b: np.floor_divide(a, nonzero_divisor(a, b)),
    symbolic=lambda sp, a, b: sp.floor(a / b),
    spelling="{0} // {1}",
    aliases=("floordiv",),
    examples=(("x * (x.detach() // 2)", "x=2x3"),),
    caveat="PyTorch has no derivative for it",
    input_dtypes="numbers",
    exact="all",
    poles=("b",),
)
def floor_divide(g, y, a, b):
    """The quotient rounded down."""
    text = "derivative for aten::floor_divide is not implemented"
    return (NoRule(f"{text}; floor(a / b) has gradient 0"),) * 2


def _remainder(a, b):
    """NumPy's remainder, except that a remainder of 0 has the sign of a."""
    left = np.remainder(a, nonzero_divisor(a, b))
    return np.where(np.equal(left, 0), np.fmod(a, b), left)


@elementwise(
    _remainder,
    symbolic=lambda sp, a, b: a - b * sp.floor(a / b),
    spelling="{0} % {1}",
    kink=lambda y, a, b: y.eq(0),
    caveat="jumps where a is a multiple of b: PyTorch takes the derivative beside the jump",
    without_derivative=lambda a, b: ("b",) if _is_constant(a) else (),
    zero_second_derivative=("b",),
    input_dtypes="numbers",
    exact="all",
)
def remainder(g, y, a, b):
    """The remainder of a / b, with the sign of b."""
    return g, -g * floor_divide(a if _is_constant(a) else a.detach(), b.detach())


@elementwise(
    lambda x: np.abs(x),
    symbolic=lambda sp, x: sp.Abs(x),
    aliases=("absolute",),
    kink=lambda y, x: x.eq(0),
    between_kinks="sloped",
    caveat="PyTorch takes 0",
    numpy="np.abs",
    bounds=NOT_NEGATIVE,
    input_dtypes="numbers",
    exact="all",
)
def abs(g, y, x):
    """Absolute value."""
    return g * sign_in_gradient(x)


def piecewise_constant(numeric, symbolic, caveat, kink, **fields):
    """A decorator that declares a piecewise constant operator, by its name and docstring."""

    def declare(function):
        @named(function.__name__, function.__doc__)
        def rule(g, y, x):
            return zeros(size=x.shape)

        rule.__module__ = function.__module__
        known = {"symbolic": symbolic, "caveat": caveat, "kink": kink, "exact": "all"}
        return elementwise(numeric, **known, **fields)(rule)

    return declare


BETWEEN_JUMPS = "it is piecewise constant, and its gradient is 0"


@piecewise_constant(
    lambda x: np.sign(np.nan_to_num(x)),
    lambda sp, x: sp.sign(x),
    "constant but for its jump at 0: the gradient is 0 everywhere",
    lambda y, x: x.eq(0),
    aliases=("sgn",),
    numpy="np.sign",
)
def sign(x):
    """The sign of x: -1, 0 or 1."""


@elementwise(
    lambda x: sign.value(x),
    symbolic=sign.symbolic,
    torch=None,
    expand=sign,
    exact="all",
)
def sign_in_gradient(g, y, x):
    """The sign of x in a gradient; its own gradient is 0, even if the upstream one is infinite."""
    return StaysZero()


@piecewise_constant(
    lambda x: np.floor(x),
    lambda sp, x: sp.floor(x),
    BETWEEN_JUMPS,
    lambda y, x: x.eq(y),
    numpy="np.floor",
    input_dtypes="numbers",
)
def floor(x):
    """The largest integer not above x."""


@piecewise_constant(
    lambda x: np.ceil(x),
    lambda sp, x: sp.ceiling(x),
    BETWEEN_JUMPS,
    lambda y, x: x.eq(y),
    numpy="np.ceil",
    input_dtypes="numbers",
)
def ceil(x):
    """The smallest integer not below x."""


@piecewise_constant(
    lambda x: np.rint(x),
    elements.nearest,
    BETWEEN_JUMPS,
    lambda y, x: (x - y).abs().eq(0.5),
    numpy="np.round",
)
def round(x):
    """The nearest integer; halves are rounded to even."""


@elementwise(
    lambda x: x * x,
    dtype="number",
    index=lambda lower, i, x: x**2,
    numpy="np.square",
    bounds=NOT_NEGATIVE,
    exact="all",
)
def square(g, y, x):
    """x times itself."""
    return g * (2 * x**1)


@elementwise(
    lambda x: 1 / np.asarray(x),
    symbolic=lambda sp, x: 1 / x,
    dtype="float",
    domain=(0.5, 2.0),
    index=lambda lower, i, x: 1 / x,
    numpy="1 / {0}",
    exact="all",
    poles=("x",),
)
def reciprocal(g, y, x):
    """1 / x."""
    return -g * (y * y)


@elementwise(
    lambda x: np.asarray(x, float),
    symbolic=lambda sp, x: x,
    dtype="float",
    aliases=("float",),
    method=True,
    torch="torch.Tensor.{name}",
    examples=(("x.double()", "x=2x3"),),
    index=lambda lower, i, x: lower.of(x, i),
    numpy="{0}.astype(float)",
    exact="all",
)
def double(g, y, x):
    """x converted to floating-point numbers."""
    return g


def _to_int(name, bits):
    return elementwise(
        lambda x: np.trunc(x).astype(f"int{bits}").astype(int),
        symbolic=lambda sp, x: sp.sign(x) * sp.floor(sp.Abs(x)),
        dtype="int",
        bits=bits,
        method=True,
        examples=((f"x * x.{name}()", "x=2x3"),),
        index=lambda lower, i, x: lower.truncated(lower.of(x, i)),
        torch="torch.Tensor.{name}",
        numpy="{0}.astype(int)",
    )(named(name, f"Converted to int{bits}, truncated; no gradient.")(_no_gradient))


def _no_gradient(g, y, x):
    return None


long = _to_int("long", 64)
int_ = _to_int("int", 32)


def copied(x):
    """A copy of x, as a new node."""
    return x.expand(shape=x.shape) if x.dtype == "bool" else x * 1


def in_kind_of(value, x):
    """`value` converted to the dtype of x, into which it is written: truncated to an integer, or
    compared with 0 for a mask.
    """
    if x.dtype in ("float", value.dtype):
        return value
    if x.dtype == "bool":
        return OPS["ne"](value, 0)
    number = value.attrs.get("value", 0)
    if isinstance(number, float) and not isfinite(number):
        message = f"an integer tensor cannot contain {number}"
        raise GradcliError("arguments", message, hint="convert it to floats: x.double()")
    return long(value)


@shorthand(input_dtypes="numbers")
def positive(input):
    """The same values."""
    return input


@shorthand("conj", "conj_physical", "resolve_conj", "resolve_neg", "real")
def clone(input):
    """The same values."""
    return input
