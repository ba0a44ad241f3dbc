"""Rendering of an answer in any format."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from ..errors import GradcliError, did_you_mean
from ..explanation.blocks import (
    Document,
    Graph,
    Line,
    Note,
    Reply,
    Table,
    Tensor,
    notes_respelled,
    respelled,
    text_of,
)
from .ascii import in_ascii
from .environment import Environment
from .names import CHOOSING, FORMATS, GRAPH_FORMATS

R = TypeVar("R")


def render(answer: Reply, format: str, environment: Environment) -> str:
    """An answer in one of FORMATS. Raises GradcliError for other formats."""
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS) or f"the formats are {', '.join(FORMATS)}"
        raise GradcliError("option", f"there is no format {format}", hint=hint)
    if format == "json":
        from .json import render_json

        return render_json(with_document(answer, environment), environment.limits)
    use = "page" if environment.place in CHOOSING else FORMATS[format].use
    return render_documents(answer.documents(use), format, environment)


def with_document(answer: Reply, environment: Environment) -> Any:
    """The data of an answer, with the document from which other formats are rendered if the data
    are an object with known keys.
    """
    if not answer.keyed:
        return answer.data()
    from ..explanation.serialized import SerializedDocuments, serialized

    # documents first: their searches share time with those of the data
    documents = answer.documents(FORMATS["json"].use)
    data = answer.data()
    if "notes" in data:
        data |= {"notes": notes_respelled(data["notes"], environment.say)}

    def layout(documents: list[Document], e: Environment) -> dict[str, Any]:
        return serialized(SerializedDocuments(documents, e.precision, e.full, e.entries), data)

    return data | {"document": lay_out_in_time(documents, environment, layout)}


def fragment(answer: Reply, environment: Environment) -> str:
    """An answer as an HTML fragment, for use within another page."""
    from .html import html_fragment

    (built,) = answer.documents("lines")
    return lay_out_in_time(
        [built], environment, lambda documents, e: html_fragment(documents[0], e)
    )


def render_graph(answer: Reply, format: str, environment: Environment) -> str:
    """The graph only: as "mermaid", as "dot", as a picture in "svg", or in a format of other
    answers.
    """
    from . import drawn_graph

    if format not in GRAPH_FORMATS:
        return render(answer, format, environment).strip("\n")
    (page,) = answer.documents("lines")
    (graph,) = (b for section in page.sections for b in section.blocks if isinstance(b, Graph))
    return getattr(drawn_graph, GRAPH_FORMATS[format])(graph)


def render_documents(documents: list[Document], format: str, environment: Environment) -> str:
    """Documents one after another, in one of FORMATS other than "json"."""
    return lay_out_in_time(documents, environment, partial(_rendered, format))


def lay_out_in_time(
    documents: list[Document],
    environment: Environment,
    layout: Callable[[list[Document], Environment], R],
) -> R:
    """The documents, laid out by `layout`. Options in their sentences are spelled as the caller
    writes them: -w x, or wrt="x". If the layout takes too long, it is repeated with less content.
    """

    def spelled(documents: list[Document]) -> list[Document]:
        say = environment.say
        return documents if say is str else [respelled(built, say) for built in documents]

    def briefly() -> R:
        from .trimmed import trimmed

        return layout(
            spelled([trimmed(d, environment.full) for d in documents]),
            environment._replace(full=False, hurried=True),
        )

    def whole() -> R:
        return layout(spelled(documents), environment)

    limits = environment.limits
    return whole() if limits is None else limits.budget.present(whole, briefly)


def _rendered(format: str, documents: list[Document], environment: Environment) -> str:
    name, several, *_ = FORMATS[format]
    renderer = getattr(import_module(f".{name}", __package__), f"render_{name}")
    if several:
        return renderer(documents, environment)
    return "\n".join(renderer(built, environment) for built in documents)


def render_program(text: str, environment: Environment) -> str:
    """The text of a Python program, with escapes that colour it if the environment has colour."""
    if not environment.color:
        return text
    from rich.console import Console
    from rich.syntax import Syntax

    console = Console(
        color_system="standard",
        force_terminal=True,
        force_jupyter=False,
        width=environment.width,
        legacy_windows=False,
        _environ={},
    )
    syntax = Syntax("", "python", theme="ansi_dark", background_color="default")
    with console.capture() as captured:
        console.print(syntax.highlight(text), soft_wrap=True, end="")
    return captured.get()


def render_formulas(answer: Reply, format: str, environment: Environment) -> str:
    """Formulas as lines that are not wrapped, as aligned equations, or as a page."""
    if format not in ("latex", "plain", "terminal"):
        return render(answer, format, environment)
    (page,) = answer.documents(FORMATS[format].use)
    lines = _lines(page)
    if format == "latex":
        from .latex import as_page
        from .tex.lines import ROOM, aligned
        from .tex.page import Page

        equations = aligned(lines, ROOM.get(environment.page))
        blocks = [b for s in page.sections for b in s.blocks]
        notes = [Page(environment).note(b) for b in blocks if isinstance(b, Note)]
        return as_page("\n\n".join([equations, *notes]), environment, page.command)
    if format == "terminal" and environment.color:
        from .terminal import render_lines

        return render_lines(lines, environment)
    text = "\n".join(map(text_of, lines))
    return in_ascii(text) if environment.ascii else text


def _lines(page: Document) -> list[Line]:
    tables = [b for section in page.sections for b in section.blocks if isinstance(b, Table)]
    cells = [cell for table in tables for row in table.rows for cell in row.cells]
    return [cell for cell in cells if not isinstance(cell, Tensor)]
