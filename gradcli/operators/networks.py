"""Layers of neural networks."""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from .families import composite, operator, rows_apart, same_with_axis
from .matrix import einsum
from .pointwise import F, exp


def _softmax(x, *, dim):
    if not np.ndim(x):
        return np.exp(x - x)
    out = np.exp(x - np.max(x, axis=dim, keepdims=True, initial=-np.inf))
    out /= np.sum(out, axis=dim, keepdims=True)
    return out


@operator(
    shape=same_with_axis,
    rows=rows_apart,
    value=_softmax,
    dtype="float",
    expand=lambda x, *, dim: exp(x) / exp(x).sum(dim=dim, keepdim=True),
    examples=(("softmax(x, dim=-1)", "x=2x3"), ("x.softmax(0)", "x=3")),
)
def softmax(g, y, x, *, dim):
    """exp(x), scaled to sum to 1 along dim."""
    return y * (g - (g * y).sum(dim=dim, keepdim=True))


def _log_softmax(x, *, dim):
    if not np.ndim(x):
        return x - x
    out = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    out -= np.log(np.sum(np.exp(out), axis=dim, keepdims=True))
    return out


@operator(
    shape=same_with_axis,
    rows=rows_apart,
    value=_log_softmax,
    dtype="float",
    expand=lambda x, *, dim: x - x.logsumexp(dim=dim, keepdim=True),
    examples=(("log_softmax(x, dim=-1)", "x=2x3"), ("x.log_softmax(0)", "x=3")),
)
def log_softmax(g, y, x, *, dim):
    """Logarithm of softmax, computed without overflow."""
    return g - exp(y) * g.sum(dim=dim, keepdim=True)


@composite(
    torch=F + "linear",
    examples=(("linear(x, w, b)", "x=2x3,w=4x3,b=4"), ("linear(x, w)", "x=3,w=4x3")),
)
def linear(input, weight, bias=None):
    """input @ weight.T + bias."""
    if weight.ndim not in (1, 2) or (bias is not None and bias.ndim >= weight.ndim):
        raise GradcliError(
            "shape", "linear() needs a weight of shape (out, in) and a bias of shape (out,)"
        )
    product = input @ (weight.mT if weight.ndim == 2 else weight)
    return product if bias is None else product + bias


# ---- convolution ---------------------------------------------------------------------------------


def _pair(value):
    return value if isinstance(value, tuple) else (value, value)


def _window_count(size, kernel, stride, dilation):
    count = (size - dilation * (kernel - 1) - 1) // stride + 1
    if count < 1:
        reach = dilation * (kernel - 1) + 1
        raise GradcliError(
            "shape",
            f"the kernel reaches over {reach} elements and the padded input has only {size}",
        )
    return count


def _windows_shape(s, *, kernel, stride, dilation):
    rows, columns = (_window_count(s[d - 2], kernel[d], stride[d], dilation[d]) for d in (0, 1))
    return (*s[:-2], rows, columns, *kernel)


def _kernel_places(shape, kernel, stride, dilation):
    """For every place in the kernel, the slices of the input that it meets."""
    *_, rows, columns, _, _ = _windows_shape(shape, kernel=kernel, stride=stride, dilation=dilation)
    for r in range(kernel[0]):
        for c in range(kernel[1]):
            first, second = r * dilation[0], c * dilation[1]
            down = slice(first, first + (rows - 1) * stride[0] + 1, stride[0])
            across = slice(second, second + (columns - 1) * stride[1] + 1, stride[1])
            yield r, c, (..., down, across)


def _windows(x, *, kernel, stride, dilation):
    out = np.empty(
        _windows_shape(x.shape, kernel=kernel, stride=stride, dilation=dilation), x.dtype
    )
    for r, c, met in _kernel_places(x.shape, kernel, stride, dilation):
        out[..., r, c] = x[met]
    return out


def _overlap(w, *, shape, stride, dilation):
    out = np.zeros(shape, w.dtype)
    for r, c, met in _kernel_places(shape, w.shape[-2:], stride, dilation):
        out[met] += w[..., r, c]
    return out


@operator(
    family="movement",
    shape=_windows_shape,
    value=_windows,
    dtype="first",
    examples=(("windows(x, (2, 2), (1, 2), (1, 1))", "x=3x4"),),
    method=True,
    torch=None,
    index=lambda lower, i, x, *, kernel, stride, dilation: lower.window(i, x, stride, dilation),
)
def windows(g, y, x, *, kernel, stride, dilation):
    """The part of the last two dimensions under a kernel, at each of its positions."""
    return g.overlap(shape=x.shape, stride=stride, dilation=dilation)


def _overlapped(s, *, shape, stride, dilation):
    met = _windows_shape(shape, kernel=s[-2:], stride=stride, dilation=dilation)
    shapes.require_equal(s, met, f"a kernel over {shape} has windows of shape {met}, not {s}")
    return shape


