"""Losses of the difference between a prediction and a target."""

from ..errors import GradcliError
from ..graphs.operator import check_dtypes
from ..lazy import np
from .arithmetic import abs, sign
from .comparisons import where
from .families import composite, elementwise, written_out
from .leaves import size
from .losses import check_same_shape, loss, reduced
from .pointwise import F


def _reduced_by_weight(name, losses, input, target, weight, reduction):
    """Losses times weights, reduced; a mean is divided by the sum of the weights."""
    check_same_shape(name, "weight", weight, input)
    check_dtypes(name, "no masks", (input, target))
    result = reduced(losses * weight, "sum" if reduction == "mean" else reduction)
    return result / weight.sum() if reduction == "mean" else result


def _mse_gradient(g, y, input, target, weight=None, *, reduction):
    """The gradient of mse_loss in PyTorch's order of operations, which avoids overflow."""
    if weight is not None:
        return NotImplemented
    difference = input - target
    count = size(difference, dim=tuple(range(difference.ndim))) if reduction == "mean" else 1
    to_input = g * (2 / count * difference)
    return to_input, -to_input, None


@loss(
    rule=_mse_gradient,
    order="input target size_average reduce reduction weight",
    examples=(
        ("mse_loss(a, b)", "a=2x3,b=2x3"),
        ("mse_loss(a, b, reduction='none')", "a=3,b=3"),
        ("mse_loss(a, b, weight=w)", "a=3,b=3,w=3"),
    ),
    saved=("input", "target"),
    input_dtypes="floats",
    exact="all",
)
def mse_loss(input, target, weight=None, *, reduction="mean"):
    """(input - target) ** 2, weighted, reduced."""
    losses = (input - target) ** 2
    if weight is None:
        return reduced(losses, reduction)
    return _reduced_by_weight("mse_loss", losses, input, target, weight, reduction)


@loss(
    order="input target size_average reduce reduction weight",
    examples=(
        ("l1_loss(a, b)", "a=2x3,b=2x3"),
        ("l1_loss(a, b, reduction='sum')", "a=3,b=3"),
        ("l1_loss(a, b, weight=w)", "a=3,b=3,w=3"),
    ),
    input_dtypes="no masks",
    exact="all",
)
def l1_loss(input, target, weight=None, *, reduction="mean"):
    """|input - target|, weighted, reduced."""
    losses = abs(input - target)
    if reduction == "mean" and weight is None:
        check_dtypes("l1_loss", "floats", (losses,))
    if weight is None:
        return reduced(losses, reduction)
    return _reduced_by_weight("l1_loss", losses, input, target, weight, reduction)


# ---- quadratic near 0, linear elsewhere ----------------------------------------------------------


def _inside_bound(g, grad_output, x, bound):
    """g * grad_output where |x| < bound, otherwise 0 times it: nan for inf, as in PyTorch."""
    both = g * grad_output
    return where(abs(x) < bound, both, 0 * both)


@written_out(
    rule=lambda g, y, grad_output, x, *, beta: (
        smooth_l1_terms_backward(g, x, beta=beta),
        _inside_bound(g, grad_output, x, beta) / beta,
    )
)
def smooth_l1_terms_backward(grad_output, x, *, beta=1.0):
    """The gradient of smooth_l1_terms."""
    return grad_output * where(abs(x) >= beta, sign(x), x / beta)


@elementwise(
    lambda x, *, beta: np.where(np.abs(x) < beta, 0.5 * x * x / beta, np.abs(x) - 0.5 * beta),
    expand=lambda x, *, beta: where(abs(x) < beta, 0.5 * x * x / beta, abs(x) - 0.5 * beta),
    dtype="float",
    torch=None,
    examples=(("smooth_l1_terms(x, beta=1.0)", "x=2x3"),),
)
def smooth_l1_terms(g, y, x, *, beta):
    """0.5 * x ** 2 / beta where |x| < beta, else |x| - 0.5 * beta."""
    return smooth_l1_terms_backward(g, x, beta=beta)


@loss(
    order="input target size_average reduce reduction beta",
    examples=(
        ("smooth_l1_loss(a, b)", "a=2x3,b=2x3"),
        ("smooth_l1_loss(a, b, reduction='none', beta=0.5)", "a=3,b=3"),
    ),
    saved=("input", "target"),
    input_dtypes="floats",
    exact="all",
)
def smooth_l1_loss(input, target, *, reduction="mean", beta=1.0):
    """Quadratic where |input - target| < beta, linear beyond; reduced."""
    if not beta >= 0:
        raise GradcliError("arguments", f"beta of smooth_l1_loss() must be at least 0, got {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return reduced(smooth_l1_terms(input - target, beta=beta), reduction)


@written_out(
    rule=lambda g, y, grad_output, x, *, delta: (
        huber_terms_backward(g, x, delta=delta),
        _inside_bound(g, grad_output, x, delta),
    )
)
def huber_terms_backward(grad_output, x, *, delta=1.0):
    """The gradient of huber_terms."""
    return grad_output * where(abs(x) >= delta, delta * sign(x), x)


@elementwise(
    lambda x, *, delta: np.where(
        np.abs(x) <= delta, 0.5 * x * x, delta * (np.abs(x) - 0.5 * delta)
    ),
    expand=lambda x, *, delta: where(abs(x) <= delta, 0.5 * x * x, delta * (abs(x) - 0.5 * delta)),
    dtype="float",
    torch=None,
    examples=(("huber_terms(x, delta=1.0)", "x=2x3"),),
)
def huber_terms(g, y, x, *, delta):
    """0.5 * x ** 2 where |x| <= delta, else delta * (|x| - 0.5 * delta)."""
    return huber_terms_backward(g, x, delta=delta)


@composite(
    torch=F + "huber_loss",
    typical_same_shape=("input", "target"),
    order="input target reduction delta weight",
    examples=(
        ("huber_loss(a, b)", "a=2x3,b=2x3"),
        ("huber_loss(a, b, 'sum', 0.5, w)", "a=3,b=3,w=3"),
    ),
    dtype="first",
    saved=("input", "target"),
    input_dtypes="floats of one dtype",
    exact="all",
)
def huber_loss(input, target, weight=None, *, reduction="mean", delta=1.0):
    """Quadratic where |input - target| <= delta, linear beyond; weighted, reduced."""
    if not delta > 0:
        raise GradcliError("arguments", f"delta of huber_loss() must be positive, got {delta}")
    losses = huber_terms(input - target, delta=delta)
    if weight is None:
        return reduced(losses, reduction)
    check_same_shape("huber_loss", "weight", weight, input)
    return reduced(losses * weight, reduction)
