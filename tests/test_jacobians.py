"""Jacobians and Hessians in numbers: by their closed form, and one VJP a row."""

import numpy as np
import pytest
from support import case, examples, one_hot_jacobian

import gradcli
from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.explanation.jacobian import jacobian_of, vjp_of
from gradcli.graphs import OPS
from gradcli.language.posing import pose
from gradcli.limits import Limits

EXAMPLES = examples()


def hessian(text, first, second, **values):
    """The Hessian of a scalar: of its gradient by one input, the Jacobian by another."""
    p = pose(text, values=values)
    x, y = p.inputs[first].node, p.inputs[second].node
    (gradient,) = backward(p.out, OPS["constant"](value=1.0), [x]).of.values()
    return gradient, y, Evaluator(p.values)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_is_that_of_one_vjp_a_row(example):
    c = case(example)
    for x, grad in c.grads.items():
        found = jacobian_of(c.p.out, x, Evaluator(c.p.values))
        expected = one_hot_jacobian(c, grad, (*c.p.out.shape, *x.shape))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_most_have_a_closed_form():
    several = [c for c in map(case, EXAMPLES) if c.p.out.numel > 1]
    ways = [vjp_of(c.p.out, x) for c in several for x in c.grads]
    assert sum(way.form is not None for way in ways) >= 0.96 * len(ways)


# Hessians by hand: those of a quadratic form, of a sum of squares, and of a cubic.
A = np.arange(9.0).reshape(3, 3) ** 2
V = np.array([1.0, -2.0, 0.5])
HESSIANS = [
    ("x @ A @ x", {"A": A, "x": V}, A + A.T),
    ("(x ** 2).sum()", {"x": V}, 2 * np.eye(3)),
    ("(x ** 3).sum()", {"x": V}, np.diag(6 * V)),
    ("exp(x.sum())", {"x": V}, np.full((3, 3), np.exp(V.sum()))),
    ("x[0] * x[2]", {"x": V}, [[0, 0, 1], [0, 0, 0], [1, 0, 0]]),
    ("x.prod()", {"x": V}, [[0, 0.5, -2], [0.5, 0, 1], [-2, 1, 0]]),
]


@pytest.mark.parametrize(("text", "values", "expected"), HESSIANS)
def test_hessians(text, values, expected):
    found = jacobian_of(*hessian(text, "x", "x", **values))
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_of_two_inputs():
    draw = np.random.default_rng(0)
    U, V, M = draw.normal(size=(4, 2)), draw.normal(size=(3, 2)), draw.normal(size=(4, 3))
    text = "((U @ V.T - M) ** 2).sum()"
    by_u = jacobian_of(*hessian(text, "U", "U", U=U, V=V, M=M))
    np.testing.assert_allclose(by_u, 2 * np.einsum("ik,jl->ijkl", np.eye(4), V.T @ V))
    mixed = jacobian_of(*hessian(text, "U", "V", U=U, V=V, M=M))
    expected = np.einsum("ij,rs->irjs", U @ V.T - M, np.eye(2)) + np.einsum("is,jr->irjs", U, V)
    np.testing.assert_allclose(mixed, 2 * expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.take(i)", [[0, 0, 1], [1, 0, 0]]),
        ("x.put(i, y)", [[0, 0, 0], [0, 1, 0], [0, 0, 0]]),
        ("y.new_zeros(3).put(i, x[:2])", [[0, 1, 0], [0, 0, 0], [1, 0, 0]]),
    ],
)
def test_labels_that_count_from_the_end(text, expected):
    values = {"x": [1.0, 2.0, 3.0], "i": [-1, 0], "y": [5.0, 6.0]}
    values = {name: value for name, value in values.items() if name in text}
    found = gradcli.explain(text, values=values, wrt="x").jacobian["x"]["matrix"]
    np.testing.assert_array_equal(found, expected)


# ---- how they are computed -----------------------------------------------------------------------


def closed_form_of(text, name="x", **values):
    p = pose(text, values=values)
    return vjp_of(p.out, p.inputs[name].node).form


def test_terms_that_share_their_matrices_are_one():
    text = "-(y * log(sigmoid(X @ w)) + (1 - y) * log(1 - sigmoid(X @ w))).mean()"
    gradient, w, _ = hessian(text, "w", "w", X=np.ones((5, 3)), y=np.ones(5), w=np.ones(3))
    (term,) = vjp_of(gradient, w).form.terms  # X.T @ diag(d) @ X, one einsum
    assert sorted(map(len, term.groups)) == [1, 2, 2]


