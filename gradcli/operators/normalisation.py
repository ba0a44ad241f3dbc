"""Normalisation: inputs scaled to a given mean, variance or norm."""

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, OPS, Outputs, as_node, shapes
from ..graphs.operator import FLOATS_FIRST
from .activations import along_channels
from .comparisons import where
from .families import composite, operator, require, shorthand
from .floats import rounding_unit
from .leaves import zeros
from .norms import vector_norm
from .pointwise import F
from .windows import windows, zero_pad


def _standardized(x, *, dim, eps):
    spread = (x.var(dim=dim, correction=0, keepdim=True) + eps).sqrt()
    return (x - x.mean(dim=dim, keepdim=True)) / spread


def _layer_norm(x, *, dim, eps):
    over = shapes.axes(dim, x.ndim)
    if over != tuple(range(x.ndim - len(over), x.ndim)):
        return _standardized(x, dim=dim, eps=eps)
    return OPS["layer_norm"](x, normalized_shape=x.shape[x.ndim - len(over) :], eps=eps)


@operator(
    method=True,
    expand=_standardized,
    torch_expand=_layer_norm,
    examples=(("standardize(x, (1,), 0.00001)", "x=2x3"),),
    torch=None,
    saved=lambda y, x, *, dim, eps: (x, *_statistics(x, dim, eps, keepdim=True)),
)
def standardize(g, y, x, *, dim, eps):
    """x shifted and scaled to mean 0 and variance 1 along dim."""
    scale = _inverse_deviation(x, dim, eps)
    return scale * (g - g.mean(dim=dim, keepdim=True) - y * (g * y).mean(dim=dim, keepdim=True))


def _inverse_deviation(x, dim, eps):
    return (x.var(dim=dim, correction=0, keepdim=True) + eps).rsqrt()


def _scaled(x, weight, bias):
    """x * weight + bias, without those that are None."""
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


# ---- layers over the last dimensions -------------------------------------------------------------


def _saved_for_layer_norm(y, x, weight, bias, *, normalized_shape, eps):
    dim = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    return x, weight, bias, *_statistics(x, dim, eps, keepdim=True)


@composite(
    torch=F + "layer_norm",
    saved=_saved_for_layer_norm,
    examples=(("layer_norm(x, (3,))", "x=2x3"), ("layer_norm(x, (3,), w, b)", "x=2x3,w=3,b=3")),
    order="input normalized_shape weight bias eps",
    integer_attributes=("normalized_shape",),
    input_dtypes="floats of one dtype",
    exact="value",
)
def layer_norm(input, weight=None, bias=None, *, normalized_shape, eps=1e-05):
    """input scaled to mean 0 and variance 1 over its last dimensions, then * weight + bias."""
    dim = _last("layer_norm", input, normalized_shape, weight, bias)
    return _scaled(standardize(input, dim=dim, eps=eps), weight, bias)


@composite(
    torch=F + "rms_norm",
    integer_attributes=("normalized_shape",),
    examples=(("rms_norm(x, (3,))", "x=2x3"), ("rms_norm(x, (3,), w, 0.1)", "x=2x3,w=3")),
    order="input normalized_shape weight eps",
    input_dtypes=FLOATS_FIRST,
    saved=(..., INTERMEDIATE),
)
def rms_norm(input, weight=None, *, normalized_shape, eps=None):
    """input divided by the root of its mean square over its last dimensions, then * weight."""
    dim = _last("rms_norm", input, normalized_shape, weight)
    mean_square = (input * input).mean(dim=dim, keepdim=True)
    scaled = input * (mean_square + (rounding_unit(input) if eps is None else eps)).rsqrt()
    return _scaled(scaled, weight, None)


def _last(name, input, normalized_shape, *tensors):
    """The last dimensions of input. Raises GradcliError unless these and `tensors` have shape
    normalized_shape.
    """
    sizes = normalized_shape
    require(isinstance(sizes, tuple), f"normalized_shape of {name}() is written ({sizes},)")
    message = f"input of {name}() must end in {{want}}, got {shapes.text(input.shape)}"
    shapes.require_equal(input.shape[-len(sizes) :], sizes, message)
    message = f"weight and bias of {name}() must have shape {{want}}, got {{have}}"
    for tensor in tensors:
        if tensor is not None:
            shapes.require_equal(tensor.shape, sizes, message)
    return tuple(range(input.ndim - len(sizes), input.ndim))


# ---- layers over channels ------------------------------------------------------------------------


def _by_channel(name, input, *tensors):
    """Parameters with one number per channel, in a shape that broadcasts with input."""
    return [
        None if x is None else along_channels(x, input, f"parameters of {name}() must have")
        for x in tensors
    ]


