"""Formulas hold for every size, and where one does not, that is said."""

import json
import math
import re
import warnings

import numpy as np
import pytest
from console import gradcli as run
from support import run_torch

import gradcli
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.formulas.formula_writer import FormulaWriter
from gradcli.explanation.formulas.other_sizes import at_original_sizes
from gradcli.explanation.notes import formulas
from gradcli.language.arguments.assumptions import read_assumptions
from gradcli.language.inference.stand_ins import Sizes
from gradcli.language.posing import pose

COMPUTED = [  # program, shapes, formula: by hand
    ("((x - x.mean())**2).sum() / (x.shape[0] - 1)", "x=5", "2 * (x - x.mean()) / (x.numel() - 1)"),
    ("X.T @ X / (X.shape[0] - 1)", "X=3x4", "X @ (g + g.T) / (X.shape[0] - 1)"),
    ("n = X.shape[0]; X.T @ X / (n - 1)", "X=3x4", "X @ (g + g.T) / (X.shape[0] - 1)"),
    ("x ** x.shape[0]", "x=3", "x.numel() * g * x ** (x.numel() - 1)"),
    ("x * x.shape[0] ** 2", "x=3", "g * x.numel() ** 2"),
    ("x * len(x)", "x=3", "x.numel() * g"),
    ("x / (1 - x.size(0))", "x=3", "g / (1 - x.numel())"),
    ("x * -x.shape[0]", "x=3", "-x.numel() * g"),
    ("x * arange(1, x.shape[0] + 1)", "x=3", "g * arange(1, x.numel() + 1)"),
    ("x[x.shape[0] // 2]", "x=5", "eye(x.shape[0])[x.numel() // 2]"),
    ("q @ k.T / q.shape[-1] ** 0.5", "q=3x5,k=4x5", "g @ k / q.shape[1] ** 0.5"),
    ("x.var(0) * (len(x) - 1) / len(x)", "x=3x4", "2 * g * (x - x.mean(dim=0)) / x.shape[0]"),
    ("x.flatten() @ w", "x=3x4,w=12", "w.reshape(x.shape)"),
    ("pad(x, (1, 0))[:, :-1]", "x=3x4", "pad(g, (0, 1))[:, 1:]"),
    ("conv2d(x, w).sum()", "x=2x3x5x6,w=4x3x2x2", "conv_transpose2d(ones_like(conv2d(x, w)), w)"),
    ("x * y[:x.shape[0]]", "x=3x4,y=3x4", "g * y[:x.shape[0]]"),
    ("y * x[:y.shape[0]]", "y=3x4,x=3x4", "g * x[:y.shape[0]]"),
    ("y * x[-y.shape[0]:]", "x=3x4,y=3x4", "eye(x.shape[0])[-y.shape[0]:].T @ (g * y)"),
    (
        "b * a[:b.shape[0]] * c[:b.shape[0]]",
        "a=3x4,b=3x4,c=3x4",
        "zeros_like(a).slice_scatter(g * c[:b.shape[0]] * b, end=b.shape[0])",
    ),
    ("cross_entropy(x, softmax(y, 1))", "x=3x3,y=3x3",
        "(softmax(x, dim=1) - softmax(y, dim=1)) / x.shape[0]"),
    ("pad(x, (1, 0), mode='circular')", "x=2x6", "g[:, 1:] + g[:, :1] @ eye(x.shape[1])[-1:]"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "shapes", "expected"), COMPUTED)
def test_what_a_program_computes_with_sizes(program, shapes, expected):
    given = _shapes(shapes)
    found = gradcli.formula(program, shapes=given, wrt=[next(iter(given))])
    assert found == expected


def _shapes(text):
    pairs = (item.split("=") for item in text.split(","))
    return {name: tuple(map(int, shape.split("x"))) for name, shape in pairs}


ANY = [("cov(X)", {"X": (3, 5)}), ("corrcoef(X)", {"X": (3, 5)}), ("quantile(x, 0.3)", {"x": (5,)})]


