"""Prints tensors exactly as PyTorch does.

Floats print as `1.` if all elements are integers, and in scientific notation if their magnitudes
differ much. All columns have the same width, long tensors are summarised with "...", and suffixes
such as `grad_fn=` follow.
"""

import math
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...lazy import np
from ..python.values import Raised
from .dtypes import BOOL, INT64
from .mode import MODE
from .records import shown
from .tensor import DualTensor, Tensor


class Options(NamedTuple):
    """The options of torch.set_printoptions."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


def size(shape: Sequence[int]) -> str:
    """A shape as repr() prints it."""
    return f"torch.Size({list(shape)})"


def options() -> Options:
    """The options in effect."""
    return getattr(MODE, "print_options", None) or Options()


class Style:
    """The number format of a tensor's elements, which all have the same width."""

    def __init__(self, numbers: Any, floating: bool, chosen: Options):
        self.floating, self.chosen = floating, chosen
        self.integral, self.scientific, self.width = True, False, 1
        if not floating:
            texts = [str(v) for v in numbers.ravel().tolist()]
            self.width = max(map(len, texts), default=1)
            return
        flat = numbers.ravel()
        finite = flat[np.isfinite(flat) & (flat != 0)]
        if finite.size:
            self._choose(finite)

    def _choose(self, numbers: Any) -> None:
        """Choose the format from the finite elements other than 0."""
        sizes = np.abs(numbers.astype(np.float64))
        largest, smallest = float(sizes.max()), float(sizes.min())
        self.integral = bool((numbers == np.ceil(numbers)).all())
        digits = self.chosen.precision
        far = largest / smallest > 1000.0 or largest > 1.0e8
        small = not self.integral and smallest < 1.0e-4
        self.scientific = far or small if self.chosen.sci_mode is None else self.chosen.sci_mode
        values = numbers.astype(np.float64).tolist()
        if self.scientific:
            texts = [f"{v:.{digits}e}" for v in values]
            _note_ties(numbers, sizes, digits - np.floor(np.log10(sizes)))
        elif self.integral:
            texts = [f"{v:.0f}." for v in values]
            if MODE.factored:  # a rounding error would print 1.0000, not 1.
                MODE.near_ties.add(MODE.place())
        else:
            texts = [f"{v:.{digits}f}" for v in values]
            _note_ties(numbers, sizes, digits)
        self.width = max(self.width, *map(len, texts))

    def text(self, value: Any) -> str:
        """One number, not padded."""
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{self.chosen.precision}e}"
        if not self.integral:
            return f"{value:.{self.chosen.precision}f}"
        return f"{value:.0f}" + ("." if math.isfinite(value) else "")

    def padded(self, value: Any) -> str:
        """One number, padded to the width of its column."""
        return self.text(value).rjust(self.width)


def _note_ties(numbers: Any, sizes: Any, digits: Any) -> None:
    """Record the running line in MODE.near_ties if its print may differ from PyTorch's.

    That requires an earlier operation whose last digits may differ, and an element that is almost
    halfway between two printed values, or so small that it may be a rounding error.
    """
    if not MODE.unsure:
        return
    scale = 10.0**digits
    near = 2 * np.spacing(np.abs(numbers)).astype(np.float64) * scale
    from_tie = np.abs(sizes * scale % 1 - 0.5)
    left = sizes < np.finfo(numbers.dtype).eps
    if (((from_tie <= near) & (from_tie > 0)) | left).any():
        MODE.near_ties.add(MODE.place())


def style_of(array: Any, floating: bool, chosen: Options) -> Style:
    """The number format of a tensor, from the elements that are shown."""
    return Style(
        summarised(array, chosen.edgeitems) if _is_long(array, chosen) else array, floating, chosen
    )


def _is_long(array: Any, chosen: Options) -> bool:
    return array.size > chosen.threshold


