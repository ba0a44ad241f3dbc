"""Programs in, what they do out."""

import json
from typing import TYPE_CHECKING

from ..errors import unreadable
from ..limits import Limits
from .streams import Streams

if TYPE_CHECKING:
    from ..explanation.reading.answer import Answer
    from ..render.environment import Environment


def read_source(file: str, streams: Streams, limits: Limits) -> "list[Answer]":
    """The answers for a file, or for standard input."""
    from ..explanation.reading.answer import answer

    if file == "-":
        return answer(streams.expression(file, limits))
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            text = source.read(limits.sizes["length"] + 1)
    except OSError as error:
        raise unreadable(file, error) from None
    limits.check("length", len(text), file)
    return answer(text)


def render_answers(
    answers: "list[Answer]", format: str, environment: "Environment", command: str
) -> str:
    """The answers in a format; several as a page, at the end of which stands the command."""
    from ..explanation.reading.answer import data
    from ..render.formats import check_format, render_documents

    check_format(format)
    if format == "json":
        return json.dumps(data(answers), ensure_ascii=False) + "\n"
    pages = [a.document() for a in answers]
    pages[-1:] = [page._replace(command=command) for page in pages[-1:]]
    return render_documents(pages, format, environment)