@operator(
    shape=_overlapped,
    value=_overlap,
    dtype="first",
    method=True,
    examples=(("windows(x, (2, 2), (1, 1), (1, 1)).overlap((3, 4), (1, 1), (1, 1))", "x=3x4"),),
    torch=None,
    index=lambda lower, i, w, *, shape, stride, dilation: lower.overlapping(i, w, stride, dilation),
)
def overlap(g, y, w, *, shape, stride, dilation):
    """Windows laid back where they came from and added up: the transpose of windows."""
    return g.windows(kernel=w.shape[-2:], stride=stride, dilation=dilation)


@operator(
    shape=lambda s, *, amount: tuple(n + a + b for n, (a, b) in zip(s, amount, strict=True)),
    value=lambda x, *, amount: np.pad(x, amount),
    dtype="first",
    examples=(("zero_pad(x, ((0, 0), (1, 2)))", "x=2x3"),),
    method=True,
    torch=None,
    index=lambda lower, i, x, *, amount: lower.padded(i, x, amount),
)
def zero_pad(g, y, x, *, amount):
    """Zeros before and after each dimension."""
    return g[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, amount, strict=True))]


def _same_padding(weight_size, dilation):
    """PyTorch's padding="same": what the kernel overhangs, the odd one at the end."""
    total = [d * (n - 1) for d, n in zip(dilation, weight_size[-2:], strict=True)]
    return tuple((n // 2, n - n // 2) for n in total)


def _padding(padding, weight_size, stride, dilation):
    if padding == "same":
        if stride != (1, 1):
            raise GradcliError("arguments", "padding='same' needs a stride of 1")
        return _same_padding(weight_size, dilation)
    if isinstance(padding, str) and padding != "valid":
        raise GradcliError("arguments", f"padding {padding!r} is not a number, 'same' or 'valid'")
    return tuple((n, n) for n in _pair(0 if padding == "valid" else padding))


def _edges(input_ndim, padding, weight_size, stride, dilation):
    """Zeros before and after each dimension of the input."""
    return ((0, 0),) * (input_ndim - 2) + _padding(padding, weight_size, stride, dilation)


def _parts(input, weight_size, stride, padding, dilation):
    """What the kernel meets of the padded input, at each of its positions."""
    edges = _edges(input.ndim, padding, weight_size, stride, dilation)
    padded = input.zero_pad(amount=edges) if any(map(any, edges)) else input
    return padded.windows(kernel=weight_size[-2:], stride=stride, dilation=dilation)


def _grouped(x, dim, groups):
    """A dimension taken apart into groups."""
    dim %= x.ndim
    return x.reshape(shape=(*x.shape[:dim], groups, x.shape[dim] // groups, *x.shape[dim + 1 :]))


def _merged(x, dim):
    """A dimension of groups put together with the next."""
    dim %= x.ndim
    return x.reshape(shape=(*x.shape[:dim], x.shape[dim] * x.shape[dim + 1], *x.shape[dim + 2 :]))


def _conv2d_rule(g, y, input, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
    if input.ndim == 3 or isinstance(padding, str):  # PyTorch's conv2d_input takes neither
        return NotImplemented
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    to_input = conv2d_input(weight=weight, grad_output=g, input_size=input.shape, **how)
    to_weight = conv2d_weight(input=input, grad_output=g, weight_size=weight.shape, **how)
    to_bias = None if bias is None else g.sum(dim=(0, 2, 3))
    return to_input, to_weight, to_bias


@composite(
    torch=F + "conv2d",
    rule=_conv2d_rule,
    examples=(
        ("conv2d(x, w, b, padding=1)", "x=2x2x3x3,w=3x2x2x2,b=3"),
        ("conv2d(x, w, b, stride=2)", "x=2x4x4,w=3x2x2x2,b=3"),
        ("conv2d(x, w, groups=2)", "x=1x4x3x3,w=2x2x2x2"),
        ("conv2d(x, w, padding='same', dilation=2)", "x=1x1x4x4,w=1x1x2x3"),
    ),
)
def conv2d(input, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
    """At every position, the sum of products of the kernel and the part of the input under it."""
    stride, dilation = _pair(stride), _pair(dilation)
    _check_convolution(input, weight, groups)
    parts = _parts(input, weight.shape, stride, padding, dilation)
    if groups == 1:
        out = einsum("...ihwkl,oikl->...ohw", parts, weight)
    else:
        parts, kernels = _grouped(parts, -5, groups), _grouped(weight, 0, groups)
        out = _merged(einsum("...gihwkl,goikl->...gohw", parts, kernels), -4)
    return out if bias is None else out + bias.reshape(shape=(bias.numel, 1, 1))


@composite(
    torch="torch.nn.grad.conv2d_input",
    order="input_size weight grad_output stride padding dilation groups",
    examples=(
        ("conv2d_input((1, 1, 3, 3), w, g)", "w=2x1x2x2,g=1x2x2x2"),
        ("conv2d_input((1, 2, 3, 3), w, g, padding=1, groups=2)", "w=2x1x2x2,g=1x2x4x4"),
    ),
)
def conv2d_input(weight, grad_output, *, input_size, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d by its input: each output laid back over the part it came from."""
    stride, dilation = _pair(stride), _pair(dilation)
    edges = _edges(len(input_size), padding, weight.shape, stride, dilation)
    if groups == 1:
        parts = einsum("...ohw,oikl->...ihwkl", grad_output, weight)
    else:
        g, kernels = _grouped(grad_output, -3, groups), _grouped(weight, 0, groups)
        parts = _merged(einsum("...gohw,goikl->...gihwkl", g, kernels), -6)
    sizes = tuple(n + a + b for n, (a, b) in zip(input_size, edges, strict=True))
    whole = parts.overlap(shape=sizes, stride=stride, dilation=dilation)
    inside = tuple(slice(a, a + n) for n, (a, _) in zip(input_size, edges, strict=True))
    return whole[inside] if any(map(any, edges)) else whole


@composite(
    torch="torch.nn.grad.conv2d_weight",
    order="input weight_size grad_output stride padding dilation groups",
    examples=(
        ("conv2d_weight(x, (2, 1, 2, 2), g)", "x=2x1x3x3,g=2x2x2x2"),
        ("conv2d_weight(x, (2, 1, 2, 2), g, padding=1, groups=2)", "x=1x2x3x3,g=1x2x4x4"),
    ),
)
def conv2d_weight(input, grad_output, *, weight_size, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d by its weight: outputs times the parts that they came from, summed."""
    parts = _parts(input, weight_size, _pair(stride), padding, _pair(dilation))
    n = "n" if input.ndim == 4 else ""
    if groups == 1:
        return einsum(f"{n}ohw,{n}ihwkl->oikl", grad_output, parts)
    g, parts = _grouped(grad_output, -3, groups), _grouped(parts, -5, groups)
    return _merged(einsum(f"{n}gohw,{n}gihwkl->goikl", g, parts), 0)


def _check_convolution(input, weight, groups):
    if input.ndim not in (3, 4) or weight.ndim != 4:
        raise GradcliError(
            "shape",
            "conv2d() needs an input of shape (batch, channels, rows, columns) "
            "and a weight of shape (out, in, rows, columns), "
            f"not {shapes.text(input.shape)} and {shapes.text(weight.shape)}",
        )
    have, want = input.shape[-3], weight.shape[1] * groups
    if have != want:
        raise shapes.Conflict(
            f"conv2d() needs {want} channels for this weight, and the input has {have}", have, want
        )
    if weight.shape[0] % groups:
        raise GradcliError(
            "shape", f"{weight.shape[0]} output channels do not divide into {groups} groups"
        )


# ---- normalisation -------------------------------------------------------------------------------


@composite(
    torch=F + "layer_norm",
    examples=(("layer_norm(x, (3,))", "x=2x3"), ("layer_norm(x, (3,), w, b)", "x=2x3,w=3,b=3")),
    order="input normalized_shape weight bias eps",
)
def layer_norm(input, weight=None, bias=None, *, normalized_shape, eps=1e-05):
    """input scaled to mean 0 and variance 1 over its last dimensions, then * weight + bias."""
    sizes = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    needed = f"layer_norm() over {shapes.text(sizes)} needs"
    tail, have = input.shape[-len(sizes) :], shapes.text(input.shape)
    shapes.require_equal(tail, sizes, f"{needed} an input that ends in these sizes, not {have}")
    for given in (weight, bias):
        if given is not None:
            have = shapes.text(given.shape)
            shapes.require_equal(
                given.shape, sizes, f"{needed} weight and bias like it, not {have}"
            )
    dim = tuple(range(input.ndim - len(sizes), input.ndim))
    out = standardize(input, dim=dim, eps=eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


@operator(
    method=True,
    expand=lambda x, *, dim, eps: (
        (x - x.mean(dim=dim, keepdim=True))
        / (x.var(dim=dim, correction=0, keepdim=True) + eps).sqrt()
    ),
    examples=(("standardize(x, (1,), 0.00001)", "x=2x3"),),
    torch=None,
)
def standardize(g, y, x, *, dim, eps):
    """x moved and scaled to mean 0 and variance 1 along dim."""
    scale = (x.var(dim=dim, correction=0, keepdim=True) + eps).rsqrt()
    return scale * (g - g.mean(dim=dim, keepdim=True) - y * (g * y).mean(dim=dim, keepdim=True))
