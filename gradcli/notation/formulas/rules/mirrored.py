"""Sums along the first dimension of what is symmetric, or its own negative when turned."""

from ....graphs import Node
from ....graphs.shapes import axes
from .assumed import parity
from .registry import normal


@normal("sum", "mean")
def along_the_second(node: Node) -> Node | None:
    """A.sum(0) = A.sum(1) for a symmetric A; (x[:, None] - x).sum(0) = -(x[:, None] - x).sum(1)."""
    x, dim = node.parents[0], node.attrs["dim"]
    if x.ndim < 2 or node.attrs["keepdim"] or dim is None or axes(dim, x.ndim) != (0,):
        return None
    sign = parity(x)
    other = node.op(x, dim=1) if sign else None
    return -other if other is not None and sign < 0 else other
