"""Losses for classification: targets are class indices, class probabilities, or one binary label
per class.
"""

import math

from ..errors import GradcliError
from ..graphs import shapes
from ..graphs.operator import FLOATS_FIRST, check_dtypes
from .comparisons import where
from .families import composite, require, shorthand
from .guards import raise_where
from .leaves import arange, size, zeros
from .losses import logsigmoid, loss, reduced
from .networks import linear


def _class_axis(input):
    return 0 if input.ndim == 1 else 1


def _check_classes(input, target):
    axis = _class_axis(input)
    wanted = input.shape[:axis] + input.shape[axis + 1 :]
    classes = shapes.text(input.shape)
    message = f"class labels for shape {classes} must have shape {{want}}, got {{have}}"
    shapes.require_equal(target.shape, wanted, message)


def _check_probabilities(input, target):
    message = "class probabilities must have the shape of the input, {want}, got {have}"
    shapes.require_equal(target.shape, input.shape, message)


def _saved_for_labels(y, input, target, weight, *, ignore_index, **_):
    return input, target, weight, _total_weight(target, weight, ignore_index)


def _saved_for_classes(y, input, target, weight, *, ignore_index, label_smoothing, **_):
    if label_smoothing or target.shape == input.shape:
        return (...,)
    logp = input.log_softmax(dim=_class_axis(input))
    return _saved_for_labels(y, logp, target, weight, ignore_index=ignore_index)


@loss(
    order="input target weight size_average ignore_index reduce reduction",
    integer_attributes=("ignore_index",),
    integer_inputs=("target",),
    typical_same_shape=(),
    examples=(
        ("nll_loss(x, tensor([2, 0]))", "x=2x3"),
        ("nll_loss(x, tensor([2, 0]), w, reduction='sum')", "x=2x3,w=3"),
        ("nll_loss(x, tensor([2, -100]))", "x=2x3"),
    ),
    without_derivative=("weight",),
    saved=_saved_for_labels,
    zero_second_derivative=True,
    input_dtypes="floats of one dtype",
    exact="all",
)
def nll_loss(input, target, weight=None, *, ignore_index=-100, reduction="mean"):
    """Negative log likelihood: minus input at the class index in target, weighted, reduced."""
    if input.shape == target.shape == (1,):  # PyTorch's backward raises an error for this vector
        target = target.squeeze(dim=0)
    _check_classes(input, target)
    axis = _class_axis(input)
    if weight is not None:
        classes = input.shape[axis]
        message = f"nll_loss() takes a weight for each of {classes} classes, not shape {{have}}"
        shapes.require_equal(weight.shape, (classes,), message)
    counted = target.ne(ignore_index)
    if not input.shape[axis]:
        text = "without classes, all labels must be ignore_index"
        counted = raise_where(counted, counted, message=text, code="index")
    losses = -_at_labels(input, target, counted, axis)
    if weight is not None:
        losses = losses * _weights_of(target, weight, ignore_index)
    losses = where(counted, losses, 0.0)
    if reduction == "mean":
        return losses.sum() / _total_weight(target, weight, ignore_index)
    return reduced(losses, reduction)


def _at_labels(input, target, counted, axis):
    """The element of `input` that each label selects along `axis`: element 0 where the label is not
    `counted`, and zeros if there are no classes.
    """
    if not input.shape[axis]:
        return input.sum(dim=axis)
    label = where(counted, target, 0).unsqueeze(dim=axis)
    return input.gather(dim=axis, index=label).squeeze(dim=axis)


def _weight_of(label, weight):
    return weight.gather(dim=0, index=label.reshape(shape=(-1,))).reshape(shape=label.shape)


def _weights_of(target, weight, ignore_index):
    """The weight of each target, 0 for ignored ones."""
    if not weight.shape[0]:
        return zeros(size=target.shape)
    counted = target.ne(ignore_index)
    return where(counted, _weight_of(where(counted, target, 0), weight), 0.0)


def _total_weight(target, weight, ignore_index):
    """The sum of the weights of all targets that are not ignored: the divisor of the mean."""
    counted = target.ne(ignore_index)
    return (counted if weight is None else _weights_of(target, weight, ignore_index)).sum()


def _along_classes(weight, ndim, axis):
    """Class weights, in a shape that broadcasts with an input along its class axis."""
    return weight.reshape(shape=(-1, *(1,) * (ndim - axis - 1)))


