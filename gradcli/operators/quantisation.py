"""Fake quantisation, with a straight-through gradient.

PyTorch computes 1 / scale in float32, which affects the rounding of ties; so does gradcli, for a
scale given as numbers. Everything else is computed in float64.
"""

from ..graphs import Node, as_node, shapes
from ..lazy import np
from .arithmetic import double, round
from .comparisons import logical_and, logical_or, where
from .families import is_integer, require, shorthand
from .guards import raise_where
from .leaves import constant, detach, numbers, tensor
from .shaping import reshape

OUTSIDE = "zero_point must be an integer between quant_min and quant_max"


@shorthand()
def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """input rounded to multiples of scale; the gradient is 0 outside quant_min to quant_max."""
    for number in (scale, zero_point):
        require(as_node(number).numel == 1, "scale and zero_point must each be one number")
    inverse = _inverse(as_node(scale))
    return _rounded(as_node(input), scale, inverse, zero_point, quant_min, quant_max)


@shorthand()
def fake_quantize_per_channel_affine(input, scale, zero_point, dim, quant_min, quant_max):
    """As fake_quantize_per_tensor_affine, with a scale for each index along dim."""
    node = as_node(input)
    axis = shapes.axis(dim, node.ndim)
    along = tuple(n if d == axis else 1 for d, n in enumerate(node.shape))
    message = f"scale and zero_point have {along[axis]} numbers, as many as input along dim"
    for parameter in (scale, zero_point):
        shapes.require_equal(as_node(parameter).shape, (along[axis],), message)
    inverse = reshape(_inverse(as_node(scale)), shape=along)
    scale, zero_point = (reshape(as_node(n), shape=along) for n in (scale, zero_point))
    outside = logical_or(zero_point < quant_min, zero_point > quant_max)
    checked = raise_where(zero_point, outside, message=OUTSIDE)
    return _rounded(node, scale, inverse, checked, quant_min, quant_max)


def _rounded(x, scale, inverse, zero_point, low, high):
    require(is_integer(low) and is_integer(high), "quant_min and quant_max must be integers")
    require(low <= high, f"quant_min must be at most quant_max, got {low} and {high}")
    known = not isinstance(zero_point, Node)
    require(not known or (is_integer(zero_point) and low <= zero_point <= high), OUTSIDE)
    integral = as_node(zero_point).dtype == "int"
    stored = round(x * inverse) + zero_point if integral else round(x * inverse + zero_point)
    inside = logical_and(stored.ge(low), stored.le(high))
    clamped = where(inside, stored, where(stored > high, high, low))  # nan becomes quant_min
    result = (clamped - zero_point) * scale
    return detach(result) + where(inside, x - detach(x), 0)


def _inverse(scale):
    """1 / scale, computed in float32 if the scale is given as numbers."""
    while scale.op is double:
        (scale,) = scale.inputs
    if scale.op not in (constant, tensor):
        return 1 / scale
    written = scale.attrs["value"] if scale.op is constant else scale.attrs["data"].value
    with np.errstate(divide="ignore"):
        result = (1 / np.asarray(written, np.float32)).astype(float)
    return numbers(result) if result.ndim else as_node(result.item())
