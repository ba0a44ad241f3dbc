"""A Jacobian whose output or input is reshaped, which leaves the matrix unchanged.

The structure of outer(x, y).flatten() is visible in the shape of outer(x, y). If a gradient
reshapes its seed (the upstream gradient), or is the result of a reshape, the shape on the other
side of the reshape is tried too.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...graphs import OPS, Node, walk
from ...graphs.shapes import Shape
from ...graphs.substitution import substitute
from ..indices.places import Place
from ..tree import Name


class Side(NamedTuple):
    """A tensor and the index letters of its elements. `own` is False if the letters are those of
    another shape of the tensor, not of its dimensions.
    """

    name: Name
    at: Sequence[Place]
    own: bool = True


class Layout(NamedTuple):
    """An output, its gradient and the seed, possibly reshaped."""

    out: Node
    grad: Node
    seed: Node


def layouts(out: Node, grad: Node, seed: Node) -> Iterator[Layout]:
    """Yield the original layout; then, if nodes of the gradient are reshaped to more dimensions, a
    layout with those dimensions.
    """
    yield Layout(out, grad, seed)
    reshaped = [n for n in walk([grad]) if n.op.index == "reshape" and seed in walk([n])]
    rows = _finest(out.shape, (n.shape for n in reshaped if n.numel == out.numel))
    columns = _finest(grad.shape, (n.parents[0].shape for n in reshaped if n.numel == grad.numel))
    if (rows, columns) != (out.shape, grad.shape):
        reshaped_seed = OPS["input"](name="\0seed", shape=rows, is_direction=True)
        reshaped_grad = substitute(grad, {seed: reshaped_seed.reshape(shape=seed.shape)})
        yield Layout(out.reshape(shape=rows), reshaped_grad.reshape(shape=columns), reshaped_seed)


def _finest(own_shape: Shape, others: Iterable[Shape]) -> Shape:
    """The shape with the most dimensions; the first one of several."""
    return max((own_shape, *others), key=lambda shape: sum(n != 1 for n in shape))
