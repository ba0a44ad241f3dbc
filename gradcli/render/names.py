"""The formats of an answer, those of a graph alone, and the places of Markdown, by name."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..explanation.blocks import Use


class Format(NamedTuple):
    """A format: the file of this folder that renders documents so, whether a file takes several of
    them, and the use that it makes of them.
    """

    renderer: str
    several: bool = False
    use: "Use" = "lines"


FORMATS = {
    "terminal": Format("terminal"),
    "plain": Format("terminal"),
    "markdown": Format("markdown", several=True, use="code"),
    "latex": Format("latex", several=True, use="equations"),
    "html": Format("html", several=True, use="page"),
    "svg": Format("svg", several=True),
    "json": Format("json", use="page"),
}
GRAPH_FORMATS = {
    "mermaid": "mermaid",
    "dot": "dot",
    "svg": "picture",
}  # functions of drawn_graph.py
PLACES = (
    "github", "discourse", "stackoverflow", "stackexchange", "reddit", "slack", "discord",
)  # fmt: skip
CHOOSING = ("stackoverflow",)  # places that choose some of all sections
DISCOURSE_WITH_MATH = "discourse, with mathematics"
