"""`gradcli check --against`: PyTorch and JAX, asked the same."""

import sys
from importlib import metadata

import numpy as np
import pytest
from console import gradcli
from support import run_torch

import gradcli as api
import gradcli.frameworks as frameworks
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.checks import run_checks
from gradcli.language.posing import pose

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
jax = pytest.importorskip("jax", reason="JAX is the oracle of these tests")
pytestmark = pytest.mark.oracle

AGREEING = [
    "softmax(x @ w, -1)",
    "relu(x @ w).sum(0)",
    "(x.T @ x) / (1 + exp(-x[0]))",
    "layer_norm(x, (3,))",
    "where(x > 0, x * x, tanh(x)).mean(dim=1)",
    "cross_entropy(x, tensor([2, 0]))",
    "logsumexp(x, 1) * x.norm()",
    "conv1d(x, tensor([[[1.0, -1.0], [0.5, 2.0]]]), padding=1)",
    "cat((x[:, [0, 0]], x.gather(1, tensor([[1], [2]]))), 1).clamp(min=0)",
    "; ".join(["h = x", *["h = tanh(h) * x + h / 2"] * 40]),  # written out, h stands 2 ** 40 times
]


@pytest.mark.parametrize("text", AGREEING)
@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_agreement(text, framework):
    problem = pose(text, shapes={"x": (2, 3)})
    check = run_checks(Analysis(problem, against=[framework]))[-1]
    assert check.name == frameworks.version(framework)
    assert check.ok is True, check.remark
    assert check.max_error < 1e-12


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("F.linear(x, w)", {"x": (1, 1), "w": (2, 1)}),
        ("torch.mv(x, w)", {"x": (1, 1), "w": (1,)}),
        ("F.conv1d(x, w)", {"x": (1, 1, 1), "w": (1, 1, 1)}),
        ("F.rms_norm(x, (1,), w)", {"x": (1, 1), "w": (1,)}),
        ("F.pad(x * w, (1, 1), value=1.0)", {"x": (1,), "w": (1,)}),
    ],
)
def test_a_factor_of_one_or_zero_is_no_element_taken(text, shapes, value):
    values = {name: np.full(shape, value) for name, shape in shapes.items()}
    check = run_checks(Analysis(pose(text, values=values), against=["jax"]))[-1]
    assert check.ok is True, check.remark


def test_a_wrong_answer_is_found(monkeypatch):
    """Where PyTorch's answer is another one, the exit status is 1, and the element is named."""
    right = frameworks.answer

    def wrong(*args):
        found = right(*args)
        (grad,) = found.grads.values()
        grad[1] += 1e-6
        return found

    monkeypatch.setattr(frameworks, "answer", wrong)
    result = gradcli("check", "x * x", "-v", "x=[1.,2.]", "-g", "[1,1]", "--against", "torch")
    assert result.status == 1
    assert "✗ disagrees" in result.out
    assert "x.grad[1]: 4 here, 4.00000" in " ".join(result.out.split())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("torch.vander(x).sum()", [1.0, 2.0, 3.0]),
        ("linalg.cond(x, 1)", [[1.0, 2.0], [3.0, 5.0]]),
        ("linalg.cond(x, 'fro')", [[1.0, 2.0], [3.0, 5.0]]),
        ("zeros(2, 2).scatter_add(0, tensor([[0]]), x).sum()", [[1.0, 2.0], [3.0, 5.0]]),
        ("ones(3).scatter_reduce(0, tensor([0, 1]), x, 'prod').sum()", [1.0, 2.0, 3.0]),
        ("x.scatter_reduce(0, tensor([0, 1]), ones(3), 'amax').sum()", [1.0, 2.0, 3.0]),
        ("(7 % x).sum()", [1.5, 2.0]),
        ("torch.remainder(5, x).sum()", [1.5, 2.0]),
        ("clamp(x, torch.zeros(1), torch.ones(2)).sum()", [0.5]),
        ("clamp(torch.zeros(1), torch.ones(2), x).sum()", [0.5]),
    ],
)
def test_where_pytorch_raises_it_is_said(text, value):
    x = torch.tensor(value, requires_grad=True)
    with pytest.raises(RuntimeError):
        run_torch(text, {"x": x}).backward()
    analysis = Analysis(pose(text, values={"x": np.array(value)}), against=["torch"])
    check = run_checks(analysis)[-1]
    assert (check.ok, check.remark[:13]) == (None, "not compared:")
    said = gradcli("explain", text, "-v", f"x={value}", "--full").out
    assert "not-in-pytorch" in said
    assert "no backward()" in said


def test_every_way_says_what_pytorch_has_no_derivative_of():
    text, values = "torch.remainder(7., x)", {"x": [2.0]}
    said = "PyTorch has no derivative with respect to the b of remainder: it raises an error."
    for command in (("grad", "-g", "[1.]"), ("jacobian",)):
        assert gradcli(command[0], text, "-v", "x=[2.]", *command[1:]).err == f"note: {said}\n"
    for call in (api.grad, api.jacobian, api.jvp):
        more = {api.grad: {"grad": [1.0]}, api.jvp: {"tangents": values}}.get(call, {})
        with pytest.warns(UserWarning, match=said):
            call(text, values=values, **more)
    asked = {"expr": text, "values": values, "grad": [1.0]}
    for answer in api.batch([asked, asked | {"want": ["jacobian", "formula"]}]):
        assert answer["notes"] == [{"code": "not-in-pytorch", "message": said}]


def test_other_conventions_are_named_and_no_disagreement():
    result = gradcli("check", "abs(x)", "-v", "x=[0.,2.]", "-g", "[1,1]", "--against", "torch,jax")
    assert result.status == 0
    assert "PyTorch 2.13.0         ✓    exact; equal in every bit" in result.out
    assert float(jax.grad(abs)(0.0)) == 1.0  # what JAX answers where PyTorch takes 0
    said = " ".join(result.out.split())
    assert "differs at x.grad[0]: 0 here, 1 there, where the derivative is a convention" in said


def test_what_a_framework_cannot_say_is_not_compared():
    problem = pose("linalg.lu(x).L", shapes={"x": (2, 2)})
    check = run_checks(Analysis(problem, against=["jax"]))[-1]
    assert check.ok is None
    assert check.remark.startswith("not compared: JAX has no function for")


def test_unknown_and_missing_frameworks(monkeypatch):
    result = gradcli("check", "x * x", "--against", "torhc")
    assert result.status == 2
    assert "did you mean torch?" in result.err
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(metadata, "version", _not_there)
    result = gradcli("check", "x * x", "--against", "torch")
    assert result.status == 2
    assert "PyTorch is not installed here" in result.err


def _not_there(name):
    raise metadata.PackageNotFoundError(name)


ONE_TRIANGLE = [
    "linalg.eigh(x).eigenvectors",
    "linalg.eigh(x, 'U').eigenvectors ** 2",
    "linalg.eigvalsh(x)",
    "cholesky(x)",
    "eigh(x).eigenvalues @ x",
]


@pytest.mark.parametrize("text", ONE_TRIANGLE)
def test_a_matrix_that_stays_symmetric_is_moved_so(text):
    values = {"x": [[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]}
    checks = run_checks(Analysis(pose(text, values=values), against=["torch"]))
    assert "x kept symmetric" in checks[1].remark
    assert [c.ok for c in checks] == [True, True, True]
