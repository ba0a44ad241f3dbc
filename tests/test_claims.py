"""`gradcli check --claim`: formulas that people derive, right and wrong, with what is said of them.

The verdicts were found by hand; PyTorch judges them again in test_verdicts_of_pytorch.
"""

import ast
import math
import re
from functools import lru_cache
from typing import NamedTuple

import pytest
from console import gradcli
from support import RECENT, one_in, run_torch

import gradcli as package
from gradcli.errors import GradcliError
from gradcli.explanation.claims import mutations
from gradcli.explanation.claims.claim import FORM
from gradcli.explanation.claims.edits import written
from gradcli.explanation.claims.report import as_data, exception, extent, reason, right_where
from gradcli.explanation.claims.syntax import expression
from gradcli.explanation.claims.verdict import judge
from gradcli.explanation.claims.words import typed_numbers
from gradcli.language.arguments.option_texts import read_shapes, read_values
from gradcli.language.posing import pose
from gradcli.language.program import read_program
from gradcli.limits import Limits

LINEAR = "x @ W + b"
MLP = "h = relu(x @ W1 + b1); h @ W2"
SOFTMAX = "s = softmax(z, dim=-1); s"
NORM = """m = x.mean(-1, keepdim=True); v = ((x - m)**2).mean(-1, keepdim=True)
n = (x - m) / sqrt(v + 1e-5); n * w + c"""
RMS = "r = rsqrt((x**2).mean(-1, keepdim=True)); y = x * r; y"
ATTENTION = "P = softmax(Q @ K.T, dim=-1); P @ V"
KERNEL = "exp(-norm(x - y) ** 2 / (2 * s ** 2))"
HINGE = "relu(m - norm(a - b)) ** 2"
LOGISTIC = "p = sigmoid(X @ w); -(y * log(p) + (1 - y) * log(1 - p)).sum()"

CHOLESKY = "2 * linalg.cholesky(A).diagonal().log().sum()"
WHITENED = """L = linalg.cholesky(A); v = linalg.solve_triangular(L, b.unsqueeze(1), upper=False)
(v ** 2).sum()"""

FACTORS = "0.5 * norm(Y - U @ V.T) ** 2"
MASKED = "0.5 * (M * (U @ V.T - Y) ** 2).sum()"
NORMED = "n = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True); n * w + b"

REGRESSION, TANH_NET = "((x @ w - y)**2).sum()", "h = tanh(x @ W1); h @ W2"
LAYER_NORM = """c = x - x.mean(-1, keepdim=True); r = rsqrt((c * c).mean(-1, keepdim=True) + 1e-5)
y = c * r; y"""

LSTM = """f = sigmoid(x @ Wf + h @ Uf); i = sigmoid(x @ Wi + h @ Ui)
f * c + i * tanh(x @ Wc + h @ Uc)"""
RBF = "exp(-gamma * ((X.unsqueeze(1) - Y.unsqueeze(0)) ** 2).sum(-1))"


class Case(NamedTuple):
    """A claim, what is said of it (the beginning of it, or a part), shapes and values."""

    expr: str
    claim: str
    said: str
    shapes: str = ""
    values: tuple[str, ...] = ()


IMAGES = "x=2x3x4x5,w=2x3x2x2"
EVERY, GIVEN = "the same formula for every size", "the same formula, for the sizes given"

RIGHT = [
    Case(LINEAR, "W = x.T @ g", EVERY, "b=4"),
    Case(LINEAR, "x.grad = g @ W.T", EVERY, "b=4"),
    Case(LINEAR, "db = g.sum(0)", EVERY, "b=4"),
    Case("x @ W.T", "W = g.T @ x", EVERY),
    Case("(x @ w - y) @ (x @ w - y)", "w = 2 * x.T @ (x @ w - y)", EVERY + ", with x a matrix"),
    Case("x @ W.T", "d = g * 1; W, x = d.T @ x, d @ W", EVERY),
    Case("softmax(x / t, -1).sum()", "x = zeros_like(x)", EVERY),
    Case(MLP, "W2 = h.T @ g", EVERY, "b1=4"),
    Case(MLP, "d = (g @ W2.T) * (h > 0); W1 = x.T @ d", EVERY, "b1=4"),
    Case(MLP, "b1 = ((g @ W2.T) * (h > 0)).sum(0)", EVERY, "b1=4"),
    Case(MLP, "h = g @ W2.T", EVERY, "b1=4"),
    Case(SOFTMAX, "z = s * (g - (g * s).sum(-1, keepdim=True))", EVERY, "z=3x4"),
    Case("log_softmax(z, -1)", "z = g - exp(out) * g.sum(-1, keepdim=True)", "", "z=3x4"),
    Case("cross_entropy(z, y)", "z = (softmax(z, 1) - one_hot(y, 4)) / y.shape[0]", "", "z=3x4",
         ("y=[1,0,3]",)),
    Case("(-y * log_softmax(z, -1)).sum()", "z = softmax(z, -1) - y", "", "z=2x3",
         ("y=[[0,1,0],[1,0,0]]",)),
    Case(LOGISTIC, "w = X.T @ (p - y)", EVERY, "X=5x3,w=3,y=5"),
    Case(NORM, "t = g * w; x = (t - t.mean(-1, keepdim=True)"
         " - n * (t * n).mean(-1, keepdim=True)) / sqrt(v + 1e-5)", EVERY, "x=3x4,w=4,c=4"),
    Case(NORM, "w = (g * n).sum(0)", EVERY, "x=3x4,w=4,c=4"),
    Case(RMS, "x = r * (g - y * (g * y).mean(-1, keepdim=True))", EVERY, "x=3x4"),
    Case(ATTENTION, "V = P.T @ g", EVERY),
    Case(ATTENTION, "d = g @ V.T; Q = P * (d - (d * P).sum(-1, keepdim=True)) @ K", EVERY),
    Case(ATTENTION, "d = g @ V.T; K = (P * (d - (d * P).sum(-1, keepdim=True))).T @ Q", EVERY),
    Case("((x @ w - y)**2).mean()", "w = 2 * x.T @ (x @ w - y) / y.numel()", EVERY,
         "x=5x3,w=3,y=5"),
    Case("norm(A @ x - b)**2", "x = 2 * A.T @ (A @ x - b)", EVERY, "A=4x3,x=3,b=4"),
    Case("x @ A @ x", "x = (A + A.T) @ x", EVERY, "x=3,A=3x3"),
    Case("x @ A @ x", "x = (A + A.T) @ x", EVERY + ", with x a vector"),
    Case("x @ A @ x", "A = outer(x, x)", EVERY + ", with x a vector"),
    Case("trace(A @ X @ B)", "X = A.T @ B.T", EVERY),
    Case("trace(X.T @ A @ X)", "X = (A + A.T) @ X", EVERY),
    Case("X.T @ X", "X = X @ (g + g.T)", EVERY),
    Case("inv(X)", "X = -inv(X).T @ g @ inv(X).T", EVERY),
    Case("logdet(X)", "X = inv(X).T", EVERY),
    Case("det(X)", "X = det(X) * inv(X).T", EVERY),
    Case("sigmoid(x)", "g * out * (1 - out)", EVERY),
    Case("relu(x)", "x = g * (x > 0)", EVERY),
    Case("hardsigmoid(x)", "x = g / 6 * ((x > -3) & (x < 3))", "agrees at 4 sizes"),
    Case("celu(x, 0.3)", "x = where(x > 0, g, g * exp(x / 0.3))", "agrees at 4 sizes"),
    Case("tanh(x)", "x = g * (1 - tanh(x)**2)", EVERY),
    Case("(x * x).sum(1)", "x = 2 * x * g[:, None]", EVERY, "x=3x4"),
    Case("x.mean()", "x = g * ones_like(x) / 3", GIVEN, "x=3"),
    Case("det(X.T @ A @ X)", "X = 2 * out * inv(X).T", GIVEN, "X=3x3,A=3x3"),
    Case("x.sum()", "x = ones_like(x)", EVERY),
    Case("x.sum()", "x = g * ones_like(x)", EVERY),
    Case("logsumexp(x, 0)", "x = softmax(x, 0)", EVERY),
    Case("softmax(x, -1)", "x = out * (g - (g * out).sum(-1, keepdim=True))", EVERY),
    Case("softmax(x, -1)", "x = out * (g - g @ out)", EVERY + ", with x a vector"),
    Case("softmax(x, -1)", "x = out * (g - (g * out).sum(1, keepdim=True))",
         EVERY + ", with x a matrix"),
    Case("softmax(x, 1)", "x = out * (g - (g * out).sum(1, keepdim=True))", EVERY),
    Case("softmax(X, -1)", "X = out * (g - (g * out).sum(1, keepdim=True))", EVERY),
    Case("x.sum()", "x = ones(x.shape[0])", EVERY + ", with x a vector"),
    Case("x @ A @ y", "x = A @ y", EVERY + ", with x and y vectors"),
    Case("x.tril() @ y", "x = outer(g, y).tril()", EVERY + ", with y a vector"),
    Case("m @ v", "m = g[:, None] * v", EVERY + ", with v a vector"),
    Case("exp(a) @ b", "a = exp(a) * outer(g, b)",
         EVERY + ", with b a vector and a a matrix"),
    Case("((X @ w - y)**2).mean()", "w = 2 * X.T @ (X @ w - y) / X.shape[0]",
         EVERY + ", with w a vector"),
    Case("x.T", "x = g.T", EVERY),
    Case("q @ k.t()", "k = g.t() @ q", EVERY),
    Case("norm(x)", "x = x / out", EVERY),
    Case("max(x)", "x = eye(x.shape[0])[argmax(x)]", "agrees at 4 sizes, with x a vector"),
    Case("max(x)", "x = eye(4)[argmax(x)]", "agrees at 5 points", "x=4"),
    Case("max(x)", "x = eye(4)[argmax(x)]", "agrees at 6 points", "", ("x=[1.,3.,2.,0.]",)),
    Case("beta * (a - b)", "beta = (g * (a - b)).sum()", f"{EVERY}, with beta a number"),
    Case(KERNEL, "x = (y - x) / s ** 2 * out", f"{EVERY}, with s a number"),
    Case(KERNEL, "x = g * (y - x) / s ** 2 * out", f"{EVERY}, with s a number"),
    Case(KERNEL, "s = norm(x - y) ** 2 / s ** 3 * out", f"{EVERY}, with s a number"),
    Case("norm(x - y) ** 2 / (2 * s ** 2) + x.shape[0] * log(s)", "x = (x - y) / s ** 2",
         f"{EVERY}, with s a number"),
    Case(HINGE, "a = -2 * relu(m - norm(a - b)) * (a - b) / norm(a - b)",
         f"{EVERY}, with m a number"),
    Case("(a @ x) ** 3", "a = 3 * g * (a @ x) ** 2 * x", f"{EVERY}, with a and x vectors"),
    Case("logdet(X.T @ X)", "X = 2 * X @ inv(X.T @ X)", "agrees at 4 sizes"),
    Case("det(A @ X @ B)", "X = det(A @ X @ B) * inv(X).T",  # Matrix Cookbook (49)
         "agrees at 2 sizes, where A.shape[0] = A.shape[1] = X.shape[1]"),
    Case("det(A @ X @ B)", "X = det(A @ X @ B) * A.T @ inv(A @ X @ B).T @ B.T", EVERY),
    Case("logdet(A @ X @ B)", "X = A.T @ inv(A @ X @ B).T @ B.T", EVERY),
    Case("log(det(X.T @ X))", "X = 2 * pinv(X).T", EVERY),
    Case("logdet(X @ X.T)", "X = 2 * pinv(X).T", EVERY),
    Case(CHOLESKY, "A = inv(A)", EVERY),
    Case(CHOLESKY, "A = inv(A)", GIVEN, "A=3x3"),
    Case("eigvalsh(A).log().sum()", "A = inv(A)", "agrees at 4 sizes"),
    Case("(eigvalsh(A) ** 2).sum()", "A = 2 * A", "agrees at 4 sizes"),
    Case("eigvalsh(A).prod()", "A = det(A) * inv(A)", "agrees at 4 sizes"),
    Case("logdet(linalg.cholesky(A + eye(A.shape[0])))", "A = inv(A + eye(A.shape[0])) / 2",
         EVERY),
    Case(WHITENED, "b = 2 * solve(A, b)", EVERY),
    Case(WHITENED, "b = 2 * linalg.solve(A, b)", EVERY),
    Case("conv2d(x, w)", "w = conv2d_weight(x, w.shape, g)", EVERY, IMAGES),
    Case("conv2d(x, w)", "w.grad = nn.grad.conv2d_weight(x, w.shape, g)", EVERY, IMAGES),
    Case("linear(x, W, b)", "W = g.T @ x", EVERY),
    Case("linear(x, W, b)", "b = g.sum(0)", EVERY),
    Case(LSTM, "c = g * f", EVERY),
    Case(RBF, "X = 2 * gamma * ((g * out) @ Y - (g * out).sum(1, keepdim=True) * X)", EVERY),
    Case("kron(x, y)", "x = g.reshape(x.shape[0], y.shape[0]) @ y", EVERY),
    Case("z = m + exp(s / 2) * e; ((x - z @ W) ** 2).sum() + (m**2 + exp(s) - s).sum() / 2",
         "W = 2 * z.T @ (z @ W - x)", EVERY),
]  # fmt: skip

