"""Graphs in terms of what their operators are made of."""

from textwrap import dedent

import numpy as np
import pytest
from console import gradcli
from support import Example, answer, assert_equal, examples, generator, run_torch

from gradcli.graphs import walk
from gradcli.graphs.substitution import expanded

COMPOSITES = [e for e in examples() if e.op.expand]


@pytest.mark.parametrize("example", COMPOSITES, ids=str)
def test_the_same_in_other_words(example: Example):
    problem = example.problem
    again = problem.rebuilt(expanded(problem.roots))
    assert not any(node.op.expand for node in walk([again.out]))
    seed = generator(str(example)).normal(size=problem.out.shape)
    ours, theirs = answer(problem, seed), answer(again, seed)
    assert_equal(theirs.out, ours.out, 1e-10, 1e-12)
    for name, grad in ours.grads.items():
        if grad is not None:
            assert_equal(theirs.grads[name], grad, 1e-9, 1e-11)


def test_softmax_step_by_step():
    args = ("s = softmax(x, -1)", "-v", "x=[[0,0]]", "-g", "[[1,3]]")
    out = gradcli("explain", *args, "--expand", "--show", "forward,backward,gradient").out
    assert "exp(x).sum(dim=-1, keepdim=True)" in out
    assert "exp(x), used twice" in out
    # s * (g - Σ g s), by hand: 0.5 * (1 - 2), 0.5 * (3 - 2)
    assert "[[-0.5, 0.5]]" in out
    assert "exp(" not in gradcli("explain", *args, "--show", "forward").out


def test_names_are_kept():
    text = "p = sigmoid(x); out = layer_norm(p, (2,))"
    graph = gradcli("graph", text, "-s", "x=3x2", "--expand").out
    assert "p = sigmoid(x)" in graph
    assert "sqrt(·)" in graph
    assert "layer_norm" not in graph


def test_what_a_meaning_has_summed_is_not_said_to_be_summed_again():
    result = gradcli("F.layer_norm(x, (3,), w)", "-s", "x=4x3,w=3", "--show", "backward")
    assert "to w    (g * layer_norm(x, (3,))).sum(dim=0)" in result.out
    assert "broadcast" not in result.out


@pytest.mark.oracle
@pytest.mark.usefixtures("double_precision")
def test_names_of_repeated_parts_are_not_those_of_the_program():
    """In code that is long by repetition, against PyTorch's gradients of the program itself."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    layers = "; ".join(["a = layer_norm(a @ var, [2])"] * 4)
    text = f"a = sqrt * t; {layers}; (a * t).sum()"
    draw = generator(text)
    values = {name: draw.uniform(0.5, 1, (2, 2)) for name in ("sqrt", "t", "var")}
    given = [arg for name, v in values.items() for arg in ("-v", f"{name}={v.tolist()}")]
    out = gradcli("explain", text, *given, "--expand", "--show", "code").out
    tensors = {n: torch.tensor(v, requires_grad=True) for n, v in values.items()}
    run_torch(text, tensors).backward()
    ran: dict = {}
    exec(dedent(out.partition("In PyTorch\n")[2]), ran)
    for name, tensor in tensors.items():
        np.testing.assert_allclose(ran[name].grad, tensor.grad, rtol=1e-5, atol=1e-7)


def test_a_formula_that_divides_by_0_at_the_trials_is_still_written():
    """The derivative of a product is the product over the factor, of which relu makes zeros."""
    result = gradcli("relu(x).prod(1)", "-s", "x=2x3", "--expand", "--show", "gradient")
    assert "(g * out).unsqueeze(1) * (x > 0) / relu(x)" in result.out
