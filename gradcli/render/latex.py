"""Explanations as LaTeX: part of a paper, a document, or slides.

The commands are those of amsmath. User input is set as mathematics, or as text without commands.
"""

from collections.abc import Sequence

from ..explanation.blocks import Document
from .environment import Environment
from .tex.page import Page

ARTICLE = r"""\documentclass{article}
\usepackage{amsmath}
\allowdisplaybreaks
\begin{document}
\raggedright
"""
SLIDES = r"""\documentclass{beamer}
\usepackage{amsmath}
\setbeamertemplate{navigation symbols}{}
\begin{document}
"""
END = "\n\\end{document}"


def render_latex(documents: Sequence[Document], environment: Environment) -> str:
    """The documents as sections, a document or slides, according to `environment.page`."""
    page = _page(environment)
    built = "\n\n".join(part for d in documents for part in page.document(d))
    command = next((d.command for d in documents if d.command), "")
    return f"{as_page(built, environment, command)}\n"


def _page(environment: Environment) -> Page:
    if environment.page != "overlay":
        return Page(environment)
    from .tex.slides import Slides

    return Slides(environment)


def as_page(body: str, environment: Environment, command: str) -> str:
    """Lines after a comment with their command; within a complete document if requested."""
    comment = f"% {' '.join(command.split())} -f latex\n" if command else ""
    if environment.page == "overlay":
        return f"{comment}{SLIDES}\n{body}\n{END}"
    return f"{comment}{ARTICLE}\n{body}\n{END}" if environment.page else comment + body
