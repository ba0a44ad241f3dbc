"""Graphs in the formats of Mermaid and Graphviz, and as SVG, inside a page (with its styles) or as
a file.

GRAPH_FORMATS in names.py lists these functions.
"""

from collections import Counter
from html import escape

from ..explanation.blocks import Graph, GraphNode, Tensor, text_of
from .environment import Environment
from .layers import GAP_DOWN, HEIGHT, layout
from .tensors import tensor_lines

LETTER = 8.0  # width of a character in the monospaced font of labels
PAD, MARGIN = 24.0, 6.0
MAX_LABEL, MAX_EDGE_TEXT = 34, 18  # characters of the label of a node, and of a text on an edge
DIGIT = 6.6  # width of a character on an edge
LAYER_GAP_WITH_TEXTS = 64.0  # between layers, if edges have a value and a gradient
LINE, TEXT_PADDING = 13.0, 14.0  # height of a text on an edge, and space beside it
FIRST, MIDDLE, LAST = 0.26, 0.5, 0.62  # where texts stand, as fractions of a segment of the edge
DIGITS = Environment(precision=3)
Point = tuple[float, float]
STYLE = (  # for a separate file on any background
    "<style>svg { background: #fff; font: 13px ui-monospace, Menlo, Consolas, monospace } "
    ".node rect { fill: #fff; stroke: #596273 } .node.leaf rect { fill: #eef0f4; stroke: none } "
    ".node text { fill: #1b1f27; text-anchor: middle } "
    ".flow { font-size: 10.5px; text-anchor: middle; fill: #1b1f27 } "
    ".flow.gradient { fill: #a8327a } .behind { fill: #fff } "
    ".edge { fill: none; stroke: #596273; stroke-width: 1.3 }</style>"
)


def picture(graph: Graph) -> str:
    """The graph as a separate SVG file."""
    start, _, inside = drawn_graph(graph).partition(">")
    namespace = 'xmlns="http://www.w3.org/2000/svg"'
    return f"{start} {namespace}>{STYLE}{inside}\n"


def drawn_graph(graph: Graph) -> str:
    """The graph as SVG, with inputs at the top and the output at the bottom."""
    labels = [_short(text_of(node.label)) for node in graph.nodes]
    widths = [LETTER * len(label) + PAD for label in labels]
    uses = Counter(i for node in graph.nodes for i in {*node.inputs})
    room = [*widths]
    for node in graph.nodes:
        for i in {*node.inputs}:
            longest = max(map(len, _flow_texts(node, i)), default=0)
            room[i] = max(room[i], DIGIT * longest + TEXT_PADDING)
    text = any(node.flows for node in graph.nodes)
    result = layout(
        [n.inputs for n in graph.nodes], room, LAYER_GAP_WITH_TEXTS if text else GAP_DOWN
    )
    width, height = (side + 2 * MARGIN for side in result.size)
    edges = [_edge(i, n, points) for (i, n), points in result.edges.items()]
    flows = [_flow(graph, edge, points, uses) for edge, points in result.edges.items()]
    nodes = [
        _node(n, label, not graph.nodes[n].inputs, result.nodes[n], widths[n])
        for n, label in enumerate(labels)
    ]
    box = f"{-MARGIN:g} {-MARGIN:g} {width:.0f} {height:.0f}"
    size = f'viewBox="{box}" width="{width:.0f}" height="{height:.0f}"'
    name = f"graph of {len(labels)} nodes, from the inputs down to {labels[-1]}"
    return (
        f'<svg class="graph" {size} role="img" aria-label="{escape(name)}">'
        f"{''.join(edges)}{''.join(nodes)}{''.join(flows)}</svg>"
    )


