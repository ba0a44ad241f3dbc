"""Hessians, Jacobian-vector products and higher orders: what is known by hand or from a book."""

import json
import re

import numpy as np
import pytest
from console import gradcli as run
from second_derivatives import FORMS
from support import Case, one_in, one_row_in, swept

import gradcli
from gradcli.autodiff.forward import jvp, tangents_along
from gradcli.autodiff.reverse import double_backward_errors
from gradcli.backends.numeric import Evaluator
from gradcli.graphs import OPS
from gradcli.language.posing import pose


def answered(*args: str, **how):
    result = run(*args, **how)
    assert result.status == 0
    assert not result.err or result.err.startswith("assumed: ")
    return result


def refused(*args: str, code: str) -> str:
    result = run(*args)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"error[{code}]: ")
    return result.err


# ---- the Hessian ---------------------------------------------------------------------------------


def hessian_as_json(*args: str):
    return json.loads(answered("hessian", *args, "-f", "json").out)


def at_once(formula):
    """A formula in one expression, what its statements name written out."""
    *before, last = formula.split("; ")
    for name, _, value in (statement.partition(" = ") for statement in reversed(before)):
        last = re.sub(rf"\b{name}\b", value, last)
    return last


@pytest.mark.parametrize(("text", "shapes", "name", "formula"), one_row_in(3, FORMS))
def test_closed_forms(text, shapes, name, formula):
    found = hessian_as_json(text, "-s", shapes, "-w", name)
    assert at_once(found["hessian"][name]["formula"]) == at_once(formula)
    assert all(check["ok"] for check in found["checks"])


STRUCTURES = [
    ("x.sum()", "zero"),
    ("relu(x).sum()", "zero"),
    ("x @ x", "scaled identity"),
    ("sin(x).sum()", "diagonal"),
    ("logsumexp(x, 0)", "symmetric low-rank update"),
    ("(x @ x) ** 2", "symmetric low-rank update"),
    ("norm(x)", "symmetric low-rank update"),
    ("1 / norm(x)", "symmetric low-rank update"),
    ("log(x @ x)", "symmetric low-rank update"),
    ("(x.cumsum(0)**2).sum()", "dense"),
]


@pytest.mark.parametrize(("text", "structure"), STRUCTURES)
def test_structures(text, structure):
    found = hessian_as_json(text, "-s", "x=3")["hessian"]["x"]
    assert (found["shape"], found["structure"]) == ([3, 3], structure)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("text", "shapes", "block", "structure"),
    [
        ("det(A)", "A=3x3", "A", "dense"),  # a product less another
        ("logdet(A)", "A=3x3", "A", "permuted kronecker"),
        ("logdet(A @ A.T)", "A=2x3", "A", "dense"),
        ("exp(trace(X @ A))", "X=1x3,A=3x1", "X,A", "dense"),  # and a permutation
        ("((A @ x) ** 2).sum()", "A=2x3,x=3x2", "x", "kronecker"),
        ("norm(X - U @ V.T) ** 2", "X=3x3,U=3x1,V=3x1", "U", "scaled identity"),
    ],
)
def test_one_kronecker_product_is_called_so(text, shapes, block, structure):
    found = hessian_as_json(text, "-s", shapes, "-w", block)["hessian"]
    assert found[block]["structure"] == structure


def test_zeros_that_no_delta_tells_of_are_not_counted():
    said = answered("hessian", "x.prod()", "-s", "x=4", "--width", "120").out  # its diagonal is 0
    assert "12 of its 16" in said
    said = answered("jacobian", "x.sort().values", "-s", "x=4").out
    assert " 4 of its 16" in said
    said = answered("hessian", "x.norm(3)**3", "-s", "x=4").out  # a diagonal
    assert " 4 of its 16" in said


def test_what_values_decide_on_is_counted_with_values_alone():
    assert "at most 3 of its 9" in answered("jacobian", "relu(x)", "-s", "x=3").out
    assert "one row: 3 entries" in answered("jacobian", "x.max()", "-s", "x=3").out
    assert "diagonal: 1 of its 9" in answered("jacobian", "relu(x)", "-v", "x=[-1,2,-3]").out
    assert "selection: 3 of its 9" in answered("jacobian", "x.sort().values", "-s", "x=3").out


