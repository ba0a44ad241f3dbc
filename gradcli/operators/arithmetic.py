"""Arithmetic, comparisons and choices, element by element."""

from ..errors import GradcliError
from ..graphs import Node, NoRule
from ..lazy import np
from . import elements
from .families import elementwise, shorthand
from .leaves import zeros


@elementwise(lambda a, b: a + b, spelling="{0} + {1}")
def add(g, y, a, b):
    """Sum of two tensors."""
    return g, g


@elementwise(lambda a, b: a - b, spelling="{0} - {1}", aliases=("subtract",), on_masks=False)
def sub(g, y, a, b):
    """Difference of two tensors."""
    return g, -g


@elementwise(lambda a, b: a * b, spelling="{0} * {1}", aliases=("multiply",))
def mul(g, y, a, b):
    """Product, element by element."""
    return g * b, g * a


@elementwise(
    lambda a, b: np.divide(a, b),
    symbolic=lambda sp, a, b: sp.sympify(a) / b,
    spelling="{0} / {1}",
    dtype="float",
    aliases=("divide", "true_divide"),
)
def div(g, y, a, b):
    """Quotient, element by element."""
    return g / b, -g * (a / b) / b


@elementwise(lambda x: -x, spelling="-{0}", aliases=("negative",), on_masks=False)
def neg(g, y, x):
    """Minus x."""
    return -g


SHORT_POWERS = {  # PyTorch computes these in other ways, which differ in the last digit and at -inf
    3: lambda a: a * a * a,
    -0.5: lambda a: 1 / np.sqrt(a),
    -2: lambda a: 1 / (a * a),
}


def _pow(a, b):
    if np.any(np.less(b, 0)):
        a = np.asarray(a, float)
    short = SHORT_POWERS.get(b) if isinstance(b, int | float) else None
    return short(a) if short else np.power(a, b)


@elementwise(
    _pow,
    symbolic=elements.power,
    spelling="{0} ** {1}",
    domain=(0.2, 2.0),
    caveat="to the base 0 where the exponent is 0; to the exponent nan where the base is below 0",
)
def pow(g, y, a, b):
    """a to the power of b."""
    exponent = b.attrs["value"] if b.op.name == "constant" else None
    to_base = g * (b * a ** (b - 1 if exponent is None else exponent - 1))
    if exponent is not None:
        return to_base if exponent != 0 else zeros(size=a.shape), None
    to_base = where(b.eq(0), 0, to_base)
    ends = (
        (a.eq(0)) & (b >= 0) if not _is_constant(a) else (b >= 0 if a.attrs["value"] == 0 else None)
    )
    slope = y * a.log()
    return to_base, g * (slope if ends is None else where(ends, 0, slope))


def _is_constant(x: Node) -> bool:
    return x.op.name == "constant"


@elementwise(
    lambda a, b: np.floor_divide(a, b),
    symbolic=lambda sp, a, b: sp.floor(a / b),
    spelling="{0} // {1}",
    aliases=("floordiv",),
    examples=(("x * (x.detach() // 2)", "x=2x3"),),
    caveat="PyTorch has no derivative for it",
)
def floor_divide(g, y, a, b):
    """Quotient rounded down."""
    said = "derivative for aten::floor_divide is not implemented"
    return (NoRule(f"{said}; floor(a / b) has gradient 0"),) * 2


@elementwise(
    lambda a, b: np.remainder(a, b),
    symbolic=lambda sp, a, b: a - b * sp.floor(a / b),
    spelling="{0} % {1}",
    kink=lambda y, a, b: y.eq(0),
    caveat="jumps where a is a multiple of b: PyTorch takes the derivative beside the jump",
)
def remainder(g, y, a, b):
    """What is left of a after division by b, with the sign of b."""
    return g, -g * floor_divide(a.detach(), b.detach())


def _comparison(name, symbol, ufunc, words):
    def rule(g, y, a, b):
        return None, None

    rule.__name__, rule.__doc__ = name, f"Whether a is {words} b; no gradient."
    return elementwise(
        lambda a, b: getattr(np, ufunc)(a, b),
        symbolic=lambda sp, a, b: elements.compare(sp, name.capitalize(), a, b),
        dtype="bool",
        spelling=f"{{0}} {symbol} {{1}}",
        aliases=(ufunc,),
        examples=((f"where(a {symbol} b, a, b)", "a=2x3,b=3"),),
    )(rule)


