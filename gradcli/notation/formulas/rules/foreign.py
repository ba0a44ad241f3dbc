"""What PyTorch has no name for, and what it has a shorter one for."""

from typing import Any

from ....graphs import OPS, Node
from .registry import other


@other("conv1d_input", "conv2d_input", "conv3d_input")
def transposed_convolution(node: Node) -> Node | None:
    """conv2d_input(x.shape, w, g) = conv_transpose2d(g, w), where no stride leaves rows out."""
    weight, g = node.parents
    if set(_numbers(node.attrs["stride"])) != {1}:
        return None
    how = {k: node.attrs[k] for k in ("padding", "dilation", "groups")}
    name = node.op.name.replace("conv", "conv_transpose").removesuffix("_input")
    new = OPS[name](g, weight, **how)
    return new if new.shape == node.shape else None


def _numbers(value: object) -> tuple:
    return value if isinstance(value, tuple) else (value,)


@other("overlap")
def spread_by_ones(node: Node) -> Node | None:
    """v.expand(...) laid back over a kernel = conv2d_input(x.shape, ones(...), v, ...)."""
    parts, n = node.parents[0], len(node.attrs["stride"])
    if parts.op.name != "expand" or node.ndim - n not in (1, 2):
        return None
    (v,) = parts.parents
    if v.ndim != parts.ndim or set(v.shape[-n:]) != {1}:
        return None
    v = v.expand(shape=(*parts.shape[:-n], *v.shape[-n:])).reshape(shape=parts.shape[:-n])
    ones = OPS["ones"](size=(node.shape[-n - 1], 1, *parts.shape[-n:]))
    how: dict[str, Any] = {k: _number(node.attrs[k]) for k in ("stride", "dilation")}
    how["groups"] = ones.shape[0]
    back = OPS[f"conv{n}d_input"]
    if node.ndim - n == 2:
        return back(weight=ones, grad_output=v, input_size=node.shape, **how)
    size = (1, *node.shape)
    return back(weight=ones, grad_output=v.unsqueeze(dim=0), input_size=size, **how).squeeze(dim=0)


@other("getitem")
def without_padding(node: Node) -> Node | None:
    """conv2d_input((...), w, g)[:, :, 1:-1, 1:-1] = conv2d_input(x.shape, w, g, padding=1)."""
    whole = node.parents[0]
    single = whole.op.name == "squeeze" and whole.attrs["dim"] == 0
    back = whole.parents[0] if single else whole
    if not back.op.name.endswith("d_input") or set(_numbers(back.attrs["padding"])) != {0}:
        return None
    n, index = back.ndim - 2, node.attrs["index"]
    if len(index) != node.ndim or not all(isinstance(i, slice) for i in index):
        return None
    around = [(i.start or 0, size - i.indices(size)[1]) for i, size in zip(index, whole.shape)]
    if any(map(any, around[:-n])) or any(a != b for a, b in around[-n:]):
        return None
    size = node.shape[-n:]
    attrs = back.attrs | {
        "input_size": (*back.shape[:2], *size),
        "padding": _number(tuple(a for a, _ in around[-n:])),
    }
    new = back.op(**{**dict(zip(back.op.inputs, back.inputs, strict=True)), **attrs})
    return new.squeeze(dim=0) if single else new


def _number(values: tuple[int, ...]) -> int | tuple[int, ...]:
    """One number for all, where they are the same."""
    return values[0] if len(set(values)) == 1 else values
