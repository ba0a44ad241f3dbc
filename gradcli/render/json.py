"""The explanation as JSON."""

import json
from typing import Any

from ..explanation.analysis import Analysis
from ..explanation.arrays import jsonable
from ..explanation.choices import Choices
from ..explanation.data import KEYS, Data
from ..explanation.section_names import ON_REQUEST

# The sections of an explanation, where their names are not those of the keys.
KEY_OF_SECTION = {"answer": "grad", "gradient": "grad", "forward": "graph", "backward": "steps"}


def render_json(analysis: Analysis, choices: Choices) -> str:
    """One object on one line; with sections chosen, only their keys and what is always there."""
    analysis.gradients  # noqa: B018  (errors first)
    wanted = (
        {KEY_OF_SECTION.get(name, name) for name in choices.show} | {"schema", "expression"}
        if choices.show
        else {key for key in KEYS if key not in ON_REQUEST and (key != "claims" or analysis.claims)}
    )
    data = Data(analysis)
    found = {key: data(key) for key in KEYS if key in wanted}
    return dumped({key: v for key, v in found.items() if key != "derivation" or v})


def dumped(values: dict[str, Any]) -> str:
    """One object on one line."""
    return json.dumps(jsonable(values), ensure_ascii=False)