eq = _comparison("eq", "==", "equal", "equal to")
ne = _comparison("ne", "!=", "not_equal", "different from")
gt = _comparison("gt", ">", "greater", "greater than")
ge = _comparison("ge", ">=", "greater_equal", "at least")
lt = _comparison("lt", "<", "less", "less than")
le = _comparison("le", "<=", "less_equal", "at most")


@elementwise(
    lambda a, b: np.equal(a, b) | (np.isnan(a) & np.isnan(b)),
    symbolic=lambda sp, a, b: elements.compare(sp, "Eq", a, b),
    dtype="bool",
    spelling="{0} == {1}",
    torch=None,
    examples=(("where(same(a, b), a, b)", "a=2x3,b=3"),),
)
def same(g, y, a, b):
    """Whether a is equal to b or both are nan; no gradient."""
    return None, None


@elementwise(
    lambda a, b: np.logical_and(a, b),
    symbolic=elements.both,
    dtype="bool",
    spelling="{0} & {1}",
    examples=(("where((x > 0) & (x < 1), x, 0)", "x=2x3"),),
)
def logical_and(g, y, a, b):
    """Whether both hold; no gradient."""
    return None, None


@elementwise(
    lambda a, b: np.logical_or(a, b),
    symbolic=elements.either,
    dtype="bool",
    spelling="{0} | {1}",
    examples=(("where((x < 0) | (x > 1), x, 0)", "x=2x3"),),
)
def logical_or(g, y, a, b):
    """Whether one of them holds; no gradient."""
    return None, None


@elementwise(
    lambda x: np.logical_not(x),
    symbolic=elements.negated,
    dtype="bool",
    spelling="~{0}",
    examples=(("where(~(x > 0), x, 0)", "x=2x3"),),
)
def logical_not(g, y, x):
    """Whether it does not hold; no gradient."""
    return None


@elementwise(
    lambda condition, a, b: np.where(condition, a, b),
    symbolic=elements.choice,
    labels=("condition",),
    masks=("condition",),
    numbers=True,
    examples=(("where(a > b, a, 2 * b)", "a=2x3,b=3"), ("where(x > 0, x, 0)", "x=2x3")),
    index=lambda lower, i, condition, a, b: lower.choice(
        lower.of(condition, i), lower.of(a, i), lower.of(b, i)
    ),
    numpy="np.where",
)
def where(g, y, condition, a, b):
    """a where the condition holds, otherwise b."""
    return None, where(condition, g, 0), where(condition, 0, g)


@shorthand("Tensor.where", alone=True)
def where_method(self, condition, y):
    """self where the condition holds, otherwise y."""
    return where(condition, self, y)


def _tie(y, a, b):
    return a.eq(b)


def _extremum(name, symbol, sentence):
    def rule(g, y, a, b):
        half = where(a.eq(b), g / 2, g)
        below, above = (a < b, b < a) if name == "maximum" else (b < a, a < b)
        return where(below, 0, half), where(above, 0, half)

    rule.__name__, rule.__doc__ = name, sentence
    return elementwise(
        lambda a, b: getattr(np, name)(a, b),
        symbolic=lambda sp, a, b: elements.extreme(sp, symbol, a, b),
        kink=_tie,
        caveat="at a tie PyTorch gives each side half of the gradient",
        numpy=f"np.{name}",
    )(rule)


maximum = _extremum("maximum", "Max", "The larger of two.")
minimum = _extremum("minimum", "Min", "The smaller of two.")


@elementwise(
    lambda x: np.abs(x),
    symbolic=lambda sp, x: sp.Abs(x),
    aliases=("absolute",),
    kink=lambda y, x: x.eq(0),
    caveat="PyTorch takes 0",
    numpy="np.abs",
)
def abs(g, y, x):
    """Distance from 0."""
    return g * sign(x)


