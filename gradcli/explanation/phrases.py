"""Shapes, numbers and lists as people say them."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from ..graphs.shapes import Shape
from ..lazy import np


def shape_text(shape: Shape) -> str:
    """2×3, as people say it; a number on its own has shape ()."""
    return "×".join(map(str, shape)) if len(shape) > 1 else f"({shape[0]},)" if shape else "()"


def listed(words: Collection[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def label(name: str, shape: Shape, flat: int) -> str:
    """`a[0,1]`: the name of one element, counted row by row."""
    return element_name(name, place_of(flat, shape))


def element_name(name: str, place: tuple[int, ...]) -> str:
    """`a[0,1]`; `a` for a single number."""
    return f"{name}[{','.join(map(str, place))}]" if place else name


def place_of(flat: int, shape: Shape) -> tuple[int, ...]:
    """Where an element stands, counted row by row."""
    return tuple(map(int, np.unravel_index(flat, shape))) if shape else ()


def sentence(said: str) -> str:
    """What a note says, as a sentence of its own."""
    return said[:1].upper() + said[1:]


def number_text(value: Any, precision: int = 5) -> str:
    """2, 0.76159, 1.2e-05, inf, nan: `precision` digits, whole numbers without a point."""
    value = float(value)
    if math.isnan(value) or math.isinf(value):
        return str(value)
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{precision}g}"


def is_short(array: Any, width: int) -> bool:
    """Whether the numbers of an array are at most so many characters, with a comma after each."""
    return array.size <= width and sum(len(number_text(v)) + 2 for v in array.flat) <= width


Item = TypeVar("Item")
Shown = TypeVar("Shown")


def middle(
    items: Sequence[Item], most: int, show: Callable[[Item], Shown], gap: Callable[[int], Shown]
) -> list[Shown]:
    """`items` as `show` shows them, or the first and last with `gap(how many are left out)`."""
    at, head = places(len(items), most)
    shown = [show(items[k]) for k in at]
    if len(at) < len(items):
        shown.insert(head, gap(len(items) - len(at)))
    return shown


def places(count: int, most: int) -> tuple[list[int], int]:
    """Which of `count` places to show, and how many of them stand before the gap."""
    if count <= most:
        return list(range(count)), count
    head = most - most // 3
    return [*range(head), *range(count - most // 3, count)], head
