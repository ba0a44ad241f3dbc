"""Every format made of the JSON of an answer is what it is when it is made at once."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from console import gradcli
from support import explained, first_examples, one_in

from gradcli.explanation import replies
from gradcli.explanation.blocks import Code, Formula, Graph, Note, Tensor
from gradcli.explanation.choices import Choices
from gradcli.explanation.serialized import SerializedDocuments, restored, serialized
from gradcli.notation import tree
from gradcli.notation.tree import Infix, Name, Number, Sum, Token, Verbatim
from gradcli.render.environment import Environment
from gradcli.render.formats import render, render_documents
from gradcli.render.names import PLACES
from gradcli.worked_examples import EXAMPLES

SNIPPETS = Path(__file__).parent / "snippets"
FORMATS = ("plain", "html", "latex", "markdown", "svg", "terminal")
ASKED = (
    *(("examples", name) for name in EXAMPLES),
    ("x @ a", "-s", "x=2x3,a=3x4", "--full"),
    ("h = relu(x @ W + b); out = (h * h).sum()", "-s", "x=2x3,W=3x2,b=2", "--full", "-p", "3"),
    ("x * x", "-v", "x=[1., inf, nan, -0.5]", "-g", "ones_like(x)", "--full"),
    ("x * y", "-s", "x=0x3,y=0x3"),
    ("linalg.inv(A) @ b", "-s", "A=2x2,b=2", "--show", "jacobian,backward"),
    ("x.cumsum(0)", "-v", "x=randn(60)", "--full", "--limit", "entries=100"),
    ("exp(x)", "-v", "x=[1.,2.]", "--order", "2"),
    ("jacobian", "softmax(x, dim=0)", "-s", "x=3"),
    ("hessian", "(x ** 3).sum()", "-s", "x=3", "--tangent", "x"),
    ("jvp", "tanh(W @ x)", "-s", "W=2x3,x=3", "--tangent", "x"),
    ("seed-for", "a * a", "-v", "a=[1.,2.]", "--target", "a=[2,8]"),
    ("seed-for", "x.sum(0)", "-v", "x=[1.,2.]", "--target", "x=[2,8]"),
    ("check", "x @ a", "--claim", "x = g @ a"),
    ("why", "sqrt(x)", "-v", "x=[0.,4.]", "-g", "[1,1]"),
    *(("ops", name) for name in ("relu", "jnp.tanh", "sort", "hinge", "losses")),
    ("ops",),
    ("why", "grad can be implicitly created only for scalar outputs"),
)


@pytest.mark.parametrize("k", one_in(6, range(len(ASKED)), lambda k: " ".join(ASKED[k])[:40]))
def test_formats_made_of_json_are_those_made_at_once(k, tmp_path):
    asked, file = ASKED[k], tmp_path / "answer.json"
    file.write_text(gradcli(*asked, "-f", "json").out, encoding="utf-8")
    for format in ("plain", FORMATS[k % len(FORMATS)], FORMATS[-1 - k % len(FORMATS)]):
        direct = gradcli(*asked, "-f", format).out
        assert gradcli("render", str(file), "-f", format).out == direct, format


@pytest.mark.parametrize("place", PLACES)
def test_markdown_of_places_made_of_json(place):
    for asked in (("a * a", "-v", "a=[1.,2.]", "-g", "a"), ("x @ W", "--full")):
        made = gradcli(*asked, "-f", "json").out
        assert gradcli("render", "-", "--for", place, stdin=made).out == (
            gradcli(*asked, "--for", place).out
        )


@pytest.mark.parametrize("choices", one_in(2, [Choices(), Choices(full=True)], repr))
def test_examples_of_operators_come_back_as_they_were(choices):
    environment = Environment(full=choices.full)
    for example in first_examples()[:: 90 if choices.full else 45]:
        answer = replies.explanation(explained(example), choices)
        found = restored(json.loads(render(answer, "json", environment)))
        made = answer.documents("page")
        for format in ("plain", "latex", "html"):
            again = answer._replace(documents=lambda _, found=found: found.documents)
            first = answer._replace(documents=lambda _, made=made: made)
            assert render(again, format, environment) == render(first, format, environment)


# The programs of the documents that the project began with.
PARTS = re.split(r"(?m)^==== (.*)\n", (SNIPPETS / "documents.txt").read_text("utf-8"))[1:]
DOCUMENTS = dict(zip(PARTS[::2], PARTS[1::2]))


@pytest.mark.parametrize("asked", [*DOCUMENTS, *one_in(4, EXAMPLES)])
def test_nothing_that_is_said_is_left_out_of_a_format(asked):
    """The questions the project began with, and what is found in their programs, in each format."""
    if asked in DOCUMENTS:
        made = gradcli("read", "-", "-f", "json", stdin=DOCUMENTS[asked]).out
    else:
        made = gradcli("examples", asked, "-f", "json").out
    documents = restored(json.loads(made)).documents
    said = set(re.findall(r"[A-Za-z]{3,}", " ".join(words_in(documents))))
    assert said
    for format in FORMATS:
        shown = render_documents(documents, format, Environment(full=True))
        if format in ("html", "svg"):
            shown = unescape(re.sub(r"<(style|script)\b.*?</\1>|<[^>]+>", "", shown, flags=re.S))
        assert {word for word in said if word not in shown} == set(), format


def words_in(part):
    """What the words and programs of documents are, as against their formulas. What is said of a
    graph is for pages, which walk through it.
    """
    if isinstance(part, Formula | Graph):
        return []
    if isinstance(part, Token):
        return [part.text] if part.role == "word" else []
    if isinstance(part, Code):
        return [part.text]
    if isinstance(part, Note):
        return [part.code, *words_in(part.line)]
    return [w for inner in part for w in words_in(inner)] if isinstance(part, tuple | list) else []


def test_pages_of_several_programs(tmp_path):
    program = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\n"
    page = tmp_path / "page.md"
    page.write_text(f"One\n```python\n{program}```\nTwo\n```python\n{program}```\n")
    made = gradcli("read", str(page), "-f", "json").out
    for format in FORMATS:
        direct = gradcli("read", str(page), "-f", format).out
        assert gradcli("render", "-", "-f", format, stdin=made).out == direct


def test_json_of_json_is_the_same():
    made = gradcli("a * a", "-f", "json").out
    assert gradcli("render", "-", "-f", "json", stdin=made).out == made


# ---- what documents are made of ------------------------------------------------------------------


def came_back(block, beside=None):
    """A block after a way through JSON."""
    beside = beside or {}
    data = {**beside, "document": serialized(SerializedDocuments([block], 5, False, 9), beside)}
    text = json.dumps(data, default=lambda array: array.tolist())
    return restored(json.loads(text)).documents[0]


def test_deep_formulas_and_shared_parts():
    deep = Name("x", "input:x")
    for _ in range(3_000):
        deep = Infix("+", deep, Number(1))
    shared = Name("y")
    for _ in range(60):
        shared = Infix("*", shared, shared)
    found = came_back(Formula(deep)).tree
    assert tree.text(found) == tree.text(deep)
    back = came_back(Formula(shared)).tree
    assert back.left is back.right


@pytest.mark.parametrize("value", [2, 2.0, True, float("inf"), float("-inf"), -0.0, 1e-300])
def test_numbers_keep_their_kind(value):
    found = came_back(Formula(Sum(("i", "j"), Number(value)))).tree
    assert found.letters == ("i", "j")
    assert repr(found.body.value) == repr(value)


def test_nan_is_a_number():
    assert np.isnan(came_back(Formula(Number(float("nan")))).tree.value)
    assert came_back(Formula(Verbatim("nan"))).tree == Verbatim("nan")


@pytest.mark.parametrize(
    "array",
    [
        np.array(1.5), np.zeros((0, 3)), np.arange(6).reshape(2, 3), np.array([True, False]),
        np.array([np.inf, -np.inf, np.nan, 1.0]), np.array(["a", "x[0] + 1"], dtype=object),
    ],
)  # fmt: skip
def test_tensors_keep_their_elements(array):
    found = came_back(Tensor(array, "answer", "x.grad"))
    assert found[1:] == ("answer", "x.grad")
    assert found.array.shape == array.shape
    back, sent = ([repr(e) for e in a.ravel().tolist()] for a in (found.array, array))
    assert back == sent


def test_a_tensor_is_written_once():
    array = np.random.default_rng(0).normal(size=(50, 50))
    beside = {"grad": {"x": {"value": array}}}
    data = serialized(SerializedDocuments([Tensor(array.copy())], 5, False, 9), beside)
    assert data["documents"] == [{"tensor": {"at": ["grad", "x", "value"]}}]
    np.testing.assert_array_equal(came_back(Tensor(array), beside).array, array)


ENVELOPE = {"precision": 5, "full": False, "entries": 9, "trees": [0], "documents": [1]}


# ---- what is no answer ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "3", '"document"', "{}", '{"document": {}}', "[" * 100_000,
        gradcli("formula", "x @ W", "-f", "json").out,
        gradcli("graph", "x @ W", "-f", "json").out,
        *(
            json.dumps({"document": ENVELOPE}).replace("[0]", trees).replace("[1]", blocks)
            for trees, blocks in (
                ("[]", '[{"document": [[], [{"section": [1, 2, 3, 4]}]]}]'),
                ("[]", '[{"nothing": []}]'),
                ("[]", '[{"document": []}]'),
                ("[]", "3"),
                ('[["Infix", "+", {"$": 0}, {"$": 1}]]', "[]"),
                ('[["__class__"]]', "[]"),
            )
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("format", ["plain", "html", "latex", "markdown"])
def test_what_is_no_answer_is_refused(text, format):
    found = gradcli("render", "-", "-f", format, stdin=text)
    assert found.status == 2
    assert found.err.startswith("error[")
    assert "Traceback" not in found.err


def test_a_file_that_is_not_there():
    found = gradcli("render", str(Path("nowhere.json")))
    assert found.status == 2
    assert "nowhere.json" in found.err


def test_long_formulas_are_broken_before_the_operators_that_bind_least():
    out = gradcli(
        "layer_norm(x, (4,), w, b)", "-s", "x=2x4", "-w", "x", "--width", "60", "--color", "never"
    ).out
    assert (
        """
  x.grad = (g * w - (g * w).mean(dim=1, keepdim=True)
           - z * (g * (out - b)).mean(dim=1, keepdim=True))
           / s    2×4
