"""Gated linear units: one half of a tensor times the sigmoid of the other half."""

from ..errors import GradcliError
from ..graphs import shapes
from .families import composite, written_out
from .pointwise import F, sigmoid
from .splitting import chunk


def _second_derivatives(h, y, grad_output, x, gate):
    """The gradients of gated_backward_gate, in PyTorch's order of operations, which decides where
    infinite values give nan.
    """
    s = sigmoid(gate)
    slope = s * (1 - s)
    curvature = slope * (1 - s) - s * slope
    return (1 - s) * s * x * h, h * grad_output * slope, h * x * grad_output * curvature


@written_out(rule=_second_derivatives)
def gated_backward_gate(grad_output, x, gate):
    """The gradient of gated with respect to its gate."""
    s = sigmoid(gate)
    return (1 - s) * s * x * grad_output


@written_out(rule=lambda g, y, x, gate: (g * sigmoid(gate), gated_backward_gate(g, x, gate)))
def gated(x, gate):
    """x times the sigmoid of a gate."""
    return x * sigmoid(gate)


@composite(
    torch=F + "glu",
    examples=(("glu(x)", "x=3x4"), ("glu(x, 0)", "x=4x2")),
    saved=("input",),
    input_dtypes="floats",
)
def glu(input, *, dim=-1):
    """The first half along dim times the sigmoid of the second."""
    size = input.shape[shapes.axis(dim, input.ndim)] if input.ndim else 1
    if size % 2:
        raise GradcliError("shape", f"glu() needs an even size along dimension {dim}, got {size}")
    first, second = chunk(input, 2, dim)
    return gated(first, second)
