"""Where rounding leaves few digits of a gradient a note says so, and nowhere else."""

import math

import numpy as np
import pytest
from console import gradcli as command

import gradcli

MORE_DIGITS = np.finfo(np.longdouble).eps < np.finfo(float).eps  # on this machine
LEFT = [  # with the gradient by hand, which double precision misses
    ("softmax(x, 0).sum()", [1.0, 2.5, 0.3], [0.0, 0.0, 0.0]),
    ("layer_norm(x, (3,))", [1.0, 2.5, 0.3], [0.0, 0.0, 0.0]),
    ("(1 - cos(x)) / x**2", [1e-8], [-1e-8 / 12]),
    ("(x + 1)**2 - x**2 - 2*x", [1e17], [0.0]),
    ("1/x - 1/tan(x)", [1e-9], [1 / 3]),  # where it is exactly 0
    ("(sin(x + 1e-17) - sin(x)) / 1e-17", [1.0], [-np.sin(1.0)]),
    ("log(exp(x) - 1)", [1e-13, 1.0], -1 / np.expm1([-1e-13, -1.0])),
]
KEPT = [
    ("softmax(x, 0)[0]", [1.0, 2.5, 0.3]),
    ("x.var() + x.prod() - x.sum()", [1e9, 1e9 + 1, 1e9]),
    ("exp(x)", [-740.0, 800.0]),
    ("tanh(x) + sigmoid(x)", [20.0, 40.0]),  # 0 but for less than the rounding of the seed
    ("x.exp().log() - x", [1.3]),  # 0, and exactly that
    ("rms_norm(x, (2,))", [1e-9, 2e-9]),  # small beside the unit of rounding that it adds
    ("expm1(x) + log1p(x) + sinc(x)", [1e-14, 1e-3]),
]


def _told(expr, x):
    found = gradcli.explain(expr, values={"x": x}, grad="ones_like(out)")
    return [n["message"] for n in found.notes if n["code"] == "rounding"]


@pytest.mark.parametrize(("expr", "x", "exact"), LEFT)
def test_elements_with_fewer_than_four_digits_are_told(expr, x, exact):
    here = gradcli.grad(expr, values={"x": x}, grad="ones_like(out)")
    few = np.abs(here - exact) > 1e-4 * np.maximum(np.abs(exact), np.abs(here))
    told = _told(expr, x)
    assert bool(told) == (MORE_DIGITS and few.any())
    for message in told:
        assert [k for k in range(len(x)) if f"x.grad[{k}]" in message] == [*np.flatnonzero(few)]


@pytest.mark.parametrize(("expr", "x"), KEPT)
def test_where_digits_are_kept_nothing_is_told(expr, x):
    assert _told(expr, x) == []


@pytest.mark.parametrize(("expr", "x", "told"), [
    ("softmax(x, 0).sum()", [1.0, 2.5, 0.5], True),
    ("exp(x).sum()", [1.0, 90.0], True),
    ("x[0] - 1e-50 * x[1]", [1.0, 2.0], True),
    ("x * 1", [0.1], True),
    ("log(1 - sigmoid(x))", [17.5], True),  # nan in single precision
    ("softmax(x, 0)[0]", [1.0, 2.5, 0.5], False),
])  # fmt: skip
def test_code_is_in_double_precision_where_single_has_other_digits(expr, x, told):
    code = gradcli.explain(expr, values={"x": x}).to(show=["code"])
    assert ("torch.set_default_dtype(torch.float64)" in code) == told


@pytest.mark.oracle
@pytest.mark.parametrize(("expr", "x"), [
    ("exp(x) / (1 + exp(x))", 90.0), ("x**10 / (1 + x**10)", 1e5), ("log(1 - tanh(x))", 9.5),
    ("log(1 - erf(x))", 4.0), ("log(1 + erf(x))", [-3.5]), ("i0(x)", 90.0), ("i1(x)", [-90.0]),
    ("digamma(x) - x", -88.0), ("F.gelu(x)", -5.0), ("log(-F.gelu(x))", [-5.25]),
    ("1 / sinc(x)", 4.0), ("exp(x) / (1 + exp(x))", 2.0), ("log(1 - tanh(x))", [0.5]),
    ("i0(x)", 9.0), ("digamma(x) - x", -8.75), ("F.gelu(x)", -1.0), ("x * math.sqrt(2)", 0.5),
])  # fmt: skip
def test_code_is_in_double_precision_where_torch_has_other_digits_in_single(expr, x):
    torch = pytest.importorskip("torch", reason="torch is the oracle of this test")
    known = {"F": torch.nn.functional, "math": math, **vars(torch.special), **vars(torch)}

    def in_torch(dtype):
        given = torch.tensor(x, dtype=dtype, requires_grad=True)
        return torch.autograd.grad(eval(expr, {**known, "x": given}).sum(), given)[0].double()

    double, single = in_torch(torch.float64), in_torch(torch.float32)
    alike = torch.isfinite(single) & ((double - single).abs() <= 1e-4 * double.abs())
    code = gradcli.explain(expr, values={"x": x}, grad="ones_like(out)").to(show=["code"])
    assert ("torch.set_default_dtype(torch.float64)" in code) == (not alike.all())


def test_single_precision_is_held_against_double_and_stays_in_code():
    asked = "explain", "(1 - cos(x)) / x**2", "-v", "x=0.01", "--show", "code,notes"
    found = command(*asked, "--dtype", "float32").out
    assert "Computed in 6 digits" in found
    assert "set_default_dtype" not in found
    assert "rounding" not in command(*asked).out