@pytest.mark.oracle
@pytest.mark.parametrize(("program", "shapes"), ANY)
def test_operators_that_compute_with_sizes(program, shapes):
    """The formula found at some sizes has the gradient of PyTorch at others."""
    torch = pytest.importorskip("torch")
    ((name, shape),) = shapes.items()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*at other sizes above 1")
        written = gradcli.formula(program, shapes=shapes)
    x = np.random.default_rng(0).normal(size=tuple(n + 2 for n in shape))
    t = torch.tensor(x, requires_grad=True)
    out = getattr(torch, program.partition("(")[0])(t, *([0.3] if "0.3" in program else []))
    g = np.random.default_rng(1).normal(size=tuple(out.shape)) if out.ndim else np.array(1.0)
    out.backward(torch.tensor(g))
    values = {name: x, "g": g}
    *steps, last = written.split("; ")
    whole = "; ".join([f"out = {program}", *steps, f"{last} + 0 * (g.sum() + out.sum())"])
    found = gradcli.explain(whole, values=values).output["value"]
    np.testing.assert_allclose(found, t.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_sizes_of_1_are_those_of_the_tensor_that_has_them():
    written = gradcli.formula(
        "x.sum() / x.shape[0] + y.sum() / y.shape[0]", shapes={"x": (1,), "y": (1,)}
    )
    assert written == {"x": "ones_like(x) / x.numel()", "y": "ones_like(y) / y.numel()"}


EVERYWHERE = [
    ("group_norm(x, 2)", {"x": (2, 4, 3, 5)}, {"x": (3, 6, 4, 2)}),
    ("group_norm(x, 2)", {"x": (1, 4, 7)}, {"x": (3, 6, 4)}),
    ("(x**2).sum() / 2 - x.shape[0] / 2 * x.sum()", {"x": (1, 3)}, {"x": (4, 5)}),
    ("glu(x)", {"x": (3, 4)}, {"x": (2, 10)}),
    ("pixel_shuffle(x, 2)", {"x": (1, 4, 3, 2)}, {"x": (1, 8, 2, 5)}),
    ("channel_shuffle(x, 2)", {"x": (2, 4, 3, 2)}, {"x": (3, 6, 2, 5)}),
    ("x.repeat_interleave(2)", {"x": (3, 2)}, {"x": (4, 5)}),
    ("x.repeat_interleave(3, dim=1)", {"x": (3, 2)}, {"x": (4, 5)}),
    ("avg_pool2d(x, 2)", {"x": (1, 1, 4, 4)}, {"x": (2, 3, 4, 6)}),
    ("x.logsumexp(1)", {"x": (3, 1)}, {"x": (3, 4)}),
    ("linalg.svdvals(x)[0]", {"x": (4, 3)}, {"x": (2, 5)}),
    ("x.reshape(2, -1).T.flatten()", {"x": (12,)}, {"x": (10,)}),
    ("x.reshape(5, -1).T.flatten()", {"x": (4, 5)}, {"x": (3, 10)}),
    ("conv2d(x, 1 - eye(3)[None, None]).mean((2, 3))", {"x": (2, 1, 5, 6)}, {"x": (3, 1, 7, 4)}),
    ("relu(conv1d(x, ones(2, 3, 2))).mean(2)", {"x": (2, 3, 5)}, {"x": (4, 3, 7)}),
    ("x @ x.T / x.shape[1] ** 0.5", {"x": (4, 3)}, {"x": (2, 5)}),
    ("x @ x.T / math.sqrt(x.shape[1])", {"x": (4, 3)}, {"x": (2, 5)}),
    ("x * torch.log(torch.tensor(x.shape[1]))", {"x": (4, 3)}, {"x": (2, 5)}),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("program", "here", "there"), EVERYWHERE, ids=[e[0] for e in EVERYWHERE])
def test_formulas_are_python_at_other_sizes(program, here, there, double_precision):
    """As they stand, under PyTorch's names, with what autograd finds there."""
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = gradcli.formula(program, shapes=here)
    torch.manual_seed(0)
    x = torch.randn(there["x"], requires_grad=True)
    out = run_torch(program, {"x": x, "torch": torch, "math": math})
    g = torch.randn_like(out) if out.ndim else torch.tensor(1.0)
    (expected,) = torch.autograd.grad(out, x, g)
    found = run_torch(written.replace("; ", "\n"), {"x": x, "g": g, "out": out})
    torch.testing.assert_close(found, expected)


LABELS = "a = tensor([0, 2]); "
STEPS = [  # program, shapes, input; what is sent on the way to it, by hand
    ("(X @ w).mean()", "X=3x3,w=3", "w", [
        "to X @ w    r2 = (g / X.shape[0]).expand(X.shape[0])",
        "to w        X.T @ r2",
    ]),
    ("mse_loss(relu(X @ W), Y)", "X=3x4,W=4x4,Y=3x4", "W", ["* (relu(X @ W) - Y) / Y.numel()"]),
    ("((X @ W - Y) ** 2).mean()", "X=4x4,W=4x4,Y=4x4", "W", [
        "to (·) ** 2    r2 = (g / Y.numel()).expand_as(Y)",
    ]),
    ("cross_entropy(X @ W, tensor([0, 2]))", "X=2x3,W=3x4", "W", [
        "g * (softmax(X @ W, dim=1) - eye(W.shape[1])[tensor([0, 2])]) / X.shape[0]",
        "X.T @ r",
    ]),
    (LABELS + "nll_loss(log_softmax(X @ W, 1), a)", "X=2x3,W=3x4", "W", ["* r2.sum(dim=1, keep"]),
    ("x.flatten() @ w", "x=2x2,w=4", "x", ["r2.reshape(x.shape)"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "shapes", "x", "expected"), STEPS)
def test_steps_name_the_sizes_that_they_mean(program, shapes, x, expected):
    """And they say what is sent in terms of what is received."""
    found = run("explain", program, "-s", shapes, "-w", x, "--show", "backward", "--width", "120")
    assert [line for line in expected if line not in found.out] == []


def test_steps_with_labels():
    """The gradient of cross_entropy is in its own step alone, the labels a name in it."""
    shapes, labels = {"X": (2, 3), "W": (3, 4)}, {"t": np.array([0, 2])}
    found = gradcli.explain("cross_entropy(X @ W, t)", shapes=shapes, values=labels, wrt="W")
    sent = "g * (softmax(X @ W, dim=1) - one_hot(t, W.shape[1])) / t.numel()"
    assert [step["rule"] for step in found.steps] == [sent, "X.T @ g"]


def test_sizes_of_a_step_without_a_name():
    """Shapes that nobody gave, with kernels that leave little of an image."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = gradcli.formula("relu(conv2d(x, w)).mean((2, 3))", wrt="x")
    inside = "g.unsqueeze(2).unsqueeze(3) * (t > 0) / (t.shape[2] * t.shape[3])"
    assert written == f"t = conv2d(x, w); conv_transpose2d({inside}, w)"


def test_labels_may_be_more():
    """An embedding summed by hand: each row receives g as often as i names it."""
    given = {"shapes": {"W": (5, 3)}, "values": {"i": [0, 1, 3]}, "wrt": "W"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = gradcli.formula("W[i].sum(0)", **given)
    assert written == "outer(eye(W.shape[0])[i].sum(dim=0), g)"


TANGENTS = [  # program, shapes, what moves; the tangent's formula, by hand
    ("logdet(X) / X.shape[0]", "X=5x5", "X", "(inv(X) @ t).trace() / X.shape[0]"),
    ("x / x.shape[0]", "x=4", "x", "t / x.numel()"),
    ("trace(X.T @ X)", "X=2x3", "X", "(X.T @ t + t.T @ X).trace()"),
    ("trace(X)", "X=3x3", "X", "t.trace()"),
    ("(X @ X.T).mean()", "X=3x3", "X", "(X @ t.T + t @ X.T).mean()"),
    ("x.var()", "x=5", "x", "2 * (t @ (x - x.mean())) / (x.numel() - 1)"),
]


@pytest.mark.parametrize(("program", "shapes", "x", "expected"), TANGENTS)
def test_tangents_hold_for_any_size(program, shapes, x, expected):
    found = run("jvp", program, "-s", shapes, "--tangent", x, "-f", "json").json
    assert found["jvp"]["formula"] == expected
    assert "these-sizes" not in [note["code"] for note in found["notes"]]


def test_a_size_of_1_that_is_broadcast_stays_in_steps_and_tangents():
    args = ("x.expand(2, -1)", "-s", "x=1x3", "-f", "json")
    (step,) = run("explain", *args).json["steps"]
    assert step["rule"] == "g.sum(dim=0, keepdim=True)"
    assert run("jvp", *args).json["jvp"]["formula"] == "t.expand_as(out)"


def test_tangents_have_no_size_at_which_they_were_derived():
    """The channels of x padded by one are 4, which is a size of nothing with a name."""
    found = run("jvp", "local_response_norm(x, 2, alpha=1.0)", "-s", "x=1x3x2", "-f", "json").json
    numbers = map(int, re.findall(r"(?<![\w.])\d+(?![\w.])", found["jvp"]["formula"]))
    assert max(numbers) < 10
    assert "these-sizes" in [note["code"] for note in found["notes"]]


def test_a_pass_forward_holds_for_any_size():
    found = run("explain", "X @ w / w.shape[0]", "-s", "X=4x4,w=4", "-w", "w", "--show", "modes")
    assert "X @ t / w.numel()" in found.out


MOVED = [
    ("logdet(eye(X.shape[1]) + X.T @ X)", "X=2x3", "X"),
    ("trace(X.T @ inv(A) @ X)", "X=2x3,A=2x2", "X"),
    ("C = A.T @ B / A.shape[0]; ((C - eye(A.shape[1])) ** 2).sum()", "A=5x3,B=5x3", "A"),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("program", "shapes", "x"), MOVED)
def test_tangents_are_pytorchs_at_other_sizes(program, shapes, x):
    """The formula found at some sizes has the value of PyTorch's at others."""
    torch = pytest.importorskip("torch")
    written = run("jvp", program, "-s", shapes, "--tangent", x, "-f", "json").json["jvp"]["formula"]
    draw = np.random.default_rng(0)
    larger = {n: tuple(k + 2 for k in shape) for n, shape in _shapes(shapes).items()}
    values = {n: torch.tensor(draw.normal(size=shape)) for n, shape in larger.items()}
    t = torch.tensor(draw.normal(size=larger[x]))
    x_moves = lambda moved: run_torch(program, values | {x: moved})  # noqa: E731
    _, expected = torch.func.jvp(x_moves, (values[x],), (t,))
    known = values | {"t": t}
    if program.startswith("C = "):
        known["C"] = run_torch(program.partition(";")[0].removeprefix("C = "), values)
    torch.testing.assert_close(run_torch(written, known), expected)


def test_a_tangent_for_one_size_says_so():
    found = run("jvp", "pdist(x)", "-s", "x=4x3", "-f", "json").json
    said = SAID.replace("x.grad", "out.tangent")
    assert {"code": "these-sizes", "message": said} in found["notes"]


SAID = "the formula of x.grad is right for x of shape (4, 3); at some other sizes it is not."


def test_a_formula_for_some_counts_alone_says_so():
    with pytest.warns(UserWarning, match=r"right for x of shape \(3,\) and t as given; "):
        gradcli.formula("x.repeat_interleave(t)", shapes={"x": (3,)}, values={"t": [1, 2, 1]})


def test_a_named_choice_among_values_has_a_formula():
    """The nearest rows of a codebook: their gradient is 2 * (e - z), added up by row."""
    values = {"z": [[1.0, -2.0], [3.0, 0.5], [-1.0, 2.0]], "E": [[1.0, -1.0], [2.0, 1.0]]}
    text = "i = cdist(z, E).argmin(1); e = E[i]; ((e - z)**2).sum()"
    found = gradcli.formula(text, values=values, wrt="E")
    assert found == "zeros_like(E).index_add(0, i, 2 * (e - z))"


@pytest.mark.sweep
def test_a_formula_for_one_size_says_so():
    found = run("formula", "pdist(x)", "-s", "x=4x3")
    assert (found.status, found.err) == (0, f"note: {SAID}\n")
    with pytest.warns(UserWarning, match="at some other sizes it is not"):
        gradcli.formula("pdist(x)", shapes={"x": (4, 3)})
    notes = gradcli.explain("pdist(x)", shapes={"x": (4, 3)}).notes
    assert {"code": "these-sizes", "message": SAID} in notes
    request = {"expr": "pdist(x)", "shapes": {"x": [4, 3]}, "want": ["formula"]}
    line = run("batch", "-", stdin=json.dumps(request) + "\n").out
    assert json.loads(line)["notes"] == [{"code": "these-sizes", "message": SAID}]


@pytest.mark.parametrize(("program", "shapes", "larger"), [
    ("x @ W", "x=1x3,W=3x1", True),
    ("x ** 2", "x=1", True),
    ("x.mean(1)", "x=1x3", True),
    ("x[:1]", "x=3", False),
    ("(x ** 2).sum(0, keepdim=True)", "x=3", False),
    ("x.sum()", "x=1", False),
])  # fmt: skip
def test_a_seed_that_is_left_out_at_this_size_alone_is_told(program, shapes, larger):
    """An output of one element needs no seed; where it has more at larger sizes, it does there."""
    said = run("formula", program, "-s", shapes, "-w", "x").err
    assert ("formulas leave it out" in said) is larger


def test_a_formula_for_square_matrices_says_so():
    """det(X.T @ A @ X) is det(A) det(X)**2 where X is square, of whatever size."""
    found = run("formula", "det(X.T @ A @ X)", "-s", "X=3x3,A=3x3", "-w", "X")
    assert found.out == "2 * out * inv(X).T\n"
    assert found.err == (
        "note: the formula of X.grad is right for X of shape (3, 3) and A of shape (3, 3), and "
        "at other sizes that are all equal; elsewhere it may not be.\n"
    )


def test_formulas_for_what_is_square_as_a_rule_say_so_once():
    """PyTorch's trace takes A @ B of 2x4 too, of whose diagonal alone it is."""
    found = run("formula", "trace(A @ B)", "-s", "A=3x3,B=3x3")
    assert found.out == "A.grad = B.T\nB.grad = A.T\n"
    assert found.err == (
        "note: the formulas of A.grad and B.grad are right for A of shape (3, 3) and B of shape "
        "(3, 3), and at other sizes at which trace() is of a square matrix.\n"
    )
    claimed = run("check", "trace(A @ B)", "-s", "A=3x3,B=3x3", "--claim", "A = B.T").out
    assert "the same formula for every size" in claimed


def test_a_formula_for_sizes_that_are_products_of_others_says_so():
    shapes = ("-s", "A=2x2,B=3x3,C=6x6")
    found = run("formula", "trace(kron(A, B) @ C)", *shapes, "-w", "C")
    assert found.out == "kron(A, B).T\n"
    shapes = "A of shape (2, 2), B of shape (3, 3) and C of shape (6, 6)"
    assert f"for {shapes}, and at other sizes at which trace() is of a square matrix" in found.err


@pytest.mark.parametrize(("program", "taker"), [
    ("X.diag()", "diag"), ("X.diagonal() ** 2", "diagonal"), ("trace(X)", "trace"),
    ("(2 * X).diag()", "diag"), ("X.T.diag()", "diag"),
])  # fmt: skip
def test_a_formula_for_the_diagonal_of_a_square_matrix_says_so(program, taker):
    found = run("formula", program, "-s", "X=3x3")
    holds = f"and at other sizes at which {taker}() is of a square matrix.\n"
    assert found.err.endswith(f"for X of shape (3, 3), {holds}")


@pytest.mark.parametrize(("program", "formula"), [
    ("cov(X)", "(g + g.T) @ (X - X.mean(dim=1, keepdim=True)) / (X.shape[1] - 1)\n"),
    ("X.squeeze()", "g\n"),
])  # fmt: skip
def test_a_formula_that_a_size_of_1_leaves_no_dimension_for_says_so(program, formula):
    found = run("formula", program, "-s", "X=2x3")
    assert found.out == formula
    assert found.err == (
        "note: the formula of X.grad is right for X of shape (2, 3), and at other sizes above 1; "
        "where one is 1 a dimension is left out, and it may not be.\n"
    )


@pytest.mark.parametrize(("program", "x", "expected"), [
    ("cos = x * 2; sin(cos).sum()", "x", "2 * torch.cos(cos)"),
    ("cos(sin)", "sin", "-g * torch.sin(sin)"),
    ("inv = x.sum(); logdet(A) * inv", "A", "inv * torch.linalg.inv(A).T"),
    ("x * randn(3) + randn(3)", "x", "g * randn(3)"),
])  # fmt: skip
def test_names_of_functions_and_draws_fix_no_sizes(program, x, expected):
    found = run("formula", program, "-w", x)
    assert found.out == f"{expected}\n"
    assert "at other sizes" not in found.err


@pytest.mark.parametrize("program", ["logdet(X.T @ X)", "X @ X.T", "X.mean() / X.std()"])
def test_a_formula_for_any_size_says_nothing(program):
    found = run("formula", program, "-s", "X=5x2")
    assert (found.status, found.err) == (0, "")


def test_what_a_claim_is_told():
    """cat gives each input its part of g; of the variance, n - 1 is not n where n is 3."""
    found = run("check", "cat([x, y])", "--claim", "x = g", "-s", "x=2,y=3")
    assert "x.grad = g[:x.shape[0]]" in found.out
    claim = "x = 3 * g * (x - x.mean(dim=0)) / (x.shape[0] - 1)"
    found = run("check", "x.var(0)", "-s", "x=3x4", "--claim", claim)
    assert "x.grad = 2 * g * (x - x.mean(dim=0)) / (x.shape[0] - 1)" in found.out
    assert "/ x.shape[0]" not in found.out


@pytest.mark.parametrize(
    ("expr", "to_x"),
    [
        ("x[x > 0]", [7, 0, 0, 8, 9]),
        ("masked_select(x, x > 0)", [7, 0, 0, 8, 9]),
        ("(x * x)[x > 0].sum()", [6, 0, 0, 8, 10]),
    ],
)
def test_a_formula_with_a_mask_from_values(expr, to_x, recwarn):
    """Found for an x of 3, it holds for an x of 5, with as many elements above 0."""
    formula = gradcli.formula(expr, values={"x": [1.0, -1.0, 2.0]})
    assert not recwarn
    values = {"x": [3.0, -1.0, -2.0, 4.0, 5.0], "g": [7.0, 8.0, 9.0]}
    found = gradcli.explain(f"{formula} + 0 * x + 0 * g.sum()", values=values).output["value"]
    assert found.tolist() == to_x


@pytest.mark.parametrize("text", ["x[5:]", "x[9:] * 1", "x[2:-2]", "x[:-5]", "x[None, 5:]"])
@pytest.mark.parametrize("shape", [(3,), (3, 4)])
def test_a_slice_beyond_the_end_is_empty_and_sends_zeros(text, shape):
    found = gradcli.explain(text, values={"x": np.ones(shape)}, grad="ones_like(out)")
    assert found.grad["x"]["formula"] == "zeros_like(x)"
    assert found.grad["x"]["value"].tolist() == np.zeros(shape).tolist()


def test_the_sum_of_an_empty_slice_has_notes():
    found = gradcli.explain("x[5:].sum()", values={"x": np.ones((3, 4))})
    assert [note["code"] for note in found.notes] == ["these-sizes"]


def test_zeros_of_an_empty_slice_are_said_to_hold_at_these_sizes():
    notes = gradcli.explain("x[5:]", shapes={"x": (3,)}).notes
    assert "these-sizes" in [note["code"] for note in notes]


PRODUCTS = [  # program, shapes, others: only products of sizes need to be equal
    ("(x.flatten() * y.flatten()).sum()", {"x": (3, 4), "y": (3, 4)}, {"x": (3, 4), "y": (6, 2)}),
    ("x.flatten(1) @ W.flatten(1).T", {"x": (4, 2, 3), "W": (5, 2, 3)},
        {"x": (2, 4, 9), "W": (3, 6, 6)}),
    ("kron(A, B) @ kron(C, D)", dict.fromkeys("ABCD", (2, 2)),
        {"A": (2, 3), "B": (5, 4), "C": (6, 3), "D": (2, 5)}),
    ("kron(A, B) @ x.flatten()", {"A": (3, 4), "B": (2, 5), "x": (4, 5)},
        {"A": (2, 6), "B": (3, 2), "x": (3, 4)}),
    ("relu(conv2d(x, w, stride=2, padding=1)).flatten(1) @ W",  # as many channels as kernel rows
        {"x": (2, 2, 5, 5), "w": (3, 2, 3, 3), "W": (27, 2)},
        {"x": (1, 3, 5, 7), "w": (4, 3, 3, 2), "W": (48, 5)}),
    ("max_pool2d(relu(conv2d(x, w, padding=1)), 2).flatten(1) @ W",
        {"x": (2, 2, 6, 8), "w": (3, 2, 3, 3), "W": (36, 2)},
        {"x": (3, 1, 4, 6), "w": (2, 1, 3, 3), "W": (12, 5)}),
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(("program", "here", "there"), PRODUCTS)
def test_where_only_products_of_sizes_need_to_be_equal(program, here, there, double_precision):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = gradcli.formula(program, shapes=here)
    torch.manual_seed(0)
    given = {n: torch.randn(s, requires_grad=True) for n, s in there.items()}
    out = run_torch(program, dict(given))
    g = torch.randn_like(out)
    for name, expected in zip(given, torch.autograd.grad(out, [*given.values()], g)):
        found = run_torch(written[name].replace("; ", "\n"), given | {"g": g})
        torch.testing.assert_close(found if out.ndim else g * found, expected)


@pytest.mark.parametrize(("program", "shapes"), [
    ("x.flatten(1) @ W", {"x": (3, 4, 2), "W": (8, 5)}),
    ("kron(A, B) @ x", {"A": (5, 5), "B": (3, 3), "x": (15,)}),
])  # fmt: skip
def test_products_of_sizes_have_a_formula_for_any_sizes(program, shapes):
    notes = gradcli.explain(program, shapes=shapes).notes
    assert "these-sizes" not in [note["code"] for note in notes]


def test_sizes_that_follow_from_others_are_tried_too():
    program = "conv1d(x, w, dilation=2).flatten(1) @ W"
    notes = gradcli.explain(program, shapes={"x": (2, 2, 7), "w": (3, 2, 3), "W": (9, 2)}).notes
    (said,) = [note["message"] for note in notes if note["code"] == "these-sizes"]
    assert said.startswith("the formulas of x.grad, w.grad and W.grad are right for x of shape")
    assert said.endswith("; at some other sizes they are not.")


def test_a_formula_that_divides_0_by_0_holds_for_any_sizes():
    program = "h = pad(x, (1, 1)); expm1(renorm(h, 2, 0, 1.0)).prod(0)"
    with pytest.warns(UserWarning, match="divides by 0"):
        written = gradcli.formula(program, shapes={"x": (3, 3)})
    assert written.endswith("[:, 1:-1]")


@pytest.mark.parametrize(("program", "shape"), [
    ("x.reshape(1, 2, 3).var(0)", (6,)),
    ("x.unflatten(-1, (2, -1)).var(0)", (1, 6)),
])  # fmt: skip
def test_the_variance_of_one_number_has_no_gradient_of_zeros(program, shape):
    assert "/ (1 - 1)" in gradcli.formula(program, shapes={"x": shape})  # 0 / 0, nan in PyTorch


@pytest.mark.parametrize(("program", "shape", "expected"), [
    ("x.flatten(1) * y.flatten(1)", (2, 2, 3, 4), "(g * x.flatten(1)).reshape(y.shape)"),
    ("x.flatten() * y.flatten()", (2, 3, 4, 4), "(g * x.flatten()).reshape(y.shape)"),
])  # fmt: skip
def test_factors_that_two_products_share_are_left_alone(program, shape, expected):
    found = gradcli.formula(program, shapes={"x": shape, "y": shape})
    assert found["y"] == expected


def test_what_is_found_in_general_is_brought_back_to_the_sizes_of_a_problem():
    problem = pose("(x @ A @ x) / (x @ x)", shapes={"x": (3,), "A": (3, 3)}, wrt=["x"])
    w = FormulaWriter(Analysis(problem))
    there = w.generic
    found = there.shortened(there.analysis.gradient(there.problem.inputs["x"]))
    own = w.analysis.gradient(problem.inputs["x"])
    assert found.shape != own.shape
    assert at_original_sizes(found, there.problem, problem, own).shape == own.shape
    assert at_original_sizes(2 * found, there.problem, problem, own) is None


@pytest.mark.parametrize(
    ("text", "given", "assume"),
    [
        ("det(A)", {"A": (4, 4)}, {"A": "skew"}),  # 6x6 too, and not 3x3, where it is singular
        ("pad(x, (1, -1), mode='replicate')", {"x": (2, 3)}, {}),  # 4x3 too, and not 4x6
    ],
)
def test_a_formula_that_holds_at_some_other_sizes_is_not_said_to_fail_at_all(text, given, assume):
    p = pose(text, shapes=given, assume=read_assumptions(assume))
    (message,) = [m for code, m in formulas(FormulaWriter(Analysis(p))) if code == "these-sizes"]
    assert message.endswith("; at some other sizes it is not.")


def test_sizes_that_were_made_equal_in_vain_make_no_circle():
    """154,357,088 / 1172 * 1816 is 239,174,464: after the first call both are equal."""
    sizes = Sizes([908, 1172])
    assert sizes.unify(154_357_088, 239_174_464)
    assert sizes.find(1172) == 1816
    assert not sizes.unify(154_357_088, 239_174_464)
    assert sizes.find(908) == 908
