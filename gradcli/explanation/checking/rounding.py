"""Gradients with few correct digits because of rounding, detected by computing them again in higher
precision.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...backends.numeric import sources
from ...graphs import Node, walk
from ...language.problem import Input
from ...lazy import np
from ..analysis import Analysis

FEW = 1e-4  # the relative error above which fewer than four digits are right
LONGER = {"float32": "float64", "float64": "longdouble"}
MUCH = 1e3  # in units of the seed's rounding error; the gradient of a saturated tanh is smaller
MOST = 20_000  # largest number of elements that are computed again; higher precision is slow


class Rounded(NamedTuple):
    """The gradient of an input: `few` is a mask of the elements with few correct digits, `other`
    the gradient in the other precision.
    """

    x: Input
    few: Any
    other: Any


def rounded(a: Analysis) -> Iterator[Rounded]:
    """The gradients with elements that have fewer than four correct digits; none if NumPy has no
    higher precision. An exact 0 counts as correct unless it is far from 0 in higher precision,
    relative to the seed.
    """
    longer, eps = LONGER[a.dtype], np.finfo(a.dtype).eps
    if np.finfo(longer).eps < eps:
        for x, few, other in _computed_in(longer, a, FEW, _of_precision(a)):
            seed = np.max(np.abs(a.value(a.problem.seed.node)), initial=0.0)
            few = few & ((a.grad_value(x) != 0) | (np.abs(other) > MUCH * eps * seed))
            if np.any(few):
                yield Rounded(x, few, other)


def wants_double(a: Analysis, within: float = FEW) -> bool:
    """Whether double precision is requested, and single precision would change a given number, or a
    gradient by more than `within`, relative.
    """
    if a.dtype != "float64":
        return False
    arrays = [v for p in a.problem.orders for v in (*p.values.values(), p.seed.array)]
    floats = [v for v in arrays if v is not None and v.dtype.kind == "f"]
    with np.errstate(over="ignore"):
        exact = all(np.array_equal(v, v.astype(np.float32), equal_nan=True) for v in floats)
    return not exact or any(True for _ in _computed_in("float32", a, within))


def _of_precision(a: Analysis) -> dict[Node | None, Any]:
    """The values that depend on the dtype itself, which are not rounding errors."""
    grads = [grad for x in a.problem.wrt if (grad := a.computed(x)) is not None]
    result = (n for n in walk(grads, sources) if n.op.shape_only and n.dtype == "float")
    return {n: a.value(n) for n in result}


def _computed_in(
    dtype: str, a: Analysis, within: float, fixed: Mapping[Node | None, Any] = MappingProxyType({})
) -> Iterator[Rounded]:
    """The gradients that change by more than `within` in `dtype`, with `fixed` values."""
    grads = [(x, grad) for x in a.problem.wrt if (grad := a.computed(x)) is not None]
    if sum(n.numel for n in walk([g for _, g in grads])) > MOST:
        return
    again = Analysis(a.problem, dtype=dtype)
    again.evaluator.values.update(fixed)
    for x, grad in grads:
        value, other = a.value(grad), again.value_if_possible(grad)  # None in double only
        if value is not None and other is not None:
            few = _differs(value, other, within)
            if np.any(few):
                yield Rounded(x, few, other)


def _differs(value: Any, other: Any, within: float) -> Any:
    """A mask of finite elements of `value` that differ from `other`, or are not finite there.
    Subnormal numbers count as 0.
    """
    size = np.maximum(np.abs(value), np.abs(other))
    with np.errstate(all="ignore"):
        close = np.isfinite(other) & (np.abs(other - value) <= within * size)
    return np.isfinite(value) & ~close & ~(size <= np.finfo(float).tiny)
