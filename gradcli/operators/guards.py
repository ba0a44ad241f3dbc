"""Operators for the points where PyTorch's order of operations gives inf, nan or an error.

At other points they return one of their arguments, so formulas omit them. `mask` selects the
exceptional points.
"""

from math import nan

from ..errors import GradcliError, Singular
from ..graphs import StaysZero, shapes
from ..lazy import np
from .arithmetic import sign
from .comparisons import where
from .families import elementwise, no_flops, operator
from .leaves import zeros


def _as_wide(mask, value):
    """`value`, expanded to the shape that `mask` and `value` broadcast to."""
    shape = shapes.broadcast(mask.shape, value.shape)
    return value if value.shape == shape else value.expand(shape=shape)


@elementwise(
    lambda mask, value, *, instead, zero_slope: np.where(mask, instead, value),
    symbolic=lambda sp, mask, value, *, instead, zero_slope: value,
    expand=lambda mask, value, *, instead, zero_slope: where(mask, instead, value),
    index=lambda lower, i, mask, value, *, instead, zero_slope: _as_wide(mask, value),
    integer_inputs=("mask",),
    masks=("mask",),
    torch=None,
    examples=(("unless(x > 5, x, 0.0)", "x=2x3"),),
    exact="all",
)
def unless(g, y, mask, value, *, instead=nan, zero_slope=False):
    """value, except `instead` where `mask` holds; with `zero_slope`, the gradient is 0 there."""
    return None, where(mask, 0, g) if zero_slope else g


@elementwise(
    lambda mask, value: np.broadcast_to(value, np.broadcast_shapes(mask.shape, value.shape)),
    symbolic=lambda sp, mask, value: value,
    expand=lambda mask, value: value.expand(shape=shapes.broadcast(mask.shape, value.shape)),
    index=lambda lower, i, mask, value: _as_wide(mask, value),
    integer_inputs=("mask",),
    masks=("mask",),
    torch=None,
    examples=(("without_slope(x > 5, x)", "x=2x3"),),
    exact="all",
)
def without_slope(g, y, mask, value):
    """value, with a gradient of nan where `mask` holds, because PyTorch divides by 0 or inf
    there.
    """
    return None, unless(mask, g)


@elementwise(
    lambda mask, value, instead: np.where(mask, instead, value),
    symbolic=lambda sp, mask, value, instead: instead if mask is sp.true else value,
    torch_expand=lambda mask, value, instead: _as_wide(mask, value),
    expand=lambda mask, value, instead: where(mask, instead, value),
    index=lambda lower, i, mask, value, instead: lower.unguarded(mask, value, instead, i),
    integer_inputs=("mask",),
    masks=("mask",),
    torch=None,
    examples=(("otherwise(x > 5, x, a)", "x=2x3,a=2x3"),),
    exact="all",
)
def otherwise(g, y, mask, value, instead):
    """value, except `instead` where `mask` holds: an expression that is mathematically equal and
    has PyTorch's inf and nan.
    """
    return None, otherwise(mask, g, 0), otherwise(mask, 0 * g, g)


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
    """value, with a derivative of 0 with respect to `by`, as in PyTorch, also where the gradient is
    infinite: 0 times the gradient would be nan there.
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
    examples=(("persistent_zero(exp(x))", "x=2x3"),),
)
def persistent_zero(g, y, by):
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


def _raise_where(value, mask, *, message, code):
    if np.any(mask):
        raise Singular(message) if code == "singular" else GradcliError(code, message)
    return value


@operator(
    shape=lambda s, mask, **_: s,
    value=_raise_where,
    symbolic=lambda sp, value, mask, **_: value,
    expand=lambda value, mask, **_: value,
    index=lambda lower, i, value, mask, **_: lower.of(value, i),
    integer_inputs=("mask",),
    masks=("mask",),
    dtype="first",
    torch=None,
    examples=(("raise_where(x, x > 5, message='too large')", "x=2x3"),),
    exact="all",
)
def raise_where(g, y, value, mask, *, message, code="arguments"):
    """value; raises an error with `message` if `mask` holds anywhere, as PyTorch does."""
    return g, None
