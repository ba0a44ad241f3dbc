"""Closed forms of Hessians: program, shapes, input, formula.

Petersen and Pedersen, The Matrix Cookbook (2012), by equation, a gradient differentiated once more;
Boyd and Vandenberghe, Convex Optimization (2004), by page; by hand where nothing is said.
"""

FORMS = [
    ("x @ A @ x", "x=3,A=3x3", "x", "A + A.T"),
    ("x @ A @ x + b @ x", "x=3,A=3x3,b=3", "x", "A + A.T"),  # (98)
    ("0.5 * x @ A @ x - b @ x", "x=2,A=2x2,b=2", "x", "0.5 * (A + A.T)"),
    ("((A @ x - b)**2).sum()", "A=3x2,x=2,b=3", "x", "2 * A.T @ A"),
    ("((A @ x - b)**2).mean()", "A=5x2,x=2,b=5", "x", "2 * A.T @ A / b.numel()"),
    ("x @ x", "x=3", "x", "2 * eye(x.shape[0])"),
    ("(x**3).sum()", "x=3", "x", "diag(6 * x)"),
    ("x.norm(3)**3", "x=4", "x", "diag(6 * abs(x))"),
    ("x.norm(4)**4", "x=4", "x", "diag(12 * x ** 2)"),
    ("exp(x).sum()", "x=3", "x", "diag(exp(x))"),
    ("exp(a @ x)", "a=3,x=3", "x", "out * outer(a, a)"),
    ("log(a @ x)", "a=3,x=3", "x", "-outer(a, a) / (a @ x) ** 2"),
    ("(-log(b - A @ x)).sum()", "A=4x3,x=3,b=4", "x", "A.T @ diag(1 / (b - A @ x) ** 2) @ A"),
    (
        *("lgamma(x).sum() - lgamma(x.sum())", "x=3", "x"),
        "diag(polygamma(1, x)) - polygamma(1, x.sum())",
    ),
    (
        *("log(x).sum() - 2 * log(x.sum())", "x=3", "x"),
        "2 / x.sum() ** 2 - diag(1 / x ** 2)",
    ),
    (
        *("((A @ x - b)**2).sum() / 2 + c * (x @ x) / 2", "A=4x3,x=3,b=4,c=()", "x"),
        "A.T @ A + c * eye(x.shape[0])",
    ),
    ("exp(x.sum())", "x=3", "x", "out * ones(x.shape[0], x.shape[0])"),
    (
        *("(x[1:] * x[:-1]).sum()", "x=3", "x"),
        "diag(ones(x.shape[0] - 1), -1) + diag(ones(x.shape[0] - 1), 1)",
    ),
    ("(w * x[1:] * x[:-1]).sum()", "x=4,w=3", "x", "diag(w, -1) + diag(w, 1)"),
    (
        *("(x @ W * V).sum()", "x=2x3,W=3x2,V=2x2", "x,W"),
        "kron(eye(W.shape[0]), V[:, None]).reshape(-1, W.numel())",
    ),
    ("exp(trace(X @ A))", "X=2x3,A=3x2", "X", "out * outer(A.T.flatten(), A.T.flatten())"),
    (
        *("trace(X @ X)", "X=3x3", "X"),
        "2 * eye(X.numel())[arange(X.numel()).reshape(X.shape).T.flatten()]",
    ),
    (
        *("(x.cumsum(0)**2).sum()", "x=3", "x"),
        "2 * triu(ones(x.shape[0], x.shape[0])) @ tril(ones(x.shape[0], x.shape[0]))",
    ),
    ("(a @ x)**2", "a=3,x=3", "x", "2 * outer(a, a)"),
    ("huber_loss(x, y)", "x=3,y=3", "x", "diag((abs(x - y) < 1) / x.numel())"),
    ("smooth_l1_loss(x, y)", "x=3,y=3", "x", "diag((abs(x - y) < 1) / x.numel())"),
    # p. 74: the Hessian of log-sum-exp
    (
        *("logsumexp(x, 0)", "x=3", "x"),
        "diag(softmax(x, dim=0)) - outer(softmax(x, dim=0), softmax(x, dim=0))",
    ),
    ("trace(X.T @ A @ X)", "X=2x3,A=2x2", "X", "kron(A + A.T, eye(X.shape[1]))"),  # (108)
    (  # (118)
        *("trace(A @ X @ B @ X.T)", "X=2x3,A=2x2,B=3x3", "X"),
        "kron(A.T.contiguous(), B) + kron(A, B.T.contiguous())",
    ),
    ("((U @ V.T - M)**2).sum()", "U=3x2,V=4x2,M=3x4", "U", "2 * kron(eye(U.shape[0]), V.T @ V)"),
    (
        *("det(A)", "A=3x3", "A"),
        "u = inv(A); out * (outer(u.T.flatten(), u.T.flatten()) "
        "- kron(u.contiguous(), u.T[:, None]).reshape(-1, A.numel()))",
    ),
    ("x @ inv(A) @ x", "x=2,A=2x2", "x", "inv(A) + inv(A).T"),
    ("sqrt(x @ x + 1)", "x=3", "x", "eye(x.shape[0]) / out - outer(x, x) / out ** 3"),
    (
        "binary_cross_entropy_with_logits(X @ w, y, reduction='sum')",
        *("X=4x2,w=2,y=4", "w", "X.T @ diag(sigmoid(X @ w) * sigmoid(-X @ w)) @ X"),
    ),
    ("(x[1:]**3).sum()", "x=5", "x", "6 * diag(pad(x[1:], (1, 0)))"),
    (  # Rosenbrock's function
        *("(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2).sum()", "x=5", "x"),
        "diag(pad(2 - 400 * x[1:] + 1200 * x[:-1] ** 2, (0, 1)))"
        " + 200 * diag(pad(ones(x.shape[0] - 1), (1, 0)))"
        " - 400 * diag(x[:-1], 1) - 400 * diag(x[:-1], -1)",
    ),
    (  # multinomial logistic regression
        *("logsumexp(X @ W, 1).mean()", "X=4x2,W=2x3", "W"),
        "u = kron(X, eye(W.shape[1])); t1 = diag(softmax(X @ W, dim=1).flatten());"
        " u.T @ (t1 - t1 @ kron(eye(X.shape[0]), ones(W.shape[1], W.shape[1])) @ t1)"
        " @ u / X.shape[0]",
    ),
    # smoothness penalties: D.T @ D of differences
    (
        *("((x[1:] - x[:-1])**2).sum()", "x=6", "x"),
        "2 * (eye(x.shape[0])[:, 1:] - eye(x.shape[0])[:, :-1])"
        " @ (eye(x.shape[0])[1:] - eye(x.shape[0])[:-1])",
    ),
    (
        *("((x - y)**2).sum() + 3 * (diff(x)**2).sum()", "x=6,y=6", "x"),
        "2 * eye(x.shape[0]) + 6 * (eye(x.shape[0])[:, 1:] - eye(x.shape[0])[:, :-1])"
        " @ (eye(x.shape[0])[1:] - eye(x.shape[0])[:-1])",
    ),
    (
        *("(w * (x[1:] - x[:-1])**2).sum()", "x=6,w=5", "x"),
        "u = eye(x.shape[0]); 2 * (u[:, 1:] - u[:, :-1]) @ diag(w) @ (u[1:] - u[:-1])",
    ),
    (
        *("((x - x.roll(1))**2).sum()", "x=6", "x"),
        "2 * (2 * eye(x.shape[0]) - eye(x.shape[0]).roll(-1, 0) - eye(x.shape[0]).roll(1, 0))",
    ),
    (  # on a grid: a Kronecker sum
        *("((u[1:] - u[:-1])**2).sum() + ((u[:, 1:] - u[:, :-1])**2).sum()", "u=4x3", "u"),
        "2 * (kron((eye(u.shape[0])[:, 1:] - eye(u.shape[0])[:, :-1])"
        " @ (eye(u.shape[0])[1:] - eye(u.shape[0])[:-1]), eye(u.shape[1]))"
        " + kron(eye(u.shape[0]), (eye(u.shape[1])[:, 1:] - eye(u.shape[1])[:, :-1])"
        " @ (eye(u.shape[1])[1:] - eye(u.shape[1])[:-1])))",
    ),
    ("(x.diagonal()**2).sum()", "x=3x3", "x", "diag((2 * eye(x.shape[1])).flatten())"),
]
