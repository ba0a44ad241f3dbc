"""Losses: how far a prediction is from what it should be."""

from ..errors import GradcliError
from ..graphs import Node, shapes
from ..lazy import np
from .arithmetic import abs, where
from .families import composite, elementwise
from .pointwise import F, exp, log1p


def reduced(losses: Node, reduction: str) -> Node:
    """Losses of single elements, brought together as `reduction` says."""
    if reduction not in ("mean", "sum", "none"):
        raise GradcliError("arguments", f"reduction {reduction!r} is not 'mean', 'sum' or 'none'")
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()


@composite(
    torch=F + "mse_loss",
    examples=(("mse_loss(a, b)", "a=2x3,b=2x3"), ("mse_loss(a, b, reduction='none')", "a=3,b=3")),
)
def mse_loss(input, target, *, reduction="mean"):
    """(input - target) ** 2, reduced."""
    return reduced((input - target) ** 2, reduction)


@composite(
    torch=F + "l1_loss",
    examples=(("l1_loss(a, b)", "a=2x3,b=2x3"), ("l1_loss(a, b, reduction='sum')", "a=3,b=3")),
)
def l1_loss(input, target, *, reduction="mean"):
    """|input - target|, reduced."""
    return reduced(abs(input - target), reduction)


def _class_axis(input):
    return 0 if input.ndim == 1 else 1


def _check_classes(input, target):
    axis = _class_axis(input)
    wanted = input.shape[:axis] + input.shape[axis + 1 :]
    have, want = shapes.text(target.shape), shapes.text(wanted)
    message = f"class labels for shape {shapes.text(input.shape)} have shape {want}, not {have}"
    shapes.require_equal(target.shape, wanted, message)


@composite(
    torch=F + "nll_loss",
    order="input target weight ignore_index reduction",
    labels=("target",),
    examples=(
        ("nll_loss(x, tensor([2, 0]))", "x=2x3"),
        ("nll_loss(x, tensor([2, 0]), w, reduction='sum')", "x=2x3,w=3"),
        ("nll_loss(x, tensor([2, -100]))", "x=2x3"),
    ),
    fixed=("weight",),
)
def nll_loss(input, target, weight=None, *, ignore_index=-100, reduction="mean"):
    """Minus the entry of input that each label in target picks, weighted, reduced."""
    _check_classes(input, target)
    axis = _class_axis(input)
    counted = target.ne(ignore_index)
    label = where(counted, target, 0)
    losses = -input.gather(dim=axis, index=label.unsqueeze(dim=axis)).squeeze(dim=axis)
    if weight is not None:
        losses = losses * _weight_of(label, weight)
    losses = where(counted, losses, 0.0)
    if reduction == "mean":
        return losses.sum() / _total_weight(target, weight, ignore_index)
    return reduced(losses, reduction)


def _weight_of(label, weight):
    return weight.gather(dim=0, index=label.reshape(shape=(-1,))).reshape(shape=label.shape)


def _total_weight(target, weight, ignore_index):
    """The weights of all labels that count: what a mean is divided by."""
    counted = target.ne(ignore_index)
    if weight is None:
        return counted.sum()
    return where(counted, _weight_of(where(counted, target, 0), weight), 0.0).sum()


def _along_classes(weight, ndim, axis):
    """The weights of the classes, to be multiplied with an input of so many dimensions."""
    return weight.reshape(shape=(-1, *(1,) * (ndim - axis - 1)))


