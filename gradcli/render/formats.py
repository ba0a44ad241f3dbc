"""The formats of an explanation."""

from ..errors import GradcliError, did_you_mean
from ..explanation.analysis import Analysis
from ..explanation.blocks import Document
from ..explanation.document import Choices, check_sections, document
from .environment import Environment

FORMATS = ("terminal", "plain", "markdown", "json")


def render(analysis: Analysis, format: str, choices: Choices, environment: Environment) -> str:
    """The explanation in one of FORMATS. Raises GradcliError for another, or an unknown section."""
    check_sections(choices.show)
    if format == "json":
        from .json import render_json

        return render_json(analysis, choices)
    return render_document(document(analysis, choices), format, environment)


def render_document(made: Document, format: str, environment: Environment) -> str:
    """A document in one of FORMATS but "json". Raises GradcliError for another."""
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS) or f"the formats are {', '.join(FORMATS)}"
        raise GradcliError("option", f"there is no format {format}", hint=hint)
    if format == "markdown":
        from .markdown import render_markdown

        return render_markdown(made, environment)
    from .terminal import render_terminal

    return render_terminal(made, environment)
