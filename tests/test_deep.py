"""Graphs deeper than Python's stack: nothing recurses over nodes."""

import numpy as np
import pytest
from support import answer, pose

from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.graphs import OPS, walk

LENGTH = 100_000


def sine_chain(x, length):
    """sin applied so often, and its derivative: the product of the cosines on the way."""
    slope = np.ones_like(x)
    for _ in range(length):
        slope, x = slope * np.cos(x), np.sin(x)
    return x, slope


@pytest.mark.sweep
def test_chain_of_operators():
    x = OPS["input"](name="x", shape=(2,), dtype="float")
    h, sin = x, OPS["sin"]
    for _ in range(LENGTH):
        h = sin(h)
    seed = OPS["ones"](size=(2,))
    found = backward(h, seed, [x])
    assert len(found.steps) == LENGTH
    point = np.array([0.5, -1.0])
    value, slope = sine_chain(point, LENGTH)
    out, grad = Evaluator({x: point})(h, found.of[x])
    np.testing.assert_allclose(out, value, rtol=1e-12)
    np.testing.assert_allclose(grad, slope, rtol=1e-9)


def test_chain_of_statements():
    length = LENGTH // 10
    text = "h = x\n" + "h = h * 1.00001 + x\n" * length + "h.sum()"
    ours = answer(pose(text, values={"x": [1.0, -2.0]}))
    growth = 1.00001**length
    slope = growth + (growth - 1) / 0.00001
    np.testing.assert_allclose(ours.grads["x"], [slope, slope], rtol=1e-9)
    assert float(ours.out) == pytest.approx(-slope, rel=1e-9)


def test_long_sum_in_one_expression():
    text = " + ".join(["x * x"] * 500)
    ours = answer(pose(text, values={"x": 3.0}))
    assert float(ours.grads["x"]) == 2 * 3.0 * 500


def test_second_order_of_a_chain():
    x = OPS["input"](name="x", shape=(), dtype="float")
    h = x
    for _ in range(2_000):
        h = h.sin()
    one = OPS["ones"](size=())
    first = backward(h, one, [x]).of[x]
    second = backward(first, one, [x]).of[x]
    step, (found,) = 1e-5, Evaluator({x: np.array(0.5)})(second)
    ahead, behind = (sine_chain(np.array(0.5 + s), 2_000)[1] for s in (step, -step))
    assert float(found) == pytest.approx((ahead - behind) / (2 * step), rel=1e-5)


def test_wide_fan_out_is_added_once_each():
    x = OPS["input"](name="x", shape=(3,), dtype="float")
    total = x
    for _ in range(1_000):
        total = total + x
    (step, *_), nodes = backward(total, OPS["ones"](size=(3,)), [x]).steps, walk([total])
    assert len(nodes) == 1_001
    assert len(step.contributions) == 2