def steps(name, sentence, numeric, symbolic, caveat, kink, **fields):
    """An operator that is constant but for its jumps."""

    def rule(g, y, x):
        return zeros(size=x.shape)

    rule.__name__, rule.__doc__ = name, sentence
    return elementwise(numeric, symbolic=symbolic, caveat=caveat, kink=kink, **fields)(rule)


FLAT = "it is constant between its steps, and its gradient is 0"

sign = steps(
    "sign",
    "-1, 0 or 1: the sign.",
    lambda x: np.sign(np.nan_to_num(x)),
    lambda sp, x: sp.sign(x),
    "constant but for its jump at 0: the gradient is 0 everywhere",
    lambda y, x: x.eq(0),
    aliases=("sgn",),
    numpy="np.sign",
)
floor = steps(
    "floor",
    "The largest whole number not above x.",
    lambda x: np.floor(x),
    lambda sp, x: sp.floor(x),
    FLAT,
    lambda y, x: x.eq(y),
    numpy="np.floor",
)
ceil = steps(
    "ceil",
    "The smallest whole number not below x.",
    lambda x: np.ceil(x),
    lambda sp, x: sp.ceiling(x),
    FLAT,
    lambda y, x: x.eq(y),
    numpy="np.ceil",
)
round = steps(
    "round",
    "The nearest whole number, the even one of two.",
    lambda x: np.rint(x),
    elements.nearest,
    FLAT,
    lambda y, x: (x - y).abs().eq(0.5),
    numpy="np.round",
)


@elementwise(
    lambda x: x * x,
    index=lambda lower, i, x: x**2,
    numpy="np.square",
)
def square(g, y, x):
    """x times itself."""
    return g * (2 * x)


@elementwise(
    lambda x: 1 / np.asarray(x),
    symbolic=lambda sp, x: 1 / x,
    dtype="float",
    domain=(0.5, 2.0),
    index=lambda lower, i, x: 1 / x,
    numpy="1 / {0}",
)
def reciprocal(g, y, x):
    """1 / x."""
    return -g * (y * y)


def _clip(x, low, high):
    _bounded(low, high)
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _bound_hit(y, x, low, high):
    hits = [x.eq(bound) for bound in (low, high) if bound is not None]
    return hits[0] if len(hits) == 1 else hits[0] | hits[1]


@elementwise(
    _clip,
    symbolic=elements.clipped,
    aliases=("clip",),
    method=True,
    numbers=True,
    kink=_bound_hit,
    caveat="at a bound PyTorch lets the gradient through, as inside",
    index=lambda lower, i, x, min, max: lower.clamped(i, x, min, max),
    examples=(
        ("clamp(x, -1, 1)", "x=2x3"),
        ("x.clamp(min=0)", "x=2x3"),
        ("clamp(x, a, b)", "x=2x3,a=3,b=3"),
    ),
)
def clamp(g, y, x, min=None, max=None):
    """x, moved to the nearest bound where it lies outside."""
    _bounded(min, max)
    inside, below, above = _sides(x, min, max)
    to_min = None if min is None else where(below, g, 0)
    to_max = None if max is None else where(above, g, 0)
    return where(inside, g, 0), to_min, to_max


def _bounded(*bounds):
    if all(bound is None for bound in bounds):
        raise GradcliError("arguments", "clamp() needs min or max, or both")


def _sides(x, low, high):
    """Masks: between the bounds; moved up to the lower one; moved down to the upper one."""
    if high is None:
        return x >= low, x < low, None
    if low is None:
        return x <= high, None, x > high
    return (x >= low) & (x <= high), (x < low) & (low < high), (x > high) | (high < low)


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
)
def double(g, y, x):
    """As floating-point numbers."""
    return g


@elementwise(
    lambda x: np.asarray(np.trunc(x), int),
    symbolic=lambda sp, x: sp.sign(x) * sp.floor(sp.Abs(x)),
    dtype="int",
    aliases=("int",),
    method=True,
    examples=(("x * x.long()", "x=2x3"),),
    torch="torch.Tensor.{name}",
    numpy="{0}.astype(int)",
)
def long(g, y, x):
    """As whole numbers, cut towards 0; no gradient."""
    return None


@shorthand("positive", "conj", "conj_physical", "resolve_conj", "resolve_neg", "real")
def clone(input):
    """The same values."""
    return input
