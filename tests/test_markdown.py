"""Markdown, parsed back as GitHub, Discourse and Stack Overflow would."""

import re
import shlex

import pytest
from console import gradcli
from markdown_it import MarkdownIt
from markdown_it.token import Token
from support import one_in

SQUARE = ("a*a", "-v", "a=[[1,2,3],[4,5,6]]", "-g", "a")
SYMBOLIC = ("x@a", "-s", "x=2x2,a=2x2", "-w", "x")
PARSER = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(
    ["table", "strikethrough"]
)
PLAIN = {"text", "code_inline", "strong_open", "strong_close", "softbreak"}


def parsed(*args: str) -> list[Token]:
    """The tokens of an explanation in Markdown, in full."""
    result = gradcli("-f", "markdown", "--full", *args)
    assert (result.status, result.err) == (0, "")
    return PARSER.parse(result.out)


def inline(tokens: list[Token]) -> list[Token]:
    """The tokens within paragraphs, headings and cells."""
    return [child for token in tokens for child in token.children or ()]


def text(token: Token) -> str:
    """What a reader sees of a paragraph or cell."""
    return "".join(c.content if c.type != "softbreak" else " " for c in token.children or ())


def tables(tokens: list[Token]) -> list[list[list[str]]]:
    """Rows of cells, for each table."""
    found: list[list[list[str]]] = []
    for k, token in enumerate(tokens):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append(text(tokens[k + 1]))
    return found


def headings(tokens: list[Token]) -> list[str]:
    """The headings, as they are read."""
    return [text(tokens[k + 1]) for k, t in enumerate(tokens) if t.type == "heading_open"]


def is_plain(tokens: list[Token]) -> bool:
    """Whether nothing but words, code and the page's own bold is in it."""
    kinds = {t.type for t in inline(tokens)}
    return kinds <= PLAIN and not any(t.type == "html_block" for t in tokens)


# ---- what is in it -------------------------------------------------------------------------------


def test_the_jacobian_is_a_table():
    (rows,) = tables(parsed(*SQUARE))
    names = [f"[{i},{j}]" for i in range(2) for j in range(3)]
    assert rows[0] == ["g", "", *(f"a{n}" for n in names)]
    for k in range(6):
        entries = ["·"] * 6
        entries[k] = str(2 * (k + 1))
        assert rows[k + 1] == [str(k + 1), f"out{names[k]}", *entries]
    assert rows[7] == ["", "a.grad", "2", "8", "18", "32", "50", "72"]


def test_symbolic_entries():
    (rows,) = tables(parsed(*SYMBOLIC))
    assert rows[1] == ["g[0,0]", "out[0,0]", "a[0,0]", "a[1,0]", "·", "·"]
    assert rows[4] == ["g[1,1]", "out[1,1]", "·", "·", "a[0,1]", "a[1,1]"]


def test_one_table_for_each_input():
    assert len(tables(parsed("x * y", "-v", "x=[1,2]", "-v", "y=[3,4]", "-g", "[1,1]"))) == 2


def test_headings_are_the_sections():
    assert [h.split(" (")[0] for h in headings(parsed(*SQUARE))] == [
        *("Inputs", "Forward", "Seed", "Jacobian of out with respect to a", "Backward"),
        *("Gradient of a", "Checked", "In PyTorch", "Notes"),
    ]


def test_the_question_comes_first_and_then_the_answer():
    first = inline(parsed(*SQUARE))
    question, _, answer = parsed(*SQUARE)[:3]
    assert question.content == "out = a*a\nout.backward(a)\n"
    assert text(answer).startswith("Answer: a.grad = [[2, 8, 18], [32, 50, 72]]")
    assert any(t.type == "code_inline" and t.content == "2 * g * a" for t in first)


def test_fenced_code_survives():
    _, fence = [t for t in parsed(*SQUARE) if t.type == "fence"]
    assert fence.info == "python"
    plain = gradcli(*SQUARE, "--show", "code").lines[1:]
    assert fence.content.splitlines() == [line.removeprefix("  ") for line in plain]
    compile(fence.content, "fence", "exec")


def test_steps_are_a_list_in_order():
    tokens = parsed(*SQUARE)
    assert any(t.type == "ordered_list_open" for t in tokens)
    backward = [text(t) for t in tokens if t.type == "inline" and "used twice" in text(t)]
    assert backward


