"""Textbook models whose gradients need a power of the output, a denominator that cancels, a root as
a number, or one name for a difference and its opposite; derived by hand.

S. Boyd, L. Vandenberghe: Convex Optimization (2004); C. Rasmussen, C. Williams: Gaussian Processes
for Machine Learning (2006); K. Murphy: Probabilistic Machine Learning (2022); I. Goodfellow,
Y. Bengio, A. Courville: Deep Learning (2016); J. Magnus, H. Neudecker: Matrix Differential
Calculus (2019).
"""

from . import case, together

IDENTITIES = together(
    # ---- denominators that cancel ----------------------------------------------------------------
    case(
        "log barrier penalty, Boyd 6.1",
        "r = A @ x - b; -log(1 - (r / a) ** 2).sum()",
        "A: m n unit, x: n unit, b: m unit, a: large",
        x="2 * A.T @ (r / (a ** 2 - r ** 2))",
    ),
    case(
        "rational quadratic, Rasmussen 4.19",
        "(1 + d ** 2 / (2 * a * l ** 2)) ** -a",
        "d: n real, a:, l:",
        d="-g * d * out / (l ** 2 + d ** 2 / (2 * a))",
    ),
    case(
        "Student's t, Murphy",
        "-(v + 1) / 2 * log(1 + ((y - X @ w) / s) ** 2 / v).sum()",
        "v:, y: m real, X: m n real, w: n real, s:",
        w="r = y - X @ w; (v + 1) * X.T @ (r / (v * s ** 2 + r ** 2))",
    ),
    case(
        "smoothed total variation",
        "sqrt((x[1:] - x[:-1]) ** 2 + e ** 2).sum()",
        "x: 6 real, e:",
        e="(e / sqrt((x[1:] - x[:-1]) ** 2 + e ** 2)).sum()",
    ),
    # ---- the output and its powers ---------------------------------------------------------------
    case(
        "squared exponential, Rasmussen 4.9",
        "K = s ** 2 * exp(-d ** 2 / (2 * l ** 2)); K",
        "s:, d: n n, l:",
        s="2 * (g * K).sum() / s",
        l="(g * K * d ** 2).sum() / l ** 3",
    ),
    case(
        "inverse multiquadric",
        "1 / sqrt(norm(x - y) ** 2 + c ** 2)",
        "x: n real, y: n real, c:",
        x="out ** 3 * (y - x)",
        c="-c * out ** 3",
    ),
    case(
        "p-norm of positive numbers, Boyd 3.1",
        "(x ** p).sum() ** (1 / p)",
        "x: n, p:",
        x="(x / out) ** (p - 1)",
    ),
    case(
        "Cobb and Douglas",
        "A * K ** a * L ** (1 - a)",
        "A:, K:, a: unit, L:",
        K="a * out / K",
        L="(1 - a) * out / L",
    ),
    case(
        "Michaelis and Menten",
        "V * s / (K + s)",
        "V:, s: n, K:",
        K="-(g * out / (K + s)).sum()",
    ),
    case(
        "Snell's law",
        "asin(n * sin(a) / m)",
        "n: unit, a: unit, m: large",
        a="n * cos(a) / (m * cos(out))",
    ),
    case(
        "pendulum, small swings",
        "2 * pi * sqrt(l / c)",
        "l:, c:",
        l="out / (2 * l)",
        c="-out / (2 * c)",
    ),
    case(
        "speed of a particle",
        "sqrt(2 * E / m)",
        "E:, m:",
        E="1 / (m * out)",
        m="-out / (2 * m)",
    ),
    case(
        "Doppler shift, relativistic",
        "f * sqrt((1 + b) / (1 - b))",
        "f:, b: unit",
        b="out / ((1 + b) * (1 - b))",
    ),
    case("diode, Shockley", "c * (exp(v / t) - 1)", "c:, v: n, t:", v="g * (out + c) / t"),
    case(
        "Weibull distribution function",
        "1 - exp(-(x / l) ** k)",
        "x: n, l:, k:",
        x="g * k * (1 - out) * (x / l) ** k / x",
    ),
    case(
        "log of a sum of exponentials",
        "log(exp(x) + exp(y) + exp(z))",
        "x: n real, y: n real, z: n real",
        x="g * exp(x - out)",
    ),
    # ---- numbers that are roots ------------------------------------------------------------------
    case(
        "Matérn 5/2, Rasmussen 4.17",
        "r = 5 ** 0.5 * d / l; (1 + r + r ** 2 / 3) * exp(-r)",
        "d: n, l:",
        d="-(5 ** 0.5) * g * r * (1 + r) * exp(-r) / (3 * l)",
        l="(g * r ** 2 * (1 + r) * exp(-r)).sum() / (3 * l)",
    ),
    case(
        "normal distribution function, Boyd 3.5",
        "log(special.ndtr(x)).sum()",
        "x: n real",
        x="exp(-x ** 2 / 2) / ((2 * pi) ** 0.5 * special.ndtr(x))",
    ),
    # ---- one name --------------------------------------------------------------------------------
    case(
        "generalised least squares",
        "(y - X @ b) @ inv(S) @ (y - X @ b)",
        "y: m, X: m n, b: n, S: m m posdef",
        assume="S=symmetric",
        b="2 * X.T @ inv(S) @ (X @ b - y)",
        S="u = inv(S) @ (y - X @ b); -outer(u, u)",
    ),
    case(
        "quadratic form in an inverse, Magnus 9",
        "a @ inv(eye(a.shape[0]) + X @ X.T) @ a",
        "a: m, X: m n",
        X="u = inv(eye(a.shape[0]) + X @ X.T) @ a; -2 * outer(u, u) @ X",
    ),
    case(
        "trace of ridge regression",
        "trace(inv(X.T @ X + l * eye(X.shape[1])))",
        "X: m n, l:",
        l="-norm(inv(X.T @ X + l * eye(X.shape[1]))) ** 2",
    ),
    case(
        "epsilon-insensitive loss, Murphy",
        "relu(abs(y - X @ w) - e).sum()",
        "y: m real, X: m n real, w: n real, e: unit",
        w="t = X @ w - y; X.T @ (sign(t) * (abs(t) > e))",
    ),
    case(
        "autoencoder with tied weights, Goodfellow 14",
        "norm(x - W.T @ sigmoid(W @ x)) ** 2",
        "x: n real, W: m n real",
        W="h = sigmoid(W @ x); r = W.T @ h - x; 2 * (outer(h, r) + outer(W @ r * h * (1 - h), x))",
    ),
    case(
        "layer with one output, Goodfellow 6",
        "relu(X @ W + b) @ v",
        "X: m n real, W: n k real, b: k real, v: k real",
        b="v * (g @ (X @ W + b > 0).double())",
        v="relu(X @ W + b).T @ g",
    ),
    # ---- sums ------------------------------------------------------------------------------------
    case(
        "log-normal likelihood",
        "-((log(x) - m) ** 2 / (2 * s ** 2) + log(x * s)).sum()",
        "x: n, m: real, s:",
        x="((m - log(x)) / s ** 2 - 1) / x",
        m="(log(x) - m).sum() / s ** 2",
    ),
    case(
        "a step of the logistic map",
        "x + h * r * x * (1 - x / K)",
        "x: n, h:, r:, K:",
        x="g * (1 + h * r * (1 - 2 * x / K))",
        K="h * r * (g @ x ** 2) / K ** 2",
    ),
    case(
        "radial basis functions, Goodfellow 6.3",
        "exp(-((W - x) ** 2).sum(1) / s ** 2)",
        "W: m n real, x: n real, s:",
        x="2 * (g * out) @ (W - x) / s ** 2",
        W="2 * (g * out)[:, None] * (x - W) / s ** 2",
    ),
    case(
        "squared error of logarithms",
        "((log(y) - log(f)) ** 2).mean()",
        "y: n, f: n",
        f="2 * log(f / y) / (f * f.numel())",
    ),
    case("log of a complement", "log(1 - exp(-x))", "x: n", x="g / (exp(x) - 1)"),
    case(
        "projection on a direction",
        "(x * y).sum() / sqrt((x ** 2).sum())",
        "x: n, y: n",
        x="(y - x @ y * x / (x @ x)) / norm(x)",
    ),
    case(
        "log_softmax",
        "log_softmax(x, 0)",
        "x: n real",
        kind="jacobian",
        x="eye(x.shape[0]) - exp(out)",
    ),
    case(
        "shares",
        "x / x.sum()",
        "x: n",
        kind="jacobian",
        x="(eye(x.shape[0]) - out[:, None]) / x.sum()",
    ),
    # ---- models, states and prices ---------------------------------------------------------------
    case(
        "Boyd sum of largest by softmax",
        "logsumexp(t * x, 0) / t",
        "t:, x: n real",
        kind="hessian",
        x="p = softmax(t * x, 0); t * (diag(p) - outer(p, p))",
    ),
    case(
        "harmonic chain",
        "k / 2 * ((x[1:] - x[:-1]) ** 2).sum()",
        "k:, x: n real",
        x="k * (pad(diff(x), (1, 0)) - pad(diff(x), (0, 1)))",
    ),
    case("Yukawa", "-k * exp(-m * r) / r", "k:, m:, r: n", m="-r @ (g * out)"),
    case(
        "Planck",
        "2 * h * v ** 3 / (exp(h * v / (k * T)) - 1)",
        "h:, v:, k:, T:",
        T="out * h * v / (k * T ** 2 * (1 - exp(-h * v / (k * T))))",
    ),
    case(
        "CES",
        "(a * x ** r + (1 - a) * y ** r) ** (1 / r)",
        "a: unit, x:, r:, y:",
        x="a * (out / x) ** (1 - r)",
    ),
    case("present value", "(c / (1 + r) ** t).sum()", "c: n, r:, t: n", c="(1 + r) ** -t"),
    case(
        "RW squared exponential",
        "s ** 2 * exp(-(x - y) ** 2 / (2 * l ** 2))",
        "s:, x: n real, y: n real, l:",
        l="g @ (out * (x - y) ** 2) / l ** 3",
    ),
    case("Fisher z", "0.5 * log((1 + r) / (1 - r))", "r: n unit", r="g / (1 - r ** 2)"),
    case(
        "log-linear J", "exp(X @ b)", "X: m n real, b: n real", kind="jacobian", b="diag(out) @ X"
    ),
    case(
        "pendulum dynamics J",
        "stack([x[1], -k * sin(x[0])])",
        "x: 2 real, k:",
        kind="jacobian",
        x="stack([stack([0 * k, 0 * k + 1]), stack([-k * cos(x[0]), 0 * k])])",
    ),
    case(
        "norm of residual, hat",
        "norm((eye(H.shape[0]) - H) @ y) ** 2",
        "H: n n real, y: n real",
        y="2 * (eye(H.shape[0]) - H).T @ (y - H @ y)",
    ),
    case(
        "H of Cobb-Douglas by logs",
        "exp(a @ log(x))",
        "a: n, x: n",
        kind="hessian",
        x="u = a / x; out * (outer(u, u) - diag(u / x))",
    ),
    case(
        "complementary log-log",
        "(y * log(1 - exp(-exp(e))) - (1 - y) * exp(e)).sum()",
        "y: n unit, e: n real",
        e="exp(e) * (y / (1 - exp(-exp(e))) - 1)",
    ),
    case(
        "kernel density log",
        "log(exp(-(x - X) ** 2 / (2 * h ** 2)).mean())",
        "x: real, X: n real, h:",
        x="softmax(-(x - X) ** 2 / (2 * h ** 2), 0) @ (X - x) / h ** 2",
    ),
    case(
        "Nadaraya-Watson",
        "w = exp(-(x - X) ** 2 / 2); w @ y / w.sum()",
        "x: real, X: n real, y: n real",
        y="w / w.sum()",
        x="w @ ((X - x) * (y - out)) / w.sum()",
    ),
    case(
        "damped oscillation",
        "A * exp(-k * t) * cos(w * t + p)",
        "A:, k:, t: n, w:, p:",
        p="-A * g @ (exp(-k * t) * sin(w * t + p))",
    ),
    case(
        "Gauss-Newton residual of circle",
        "sqrt((X[:, 0] - a) ** 2 + (X[:, 1] - b) ** 2) - r",
        "X: m 2 real, a: real, b: real, r:",
        a="g @ ((a - X[:, 0]) / (out + r))",
    ),
    case(
        "RBF network",
        "K = exp(-g0 * (x - c) ** 2); w @ K",
        "g0:, x: real, c: n real, w: n real",
        x="2 * g0 * (w * K) @ (c - x)",
        g0="-(w * K) @ (x - c) ** 2",
    ),
    case(
        "adiabatic work",
        "p * V ** k * (V ** (1 - k) - W ** (1 - k)) / (k - 1)",
        "p:, V:, k: large, W:",
        W="p * (V / W) ** k",
    ),
    case(
        "Manning", "A * (A / P) ** (2 / 3) * sqrt(s) / n", "A:, P:, s:, n:", P="-2 * out / (3 * P)"
    ),
    case("duration", "(c * exp(-y * t)).sum()", "c: n, y:, t: n", y="-c @ (t * exp(-y * t))"),
    case(
        "Nelson-Siegel",
        "a + b * (1 - exp(-t / l)) / (t / l)",
        "a:, b:, t: n, l:",
        b="l * g @ ((1 - exp(-t / l)) / t)",
    ),
    case(
        "InfoNCE single",
        "s = K @ q / t; logsumexp(s, 0) - s[0]",
        "K: m n real, q: n real, t:",
        t="(s[0] - softmax(s, 0) @ s) / t",
    ),
    case(
        "log-normal mixture moments",
        "log(w @ exp(m + v / 2))",
        "w: n, m: n real, v: n",
        m="softmax(log(w) + m + v / 2, 0)",
        w="exp(m + v / 2 - out)",
    ),
    case(
        "Lorenz J",
        "stack([a * (x[1] - x[0]), x[0] * (r - x[2]) - x[1], x[0] * x[1] - b * x[2]])",
        "a:, x: 3 real, r:, b:",
        kind="jacobian",
        x="u = eye(x.shape[0]); stack([a * (u[1] - u[0]), (r - x[2]) * u[0] - u[1] - x[0] * u[2], "
        "x[1] * u[0] + x[0] * u[1] - b * u[2]])",
    ),
)
