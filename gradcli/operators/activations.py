"""Activation functions of neural networks."""

from math import isfinite, log, pi, sqrt
from sys import float_info

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, as_node, shapes
from ..graphs.arguments import check_in_place
from ..lazy import np
from . import elements
from .arithmetic import abs, in_kind_of
from .comparisons import bounded_by, where
from .families import composite, elementwise, one_of, require, shorthand, written_out
from .guards import unless, without_slope
from .pointwise import F, elu_backward, erf, exp, leaky_relu, sigmoid, softplus
from .trigonometry import cosh, tanh

SIXTH = 0.1666666716337204  # PyTorch's 1/6 in single precision
LARGEST_EXPONENT = log(float_info.max)  # the largest x with a finite exp(x)
SQRT_2_PI = sqrt(2 / pi)
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


# ---- piecewise linear ----------------------------------------------------------------------------


@elementwise(
    lambda x: np.minimum(np.maximum(x + 3.0, 0), 6) / 6,
    symbolic=lambda sp, x: elements.clipped(sp, x + 3, 0, 6) / 6,
    dtype="float",
    torch=F + "hardsigmoid",
    once_differentiable="derivative for aten::hardsigmoid_backward is not implemented",
    digits="single",
    kink=lambda y, x: abs(x).eq(3),
    caveat="no derivative at -3 and 3: PyTorch takes 0; between them it rounds 1/6 to single "
    "precision",
    examples=(("hardsigmoid(x)", "x=3"), ("hardsigmoid(4 * x)", "x=2x3")),
    numpy="np.clip({0} + 3, 0, 6) / 6",
    jax="jax.nn.hard_sigmoid",
    order="x inplace",
    input_dtypes="floats",
    exact="all",
)
def hardsigmoid(g, y, x):
    """(x + 3) / 6, clamped to [0, 1]: a piecewise linear sigmoid."""
    return where((x > -3) & (x < 3), g * SIXTH, 0)


@elementwise(
    lambda x: x * np.minimum(np.maximum(x + 3.0, 0), 6) / 6,
    symbolic=lambda sp, x: x * elements.clipped(sp, x + 3, 0, 6) / 6,
    dtype="float",
    torch=F + "hardswish",
    kink=lambda y, x: abs(x).eq(3),
    caveat="no derivative at -3 and 3: PyTorch takes 0 and 1",
    examples=(("hardswish(x)", "x=3"), ("hardswish(4 * x)", "x=2x3")),
    numpy="{0} * np.clip({0} + 3, 0, 6) / 6",
    jax="jax.nn.hard_swish",
    order="x inplace",
    input_dtypes="floats",
    exact="all",
)
def hardswish(g, y, x):
    """x * hardsigmoid(x)."""
    inside = unless(((x > -3) & (x < 3)).logical_not(), x, instead=0.0, zero_slope=True)
    return where(x <= -3, 0, where(x < 3, g * (inside / 3 + 0.5), g))


def _hardtanh(x, *, min_val, max_val):
    if min_val > max_val:
        raise GradcliError("arguments", f"min_val {min_val} is above max_val {max_val}")
    return bounded_by(np.minimum, bounded_by(np.maximum, x, min_val), max_val)


@elementwise(
    _hardtanh,
    symbolic=lambda sp, x, *, min_val, max_val: elements.clipped(sp, x, min_val, max_val),
    torch=F + "hardtanh",
    zero_second_derivative=True,
    kink=lambda y, x, *, min_val, max_val: x.eq(min_val) | x.eq(max_val),
    caveat="no derivative at a bound: PyTorch takes 0, where clamp takes 1",
    examples=(("hardtanh(x)", "x=2x3"), ("hardtanh(x, -0.5, 2)", "x=3")),
    numpy="np.clip({0}, {min_val}, {max_val})",
    order="x min_val max_val inplace",
    input_dtypes="numbers",
    exact="all",
)
def hardtanh(g, y, x, *, min_val=-1.0, max_val=1.0):
    """x, clamped to [min_val, max_val]."""
    return where((x <= min_val) | (x >= max_val), 0, g)


