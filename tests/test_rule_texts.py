"""Rules that are texts: each applies to its own left side, and keeps its value."""

import ast

import numpy as np
import pytest

from gradcli.backends.numeric import Evaluator
from gradcli.graphs import OPS, as_node
from gradcli.language.building.build import Builder
from gradcli.language.program import read_program
from gradcli.limits import Limits
from gradcli.notation.formulas.rules import CANDIDATES, LAYOUT, NORMAL, RULES
from gradcli.notation.formulas.rules.identities import RANKS, Identity
from gradcli.notation.formulas.rules.registry import Rules, apply_rules
from gradcli.notation.formulas.simplify import stripped

TABLES = (RULES, NORMAL, CANDIDATES, LAYOUT)
ALL = {r.text: r for t in TABLES for rules in t.values() for r in rules if isinstance(r, Identity)}
EXAMPLES = {  # what conditions and operators ask for, by identity
    "reshape(u, shape=n) = unsqueeze(u, dim=1) where n[1:] == (1,)": "u.reshape(3, 1)",
    "reshape(u, shape=n) = unsqueeze(u, dim=0) where n == (1, *u.shape)": "u.reshape(1, 3)",
    "where(abs(x) > s, y, z) = y where is_tiny(s)": "where(abs(x) > 1e-12, y, x)",
    "solve_triangular(A, X, upper=upper) = inv(A) @ X where is_cholesky_factor(A, upper)": (
        "solve_triangular(cholesky(S @ S.T + eye(3)).T, X, upper=True)"
    ),
    "solve_triangular(A, X, upper=upper, left=False) = X @ inv(A) "
    "where is_cholesky_factor(A, upper)": (
        "solve_triangular(cholesky(S @ S.T + eye(3)), X, upper=False, left=False)"
    ),
    "solve(A, x) = inv(A) @ x where is_cholesky_factor(A, False)": (
        "solve(cholesky(S @ S.T + eye(3)), x)"
    ),
    "solve(A.mT, x) = inv(A).mT @ x where is_cholesky_factor(A, False)": (
        "solve(cholesky(S @ S.T + eye(3)).mT, x)"
    ),
    "cholesky_solve(X, A) = inv(A).mT @ (inv(A) @ X) where is_cholesky_factor(A, False)": (
        "cholesky_solve(X, cholesky(S @ S.T + eye(3)))"
    ),
    "outer(u, v) * outer(w, x) = outer(u * w, v * x)": "outer(u, v) * outer(w, u)",
    "raise_where(x, y, message=d) = x": "raise_where(x, y > 5, message='large')",
    "sum(A.mT, dim=d, keepdim=True) = sum(A, dim=1 - d, keepdim=True).mT where d in (0, 1)": (
        "sum(A.mT, dim=0, keepdim=True)"
    ),
    "mean(A.mT, dim=d, keepdim=True) = mean(A, dim=1 - d, keepdim=True).mT where d in (0, 1)": (
        "mean(A.mT, dim=0, keepdim=True)"
    ),
    "tril(tril(x, diagonal=j), diagonal=k) = tril(x, diagonal=j if j < k else k)": (
        "x.tril().tril(-1)"
    ),
    "triu(triu(x, diagonal=j), diagonal=k) = triu(x, diagonal=k if j < k else j)": (
        "x.triu(2).triu(1)"
    ),
    "sum(A * B) = trace(B) where is_unit(A) and is_factor(B)": "sum(eye(3) * B)",
    "where(x, where(x, a, b), c) = where(x, a, c)": "where(x > y, where(x > y, a, b), c)",
    "where(x, y * where(x, a, b), c) = where(x, y * a, c)": (
        "where(x > y, -y * where(x > y, a, b), c)"
    ),
    "where(x, a, where(x, b, c)) = where(x, a, c)": "where(x > y, a, where(x > y, b, c))",
    "where(x, a, y * where(x, b, c)) = where(x, a, y * c)": (
        "where(x > y, a, y * where(x > y, b, c))"
    ),
    "(x > y) + (x < y) = ne(x, y)": "z * (x > y) + z * (x < y)",
    "(x > y) + eq(x, y) = ge(x, y)": "z * (x > y) + z * x.eq(y)",
    "(x < y) + eq(x, y) = le(x, y)": "z * (x < y) + z * x.eq(y)",
    "(x > y) - (x < y) = sign(x - y)": "z * (x > y) - z * (x < y)",
    "(x >= y) - (x <= y) = sign(x - y)": "z * (x <= y) - z * (x >= y)",
    "inv(x.mT, check=c) = inv(x).mT": "inv(x.mT)",
    "inv(inv(x, check=d), check=c) = x": "inv(inv(x))",
    "inv(kron(A, B), check=c) = kron(inv(A, check=c), inv(B, check=c))"
    " where is_square(A) and is_square(B)": "inv(kron(A, B))",
    "A @ x = x where is_unit(A)": "eye(3) @ x",
    "x @ A = x where is_unit(A)": "x @ eye(3)",
    "u @ u = vector_norm(u) ** 2 where u.inputs": "exp(u) @ exp(u)",
    "sign(x) ** 2 = ne(x, 0)": "y * sign(x) ** 2",
    "inv(A, check=c) = A where is_unit(A)": "inv(eye(3))",
    "solve(A, x, left=l, check=c) = inv(A) where is_unit(x)": "solve(A, eye(3))",
    "trace(A) = 1.0 * rows(A) where is_unit(A)": "trace(eye(3))",
    "inv(A, check=c) = A.mT where is_orthogonal(A)": "inv(Q)",
    "u @ v = sum(u) where is_ones(v)": "u @ ones(3)",
    "v @ u = sum(u) where is_ones(v)": "ones(3) @ u",
    "A.mT @ v = sum(A, dim=0) where is_ones(v)": "A.mT @ ones(3)",
    "x @ v = sum(x, dim=x.ndim - 1) where is_ones(v)": "x @ ones(3)",
    "v @ x = sum(x, dim=x.ndim - 2) where is_ones(v)": "ones(3) @ x",
    "A @ v = sum(v) where is_ones(A)": "ones(4, 3) @ v",
    "A.mT @ B = unsqueeze(sum(A, dim=0), dim=1) where is_ones(B)": "A.mT @ ones(3, 4)",
    "A @ B = sum(A, dim=1, keepdim=True) where is_ones(B)": "A @ ones(3, 4)",
    "A @ B = sum(B, dim=0) where is_ones(A)": "ones(4, 3) @ B",
    "outer(u, v) = v where is_ones(u)": "outer(ones(4), v)",
    "outer(u, v) = unsqueeze(u, dim=1) where is_ones(v)": "outer(u, ones(4))",
    "expand(u, shape=n) @ B = u @ B where u.shape == n[1:]": "expand(u, (4, 3)) @ B",
    "A @ expand(u, shape=n) = outer(sum(A, dim=1), u) where u.shape == n[1:]":
        "A @ expand(u, (3, 3))",
    "A @ expand(unsqueeze(u, dim=1), shape=n) = unsqueeze(A @ u, dim=1)":
        "A @ expand(unsqueeze(u, 1), (3, 4))",
    "expand(unsqueeze(u, dim=1), shape=n) @ B = outer(u, sum(B, dim=0))":
        "expand(unsqueeze(u, 1), (3, 3)) @ B",
    "tril(A, diagonal=k).mT = triu(A, diagonal=-k) where is_symmetric(A)": "tril(K, -1).mT",
    "triu(A, diagonal=k).mT = tril(A, diagonal=-k) where is_symmetric(A)": "triu(K).mT",
    "cross_along(u, v, dim=d) = cross_along(u, v) where d != -1": "cross_along(u, v, dim=0)",
    "pinv(A) = inv(A) where is_invertible(A)": "pinv(R)",
    "ne(det(A), 0) = full(size=(), fill_value=True) where is_invertible(A)": "ne(det(R), 0)",
    "eq(det(A), 0) = full(size=(), fill_value=False) where is_invertible(A)": "eq(det(R), 0)",
    "sign(det(A)) ** 2 = 1 where is_invertible(A)": "x * sign(det(R)) ** 2",
    "pinv(A.mT @ A) = inv(A) @ inv(A).mT where is_invertible(A)": "pinv(R.mT @ R)",
    "pinv(A @ A.mT) = inv(A).mT @ inv(A) where is_invertible(A)": "pinv(R @ R.mT)",
    "det(A) = prod(diag(A)) where is_square_triangular(A)": "det(L)",
    "trace(inv(A)) = sum(1 / diag(A)) where is_square_triangular(A)": "trace(inv(L.mT))",
    "diag(inv(A)) = 1 / diag(A) where is_square_triangular(A)": "diag(inv(L))",
    "diag(A @ B) = diag(A) * diag(B) where are_same_triangles(A, B)": "diag(L @ M)",
    "trace(A @ B) = diag(A) @ diag(B) where are_same_triangles(A, B)": "trace(L.mT @ M.mT)",
    "logdet(A) = sum(log(abs(diag(A)))) where is_square_triangular(A)": "logdet(L)",
    "diag(matrix_exp(A)) = exp(diag(A)) where is_square_triangular(A)": "diag(matrix_exp(L))",
    "trace(matrix_exp(A)) = sum(exp(diag(A))) where is_square_triangular(A)": (
        "trace(matrix_exp(L))"
    ),
    "abs(x) = x where known_nonnegative(x)": "abs(P)",
    "abs(x * y) = x * abs(y) where known_nonnegative(x)": "abs(P * y)",
    "relu(x * y) = x * relu(y) where known_nonnegative(x)": "relu(P * y)",
    "sign(x * y) = sign(y) where known_positive(x)": "sign(P * y)",
    "leaky_relu(x, negative_slope=s) = x where known_nonnegative(x)": "leaky_relu(P, 0.2)",
    "pow(pow(x, y), z) = pow(x, y * z) where known_nonnegative(x)": "(P ** 1.5) ** 0.7",
    "vector_norm(x, ord=1) = sum(x) where known_nonnegative(x)": "vector_norm(P, 1)",
    "vector_norm(x, ord=1, dim=d, keepdim=k) = sum(x, dim=d, keepdim=k) "
    "where known_nonnegative(x)": "vector_norm(P, 1, dim=1, keepdim=True)",
    "relu(x) = x where known_nonnegative(x)": "relu(P)",
    "sign(x) = ones(size=x.shape) where known_positive(x)": "sign(P)",
    "pow(x, y - 1) = pow(x, y) / x where known_positive(x) or has_a_number(x)": "pow(P, y - 1)",
    'sum(outer(u, v) * A, dim=0) = v * (u @ double(A)) where A.dtype == "bool"': (
        "sum(outer(u, v) * (A > 1), dim=0)"
    ),
    "trace(A @ A) = vector_norm(A) ** 2 where is_symmetric(A)": "trace(K @ K)",
    "pow(x, -y - 1) = pow(x, -y) / x where has_a_number(x)": "pow(1 + P, -y - 1)",
    "A.mT = -A where is_skew(A)": "S.mT",
    "trace(A) = zeros(size=()) where is_skew(A)": "trace(S)",
    "diag(A) = zeros(size=A.shape[:1]) where is_skew(A)": "diag(S)",
    "u @ A @ u = zeros(size=()) where is_skew(A)": "u @ S @ u",
}  # fmt: skip
KNOWN = {
    "Q": ("orthogonal",), "K": ("symmetric",), "L": ("lower",), "M": ("lower",),
    "R": ("invertible",), "P": ("positive",), "S": ("skew",),
}  # fmt: skip
N = 3


