"""Convolutions by names that do not say how many dimensions there are."""

from ..errors import GradcliError
from ..graphs import OPS, as_node
from .families import shorthand


@shorthand()
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """conv1d, conv2d or conv3d, or their transposes, by the dimensions of input."""
    count = as_node(input).ndim - 2
    if count not in (1, 2, 3):
        raise GradcliError("shape", f"convolution() takes 3 to 5 dimensions, not {count + 2}")
    named = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
    if transposed:
        named["output_padding"] = output_padding
    return OPS[f"conv_transpose{count}d" if transposed else f"conv{count}d"](
        input, weight, bias, **named
    )


@shorthand()
def conv_tbc(input, weight, bias, pad=0):
    """conv1d whose dimensions are time, batch and channels."""
    x, kernel = as_node(input).permute(dims=(1, 2, 0)), weight.permute(dims=(2, 1, 0))
    return OPS["conv1d"](x, kernel, bias, padding=pad).permute(dims=(2, 0, 1))
