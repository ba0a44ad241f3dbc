"""The formulas of Hessians, of tangents and of the steps back, executed by PyTorch as they are
shown, against its derivatives.
"""

import re

import numpy as np
import pytest
from support import (
    assert_equal,
    first_examples,
    fixed,
    generator,
    refusal,
    run_formula,
    run_torch,
    swept,
    torch_answer,
)

import gradcli
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.blocks import text_of
from gradcli.explanation.data import Data
from gradcli.explanation.formulas import by_index
from gradcli.explanation.formulas.formula_writer import writer_of
from gradcli.explanation.higher.jvp import Jvp
from gradcli.graphs import walk
from gradcli.language.arguments.assumptions import with_properties
from gradcli.notation import tree
from gradcli.request import Request

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

EXAMPLES = [case for case in swept(37, others=8, firsts=2) if case.values[0].op.torch]
# Hessians take long
FIRST = [case for case in EXAMPLES if case.values[0] in set(first_examples()[::22])]
CLOSE = {"rtol": 1e-7, "atol": 1e-9}


def tensors_of(a):
    """Everything that has a name and a value."""
    p = a.problem
    nodes = {**p.named, p.out_name: p.out} | {i.name: i.node for i in p.inputs.values()}
    return {
        name: torch.tensor(np.array(a.value(n))) for name, n in nodes.items() if a.has_numbers(n)
    }


def moving(example):
    """The inputs that PyTorch differentiates by, and the program as a function of them."""
    p, held = example.problem, fixed(example.problem)
    names = [x.name for x in p.wrt if x.name not in held]
    tensors = {name: torch.tensor(value) for name, value in example.values.items()}

    def function(*given):
        return run_torch(example.text, tensors | dict(zip(names, given, strict=True)))

    return names, [tensors[n] for n in names], function


def executed(formula, tensors):
    return torch.as_tensor(run_formula(formula, tensors)).double().numpy()


