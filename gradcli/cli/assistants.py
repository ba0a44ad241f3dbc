"""`gradcli mcp`: the Model Context Protocol on standard streams, with a JSON-RPC message per line.

https://modelcontextprotocol.io/specification. The server has only tools, and all of them are
read-only. Each call is answered by a separate process, which is killed at the deadline.
"""

import json
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from typing import Any

from .. import __version__
from ..errors import GradcliError
from ..limits import Limits
from ..render.errors import message
from ..tools import TOOLS, call
from .processes import Process
from .streams import Streams

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # latest first
DEADLINE = 30.0  # seconds per call
PARSE, INVALID, NO_METHOD, BAD_PARAMETERS = -32700, -32600, -32601, -32602
PAGE = "docs/assistants.md says how"
ABOUT = (
    "gradcli explains gradients of tensor code, exactly: derivatives are computed and checked, "
    "never guessed. Ask gradient_formula for closed forms, explain_gradient for why."
)


class Refused(Exception):
    """A message that is answered by a JSON-RPC error."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


class Server:
    """The server: reads messages and writes answers."""

    def __init__(self, limits: Limits, deadline: float = DEADLINE):
        self._limits, self._deadline = limits, deadline
        self._worker = Process()
        self._methods = {
            "initialize": self._initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": [_described(name) for name in TOOLS]},
            "tools/call": self._call,
        }

    def serve(self, streams: Streams) -> None:
        """Answer messages until the input ends."""
        most = self._limits.bytes_of_text
        source = streams.stdin_bytes()
        if streams.stdin is not None and streams.stdin.isatty():
            streams.warn(f"waiting for messages of an assistant, which starts this itself: {PAGE}")
        with streams.writing(None):
            try:
                while line := source.readline(most):
                    if len(line) == most:
                        self._limits.check("length", len(line), "a message")
                    for answer in self.answers(line):
                        streams.stdout.write(json.dumps(answer) + "\n")
                        streams.stdout.flush()
            finally:
                self._worker.kill()
                self._worker.join()

    def answers(self, line: bytes) -> Iterator[Any]:
        """The answer to a line, if it needs one."""
        if not line.strip():
            return
        try:
            sent = json.loads(line)
        except (ValueError, RecursionError):
            yield _error(None, PARSE, "the line is not JSON")
            return
        several = sent if isinstance(sent, list) and sent else [sent]  # an empty one is no batch
        result = [answer for answer in map(self._reply, several) if answer is not None]
        if result:  # a batch, which the version of March 2025 has, is answered by a list
            yield result if several is sent else result[0]

    def _reply(self, sent: Any) -> dict[str, Any] | None:
        """The answer to a message; None for a notification or a response."""
        if not isinstance(sent, dict) or sent.get("jsonrpc") != "2.0":
            return _error(None, INVALID, "this is no message of JSON-RPC 2.0")
        if "method" not in sent and ("result" in sent or "error" in sent):
            return None
        identity, method = sent.get("id"), sent.get("method")
        if not isinstance(method, str):
            return _error(identity, INVALID, "a request has a method")
        if "id" not in sent:
            return None
        try:
            if method not in self._methods:
                raise Refused(NO_METHOD, f"there is no method {method}")
            parameters = sent.get("params") or {}
            if not isinstance(parameters, dict):
                raise Refused(BAD_PARAMETERS, "params are an object")
            result = self._methods[method](parameters)
        except Refused as refused:
            return _error(identity, refused.code, str(refused))
        return {"jsonrpc": "2.0", "id": identity, "result": result}

    def _initialize(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The client's protocol version if it is supported, or else the latest."""
        requested = parameters.get("protocolVersion")
        return {
            "protocolVersion": requested if requested in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "gradcli", "title": "gradcli", "version": __version__},
            "instructions": ABOUT,
        }

    def _call(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The result of a tool; an error of gradcli is a text that the assistant can act on."""
        name = parameters.get("name")
        if not isinstance(name, str) or name not in TOOLS:
            raise Refused(BAD_PARAMETERS, f"there is no tool {name}; there are {', '.join(TOOLS)}")
        fields = parameters.get("arguments")
        future = self._worker.run(
            _result_of_call, name, {} if fields is None else fields, self._limits
        )
        try:
            failed, text = future.result(self._deadline)
        except TimeoutError:
            message = f"there is no answer after {self._deadline:g} seconds"
            failed, text = True, _lost(self._worker, message, "ask for less, or of smaller shapes")
        except BrokenExecutor:
            message = "the process that worked on this ended before it had an answer"
            failed, text = True, _lost(self._worker, message, "it ran out of memory, or was killed")
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def _result_of_call(name: str, fields: Any, limits: Limits) -> tuple[bool, str]:
    """Whether a call failed, and the text of its answer or error."""
    from ..batches import unforeseen

    try:
        return False, call(name, fields, limits.renewed())
    except GradcliError as error:
        return True, message(error)
    except Exception as error:
        text = unforeseen(error)
        return True, f"error[{text['code']}]: {text['message']}\n"


def _lost(worker: Process, text: str, hint: str) -> str:
    worker.renew()
    return message(GradcliError("limit", text, hint=hint))


def _described(name: str) -> dict[str, Any]:
    tool = TOOLS[name]
    reads = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {"title": tool.title, **reads, "openWorldHint": False},
    }


def _error(identity: Any, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": text}}
