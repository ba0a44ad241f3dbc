"""Markdown for the place where it is pasted, read back as that place reads it."""

import base64
import json
import re
import shlex
import subprocess

import numpy as np
import pyperclip
import pytest
from console import Input, Terminal, gradcli
from latex_tools import checked, modules, readers
from markdown_it import MarkdownIt
from support import one_in

from gradcli.cli.main import run
from gradcli.cli.streams import Streams
from gradcli.render.markdown import BY_PLACE
from gradcli.render.names import DISCOURSE_WITH_MATH, PLACES

MARKED = modules("marked")
READER = """
import(process.argv[1] + "/marked/lib/marked.esm.js").then(({ marked }) => {
  const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
  console.log(JSON.stringify(texts.map((text) => marked.parse(text, { gfm: true }))));
});
"""
LISTS, TABLES = ("ul", "ol", "li"), ("table", "thead", "tbody", "tr", "th", "td")
GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OLD = MarkdownIt("commonmark", {"html": True})  # Reddit: no fences are used
PROGRAMS = {
    "flagship": ("x@a", "--grad", "[[1,2,3,4],[5,6,7,8]]"),
    "values": ("a*a", "-v", "a=[[1,2,3],[4,5,6]]", "-g", "a"),
    "powers": ("(x ** 2 * y ** 3).sum()", "-v", "x=[1.,2.]", "-v", "y=[3.,4.]"),
    "network": (
        "h = relu(x @ W1 + b1); loss = cross_entropy(h @ W2 + b2, y)",
        *("-s", "x=5x4,W1=4x6,b1=6,W2=6x3,b2=3", "-v", "y=[0,1,2,0,1]"),
    ),
    "names": ("out = _a_ * b_c  # <script>`alert(1)`</script> | ``` $x$", "-s", "_a_=2,b_c=2"),
}
cases = pytest.mark.parametrize("program", PROGRAMS)


def pasted(place: str, program: str, *more: str) -> str:
    """What is pasted at a place."""
    result = gradcli(*PROGRAMS[program], "--for", place, *more)
    assert (result.status, result.err) == (0, "")
    return result.out


def parsed_by_marked(texts: list[str]) -> list[str]:
    """The HTML that marked makes of texts."""
    command = ["node", "-e", READER, str(MARKED)]
    made = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


def fences(text: str) -> list[str]:
    """What stands in fences, where they begin a line."""
    return re.findall(r"(?ms)^```\w*\n(.*?)^```$", text)


def test_every_place_is_one_of_the_option():
    assert set(BY_PLACE) == {"", DISCOURSE_WITH_MATH, *PLACES}


@cases
@pytest.mark.parametrize("place", ["github", "discourse", "stackoverflow", "stackexchange"])
def test_nothing_that_was_typed_is_markup(place, program):
    text = re.sub(r"(?s)^\$\$\n.*?\n\$\$$", "", pasted(place, program), flags=re.MULTILINE)
    tokens = GITHUB.parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    assert not {"html_block"} & {t.type for t in tokens}
    assert not {"html_inline", "em_open", "image", "link_open"} & {t.type for t in inner}


@pytest.mark.parametrize("place", ["github", "stackexchange"])
@pytest.mark.parametrize(
    "program",
    [
        ("softmax(x, -1)", "-s", "x=2x3x4", "--show", "jacobian"),
        ("where(x > 0, x, a * x)", "-s", "x=3,a=3"),
        ("linalg.svd(A, full_matrices=False).S", "-s", "A=3x3"),
    ],
)
def test_text_within_mathematics_holds_no_commands(place, program):
    """MathJax shows them as they are typed."""
    assert not re.search(r"\\text(tt)?\{[^}]*[\\~$]", gradcli(*program, "--for", place).out)


@readers
def test_long_entries_of_a_jacobian_are_mathematics_too(reader):
    """Where MathJax finds them: between $$."""
    text = gradcli(
        "jacobian", "softmax(x @ a, -1)", "-s", "x=2x3,a=3x4", "--full", "--for", "stackexchange"
    ).out
    found = re.findall(r"(?ms)^\$\$\n(.*?)\n\$\$$", text)
    assert sum("J_1 &=" in each for each in found) == 2
    assert text.count(r"\begin") == sum(each.count(r"\begin") for each in found)
    assert checked(reader, found) == []


def test_the_shape_of_a_vector_is_no_number():
    assert "&= 2 g && (3,) " in gradcli("2 * x", "-s", "x=3", "--for", "github").out


@cases
def test_github_has_equations_in_fences(program):
    tokens = GITHUB.parse(pasted("github", program))
    math = [t.content for t in tokens if t.type == "fence" and t.info == "math"]
    assert any(r"\frac{\partial L}{\partial" in made for made in math)
    assert all(made.count("{") == made.count("}") for made in math)
    assert all(made.count(r"\begin") == made.count(r"\end") for made in math)


