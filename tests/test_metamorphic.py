"""Different ways to say the same have the same value and gradients; and some gradients by hand."""

import numpy as np
import pytest
from support import generator, gradients

from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose

# Two expressions, and the shapes of their inputs.
PAIRS = [
    ("x.mean(1)", "x.sum(1) / 3", "x=2x3"),
    ("x.mean()", "x.sum() / x.numel()", "x=2x3"),
    ("a @ b", "einsum('ik,kj->ij', a, b)", "a=2x3,b=3x4"),
    ("a @ b", "(a[:, :, None] * b).sum(1)", "a=2x3,b=3x4"),
    ("a @ b", "stack([a[0] @ b, a[1] @ b])", "a=2x3,b=3x4"),
    ("(a @ b).T", "b.T @ a.T", "a=2x3,b=3x4"),
    ("a @ b", "bmm(a[None], b[None]).squeeze(0)", "a=2x3,b=3x4"),
    ("outer(a, b)", "a[:, None] * b", "a=2,b=3"),
    ("dot(a, b)", "(a * b).sum()", "a=3,b=3"),
    ("trace(a @ b)", "(a * b.T).sum()", "a=2x3,b=3x2"),
    ("trace(x)", "x.diag().sum()", "x=3x3"),
    ("softmax(x, 1)", "exp(log_softmax(x, 1))", "x=2x3"),
    ("softmax(x, 1)", "exp(x) / exp(x).sum(1, keepdim=True)", "x=2x3"),
    ("softmax(x, 0)", "softmax(x - 5, 0)", "x=3"),
    ("log_softmax(x, -1)", "x - logsumexp(x, -1, keepdim=True)", "x=2x3"),
    ("logsumexp(x, 0)", "log(exp(x).sum(0))", "x=2x3"),
    ("x.norm()", "sqrt((x ** 2).sum())", "x=2x3"),
    ("norm(x, 3, dim=1)", "(abs(x) ** 3).sum(1) ** (1 / 3)", "x=2x3"),
    ("norm(x, inf)", "x.abs().max()", "x=2x3"),
    ("norm(x, 1)", "(x * sign(x)).sum()", "x=2x3"),
    ("x.var(1)", "((x - x.mean(1, keepdim=True)) ** 2).sum(1) / 2", "x=2x3"),
    ("x.var(correction=0)", "(x ** 2).mean() - x.mean() ** 2", "x=2x3"),
    ("x.std(0)", "sqrt(x.var(0))", "x=3x2"),
    ("layer_norm(x, (3,))", "(x - x.mean(1, True)) / sqrt(x.var(1, False, True) + 1e-5)", "x=2x3"),
    ("cross_entropy(x, tensor([2, 0]))", "nll_loss(log_softmax(x, 1), tensor([2, 0]))", "x=2x3"),
    ("cross_entropy(x, tensor([2, 0]))", "-(x.log_softmax(1)[[0, 1], [2, 0]]).mean()", "x=2x3"),
    ("cross_entropy(x, tensor(1))", "cross_entropy(x, tensor([0., 1., 0.]))", "x=3"),
    ("binary_cross_entropy_with_logits(x, t)", "binary_cross_entropy(sigmoid(x), t)", "x=3,t=3"),
    ("mse_loss(a, b)", "((a - b) * (a - b)).mean()", "a=2x3,b=2x3"),
    ("linear(x, w, b)", "x @ w.T + b", "x=2x3,w=4x3,b=4"),
    ("conv2d(x, w)", "einsum('bihw,oi->bohw', x, w[:, :, 0, 0])", "x=2x3x2x2,w=4x3x1x1"),
    (
        "conv2d(x, w, groups=2)",
        "cat([conv2d(x[:1], w[:1]), conv2d(x[1:], w[1:])])",
        "x=2x3x3,w=2x1x2x2",
    ),
    ("conv2d(x, w, padding=1)[:, 1:-1, 1:-1]", "conv2d(x, w)", "x=1x4x4,w=2x1x3x3"),
    ("sigmoid(x)", "(1 + tanh(x / 2)) / 2", "x=3"),
    ("logsigmoid(x)", "-softplus(-x)", "x=3"),
    ("silu(x)", "x * x.sigmoid()", "x=3"),
    ("x ** 2", "x * x", "x=2x3"),
    ("x ** 5", "x * x * x * x * x", "x=2x3"),
    ("x ** 0.5", "sqrt(x)", "x=3"),
    ("a ** b", "exp(b * log(a))", "a=3,b=3"),
    ("a / b", "a * b.reciprocal()", "a=2x3,b=3"),
    ("2 ** x", "exp(x * log(2 + 0 * x))", "x=3"),
    ("maximum(a, b)", "where(a > b, a, b)", "a=2x3,b=3"),
    ("maximum(a, b) + minimum(a, b)", "a + b", "a=2x3,b=3"),
    ("relu(x)", "x.clamp(min=0)", "x=2x3"),
    ("abs(x)", "relu(x) + relu(-x)", "x=2x3"),
    ("round(50 * x, decimals=-1) * x", "10 * round(5 * x) * x", "x=2x3"),
    ("x.max()", "x.amax((0, 1))", "x=2x3"),
    ("x.max(1).values", "x.amax(1)", "x=2x3"),
    ("x.prod()", "x[0] * x[1] * x[2]", "x=3"),
    ("x.cumsum(1)", "x @ triu(ones(3, 3))", "x=2x3"),
    ("x.flip(1)", "x[:, [2, 1, 0]]", "x=2x3"),
    ("tril(x)", "x * tril(ones(3, 3))", "x=3x3"),
    ("cat([a, b], dim=1)[:, :2]", "a + 0 * b", "a=2x2,b=2x2"),
    ("x.repeat(2, 1)", "cat([x, x])", "x=2x3"),
    ("x.expand(2, 3) * y", "x * y", "x=3,y=2x3"),
    ("x.gather(1, tensor([[0, 0], [2, 1]]))", "x[[[0], [1]], [[0, 0], [2, 1]]]", "x=2x3"),
    ("x.scatter(0, tensor(0), v)", "x.scatter(0, tensor([0]), v[:1])", "x=2,v=2"),
    ("x.scatter_add(0, tensor(0), v)", "cat([x[:1] + v[:1], x[1:]])", "x=2,v=2"),
    *(
        (f"x.scatter_reduce(0, tensor(0), v, '{how}')", f"cat([{value}, x[1:]])", "x=2,v=2")
        for how, value in {
            "sum": "x[:1] + v[:1]",
            "mean": "(x[:1] + v[:1]) / 2",
        }.items()
    ),
    ("inv(x)", "solve(x, eye(3))", "x=3x3"),
    ("solve(a, b)", "inv(a) @ b", "a=3x3,b=3x2"),
    ("det(x)", "x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0]", "x=2x2"),
    ("logdet(x)", "log(det(x))", "x=3x3"),
    ("x.detach() * x + x * x.detach()", "2 * x.detach() * x", "x=3"),
    ("h = x * x; h = h + x; h.sum()", "(x * x + x).sum()", "x=3"),
]


