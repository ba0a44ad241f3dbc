"""Elementwise losses of a prediction and a target."""

import math

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, Node, shapes
from ..graphs.operator import FLOATS_FIRST, check_dtypes
from ..lazy import np
from . import elements
from .arithmetic import abs
from .bounds import larger
from .comparisons import where
from .families import composite, elementwise, written_out
from .guards import raise_where
from .leaves import size
from .pointwise import F, exp, log1p
from .special import xlogy


def reduced(losses: Node, reduction: str) -> Node:
    """Losses reduced to their mean or sum, or not, according to `reduction`."""
    if reduction not in ("mean", "sum", "none"):
        raise GradcliError("arguments", f"reduction {reduction!r} is not 'mean', 'sum' or 'none'")
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()


def loss(typical_same_shape=("input", "target"), **fields):
    """Declare a loss of torch.nn.functional with a `reduction`. The deprecated `size_average` and
    `reduce` may replace it, if `order` names them.
    """
    return composite(
        canonical_attributes=as_reduction,
        torch=F + "{name}",
        typical_same_shape=typical_same_shape,
        **fields,
    )


def as_reduction(*, size_average=None, reduce=None, **attrs):
    """The attributes of a loss; `size_average` and `reduce`, which are deprecated, replace
    `reduction` if they are passed.
    """
    if size_average is None and reduce is None:
        return attrs
    reduction = "mean" if size_average is None or size_average else "sum"
    if reduction == "sum" and attrs.get("reduction") == "batchmean":
        reduction = "batchmean"  # kl_div divides by the batch size in this case too
    return attrs | {"reduction": reduction if reduce is None or reduce else "none"}


# ---- probabilities -------------------------------------------------------------------------------


def check_same_shape(name, what, x, input):
    """Raise GradcliError unless x, a target or weight, has the shape of the input."""
    message = f"the {what} of {name}() must have the shape of its input, {{want}}, got {{have}}"
    shapes.require_equal(x.shape, input.shape, message)


# the 1e-12 with which PyTorch bounds denominators from below
SINGLE_EPS = 9.999999960041972e-13  # in first derivatives, rounded to single precision
DOUBLE_EPS = 1e-12  # in second derivatives


def _bce(x, t):
    for name, values in (("input", x), ("target", t)):
        if not np.all((values >= 0) & (values <= 1)):
            message = f"all elements of the {name} of binary_cross_entropy() must be from 0 to 1"
            raise GradcliError(
                "arguments", message, hint="its input must be probabilities: sigmoid(x)"
            )
    with np.errstate(divide="ignore"):
        return -(t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log1p(-x), -100))


def _bce_second_derivative(g, y, x, t):
    below = (x + DOUBLE_EPS) ** 2 * (1 - x + DOUBLE_EPS) ** 2
    return g * ((x * x - 2 * x * t + t) / below), -(g / ((1 - x) * x).clamp(min=DOUBLE_EPS))


@written_out(
    rule=_bce_second_derivative,
    torch_expand=lambda x, t: (x - t) / ((1 - x) * x),
    domain=(0.4, 0.6),
    examples=(("bce_slope(a, b)", "a=2x3,b=2x3"),),
)
def bce_slope(x, t):
    """The derivative of bce_terms; its own derivative is clamped differently in PyTorch."""
    x = raise_where(x, (x < 0) | (x > 1), message="probabilities are from 0 to 1")
    return (x - t) / ((1 - x) * x).clamp(min=SINGLE_EPS)


@elementwise(
    _bce,
    dtype="float",
    symbolic=lambda sp, x, t: -(t * sp.log(x) + (1 - t) * sp.log(1 - x)),
    domain=(0.1, 0.9),
    caveat="logarithms are clamped to at least -100, so that the loss stays finite",
    torch=None,
    torch_expand=lambda x, t: -(t * x.log() + (1 - t) * (1 - x).log()),
    numpy="-({1} * np.maximum(np.log({0}), -100) + (1 - {1}) * np.maximum(np.log1p(-{0}), -100))",
)
def bce_terms(g, y, x, t):
    """-(t * log(x) + (1 - t) * log(1 - x)), elementwise."""
    return g * bce_slope(x, t), g * ((1 - x).log() - x.log())


