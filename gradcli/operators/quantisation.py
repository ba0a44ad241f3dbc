"""Numbers rounded to those that few bits can store; the gradient passes straight through.

PyTorch computes with scales of 32 bits, here they have 64 as all other numbers.
"""

from ..graphs import Node, as_node, shapes
from .arithmetic import round
from .comparisons import clamp, logical_and, where
from .families import is_whole, require, shorthand
from .leaves import detach
from .shaping import reshape


@shorthand()
def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """input, rounded to multiples of scale; the gradient passes where those can be stored."""
    for number in (scale, zero_point):
        require(as_node(number).numel == 1, "scale and zero_point are one number each")
    return _rounded(as_node(input), scale, zero_point, quant_min, quant_max)


@shorthand()
def fake_quantize_per_channel_affine(input, scale, zero_point, dim, quant_min, quant_max):
    """As fake_quantize_per_tensor_affine, with a scale for each index along dim."""
    node = as_node(input)
    place = shapes.axis(dim, node.ndim)
    along = tuple(n if d == place else 1 for d, n in enumerate(node.shape))
    message = f"scale and zero_point have {along[place]} numbers, as many as input along dim"
    for numbers in (scale, zero_point):
        shapes.require_equal(as_node(numbers).shape, (along[place],), message)
    scale, zero_point = (reshape(as_node(n), shape=along) for n in (scale, zero_point))
    return _rounded(node, scale, zero_point, quant_min, quant_max)


def _rounded(x, scale, zero_point, low, high):
    require(is_whole(low) and is_whole(high), "quant_min and quant_max are whole numbers")
    require(low <= high, f"quant_min is at most quant_max, not {low} beside {high}")
    known = not isinstance(zero_point, Node)
    said = "zero_point is a whole number between quant_min and quant_max"
    require(not known or (is_whole(zero_point) and low <= zero_point <= high), said)
    stored = round(x / scale) + zero_point
    found = (clamp(stored, low, high) - zero_point) * scale
    moving = where(logical_and(stored.ge(low), stored.le(high)), x - detach(x), 0)
    return detach(found) + moving
