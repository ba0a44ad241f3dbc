"""Every example of the table is shown: values of all, some, no inputs, and formats, in turn."""

import json
import re
from itertools import cycle, product

import numpy as np
import pytest
from markdown_it import MarkdownIt
from support import examples

from gradcli.explanation.analysis import Analysis
from gradcli.explanation.document import Choices
from gradcli.language.posing import pose
from gradcli.render.drawing import render_graph
from gradcli.render.environment import Environment
from gradcli.render.formats import render

EXAMPLES = examples()
KNOWN = {"all": lambda names: names, "first": lambda names: names[:1], "none": lambda names: []}


def analysis(example, known: str) -> Analysis:
    """The example with values for some of its inputs."""
    values = {name: example.values[name] for name in KNOWN[known](list(example.values))}
    shapes = {name: np.shape(value) for name, value in example.values.items()}
    return Analysis(pose(example.text, shapes=shapes, values=values, grad="ones_like(out)"))


def narrow(a):
    text = render(a, "terminal", Choices(), Environment(width=60, color=True))
    assert "Gradient of" in text
    assert "Checked" in text
    return text


def plain(a):
    text = render(a, "plain", Choices(), Environment(ascii=True))
    assert text.isascii()
    assert "Gradient of" in text
    assert "Checked" in text
    return text


def markdown(a):
    text = render(a, "markdown", Choices(), Environment())
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [t.tag for t in tokens if t.type == "heading_open"].count("h3") >= 7
    return text


def as_json(a):
    text = render(a, "json", Choices(), Environment())
    found = json.loads(text)
    assert found["checks"]
    assert all(check["ok"] is not False for check in found["checks"])
    for name, grad in found["grad"].items():
        value = a.grad_value(a.problem.inputs[name]) if a.problem.numeric else None
        if value is not None and np.all(np.isfinite(value)):
            np.testing.assert_array_equal(grad["value"], value)
    return text


WAYS = cycle(product(KNOWN, (narrow, plain, markdown, as_json)))
VIEWS = [
    pytest.param(example, known, show, id=f"{example} {known} {show.__name__}")
    for example, (known, show) in zip(EXAMPLES, WAYS)
]


@pytest.mark.parametrize(("example", "known", "show"), VIEWS)
def test_every_example_is_shown(example, known, show):
    a = analysis(example, known)
    assert "disagrees" not in show(a)
    for format in ("plain", "mermaid", "dot"):
        assert render_graph(a, format, Environment())


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_steps_have_no_size_without_a_name(example):
    """Sizes at which formulas are derived are no part of an answer: a large number in a step is
    one of the text, or a size of its own.
    """
    a = analysis(example, "none")
    text = render(a, "plain", Choices(("backward",)), Environment(ascii=True, width=10_000))
    rules = [line for line in text.splitlines() if line.lstrip().startswith("to ")]
    numbers = {n for line in rules for n in re.findall(r"(?<![\w.])[1-9]\d+(?![\w.])", line)}
    largest = max((i.node.numel for i in a.problem.inputs.values()), default=0)
    large = {n for n in numbers if int(n) > max(largest, 48)}
    assert all(n in example.text for n in large)
