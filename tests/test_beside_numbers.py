"""Formulas beside numbers that are others: a note says where, why, and which are right."""

import json

import numpy as np
import pytest
from console import gradcli
from support import run_torch

import gradcli as package
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.derivation.derivation import Derivation
from gradcli.explanation.formulas.formula_writer import writer_of
from gradcli.explanation.short.gradients import Gradients
from gradcli.language.posing import pose

BCE = "binary_cross_entropy(sigmoid(x)"
# program, x, the place, the formula's number there by arithmetic, the operation and what it does
LOST = [
    (f"{BCE}, zeros(2))", [100.0, -1.0], "[0]", "0.5", "sigmoid(x) rounds to 1"),
    (f"{BCE}, ones(2))", [-800.0, -1.0], "[0]", "-0.5", "sigmoid(x) rounds to 0"),
    ("log(sigmoid(x)).sum()", [-1000.0, 1.0], "[0]", "1", "sigmoid(x) rounds to 0"),
    ("(-log(1 - sigmoid(x))).sum()", [100.0, 1.0], "[0]", "1", "sigmoid(x) rounds to 1"),
    ("log(softmax(x, 0))[0]", [0.0, 1000.0], "[0]", "1", "softmax(x, 0) rounds to 0"),
    ("log(1 + exp(x)).sum()", [1000.0, 0.0], "[0]", "1", "exp(x) is infinite"),
    ("log(exp(x).sum())", [1000.0, 1000.0], "[0]", "0.5", "exp(x) is infinite"),
    ("log(exp(x).sum())", [-1000.0, -1000.0], "[0]", "0.5", "exp(x) rounds to 0"),
    ("atanh(tanh(x)).sum()", [30.0, 1.0], "[0]", "1", "tanh(x) rounds to 1"),
    ("where(x > 0, log(x), x).sum()", [0.0, 1.0], "[0]", "1", "log(x) is infinite"),
    ("(x / x).sum()", [0.0, 1.0], "[0]", "0", "x / x has no value"),
    ("(x**3 / x**2).sum()", [0.0, 1.0], "[0]", "1", "·/· has no value"),
]  # fmt: skip


def told(text, x):
    notes = package.explain(text, values={"x": np.array(x)}).notes
    return [note["message"] for note in notes if note["code"] == "formula-differs"]


@pytest.mark.parametrize(("text", "x", "place", "number", "does"), LOST)
def test_what_operations_lose_the_formula_has(text, x, place, number, does):
    message, *others = told(text, x)
    assert message.startswith(f"the formula of x.grad gives {number} for x.grad{place}, where")
    assert f"{does} at [0]".replace(" ", "") in message.replace(" ", "")
    assert message.endswith(": compute it instead.")
    assert all("Jacobian" in other for other in others)


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("sqrt(x).sum()", [0.0, 1.0]),  # infinite in both
        ("sqrt(x * x).sum()", [0.0, 1.0]),  # nan in both
        ("norm(x) ** 2", [0.0, 0.0]),
        ("norm(x)", [0.0, 0.0]),
        ("x.norm(dim=1).sum()", [[0.0, 0.0], [1.0, 2.0]]),
        ("relu(x).sum()", [0.0, 1.0]),
        ("abs(x).sum()", [0.0, 1.0]),
        ("x.max()", [1.0, 1.0]),
        ("x.prod()", [0.0, 1.0, 2.0]),
        ("x.prod()", [0.0, 0.0, 2.0]),
        ("var(x)", [1.0, 1.0]),
        ("std(x)", [1.0, 1.0]),
        ("(x ** 0).sum()", [0.0, 1.0]),
        ("det(x)", [[1.0, 2.0], [2.0, 4.0]]),
        ("sigmoid(x).sum()", [100.0, -800.0]),
        ("tanh(x).sum()", [100.0, -20.0]),
        ("softmax(x, 0).sum()", [0.3, 0.1]),
        ("log(1 + exp(x)).sum()", [-1000.0, 0.0]),
        ("softplus(x).sum()", [1000.0, -1000.0]),
        ("logsumexp(x, 0)", [1000.0, 0.0]),
        ("((1 - cos(x)) / x**2).sum()", [1e-8, 1.0]),  # rounding, in both
        ("logdet(x)", [[2.0, 1.0], [1.0, 3.0]]),
        ("xlogy(x, x).sum()", [0.0, 1.0]),
    ],
)
def test_nothing_is_said_where_a_convention_or_the_formula_itself_has_the_number(text, x):
    assert told(text, x) == []


