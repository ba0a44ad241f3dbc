"""Ties, zeros, infinities, nan and empty tensors in reductions, orders, running reductions, norms.

Rows (text, values, seed), compared with PyTorch; a seed of None is ones.
"""

INF, NAN = float("inf"), float("nan")
TIES = [[1.0, 3.0, 3.0, 2.0], [2.0, 2.0, -0.0, 0.0]]
ODD = [[1.0, NAN, 3.0], [INF, 0.0, -INF], [NAN, NAN, NAN]]
ZEROS = [[2.0, 0.0, 3.0, 0.0], [1.0, 2.0, 4.0, 0.0], [5.0, 1.0, 2.0, 3.0]]
LONG = [2.0, 1, 2, 0, 1, 2, 0, 0, 1, 2, 1]
UP = [1.0, 2.0, 4.0, 8.0]
SINGULAR = [[0.0, 0.0], [0.0, 0.0]]

CASES = [
    # ---- order -----------------------------------------------------------------------------------
    ("x.sort().values", {"x": TIES}, [UP, UP]),
    ("x.sort(descending=True).values", {"x": TIES}, [UP, UP]),
    ("sort(x, dim=0, stable=True)[0]", {"x": ODD}, [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    ("sort(x, dim=1, descending=True).values", {"x": ODD}, [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    ("x * x.argsort(dim=1)", {"x": TIES}, None),
    ("x * x.sort(dim=0).indices", {"x": TIES}, None),
    ("msort(x)", {"x": TIES}, [UP, UP]),
    ("x.sort()[0]", {"x": 2.0}, 3.0),
    ("x.sort().values.sum()", {"x": []}, None),
    ("x.topk(2).values", {"x": TIES}, [[1.0, 2.0], [3.0, 5.0]]),
    ("x.topk(3, largest=False).values", {"x": LONG}, [1.0, 2, 3]),
    *(  # of several in more elements PyTorch selects in another way
        ("x.topk(1).values", {"x": ([1.0, 3.0, 2.0, 3.0, 3.0] * n)[:n]}, None) for n in (63, 64, 65)
    ),
    ("x.topk(5).values", {"x": LONG}, [1.0, 2, 3, 4, 5]),
    ("x.topk(5, sorted=False).values", {"x": LONG}, [1.0, 2, 3, 4, 5]),
    ("x.topk(4, sorted=False).values", {"x": [1.0, 2.0, 0.0, 1.0]}, UP),
    ("topk(x, 2, 1)[0]", {"x": ODD}, [[1.0, 2], [3, 4], [5, 6]]),
    ("topk(x, 2, dim=1, largest=False).values", {"x": ODD}, [[1.0, 2], [3, 4], [5, 6]]),
    ("x.topk(0).values.sum() + x.sum()", {"x": LONG}, None),
    ("x.topk(1).values", {"x": 2.0}, 3.0),
    *((f"x.kthvalue({k}).values", {"x": LONG}, 2.0) for k in (1, 4, 5, 8, 11)),
    ("x.kthvalue(2, dim=1, keepdim=True)[0]", {"x": TIES}, [[1.0], [2.0]]),
    *((f"kthvalue(x, {k}, 1).values", {"x": ODD}, [1.0, 2, 3]) for k in (1, 2, 3)),
    ("x.kthvalue(1).values", {"x": 2.0}, 3.0),
    *((f"x.{f}()", {"x": v}, 2.0) for f in ("median", "nanmedian") for v in (TIES, ODD, 3.0, [])),
    *((f"x.{f}(dim=1).values", {"x": TIES}, [1.0, 2]) for f in ("median", "nanmedian")),
    *((f"x.{f}(1)[0]", {"x": ODD}, [1.0, 2, 3]) for f in ("median", "nanmedian")),
    ("median(x, 0, keepdim=True).values", {"x": TIES}, [UP]),
    ("x.median(0).values", {"x": LONG}, 2.0),
    ("x.nanmedian()", {"x": [NAN, NAN]}, None),
    ("x.median(0).values", {"x": 3.0}, 2.0),
    ("x.mode().values", {"x": TIES}, [1.0, 2.0]),
    ("x.mode(0)[0]", {"x": TIES}, UP),
    ("x * x.mode(dim=1, keepdim=True).indices", {"x": TIES}, None),
    ("x.mode().values", {"x": LONG}, 2.0),
    ("x.mode().values", {"x": 3.0}, 2.0),
    ("aminmax(x).max + aminmax(x)[0] * 2", {"x": TIES}, 3.0),
    ("x.aminmax(dim=1, keepdim=True).min", {"x": TIES}, [[1.0], [2.0]]),
    ("aminmax(x, dim=1)[1]", {"x": ODD}, [1.0, 2.0, 3.0]),
    *(
        ("x.mode().values", {"x": row}, 2.0)
        for row in ([NAN, 1.0], [NAN, NAN, 1.0], [1.0, NAN, 1.0, NAN], [2.0, 2.0, NAN, 1.0, 1.0])
    ),
    # ---- products with zeros, and what comes back to them ----------------------------------------
    *(
        (f"x.prod({dim})", {"x": row}, seed)
        for dim in ("", "0")
        for row in ([2.0, 0.0, 0.0], [NAN, 0.0, 0.0], [0.0, INF, 0.0], [NAN, 0.0, 2.0])
        for seed in (1.0, INF, NAN)
    ),
    ("x.prod(0)", {"x": INF}, 3.0),
    ("x.var(0)", {"x": NAN}, 3.0),
    ("x.prod(0)", {"x": [[0.0, 0.0, 3.0], [0.0, 5.0, 0.0]]}, [INF, 1.0, NAN]),
    ("x.prod()", {"x": 0.0}, INF),
    # ---- spread of equal elements ----------------------------------------------------------------
    *((f"x.{f}()", {"x": [0.1, 0.1, 0.1]}, None) for f in ("std", "var")),
    ("x.std(1)", {"x": [[0.1, 0.1, 0.1], [0.3, 0.3, 0.3]]}, None),
    *(
        (f"x.{f}({dim}correction={correction})", {"x": row}, None)
        for f in ("std", "var")
        for dim in ("", "0, ")
        for correction in (2, 3)
        for row in ([1.0, 2.0], [2.0, 2.0], [NAN, 1.0], [INF, 1.0])
    ),
    ("x.std(0, correction=0)", {"x": [[-1.8037932908259813] * 2] * 3}, [INF, 1.0]),
    # ---- quantiles -------------------------------------------------------------------------------
    *(
        (f"x.quantile({q}, dim=1, interpolation='{how}')", {"x": TIES}, [1.0, 2.0])
        for q in (0, 0.3, 0.5, 1)
        for how in ("linear", "lower", "higher", "midpoint", "nearest")
    ),
    ("quantile(x, q, 0, keepdim=True)", {"x": TIES, "q": [0.0, 0.4, 1.0]}, [[UP]] * 3),
    ("quantile(x, 0.5, dim=1)", {"x": ODD}, [1.0, 2.0, 3.0]),
    ("quantile(x, q)", {"x": [1.0, INF, 2.0], "q": [0.1, 0.6, 0.9]}, [1.0, 2.0, 3.0]),
    ("quantile(x, q)", {"x": [1.0, -INF, 2.0], "q": [0.1, 0.3, 0.9]}, [1.0, 2.0, 3.0]),
    ("nanquantile(x, 0.6, dim=1)", {"x": ODD}, [1.0, 2.0, 3.0]),
    ("nanquantile(x, q)", {"x": [1.0, NAN, 2.0], "q": [0.1, 0.6]}, [1.0, 2.0]),
    ("x.quantile(0.5)", {"x": 3.0}, 2.0),
    # ---- running ---------------------------------------------------------------------------------
    ("x.cummax(1).values", {"x": TIES}, [UP, UP]),
    ("x.cummin(1).values", {"x": TIES}, [UP, UP]),
    ("x.cummax(1)[0]", {"x": ODD}, [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    ("x.cummin(0)[0]", {"x": ODD}, [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    ("x * x.cummax(dim=1).indices", {"x": TIES}, None),
    ("x.cummax(0).values", {"x": 2.0}, 3.0),
    ("x.cumprod(1)", {"x": ZEROS}, [UP, UP, UP]),
    ("x.cumprod(0)", {"x": ZEROS}, [UP, UP, UP]),
    ("x.cumprod(1)", {"x": ODD}, [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    ("x.cumprod(0)", {"x": [2.0, INF, 0.0, NAN]}, UP),
    ("x.cumprod(0)", {"x": [-0.5, 0.0, -0.7, INF, 0.0]}, [1.0, 2.0, 3.0, 4.0, 5.0]),
    ("x.cumprod(0)", {"x": 0.0}, 3.0),
    *(("x.cumprod(0)", {"x": row}, None) for row in ([INF], [NAN], [[INF, 2.0]], [[3.0, NAN]])),
    ("x.cumprod(-1)", {"x": [[NAN], [1.0], [0.0]]}, [[1.0], [2.0], [3.0]]),
    ("x.logcumsumexp(0)", {"x": [1000.0, 1001.0, -1000.0, 2000.0]}, UP),
    ("x.logcumsumexp(0)", {"x": [-INF, 1.0, -INF, 2.0]}, UP),
    ("x.logcumsumexp(0)", {"x": [1.0, 2.0, 0.5, -3.0]}, [1.0, -2.0, 0.0, 3.0]),
    ("x.logcumsumexp(1)", {"x": ODD}, [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    ("x.logcumsumexp(0)", {"x": 2.0}, 3.0),
    ("x.diff(n=2, dim=0).sum() + x.diff(n=9).sum()", {"x": TIES}, None),
    ("diff(x, 1, 1, a, b)", {"x": TIES, "a": [[1.0], [2]], "b": [[3.0], [INF]]}, [[*UP, 3.0]] * 2),
    ("diff(x, 0, prepend=a)", {"x": [1.0, 2.0], "a": [3.0]}, [5.0, 6.0]),
    ("gradient(x, spacing=0.5)[0]", {"x": [1.0, INF, 3.0, NAN]}, UP),
    ("gradient(x, dim=1, edge_order=2)[0]", {"x": TIES}, [UP, UP]),
    ("torch.gradient(x, spacing=(p,))[0]", {"x": [1.0, 4, 2], "p": [0.0, 1, 3]}, [1.0, 2, 3]),
    (
        "torch.gradient(x, spacing=(torch.tensor([0.0, 1, 3, 7]),), edge_order=2)[0]",
        {"x": [1.0, 4, 9, 1]},
        UP,
    ),
    ("trapezoid(y, x, dim=0)", {"y": TIES, "x": [1.0, INF]}, UP),
    ("trapz(y, dx=0.5) + trapezoid(y)", {"y": TIES}, [1.0, 2.0]),
    ("trapezoid(y, x)", {"y": [TIES, TIES], "x": TIES}, None),
    ("trapezoid(y) + y.sum()", {"y": []}, None),
    ("cumulative_trapezoid(y, x)", {"y": TIES, "x": UP}, [[1.0, 2, 3], [4, 5, 6]]),
    ("trapezoid(y, x)", {"y": [1.0, 2.0], "x": [[0.0, 1.0], [3.0, 7.0]]}, [1.0, 1.0]),
    ("cumulative_trapezoid(y, x)", {"y": [1.0, 2], "x": [[0.0, 1], [3, 7]]}, [[1.0, 2.0]]),
    # ---- statistics ------------------------------------------------------------------------------
    ("var_mean(x, dim=1)[0] + std_mean(x, 1, True)[1]", {"x": TIES}, [1.0, 2.0]),
    ("torch.std(x, False)", {"x": [2.0, 2.0]}, None),
    ("torch.var(x, True)", {"x": [2.0]}, None),
    ("std_mean(x, unbiased=False)[0]", {"x": ODD}, None),
    ("x.nansum() + x.nanmean()", {"x": [NAN, 1.0, 2.0]}, None),
    ("x.nansum(1)", {"x": ODD}, [1.0, INF, 3.0]),
    ("x.nanmean(dim=1)", {"x": ODD}, [1.0, 2.0, 3.0]),
    ("x.nanmean()", {"x": [NAN, NAN]}, None),
    ("cov(x)", {"x": ODD}, [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    ("cov(x)", {"x": [2.0]}, None),
    ("cov(x, correction=5)", {"x": TIES}, [[1.0, 2], [3, 4]]),
    ("cov(x, fweights=f, aweights=a)", {"x": TIES, "f": [1, 0, 2, 1], "a": UP}, [[1.0, 2], [3, 4]]),
    ("corrcoef(x)", {"x": [[1.0, 2, 3], [2.0, 4, 6]]}, [[1.0, 2], [3, 4]]),
    ("corrcoef(x)", {"x": [[1.0, 1, 1], [2.0, 4, 7]]}, [[1.0, 2], [3, 4]]),
    ("corrcoef(x)", {"x": [1.0, 2, 5]}, None),
    ("x * count_nonzero(x) + x * (x > 1).any() + x * torch.all(x, dim=0)", {"x": TIES}, None),
    ("special.logsumexp(x, 1)", {"x": ODD}, [1.0, 2.0, 3.0]),
    # ---- norms -----------------------------------------------------------------------------------
    *(
        (f"linalg.norm(x, {p})", {"x": v}, 3.0)
        for p in ("None", "'fro'", "'nuc'", "1", "-1", "2", "inf", "-inf")
        for v in ([[1.0, 2.0], [3.0, -5.0]], [[2.0, 1.0, -2.0], [0.5, 2.0, 1.0]])
    ),
    *(
        (f"linalg.norm(x, {p})", {"x": SINGULAR}, 3.0)
        for p in ("None", "'fro'", "1", "-1", "inf", "-inf")
    ),
    *(
        (f"linalg.norm(x, {p})", {"x": v}, 3.0)
        for p in ("None", "0", "0.5", "1", "-1", "2", "-2", "3", "inf", "-inf")
        for v in ([0.0, 0.0], [3.0, -3.0, 1.0], [NAN, 1.0], [INF, 2.0])
    ),
    ("linalg.matrix_norm(x, 1)", {"x": [[1.0, -1.0], [0.0, 0.0]]}, 3.0),
    *(
        (f"linalg.matrix_norm(x, {order})", {"x": x}, 3.0)
        for order in (2, -2)
        for x in ([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 2.0]])
    ),
    ("linalg.matrix_norm(x, dim=(2, 0), keepdim=True)", {"x": [[[1.0, 2]], [[0, 3]]]}, [[[2.0]]]),
    ("linalg.matrix_norm(x, ord='nuc', dim=(0, 2))", {"x": [[[1.0, 2]], [[0, 3]]]}, [2.0]),
    ("linalg.vector_norm(x, ord=3, dim=())", {"x": TIES}, 2.0),
    ("linalg.norm(x, 2, dim=0)", {"x": TIES}, UP),
    ("linalg.norm(x, dim=(0, 1), ord=-inf)", {"x": TIES}, 2.0),
    ("torch.norm(x, 'nuc') + x.norm(p='fro') + norm(x, dim=1).sum()", {"x": TIES}, 2.0),
    ("linalg.svdvals(x)", {"x": [[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]}, [1.0, 2.0]),
    ("cov(x)", {"x": [[INF, 1.0, 2.0], [0.0, 1.0, 3.0]]}, None),
    ("cov(x)", {"x": [2.0, 1.0, INF]}, 1.0),
    ("cov(x)", {"x": [[2.0, 1.0, 2.0], [0.0, 1.0, 3.0]]}, [[INF, 1.0], [2.0, 3.0]]),
    ("cov(x, fweights=tensor([1, 0, 2]))", {"x": [[1.0, INF, 2.0], [0.0, 1.0, 3.0]]}, None),
    *(
        (f"torch.segment_reduce(x, '{of}', lengths=tensor([3]))", {"x": x}, [seed])
        for of in ("max", "min")
        for x in ([1.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [NAN, 1.0, NAN])
        for seed in (2.0, 0.5, 0.0, -1.0, INF, -INF, NAN)
    ),
    *(
        (f"torch.segment_reduce(x, 'prod', lengths=tensor([2, 1]){initial})", {"x": x}, [1.0, 2.0])
        for initial in ("", ", initial=0")
        for x in ([2.0, NAN, 3.0], [2.0, 3.0, NAN], [0.0, INF, 3.0], [NAN, 0.0, 0.0])
    ),
    # ---- lengths of one element ------------------------------------------------------------------
    ("x.norm(dim=1)", {"x": [[1e-200], [3.0], [-1e200], [0.0], [INF]]}, [1.0, 2, 3, 4, 5]),
    ("x.norm(dim=(0, 1), keepdim=True)", {"x": [[-1e-200]]}, [[2.0]]),
    ("x.norm()", {"x": -1e200}, 2.0),
    *((f"x.norm(p={p})", {"x": [3.0]}, 2.0) for p in (0.5, 1, 2.5, 3, INF, -INF, -1)),
    ("x.norm(p=0.5, dim=0)", {"x": [1e-200]}, 2.0),
    ("stack([a * b]).norm(dim=0, keepdim=True)", {"a": 1e-100, "b": 1e-100}, [2.0]),
    ("dist(a, b)", {"a": 1e-200, "b": 0.0}, 2.0),
    ("pairwise_distance(a, b, eps=0.0)", {"a": [1e-200], "b": [0.0]}, 2.0),
    # ---- nothing to divide by, and single elements -----------------------------------------------
    *(
        ("torch.cov(x, correction=3, aweights=w)", {"x": [[1.0, 2.0], [3.0, 5.0]], "w": w}, None)
        for w in ([1.0, 0.0], [1.0, 2.0])
    ),
    ("torch.vander(x, N=0).sum() + x.sum()", {"x": [2.0, 3.0]}, None),
    *((f"torch.linalg.vector_norm(x, {p})", {"x": [3.0]}, None) for p in (0, 0.5, 3)),
    *((f"torch.linalg.vector_norm(x, {p})", {"x": [0.0]}, None) for p in (0, 0.5, 3)),
]