def positive(shapes, text):
    """Values between 0.2 and 1, with a heavy diagonal, so that every expression is defined."""
    draw = generator(text)
    for name, shape in shapes.items():
        value = draw.uniform(0.2, 1, shape)
        square = len(shape) > 1 and shape[-1] == shape[-2]
        yield name, value + 2 * np.eye(shape[-1]) if square else value


@pytest.mark.parametrize(("one", "other", "shapes"), PAIRS, ids=[f"{a} | {b}" for a, b, _ in PAIRS])
def test_equal_gradients(one, other, shapes):
    values = dict(positive(read_shapes([shapes]), one))
    shape = pose(one, values=values).out.shape
    assert shape == pose(other, values=values).out.shape
    seed = generator(one, other).normal(size=shape)
    left, right = gradients(one, values, seed), gradients(other, values, seed)
    for name in values:
        zero = np.zeros(np.shape(values[name]))
        mine, its = (zero if g is None else g for g in (left[name], right[name]))
        np.testing.assert_allclose(mine, its, rtol=1e-9, atol=1e-11)


A, S = [[1.0, 2.0], [3.0, 4.0]], 1 / (1 + np.e)
DIAGONAL = [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
SHIFTED = [[0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]
BY_HAND = [
    # The question gradcli began with: the gradient of a * a with a itself as the seed is 2 a².
    ("a * a", dict(a=[1.0, 2.0]), [1.0, 2.0], dict(a=[2.0, 8.0])),
    # <g, x a> has the gradients g aᵀ and xᵀ g (Giles 2008, 2.2.2).
    ("x @ a", dict(x=A, a=[[5.0], [6.0]]), [[1.0], [10.0]],
     dict(x=[[5.0, 6.0], [50.0, 60.0]], a=[[31.0], [42.0]])),
    # The gradient of the determinant is its cofactors (Jacobi's formula).
    ("det(x)", dict(x=A), None, dict(x=[[4.0, -3.0], [-2.0, 1.0]])),
    # A singular matrix has cofactors too, its minors with signs; so do their derivatives.
    ("(cofactors(x, det(x)) * t).sum()", dict(x=SHIFTED, t=[[1.0] * 3] * 3), None,
     dict(t=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [6.0, 0.0, 0.0]])),
    ("(cofactors_along(x, det(x), t) * w).sum()",
     dict(x=DIAGONAL, t=[[1.0, 3.0, 4.0], [5.0, 6.0, 7.0], [8.0, 9.0, 10.0]], w=[[1.0] * 3] * 3),
     None, dict(w=[[38.0, -15.0, -16.0], [-9.0, 3.0, 0.0], [-8.0, 0.0, 2.0]])),
    # Of log det X it is X⁻ᵀ (Petersen and Pedersen, The Matrix Cookbook, 57).
    ("logdet(x)", dict(x=[[2.0, 1.0], [1.0, 1.0]]), None, dict(x=[[1.0, -1.0], [-1.0, 2.0]])),
    # Of tr(AX) it is Aᵀ (The Matrix Cookbook, 100).
    ("trace(tensor([[1., 2.], [3., 4.]]) @ x)", dict(x=A), None, dict(x=[[1.0, 3.0], [2.0, 4.0]])),
    # Of xᵀAx it is (A + Aᵀ) x (The Matrix Cookbook, 81).
    ("x @ tensor([[1., 2.], [3., 4.]]) @ x", dict(x=[1.0, 1.0]), None, dict(x=[7.0, 13.0])),
    # Of tr(X⁻¹) it is -X⁻²ᵀ (The Matrix Cookbook, 124).
    ("trace(inv(x))", dict(x=[[2.0, 0.0], [0.0, 4.0]]), None,
     dict(x=[[-0.25, 0.0], [0.0, -0.0625]])),
    # Softmax and cross entropy: probabilities less the one-hot label (Bishop 2006, 4.109).
    ("cross_entropy(x, tensor(0))", dict(x=[0.0, 1.0]), None, dict(x=[S - 1, 1 - S])),
    # Logistic regression: (sigmoid(x) - t) / n (Bishop 2006, 4.91).
    ("binary_cross_entropy_with_logits(x, t)", dict(x=[0.0, 0.0], t=[1.0, 0.0]), None,
     dict(x=[-0.25, 0.25], t=[0.0, 0.0])),
    # As in Python, and at the limit where Python raises an error.
    ("x * (-0.5) ** inf + x * (-10.0) ** 309", dict(x=2.0), None, dict(x=-np.inf)),
    # The unit vector is the gradient of the length.
    ("x.norm()", dict(x=[3.0, 4.0]), None, dict(x=[0.6, 0.8])),
    # A picked element adds up what its copies receive.
    ("x[[0, 0, 2]]", dict(x=[1.0, 2.0, 3.0]), [1.0, 10.0, 100.0], dict(x=[11.0, 0.0, 100.0])),
    # What was broadcast is summed.
    ("x + b", dict(x=A, b=[0.0, 0.0]), [[1.0, 2.0], [3.0, 4.0]], dict(x=A, b=[4.0, 6.0])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "values", "seed", "expected"), BY_HAND, ids=[c[0] for c in BY_HAND]
)
def test_by_hand(text, values, seed, expected):
    seed = None if seed is None else np.array(seed)
    found = gradients(text, values, seed)
    for name, grad in expected.items():
        np.testing.assert_allclose(found[name], grad, rtol=1e-13, atol=1e-13)
