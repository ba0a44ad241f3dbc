"""Files are opened for the command line, and elsewhere where that is allowed; an error never shows
what they hold.
"""

import json
import os
from typing import Any

import pytest
from console import gradcli

import gradcli as library

SECRET = "hunter2 is the password\n[1, hunter2]\n"
CALLS: dict[str, dict[str, Any]] = {
    "explain": {"expr": "x * x", "values": {"x": "@FILE"}},
    "grad": {"expr": "x * y", "shapes": {"y": ()}, "values": {"x": 1.0}, "grad": "@FILE"},
    "jacobian": {"expr": "x * x", "values": {"x": " @FILE"}},
    "hessian": {"expr": "(x * x).sum()", "values": {"x": 1.0}, "tangents": {"x": "@FILE"}},
    "jvp": {"expr": "x * x", "values": {"x": 1.0}, "tangents": {"x": "@FILE"}},
    "check": {"expr": "x * x", "values": {"x": "@FILE"}},
    "cost": {"expr": "x * x", "values": {"x": "@FILE"}},
    "formula": {"expr": "x * x", "values": {"x": "@FILE"}},
    "code": {"expr": "x * x", "values": {"x": "@FILE"}},
    "seed_for": {"expr": "x * x", "values": {"x": 1.0}, "target": {"x": "@FILE"}},
    "graph": {"expr": "x * x", "values": {"x": "@FILE"}},
    "explain of order 2": {
        **{"expr": "x * x * x", "values": {"x": [1.0, 2.0]}, "grad": "ones_like(out)"},
        **{"order": 2, "grads": ["@FILE"]},
    },
}


def _call(name: str, path: Any, **more: Any) -> library.GradcliError:
    given = json.loads(json.dumps(CALLS[name]).replace("FILE", str(path)))
    if "shapes" in given:
        given["shapes"] = {n: tuple(s) for n, s in given["shapes"].items()}
    with pytest.raises(library.GradcliError) as raised:
        getattr(library, name.split()[0])(**given, **more)
    return raised.value


@pytest.mark.parametrize("name", CALLS)
def test_functions_open_no_file_unless_allowed(name, tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    error = _call(name, path)
    assert (error.code, error.hint) == ("file", "allow_files= lets requests name files")
    opened = _call(name, path, allow_files=True)
    assert opened.code == "value"
    assert f"{path}, line 1, character 1: this is not a number" in opened.message
    for shown in (error, opened):
        assert "hunter2" not in f"{shown.message}{shown.hint}{shown.span}"


@pytest.mark.parametrize(
    "field", [{"values": {"x": "@FILE"}}, {"values": {"x": 1.0}, "grad": "@FILE"}]
)
def test_a_batch_opens_no_file_unless_allowed(field, tmp_path):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("2.0\n")
    bad.write_text(SECRET)
    line = json.dumps({"expr": "x * x", **field})
    for path in (good, bad):
        refused = gradcli("batch", "-", stdin=line.replace("FILE", str(path)))
        assert (refused.status, refused.json["error"]["code"]) == (1, "file")
        assert refused.json["error"]["hint"] == "--allow-files lets requests name files"
    allowed = gradcli("batch", "-", "--allow-files", stdin=line.replace("FILE", str(good)))
    assert (allowed.status, allowed.json["ok"]) == (0, True)
    wrong = gradcli("batch", "-", "--allow-files", stdin=line.replace("FILE", str(bad)))
    assert wrong.json["error"]["code"] == "value"
    assert "hunter2" not in wrong.out


@pytest.mark.parametrize("text", [SECRET, "1,hunter2", "[[1], [hunter2=3]]", "tensor([hunter2])"])
def test_no_error_of_the_command_line_shows_what_a_file_holds(text, tmp_path):
    (tmp_path / "x").write_text(text)
    result = gradcli("grad", "x*x", "-v", f"x=@{tmp_path}/x")
    assert result.err.startswith("error[value]: ")
    assert "line 1, character " in result.err
    assert "hunter2" not in result.err
    assert "hunter2" not in gradcli("grad", "x*x", "-v", "x=@-", stdin=text).err


def test_a_pipe_that_nobody_writes_into_is_empty(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    result = gradcli("grad", "x*x", "-v", f"x=@{tmp_path}/pipe")
    assert result.err.startswith("error[value]: there are no numbers in ")


@pytest.mark.parametrize("given", [("x=@/dev/zero",), ("x=@/dev/null",)])
def test_devices(given):
    assert gradcli("grad", "x*x", "-v", *given).status == 2
