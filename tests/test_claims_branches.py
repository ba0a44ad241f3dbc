"""Claims that are right on some branches of a program alone; the verdicts were found by hand."""

import numpy as np
import pytest

from gradcli.explanation.claims.report import is_as_right, reason
from gradcli.explanation.claims.verdict import judge
from gradcli.language.posing import pose

OUTSIDE = "(g - out * (g @ out)) / norm(x)"


@pytest.mark.parametrize(
    ("expr", "claim"),
    [
        ("relu6(x)", "x = g * (x > 0)"),
        ("hardswish(x)", "x = g * (2 * x + 3) / 6"),
        ("softplus(x, threshold=2)", "x = g * sigmoid(x)"),
        ("relu(x - 3)", "x = zeros_like(x)"),
        ("relu(x + 7)", "x = g"),
        ("abs(x - 5)", "x = -g"),
        ("clamp(x, -10, 10)", "x = g"),
        ("clamp(x, 100, 101)", "x = zeros_like(x)"),
        ("clamp(x, -1e-9, 1e-9)", "x = zeros_like(x)"),
        ("hardtanh(x, -50, 50)", "x = g"),
        ("where(x > 5, x**2, x)", "x = g"),
        ("minimum(x, tensor(4.))", "x = g"),
        ("huber_loss(x, y, delta=5.)", "x = (x - y) / x.numel()"),
        ("smooth_l1_loss(x, y, beta=10.)", "x = (x - y) / 10 / x.numel()"),
        ("relu(10 - x * y)", "x = -g * y"),
        ("x / clamp(norm(x), min=50.)", "x = g / 50"),
        ("where(norm(x) > 1, x / norm(x), x)", f"x = {OUTSIDE}"),
        ("x * clamp(1 / norm(x), max=1)", f"x = {OUTSIDE}"),
        ("x**2", "x = 2 * g * x * (x < 50)"),
        ("abs(sin(x))", "x = g * cos(x) * sign(x)"),
    ],
)
def test_every_branch_is_tried(expr, claim):
    assert not judge([claim], pose(expr))[0].ok


LAYER = {"x": (3, 4), "W": (4, 5), "b": (5,)}
PAIR = {"x": (3,), "y": (3,)}


@pytest.mark.parametrize(
    ("expr", "claim", "shapes"),
    [
        ("relu(x @ W + b)", "x = (g * (x @ W > 0)) @ W.T", LAYER),
        ("leaky_relu(x @ W + b, 0.1)", "W = x.T @ (g * where(x @ W > 0, 1, 0.1))", LAYER),
        ("abs(x @ W + b)", "W = x.T @ (g * sign(x @ W))", LAYER),
        ("clamp(x @ W + b, min=0)", "W = x.T @ (g * (x @ W > 0))", LAYER),
        ("relu(x @ W + b) @ V", "W = x.T @ (g @ V.T * (x @ W > 0))", LAYER | {"V": (5, 2)}),
        ("maximum(x, y)", "x = g * (x > 0)", PAIR),
        ("relu(x - y)", "x = g * (x > 0)", PAIR),
        ("where(x > y, x, 0)", "x = g * (x > 0)", PAIR),
        ("(x > y) * x", "x = g * (x > 0)", PAIR),
        ("relu(a * x + b)", "x = g * a * (x > 0)", dict.fromkeys("axb", ())),
        ("relu(X @ w + b)", "w = X.T @ (g * (X @ w > 0))", {"X": (3, 4), "w": (4,), "b": ()}),
    ],
)
def test_no_condition_is_told_that_does_not_decide_on_the_masks(expr, claim, shapes):
    (v,) = judge([claim], pose(expr, shapes=shapes))
    assert not v.ok
    assert v.condition is None


@pytest.mark.parametrize(
    ("expr", "claim", "shapes", "condition"),
    [
        ("relu(x * y)", "x = g * y * (x > 0)", PAIR, "y is positive"),
        ("relu(x + exp(y))", "x = g", PAIR, "x is positive"),
        ("relu(x @ A)", "x = g * (x @ A > 0) @ A", {"x": (3, 4), "A": (4, 4)}, "A is symmetric"),
    ],
)
def test_a_condition_that_decides_on_the_masks_is_told(expr, claim, shapes, condition):
    (v,) = judge([claim], pose(expr, shapes=shapes))
    assert not v.ok
    assert v.condition == condition


@pytest.mark.parametrize(
    ("expr", "claim", "shapes", "values", "right"),
    [
        ("relu(x @ W + b)", "W = x.T @ (g * (x @ W > 0))", LAYER,
         {"x": [[1, 0]], "W": [[-0.1, 0.2], [0, 1]], "out": [[0.4, 0.7]], "g": [[1, 1]]},
         [[1, 1], [0, 0]]),
        ("relu(X @ w + b)", "w = X.T @ (g * (X @ w > 0))", {"X": (3, 4), "w": (4,), "b": (3,)},
         {"X": [[1, 2], [3, 4], [5, 6]], "w": [-1, 0], "out": [4, 0, 0], "g": [1, 1, 1]},
         [1, 2]),
    ],
)  # fmt: skip
def test_a_mask_without_the_bias_is_mended_where_the_bias_decides(
    expr, claim, shapes, values, right
):
    (v,) = judge([claim], pose(expr, shapes=shapes))
    assert v.condition is None
    assert v.correction.why.endswith(" > 0 should be out > 0, the derivative of relu")
    found = eval(v.correction.formula, {name: np.array(n) for name, n in values.items()})
    assert found.tolist() == right


