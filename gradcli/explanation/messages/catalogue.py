"""The catalogue of messages: wordings, meaning, causes, cure.

`catalogue.json` contains them, ordered by topic and by frequency; `others.txt` lists other
messages, of PyTorch, Python, NumPy and other libraries, with which a text is compared too. This
module does not recognise texts.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent


class Wording(NamedTuple):
    """One wording of a message, with {placeholders}; `before`: the release that changed this
    wording, or "" if not known; `language`: "" for English.
    """

    text: str
    before: str = ""
    language: str = ""


class Message(NamedTuple):
    """An entry of the catalogue. `elsewhere`: Python and other libraries print this message too.
    `values` describes the placeholders; `trigger` is a program that raises it, or "".
    """

    kind: str
    text: str
    topic: str
    meaning: str
    causes: tuple[str, ...]
    cure: str
    trigger: str
    wordings: tuple[Wording, ...]
    values: dict[str, str]
    elsewhere: bool


@cache
def _data() -> Any:
    return json.loads((FOLDER / "catalogue.json").read_text(encoding="utf-8"))


def topics() -> dict[str, str]:
    """The titles of the topics, by name."""
    return _data()["topics"]


@cache
def messages() -> tuple[Message, ...]:
    """All entries."""
    return tuple(_message(entry) for entry in _data()["messages"])


def _message(entry: dict[str, Any]) -> Message:
    wordings = tuple(
        Wording(w["message"], w.get("before", ""), w.get("language", ""))
        for w in entry.get("wordings", ())
    )
    return Message(
        entry["class"],
        entry["message"],
        entry["topic"],
        entry["meaning"],
        tuple(entry["causes"]),
        entry["cure"],
        entry["trigger"],
        wordings,
        entry.get("values", {}),
        entry.get("elsewhere", False),
    )


@cache
def others() -> tuple[str, ...]:
    """Messages outside the catalogue."""
    return tuple((FOLDER / "others.txt").read_text(encoding="utf-8").splitlines())
