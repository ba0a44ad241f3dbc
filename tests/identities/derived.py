"""Derived by hand from papers since 2020 and from textbooks: where a formula has to find a factor
that inner products share, one element of each row, the output itself, or the domain of a barrier.

S. Boyd, L. Vandenberghe: Convex Optimization (2004); C. Bishop: Pattern Recognition and Machine
Learning (2006); K. B. Petersen and M. S. Pedersen: The Matrix Cookbook (2012); the papers named.
"""

from . import case, together

IDENTITIES = together(
    # ---- losses, policies and layers -------------------------------------------------------------
    case(
        "focal loss on probabilities, Lin 2017",
        "p = softmax(x, 1)[arange(x.shape[0]), y]; -((1 - p) ** 2 * log(p)).sum()",
        "x: n k real, y: n index=k",
        x="((1 - p) * (2 * p * log(p) + p - 1))[:, None]"
        " * (one_hot(y, x.shape[1]) - softmax(x, 1))",
    ),
    case(
        "generalised cross entropy, Zhang 2018",
        "p = softmax(x, 1); q = p[arange(x.shape[0]), y]; ((1 - q ** t) / t).sum()",
        "x: n k real, y: n index=k, t: unit",
        x="(q ** t)[:, None] * (p - one_hot(y, x.shape[1]))",
    ),
    case(
        "balance of experts, Fedus 2021",
        "p = softmax(x, 1); c * (p.mean(0) * f).sum()",
        "x: n k real, f: k, c:",
        x="c * p * (f - (p @ f)[:, None]) / x.shape[0]",
    ),
    case(
        "flow matching of a linear field, Lipman 2023",
        "r = W @ ((1 - t) * x + t * y) - (y - x); (r ** 2).sum()",
        "W: n n real, x: n real, y: n real, t: unit",
        t="2 * r @ W @ (y - x)",
        y="2 * (t * W.T @ r - r)",
    ),
    case(
        "hinge loss of a critic",
        "relu(1 - a).mean() + relu(1 + b).mean()",
        "a: n real, b: m real",
        a="-((a < 1) / a.numel())",
        b="(b > -1) / b.numel()",
    ),
    case(
        "merged tokens",
        "(A @ X) / A.sum(1, keepdim=True)",
        "A: n m, X: m d real",
        A="(g @ X.T - (g * out).sum(1, keepdim=True)) / A.sum(1, keepdim=True)",
    ),
    case(
        "normalised weights, Salimans 2016",
        "s * (w @ x) / norm(w) + b",
        "s:, w: n real, x: n real, b:",
        w="s * (x - (w @ x) * w / (w @ w)) / norm(w)",
    ),
    case(
        "step of a state space, Gu 2023",
        "h = exp(d * A) * s + d * (B * x); C @ h",
        "d:, A: n real, s: n real, B: n real, x:, C: n real",
        d="C @ (A * exp(d * A) * s + B * x)",
    ),
    case(
        "uniformity on rows, Wang 2020",
        "log(exp(-2 * ((X - Z) ** 2).sum(1)).mean())",
        "X: n d real, Z: n d real",
        Z="4 * softmax(-2 * ((X - Z) ** 2).sum(1), 0)[:, None] * (X - Z)",
    ),
    case(
        "mirror descent",
        "log(p) - h * c - logsumexp(log(p) - h * c, 0)",
        "p: n unit, h:, c: n real",
        c="h * (exp(out) * g.sum() - g)",
    ),
    # ---- textbooks -------------------------------------------------------------------------------
    case(
        "resolvent",
        "C = A + t * B; x @ inv(C) @ x",
        "A: n n regular, t:, B: n n, x: n real",
        t="-x @ inv(C) @ B @ inv(C) @ x",
    ),
    case(
        "Boyd and Vandenberghe, matrix fractional function",
        "x @ inv(P + outer(y, y)) @ x",
        "x: n real, P: n n posdef, y: n real",
        assume="P=symmetric",
        y="t = inv(P + outer(y, y)) @ x; -2 * (t @ y) * t",
    ),
    case(
        "logarithm of a sum of squares",
        "log(((A @ x - b) ** 2).sum())",
        "A: m n real, x: n real, b: m real",
        x="r = A @ x - b; 2 * A.T @ r / (r @ r)",
    ),
    case(
        "Cobb and Douglas",
        "A * K ** a * L ** b",
        "A:, K:, a:, L:, b:",
        assume="K=positive",
        K="a * out / K",
    ),
    case(
        "Hill",
        "v * s ** n / (k ** n + s ** n)",
        "v:, s:, n:, k:",
        assume="s=positive",
        s="n * out * k ** n / (s * (k ** n + s ** n))",
    ),
    case(
        "utility of constant risk aversion",
        "(c ** (1 - r) - 1) / (1 - r)",
        "c: n, r: unit",
        c="g / c ** r",
    ),
    case("screened charges", "q * p * exp(-k * r) / r", "q:, p:, k:, r:", k="-r * out"),
    case(
        "linear matrix inequality",
        "-logdet(C + (x[:, None, None] * A).sum(0))",
        "C: n n posdef, x: m unit, A: m n n unit",
        x="-(inv(C + (x[:, None, None] * A).sum(0)).T * A).sum((1, 2))",
    ),
    # ---- Hessians --------------------------------------------------------------------------------
    case(
        "linear matrix inequality",
        "-logdet(C + (x[:, None, None] * A).sum(0))",
        "C: n n posdef, x: m unit, A: m n n unit",
        kind="hessian",
        x="T = inv(C + (x[:, None, None] * A).sum(0)) @ A; T.flatten(1) @ T.mT.flatten(1).T",
    ),
    case(
        "second-order cone",
        "-log(t ** 2 - x @ x)",
        "t: large, x: n",
        kind="hessian",
        x="u = t ** 2 - x @ x; 2 / u * (eye(x.shape[0]) + 2 / u * outer(x, x))",
    ),
    case(
        "logistic regression, labels of both signs",
        "softplus(-y * (X @ w)).sum()",
        "y: m real, X: m n real, w: n real",
        kind="hessian",
        w="s = sigmoid(y * (X @ w)); X.T @ diag(y ** 2 * s * (1 - s)) @ X",
    ),
    case(
        "margins",
        "softplus(m - y * z).sum()",
        "m:, y: n real, z: n real",
        kind="hessian",
        z="s = sigmoid(m - y * z); diag(y ** 2 * s * (1 - s))",
    ),
    case(
        "spring",
        "(norm(x) - l) ** 2 / 2",
        "x: n real, l:",
        kind="hessian",
        x="(1 - l / norm(x)) * eye(x.shape[0]) + l * outer(x, x) / norm(x) ** 3",
    ),
    # ---- Jacobians -------------------------------------------------------------------------------
    case(
        "residuals of exponentials",
        "exp(X @ w) - y",
        "X: m n real, w: n real, y: m",
        kind="jacobian",
        w="diag(exp(X @ w)) @ X",
    ),
    case(
        "projection onto a line",
        "a * (a @ x) / (a @ a)",
        "a: n real, x: n real",
        kind="jacobian",
        x="outer(a, a) / (a @ a)",
    ),
    case(
        "torque",
        "cross(a, x)",
        "a: 3 real, x: 3 real",
        kind="jacobian",
        x="linalg.cross(a[None], eye(3)).T",
    ),
    case(
        "products of all pairs",
        "outer(x, x).flatten()",
        "x: n real",
        kind="jacobian",
        x="kron(eye(x.shape[0]), x[:, None]) + kron(x[:, None], eye(x.shape[0]))",
    ),
    case(
        "cooling",
        "a + (b - a) * exp(-k * t)",
        "a:, b:, k:, t: n",
        kind="jacobian",
        t="diag(k * (a - out))",
    ),
    case(
        "binary cross entropy",
        "binary_cross_entropy(p, y)",
        "p: n unit, y: n unit",
        kind="jacobian",
        p="((p - y) / (p.numel() * p * (1 - p)))[None]",
    ),
    case(
        "wide Gram matrix",
        "logdet(X @ X.T)",
        "X: 2 m real",
        kind="jacobian",
        X="(2 * pinv(X).T).reshape(1, -1)",
    ),
    case(
        "Huber's loss as a minimum",
        "minimum(abs(r), d) * (abs(r) - minimum(abs(r), d) / 2)",
        "r: n real, d:",
        r="g * sign(r) * minimum(abs(r), d)",
    ),
    case(
        "squared hinge",
        "(maximum(1 - y * f, tensor(0.)) ** 2).sum()",
        "y: n real, f: n real",
        f="-2 * y * maximum(1 - y * f, tensor(0.))",
    ),
    case("what clipping takes away", "x - clamp(x, -1, 1)", "x: n real", x="g * (abs(x) > 1)"),
    case(
        "Gamma likelihood with counts",
        "(lgamma(X + a) - lgamma(a)).sum()",
        "X: m n, a: n",
        a="(digamma(X + a) - digamma(a)).sum(0)",
    ),
    case(
        "low-rank adapter",
        "x @ W + s * x @ A @ B",
        "x: m n, W: n k, s:, A: n 2, B: 2 k",
        s="(g * (x @ A @ B)).sum()",
    ),
    case(
        "modern Hopfield network with its inverse temperature",
        "p = softmax(b * X @ q, 0); q @ q / 2 - logsumexp(b * X @ q, 0) / b",
        "b:, X: m n real, q: n real",
        kind="hessian",
        q="eye(q.shape[0]) - b * X.T @ (diag(p) - outer(p, p)) @ X",
    ),
)
