"""The answers for the page: a function from JSON to JSON, which could also be called in a browser
that runs Python.
"""

import json
import shlex
from functools import partial
from typing import Any

from .. import option_spelling
from ..errors import INTERNAL, GradcliError
from ..explanation.choices import Choices
from ..explanation.replies import explanation
from ..fields import FIELDS
from ..limits import Limits
from ..render.environment import Environment
from ..render.errors import message
from ..render.formats import render
from ..request import Request, from_texts

NAMES = ("shapes", "values", "grad", "wrt", "assume", "order", "expand", "dtype", "random_seed")
OPTIONS = {name: FIELDS[name].options[0] for name in NAMES}
REPEATED = ("values",)  # one value per line
SECONDS = 3  # of CPU time for searches
on_page = partial(option_spelling.respell, spelling=option_spelling.PAGE)


def answer(question: str) -> str:
    """The answer to `{"expr": ..., "shapes": ..., "values": ..., "grad": ...}`. Values are texts as
    after the command line's options in OPTIONS, several values on separate lines, and any text for
    a flag.

    Returns `{"ok": true, "command": ..., "page": ...}` with a page of HTML, or `{"ok": false,
    "error": ...}` with the lines of an error.
    """
    try:
        fields = _fields(question)
        analysis = _request(fields).one(suppose=True)
        explained = explanation(analysis, Choices(command=command(fields)))
        built = render(explained, "html", Environment(say=on_page))
        return json.dumps({"ok": True, "command": command(fields), "page": built})
    except GradcliError as error:
        option_spelling.respell_error(error, option_spelling.PAGE)
        return json.dumps({"ok": False, "error": message(error)})
    except Exception as error:  # the page continues after an error
        text = f"error[{INTERNAL}]: {type(error).__name__}: {error}"
        return json.dumps({"ok": False, "error": text})


def command(fields: dict[str, str]) -> str:
    """The command line that gives the same answer."""
    words = ["gradcli", fields["expr"]]
    for name, texts in _texts(fields).items():
        for text in texts:
            words += [OPTIONS[name]] if FIELDS[name].type is bool else [OPTIONS[name], text]
    return shlex.join(words)


def _texts(fields: dict[str, str]) -> dict[str, list[str]]:
    """The values of each option; a repeated option has one on each line."""
    typed = {name: fields.get(name, "") for name in OPTIONS}
    lines = {n: text.splitlines() if n in REPEATED else [text] for n, text in typed.items()}
    return {name: [line for line in result if line.strip()] for name, result in lines.items()}


def _fields(question: str) -> dict[str, str]:
    try:
        asked = json.loads(question)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict) or not all(isinstance(x, str) for x in asked.values()):
        raise GradcliError("request", "a question must be a JSON object of strings")
    return {name: asked.get(name, "") for name in ("expr", *OPTIONS)}


def _request(fields: dict[str, str]) -> Request:
    typed = {name: _typed(name, texts) for name, texts in _texts(fields).items() if texts}
    return from_texts(fields["expr"], typed, Limits({"seconds": SECONDS}, files=False))


def _typed(name: str, texts: list[str]) -> Any:
    """Option values as the command line passes them on: numbers as numbers. Raises GradcliError."""
    field, text = FIELDS[name], texts[0].strip()
    if field.type is bool:
        return True
    if field.type is not int:
        return text if field.type is str else texts
    try:
        return int(text)
    except ValueError:
        raise GradcliError("option", f"{OPTIONS[name]} must be an integer, got {text}") from None
