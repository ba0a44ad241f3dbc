"""Tensors as lines of text: nested brackets in one line if they fit, otherwise a line per row."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from ..explanation.phrases import number_text
from ..lazy import np
from .environment import Environment

EDGE = 3  # elements shown at both ends of a long dimension
LONG = 8  # size up to which a dimension of a large tensor is shown in full
MANY = 48  # elements up to which a tensor is shown in full
SHOWN = 2_000  # most elements of a larger tensor that are shown
GAP = "…"


def tensor_lines(
    array: Any, width: int, environment: Environment, brief: bool = False
) -> list[str]:
    """The lines of a tensor in at most `width` columns; with `brief` a large one in one line."""
    array = np.asarray(array)
    keep_all = array.size <= (environment.entries if environment.full else MANY)
    gap = "..." if environment.ascii else GAP
    if brief and not keep_all:
        return [_beginning(array, environment.precision, gap)]
    parts = _nested(array, environment.precision, _shown_indices(array.shape, keep_all, LONG), gap)
    line = _one_line(parts)
    if len(line) <= width or array.ndim < 2:
        return [line] if len(line) <= width or array.ndim == 0 else _wrapped(parts, width)
    lines = _rows(parts)
    if max(map(len, lines)) <= width:
        return lines
    if keep_all and environment.full:
        return [p for line in lines for p in _folded(line, width)] if environment.fixed else lines
    most = _shown_indices(array.shape, False, max(2, width // 12))
    return _rows(_nested(array, environment.precision, most, gap))


def nested(array: Any, precision: int, most: int) -> Any:
    """A tensor as nested lists of strings; more than `most` elements are summarised."""
    array = np.asarray(array)
    return _nested(array, precision, _shown_indices(array.shape, array.size <= most, LONG))


def _shown_indices(shape: Sequence[int], keep_all: bool, long: int) -> list[int]:
    """The number of shown indices for each dimension: all unless it is `long`; only the first ones
    of outer dimensions if there are many.
    """
    if keep_all:
        return [*shape]
    most = [n if n <= long else 2 * min(EDGE, max(1, long // 2)) for n in shape]
    for d in range(len(most)):
        if math.prod(most) > SHOWN:
            most[d] = min(most[d], 1)
    return most


def _beginning(array: Any, precision: int, gap: str) -> str:
    """The first two elements: `[[0.5, 2, …], …]`."""
    if array.ndim > 1:
        return f"[{_beginning(array[0], precision, gap)}, {gap}]"
    first = [_nested(item, precision, []) for item in array[:2]]
    return f"[{', '.join([*first, gap])}]"


def _nested(array: Any, precision: int, most: Sequence[int], gap: str = GAP) -> Any:
    """Nested lists of at most `most` strings per dimension; `gap` stands for omitted ones."""
    if isinstance(array, str):
        return array
    if array.ndim == 0:
        item = array.item()
        if isinstance(item, str | bool):
            return str(item)
        return number_text(item, precision)
    head = len(array) if len(array) <= most[0] else (most[0] + 1) // 2
    tail = len(array) - most[0] // 2 if head < len(array) else head
    shown = [_nested(part, precision, most[1:], gap) for part in (*array[:head], *array[tail:])]
    return [*shown[:head], *[gap] * (head < tail), *shown[head:]]


def _one_line(nested: Any) -> str:
    return nested if isinstance(nested, str) else f"[{', '.join(map(_one_line, nested))}]"


def _wrapped(nested: list, width: int) -> list[str]:
    """A long vector in several lines."""
    lines, line = [], "["
    for k, item in enumerate(nested):
        piece = _one_line(item) + ("," if k < len(nested) - 1 else "]")
        if len(line) + len(piece) + 1 > width and line.strip(" ["):
            lines.append(line.rstrip())
            line = " "
        line += piece + " "
    return [*lines, line.rstrip()] if nested else ["[]"]


def _folded(line: str, width: int) -> list[str]:
    """A row in lines of this width, with aligned numbers."""
    indent = " " * (len(line) - len(line.lstrip(" [")))
    return wrap(line, width, subsequent_indent=indent, break_long_words=False) or [line]


def _rows(nested: list, depth: int = 0, widths: list[int] | None = None) -> list[str]:
    """A line for each innermost list, with aligned numbers."""
    widths = widths if widths is not None else _column_widths(nested)
    lines: list[str] = []
    for place, item in enumerate(nested):
        if isinstance(item, str):
            inner = [item]
        elif all(isinstance(x, str) for x in item):
            cells = [x.rjust(w) for x, w in zip(item, widths, strict=False)]
            inner = [f"[{', '.join(cells)}]"]
        else:
            inner = _rows(item, depth + 1, widths)
        inner[-1] += "," if place < len(nested) - 1 else ""
        lines += inner
    lines = [(" " if k else "[") + line for k, line in enumerate(lines)] or ["["]
    lines[-1] += "]"
    return lines


def _column_widths(nested: Any) -> list[int]:
    rows: list[list[str]] = []

    def collect(part: Any) -> None:
        if isinstance(part, list):
            if all(isinstance(x, str) for x in part):
                rows.append(part)
            else:
                for x in part:
                    collect(x)

    collect(nested)
    most = max(map(len, rows), default=0)
    return [max((len(r[k]) for r in rows if k < len(r)), default=0) for k in range(most)]