@loss(
    order="input target weight size_average ignore_index reduce reduction label_smoothing",
    integer_attributes=("ignore_index",),
    examples=(
        ("cross_entropy(x, tensor([2, 0]))", "x=2x3"),
        ("cross_entropy(x, softmax(t, 1))", "x=2x3,t=2x3"),
        ("cross_entropy(x, tensor(1))", "x=3"),
        ("cross_entropy(x, tensor([2, 0]), label_smoothing=0.1)", "x=2x3"),
    ),
    without_derivative=("weight",),
    saved=_saved_for_classes,
    input_dtypes=FLOATS_FIRST,
)
def cross_entropy(
    input, target, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    """nll_loss of log_softmax; target contains class indices, or a probability for each class."""
    valid = 0 <= label_smoothing <= 1
    require(valid, f"label_smoothing must be from 0 to 1, got {label_smoothing}")
    axis = _class_axis(input)
    logp = input.log_softmax(dim=axis)
    if target.dtype == "float" and target.ndim == input.ndim > 1:
        _check_probabilities(input, target)
    if target.shape == input.shape:
        check_dtypes("cross_entropy", "floats", (target,))
        return _soft_cross_entropy(logp, target, weight, axis, reduction, label_smoothing)
    result = nll_loss(logp, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return result
    terms = logp if weight is None else logp * _along_classes(weight, logp.ndim, axis)
    smoothing = where(target.ne(ignore_index), -terms.sum(dim=axis), 0.0)
    if reduction == "mean":
        smoothing = smoothing.sum() / _total_weight(target, weight, ignore_index)
    elif reduction == "sum":
        smoothing = smoothing.sum()
    return (1 - label_smoothing) * result + smoothing * (label_smoothing / size(logp, dim=(axis,)))


def _soft_cross_entropy(logp, target, weight, axis, reduction, label_smoothing):
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / size(logp, dim=(axis,))
    terms = logp * target
    if weight is not None:
        terms = terms * _along_classes(weight, logp.ndim, axis)
    losses = -terms.sum(dim=axis)
    if reduction == "mean":
        count = size(losses, dim=tuple(range(losses.ndim)))
        return losses.sum() / (count if logp.shape[axis] else math.nan)  # nan, as PyTorch's 0 / 0
    return reduced(losses, reduction)


@shorthand(input_dtypes=("floats of one dtype", slice(2)))
def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
):
    """cross_entropy of linear(input, linear_weight, linear_bias)."""
    _check_linear(input, linear_weight, target, linear_bias, ignore_index)
    classes, features = linear_weight.shape[:-1], linear_weight.shape[-1]
    bias = linear_bias if linear_bias is None else linear_bias.reshape(shape=(-1,))
    flat = linear(input, linear_weight.reshape(shape=(-1, features)), bias=bias)
    return cross_entropy(
        flat.reshape(shape=(*input.shape[:-1], *classes)),
        target,
        weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )


def _check_linear(input, linear_weight, target, linear_bias, ignore_index):
    """Raise GradcliError unless the arguments of linear_cross_entropy fit together."""
    if linear_weight.ndim < 2 or (linear_weight.ndim > 2 and input.ndim < 2):
        have = f"{shapes.text(input.shape)} and {shapes.text(linear_weight.shape)}"
        text = "linear_cross_entropy() needs a weight with a row for each class, and a batch where"
        raise GradcliError("shape", f"{text} there are several losses a row, not shapes {have}")
    if ignore_index is not None and target.dtype == "float":
        text = "ignore_index needs class labels, but this target has probabilities"
        raise GradcliError("arguments", text)
    if linear_bias is not None:
        kinds = (input, linear_weight, linear_bias)
        check_dtypes("linear_cross_entropy", "floats of one dtype", kinds)
        message = (
            f"a weight of shape {shapes.text(linear_weight.shape)} does not fit a bias of {{have}}"
        )
        shapes.require_equal(linear_bias.shape, linear_weight.shape[:-1], message)


# ---- margins -------------------------------------------------------------------------------------


def _rows(x):
    """x as a matrix of shape (batch, classes). Raises GradcliError for more dimensions."""
    if x.ndim > 2:
        have = shapes.text(x.shape)
        raise GradcliError("shape", f"this loss needs shape (batch, classes), got {have}")
    return x.reshape(shape=(1,) * (2 - x.ndim) + x.shape)


def _margins(x, label, counted, margin):
    """The differences margin - x[label] + x for each label, and the mask of `counted` differences
    that are positive.
    """
    picked = x.gather(dim=1, index=label).unsqueeze(dim=2)
    differences = margin - picked + x.unsqueeze(dim=1)
    return differences, counted & (differences > 0)


def _at_margin(y, x, label, counted, weight, *, p, margin):
    if p == 2:
        return y < y
    differences, _ = _margins(x, label, counted, margin)
    return (counted & differences.eq(0)).any(dim=2).any(dim=1)


def _weighted(terms, weight):
    return terms if weight is None else terms * weight


def _margin_rule(g, y, x, label, counted, weight=None, *, p, margin):
    """The gradients of margin_terms. The derivative with respect to a class within the margin is
    positive; that with respect to the target class is minus the sum of these.
    """
    differences, close = _margins(x, label, counted, margin)
    of_close = where(close, _weighted(2 * differences if p == 2 else 1.0, weight), 0.0)
    is_target = label.unsqueeze(dim=2).eq(arange(end=x.shape[1]))
    of_target = where(is_target, of_close.sum(dim=2, keepdim=True), 0.0)
    to_x = g.unsqueeze(dim=1) * (of_close - of_target).sum(dim=1)
    if weight is None:
        return to_x, None, None, None
    g = g.unsqueeze(dim=1).unsqueeze(dim=2)
    return to_x, None, None, (g * where(close, differences**p, 0.0)).sum_to_size(shape=weight.shape)


@composite(
    rule=_margin_rule,
    kink=_at_margin,
    caveat="no derivative where a class is exactly margin away: PyTorch takes 0",
    integer_inputs=("label", "counted"),
    masks=("counted",),
    torch=None,
    examples=(
        ("margin_terms(x, tensor([[2], [0]]), x.unsqueeze(1) < 0.5, p=1, margin=1.0)", "x=2x3"),
    ),
)
def margin_terms(x, label, counted, weight=None, *, p, margin):
    """relu(margin - x[label] + x) ** p, summed over classes and `counted` labels of each row."""
    differences, close = _margins(x, label, counted, margin)
    return where(close, _weighted(differences**p, weight), 0.0).sum(dim=(1, 2))


@loss(
    order="input target p margin weight size_average reduce reduction",
    integer_inputs=("target",),
    typical_same_shape=(),
    without_derivative=("weight",),
    examples=(
        ("multi_margin_loss(x, tensor([2, 0]))", "x=2x3"),
        ("multi_margin_loss(x, tensor([2, 0]), p=2, margin=0.5, weight=w)", "x=2x3,w=3"),
    ),
    saved=("input", "target", "weight"),
    once_differentiable="derivative for aten::multi_margin_loss_backward is not implemented",
    input_dtypes="floats of one dtype",
)
def multi_margin_loss(input, target, weight=None, *, p=1, margin=1.0, reduction="mean"):
    """max(0, margin - x[target] + x[i]) ** p over the other classes i, averaged, reduced."""
    if p not in (1, 2):
        raise GradcliError("arguments", f"p of multi_margin_loss() must be 1 or 2, got {p}")
    rows = _rows(input)
    samples, classes = rows.shape
    have = shapes.text(target.shape)
    message = f"multi_margin_loss() needs a label for each of {samples} samples, got {have}"
    shapes.require_equal(target.shape or (1,), (samples,), message)
    label = target.reshape(shape=(samples, 1))
    others = label.ne(arange(end=classes)).unsqueeze(dim=1)
    if weight is not None:
        message = "the weight of multi_margin_loss() must have shape {want} here, got {have}"
        shapes.require_equal(weight.shape, (classes,), message)
        weight = _weight_of(label, weight).unsqueeze(dim=2)
    losses = margin_terms(rows, label, others, weight, p=p, margin=margin) / classes
    return reduced(losses.reshape(shape=target.shape), reduction)


@loss(
    order="input target size_average reduce reduction",
    integer_inputs=("target",),
    typical_same_shape=(),
    examples=(
        ("multilabel_margin_loss(x, tensor([[2, -1, 0], [1, 0, -1]]))", "x=2x3"),
        ("multilabel_margin_loss(x, tensor([2, -1, 0]), reduction='sum')", "x=3"),
    ),
    saved=("input", "target"),
    once_differentiable="derivative for aten::multilabel_margin_loss_backward is not implemented",
    input_dtypes="floats",
)
def multilabel_margin_loss(input, target, *, reduction="mean"):
    """max(0, 1 - x[j] + x[i]) over labels j in target, up to -1, and other classes i; reduced."""
    message = "multilabel_margin_loss() needs labels of shape {want}, got {have}"
    shapes.require_equal(target.shape, input.shape, message)
    rows, target = _rows(input), _rows(target)
    classes = rows.shape[1]
    text = f"labels of multilabel_margin_loss() are -1, or classes from 0 to {classes - 1}"
    target = raise_where(target, (target < -1) | (target >= classes), message=text)
    listed = (target < 0).cumsum(dim=1).eq(0)
    label = where(listed, target, 0)
    named = (listed.unsqueeze(dim=2) & label.unsqueeze(dim=2).eq(arange(end=classes))).sum(dim=1)
    counted = listed.unsqueeze(dim=2) & named.eq(0).unsqueeze(dim=1)
    losses = margin_terms(rows, label, counted, p=1, margin=1.0) / classes
    return reduced(losses.reshape(shape=input.shape[:-1]), reduction)


@loss(
    order="input target weight size_average reduce reduction",
    examples=(
        ("multilabel_soft_margin_loss(a, b)", "a=2x3,b=2x3"),
        ("multilabel_soft_margin_loss(a, b, w, reduction='sum')", "a=2x3,b=2x3,w=3"),
    ),
    input_dtypes=FLOATS_FIRST,
    numbers=("target", "weight"),
)
def multilabel_soft_margin_loss(input, target, weight=None, *, reduction="mean"):
    """binary_cross_entropy_with_logits, averaged over the classes, reduced."""
    check_dtypes("multilabel_soft_margin_loss", "no masks", (target,))
    classes = shapes.axis(-1, input.ndim)  # in PyTorch too, even if target has more dimensions
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    losses = losses if weight is None else losses * weight
    return reduced(losses.sum(dim=classes) / input.shape[classes], reduction)