def test_a_logarithm_of_a_negative_determinant_is_nan():
    message, _ = told("logdet(x)", [[1.0, 2.0], [3.0, 1.0]])
    assert "gives -0.2 for x.grad[0,0], where the rules give 0" in message  # inv(x).T by hand
    assert "PyTorch computes nan for logdet(x)" in message
    shown = package.explain("logdet(x)", values={"x": [[1.0, 2.0], [3.0, 1.0]]}).to("plain")
    assert "x.grad[0,0] = inv(x)[0,0]\n" in shown  # and not = -0.2 = 0


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("logdet(x @ x.T)", [[1.0, 2.0], [3.0, 6.0], [2.0, 1.0]]),  # of rank 2, and 3x3
        ("slogdet(x @ x.T)[1]", [[1.0, 2.0], [3.0, 6.0], [2.0, 1.0]]),
        ("log(det(x @ x.T))", [[1.0, 2.0], [3.0, 6.0], [2.0, 1.0]]),
        ("log(det(x @ x.T))", [[0.0, 0.0], [0.0, 0.0]]),
    ],
)
def test_a_formula_of_a_singular_matrix_is_not_called_right(text, x):
    """The output is -inf; the gradient of PyTorch is nan."""
    messages = told(text, x)
    assert messages
    for message in messages:
        assert "PyTorch computes an infinity for " in message
        assert "is right" not in message


def test_an_element_whose_shorter_form_inverts_a_singular_matrix_is_written_in_the_longer():
    shown = package.explain("logdet(x @ x.T)", values={"x": [[1.0, 2.0], [2.0, 4.0]]})
    assert "[[nan, nan], [nan, nan]]" in shown.to("plain")  # as PyTorch's


SATURATED = ["-v", "x=[100.0, -1.0]", "-v", "y=[0.0, 0.0]", "-w", "x"]


@pytest.mark.parametrize(
    ("command", "program", "said"),
    [
        ("explain", "binary_cross_entropy(sigmoid(x), y)", "gives 0.5 for x.grad[0]"),
        ("formula", "binary_cross_entropy(sigmoid(x), y)", "gives 0.5 for x.grad[0]"),
        ("jacobian", "binary_cross_entropy(sigmoid(x), y, reduction='none')", "for entry [0,0]"),
        ("hessian", "binary_cross_entropy(sigmoid(x), y)", "gives 0.5 for x.grad[0]"),
        ("jvp", "binary_cross_entropy(sigmoid(x), y)", "gives 0.63447 for out.tangent"),
        ("jvp", "binary_cross_entropy(sigmoid(x), y)", "for entry [0,0]"),
    ],
)
def test_every_command_says_it(command, program, said):
    done = gradcli(command, program, *SATURATED)
    assert said in " ".join((done.out + done.err).split())


def codes(command, program, *more):
    answer = json.loads(gradcli(command, program, *more, "-f", "json").out)
    return {n["message"].split(" gives ")[0]: n["message"] for n in answer["notes"]}


@pytest.mark.parametrize(("tangent", "number"), [("[1.0, 2.0]", "0.76894"), (None, "0.63447")])
def test_a_tangent(tangent, number):
    """J is (0, 0.13447) by the rules and (0.5, 0.13447) by the formula."""
    given = ["--tangent", f"x={tangent}"] if tangent else []
    said = codes("jvp", f"{BCE}, y)", *SATURATED, *given)["the formula of out.tangent"]
    assert f"gives {number} for out.tangent, where the rules give" in said
    assert ("with tangents of ones" in said) == (tangent is None)
    assert "sigmoid(x) rounds to 1 at [0]" in said


@pytest.mark.parametrize(
    ("command", "program", "shown"),
    [
        ("jacobian", "log(1 + exp(x))", "diag(sigmoid(x))"),
        ("jvp", "log(1 + exp(x))", "diag(sigmoid(x))"),
        ("hessian", "log(1 + exp(x)).sum()", "diag(sigmoid(x) * sigmoid(-x))"),
    ],
)
def test_a_closed_form_whose_zeros_are_nan_stands_beside_its_note(command, program, shown):
    """0 times infinity is nan, in PyTorch too."""
    out = " ".join(gradcli(command, program, "-v", "x=[1000.0, 1.0]").out.split())
    before, note, _ = out.partition("The formula of the Jacobian of")
    assert note
    assert f"{shown} no special structure: 3 of its 4 entries are not zero" in before


def test_a_hessian_times_a_tangent():
    """The second derivative of x**3 / x is 2, and nan at 0 by the rules."""
    given = ["-v", "x=[0.0, 1.0]", "--tangent", "x=[1.0, 2.0]"]
    assert (
        "gives 2 for x.hvp[0]"
        in codes("hessian", "(x**3 / x).sum()", *given)["the formula of x.hvp"]
    )


def test_a_line_by_index_beside_a_matrix():
    """Without a closed form the line by index is what stands beside the numbers."""
    shown = gradcli("hessian", "(x**3 / x).sum()", "-v", "x=[0.0, 1.0]").out
    assert "δ[i,j]" in shown
    assert "gives 2 for entry [0,0], where the rules give nan" in " ".join(shown.split())


DERIVED = (
    "h = relu(x @ W); z = h @ V; loss = binary_cross_entropy(sigmoid(z), y); "
    "out = loss * loss + (h * h).sum() + loss.sin()"
)


