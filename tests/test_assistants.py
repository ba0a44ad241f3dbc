"""`gradcli mcp`: by messages written by hand, and by the protocol's own client."""

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from console import Input, Terminal, gradcli
from test_batch import SLOW

import gradcli as package
from gradcli.cli.assistants import VERSIONS, Server
from gradcli.cli.main import run
from gradcli.cli.streams import Streams
from gradcli.limits import Limits
from gradcli.tools import TOOLS

READ_ONLY = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
LONG = "; ".join(["h0 = x @ W"] + [f"h{k} = tanh(h{k - 1} * {k}.5) @ W" for k in range(1, 60)])
CALLS = {
    "explain_gradient": {"expr": "a * a", "values": {"a": [1.0, 2.0]}, "grad": "a"},
    "gradient_formula": {"expr": "x @ W", "wrt": ["W"]},
    "check_gradient_claim": {"expr": "x @ W", "claim": {"W": "x.T @ g"}},
    "read_pytorch_snippet": {"code": "import torch\nprint(torch.ones(2).sum())"},
}
HOLDS = {
    "explain_gradient": "a.grad = ",
    "gradient_formula": "x.T @ g\n",
    "check_gradient_claim": "W.grad = x.T @ g    ✓",
    "read_pytorch_snippet": "tensor(2.)",
}


@pytest.fixture(scope="module")
def server():
    """A server, and a call of one of its tools."""
    made = Server(Limits())
    yield made
    made._worker.kill()


def sent(server: Server, *messages) -> list:
    """What a server answers to messages, as text or as they are."""
    lines = [m if isinstance(m, str) else json.dumps(m) for m in messages]
    return [answer for line in lines for answer in server.answers(line.encode())]


def request(method: str, **params) -> dict:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def called(server: Server, name: str, arguments) -> tuple[bool, str]:
    """Whether a call of a tool failed, and its text."""
    (answer,) = sent(server, request("tools/call", name=name, arguments=arguments))
    (content,) = answer["result"]["content"]
    assert content["type"] == "text"
    return answer["result"]["isError"], content["text"]


# ---- the protocol --------------------------------------------------------------------------------


def test_a_conversation_is_a_line_for_a_line():
    lines = [
        request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("ping") | {"id": "a"},
        request("tools/list"),
    ]
    found = gradcli("mcp", stdin="\n".join(map(json.dumps, lines)) + "\n\n")
    assert (found.status, found.err) == (0, "")
    first, ping, tools = map(json.loads, found.lines)
    assert first["result"]["protocolVersion"] == "2025-06-18"
    assert first["result"]["serverInfo"]["version"] == package.__version__
    assert ping == {"jsonrpc": "2.0", "id": "a", "result": {}}
    assert [tool["name"] for tool in tools["result"]["tools"]] == [*TOOLS] == [*CALLS]
    for tool in tools["result"]["tools"]:
        assert READ_ONLY.items() <= tool["annotations"].items()
        assert {*tool["inputSchema"]["required"]} <= tool["inputSchema"]["properties"].keys()


@pytest.mark.parametrize("version", [*VERSIONS, "2030-01-01", None])
def test_versions_are_agreed_on(server, version):
    (answer,) = sent(server, request("initialize", protocolVersion=version))
    assert answer["result"]["protocolVersion"] == (version if version in VERSIONS else VERSIONS[0])


@pytest.mark.parametrize(("message", "code"), [
    ("{", -32700),
    ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), -32700),
    ("[" * 100_000, -32700),
    ("3", -32600),
    ({"id": 1, "method": "ping"}, -32600),
    ({"jsonrpc": "2.0", "id": 1}, -32600),
    ({"jsonrpc": "2.0", "id": 1, "method": 3}, -32600),
    (request("server/discover"), -32601),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
    (request("tools/call", name="rm"), -32602),
    (request("tools/call", name=["ping"]), -32602),
])  # fmt: skip
def test_messages_that_are_none(server, message, code):
    (answer,) = sent(server, message)
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]


