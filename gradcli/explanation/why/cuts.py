"""Where no gradient flows to an input: the operation that lets none through."""

from ...autodiff.reverse import conducts
from ...graphs import Node, walk
from ...language.problem import Input
from ..analysis import Analysis


def cut_for(a: Analysis, x: Input) -> Node | None:
    """The first operation on the input that lets no gradient through; None where the output is
    computed without it.
    """
    p = a.problem
    masks = _in_brackets(a)
    order = [n for n in walk([*p.indices, *masks, *p.roots]) if n.inputs]
    carried: set[Node] = {x.node}
    cuts = []
    for node in order:
        if carried.isdisjoint(node.parents):
            continue
        if not conducts(node) or _takes_none(a, node, carried):
            cuts.append(node)
        else:
            carried.add(node)
    used = set(walk([p.out, *p.indices, *masks]))
    return next((n for n in cuts if n in used), cuts[0] if cuts else None)


def _takes_none(a: Analysis, node: Node, carried: set[Node]) -> bool:
    """Whether an operation with a gradient sends none to these operands."""
    step = next((s for s in a.gradients.steps if s.node is node), None)
    return step is not None and not any(c.to in carried for c in step.contributions)


def _in_brackets(a: Analysis) -> list[Node]:
    """The tensors that stand in brackets, which are no part of the graph."""
    items = [
        item for n in walk(a.problem.roots) if n.op.name == "getitem" for item in n.attrs["index"]
    ]
    return [item.node for item in items if isinstance(getattr(item, "node", None), Node)]
