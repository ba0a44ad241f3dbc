"""Calls with every argument and with none, how each is misused, and how it may be varied: what
PyTorch says is stored.

The calls are those of calls.txt and the examples of operators. calls.json has PyTorch's outputs and
gradients of the first, and misuses.json what it says of each call with one thing changed: an input
with a dimension or an element more or fewer, or of truth values, a number that is out of range.
An input without elements is none of them, as PyTorch has no one rule about these. variations.json
has numbers made of outputs, gradients and their derivatives where an argument is another one or is
left out, and where the inputs are batches, infinite, equal or empty. values.json has a number made
of the output of each example. `python tests/test_calls.py`, with PyTorch, writes all four.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pytest
from support import (
    Example,
    answer,
    assert_equal,
    examples,
    one_in,
    run_torch,
    stand_ins,
    weighted,
)

from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.graphs import OPS, Node
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose
from gradcli.language.problem import Problem
from gradcli.operators import all_operators
from gradcli.operators.families import SHORTHANDS

HERE = Path(__file__).parent
DIGITS = 11  # of the numbers that are stored
FEWER_DIGITS = 8  # of those of variations
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
    all_operators()
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


# ---- examples ------------------------------------------------------------------------------------

IN_TORCH = [e for e in examples() if e.op.torch]


@cache
def stored_values() -> dict[str, float]:
    """Numbers made of PyTorch's outputs, by example."""
    return json.loads((HERE / "values.json").read_text("utf-8"))


@pytest.mark.parametrize("example", IN_TORCH, ids=str)
def test_values_of_examples(example: Example):
    """Finite differences show that gradients are those of the value: here is whether it is it."""
    (out,) = Evaluator(example.problem.values)(example.problem.out)
    assert summary(out) == pytest.approx(stored_values()[str(example)], rel=1e-9, abs=1e-9)


def values_of_pytorch() -> dict[str, float]:
    """What values.json holds."""
    import torch

    found = {}
    for example in IN_TORCH:
        tensors = {name: torch.tensor(value) for name, value in example.values.items()}
        out = run_torch(example.text, tensors)
        found[str(example)] = float(f"{summary(out.double().numpy()):.{DIGITS}g}")
    return found


# ---- misuses -------------------------------------------------------------------------------------