@pytest.mark.parametrize(
    ("what", "text", "shapes", "count"),
    [
        ("jacobian", "A @ relu(B @ x)", "A=2x2,B=2x2,x=2", "at most 4 of its 8"),
        ("jacobian", "A @ relu(B @ x)", "A=20x20,B=20x20,x=20", "at most 400 of its 8,000"),
        ("jacobian", "x * relu(y)", "x=3,y=3", "at most 3 of its 9"),
        ("jacobian", "sqrt(x) * relu(y)", "x=2,y=2", "at most 2 of its 4"),
        ("jacobian", "cat([relu(-x), x])", "x=3", "at most 6 of its 18"),
        ("jacobian", "where(x < 20, x, 0)", "x=3", "at most 3 of its 9"),
        ("hessian", "huber_loss(x, y)", "x=3,y=3", "at most 3 of its 9"),
        ("jacobian", "where(x > 500, x.sum(), x)", "x=4", ": 16 entries"),
        ("jacobian", "clamp(x, -1000, 1000)", "x=3", "at most 3 of its 9"),
        ("jacobian", "relu(x + 1000)", "x=3", "at most 3 of its 9"),
        ("jacobian", "threshold(x, -500, 0)", "x=3", "at most 3 of its 9"),
        ("jacobian", "relu((x + 1000).sort().values)", "x=3", ": 9 entries"),
        ("jacobian", "abs(x) + x", "x=3", "at most 3 of its 9"),
        ("jacobian", "leaky_relu(x, 0)", "x=3", "at most 3 of its 9"),
        ("hessian", "elu(x).sum()", "x=3", "at most 3 of its 9"),
        ("jacobian", "elu(x)", "x=3", ": 3 of its 9"),
        ("hessian", "(1e-18 * x**2).sum()", "x=3", ": 3 of its 9"),
        ("jacobian", "softmax(50 * x, 0)", "x=3", ": 9 of its 9"),
        ("jacobian", "softmax(500 * x, 0)", "x=3", ": 9 of its 9"),
        ("jacobian", "leaky_relu(x)", "x=3", ": 3 of its 9"),
        ("jacobian", "leaky_relu(x)", "x=70", ": 70 of its 4,900"),
        ("jacobian", "abs(x)", "x=3", ": 3 of its 9"),
        ("hessian", "det(A)", "A=2x2", ": 4 of its 16"),
        ("hessian", "det(A)", "A=4x4", ": 144 of its 256"),
        ("hessian", "(x ** 30).sum()", "x=3", ": 3 of its 9"),
    ],
)
def test_a_count_is_a_bound_where_factors_may_be_0(what, text, shapes, count):
    said = answered(what, text, "-s", shapes, "-w", shapes[0]).out
    assert count in " ".join(said.split())
    assert ("at most" in count) == ("at most" in said.split("entries")[0])


@pytest.mark.parametrize(("x", "other"), ["xy", "yx"])
def test_a_hessian_has_one_name_by_either_side_of_a_difference(x, other):
    found = hessian_as_json("norm(x - y)", "-s", "x=3,y=3", "-w", x)["hessian"][x]
    assert found["structure"] == "symmetric low-rank update"
    d = f"{x} - {other}"
    assert found["formula"] == f"eye({x}.shape[0]) / out - outer({d}, {d}) / out ** 3"
    both = f"({x}[i] - {other}[i])*({x}[j] - {other}[j])"
    assert both in found["index"]


@pytest.mark.parametrize(
    ("text", "shape"),
    [("avg_pool2d(x, 2)", "1x4x4"), ("leaky_relu(x)", "3"), ("hardtanh(x)", "2x3")],
)
def test_a_derivative_that_is_0_where_pytorch_sends_zeros(text, shape):
    out = answered("explain", text, "-s", f"x={shape}", "--order", "2").out
    assert "x.grad2 = zeros_like(x)" in out
    assert "no-formula" not in out
    assert "these-sizes" not in out


