"""Answers lines in a process of `gradcli batch`.

The modules that compute answers are imported on demand, because the process that distributes lines
does not need them.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from ..limits import Limits


class Answered(NamedTuple):
    """A line of the output, and whether it is an answer, not an error."""

    ok: bool
    text: str


def answered(line: str, limits: Limits) -> Answered:
    """The answer to a line."""
    from ..batches import answer

    result = answer(line, limits)
    return Answered(result["ok"], json.dumps(result, ensure_ascii=False) + "\n")


def all_answered(lines: Sequence[str], limits: Limits) -> list[Answered]:
    """The answers to several lines, in the form in which a worker returns them."""
    return [answered(line, limits) for line in lines]


def lost(line: str, limits: Limits) -> Answered:
    """The error for a line whose worker died before answering."""
    from ..batches import failed

    text = "the process that worked on this line ended before it had an answer"
    hint = "it ran out of memory, or was killed; the other lines are answered"
    message = failed(line, limits, {"code": "limit", "message": text, "hint": hint})
    return Answered(False, json.dumps(message, ensure_ascii=False) + "\n")
