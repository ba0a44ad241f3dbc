"""Programs with PyTorch's library, read by gradcli: what they print and raise is PyTorch's.

Each line of `snippet_programs.txt` is a program, its statements separated by " ; "; a last
expression is printed. `snippet_programs.json` holds what PyTorch prints and raises for each, in
their order; `python tests/test_snippets_torch.py` writes it anew, which needs PyTorch.
"""

import ast
import json
import re
from functools import partial
from pathlib import Path

import pytest
from random_programs import compare, in_pytorch, programs, read

from gradcli.snippets import reading as running
from gradcli.snippets.eager.calls import _key
from gradcli.snippets.eager.members import shape_value

FOLDER = Path(__file__).parent
START = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
)
ANSWERS = FOLDER / "snippet_programs.json"
KEYWORDS = re.compile(r"(?<=keywords were incorrect: ).*|(?<=got \()[^)\n]*(?=\))")


def texts() -> list[str]:
    """The programs."""
    lines = (FOLDER / "snippet_programs.txt").read_text(encoding="utf-8").splitlines()
    return [_program(line) for line in lines if not line.startswith("#")]


def _program(line: str) -> str:
    parts = line.split(" ; ")
    if isinstance(ast.parse(parts[-1]).body[0], ast.Expr):
        parts[-1] = f"print({parts[-1]})"
    return START + "\n".join(parts)


def answers() -> list[list[object]]:
    """What PyTorch prints and raises."""
    return json.loads(ANSWERS.read_text(encoding="utf-8")) if ANSWERS.exists() else []


@pytest.mark.parametrize(("text", "answer"), list(zip(texts(), answers(), strict=False)))
def test_prints_and_raises_as_pytorch(text, answer):
    assert _in_one_order(read(text)) == _in_one_order(answer)


def _in_one_order(answer: list[object]) -> list[object]:
    """The answer with the keywords of an error message sorted: PyTorch lists them in the order of
    a hash table, which depends on the C++ library.
    """
    in_order = partial(KEYWORDS.sub, lambda m: ", ".join(sorted(m[0].split(", "))))
    return [in_order(part) if isinstance(part, str) else part for part in answer]


def test_every_program_has_an_answer():
    assert len(answers()) == len(texts())


@pytest.mark.oracle
def test_random_programs_do_not_contradict_pytorch():
    problems: list[str] = []
    wrong, refused = compare(list(programs(240)), problems.append)
    assert not wrong, problems[0]
    assert refused <= 8


REFUSED = {  # what PyTorch does in an order, or with numbers, that are not known
    "a = torch.eye(2)\na.addmm_(a, a)": "addmm_() on a tensor that is also one of its factors",
    "b = torch.ones(2, 2)\nb[0].addmv_(b, b[1])": (
        "addmv_() on a tensor that is also one of its factors"
    ),
    (
        "f = lambda x, y: x.add_(1) + y\n"
        "torch.vmap(f, in_dims=(None, 0))(torch.ones(2), torch.ones(3, 2))"
    ): "an in-place change, inside a transform, of a tensor from outside",
    "torch.vmap(lambda x: print(x) or x)(torch.ones(2))": (
        "printing a tensor inside this transform"
    ),
    "x = torch.ones(2, device='mps')": "a tensor on the device mps",
    "x = torch.ones(2, device=0.5)": "a device that is not a string, an integer or a torch.device",
    (
        "x = torch.rand(1, 3, requires_grad=True)\ny = F.layer_norm(x, (3,))\nx.data[0] = 5.\n"
        "y.sum().backward()"
    ): "backward through layer_norm() after its tensors changed through .data",
    (
        "x = torch.arange(4.).requires_grad_()\ny = x.cummax(0).values.sum()\nx.data.neg_()\n"
        "y.backward()"
    ): "backward through cummax_values() after its tensors changed through .data",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_unknown_is_refused(text):
    refusal = running.read(START + text).outcome.unsupported
    assert refusal is not None
    assert refusal.what == REFUSED[text]


def test_graphs_of_calls_are_cached_by_the_sizes_they_are_given():
    keys = [_key("expand", [shape_value((n,))], {}, True) for n in (15, 16)]
    assert None not in keys
    assert keys[0] != keys[1]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in in_pytorch(texts()))
    ANSWERS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
