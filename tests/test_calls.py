"""Calls with every argument and with none, and how each is misused: what PyTorch says is stored.

The calls are those of calls.txt and the examples of operators. calls.json has PyTorch's outputs and
gradients of the first, and misuses.json what it says of each call with one thing changed: an input
with a dimension or an element more or fewer, or of truth values, a number that is out of range.
An input without elements is none of them, as PyTorch has no one rule about these.
`python tests/test_calls.py`, with PyTorch, writes both.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support import answer, assert_equal, examples, one_in, run_torch

from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.language.arguments.options import read_shapes
from gradcli.language.posing import pose
from gradcli.operators import everything
from gradcli.operators.families import SHORTHANDS

HERE = Path(__file__).parent
DIGITS = 11  # of the numbers that are stored
EVERY = 4  # of so many calls one is misused in the default run
Values = dict[str, np.ndarray]


class Call(NamedTuple):
    """A program and the shapes of its inputs."""

    text: str
    shapes: str

    @property
    def values(self) -> Values:
        """Numbers of both signs, none like another."""
        shapes = read_shapes([self.shapes]).items()
        return {name: numbers(shape, k) for k, (name, shape) in enumerate(shapes)}

    def __str__(self) -> str:
        return f"{self.text} | {self.shapes}"


def numbers(shape: tuple[int, ...], phase: float) -> np.ndarray:
    """An array that is the same everywhere."""
    places = np.arange(1, int(np.prod(shape)) + 1)
    return np.round(2 * np.sin(1.7 * places + 0.9 * phase + 0.01 * places**2), 3).reshape(shape)


@cache
def calls() -> tuple[Call, ...]:
    """The lines of calls.txt."""
    lines = (HERE / "calls.txt").read_text("utf-8").splitlines()
    return tuple(Call(*line.rsplit(" | ", 1)) for line in lines if line and line[0] != "#")


def as_numbers(stored: Any) -> np.ndarray:
    """An array that was written to a file."""
    return np.array(stored, float)


def rounded(array: np.ndarray) -> Any:
    """An array as it is written to a file."""
    if array.ndim:
        return [rounded(part) for part in array]
    return float(f"{float(array):.{DIGITS}g}")


# ---- calls ---------------------------------------------------------------------------------------


@cache
def answers() -> dict[str, Any]:
    """PyTorch's outputs and gradients, by call."""
    return json.loads((HERE / "calls.json").read_text("utf-8"))


def seed_for(out: np.ndarray) -> np.ndarray:
    """A seed that is not the same for any two elements."""
    return numbers(out.shape, 5)


def test_every_function_of_other_operators_is_called():
    """By one of its names, at least; but `onehot`, which is no function of PyTorch, and one whose
    arguments are tensors in single precision (test_torch_calls.py).
    """
    everything()
    called = set(re.findall(r"\w+", " ".join(c.text for c in (*calls(), *examples()))))
    names: dict[int, set[str]] = {}
    for name, function in SHORTHANDS.items():
        names.setdefault(id(function), set()).add(name.split(".")[-1])
    missing = [of for of in names.values() if not of & called]
    assert missing == [{"onehot"}, {"fake_quantize_per_channel_affine"}]


@pytest.mark.parametrize("call", calls(), ids=str)
def test_calls(call: Call):
    out, grads = answers()[str(call)]
    problem = pose(call.text, values=call.values, wrt=list(call.values))
    ours = answer(problem, seed_for(as_numbers(out)))
    assert_equal(ours.out, as_numbers(out), 1e-9, 1e-9)
    for name, grad in grads.items():
        mine = np.zeros_like(call.values[name]) if ours.grads[name] is None else ours.grads[name]
        assert_equal(mine, as_numbers(grad), 1e-8, 1e-8 * (1 + np.abs(as_numbers(grad)).max()))


def answers_of_pytorch() -> dict[str, Any]:
    """What calls.json holds."""
    import torch

    found = {}
    for call in calls():
        tensors = {n: torch.tensor(v, requires_grad=True) for n, v in call.values.items()}
        out = run_torch(call.text, tensors)
        seed = torch.tensor(seed_for(out.detach().numpy()))
        grads = torch.autograd.grad(out, list(tensors.values()), seed, allow_unused=True)
        zeros = [torch.zeros_like(t) if g is None else g for t, g in zip(tensors.values(), grads)]
        arrays = {name: rounded(g.numpy()) for name, g in zip(tensors, zeros, strict=True)}
        found[str(call)] = [rounded(out.detach().numpy()), arrays]
    return found


# ---- misuses -------------------------------------------------------------------------------------