@pytest.mark.parametrize("example", EXAMPLES)
def test_steps_shown_go_back_to_the_gradients(example):
    """Each step receives the sum of what the formulas of those before it make."""
    p, a = example.problem, Analysis(example.problem)
    ids, tensors = {node: k for k, node in enumerate(walk([p.out]))}, tensors_of(a)
    seed = generator(str(example)).normal(size=p.out.shape)
    received = {ids[p.out]: torch.tensor(seed)}
    for step in Data(a)("steps"):
        given = tensors | {p.seed.name: received[step["node"]]}
        for to, formula in ((c["to"], c["formula"]) for c in step["contributions"]):
            if formula is None:
                return  # too long to be read, or without words in PyTorch
            received[to] = received.get(to, 0) + torch.as_tensor(run_formula(formula, given))
    held = fixed(p)
    theirs, refused = refusal(lambda: torch_answer(example.text, example.values, seed, held))
    for x, expected in {} if refused else theirs.grads.items():
        ours = received.get(ids.get(p.inputs[x].node))
        assert (ours is None) == (expected is None)
        if expected is not None:
            assert_equal(ours.double().numpy(), expected, **CLOSE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_formulas_of_tangents_are_the_jacobian_times_them(example):
    """PyTorch's Jacobian comes from its reverse mode, which covers more than its forward mode."""
    names, tensors, function = moving(example)
    asked = Request(example.text, tangents=dict.fromkeys(names), values=example.values)
    problem = asked.with_tangents().problem
    j = Jvp(Analysis(problem))
    if not names or j.node is None or j.formula is None:
        return
    draw = generator(example.text, "tangents")
    along = {t.x.name: torch.tensor(draw.normal(size=t.x.shape)) for t in problem.tangents}
    symbols = {t.name: along[t.x.name] for t in problem.tangents}
    whole = torch.autograd.functional.jacobian(function, tuple(tensors))
    rows = (J.reshape(j.problem.out.numel, -1) @ along[x].flatten() for x, J in zip(names, whole))
    expected = sum(rows).reshape(j.problem.out.shape).numpy()
    shown = text_of(Data(j.a).w.line(j.formula))
    assert_equal(executed(shown, tensors_of(j.a) | symbols), expected, **CLOSE)


@pytest.mark.parametrize("example", FIRST)
def test_formulas_of_hessians_are_those_of_pytorch(example):
    """Of the sum of squares of the program, which is curved where the program is straight."""
    *before, last = example.text.rsplit("; ", 1)
    text = "; ".join([*before, f"(({last}) ** 2).sum()"])
    names, tensors, function = moving(example)
    if not names:
        return
    (found,) = gradcli.batch(
        [{"expr": text, "values": example.values, "wrt": names, "want": "hessian"}]
    )

    def square(*given):
        return (function(*given) ** 2).sum()

    theirs, refused = refusal(lambda: torch.autograd.functional.hessian(square, tuple(tensors)))
    if refused:
        return
    values = dict(zip(names, tensors, strict=True))
    given = {n: torch.tensor(v) for n, v in example.values.items()} | {"out": square(*tensors)}
    for key, block in found["hessian"].items():
        x, z = (key.split(",") * 2)[:2]
        if block["formula"] is not None:
            expected = theirs[names.index(x)][names.index(z)]
            expected = expected.reshape(values[x].numel(), values[z].numel()).numpy()
            assert_equal(executed(block["formula"], given), expected, **CLOSE)


@pytest.mark.parametrize(
    ("program", "shapes"),
    [
        ("y @ inv(K + s * eye(3)) @ y + logdet(K + s * eye(3))", {"K": (3, 3), "y": (3,)}),
        ("K = exp(-((x[:, None] - x) ** 2) / (2 * s**2)); y @ inv(K) @ y", {"x": (3,), "y": (3,)}),
        ("(x * s).sin().sum()", {"x": (4,)}),
    ],
)
def test_hessians_of_a_single_number_have_a_formula(program, shapes):
    request = {"expr": program, "shapes": shapes | {"s": ()}, "wrt": ["s"], "want": "hessian"}
    (found,) = gradcli.batch([request])
    draw = generator(program)
    given = {n: torch.tensor(draw.uniform(0.2, 0.9, size=shape)) for n, shape in shapes.items()}
    if "K" in given:
        given["K"] = given["K"] @ given["K"].T + torch.eye(3)

    def function(s):
        return run_torch(program, given | {"s": s})

    s = torch.tensor(0.7)
    expected = torch.autograd.functional.hessian(function, s).reshape(1, 1).numpy()
    values = given | {"s": s, "out": function(s)}
    if "K =" in program:
        values["K"] = torch.exp(-((given["x"][:, None] - given["x"]) ** 2) / (2 * s**2))
    shown = executed(found["hessian"]["s"]["formula"], values).reshape(1, 1)
    assert_equal(shown, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("text", ["softmax(x, 0)[0]", "x[0] ** 3 * (x @ x)"])
def test_hessians_of_single_elements_have_a_formula(text):
    (found,) = gradcli.batch([{"expr": text, "shapes": {"x": (4,)}, "want": "hessian"}])
    x = torch.tensor(generator(text).normal(size=4))
    expected = torch.autograd.functional.hessian(lambda x: run_torch(text, {"x": x}), x)
    shown = executed(found["hessian"]["x"]["formula"], {"x": x, "out": run_torch(text, {"x": x})})
    np.testing.assert_allclose(shown, expected, **CLOSE)


ASSUMED = [
    ("x @ A @ x", "x", "skew", "zeros_like(A)"),
    ("x @ A @ x", "x", "symmetric", "2 * A"),
    ("norm(A @ x) ** 2", "x", "skew", "-2 * A @ A"),
    ("norm(A @ x) ** 2", "x", "orthogonal", "2 * eye(x.shape[0])"),
    ("x @ A @ A @ x", "x", "diagonal", "2 * A @ A"),
    ("trace(X.T @ A @ X)", "X", "skew", "zeros(X.numel(), X.numel())"),
    ("logdet(A)", "A", "symmetric", None),
    ("logdet(A)", "A", "posdef", None),
    ("trace(inv(A))", "A", "orthogonal", None),
    ("(abs(a) * y ** 2).sum()", "y", "positive", "2 * a.diag()"),
    ("(sqrt(a ** 2) * y ** 2).sum()", "y", "positive", "diag(2 * a)"),
]


@pytest.mark.parametrize(("text", "name", "word", "formula"), ASSUMED)
def test_formulas_of_hessians_by_what_is_assumed(text, name, word, formula):
    draw = generator(text, word)
    drawn = {"A": (4, 4), "x": 4, "X": (4, 3), "a": 3, "y": 3}
    values = {n: draw.uniform(0.5, 2, s) for n, s in drawn.items() if re.search(rf"\b{n}\b", text)}
    which = "a" if word == "positive" else "A"
    values = {n: with_properties([word], v) if n == which else v for n, v in values.items()}
    shapes = {n: v.shape for n, v in values.items()}
    given = {"expr": text, "shapes": shapes, "wrt": name, "assume": {which: word}}
    (found,) = gradcli.batch([given | {"want": ["hessian"]}])
    shown = found["hessian"][name]["formula"]
    assert formula in (None, shown)
    tensors = {n: torch.tensor(v) for n, v in values.items()}
    hessian = torch.autograd.functional.hessian(
        lambda moved: run_torch(text, tensors | {name: moved}), tensors[name]
    )
    size = tensors[name].numel()
    np.testing.assert_allclose(
        executed(shown, tensors | {"out": run_torch(text, tensors)}),
        hessian.reshape(size, size),
        **CLOSE,
    )


@pytest.mark.parametrize(
    ("text", "shape", "place", "written"),
    [
        ("x / x.norm()", (3,), (1,), "(g[1] - out[1] (g @ out)) / x.norm()"),
        ("(x - x.mean()) / x.std()", (4,), (0,), None),
        ("(x - x.mean(0)) / x.std(0)", (3, 4), (1, 2), None),
        ("x.exp() / x.exp().trace()", (3, 3), (1, 1), None),
    ],
)
def test_elements_with_reductions_as_formulas(text, shape, place, written):
    values = {"x": generator(text).normal(size=shape)}
    w = writer_of(Request(text, shapes={"x": shape}).analysis())
    element = by_index.with_reductions(w, w.problem.wrt[0], place)
    assert written in (None, tree.text(element.right))
    seed = generator(text, "seed").normal(size=w.problem.out.shape)
    theirs = torch_answer(text, values, seed, set())
    arrays = values | {"g": seed, "out": theirs.out}
    shown = executed(element.plain, {n: torch.tensor(v) for n, v in arrays.items()})
    np.testing.assert_allclose(shown, theirs.grads["x"][place], **CLOSE)
