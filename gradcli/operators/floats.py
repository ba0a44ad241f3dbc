"""The parts of floating-point numbers: exponent, sign and neighbours; inf and nan."""

from ..graphs import Outputs, as_node, shapes
from ..lazy import np
from . import elements, precision
from .arithmetic import abs, floor
from .comparisons import where
from .families import composite, elementwise, named, no_flops, operator, require, shorthand
from .leaves import zeros
from .reductions import all


def _is(name, sentence, symbolic):
    @named(name, sentence)
    def rule(g, y, x):
        return None

    return elementwise(
        lambda x: getattr(np, name)(x),
        symbolic=lambda sp, x: sp.true if symbolic(sp, x) else sp.false,
        dtype="bool",
        numpy=f"np.{name}",
        examples=((f"where({name}(x), 1, x)", "x=3"),),
    )(rule)


isnan = _is("isnan", "Whether x is nan; no gradient.", lambda sp, x: x is sp.nan)
isinf = _is("isinf", "Whether x is infinite; no gradient.", lambda sp, x: x.is_infinite)
isfinite = _is(
    "isfinite",
    "Whether x is neither infinite nor nan; no gradient.",
    lambda sp, x: x is not sp.nan and not x.is_infinite,
)


@operator(
    shape=lambda s: (),
    dtype="float",
    value=precision.unit,
    symbolic=lambda sp, x: sp.Float(precision.unit(0.0)),
    spelling="finfo({0}.dtype).eps",
    torch="torch.finfo",
    numpy="np.finfo({0}.dtype).eps",
    flops=no_flops,
    shape_only=True,
    bounds=(precision.DOUBLE_UNIT, precision.SINGLE_UNIT),
    examples=(("rms_norm(x, (3,))", "x=2x3"),),
)
def rounding_unit(g, y, x):
    """The distance from 1 to the next float of the precision of x; no gradient."""
    return None


def _replaced(x, *, nan, posinf, neginf):
    return np.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf)


@elementwise(
    _replaced,
    symbolic=lambda sp, x, *, nan, posinf, neginf: sp.nan if x.is_Number else x,
    kink=lambda y, x, **_: ~isfinite(x),
    caveat="replaced elements have gradient 0",
    examples=(("nan_to_num(1 / x)", "x=2x3"), ("x.nan_to_num(nan=1, posinf=2)", "x=3")),
    numpy="np.nan_to_num({0}, nan={nan}, posinf={posinf}, neginf={neginf})",
    exact="all",
)
def nan_to_num(g, y, x, *, nan=None, posinf=None, neginf=None):
    """x with nan replaced by 0 and infinities by the largest floats, or by the numbers passed."""
    return g * isfinite(x)


@elementwise(
    lambda a, b: np.copysign(a, b),
    symbolic=lambda sp, a, b: elements.choice(
        sp, elements.compare(sp, "Ge", b, sp.S.Zero), sp.Abs(a), -sp.Abs(a)
    ),
    dtype="float",
    kink=lambda y, a, b: (a.eq(0), b.eq(0)),
    caveat="no derivative where a is 0, and a jump where b is: PyTorch takes 0",
    numpy="np.copysign",
    exact="all",
    numbers=("b",),
)
def copysign(g, y, a, b):
    """a with the sign of b."""
    return g * where(a.eq(0), 0, y / a), zeros(size=b.shape)


@elementwise(
    lambda a, b: np.nextafter(a, b),
    symbolic=elements.named("nextafter"),
    dtype="float",
    kink=lambda y, a, b: a.eq(b),
    caveat="the derivative with respect to a is 1, but 0 where a and b are equal, as in PyTorch",
    numpy="np.nextafter",
    jax="",
    input_dtypes="floats",
    exact="all",
)
def nextafter(g, y, a, b):
    """The next floating-point number after a towards b."""
    return where(a.ne(b), g, 0), zeros(size=b.shape)


@composite(
    shape=lambda s: s,
    dtype="int",
    value=lambda x: np.asarray(np.frexp(x)[1]),
    spelling="frexp({0}).exponent",
    torch="torch.frexp",
    examples=(("x * frexp(x).exponent", "x=2x3"),),
    numpy="np.frexp({0})[1]",
)
def frexp_exponent(x):
    """The exponent of the smallest power of 2 above |x|; no gradient."""
    return where(x.eq(0), 0, floor(abs(x).log2()) + 1).long()


@composite(
    shape=lambda s: s,
    dtype="float",
    value=lambda x: np.asarray(np.frexp(x)[0]),
    spelling="frexp({0}).mantissa",
    torch="torch.frexp",
    rule=lambda g, y, x: g / frexp_exponent(x).exp2(),
    kink=lambda y, x: abs(y).eq(0.5),
    caveat="jumps where |x| is a power of 2: PyTorch takes the derivative beside the jump; it "
    "computes that power in single precision, so the derivative is 0 from 2**127 on, and "
    "inf below 2**-150",
    examples=(("frexp(x).mantissa", "x=2x3"), ("frexp(x)[0] * frexp(x)[1]", "x=3")),
    numpy="np.frexp({0})[0]",
    exact="all",
)
def frexp_mantissa(x):
    """x divided by the smallest power of 2 above |x|."""
    return x / frexp_exponent(x).exp2()


@shorthand(input_dtypes="floats")
def frexp(input):
    """x as mantissa * 2 ** exponent, the mantissa between 1/2 and 1."""
    return Outputs((frexp_mantissa(input), frexp_exponent(input)), ("mantissa", "exponent"))


@shorthand()
def isposinf(input):
    """Whether x is inf; no gradient."""
    return isinf(input).logical_and(as_node(input) > 0)


@shorthand()
def isneginf(input):
    """Whether x is -inf; no gradient."""
    return isinf(input).logical_and(as_node(input) < 0)


@shorthand()
def isreal(input):
    """Whether x is a real number, which it always is here; no gradient."""
    return as_node(input).eq(0).logical_or(True)


@shorthand()
def signbit(input):
    """Whether x is negative, or -0; no gradient."""
    return copysign(1.0, input) < 0


@shorthand(input_dtypes="any of one dtype")
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |input - other| <= atol + rtol * |other|; no gradient."""
    require(rtol >= 0 and atol >= 0, "tolerances of isclose() and allclose() cannot be negative")
    a, b = as_node(input), as_node(other)
    near = isfinite(a).logical_and(isfinite(b)).logical_and(abs(a - b) <= atol + rtol * abs(b))
    result = near.logical_or(a.eq(b))
    return result.logical_or(isnan(a).logical_and(isnan(b))) if equal_nan else result


@shorthand(input_dtypes="any of one dtype")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds for all elements; no gradient."""
    return all(isclose(input, other, rtol, atol, equal_nan))


@shorthand()
def equal(input, other):
    """Whether two tensors have the same shape and equal elements: a single bool; no gradient."""
    a, b = as_node(input), as_node(other)
    if a.ndim != b.ndim:
        return as_node(False)
    have = f"{shapes.text(a.shape)} and {shapes.text(b.shape)}"
    shapes.require_equal(a.shape, b.shape, f"equal() of shapes {have} is False for all values")
    return all(a.eq(b))
