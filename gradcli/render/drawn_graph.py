"""A graph as a picture in SVG: in a page, whose styles it takes, or as a file."""

from html import escape

from ..explanation.blocks import Graph, text_of
from .layers import HEIGHT, layout

LETTER = 8.0  # of the font in which labels are set, which is monospaced
PAD, MARGIN = 24.0, 6.0
LONGEST = 34  # characters of a label
Point = tuple[float, float]
STYLE = (  # of a picture of its own, on whatever paper
    "<style>svg { background: #fff; font: 13px ui-monospace, Menlo, Consolas, monospace } "
    ".node rect { fill: #fff; stroke: #596273 } .node.leaf rect { fill: #eef0f4; stroke: none } "
    ".node text { fill: #1b1f27; text-anchor: middle } "
    ".edge { fill: none; stroke: #596273; stroke-width: 1.3 }</style>"
)


def picture(graph: Graph) -> str:
    """The graph as a file of its own."""
    start, _, inside = drawn_graph(graph).partition(">")
    namespace = 'xmlns="http://www.w3.org/2000/svg"'
    return f"{start} {namespace}>{STYLE}{inside}\n"


def drawn_graph(graph: Graph) -> str:
    """The graph, from the inputs down to the output; nodes and edges say which they are."""
    labels = [_short(text_of(node.label)) for node in graph.nodes]
    widths = [LETTER * len(label) + PAD for label in labels]
    found = layout([node.inputs for node in graph.nodes], widths)
    width, height = (side + 2 * MARGIN for side in found.size)
    edges = [_edge(i, n, points) for (i, n), points in found.edges.items()]
    nodes = [
        _node(n, label, not graph.nodes[n].inputs, found.nodes[n], widths[n])
        for n, label in enumerate(labels)
    ]
    box = f"{-MARGIN:g} {-MARGIN:g} {width:.0f} {height:.0f}"
    size = f'viewBox="{box}" width="{width:.0f}" height="{height:.0f}"'
    name = f"graph of {len(labels)} nodes, from the inputs down to {labels[-1]}"
    return (
        f'<svg class="graph" {size} role="img" aria-label="{escape(name)}">'
        f"{''.join(edges)}{''.join(nodes)}</svg>"
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


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
    """A curve through the points, which leaves and enters nodes vertically."""
    ends = [points[0][1] + HEIGHT / 2, points[-1][1] - HEIGHT / 2]
    ys = [ends[0], *(y for _, y in points[1:-1]), ends[1]]
    path = f"M{points[0][0]:.1f} {ys[0]:.1f}"
    for k in range(1, len(points)):
        half = (ys[k] - ys[k - 1]) / 2
        before, here = points[k - 1][0], points[k][0]
        path += f"C{before:.1f} {ys[k - 1] + half:.1f} {here:.1f} {ys[k] - half:.1f} "
        path += f"{here:.1f} {ys[k]:.1f}"
    return f'<path class="edge" data-from="{i}" data-to="{n}" d="{path}"/>'
