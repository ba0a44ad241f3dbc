"""Operators for the points where PyTorch's order of operations gives inf, nan or an error.

At other points they return one of their arguments, so formulas omit them. `odd` is the mask of the
points of the first kind.
"""

from math import nan

from ..errors import GradcliError, Singular
from ..graphs import StaysZero, shapes
from ..lazy import np
from .arithmetic import sign
from .comparisons import where
from .families import elementwise, no_flops, operator
from .leaves import zeros


def _as_wide(odd, value):
    """`value`, expanded to the shape that `odd` and `value` broadcast to."""
    shape = shapes.broadcast(odd.shape, value.shape)
    return value if value.shape == shape else value.expand(shape=shape)


@elementwise(
    lambda odd, value, *, instead, zero_slope: np.where(odd, instead, value),
    symbolic=lambda sp, odd, value, *, instead, zero_slope: value,
    expand=lambda odd, value, *, instead, zero_slope: where(odd, instead, value),
    index=lambda lower, i, odd, value, *, instead, zero_slope: _as_wide(odd, value),
    integer_inputs=("odd",),
    masks=("odd",),
    torch=None,
    examples=(("unless(x > 5, x, 0.0)", "x=2x3"),),
    exact="all",
)
def unless(g, y, odd, value, *, instead=nan, zero_slope=False):
    """value, except `instead` where `odd` holds; with `zero_slope`, the gradient is 0 there."""
    return None, where(odd, 0, g) if zero_slope else g


@elementwise(
    lambda odd, value: np.broadcast_to(value, np.broadcast_shapes(odd.shape, value.shape)),
    symbolic=lambda sp, odd, value: value,
    expand=lambda odd, value: value.expand(shape=shapes.broadcast(odd.shape, value.shape)),
    index=lambda lower, i, odd, value: _as_wide(odd, value),
    integer_inputs=("odd",),
    masks=("odd",),
    torch=None,
    examples=(("without_slope(x > 5, x)", "x=2x3"),),
    exact="all",
)
def without_slope(g, y, odd, value):
    """value, with a gradient of nan where `odd` holds, because PyTorch divides by 0 or inf
    there.
    """
    return None, unless(odd, g)


@elementwise(
    lambda odd, value, instead: np.where(odd, instead, value),
    symbolic=lambda sp, odd, value, instead: instead if odd is sp.true else value,
    torch_expand=lambda odd, value, instead: _as_wide(odd, value),
    expand=lambda odd, value, instead: where(odd, instead, value),
    index=lambda lower, i, odd, value, instead: lower.unguarded(odd, value, instead, i),
    integer_inputs=("odd",),
    masks=("odd",),
    torch=None,
    examples=(("otherwise(x > 5, x, a)", "x=2x3,a=2x3"),),
    exact="all",
)
def otherwise(g, y, odd, value, instead):
    """value, except `instead` where `odd` holds: an equal expression, with PyTorch's inf and
    nan.
    """
    return None, otherwise(odd, g, 0), otherwise(odd, 0 * g, g)


def _widened(value, by):
    return _as_wide(by, value)


@elementwise(
    lambda value, by: np.where(np.equal(value, 0), np.copysign(0.0, by), value),
    symbolic=lambda sp, value, by: value,
    torch_expand=_widened,
    expand=_widened,
    index=lambda lower, i, value, by: _as_wide(by, value),
    dtype="first",
    torch=None,
    flops=no_flops,
    examples=(("signed_zeros(x, a)", "x=2x3,a=3"),),
    exact="all",
)
def signed_zeros(g, y, value, by):
    """value, whose zeros have the sign of `by`, as those of NumPy's remainder."""
    return g, None


@operator(
    shape=lambda s, by: s,
    value=lambda value, by: value,
    symbolic=lambda sp, value, by: value,
    expand=lambda value, by: value + 0 * sign(by).sum(),
    index=lambda lower, i, value, by: lower.of(value, i),
    dtype="first",
    torch=None,
    flops=no_flops,
    examples=(("zero_derivative_by(x, a)", "x=2x3,a=3"),),
)
def zero_derivative_by(g, y, value, by):
    """value, with a derivative of 0 with respect to `by`, as PyTorch has it: 0 times an infinite
    gradient is nan.
    """
    return g, zeros(size=by.shape)


@elementwise(
    lambda by: np.zeros_like(by),
    symbolic=lambda sp, by: sp.S.Zero,
    expand=lambda by: 0 * sign(by),
    index=lambda lower, i, by: lower.number(0),
    dtype="float",
    torch=None,
    flops=no_flops,
    examples=(("still_zero(exp(x))", "x=2x3"),),
)
def still_zero(g, y, by):
    """0, which stays 0 even if multiplied by inf; so does its derivative."""
    return StaysZero()


@operator(
    shape=lambda s, t: s,
    value=lambda way, value: value,
    symbolic=lambda sp, way, value: value,
    expand=lambda way, value: way,
    index=lambda lower, i, way, value: lower.of(value, i),
    dtype="first",
    torch=None,
    examples=(("through(exp(x), exp(x))", "x=2x3"),),
    exact="all",
)
def through(g, y, way, value):
    """value, differentiated as if it were `way`, which is equal except where it is inf or nan."""
    return g, None


def _refuse_where(value, odd, *, said, code):
    if np.any(odd):
        raise Singular(said) if code == "singular" else GradcliError(code, said)
    return value


@operator(
    shape=lambda s, odd, **_: s,
    value=_refuse_where,
    symbolic=lambda sp, value, odd, **_: value,
    expand=lambda value, odd, **_: value,
    index=lambda lower, i, value, odd, **_: lower.of(value, i),
    integer_inputs=("odd",),
    masks=("odd",),
    dtype="first",
    torch=None,
    examples=(("refuse_where(x, x > 5, said='too large')", "x=2x3"),),
    exact="all",
)
def refuse_where(g, y, value, odd, *, said, code="arguments"):
    """value; raises an error with the message `said` if `odd` holds anywhere, as PyTorch does."""
    return g, None