@shorthand(
    input_dtypes="floats of one dtype", saved=("input", "running_mean", "running_var", "weight")
)
def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-05,
):
    """(input - mean) / std * weight + bias, by channel; mean and std of the batch in training."""
    number = isinstance(momentum, int | float)
    require(number, f"momentum of batch_norm() must be a number, got {momentum!r}")
    if input.ndim == 1 and input.numel == 0:
        return input
    _check_channels("batch_norm", input)
    mean, var, weight, bias = _by_channel(
        "batch_norm", input, running_mean, running_var, weight, bias
    )
    if training:
        require(eps > 0, f"eps of batch_norm() must be positive in training, got {eps}")
        _check_several("batch_norm", (input.shape[0], *input.shape[2:]))
        scaled = standardize(input, dim=_all_but(1, input), eps=eps)
        return _scaled(scaled, weight, bias)
    require(eps >= 0, f"eps of batch_norm() must be at least 0, got {eps}")
    return _from_running("batch_norm", input, mean, var, weight, bias, eps)


def _check_channels(name, input):
    if input.ndim < 2:
        have = shapes.text(input.shape)
        raise GradcliError("shape", f"{name}() needs shape (batch, channels, ...), got {have}")


def _check_several(name, sizes):
    if shapes.numel(sizes) == 1:
        raise GradcliError("shape", f"{name}() needs more than one value for each channel")


def _all_but(dim, input):
    return tuple(d for d in range(input.ndim) if d != dim)


def _from_running(name, input, mean, var, weight, bias, eps):
    if mean is None or var is None:
        raise GradcliError("arguments", f"{name}() needs running_mean and running_var here")
    return _scaled((input - mean.detach()) / (var.detach() + eps).sqrt(), weight, bias)


def _saved_for_instance_norm(y, x, mean, var, weight, bias, *, use_input_stats, eps, **_):
    if not use_input_stats:
        return (...,)
    each = weight and weight.repeat(x.shape[0])  # PyTorch treats samples as channels
    return x, each, *_statistics(x, tuple(range(2, x.ndim)), eps, keepdim=True)


@composite(
    torch=F + "instance_norm",
    saved=_saved_for_instance_norm,
    order="input running_mean running_var weight bias use_input_stats momentum eps",
    examples=(
        ("instance_norm(x)", "x=1x2x3"),
        ("instance_norm(x, weight=w, bias=b)", "x=2x2x3,w=2,b=2"),
    ),
    input_dtypes="floats of one dtype",
)
def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    *,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
):
    """Each channel of each sample scaled to mean 0 and variance 1, then * weight + bias."""
    _check_channels("instance_norm", input)
    mean, var, weight, bias = _by_channel(
        "instance_norm", input, running_mean, running_var, weight, bias
    )
    if use_input_stats:
        _check_several("instance_norm", input.shape[2:])
        scaled = standardize(input, dim=tuple(range(2, input.ndim)), eps=eps)
        return _scaled(scaled, weight, bias)
    return _from_running("instance_norm", input, mean, var, weight, bias, eps)


