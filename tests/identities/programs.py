"""Programs as people write them out, with gradients that were derived by hand.

Where a function of PyTorch has the same gradient, its form is the one of its paper, in the names of
the program. `g` is the gradient that comes from above.
"""

from . import case, together

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
)
