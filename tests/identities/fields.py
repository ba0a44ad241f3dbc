"""Gradients of physics, graphics, statistics and economics, as their textbooks print them.

H. Goldstein: Classical Mechanics (2002), 4.7 and 5.1; M. Botsch and others: Polygon Mesh Processing
(2010), 3.1; C. Rasmussen, C. Williams: Gaussian Processes for Machine Learning (2006), 5.9 and A.3;
J. Craig: Introduction to Robotics (2005), 5; S. Kornblith and others: Similarity of Neural Network
Representations Revisited (2019); K. Train: Discrete Choice Methods with Simulation (2009); and the
papers named.
"""

from . import case, together

IDENTITIES = together(
    case(
        "area of a triangle, Botsch 3.1",
        "norm(cross(b - a, c - a)) / 2",
        "a: 3 real, b: 3 real, c: 3 real",
        a="cross(cross(b - a, c - a), c - b) / (4 * out)",
        b="cross(c - a, cross(b - a, c - a)) / (4 * out)",
        c="cross(cross(b - a, c - a), b - a) / (4 * out)",
    ),
    case(
        "unit normal, Botsch 3.1",
        "cross(b - a, c - a) / norm(cross(b - a, c - a))",
        "a: 3 real, b: 3 real, c: 3 real",
        b="cross(c - a, g - g @ out * out) / norm(cross(b - a, c - a))",
        c="cross(g - g @ out * out, b - a) / norm(cross(b - a, c - a))",
    ),
    case(
        "signed volume of a tetrahedron",
        "n @ cross(b - a, c - a)",
        "n: 3 real, a: 3 real, b: 3 real, c: 3 real",
        a="cross(n, c - b)",
        b="cross(c - a, n)",
        c="cross(n, b - a)",
    ),
    case(
        "Lorentz force",
        "q * (E + cross(v, B))",
        "q: real, E: 3 real, v: 3 real, B: 3 real",
        v="q * cross(B, g)",
        B="q * cross(g, v)",
        q="g @ (E + cross(v, B))",
    ),
    case(
        "Euler's equations, Goldstein 5.39",
        "cross(w, I @ w)",
        "w: 3 real, I: 3 3 real",
        w="cross(I @ w, g) + I.T @ cross(g, w)",
        I="outer(cross(g, w), w)",
    ),
    case(
        "distance from a line",
        "norm(cross(x - a, d)) / norm(d)",
        "x: 3 real, a: 3 real, d: 3 real",
        x="cross(d, cross(x - a, d)) / (norm(cross(x - a, d)) * norm(d))",
    ),
    case(
        "areas of a mesh, Botsch 3.1",
        "linalg.cross(b - a, c - a).norm(dim=1).sum() / 2",
        "a: m 3 real, b: m 3 real, c: m 3 real",
        b="t = linalg.cross(b - a, c - a); "
        "linalg.cross(c - a, t) / (2 * t.norm(dim=1, keepdim=True))",
    ),
    case(
        "Gaussian process, Rasmussen 5.9",
        "L = cholesky(K); -trace(y.T @ cholesky_solve(y, L)) / 2 - log(L.diagonal()).sum()",
        "K: n n posdef, y: n 1 real",
        K="0.5 * (cholesky_solve(y, L) @ cholesky_solve(y, L).T - inv(K))",
        y="-cholesky_solve(y, L)",
    ),
    case(
        "solution by a Cholesky factor, Rasmussen A.3",
        "L = cholesky(A); cholesky_solve(B, L)",
        "A: n n posdef, B: n m real",
        A="-0.5 * (cholesky_solve(g, L) @ out.T + out @ cholesky_solve(g, L).T)",
        B="cholesky_solve(g, L)",
    ),
    case(
        "whitened distance, Rasmussen A.4",
        "L = cholesky(A); norm(solve_triangular(L, b, upper=False)) ** 2",
        "A: n n posdef, b: n 1 real",
        A="-inv(A) @ b @ b.T @ inv(A)",
        b="2 * solve_triangular(L.T, solve_triangular(L, b, upper=False), upper=True)",
    ),
    case("product of a factor", "L = cholesky(A); L @ L.T", "A: n n posdef", A="0.5 * (g + g.T)"),
    case(
        "correlations",
        "corrcoef(X)",
        "X: m n real",
        X="((g + g.T - ((g * out).sum(0) + (g * out).sum(1)).diag()) / outer(sqrt(cov(X).diag()), "
        "sqrt(cov(X).diag()))) @ (X - X.mean(1, keepdim=True)) / (X.shape[1] - 1)",
    ),
    case(
        "cosines of all pairs, Kornblith 2019",
        "n = X.norm(dim=1); S = X @ X.T / outer(n, n); S",
        "X: m n real",
        X="((g + g.T) / outer(n, n)) @ X - ((S * (g + g.T)).sum(1) / n ** 2).unsqueeze(1) * X",
    ),
    case(
        "constant risk aversion, Train 3",
        "(x ** (1 - c) - 1) / (1 - c)",
        "x: n, c:",
        x="g * x ** -c",
    ),
    case("Box and Cox 1964", "(x ** l - 1) / l", "x: n, l:", x="g * x ** (l - 1)"),
    case(
        "planar arm, Craig 2005",
        "stack([l * cos(q[0]) + m * cos(q[0] + q[1]), l * sin(q[0]) + m * sin(q[0] + q[1])])",
        "l:, m:, q: 2 real",
        l="g[0] * cos(q[0]) + g[1] * sin(q[0])",
        m="g[0] * cos(q[0] + q[1]) + g[1] * sin(q[0] + q[1])",
    ),
    case(
        "two elements, by hand",
        "sin(x[0]) * x[1] + x[0] * cos(x[1])",
        "x: 2 real",
        x="zeros_like(x).select_scatter(cos(x[1]) + x[1] * cos(x[0]), 0, 0) "
        "+ zeros_like(x).select_scatter(sin(x[0]) - x[0] * sin(x[1]), 0, 1)",
    ),
    case("log sine", "log(sin(x))", "x: n unit", x="g / tan(x)"),
    case("log hyperbolic sine", "log(sinh(x)).sum()", "x: n", x="1 / tanh(x)"),
    case("relu by maximum", "maximum(x, tensor(0.))", "x: n real", x="g * (1 + sign(x)) / 2"),
    case("power of a number", "tensor(2.) ** x", "x: n real", x="log(2) * g * out"),
    case(
        "rank-one update, Sherman and Morrison 1950",
        "b @ inv(A + outer(u, v)) @ c",
        "A: n n regular, u: n, v: n, b: n, c: n",
        u="-(v @ inv(A + outer(u, v)) @ c) * inv(A + outer(u, v)).T @ b",
        v="-(b @ inv(A + outer(u, v)) @ u) * inv(A + outer(u, v)) @ c",
    ),
    case(
        "spherical interpolation, Shoemake 1985",
        "sin(w * (1 - t)) / sin(w) * a + sin(w * t) / sin(w) * b",
        "w: unit, t: unit, a: n real, b: n real",
        t="w * (g @ (cos(w * t) * b - cos(w * (1 - t)) * a)) / sin(w)",
        w="g @ (a * (cos(w * (1 - t)) * (1 - t) - sin(w * (1 - t)) / tan(w)) "
        "+ b * (cos(w * t) * t - sin(w * t) / tan(w))) / sin(w)",
    ),
)
