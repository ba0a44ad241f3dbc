"""Labels and masks in formulas: as the numbers that they are, so that what they decide is seen."""

from collections.abc import Iterable

from ...graphs import OPS, Node
from ...graphs.substitution import substitute_all
from ...language.problem import Problem
from ...operators.leaves import Array


def known_labels(problem: Problem) -> dict[Node, Node]:
    """The numbers of inputs that are labels or masks, under the name of the input."""
    return {
        i.node: OPS["tensor"](data=Array(i.value, i.name, i.node))
        for i in problem.inputs.values()
        if i.node.dtype != "float"
    }


def with_labels(nodes: Iterable[Node], labels: dict[Node, Node]) -> dict[Node, Node]:
    """What becomes of nodes that are computed from labels; the labels are not among them."""
    others = [n for n in nodes if labels and n not in labels]
    built = zip(others, substitute_all(others, labels), strict=True)
    return {n: new for n, new in built if new is not n}
