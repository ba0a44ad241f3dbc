"""logcumsumexp, with PyTorch's results in the backward pass."""

from sys import float_info

from ..budget import EVERY, tick
from ..graphs import shapes
from ..lazy import np
from .comparisons import where
from .families import composite, flops_per_element, operator, same_with_axis
from .leaves import ones
from .pointwise import exp, log
from .running import moved_last, pairs, reverse_cumsum

LOWEST = -float_info.max  # PyTorch's backward uses it for the logarithm of 0


def _logcumsumexp(x, dim):
    return np.logaddexp.accumulate(x, axis=dim, dtype=float)


@operator(
    shape=same_with_axis,
    dtype="float",
    value=lambda x, *, dim: _logcumsumexp(x, dim) if np.ndim(x) else x,
    method=True,
    expand=lambda x, *, dim: log(exp(x).cumsum(dim=dim)) if x.ndim else x,
    examples=(("x.logcumsumexp(dim=1)", "x=2x3"), ("logcumsumexp(x, 0)", "x=3")),
    numpy="np.logaddexp.accumulate({0}, axis={dim})",
    jax="jax.lax.cumlogsumexp({0}, axis={dim})",
    input_dtypes="floats",
)
def logcumsumexp(g, y, x, *, dim):
    """log of the running sum of exp(x) along dim, computed without overflow."""
    return g.logcumsumexp_backward(x, y, dim=dim) if x.ndim else g


def _in_logarithms(g, y, dim):
    """Logarithms of the positive and of the negative part of g, as in PyTorch. Yields log|g| - y
    for each part, and its reverse logcumsumexp along dim.
    """
    for part in (g, -g):
        tick(EVERY)
        logs = np.where(part > 0, np.log(np.maximum(part, 0)), LOWEST) - y
        yield logs, np.flip(_logcumsumexp(np.flip(logs, dim), dim), dim)


def _workspace(out, *_, **__):
    """Elements of the logarithms and running sums of both parts."""
    return 6 * shapes.numel(out)


def _logcumsumexp_backward(g, x, y, *, dim):
    above, below = (np.exp(onward + x) for _, onward in _in_logarithms(g, y, dim))
    return above - below


def _double_backward_y(h, g, x, y, *, dim):
    """The gradient of logcumsumexp_backward with respect to y, from the rounded first derivative,
    so that cancellation is as in PyTorch.
    """

    def up_to_here(*inputs):
        flipped = (np.flip(n, dim) for n in inputs)
        return np.flip(_logcumsumexp_backward(*flipped, dim=dim), dim)

    above, below = (
        up_to_here(h * np.exp(onward + x), logs, onward)
        for logs, onward in _in_logarithms(g, y, dim)
    )
    return below - above


def _double_backward_x(h, g, x, y, *, dim):
    above, below = (h * np.exp(onward + x) for _, onward in _in_logarithms(g, y, dim))
    return above - below


TENSORS = "h=2x3,g=2x3,x=2x3"


def _part_of_double_backward(value, **fields):
    """A decorator for the gradients of logcumsumexp_backward."""
    return composite(
        shape=lambda h, g, s, t, *, dim: s,
        value=value,
        torch=None,
        flops=flops_per_element,
        workspace=_workspace,
        **fields,
    )


@_part_of_double_backward(
    _double_backward_y,
    torch_expand=lambda h, g, x, y, *, dim: -g * exp(-y) * (h * exp(x)).cumsum(dim=dim),
    examples=(("logcumsumexp_double_backward_y(h, g, x, logcumsumexp(x, 1), dim=1)", TENSORS),),
)
def logcumsumexp_double_backward_y(h, g, x, y, *, dim):
    """-g[k] sum_{i<=k} h[i] exp(x[i] - y[k])."""
    h, x, y = (n.flip(dims=(dim,)) for n in (h, x, y))
    return -g * h.logcumsumexp_backward(-y, -x, dim=dim).flip(dims=(dim,))


@_part_of_double_backward(
    _double_backward_x,
    torch_expand=lambda h, g, x, y, *, dim: h * exp(x) * reverse_cumsum(g * exp(-y), dim),
    examples=(("logcumsumexp_double_backward_x(h, g, x, logcumsumexp(x, 1), dim=1)", TENSORS),),
)
def logcumsumexp_double_backward_x(h, g, x, y, *, dim):
    """h[i] sum_{k>=i} g[k] exp(x[i] - y[k])."""
    return h * _sum_of_shares(g, x, y, dim)


def _double_backward(h, _, g, x, y, *, dim):
    to_y = h.logcumsumexp_double_backward_y(g, x, y, dim=dim)
    to_g = to_y / -g  # PyTorch differentiates log|g|
    return to_g, h.logcumsumexp_double_backward_x(g, x, y, dim=dim), to_y


@composite(
    rule=_double_backward,
    shape=lambda g, s, t, *, dim: s,
    value=_logcumsumexp_backward,
    torch_expand=lambda g, x, y, *, dim: exp(x) * reverse_cumsum(g * exp(-y), dim),
    torch=None,
    kink=lambda slope, g, x, y, *, dim: (g.eq(0), None, None),
    caveat="where g is 0 PyTorch differentiates its logarithm: that gives nan, or, where the "
    "backward pass drops the nan, a wrong number",
    examples=(("logcumsumexp_backward(g, x, logcumsumexp(x, 1), dim=1)", "g=2x3,x=2x3"),),
    flops=flops_per_element,
    workspace=_workspace,
)
def logcumsumexp_backward(g, x, y, *, dim):
    """sum_{k>=i} g[k] exp(x[i] - y[k]), the gradient of logcumsumexp."""
    return _sum_of_shares(g, x, y, dim)


def _sum_of_shares(g, x, y, dim):
    """sum_{k>=i} g[k] exp(x[i] - y[k]), from the matrix of all exp(x[i] - y[k])."""
    rows, both = pairs(x, dim)
    is_later = ones(size=both[-2:]).triu() > 0
    exponents = rows.unsqueeze(dim=-1) - moved_last(y, dim).unsqueeze(dim=-2)
    weights = where(is_later, exp(where(is_later, exponents, 0)), 0)
    return moved_last((weights * moved_last(g, dim).unsqueeze(dim=-2)).sum(dim=-1), dim)