WRONG = [
    Case(LINEAR, "W = g.T @ x", "it should be transposed", "b=4"),
    Case(LINEAR, "W = x @ g", "x should be transposed", "b=4"),
    Case(LINEAR, "W = g @ x.T", "the operands of @ are exchanged", "b=4"),
    Case(LINEAR, "x = g @ W", "W should be transposed", "b=4"),
    Case(LINEAR, "b = g", "a sum of it over dimension 0 is missing", "b=4"),
    Case(LINEAR, "b = g.sum(1)", "the sum of g should be over dimension 0", "b=4"),
    Case(LINEAR, "b = g.mean(0)", "the mean should be a sum", "b=4"),
    Case(LINEAR, "b = g.sum(0, keepdim=True)", "the numbers are right, but the shape is not",
         "b=4"),
    Case(MLP, "W1 = x.T @ (g @ W2.T)", "the derivative of relu, h > 0, is missing",
         "b1=4"),
    Case(MLP, "d = g @ W2; W1 = x.T @ (d * (h > 0))", "W2 should be transposed", "b1=4"),
    Case(SOFTMAX, "z = s * (1 - s) * g", "this is only the diagonal", "z=3x4"),
    Case(SOFTMAX, "z = s * g", "the term -(g * s).sum(dim=-1, keepdim=True) is missing",
         "z=3x4"),
    Case(SOFTMAX, "z = s * (g - (g * s).sum())", "the sum of g * s should be over dimension -1",
         "z=3x4"),
    Case(SOFTMAX, "z = s * (g + (g * s).sum(-1, keepdim=True))", "a + should be a -",
         "z=3x4"),
    Case("cross_entropy(z, y)", "z = softmax(z, 1) - one_hot(y, 4)",
         "y.numel() times too large", "z=3x4", ("y=[1,0,3]",)),
    Case("cross_entropy(z, y)", "z = (one_hot(y, 4) - softmax(z, 1)) / 3", "the sign is wrong",
         "z=3x4", ("y=[1,0,3]",)),
    Case("(-y * log_softmax(z, -1)).sum()", "z = softmax(z, -1) - y",
         "the factor y.sum(dim=-1, keepdim=True) is missing", "z=2x3,y=2x3"),
    Case(LOGISTIC, "w = X.T @ (y - p)", "the sign is wrong", "X=5x3,w=3,y=5"),
    Case(NORM, "w = g * n", "a sum of it over dimension 0 is missing", "x=3x4,w=4,c=4"),
    Case(NORM, "x = g * w / sqrt(v + 1e-5)", "x is used several times", "x=3x4,w=4,c=4"),
    Case(NORM, "t = g * w; x = (t - t.mean() - n * (t * n).mean(-1, keepdim=True))"
         " / sqrt(v + 1e-5)", "the mean of t should be over dimension -1", "x=3x4,w=4,c=4"),
    Case(RMS, "x = r * g",
         "the term -(y * (g * y).mean(dim=-1, keepdim=True)) is missing", "x=3x4"),
    Case(RMS, "x = r * (g - y * (g * y).sum(-1, keepdim=True))",
         "the sum should be a mean", "x=3x4"),
    Case(ATTENTION, "V = P @ g", "P should be transposed"),
    Case(ATTENTION, "d = g @ V.T; Q = (d - (d * P).sum(-1, keepdim=True)) @ K",
         "the factor P is missing"),
    Case("((x @ w - y)**2).mean()", "w = 2 * x.T @ (x @ w - y)", "y.numel() times too large",
         "x=5x3,w=3,y=5"),
    Case("((x @ w - y)**2).mean()", "w = x.T @ (x @ w - y) / y.numel()", "it is half",
         "x=5x3,w=3,y=5"),
    Case("norm(A @ x - b)**2", "x = 2 * A @ (A @ x - b)", "A should be transposed",
         "A=4x3,x=3,b=4"),
    Case("x @ A @ x", "x = 2 * A @ x", "right where A is symmetric", "x=3,A=3x3"),
    Case("x @ A @ x", "x = A @ x", "the term A.T is missing", "x=3,A=3x3"),
    Case("trace(A @ X @ B)", "X = B.T @ A.T", "the operands of @ are exchanged",
         "A=4x3,X=3x5,B=5x4"),
    Case("X.T @ X", "X = 2 * X @ g", "right only where g is symmetric"),
    Case("inv(X)", "X = inv(X).T @ g @ inv(X).T", "the sign is wrong"),
    Case("inv(X)", "X = -inv(X) @ g @ inv(X)", "inv(X) should be transposed"),
    Case("logdet(X)", "X = inv(X)", "it should be transposed"),
    Case("det(X)", "X = inv(X).T", "the factor out is missing"),
    Case("sigmoid(x)", "x = g * x * (1 - x)", "x should be out"),
    Case("sigmoid(x)", "x = out * (1 - out)", "the seed g is missing"),
    Case("tanh(x)", "x = g * (1 - out)", "out should be squared"),
    Case("x @ x", "x = x / 0", "it should not be divided by 0", "x=3"),
    Case("x @ W", "x = g @ W.T + inf", "the term inf should not be there"),
    Case("log(x).sum()", "x = 1 / (x - x)", ""),
    Case("norm(x - a)", "a = (a - x) / 1", "it should be divided by out", "x=3,a=3"),
    Case("x ** 2", "x = 2 * x * g + 1e-7",
         "right but for the small term 1e-07: x.grad[0] is off by 1e-07"),
    Case("norm(x)", "x = x / (out + 1e-6)", "right but for the small term 1e-06: x.grad[0]"),
    Case("norm(x)", "x = 2 * x", "it should be divided by 2 * out"),
    Case("x ** y", "y = g * out * y", "y should be log(x)", "x=3,y=3"),
    Case("tanh(x)", "x = g * (1 - out) ** 2", "the exponent should be on out alone"),
    Case("conv2d(x, w, b)", "b = g.sum((2, 3))", "should be over dimensions (0, 2, 3)",
         "x=2x3x5x5,w=4x3x3x3,b=4"),
    Case("x.mean(1)", "x = g[:, None] * ones_like(x) / x.numel()",
         "x.numel() should be x.shape[1]", "x=3x4"),
    Case("cross_entropy(z, t)", "z = (softmax(z, 1) - one_hot(t, 4)) / 4", "4 should be 3",
         "z=3x4", ("t=[1,0,3]",)),
    Case(NORM, "d = g; x = (d - d.mean(-1, keepdim=True) - n * (d * n).mean(-1, keepdim=True))"
         " / sqrt(v + 1e-5)", "the factor w is missing", "x=3x4,w=4,c=4"),
    Case("s * x", "s = (g * x).sum()", "the sum should not be there (right with s a number)"),
    Case("x / sqrt(v)", "x = g / v", "the divisor should be the root of v", "x=3,v=3"),
    Case("leaky_relu(x, 0.1)", "x = where(x > 0, g, 0.01 * g)", "0.01 should be 0.1"),
    Case("leaky_relu(x, 0.1)", "x = g * (x > 0) + 0.1 * (x <= 0)", "the factor g is missing"),
    Case("x.masked_fill(m, 0)", "x = g * m", "m should be ~m", "x=3,m=3",
         ("m=[True,False,True]",)),
    Case("linear(x, W, b)", "b = g.sum(0) / len(x)", "x.shape[0] times too small", "b=4"),
    Case("sigmoid(x @ w + b)", "w = x.T @ g", "out * (1 - out), is missing as a factor of g",
         "x=5x3,w=3,b=()"),
    Case("x.reshape(-1)", "x = g", "the numbers are right, but the shape is not", "x=2x3"),
    Case("x.permute(2, 0, 1)", "x = g.permute(2, 0, 1)",
         "the dimensions should be permuted back: g.permute(1, 2, 0)", "x=2x3x4"),
    Case(MLP, "W1 = x.T @ (g @ W2.T * h)", "h should be h > 0, the derivative of relu",
         "b1=4"),
    Case("leaky_relu(x, 0.1)", "x = where(x > 0, 0.1 * g, g)",
         "the branches of where are exchanged"),
    Case("maximum(x, y)", "x = g * (x < y)", "the comparison is the wrong way round: x > y"),
    Case("maximum(x, y)", "x = g * (x > 0)", "x > 0 should be x > y"),
    Case("(x > y) * x", "x = g * (x > 0)", "x > 0 should be x > y"),
    Case("minimum(x, y)", "y = g * (0 > y)", "0 > y should be x > y"),
    Case("x ** 2", "x = 2 * g * relu(x)", "relu(x) should be x"),
    Case("x ** 2", "x = 1.9999 * x * g", "1.9999 should be 2"),
    Case("(x * x).sum(1)", "x = 2 * x", "the seed g is missing", "x=3x4"),
    Case("(x * x).sum(1)", "x = 2 * x * g", "g lacks a dimension: g.unsqueeze(-1)", "x=3x4"),
    Case("(x**3).sum()", "x = 3 * x**3", "the exponent should be 2"),
    Case("x.var(0)", "x = 2 * g * (x - x.mean(0)) / x.shape[0]",
         "it should be divided by x.shape[0] - 1 instead of x.shape[0]", "x=5x2"),
    Case("x.mean()", "x = ones_like(x)", "x.numel() times too large"),
    Case("x.sum()", "x = 1", "the numbers are right, but the shape is not"),
    Case("softmax(x, -1)", "x = out * (g - (g * out).sum(0, keepdim=True))",
         "the sum of g * out should be over dimension -1"),
    Case("log_softmax(x / 2, -1)", "x = (g - exp(out) * g.sum(0, keepdim=True)) / 2",
         "the sum of g should be over dimension -1"),
    Case("x.T", "x = g", "it should be transposed"),
    Case("x.nansum()", "x = ones_like(x)", "the factor ~isnan(x) is missing"),
    Case("(x * y).nansum()", "x = y", "the factor ~isnan(x * y) is missing"),
    *(Case(f"q @ k{t}", "k = g @ q", "g should be transposed") for t in (".T", ".mT", ".t()")),
    Case("q @ k.T / q.shape[1]**0.5", "k = g @ q / q.shape[1]**0.5", "g should be transposed"),
    Case("q @ k.T", "k = q", "the seed g is missing"),
    Case("x.T @ W", "x = W @ g", "g should be transposed"),
    Case("x.T.sum()", "x = ones(x.shape[0])", "its shape is not that of x"),
    Case("x.mean(0)", "x = g.expand_as(x) / x.shape[1]", ""),
    Case("logsumexp(x, -1)", "x = softmax(x, 0) * g.unsqueeze(-1)", "(for x a matrix; right for"),
    Case("softmax(x, -1)", "x = out * (g - (g * out).sum(-1))",
         "the sum of g * out lacks keepdim=True (for x a matrix; right for a vector)"),
    Case("x / x.norm(dim=-1, keepdim=True)", "x = (g - out * (g * out).sum(-1)) / x.norm(dim=-1)",
         "the calls along dimension -1 lack keepdim=True (for x a matrix; right for a vector)"),
    Case("x.mean()", "x = ones_like(x) / x.shape[0]", "(for x a matrix; right for a vector)"),
    Case("((x @ w - y)**2).mean()", "w = 2 / x.shape[0] * x.T @ (x @ w - y)",
         "x.shape[0] should be y.numel() (for w a matrix; right for a vector)"),
    Case("mse_loss(x, y)", "x = 2 * (x - y) / x.shape[0]", "(for x and y matrices; right"),
    Case("x * y", "y = (g * x).T", "g * x should not be transposed (for x and y matrices;"),
    Case("max(x)", "x = eye(4)[argmax(x)] * 2", "it is twice what it should be", "x=4"),
    Case("exp(x)", "x = g * out * 1.000001", "1.000001 should be 1"),
    Case("x.sum(1)", "x = g.expand_as(x)", "g lacks a dimension: g.unsqueeze(-1)", "x=3x3"),
    Case("x.mean(1)", "x = g.expand_as(x) / 3", "g lacks a dimension: g.unsqueeze(-1)", "x=3x3"),
    Case(KERNEL, "x = (x - y) / s ** 2 * out", "the sign is wrong"),
    Case(KERNEL, "s = norm(x - y) ** 2 / s ** 2 * out", "the exponent should be 3"),
    Case(HINGE, "a = -2 * relu(m - norm(a - b)) * (a - b)",
         "the division by (a - b).norm() is missing"),
    Case("cross_entropy(z, t)", "z = (one_hot(t, 3) - softmax(z, 1)) / t.numel()",
         "the sign is wrong", "z=2x3", ("t=[1,0]",)),
    Case("log_softmax(z, 1)", "z = g - softmax(z, 0) * g.sum(1, keepdim=True)",
         "softmax(z, 0) should be along dimension 1", "z=3x4"),
    Case("((x - y) ** 2).mean()", "x = 2 * (y - x) / x.shape[0]",
         "x.shape[1] times too large: a mean divides by it; apart from that the sign is wrong",
         "x=4x3,y=4x3"),
    Case("logdet(X.T @ X)", "X = X @ inv(X.T @ X)", "it is half what it should be"),
    Case(CHOLESKY, "A = 2 * inv(A)", "it is twice what it should be"),
    Case("(eigvalsh(A) ** 2).sum()", "A = A", "it is half what it should be"),
    Case("eigvalsh(A + A.T).sum()", "A = A @ inv(A)", "it is half what it should be"),
    Case(LINEAR, "b = g", "a sum of it over dimension 0 is missing"),
    Case("tanh(x @ W + b)", "b = g * (1 - out**2)", "a sum of it over dimension 0 is missing"),
    Case("relu(x @ W1 + b1) @ W2 + b2", "b2 = g", "a sum of it over dimension 0 is missing"),
    Case("x @ W.T", "W = x", "the seed g is missing"),
    Case("logdet(A @ X @ B)", "X = 0.5 * inv(X).T", "it is half what", "A=3x3,X=3x3,B=3x3"),
    Case("logdet(A @ X @ B)", "X = 0.5 * inv(X).T", "it is half what", "A=4x4,X=4x4,B=4x4"),
    Case("logdet(A @ X @ B)", "X = 2 * inv(X).T",
         "it is twice what it should be (where A.shape[0] = A.shape[1] = X.shape[1])"),
    Case("det(A @ X @ B)", "X = -det(A @ X @ B) * inv(X).T", "the sign is wrong (where A.shape"),
    Case("det(A @ X @ B)", "X = 2 * g * det(A @ X @ B) * inv(X).T", "it is twice what it should"),
    Case("logdet(A @ X @ B)", "X = inv(X)", "it should be transposed (where A.shape"),
    Case("linear(x, W, b)", "b = g", "a sum of it over dimension 0 is missing"),
    Case(FACTORS, "V = (U @ V - Y).T @ U", "V should be transposed"),
    Case(FACTORS, "V = (U @ V.T - Y) @ U", "U @ V.T - Y should be transposed"),
    Case(MASKED, "V = (M * (U @ V - Y)).T @ U", "V should be transposed"),
    Case(NORMED, "b = g", "over dimension 0 is missing (for x a matrix; right for a vector)"),
    Case(NORMED, "w = g * n", "over dimension 0 is missing (for x a matrix; right for a vector)"),
    Case("x.sum(1)", "x = g.unsqueeze(0)", "g.unsqueeze(0) should be g.unsqueeze(1)"),
    Case("x.mean(0)", "x = g.expand_as(x) / x.shape[1]", "x.shape[1] should be x.shape[0]"),
    Case("x.mean()", "x = ones_like(x) / 7", "7 should be x.numel()"),
    Case("norm(x, dim=1)", "x = g * x / norm(x, dim=1)",
         "norm(x, dim=1) lacks a dimension: norm(x, dim=1, keepdim=True)"),
    Case("norm(x, dim=1)", "x = g.unsqueeze(1) * x / norm(x, dim=0)",
         "norm(x, dim=0) should be along dimension 1, with keepdim=True"),
    Case("norm(X)", "X = X / norm(X, dim=1, keepdim=True)", "should be over all elements"),
    Case("log_softmax(x, -1)", "x = g - softmax(x, 0) * g.sum(0)",
         "dimension 0 should be -1, with keepdim=True (for x a matrix"),
    Case("x / norm(x)", "x = (g - x * (g * x).sum()) / norm(x)", "x should be out"),
    Case("x.max(1).values", "x = g.unsqueeze(1) * (x == x.max(1).values)",
         "x.max(1).values lacks a dimension: x.max(1).values.unsqueeze(-1)"),
    Case("X @ w", "X = g @ w", "this should be an outer product: outer(g, w)"),
    Case("x @ W1 @ W2", "W1 = x.T @ W2.T @ g", "the order of the product should be x.T @ g @ W2.T"),
    Case("tanh(x @ W)", "W = x.T @ g * (1 - out**2)",
         "the brackets should be as in x.T @ (g * (1 - out ** 2))"),
    Case("((X @ w - y) ** 2).sum() + l * (w**2).sum()", "w = 2 * X.T @ (X @ w - y) + l * w",
         "the term l * w is half what it should be"),
    Case("tanh(x)", "x = g * (1 - tanh(x))", "tanh(x) should be squared"),
    Case("log(x)", "x = g * x", "x should divide, not multiply"),
    Case("log(x.sum())", "x = 1 / x", "a sum of x over all elements is missing"),
    Case("x.std()", "x = (x - x.mean()) / x.std()", "the divisor x.numel() - 1 is missing"),
    Case("x.max()", "x = (x == x.min())", "x.min() should be x.max()"),
    Case("tanh(W @ x + b)", "W = outer(g * (1 - tanh(W @ x)**2), x)",
         "the term b is missing beside W @ x", "W=2x3,x=3"),
    Case("sigmoid(W @ x + b)", "x = W.T @ (g * sigmoid(W @ x) * (1 - sigmoid(W @ x)))",
         "the term b is missing beside W @ x", "W=2x3,x=3"),
    Case(LAYER_NORM, "x = r * (g - g.mean(-1, keepdim=True))",
         "the term -(y * (g * y).mean(dim=-1, keepdim=True)) is missing"),
    Case(LAYER_NORM, "x = r * (g - y * (g * y).sum(-1, keepdim=True) - g.sum(-1, keepdim=True))",
         "the sums should be means"),
    Case("roll(x, 1)", "x = g.roll(1)", "g.roll(1) should be g.roll(-1)"),
    Case("roll(x, 2, 1)", "x = roll(g, 2, 1)", "roll(g, 2, 1) should be roll(g, -2, 1)", "x=3x5"),
    Case("roll(x, (1, 2), (0, 1))", "x = roll(g, (1, 2), (0, 1))",
         "should be roll(g, (-1, -2), (0, 1))", "x=3x5"),
    Case("x[1:]", "x = pad(g, (0, 1))", "pad(g, (0, 1)) should be pad(g, (1, 0))",
         "x=4"),
    Case("cat([x, y])", "y = g[:x.shape[0]]",
         "g[:x.shape[0]] should be g[x.shape[0]:]", "x=3,y=4"),
    Case("cat([x, y])", "y = g[x.shape[0] + 1:]", "should be g[x.shape[0]:]", "x=3,y=4"),
    Case("stack([x, y])", "y = g[0]", "g[0] should be g[1]", "x=3,y=3"),
    Case("x / x.sum()", "x = g / x.sum() - x * g.sum() / x.sum()**2", "x should be inside the sum",
         "x=4"),
    Case("(x - x.mean(1, keepdim=True)) ** 2", "x = 2 * g * (x - x.mean(1, keepdim=True))",
         "the gradient through x.mean(1, keepdim=True) is missing", "x=4x3"),
    Case("logsumexp(x, 1)", "x = g * softmax(x, 0)", "g lacks a dimension: g.unsqueeze(-1), and "
         "the dimension should be 1, as in softmax(x, dim=1)", "x=3x4"),
    Case("h = relu(x @ W1); h @ W2", "W1 = x @ (g @ W2.T * h)",
         "x should be transposed, and h should be h > 0", "x=5x3,W1=3x4,W2=4x2"),
    Case("norm(x, dim=1)", "x = x / norm(x, dim=1)",
         "keepdim=True), and the factor g is missing", "x=3x4"),
    Case("x.var(1)", "x = g.unsqueeze(1) * (x - x.mean(1, keepdim=True)) / x.shape[1]",
         "instead of x.shape[1], and the factor 2 is missing", "x=3x4"),
    Case("triu(x)", "x = tril(g)", "tril(g) should be triu(g)", "x=4x4"),
    Case("triu(x, 1)", "x = triu(g)", "1 is missing: g.triu(1)", "x=4x4"),
    Case("cumsum(x, 0)", "x = g.flip(0).cumsum(0)", "flip(0) is missing at the end", "x=4"),
    Case("cumsum(x, 0)", "x = g.cumsum(0).flip(0)", "g lacks a method: g.flip(0)", "x=4"),
    Case("cumsum(x, 0)", "x = g.cumsum(0)", "flip(0) is missing, in 2 places", "x=4"),
    Case(REGRESSION, "w = x @ (x @ w - y)",
         "x should be transposed, and the factor 2 is missing", "x=5x3,w=3,y=5"),
    Case("norm(A @ x - b)", "x = A @ (A @ x - b)",
         "A should be transposed, and the division by out is missing", "A=3x4,x=4,b=3"),
    Case(TANH_NET, "W1 = x.T @ (g @ W2 * (1 - h))",
         "W2 should be transposed, and h should be squared",
         "x=5x3,W1=3x4,W2=4x2"),
    Case(TANH_NET, "W1 = g @ W2.T * (1 - h)",
         "h should be squared, and the product with x.T on the left is missing",
         "x=5x3,W1=3x4,W2=4x2"),
    Case(TANH_NET, "W1 = x.T @ (g @ W2.T * (1 + h))", "a + should be a -, and h should be squared",
         "x=5x3,W1=3x4,W2=4x2"),
    Case("(x**3).mean(1)", "x = x**3 * g.unsqueeze(1) / x.shape[1]",
         "the exponent should be 2, and the factor 3 is missing", "x=3x4"),
    Case("x.flip(0)", "x = g", "g lacks a method: g.flip(0)"),
    Case("exp(x) + 1", "x = g * out", "out should be exp(x)"),
    Case("norm(x - y)", "x = (x - y) / norm(x)", "the term -y is missing beside x in norm(x)"),
    Case("softmax(x, -1)", "x = out * (g - g.sum())", "and the factor out is missing"),
    Case("sqrt(x**2 + 3)", "x = g * x / sqrt(x**2 + 2)",
         "x ** 2 + 2 should be x ** 2 + 3"),
    Case("maximum(x, tensor(-50.))", "x = g * (x > 50)", "50 should be -50.0"),
    Case("minimum(x, y)", "x = g", "the derivative of minimum"),
    Case("(x.clamp(0, 1)**2 * w).sum()", "x = 2 * x * w",
         "the derivative of clamp, (x >= 0) & (x <= 1), is missing as a factor"),
    Case("where((x > 0) & (x < 1), x, 0)", "x = g", "the factor (x > 0) & (x < 1) is missing"),
    Case("cat([x, -y]).exp()", "y = exp(y) * g[x.shape[0]:]",
         "the sign of y is wrong; and as a whole, the sign is wrong"),
    Case("(sqrt(d**2) * x).sum()", "x = d", "right only where d is positive"),
    Case("abs(d) / abs(d).sum() * x", "x = g * d",
         "right where d is positive and sums to 1 along its last dimension"),
]  # fmt: skip


