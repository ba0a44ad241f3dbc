"""Answers as JSON."""

import json
from typing import Any

from ..explanation.arrays import jsonable


def render_json(data: Any) -> str:
    """One value on one line."""
    return json.dumps(jsonable(data), ensure_ascii=False)
