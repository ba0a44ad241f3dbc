"""Where PyTorch's own order of operations decides between numbers and nan."""

from math import nan

from ..graphs import shapes
from ..lazy import np
from .arithmetic import where
from .families import elementwise


@elementwise(
    lambda odd, value, *, instead: np.where(odd, instead, value),
    symbolic=lambda sp, odd, value, *, instead: value,
    expand=lambda odd, value, *, instead: where(odd, instead, value),
    index=lambda lower, i, odd, value, *, instead: value.expand(
        shape=shapes.broadcast(odd.shape, value.shape)
    ),
    labels=("odd",),
    torch=None,
    examples=(("unless(x > 5, x, 0.0)", "x=2x3"),),
)
def unless(g, y, odd, value, *, instead=nan):
    """value; `instead` where inf or nan would come out another way than in PyTorch."""
    return None, g
