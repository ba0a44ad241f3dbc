"""Shapes and lists as people say them."""

from collections.abc import Collection

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