"""
        in out
    )
    unbroken = gradcli("layer_norm(x, (4,), w, b)", "-s", "x=2x4", "-w", "x", "--width", "300").out
    shown, whole = (text.partition("x.grad = ")[2].partition("/ s")[0] for text in (out, unbroken))
    assert shown.split() == whole.split()


def test_a_row_of_numbers_is_below_what_it_does_not_fit_beside():
    lines = gradcli(
        "layer_norm(x, (4,), w)", "-v", "x=[[1,2,3,5],[2,1,4,3]]", "-s", "w=4", "-w", "w"
    ).lines
    line = next(k for k, line in enumerate(lines) if "w.grad = " in line)
    assert not lines[line].endswith(",")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("text", ["x.cumsum(0) @ W", "sin(x) @ W"])
def test_rows_of_a_matrix_are_as_long_in_ascii(text, width):
    out = gradcli("jacobian", text, "-s", "x=2x3,W=3x3", "--width", str(width), "--ascii").out
    rows = [line for line in out.splitlines() if re.search(r"\| out\[|^  -+\+", line)]
    assert len(rows) > 12
    assert len({len(row) for row in rows[:7]}) == 1
    assert all(len(row) <= width for row in rows)


@pytest.mark.parametrize("width", [40, 42, 44, 60])
def test_columns_of_a_matrix_are_shown_whole_or_left_out(width):
    values = ("-v", "x=[[0.3,-1.2,0.7],[1,2,3]]", "-v", "W=[[0.1,2,-0.3],[1,0.37,2],[0.21,1,1]]")
    out = gradcli("jacobian", "softmax(x @ W, 1)", *values, "-w", "x", "--width", str(width)).out
    rows = [line for line in out.splitlines() if re.search(r"│ out\[| x\[0,0\] ", line)]
    assert len(rows) == 7
    assert all(len(row) <= width and not re.search(r"\w…", row) for row in rows)