@shorthand(input_dtypes="numbers")
def relu6(input, inplace=False):
    """x, clamped to [0, 6]."""
    check_in_place("relu6", inplace)
    return hardtanh(input, min_val=0.0, max_val=6.0)


@composite(
    torch=F + "hardshrink",
    zero_second_derivative=True,
    kink=lambda y, x, *, lambd: abs(x).eq(lambd),
    caveat="jumps at -lambd and lambd: PyTorch takes 0 there",
    examples=(("hardshrink(x)", "x=2x3"), ("hardshrink(x, 1.0)", "x=3")),
    saved=("input",),
    input_dtypes="floats",
    exact="all",
)
def hardshrink(input, *, lambd=0.5):
    """x, but 0 between -lambd and lambd."""
    return where((input >= -lambd) & (input <= lambd), 0, input)


def _not_negative(*, lambd):
    require(0 <= lambd < float("inf"), f"lambd of softshrink() must be at least 0, got {lambd}")
    return {"lambd": lambd}


@elementwise(
    lambda x, *, lambd: np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0)),
    symbolic=lambda sp, x, *, lambd: x - elements.clipped(sp, x, -lambd, lambd),
    torch=F + "softshrink",
    zero_second_derivative=True,
    kink=lambda y, x, *, lambd: abs(x).eq(lambd),
    caveat="no derivative at -lambd and lambd: PyTorch takes 0",
    examples=(("softshrink(x)", "x=2x3"), ("softshrink(x, 1.0)", "x=3")),
    numpy="{0} - np.clip({0}, -{lambd}, {lambd})",
    canonical_attributes=_not_negative,
    input_dtypes="floats",
)
def softshrink(g, y, x, *, lambd=0.5):
    """x moved towards 0 by lambd, and 0 where |x| <= lambd."""
    return where((x >= -lambd) & (x <= lambd), 0, g)


@composite(
    torch=F + "threshold",
    zero_second_derivative=True,
    kink=lambda y, x, *, threshold, value: x.eq(threshold),
    caveat="no derivative at the threshold: PyTorch takes 0",
    examples=(("threshold(x, 0.5, -1.0)", "x=2x3"), ("threshold(x, 0, 0)", "x=3")),
    saved=("input",),
    order="input threshold value inplace",
    input_dtypes="numbers",
    exact="all",
)
def threshold(input, *, threshold, value):
    """x where it is above the threshold, otherwise value."""
    return where(input <= threshold, in_kind_of(as_node(value), input), input)


ABOVE_AT_0 = "at x = 0 PyTorch's second derivative is that for x > 0"


@written_out(
    rule=lambda g, y, grad_output, x, slope: (
        where(x >= 0, g, slope * g),
        None,
        where(x >= 0, 0, grad_output * g),
    ),
    kink=lambda y, grad_output, x, slope: x.eq(0),
    caveat=ABOVE_AT_0,
)
def prelu_backward_x(grad_output, x, slope):
    """The gradient of prelu_kernel with respect to x."""
    return where(x > 0, grad_output, slope * grad_output)


@written_out(
    rule=lambda g, y, grad_output, x: (where(x >= 0, 0, x * g), where(x >= 0, 0, grad_output * g)),
    kink=lambda y, grad_output, x: x.eq(0),
    caveat=ABOVE_AT_0,
)
def prelu_backward_weight(grad_output, x):
    """The gradient of prelu_kernel with respect to its slope."""
    return where(x > 0, 0, x * grad_output)


@elementwise(
    lambda x, slope: np.where(np.greater(x, 0), x, np.multiply(x, slope)),
    kink=lambda y, x, slope: x.eq(0) & slope.ne(1),
    caveat="no derivative at 0: PyTorch takes the slope",
    torch=None,
    expand=lambda x, slope: where(x > 0, x, x * slope),
)
def prelu_kernel(g, y, x, slope):
    """x where it is above 0, otherwise slope * x: a leaky_relu whose slope is a tensor."""
    return prelu_backward_x(g, x, slope), prelu_backward_weight(g, x)


