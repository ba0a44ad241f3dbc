"""Every example of the table is shown: values of all, some, no inputs, and formats, in turn."""

import json
import re

import numpy as np
import pytest
from html5lib import HTMLParser
from markdown_it import MarkdownIt
from support import KNOWN, Checks, examples, explained, swept

from gradcli.explanation import replies
from gradcli.explanation.choices import Choices
from gradcli.render.environment import Environment
from gradcli.render.formats import render, render_graph

SCREEN = 60  # lines
checks = Checks()


def shown(a, format, choices, environment):
    return render(replies.explanation(a, choices), format, environment)


def narrow(a):
    text = shown(a, "terminal", Choices(full=True), Environment(width=60, color=True))
    assert "Gradient of" in text
    assert "Checked" in text
    return text


def plain(a):
    text = shown(a, "plain", Choices(full=True), Environment(ascii=True))
    assert text.isascii()
    assert "Gradient of" in text
    assert "Checked" in text
    return text


def markdown(a):
    text = shown(a, "markdown", Choices(full=True), Environment())
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [t.tag for t in tokens if t.type == "heading_open"].count("h3") >= 7
    return text


def as_json(a):
    text = shown(a, "json", Choices(), Environment())
    found = json.loads(text)
    assert found["checks"]
    assert all(check["ok"] is not False for check in found["checks"])
    for name, grad in found["grad"].items():
        value = a.grad_value(a.problem.inputs[name]) if a.problem.numeric else None
        if value is not None and np.all(np.isfinite(value)):
            np.testing.assert_array_equal(grad["value"], value)
    return text


def short(a):
    text = shown(a, "plain", Choices(), Environment())
    assert text.count("\n") < SCREEN
    assert "Gradient" in text
    assert "g·J equals backward" in text
    return text.replace("✗", "disagrees")


def page(a):
    text = shown(a, "html", Choices(full=True), Environment())
    tree = HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    assert len(tree.findall(".//h2")) >= 7
    return text


VIEWS = (narrow, short, plain, markdown, as_json, page)


@pytest.mark.parametrize("example", swept(24, others=32, firsts=8))
def test_every_example_is_shown(example):
    checks.run(example, explained(example))


@checks
def a_format(example, a):
    show = VIEWS[examples().index(example) // len(KNOWN) % len(VIEWS)]
    assert "disagrees" not in show(a)


@checks
def graphs(example, a):
    for format in ("plain", "mermaid", "dot"):
        assert render_graph(replies.graph(a), format, Environment())


@checks
def steps_have_no_size_without_a_name(example, a):
    """Sizes at which formulas are derived are no part of an answer: a large number in a step is
    one of the text, or a size of its own.
    """
    text = shown(a, "plain", Choices(("backward",)), Environment(ascii=True, width=10_000))
    lines = text.replace("pi / 180", "").replace("180 / pi", "").splitlines()  # degrees
    rules = [line for line in lines if line.lstrip().startswith("to ")]
    numbers = {n for line in rules for n in re.findall(r"(?<![\w.])[1-9]\d+(?![\w.])", line)}
    largest = max((i.node.numel for i in a.problem.inputs.values()), default=0)
    large = {n for n in numbers if int(n) > max(largest, 48)}
    assert all(n in example.text for n in large)