def problem_of(case: Case):
    return pose(
        case.expr,
        shapes=read_shapes([case.shapes] if case.shapes else []),
        values=read_values(list(case.values)),
    )


@lru_cache(RECENT)
def verdict_of(case: Case):
    return judge([case.claim], problem_of(case))[0]


def named(case: Case) -> str:
    return f"{case.expr.split(';')[-1].strip()}: {case.claim}"


SOME_RIGHT = one_in(6, RIGHT, named, sweep=2)
SOME_WRONG = one_in(20, WRONG, named, sweep=3)


def test_a_gradient_that_is_small_is_not_0():
    v = verdict_of(Case("(6.626e-34 * f).sum()", "f = zeros_like(f)", ""))
    assert not v.ok


@pytest.mark.parametrize(
    ("expr", "claim", "ok"),
    [
        ("x[0]**2 * x[1]", "x = [2 * x[0] * x[1], x[0]**2]", True),
        ("x[0]**2 * x[1]", "x = [2 * x[0] * x[1], 2 * x[0]]", False),
        ("3 * x[0] + x[1]", "x = [3, 1]", True),
        ("A[0,0] * A[1,1] - A[0,1] * A[1,0]", "A = [[A[1,1], -A[1,0]], [-A[0,1], A[0,0]]]", True),
    ],
)
def test_a_claim_may_list_elements(expr, claim, ok):
    assert verdict_of(Case(expr, claim, "")).ok is ok


