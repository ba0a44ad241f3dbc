"""Gradients that are differentiated again, as PyTorch computes them with create_graph=True."""

from ..graphs import Node, intern, walk


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