def test_github_has_a_graph():
    tokens = GITHUB.parse(gradcli("graph", "relu(x @ W)", "--for", "github").out)
    assert "flowchart" in next(t.content for t in tokens if t.info == "mermaid")


@cases
def test_stack_overflow_has_few_lines(program):
    text = pasted("stackoverflow", program)
    assert text.count("\n") <= 25
    tokens = [c for t in GITHUB.parse(text) for c in t.children or ()]
    assert not any("$" in t.content for t in tokens if t.type == "text")
    assert re.search("Made by `+ *gradcli", text)
    assert ".grad = " in text
    assert "#" not in [line[:1] for line in re.sub(r"(?s)```.*?```", "", text).splitlines()]


def test_stack_overflow_has_the_code():
    text = pasted("stackoverflow", "flagship")
    assert "out.backward(torch.tensor(" in fences(text)[-1]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (("jacobian", "x * x", "-v", "x=[1.,2.]"), "| `out[1]` | · | 4 |"),
        (("hessian", "(x ** 3).sum()", "-v", "x=[1.,2.]"), "| `x.grad[1]` | · | 12 |"),
        (("check", "x @ W", "--claim", "x = g @ W"), "✗ wrong"),
        (("why", "log(x)", "-v", "x=[0.]"), "`x[0]` inf"),
        (("x @ W", "--show", "gradient"), "x.grad[i,k] = Σ_j g[i,j] W[k,j]"),
        (("x @ W", "--full"), "x.grad[i,k] = Σ_j g[i,j] W[k,j]"),
    ],
)
def test_stack_overflow_has_what_was_asked_for(asked, expected):
    text = gradcli(*asked, "--for", "stackoverflow").out
    assert expected in text
    assert not re.search("^#", text, re.MULTILINE)


READ = """\
import torch
x = torch.tensor([1., 2.], requires_grad=True)
y = x * x
for _ in range(1):
    pass
"""


def test_stack_overflow_has_the_gradients_of_a_program():
    program = f"{READ}y.backward(torch.ones(2), retain_graph=True)\ny.backward(x)\nprint(x.grad)\n"
    text = gradcli("read", "-", "--for", "stackoverflow", stdin=program).out
    assert text.count("\n") <= 25
    assert "`x.grad = 2 * g * x` `[2, 4]`" in text


def test_stack_overflow_has_the_cure_of_a_program():
    page = f"# A page\n\nIn words.\n\n```python\n{READ}y.backward()\n```\n"
    text = gradcli("read", "-", "--for", "stackoverflow", stdin=page).out
    assert "**Raises at line 11: RuntimeError**" in text
    assert "grad can be implicitly created only for scalar outputs" in text
    assert fences(text)[-1].startswith("import torch\n")
    assert fences(text)[-1].endswith("y.sum().backward()\n")


@cases
def test_stack_exchange_has_mathematics_between_dollars(program):
    text = pasted("stackexchange", program)
    blocks = re.findall(r"(?s)^\$\$\n(.*?)\n\$\$$", text, re.MULTILINE)
    assert any(r"\begin{aligned}" in block for block in blocks)
    assert not any("\n\n" in block for block in blocks)  # an empty line ends a paragraph


def test_discourse_has_mathematics_where_it_is_asked_for():
    assert "$$" not in pasted("discourse", "flagship")
    assert "$$\n\\begin{aligned}" in pasted("discourse", "flagship", "--math", "dollars")
    for place in ("github", "stackexchange"):
        result = gradcli(*PROGRAMS["flagship"], "--for", place, "--math", "dollars")
        assert result.status == 2
        assert "error[option]" in result.err


@cases
def test_reddit_has_no_fences_and_raises_nothing(program):
    text = pasted("reddit", program)
    tokens = OLD.parse(text)
    assert not any(line.startswith("```") for line in text.splitlines())
    assert any(t.type == "code_block" for t in tokens)
    words = [c.content for t in tokens for c in t.children or () if c.type == "text"]
    raised = re.sub(r"`[^`]*`", "", "\n".join(x for x in text.splitlines() if x[:4] != "    "))
    assert not re.search(r"(?<!\\)\^", raised)
    assert words


@pytest.mark.parametrize(("more", "begins"), [
    (("a*a", "-v", "a=[1.,2.]", "-g", "[1,10]", "--show", "jacobian"), "g │"),
    (("x*2", "-s", "x=30x30", "--show", "jacobian"), "g │"),
    (("x*x", "-v", "x=arange(40.)", "-g", "ones(40)", "--show", "answer"), "[0,"),
    (("x*x", "-v", "x=arange(40.)", "-g", "ones(40)", "--full"), "[0,"),
])  # fmt: skip
def test_code_below_a_list_is_code_on_reddit(more, begins):
    tokens = OLD.parse(gradcli(*more, "--for", "reddit").out)
    words = [c.content.strip() for t in tokens for c in t.children or () if c.type == "text"]
    assert not any(x.startswith(("g │", "─", "[")) for x in words)
    assert any(t.content.strip().startswith(begins) for t in tokens if t.type == "code_block")


