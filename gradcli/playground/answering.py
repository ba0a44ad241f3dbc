"""All that the page asks for, as one function from JSON to JSON: where Python runs in the browser,
the page may call it itself.
"""

import json
import shlex
from typing import Any

from ..errors import INTERNAL, GradcliError
from ..explanation.analysis import Analysis
from ..explanation.choices import Choices
from ..explanation.replies import explanation
from ..language.given.options import read_names, read_shapes, read_values
from ..language.posing import pose
from ..limits import Limits
from ..pasted.request import in_language
from ..render.environment import Environment
from ..render.errors import message
from ..render.formats import render

OPTIONS = {"shapes": "-s", "values": "-v", "grad": "-g", "wrt": "-w"}  # fields, and what they are
FIELDS = ("expr", *OPTIONS)
SECONDS = 3  # of CPU for searches: somebody waits


def answer(question: str) -> str:
    """The answer to `{"expr": ..., "shapes": ..., "values": ..., "grad": ..., "wrt": ...}`, texts
    as the command line takes them, several values a line each: `{"ok": true, "command": ...,
    "page": ...}`, a page of HTML, or `{"ok": false, "error": ...}`, lines with the place
    underlined.
    """
    try:
        given = _fields(question)
        explained = explanation(_analysis(given), Choices(command=command(given)))
        made = render(explained, "html", Environment())
        return json.dumps({"ok": True, "command": command(given), "page": made})
    except GradcliError as error:
        return json.dumps({"ok": False, "error": message(error)})
    except Exception as error:  # the page goes on
        said = f"error[{INTERNAL}]: {type(error).__name__}: {error}"
        return json.dumps({"ok": False, "error": said})


def command(given: dict[str, str]) -> str:
    """The command line that prints the same."""
    words = ["gradcli", given["expr"]]
    for name, option in OPTIONS.items():
        for line in given[name].splitlines() if name == "values" else [given[name]]:
            words += [option, line] if line.strip() else []
    return shlex.join(words)


def _fields(question: str) -> dict[str, str]:
    try:
        asked = json.loads(question)
    except ValueError:
        asked = None
    if not isinstance(asked, dict) or not all(isinstance(x, str) for x in asked.values()):
        raise GradcliError("request", "a question is a JSON object of texts")
    return {name: asked.get(name, "") for name in FIELDS}


def _analysis(given: dict[str, str]) -> Analysis:
    asked: dict[str, Any] = {
        "expr": given["expr"],
        "shapes": read_shapes([given["shapes"]] if given["shapes"].strip() else []),
        "values": read_values([line for line in given["values"].splitlines() if line.strip()]),
        "grad": given["grad"].strip() or None,
        "wrt": read_names(given["wrt"]) if given["wrt"].strip() else None,
        "limits": Limits({"seconds": SECONDS}, files=False),
    }
    return Analysis(pose(suppose=True, **in_language(asked)))
