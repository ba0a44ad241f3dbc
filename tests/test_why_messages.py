"""Error messages of PyTorch: recognised as people paste them, and no others.

`data/raised_messages.jsonl` holds what PyTorch 2.13 printed for a program of each entry of the
catalogue, `data/pasted_messages.jsonl` texts that people pasted, and `data/other_messages.txt`
messages of Python, NumPy, other libraries and other parts of PyTorch, and questions.
"""

import json
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from console import gradcli

import gradcli as package
from gradcli.errors import GradcliError
from gradcli.explanation.messages.answer import answer
from gradcli.explanation.messages.catalogue import messages, others, topics
from gradcli.explanation.messages.matching import match, pattern
from gradcli.explanation.reading.corrections.table import hint_of
from gradcli.snippets.reading import read

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


RAISED = rows("raised_messages.jsonl")


def recognised(text: str) -> str | None:
    result = match(text)
    return None if result is None else result.template.message.text


# ---- texts ---------------------------------------------------------------------------------------


def test_what_people_paste():
    pasted = rows("pasted_messages.jsonl")
    wrong = [row for row in pasted if recognised(row["text"]) not in row["is"]]
    assert len(wrong) <= 0.01 * len(pasted), wrong


def test_what_pytorch_raises():
    assert [row for row in RAISED if recognised(row["text"]) != row["is"]] == []


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 189, in train
    loss.backward()
  File "/usr/lib/python3.8/site-packages/torch/_tensor.py", line 363, in backward
    torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
{}: {}
  0%|          | 0/1821 [07:25<?, ?it/s]"""


def misspelt(text: str, draw: random.Random) -> str:
    """A letter in thirty left out, exchanged with the next, or another one."""
    letters = list(text)
    for _ in range(max(1, len(letters) // 30)):
        place = draw.randrange(len(letters) - 1)
        changed = [
            letters[place + 1] + letters[place],
            letters[place + 1],
            "x" + letters[place + 1],
        ]
        letters[place : place + 2] = list(draw.choice(changed))
    return "".join(letters)


def with_numbers(text: str, draw: random.Random) -> str:
    return re.sub(r"\d+", lambda number: str(draw.randrange(1, 99)), text)


def cut(text: str, first: float, last: float) -> str:
    words = text.split(" ")
    return " ".join(words[int(len(words) * first) : round(len(words) * last) or 1])


def wrapped(text: str, head: str = "") -> str:
    return "\n".join(head + line for line in textwrap.wrap(text, 45))


# How a text is changed, and how many of a hundred may be taken for another or for none: words may
# be missing that tell messages apart.
CHANGES = {
    "traceback": (lambda kind, text, draw: TRACEBACK.format(kind, text), 0),
    "wrapped": (lambda kind, text, draw: wrapped(f"{kind}: {text}"), 0),
    "test runner": (lambda kind, text, draw: wrapped(f"{kind}: {text}", "E       "), 0),
    "markdown": (lambda kind, text, draw: f"> `{kind}: {text}`".replace("'", "’"), 0),
    "html": (lambda kind, text, draw: text.replace("'", "&#39;").replace('"', "&quot;"), 0),
    "numbers": (lambda kind, text, draw: with_numbers(text, draw), 0),
    "lower case": (lambda kind, text, draw: text.lower(), 1),
    "prose": (lambda kind, text, draw: f'I get "{text}" when I train. What is it?', 2),
    "misspelt": (lambda kind, text, draw: misspelt(text, draw), 10),
    "end cut": (lambda kind, text, draw: cut(text, 0, 0.7), 12),
    "beginning cut": (lambda kind, text, draw: cut(text, 0.3, 1), 20),
}


@pytest.mark.sweep  # all messages, changed in all ways
@pytest.mark.parametrize("change", CHANGES)
def test_changed_texts(change):
    changed, allowed = CHANGES[change]
    draw = random.Random(0)
    texts = [(changed(row["class"], row["text"], draw), row["is"]) for row in RAISED]
    wrong = [(text, expected) for text, expected in texts if recognised(text) != expected]
    assert len(wrong) <= allowed / 100 * len(texts), wrong


def test_messages_of_others_are_unknown():
    texts = [*(DATA / "other_messages.txt").read_text("utf-8").splitlines(), *others()]
    assert len(texts) > 300
    assert [(text, recognised(text)) for text in texts if recognised(text)] == []


OLD = [
    ("the buffers have already been freed. Specify retain_graph=True", "Trying to backward", "1.8"),
    ("leaf variable has been moved into the graph interior", "a view of a leaf", "1.8"),
    ("can't optimize a non-leaf Variable", "can't optimize a non-leaf", "1.0"),
    ("RuntimeError: size mismatch, m1: [1 x 3], m2: [4 x 5] at /x.cpp:2", "mat1 and mat2", "1.8"),
    ("can't optimize a non-leaf Tensor", "can't optimize a non-leaf", ""),
]


@pytest.mark.parametrize(("text", "today", "before"), OLD)
def test_old_wordings_are_dated(text, today, before):
    result = answer(text)
    assert result.message.text.startswith(today)
    assert result.before == before


VALUES = [
    (
        "mat1 and mat2 shapes cannot be multiplied (512x2304 and 256x4), why",
        ["512", "2304", "256", "4"],
    ),
    (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([1]) and output[0] has a "
        "shape of torch.Size([]).",
        ["0", "torch.Size([1])", "0", "torch.Size([])"],
    ),
    (
        "modified by an inplace operation: [torch.FloatTensor [2]], which is output 0 of\nExp, is "
        "at version 1; expected version 0 instead.",
        ["FloatTensor", "2", "output 0 of Exp", "1", "0"],
    ),
    ("hook 'scale' has changed the type of value (was Float got Half)", ["scale", "Float", "Half"]),
    ("derivative for aten::foo is not implemented", ["foo"]),
]


@pytest.mark.parametrize(("text", "values"), VALUES)
def test_values_are_read_out(text, values):
    assert list(answer(text).values.values()) == values


VERSIONS = [
    (
        "[torch.cuda.FloatTensor [16, 64]], which is output 0 of ReluBackward0, is at version 3; "
        "expected version 1 instead. Hint: the backtrace",
        ("float32 on the GPU, of shape (16, 64); the result of relu", "changed in place 2 times"),
    ),
    (
        "[torch.DoubleTensor [3, 1]], which is output 0 of AsStridedBackward0, is at version 2; "
        "expected version 1 instead.",
        ("float64, of shape (3, 1)", "the transposed weight of nn.Linear", "in place once"),
    ),
    (
        "[torch.FloatTensor [4]] is at version 1; expected version 0 instead.",
        (
            "float32, of shape (4,)",
            "no operation computed it",
            "at version 0 when",
            "version 1 now",
        ),
    ),
]


@pytest.mark.parametrize(("text", "parts"), VERSIONS)
def test_versions_are_read_out(text, parts):
    message = "one of the variables needed for gradient computation has been modified by an inplace"
    record = answer(f"RuntimeError: {message} operation: {text}").record
    assert all(part in record for part in parts)


# ---- the catalogue -------------------------------------------------------------------------------


def test_entries():
    assert len({m.text for m in messages()}) == len(messages()) == 202
    for m in messages():
        assert m.topic in topics()
        assert m.meaning, m.text
        assert m.causes, m.text
        assert m.cure, m.text
        holes = set(re.findall(r"\{(\w+)\}", " ".join([m.text, *(w.text for w in m.wordings)])))
        assert m.values.keys() <= holes, m.text


def test_triggers_on_the_machine():
    # Programs that use what the machine does not know end without an answer; those are left out.
    outcomes = [(m, read(m.trigger).outcome) for m in messages() if m.trigger]
    right = sum(
        any(
            pattern(m.text).search(raised.message)
            for raised in (o.exception, *o.warnings)
            if raised
        )
        for m, o in outcomes
    )
    assert right >= 130


# These need several processes, a GPU or a compiler.
NOT_RUN = re.compile(r"distributed|multiprocessing|compile|cuda|amp\b")
RUN = """
import json, sys, warnings
import torch
torch.set_warn_always(True)
results = []
for program in json.load(sys.stdin):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(program, {"__name__": "__main__"})
        except BaseException as error:
            caught = [*[str(w.message) for w in caught], str(error)]
        else:
            caught = [str(w.message) for w in caught]
    results.append(caught)