@composite(
    torch=F + "cross_entropy",
    order="input target weight ignore_index reduction label_smoothing",
    examples=(
        ("cross_entropy(x, tensor([2, 0]))", "x=2x3"),
        ("cross_entropy(x, softmax(t, 1))", "x=2x3,t=2x3"),
        ("cross_entropy(x, tensor(1))", "x=3"),
        ("cross_entropy(x, tensor([2, 0]), label_smoothing=0.1)", "x=2x3"),
    ),
    fixed=("weight",),
)
def cross_entropy(
    input, target, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    """nll_loss of log_softmax; target holds class labels, or a probability for each class."""
    axis = _class_axis(input)
    logp = input.log_softmax(dim=axis)
    if target.shape == input.shape:
        return _soft_cross_entropy(logp, target, weight, axis, reduction, label_smoothing)
    picked = nll_loss(logp, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return picked
    each = logp if weight is None else logp * _along_classes(weight, logp.ndim, axis)
    even = where(target.ne(ignore_index), -each.sum(dim=axis), 0.0)
    if reduction == "mean":
        even = even.sum() / _total_weight(target, weight, ignore_index)
    elif reduction == "sum":
        even = even.sum()
    return (1 - label_smoothing) * picked + even * (label_smoothing / logp.shape[axis])


def _soft_cross_entropy(logp, target, weight, axis, reduction, label_smoothing):
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / logp.shape[axis]
    terms = logp * target
    if weight is not None:
        terms = terms * _along_classes(weight, logp.ndim, axis)
    losses = -terms.sum(dim=axis)
    if reduction == "mean":
        return losses.sum() / (losses.numel if losses.ndim else 1)
    return reduced(losses, reduction)


TINY = 9.999999960041972e-13  # PyTorch has 1e-12 in single precision here


def _bce(x, t):
    with np.errstate(divide="ignore"):
        return -(t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log1p(-x), -100))


@elementwise(
    _bce,
    dtype="float",
    symbolic=lambda sp, x, t: -(t * sp.log(x) + (1 - t) * sp.log(1 - x)),
    domain=(0.1, 0.9),
    caveat="logarithms are held above -100, so that the loss stays finite",
    torch=None,
)
def bce_terms(g, y, x, t):
    """-(t * log(x) + (1 - t) * log(1 - x)) of each element."""
    to_x = g * ((x - t) / ((1 - x) * x).clamp(min=TINY))
    return to_x, g * ((1 - x).log() - x.log())


@composite(
    torch=F + "binary_cross_entropy",
    order="input target weight reduction",
    domain=(0.1, 0.9),
    examples=(
        ("binary_cross_entropy(a, b)", "a=2x3,b=2x3"),
        ("binary_cross_entropy(a, b, w, reduction='sum')", "a=3,b=3,w=3"),
    ),
    fixed=("weight",),
)
def binary_cross_entropy(input, target, weight=None, *, reduction="mean"):
    """Cross entropy of probabilities of two classes, reduced."""
    losses = bce_terms(input, target)
    return reduced(losses if weight is None else losses * weight, reduction)


@composite(
    torch=F + "binary_cross_entropy_with_logits",
    order="input target weight reduction pos_weight",
    examples=(
        ("binary_cross_entropy_with_logits(a, b)", "a=2x3,b=2x3"),
        ("binary_cross_entropy_with_logits(a, b, pos_weight=p)", "a=2x3,b=2x3,p=3"),
    ),
    fixed=("weight", "pos_weight"),
)
def binary_cross_entropy_with_logits(
    input, target, weight=None, pos_weight=None, *, reduction="mean"
):
    """binary_cross_entropy of sigmoid(input), computed without overflow."""
    losses = (
        (1 - target) * input - logsigmoid(input)
        if pos_weight is None
        else (1 - target) * input - (1 + (pos_weight - 1) * target) * logsigmoid(input)
    )
    return reduced(losses if weight is None else losses * weight, reduction)


@elementwise(
    lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
    dtype="float",
    symbolic=lambda sp, x: -sp.log(1 + sp.exp(-x)),
    torch=F + "logsigmoid",
    expand=lambda x: x.clamp(max=0) - log1p(exp(-abs(x))),
)
def logsigmoid(g, y, x):
    """log(sigmoid(x)), computed without overflow."""
    return g * (-x).sigmoid()