# What PyTorch says of arguments that gradcli takes, since their meaning is plain.
TAKEN = (
    r"must be Tensor, not|invalid combination of arg",
    r"Input dtype must be either|should be the same",
    "Dimension specified as 0 but tensor has no dim",
    "only supports boolean masks",
    "ldexp_cpu_exp",  # which takes a mask where all numbers are whole
    "linalg.lu_factor: ",  # of an argument that nothing depends on
)
OUT_OF_RANGE = (9, -9, 1.5, "foo")
RESHAPED = (
    lambda v: v[None],
    lambda v: v[0],
    lambda v: np.concatenate([v, v[:1]]),
    lambda v: np.concatenate([v, v[..., :1]], -1),
    lambda v: v > 0.5,
)
NOT_COMPARED = "?"
# Functions of PyTorch that read memory which is not theirs when they are misused.
UNCHECKED = re.compile(r"native_batch_norm|\blstm\(|conv\dd_(input|weight)")


@cache
def called() -> tuple[Call, ...]:
    """What is misused."""
    found = [*calls(), *(Call(e.text, e.shapes) for e in examples() if e.op.torch)]
    return tuple(call for call in dict.fromkeys(found) if not UNCHECKED.search(call.text))


def misuses(call: Call) -> Iterator[tuple[str, Values]]:
    """A call with one thing changed: programs and their values."""
    for text in dict.fromkeys(changed_numbers(call.text)):
        yield text, call.values
    for name, value in call.values.items():
        for change in RESHAPED:
            if value.ndim:
                yield call.text, {**call.values, name: change(value)}


def changed_numbers(text: str) -> Iterator[str]:
    """Programs with another constant in place of one of a text."""
    nodes = list(ast.walk(ast.parse(text)))
    powers = [n.right for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    for node in nodes:
        if isinstance(node, ast.Constant) and node not in powers:
            for other in OUT_OF_RANGE:
                yield text[: node.col_offset] + repr(other) + text[node.end_col_offset :]


@cache
def reactions() -> dict[str, list[Any]]:
    """PyTorch's to the misuses: null where it raises, or a number made of the output."""
    return json.loads((HERE / "misuses.json").read_text("utf-8"))


def summary(out: np.ndarray) -> float:
    """A number that depends on all elements of an array and on its shape."""
    finite = np.nan_to_num(np.asarray(out, float), nan=0.77, posinf=0.55, neginf=0.33)
    return float((finite * numbers(finite.shape, 3)).sum() + sum(np.shape(out)) / 7)


@pytest.mark.parametrize("call", one_in(EVERY, called()))
def test_misuses(call: Call):
    known, wrong = reactions()[str(call)], []
    for (text, values), theirs in zip(misuses(call), known, strict=True):
        ours = None if theirs == NOT_COMPARED else reaction(text, values)
        if not (theirs == NOT_COMPARED or agrees(ours, theirs)):
            wrong.append((text, {n: v.shape for n, v in values.items()}, ours, theirs))
    assert not wrong


def reaction(text: str, values: Values) -> float | str:
    """What is made of our output, or the message of our refusal."""
    try:
        problem = pose(text, values=values)
        return summary(Evaluator(problem.values)(problem.out)[0])
    except GradcliError as error:
        return error.message


def agrees(ours: float | str, theirs: float | None) -> bool:
    """Whether both refuse, or have the same output; we may refuse what PyTorch takes."""
    if theirs is None:
        return isinstance(ours, str)
    return isinstance(ours, str) or abs(ours - theirs) <= 1e-6 * (1 + abs(theirs))


def reactions_of_pytorch() -> dict[str, list[Any]]:
    """What misuses.json holds."""
    return {
        str(call): [reaction_of_pytorch(*misuse) for misuse in misuses(call)] for call in called()
    }


def reaction_of_pytorch(text: str, values: Values) -> float | str | None:
    """A number made of PyTorch's output; None where it raises."""
    import torch

    try:
        out = run_torch(text, {name: torch.tensor(value) for name, value in values.items()})
    except Exception as error:
        return NOT_COMPARED if any(re.search(said, str(error)) for said in TAKEN) else None
    if not isinstance(out, torch.Tensor) or out.is_complex():
        return NOT_COMPARED
    return float(f"{summary(out.double().numpy()):.{DIGITS}g}")


def write(name: str, found: dict[str, Any]) -> None:
    """A file with a line for every call."""
    lines = (f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in found.items())
    (HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    import torch

    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # of several writes to one place the last is seen
    write("calls.json", answers_of_pytorch())
    write("misuses.json", reactions_of_pytorch())
