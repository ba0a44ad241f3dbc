"""Jacobians and Hessians: from Boyd and Vandenberghe, Convex Optimization (2004), by page; from
Magnus and Neudecker, Matrix Differential Calculus (2019), their vec of columns turned to rows; from
textbooks on learning; by hand.
"""

from . import case, together


def hessian(source, expr, shapes, **forms):
    return case(source, expr, shapes, kind="hessian", **forms)


def jacobian(source, expr, shapes, **forms):
    return case(source, expr, shapes, kind="jacobian", **forms)


IDENTITIES = together(
    # ---- Hessians ----
    hessian("Boyd 71", "0.5 * x @ P @ x + q @ x", "x: n, P: n n, q: n", x="0.5 * (P + P.T)"),
    hessian("Boyd 72", "(x * log(x)).sum()", "x: n", x="diag(1 / x)"),
    hessian(
        "Boyd 642",
        "norm(x)",
        "x: n real",
        x="(eye(x.shape[0]) - outer(x, x) / norm(x) ** 2) / norm(x)",
    ),
    hessian(
        "Boyd 644",
        "p = softmax(A @ x + b, 0); logsumexp(A @ x + b, 0)",
        "A: m n real, x: n, b: m",
        x="A.T @ (diag(p) - outer(p, p)) @ A",
    ),
    hessian(
        "Boyd 564, logarithmic barrier",
        "-log(b - A @ x).sum()",
        "A: m n, x: n, b: m large",
        x="A.T @ diag(1 / (b - A @ x) ** 2) @ A",
    ),
    hessian("by hand", "exp(a @ x)", "a: n, x: n", x="exp(a @ x) * outer(a, a)"),
    hessian("by hand", "log(a @ x)", "a: n, x: n", x="-outer(a, a) / (a @ x) ** 2"),
    hessian("by hand", "(a @ x) ** 2", "a: n, x: n", x="2 * outer(a, a)"),
    hessian("by hand", "(a @ x) * (b @ x)", "a: n, b: n, x: n", x="outer(a, b) + outer(b, a)"),
    hessian(
        "pseudo-Huber",
        "r = sqrt(1 + x @ x); r",
        "x: n real",
        x="eye(x.shape[0]) / r - outer(x, x) / r ** 3",
    ),
    hessian("by hand", "(x ** 4).sum()", "x: n real", x="diag(12 * x ** 2)"),
    hessian("by hand", "sin(x).sum()", "x: n real", x="diag(-sin(x))"),
    hessian(
        "Poisson regression",
        "exp(X @ w).sum() - y @ X @ w",
        "X: m n, w: n, y: m",
        w="X.T @ diag(exp(X @ w)) @ X",
    ),
    hessian(
        "least squares, weighted",
        "(c * (X @ w - y) ** 2).sum()",
        "X: m n, w: n, y: m, c: m",
        w="2 * X.T @ diag(c) @ X",
    ),
    hessian(
        "least squares, generalised",
        "(X @ w - y) @ S @ (X @ w - y)",
        "X: m n, w: n, y: m, S: m m",
        w="X.T @ (S + S.T) @ X",
    ),
    hessian(
        "mean squared error",
        "((X @ w - y) ** 2).mean()",
        "X: m n, w: n, y: m",
        w="2 * X.T @ X / X.shape[0]",
    ),
    hessian(
        "variance",
        "((x - x.mean()) ** 2).sum()",
        "x: n",
        x="2 * (eye(x.shape[0]) - ones(x.shape[0], x.shape[0]) / x.shape[0])",
    ),
    hessian(
        "factorisation",
        "((U @ V.T - M) ** 2).sum()",
        "U: m k, V: n k, M: m n",
        U="2 * kron(eye(U.shape[0]), V.T @ V)",
    ),
    # ---- Jacobians ----
    jacobian("by hand", "exp(x)", "x: n", x="diag(exp(x))"),
    jacobian("by hand", "a * x", "a: n, x: n", x="diag(a)"),
    jacobian("by hand", "x @ A", "x: m, A: m n", x="A.T"),
    jacobian("by hand", "x * (a @ x)", "a: n, x: n", x="a @ x * eye(x.shape[0]) + outer(x, a)"),
    jacobian(
        "log-softmax",
        "log_softmax(x, 0)",
        "x: n real",
        x="eye(x.shape[0]) - outer(ones(x.shape[0]), softmax(x, 0))",
    ),
    jacobian(
        "normalisation by the sum",
        "x / x.sum()",
        "x: n",
        x="(eye(x.shape[0]) - outer(x, ones(x.shape[0])) / x.sum()) / x.sum()",
    ),
    jacobian(
        "centring",
        "x - x.mean()",
        "x: n",
        x="eye(x.shape[0]) - ones(x.shape[0], x.shape[0]) / x.shape[0]",
    ),
    jacobian("sums so far", "cumsum(x, 0)", "x: n", x="tril(ones(x.shape[0], x.shape[0]))"),
    jacobian(
        "a layer",
        "tanh(W @ x + b)",
        "W: m n real, x: n, b: m",
        x="diag(1 - tanh(W @ x + b) ** 2) @ W",
    ),
    jacobian("a layer after it", "W @ tanh(x)", "W: m n, x: n", x="W @ diag(1 - tanh(x) ** 2)"),
    jacobian(
        "two layers",
        "V @ relu(W @ x)",
        "V: k m, W: m n real, x: n real",
        x="V @ diag((W @ x > 0).double()) @ W",
    ),
    jacobian("Magnus 9.10", "A @ X @ B", "A: k m, X: m n, B: n l", X="kron(A, B.T)"),
    jacobian("Magnus 9.13", "inv(X)", "X: n n regular", X="-kron(inv(X), inv(X).T)"),
)