def close(found, expected):
    return np.allclose(found, expected, rtol=1e-9, atol=1e-12)


def built(text):
    """The left side of an identity as a node, and a value for each name in it."""
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    draw = np.random.default_rng(5)
    inputs, values = {}, {}
    for name in sorted(names - called(text)):
        shape = (N,) * RANKS.get(name, 2)
        inputs[name] = OPS["input"](name=name, shape=shape, known=KNOWN.get(name, ()))
        array = draw.uniform(0.2, 1, shape)
        array = array + array.T if name == "K" else array
        array = array - array.T if name == "S" else array
        array = np.tril(array) if name in ("L", "M") else array
        values[inputs[name]] = np.linalg.qr(array)[0] if name == "Q" else array
    program = read_program(text, Limits())
    built = as_node(Builder(program, inputs, values={}, limits=Limits()).run())
    return stripped(built, {}), values


def called(text):
    calls = (n.func for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))
    return {f.id for f in calls if isinstance(f, ast.Name)}


def with_numbers(text):
    """The text with 1 for the names of dimensions, and True for whether they are kept."""
    tree = ast.parse(text, mode="eval")
    for n in ast.walk(tree):
        if isinstance(n, ast.keyword) and isinstance(n.value, ast.Name):
            n.value = ast.Constant(True if n.arg == "keepdim" else 1)
    return ast.unparse(tree)


