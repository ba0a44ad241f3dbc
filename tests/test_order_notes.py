"""Where PyTorch's order of operations decides what comes out, a note says so, and nowhere else."""

import numpy as np
import pytest
from support import examples, one_in

import gradcli

INF, NAN = np.inf, np.nan
LEFT = list({e.op: e for e in examples() if e.op.left_to and not e.op.fixed}.values())

MET = [
    ("x @ w", {"x": [[1.0, INF]], "w": [[1.0], [2.0]]}, "x @ w meets inf. PyTorch"),
    ("F.linear(x, w)", {"x": [[1.0, 1e200]], "w": [[1.0, 0.0]]}, "1e+200, whose square overflows"),
    ("scaled_dot_product_attention(x, x, x)", {"x": [[INF]]}, "attention(x, x, x) meets nan"),
    ("F.layer_norm(x, (2,), w)", {"x": [[1.0, 2.0]], "w": [1e200, 1.0]}, "one loop for all of it"),
    ("torch.det(x)", {"x": [[NAN, 0.0], [0.0, 1.0]]}, "PyTorch leaves it to LAPACK"),
    ("torch.linalg.inv(x)", {"x": [[1e-200]]}, "torch.linalg.inv(x) meets inf"),
    ("x.std()", {"x": [1e-160, 0.0]}, "no number above 1e-160, whose square vanishes"),
    ("x.prod()", {"x": [1e150] * 3}, "x.prod() meets inf"),
    ("F.hardtanh(x)", {"x": [NAN]}, "what fills a vector register"),
    ("logit(x)", {"x": [-0.0, 0.5]}, "-0, whose sign may be that of inf"),
    ("dot(x, x)", {"x": [1e160, 1.0]}, "PyTorch leaves it to BLAS"),
    ("x % 1e-200", {"x": [1e200]}, "what fills a vector register"),
    ("(x @ x).detach() * x", {"x": [[INF]]}, "x @ x meets inf"),
    ("x * w", {"x": [[1e308], [1e308], [-1e308]], "w": [[1.0]]}, "x * w meets 1e+308"),
    ("x.nanmean()", {"x": [1e308, 1e308, -1e308, NAN]}, "1e+308, of which a sum overflows"),
]  # fmt: skip

NOT_MET = [
    ("x @ w", {"x": [[0.0, 1e150]], "w": [[1e-300], [2.0]]}),
    ("x @ w", {"x": [[1e-200]], "w": [[1e-200]]}),
    ("F.hardtanh(x)", {"x": [INF]}),
    ("logit(x)", {"x": [0.0, 0.5]}),
    ("x / w", {"x": [INF], "w": [0.0]}),
    ("x.sum()", {"x": [INF, -INF, NAN, 1.0]}),
    ("x.mean(1)", {"x": [[1e308, -1.0], [1e308, -1e308]]}),
    ("x.sum()", {"x": [1e308, 1e308, 0.0]}),
    ("x.sum(0)", {"x": [[1e308], [-1e308]]}),
    ("F.layer_norm(x, (2,))", {"x": [[0.0, 0.0]]}),
    ("scaled_dot_product_attention(x, x, x, m)", {"x": [[1.0], [2.0]], "m": [[0.0, -INF]] * 2}),
]


def _told(expr, values, grad=None):
    found = gradcli.explain(expr, values=values, grad="ones_like(out)" if grad is None else grad)
    return [n["message"] for n in found.notes if n["code"] == "another-order"], found


@pytest.mark.parametrize("example", one_in(3, LEFT))
def test_every_operation_that_is_left_to_others_is_told_at_nan_and_not_where_all_is_finite(example):
    shape = example.problem.out.shape
    told = _told(example.text, example.values, np.full(shape, NAN))[0]
    assert bool(told) == (example.op.left_to != "sum")
    assert _told(example.text, example.values, np.ones(shape))[0] == []


def test_operations_of_a_seed_are_looked_at():
    (message,), _ = _told("x * 2", {"x": [INF, 1.0]}, "x * (x @ x)")
    assert "x @ x meets inf" in message


@pytest.mark.parametrize(("expr", "values", "said"), MET)
def test_the_operation_is_named_and_what_it_meets(expr, values, said):
    (message,), _ = _told(expr, values)
    assert said in message
    assert "which elements are inf or nan may differ" in message


@pytest.mark.parametrize(("expr", "values"), NOT_MET)
def test_where_the_order_decides_on_nothing_nothing_is_said(expr, values):
    assert _told(expr, values)[0] == []


def test_an_operation_is_told_that_no_gradient_flows_through():
    values = {"x": [[1e308, -1e308]], "w": [[1.0], [1.0]], "c": [[1.0]]}
    found = gradcli.explain("(x @ w * c).sum()", values=values, wrt="c")
    (said,) = (n["message"] for n in found.notes if n["code"] == "another-order")
    assert said.startswith("x @ w meets 1e+308, whose square overflows. PyTorch leaves it to BLAS")


@pytest.mark.parametrize(("expr", "same"), [("x @ x", False), ("x / x", True)])
def test_the_same_numbers_are_promised_where_no_order_decides_on_them(expr, same):
    _, found = _told(expr, {"x": [[INF]]})
    (said,) = (n["message"] for n in found.notes if n["code"] == "not-finite")
    assert ("PyTorch computes the same" in said) == same


def test_there_is_one_note_for_all_that_is_left_to_the_same():
    (said,), _ = _told("F.mse_loss(x @ x, y @ x)", {"x": [[INF]], "y": [[NAN]]})
    assert said.startswith("x @ x meets nan and y @ x meets nan. PyTorch leaves it to BLAS")
    (said,), _ = _told("a = x @ x; b = a @ x; c = b @ x; d = c @ x; d @ x", {"x": [[NAN]]})
    assert said.startswith("x @ x meets nan, a @ x meets nan, b @ x meets nan and 2 more operat")
    assert len(_told("F.bilinear(x, x, w)", {"x": [[INF]], "w": [[[1.0]]]})[0]) == 1


@pytest.mark.parametrize(("x", "told"), [([1.0, INF], True), ([1.0, 2.0], False)])
def test_zeros_beside_inf_are_told_in_higher_orders(x, told):
    expr, values = "F.mse_loss(x, y, reduction='none').abs().sum()", {"x": x, "y": [0.5, 0.25]}
    found = gradcli.explain(expr, values=values, wrt=["x"], order=2, grad=1, grads=[[1.0, 1.0]])
    assert any("multiplies them by zeros" in n["message"] for n in found.notes) == told