def test_a_form_is_not_tried_out_where_the_program_has_no_number():
    found = hessian_as_json("logdet(A)", "-s", "A=3x3")["hessian"]["A"]  # nan where det(A) < 0
    assert found["index"] == "-inv(A)[j,k]*inv(A)[l,i]"
    assert (
        found["formula"] == "-kron(inv(A).contiguous(), inv(A).T[:, None]).reshape(-1, A.numel())"
    )


def test_a_form_is_tried_out_where_one_of_a_few_draws_has_a_number():
    said = answered("hessian", "0 - logdet(F + t*G)", "-s", "F=3x3,G=3x3", "-w", "t").out
    assert "u = inv(F + t * G); (u @ G @ u @ G).trace()" in said


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("(x[1:] * x[:-1]).sum()", 3),  # two diagonals
        ("((x[1:] - x[:-1]) ** 2).sum()", 3),  # three
        ("((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2).sum()", 7),  # five
        ("(x ** 2).sum() - (x[1:] * x[:-1]).sum()", 5),
    ],
)
def test_chains_are_banded(text, size):
    assert hessian_as_json(text, "-s", f"x={size}")["hessian"]["x"]["structure"] == "banded"


@pytest.mark.parametrize(
    ("command", "text", "x", "told"),
    [
        ("hessian", "(relu(x) ** 1.5).sum()", "[-1.0, 2.0]", "for one entry"),  # 0 / sqrt(0)
        ("jacobian", "sqrt(relu(x))", "[-1.0, -2.0, 3.0]", "for 2 entries"),
        ("hessian", "(relu(x) ** 1.5).sum()", "[1.0, 2.0]", ""),
    ],
)
def test_a_formula_without_a_number_is_told(command, text, x, told):
    said = " ".join(answered(command, text, "-v", f"x={x}").out.split())
    assert ("The formula divides by 0 or overflows" in said) is bool(told)
    assert told in said


def test_numbers():
    # f = x0² x1: the gradient is (2 x0 x1, x0²)
    found = gradcli.hessian("x[0]**2 * x[1]", values={"x": [3.0, 5.0]})
    assert found.tolist() == [[10, 6], [6, 0]]


def test_symmetry_is_checked_of_the_numbers_shown():
    """The matrix is that of PyTorch."""
    found = hessian_as_json("relu(x * x).sum()", "-v", "x=[inf, 1]")
    assert found["hessian"]["x"]["matrix"] == [["nan", 0.0], ["nan", 2.0]]
    symmetric = found["checks"][0]
    assert symmetric["name"] == "symmetric"
    assert "not finite, left out" in symmetric["remark"]


def test_a_number_by_a_number():
    assert gradcli.hessian("x**3", values={"x": 2.0}).tolist() == 12
    assert "a single number" in answered("hessian", "x**3", "-v", "x=2").out


def test_every_pair_of_inputs():
    # f = Σ x y²: by x nothing, by x and y 2 y, by y 2 x
    values = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    found = gradcli.hessian("(x * y * y).sum()", values=values)
    assert found["x"]["x"].tolist() == [[0, 0], [0, 0]]
    assert found["x"]["y"].tolist() == found["y"]["x"].tolist() == [[6, 0], [0, 8]]
    assert found["y"]["y"].tolist() == [[2, 0], [0, 4]]
    out = answered("hessian", "(x * y * y).sum()").out
    for pair in ("x", "x and y", "y"):
        assert f"Hessian of out with respect to {pair}  " in out
    assert "No gradient flows from x.grad to x: every entry is 0." in out


def test_an_input_that_does_not_matter_has_zeros():
    values = {"x": [1.0, 2.0], "y": [3.0]}
    found = gradcli.hessian("x @ x + y.detach().sum()", values=values)
    assert found["x"]["x"].tolist() == [[2, 0], [0, 2]]
    assert (found["y"]["y"].tolist(), found["x"]["y"].tolist()) == ([[0]], [[0], [0]])


def test_symbols():
    found = gradcli.hessian("x @ A @ x", wrt="x")
    assert found.tolist() == [["2*A[0,0]", "A[0,1] + A[1,0]"], ["A[0,1] + A[1,0]", "2*A[1,1]"]]
    out = answered("hessian", "x @ A @ x", "-w", "x").out
    assert "A + A.T" in out
    assert "∂²out/∂x[i]∂x[j] = " in out


