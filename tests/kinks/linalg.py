"""Products and linear algebra where they are odd: no rows, one row, inf, nan, singular matrices."""

import numpy as np

INF, NAN = float("inf"), float("nan")

SQUARE = [[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]]
POSITIVE = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]]
TALL = [[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]]
WIDE = [[1.0, 0.5, 3.0], [2.0, -1.0, 0.25]]
INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
ZEROS = [[0.0, 0.0], [0.0, 0.0]]
HOLES = [[1.0, NAN], [INF, -0.0]]
BATCH = [[[2.0, 1.0], [0.5, 3.0]], [[0.0, 1.0], [-1.0, 0.0]]]
MIXED = [[[2.0, 1.0], [0.5, 3.0]], SINGULAR]
UPPER = [[2.0, 1.0, 0.5], [7.0, -3.0, 1.0], [9.0, 8.0, 4.0]]
HOLLOW = [[2.0, 1.0], [5.0, 0.0]]  # 0 on the diagonal
ROW, COLUMN = [1.0, -2.0, 0.5], [[1.0], [-2.0], [0.5]]
THREE = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0], [-1.0, 0.0, 2.0]]

PRODUCTS = [
    ("addmm(x, a, b)", {"x": 1.0, "a": WIDE, "b": TALL}, None),
    ("addmm(x, a, b, beta=0)", {"x": HOLES, "a": WIDE, "b": TALL}, None),
    ("addmm(x, a, b, alpha=0)", {"x": ZEROS, "a": HOLES, "b": ZEROS}, None),
    ("addmm(x, a, b, beta=-1, alpha=2.5)", {"x": [1.0, NAN], "a": WIDE, "b": TALL}, None),
    ("addmv(x, a, b)", {"x": 0.5, "a": WIDE, "b": ROW}, [1.0, -2.0]),
    ("addmv(x, a, b, beta=0)", {"x": [NAN, 1.0], "a": WIDE, "b": ROW}, [1.0, -2.0]),
    ("addr(x, a, b)", {"x": [[1.0], [2.0]], "a": [1.0, -2.0], "b": ROW}, None),
    ("addr(x, a, b, beta=0, alpha=2)", {"x": INF, "a": [1.0, -2.0], "b": ROW}, None),
    ("baddbmm(x, a, b)", {"x": [1.0, 2.0], "a": BATCH, "b": BATCH}, None),
    ("addbmm(x, a, b, beta=0)", {"x": HOLES, "a": BATCH, "b": BATCH}, None),
    ("addbmm(x, a, b, alpha=-1)", {"x": ZEROS, "a": BATCH, "b": MIXED}, None),
    ("linalg.multi_dot([a, b, c])", {"a": ROW, "b": TALL, "c": [1.0, INF]}, None),
    ("linalg.multi_dot([a, b])", {"a": WIDE, "b": ROW}, [1.0, 2.0]),
    ("chain_matmul(a, b, a)", {"a": WIDE, "b": TALL}, None),
    *((f"matrix_power(x, {n})", {"x": SQUARE}, None) for n in (1, 2, 3, 6, -1, -3)),
    ("x.matrix_power(2)", {"x": HOLES}, None),
    ("matrix_power(x, 3)", {"x": BATCH}, None),
    ("tensordot(a, b, dims=0)", {"a": ROW, "b": [1.0, 2.0]}, None),
    ("tensordot(a, b, dims=1)", {"a": WIDE, "b": TALL}, None),
    ("tensordot(a, b)", {"a": WIDE, "b": WIDE}, None),
    ("tensordot(a, b, dims=([0], [1]))", {"a": COLUMN, "b": WIDE}, None),
    ("tensordot(a, b, dims=([1], [1]))", {"a": COLUMN, "b": WIDE}, None),
    ("inner(a, b)", {"a": ROW, "b": ROW}, None),
    ("inner(a, b)", {"a": 2.0, "b": WIDE}, None),
    ("inner(a, b)", {"a": WIDE, "b": THREE}, None),
    ("linalg.vecdot(a, b)", {"a": WIDE, "b": ROW}, [1.0, -1.0]),
    ("linalg.vecdot(a, b, dim=0)", {"a": HOLES, "b": ZEROS}, [1.0, -1.0]),
    ("vdot(a, b)", {"a": [INF, 0.0], "b": [0.0, NAN]}, None),
    ("torch.ger(a, b)", {"a": ROW, "b": [INF, 0.0]}, None),
    ("cross(a, b)", {"a": THREE, "b": SQUARE}, None),
    ("linalg.cross(a, b)", {"a": THREE, "b": SQUARE}, None),
    ("linalg.cross(a, b)", {"a": [ROW], "b": THREE}, None),
    ("linalg.cross(a, b)", {"a": [INF, 1.0, 0.0], "b": [0.0, NAN, 1.0]}, ROW),
    ("linalg.cross(a, a)", {"a": ROW}, ROW),
    ("linalg.vander(x, N=4)", {"x": [[0.0, 1.0], [-2.0, 0.5]]}, None),
    ("linalg.vander(x, N=5)", {"x": [1e-90, 1e90, 2.0]}, None),
    ("F.bilinear(a, b, w, c)", {"a": ROW, "b": [1.0, 2.0], "w": [TALL], "c": [0.5]}, [1.0]),
    ("kron(a, b)", {"a": HOLES, "b": [1.0, 0.0]}, None),
    ("einsum('i...->...', x)", {"x": THREE}, None),
    ("einsum('...ij,...j->i', a, b)", {"a": BATCH, "b": [[1.0, 2.0], [3.0, -1.0]]}, None),
    ("einsum('iji->j', x)", {"x": [[[1.0, 2.0], [3.0, 4.0]]] * 2}, None),
    ("einsum('ij,ij', a, a)", {"a": WIDE}, None),
]
SYSTEMS = [
    *(
        (
            f"linalg.lu_solve(x, tensor([1, 2], dtype=torch.int32), b{how})",
            {"x": [[0.0, 2.0], [3.0, 0.0]], "b": b},
            None,
        )
        for b, hows in (
            (np.zeros((2, 0)), ("", ", adjoint=True")),
            (np.zeros((0, 2)), (", left=False", ", left=False, adjoint=True")),
        )
        for how in hows
    ),
    ("linalg.solve(a, b, left=False)", {"a": SQUARE, "b": [ROW]}, None),
    ("linalg.solve(a, b, left=False)", {"a": [SQUARE], "b": [[ROW]]}, None),
    ("linalg.solve_ex(a, b)[0]", {"a": SQUARE, "b": ROW}, ROW),
    ("linalg.cond(x, 'nuc')", {"x": [[1.0, 0.0], [0.0, 0.0]]}, None),
    ("linalg.cond(x, 'nuc')", {"x": ZEROS}, None),
    *(
        (f"linalg.vander(x{N})", {"x": x}, None)
        for N in ("", ", N=2", ", N=4")
        for x in ([-1.4, INF, 0.3], [-INF, 0.0, 1.0], [NAN, 0.0, 2.0])
    ),
    ("linalg.solve_ex(a, b)[0]", {"a": SINGULAR, "b": TALL[:2]}, None),
    ("linalg.solve_ex(a, b, left=False)[0]", {"a": SINGULAR, "b": TALL}, None),
    ("linalg.inv_ex(x).inverse", {"x": BATCH}, None),
    ("linalg.tensorsolve(a, b)", {"a": [[1.0, 2.0], [0.5, -1.0]], "b": [1.0, 2.0]}, None),
    ("linalg.tensorinv(x, ind=1)", {"x": SQUARE}, None),
    ("det(x)", {"x": BATCH}, [1.0, -2.0]),
    ("det(x)", {"x": MIXED}, [1.0, -2.0]),
    ("det(x)", {"x": ZEROS}, None),
    ("logdet(x)", {"x": BATCH}, [1.0, -2.0]),
    ("logdet(x)", {"x": [[0.0, 1.0], [1.0, 0.0]]}, None),
    ("logdet(x)", {"x": SINGULAR}, None),
    ("logdet(x)", {"x": ZEROS}, None),
    ("logdet(x)", {"x": MIXED}, [1.0, 2.0]),
    ("linalg.slogdet(x)[1]", {"x": BATCH}, [1.0, -2.0]),
    ("slogdet(x).logabsdet", {"x": SINGULAR}, None),
    ("slogdet(x).logabsdet", {"x": [[0.0]]}, None),
    ("x * slogdet(x)[0]", {"x": SINGULAR}, None),
    *(
        (f"linalg.solve_triangular(a, b, upper={up}, unitriangular={unit})", given, None)
        for up in (True, False)
        for unit in (True, False)
        for given in ({"a": UPPER, "b": THREE}, {"a": BATCH, "b": [[1.0], [2.0]]})
    ),
    ("linalg.solve_triangular(a, b, upper=True)", {"a": HOLLOW, "b": [[1.0], [2.0]]}, None),
    ("linalg.solve_triangular(a, b, upper=True, left=False)", {"a": UPPER, "b": [ROW]}, None),
    ("triangular_solve(b, a).solution", {"a": UPPER, "b": COLUMN}, None),
    ("triangular_solve(b, a, False, True)[0]", {"a": UPPER, "b": COLUMN}, None),
    ("linalg.cholesky(x)", {"x": POSITIVE}, None),
    ("linalg.cholesky(x)", {"x": [[4.0, 99.0], [1.0, 3.0]]}, [[1.0, 5.0], [2.0, 3.0]]),
    ("cholesky(x, upper=True)", {"x": [[4.0, 1.0], [99.0, 3.0]]}, [[1.0, 5.0], [2.0, 3.0]]),
    ("linalg.cholesky_ex(x)[0]", {"x": [[4.0]]}, None),
    *(
        (f"cholesky_ex(x, upper={up})[0]", {"x": x}, None)
        for up in (True, False)
        for x in (INDEFINITE, [INDEFINITE, SINGULAR], [[1.0, NAN], [NAN, 2.0]], ZEROS)
    ),
    ("cholesky_ex(x).L", {"x": [[4.0, 7.0, 1.0], [2.0, 0.5, 1.0], [1.0, 1.0, 3.0]]}, None),
    ("cholesky_solve(b, L)", {"b": COLUMN, "L": UPPER}, None),
    ("cholesky_solve(b, L, upper=True)", {"b": COLUMN, "L": UPPER}, None),
    ("cholesky_inverse(L)", {"L": UPPER}, None),
    ("cholesky_inverse(L, upper=True)", {"L": UPPER}, None),
]
DECOMPOSITIONS = [
    *((f"linalg.qr(x)[{k}]", {"x": x}, None) for k in (0, 1) for x in (TALL, WIDE, SQUARE)),
    ("linalg.qr(x).R", {"x": SINGULAR}, None),
    ("linalg.qr(x, 'complete')[0]", {"x": WIDE}, None),
    ("torch.qr(x)[1]", {"x": BATCH}, None),
    *((f"linalg.lu(x)[{k}]", {"x": x}, None) for k in (1, 2) for x in (TALL, WIDE, SQUARE)),
    ("linalg.lu(x).U", {"x": SINGULAR}, None),
    ("lu(x)[0]", {"x": SINGULAR}, None),
    ("linalg.lu(x).P @ x", {"x": TALL}, None),
    ("1 / (x @ w)", {"x": [[1.0]], "w": [[-0.0, 0.0]]}, None),
    ("1 / (x @ w)", {"x": [[1.0], [1.0]], "w": [[-0.0, 0.0]]}, None),
    ("linalg.qr(x, 'complete')[1]", {"x": SQUARE}, None),
    ("linalg.lu_factor(x)[0]", {"x": [[1.0, 2.0], [-1.0, 3.0]]}, [[1.0, 5.0], [2.0, 3.0]]),
    ("linalg.svdvals(x)", {"x": WIDE}, [1.0, -2.0]),
    ("linalg.svdvals(x)", {"x": ZEROS}, [1.0, -2.0]),
    ("abs(linalg.svd(x, full_matrices=False)[0])", {"x": TALL}, None),
    ("abs(linalg.svd(x, full_matrices=False).Vh)", {"x": WIDE}, None),
    ("abs(torch.svd(x).V)", {"x": TALL}, None),
    ("linalg.eigvalsh(x)", {"x": [[2.0, 99.0], [1.0, 3.0]]}, [1.0, -2.0]),
    ("linalg.eigvalsh(x, UPLO='U')", {"x": [[2.0, 1.0], [99.0, 3.0]]}, [1.0, -2.0]),
    ("abs(linalg.eigh(x).eigenvectors)", {"x": POSITIVE}, None),
    ("linalg.cond(x)", {"x": SQUARE}, None),
    ("t = linalg.cond(x); (x * 2).sum() + t", {"x": np.zeros((2, 0))}, None),
    ("x.sum() + linalg.cond(x, 'nuc')", {"x": np.zeros((0, 0))}, None),
    *((f"linalg.cond(x, {p})", {"x": SQUARE}, None) for p in ("2", "-2", "'nuc'")),
    *(("linalg.pinv(x)", {"x": x}, None) for x in (TALL, WIDE, SINGULAR, ZEROS)),
    ("linalg.pinv(x, rtol=0.9)", {"x": TALL}, None),
    ("linalg.pinv(x, atol=2.5)", {"x": TALL}, None),
    ("linalg.pinv(x, hermitian=True)", {"x": POSITIVE}, None),
    ("pinverse(x)", {"x": SQUARE}, None),
    ("linalg.pinv(x)", {"x": [[1.0, 2.0], [3.0, -INF], [1.0, 1.0]]}, None),
    ("linalg.lstsq(a, b).solution", {"a": TALL, "b": ROW}, [1.0, 2.0]),
    ("linalg.lstsq(a, b, driver='gels')[1]", {"a": TALL, "b": COLUMN}, [2.0]),
    ("linalg.lstsq(a, b)[0]", {"a": WIDE, "b": [[1.0], [2.0]]}, None),
    ("linalg.lstsq(a, b)[0]", {"a": [TALL, TALL], "b": [ROW, ROW]}, None),  # a batch of vectors
    ("linalg.lstsq(a, b)[0]", {"a": [HOLLOW[::-1]], "b": [[1.0, 2], [5, 7]]}, BATCH),
    ("linalg.lstsq(a, b, driver='gels')[1]", {"a": [TALL], "b": COLUMN}, [[1.0], [2.0], [4.0]]),
    ("linalg.matrix_exp(x)", {"x": [[0.0, 1.0], [0.0, 0.0]]}, None),
    ("matrix_exp(x)", {"x": ZEROS}, None),
    ("matrix_exp(x)", {"x": [[[3.0, -4.0], [1.0, 2.0]], [[-2.0, 1.0], [0.0, -3.0]]]}, None),
    ("linalg.householder_product(a, t)", {"a": TALL, "t": [0.5, 0.0]}, None),
    ("ormqr(a, t, b, transpose=True)", {"a": TALL, "t": [0.5, 1.5], "b": COLUMN}, None),
    ("ormqr(a, t, b, left=False)", {"a": TALL, "t": [0.5, 1.5], "b": WIDE}, None),
]
NEARLY = [[1.0, 2.0], [2.0, 4.0 + 1e-15]]
PIERCED = [
    [[1.0, NAN], [2.0, 3.0]],
    [[NAN, 1.0, 0.5], [2.0, 3.0, 1.0], [0.0, 1.0, 4.0]],
    [[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, NAN, 4.0]],
    [[1.0, INF], [2.0, 3.0]],
    [[2.0, 1.0], [3.0, -INF]],
]
ODD = [
    ("det(x)", {"x": [[NAN, 1.0], [0.0, 2.0]]}, None),
    ("det(x)", {"x": [[[NAN, 1.0], [0.0, 2.0]], [[1.0, 2.0], [2.0, 4.0]]]}, None),
    *(
        (f"det({x})", {"x": matrix}, seed)
        for x, matrix in (("x", NEARLY), ("x", SINGULAR), ("x", ZEROS), ("x.T", SINGULAR))
        for seed in (1.0, INF, NAN)
    ),
    *(("det(x)", {"x": [[x]]}, seed) for x in (0.0, 2.0, NAN, INF) for seed in (3.0, INF, NAN)),
    ("det(x)", {"x": [[[0.0]], [[3.0]]]}, [2.0, -1.0]),
    ("det(x)", {"x": [[1e-8, 0.0], [0.0, 2e-8]]}, 1.0),
    ("det(x)", {"x": [[0.1, 0.3], [0.7, 2.1]]}, 1.0),
    ("det(x)", {"x": [[1e-320, 0.0], [0.0, 1.0]]}, 1.0),
    ("det(x)", {"x": [[1e-320, 0.0], [0.0, 1.0]]}, INF),
    *(
        (text, {"x": matrix}, None)
        for text in (
            "det(x)",
            "slogdet(x)[1]",
            "slogdet(x)[0] * x",
            "inv(x)",
            "inv(x.T)",
            "linalg.lu(x)[1]",
            "linalg.lu(x)[2]",
            "solve(x, x[0])",
            "linalg.solve(x, x, left=False)",
            "inv_ex(x)[0]",
        )
        for matrix in PIERCED
    ),
    ("solve(x, b)", {"x": [[1.0, 4.0], [2.0, 3.0]], "b": [1.0, NAN]}, None),
    ("solve(x, b)", {"x": [[1.0, 4.0], [2.0, 3.0]], "b": [1.0, INF]}, None),
    ("inv_ex(x)[0]", {"x": [[1.0, 2.0], [2.0, 4.0]]}, None),
    ("cholesky(x)", {"x": [[INF, 0.0], [0.0, 2.0]]}, None),
    ("x * cholesky_ex(x).info", {"x": [[1.0, NAN], [NAN, 2.0]]}, None),
    *(("trace(x)", {"x": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}, seed) for seed in (INF, NAN)),
    *(
        (f"einsum('{equation}', x)", {"x": THREE}, [1.0, seed, -2.0])
        for equation in ("ii->i", "ij->i")
        for seed in (INF, NAN)
    ),
    *(("matrix_exp(x)", {"x": [[odd, 0.0], [0.0, 1.0]]}, None) for odd in (INF, -INF, NAN)),
    *(("einsum('ii', x)", {"x": THREE}, seed) for seed in (INF, NAN)),
    ("einsum('i...i->...', x)", {"x": [[[1.0, 2.0]] * 3] * 2}, [1.0, INF, NAN]),
    ("einsum('ii...j->...j', x)", {"x": [[[[1.0, 2.0]] * 3] * 2] * 2}, None),
    ("einsum('ij,jj->i', a, b)", {"a": [ROW], "b": THREE}, [INF]),
    ("einsum('ij,kl->il', a, b)", {"a": [[INF, 1.0], [2.0, 3.0]], "b": WIDE}, None),
]
INFINITE = [  # LAPACK's iterations may never end here
    [[INF, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 3.0, 1.0]],
    [[1.0, 2.0], [3.0, INF]],
    [[1.0, INF], [3.0, 2.0]],
    [[INF]],
    [[[1.0, 2.0], [3.0, -INF]], [[1.0, 2.0], [3.0, 4.0]]],
]
ENDLESS = [
    ("x * linalg.inv_ex(x).info", {"x": [[INF, 1.0], [1.0, 0.0]]}, None),
    ("pinv(x, atol=1e-20)", {"x": [[1.0, 0.0], [0.0, 1e-18]]}, None),  # without a relative bound
    *(
        (text, {"x": matrix}, None)
        for text in (
            "svdvals(x)",
            "linalg.svd(x)[0]",
            "linalg.svd(x, False)[2]",
            "linalg.matrix_norm(x, 2)",
            "linalg.matrix_norm(x, 'nuc')",
            "linalg.cond(x)",
            "pinv(x)",
            "pinv(x, hermitian=True)",
            "eigvalsh(x)",
            "linalg.eigvalsh(x, UPLO='U')",
            "linalg.eigh(x)[1]",
            "x * linalg.matrix_rank(x)",
        )
        for matrix in INFINITE
    ),
    *(
        (text, {"x": [[1.0, 2.0], [3.0, -INF], [1.0, 1.0]]}, None)
        for text in ("svdvals(x)", "linalg.cond(x)", "pinv(x)")
    ),
    *(
        (text, {"x": [[-0.0, 1.0], [2.0, 3.0]]}, None)
        for text in ("linalg.qr(x).Q", "linalg.qr(x).R", "linalg.svd(x).U", "linalg.svd(x).Vh")
    ),
    *(
        ("linalg.vander(x, N=3) * x.sum()", {"x": x}, None)
        for x in ([0.0, INF, 2.0], [0.0, 1e200, 1e200], [1e-200, 3.0], [NAN, 0.0])
    ),
]
EMPTY = [
    *(
        (text, {"x": np.zeros(shape)}, None)
        for text in (
            *("linalg.pinv(x)", "linalg.lstsq(x, x)[0]", "linalg.matrix_norm(x, 'nuc')"),
            *("svdvals(x)", "linalg.svd(x, full_matrices=False).Vh", "linalg.qr(x).R"),
            *("linalg.lu(x)[2]", "x.mT @ x", "cdist(x, x)"),
        )
        for shape in ((0, 3), (2, 3, 0))
    ),
    *(
        (text, {"x": np.zeros((2, 0, 0))}, None)
        for text in (
            *("inv(x)", "det(x)", "logdet(x)", "slogdet(x)[1]", "linalg.solve(x, x)"),
            *("matrix_exp(x)", "cholesky(x)", "eigvalsh(x)", "pinv(x, hermitian=True)"),
            *("linalg.matrix_power(x, -1)", "linalg.solve_triangular(x, x, upper=True)"),
        )
    ),
]
CASES = [*PRODUCTS, *SYSTEMS, *DECOMPOSITIONS, *ODD, *ENDLESS, *EMPTY]
