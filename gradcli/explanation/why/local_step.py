"""One operation on the way back, in numbers: what it sends for what it receives, and which of the
received elements an element that is sent depends on.
"""

from functools import cached_property
from typing import Any

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import GradcliError
from ...graphs import OPS, Node
from ...lazy import np
from ..analysis import Analysis

Place = tuple[int, ...]
DRAWS = 2  # values of the operands at which dependence is tried


class LocalStep:
    """The step of `node` back to `to`, one of its operands."""

    def __init__(self, a: Analysis, node: Node, to: Node, received: Node):
        self.a, self.node, self.to, self.received_node = a, node, to, received
        self.seed = OPS["input"](name="r", shape=node.shape, is_direction=True)
        sent = backward(node, self.seed, node.parents).of[to]
        self.sent_node: Node = OPS["zeros"](size=to.shape) if sent is None else sent

    @cached_property
    def received(self) -> Any:
        """The numbers that arrive."""
        return np.broadcast_to(np.asarray(self.a.value(self.received_node)), self.node.shape)

    @cached_property
    def operands(self) -> dict[Node, Any]:
        """The values of the operands."""
        return {i: self.a.value(i) for i in self.node.parents}

    @cached_property
    def here(self) -> dict[Node, Any]:
        """The values of the operands and of the result."""
        return self.operands | {self.node: self.a.value(self.node)}

    @cached_property
    def sent(self) -> Any:
        """The numbers that are sent."""
        return self.send(self.here, self.received)

    def send(self, given: dict[Node, Any], received: Any) -> Any:
        """What is sent for other values and other numbers received."""
        return Evaluator(given | {self.seed: received})(self.sent_node)[0]

    def reach(self, place: Place) -> Any:
        """A mask of the received elements that the one at `place` depends on, here or at any other
        values.
        """
        at = self._only(place)
        if at is not None and any(sent[place] != 0 for sent in self._ones_sent):
            mask = np.zeros(self.node.shape, bool)
            mask[at] = True
            return mask
        weights = [self._weights(place, given) for given in (self.here, *self._generic)]
        return np.any([np.isfinite(w) & (w != 0) for w in weights], axis=0)

    def _only(self, place: Place) -> Place | None:
        """The received element that the one at `place` depends on, where it can be only one."""
        if self.node.numel == 1:
            return (0,) * self.node.ndim
        same = self.node.shape == self.to.shape
        return place if same and self.node.op.family == "elementwise" else None

    @cached_property
    def _ones_sent(self) -> list[Any]:
        return [self.send(given, np.ones(self.node.shape)) for given in self._generic]

    @cached_property
    def _generic(self) -> list[dict[Node, Any]]:
        """Random values for the operands, as numbers that have nothing special about them."""
        rng = np.random.default_rng(1)
        return [
            {
                i: rng.uniform(0.3, 0.9, size=i.shape) if i.dtype == "float" else v
                for i, v in self.operands.items()
            }
            for _ in range(DRAWS)
        ]

    @cached_property
    def _transposed(self) -> tuple[Node, Node | None]:
        """A seed in the shape of what is sent, and the gradient by what is received."""
        one = OPS["input"](name="e", shape=self.to.shape, is_direction=True)
        return one, backward(self.sent_node, one, [self.seed]).of[self.seed]

    def _weights(self, place: Place, given: dict[Node, Any]) -> Any:
        """The factors by which the received elements count in one that is sent."""
        try:
            one, weights = self._transposed
            if weights is None:
                return np.zeros(self.node.shape)
            hot = np.zeros(self.to.shape)
            hot[place] = 1
            received = np.ones(self.node.shape)
            return Evaluator(given | {one: hot, self.seed: received})(weights)[0]
        except GradcliError:  # no such decomposition, or a rule that is not differentiated again
            return np.ones(self.node.shape)