TWICE = [["2", "·"], ["·", "2"]]


@pytest.mark.parametrize(("text", "given", "rows"), [
    ("norm(x)**2", ["-s", "x=2"], TWICE),
    ("norm(x - y)**2", ["-s", "x=2,y=2"], TWICE),
    ("norm(x - y)**2", ["-s", "x=2", "-v", "y=[3,4]"], TWICE),
    ("norm(M * x)**2", ["-s", "x=2,M=2"], [["2·M[0] ** 2", "·"], ["·", "2·M[1] ** 2"]]),
    ("norm(A @ x - b)**2", ["-s", "A=1x2,x=2,b=1"],
     [["2·A[0,0] ** 2", "2·A[0,1]·A[0,0]"], ["2·A[0,0]·A[0,1]", "2·A[0,1] ** 2"]]),
])  # fmt: skip
def test_entries_in_symbols_are_those_of_the_formula(text, given, rows):
    """A square of a norm has no condition in its second derivatives."""
    out = answered("hessian", text, "-w", "x", *given, width=120).out
    assert re.findall(r"x\.grad\[\d\] │ +(.+?)  +(.+)", out) == [tuple(row) for row in rows]


def test_shapes_nobody_gave_make_a_single_number():
    assert "Hessian of out with respect to x " in answered("hessian", "x @ A @ x").out
    assert "→ out ()" in answered("explain", "x @ A @ x").out


def test_a_seed_of_the_same_request_does_not_scale_it():
    (answer,) = gradcli.batch(
        [{"expr": "x**3", "values": {"x": 2}, "grad": 5.0, "want": ["hessian", "grad"]}]
    )
    assert answer["hessian"]["x"]["matrix"] == [[12]]
    assert answer["grad"] == {"x": 60}


def test_batch():
    lines = [
        {"id": 1, "expr": "x @ A @ x", "want": ["hessian"], "wrt": ["x"]},
        {"id": 2, "expr": "x @ y", "values": {"x": [1, 2], "y": [3, 4]}, "want": ["hessian"]},
        {"id": 3, "expr": "x * 2", "values": {"x": [1, 2]}, "want": ["hessian"]},
    ]
    first, second, third = gradcli.batch(lines)
    assert first["hessian"]["x"]["formula"] == "A + A.T"
    assert first["hessian"]["x"]["shape"] == [2, 2]
    assert list(second["hessian"]) == ["x", "x,y", "y"]
    assert second["hessian"]["x,y"]["matrix"] == [[1, 0], [0, 1]]
    assert second["hessian"]["x,y"]["structure"] == "identity"
    assert third["error"]["code"] == "not-scalar"


def test_markdown():
    out = answered("hessian", "x @ x", "-v", "x=[1,2]", "-f", "markdown").out
    assert "|  | `x[0]` | `x[1]` |" in out
    assert "| `x.grad[0]` | 2 | · |" in out


def test_only_a_single_number_has_one():
    err = refused("hessian", "x * 2", "-v", "x=[1,2]", code="not-scalar")
    assert "out has shape (2,)" in err
    assert "The Tensor returned by the function given to hessian" in err


@pytest.mark.parametrize("text", one_in(2, ["hardsigmoid(x * x).sum()", "pdist(x).sum()"]))
def test_every_way_says_what_pytorch_does_not_differentiate_again(text):
    """derivatives.yaml: _pdist_backward and hardsigmoid_backward are not_implemented."""
    name, x = text.partition("(")[0], [[0.0, 1.0], [2.0, 5.0]]
    said = f"PyTorch does not differentiate the gradient of {name}: it raises an error."
    asked = (text, "-v", f"x={x}")
    orders = ("--order", "2", "-g", "1", "-g", "ones_like(out)")
    assert run("grad", *asked, *orders).err == f"note: {said}\n"
    for found in (run("explain", *asked, *orders), run("hessian", *asked)):
        assert said in " ".join(found.out.split())
    for want in (["hessian"], ["notes", "hessian"]):
        (answer,) = gradcli.batch([{"expr": text, "values": {"x": x}, "want": want}])
        assert answer["notes"][-1] == {"code": "not-in-pytorch", "message": said}
    with pytest.warns(UserWarning, match=re.escape(said)):
        gradcli.hessian(text, values={"x": x})
    with pytest.warns(UserWarning, match=re.escape(said)):
        gradcli.grad(text, values={"x": x}, order=2, grads=[np.ones((2, 2))])
    assert run("grad", *asked).err == ""