def summarised(array: Any, edge: int) -> Any:
    """The elements shown in a summary: the first and last `edge` along each dimension."""
    for axis in range(array.ndim):
        if array.shape[axis] > 2 * edge:
            picked = [*range(edge), *range(array.shape[axis] - edge, array.shape[axis])]
            array = array.take(picked, axis)
    return array


def _vector(array: Any, indent: int, long: bool, style: Style, chosen: Options) -> str:
    """The text of a 1-dim array in brackets, with line breaks."""
    width = style.width + 2
    per_line = max(1, (chosen.linewidth - indent) // width)
    edge = chosen.edgeitems
    if long and not chosen.edgeitems:
        parts = ["..."]
    elif long and array.size > 2 * edge:
        values = array.tolist()
        left, right = values[:edge], values[-edge:]
        parts = [*map(style.padded, left), " ...", *map(style.padded, right)]
    else:
        parts = [style.padded(v) for v in array.tolist()]
    lines = [", ".join(parts[k : k + per_line]) for k in range(0, len(parts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _block(array: Any, indent: int, long: bool, style: Style, chosen: Options) -> str:
    """The text of an array of any dimension: nested brackets, one row in each line."""
    if array.ndim == 0:
        return style.padded(array.item())
    if array.ndim == 1:
        return _vector(array, indent, long, style, chosen)
    edge = chosen.edgeitems
    rows: list[Any] = list(array)

    def inner(row: Any) -> str:
        return _block(row, indent + 1, long, style, chosen)

    if long and len(rows) > 2 * edge:
        texts = [*map(inner, rows[:edge]), "...", *map(inner, rows[-edge:])]
    else:
        texts = [inner(row) for row in rows]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(texts) + "]"


def tensor_text(tensor: Tensor, prefix: str = "tensor(") -> str:
    """repr() of a tensor."""
    chosen = options()
    indent = len(prefix)
    suffixes = _suffixes(tensor)
    if isinstance(tensor, DualTensor) and tensor.lives:
        tangent = tensor.tangent
        suffixes.append(f"tangent={tensor_text(tangent) if tangent.ndim else tangent.data.item()}")
        tensor = tensor.primal
    if not tensor.numel:
        if tensor.ndim != 1:
            suffixes.insert(0, f"size={tuple(tensor.shape)}")
        return _with_suffixes(prefix + "[]", suffixes, indent, chosen)
    array, floating = tensor.data, tensor.dtype.is_floating
    style = style_of(array, floating, chosen)
    body = _block(array, indent, _is_long(array, chosen), style, chosen)
    return _with_suffixes(prefix + body, suffixes, indent, chosen)


def _suffixes(tensor: Tensor) -> list[str]:
    result = []
    usual = tensor.dtype in (MODE.default_dtype, INT64, BOOL)
    empty = not tensor.numel
    if (not usual and not empty) or (empty and tensor.dtype is not MODE.default_dtype):
        result.append(f"dtype={tensor.dtype!r}")
    record = _record_name(tensor)
    if record is not None:
        result.append(f"grad_fn=<{record}>")
    elif tensor.requires_grad:
        result.append("requires_grad=True")
    return result


def _record_name(tensor: Tensor) -> str | None:
    """The name after "grad_fn=", or None without one: "Invalid" for a view that was changed in
    place where PyTorch cannot recompute its grad_fn.
    """
    try:
        record = tensor.record
    except Raised:
        return "Invalid"
    return None if record is None else shown(record).rsplit("::", 1)[-1]


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int, chosen: Options) -> str:
    """The text followed by its suffixes; one that does not fit the line goes on a new line."""
    last = len(text) - text.rfind("\n") + 1
    parts = [text]
    for suffix in suffixes:
        if last + len(suffix) + 2 > chosen.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(parts) + ")"


def parameter_text(tensor: Tensor) -> str:
    """repr() of a Parameter."""
    return "Parameter containing:\n" + tensor_text(tensor)


def indented(text: str) -> str:
    """Indented lines, as within the repr of a module."""
    return textwrap.indent(text, "  ")