def test_a_program_below_a_finding_is_code_on_reddit(tmp_path):
    file = tmp_path / "a.py"
    text = "import torch\nx = torch.ones(2, requires_grad=True)  # <b>\n(x * x).backward()\n"
    file.write_text(text)
    tokens = OLD.parse(gradcli("read", str(file), "--for", "reddit").out)
    listings = [t.content for t in tokens if t.type == "code_block"]
    assert sum("# <b>\n" in listing for listing in listings) == 2  # as it was, and corrected
    assert not any(c.type == "html_inline" for t in tokens for c in t.children or ())


whole = pytest.mark.parametrize("more", one_in(2, [(), ("--full",)], "".join))


@whole
@cases
def test_slack_is_one_fence_of_80_columns(program, more):
    text = pasted("slack", program, *more)
    assert text.startswith("```\n$ gradcli")
    assert text.endswith("\n```\n")
    assert text.count("```") == 2
    assert width(text) <= 80


def width(text: str) -> int:
    """How long the longest line is."""
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize(
    "asked",
    [
        ("s = softmax(x @ a, dim=-1)", "-s", "x=2x3,a=3x4"),  # entries longer than a line
        ("x @ a", "-v", "x=randn(2,40)", "-v", "a=randn(40,3)"),  # rows of tensors, too
        ("jvp", "sin(x)", "-s", "x=30", "--tangent", "x=ones(30)"),
        ("hessian", "(x ** 3).sum()", "-s", "x=12"),
    ],
    ids=lambda asked: " ".join(asked[:2]),
)
def test_what_is_wide_is_wrapped_for_a_chat(asked):
    text = gradcli(*asked, "--full", "--for", "discord").out
    assert width(text) <= 60
    cut = "Entries are cut where they are longer than a line."
    assert (cut in " ".join(text.split())) == ("softmax" in asked[0])


def test_the_columns_of_a_jacobian_stand_below_each_other_in_a_chat():
    x = np.arange(1, 9).reshape(2, 4)
    asked = ("x @ a", "-v", f"x={x.tolist()}", "-s", "a=4x4", "-w", "a", "--show", "jacobian")
    text = gradcli(*asked, "--full", "--for", "slack").out
    rows = re.findall(r"│ out\[(\d,\d)\] │ (.*)", text)
    parts = [[float(cell.replace("·", "0")) for cell in cells.split()] for _, cells in rows]
    groups = [parts[k : k + 8] for k in range(0, len(parts), 8)]
    assert len(groups) > 1
    np.testing.assert_array_equal(np.hstack(groups), np.kron(x, np.eye(4)))


PAGE = """\
{words}

```python
import torch
x = torch.tensor([1., 2., 3.], requires_grad=True)  # a leaf, by which it differentiates
y = (x * x).sum()
y.backward()
```
"""


def test_a_page_of_programs_is_one_fence_or_numbered_messages():
    page = "".join(PAGE.format(words=k) for k in range(6))
    slack, discord = (
        gradcli("read", "-", "--for", place, stdin=page).out for place in ("slack", "discord")
    )
    assert slack.count("```") == 2
    assert slack.count("Line ") == 6
    assert (width(slack) <= 80, width(discord) <= 60) == (True, True)
    messages = re.split(r"(?<=\))\n\n(?=```)", discord.strip("\n"))
    assert len(messages) > 1
    assert max(map(len, messages)) < 1_900
    assert [m.splitlines()[-1] for m in messages] == [
        f"({k}/{len(messages)})" for k in range(1, len(messages) + 1)
    ]


@pytest.mark.parametrize(
    "expr", ["F.cross_entropy(relu(x @ W1 + b1) @ W2, y) * 2", " + ".join(["x * y"] * 12)]
)
def test_the_command_of_a_chat_is_one_that_a_shell_takes(expr):
    asked = [expr, "-s", "x=8x4,W1=4x6,b1=6,W2=6x3,y=8"] if "W1" in expr else [expr, "-s", "x=2"]
    command, _, _ = gradcli(*asked, "--for", "discord").out.partition("\n\n")
    joined = command.removeprefix("```\n$ ").replace("\\\n", "")  # as a shell joins lines
    assert shlex.split(joined) == ["gradcli", *asked]


