"""`explain --step`: an operation at a time."""

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterable

from console import Input, Terminal, gradcli

from gradcli.cli.stepping import KEYS, step_through
from gradcli.cli.streams import Streams
from gradcli.explanation.analysis import Analysis
from gradcli.language.posing import pose
from gradcli.render.environment import Environment

RELU = ("relu(x @ a).sum()", "-v", "x=[[1.,2.]]", "-v", "a=[[1.],[-2.]]")


def stepped(keys: Iterable[str], *lines: str) -> str:
    """What is shown as these keys are pressed; lines are what is typed after an e."""
    out = Terminal(is_terminal=True)
    values = {"x": [[1.0, 2.0]], "a": [[1.0], [-2.0]]}
    typed = iter(lines)
    step_through(
        Streams(Input(b""), out, Terminal(), {}),
        Analysis(pose("relu(x @ a).sum()", values=values)),
        Environment(),
        key=iter(keys).__next__,
        read_line=lambda _: next(typed),
    )
    return out.getvalue()


def places(text: str) -> list[int]:
    """The operations that were shown."""
    return [int(k) for k in re.findall(r"(\d+) of 6$", text, re.MULTILINE)]


def test_without_a_terminal_all_are_shown():
    result = gradcli(*RELU, "--step")
    assert places(result.out) == [1, 2, 3, 4, 5, 6]
    assert result.out.count("Forward") == result.out.count("Backward") == 3
    assert "1  x @ a    1×1    [[-3]]" in result.out
    assert "to x    r3 @ a.T    [[0, 0]]" in result.out


def test_keys_go_forward_and_back():
    assert places(stepped("nnbq")) == [1, 2, 3, 2]
    text = stepped("b" + "n" * 6 + "q")
    assert places(text) == [1, 2, 3, 4, 5, 6]
    assert "This is the first." in text
    assert "This is the last." in text


def test_why_is_the_rule_of_the_operator():
    assert "to a:  g @ b.T" in stepped("wq")


def test_one_element_is_written_out():
    text = stepped("eq", "a[1,0]")
    assert "a.grad[1,0] = " in text
    assert "= 0\n" in text  # relu lets nothing through: x @ a = 1·1 + 2·(-2) = -3


def test_an_element_is_pasted_with_its_key():
    asked = stepped("eq", "a[1,0]")
    assert stepped(["e a[1,0]\r", "q"]) == stepped(["e a[1", "q"], ",0]") == asked


def test_what_is_no_element_is_said_and_nothing_is_lost():
    text = stepped("eenq", "z[0]", "a[7,7]")
    assert "error[option]: --element z[0] is not an element" in text
    assert "error[index]" in text
    assert places(text) == [1, 2]


def test_another_key_shows_the_keys():
    assert stepped("xq").count(KEYS) == 2


def test_in_a_terminal():
    parent, child = pty.openpty()
    words = [sys.executable, "-m", "gradcli", *RELU, "--step", "--color", "never"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(words, stdin=child, stdout=child, stderr=child, env=environment)
    os.close(child)
    shown = until(parent, "1 of 6", b"") + until(parent, "2 of 6", b"n")
    until(parent, "", b"q")
    assert process.wait(60) == 0
    os.close(parent)
    assert places(shown.replace("\r", ""))[:2] == [1, 2]


def until(terminal: int, wanted: str, key: bytes) -> str:
    """What a terminal shows until something is in it, or it is closed; the key is pressed again
    while nothing comes, as what is pressed too early is lost.
    """
    shown = ""
    while not wanted or wanted not in shown:
        if not select.select([terminal], [], [], 0.2)[0]:
            os.write(terminal, key)
            continue
        try:
            shown += os.read(terminal, 10_000).decode()
        except OSError:  # nobody is at the other end
            break
    return shown
