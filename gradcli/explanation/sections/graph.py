"""The graph of the forward pass, to be drawn."""

from ...errors import GradcliError
from ...graphs import Node, walk
from ..analysis import Analysis
from ..blocks import Graph, GraphNode, Line, Section, plain
from ..formulas.wording import Wording
from ..phrases import shape_text

MOST = 500  # nodes of a graph that can still be looked at


def graph(a: Analysis, w: Wording) -> Section:
    """The output and all that it is made of."""
    order = walk([a.problem.out])
    if len(order) > MOST:
        raise GradcliError(
            "limit",
            f"a drawing of {len(order):,} nodes cannot be read; {MOST} are the most",
            hint="draw a part of the expression",
        )
    ids = {node: k for k, node in enumerate(order)}
    nodes = tuple(GraphNode(_label(n, w), tuple(ids[i] for i in n.parents)) for n in order)
    return Section("graph", (), (), (Graph(nodes),))


def _label(node: Node, w: Wording) -> Line:
    line = w.source.titled(node, whole=False) if node.op.family != "leaf" else _leaf(node, w)
    return line if node.op.name == "constant" else (*line, *plain(f"  {shape_text(node.shape)}"))


def _leaf(node: Node, w: Wording) -> Line:
    if node in w.names:
        return w.source.short(node)
    return plain(w.source.of(node))
