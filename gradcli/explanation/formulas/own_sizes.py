"""What was found for a problem in general, at the problem's own sizes: where it can be brought back
by its sizes alone, it need not be looked for again.
"""

from collections.abc import Sequence
from typing import Any

from ...backends.numeric import Evaluator
from ...errors import GradcliError, if_applicable
from ...graphs import Node
from ...graphs.shapes import TELLING
from ...graphs.substitution import rebuilt
from ...language.problem import Problem
from ...lazy import np
from ..random_numbers import Numbers
from .trial_values import random_values

CLOSE = 1e-9  # relative
LARGEST = 20_000  # elements of what is compared in numbers


class NotBySizes(Exception):
    """A number or an array of which it is not known what it is at other sizes."""


def at_own_sizes(node: Node, general: Problem, own: Problem, expected: Node) -> Node | None:
    """The node of the problem in `general` as one of the `own`; None where it cannot be brought
    back, or has other numbers than what is `expected`.
    """
    errors = (NotBySizes, GradcliError)
    built = if_applicable(lambda: rebuilt(node, _Back(general, own)), errors)
    same = built is not None and if_applicable(lambda: _equal(built, expected, own))
    return built if same else None


class _Back:
    """Makes nodes at the sizes of one problem of those of another."""

    def __init__(self, general: Problem, own: Problem):
        self.nodes = {general.out: own.out}
        self.nodes |= {n: own.named[name] for name, n in general.named.items()}
        self.nodes |= {i.node: own.inputs[name].node for name, i in general.inputs.items()}
        for there, here in zip(general.orders, own.orders):
            self.nodes |= {there.out: here.out, there.seed.node: here.seed.node}
        pairs = {p for n, m in self.nodes.items() for p in zip(n.shape, m.shape)}
        self.sizes = dict(pairs)
        if any(self.sizes[big] != small for big, small in pairs):
            raise NotBySizes

    def __call__(self, n: Node, inputs: Sequence[Node | None]) -> Node:
        if n in self.nodes:
            return self.nodes[n]
        return n.op(*inputs, **{name: self._at(value) for name, value in n.attrs.items()})

    def _at(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._at, value))
        if isinstance(value, slice):
            return slice(*map(self._at, (value.start, value.stop, value.step)))
        if value is None or isinstance(value, bool | str | type(...)):
            return value
        if not isinstance(value, int | float):
            raise NotBySizes
        if abs(value) < TELLING[0]:
            return value
        if value not in self.sizes:
            raise NotBySizes
        return self.sizes[value]  # type: ignore[index]


def _equal(made: Node, expected: Node, own: Problem) -> bool:
    """Whether two nodes have the same numbers at random values of inputs and seeds."""
    if made.shape != expected.shape or own.out.numel > LARGEST or made.numel > LARGEST:
        return False
    values = random_values(own)
    draw = Numbers(made.numel)
    for p in own.orders:
        shape = p.seed.node.shape
        values[p.seed.node] = np.ones(shape) if p.seed.implicit else draw.uniform(0.5, 1.5, shape)
    evaluate = Evaluator(values, limits=own.limits)
    return np.allclose(evaluate(made)[0], evaluate(expected)[0], rtol=CLOSE, atol=CLOSE)
