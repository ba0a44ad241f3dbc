"""Names for computed indices in index notation: p[j] for nonzero(x > 0)[j,0], p[i,0] for
x.argmax(dim=1)[i,0] within a δ, and a sentence that defines p.
"""

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ...notation import tree
from ...notation.indices.index import Notation
from ...notation.tree import Attribute, Call, Indexed, Method, Name, Tree, Verbatim

NAMES, DELTA = "pqs", Name("δ")
COMPUTED = (Call, Method, Attribute)  # kinds of formulas that are not names
LIST = re.compile(r"nonzero\((.*)\)")
Axes = dict[str, int]  # the number of dimensions of each mask


def with_names(result: Notation, used: Collection[str]) -> tuple[Notation, list[str]]:
    """Index notation with names, not among `used`, for computed indices, and their definitions."""
    axes: Axes = {}
    for mask, axis in _met((result.left, result.right)):
        axes[mask] = max(axes.get(mask, 0), axis + 1)
    free = (name for name in NAMES if name not in used)
    names = dict(zip(axes, free))
    computed = dict.fromkeys(_computed((result.left, result.right)))
    formulas = dict(zip(computed, free))

    def named(part: Any) -> Any:
        if isinstance(part, Indexed) and part.base in formulas:
            return part._replace(base=Name(formulas[part.base]))
        mask = _mask(part)
        if mask is None or mask[0] not in names:
            return part
        places = 1 if axes[mask[0]] == 1 else 2
        return Indexed(Name(names[mask[0]]), part.places[:places])

    text = [_meaning(name, mask, axes[mask]) for mask, name in names.items()]
    text += [f"{name} is {tree.text(f)}." for f, name in formulas.items()]
    left, right = (_changed(side, named) for side in (result.left, result.right))
    return result._replace(left=left, right=right), text


def _meaning(name: str, mask: str, axes: int) -> str:
    if axes == 1:
        return f"{name}[j] is the place of the j-th True in {mask}."
    return f"{name}[j,d] is the place, in dimension d, of the j-th True in {mask}."


def _mask(part: Any) -> tuple[str, int] | None:
    """The mask and the dimension, if a formula is the index of a True element of a mask in one of
    its dimensions; None for other formulas.
    """
    if not isinstance(part, Indexed) or not isinstance(part.base, Verbatim):
        return None
    match = LIST.fullmatch(part.base.text)
    return (match[1], int(tree.text(part.places[1]))) if match else None


def _met(part: Any) -> Iterator[tuple[str, int]]:
    stack = [part]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            result = _mask(part)
            if result is not None:
                yield result
            stack += part


def _computed(part: Any) -> Iterator[Tree]:
    """The formulas whose elements are indices within a δ, in reading order."""
    if not isinstance(part, tuple):
        return
    if isinstance(part, Indexed) and part.base == DELTA:
        for place in part.places:
            if isinstance(place, Indexed) and isinstance(place.base, COMPUTED):
                yield place.base
    for inner in part:
        yield from _computed(inner)


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    """A formula with `change` applied to its parts, the innermost first."""
    if not isinstance(part, tuple):
        return part
    built = (_changed(inner, change) for inner in part)
    return change(type(part)(*built) if hasattr(part, "_fields") else tuple(built))
