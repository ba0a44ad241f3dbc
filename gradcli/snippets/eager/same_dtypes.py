"""Functions whose tensor arguments must have the same dtype, and the errors if they differ."""

from collections.abc import Callable
from typing import Any

from ..python.values import error
from .checks import LONG_NAMES, check
from .tensor import Tensor

Says = Callable[[list[str], list[str]], str]
FLOATS = "cdist only supports floating-point dtypes, X{} got: {}"


def _one_dtype(*names: str, says: Says, of: int = 2) -> None:
    """Register a check that the first `of` tensors have the same dtype. `says` builds the message
    from two lists of the dtypes' names: ["Float", "Long"] and ["float", "long int"].
    """

    def function(*args: Any, **_: Any) -> None:
        tensors = [a for a in args[:of] if isinstance(a, Tensor)]
        if any(t.dtype is not tensors[0].dtype for t in tensors):
            kinds = [t.dtype.scalar_name for t in tensors]
            raise error("RuntimeError", says(kinds, [LONG_NAMES[t.dtype.name] for t in tensors]))

    check(*names)(function)


def _expected(kinds: list[str], _: list[str]) -> str:
    other = next(k for k in kinds if k != kinds[0])
    return f"expected scalar type {kinds[0]} but found {other}"


_one_dtype("inner", "tensordot", says=lambda *_: "both inputs should have same dtype")
_one_dtype(
    "vdot",
    says=lambda k, _: (
        f"dot : expected both vectors to have same dtype, but found {k[0]} and {k[1]}"
    ),
)
_one_dtype(
    "addmv",
    says=lambda k, _: "addmv input tensors must have the same dtype, but got {}, {}, and {}".format(
        *k
    ),
    of=3,
)
_one_dtype(
    "lstsq",
    "linalg.lstsq",
    says=lambda k, _: (
        "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
        f"dtype {k[0]} and other's dtype {k[1]}"
    ),
)
_one_dtype(
    "vecdot",
    "linalg.vecdot",
    says=lambda k, _: (
        f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {k[0]} and "
        f"y of type {k[1]} instead"
    ),
)
_one_dtype("lerp", says=lambda _, n: f"expected dtype {n[0]} for `end` but got dtype {n[1]}")
_one_dtype("cross", "linalg.cross", says=_expected)


@check("cdist")
def _distances(x1: Tensor, x2: Any, *_: Any, **__: Any) -> None:
    if not isinstance(x2, Tensor):
        return
    for place, tensor in enumerate((x1, x2), 1):
        if not tensor.dtype.is_floating:
            raise error("RuntimeError", FLOATS.format(place, tensor.dtype.scalar_name))
    if x1.dtype is not x2.dtype:
        raise error("RuntimeError", _expected([x1.dtype.scalar_name, x2.dtype.scalar_name], []))


@check("multi_dot", "linalg.multi_dot")
def _chain(tensors: Any, **_: Any) -> None:
    for place, tensor in enumerate(tensors):
        if tensor.dtype is not tensors[0].dtype:
            a, b = (LONG_NAMES[t.dtype.name] for t in (tensors[0], tensor))
            text = "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
            raise error("RuntimeError", f"{text}{a} and tensor {place} {b}")


@check("baddbmm")
def _batches(input: Tensor, batch1: Any, batch2: Any, **_: Any) -> None:
    tensors = (input, batch1, batch2)
    if not all(isinstance(t, Tensor) for t in tensors):
        return
    if input.dtype is not batch1.dtype:
        names = [LONG_NAMES[t.dtype.name] for t in tensors]
        text = "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}"
        raise error("RuntimeError", text.format(*names))
    if batch2.dtype is not input.dtype:
        raise error(
            "RuntimeError", _expected([input.dtype.scalar_name, batch2.dtype.scalar_name], [])
        )
