"""Arrays that are passed to gradcli stay the caller's, and those that come back are too."""

import numpy as np
import pytest

import gradcli


@pytest.mark.parametrize(
    "expr", ["x + y", "x.T.T + y", "(x + y).reshape(-1).reshape(2, 2)", "x * y"]
)
def test_a_gradient_shares_nothing_with_what_was_given(expr):
    values, seed = {"x": np.eye(2), "y": np.ones((2, 2))}, np.ones((2, 2))
    found = gradcli.grad(expr, values=values, grad=seed, wrt="x")
    found += 1
    np.testing.assert_array_equal(seed, np.ones((2, 2)))
    np.testing.assert_array_equal(values["x"], np.eye(2))
    np.testing.assert_array_equal(values["y"], np.ones((2, 2)))


def test_a_gradient_can_be_changed():
    assert gradcli.grad("x.sum()", values={"x": np.ones(3)}).flags.writeable


def test_an_explanation_keeps_the_values_that_it_was_asked_with():
    x, seed = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    explanation = gradcli.explain("x * x", values={"x": x}, grad=seed)
    x[:], seed[:] = 0, 0
    assert explanation.grad["x"]["value"].tolist() == [6, 16]
