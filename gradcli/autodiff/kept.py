"""Gradients that are differentiated again, as PyTorch computes them with create_graph=True."""

from ..graphs import Node, intern, walk
from .reverse import conducting


def with_graph(grad: Node) -> Node:
    """A gradient with what its operators say for one whose graph is kept."""
    done: dict[Node | None, Node | None] = {None: None}
    for node in walk([grad]):
        inputs = tuple(done[i] for i in node.inputs)
        if node.op.with_graph is not None:
            done[node] = node.op.with_graph(*inputs, **node.attrs)
        else:
            same = inputs == node.inputs
            done[node] = node if same else intern(node.op, inputs, node.attrs, node.span)
    return done[grad]  # type: ignore[return-value]


def refused_again(out: Node, x: Node) -> dict[str, str]:
    """The operators on the way from x to out whose gradients PyTorch does not differentiate, by
    name, and what it says there.
    """
    on_the_way = conducting(walk([out]), {x})
    told = ((n.op.name, n.op.refused_again(n)) for n in on_the_way)
    return {name: said for name, said in told if said is not None}
