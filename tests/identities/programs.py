"""Programs as people write them out, with gradients that were derived by hand.

Where a function of PyTorch has the same gradient, its form is the one of its paper, in the names of
the program. `g` is the gradient that comes from above.
"""

from . import case, together

LAYER = (
    "mu = x.mean(-1, keepdim=True); v = x.var(-1, keepdim=True, unbiased=False); "
    "y = (x - mu) / sqrt(v + 1e-5); "
)
BATCH = "mu = x.mean(0); v = x.var(0, unbiased=False); y = (x - mu) / sqrt(v + 1e-5); "

IDENTITIES = together(
    # ---- losses of one row ----
    case(
        "by hand",
        "cross_entropy(x, tensor([0]))",
        "x: 1 n",
        x="(softmax(x, 1) - eye(x.shape[1])[[0]]) / x.shape[0]",
    ),
    case("by hand", "nll_loss(x, tensor([0]))", "x: 1 n", x="-eye(x.shape[1])[[0]] / x.shape[0]"),
    # ---- absolute values, products ----
    case("by hand", "log(abs(x)).sum()", "x: n real", x="1 / x"),
    case("by hand", "log(abs(a @ x))", "a: n real, x: n", x="a / (a @ x)"),
    case(
        "Rezende and Mohamed 2015, 11",
        "h = tanh(w @ z + b); log(abs(1 + u @ w * (1 - h ** 2)))",
        "w: n real, z: n, b:, u: n",
        u="(1 - h ** 2) * w / (1 + u @ w * (1 - h ** 2))",
    ),
    case("by hand", "y = prod(x); y", "x: n", x="y / x"),
    case("by hand", "y = prod(x, 1); y", "x: m n", x="(g * y).unsqueeze(1) / x"),
    # ---- layers ----
    case(
        "layer norm, Ba 2016",
        LAYER + "y",
        "x: m n",
        x="(g - g.mean(-1, keepdim=True) - y * (g * y).mean(-1, keepdim=True)) / sqrt(v + 1e-5)",
    ),
    case(
        "layer norm, Ba 2016",
        LAYER + "y * w + b",
        "x: m n, w: n, b: n",
        x="h = g * w; (h - h.mean(-1, keepdim=True) - y * (h * y).mean(-1, keepdim=True))"
        " / sqrt(v + 1e-5)",
        w="(g * y).sum(0)",
        b="g.sum(0)",
    ),
    case(
        "batch norm, Ioffe 2015",
        BATCH + "y * w + b",
        "x: m n, w: n, b: n",
        x="w * (g - g.mean(0) - y * (g * y).mean(0)) / sqrt(v + 1e-5)",
    ),
    case(
        "standard scores, by hand",
        "s = x.std(0); z = (x - x.mean(0)) / s; z",
        "x: m n",
        x="(g - g.mean(0) - z * (g * z).sum(0) / (x.shape[0] - 1)) / s",
    ),
    # ---- covariance ----
    case(
        "covariance, by hand",
        "(X - X.mean(0)).T @ (X - X.mean(0)) / X.shape[0]",
        "X: m n",
        X="(X - X.mean(0)) @ (g + g.T) / X.shape[0]",
    ),
    case(
        "covariance, by hand",
        "cov(X.T)",
        "X: m n",
        X="(X - X.mean(0)) @ (g + g.T) / (X.shape[0] - 1)",
    ),
    # ---- eigenvalues, singular values, determinants ----
    case("sum of eigenvalues", "eigvalsh(A).sum()", "A: n n symmetric", A="eye(A.shape[0])"),
    case(
        "squares of eigenvalues",
        "(eigvalsh(A) ** 2).sum()",
        "A: n n symmetric",
        assume="A=symmetric",
        A="2 * A",
    ),
    case(
        "logarithms of eigenvalues",
        "eigvalsh(A).log().sum()",
        "A: n n posdef",
        assume="A=symmetric",
        A="inv(A)",
    ),
    case("squares of singular values", "(svdvals(X) ** 2).sum()", "X: m n", X="2 * X"),
    case("logarithms of singular values", "svdvals(X).log().sum()", "X: m n", X="pinv(X).T"),
    case("Matrix Cookbook 58", "logdet(X @ X.T)", "X: 3 4 real", X="2 * pinv(X).T"),
    case("Matrix Cookbook 58", "log(det(X.T @ X))", "X: 4 3 real", X="2 * pinv(X).T"),
    # ---- traces, diagonals ----
    case(
        "ridge regression, by hand",
        "solve(X.T @ X + lam * eye(X.shape[1]), X.T @ y)",
        "X: m n, lam:, y: m",
        lam="-solve(X.T @ X + lam * eye(X.shape[1]), g) @ out",
    ),
    case(
        "by hand",
        "sum(diag(x) @ A @ diag(y))",
        "x: m, A: m n, y: n",
        x="A @ y",
        A="outer(x, y)",
        y="A.T @ x",
    ),
    case("by hand", "(diag(x) @ A).sum()", "x: m, A: m n", x="A.sum(1)"),
    case("by hand", "diag(x).sum()", "x: n", x="ones_like(x)"),
    case(
        "Murray 2016",
        "L = cholesky(A); L.trace()",
        "A: n n posdef",
        A="solve(L.T, diag(diag(L))) @ inv(L) / 2",
    ),
    case(
        "InfoNCE, van den Oord 2018",
        "S = A @ B.T / tau; -(diag(log_softmax(S, 1))).mean()",
        "A: n d real, B: n d real, tau:",
        A="(softmax(S, 1) - eye(S.shape[0])) @ B / (S.shape[0] * tau)",
    ),
    case(
        "InfoNCE, van den Oord 2018",
        "S = A @ B.T / tau; -log(softmax(S, 1).diagonal()).mean()",
        "A: n d real, B: n d real, tau:",
        A="(softmax(S, 1) - eye(S.shape[0])) @ B / (S.shape[0] * tau)",
    ),
    # ---- sums that are products of matrices ----
    case("by hand", "x @ (A + c * B) @ y", "x: m, A: m n, B: m n, y: n, c:", c="x @ B @ y"),
    case(
        "by hand",
        "(x[:, :, None] * W).sum(1)",
        "x: m n real, W: n k",
        x="g @ W.T",
        W="x.T @ g",
    ),
    case(
        "cosine distance",
        "1 - a @ b / (norm(a) * norm(b))",
        "a: n real, b: n real",
        a="((1 - out) * a / norm(a) - b / norm(b)) / norm(a)",
    ),
    # ---- lengths, sigmoids, powers ----
    case("by hand", "normalize(x, dim=0)", "x: n real", x="(g - out * (g @ out)) / x.norm()"),
    case(
        "logistic regression, by hand",
        "1 / (1 + exp(-(w @ x + b)))",
        "w: n, x: n, b:",
        w="out * (1 - out) * x",
        b="out * (1 - out)",
    ),
    case(
        "policy gradient, by hand",
        "p = exp(a) / exp(a).sum(); r @ p",
        "a: n, r: n",
        a="p * (r - out)",
        r="p",
    ),
    case(
        "Cobb and Douglas 1928",
        "x ** a * y ** (1 - a)",
        "x:, y:, a:",
        assume="x=positive",
        x="a * out / x",
    ),
    case(
        "norm of power p, by hand",
        "(abs(x) ** p).sum() ** (1 / p)",
        "x: n real, p:",
        x="out * abs(x) ** p / (x * (abs(x) ** p).sum())",
    ),
    case(
        "constant elasticity of substitution, by hand",
        "(a @ x ** r) ** (1 / r)",
        "a: n, x: n, r:",
        x="out * a * x ** r / (x * (a @ x ** r))",
    ),
    # ---- reflections ----
    case(
        "Householder 1958",
        "(eye(v.shape[0]) - 2 * outer(v, v) / (v @ v)) @ x",
        "v: n, x: n",
        x="g - 2 * (v @ g) * v / (v @ v)",
        v="2 * ((g @ v) * (2 * (v @ x) * v / (v @ v) - x) - (v @ x) * g) / (v @ v)",
    ),
    # ---- sums of exponentials, decay, Kronecker products ----
    case(
        "log-sum-exp, by hand",
        "m = x.max(); m + log(exp(x - m).sum())",
        "x: n",
        x="softmax(x, 0)",
    ),
    case("Clevert 2015", "elu(x, 0.5)", "x: n real", x="g * where(x > 0, 1, out + 0.5)"),
    case(
        "exponential decay, by hand",
        "exp(-lam * t) * x0",
        "lam:, t: n, x0:",
        lam="-(g * t * out).sum()",
        x0="g @ exp(-lam * t)",
    ),
    case("by hand", "kron(A, B).sum()", "A: m n, B: k p", A="B.sum().expand_as(A)"),
    case("sum of one number", "y = s.sum(0); y * s", "s:", s="2 * s"),
    case(
        "by hand",
        "(X @ X.T).sum()",
        "X: m n",
        kind="hessian",
        X="2 * kron(ones(X.shape[0], X.shape[0]), eye(X.shape[1]))",
    ),
    case(
        "p-norm",
        "(abs(x) ** p).sum() ** (1 / p)",
        "x: n real, p:",
        x="sign(x) * (abs(x) / out) ** (p - 1)",
    ),
    case("product of all", "cumprod(x, 0)[-1]", "x: n", x="out / x"),
    case("products of rows", "cumprod(A, 1)[:, -1]", "A: m n", A="(g * out).unsqueeze(1) / A"),
    case(
        "Brier score of the label",
        "p = softmax(x, 1).gather(1, t.unsqueeze(1)); ((1 - p) ** 2).sum()",
        "x: m c real, t: m index=c",
        x="2 * softmax(x, 1) * (1 - p) * (p - eye(x.shape[1])[t])",
    ),
    case(
        "cross entropy",
        "p = softmax(x, 1).gather(1, t.unsqueeze(1)).squeeze(1); -log(p).mean()",
        "x: m c real, t: m index=c",
        x="(softmax(x, 1) - eye(x.shape[1])[t]) / t.numel()",
    ),
    case(
        "mean absolute error of the label, Ghosh 2017",
        "p = softmax(x, 1).gather(1, t[:, None])[:, 0]; (1 - p).sum()",
        "x: m c real, t: m index=c",
        x="softmax(x, 1) * (p.unsqueeze(1) - eye(x.shape[1])[t])",
    ),
    case(
        "squares of log-likelihoods",
        "l = log_softmax(x, 1).gather(1, t.unsqueeze(1)); (l ** 2).sum()",
        "x: m c real, t: m index=c",
        x="2 * l * (eye(x.shape[1])[t] - softmax(x, 1))",
    ),
    case(
        "REINFORCE, Williams 1992",
        "-(log_softmax(x, 1).gather(1, a.unsqueeze(1)).squeeze(1) * R).mean()",
        "x: m c real, a: m index=c, R: m real",
        x="R.unsqueeze(1) * (softmax(x, 1) - eye(x.shape[1])[a]) / a.numel()",
    ),
    case(
        "Q-learning, Watkins 1992",
        "((q.gather(1, a.unsqueeze(1)).squeeze(1) - y) ** 2).sum()",
        "q: m c real, a: m index=c, y: m real",
        q="2 * (q.gather(1, a.unsqueeze(1)) - y.unsqueeze(1)) * eye(q.shape[1])[a]",
    ),
    case(
        "a Gaussian, by hand",
        "exp(-norm(x) ** 2 / 2)",
        "x: n real",
        kind="hessian",
        x="out * (outer(x, x) - eye(x.shape[0]))",
    ),
    case(
        "fourth powers of lengths, by hand",
        "(x @ x) ** 2",
        "x: n real",
        kind="hessian",
        x="4 * (x @ x) * eye(x.shape[0]) + 8 * outer(x, x)",
    ),
    case(
        "product of all, by hand",
        "prod(x)",
        "x: n",
        kind="hessian",
        x="out * (outer(1 / x, 1 / x) - diag(1 / x ** 2))",
    ),
    case(
        "polar coordinates",
        "stack([r * cos(t), r * sin(t)])",
        "r:, t: real",
        kind="jacobian",
        r="stack([cos(t), sin(t)])[:, None]",
        t="stack([-r * sin(t), r * cos(t)])[:, None]",
    ),
    case(
        "by hand",
        "kron(A, x)",
        "A: m n, x: p",
        A="g.reshape(A.shape[0], A.shape[1], x.shape[0]) @ x",
        x="g.reshape(A.shape[0] * A.shape[1], x.shape[0]).T @ A.flatten()",
    ),
    case(
        "what a direction leaves, by hand",
        "norm(x - x @ u * u) ** 2",
        "x: n real, u: n real",
        x="2 * (x + u @ x * u * (u @ u - 2))",
    ),
)