@pytest.mark.parametrize("text", ALL)
def test_an_identity_holds(text):
    node, values = built(with_numbers(EXAMPLES.get(text, ALL[text].left)))
    evaluate = Evaluator(values)
    made = [*apply_rules(node, {node.op.name: [ALL[text]]})]
    assert made, "it does not apply to its own left side"
    for new in made:
        assert close(evaluate(new)[0], evaluate(node)[0])


@pytest.mark.parametrize(("text", "beside", "expected"), [
    ("sin(x) / cos(x) = tan(x)", "2 * g * sin(x) * y / cos(x)", "2 * g * y * tan(x)"),
    ("sqrt(x) ** 2 = x", "sqrt(x) ** 3", "sqrt(x) * x"),
    ("log(x) + log(y) = log(x * y)", "y - 2 * log(x) - 2 * log(g)", "y - 2 * log(x * g)"),
    ("exp(x) * exp(-x) = 1", "y * exp(g - x) * exp(x - g)", "y"),
    ("sum(outer(u, v) * x) = u @ x @ v", "sum(y * outer(u, v) * g)", "u @ (y * g) @ v"),
])  # fmt: skip
def test_what_stands_beside_stays(text, beside, expected):
    (node, values), (other, others) = built(beside), built(expected)
    table = {node.op.name: [Identity(text)]}
    new, *_ = apply_rules(node, table)
    assert [*apply_rules(node, Rules(table))] == [*apply_rules(node, table)]
    evaluate = Evaluator(values | others)
    assert close(evaluate(new)[0], evaluate(other)[0])


@pytest.mark.parametrize(("text", "other"), [
    ("sin(x) / cos(x) = tan(x)", "sin(x) / cos(y)"),
    ("sqrt(x) ** 2 = x", "sqrt(x) * y"),
    ("log(x) + log(y) = log(x * y)", "2 * log(x) + log(y)"),
    ("-sigmoid(-x) + sigmoid(x) = tanh(x / 2)", "sigmoid(-x) + sigmoid(x)"),
    ("log(softmax(x, dim=d)) = log_softmax(x, dim=d)", "log(sigmoid(x))"),
    ("trace(outer(u, v)) = u @ v", "trace(A @ B)"),
    ("inv(A) = A where is_unit(A)", "inv(A)"),
])  # fmt: skip
def test_an_identity_leaves_others_alone(text, other):
    node, _ = built(other)
    table = {node.op.name: [Identity(text)]}
    assert not [*apply_rules(node, table), *apply_rules(node, Rules(table))]


def test_a_text_that_is_no_identity_says_so():
    node, _ = built("exp(x)")
    with pytest.raises(SyntaxError, match="no identity is made of x"):
        Identity("x[0] = x")(node)