def test_a_graph_is_a_mermaid_block():
    out = gradcli("graph", "h = relu(x @ W); h.sum()", "-f", "markdown").out
    question, fence, *_ = PARSER.parse(out)
    assert question.content == "h = relu(x @ W); out = h.sum()\n"
    assert (fence.type, fence.info) == ("fence", "mermaid")
    lines = fence.content.splitlines()
    assert lines[0] == "flowchart TD"
    nodes = {m[1] for m in (re.match(r"  (n\d+)[(\[]", line) for line in lines) if m}
    edges = [m.groups() for m in (re.match(r"  (n\d+) --> (n\d+)$", line) for line in lines) if m]
    assert len(nodes) == 5
    assert len(edges) == 4
    assert {n for edge in edges for n in edge} == nodes
    assert len(lines) == 1 + len(nodes) + len(edges)


# ---- what a user typed is shown, never interpreted -----------------------------------------------

NAMES = ["_x_", "__x__", "__init__", "x_y_z", "_", "__", "x__y__z", "α_β_", "i_1", "inf_", "b"]


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    for expression in (f"{name} * 2", f"{name} ** 2 * {name}", f"_h_ = {name} * 2; _h_ + 1"):
        tokens = parsed(expression, "-v", f"{name}=[1.,2.]", "-g", "[1,1]")
        assert is_plain(tokens)
        assert f"Gradient of {name}" in headings(tokens)
        assert f"{name}.grad" in {cell for row in tables(tokens)[0] for cell in row}
        assert f"{name}[0]" in tables(tokens)[0][0]
    tokens = parsed(f"{name} * 2", "-s", f"{name}=2")
    assert is_plain(tokens)


EXPRESSIONS = [
    "x * 2 * x * 3",
    "x ** 2 ** 2",
    "(x > 0) * x",
    "(x < 1) * x * (x > 0)",
    "where((x < 1) | (x > 2), x, x * 2)",
    "where((x < 1) & (x > 0), x, x * 2)",
    "where(~(x < 1), x, x * 2)",
    "x[0] * x[1]",
    "x[[0, 1]] * x",
    "x * 2  # <b>bold</b> ![i](http://a.b/c.png) [l](http://a.b)",
    "x * 2  # `code` *star* _under_ ~~gone~~ $x$ |cell| \\(y\\)",
    "h = x * 2  # # heading\n# - item\n# > quote\nh + 1",
    "einsum('i,i->i', x, x)",
    "einsum('i , i -> i', x, x)",
    "x - 1 - 2",
    "x + 1 + 2",
    "x / 2 + x",
    "x @ x * x",
    "-x",
    "x.sum() * x",
    "h = x\nk = h * 2\nk * 3",
]


@pytest.mark.parametrize("expression", one_in(3, EXPRESSIONS))
@pytest.mark.parametrize("values", [("-v", "x=[1.,2.]"), ("-s", "x=2")], ids=["numbers", "symbols"])
def test_expressions(expression, values):
    tokens = parsed(*values, "--", expression)
    assert is_plain(tokens)
    assert [h.split(" (")[0] for h in headings(tokens)][:3] == ["Inputs", "Forward", "Seed"]
    assert all(len({len(row) for row in rows}) == 1 for rows in tables(tokens))
    for token in inline(tokens):
        if token.type == "text":
            assert "http" not in token.content
            assert "<b>" not in token.content


def test_a_bar_ends_no_cell():
    tokens = parsed("where((x < 1) | (x > 2), x, x * 2)", "-s", "x=2")
    (rows,) = tables(tokens)
    assert {len(row) for row in rows} == {4}


def test_the_user_s_text_is_whole():
    said = "where((x < 1) | (x > 2), x, x * 2)"
    tokens = parsed(said, "-v", "x=[1.,2.]", "-g", "[1,1]")
    assert any(t.type == "code_inline" and said in t.content for t in inline(tokens))


def test_values_and_errors_in_files(tmp_path):
    file = tmp_path / "page.md"
    assert gradcli(*SQUARE, "-f", "markdown", "-o", str(file)).out == ""
    assert file.read_text("utf-8") == gradcli(*SQUARE, "-f", "markdown").out


ASKED = {
    "explain": ["a*a", *SQUARE[1:], "--full"],
    "jacobian": ["a*a", "-s", "a=2"],
    "hessian": ["(a*a).sum()", "-s", "a=2"],
    "jvp": ["a*a", "--tangent", "a", "-s", "a=2"],
    "formula": ["a*a"],
    "graph": ["a*a"],
    "check": ["a*a", "--claim", "a = 2 * g * a"],
    "seed-for": ["a*2", "--target", "a=[1,2]"],
    "why": ["a/0", "-v", "a=0."],
}