@pytest.mark.parametrize("x", [100.0, 1.0])
def test_gradients_derived_by_statements(x):
    """z.grad = out.grad * (sigmoid(z) - y) / 2 is not 0 where sigmoid(z) rounds to 1."""
    given = [f"x=[[{x}, 1.0]]", "W=[[1.0, 0.0], [0.0, 1.0]]", "V=[[1.0, 0.0], [0.0, 1.0]]"]
    options = [word for text in (*given, "y=[[0.0, 1.0]]") for word in ("-v", text)]
    shown = gradcli(DERIVED, *options).out
    assert "Backward" in shown
    assert ("sigmoid(z) rounds to 1 at [0,0]" in " ".join(shown.split())) == (x == 100.0)


READ = """import torch
import torch.nn.functional as F
x = torch.tensor([100.0, -1.0], requires_grad=True)
loss = F.binary_cross_entropy(torch.sigmoid(x), torch.zeros(2))
loss.backward()
"""


def test_programs_that_are_read(tmp_path):
    (tmp_path / "program.py").write_text(READ)
    said = " ".join(gradcli("read", str(tmp_path / "program.py")).out.split())
    assert "The formula of x.grad gives 0.5 for x.grad[0], where the rules give 0" in said
    (tmp_path / "program.py").write_text(READ.replace("100.0", "3.0"))
    assert "where the rules give" not in gradcli("read", str(tmp_path / "program.py")).out


def test_what_float32_rounds_is_not_said_to_be_changed(tmp_path):
    """log(1 - tanh(20)) is -inf in float32 and finite in float64."""
    program = READ.replace(
        "F.binary_cross_entropy(torch.sigmoid(x), torch.zeros(2))",
        "torch.log(1 - torch.tanh(x / 6)).sum()",
    )
    (tmp_path / "program.py").write_text(program)
    said = " ".join(gradcli("read", str(tmp_path / "program.py")).out.split())
    assert "float32 results differ" in said


def test_a_hessian_of_other_numbers_than_its_formula():
    """The second derivative of x**3 / x is 2 everywhere else."""
    done = gradcli("hessian", "(x**3 / x).sum()", "-v", "x=[0.0, 1.0]", "-f", "json")
    answer = json.loads(done.out)
    formula, matrix = answer["hessian"]["x"]["formula"], answer["hessian"]["x"]["matrix"]
    messages = [n["message"] for n in answer["notes"] if n["code"] == "formula-differs"]
    assert matrix[0][0] == "nan"
    assert formula is None or any("x.grad with respect to x" in m for m in messages)


@pytest.mark.parametrize(
    ("text", "x"),
    [("sqrt(x)", [0.0, 1.0]), ("where(x > 0, sqrt(x), x)", [0.0, 4.0]), ("x ** 0.5", [0.0, 1.0])],
)
def test_slopes_that_are_infinite(text, x):
    """The operation that sends them back is named, where the formula has a number."""
    messages = told(f"({text}).sum()", x)
    assert all("has no finite slope at [0]" in m for m in messages)
    assert bool(messages) == text.startswith("where")


@pytest.mark.oracle
@pytest.mark.parametrize("case", LOST, ids=lambda case: case[0])
def test_pytorch_computes_what_the_rules_do(case, double_precision):
    text, values = case[:2]
    x = double_precision.tensor(values, requires_grad=True)
    run_torch(text, {"x": x}).backward()
    ours = package.grad(text, values={"x": np.array(values)})
    np.testing.assert_allclose(ours, x.grad.numpy(), rtol=1e-12)


def test_formulas_are_compared_where_nobody_gave_a_seed():
    """PyTorch's gradient with ones is nan at x[0], where the formula has -1."""
    found = package.explain("log(1 - sigmoid(x))", values={"x": [50.0, 1.0]})
    said, _ = [n["message"] for n in found.notes if n["code"] == "formula-differs"]
    assert "gives -1 for x.grad[0], where the rules give nan, with a seed of ones" in said
    found = package.explain("log(1 - sigmoid(x))", values={"x": [5.0, 1.0]})
    assert "formula-differs" not in [n["code"] for n in found.notes]


@pytest.mark.parametrize("values", [{}, {"x": np.ones((2, 3)), "W": np.eye(3)}], ids=["no", "all"])
def test_formulas_of_steps_are_searched_for_where_there_are_numbers(values, monkeypatch):
    steps = [f"h{k} = tanh(h{k - 1})" for k in range(1, 100)]
    program = "; ".join(["h0 = x @ W", *steps, "h99.sum()"])
    a = Analysis(pose(program, shapes={"x": (2, 3), "W": (3, 3)}, values=values))
    grads, asked = Gradients(a, writer_of(a)), []
    assert grads.derivation is not None
    sent = Derivation.sent
    monkeypatch.setattr(Derivation, "sent", lambda d, s: asked.append(s) or sent(d, s))
    found = [*grads.beside_numbers()]
    assert bool(found) is bool(asked) is bool(values)