def test_what_pytorch_does_not_differentiate_has_no_numbers_in_it():
    asked = ("pdist(x).sum()", "-v", "x=[[0.,1.],[0.,1.]]", "--order", "2", "-g", "1")
    out = " ".join(answered("explain", *asked, "-g", "ones_like(out)").out.split())
    assert "The gradient of x holds nan. Formulas" in out
    assert "PyTorch's does too" not in out


# ---- Hessian times tangents ----------------------------------------------------------------------


def test_hessian_times_a_tangent():
    # H = A + A.T
    values = {"x": [1.0, 2.0], "A": [[1.0, 2.0], [3.0, 4.0]]}
    found = gradcli.hessian("x @ A @ x", values=values, wrt="x", tangents={"x": [1, -1]})
    assert found.tolist() == [-3, -3]
    out = answered("hessian", "x @ x", "-v", "x=[1,2]", "--tangent", "x=[3,4]").out
    assert out.startswith("x.hvp = [6, 8]    2 * t")
    assert "t·H" in out


def test_a_hessian_without_written_entries_says_so_in_a_sentence():
    kalman = "S=H@P@H.T+R; K=P@H.T@inv(S); trace((eye(3)-K@H)@P)"
    out = answered(
        "hessian", kalman, "-s", "H=2x3;P=3x3;R=2x2", "-w", "P", "--limit", "seconds=0"
    ).out
    assert "?" not in out
    assert "not written out in symbols" in out


def test_hessian_times_tangents_of_several_inputs():
    # f = x·y: H swaps the two
    values = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    found = gradcli.hessian("x @ y", values=values, tangents={"x": [1, 0], "y": [0, 5]})
    assert (found["x"].tolist(), found["y"].tolist()) == ([0, 5], [1, 0])
    one = gradcli.hessian("x @ y", values=values, tangents={"y": [0, 5]})
    assert (one["x"].tolist(), one["y"].tolist()) == ([0, 5], [0, 0])


def test_hessian_times_a_tangent_in_symbols():
    data = hessian_as_json("x @ A @ x", "-w", "x", "--tangent", "x=[1,2]")
    assert data["hvp"]["x"]["value"] is None
    assert data["hvp"]["x"]["formula"] == "(A + A.T) @ t"
    assert data["tangents"]["x"]["value"] == [1, 2]


# ---- Jacobian times tangents ---------------------------------------------------------------------


def test_jvp():
    # d(x²) = 2 x t
    found = gradcli.jvp("x * x", values={"x": [1.0, 2.0]}, tangents={"x": [10, 100]})
    assert found.tolist() == [20, 400]
    out = answered("jvp", "x * x", "-v", "x=[1,2]", "--tangent", "x=[10,100]").out
    assert out.startswith("out.tangent = [20, 400]    2 * t * x")
    assert "J·t" in out


@pytest.mark.parametrize(("text", "formula"), [
    ("softmax(x, -1)", "out * (t - (t * out).sum(dim=-1, keepdim=True))"),
    ("layer_norm(x, (x.shape[-1],))",
     "(t - t.mean(dim=1, keepdim=True) - out * (t * out).mean(dim=1, keepdim=True))"
     " / sqrt(x.var(dim=1, keepdim=True, correction=0) + 1e-05)"),
    ("inv(x)", "-out @ t @ out"),  # not symmetric: the gradient is -out.T @ g @ out.T
])  # fmt: skip
def test_a_symmetric_jacobian_multiplies_from_either_side(text, formula):
    words = answered("jvp", text, "-s", "x=3x3").out.split()
    assert " ".join(words).count(formula) == 3  # the answer, the way forward, the formula


