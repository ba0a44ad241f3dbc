"""The explanation as JSON."""

import json
from typing import Any

from ..explanation.analysis import Analysis
from ..explanation.arrays import jsonable
from ..explanation.data import KEYS, ON_REQUEST, Data
from ..explanation.document import Choices

# The sections of an explanation, where their names are not those of the keys.
KEY_OF_SECTION = {"answer": "grad", "gradient": "grad", "forward": "graph", "backward": "steps"}


def render_json(analysis: Analysis, choices: Choices) -> str:
    """One object on one line; with sections chosen, only their keys and what is always there."""
    analysis.gradients  # noqa: B018  (errors first)
    wanted = (
        {KEY_OF_SECTION.get(name, name) for name in choices.show} | {"schema", "expression"}
        if choices.show
        else set(KEYS)
    )
    data = Data(analysis)
    return dumped({key: data(key) for key in (*KEYS, *ON_REQUEST) if key in wanted})


def dumped(values: dict[str, Any]) -> str:
    """One object on one line."""
    return json.dumps(jsonable(values), ensure_ascii=False)
