"""Whatever is asked, each format answers."""

import re

import pytest
from console import gradcli

from gradcli.render.names import FORMATS

QUESTIONS = [  # each with a key of its JSON
    (("a * a", "-v", "a=[1,2]", "-g", "a"), "checks"),
    (("jacobian", "softmax(x, dim=0)", "-s", "x=3"), "jacobian"),
    (("hessian", "(x**2).sum()", "-s", "x=3"), "hessian"),
    (("jvp", "x * y", "-v", "x=2", "-v", "y=3", "--tangent", "x=1"), "jvp"),
    (("formula", "x @ W"), "W"),
    (("seed-for", "a * a", "-v", "a=[1.,2.]", "--target", "a=[2,8]"), "residual"),
    (("why", "sqrt(x)", "-v", "x=[0.,4.]", "-g", "[1,1]"), "elements"),
    (("why", "grad can be implicitly created only for scalar outputs"), "meaning"),
]
MARKS = {  # what an answer has in a format, and in no other
    "terminal": r"\A[^<%`]",
    "plain": r"\A[^<%`]",
    "markdown": r"(?s)```.*`gradcli .*`",
    "latex": r"\A% gradcli .* -f latex\n",
    "html": r"(?i)\A<!doctype html>",
    "svg": r"\A<svg ",
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("question", "key"), QUESTIONS)
def test_every_answer_in_every_format(question, key, format):
    result = gradcli(*question, "-f", format)
    assert result.status == 0
    if format == "json":
        assert key in result.json
    else:
        assert re.search(MARKS[format], result.out)


def test_json_of_a_graph_is_what_is_drawn():
    nodes = gradcli("graph", "relu(x @ W)", "-f", "json").json
    drawn = gradcli("graph", "relu(x @ W)", "-f", "dot").out
    assert drawn.count("label=") == len(nodes)
    assert drawn.count("->") == sum(len(node["inputs"]) for node in nodes)