@pytest.mark.parametrize("command", ASKED)
def test_it_begins_with_the_question_and_ends_with_the_command(command):
    args = [command, *ASKED[command]]
    out = gradcli(*args, "-f", "markdown").out
    tokens = PARSER.parse(out)
    assert tokens[0].type == "fence"
    assert tokens[0].content.startswith(f"out = {args[1]}\n")
    made = text(tokens[-2])
    assert made.startswith("Made by gradcli ")
    again = shlex.split(made.removeprefix("Made by gradcli "))
    assert gradcli(*again).out == out


@pytest.mark.parametrize(
    "args",
    [
        ["why", "grad can be implicitly created only for scalar outputs"],
        ["why"],
        ["examples", "square"],
        ["explain", "a*a", "-s", "a=2"],
    ],
)
def test_it_ends_with_the_command(args):
    last = gradcli(*args, "-f", "markdown").lines[-1]
    assert last == f"Made by `{shlex.join(['gradcli', *args])} -f markdown`"


def test_a_program_that_is_read_ends_with_the_command(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("import torch\nx = torch.ones(2, requires_grad=True)\nx.sum().backward()\n")
    out = gradcli("read", str(file), "-f", "markdown")
    assert out.lines[-1] == f"Made by `gradcli read {file} -f markdown`"
    assert "Made by" not in gradcli("read", str(file)).out


def test_what_came_through_a_pipe_is_in_the_command():
    args = ("-", "-v", "a=2.", "-f", "markdown", "-o", "-")
    assert gradcli(*args, stdin="a*a\n").lines[-1] == "Made by `gradcli 'a*a' -v a=2. -f markdown`"


def test_several_answers_are_a_list():
    lines = gradcli("a*b", "-s", "a=2,b=2", "-f", "markdown", "--full").lines
    assert lines[4:6] == ["- `a.grad = g * b`", "- `b.grad = g * a`"]
    assert "**Answer" not in "\n".join(lines)


def test_tensors_that_do_not_fit_a_line_are_fenced():
    args = ("a*b", "-v", "a=randn(4,10)", "-v", "b=randn(4,10)", "-g", "a")
    for more in (("--show", "answer,backward"), ("--full",)):
        out = gradcli(*args, "-f", "markdown", *more).out
        tokens = PARSER.parse(out)
        fences = [t.content.splitlines() for t in tokens if t.type == "fence" and t.info == "text"]
        assert fences
        assert all(len(c.content) <= 120 for c in inline(tokens) if c.type == "code_inline")


def test_a_jacobian_too_wide_for_a_table_is_fenced():
    tokens = parsed("a*2", "-v", "a=randn(30)", "-g", "out")
    assert not tables(tokens)
    (drawn,) = [
        t.content for t in tokens if t.type == "fence" and "a[29]" in t.content and "│" in t.content
    ]
    assert len(drawn.splitlines()) == 30 + 4


def test_names_of_outputs_in_the_question():
    for typed, asked in {
        "(a*a)": "out = (a*a)",
        "h = a*2\nh*h": "h = a*2\nout = h*h",
        "h = a*2; h*h": "h = a*2; out = h*h",
        "y = a*2": "y = a*2",
    }.items():
        out = gradcli(typed, "-s", "a=2", "-f", "markdown", "--full").out
        assert out.startswith(f"```python\n{asked}\n```\n")


@pytest.mark.parametrize(("seed", "called"), [
    ("[1,2.5]", "g = torch.tensor([1., 2.5])\nout.backward(g)"),
    ("-a", "out.backward(-a)"),
])  # fmt: skip
def test_the_seed_in_the_question(seed, called):
    out = gradcli("a*a", "-v", "a=[1.,2.]", "-g", seed, "-f", "markdown").out
    assert out.startswith(f"```python\nout = a*a\n{called}\n```\n")


@pytest.mark.parametrize("n", [40, 70])
def test_a_long_seed_has_its_name_in_the_question(n):
    out = gradcli(
        "a*a", "-v", f"a=ones({n})", "-g", f"[{','.join(['1'] * n)}]", "-f", "markdown"
    ).out
    assert out.startswith("```python\nout = a*a\nout.backward(g)\n```\n")


def test_meanings_of_operators_are_sentences_with_code_in_them():
    listed = gradcli("ops", "losses", "-f", "markdown").out
    assert "` Quadratic where `|input - target| <= delta`, linear beyond" in listed
    assert "` `(input - target) ** 2`, weighted, reduced." in listed
    assert "### Regression losses" in listed
    assert "t from -1 to 1." in gradcli("ops", "kaiser_window", "-f", "markdown").out
