"""The Jacobian of a problem times its tangents."""

from functools import cached_property
from itertools import count

from ..autodiff.forward import jvp, tangents_along
from ..graphs import Node
from ..language.problem import Input, Tangent
from ..notation.index import Notation
from ..notation.tree import Attribute, Name
from .analysis import Analysis
from .wording import Wording


class Jvp:
    """The tangents of the output and of everything on the way; what does not move has none."""

    def __init__(self, a: Analysis):
        self.a, self.p, self.w = a, a.problem, Wording(a)

    def tangent(self, x: Input) -> Tangent | None:
        """The tangent of an input."""
        return next((t for t in self.p.tangents if t.x.node is x.node), None)

    @cached_property
    def along(self) -> dict[Node, Node]:
        """The tangent of every node that moves, as graph."""
        return tangents_along(self.p.out, {t.x.node: t.node for t in self.p.tangents})

    @property
    def node(self) -> Node | None:
        """The tangent of the output, as graph; None where it does not move."""
        return self.along.get(self.p.out)

    def part(self, x: Input) -> Node | None:
        """What one input adds to the tangent of the output."""
        t = self.tangent(x)
        return None if t is None else jvp(self.p.out, {x.node: t.node})

    def by_index(self) -> Notation | None:
        """The tangent of the output in index notation."""
        if self.node is None:
            return None
        left, indices = Attribute(Name(self.p.out_name), "tangent"), self.w.indices
        return self.w.in_letters(self.node, lambda n: indices.element(n, left, indices.out_places))

    # ---- names -----------------------------------------------------------------------------------

    @cached_property
    def called(self) -> dict[Node, Name]:
        """What the tangents of operations are called: h.tangent, and t1, t2, ... without a name."""
        taken = {name.text for name in self.w.names.values()}
        free = (f"t{k}" for k in count(1) if f"t{k}" not in taken)
        found = {}
        for node in self.along:
            if node.op.family != "leaf":
                name = self.w.names.get(node)
                text = next(free) if name is None else f"{name.text}.tangent"
                found[node] = Name(text, "seed")
        return found

    def later(self, node: Node) -> set[Node]:
        """The nodes that are not computed yet where the tangent of `node` is."""
        order = self.w.source.operations()
        return set(order[order.index(node) + 1 :])

    def received(self, node: Node) -> dict[Node, Name]:
        """The tangents that an operation receives, with their names."""
        return {self.along[i]: self.called[i] for i in node.parents if i in self.called}
