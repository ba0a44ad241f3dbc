"""Answers as JSON."""

import json
from typing import Any

from ..explanation.arrays import check_numbers, jsonable
from ..limits import Limits


def render_json(data: Any, limits: Limits | None = None) -> str:
    """One value on one line. Raises GradcliError if it contains too many numbers."""
    check_numbers(data, limits or Limits())
    return json.dumps(jsonable(data), ensure_ascii=False)
