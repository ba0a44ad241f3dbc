"""Operations that PyTorch leaves to others, in an order of operations of their own: it decides what
comes out where they meet inf, nan, or numbers whose products overflow or vanish.
"""

from collections.abc import Iterator
from math import sqrt
from typing import Any, NamedTuple

from ...autodiff.reverse import Step
from ...graphs import Node, walk
from ...lazy import np
from ..analysis import Analysis
from .conventions import on_the_way


class Others(NamedTuple):
    """Those who compute an operation in PyTorch, in a sentence; and on what their order decides,
    beside nan and numbers whose squares overflow: on inf, on numbers whose squares vanish.
    """

    told: str
    inf: bool = True
    vanishing: bool = True


ANOTHER = "whose operations come in another order"
LEFT_TO = {  # by the field `left_to` of operators
    "BLAS": Others(f"PyTorch leaves it to BLAS, {ANOTHER}", vanishing=False),
    "LAPACK": Others(f"PyTorch leaves it to LAPACK, {ANOTHER}"),
    "kernel": Others(f"PyTorch has one loop for all of it, {ANOTHER}"),
    "registers": Others(
        "PyTorch computes what fills a vector register in another way than what is left",
        inf=False,
        vanishing=False,
    ),
}


def orders_met(a: Analysis) -> list[tuple[Node, str, str]]:
    """The operations, the first first, whose order of operations decides what comes out, each with
    what it meets, in words, and who computes it in PyTorch, in a sentence.
    """
    found = []
    for step in reversed(a.gradients.steps):
        for part in _parts(step.node):
            others = LEFT_TO[part.op.left_to]
            met = _in_words(_numbers(part, step, a), others, a.dtype)
            if met:
                found.append((step.node, met, others.told))
                break
    return found


def _parts(node: Node) -> list[Node]:
    """A node, or what it means, as far as PyTorch leaves that to others."""
    if node.op.left_to or node.expansion is None:
        return [node] if node.op.left_to else []
    given = set(node.parents)
    inside = walk([node.expansion], lambda n: () if n in given else on_the_way(n))
    return [n for n in inside if n.op.left_to and n not in given]


def _numbers(part: Node, step: Step, a: Analysis) -> Iterator[Any]:
    """The numbers that a part of a step meets: given to it, coming out, sent to it and by it."""
    nodes = {*part.parents, part, step.received, *(c.sent for c in step.contributions)}
    return (a.value(n) for n in nodes if n.dtype == "float" and n.numel and a.known(n))


def _in_words(arrays: Iterator[Any], others: Others, dtype: str) -> str:
    """What there is in arrays that an order of operations decides on; nothing where it does not."""
    floats = np.finfo(dtype)
    large, small = sqrt(floats.max), sqrt(floats.tiny)  # whose squares are still floats
    largest = [float(np.max(np.abs(x))) for x in arrays]
    if any(x != x for x in largest):
        return "nan"
    if others.inf and np.inf in largest:
        return "inf"
    overflowing = [x for x in largest if large < x < np.inf]
    if overflowing:
        return f"{max(overflowing):g}, whose square overflows"
    vanishing = [x for x in largest if 0 < x < small and others.vanishing]
    return f"no number above {max(vanishing):g}, whose square vanishes" if vanishing else ""