# What PyTorch says of arguments that gradcli takes, since their meaning is plain.
TAKEN = (
    "invalid combination of arg",
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
MORE_DIMENSIONS = (lambda v: v[None], lambda v: np.stack([v, v + 1]))
NOT_COMPARED = "?"
LARGEST = 1e15  # such as the condition of a singular matrix, which rounding decides
# Functions of PyTorch that read memory which is not theirs when they are misused.
UNCHECKED = re.compile(r"native_batch_norm|\blstm\(|conv\dd_(input|weight)|lengths=tensor\(\[\[")


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
        for change in RESHAPED if value.ndim else MORE_DIMENSIONS:
            yield call.text, {**call.values, name: change(value)}


def changed_numbers(text: str) -> Iterator[str]:
    """Programs with another constant in place of one of a text."""
    for node in constants(text):
        for other in OUT_OF_RANGE:
            yield text[: node.col_offset] + repr(other) + text[node.end_col_offset :]


def constants(text: str) -> list[ast.Constant]:
    """Those of a program, but for exponents."""
    nodes = list(ast.walk(ast.parse(text)))
    powers = [n.right for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    return [n for n in nodes if isinstance(n, ast.Constant) and n not in powers]


@cache
def reactions() -> dict[str, list[Any]]:
    """PyTorch's to the misuses: null where it raises, or a number made of the output."""
    return json.loads((HERE / "misuses.json").read_text("utf-8"))


def summary(out: np.ndarray) -> float:
    """A number that depends on all elements of an array and on its shape."""
    finite = np.nan_to_num(np.asarray(out, float), nan=0.77, posinf=0.55, neginf=0.33)
    with np.errstate(over="ignore", invalid="ignore"):  # the largest numbers add up to infinity
        return float((finite * numbers(finite.shape, 3)).sum() + sum(np.shape(out)) / 7)


@pytest.mark.parametrize("call", one_in(8, called(), sweep=2))
def test_misuses(call: Call):
    known, wrong = reactions()[str(call)], []
    for (text, values), theirs in zip(misuses(call), known, strict=True):
        ours = None if theirs == NOT_COMPARED else reaction(text, values)
        readable = not isinstance(ours, str) or is_about(ours, text)
        if not (theirs == NOT_COMPARED or (agrees(ours, theirs) and readable)):
            wrong.append((text, {n: v.shape for n, v in values.items()}, ours, theirs))
    assert not wrong


WORDS_FOR = {"matmul": "@", "item": r"\b(int|float|bool)\("}  # what else calls a function


def is_about(message: str, text: str) -> bool:
    """Whether a message has an end, and a function that it names is called by the program."""
    named = re.findall(r"(\w+)\(\)", message)
    words = (rf"\b{name}\(|{WORDS_FOR.get(name, '(?!)')}" for name in named)
    return message[-1] not in " ,:" and (not named or any(re.search(w, text) for w in words))


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
    found = summary(out.double().numpy())
    return NOT_COMPARED if abs(found) > LARGEST else float(f"{found:.{DIGITS}g}")


# ---- variations ----------------------------------------------------------------------------------

DIFFERENT = np.array([0.0, -0.0, 1, -1, np.inf, 2, -np.inf, np.nan, 0.5, 1, -2, 3, 0])
EQUAL = np.array([0.0, 1, 0, -1, 1, 0.5])
WORDS = (
    ("mean", "sum", "none", "batchmean"),
    ("mean", "sum", "prod", "amax", "amin", "max", "min"),
    ("zeros", "border", "reflection"),
    ("constant", "reflect", "replicate", "circular"),
    ("nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"),
    ("linear", "lower", "higher", "midpoint", "nearest"),
    ("reduced", "complete", "r"),
    ("valid", "same"),
    ("trunc", "floor"),
    ("tanh", "none"),
    ("fro", "nuc"),
    ("L", "U"),
)


NOT_VARIED = re.compile(
    r"grid_sampler_|ctc_loss|pdist"  # ends PyTorch's process
    r"|(svd|eigh)\(x\)\["  # vectors of either sign
    r"|narrow_copy\(x, 0, -1"  # PyTorch's gradient is that of another row
    r"|logit\(.*-0\.2"  # has no value, as eps is below 0, and yet slopes
)
# Where infinities and equal numbers show in which order a kernel of PyTorch's computes.
ORDERED = re.compile(
    r"svd|eig|qr|\blu|(?<!l)det\(|cond\(|householder|pinv"  # of matrices that are singular
    r"|multi_dot|chain_matmul|attention|conv|grid_sample"  # sums in which inf meets 0
    r"|norm\(|prod\(|logit\("  # slopes by way of steps that are infinite
    r"|pixel_un"  # the shape of what has no elements
    r"|blackman"  # a number that is 0 but for rounding, times inf
    r"|\.int\("  # infinities in 32 bits
)
# What PyTorch says, besides TAKEN, of calls that gradcli takes.
TAKEN_TOO = (
    "missing 1 required|ArrayRef",  # of lists of sizes, and what has a default here
    "single memory location|the broadcast shape|expanded size|specified as 0 but tensor",
    "smaller than kernel size|half of kernel size",
    "not differentiable with respect",
)
# What gradcli says of calls that PyTorch takes.
REFUSED = re.compile(
    "in place|draws random|no derivative|there is no input"
    "|label_smoothing must|offsets must|modes and padding modes|reduce of scatter_reduce"
    "|padding must not|factors above 0|rows of weights|do not name each"
    "|a matrix has two dim|softmax.. needs dim"
    "|out of range for a dimension of size 0"
)


def variations(call: Call) -> Iterator[tuple[str, Values]]:
    """A call with one argument changed or left out, or with all its values: most are calls that
    PyTorch takes.
    """
    texts = (*changed_arguments(call.text), *shortened(call.text), *cut_off(call.text))
    yield from ((text, call.values) for text in dict.fromkeys(texts))
    yield from ((call.text, values) for values in changed_values(call.values))


def changed_arguments(text: str) -> Iterator[str]:
    """Programs with another constant of the same kind in place of one."""
    for node in constants(text):
        for other in alternatives(node.value):
            yield text[: node.col_offset] + repr(other) + text[node.end_col_offset :]


def alternatives(value: Any) -> list[Any]:
    """What may stand in place of an argument."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [word for words in WORDS if value in words for word in words if word != value]
    if isinstance(value, int):
        return sorted({value + 1, value - 1, -1, 0, 2} - {value})
    return sorted({2 * value + 0.5, -value, 0.0} - {value}) if isinstance(value, float) else []


def shortened(text: str) -> Iterator[str]:
    """Programs with an argument of a call left out: the last of those by place, or one by name."""
    for call in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)):
        given = [*call.args, *call.keywords]
        for left_out in (*call.args[1:][-1:], *call.keywords):
            others = [ast.get_source_segment(text, a) for a in given if a is not left_out]
            called = f"{ast.get_source_segment(text, call.func)}({', '.join(map(str, others))})"
            yield text[: call.col_offset] + called + text[call.end_col_offset :]


def cut_off(text: str) -> Iterator[str]:
    """Programs with several arguments of a call left out: all after one of them."""
    for call in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)):
        for last in call.args[:-2]:
            yield text[: last.end_col_offset] + ")" + text[call.end_col_offset :]


def changed_values(values: Values) -> Iterator[Values]:
    """Values with more dimensions or fewer, or none; odd ones and equal ones."""

    def each(change: Any) -> Values:
        return {name: change(value, k) for k, (name, value) in enumerate(values.items())}

    yield each(lambda v, k: np.stack([v, 1.5 - v[::-1] if v.ndim else 1.5 - v]))
    yield each(lambda v, k: np.resize(np.roll(DIFFERENT, -5 * k), v.shape))
    yield each(lambda v, k: np.resize(EQUAL, v.shape))
    yield each(lambda v, k: np.abs(v) / 2.5)
    yield each(lambda v, k: v[:0] if v.ndim else v)
    yield each(lambda v, k: v.reshape(-1)[0])
    for name, value in values.items() if len(values) > 1 else ():
        yield {**values, name: np.stack([value, value + 0.25])}


# Calls that have no one answer, or another one in symbols.
UNDEFINED = re.compile(
    r"ctc_loss|bucketize|searchsorted"  # a blank as a label, limits out of order
    r"|1 / relu|2 / relu|logit\(x, 0|/ 0|float_power\(0|zeta\(0"  # divisions by 0
    r"|float_power\(-1"  # complex numbers
    r"|initial="  # choices within conditions, which symbols do not write
    r"|unless|otherwise|resample|_slope|smooth_l1_terms"  # called by derivatives alone
    r"|cumprod_backward|logcumsumexp_(double_)?backward|prelu_backward_weight"
)


def calls_and_variations() -> Iterator[Example]:
    """Every call, and one of the texts that vary each call and each example, drawn by its text, so
    that further calls leave the others as they are.
    """
    further = [Example(OPS["square"], *c) for c in calls() if not UNDEFINED.search(c.text)]
    yield from further
    for op, text, shapes in (*further, *examples()):
        texts = [*dict.fromkeys((*changed_arguments(text), *shortened(text)))]
        for other in texts[crc32(text.encode()) % max(len(texts), 1) :][:1]:
            if not UNDEFINED.search(other):
                yield Example(op, other, shapes)


@cache
def stored_results() -> dict[str, list[Any]]:
    """PyTorch's results of the variations: null where it raises, or numbers made of the output, of
    the gradients, and of the derivatives of these by the inputs and the seed.
    """
    return json.loads((HERE / "variations.json").read_text("utf-8"))


@pytest.mark.parametrize("call", one_in(8, called(), sweep=2))
def test_variations(call: Call):
    wrong = []
    for (text, values), theirs in zip(variations(call), stored_results()[str(call)], strict=True):
        if theirs != NOT_COMPARED:
            ours = results(text, values, 3 if theirs is None else len(theirs))
            if not (as_pytorch(ours, theirs) or (is_empty(values) and isinstance(ours, str))):
                wrong.append((text, {n: v.tolist() for n, v in values.items()}, ours, theirs))
    assert not wrong


def as_pytorch(ours: list[float] | str, theirs: list[float] | None) -> bool:
    """Whether both refuse, or have the same numbers."""
    if theirs is None or isinstance(ours, str):
        return (theirs is None and isinstance(ours, str)) or bool(REFUSED.search(str(ours)))
    return len(ours) == len(theirs) and np.allclose(ours, theirs, 1e-6, 1e-6, equal_nan=True)


def results(text: str, values: Values, count: int) -> list[float] | str:
    """The first `count` numbers that are made of an output and its derivatives, or the message of a
    refusal.
    """
    try:
        *before, last = text.rsplit("; ", 1)
        program = "; ".join([*before, f"out_ = {last}", "x_ * 1.0"])
        problem = pose(program, values={**values, "x_": np.array(1.0)}, wrt=["x_"])
        numbers_made = derivatives(problem, problem.named["out_"], list(values))
        return [*islice(numbers_made, count)]
    except GradcliError as error:
        return error.message


def derivatives(problem: Problem, out: Node, names: list[str]) -> Iterator[float]:
    """The numbers made of a node and of its derivatives by inputs, if it has any."""
    evaluate = Evaluator(problem.values)
    value = evaluate(out)[0]
    yield summary(value)
    wrt = [i.node for i in map(problem.inputs.get, names) if i and i.node.dtype == "float"]
    if out.dtype == "float" and wrt:
        (seed,) = stand_ins([out], "g")
        first = backward(out, seed, wrt).of
        weights = stand_ins(wrt, "w")
        evaluate.values |= {seed: seed_for(value)}
        evaluate.values |= {w: numbers(w.shape, 2 + k) for k, w in enumerate(weights)}
        yield together(wrt, [first[x] for x in wrt], evaluate)
        total = weighted([first[x] for x in wrt], weights)
        second = backward(total, OPS["ones"](size=()), [*wrt, seed]).of
        yield together([*wrt, seed], [*second.values()], evaluate)


def together(wrt: list[Node], found: list[Node | None], evaluate: Evaluator) -> float:
    """A number that depends on all elements of gradients; none is zeros."""
    arrays = (np.zeros(x.shape) if g is None else evaluate(g)[0] for x, g in zip(wrt, found))
    return sum((k + 1) * summary(array) for k, array in enumerate(arrays))


def is_empty(values: Values) -> bool:
    """Whether an input has no elements."""
    return any(value.size == 0 for value in values.values())


def is_ordinary(values: Values) -> bool:
    """Whether the inputs hold finite numbers that are all different."""
    return not is_empty(values) and all(
        np.isfinite(value).all() and len(np.unique(value)) == value.size
        for value in values.values()
    )


def results_of_pytorch() -> dict[str, list[Any]]:
    """What variations.json holds."""
    return {
        str(call): [result_of_pytorch(*variation) for variation in variations(call)]
        for call in called()
    }


def result_of_pytorch(text: str, values: Values) -> list[float] | str | None:
    """The numbers of a variation; None where PyTorch raises."""
    import torch

    if NOT_VARIED.search(text) or (ORDERED.search(text) and not is_ordinary(values)):
        return NOT_COMPARED
    tensors = {name: torch.tensor(value) for name, value in values.items()}
    wrt = [t.requires_grad_() for t in tensors.values() if t.is_floating_point()]
    try:
        out = run_torch(text, tensors)
    except Exception as error:
        taken = any(re.search(said, str(error)) for said in (*TAKEN, *TAKEN_TOO))
        return NOT_COMPARED if taken or is_empty(values) else None
    if not isinstance(out, torch.Tensor) or out.is_complex():
        return NOT_COMPARED
    found = [summary(out.detach().double().numpy())]
    try:
        if out.requires_grad and out.dtype == torch.float64:
            found += islice(derivatives_of_pytorch(out, wrt), 1 + is_ordinary(values))
    except (RuntimeError, IndexError):
        pass  # it has no derivative there
    return [float(f"{number:.{FEWER_DIGITS}g}") for number in found]


def derivatives_of_pytorch(out: Any, wrt: list[Any]) -> Iterator[float]:
    """The numbers made of the gradients, and of the derivatives of these."""
    import torch

    seed = torch.tensor(seed_for(out.detach().numpy()), requires_grad=True)
    first = torch.autograd.grad(out, wrt, seed, allow_unused=True, create_graph=True)
    yield together_in_pytorch(wrt, first)
    weights = [torch.tensor(numbers(tuple(t.shape), 2 + k)) for k, t in enumerate(wrt)]
    total = sum((w * g).sum() for w, g in zip(weights, first) if g is not None)
    if isinstance(total, torch.Tensor) and total.requires_grad:
        second = torch.autograd.grad(total, [*wrt, seed], allow_unused=True)
        yield together_in_pytorch([*wrt, seed], second)


def together_in_pytorch(wrt: list[Any], found: tuple[Any, ...]) -> float:
    """As `together`."""
    import torch

    arrays = (
        (torch.zeros_like(t) if g is None else g).numpy(force=True) for t, g in zip(wrt, found)
    )
    return sum((k + 1) * summary(array) for k, array in enumerate(arrays))


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
    write("values.json", values_of_pytorch())
    write("misuses.json", reactions_of_pytorch())
    write("variations.json", results_of_pytorch())
