"""Programs that run, after what people ask: what they print is PyTorch's, to the character.

`snippets/running.txt` has the programs, each after a line `==== name`; `running.json` what PyTorch
prints. `python tests/test_snippets_running.py` writes it anew, which needs PyTorch.
"""

import json
import re
from pathlib import Path

import pytest
from console import gradcli
from random_programs import in_pytorch
from support import one_in

from gradcli.explanation.reading.answer import answer
from gradcli.pasted.problems import pose_backward
from gradcli.snippets.reading import read

FOLDER = Path(__file__).parent / "snippets"
PARTS = re.split(r"(?m)^==== (.*)\n", (FOLDER / "running.txt").read_text(encoding="utf-8"))[1:]
PROGRAMS = dict(zip(PARTS[::2], PARTS[1::2]))
ANSWERS = FOLDER / "running.json"
PRINTED = json.loads(ANSWERS.read_text(encoding="utf-8")) if ANSWERS.exists() else {}


def without_addresses(text: str) -> str:
    """`at 0x7f2be2737b50` is another one each time."""
    return re.sub(r"0x[0-9a-f]+", "0x", text)


@pytest.mark.parametrize("name", one_in(8, PROGRAMS))
def test_prints_what_pytorch_prints(name: str) -> None:
    """No error, nothing unsupported."""
    reading = read(PROGRAMS[name])
    assert reading.status == 0, reading.outcome
    assert without_addresses(reading.outcome.stdout) == PRINTED[name]


@pytest.mark.parametrize(
    "text",
    [
        ">>> x = torch.ones(2)\n>>> x + 1\n>>> x.backward\n>>> x.sum()",
        "In [1]: x = torch.ones(2)\nIn [2]: x + 1\n\nIn [3]: x\n   ...: 3\n",
    ],
)
def test_a_session_shows_what_its_expressions_give(text):
    (one,) = answer(text)
    assert one.reading.trace.answers[0] == (2, "tensor([2., 2.])\n")
    assert "#> tensor([2., 2.])" in str(one.document())
    assert "[2., 2.]" not in one.data()["stdout"]
    assert all(line != 4 for line, _ in one.reading.trace.answers)


BESIDE_PYTORCH = """
import argparse, json
import pandas as pd
import matplotlib.pyplot as plt
from torchvision import datasets
from tqdm import tqdm, trange
import torch
parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float, default='0.5')
parser.add_argument('--no-cuda', action='store_true')
args = parser.parse_args()
print(args, parser.parse_args(['--lr', '2']).lr)
w = torch.ones(1, requires_grad=True)
with trange(2) as bar:
    for i in bar:
        (w ** 2).sum().backward()
        bar.set_postfix(grad=w.grad.item())
for i in tqdm([1, 2], desc='loop'):
    tqdm.write(str(i))
fig, (a, b) = plt.subplots(1, 2)
a.plot(w.detach().numpy(), w.grad)
b.set_title('w')
plt.show()
print(w.grad)
plt.plot([1, 2], [w, w])
"""


def test_what_programs_use_beside_pytorch():
    outcome = read(BESIDE_PYTORCH).outcome
    assert outcome.stdout == (
        "Namespace(lr=0.5, no_cuda=False) 2.0\n1\n2\ntensor([4.])\n"  # as these libraries do
    )
    assert outcome.exception[:3] == (
        "RuntimeError",
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        25,
    )


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (
            "loss = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).sum()",
            "loss = where(x > 0, sqrt(x), zeros_like(x)).sum()",
        ),
        ("loss = (x * (x > 0).float()).sum()", "loss = (x * (x > 0).double()).sum()"),
        ("loss = (~(x.abs() < 2) * x).sum()", "loss = (~(abs(x) < 2) * x).sum()"),
        ("k = x > 0\nloss = (x * k).sum()", "loss = (x * k).sum()"),
        (
            "a = torch.tensor([1., -1.])\nloss = (x * (a > 0)).sum()\na.neg_()",
            "loss = (x * t1).sum()",  # a > 0 is another mask by then
        ),
        ("loss = (x * torch.tensor([5., 7.])).sum()", "loss = (x * t1).sum()"),
        (
            "k = x > 0\nloss = x.sum() / k.sum().clamp_min(1)",
            "loss = x.sum() / k.sum().clamp(min=1)",
        ),
    ],
)
def test_a_mask_without_a_name_is_shown_as_it_is_written(lines: str, shown: str) -> None:
    program = f"x = torch.tensor([-1., 4.], requires_grad=True)\n{lines}\nloss.backward()\n"
    trace = read(f"import torch\n{program}").trace
    assert pose_backward(trace.backwards[0]).text == shown


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("loss = net(x).sum()", "loss = (x @ net_weight.T + net_bias).sum()"),
        (
            "h = x.repeat(5, 1, 1)\nloss = net(h).sum()",
            "loss = (h @ net_weight.T + net_bias).sum()",
        ),
        (
            "x.requires_grad_()\nloss = net(x[0]).sum()",
            "loss = (x[0] @ net_weight.T + net_bias).sum()",
        ),
        (
            "loss = nn.CrossEntropyLoss()(net(x), y)",
            "loss = cross_entropy(x @ net_weight.T + net_bias, y)",
        ),
        (
            "loss = F.cross_entropy(net(x), y, reduction='sum')",
            "loss = cross_entropy(x @ net_weight.T + net_bias, y, reduction='sum')",
        ),
        (
            "loss = F.nll_loss(F.log_softmax(net(x), dim=1), y)",
            "loss = nll_loss(log_softmax(x @ net_weight.T + net_bias, dim=1), y)",
        ),
        (
            "net = nn.Conv2d(1, 2, 2)\nh = torch.rand(1, 1, 3, 3)\nloss = net(h).sum()",
            "loss = conv2d(h, net_weight, net_bias).sum()",
        ),
    ],
)
def test_layers_are_shown_as_what_they_compute(lines: str, shown: str) -> None:
    program = (
        "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
        "net = nn.Linear(2, 4)\nx = torch.rand(3, 2)\ny = torch.tensor([0, 3, 1])\n"
    )
    trace = read(f"{program}{lines}\nloss.backward()\n").trace
    assert pose_backward(trace.backwards[0]).text == shown


