"""An index written without slices, for `v.put_at(shape, places)`."""

from typing import Any

from ..graphs.shapes import Shape
from ..operators.indexing import arrays_apart, full_index, is_array
from ..operators.leaves import Array


def put_places(index: tuple, shape: Shape) -> list[Any]:
    """An index without slices: whole numbers, None, ... and nested tuples of whole numbers."""
    if not any(isinstance(item, slice) for item in index):
        return [part for item in index for part in _arrays(item)]
    full = full_index(index, len(shape))
    apart = arrays_apart(full)
    keep = next((k for k, i in enumerate(full) if i != slice(None)), len(full))
    if apart or None in full:
        keep = 0
    while full and keep == 0 and full[-1] == slice(None):
        full = full[:-1]
    return ([...] if keep else []) + _grids(full[keep:], shape[keep:], apart)


def _grids(index: tuple, shape: Shape, apart: bool) -> list[Any]:
    """Lists of places for slices and arrays, nested so that they broadcast to what was picked.

    Dimensions that arrays pick come where the arrays stand, or first where they stand `apart`.
    """
    parts = [(k, part) for k, item in enumerate(index) for part in _parts(item)]
    depth = max((_depth(part) for k, part in parts if is_array(index[k])), default=0)
    arrays = [k for k, item in enumerate(index) if is_array(item)]
    single = [k for k, item in enumerate(index) if item is None or isinstance(item, slice)]
    dims: list[Any] = []
    for size, (k, part) in zip(shape, parts):
        if isinstance(index[k], slice):
            after = sum(j > k for j in single) + depth * (not apart and k < min(arrays, default=k))
            dims.append(_nested(tuple(range(*part.indices(size))), after))
        else:
            after = len(single) if apart else sum(j > max(arrays, default=k) for j in single)
            dims.append(_nested(part, after) if isinstance(part, tuple) else part)
    lead = next((k for k, part in enumerate(dims) if isinstance(part, tuple)), None)
    if None in index and lead is not None:
        for _ in range(len(single) + depth - _depth(dims[lead])):
            dims[lead] = (dims[lead],)
    return dims


def _parts(item: Any) -> list[Any]:
    return [] if item is None else [item] if isinstance(item, slice) else _arrays(item)


def _depth(places: Any) -> int:
    return 1 + _depth(places[0]) if isinstance(places, tuple) and places else 0


def _nested(places: Any, by: int) -> Any:
    """Every place in `by` brackets of its own."""
    if isinstance(places, tuple):
        return tuple(_nested(place, by) for place in places)
    return _nested((places,), by - 1) if by else places


def _arrays(item: Any) -> list[Any]:
    """An index array as the whole numbers it picks; a mask gives one list for each dimension."""
    if not isinstance(item, Array):
        return [item]
    if item.dtype == "bool":
        return [tuple(map(int, places)) for places in item.value.nonzero()]
    return [_frozen(item.value.tolist())]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
