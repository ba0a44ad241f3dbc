"""Other nodes in place of some."""

from collections.abc import Mapping

from .node import Node, intern, walk


def substitute(node: Node, new: Mapping[Node, Node]) -> Node:
    """`node` with other nodes in place of some."""
    done: dict[Node | None, Node | None] = {None: None}
    done.update(new.items())
    for n in walk([node], lambda n: () if n in new else n.inputs):
        if n not in done:
            inputs = tuple(done[i] for i in n.inputs)
            done[n] = n if inputs == n.inputs else intern(n.op, inputs, n.attrs, n.span)
    return done[node]  # type: ignore[return-value]