@composite(
    torch=F + "prelu",
    zero_second_derivative=True,
    examples=(("prelu(x, a)", "x=2x3,a=3"), ("prelu(x, a)", "x=3,a=1")),
    input_dtypes="floats of one dtype",
    exact="all",
)
def prelu(input, weight):
    """x where it is above 0, otherwise weight * x; one weight for all, or one for each channel."""
    if weight.ndim > 1:
        have = shapes.text(weight.shape)
        raise GradcliError("shape", f"prelu() takes a number or a vector of weights, got {have}")
    if weight.numel == 1:
        return prelu_kernel(input, weight.reshape(shape=(1,) * min(input.ndim, 1)))
    return prelu_kernel(
        input, along_channels(weight, input, "weight of prelu() must have one element or")
    )


def along_channels(weight, input, must_have):
    """`weight`, one number per channel of `input`, reshaped to broadcast with `input`. `must_have`
    is the beginning of the error message for a weight of another shape.
    """
    channels = input.shape[1:2]
    have, want = shapes.text(weight.shape), shapes.text(channels)
    message = f"{must_have} shape {want}, got {have}"
    shapes.require_equal(weight.shape, channels, message)
    aligned = (*channels, *(1,) * (input.ndim - 2))
    return weight if weight.shape == aligned else weight.reshape(shape=aligned)


@shorthand(input_dtypes="floats")
def rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    """x where it is above 0, otherwise x times a slope between lower and upper."""
    check_in_place("rrelu", inplace)
    finite = isfinite(lower) and isfinite(upper)
    require(finite and lower <= upper, f"rrelu() needs lower <= upper, got {lower} and {upper}")
    if training and lower != upper and input.numel:
        raise GradcliError(
            "unsupported",
            "rrelu() draws random numbers in training, so it has no single gradient",
            hint="training=False uses the average slope",
        )
    return leaky_relu(input, negative_slope=(lower + upper) / 2)


# ---- smooth --------------------------------------------------------------------------------------


def _celu(x, *, alpha):
    return np.where(np.less(x, 0), alpha * np.expm1(np.minimum(x, 0) * (1 / alpha)), x)


def _not_zero(*, alpha):
    require(alpha != 0, "alpha of celu() cannot be 0")
    return {"alpha": alpha}


@elementwise(
    _celu,
    canonical_attributes=_not_zero,
    symbolic=lambda sp, x, *, alpha: elements.above_zero(sp, x, x, alpha * (sp.exp(x / alpha) - 1)),
    dtype="float",
    digits="single",
    caveat="in the gradient PyTorch rounds alpha to single precision",
    examples=(("celu(x)", "x=2x3"), ("celu(x, 0.5)", "x=3")),
    numpy="np.where({0} > 0, {0}, {alpha} * np.expm1(np.minimum({0}, 0) / {alpha}))",
    jax="jax.nn.celu({0}, {alpha})",
    order="x alpha inplace",
    input_dtypes="floats",
)
def celu(g, y, x, *, alpha=1.0):
    """x where it is above 0, otherwise alpha * (exp(x / alpha) - 1)."""
    return elu_backward(g, x, negcoef=alpha, negiptcoef=1 / float(np.float32(alpha)))


@elementwise(
    lambda x: np.where(
        np.less(x, 0), np.expm1(np.minimum(x, 0)) * (SELU_ALPHA * SELU_SCALE), x * SELU_SCALE
    ),
    symbolic=lambda sp, x: elements.above_zero(sp, x, x, SELU_ALPHA * (sp.exp(x) - 1)) * SELU_SCALE,
    dtype="float",
    kink=lambda y, x: x.eq(0),
    caveat="no derivative at 0: PyTorch takes the slope of the left side",
    saved=("x",),
    numpy=f"{SELU_SCALE} * np.where({{0}} > 0, {{0}}, "
    f"{SELU_ALPHA} * np.expm1(np.minimum({{0}}, 0)))",
    jax="jax.nn.selu",
    order="x inplace",
    input_dtypes="floats",
)
def selu(g, y, x):
    """elu with constants that keep mean 0 and variance 1 from layer to layer."""
    return elu_backward(g, x, negcoef=SELU_ALPHA * SELU_SCALE, poscoef=SELU_SCALE)


