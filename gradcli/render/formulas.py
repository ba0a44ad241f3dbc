"""Closed forms alone, a line each."""

from ..explanation.blocks import Document, Line, Reply, Table, Tensor, text_of
from .ascii import in_ascii
from .environment import Environment
from .formats import render
from .names import FORMATS


def render_formulas(answer: Reply, format: str, environment: Environment) -> str:
    """Lines that are never wrapped, or aligned equations; other formats have a page of them."""
    if format not in ("latex", "plain", "terminal"):
        return render(answer, format, environment)
    (page,) = answer.documents(FORMATS[format].use)
    lines = _lines(page)
    if format == "latex":
        from .latex import as_page
        from .tex.lines import ROOM, aligned

        return as_page(aligned(lines, ROOM.get(environment.page)), environment, page.command)
    if format == "terminal" and environment.color:
        from .terminal import render_lines

        return render_lines(lines, environment)
    text = "\n".join(map(text_of, lines))
    return in_ascii(text) if environment.ascii else text


def _lines(page: Document) -> list[Line]:
    tables = [b for section in page.sections for b in section.blocks if isinstance(b, Table)]
    cells = [cell for table in tables for row in table.rows for cell in row.cells]
    return [cell for cell in cells if not isinstance(cell, Tensor)]