@loss(
    order="input target weight size_average reduce reduction",
    domain=(0.1, 0.9),
    examples=(
        ("binary_cross_entropy(a, b)", "a=2x3,b=2x3"),
        ("binary_cross_entropy(a, b, w, reduction='sum')", "a=3,b=3,w=3"),
    ),
    without_derivative=("weight",),
    saved=("input", "target", "weight"),
    input_dtypes="floats of one dtype",
)
def binary_cross_entropy(input, target, weight=None, *, reduction="mean"):
    """Cross entropy of probabilities of two classes, reduced."""
    check_same_shape("binary_cross_entropy", "target", target, input)
    losses = bce_terms(input, target)
    return reduced(losses if weight is None else losses * weight, reduction)


@loss(
    order="input target weight size_average reduce reduction pos_weight",
    examples=(
        ("binary_cross_entropy_with_logits(a, b)", "a=2x3,b=2x3"),
        ("binary_cross_entropy_with_logits(a, b, pos_weight=p)", "a=2x3,b=2x3,p=3"),
    ),
    without_derivative=("weight", "pos_weight"),
    input_dtypes="floats of one dtype",
)
def binary_cross_entropy_with_logits(
    input, target, weight=None, pos_weight=None, *, reduction="mean"
):
    """binary_cross_entropy of sigmoid(input), computed without overflow."""
    check_same_shape("binary_cross_entropy_with_logits", "target", target, input)
    losses = (
        logistic_terms(input, target)
        if pos_weight is None
        else weighted_logistic_terms(input, target, pos_weight)
    )
    return reduced(losses if weight is None else losses * weight, reduction)


