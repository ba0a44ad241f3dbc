"""`gradcli render`: answers in JSON, rendered in another format."""

import json
from typing import Any

from ..errors import GradcliError, unreadable
from ..explanation.blocks import Reply
from ..explanation.serialized import NOT_ONE, restored
from ..limits import TOO_DEEP, Limits
from .options import Options
from .requests import environment_of, format_of, write
from .streams import Streams


def render_file(streams: Streams, options: Options) -> None:
    """Write the answer in a JSON file in the requested format."""
    from ..render.formats import render

    data = _read(options.answer, streams, Limits().bytes_of_answer)
    shown = restored(data)
    environment = environment_of(streams, options, shown.full)
    limits = Limits({"entries": shown.entries})
    environment = environment._replace(precision=shown.precision, limits=limits)
    answer = Reply(shown.documents_for, lambda: data, keyed=False)
    try:
        text = render(answer, format_of(streams, options), environment)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise NOT_ONE from None  # blocks in places where they are invalid
    write(streams, text, options)


def _read(file: str, streams: Streams, most: int) -> Any:
    """The value of a JSON file of at most `most` bytes. Raises GradcliError."""
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            text = streams.stdin_bytes().read(most + 1)
        else:
            with open(file, "rb") as source:
                text = source.read(most + 1)
        if len(text) > most:
            raise GradcliError("limit", f"{name} is longer than any answer, {most:,} bytes")
        return json.loads(text)
    except OSError as error:
        raise unreadable(file, error) from None
    except ValueError as error:
        raise GradcliError("value", f"{name} is not JSON: {error}") from None
    except RecursionError:
        raise GradcliError("limit", TOO_DEEP) from None
