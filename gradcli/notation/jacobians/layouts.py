"""A Jacobian with its rows and columns counted in other shapes: as a matrix it is the same.

Of outer(x, y).flatten() the shape of outer(x, y) tells what the rows are. Where a gradient reshapes
its seed, or is itself something reshaped, there is such a shape.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...graphs import OPS, Node, walk
from ...graphs.shapes import Shape
from ...graphs.substitution import substitute
from ..indices.places import Place
from ..tree import Name


class Side(NamedTuple):
    """A tensor and the letters that count its elements: those of its dimensions, where it has its
    `own` shape.
    """

    name: Name
    at: Sequence[Place]
    own: bool = True


class Layout(NamedTuple):
    """An output, its gradient and the seed, all of them perhaps reshaped."""

    out: Node
    grad: Node
    seed: Node


def layouts(out: Node, grad: Node, seed: Node) -> Iterator[Layout]:
    """As they are; and with more dimensions, where the gradient has such shapes on the way."""
    yield Layout(out, grad, seed)
    reshaped = [n for n in walk([grad]) if n.op.index == "reshape" and seed in walk([n])]
    rows = _finest(out.shape, (n.shape for n in reshaped if n.numel == out.numel))
    columns = _finest(grad.shape, (n.parents[0].shape for n in reshaped if n.numel == grad.numel))
    if (rows, columns) != (out.shape, grad.shape):
        other = OPS["input"](name="\0seed", shape=rows, is_direction=True)
        inside = substitute(grad, {seed: other.reshape(shape=seed.shape)})
        yield Layout(out.reshape(shape=rows), inside.reshape(shape=columns), other)


def _finest(own: Shape, others: Iterable[Shape]) -> Shape:
    """The shape with most dimensions, rather an earlier one."""
    return max((own, *others), key=lambda shape: sum(n != 1 for n in shape))