print(json.dumps(results), file=sys.stderr)
"""


@pytest.mark.oracle
def test_triggers_in_pytorch():
    pytest.importorskip("torch")
    tried = [m for m in messages() if m.trigger and not NOT_RUN.search(m.trigger)]
    programs = json.dumps([m.trigger for m in tried])
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=programs, capture_output=True, text=True
    )
    results = json.loads(done.stderr.splitlines()[-1])
    wrong = [
        (m.text, texts)
        for m, texts in zip(tried, results)
        if not any(recognised(text) == m.text for text in texts)
    ]
    assert wrong == []


# ---- the command ---------------------------------------------------------------------------------


def test_the_answer():
    done = gradcli("why", "'float' object has no attribute 'backward'")
    assert done.status == 0
    for heading in ("AttributeError: 'float'", "Causes", "Cure", "A program that raises it"):
        assert any(line.startswith(heading) for line in done.lines), done.out
    assert "other libraries" in done.out


def test_json():
    done = gradcli("why", "RuntimeError: element 0 of tensors does not require grad", "-f", "json")
    assert done.json["class"] == "RuntimeError"
    assert done.json["message"].startswith("element {i} of tensors")
    assert {"meaning", "causes", "cure"} <= done.json.keys()


# Messages outside the catalogue, and what cures them: documentation of Tensor.to, Tensor.numpy,
# torch.load, nn.DataParallel and torch.Generator, and the FAQ on memory.
HINTS = [
    ("Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be", ".to("),
    ("TypeError: expected torch.cuda.FloatTensor (got torch.FloatTensor)", ".to("),
    ("expected type torch.FloatTensor but got torch.cuda.FloatTensor", ".to("),
    ("Input and parameter tensors are not at the same device, found input tensor at cpu", ".to("),
    ("Tensor for argument #2 'mat1' is on CPU, but expected it to be on GPU", ".to("),
    ("indices should be either on cpu or on the same device as the indexed tensor (cpu)", ".to("),
    ("Input type (float) and bias type (c10::Half) should be the same", "dtype"),
    ("TypeError: expected torch.LongTensor (got torch.FloatTensor)", "dtype"),
    ("expected scalar type Half but found Float", "dtype"),
    ("RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'", ".float()"),
    ("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()", ".cpu()"),
    ("Attempting to deserialize object on a CUDA device but torch.cuda.is_ava", "map_location"),
    ("module must have its parameters and buffers on device cuda:0 (device_ids", 'to("cuda:0")'),
    ("Expected a 'cuda' device type for generator but found 'cpu'", "torch.Generator"),
    ("CUDA error: device-side assert triggered", "CPU"),
    ("CUDA out of memory. Tried to allocate 20.00 MiB", "loss.item()"),
]


@pytest.mark.parametrize(("text", "cure"), HINTS)
def test_hints(text, cure):
    hint = hint_of(text)
    assert cure in hint
    assert ("gradcli read" in hint) == (text.startswith(("Input type (float)", "expected scalar")))


def test_unknown():
    for text in ("KeyError: 3", "RuntimeError: CUDA out of memory", "no such thing"):
        done = gradcli("why", text)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("error[unknown-message]")


def test_the_list_fits_a_screen():
    done = gradcli("why")
    assert len(done.lines) <= 40
    assert all(len(line) <= 80 for line in done.lines)
    assert len(gradcli("why", "-f", "json").json) == len(messages())


@pytest.mark.parametrize("command", [[], ["explain"]])
def test_a_message_in_the_place_of_an_expression(command):
    done = gradcli(*command, "grad can be implicitly created only for scalar outputs")
    assert done.status == 0
    assert done.lines[0].startswith("RuntimeError: grad can be implicitly")
    for text in ("x +", "loss is nan, why", "CUDA out of memory"):
        assert gradcli(*command, text).err.startswith("error[syntax]")


def test_in_python_and_in_a_batch():
    text = "a leaf Variable that requires grad is being used in an in-place op"
    (line,) = package.batch([{"id": 1, "why": text}])
    assert line == {"id": 1, "ok": True, **package.why(text)}
    with pytest.raises(GradcliError) as raised:
        package.why("x")
    assert raised.value.code == "unknown-message"
    (line,) = package.batch([{"why": text, "expr": "x"}])
    assert line["error"]["code"] == "request"


OTHER_ERRORS = [
    ("too many indices for tensor of dimension 1", "There are more indices than dimensions."),
    (
        "IndexError: tensors used as indices must be long, int, byte or bool tensors",
        "a dtype that this function does not accept",
    ),
    (
        "IndexError: tensors used as indices must be long, byte or bool tensors",
        "a dtype that this function does not accept",
    ),
    (
        "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
        "[5, 3] at index 0",
        "A mask has the sizes",
    ),
    ("only integer tensors of a single element can be converted to an index", "an integer"),
    ("slice indices must be integers or None or have an __index__ method", "/ returns a float"),
    (
        "Traceback (most recent call last):\n  File 'a.py', line 2\nIndexError: shape mismatch: "
        "indexing tensors could not be broadcast together with shapes [2], [3]",
        "Two index tensors are used in pairs",
    ),
    (
        "shape mismatch: value tensor of shape [2] cannot be broadcast to",
        "the sizes of the indexed part",
    ),
]


@pytest.mark.parametrize(("text", "why"), OTHER_ERRORS)
def test_errors_that_have_nothing_to_do_with_gradients(text, why):
    """They are none of the catalogue's, and what read knows of them is said."""
    result = gradcli("why", text)
    assert result.status == 2
    assert "unknown-message" in result.err
    assert " ".join(why.split()) in " ".join(result.err.split())