def test_a_tangent_may_be_an_expression():
    found = gradcli.jvp("x * x", values={"x": [1.0, 2.0]}, tangents={"x": "3 * x + ones_like(x)"})
    assert found.tolist() == [8, 28]


def test_a_tangent_tells_the_shape():
    out = answered("jvp", "x @ a", "--tangent", "x=[[1,2,3,4,5],[6,7,8,9,0]]").out
    assert "  x    2×5    moves along t" in out
    assert "  a    5×" in out


def test_tangents_add_up_and_missing_ones_are_zero_and_told():
    values = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    both = gradcli.jvp("x * y", values=values, tangents={"x": [1, 1], "y": [10, 10]})
    assert both.tolist() == [13, 24]
    assert gradcli.jvp("x * y", values=values, tangents={"x": [1, 1]}).tolist() == [3, 4]
    out = answered("jvp", "x * y", "-v", "x=[1,2]", "-v", "y=[3,4]", "--tangent", "x=[1,1]").out
    assert "0: no tangent was given, so it is held constant" in out


def test_without_tangents_they_are_symbols():
    out = answered("jvp", "x @ a").out
    assert out.startswith("out.tangent = x @ t_a + t_x @ a\n")
    assert "t_x and t_a are symbols" in out


def test_a_tangent_may_be_a_symbol():
    out = answered("jvp", "x @ a", "-s", "x=2x3,a=3x4", "--tangent", "x").out
    assert out.startswith("out.tangent = t @ a\n")
    assert "so it is held constant" in out
    found = answered("hessian", "(a @ x)**2", "-w", "x", "--tangent", "x").out
    assert found.startswith("x.hvp = 2 * (t @ a) * a\n")
    assert "is given two tangents" in refused(
        "jvp", "x @ a", "--tangent", "x", "--tangent", "x=1", code="value"
    )


def test_the_way_forward():
    out = answered("jvp", "h = tanh(x); h * h", "-v", "x=[0]", "--tangent", "x=[1]").out
    assert "h.tangent = t * (1 - h ** 2)" in out
    assert "out.tangent = 2 * h.tangent * h" in out


def test_an_output_that_does_not_move():
    found = gradcli.jvp("x.detach() + y", values={"x": [1.0], "y": [2.0]}, tangents={"x": [5]})
    assert found.tolist() == [0]
    args = ("x.detach() + y", "-v", "x=[1]", "-v", "y=[2]", "--tangent", "x=[5]")
    assert "does not depend on x: its tangent is 0" in answered("jvp", *args).out


def test_jvp_as_json():
    args = ("x * y", "-v", "x=[1,2]", "-v", "y=[3,4]", "--tangent", "x=2 * y")
    found = answered("jvp", *args, "-f", "json").json
    assert found["tangents"]["x"] == {"shape": [2], "value": [6, 8], "name": "t", "text": "2 * y"}
    assert found["jvp"] == {
        **{"shape": [2], "value": [18, 32], "formula": "t * y", "index": "t[i]*y[i]"},
        "index_of": "out.tangent[i]",
    }
    assert all(check["ok"] for check in found["checks"])


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("x * 2", "--tangent", "x=[1,2]", "-s", "x=3"), "tangent-shape", "(2,)"),
        (("x.sum()", "--tangent", "x=eye(2)", "-s", "x=4"), "tangent-shape", "reshape it to (4,)"),
        (("x * 2", "--tangent", "z=[1,2]"), "unused-option", "there is no input z"),
        (("x * 2", "--tangent", "[1]"), "value", "there is no ="),
        (("x[k]", "-v", "k=[0,1]", "--tangent", "k=1 * x"), "not-differentiable", "no tangent"),
    ],
)
def test_tangents_that_are_refused(args, code, said):
    assert said in refused("jvp", *args, code=code)


def test_a_tangent_of_what_is_held_fixed():
    err = refused("hessian", "x @ y", "-w", "x", "--tangent", "y=2 * x", code="unused-option")
    assert "y is held fixed" in err


# ---- orders --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "expected"), [(1, 80), (2, 160), (3, 240), (4, 240), (5, 120)])
def test_derivatives_of_a_power(order, expected):
    # x⁵ at 2: 5·16, 20·8, 60·4, 120·2, 120
    args = ("x**5", "-v", "x=2")
    assert answered("grad", *args, "--order", str(order)).json == expected
    assert gradcli.grad("x**5", values={"x": 2.0}, order=order) == expected


