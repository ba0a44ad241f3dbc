"""Operators that PyTorch lacks, rewritten with functions that it has."""

from typing import Any

from ....graphs import OPS, Node
from .products import build, product_of
from .registry import candidate


@candidate("conv1d_input", "conv2d_input", "conv3d_input")
def transposed_convolution(node: Node) -> Node | None:
    """conv2d_input(x.shape, w, g) = conv_transpose2d(g, w) for a stride of 1."""
    weight, g = node.parents
    if set(_as_tuple(node.attrs["stride"])) != {1}:
        return None
    attrs = {k: node.attrs[k] for k in ("padding", "dilation", "groups")}
    name = node.op.name.replace("conv", "conv_transpose").removesuffix("_input")
    return OPS[name](g, weight, **attrs)


def _as_tuple(value: object) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def _without_windows(parts: Node, n: int) -> Node | None:
    """`parts` without its last n dimensions, if it is constant along them; else None."""
    same = product_of(parts)
    if same is not None and not any(f.shape for f in same.factors):
        return build(same, parts.shape[:-n])
    v = parts.parents[0] if parts.op.name == "expand" else parts
    if v is parts or v.ndim != parts.ndim or set(v.shape[-n:]) != {1}:
        return None
    return v.expand(shape=(*parts.shape[:-n], *v.shape[-n:])).reshape(shape=parts.shape[:-n])


@candidate("overlap")
def overlap_as_convolution(node: Node) -> Node | None:
    """overlap(v.expand(...)) = conv2d_input(x.shape, ones(...), v, ...)."""
    parts, n = node.parents[0], len(node.attrs["stride"])
    v = _without_windows(parts, n) if node.ndim - n in (1, 2) else None
    if v is None:
        return None
    ones = OPS["ones"](size=(node.shape[-n - 1], 1, *parts.shape[-n:]))
    attrs: dict[str, Any] = {k: _scalar_if_equal(node.attrs[k]) for k in ("stride", "dilation")}
    attrs["groups"] = ones.shape[0]
    back = OPS[f"conv{n}d_input"]
    if node.ndim - n == 2:
        return back(weight=ones, grad_output=v, input_size=node.shape, **attrs)
    size = (1, *node.shape)
    new = back(weight=ones, grad_output=v.unsqueeze(dim=0), input_size=size, **attrs)
    return new.squeeze(dim=0)


@candidate("getitem")
def padding_from_slice(node: Node) -> Node | None:
    """conv2d_input((...), w, g)[:, :, 1:-1, 1:-1] = conv2d_input(x.shape, w, g, padding=1)."""
    padded = node.parents[0]
    single = padded.op.name == "squeeze" and padded.attrs["dim"] == 0
    back = padded.parents[0] if single else padded
    if not back.op.name.endswith("d_input") or set(_as_tuple(back.attrs["padding"])) != {0}:
        return None
    n, index = back.ndim - 2, node.attrs["index"]
    if len(index) != node.ndim or not all(isinstance(i, slice) for i in index):
        return None
    margins = [(i.start or 0, size - i.indices(size)[1]) for i, size in zip(index, padded.shape)]
    if any(map(any, margins[:-n])) or any(a != b for a, b in margins[-n:]):
        return None
    size = node.shape[-n:]
    attrs = back.attrs | {
        "input_size": (*back.shape[:2], *size),
        "padding": _scalar_if_equal(tuple(a for a, _ in margins[-n:])),
    }
    new = back.op(**{**dict(zip(back.op.inputs, back.inputs, strict=True)), **attrs})
    return new.squeeze(dim=0) if single else new


def _scalar_if_equal(values: tuple[int, ...]) -> int | tuple[int, ...]:
    """A single number if all are equal, otherwise the tuple."""
    return values[0] if len(set(values)) == 1 else values
