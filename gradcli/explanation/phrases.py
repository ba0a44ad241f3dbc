"""Texts of shapes, numbers, quantities and lists."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from ..budget import tick
from ..graphs.shapes import Shape, multi_index


def without_spaces(formula: str) -> str:
    """A formula without spaces around / and **: (1 - a**2)/n."""
    return formula.replace(" ** ", "**").replace(" / ", "/")


def shape_text(shape: Shape) -> str:
    """A shape as text: 2×3, (3,) or ()."""
    return "×".join(map(str, shape)) if len(shape) > 1 else f"({shape[0]},)" if shape else "()"


def listed(words: Collection[str]) -> str:
    """Words joined as a list: `a`, `a and b`, `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def label(name: str, shape: Shape, flat: int) -> str:
    """The name of the element at a flat index in row-major order, such as `a[0,1]`."""
    return element_name(name, multi_index(flat, shape))


def element_name(name: str, index: tuple[int, ...]) -> str:
    """The name of an element, such as `a[0,1]`; `a` for a single number."""
    return f"{name}[{','.join(map(str, index))}]" if index else name


def sentence(text: str) -> str:
    """A text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def number_text(value: Any, precision: int = 5) -> str:
    """A number as text, with `precision` digits: 2, 0.76159, 1.2e-05, inf, nan."""
    tick()
    value = float(value)
    if math.isnan(value) or math.isinf(value):
        return str(value)
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{precision}g}"


def is_short(array: Any, width: int) -> bool:
    """Whether the numbers of an array fit into `width` characters, with a comma after each."""
    return array.size <= width and sum(len(number_text(v)) + 2 for v in array.flat) <= width


def is_constant(array: Any) -> bool:
    """Whether an array has several elements, all of them equal."""
    return array.size > 1 and bool((array == array.flat[0]).all())


def fits(array: Any, width: int) -> bool:
    """Whether the rows of an array fit into `width` characters, aligned in columns; a vector may
    take several lines.
    """
    if array.ndim < 2 or not array.size:
        return True
    columns = array.reshape(-1, array.shape[-1]).T
    return sum(max((len(number_text(v)) for v in c), default=0) + 2 for c in columns) <= width


Item = TypeVar("Item")
Result = TypeVar("Result")


def middle(
    items: Sequence[Item], most: int, show: Callable[[Item], Result], gap: Callable[[int], Result]
) -> list[Result]:
    """`show(item)` for all items, or for the first and last ones with `gap(omitted count)`
    between.
    """
    at, head = shown_indices(len(items), most)
    result = [show(items[k]) for k in at]
    if len(at) < len(items):
        result.insert(head, gap(len(items) - len(at)))
    return result


def shown_indices(count: int, most: int) -> tuple[list[int], int]:
    """The positions, of `count` in total, that are shown, and how many come before the gap."""
    if count <= most:
        return list(range(count)), count
    head = most - most // 3
    return [*range(head), *range(count - most // 3, count)], head


PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q")
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
BYTES = {"float64": 8, "float32": 4, "int": 8, "bool": 1}  # of an element in PyTorch
WRITTEN_OUT = 10**9  # counts from this one on are written with a power of ten


def count_text(count: int) -> str:
    """A count as text: 16,384,000, or 8.59·10¹² if large; a power of ten from 10⁶ on as 10⁶."""
    if count < WRITTEN_OUT and (count < 10**6 or str(count).strip("0") != "1"):
        return f"{count:,}"
    digits, power = f"{count:.2e}".split("e+")
    head = digits.rstrip("0").rstrip(".")
    tail = f"10{str(int(power)).translate(POWERS)}"
    return tail if head == "1" else f"{head}·{tail}"


def amount(count: int, unit: str) -> str:
    """A count with its unit, to three digits: 24 FLOP, 1.34 GFLOP."""
    if count < 1000:
        return f"{count} {unit}"
    digits, power = f"{count:.2e}".split("e+")
    thousands, rest = divmod(int(power), 3)
    if thousands >= len(PREFIXES):
        return f"{count_text(count)} {unit}"
    return f"{float(digits) * 10**rest:.3g} {PREFIXES[thousands]}{unit}"


def memory(count: int) -> str:
    """A number of bytes as text: 1 byte, 48 bytes, 65.5 MB."""
    return amount(count, "B") if count >= 1000 else f"{count} byte{'s' * (count != 1)}"


def size_words(entries: int, item: int) -> str:
    """The size of a matrix whose elements take `item` bytes, as words: `10¹² entries (8 TB)`."""
    return f"{count_text(entries)} entr{'y' if entries == 1 else 'ies'} ({memory(entries * item)})"


def item_size(kind: str, dtype: str) -> int:
    """Bytes of an element; floats are computed as `dtype`."""
    return BYTES[dtype if kind == "float" else kind]