def test_notifications_and_answers_have_no_answer(server):
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert not sent(server, "", "\n", cancelled, {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert not sent(server, [cancelled])


def test_what_shows_more_is_an_argument(server):
    arguments = {"expr": "x @ W", "shapes": {"x": [100, 100], "W": [100, 100]}}
    _, text = called(server, "explain_gradient", arguments)
    assert '("show": ["jacobian"], "wrt": ["x"])' in " ".join(text.split())
    more = arguments | {"show": ["jacobian"], "wrt": ["x"]}
    failed, text = called(server, "explain_gradient", more)
    assert not failed
    assert "Jacobian of out with respect to x" in text


def test_several_messages_in_one_line(server):
    (found,) = sent(server, [request("ping"), {"jsonrpc": "2.0", "method": "x"}, request("no")])
    assert [answer.get("result", answer.get("error", {}).get("code")) for answer in found] == [
        {},
        -32601,
    ]


def test_an_empty_batch_is_answered(server):
    """By one error, as section 6 of the specification of JSON-RPC 2.0 says."""
    (found,) = sent(server, [])
    assert found["error"]["code"] == -32600


def test_somebody_who_types_is_told():
    class Typed(Input):
        def isatty(self) -> bool:
            return True

    out, err = Terminal(), Terminal()
    assert run(["mcp"], Streams(Typed(b""), out, err, {})) == 0
    assert out.getvalue() == ""
    assert "docs/assistants.md" in err.getvalue()


# ---- the tools -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLS)
def test_tools_answer(server, name):
    failed, text = called(server, name, CALLS[name])
    assert not failed
    assert HOLDS[name] in text


def test_what_stands_on_one_screen_is_short_and_sections_are_whole(server):
    explain = {"expr": f"{LONG}; h59.sum()", "shapes": {"x": [2, 3], "W": [3, 3]}}
    short = called(server, "explain_gradient", explain)[1]
    assert len(short.encode()) <= 4_000
    whole = called(server, "explain_gradient", {**explain, "show": ["backward", "code"]})[1]
    assert "h59 = torch.tanh" in whole
    assert 4_000 < len(whole.encode()) <= 40_000
    program = "import torch\n" + "print(torch.ones(9))\n" * 500
    read = called(server, "read_pytorch_snippet", {"code": program})[1]
    assert len(read.encode()) <= 4_000


@pytest.mark.parametrize(("name", "arguments", "code", "cure"), [
    ("explain_gradient", {"expr": "x @"}, "syntax", "an operand missing"),
    ("explain_gradient", {"expr": "sofmax(x)"}, "unknown-function", "softmax"),
    ("explain_gradient", {"expr": "x", "shape": {}}, "request", "did you mean shapes?"),
    ("explain_gradient", {"expr": "x", "show": ["grad"]}, "option", "gradient"),
    ("explain_gradient", {"expr": "x", "show": 3}, "request", "gradient"),
    ("explain_gradient", {"expr": 3}, "request", "The program"),
    ("explain_gradient", {}, "request", "The program"),
    ("explain_gradient", [], "request", "arguments"),
    ("explain_gradient", {"expr": "x", "shapes": []}, "request", '"shapes": {"x": [2, 3]}'),
    ("check_gradient_claim", {"expr": "x @ W"}, "request", "by name of the input"),
    ("check_gradient_claim", {"expr": "x", "claim": {"x": "g @ ("}}, "syntax", '"claim": g @ ('),
    ("explain_gradient", {"expr": "x", "grad": "f(x)"}, "unknown-function", '"grad": f(x)'),
    ("gradient_formula", {"expr": "x", "wrt": ["y"]}, "unused-option", "x"),
    ("explain_gradient", {"expr": "x * x", "values": {"x": "@/etc/passwd"}}, "file", "numbers"),
    ("explain_gradient", {"expr": "x * x", "grad": "@/etc/passwd"}, "file", "numbers"),
])  # fmt: skip
def test_errors_are_texts_with_code_and_cure(server, name, arguments, code, cure):
    failed, text = called(server, name, arguments)
    assert failed
    assert text.startswith(f"error[{code}]: ")
    assert cure in text
    assert "root:" not in text
    assert not re.search(r" -v |--\w", text)  # a tool has no options


def test_characters_that_are_half_a_pair(server):
    failed, text = called(server, "explain_gradient", {"expr": "x \ud800"})
    assert failed
    assert "internal" not in text


def test_a_limit_is_raised_where_the_server_is_started(server):
    failed, text = called(server, "explain_gradient", {"expr": "x * 2", "shapes": {"x": [10**8]}})
    assert failed
    assert text.endswith("  gradcli mcp --limit elements=N raises it\n")


@pytest.mark.sweep
def test_a_call_that_takes_too_long_is_ended_and_the_next_is_answered():
    server = Server(Limits({"memory": 10**9}), deadline=3.0)
    slow = {"expr": json.loads(SLOW)["expr"], "values": {"x": "randn(300, 300)"}}
    failed, text = called(server, "explain_gradient", slow)
    assert failed
    assert text.startswith("error[limit]: there is no answer after 3 seconds\n")
    server._deadline = 60.0
    assert called(server, "gradient_formula", {"expr": "x * x"}) == (False, "2 * g * x\n")
    (pid,) = server._worker._pool._processes
    os.kill(pid, signal.SIGKILL)
    assert called(server, "gradient_formula", {"expr": "x * x"})[1]
    assert called(server, "gradient_formula", {"expr": "x * x"}) == (False, "2 * g * x\n")
    server._worker.kill()


# ---- the protocol's own client -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_the_official_client_is_served():
    pytest.importorskip("mcp", reason="the client of the protocol, mcp, is not installed")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = StdioServerParameters(command=sys.executable, args=["-m", "gradcli", "mcp"])

    def failed(found) -> bool:
        return found.model_dump(by_alias=True)["isError"]

    async def talk() -> None:
        async with stdio_client(command) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await session.send_ping()
            listed = await session.list_tools()
            assert [tool.name for tool in listed.tools] == [*CALLS]
            for name, arguments in CALLS.items():
                found = await session.call_tool(name, arguments)
                assert not failed(found)
                assert HOLDS[name] in found.content[0].text
            assert failed(await session.call_tool("gradient_formula", {"expr": "x @"}))

    asyncio.run(talk())


# ---- schemas -------------------------------------------------------------------------------------


def test_schemas_accept_what_tools_accept():
    jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    for name, tool in TOOLS.items():
        jsonschema_rs.meta.validate(tool.schema)
        validator = jsonschema_rs.Draft202012Validator(tool.schema)
        validator.validate(CALLS[name])
        assert not validator.is_valid(CALLS[name] | {"wants": 1})
        assert not validator.is_valid({})


def test_the_page_names_the_tools():
    page = (Path(__file__).resolve().parent.parent / "docs" / "assistants.md").read_text("utf-8")
    assert all(f"| `{name}` |" in page for name in TOOLS)
    assert all(version in page for version in VERSIONS)
