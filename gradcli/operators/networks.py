"""Layers of neural networks."""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from .bounds import PROBABILITY
from .families import composite, independent_rows, operator, same_with_axis
from .pointwise import F, exp
from .sum_kernels import largest, total


def _softmax(x, *, dim):
    if not np.ndim(x):
        return np.exp(x - x)
    axis = shapes.axes(dim, np.ndim(x))
    out = x - largest(x, axis)
    np.exp(out, out=out)
    out /= total(out, axis, keepdims=True)
    return out


WIDE = 16  # elements above which PyTorch's results of softmax vary with the number of threads


def _softmax_exact(y, x, *, dim):
    """The field `exact`: "all" for short rows, whose sums PyTorch adds in order; for long rows only
    "value", if they are along the last dimension.
    """
    axis = shapes.axis(dim, x.ndim)
    if shapes.numel(x.shape[axis:]) <= WIDE:
        return "all"
    return "value" if axis == x.ndim - 1 else ""


@operator(
    shape=same_with_axis,
    rows=independent_rows,
    value=_softmax,
    dtype="float",
    expand=lambda x, *, dim: exp(x) / exp(x).sum(dim=dim, keepdim=True),
    examples=(("softmax(x, dim=-1)", "x=2x3"), ("x.softmax(0)", "x=3")),
    jax="jax.nn.softmax({0}, axis={dim})",
    numpy="scipy.special.softmax({0}, axis={dim})",
    order="x dim dtype",
    bounds=PROBABILITY,
    log="log_softmax",
    input_dtypes="floats",
    exact=_softmax_exact,
)
def softmax(g, y, x, *, dim):
    """exp(x), scaled to sum to 1 along dim."""
    return y * (g - (g * y).sum(dim=dim, keepdim=True))


def _log_softmax(x, *, dim):
    if not np.ndim(x):
        return x - x
    axis = shapes.axes(dim, np.ndim(x))
    out = x - largest(x, axis)
    out -= np.log(total(np.exp(out), axis, keepdims=True))
    return out


@operator(
    shape=same_with_axis,
    rows=independent_rows,
    value=_log_softmax,
    dtype="float",
    expand=lambda x, *, dim: x - x.logsumexp(dim=dim, keepdim=True),
    examples=(("log_softmax(x, dim=-1)", "x=2x3"), ("x.log_softmax(0)", "x=3")),
    jax="jax.nn.log_softmax({0}, axis={dim})",
    numpy="scipy.special.log_softmax({0}, axis={dim})",
    order="x dim dtype",
    input_dtypes="floats",
    exact=lambda y, x, *, dim: "all" if shapes.axis(dim, x.ndim) == x.ndim - 1 else "",
)
def log_softmax(g, y, x, *, dim):
    """Logarithm of softmax, computed without overflow."""
    return g - exp(y) * g.sum(dim=dim, keepdim=True)


@composite(
    input_dtypes="numbers of one dtype",
    torch=F + "linear",
    typical_inputs=("matrices", "batches"),
    examples=(("linear(x, w, b)", "x=2x3,w=4x3,b=4"), ("linear(x, w)", "x=3,w=4x3")),
)
def linear(input, weight, bias=None):
    """input @ weight.T + bias."""
    if weight.ndim not in (1, 2):
        have = shapes.text(weight.shape)
        raise GradcliError("shape", f"linear() needs a weight of shape (out, in), got {have}")
    product = input @ (weight.mT if weight.ndim == 2 else weight)
    if bias is None:
        return product
    result, out = product + bias, shapes.text(product.shape)
    message = (
        f"bias of shape {shapes.text(bias.shape)} does not fit input @ weight.T of shape {out}"
    )
    shapes.require_equal(result.shape, product.shape, message, hint="a bias has shape (out,)")
    return result