@elementwise(
    lambda x: x * np.tanh(np.log1p(np.exp(x))),
    dtype="float",
    torch=F + "mish",
    expand=lambda x: x * tanh(softplus(x)),
    jax="jax.nn.mish",
    order="x inplace",
    input_dtypes="floats",
)
def mish(g, y, x):
    """x * tanh(softplus(x))."""
    t = tanh(softplus(without_slope(x > LARGEST_EXPONENT, x)))
    return g * (t + x * sigmoid(x) * (1 - t * t))


def _gelu_kind(*, approximate):
    """Validate `approximate`: PyTorch's "none" or "tanh"; JAX passes True or False."""
    in_jax = {True: "tanh", False: "none"}
    known = one_of(approximate=tuple(in_jax.values()))
    return known(approximate=in_jax.get(approximate, approximate))


def _gelu(x, *, approximate):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(SQRT_2_PI * (x + 0.044715 * np.power(x, 3))))
    return x * 0.5 * (1 + erf.value(np.multiply(x, sqrt(0.5))))


def _gelu_meaning(x, *, approximate):
    if approximate == "tanh":
        return 0.5 * x * (1 + tanh(_inside_tanh(x)))
    return x * 0.5 * (1 + erf(x * sqrt(0.5)))


def _inside_tanh(x):
    return SQRT_2_PI * (x + 0.044715 * x**3)


def _slope_inside_tanh(x):
    return SQRT_2_PI * (1 + 3 * 0.044715 * x * x)


def _density(x):
    return exp(-0.5 * x * x) * (1 / sqrt(2 * pi))


def _curvature_of_gelu(x, approximate):
    """The second derivative of gelu in PyTorch's form; equal forms are nan or 0 at other points."""
    if approximate == "tanh":
        inner, slope = _inside_tanh(x), _slope_inside_tanh(x)
        t, sech, half = tanh(inner), 1 / cosh(inner), 0.5 * x
        sech2 = 1 - t * t
        by_sech = half * slope * (2 * sech * (-sech * t) * slope)
        return 2 * (0.5 * sech2 * slope) + by_sech + half * sech2 * (6 * 0.044715 * x * SQRT_2_PI)
    square, density = x * x, _density(x)
    return 2 * density - square * density


@written_out(
    rule=lambda g, y, grad_output, x, *, approximate: (
        gelu_backward(g, x, approximate=approximate),
        g * grad_output * _curvature_of_gelu(x, approximate),
    ),
    examples=(
        ("gelu_backward(a, x)", "a=3,x=3"),
        ("gelu_backward(a, x, approximate='tanh')", "a=3,x=3"),
    ),
    order="grad_output x * approximate",
)
def gelu_backward(grad_output, x, *, approximate="none"):
    """The gradient of gelu."""
    if approximate == "tanh":
        t = tanh(_inside_tanh(x))
        return grad_output * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * _slope_inside_tanh(x))
    return grad_output * (0.5 * (1 + erf(x * sqrt(0.5))) + x * _density(x))


@elementwise(
    _gelu,
    torch=F + "gelu",
    dtype="float",
    order="x * approximate",
    canonical_attributes=_gelu_kind,
    expand=_gelu_meaning,
    input_dtypes="floats",
)
def gelu(g, y, x, *, approximate="none"):
    """x times the probability that a standard normal variable is below x."""
    return gelu_backward(g, x, approximate=approximate)


@composite(
    torch=F + "softsign",
    kink=lambda y, input: y < y,  # no kinks: softsign is smooth where abs is not
    examples=(("softsign(x)", "x=3"), ("softsign(x)", "x=2x3")),
    input_dtypes="numbers",
    saved=(..., INTERMEDIATE),
    exact="all",
)
def softsign(input):
    """x / (|x| + 1): like tanh, but it approaches -1 and 1 more slowly."""
    return input / (abs(input) + 1)


@composite(
    torch=F + "tanhshrink",
    examples=(("tanhshrink(x)", "x=3"), ("tanhshrink(x)", "x=2x3")),
    input_dtypes="numbers",
    saved=(..., INTERMEDIATE),
)
def tanhshrink(input):
    """x - tanh(x)."""
    return input - tanh(input)
