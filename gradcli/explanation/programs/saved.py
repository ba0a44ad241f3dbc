"""What a backward of one's own keeps of the forward: the values that its formulas use, no others."""

import ast
from collections.abc import Sequence

from ...graphs import Node, walk
from ...language.problem import Input
from ...notation.statements import Names
from .plan import Plan

VIEWS = ("movement", "leaf")  # made again from what they view


class Saved:
    """Names for the nodes of the forward that gradients start from."""

    def __init__(self, plan: Plan, grads: Sequence[Node], names: Names):
        self.plan = plan
        forward = set(walk([plan.out]))
        inputs = {i.node for i in plan.problem.inputs.values()}
        found = _frontier(grads, forward, inputs)
        self.names = {
            node: plan.names[node].text if node in inputs else self._name(node, names)
            for node in found
        }
        self.inner = {n: name for n, name in self.names.items() if n not in inputs}

    def _name(self, node: Node, names: Names) -> str:
        return self.plan.own.get(node) or names.of(node)


def _frontier(grads: Sequence[Node], forward: set[Node], inputs: set[Node]) -> list[Node]:
    """The nodes of the forward that gradients use, without those that are soon made from others."""

    def stops(n: Node) -> bool:
        if n in inputs:
            return True
        return n in forward and n.op.family not in VIEWS and n.op.name != "size" and bool(n.inputs)

    nodes = walk(grads, lambda n: () if stops(n) else n.inputs)
    found = [n for n in nodes if stops(n)]
    kept = set(found)
    for n in reversed(found):
        cheap = bool(n.op.spelling) and n.op.family == "elementwise"
        if cheap and all(i in kept or i.op.family == "leaf" and i not in inputs for i in n.parents):
            kept.discard(n)
    return [n for n in found if n in kept]


def free_names(lines: Sequence[str]) -> set[str]:
    """The names that lines of Python read."""
    tree = ast.parse("\n".join(["def _():", *(f"    {line}" for line in lines)]))
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def by_shape(lines: Sequence[str], inputs: Sequence[Input], plan: Plan) -> list[Input]:
    """The inputs of which lines read no more than the shape."""
    tree = ast.parse("\n".join(["def _():", *(f"    {line}" for line in lines)]))
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    shaped = {
        id(n.value)
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and n.attr in ("shape", "numel", "size")
    }
    found = []
    for x in inputs:
        reads = [n for n in names if n.id == plan.safe(x.name)]
        if reads and all(id(n) in shaped for n in reads):
            found.append(x)
    return found
