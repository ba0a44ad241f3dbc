"""Gradients of which rounding leaves few digits: in more digits they are other numbers."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...backends.numeric import sources
from ...errors import if_applicable
from ...graphs import Node, walk
from ...language.problem import Input
from ...lazy import np
from ..analysis import Analysis

FEW = 1e-4  # relative: with a larger error fewer than four digits are right
LONGER = {"float32": "float64", "float64": "longdouble"}
MUCH = 1e3  # beside the rounding of the seed: what a saturated tanh leaves is less
MOST = 20_000  # elements of all nodes together that are computed again: in more digits it is slow


class Rounded(NamedTuple):
    """The gradient of an input; `few` marks the elements that rounding leaves few digits of, and
    `other` has all in numbers of more digits, or fewer.
    """

    x: Input
    few: Any
    other: Any


def rounded(a: Analysis) -> Iterator[Rounded]:
    """The gradients with elements of which rounding leaves fewer than four digits; none where
    numbers of more digits are not to be had. What is exactly 0 is taken for that unless in more
    digits it is much beside the seed.
    """
    longer, eps = LONGER[a.dtype], np.finfo(a.dtype).eps
    if np.finfo(longer).eps < eps:
        for x, few, other in _computed_in(longer, a, FEW, _of_precision(a)):
            seed = np.max(np.abs(a.value(a.problem.seed.node)), initial=0.0)
            few = few & ((a.grad_value(x) != 0) | (np.abs(other) > MUCH * eps * seed))
            if np.any(few):
                yield Rounded(x, few, other)


def wants_double(a: Analysis, within: float = FEW) -> bool:
    """Whether double precision was asked for, and single would change a number that is given, or
    more than `within` of a gradient, relative.
    """
    if a.dtype != "float64":
        return False
    given = [v for p in a.problem.orders for v in (*p.values.values(), p.seed.array)]
    floats = [v for v in given if v is not None and v.dtype.kind == "f"]
    with np.errstate(over="ignore"):
        exact = all(np.array_equal(v, v.astype(np.float32), equal_nan=True) for v in floats)
    return not exact or any(True for _ in _computed_in("float32", a, within))


def _of_precision(a: Analysis) -> dict[Node | None, Any]:
    """The numbers of the program that its precision decides: they are no rounding."""
    grads = [grad for x in a.problem.wrt if (grad := a.computed(x)) is not None]
    result = (n for n in walk(grads, sources) if n.op.shape_only and n.dtype == "float")
    return {n: a.value(n) for n in result}


def _computed_in(
    dtype: str, a: Analysis, within: float, known: Mapping[Node | None, Any] = MappingProxyType({})
) -> Iterator[Rounded]:
    """The gradients that change by more than `within` where all is computed in `dtype`, but for
    what is `known`.
    """
    grads = [(x, grad) for x in a.problem.wrt if (grad := a.computed(x)) is not None]
    if sum(n.numel for n in walk([g for _, g in grads])) > MOST:
        return
    again = Analysis(a.problem, dtype=dtype)
    again.evaluator.values.update(known)
    for x, grad in grads:
        here, other = a.value(grad), _value(again, grad)
        if here is not None and other is not None:
            few = _differs(here, other, within)
            if np.any(few):
                yield Rounded(x, few, other)


def _differs(here: Any, other: Any, within: float) -> Any:
    """Where finite numbers are others, or no numbers; what is 0 but for the smallest is 0."""
    size = np.maximum(np.abs(here), np.abs(other))
    with np.errstate(all="ignore"):
        alike = np.isfinite(other) & (np.abs(other - here) <= within * size)
    return np.isfinite(here) & ~alike & ~(size <= np.finfo(float).tiny)


def _value(a: Analysis, grad: Node) -> Any:
    """A gradient in numbers, or None where a library computes in double precision alone."""
    return if_applicable(lambda: a.value(grad))
