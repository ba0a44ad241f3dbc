"""The names of formats of answers, of formats of graphs, and of sites for Markdown."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..explanation.blocks import Use


class Format(NamedTuple):
    """A format: the module of this package that renders documents, whether one file may contain
    several documents, and the use of documents that it requires.
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
CHOOSING = ("stackoverflow",)  # sites on which only some sections are shown
DISCOURSE_WITH_MATH = "discourse, with mathematics"
