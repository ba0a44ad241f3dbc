"""docs/schema.json, to which the console helper holds all JSON that tests print."""

import json

import pytest
from console import gradcli
from schema import SCHEMA, hold, strict

from gradcli.batches import ANSWERS, FIELDS
from gradcli.cli.main import COMMANDS
from gradcli.explanation.data import KEYS

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
PROGRAM = "import torch\nx = torch.ones(2, requires_grad=True)\nx.sum().backward()\nprint(x.grad)\n"
PRINTED = {
    "explain": ("a * a", "-v", "a=[1,nan]", "-g", "a", "--claim", "a = 2 * a * g"),
    "jacobian": ("softmax(x, dim=0)", "-s", "x=3"),
    "hessian": ("(x ** 2).sum()", "-s", "x=3", "--tangent", "x"),
    "jvp": ("x * y", "-v", "x=2", "-v", "y=3", "--tangent", "x=1"),
    "formula": ("x @ W",),
    "graph": ("relu(x @ W)",),
    "check": ("x @ a", "--claim", "x = g @ a"),
    "seed-for": ("a * a", "-v", "a=[1.,2.]", "--target", "a=[2,8]"),
    "read": ("-",),
    "why": ("grad can be implicitly created only for scalar outputs",),
    "examples": ("broadcast",),
    "ops": ("relu",),
}


def test_it_is_a_schema():
    jsonschema_rs.meta.validate(SCHEMA)
    assert SCHEMA["$defs"]["request"]["properties"] == FIELDS
    assert [*SCHEMA["$defs"]["explanation"]["properties"]] == [*KEYS, "document"]


@pytest.mark.parametrize("command", PRINTED)
def test_what_commands_print(command):
    """That `gradcli` raises where it is not so is tried below."""
    found = gradcli(command, *PRINTED[command], "-f", "json", stdin=PROGRAM)
    assert found.status in (0, 1)
    assert found.out
    for other in (("why", "-f", "json"), ("why", "sqrt(x)", "-v", "x=[0.,4.]", "-f", "json")):
        assert gradcli(*other).status == 0


def test_every_command_with_json_is_tried():
    formatted = {n for n, c in COMMANDS.items() if {"format", "graph_format"} & {*c.names}}
    assert formatted == {*PRINTED, "render"}  # which prints what it is given


def test_sections_on_request():
    for name in ("cost", "modes"):
        found = gradcli("softmax(x @ W, dim=1)", "--show", name, "-f", "json")
        assert name in found.json


@pytest.mark.parametrize("want", ANSWERS)
def test_every_want_of_a_batch(want):
    request = {"id": 1, "expr": "(x * x).sum()", "values": {"x": [1, 2]}, "want": [want]}
    line = json.dumps(request | {"claim": {"x": "2 * x"}})
    hold("request", line)
    assert gradcli("batch", "-", stdin=line).status == 0


def test_other_lines_of_a_batch():
    lines = [{"id": 1, "read": PROGRAM}, {"id": 2, "why": PRINTED["why"][0]}, {"expr": "x @"}]
    assert gradcli("batch", "-", stdin="\n".join(map(json.dumps, lines))).status == 1


@pytest.mark.parametrize(("name", "wrong"), [
    ("explanation", {"schema": "gradcli/1"}),
    ("explanation", {"schema": "gradcli/2", "expression": "x"}),
    ("explanation", {"schema": "gradcli/1", "expression": "x", "other": 1}),
    ("explanation", {"schema": "gradcli/1", "expression": "x", "graph": [{"id": 1}]}),
    ("answer", {"id": 1, "ok": True, "grad": 3}),
    ("answer", {"id": 1, "ok": True, "others": 3}),
    ("answer", {"id": 1, "ok": False}),
    ("failure", {"ok": False, "error": {"code": "none", "message": "x"}}),
    ("request", {"expr": 3}),
    ("tensor", [[1.0], [{}]]),
])  # fmt: skip
def test_what_is_otherwise_is_refused(name, wrong):
    with pytest.raises(AssertionError):
        hold(name, json.dumps(wrong))


def test_keys_may_be_added():
    """For those who read: only the tests refuse keys that they do not know."""
    added = {"schema": "gradcli/1", "expression": "x", "other": 1}
    jsonschema_rs.validate(SCHEMA, added)
    assert strict(SCHEMA) != SCHEMA
