"""From an element of a gradient back to the operation that makes it nan, infinite or zero.

The way goes against the reverse pass. What is not finite comes from a received element that is not,
where there is one that counts; otherwise the operation itself makes it so. A zero comes from zeros
received where filling them wakes it, or where nothing else is received.
"""

from typing import Any, NamedTuple

from ...autodiff.reverse import Step
from ...graphs import Node
from ...lazy import np
from ..analysis import Analysis
from .local_step import LocalStep, Place


class Origin(NamedTuple):
    """Where an element gets its kind: in the step of an operation to an operand, at an element of
    this; without a step in the seed, or as contributions to a node cancel.
    """

    node: Node
    place: Place
    step: LocalStep | None = None
    terms: tuple[float, ...] = ()
    path: tuple[tuple[Node, Place], ...] = ()  # elements that carry it, the nearest first

    @property
    def cancels(self) -> bool:
        """Whether contributions add up to it."""
        return bool(self.terms)

    @property
    def reaches(self) -> bool:
        """Whether the element depends on what the operation receives at other values."""
        return self.step is None or bool(self.step.reach(self.place).any())


class Tracer:
    """Origins of elements of the gradients of a problem."""

    def __init__(self, a: Analysis):
        self.a = a
        self.steps = a.gradients.steps
        self._locals: dict[tuple[Node, Node], LocalStep] = {}
        self._cached: dict[tuple[Node, Place, bool], Origin] = {}
        self._consumers: dict[Node, list[Step]] = {}
        for step in self.steps:
            for to in dict.fromkeys(c.to for c in step.contributions):
                self._consumers.setdefault(to, []).append(step)

    def not_finite(self, node: Node, place: Place) -> Origin:
        """The origin of an element that is nan or infinite."""
        return self._trace(node, place, zero=False)

    def zero(self, node: Node, place: Place) -> Origin:
        """The origin of an element that is zero."""
        return self._trace(node, place, zero=True)

    def _trace(self, node: Node, place: Place, zero: bool) -> Origin:
        path: list[tuple[Node, Place]] = []
        while True:
            known = self._cached.get((node, place, zero))
            if known is not None:
                return known._replace(path=(*path, *known.path))
            found = (self._zero_at if zero else self._not_finite_at)(node, place)
            if not isinstance(found, tuple) or isinstance(found, Origin):
                if not path:
                    self._cached[node, place, zero] = found
                return found._replace(path=(*path, *found.path))
            path.append(found)
            node, place = found

    def arriving(self, node: Node, place: Place) -> float:
        """The number that arrives at an element of an operation's result."""
        step = next(s for s in self.steps if s.node is node)
        return float(np.broadcast_to(self.a.value(step.received), node.shape)[place])

    def _local(self, step: Step, to: Node) -> LocalStep:
        key = step.node, to
        if key not in self._locals:
            self._locals[key] = LocalStep(self.a, step.node, to, step.received)
        return self._locals[key]

    def _arriving(self, node: Node) -> list[LocalStep]:
        """The steps to a node, in the order of the reverse pass."""
        return [self._local(step, node) for step in self._consumers.get(node, [])]

    # ---- not finite ------------------------------------------------------------------------------

    def _not_finite_at(self, node: Node, place: Place) -> Any:
        steps = self._arriving(node)
        culprits = [s for s in steps if not np.isfinite(s.sent[place])]
        if not culprits:
            terms = tuple(float(s.sent[place]) for s in steps)
            return Origin(node, place, None, terms if len(terms) > 1 else ())
        step = culprits[0]
        bad = ~np.isfinite(step.received)
        if not bad.any():
            return Origin(step.node, place, step)
        through = bad & step.reach(place)
        if not through.any():
            return Origin(step.node, place, step)
        return step.node, _first(through)

    # ---- zero ------------------------------------------------------------------------------------

    def _zero_at(self, node: Node, place: Place) -> Any:
        steps = self._arriving(node)
        terms = tuple(float(s.sent[place]) for s in steps)
        if any(terms):
            return Origin(node, place, None, terms)
        if not steps:
            return Origin(node, place)
        if len(steps) == 1:
            return self._zero_in(steps[0], place)
        found = [self._followed(self._zero_in(s, place)) for s in steps]
        made = [o for o in found if o.step is not None or o.cancels]
        return next((o for o in made if o.reaches), made[0] if made else found[0])

    def _followed(self, found: Any) -> Origin:
        if isinstance(found, Origin):
            return found
        origin = self.zero(*found)
        return origin._replace(path=(found, *origin.path))

    def _zero_in(self, step: LocalStep, place: Place) -> Any:
        """The origin of a zero that a step sends; or the node and place where it received one."""
        zeros = step.received == 0
        if not zeros.any():
            return Origin(step.node, place, step)
        reach = step.reach(place)
        if (reach & ~zeros).any() or not (reach & zeros).any():
            return Origin(step.node, place, step)
        return step.node, _first(reach & zeros)


def _first(mask: Any) -> Place:
    return tuple(int(i) for i in np.argwhere(mask)[0])