@pytest.mark.parametrize("example", SOME_RIGHT)
def test_right(example):
    v = verdict_of(example)
    assert v.ok
    assert extent(v).startswith(example.said)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("x.clamp(0, -2) ** 7 + 0.5 < 3", {"0", "-2", "2", "7", "0.5", "3"}),
        ("where(x > 50, clamp_min(x, 4), tensor(-6))", {"50", "4", "-6", "6"}),
        ("x[2:, 2 * 1] / x.shape[3] + x.size(4) + x.numel()", set()),
        ("tensor([5., -6.]) * zeros(7, 8).sum(dim=9, keepdim=True)", set()),
        ("softmax(3 * x.reshape(4, -1).T, 0).diff(2)", {"3"}),
    ],
)
def test_numbers_to_change_are_those_of_arithmetic(text, numbers):
    assert {ast.unparse(e) for e in typed_numbers(expression(text))} == numbers


@pytest.mark.parametrize("example", SOME_WRONG)
def test_wrong(example):
    """What is said of it; the mended formula and the right one are right, claimed in turn."""
    v = verdict_of(example)
    assert not v.ok
    assert example.said in f"{reason(v)}\n{right_where(v)}"
    if example.said == "the sign is wrong":  # and nothing else
        assert reason(v).removesuffix(" (with s a number)") == example.said
    assert v.correction is not None or v.condition is not None
    if v.correction is not None:
        again = judge({v.claim.name: v.correction.formula}, problem_of(example))[0]
        assert again.ok, v.correction.formula
    formula = as_data(v)["formula"]
    assert judge({v.claim.name: formula}, problem_of(example))[0].ok