def test_a_delta_makes_no_large_array():
    form = closed_form_of("tanh(x)", x=np.ones(1000))
    assert [term.strides for term in form.terms] == [(8 * 1001,)]
    assert [group for term in form.terms for group in term.groups] == [(form.terms[0].free)]


def test_a_chain_too_long_to_be_written_is_computed_row_by_row():
    text = "; ".join(["h = sin(x)", *["h = sin(h)"] * 200])
    assert closed_form_of(text, x=V) is None
    found = gradcli.jacobian(text, values={"x": V})
    slope, h = np.ones(3), V
    for _ in range(201):
        slope, h = slope * np.cos(h), np.sin(h)
    np.testing.assert_allclose(found, np.diag(slope), rtol=1e-12)


def test_what_a_mask_hides_stays_hidden():
    # d/dx where(x > 0, log(x), 0) at x <= 0: an infinity times 0 on the way, hidden by the mask
    found = gradcli.jacobian("where(x > 0, x, 1 / x)", values={"x": [0.0, 2.0, -2.0]})
    np.testing.assert_array_equal(np.diag(found), [-np.inf, 1, -0.25])
    found = gradcli.jacobian("where(x > 0, 0, sqrt(x + 2))", values={"x": [-2.0, 2.0]})
    assert np.diag(found).tolist() == [np.inf, 0]


def test_a_row_has_nan_where_its_vjp_divides_0_by_0():
    found = gradcli.jacobian("log(x)", values={"x": [0.0, 2.0]})
    np.testing.assert_array_equal(found, [[np.inf, 0], [np.nan, 0.5]])


def test_the_answer_is_the_callers_own():
    A = np.eye(2)
    found = gradcli.jacobian("A @ x", values={"A": A, "x": [1.0, 2.0]}, wrt="x")
    found[0, 0] = 9
    assert A[0, 0] == 1


def test_single_precision():
    p = pose("tanh(x)", values={"x": V})
    found = jacobian_of(p.out, p.inputs["x"].node, Evaluator(p.values, dtype="float32"))
    assert found.dtype == np.float32


def test_no_dependence_is_zero_and_so_is_nothing():
    p = pose("x.sum() * y", values={"x": np.ones(3), "y": np.ones(2)})
    z = OPS["input"](name="z", shape=(4,), dtype="float")
    assert jacobian_of(p.out, z, Evaluator(p.values)).tolist() == np.zeros((2, 4)).tolist()
    assert gradcli.jacobian("x * 2", values={"x": np.ones((0, 3))}).shape == (0, 3, 0, 3)


# ---- what is too large ---------------------------------------------------------------------------


def test_refused_before_anything_is_computed():
    p = pose("tanh(x)", values={"x": np.ones(5000)})
    x = p.inputs["x"].node
    computed = Evaluator(p.values)
    with pytest.raises(GradcliError, match="25,000,000 elements") as caught:
        jacobian_of(p.out, x, computed)
    assert caught.value.code == "limit"
    assert not {*computed.values} - {None, *p.values}
    raised = Evaluator(p.values, limits=Limits({"elements": 30_000_000}))
    assert jacobian_of(p.out, x, raised).shape == (5000, 5000)


def test_from_python_it_is_refused_too():
    with pytest.raises(GradcliError) as caught:
        gradcli.jacobian("tanh(x)", values={"x": np.ones(5000)})
    assert caught.value.code == "limit"


def test_a_large_product_gives_way_to_rows():
    # the sum over k of a mask [i, k] times a mask [k, j], for too many i and k at once
    p = pose("x.cumsum(0).cumsum(0).sum()", values={"x": np.ones(3000)})
    found = jacobian_of(p.out, p.inputs["x"].node, Evaluator(p.values))
    n = np.arange(3000.0, 0, -1)
    np.testing.assert_allclose(found, n * (n + 1) / 2)


def test_values_in_entries_have_the_digits_of_other_numbers():
    from console import gradcli as run

    given = ["jacobian", "x * exp(y)", "-w", "y", "-s", "y=2", "-v"]
    assert "1.2346·exp(y[0])" in run(*given, "x=[1.23456789,2]").out
    assert "1.2345679·exp(y[0])" in run(*given, "x=[1.23456789,2]", "--precision", "8").out
    assert "0.123456789·exp(x[0])" in run("jacobian", "0.123456789 * exp(x)", "-s", "x=2").out


def test_entries_that_are_not_finite_are_shown_without_a_seed():
    from console import gradcli as run

    result = run("jacobian", "log(x) * w", "-v", "x=[1,0]", "-v", "w=1", "-w", "w")
    assert result.status == 0
    assert "nan" in result.out
