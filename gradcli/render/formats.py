"""The formats of an answer."""

from importlib import import_module

from ..errors import GradcliError, did_you_mean
from ..explanation.blocks import Document, Reply, said_otherwise
from .environment import Environment
from .names import FORMATS


def render(answer: Reply, format: str, environment: Environment) -> str:
    """An answer in one of FORMATS. Raises GradcliError for another."""
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS) or f"the formats are {', '.join(FORMATS)}"
        raise GradcliError("option", f"there is no format {format}", hint=hint)
    if format == "json":
        from .json import render_json

        return render_json(answer.data(), environment.limits)
    return render_documents(answer.documents(FORMATS[format].use), format, environment)


def fragment(answer: Reply, environment: Environment) -> str:
    """An answer as HTML to stand within another page."""
    from .html import html_fragment

    (made,) = answer.documents("lines")
    return html_fragment(said_otherwise(made, environment.say), environment)


def render_documents(documents: list[Document], format: str, environment: Environment) -> str:
    """Documents below each other, in one of FORMATS other than "json"."""
    if environment.say is not str:
        documents = [said_otherwise(made, environment.say) for made in documents]
    name, several, _ = FORMATS[format]
    renderer = getattr(import_module(f".{name}", __package__), f"render_{name}")
    if several:
        return renderer(documents, environment)
    return "\n".join(renderer(made, environment) for made in documents)
