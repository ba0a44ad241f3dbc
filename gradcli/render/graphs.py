"""Graphs in the formats of programs that draw: for Mermaid, for Graphviz's dot, as SVG.

GRAPH_FORMATS of names.py lists these functions.
"""

from ..explanation.blocks import Graph, GraphNode, text_of
from .drawn_graph import picture

__all__ = ["dot", "mermaid", "picture"]


def mermaid(graph: Graph) -> str:
    """A Mermaid flowchart, from the inputs down to the output."""
    lines = ["flowchart TD"]
    for k, node in enumerate(graph.nodes):
        left, right = ("([", "])") if not node.inputs else ("[", "]")
        lines.append(f'  n{k}{left}"{_entities(text_of(node.label))}"{right}')
    return "\n".join(lines + [f"  n{i} --> n{k}" for k, i in _edges(graph)])


def dot(graph: Graph) -> str:
    """A Graphviz digraph, from the inputs down to the output."""
    lines = ["digraph gradcli {"]
    lines += [
        f"  n{k} [label={_quoted(text_of(node.label))}, shape={_shape(node)}];"
        for k, node in enumerate(graph.nodes)
    ]
    return "\n".join([*lines, *(f"  n{i} -> n{k};" for k, i in _edges(graph)), "}"])


def _edges(graph: Graph) -> list[tuple[int, int]]:
    return [(k, i) for k, node in enumerate(graph.nodes) for i in node.inputs]


def _shape(node: GraphNode) -> str:
    return "box" if node.inputs else "ellipse"


def _entities(text: str) -> str:
    """Text that Mermaid shows as it is: everything but letters, digits, spaces and full stops by
    number.
    """
    return "".join(c if c.isalnum() or c in " ." else f"#{ord(c)};" for c in text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
