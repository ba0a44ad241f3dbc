"""Operations that PyTorch leaves to others, in an order of operations of their own: it decides what
comes out where they meet inf, nan, or numbers whose products overflow or vanish.
"""

from collections.abc import Collection, Sequence
from math import sqrt
from typing import NamedTuple

from ...autodiff.reverse import Step
from ...backends.numeric import sources
from ...graphs import Node, walk
from ...lazy import np
from ..analysis import Analysis


class Others(NamedTuple):
    """Those who compute an operation in PyTorch, in a sentence; and on what their order decides,
    beside nan, numbers whose squares overflow and inf beside -0: on inf, on numbers whose squares
    vanish; or on `sums` of numbers of both signs alone.
    """

    told: str
    inf: bool = True
    vanishing: bool = True
    sums: bool = False


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
    "sum": Others("PyTorch adds up in parts, in an order of its own", sums=True),
}


def orders_met(a: Analysis) -> list[tuple[Node, str, str]]:
    """The operations, the first first, whose order of operations decides what comes out, in numbers
    or on the way back, each with what it meets, in words, and who computes it in PyTorch, in a
    sentence.
    """
    seeds = [p.seed.value for p in a.problem.orders if p.seed.value is not None]
    made = dict.fromkeys(walk([a.problem.out, *seeds]))
    steps = {step.node: step for step in a.gradients.steps}
    meets = _Meeting(a)
    found = []
    for node in made:
        for part in _parts(node, steps.get(node), made):
            met = meets(part, steps.get(node))
            if met:
                found.append((node, met, LEFT_TO[part.op.left_to].told))
                break
    return found


def _parts(node: Node, step: Step | None, made: Collection[Node]) -> list[Node]:
    """What PyTorch leaves to others of an operation and of its step back; the rest of `made` is
    none of it.
    """
    roots, received = [node], None
    if step is not None:
        roots, received = [node, *(c.sent for c in step.contributions)], step.received

    def within(n: Node) -> Sequence[Node | None]:
        outside = n is received or (n in made and n is not node)
        return () if outside else n.inputs if n.op.left_to else sources(n)

    return [n for n in walk(roots, within) if n.op.left_to and (n is node or n not in made)]


class _Meeting:
    """What parts of operations meet that their order decides on, in words."""

    def __init__(self, a: Analysis):
        self.a, self.floats = a, np.finfo(a.dtype)
        self.largest: dict[Node, float] = {}  # the largest numbers, where any are known

    def __call__(self, part: Node, step: Step | None) -> str:
        """What is met in what is given to a part and comes out, and in the step back; nothing where
        the order decides on none of it.
        """
        others = LEFT_TO[part.op.left_to]
        if others.sums:
            return self._in_sums(part, part.parents[0])
        nodes = [*part.parents, part]
        if step is not None:
            nodes += [step.received, *(c.sent for c in step.contributions)]
        largest = [self._largest(n) for n in nodes]
        if np.inf in largest and any(map(self._has_minus_zero, part.parents)):
            return "-0, whose sign may be that of inf"
        return self._in_words(largest, others)

    def _has_minus_zero(self, node: Node) -> bool:
        """Whether -0 is in it."""
        if node.dtype != "float" or not self.a.known(node):
            return False
        x = self.a.value(node)
        return bool(np.any((x == 0) & np.signbit(x)))

    def _largest(self, node: Node) -> float:
        if node not in self.largest:
            known = node.dtype == "float" and node.numel and self.a.known(node)
            self.largest[node] = float(np.max(np.abs(self.a.value(node)))) if known else 0.0
        return self.largest[node]

    def _in_sums(self, node: Node, given: Node) -> str:
        """What overflows or not, as numbers of the other sign are added sooner or later; nothing
        where inf, nan and overflow come out in any order.
        """
        if self._largest(given) * given.numel <= self.floats.max:
            return ""
        x = self.a.value(given)
        finite = np.where(np.isfinite(x), x, 0)
        with np.errstate(over="ignore"):
            above = node.op.value(np.maximum(finite, 0), **node.attrs)
            below = node.op.value(np.minimum(finite, 0), **node.attrs)
        decided = (np.isinf(above) & (below < 0)) | ((above > 0) & np.isinf(below))
        largest = np.max(np.abs(finite))
        return f"{largest:g}, of which a sum overflows" if np.any(decided) else ""

    def _in_words(self, largest: list[float], others: Others) -> str:
        """What there is among numbers, each the largest of an array."""
        large, small = sqrt(self.floats.max), sqrt(self.floats.tiny)  # whose squares are floats
        if any(x != x for x in largest):
            return "nan"
        if others.inf and np.inf in largest:
            return "inf"
        overflowing = [x for x in largest if large < x < np.inf]
        if overflowing:
            return f"{max(overflowing):g}, whose square overflows"
        vanishing = [x for x in largest if 0 < x < small and others.vanishing]
        return f"no number above {max(vanishing):g}, whose square vanishes" if vanishing else ""