# ---- PyTorch -------------------------------------------------------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("example", SOME_RIGHT + SOME_WRONG)
def test_verdicts_of_pytorch(example):
    """The claim, computed by PyTorch, beside PyTorch's gradient, at every point."""
    torch = pytest.importorskip("torch", reason="torch is the oracle of this test")
    v = verdict_of(example)
    agrees = [torch_agrees(torch, example, v, found.point) for found in v.findings]
    assert all(agrees) == v.ok


def torch_agrees(torch, case: Case, v, point) -> bool:
    inputs = point.problem.inputs.values()
    names = torch_program(case.expr, {x.name: torch.tensor(point(x.node)) for x in inputs})
    g = torch.tensor(point.seed)
    (right,) = torch.autograd.grad(names["out"], names[v.claim.name], g, retain_graph=True)
    try:
        claimed = torch_program(v.claim.text, names | {"g": g}, last="claimed")["claimed"]
    except (RuntimeError, IndexError):
        return False
    claimed = torch.as_tensor(claimed, dtype=torch.float64)
    return claimed.shape == right.shape and torch.allclose(claimed, right, rtol=1e-8)


def torch_program(text: str, tensors, last: str = "out"):
    """Everything that a program names, computed by PyTorch; inputs ask for a gradient."""
    names = dict(tensors)
    for tensor in names.values():
        if tensor.is_floating_point() and tensor.is_leaf:
            tensor.requires_grad_()
    statements = [s.strip() for s in re.split(r";|\n", text)]
    for statement in statements[:-1]:
        name, _, formula = statement.partition(" = ")
        names[name] = run_torch(formula, names)
    return names | {last: run_torch(statements[-1], names)}


def test_what_mends_a_claim_holds_for_other_sizes_than_those_given():
    """At 3x3, g.expand_as(x).T has the right numbers: for squares alone."""
    for expr, claim in (("x.sum(1)", "g.expand_as(x)"), ("x.mean(1)", "g.expand_as(x) / 3")):
        (v,) = judge([f"x = {claim}"], pose(expr, shapes={"x": (3, 3)}))
        assert v.correction is not None
        there = pose(expr, shapes={"x": (4, 3)})
        assert judge({"x": v.correction.formula}, there)[0].ok


def test_a_transposed_name_on_the_left_of_a_product_may_be_that_of_a_column():
    (v,) = judge(["x = 2 * x"], pose("x.T @ x"))
    assert v.ok
    assert extent(v) == EVERY + ", with x a vector"


def test_what_mends_a_claim_about_vectors_holds_for_matrices():
    (v,) = judge(["x = ones_like(x)"], pose("x.mean()"))
    assert v.correction is not None
    assert judge({"x": v.correction.formula}, pose("x.mean()", shapes={"x": (2, 3)}))[0].ok


def test_a_mask_that_values_decide_on_is_that_of_the_program():
    """What x[x > 0] keeps is said by the values given, in the program and in the claim."""
    problem = pose("x[x > 0]", values={"x": [1.0, -1.0, 2.0]})
    assert judge(["x = eye(3)[x > 0].T @ g"], problem)[0].ok
    assert not judge(["x = eye(3)[x < 0].T @ g"], problem)[0].ok


@pytest.mark.parametrize(("expr", "claim", "ok"), [
    ("x[x > 0].sum()", "(x > 0).double()", True),
    ("x[x > 0].sum()", "(x > 0) * 2.0", False),
    ("x[x > 0].sum()", "(x > -1).double()", False),
    ("x[x > 0].sum()", "(x > 0.5).double()", False),
    ("x[x > 0.5].sum()", "(x > 0.4).double()", False),
    ("x[x > 0.5].sum()", "(x > 0).double()", False),
    ("x[x > 0.5].sum()", "(x > 0.5).double()", True),
    ("x.masked_select(x > 0).sum()", "(x > 0).double()", True),
    ("x.masked_select(x > 0).sum()", "(x > 0) * 2.0", False),
    ("(x[x > 0]**2).sum()", "2 * relu(x)", True),
    ("(x[x > 0]**2).sum()", "2 * x", False),
    ("x[x.argsort()][0]", "(x == x.min()).double()", True),
    ("x[x.argsort()][0]", "(x == x.max()).double()", False),
    ("x[x > 0].mean()", "(x > 0) / (x > 0).sum()", True),
    ("x[x > 0].mean()", "(x > 0) / x.numel()", False),
    ("x[x > 0]", "zeros_like(x).masked_scatter(x > 0, g)", True),
    ("x[x > 0]", "g.sum() * (x > 0)", False),
])  # fmt: skip
def test_points_decide_on_what_the_values_given_do(expr, claim, ok):
    """A formula that computes its mask anew is tried where the program has the same one."""
    assert judge({"x": claim}, pose(expr, values={"x": [1.0, -2.0, 3.0]}))[0].ok is ok


def test_a_seed_that_was_given_fits_what_values_pick():
    problem = pose("x[x > 0]", values={"x": [1.0, -2.0, 3.0]}, grad=[1.0, 2.0])
    assert judge(["x = zeros_like(x).masked_scatter(x > 0, g)"], problem)[0].ok
    assert not judge(["x = (x > 0) * 1.0"], problem)[0].ok


# ---- sizes, values, shapes -----------------------------------------------------------------------


def test_sizes_differ_and_agree_where_they_must():
    (v,) = judge(["W = x.T @ g"], pose("x @ W"))
    assert len(v.sizes) == 4
    for shapes in v.sizes:
        (n, k), (k2, m) = shapes["x"], shapes["W"]
        assert k == k2
        assert len({n, k, m}) == 3


def test_sizes_that_were_given_stay():
    (v,) = judge(["W = x.T @ g"], pose("x @ W", shapes={"x": (5, 2)}))
    assert {s["x"] for s in v.sizes} == {(5, 2)}
    assert len({s["W"] for s in v.sizes}) == 4


@pytest.mark.parametrize(("expr", "claim"), [
    ("x @ W.T", "W = g.T * x"),
    ("o = sigmoid(x @ W); o * tanh(c)", "c = o * (1 - tanh(c) ** 2)"),
    ("relu(x @ W + b)", "b = g * (out > 0)"),
])  # fmt: skip
def test_a_name_in_upper_case_stays_a_matrix(expr, claim):
    (v,) = judge([claim], pose(expr))
    assert not v.ok
    assert len(v.sizes[0]["W"]) == 2


def test_a_size_written_as_a_number_is_found_out():
    """x.mean() where x happens to have 2 elements: g / 2 is right there, and nowhere else."""
    (v,) = judge(["x = full_like(x, 0.5)"], pose("x.mean()"))
    assert v.expected == (2,)
    assert not v.ok
    (v,) = judge(["x = full_like(x, 0.5)"], pose("x.mean()", shapes={"x": (2,)}))
    assert v.ok
    assert not v.points.sizes_vary


