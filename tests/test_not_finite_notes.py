"""What is said of a gradient that is not finite, and of PyTorch's there."""

import numpy as np
import pytest

import gradcli

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(("expr", "x", "same"), [
    ("x / x", [[INF]], True),
    ("log(x).sum()", [0.0, 1.0], True),
    ("x.mean()", [[INF, 1.0]], None),
    ("x @ x", [[INF]], False),
    ("F.layer_norm(x, (2,))", [[1.0, NAN]], False),
    ("torch.linalg.det(x)", [[INF, 1.0], [2.0, 3.0]], False),
])  # fmt: skip
def test_the_order_of_operations_is_told_where_it_may_decide(expr, x, same):
    found = gradcli.explain(expr, values={"x": x}, grad="ones_like(out)")
    told = [n["message"] for n in found.notes if n["code"] == "not-finite"]
    assert [("PyTorch computes the same" in m) for m in told] == ([] if same is None else [same])
    assert all(same or "the order in which it multiplies and adds" in m for m in told)


@pytest.mark.parametrize(("x", "told"), [([1.0, INF], True), ([1.0, 2.0], False)])
def test_zeros_beside_inf_are_told_in_higher_orders(x, told):
    expr, values = "F.mse_loss(x, y, reduction='none').abs().sum()", {"x": x, "y": [0.5, 0.25]}
    found = gradcli.explain(expr, values=values, wrt=["x"], order=2, grad=1, grads=[[1.0, 1.0]])
    assert any("multiplies them by zeros" in n["message"] for n in found.notes) == told


@pytest.mark.parametrize(("expr", "x", "where"), [
    ("sqrt(x)", [0.0, 1.0], "for x[0]: PyTorch computes the same. It begins at sqrt(x)."),
    ("x / x.norm(dim=1, keepdim=True)", [[0.0, 0.0], [1.0, 2.0]], "for x[0,0] and x[0,1]"),
    ("sqrt(x)", [4.0, 1.0], None),
])  # fmt: skip
def test_without_a_seed_it_is_told_what_is_so_for_any(expr, x, where):
    found = gradcli.explain(expr, values={"x": x})
    told = [n["message"] for n in found.notes if n["code"] == "not-finite"]
    assert [where in m for m in told] == [True] * (where is not None)
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = torch.tensor(x, requires_grad=True)
    out = tensor.sqrt() if expr == "sqrt(x)" else tensor / tensor.norm(dim=1, keepdim=True)
    out.backward(torch.rand(out.shape))
    assert tensor.grad.isfinite().all() == (where is None)
