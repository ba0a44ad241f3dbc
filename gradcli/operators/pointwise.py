"""Elementwise functions of one tensor: exponentials, logarithms, roots and basic activations."""

import math

from ..graphs import OPS
from ..lazy import np
from . import elements
from .bounds import ANY, NOT_NEGATIVE, PROBABILITY, larger
from .comparisons import chosen, where
from .families import SAMPLES, elementwise, written_out
from .guards import unless
from .precision import by_python


@elementwise(bounds=NOT_NEGATIVE)
def exp(g, y, x):
    """e to the power of x."""
    return g * y


@elementwise(domain=(0.2, 3.0), poles=("x",))
def log(g, y, x):
    """Natural logarithm."""
    return g / x


@elementwise(symbolic=elements.named("exp2"), bounds=NOT_NEGATIVE)
def exp2(g, y, x):
    """2 to the power of x."""
    return g * y * math.log(2)


@elementwise(symbolic=elements.named("log2"), domain=(0.2, 3.0), poles=("x",))
def log2(g, y, x):
    """Logarithm to the base 2."""
    return g / (x * 0.6931471805599453)


@elementwise(symbolic=elements.named("log10"), domain=(0.2, 3.0), poles=("x",))
def log10(g, y, x):
    """Logarithm to the base 10."""
    return g / (x * 2.3025850929940456)


@elementwise(symbolic=lambda sp, x: sp.log(1 + x), domain=(-0.8, 3.0))
def log1p(g, y, x):
    """log(1 + x), exact for small x."""
    return g / (x + 1)


@elementwise(symbolic=lambda sp, x: sp.exp(x) - 1)
def expm1(g, y, x):
    """exp(x) - 1, exact for small x."""
    return g * (y + 1)


@elementwise(domain=(0.2, 3.0), of_numbers="{0} ** 0.5", bounds=NOT_NEGATIVE)
def sqrt(g, y, x):
    """Square root."""
    return g / (2 * y)


@elementwise(
    lambda x: 1 / np.sqrt(x),
    symbolic=lambda sp, x: 1 / sp.sqrt(x),
    dtype="float",
    domain=(0.2, 3.0),
    numpy="1 / np.sqrt({0})",
    jax="jax.lax.rsqrt",
    of_numbers="{0} ** -0.5",
    exact="all",
    poles=("x",),
)
def rsqrt(g, y, x):
    """1 / sqrt(x)."""
    return -0.5 * g * y**3


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


@elementwise(
    _sigmoid,
    symbolic=lambda sp, x: 1 / (1 + sp.exp(-x)),
    dtype="float",
    aliases=("expit",),
    numpy="1 / (1 + np.exp(-{0}))",
    jax="jax.nn.sigmoid",
    bounds=PROBABILITY,
    log="logsigmoid",
    exact="all",
)
def sigmoid(g, y, x):
    """1 / (1 + exp(-x))."""
    return sigmoid_backward(g, y)


@written_out(
    rule=lambda g, out, grad_output, y: (sigmoid_backward(g, y), g * grad_output * (-2 * y + 1))
)
def sigmoid_backward(grad_output, y):
    """The gradient of sigmoid, from its value y."""
    return grad_output * (1 - y) * y


F = "torch.nn.functional."


@elementwise(
    lambda x: chosen(np.less(x, 0), 0, x),  # relu of -0.0 is -0.0
    symbolic=lambda sp, x: elements.extreme(sp, "Max", x, sp.S.Zero),
    zero_second_derivative=True,
    kink=lambda y, x: x.eq(0),
    caveat="PyTorch takes 0; maximum(x, 0) takes 0.5 there, and clamp(x, min=0) takes 1",
    numpy="np.maximum({0}, 0)",
    jax="jax.nn.relu",
    order="x inplace",
    bounds=lambda x: larger(x, (0.0, 0.0)),
    input_dtypes="numbers",
    exact="all",
)
def relu(g, y, x):
    """max(x, 0)."""
    return where(y <= 0, 0, g)


@elementwise(
    lambda x, *, negative_slope: np.where(np.asarray(x) > 0, x, np.multiply(x, negative_slope)),
    torch=F + "leaky_relu",
    dtype="float",
    symbolic=lambda sp, x, *, negative_slope: elements.above_zero(sp, x, x, x * negative_slope),
    zero_second_derivative=True,
    kink=lambda y, x, *, negative_slope: x.eq(0),
    between_kinks=lambda *, negative_slope: "sloped" if negative_slope else "",
    caveat="PyTorch takes negative_slope",
    numpy="np.where({0} > 0, {0}, {negative_slope} * {0})",
    jax="jax.nn.leaky_relu({0}, {negative_slope})",
    order="x negative_slope inplace",
    input_dtypes="floats",
    exact="all",
)
def leaky_relu(g, y, x, *, negative_slope=0.01):
    """x where it is above 0, otherwise negative_slope * x."""
    return where(x > 0, g, g * negative_slope)


@elementwise(
    lambda x, *, alpha: np.where(np.less(x, 0), alpha * np.expm1(np.minimum(x, 0)), x),
    torch=F + "elu",
    dtype="float",
    kink=lambda y, x, *, alpha: x.eq(0) & (alpha != 1),
    between_kinks=lambda *, alpha: "sloped" if alpha else "",
    caveat="at 0 PyTorch takes alpha, the slope of the left side",
    symbolic=lambda sp, x, *, alpha: elements.above_zero(sp, x, x, alpha * (sp.exp(x) - 1)),
    saved=("x",),
    numpy="np.where({0} > 0, {0}, {alpha} * np.expm1(np.minimum({0}, 0)))",
    jax="jax.nn.elu({0}, {alpha})",
    order="x alpha inplace",
    input_dtypes="floats",
)
def elu(g, y, x, *, alpha=1.0):
    """x where it is above 0, otherwise alpha * (exp(x) - 1)."""
    return elu_backward(g, x, negcoef=alpha)


