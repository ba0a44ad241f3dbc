"""Answers that were printed as JSON, in another format."""

import json
from typing import Any

from ..errors import GradcliError, unreadable
from ..explanation.blocks import Reply
from ..explanation.serialized import NOT_ONE, restored
from ..limits import TOO_DEEP, Limits
from .asked import environment_of, format_of, write
from .options import Given
from .streams import Streams


def render_file(streams: Streams, given: Given) -> None:
    """Write the answer of a file of JSON as the format that is asked for."""
    from ..render.formats import render

    data = _read(given.answer, streams)
    shown = restored(data)
    environment = environment_of(streams, given, shown.full)
    limits = Limits({"entries": shown.entries})
    environment = environment._replace(precision=shown.precision, limits=limits)
    answer = Reply(shown.made_for, lambda: data, keyed=False)
    try:
        text = render(answer, format_of(streams, given), environment)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise NOT_ONE from None  # blocks within blocks where they do not belong
    write(streams, text, given)


def _read(file: str, streams: Streams) -> Any:
    """What JSON holds. Raises GradcliError."""
    try:
        if file == "-":
            text = streams.stdin_bytes().read()
        else:
            with open(file, "rb") as source:
                text = source.read()
        return json.loads(text)
    except OSError as error:
        raise unreadable(file, error) from None
    except ValueError as error:
        message = "standard input is" if file == "-" else f"{file} is"
        raise GradcliError("value", f"{message} not JSON: {error}") from None
    except RecursionError:
        raise GradcliError("limit", TOO_DEEP) from None