def _groups(input, num_groups):
    """`input` reshaped to (batch, groups, elements of a group)."""
    _check_channels("group_norm", input)
    batch, channels, *rest = input.shape
    if num_groups < 1 or channels % num_groups:
        raise GradcliError("shape", f"{channels} channels do not divide into {num_groups} groups")
    return input.reshape(shape=(batch, num_groups, channels // num_groups * shapes.numel(rest)))


@composite(
    torch=F + "group_norm",
    saved=lambda y, x, weight, bias, *, num_groups, eps: (
        x,
        weight,
        *_statistics(_groups(x, num_groups), (2,), eps, keepdim=True),
    ),
    order="input num_groups weight bias eps",
    examples=(
        ("group_norm(x, 2)", "x=2x4"),
        ("group_norm(x, 2, w, b)", "x=1x4x2,w=4,b=4"),
    ),
    input_dtypes="floats of one dtype",
)
def group_norm(input, weight=None, bias=None, *, num_groups, eps=1e-05):
    """Each group of channels scaled to mean 0 and variance 1, then * weight + bias."""
    groups = _groups(input, num_groups)
    batch, channels = input.shape[:2]
    _check_several("group_norm", (batch * channels // num_groups, *input.shape[2:]))
    weight, bias = _by_channel("group_norm", input, weight, bias)
    scaled = standardize(groups, dim=(2,), eps=eps).reshape(shape=input.shape)
    return _scaled(scaled, weight, bias)


@composite(
    torch=F + "local_response_norm",
    order="input size alpha beta k",
    integer_attributes=("size",),
    examples=(
        ("local_response_norm(x, 2)", "x=1x3x2"),
        ("local_response_norm(x, 3, 0.5, 1.0, 2.0)", "x=2x3x1x2"),
    ),
    input_dtypes="floats",
)
def local_response_norm(input, *, size, alpha=1e-4, beta=0.75, k=1.0):
    """input / (k + alpha * s) ** beta, with s the mean square over `size` channels."""
    if input.ndim < 3:
        have = shapes.text(input.shape)
        raise GradcliError(
            "shape", f"local_response_norm() needs shape (batch, channels, ...), got {have}"
        )
    if not input.numel:
        return input
    batch, channels, *rest = input.shape
    squares = (input * input).reshape(shape=(batch, channels, shapes.numel(rest)))
    padded = zero_pad(squares, amount=((0, 0), (size // 2, (size - 1) // 2), (0, 0)))
    near = windows(padded, kernel=(size, 1), stride=(1, 1), dilation=(1, 1)).mean(dim=(-2, -1))
    return input / (near * alpha + k).reshape(shape=input.shape) ** beta


# ---- norms ---------------------------------------------------------------------------------------


@composite(
    torch=F + "normalize",
    examples=(("normalize(x)", "x=2x3"), ("normalize(x, p=1.0, dim=0)", "x=3")),
    order="input p dim eps",
    input_dtypes="floats",
    saved=(..., INTERMEDIATE),
)
def normalize(input, *, p=2.0, dim=1, eps=1e-12):
    """input divided by its p-norm along dim."""
    return input / vector_norm(input, ord=p, dim=dim, keepdim=True).clamp(min=eps)


def _through_renorm(g, y, input, *, p, dim, maxnorm):
    across, length = _norms(input, p, dim)
    along = (g * input).sum(dim=across, keepdim=True)
    to_length = vector_norm.rule(along, length, input, dim=across, keepdim=True, ord=p)
    scale = 1 / (length + 1e-7)
    return where(length > maxnorm, maxnorm * scale * (g - scale * to_length), g)


def _norms(input, p, dim):
    """The dimensions other than dim, and the norm of each slice."""
    across = _all_but(shapes.axis(dim, input.ndim), input)
    return across, vector_norm(input, ord=p, dim=across, keepdim=True)


def _norm_has_kink(y, input, *, p, dim, maxnorm):
    """The mask of slices whose norm equals maxnorm, or exceeds it and has a kink itself."""
    across, length = _norms(input, p, dim)
    corner = vector_norm.kink(length, input, dim=across, keepdim=True, ord=p)
    return length.eq(maxnorm) | ((length > maxnorm) & corner)


@composite(
    rule=_through_renorm,
    kink=_norm_has_kink,
    caveat="no derivative where the norm equals maxnorm: PyTorch passes the gradient on; nor where"
    " it is greater, at points where the norm has none",
    examples=(("renorm(x, 2, 0, 1.5)", "x=3x2"), ("renorm(x, 1, 1, 2.0)", "x=2x3")),
    order="input p dim maxnorm",
    input_dtypes="floats",
)
def renorm(input, *, p, dim, maxnorm):
    """The slices along dim; those with a norm above maxnorm are scaled down to it."""
    if input.ndim < 2:
        raise GradcliError("shape", "renorm() needs at least two dimensions")
    if p <= 0 or maxnorm < 0:
        raise GradcliError("arguments", "renorm() needs a positive p and a maxnorm of at least 0")
    _, length = _norms(input, p, dim)
    return input * where(length > maxnorm, maxnorm / (length + 1e-7), 1.0)


# ---- functions under `torch` ---------------------------------------------------------------------


@shorthand(input_dtypes="floats of one dtype")
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """layer_norm, and mean and 1 / std, through which no gradient flows."""
    out = layer_norm(input, normalized_shape, weight, bias, eps)
    dim = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    return Outputs((out, *_statistics(input, dim, eps, keepdim=True)))


@shorthand(input_dtypes="floats of one dtype")
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """group_norm, and mean and 1 / std, through which no gradient flows."""
    shape = as_node(input).shape
    same = shape[:2] == (N, C) and shapes.numel(shape[2:]) == HxW
    message = f"N, C and HxW of native_group_norm() must match the input, of {shapes.text(shape)}"
    require(same, message)
    out = group_norm(input, group, weight, bias, eps)
    return Outputs((out, *_statistics(_groups(input, group), (2,), eps)))


@shorthand(input_dtypes="floats of one dtype", booleans=("training",))
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """batch_norm, and in training mean and 1 / std, through which no gradient flows."""
    out = batch_norm(input, running_mean, running_var, weight, bias, training=training, eps=eps)
    none = zeros(size=(0,))
    saved = _statistics(input, _all_but(1, input), eps) if training else (none, none)
    return Outputs((out, *saved))


def _statistics(x, dim, eps, keepdim=False):
    mean, scale = x.mean(dim=dim, keepdim=keepdim), _inverse_deviation(x, dim, eps)
    scale = scale if keepdim else scale.reshape(shape=mean.shape)
    return mean.detach(), scale.detach()
