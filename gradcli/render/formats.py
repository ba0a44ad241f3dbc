"""The formats of an explanation."""

from ..explanation.analysis import Analysis
from ..explanation.document import Choices, document
from .environment import Environment

FORMATS = ("terminal", "plain", "markdown", "json")


def render(analysis: Analysis, format: str, choices: Choices, environment: Environment) -> str:
    """The explanation in one of FORMATS."""
    if format == "json":
        from .json import render_json

        return render_json(analysis, choices)
    made = document(analysis, choices)
    if format == "markdown":
        from .markdown import render_markdown

        return render_markdown(made, environment)
    from .terminal import render_terminal

    return render_terminal(made, environment)