def test_symmetric_values_do_not_hide_a_transpose():
    values = {"A": [[2.0, 1.0], [1.0, 3.0]], "x": [1.0, 1.0]}
    (v,) = judge(["x = 2 * A @ x"], pose("x @ A @ x", values=values))
    assert not v.ok
    assert v.condition == "A is symmetric"


@pytest.mark.parametrize(("text", "claim", "assume", "ok"), [
    ("x @ A @ x", "x = 2 * A @ x", {}, False),
    ("x @ A @ x", "x = 2 * A @ x", {"A": ("symmetric",)}, True),
    ("x @ A @ x", "x = 2 * A @ x", {"A": ("posdef",)}, True),
    ("x @ A @ x", "x = 2 * A @ x", {"A": ("orthogonal",)}, False),
    ("x @ A @ x", "x = 2 * diag(A) * x", {"A": ("diagonal",)}, True),
    ("x @ A @ x", "x = 2 * diag(A) * x", {"A": ("symmetric",)}, False),
    ("x @ A @ x", "x = 0 * x", {"A": ("skew",)}, True),
    ("x @ A @ x", "x = (A + A.T) @ x", {"A": ("skew",)}, True),
    ("x @ A @ x", "x = A @ x + A.T @ x", {"A": ("skew",)}, True),
    ("x @ A @ x", "x = 2 * A @ x", {"A": ("skew",)}, False),
    ("x @ A @ x", "x = 1e-3 * x", {"A": ("skew",)}, False),
    ("relu(A @ x)", "x = A @ (g * (A @ x > 0))", {"A": ("symmetric",)}, True),
    ("norm(Q @ x - b)**2", "x = 2 * (x - Q.T @ b)", {"Q": ("orthogonal",)}, True),
    ("norm(Q @ x - b)**2", "x = 2 * (x - Q @ b)", {"Q": ("orthogonal",)}, False),
])  # fmt: skip
def test_a_claim_is_tried_on_what_is_assumed(text, claim, assume, ok):
    (v,) = judge([claim], pose(text, wrt=["x"], assume=assume, shapes={"x": (3,)}))
    assert v.ok is ok
    assert v.deviation is None


@pytest.mark.parametrize(("text", "claim"), [
    ("logdet(X)", "X = 2 * inv(X) - inv(X) * eye(X.shape[0])"),
    ("det(X)", "X = det(X) * (2 * inv(X) - inv(X) * eye(X.shape[0]))"),
    ("trace(A @ X)", "X = A + A.T - A * eye(A.shape[0])"),
])  # fmt: skip
def test_the_derivative_by_a_matrix_that_stays_symmetric_is_known(text, claim):
    """The Matrix Cookbook, 2012, (138), (141) and (142)."""
    (v,) = judge([claim], pose(text, shapes=dict.fromkeys("AX" if "A" in text else "X", (3, 3))))
    assert (v.ok, v.condition) == (False, "X varies only among symmetric matrices")
    (other,) = judge([f"{claim} + X"], v.points.tried[0].problem)
    assert other.condition is None


def test_masks_and_labels_keep_their_values():
    right = "x = 2 * m * x * g"
    problem = pose("(m * x)**2", values={"m": [1.0, 0.0, 1.0]}, shapes={"x": (3,)})
    assert judge([right], problem)[0].ok
    assert not judge([right], pose("(m * x)**2", shapes={"x": (3,), "m": (3,)}))[0].ok


def test_what_wrt_leaves_out_keeps_its_value():
    given = {"y": [[0.25, 0.75], [0.5, 0.5]]}
    expr, claim = "(-y * log_softmax(z, -1)).sum()", ["z = softmax(z, -1) - y"]
    assert judge(claim, pose(expr, values=given, shapes={"z": (2, 2)}, wrt=["z"]))[0].ok
    assert not judge(claim, pose(expr, values=given, shapes={"z": (2, 2)}))[0].ok


def test_both_sides_of_a_kink_are_tried():
    assert not judge(["x = g"], pose("relu(x)"))[0].ok
    assert judge(["x = g * (x > 0)"], pose("relu(x)"))[0].ok


@pytest.mark.parametrize(
    ("expr", "claim"),
    [
        ("log(x)", "g / x"),
        ("sqrt(x - 1)", "g / (2 * out)"),
        ("acosh(x)", "g / sqrt(x**2 - 1)"),
        ("atanh(x)", "g / (1 - x**2)"),
        ("log(det(A))", "A = inv(A).T"),
        ("cholesky(A).sum() * 0 + logdet(A)", "A = inv(A).T"),
    ],
)
def test_values_within_the_domain(expr, claim):
    assert judge([claim], pose(expr))[0].ok


TINY = "the term 1e-12 should not be there, though it is too small to matter here"
EXCEPTIONS = [  # what PyTorch has at 0 is its convention: 0 for each of these
    ("relu(x)", "x = g * (x >= 0)", {},
     "at x = 0, x.grad[0] is 0 in PyTorch, but -1.1 in the claim"),
    ("maximum(x, y).sum()", "x = (x > y)", {},
     "at x = y, x.grad[0] is 0.5 in PyTorch, but 0 in the claim"),
    ("relu(x - y).sum()", "y = -1 * (x >= y)", {},
     "at x = y, y.grad[0] is 0 in PyTorch, but -1 in the claim"),
    ("norm(x)", "x = x / out", {"x": "[0,0]"},
     "at the values given, x.grad[0] is 0 in PyTorch, but nan in the claim"),
    ("logdet(A)", "A = inv(A).T", {"A": "[[0,1],[1,0]]"},
     "at the values given, where out is nan, A.grad[0,1] is 0 in PyTorch, but 1 in the claim"),
    ("log(x).sum()", "x = 1 / x", {"x": "[0,1]"}, None),
    ("sqrt(-x).sum()", "x = -1 / (2 * sqrt(-x))", {"x": "[1,1]"}, None),
    ("relu(x)", "x = g * (x > 0)", {}, None),
    ("abs(x).sum()", "x = sign(x)", {}, None),
    ("x / y", "x = g / (y + 1e-12)", {}, TINY),
    ("x / y", "d = 1e-13 + y; x = g / d", {}, TINY.replace("12", "13")),
    ("x / y", "x = g / (y + 1e-12) + 1e-13", {},
     TINY.replace("term 1e-12", "terms 1e-13 and 1e-12").replace("it is", "they are")),
    ("x / (y + 1e-12)", "x = g / (y + 1e-12)", {}, None),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "claim", "values", "said"), EXCEPTIONS)
def test_where_a_right_claim_parts_from_pytorch(expr, claim, values, said):
    (check,) = package.check(expr, values=values, claim=claim)[2:]
    assert (check["ok"], check["claim"]["exception"]) == (True, said)


SEVERAL = [
    ("dW = 7 * g; dx = g @ W.T", [("W", False), ("x", True)]),
    ("W.grad = x.T @ g; x.grad = g @ W.T", [("W", True), ("x", True)]),
    ("dx = g @ W.T; dW = x.T @ (x @ pinv(x)) @ g", [("x", True), ("W", True)]),
    ("d = g; x = d @ W.T", [("x", True)]),
    ("W = W.T; x = g @ W", [("x", True)]),
]


@pytest.mark.parametrize(("claim", "expected"), SEVERAL)
def test_what_is_named_is_judged(claim, expected):
    checks = package.check("x @ W", claim=claim)[2:]
    assert [(c["claim"]["input"], c["ok"]) for c in checks] == expected


IN_BOTH_READINGS = [
    ("(a * b).sum()", "a = b; b = a", [("a.grad = b", True), ("b.grad = a", True)]),
    ("(a * b).sum()", "a, b = b, a", [("a.grad = b", True), ("b.grad = a", True)]),
    ("(a * b).sum()", "a=b, b=max(a, a)", [("a.grad = b", True), ("b.grad = max(a, a)", True)]),
    ("a * b * 2", "a = 2 * g * b; b = 2 * g * a",
     [("a.grad = 2 * g * b", True), ("b.grad = 2 * g * a", True)]),
    (ATTENTION, "V = P.T @ g; d = g @ V.T; S = P * (d - (d * P).sum(-1, keepdim=True));"
     " Q = S @ K; K = S.T @ Q",
     [("V.grad = P.T @ g", True),
      ("d = g @ V.T; S = P * (d - (d * P).sum(-1, keepdim=True)); Q.grad = S @ K", True),
      ("d = g @ V.T; S = P * (d - (d * P).sum(-1, keepdim=True)); K.grad = S.T @ Q", True)]),
    ("x @ W", "x = g @ W.T; W = 2 * x.T @ g",
     [("x.grad = g @ W.T", True), ("W.grad = 2 * x.T @ g", False)]),
    ("(x * y).sum()", "y = x; x = 3 * y", [("y.grad = x", True), ("x.grad = 3 * y", False)]),
    ("x + y", "x = g; y = x", [("x.grad = g", True), ("x = g; y.grad = x", True)]),
    ("x @ W", "x = x.T; W = x @ g", [("x = x.T; W.grad = x @ g", True)]),
    ("x @ W", "W = g.T; W = (W @ x).T", [("W = g.T; W.grad = (W @ x).T", True)]),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "claim", "expected"), IN_BOTH_READINGS)
