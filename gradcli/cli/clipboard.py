"""The clipboard: of this machine, or of the one from which somebody is logged in."""

import base64

from ..errors import GradcliError
from .streams import Streams

REMOTE = ("SSH_TTY", "SSH_CONNECTION")  # variables that ssh sets


def copy(text: str, streams: Streams) -> None:
    """Put text on the clipboard; where there is none, let the terminal do so (OSC 52). Raises
    GradcliError where there is neither.
    """
    import pyperclip

    try:
        if not any(map(streams.variables.get, REMOTE)):
            pyperclip.copy(text)
            return
    except pyperclip.PyperclipException:
        pass
    if not streams.stderr.isatty():
        raise GradcliError("option", "there is no clipboard here", hint="write to a file: -o FILE")
    streams.stderr.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
    streams.stderr.flush()
