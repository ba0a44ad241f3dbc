"""Gradients of which rounding leaves few digits: in more digits they are other numbers."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...graphs import Node, walk
from ...language.problem import Input
from ...lazy import np
from ..analysis import Analysis

FEW = 1e-4  # relative: with a larger error fewer than four digits are right
MOST = 20_000  # elements of all nodes together that are computed in more digits: it is slow


class Rounded(NamedTuple):
    """The gradient of an input; `few` marks the elements that rounding leaves few digits of, and
    `better` has all in numbers of more digits.
    """

    x: Input
    few: Any
    better: Any


def rounded(a: Analysis) -> Iterator[Rounded]:
    """The gradients with elements of which rounding leaves fewer than four digits; none where
    numbers of more digits are not to be had.
    """
    grads = [(x, grad) for x in a.problem.wrt if (grad := a.computed(x)) is not None]
    if not _has_more_digits(a) or sum(n.numel for n in walk([g for _, g in grads])) > MOST:
        return
    longer = Analysis(a.problem, dtype="longdouble")
    for x, grad in grads:
        here, better = a.value(grad), _value(longer, grad)
        if better is None:
            continue
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(here), np.abs(better))
            normal = np.isfinite(size) & (size > np.finfo(float).tiny)
            few = normal & (np.abs(better - here) > FEW * size)
        if np.any(few):
            yield Rounded(x, few, better)


def _has_more_digits(a: Analysis) -> bool:
    return a.dtype == "float64" and np.finfo(np.longdouble).eps < np.finfo(float).eps


def _value(a: Analysis, grad: Node) -> Any:
    """A gradient in numbers, or None where a library computes in double precision alone."""
    try:
        return a.value(grad)
    except Exception:  # each library refuses in words of its own
        return None