def test_an_input_on_the_right_is_the_input_or_else_a_step(expr, claim, expected):
    verdicts = judge([claim], pose(expr))
    assert [(v.claim.written(v.claim.text), v.ok) for v in verdicts] == expected


def test_which_reading_is_right_is_said():
    (_, step) = judge(["x = g; y = x"], pose("x + y"))
    assert extent(step).endswith("where x is the step before")
    (_, wrong) = judge(["y = x; x = 3 * y"], pose("(x * y).sum()"))
    assert reason(wrong).endswith("(y is the input)")


@pytest.mark.parametrize(
    "claim",
    ["dL/dW = x.T @ g", "∂L/∂W = x.T @ g", "dloss / dW = x.T @ g", "d(L)/dW = x.T @ g",
     "∇W = x.T @ g", "∇_W = x.T @ g", "W: x.T @ g", "W := x.T @ g", "W.grad += x.T @ g",
     "grad_W = x.T @ g", "dL_dW = x.T @ g", "W_grad = x.T @ g", "W = x.T @ grad_output",
     "dW = x.T @ dy", "W = x.T @ y.grad", "W = x.T @ ∂L/∂y", "dL/dy = g; dL/dW = x.T @ dL/dy",
     "dL/dW = x.T @ dL/dy", "d.grad = g; dW = x.T @ d.grad", "dW = x.T @ g; dW = dW + 0 * W"],
)  # fmt: skip
def test_spellings_of_gradients(claim):
    (v,) = judge([claim], pose("y = x @ W"))
    assert (v.claim.name, v.ok) == ("W", True)


@pytest.mark.parametrize("claim", ["W[i, j] = x.T @ g", "grad(W) = x.T @ g", "W.T = g.T @ x"])
def test_what_is_claimed_is_a_name(claim):
    with pytest.raises(GradcliError) as raised:
        judge([claim], pose("x @ W"))
    assert (raised.value.code, raised.value.hint) == ("syntax", FORM)


@pytest.mark.parametrize(
    ("claim", "ok"),
    [
        ("W = x.T @ (dh * (h > 0))", True),
        ("W.grad = x.T @ (h.grad * (h > 0))", True),
        ("x.grad = (∂L/∂h * (h > 0)) @ W.T", True),
        ("W.grad = x.T @ h.grad", False),
        ("V.grad = h.T @ out.grad", True),
        ("h.grad = out.grad @ V.T; W.grad = x.T @ (h.grad * (h > 0))", True),
    ],
)
def test_a_claim_can_use_gradients_of_intermediates(claim, ok):
    """The chain rule, by hand: of h = relu(x @ W) with h.grad."""
    assert judge([claim], pose("h = relu(x @ W); h @ V"))[-1].ok == ok


def test_the_gradient_of_a_named_out_is_not_the_seed():
    """out.grad = 2 * out: the output is out ** 2, summed."""
    (verdict,) = judge(["x.grad = out.grad @ a.T"], pose("out = x @ a; (out ** 2).sum()"))
    assert verdict.ok
    (verdict,) = judge(["x.grad = 2 * out @ a.T"], pose("out = x @ a; (out ** 2).sum()"))
    assert verdict.ok


def test_a_gradient_of_an_input_that_a_claim_uses_is_said_in_a_step():
    with pytest.raises(GradcliError) as raised:
        judge(["W = x.T @ dV"], pose("h = relu(x @ W); h @ V"))
    assert raised.value.hint == "define it in an earlier step: dV = ...; ..."


@pytest.mark.parametrize(("step", "said"), [
    ("d[x <= 0] = 0", "write d = where(x <= 0, 0, d)"),
    ("d[0] -= 1", "a changed copy is"),
    ("d[1:] = 1", "x.slice_scatter(y)"),
])  # fmt: skip
def test_a_step_that_changes_elements_is_told_what_to_write(step, said):
    with pytest.raises(GradcliError) as raised:
        judge([f"d = g.clone(); {step}; x = d"], pose("relu(x)"))
    assert said in raised.value.hint


def test_a_step_that_nothing_uses_is_refused():
    with pytest.raises(GradcliError, match="the claim is about foo"):
        package.check("x @ W", claim="foo = 7; dx = g @ W.T")


def test_as_many_digits_as_tell_two_numbers_apart():
    (*_, found) = package.check("x ** 2", claim="1.9999 * x * g")
    element = found["claim"]["element"]
    claimed, right = (element[key].rpartition("= ")[2] for key in ("claimed", "is"))
    assert (claimed, right) == ("-0.47998", "-0.48")
    assert element["claimed_value"] == pytest.approx(1.9999 / 2 * element["value"])
    assert "1.9999·(-1.2)·0.2 = -0.47998" in element["claimed"]


def test_an_element_that_is_not_finite():
    (*_, found) = package.check("x * e", shapes={"x": (3,), "e": ()},
                                claim={"e": "(g * sqrt(x)).sum()"})  # fmt: skip
    assert not found["ok"]
    assert math.isnan(found["max_error"])


def test_minus_minus():
    (*_, found) = package.check("norm(x - a)", shapes={"x": (3,), "a": (3,)}, claim={"a": "x"})
    assert "--" not in found["claim"]["element"]["is"]


def test_given_values_at_a_kink_do_not_count():
    """Where x is 0, PyTorch takes 0 for the derivative of relu: a convention, and no mistake."""
    problem = pose("relu(x)", values={"x": [0.0, 1.0, -2.0]})
    assert judge(["x = g * (x >= 0)"], problem)[0].ok


def test_given_values_count():
    """max(x, 5) at 9: among numbers below 2 the derivative is always 0."""
    problem = pose("clamp(x, min=5)", values={"x": [9.0, 1.0]})
    assert not judge(["x = zeros_like(x)"], problem)[0].ok


def test_a_seed_of_numbers_fixes_sizes():
    problem = pose("x @ a", grad=[[1, 2, 3, 4], [5, 6, 7, 8]])
    right, wrong = judge(["x = g @ a.T", "x = g @ a"], problem)
    assert right.ok
    assert right.is_proved
    assert {s["a"][1] for s in right.sizes} == {4}
    assert len({s["a"][0] for s in right.sizes}) == 4
    assert not wrong.ok


@pytest.mark.parametrize(("expr", "claim", "mended"), [
    ("sqrt(x)", "x = g", "g / (2 * out)"),
    ("log(x)", "x = 1 / x", "g / x"),
    ("relu(x)", "x = g * x", "g * (out > 0)"),
    ("norm(x)", "x = 2 * x", "x / out"),
    ("norm(x) / 2", "s = x * 2; x = s * 2", "s = x * 2; s / (8 * out)"),
    ("x / y", "x = g * 3 * x", "g / y"),
    ("einsum('bij,bjk->bik', x, y)", "x = g @ y.T", "g @ y.mT"),
])  # fmt: skip
def test_the_simplest_edit_mends(expr, claim, mended):
    (v,) = judge([claim], pose(expr))
    assert v.correction is not None
    assert v.correction.formula == mended


def test_a_seed_that_was_given():
    """out.backward(a) of a * a: 2 g a and 2 a a are the same."""
    problem = pose("a * a", grad="a")
    assert [v.ok for v in judge(["a = 2 * a * a", "a = 2 * g * a", "a = 2 * a"], problem)] == [
        True, True, False,
    ]  # fmt: skip


def test_a_gradient_that_does_not_flow_is_zero():
    verdicts = judge(["x = zeros_like(x)", "x = g"], pose("x.detach() * w"))
    assert [v.ok for v in verdicts] == [True, False]


def test_numbers_and_shapes_of_the_program_can_be_used():
    expr = "n = x.shape[0]; out = (x**2).sum() / n"
    assert judge(["x = 2 * x / n"], pose(expr))[0].ok


def test_the_search_for_what_mends_a_claim_ends():
    """A long formula has more pairs of changes than anybody waits for."""
    program = read_program(" + ".join(f"x.T @ a{k}" for k in range(30)), Limits())
    texts = [e.text for e in written(mutations.pairs(program), 5000)]
    assert len({*texts}) == len(texts) > 10
    assert sum(map(len, texts[:-1])) <= 5000


# ---- what is printed -----------------------------------------------------------------------------


def test_one_line_for_each_claim_and_the_status():
    arguments = ("check", "x @ W", "--claim", "W = x.T @ g", "--claim", "x = g @ W")
    result = gradcli(*arguments)
    assert result.status == 1
    assert result.lines[1] == "  W.grad = x.T @ g    ✓ right: the same formula for every size"
    assert result.lines[2] == "  x.grad = g @ W    ✗ wrong: W should be transposed"
    assert gradcli(*arguments[:4]).status == 0


def test_the_first_wrong_element_both_ways():
    result = gradcli("check", "(a * b).sum()", "-s", "a=2,b=2", "--claim", "a = 2 * b")
    lines = [" ".join(line.split()) for line in result.lines]
    claimed = next(line for line in lines if line.startswith("claimed"))
    found = re.fullmatch(r"claimed a\.grad\[0\] = 2·b\[0\] = 2·(\S+) = (\S+)", _joined(lines))
    assert claimed.startswith("claimed a.grad[0] = 2·b[0]")
    assert found is not None
    assert float(found[2]) == pytest.approx(2 * float(found[1].strip("()")))
    assert "right a.grad = b" in lines