@pytest.mark.parametrize(
    ("expr", "claim"),
    [
        ("relu6(x)", "x = g * ((x > 0) & (x < 6))"),
        ("hardswish(x)", "x = where(x <= -3, 0, where(x < 3, g * (2 * x + 3) / 6, g))"),
        ("softplus(x, threshold=2)", "x = where(x > 2, g, g * sigmoid(x))"),
        ("softplus(x)", "x = g * sigmoid(x)"),
        ("elu(x)", "x = g * where(x > 0, 1, exp(x))"),
        ("huber_loss(x, y, delta=5.)", "x = clamp(x - y, -5, 5) / x.numel()"),
        ("where(norm(x) > 1, x / norm(x), x)", f"x = where(norm(x) > 1, {OUTSIDE}, g)"),
        ("relu(clamp(x, -5, 5))", "x = g * ((x > 0) & (x < 5))"),
        ("abs(sin(x))", "x = g * cos(x) * sign(sin(x))"),
        ("log(softplus(x))", "x = g * sigmoid(x) / log(1 + exp(x))"),
        ("sigmoid(relu(x))", "x = g * (x > 0) * exp(-relu(x)) / (1 + exp(-relu(x)))**2"),
        ("tanh(clamp(x, -50, 50))", "x = g * (abs(x) < 50) / cosh(x)**2"),
    ],
)
def test_what_is_right_on_every_branch_is_right(expr, claim):
    assert judge([claim], pose(expr))[0].ok


@pytest.mark.parametrize(
    "expr", ["normalize(x, dim=0)", "x / x.norm().clamp(min=1e-8)", "x / (x.norm() + 1e-12)"]
)
def test_what_denominators_are_held_above_may_be_left_out(expr):
    claim = "x = (g - out * (g @ out)) / norm(x)"
    assert judge([claim], pose(expr, shapes={"x": (3,)}))[0].ok


def test_what_is_kept_symmetric_is_so_on_every_branch():
    problem = pose("relu((eigvalsh(A)**2).sum() - 5)", shapes={"A": (3, 3)})
    assert judge(["A = 2 * A * (trace(A @ A) > 5)"], problem)[0].ok


@pytest.mark.parametrize(
    ("expr", "claim", "right"),
    [
        ("relu(x).sum()", "x = x > 0", True),
        ("relu(x).sum()", "x = x < 0", False),
        ("max(x)", "x = (x == max(x)) & (x > -100)", False),
    ],
)
def test_a_claim_may_be_a_mask(expr, claim, right):
    assert judge([claim], pose(expr, shapes={"x": (3,)}))[0].ok is right


@pytest.mark.parametrize(
    ("expr", "claim", "right"),
    [
        ("(x - x.mean()) / x.std()",
         "x = (g - g.mean() - out * (g * out).sum() / (x.numel() - 1)) / x.std()", True),
        ("det(A.T @ A)", "A = 2 * out * A @ inv(A.T @ A)", True),
        ("sqrt(det(A.T @ A))", "A = out * A @ inv(A.T @ A)", True),
        ("1e-20 * x", "x = 2e-20 * g", False),
    ],
)  # fmt: skip
def test_rounding_is_not_compared_with_rounding(expr, claim, right):
    assert judge([claim], pose(expr))[0].ok is right


@pytest.mark.parametrize(
    ("expr", "claim"),
    [
        ("where(x > y, x, where(y > z, y, z))", "x = g * (x > y)"),
        ("p = softmax(z, -1); (p * log(p)).sum()", "z = p * (log(p) - (p * log(p)).sum(-1, True))"),
    ],
)
def test_a_right_claim_does_not_part_at_0_by_chance(expr, claim):
    (v,) = judge([claim], pose(expr))
    assert v.ok
    assert v.deviation is None


def test_a_claim_that_divides_by_0_where_the_gradient_does_not():
    (v,) = judge(["x = g * (x > 0) / (2 * out)"], pose("sqrt(relu(x))"))
    assert reason(v) == "it divides by 0 or overflows where the gradient does not"
    assert is_as_right(v)
    assert judge(["x = where(x > 0, g / (2 * out), 0)"], pose("sqrt(relu(x))"))[0].ok


def test_there_may_be_no_elements():
    assert judge(["x = g"], pose("sort(x).values", shapes={"x": (0,)}))[0].ok


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("how", ["", ", descending=True"])
def test_orders_that_are_not_their_own_inverse_are_tried(size, how):
    problem = pose(f"sort(x{how}).values", shapes={"x": (size,)})
    assert not judge([f"x = g[argsort(x{how})]"], problem)[0].ok
    assert judge([f"x = g[argsort(argsort(x{how}))]"], problem)[0].ok


def test_what_is_left_out_of_a_right_formula_need_not_be_one():
    """A difference of masks, which is left where a divisor is, is none."""
    (v,) = judge(["x = x - x.mean()"], pose("x.max() - x.min()", shapes={"x": (3,)}))
    assert not v.ok
    assert v.correction is None