def _flow(graph: Graph, edge: tuple[int, int], points: list[Point], uses: Counter[int]) -> str:
    """The value and the gradient on an edge, near an end of it at which there are no other edges,
    if possible.
    """
    i, n = edge
    texts = _flow_texts(graph.nodes[n], i)
    at = FIRST if uses[i] == 1 else LAST if len({*graph.nodes[n].inputs}) == 1 else MIDDLE
    (x, y), (end_x, end) = points[:2] if at == FIRST else points[-2:]
    start, end = y + HEIGHT / 2, end - HEIGHT / 2
    curve_fraction = at * at * (3 - 2 * at)  # approximate position on the curve
    x, y = x + (end_x - x) * curve_fraction, start + (end - start) * at
    lines = [
        f'<text class="flow {kind}" x="{x:.1f}" y="{y + down:.1f}">{escape(text)}</text>'
        for kind, text, down in zip(("value", "gradient"), texts, (-2, LINE - 2))
        if text
    ]
    wide = DIGIT * max(map(len, texts), default=0)
    top = y - LINE + (0 if len(lines) == len(texts) or texts[0] else LINE)
    paper = (
        f'<rect class="behind" x="{x - wide / 2:.1f}" y="{top:.1f}" width="{wide:.1f}" '
        f'height="{LINE * len(lines):g}"/>'
    )
    return "".join([paper, *lines]) if lines else ""


def _flow_texts(node: GraphNode, i: int) -> list[str]:
    """The value and the gradient that pass between a node and an input, as short texts."""
    flows = node.flows[node.inputs.index(i)] if node.flows else ()
    return [_edge_text(sign, tensor) for sign, tensor in zip(("", "∂ "), flows)]


def _edge_text(sign: str, tensor: Tensor | None) -> str:
    if tensor is None:
        return ""
    (text, *_) = tensor_lines(tensor.array, 10_000, DIGITS, brief=True)
    return sign + (text if len(text) <= MAX_EDGE_TEXT else text[: MAX_EDGE_TEXT - 1] + "…")


def _short(text: str) -> str:
    return text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"


def _node(n: int, label: str, is_leaf: bool, at: Point, width: float) -> str:
    x, y = at
    box = (
        f'<rect x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{HEIGHT:g}" rx="{HEIGHT / 2 if is_leaf else 6:g}"/>'
    )
    text = f'<text x="{x:.1f}" y="{y + 5:.1f}" xml:space="preserve">{escape(label)}</text>'
    kind = "leaf" if is_leaf else "operation"
    return f'<g class="node {kind}" data-node="{n}">{box}{text}</g>'


def _edge(i: int, n: int, points: list[Point]) -> str:
    """A curve through the points that leaves and enters nodes vertically."""
    ends = [points[0][1] + HEIGHT / 2, points[-1][1] - HEIGHT / 2]
    ys = [ends[0], *(y for _, y in points[1:-1]), ends[1]]
    path = f"M{points[0][0]:.1f} {ys[0]:.1f}"
    for k in range(1, len(points)):
        half = (ys[k] - ys[k - 1]) / 2
        before, here = points[k - 1][0], points[k][0]
        path += f"C{before:.1f} {ys[k - 1] + half:.1f} {here:.1f} {ys[k] - half:.1f} "
        path += f"{here:.1f} {ys[k]:.1f}"
    return f'<path class="edge" data-from="{i}" data-to="{n}" d="{path}"/>'


def mermaid(graph: Graph) -> str:
    """A Mermaid flowchart, with inputs at the top and the output at the bottom."""
    lines = ["flowchart TD"]
    for k, node in enumerate(graph.nodes):
        left, right = ("([", "])") if not node.inputs else ("[", "]")
        lines.append(f'  n{k}{left}"{_entities(text_of(node.label))}"{right}')
    return "\n".join(lines + [f"  n{i} --> n{k}" for k, i in _edges(graph)])


def dot(graph: Graph) -> str:
    """A Graphviz digraph, with inputs at the top and the output at the bottom."""
    lines = ["digraph gradcli {"]
    lines += [
        f"  n{k} [label={_quoted(text_of(node.label))}, "
        f"shape={'box' if node.inputs else 'ellipse'}];"
        for k, node in enumerate(graph.nodes)
    ]
    return "\n".join([*lines, *(f"  n{i} -> n{k};" for k, i in _edges(graph)), "}"])


def _edges(graph: Graph) -> list[tuple[int, int]]:
    """Pairs of a node and an input of it, by number."""
    return [(k, i) for k, node in enumerate(graph.nodes) for i in node.inputs]


def _entities(text: str) -> str:
    """Text escaped for Mermaid: all but letters, digits, spaces and full stops by number."""
    return "".join(c if c.isalnum() or c in " ." else f"#{ord(c)};" for c in text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
