"""Elementwise comparisons, and selection by their masks."""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from . import elements
from .bounds import clamped, either, larger, smaller
from .families import elementwise, named, shorthand

MANY = 1 << 12  # elements from which `chosen` multiplies by the mask instead of calling np.where


def _comparison(name, symbol, ufunc, words):
    @named(name, f"Whether a is {words} b; no gradient.")
    def rule(g, y, a, b):
        return None, None

    return elementwise(
        lambda a, b: getattr(np, ufunc)(a, b),
        symbolic=lambda sp, a, b: elements.compare(sp, name.capitalize(), a, b),
        dtype="bool",
        spelling=f"{{0}} {symbol} {{1}}",
        aliases=() if name == "eq" else (ufunc,),
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


def _connective(name, symbol, symbolic, words, example):
    @named(name, f"Whether {words}; no gradient.")
    def rule(g, y, a, b):
        return None, None

    return elementwise(
        lambda a, b: getattr(np, name)(a, b),
        symbolic=symbolic,
        dtype="bool",
        spelling=f"{{0}} {symbol} {{1}}",
        examples=((f"where({example}, x, 0)", "x=2x3"),),
    )(rule)


logical_and = _connective(
    "logical_and", "&", elements.both, "both are True (nonzero)", "(x > 0) & (x < 1)"
)
logical_or = _connective(
    "logical_or", "|", elements.either, "at least one is True (nonzero)", "(x < 0) | (x > 1)"
)


@elementwise(
    lambda x: np.logical_not(x),
    symbolic=elements.negated,
    dtype="bool",
    spelling="~{0}",
    examples=(("where(~(x > 0), x, 0)", "x=2x3"),),
)
def logical_not(g, y, x):
    """Whether x is False (zero); no gradient."""
    return None


def truth(x):
    """The mask of where a tensor is not 0; a mask is returned unchanged."""
    return x if x.dtype == "bool" else x.ne(0)


def _of_any_dtype(connective):
    """The connective, called by name: of masks and of numbers, which are True if they are not 0."""

    @named(connective.name, connective.sentence)
    def meaning(input, other):
        return connective(truth(input), truth(other))

    return shorthand()(meaning)


_of_any_dtype(logical_and)
_of_any_dtype(logical_or)


@shorthand("logical_not", only_aliases=True)
def negation(input):
    """Whether x is False (zero); no gradient."""
    return logical_not(input) if input.dtype == "bool" else input.eq(0)


def chosen(condition, a, b):
    """np.where(condition, a, b); faster if one is 0 and the other a large array of doubles."""
    if np.size(condition) >= MANY and condition.dtype == bool:
        if _is_plain_zero(a) and _is_double(b):
            return _masked(np.logical_not(condition), b)
        if _is_plain_zero(b) and _is_double(a):
            return _masked(condition, a)
    return np.where(condition, a, b)


def _is_plain_zero(x):
    return np.ndim(x) == 0 and x == 0 and not np.signbit(x)


def _is_double(x):
    return getattr(x, "dtype", None) == np.float64


def _masked(mask, x):
    """x where the mask is True, otherwise 0. The bits of x, as integers, are multiplied by 0 or 1.
    This avoids a branch, which is several times as slow for irregular masks, and maps inf and nan
    to 0 too.
    """
    return np.multiply(x.view(np.int64), mask).view(np.float64)


@elementwise(
    chosen,
    symbolic=elements.choice,
    integer_inputs=("condition",),
    masks=("condition",),
    numbers=True,
    unary_form=("nonzero", {"as_tuple": True}),
    examples=(("where(a > b, a, 2 * b)", "a=2x3,b=3"), ("where(x > 0, x, 0)", "x=2x3")),
    index=lambda lower, i, condition, a, b: lower.choice(
        lower.of(condition, i), lower.of(a, i), lower.of(b, i)
    ),
    numpy="np.where",
    bounds=either,
    exact="all",
)
def where(g, y, condition, input, other):
    """input where condition is True, otherwise other."""
    return None, where(condition, g, 0), where(condition, 0, g)


@shorthand("Tensor.where", only_aliases=True)
def where_method(self, condition, other):
    """self where condition is True, otherwise other."""
    return where(condition, self, other)


def _extremum(name, symbol, sentence, bounds):
    @named(name, sentence)
    def rule(g, y, a, b):
        half = where(a.eq(b), g / 2, g)
        below, above = (a < b, b < a) if name == "maximum" else (b < a, a < b)
        return where(below, 0, half), where(above, 0, half)

    return elementwise(
        lambda a, b: bounded_by(getattr(np, name), a, b),
        symbolic=lambda sp, a, b: elements.extreme(sp, symbol, a, b),
        bounds=bounds,
        kink=lambda y, a, b: a.eq(b),
        caveat="at a tie PyTorch gives each side half of the gradient",
        numpy=f"np.{name}",
        exact="all",
    )(rule)


maximum = _extremum("maximum", "Max", "The larger of two.", larger)
minimum = _extremum("minimum", "Min", "The smaller of two.", smaller)


def _bounded(x, *bounds):
    present = [bound for bound in bounds if bound is not None]
    if not present:
        message = "clamp() needs min or max, or both"
        raise GradcliError("arguments", message, hint="as in x.clamp(min=0)")
    return shapes.broadcast(x, *present)


def _clip(x, low, high):
    x = x if low is None else bounded_by(np.maximum, x, low)
    return x if high is None else bounded_by(np.minimum, x, high)


def bounded_by(extreme, x, bound):
    """np.maximum or np.minimum of x and a bound, but x if they are equal, so that -0 stays -0."""
    result = extreme(x, bound)
    return np.where(np.equal(x, bound), x, result) if np.any(np.equal(bound, 0)) else result


def _bound_hit(y, x, low, high):
    hits = [x.eq(bound) for bound in (low, high) if bound is not None]
    return hits[0] if len(hits) == 1 else hits[0] | hits[1]


def _without_derivative(x, low=None, high=None):
    """The inputs for which PyTorch's backward raises an error: it combines a mask of x and one
    bound in place with a mask of the other bound, and fails if the first mask is too small.
    """
    if low is None or high is None:
        return ()
    out = shapes.broadcast(x.shape, low.shape, high.shape)
    by_low = () if shapes.broadcast(x.shape, low.shape) == out else ("x", "min")
    return by_low if shapes.broadcast(x.shape, high.shape) == out else (*by_low, "max")


@elementwise(
    _clip,
    shape=_bounded,
    symbolic=elements.clipped,
    aliases=("clip",),
    method=True,
    numbers="together",
    kink=_bound_hit,
    caveat="at a bound PyTorch lets the gradient through, as inside",
    index=lambda lower, i, x, min, max: lower.clamped(i, x, min, max),
    examples=(
        ("clamp(x, -1, 1)", "x=2x3"),
        ("x.clamp(min=0)", "x=2x3"),
        ("clamp(x, a, b)", "x=2x3,a=3,b=3"),
    ),
    without_derivative=_without_derivative,
    bounds=clamped,
    exact="all",
)
def clamp(g, y, x, min=None, max=None):
    """x, moved to the nearest bound where it lies outside."""
    inside, below, above = _clamp_masks(x, min, max)
    to_min = None if min is None else where(below, g, 0)
    to_max = None if max is None else where(above, g, 0)
    return where(inside, g, 0), to_min, to_max


def _clamp_masks(x, low, high):
    """Three masks: x is within the bounds, below the lower one, above the upper one."""
    if high is None:
        return x >= low, x < low, None
    if low is None:
        return x <= high, None, x > high
    return (x >= low) & (x <= high), (x < low) & (low < high), (x > high) | (high < low)
