"""The HTTP server of the playground, for this machine only."""

import json
import re
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from ..render.page import script_digest
from ..worked_examples import EXAMPLES
from .worker import TooLong, Worker

HOST = "127.0.0.1"
LONGEST = 200_000  # largest number of bytes of a question
# The Content-Security-Policy of every response. An answer is a whole HTML page, which page.js puts
# into a frame, and such a frame has the policy of the page around it; therefore the policy allows
# the script of answers, by its digest {}.
POLICY = (
    "default-src 'none'; script-src 'self' 'sha256-{}'; style-src 'self' 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'"
)
ASSETS = {"": "page.html", "page.css": "page.css", "page.js": "page.js"}
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


class Playground(ThreadingHTTPServer):
    """A server whose address contains a secret token. Other web pages in the user's browser cannot
    use it: requests without the token, or from another origin, are refused.
    """

    daemon_threads = True

    def __init__(self, port: int = 0, seconds: float = 10):
        self.token, self.worker = secrets.token_urlsafe(16), Worker(seconds)
        super().__init__((HOST, port), Handler)
        port = self.server_address[1]
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self.address = f"http://{HOST}:{port}/{self.token}/"

    def server_close(self) -> None:
        """Close the server, and end its worker process."""
        self.worker.stop()
        super().server_close()


class Handler(BaseHTTPRequestHandler):
    """Answers GET with the page's files and POST with answers to questions. Every path begins with
    the token.
    """

    server: Playground
    server_version, sys_version = "gradcli", ""

    def do_GET(self) -> None:
        """Send the page, its style or script, or the list of examples."""
        name = self._authorized_path()
        if name == "examples":
            self._send(HTTPStatus.OK, "application/json", json.dumps(_examples()))
        elif name in ASSETS:
            text = (files(__package__) / ASSETS[name]).read_text(encoding="utf-8")
            self._send(HTTPStatus.OK, TYPES[ASSETS[name].rpartition(".")[2]], text)
        elif name is not None:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Send the answer to a question."""
        name, length = self._authorized_path(), self.headers.get("Content-Length", "")
        if name is None:
            return
        if name != "answer":
            self._refuse(HTTPStatus.NOT_FOUND)
        elif not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > LONGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            question = self.rfile.read(int(length)).decode("utf-8", errors="replace")
            self._send(HTTPStatus.OK, "application/json", self._answer(question))

    def _answer(self, question: str) -> str:
        try:
            return self.server.worker.answer(question)
        except TooLong:
            text = f"error[limit]: there is no answer within {self.server.worker.seconds:g} seconds"
            hint = "ask for less, or run gradcli in a terminal"
            return json.dumps({"ok": False, "error": f"{text}\n  {hint}\n"})

    def _authorized_path(self) -> str | None:
        """The path after the token. If the token, the host or the origin is wrong, send status 403
        and return None.
        """
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        first, _, name = self.path.removeprefix("/").partition("/")
        known = secrets.compare_digest(first.encode(), self.server.token.encode())
        at_home = origin is None or origin.removeprefix("http://") in self.server.hosts
        if known and host in self.server.hosts and at_home:
            return name.partition("?")[0]
        self._refuse(HTTPStatus.FORBIDDEN)
        return None

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, "text/plain", f"{status.value} {status.phrase}\n")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY.format(script_digest()))
        self.send_header("Referrer-Policy", "no-referrer")  # it would contain the token
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def _examples() -> list[dict[str, str]]:
    return [
        {
            "question": example.question,
            "expr": example.expr,
            "shapes": ",".join(example.shapes),
            "values": "\n".join(example.values),
            "grad": example.grad or "",
        }
        for example in EXAMPLES.values()
    ]