if __name__ == "__main__":
    printed = {}
    for name, answer in zip(PROGRAMS, in_pytorch(list(PROGRAMS.values()))):
        output, *problem = answer or [None]
        if problem[:1] == ["ModuleNotFoundError"]:  # a library that is not installed here
            printed[name] = PRINTED[name]
            continue
        assert problem == [None] * 3, (name, answer)
        printed[name] = without_addresses(str(output))
    ANSWERS.write_text(json.dumps(printed, indent=0) + "\n", encoding="utf-8")


MATRIX = "import torch\na = torch.tensor([[1., 2., 3.], [4., 5., 6.]], requires_grad=True)\n"
MEANINGS = [  # a program, and what is said of a seed, of an index, of a second pass
    (
        "out = a * a\nout.backward(a)",
        "With ones as the seed a.grad would be [[2, 4, 6], [8, 10, 12]].",
    ),
    ("out = a * a\nout.backward(a)", "The seed is a, of the shape of out, (2, 3), [[1, 2, 3], "),
    ("out = a * a\nout.backward(torch.ones(2, 3))", "the gradient is that of out.sum()."),
    (
        "z = 2 * a\nv = torch.zeros(2, 3)\nv[0, 1] = 1\nz.backward(v)",
        "it picks a row of the Jacobian, the gradient of z[0, 1].",
    ),
    ("(a[1, 2] ** 2).backward()", "a.grad[1, 2] = 2 * a[1, 2], and 0 elsewhere"),
    ("a[:1].sum().backward()", "a.grad[:1] = ones(1, a.shape[1]), and 0 elsewhere"),
    (
        "z = 2 * a.sum()\nz.backward(retain_graph=True)\na.grad.zero_()\nz.backward()",
        "a.grad was set to 0 before: else the two would be added up.",
    ),
]


@pytest.mark.parametrize(("lines", "sentence"), MEANINGS)
def test_what_a_seed_and_an_index_mean(lines: str, sentence: str) -> None:
    """Row by row of the table of the questions that the project began with."""
    shown = gradcli("read", "-", stdin=MATRIX + lines).out
    assert sentence in " ".join(shown.split())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("f = torch.jit.script(lambda x: x)", "torch.jit is not supported. The code computes"),
        ("x = torch.eye(2).to_sparse()", "Tensor.to_sparse is not supported. A dense tensor"),
        ("z = torch.tensor([1j])", "a complex number is not supported. The real and the"),
        ("z = torch.complex(torch.ones(2), torch.ones(2))", "torch.complex is not supported. The"),
    ],
)
def test_what_can_stand_in_place_of_what_is_not_read(line, sentence):
    shown = gradcli("read", "-", stdin=f"import torch\n{line}\n")
    assert shown.status == 2
    assert sentence in " ".join(shown.out.split())


def test_a_leaf_of_another_pass_is_not_mentioned():
    (one,) = answer(
        MATRIX + "b = torch.ones(2, requires_grad=True)\na.sum().backward()\nb.sum().backward()"
    )
    assert "gets no gradient" not in str(one.document())


def test_leaves_are_those_of_the_time_of_the_backward_pass():
    program = (
        "import torch\nw = torch.tensor([1., 2.], requires_grad=True)\nv = torch.tensor([3., 4.])\n"
        "(w * v).sum().backward()\nv.requires_grad_(True)\nw.requires_grad_(False)\n"
        "(w * v * v).sum().backward()\n"
    )
    shown = gradcli("read", "-", stdin=program).out
    first, second = shown.split("\nLine 7")
    assert "w.grad = v" in first
    assert "v.grad" not in first
    assert "v.grad = 2 * w * v" in second
    assert "w.grad" not in second


def test_a_notebook_is_the_code_of_its_cells():
    cells = [
        {"cell_type": "markdown", "source": ["# squares"]},
        {"cell_type": "code", "source": "import torch"},
        {
            "cell_type": "code",
            "source": ["%matplotlib inline\n", "import torch\nx = torch.ones(2)"],
        },
        {"cell_type": "code", "source": "print((x + 1).tolist())"},
    ]
    assert answer(json.dumps({"cells": cells}))[0].data()["stdout"] == "[2.0, 2.0]\n"


def test_an_error_message_in_a_text_is_explained():
    said = (
        "I get\n\nTraceback (most recent call last):\n  File 'a.py', line 3, in <module>\n"
        "    loss.backward()\nRuntimeError: Trying to backward through the graph a second time"
    )
    first, *_ = answer(said)[0].findings
    assert first.kind == "message"
    assert "frees what the graph saved" in first.why
