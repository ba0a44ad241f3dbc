"""Numbers in float32 are PyTorch's where the precision itself decides on them."""

import numpy as np
import pytest
from console import gradcli as command

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.oracle

SMALL = [[1e-4, 2e-4, -3e-4], [3e-9, 0.0, 1e-8]]  # mean squares beside the unit of float32
NEARLY_SINGULAR = [[1.03, 0.4, 7.2], [2.21, 1.3, 15.4], [3.6, 2.9, 25.0]]  # of rank 2
PROGRAMS = ["torch-function", "custom-vjp", "numpy"]


def in_torch(expr, x, dtype):
    given = torch.tensor(x, dtype=dtype, requires_grad=True)
    names = {"torch": torch, "F": torch.nn.functional, "linalg": torch.linalg, "x": given}
    out = eval(expr, names)
    (grad,) = torch.autograd.grad(out, given, torch.ones_like(out))
    return out.detach().numpy(), grad.numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("expr", "x"), [
    ("F.rms_norm(x, (3,))", SMALL), ("F.rms_norm(x, (3,), x[0])", SMALL),
    ("F.rms_norm(x, (2, 3), eps=1e-9)", SMALL),
    ("(x ** 2 + torch.finfo(x.dtype).eps).log()", SMALL),
    ("x / (x.abs() + 2 * torch.finfo(x.dtype).eps)", SMALL),
    ("x * linalg.matrix_rank(x)", NEARLY_SINGULAR),
])  # fmt: skip
def test_gradients(expr, x, dtype):
    asked = ("grad", expr, "-v", f"x={x}", "-g", "ones_like(out)", "--dtype", dtype)
    _, expected = in_torch(expr, x, getattr(torch, dtype))
    np.testing.assert_allclose(command(*asked).json, expected, rtol=2e-5)


def test_the_pseudoinverse_leaves_out_singular_values_below_the_unit():
    asked = ("grad", "linalg.pinv(x)", "-v", f"x={NEARLY_SINGULAR}", "-g", "ones_like(out)")
    _, expected = in_torch("linalg.pinv(x)", NEARLY_SINGULAR, torch.float32)
    found = command(*asked, "--dtype", "float32").json
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", PROGRAMS)
def test_programs_take_the_unit_of_what_they_are_given(target, dtype):
    if target == "custom-vjp":
        pytest.importorskip("jax", reason="JAX is not installed")
    code = command("code", "F.rms_norm(x, (3,))", "-s", "x=2x3", "--target", target).out
    scope = {}
    try:
        exec(code, scope)
    finally:
        torch.set_default_dtype(torch.float32)
    x = np.array(SMALL, dtype)
    value, slope = in_torch("F.rms_norm(x, (3,))", SMALL, getattr(torch, dtype))
    np.testing.assert_allclose(called(scope, target, x), value, rtol=1e-5)
    np.testing.assert_allclose(pulled_back(scope, target, x), slope, rtol=2e-5)


def called(scope, target, x):
    if target == "torch-function":
        return scope["RmsNorm"].apply(torch.tensor(x)).numpy()
    return scope["f"](x)


def pulled_back(scope, target, x):
    if target == "numpy":
        return scope["f_grad"](x, np.ones_like(x))
    if target == "custom-vjp":
        return scope["jax"].vjp(scope["f"], x)[1](np.ones_like(x))[0]
    given = torch.tensor(x, requires_grad=True)
    out = scope["RmsNorm"].apply(given)
    return torch.autograd.grad(out, given, torch.ones_like(out))[0].numpy()


def test_what_the_precision_decides_is_no_rounding():
    asked = ("rms_norm(x, (3,))", "-v", f"x={SMALL[:1]}", "-g", "ones_like(out)")
    found = command("explain", *asked, "--dtype", "float32", "--show", "notes,gradient").out
    assert "rounding" not in found
    assert "finfo(x.dtype).eps" in found
