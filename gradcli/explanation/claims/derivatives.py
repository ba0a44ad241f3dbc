"""The derivatives of the elementwise functions on the way to an output, as claims have them."""

from typing import NamedTuple

from ...autodiff.reverse import backward
from ...graphs import OPS, Node, walk
from ...language.problem import Problem
from ...notation import tree
from ..formulas.wording import Wording


class Derivative(NamedTuple):
    """Of an elementwise operation: its formula, the function, and what its output and its input are
    called. No function where a mask chooses: that is no derivative of what it chooses from.
    """

    formula: str
    function: str | None
    of: tuple[str, ...]


def derivatives(problem: Problem, w: Wording) -> tuple[Derivative, ...]:
    """Those that have a formula, each once."""
    found: dict[str, Derivative] = {}
    for node in walk([problem.out]):
        for x in node.parents if _is_function(node) else ():
            text = formula(backward(node, OPS["ones"](size=node.shape), [x]).of[x], w)
            if text is not None:
                of = tuple(_called(n, w) for n in (node, x))
                function = None if node.op.masks else node.op.name
                found.setdefault(text, Derivative(text, function, of))
    return tuple(found.values())


def formula(node: Node | None, w: Wording) -> str | None:
    """The formula of a node as text; None where it has none."""
    made = None if node is None else w.formula(node)
    return None if made is None else tree.text(made)


def _called(node: Node, w: Wording) -> str:
    """The name of a node, or its formula."""
    name = w.names.get(node)
    return (formula(node, w) or "") if name is None else name.text


def _is_function(node: Node) -> bool:
    """Whether it is a function of elements that is written as a call: tanh, but not a product."""
    return node.op.family == "elementwise" and not node.op.spelling
