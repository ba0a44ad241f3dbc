"""Padding and cropping."""

import math

from ..errors import GradcliError
from ..graphs import OPS, as_node
from ..graphs.operator import check_dtypes
from .arithmetic import copied, in_kind_of
from .comparisons import where
from .families import composite, shorthand
from .joining import cat
from .leaves import ones
from .pointwise import F

MODES = ("constant", "reflect", "replicate", "circular")


def _saved(y, input, *, mode, **_):
    if mode == "circular":
        return (...,)
    return () if mode == "constant" else (input,)


@composite(
    torch=F + "pad",
    saved=_saved,
    zero_second_derivative=lambda input, *, mode, **_: (
        ("input",) if mode in ("reflect", "replicate") else ()
    ),
    order="input pad mode value",
    examples=(
        ("pad(x, (1, 2))", "x=2x3"),
        ("pad(x, (1, 0, 0, 2), value=1.5)", "x=2x3"),
        ("pad(x, (2, 1), mode='reflect')", "x=2x3"),
        ("pad(x, (1, -1), mode='replicate')", "x=2x3"),
        ("pad(x, (1, 2), mode='circular')", "x=2x3"),
    ),
    exact="all",
)
def pad(input, *, pad, mode="constant", value=None):
    """Elements added before and after the last dimensions, last dimension first; if negative, cut
    off.
    """
    amounts = _amounts(input, pad)
    if mode == "constant":
        return _constant(input, amounts, 0 if value is None else value)
    if mode not in MODES:
        raise GradcliError("arguments", f"mode {mode!r} is none of {', '.join(map(repr, MODES))}")
    check_dtypes("pad", "numbers", (input,))
    if value:
        raise GradcliError("arguments", f"padding mode {mode!r} takes no value")
    edges = pad if isinstance(pad, tuple) else (pad,)
    if len(edges) not in (2, 4, 6) or input.ndim - len(edges) // 2 not in (1, 2):
        raise GradcliError(
            "shape",
            f"padding mode {mode!r} is for the last of 2 or 3, the last 2 of 3 or 4 or the last 3 "
            f"of 4 or 5 dimensions, and this is {len(edges) // 2} of {input.ndim}",
        )
    out = _cut(input, amounts) if mode == "circular" else input
    for dim, (before, after) in enumerate(amounts):
        out = _lengthened(out, dim, max(before, 0), max(after, 0), mode)
    return out if mode == "circular" else _cut(out, amounts)


def _amounts(input, pad):
    """The padding (before, after) of each dimension; `pad` begins with the last dimension."""
    pads = pad if isinstance(pad, tuple) else (pad,)
    pairs = list(zip(pads[::2], pads[1::2]))
    if len(pads) % 2 or len(pairs) > input.ndim or not all(isinstance(n, int) for n in pads):
        raise GradcliError(
            "arguments",
            f"pad must be two integers for each of at most {input.ndim} dimensions, got {pad}",
        )
    amounts = ((0, 0),) * (input.ndim - len(pairs)) + tuple(reversed(pairs))
    for n, (before, after) in zip(input.shape, amounts):
        if n + before + after < 0 or n + min(before, 0) + min(after, 0) < 0:
            raise GradcliError(
                "shape", f"pad cuts off more elements than a dimension of size {n} has"
            )
    return amounts


def _cut(x, amounts):
    """x without the elements that negative amounts remove."""
    if all(n >= 0 for pair in amounts for n in pair):
        return x
    return x[
        tuple(
            slice(max(-before, 0), n - max(-after, 0))
            for n, (before, after) in zip(x.shape, amounts)
        )
    ]


def _constant(input, amounts, value):
    cut = _cut(input, amounts)
    more = tuple((max(before, 0), max(after, 0)) for before, after in amounts)
    if not any(map(any, more)):
        return cut if cut is not input else copied(input)
    padded = cut.zero_pad(amount=more)
    if value == 0 and not isinstance(value, bool):
        return padded
    filled = in_kind_of(as_node(float(value)), input)
    return where(ones(size=cut.shape).zero_pad(amount=more) > 0, padded, filled)


def _lengthened(x, dim, before, after, mode):
    """x with one dimension padded by reflection, replication or wrapping."""
    n = x.shape[dim]
    if not before and not after:
        return x
    most = {"reflect": n - 1, "circular": n}.get(mode, math.inf if n else 0)
    if max(before, after) > most:
        raise GradcliError(
            "shape", f"padding mode {mode!r} of {max(before, after)} is too large for size {n}"
        )

    def part(start, stop):
        return x[(*(slice(None),) * dim, slice(start, stop))]

    def repeated(edge, count):
        return edge.expand(shape=(*x.shape[:dim], count, *x.shape[dim + 1 :]))

    if mode == "replicate":
        first, last = repeated(part(0, 1), before), repeated(part(n - 1, n), after)
    elif mode == "reflect":
        first = part(1, before + 1).flip(dims=(dim,))
        last = part(n - 1 - after, n - 1).flip(dims=(dim,))
    else:
        first, last = part(n - before, n), part(0, after)
    return cat([*([first] if before else []), x, *([last] if after else [])], dim=dim)


@shorthand()
def constant_pad_nd(input, pad, value=0):
    """pad with a constant value."""
    return OPS["pad"](input, pad=pad, value=value)
