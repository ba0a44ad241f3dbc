"""The formats of an answer, by name: the file of this folder that renders a document so."""

RENDERERS = {
    "terminal": "terminal",
    "plain": "terminal",
    "markdown": "markdown",
    "latex": "latex",
    "html": "html",
    "svg": "svg",
}
PAGES = ("html", "svg")  # of which a file takes several documents
# where Markdown is pasted
PLACES = (
    "github", "discourse", "stackoverflow", "stackexchange", "reddit", "slack", "discord",
)  # fmt: skip
CHOOSING = ("stackoverflow",)  # places that choose some of all sections
DISCOURSE_WITH_MATH = "discourse, with mathematics"
FORMATS = (*RENDERERS, "json")
