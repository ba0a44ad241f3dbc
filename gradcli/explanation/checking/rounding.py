"""Gradients of which rounding leaves few digits: in more digits they are other numbers."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...graphs import Node, walk
from ...language.problem import Input
from ...lazy import np
from ..analysis import Analysis

FEW = 1e-4  # relative: with a larger error fewer than four digits are right
MOST = 20_000  # elements of all nodes together that are computed again: in more digits it is slow


class Rounded(NamedTuple):
    """The gradient of an input; `few` marks the elements that rounding leaves few digits of, and
    `other` has all in numbers of more digits, or fewer.
    """

    x: Input
    few: Any
    other: Any


def rounded(a: Analysis) -> Iterator[Rounded]:
    """The gradients with elements of which double precision leaves fewer than four digits; none
    where numbers of more digits are not to be had.
    """
    if a.dtype == "float64" and np.finfo(np.longdouble).eps < np.finfo(float).eps:
        yield from _computed_in("longdouble", a)


def differs_in_single(a: Analysis) -> bool:
    """Whether single precision leaves fewer than four digits of some gradient."""
    return any(True for _ in _computed_in("float32", a))


def _computed_in(dtype: str, a: Analysis) -> Iterator[Rounded]:
    """The gradients that have other first digits where all is computed in `dtype`."""
    grads = [(x, grad) for x in a.problem.wrt if (grad := a.computed(x)) is not None]
    if sum(n.numel for n in walk([g for _, g in grads])) > MOST:
        return
    again = Analysis(a.problem, dtype=dtype)
    for x, grad in grads:
        here, other = a.value(grad), _value(again, grad)
        if here is None or other is None:
            continue
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(here), np.abs(other))
            alike = np.abs(other - here) <= FEW * size
            few = np.isfinite(here) & (size > np.finfo(float).tiny) & ~(alike & np.isfinite(size))
        if np.any(few):
            yield Rounded(x, few, other)


def _value(a: Analysis, grad: Node) -> Any:
    """A gradient in numbers, or None where a library computes in double precision alone."""
    try:
        return a.value(grad)
    except Exception:  # each library refuses in words of its own
        return None