def _elu_double_backward(g, y, grad_output, x, *, negcoef, poscoef, negiptcoef):
    """The gradients of elu_backward; PyTorch multiplies by a mask, so that infinite gradients
    become nan where x >= 0.
    """
    both = _times(g * grad_output, negiptcoef)
    z = unless((x < 0).logical_not(), x, instead=0.0)
    on_curve = _curve(both, z, negcoef, negiptcoef)
    to_grad_output = elu_backward(g, x, negcoef=negcoef, poscoef=poscoef, negiptcoef=negiptcoef)
    return to_grad_output, where(x < 0, on_curve, 0 * both)


@written_out(
    rule=_elu_double_backward,
    kink=lambda y, grad_output, x, **_: x.eq(0),
    caveat="at 0, where the curve ends, PyTorch takes 0",
    examples=(
        ("elu_backward(a, x)", "a=3,x=3"),
        ("elu_backward(a, x, 2.0, 0.5, 3.0)", "a=2x3,x=2x3"),
    ),
)
def elu_backward(grad_output, x, *, negcoef=1.0, poscoef=1.0, negiptcoef=1.0):
    """The gradient of negcoef * (exp(x * negiptcoef) - 1) below 0 and poscoef * x above, as of elu,
    celu and selu; PyTorch's derivative of it at 0 is 0.
    """
    on_curve = x < 0 if negiptcoef == 1 and negcoef == poscoef else x <= 0
    return where(
        on_curve, _curve(grad_output, x, negcoef, negiptcoef), _times(grad_output, poscoef)
    )


def _curve(grad_output, x, negcoef, negiptcoef):
    """The gradient for x < 0, multiplied by one factor after another, as in PyTorch."""
    return _times(_times(grad_output, negiptcoef), negcoef) * exp(_times(x, negiptcoef))


def _times(x, number):
    return x if number == 1 else x * number


def _softplus(x, *, beta, threshold):
    scaled = np.multiply(x, beta)
    return np.where(scaled > threshold, x, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


@elementwise(
    _softplus,
    symbolic=lambda sp, x, *, beta, threshold: sp.log(1 + sp.exp(beta * x)) / beta,
    torch=F + "softplus",
    kink=lambda y, x, *, beta, threshold: (x * beta).eq(threshold),
    caveat="at the threshold, where it jumps, PyTorch takes the slope of the left side",
    numpy=lambda *, beta, threshold: (
        "np.logaddexp({0}, 0)" if beta == 1 else "np.logaddexp({beta} * {0}, 0) / {beta}"
    ),
    dtype="float",
    samples=(*SAMPLES, 25.0),
    bounds=lambda x, *, beta, threshold: NOT_NEGATIVE if beta > 0 else ANY,
    input_dtypes="floats",
)
def softplus(g, y, x, *, beta=1.0, threshold=20.0):
    """log(1 + exp(beta * x)) / beta: relu without its corner."""
    return softplus_backward(g, x, beta=beta, threshold=threshold)


def _softplus_double_backward(g, y, grad_output, x, *, beta, threshold):
    """The gradients of softplus_backward; PyTorch multiplies by a mask, so that infinite gradients
    become nan from the threshold on.
    """
    scaled, both = _times(x, beta), g * grad_output
    s = sigmoid(scaled)
    curved = where(scaled >= threshold, 0 * both, both * (1 - s) * s)
    return softplus_backward(g, x, beta=beta, threshold=threshold), _times(curved, beta)


@written_out(
    rule=_softplus_double_backward,
    kink=lambda y, grad_output, x, *, beta, threshold: (x * beta).eq(threshold),
    caveat="at the threshold, where it jumps, PyTorch takes 0",
    examples=(("softplus_backward(a, x)", "a=3,x=3"), ("softplus_backward(a, x, 2.0)", "a=3,x=3")),
)
def softplus_backward(grad_output, x, *, beta=1.0, threshold=20.0):
    """The gradient of softplus."""
    scaled = _times(x, beta)
    z = exp(scaled)
    return where(scaled > threshold, grad_output, grad_output * z / (z + 1))


@elementwise(
    by_python("erf"),
    symbolic=lambda sp, x: sp.erf(x),
    dtype="float",
    numpy="scipy.special.erf",
)
def erf(g, y, x):
    """Error function."""
    return g * (2 / math.sqrt(math.pi) * exp(-(x * x)))


@elementwise(
    lambda x: x * _sigmoid(x),
    torch=F + "silu",
    dtype="float",
    aliases=("swish",),
    expand=lambda x: x * sigmoid(x),
    jax="jax.nn.silu",
    order="x inplace",
    input_dtypes="floats",
    exact="all",
)
def silu(g, y, x):
    """x * sigmoid(x)."""
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


@written_out(domain=(0.3, 2.0), rule=lambda g, y, x: g / (3 * y * y))
def cbrt(x):
    """Cube root, of negative numbers too."""
    return OPS["sign"](x) * OPS["abs"](x) ** (1 / 3)
