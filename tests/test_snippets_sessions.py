"""Interactive sessions: they go on after an error, and show what Python shows.

`snippets/sessions.txt` has sessions, each after a line `==== name`; `sessions.json` what Python and
PyTorch show for each line of input: what is printed, the values of expressions, and errors.
`python tests/test_snippets_sessions.py` writes it anew, which needs PyTorch.
"""

import ast
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from traceback import extract_tb

import pytest

from gradcli.explanation.reading.answer import answer
from gradcli.snippets.pages import read_all

FOLDER = Path(__file__).parent / "snippets"
PARTS = re.split(r"(?m)^==== (.*)\n", (FOLDER / "sessions.txt").read_text(encoding="utf-8"))[1:]
SESSIONS = dict(zip(PARTS[::2], PARTS[1::2]))
ANSWERS = FOLDER / "sessions.json"
SHOWN = json.loads(ANSWERS.read_text(encoding="utf-8")) if ANSWERS.exists() else {}
INPUT = re.compile(r"^(>>>|In \[\d+\]:|\.\.\.|\s+\.\.\.:) ?")


def inputs(text: str) -> Iterator[tuple[int, str]]:
    """What an interpreter gets at once, and the line where it begins."""
    begun: list[str] = []
    first = 0
    for number, line in enumerate([*text.split("\n"), ">>> "], 1):
        prompt = INPUT.match(line)
        if prompt and prompt[1].startswith((">>>", "In")):
            if begun:
                yield first, "\n".join(begun)
            begun, first = [], number
        if prompt:
            begun.append(line[prompt.end() :])


def in_python(text: str) -> list[list[object]]:
    """What Python shows: the line of each error, and what stands before it, or at the end."""
    names: dict[str, object] = {}
    errors = []
    buffer = io.StringIO()
    cells = text.startswith("In")
    with redirect_stdout(buffer):
        for first, source in inputs(text):
            tree = ast.parse("\n" * (first - 1) + source)
            try:
                for node in tree.body:
                    shown = isinstance(node, ast.Expr) and (not cells or node is tree.body[-1])
                    kind = "single" if shown else "exec"
                    body = ast.Interactive([node]) if shown else ast.Module([node], [])
                    exec(compile(body, "<session>", kind), names)
            except Exception as e:
                frames = [f for f in extract_tb(e.__traceback__) if f.filename == "<session>"]
                errors.append([type(e).__name__, str(e), frames[-1].lineno])
    return [buffer.getvalue(), errors]


def in_gradcli(text: str) -> list[object]:
    """The same of gradcli."""
    (read,) = read_all(text)
    trace, outcome = read.reading.trace, read.reading.outcome
    assert read.reading.status == 1
    shown = sorted([*trace.prints, *trace.answers], key=lambda part: part[0])
    errors = [[e.type, e.message, e.line] for e in outcome.errors]
    return ["".join(text for _, text in shown), errors]


@pytest.mark.parametrize("name", SESSIONS)
def test_goes_on_as_python_does(name):
    assert in_gradcli(SESSIONS[name]) == SHOWN[name]


def test_the_first_error_leads():
    """It is explained and cured, and the whole session then runs."""
    (one,) = answer(SESSIONS["an error, and a name that it leaves undefined"])
    data = one.data()
    assert data["error"]["line"] == 4
    assert [(e["type"], e["line"]) for e in data["later_errors"]] == [("NameError", 5)]
    assert [f["line"] for f in data["findings"] if f["kind"] == "error"] == [4]
    assert data["corrected"].endswith("c.sum()\nc = a @ b.T\nc\n")
    text = str(one.document())
    assert "#> NameError: name 'c' is not defined" in text
    assert "The session goes on after it: line 5 raises NameError." in text


def test_a_backward_pass_of_a_session_is_explained_once():
    (one,) = answer(SESSIONS["backward twice, and then the gradient"])
    data = one.data()
    assert [b["line"] for b in data["backward"]] == [4]
    assert "y.backward(retain_graph=True)" in data["corrected"]
    assert data["stdout"] == "tensor([2., 4.])\n"


if __name__ == "__main__":
    result = {name: in_python(text) for name, text in SESSIONS.items()}
    ANSWERS.write_text(json.dumps(result, indent=0) + "\n", encoding="utf-8")
