"""The formats of an answer, by name: the file of this folder that renders a document so."""

RENDERERS = {
    "terminal": "terminal",
    "plain": "terminal",
    "markdown": "markdown",
    "latex": "latex",
}
FORMATS = (*RENDERERS, "json")
