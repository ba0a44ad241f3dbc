"""The graph of the forward pass, to be drawn."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ...errors import GradcliError, if_applicable
from ...graphs import Node, walk
from ..analysis import Analysis
from ..blocks import Graph, GraphNode, Line, Pass, Section, Step, Tensor, plain, words
from ..formulas.formula_writer import FormulaWriter
from ..phrases import shape_text
from .backward import steps

MOST = 500  # largest number of nodes of a graph that is drawn
MOST_FOLLOWED = 40  # largest number of nodes of a graph that shows both passes


def graph(a: Analysis, w: FormulaWriter) -> Section:
    """The section with the graph of the output."""
    order = walk([a.problem.out])
    if len(order) > MOST:
        raise GradcliError(
            "limit",
            f"a drawing of {len(order):,} nodes is unreadable; {MOST} are the most that are drawn",
            hint="draw a part of the expression",
        )
    ids = {node: k for k, node in enumerate(order)}
    has_numbers = any(i.value is not None for i in a.problem.inputs.values())
    sent = _sent(a) if has_numbers else {}
    nodes = tuple(
        GraphNode(
            _label(n, w),
            tuple(ids[i] for i in n.parents),
            _flows(a, n, sent) if has_numbers else (),
        )
        for n in order
    )
    return Section("graph", (), (), (Graph(nodes),))


def _sent(a: Analysis) -> dict[tuple[Node, Node], Any]:
    """The gradients that nodes send to their inputs, added up where a node uses one twice."""
    result: dict[tuple[Node, Node], Any] = {}
    gradients = if_applicable(lambda: a.gradients)  # None if no gradient flows
    for step in gradients.steps if gradients else ():
        for c in step.contributions:
            value, edge = a.value(c.sent), (step.node, c.to)
            if value is not None:
                result[edge] = result[edge] + value if edge in result else value
    return result


def _flows(
    a: Analysis, node: Node, sent: Mapping[tuple[Node, Node], Any]
) -> tuple[tuple[Tensor | None, Tensor | None], ...]:
    """The values and gradients on the edges between a node and its inputs."""
    pairs = [(a.value(i), sent.get((node, i))) for i in node.parents]
    return tuple((_tensor(value, ""), _tensor(grad, "seed")) for value, grad in pairs)


def _tensor(value: Any, role: str) -> Tensor | None:
    return None if value is None else Tensor(value, role)


def followed(a: Analysis, w: FormulaWriter) -> Section:
    """The graph with both passes; a section without blocks if it is too large."""
    order = walk([a.problem.out])
    if len(order) > MOST_FOLLOWED or not w.source.operations():
        return Section("graph", (), (), ())
    (graph_block,) = graph(a, w).blocks
    assert isinstance(graph_block, Graph)
    ids = {node: k for k, node in enumerate(order)}
    built = tuple(Pass(ids[n], back, make()) for n, back, make in passes(a, w) if n in ids)
    title = words("Step by step, forward and back")
    return Section("graph", title, (), (graph_block._replace(passes=built),), extra=True)


def passes(a: Analysis, w: FormulaWriter) -> Iterator[tuple[Node, bool, Callable[[], Step]]]:
    """The operations of the forward and then of the reverse pass: the node, whether it belongs to
    the reverse pass, and a function that creates the step.
    """
    for k, node in enumerate(w.source.operations(), 1):
        yield node, False, partial(_computed, k, node, a, w)
    for node, make in steps(a, w):
        yield node, True, make


def _computed(number: int, node: Node, a: Analysis, w: FormulaWriter) -> Step:
    """An operation of the forward pass, with its value if it has one."""
    value = a.value(node)
    tensor = None if value is None else Tensor(value)
    return Step(
        number, w.source.titled(node, whole=False), words(shape_text(node.shape)), tensor, ()
    )


def _label(node: Node, w: FormulaWriter) -> Line:
    line = w.source.titled(node, whole=False) if node.op.family != "leaf" else _leaf(node, w)
    return line if node.op.name == "constant" else (*line, *plain(f"  {shape_text(node.shape)}"))


def _leaf(node: Node, w: FormulaWriter) -> Line:
    if node in w.names:
        return w.source.short(node)
    return plain(w.source.of(node))