def test_each_order_has_its_seed():
    # out = x³, weighed 5: 15 x²; that weighed (1, 10): 30 x (1, 10)
    args = ("(x**3).sum()", "-v", "x=[1,2]", "-g", "5", "-g", "[1,10]", "--order", "2")
    assert answered("grad", *args).json == [30, 600]
    found = gradcli.grad(
        "(x**3).sum()", values={"x": [1.0, 2.0]}, grad=5.0, order=2, grads=[[1.0, 10.0]]
    )
    assert found.tolist() == [30, 600]


def test_a_seed_that_depends_on_an_input_is_differentiated_with_it():
    # a² weighed a: 2 a²; its derivative is 4 a, and 2 a where the seed is held fixed
    args = ("a*a", "-v", "a=[1,2]", "-g", "ones_like(out)", "--order", "2")
    moving, held = (
        answered("grad", *args[:3], "-g", seed, *args[3:]).json for seed in ("a", "a.detach()")
    )
    assert (moving, held) == ([4, 8], [2, 4])


def test_orders_of_several_inputs_are_those_of_each():
    found = answered("grad", "x * y * y", "-v", "x=3", "-v", "y=2", "--order", "2").json
    assert found == {"x": None, "y": 6}


def test_explained():
    out = answered("explain", "x**3", "-v", "x=2", "--order", "2", "--full").out
    assert out.startswith("x.grad2 = 12    6 * x")
    assert "Gradient of x, order 2" in out
    assert "x_grad = torch.autograd.grad(out, x, create_graph=True)[0]" in out
    assert "x_grad2 = torch.autograd.grad(x_grad, x)[0]" in out
    assert "x_grad2  # 12" in out


def test_explained_in_symbols():
    out = answered("explain", "tanh(x).sum()", "-s", "x=3", "--order", "2", "--full").out
    assert out.startswith("x.grad2 = 2 * g_2 * tanh(x) * (tanh(x) ** 2 - 1)")
    assert "Jacobian of x.grad with respect to x" in out


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("grad", "(x**2).sum()", "-v", "x=[1,2]", "--order", "2"), "implicit-seed", "-g 1 -g"),
        (
            ("grad", "(x**2).sum()", "-v", "x=[1,2]", "--order", "2", "-g", "1", "-g", "[1,2,3]"),
            *("seed-shape", "the seed of order 2 has shape (3,)"),
        ),
        (("grad", "x * 2", "-v", "x=3", "--order", "2"), "not-differentiable", "is zero"),
        (("grad", "x * 2", "-v", "x=3", "-g", "1", "-g", "1"), "option", "--order 2"),
        (("explain", "x**2 * y**2", "--order", "2"), "option", "-w x or -w y"),
        (("grad", "x", "-v", "x=3", "--order", "0"), "option", "0"),
    ],
)
def test_orders_that_are_refused(args, code, said):
    assert said in refused(*args, code=code)


# ---- modes ---------------------------------------------------------------------------------------


def test_modes_side_by_side():
    out = answered("explain", "x @ a", "-s", "x=2x3,a=3x4", "--show", "modes", "-w", "x").out
    assert "t, as x: 2×3" in out
    assert "g, as out: 2×4" in out
    assert "J·t    t @ a" in out
    assert "g·J    g @ a.T" in out
    assert "the whole J    6 passes, 288 FLOP    8 passes, 384 FLOP" in out
    assert "forward mode needs 6 passes, not 8" in out


@pytest.mark.parametrize(("text", "tangent"), [  # each a derivative of a book, times t
    ("softmax(x, -1)", "out * (t - (t * out).sum(dim=-1, keepdim=True))"),
    ("x / norm(x)", "(t - out * (t * out).sum()) / x.norm()"),
    ("inv(x)", "-out @ t @ out"),
    ("tanh(x)", "t * (1 - out ** 2)"),
])  # fmt: skip
def test_a_pass_forward_has_the_formula_of_jvp(text, tangent):
    shown = answered("explain", text, "-s", "x=3x3", "--show", "modes", "-f", "json").json["modes"]
    alone = answered("jvp", text, "-s", "x=3x3", "-f", "json").json["jvp"]
    assert shown["x"]["jvp"]["formula"] == tangent
    assert alone["formula"] == tangent


