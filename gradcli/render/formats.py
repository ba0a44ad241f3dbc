"""The formats of an explanation."""

from typing import TYPE_CHECKING

from ..errors import GradcliError, did_you_mean
from ..explanation.blocks import Document, said_otherwise
from .environment import Environment

if TYPE_CHECKING:
    from ..explanation.analysis import Analysis
    from ..explanation.choices import Choices
    from ..explanation.seeds.seed_for import SeedFor

FORMATS = ("terminal", "plain", "markdown", "html", "svg", "json")


def render(analysis: "Analysis", format: str, choices: "Choices", environment: Environment) -> str:
    """The explanation in one of FORMATS. Raises GradcliError for another, or an unknown section."""
    from ..explanation.document import check_sections, document

    check_format(format)
    check_sections(choices.show)
    if format == "json":
        from .json import render_json

        return render_json(analysis, choices)
    choices = choices._replace(followed=format == "html")
    return render_document(document(analysis, choices), format, environment)


def fragment(analysis: "Analysis", choices: "Choices", environment: Environment) -> str:
    """The explanation as HTML to stand within another page."""
    from ..explanation.document import document
    from .html import html_fragment

    made = document(analysis, choices)
    return html_fragment(said_otherwise(made, environment.say), environment)


def check_format(format: str) -> None:
    """Refuse what is none of FORMATS."""
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS) or f"the formats are {', '.join(FORMATS)}"
        raise GradcliError("option", f"there is no format {format}", hint=hint)


def render_seed_for(
    found: "SeedFor", format: str, environment: Environment, command: str = ""
) -> str:
    """The seed for a target in one of FORMATS. Raises GradcliError for another."""
    from ..explanation.seeds import seed_for_document

    check_format(format)
    if format == "json":
        import json

        from ..explanation.arrays import jsonable

        return json.dumps(jsonable(seed_for_document.data(found)), ensure_ascii=False)
    made = seed_for_document.document(found, environment.full, environment.precision, command)
    return render_document(made, format, environment)


def render_document(made: Document, format: str, environment: Environment) -> str:
    """A document in one of FORMATS other than "json"."""
    return render_documents([made], format, environment)


def render_documents(documents: list[Document], format: str, environment: Environment) -> str:
    """Documents below each other, in one of FORMATS other than "json"."""
    if environment.say is not str:
        documents = [said_otherwise(made, environment.say) for made in documents]
    if format == "html":
        from .html import render_html

        return render_html(documents, environment)
    if format == "svg":
        from .svg import render_svg

        return render_svg(documents, environment)
    return "\n".join(_rendered(made, format, environment) for made in documents)


def _rendered(made: Document, format: str, environment: Environment) -> str:
    if format == "markdown":
        from .markdown import render_markdown

        return render_markdown(made, environment)
    from .terminal import render_terminal

    return render_terminal(made, environment)
