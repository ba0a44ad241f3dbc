"""Forms of calls that read otherwise than they look, and arrays in another order in memory."""

X = {"x": [[1.0, 2.0], [3.0, 4.0]]}
PAIR = {"a": [1.0, 2.0, 4.0], "b": [1.5, 0.5, 3.0]}
WEIGHT = [0.5, 2.0, 0.0]
VECTOR = {"x": [1.0, 2.0, 4.0]}
SCORES = {"x": [[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]], "k": [2, 0]}

CASES = [
    # a method whose condition comes first
    ("x.where(x > 2, x * 10)", X, None),
    ("torch.where(x > 2, x, x * 10)", X, None),
    # PyTorch's older arguments stand before reduction
    *(
        (f"F.{loss}(a, b, {how})", {**PAIR, "w": WEIGHT}, None)
        for loss in ("mse_loss", "l1_loss")
        for how in (
            "weight=w",
            "weight=w, reduction='sum'",
            "weight=w, reduction='none'",
            "None, None, 'mean', w",
        )
    ),
    # a dim that is a tensor of one integer
    *(
        (f"x.{call}", X, None)
        for call in (
            "median(torch.tensor(1))[0]",
            "sum(torch.tensor(-1))",
            "cumsum(torch.tensor(1))",
            "softmax(dim=torch.tensor(0))",
            "transpose(torch.tensor(0), 1)",
        )
    ),
    ("x.norm(None)", VECTOR, None),
    ("x.norm(None, 0)", VECTOR, None),
    ("torch.norm(x, p=None, dim=0)", VECTOR, None),
    ("F.mse_loss(a, b, False)", PAIR, None),
    ("F.mse_loss(a, b, None, False)", PAIR, None),
    ("F.mse_loss(a, b, True, True, 'none')", PAIR, None),
    ("F.mse_loss(a, b, size_average=False)", PAIR, None),
    ("F.l1_loss(a, b, 'sum')", PAIR, None),
    ("F.smooth_l1_loss(a, b, None, None, 'sum', 2.0)", PAIR, None),
    ("F.kl_div(a, b, False)", PAIR, None),
    ("F.poisson_nll_loss(a, b, False, False, None, 0.1)", PAIR, None),
    ("F.cross_entropy(x, k, None, False)", SCORES, None),
    ("F.cross_entropy(x, k, None, None, 2)", SCORES, None),
    ("F.nll_loss(x, k, reduce=False)", SCORES, None),
    # written over a transpose, and over what an index took
    ("h = x.T; h.index_add(0, tensor([0]), h[:1]) ** 2", X, None),
    ("h = x.T; h.index_copy(0, tensor([0]), 2 * h[1:]) ** 2", X, None),
    ("h = x[:, [1, 0]]; h.scatter(0, tensor([[0, 0]]), 7.0) ** 2", X, None),
    ("h = x.mT; h.scatter_add(1, tensor([[0, 0]]), h[:1]) ** 2", X, None),
    ('h = x.T; h.scatter_reduce(0, tensor([[1, 0]]), h[:1], "prod") ** 2', X, None),
    ("x.T.index_put((tensor([0]),), tensor([9.0, 9.0])).prod()", X, None),
    ("x.T.put(tensor([1]), tensor([5.0])) ** 2", X, None),
    ("x.expand(2, 2, 2).index_fill(0, tensor([1]), 3.0) ** 2", X, None),
    ("x.T.masked_fill(x > 2, 0.5) ** 2", X, None),
    ("x.T.masked_scatter(x > 2, 3 * x) ** 2", X, None),
    # what comes back to a distance of 0 is infinite
    ("cdist(x, x).sqrt()", X, None),
    ("cdist(x, x).log()", X, None),
    ("F.pdist(x).sqrt()", {"x": [[1.0, 2.0], [1.0, 2.0]]}, None),
]