@whole
@cases
def test_discord_takes_every_message(program, more):
    text = pasted("discord", program, *more)
    assert width(text) <= 60
    last = re.findall(r"^\((\d+)/(\d+)\)$", text, re.MULTILINE)
    messages = re.split(r"(?<=\))\n\n(?=```)", text.strip("\n"))
    assert max(map(len, messages)) < 1_900
    assert [int(k) for k, _ in last] == [*range(1, len(messages) + 1)] * bool(last)
    assert all(len(fences(message)) == 1 for message in messages)


def test_another_format_is_refused():
    result = gradcli(*PROGRAMS["flagship"], "--for", "slack", "-f", "json")
    assert result.status == 2
    assert "--for slack is Markdown" in result.err + result.out


def test_the_command_names_no_place():
    for option in (("--math", "dollars"), ("--math=dollars",)):
        text = pasted("discourse", "values", *option)
        assert text.endswith("Made by `gradcli 'a*a' -v 'a=[[1,2,3],[4,5,6]]' -g a`\n")


def test_the_command_makes_the_answer_again_anywhere():
    result = gradcli(*PROGRAMS["values"], "--for=github", "--full")
    assert "Made by `gradcli 'a*a' -v 'a=[[1,2,3],[4,5,6]]' -g a --full`" in result.out


# ---- the clipboard -------------------------------------------------------------------------------


def test_what_is_copied_is_markdown(monkeypatch):
    copied = []
    monkeypatch.setattr(pyperclip, "copy", copied.append)
    result = gradcli(*PROGRAMS["values"], "--copy")
    assert copied == [gradcli(*PROGRAMS["values"], "-f", "markdown").out]
    assert result.out == ""
    assert result.err == f"copied {copied[0].count(chr(10))} lines of Markdown\n"
    assert gradcli(*PROGRAMS["values"], "--copy", "-f", "latex").err.endswith("lines of LaTeX\n")


def test_the_terminal_copies_where_somebody_is_logged_in_from_elsewhere(monkeypatch):
    monkeypatch.setattr(pyperclip, "copy", lambda text: pytest.fail("that of the other machine"))
    out, err = Terminal(), Terminal(is_terminal=True)
    status = run(
        ["grad", "a*a", "-s", "a=2", "--copy"], Streams(Input(b""), out, err, {"SSH_TTY": "/dev/0"})
    )
    assert status == 2  # grad has numbers alone: nothing to paste
    assert run(["a*a", "-s", "a=2", "--copy"], Streams(Input(b""), out, err, {"SSH_TTY": "t"})) == 0
    sent = re.search(r"\x1b\]52;c;([^\x07]*)\x07", err.getvalue())
    assert sent
    assert base64.b64decode(sent[1]).decode() == gradcli("a*a", "-s", "a=2", "-f", "markdown").out


def test_a_file_and_the_clipboard_are_not_chosen_between(monkeypatch, tmp_path):
    monkeypatch.setattr(pyperclip, "copy", lambda text: pytest.fail("nobody said which"))
    result = gradcli(*PROGRAMS["values"], "--copy", "-o", str(tmp_path / "answer.md"))
    assert result.status == 2
    assert "error[option]: --copy and --output" in result.err
    assert not [*tmp_path.iterdir()]


def test_no_clipboard_is_an_error(monkeypatch):
    def refuse(text):
        raise pyperclip.PyperclipException

    monkeypatch.setattr(pyperclip, "copy", refuse)
    result = gradcli(*PROGRAMS["values"], "--copy")
    assert result.status == 2
    assert "error[option]: there is no clipboard here" in result.err


@pytest.mark.skipif(MARKED is None, reason="marked is not installed: npm install -g marked")
@pytest.mark.parametrize("place", ["github", "discourse", "stackoverflow", "reddit", "slack"])
def test_marked_reads_what_was_meant(place):
    """The parser that most pages with JavaScript use."""
    asked = [*PROGRAMS.values(), ("x @ W", "--full", "-s", "x=2x3,W=3x2")]
    made = [gradcli(*args, "--for", place).out for args in asked]
    for found in parsed_by_marked(made):
        tags = {*re.findall(r"<(\w+)", found)}
        assert tags <= {"p", "pre", "code", "strong", "h3", *LISTS, *TABLES}
        for table in re.findall("(?s)<table>.*?</table>", found):
            rows = table.split("</tr>")[:-1]
            assert len({len(re.findall(r"<t[dh]\b", row)) for row in rows}) == 1


def test_shared_values_have_names_in_a_short_answer():
    text = gradcli(
        "h = relu(x @ W1 + b1); loss = cross_entropy(h @ W2, y)",
        "-s", "x=4x3,W1=3x5,b1=5,W2=5x2,y=4", "--for", "stackoverflow",
    ).out  # fmt: skip
    assert "- `W1.grad = x.T @ z.grad`" in text
    assert "- `z.grad = h.grad * (h > 0)`" in text
    assert text.count("\n") <= 25
