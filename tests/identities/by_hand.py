"""What students and papers write out by hand that has a name, with the gradients of the names.

M. Abramowitz, I. Stegun: Handbook of Mathematical Functions (1964), 4.5 and 4.6; P. Huber: Robust
Estimation of a Location Parameter (1964); C. Bishop: Pattern Recognition and Machine Learning
(2006); and the papers named.
"""

from . import case, together

IDENTITIES = together(
    case(
        "Abramowitz and Stegun 4.5.3",
        "(exp(x) - exp(-x)) / (exp(x) + exp(-x))",
        "x: n real",
        x="g * (1 - out ** 2)",
    ),
    case("Abramowitz and Stegun 4.5.1", "(exp(x) - 1 / exp(x)) / 2", "x: n real", x="g * cosh(x)"),
    case("log cosh", "log(exp(x) + exp(-x)).sum()", "x: n real", x="tanh(x)"),
    case("logistic", "log(exp(x) + exp(y))", "x: n real, y: n real", x="g * sigmoid(x - y)"),
    case(
        "Abramowitz and Stegun 4.6.20",
        "log(x + sqrt(x ** 2 + 1))",
        "x: n real",
        x="g / sqrt(x ** 2 + 1)",
    ),
    case(
        "the adjoint of copies is their sum",
        "x.repeat(2, 1) @ W",
        "x: m n, W: n k",
        x="(g @ W.T).reshape(2, x.shape[0], x.shape[1]).sum(0)",
    ),
    case(
        "Abramowitz and Stegun 4.3.24",
        "log(tan(x / 2))",
        "x: n unit",
        x="g / sin(x)",
    ),
    case("absolute value", "relu(x) + relu(-x)", "x: n real", x="g * sign(x)"),
    case("gated by itself", "relu(x) * x", "x: n real", x="2 * g * relu(x)"),
    case(
        "squared hinge",
        "(maximum(1 - y * (X @ w), 0) ** 2).sum()",
        "X: m n real, w: n real, y: m real",
        w="-2 * X.T @ (maximum(1 - y * (X @ w), 0) * y)",
    ),
    case(
        "Huber 1964, by his k",
        "where(abs(x) <= d, x ** 2 / 2, d * (abs(x) - d / 2)).sum()",
        "x: n real, d:",
        x="where(abs(x) <= d, x, d * sign(x))",
        d="relu(abs(x) - d).sum()",
    ),
    case(
        "Koenker and Bassett 1978",
        "where(y >= x, q * (y - x), (1 - q) * (x - y)).sum()",
        "x: n real, y: n real, q: unit",
        x="(y < x).double() - q",
        q="(y - x).sum()",
    ),
    case(
        "Gini's mean difference",
        "abs(x[:, None] - x).sum()",
        "x: n real",
        x="2 * sign(x[:, None] - x).sum(dim=1)",
    ),
    case(
        "variance by pairs",
        "((x[:, None] - x) ** 2).sum()",
        "x: n real",
        x="4 * (x.shape[0] * x - x.sum())",
    ),
    case(
        "kernel density, Bishop 2.250",
        "exp(-((X[:, None] - X) ** 2).sum(-1) / 2).sum()",
        "X: n d real",
        X="2 * (exp(-((X[:, None] - X) ** 2).sum(-1) / 2).unsqueeze(2) * (X - X[:, None])).sum(1)",
    ),
    case(
        "discrete Laplacian on a ring",
        "((x - x.roll(1)) ** 2).sum()",
        "x: n real",
        x="2 * (2 * x - x.roll(1) - x.roll(-1))",
    ),
    case(
        "Ising 1925",
        "-J * (x * x.roll(1)).sum() - h * x.sum()",
        "x: n real, J:, h:",
        x="-J * (x.roll(1) + x.roll(-1)) - h",
    ),
    case("shifted twice", "x.roll(1).roll(2)", "x: n real", x="g.roll(-3)"),
    case("put in a frame and taken out", "pad(x, (1, 1))[1:-1]", "x: n real", x="g"),
    case(
        "logistic regression, Bishop 4.90, by the targets",
        "-(t * log(sigmoid(a)) + (1 - t) * log(1 - sigmoid(a))).sum()",
        "a: n real, t: n unit",
        a="sigmoid(a) - t",
        t="-a",
    ),
    case(
        "saturation",
        "x ** 2 / (k ** 2 + x ** 2)",
        "x: n real, k:",
        x="2 * g * x * (k / (k ** 2 + x ** 2)) ** 2",
    ),
)