def _joined(lines):
    place = next(k for k, line in enumerate(lines) if line.startswith("claimed"))
    return " ".join([lines[place], *(x for x in lines[place + 1 : place + 2] if x.startswith("="))])


def test_json():
    result = gradcli("check", "x @ W", "--claim", "W = g @ x", "--claim", "x = 2 * g @ W.T",
                     "-f", "json")  # fmt: skip
    misfit, twice = result.json["claims"]
    assert (misfit["input"], misfit["claim"], misfit["ok"]) == ("W", "g @ x", False)
    assert misfit["shape"] is None
    assert misfit["expected_shape"] == [3, 4]
    assert misfit["error"].endswith("in g @ x")
    assert twice["remark"] == "it is twice what it should be"
    assert twice["mended"] == twice["formula"] == "g @ W.T"
    assert twice["element"]["claimed_value"] == pytest.approx(2 * twice["element"]["value"])
    assert "claims" not in gradcli("check", "x @ W", "-f", "json").json


def test_markdown():
    out = gradcli("check", "x @ W", "--claim", "W = x.T @ g", "-f", "markdown").out
    assert "- `W.grad = x.T @ g` ✓ right: the same formula for every size" in out


def test_python():
    checks = package.check("x @ W", claim={"W": "x.T @ g", "x": "g @ W"})
    assert [c["ok"] for c in checks] == [True, True, True, False]
    assert checks[2]["name"] == "claim W = x.T @ g"
    assert checks[3]["remark"] == "W should be transposed"
    assert checks[3]["claim"]["formula"] == "g @ W.T"
    assert package.check("x @ W", claim="W = x.T @ g")[-1]["ok"]


def test_explain_takes_claims_too():
    out = gradcli("x * x", "--claim", "2 * g * x", "--show", "answer,claims").out
    assert out.splitlines()[0] == "x.grad = 2 * g * x"
    assert "✓ right: the same formula for every size" in out


def test_batch():
    request = {"expr": "x @ W", "claim": {"W": "x.T @ g", "x": "g @ W"}, "want": ["claims"]}
    (answer,) = package.batch([request])
    assert [c["ok"] for c in answer["claims"]] == [True, False]
    (refused,) = package.batch([request | {"claim": ["W = g"]}])
    assert refused["error"]["code"] == "request"


@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_widths_and_ascii(width):
    arguments = ("check", "softmax(z, -1)", "-s", "z=3x4", "--claim", "z = out * g")
    lines = gradcli(*arguments, "--width", width).lines
    assert max(map(len, lines)) <= int(width)
    assert gradcli(*arguments, "--ascii").out.isascii()


@pytest.mark.parametrize("claim", ["zeros(x.max(0))", "True & nan", "max(x.max(0))"])
def test_nonsense_is_refused(claim):
    with pytest.raises(GradcliError) as raised:
        judge([claim], pose("x.sum(0)", shapes={"x": (2, 3)}))
    assert raised.value.code == "arguments"


@pytest.mark.parametrize(
    ("claim", "code", "marked"),
    [
        ("W = x.T @@ g", "syntax", "@"),
        ("W = foo(x)", "unknown-function", "foo"),
        ("W = x.T @ y", "unknown-name", "y"),
        ("q = g", "unused-option", "q"),
        ("g @ W", "syntax", "g @ W"),
        ("W = g @ x ^ 2", "syntax", "g @ x ^ 2"),
        ("W = g @ x * foo", "unknown-name", "foo"),
        ("W = g @ x + foo(g)", "unknown-function", "foo"),
        ("", "syntax", None),
        ("W = 'a'", "value", "'a'"),
    ],
)
def test_claims_that_cannot_be_read(claim, code, marked):
    result = gradcli("check", "x @ W", "--claim", claim)
    assert result.status == 2
    assert result.err.startswith(f"error[{code}]: ")
    with pytest.raises(GradcliError) as raised:
        judge([claim], pose("x @ W"))
    span = raised.value.span
    assert (span and span.text[span.start : span.end]) == marked
    if marked:
        assert "^" * len(marked) in result.err


def test_labels_have_no_gradient():
    problem = pose("cross_entropy(z, y)", values={"y": [0, 1]}, shapes={"z": (2, 3)})
    with pytest.raises(GradcliError, match="y holds indices or booleans"):
        judge(["y = g"], problem)


def test_a_program_that_is_singular_everywhere_is_not_judged():
    """X.T @ X is 3×3 and has rank 2."""
    with pytest.raises(GradcliError, match="finite and larger than rounding errors") as raised:
        judge(["X = X"], pose("logdet(X.T @ X)", shapes={"X": (2, 3)}))
    assert raised.value.code == "needs-value"


def test_values_that_are_not_symmetric_do_not_count_where_one_triangle_is_read():
    values = {"A": [[4.0, 3.0], [1.0, 5.0]]}
    assert judge(["A = inv(A)"], pose(CHOLESKY, values=values))[0].ok


def test_slopes_of_a_singular_matrix_tell_nothing():
    """At 2×3, X.T @ X is singular: what disagrees there is rounding."""
    found = package.check("logdet(X.T @ X)", shapes={"X": (2, 3)})
    assert {c["name"]: c["ok"] for c in found}["finite differences"] is None


def test_too_large_to_try():
    with pytest.raises(GradcliError, match="too large to test") as raised:
        judge(["x = 2 * x"], pose("(x**2).sum()", shapes={"x": (2000, 2000)}))
    assert raised.value.code == "limit"


def test_mending_at_large_sizes():
    problem = pose("softmax(x @ W, -1)", shapes={"x": (80, 60), "W": (60, 70)})
    claim = "d = out * (g - (g * out).sum()); W = x.T @ d"
    (v,) = judge([claim], problem)
    assert v.correction is not None
    assert v.correction.why == "the sum of g * out should be over dimension -1, with keepdim=True"
    assert judge({"W": v.correction.formula}, problem)[0].ok


def test_values_that_fit_no_index_are_refused():
    """NumPy's add.at does not survive them."""
    with pytest.raises(GradcliError, match="have shape") as raised:
        pose("v.put_at((2, 4), (..., [0, 1]))", shapes={"v": (3, 5)})
    assert raised.value.code == "shape"


def test_claims_on_labels_that_nobody_gave():
    """The textbook's gradient of cross_entropy: (softmax - one_hot) / n."""
    expr, claim = "cross_entropy(x, t)", "(softmax(x, 1) - one_hot(t, x.shape[1])) / x.shape[0]"
    assert package.check(expr, claim=f"x = {claim}")[-1]["ok"]
    request = {"expr": expr, "claim": {"x": claim}, "want": ["claims", "formula"]}
    (answer,) = package.batch([request])
    assert answer["ok"]
    assert answer["claims"][0]["ok"]
    assert answer["formula"]["x"]


@pytest.mark.parametrize(
    "transposed", ["a^T", "a ^ T", "a^{T}", r"a^\top", r"a^{\top}", "a'", "aᵀ", "a⊤", "(a')'.T"]
)
def test_transposes_as_people_write_them(transposed):
    for claim in (f"x = g @ {transposed}", "a = (g' @ x)'; x = einsum('ij,kj->ik', g, a)"):
        checks = package.check("x @ a", claim=claim)
        assert all(check["ok"] for check in checks)
        assert sum("claim" in check for check in checks) == claim.count(" = ")


def test_a_formula_for_every_size_is_one_in_the_data_too():
    (v,) = judge(["x = g * a"], pose("x * a", shapes={"x": (3,), "a": (3,)}))
    assert extent(v) == "the same formula for every size"
    assert as_data(v)["every_size"] is True


@pytest.mark.parametrize("terms", [300, 1_500])
def test_a_claim_of_many_terms_has_a_verdict(terms):
    claim = "+".join(f"y*{k}" for k in range(terms))
    verdict = judge([f"x = {claim}"], pose("sum(x * y)"))[0]
    assert (verdict.ok, reason(verdict)) == (False, "its numbers are not those of the gradient")


SATURATED = [
    ("binary_cross_entropy(sigmoid(x), y)", "(sigmoid(x) - y) / x.numel()"),
    ("binary_cross_entropy(sigmoid(x), y, reduction='none')", "g * (sigmoid(x) - y)"),
    ("binary_cross_entropy(1 - sigmoid(x), y)", "(y - 1 + sigmoid(x)) / x.numel()"),
    ("binary_cross_entropy(tanh(x)**2, y)", "2 * (tanh(x)**2 - y) / tanh(x) / x.numel()"),
]


@pytest.mark.parametrize(("expr", "right"), SATURATED)
def test_where_a_function_is_saturated_nothing_is_judged(expr, right):
    """By hand, with p = sigmoid(x): (p - y) / (p * (1 - p)) * p * (1 - p)."""
    assert judge([f"x = {right}"], pose(expr, wrt=["x"]))[0].ok
    (v,) = judge([f"x = -({right})"], pose(expr, wrt=["x"]))
    assert "sign" in reason(v)


def test_a_claim_that_corrects_pytorch_is_right_at_the_values_given():
    values = {"x": [100.0, -1.0], "y": [0.0, 0.0]}
    problem = pose("binary_cross_entropy(sigmoid(x), y)", values=values, wrt=["x"])
    (v,) = judge(["x = (sigmoid(x) - y) / x.numel()"], problem)
    assert v.ok
    assert "x.grad[0] is 0 in PyTorch, but 0.5 in the claim" in exception(v)
