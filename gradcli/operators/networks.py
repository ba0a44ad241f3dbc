"""Layers of neural networks."""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from .families import composite, operator, same_with_axis
from .pointwise import F, exp


def _softmax(x, *, dim):
    shifted = (
        np.exp(x - np.max(x, axis=dim, keepdims=True, initial=-np.inf))
        if np.ndim(x)
        else np.exp(x - x)
    )
    return shifted / np.sum(shifted, axis=dim, keepdims=True) if np.ndim(x) else shifted


@operator(
    shape=same_with_axis,
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
    shifted = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))


@operator(
    shape=same_with_axis,
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


def _standardize(x, *, dim, eps):
    centred = x - np.mean(x, axis=dim, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=dim, keepdims=True) + eps)


@operator(
    shape=lambda s, *, dim, eps: s,
    value=_standardize,
    dtype="float",
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
