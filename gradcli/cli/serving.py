"""`gradcli serve`: runs the playground."""

import webbrowser

from ..errors import GradcliError
from ..playground.server import HOST, Playground
from .streams import Streams


def serve_page(streams: Streams, port: int, opened: bool) -> None:
    """Serve the page until an interrupt. Raises GradcliError if the port is not available."""
    try:
        playground = Playground(port)
    except OSError as error:
        message = f"port {port} of {HOST} cannot be used: {error.strerror}"
        raise GradcliError(
            "option", message, hint="leave --port out for one that is free"
        ) from None
    with playground:
        streams.write(f"{playground.address}\n")
        streams.warn("the playground is at this address until Ctrl+C")
        playground.worker.start()
        if opened:
            webbrowser.open(playground.address)
        try:
            playground.serve_forever()
        except KeyboardInterrupt:
            streams.warn("ended")
