"""Tensors as HTML tables."""

from collections.abc import Collection, Iterator
from typing import Any

from ...explanation.blocks import Tensor
from ...explanation.phrases import element_name, number_text
from ...lazy import np
from ..tensors import EDGE, LONG, MANY
from .markup import Markup, tag

Index = tuple[int, ...]


def tensor_tables(tensor: Tensor, markup: Markup, tied: Collection[str]) -> str:
    """A tensor as tables of rows and columns with indices as headers; the middle of a large tensor
    is omitted. `tied` are the names of gradients for whose elements a Jacobian has columns.
    """
    array = np.asarray(tensor.array)
    role = markup.classes.get(tensor.role, "")
    if not array.ndim or not array.size:
        text = markup.number(array[()]) if array.size else "[]"
        return f'<code class="scalar {role}">{text}</code>'
    whole = array.size <= (markup.environment.entries if markup.environment.full else MANY)
    kept = [_shown_indices(n, whole) for n in array.shape]
    how = _how(tensor, role, tensor.name in tied)
    grids = "".join(_grids(array, kept, (), tensor, markup, how))
    return f'<div class="tensors scroll">{grids}</div>'


def _how(tensor: Tensor, role: str, is_tied: bool) -> dict[str, str | None]:
    """The attributes of a tensor's tables; if `is_tied`, its elements can be pointed at."""
    named = {"role": "grid", "aria_label": tensor.name} if is_tied else {}
    return {"class_": f"tensor {role}".strip(), **named}


def _grids(
    array: Any,
    kept: list[list[int | None]],
    at: Index,
    tensor: Tensor,
    markup: Markup,
    how: dict[str, str | None],
) -> Iterator[str]:
    """A table for each index of the leading dimensions, all but the last two."""
    if array.ndim > 2:
        for k in kept[0]:
            if k is None:
                yield '<p class="gap">…</p>'
            else:
                yield from _grids(array[k], kept[1:], (*at, k), tensor, markup, how)
        return
    rows: list[int | None] = kept[0] if array.ndim == 2 else [0]
    caption = f"<caption>[{','.join(map(str, at))}]</caption>" if at else ""
    head = "".join("<th>…</th>" if c is None else _head(c) for c in kept[-1])
    corner = "<td></td>" if array.ndim == 2 else ""
    body = ""
    for r in rows:
        cells = "".join(_cell(array, r, c, at, tensor, markup) for c in kept[-1])
        left = "" if array.ndim == 1 else "<th>⋮</th>" if r is None else _head(r, "row")
        body += f"<tr>{left}{cells}</tr>"
    inside = f"{caption}<thead><tr>{corner}{head}</tr></thead><tbody>{body}</tbody>"
    yield tag("table", inside, **how)


def _cell(
    array: Any, r: int | None, c: int | None, at: Index, tensor: Tensor, markup: Markup
) -> str:
    """One element, or a sign for omitted ones."""
    if r is None or c is None:
        return "<td>…</td>"
    index = (r, c) if array.ndim == 2 else (c,)
    return tag(
        "td",
        markup.number(array[index]),
        title=_unrounded(array[index], markup.environment.precision),
        data_el=element_name(tensor.name, (*at, *index)) if tensor.name else None,
    )


def _shown_indices(count: int, whole: bool) -> list[int | None]:
    """The shown indices along a dimension, with None for a gap."""
    if whole or count <= LONG:
        return [*range(count)]
    return [*range(EDGE), None, *range(count - EDGE, count)]


def _head(index: int, scope: str = "col") -> str:
    return f'<th scope="{scope}">{index}</th>'


def _unrounded(value: Any, precision: int) -> str | None:
    """A number in all its digits, if it is shown with fewer; otherwise None."""
    if isinstance(value, str | np.str_ | bool | np.bool_ | np.integer):
        return None
    full = number_text(value, 17)
    return repr(float(value)) if full != number_text(value, precision) else None
