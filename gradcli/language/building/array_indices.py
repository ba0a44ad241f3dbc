"""Indexing of NumPy and JAX where it differs from PyTorch's: slices with negative steps, and
separated advanced indices, whose dimensions come first; and whether a program uses these libraries.
"""

from collections.abc import Sequence
from typing import Any

from ...graphs import Node
from ...operators.indexing import full_index, is_array
from ..libraries.function import op
from ..names import libraries_of
from .scope import Scope


def is_array_program(b: Scope) -> bool:
    """Whether a program calls functions of NumPy, SciPy or JAX, and none of PyTorch."""
    called = libraries_of(b.program)
    return bool(called) and "torch" not in called


def forward(base: Node, index: Sequence[Any]) -> tuple[Node, tuple[Any, ...]]:
    """The base flipped along dimensions with negative steps, and the index with positive steps."""
    dim, flipped, items = 0, list[int](), list[Any]()
    for item in full_index(index, base.ndim):
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            flipped.append(dim)
            item = _reversed_slice(item, base.shape[dim])
        items.append(item)
        dim += 0 if item is None else getattr(getattr(item, "value", None), "ndim", 1)
    return (op.flip(base, dims=tuple(flipped)), tuple(items)) if flipped else (base, tuple(index))


def _reversed_slice(s: slice, size: int) -> slice:
    """The equivalent slice of the flipped dimension; its ends are negative, so that they hold for
    any size.
    """
    places = range(size)[s]
    if not places:
        return slice(0, 0)
    start = None if s.start is None or places[0] == size - 1 else -places[0] - 1
    stop = None if s.stop is None or not places[-1] else -places[-1]
    return slice(start, stop, -s.step)


def picked_first(node: Node, base: Node, index: Sequence[Any]) -> Node:
    """The result of PyTorch's indexing with the dimensions of advanced indices where NumPy has
    them: first, if a slice, None or ... separates two of them; integers count as advanced indices.
    """
    arrays = [k for k, item in enumerate(index) if is_array(item)]
    numbers = [k for k, item in enumerate(index) if isinstance(item, int)]
    places = sorted(arrays + numbers)
    if not arrays or places[-1] - places[0] == len(places) - 1:
        return node
    items = [item for item in full_index(index, base.ndim) if not isinstance(item, int)]
    picked = [k for k, item in enumerate(items) if is_array(item)]
    if picked[-1] - picked[0] != len(picked) - 1:
        return node  # PyTorch has them first, too
    count = node.ndim - (len(items) - len(picked))
    return op.movedim(node, tuple(range(picked[0], picked[0] + count)), tuple(range(count)))
