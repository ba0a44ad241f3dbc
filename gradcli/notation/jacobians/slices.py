"""Places from one to another, as Python writes them: 1:, :-1, ::2."""

from typing import TYPE_CHECKING

from .. import tree
from ..formulas.sizes import LEAST

if TYPE_CHECKING:
    from .tensors import Tensors


def slice_of(write: "Tensors", start: int, step: int, count: int, size: int) -> str | None:
    """`count` places from `start`, from the lowest; None where some of them do not exist."""
    low, high = sorted((start, start + step * (count - 1)))
    if not step or low < 0 or high >= size:
        return None
    begin = _end(write, low, size) if low else ""
    end = "" if high + abs(step) >= size else _end(write, high + 1, size)
    return f"{begin}:{end}" + (f":{abs(step)}" if abs(step) > 1 else "")


def _end(write: "Tensors", place: int, size: int) -> str:
    """A place, counted from the end where it is nearer: -1."""
    last = size - place
    near = last < min(place, LEAST) if write.telling else last < place
    return f"-{last}" if near else tree.text(write.constant(place))
