"""Operations that PyTorch leaves to others, in an order of operations of their own: it decides what
comes out where they meet inf, nan, or numbers whose products overflow or vanish.
"""

from collections.abc import Iterator
from math import sqrt
from sys import float_info
from typing import Any

from ..autodiff.reverse import Step
from ..graphs import Node, walk
from ..lazy import np
from .analysis import Analysis
from .conventions import on_the_way

LEFT_TO = {  # by the field `left_to` of operators
    "BLAS": "PyTorch leaves it to BLAS, whose operations come in another order",
    "LAPACK": "PyTorch leaves it to LAPACK, whose operations come in another order",
    "kernel": "PyTorch has one loop for all of it, whose operations come in another order",
    "registers": "PyTorch computes what fills a vector register in another way than what is left",
}
LARGE, SMALL = sqrt(float_info.max), sqrt(float_info.min)  # whose squares are still floats


def orders_met(a: Analysis) -> list[tuple[Node, str, str]]:
    """The operations, the first first, whose order of operations decides what comes out, each with
    what it meets, in words, and to whom PyTorch leaves it: a key of LEFT_TO.
    """
    found = []
    for step in reversed(a.gradients.steps):
        for part in _parts(step.node):
            said = _in_words(_numbers(part, step, a), part.op.left_to)
            if said:
                found.append((step.node, said, part.op.left_to))
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
    nodes = {*step.node.parents, *part.parents, part, step.received}
    nodes |= {c.sent for c in step.contributions}
    return (a.value(n) for n in nodes if n.dtype == "float" and n.numel and a.known(n))


def _in_words(arrays: Iterator[Any], left_to: str) -> str:
    """What there is in arrays that an order of operations decides on; of a register, inf is not."""
    largest = [float(np.max(np.abs(x))) for x in arrays]
    if any(x != x for x in largest):
        return "nan"
    beyond = [x for x in largest if x > LARGE and (left_to != "registers" or x < np.inf)]
    if beyond:
        too_large = "" if np.inf in beyond else ", whose square overflows"
        return f"{max(beyond):g}{too_large}"
    vanishing = [x for x in largest if 0 < x < SMALL and left_to != "registers"]
    return f"no number above {max(vanishing):g}, whose square vanishes" if vanishing else ""