def _logsigmoid(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


@elementwise(
    lambda x, t: (1 - t) * x - _logsigmoid(x),
    dtype="float",
    symbolic=lambda sp, x, t: (1 - t) * x + sp.log(1 + sp.exp(-x)),
    expand=lambda x, t: (1 - t) * x - logsigmoid(x),
    torch=None,
    numpy="(1 - {1}) * {0} + np.logaddexp(0, -{0})",
)
def logistic_terms(g, y, x, t):
    """(1 - t) * x - logsigmoid(x), elementwise."""
    return (x.sigmoid() - t) * g, -x * g


@elementwise(
    lambda x, t, weight: (1 - t) * x - (1 + (weight - 1) * t) * _logsigmoid(x),
    dtype="float",
    symbolic=lambda sp, x, t, weight: (1 - t) * x + (1 + (weight - 1) * t) * sp.log(1 + sp.exp(-x)),
    expand=lambda x, t, weight: (1 - t) * x - (1 + (weight - 1) * t) * logsigmoid(x),
    torch=None,
    numpy="(1 - {1}) * {0} + (1 + ({2} - 1) * {1}) * np.logaddexp(0, -{0})",
    examples=(("weighted_logistic_terms(x, t, w)", "x=2x3,t=2x3,w=3"),),
)
def weighted_logistic_terms(g, y, x, t, weight):
    """(1 - t) * x - (1 + (weight - 1) * t) * logsigmoid(x), elementwise."""
    p, positive = x.sigmoid(), weight * t
    to_x = g * ((positive + 1 - t) * p - positive)
    to_t = g * (logsigmoid(-x) - weight * logsigmoid(x))
    return to_x, to_t, -g * t * logsigmoid(x)


@elementwise(
    _logsigmoid,
    dtype="float",
    symbolic=lambda sp, x: -sp.log(1 + sp.exp(-x)),
    torch=F + "logsigmoid",
    expand=lambda x: x.clamp(max=0) - log1p(exp(-abs(x))),
    saved=lambda y, x: (x, exp(-abs(x))),
    jax="jax.nn.log_sigmoid",
    numpy="-np.logaddexp(0, -{0})",
    input_dtypes="floats",
)
def logsigmoid(g, y, x):
    """log(sigmoid(x)), computed without overflow."""
    return g * logsigmoid_slope(x)


@elementwise(
    lambda x: np.exp(np.minimum(-x, 0)) / (1 + np.exp(-np.abs(x))),
    dtype="float",
    symbolic=lambda sp, x: 1 / (1 + sp.exp(x)),
    expand=lambda x: (-x).sigmoid(),
    torch=None,
)
def logsigmoid_slope(g, y, x):
    """The derivative of logsigmoid; its own is 0 in PyTorch where sigmoid(x) is rounded to 1."""
    z = x.sigmoid()
    return g * (z - 1) * z


# ---- distributions -------------------------------------------------------------------------------


@loss(
    order="input target size_average reduce reduction log_target",
    domain=(0.1, 0.9),
    examples=(
        ("kl_div(a, b, reduction='sum')", "a=2x3,b=2x3"),
        ("kl_div(a, b, reduction='batchmean', log_target=True)", "a=2x3,b=2x3"),
    ),
    saved=("input", "target"),
    input_dtypes="floats of one dtype",
)
def kl_div(input, target, *, reduction="mean", log_target=False):
    """target * (log(target) - input), reduced; input holds logarithms of probabilities."""
    if log_target:
        losses = exp(target) * (target - input)
    else:
        losses = xlogy(target, target) - target * input
    if reduction == "batchmean":
        return losses.sum() / (size(input, dim=(0,)) if input.ndim else 1)
    return reduced(losses, reduction)


@loss(
    order="input target log_input full size_average eps reduce reduction",
    domain=(1.1, 2.0),
    examples=(
        ("poisson_nll_loss(a, b)", "a=2x3,b=2x3"),
        ("poisson_nll_loss(a, b, log_input=False, full=True)", "a=3,b=3"),
    ),
    input_dtypes="numbers",
    saved=(..., INTERMEDIATE),
)
def poisson_nll_loss(input, target, *, log_input=True, full=False, eps=1e-08, reduction="mean"):
    """How unlikely the counts in target are if input, or exp(input), is their mean; reduced."""
    subtracted = [*[target] * full, *[input] * (not log_input)]
    check_dtypes("poisson_nll_loss", "no masks", subtracted)
    if log_input:
        losses = exp(input) - target * input
    else:
        losses = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + where(target <= 1, 0.0, stirling)
    return reduced(losses, reduction)


def _clamp_with_gradient(x, *, min, least):
    if least is not None and np.any(np.less(x, least)):
        raise GradcliError("arguments", f"a variance cannot be below {least}")
    return np.maximum(x, min)


@elementwise(
    _clamp_with_gradient,
    expand=lambda x, *, min, least: x + (x.clamp(min=min) - x).detach(),
    torch_expand=lambda x, *, min, least: x.clamp(min=min),
    symbolic=lambda sp, x, *, min, least: elements.clipped(sp, x, min),
    caveat="the gradient flows as if nothing were clamped",
    torch=None,
    domain=(0.2, 2.0),
    examples=(("clamp_with_gradient(x, min=0.1)", "x=2x3"),),
    bounds=lambda x, *, min, least: larger(x, (min, min)),
    exact="all",
)
def clamp_with_gradient(g, y, x, *, min, least=None):
    """max(x, min) with the gradient of x, as PyTorch clamps with gradients disabled; raises an
    error for x below `least`.
    """
    return g


@composite(
    torch=F + "gaussian_nll_loss",
    typical_same_shape=("input", "target"),
    order="input target var full eps reduction",
    domain=(0.2, 2.0),
    examples=(
        ("gaussian_nll_loss(a, b, v)", "a=2x3,b=2x3,v=2x3"),
        ("gaussian_nll_loss(a, b, v, full=True, reduction='sum')", "a=2x3,b=2x3,v=2"),
    ),
    kink=lambda y, input, target, var, *, eps, **_: (None, None, var.le(eps)),
    caveat="the gradient flows to a variance below eps as if it were not clamped; PyTorch refuses "
    "a negative one",
    input_dtypes="floats, no masks",
    saved=(..., INTERMEDIATE),
    numbers=("target", "var"),
)
def gaussian_nll_loss(input, target, var, *, full=False, eps=1e-06, reduction="mean"):
    """How unlikely target is under normal distributions of mean input, variance var; reduced."""
    if var.op.name != "constant":
        check_dtypes("the variance of gaussian_nll_loss", "floats", (var,))
    var = clamp_with_gradient(_variance_of(input, var), min=eps, least=0)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def _variance_of(input, var):
    """The variance in a shape that broadcasts with input: one for each element, or for each row."""
    if var.op.name == "constant" or var.shape == input.shape:
        return var
    if var.shape == input.shape[:-1]:
        return var.unsqueeze(dim=-1)
    different = [n for n, k in zip(var.shape, input.shape, strict=False) if n != k]
    if var.ndim != input.ndim or different != [1]:
        have, want = shapes.text(var.shape), shapes.text(input.shape)
        raise GradcliError("shape", f"a variance of shape {have} does not fit input {want}")
    return var


# ---- margins -------------------------------------------------------------------------------------


@loss(
    order="input target margin size_average reduce reduction",
    examples=(
        ("hinge_embedding_loss(x, sign(y))", "x=2x3,y=2x3"),
        ("hinge_embedding_loss(x, sign(y), 0.5, reduction='sum')", "x=3,y=3"),
    ),
    dtype="first",
    input_dtypes=FLOATS_FIRST,
)
def hinge_embedding_loss(input, target, *, margin=1.0, reduction="mean"):
    """input where target is 1, max(0, margin - input) where it is -1, reduced."""
    of_negatives = where(target.ne(1), (margin - input).clamp(min=0), 0)
    return reduced(of_negatives + where(target.ne(-1), input, 0), reduction)


def _soft_hinge_double_backward(g, y, grad_output, x):
    """The gradients of soft_hinge_backward, whose squared denominator overflows as PyTorch's."""
    z = exp(-x)
    return soft_hinge_backward(g, x), g * grad_output * (z / ((z + 1) * (z + 1)))


@written_out(rule=_soft_hinge_double_backward)
def soft_hinge_backward(grad_output, x):
    """The gradient of soft_hinge."""
    z = exp(-x)
    return grad_output * (-z / (z + 1))


@elementwise(
    lambda x: np.log1p(np.exp(-x)),
    expand=lambda x: log1p(exp(-x)),
    dtype="float",
    torch=None,
    examples=(("soft_hinge(x)", "x=2x3"),),
)
def soft_hinge(g, y, x):
    """log(1 + exp(-x))."""
    return soft_hinge_backward(g, x)


@loss(
    order="input target size_average reduce reduction",
    examples=(
        ("soft_margin_loss(x, sign(y).detach())", "x=2x3,y=2x3"),
        ("soft_margin_loss(x, sign(y).detach(), reduction='none')", "x=3,y=3"),
    ),
    dtype="first",
    without_derivative=("target",),
    input_dtypes=FLOATS_FIRST,
)
def soft_margin_loss(input, target, *, reduction="mean"):
    """log(1 + exp(-target * input)), reduced; target is 1 or -1."""
    check_dtypes("soft_margin_loss", "no masks", (target,))
    shapes.require_equal(
        shapes.broadcast(input.shape, target.shape),
        input.shape,
        f"a target of shape {shapes.text(target.shape)} is larger than the input of "
        f"soft_margin_loss(), {shapes.text(input.shape)}",
    )
    return reduced(soft_hinge(target * input), reduction)


@loss(
    typical_same_shape=("input1", "input2"),
    order="input1 input2 target margin size_average reduce reduction",
    examples=(
        ("margin_ranking_loss(a, b, sign(y))", "a=2x3,b=2x3,y=2x3"),
        ("margin_ranking_loss(a, b, sign(y), margin=0.5, reduction='none')", "a=3,b=3,y=3"),
    ),
    input_dtypes="no masks",
    saved=(..., INTERMEDIATE),
)
def margin_ranking_loss(input1, input2, target, *, margin=0.0, reduction="mean"):
    """max(0, margin - target * (input1 - input2)), reduced; target is 1 or -1."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise GradcliError(
            "shape", "margin_ranking_loss() needs tensors with the same number of dimensions"
        )
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)
