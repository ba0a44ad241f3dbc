"""What the forward of a generated torch.autograd.Function saves for its backward: the values that
the backward's formulas use.
"""

import ast
from collections.abc import Collection, Sequence

from ...graphs import Node, walk
from ...language.syntax import loaded
from ...notation.code.statements import Names, Statements
from ...notation.formulas.formula import CodeWriter
from ...operators.indexing import inputs_and_indices
from .at_sizes import AtSizes
from .plan import Plan, indented

RECOMPUTED = ("movement", "leaf")  # families that are recomputed; inputs are saved all the same


class Saved:
    """The nodes of the forward on which the gradients depend, with names."""

    def __init__(self, sized: AtSizes, grads: Sequence[Node], names: Names):
        self.sized, inputs = sized, sized.inputs
        forward = set(walk([sized.out], inputs_and_indices))
        result = _frontier(grads, forward, inputs)
        self.names = {
            node: sized.names[node].text if node in inputs else self._name(node, names)
            for node in result
        }
        self.inner = {n: name for n, name in self.names.items() if n not in inputs}

    def forward(self, writer: CodeWriter, plan: Plan, saved_names: Collection[str]) -> Statements:
        """The forward, written with statements for the values of `saved_names`."""
        sized = self.sized
        used = {*saved_names}
        inner = {n: name for n, name in self.inner.items() if name in used}
        named = sized.intermediates | inner
        return Statements(writer, [sized.out, *inner], named, plan.fresh(*named.values()))

    def _name(self, node: Node, names: Names) -> str:
        return self.sized.named_nodes.get(node) or names.of(node)


def _frontier(grads: Sequence[Node], forward: set[Node], inputs: set[Node]) -> list[Node]:
    """The nodes of the forward that gradients use, without those that are cheaply recomputed from
    others, such as a sum of two saved tensors.
    """

    numbers = _constant_nodes(grads)

    def stops(n: Node) -> bool:
        if n in inputs:
            return True
        if n.op.family in RECOMPUTED or n in numbers:
            return False
        return n in forward and bool(n.inputs)

    nodes = walk(grads, lambda n: () if stops(n) or n in numbers else inputs_and_indices(n))
    result = [n for n in nodes if stops(n)]
    saved = set(result)
    for n in reversed(result):
        cheap = bool(n.op.spelling) and n.op.family == "elementwise"
        at_hand = {
            i for i in n.parents if i in saved or (i.op.family == "leaf" and i not in inputs)
        }
        if cheap and at_hand == set(n.parents):
            saved.discard(n)
    return [n for n in result if n in saved]


def _constant_nodes(grads: Sequence[Node]) -> set[Node]:
    """The nodes that are computed from sizes and constants only."""
    result: set[Node] = set()
    for n in walk(grads):
        if n.op.name in ("size", "constant") or (n.inputs and result.issuperset(n.parents)):
            result.add(n)
    return result


def free_names(lines: Sequence[str]) -> set[str]:
    """The names that lines of Python read."""
    return loaded(ast.parse("\n".join(["def _():", *indented([*lines])])))