def test_modes_of_a_loss():
    out = answered("explain", "((X @ w - y)**2).mean()", "-s", "X=50x9", "--show", "modes").out
    assert "training goes backward" in out


def test_modes_as_json():
    args = ("x @ w", "-s", "x=20x30,w=30x40", "--show", "modes", "-f", "json", "-w", "w")
    found = answered("explain", *args).json["modes"]["w"]
    assert found["jvp"] == {
        **{"takes": [30, 40], "gives": [20, 40], "formula": "x @ t"},
        **{"flops": 2 * 20 * 30 * 40, "saved_bytes": 0},
        "jacobian": {"passes": 1200, "flops": 1200 * 2 * 20 * 30 * 40},
    }
    assert found["vjp"] == {
        **{"takes": [20, 40], "gives": [30, 40], "formula": "x.T @ g"},
        **{"flops": 2 * 20 * 30 * 40, "saved_bytes": 0},
        "jacobian": {"passes": 800, "flops": 800 * 2 * 20 * 30 * 40},
    }


def test_modes_are_shown_on_request_alone():
    assert "forward mode" not in answered("explain", "x * x").out


# ---- every operator ------------------------------------------------------------------------------


@pytest.mark.parametrize("example", swept())
def test_tangents_along_the_way_are_that_of_the_whole(example):
    c = Case(example.problem)
    draw = np.random.default_rng(5)
    tangents = {x: OPS["input"](name=f"t{k}", shape=x.shape) for k, x in enumerate(c.grads)}
    given = {t: draw.normal(size=t.shape) for t in tangents.values()}
    whole = jvp(c.p.out, tangents)
    step_by_step = tangents_along(c.p.out, tangents).get(c.p.out)
    numbers = Evaluator({**c.p.values, **given})
    left, right = (0.0 if node is None else numbers(node)[0] for node in (whole, step_by_step))
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-11)


def test_a_problem_is_left_as_it_was():
    p = pose("x**3", values={"x": 2.0})
    assert (p.order, p.lower_order, p.tangents) == (1, None, ())


@pytest.mark.parametrize(
    ("expr", "told"),
    [
        ("(x * y).sum()", "appears to not have been used in the graph"),
        ("(2 * x).sum() + y.detach().sum()", "element 0 of tensors does not require grad"),
    ],
)
def test_what_pytorch_says_of_a_gradient_that_is_constant(expr, told):
    """As torch.autograd.grad says it of the sum of the gradient, in PyTorch 2.13."""
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.grad(expr, values={"x": [1.0, 2.0], "y": [3.0, 4.0]}, wrt="x", order=2)
    assert told in raised.value.hint


HEADS = "F.scaled_dot_product_attention(x, x, x"


@pytest.mark.parametrize(
    ("text", "shape", "once"),  # as PyTorch differentiates them: test_oracle_higher.py tries these
    [
        (HEADS + ")", (1, 1, 2, 2), True),
        (HEADS + ", is_causal=True)", (1, 2, 2, 2), True),
        (HEADS + ", attn_mask=torch.zeros(1, 2))", (1, 1, 2, 2), True),
        (HEADS + ", attn_mask=torch.zeros(1, 2, 2))", (1, 1, 2, 2), False),
        (HEADS + ", attn_mask=x[0, 0] * 2)", (1, 1, 2, 2), False),
        (HEADS + ", attn_mask=x[0, 0] > 0)", (1, 1, 2, 2), True),
        ("F.scaled_dot_product_attention(x, x[:1], x[:1])", (2, 1, 2, 2), False),
        ("F.scaled_dot_product_attention(x[:, :1], x[:, :1], x)", (1, 2, 2, 2), False),
    ],
)
def test_attention_that_pytorch_differentiates_once(text, shape, once):
    problem = pose(text, shapes={"x": shape})
    assert bool(double_backward_errors(problem.out, problem.wrt[0].node)) == once
