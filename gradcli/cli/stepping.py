"""`explain --step`: one operation at a time, controlled by keys; all operations if there is no
terminal.
"""

from collections.abc import Callable
from typing import Any

from ..errors import GradcliError
from ..explanation.blocks import Document
from ..explanation.stepping import Stepping
from ..render.environment import Environment
from ..render.errors import message
from ..render.terminal import render_terminal
from .requests import read_element
from .streams import Streams

NEXT, BACK = ("n", " ", "\r", "\n", "\x1b[C", "\x1b[B", "j"), ("b", "p", "\x1b[D", "\x1b[A", "k")
QUIT = ("q", "\x04", "\x1b")
KEYS = "n next   b back   w why   e one element   q quit"
PROMPT = "element, as in x[0,1]: "


def _pressed() -> str:
    """The next key that is pressed."""
    from typer import getchar

    return getchar()


def step_through(
    streams: Streams,
    analysis: Any,
    environment: Environment,
    key: Callable[[], str] = _pressed,
    read_line: Callable[[str], str] = input,
) -> None:
    """Show one operation at a time, controlled by `key`; `read_line` reads a typed line."""
    stepping = Stepping(analysis)

    def show(document: Document) -> None:
        streams.write(render_terminal(document, environment).strip("\n") + "\n\n")

    if not streams.is_terminal:
        for k in range(len(stepping)):
            show(stepping.shown(k))
        return
    place = 0
    streams.write(f"{KEYS}\n\n")
    show(stepping.shown(place))
    while (pressed := key()) not in QUIT:
        if pressed in NEXT and place + 1 == len(stepping):
            streams.write("This is the last.\n")
        elif pressed in BACK and not place:
            streams.write("This is the first.\n")
        elif pressed in NEXT or pressed in BACK:
            place += 1 if pressed in NEXT else -1
            show(stepping.shown(place))
        elif pressed == "w":
            show(stepping.why(place))
        elif pressed.startswith("e"):
            text = pressed[1:].lstrip()
            if not text.endswith(("\r", "\n")):  # pasted text includes its newline
                text += read_line(f"{PROMPT}{text}")
            show_element(streams, stepping, text, show)
        else:
            streams.write(f"{KEYS}\n")


def show_element(
    streams: Streams, stepping: Stepping, text: str, show: Callable[[Document], None]
) -> None:
    """Show one element of a gradient, or the error if there is no such element."""
    try:
        show(stepping.element(*read_element(text, stepping.a.problem)))
    except GradcliError as error:
        streams.write(message(error))
