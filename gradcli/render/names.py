"""The names of formats of answers, of formats of graphs, and of sites for Markdown."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..explanation.blocks import Use


class Format(NamedTuple):
    """A format. `renderer` is the module of this package that renders documents in it. `several`
    says whether one file may contain several documents. `use` is what a document is built for (see
    Use in explanation/blocks.py). `endings` are those of the names of such files, and `called` is
    what messages call such a file.
    """

    renderer: str
    several: bool = False
    use: "Use" = "lines"
    endings: tuple[str, ...] = ()
    called: str = ""


FORMATS = {
    "terminal": Format("terminal"),
    "plain": Format("terminal"),
    "markdown": Format(
        "markdown", several=True, use="code", endings=(".md", ".markdown"), called="Markdown"
    ),
    "latex": Format("latex", several=True, use="equations", endings=(".tex",), called="LaTeX"),
    "html": Format(
        "html", several=True, use="page", endings=(".html", ".htm"), called="an HTML page"
    ),
    "svg": Format("svg", several=True, endings=(".svg",), called="an SVG picture"),
    "json": Format("json", use="page", endings=(".json",), called="JSON"),
}
ENDINGS = {ending: name for name, f in FORMATS.items() for ending in f.endings}
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
