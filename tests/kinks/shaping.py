"""Ugly points of joins, indices and scattering: repeated places, ties, zeros, empty, 0-d."""

from math import inf, nan

X = [[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]]
V = [1.0, -2.0, 3.0, 0.5]
G = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
TABLE = [[1.0, 2.0], [3.0, -1.0], [0.5, 0.0], [-2.0, 4.0]]

CASES = [
    # ---- scatter: of several on one place the last is seen, and each receives the gradient
    ("x.scatter(0, torch.tensor([1, 1, 0]), v)", {"x": V, "v": [5.0, 6.0, 7.0]}, V),
    ("x.scatter(1, torch.tensor([[0], [2]]), v)", {"x": X, "v": [[inf], [nan]]}, G),
    ("torch.scatter(x, 0, torch.tensor([1, 0]), 2.5)", {"x": [nan, inf, 1.0]}, [1.0, inf, nan]),
    ("x.scatter(0, torch.zeros(0).long(), v)", {"x": V, "v": []}, V),
    ("x.scatter(0, torch.tensor(0), v)", {"x": 2.0, "v": 3.0}, None),
    ("x.scatter_add(0, torch.tensor([1, 1, 1]), v)", {"x": V, "v": [1e16, 1.0, -1e16]}, V),
    ("x.scatter_add(0, torch.tensor([0, 0]), v)", {"x": [1e16, 1.0], "v": [1.0, 1.0]}, [1.0, 2.0]),
    ("x.scatter_add(0, torch.tensor([0, 1]), v)", {"x": [inf, 1.0], "v": [-inf, nan]}, [1.0, 2.0]),
    ("1 / x.scatter_add(0, torch.tensor([1]), v)", {"x": [-0.0, 0.0], "v": [-0.0]}, [1.0, 2.0]),
    ("x.scatter_add(1, torch.tensor([[0, 0]]), v)", {"x": X, "v": [[1.0, 2.0]]}, G),
    # ---- scatter_reduce: ties share; products with zeros; places that nothing reaches
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 1]), v, 'amax')",
        {"x": [2.0, 1.0, 7.0], "v": [2.0, 2.0, 0.0]},
        [1.0, 2.0, 3.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 1]), v, 'amin', include_self=False)",
        {"x": [2.0, 1.0, 7.0], "v": [2.0, 2.0, 0.0]},
        [1.0, 2.0, 3.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 1]), v, 'amax', include_self=False)",
        {"x": [5.0, 1.0, 7.0], "v": [2.0, 2.0, 1.0]},
        [1.0, 2.0, 3.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 1]), v, 'amax')",
        {"x": [nan, 1.0, 2.0], "v": [2.0, nan]},
        [1.0, 2.0, 3.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0]), v, 'amin')",
        {"x": [0.0, 1.0], "v": [-0.0, 0.0]},
        [1.0, 2.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 1]), v, 'prod')",
        {"x": [2.0, 3.0], "v": [0.0, 4.0, 5.0]},
        [1.0, 2.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 1]), v, 'prod')",
        {"x": [2.0, 3.0], "v": [0.0, 0.0, 5.0]},
        [1.0, 2.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 1]), v, 'prod')",
        {"x": [0.0, 3.0], "v": [2.0, 4.0, 0.0]},
        [1.0, 2.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0]), v, 'prod', include_self=False)",
        {"x": [0.0, 3.0], "v": [2.0, 0.0]},
        [1.0, 2.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0]), v, 'prod')",
        {"x": [inf, 3.0], "v": [2.0, nan]},
        [1.0, 2.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 2]), v, 'mean')",
        {"x": [1.0, 2.0, 3.0], "v": [4.0, 5.0, 6.0]},
        [1.0, 2.0, 3.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 2]), v, 'mean', include_self=False)",
        {"x": [1.0, 2.0, 3.0], "v": [4.0, 5.0, inf]},
        [1.0, 2.0, 3.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor([0, 0, 2]), v, 'sum', include_self=False)",
        {"x": [nan, 2.0, 3.0], "v": [4.0, 5.0, 6.0]},
        [1.0, 2.0, 3.0],
    ),
    (
        "x.scatter_reduce(0, torch.tensor(0), v, 'amax')",
        {"x": 3.0, "v": 3.0},
        None,
    ),
    # ---- index_*: a whole slice for each number
    ("x.index_add(1, torch.tensor([0, 0]), v)", {"x": X, "v": [[1.0, 2.0], [3.0, 4.0]]}, G),
    ("x.index_add(0, torch.tensor([1]), v, alpha=-2)", {"x": X, "v": [[inf, 0.0, nan]]}, G),
    ("x.index_add(0, torch.tensor([0]), v)", {"x": 1.0, "v": 2.0}, None),
    ("x.index_copy(0, torch.tensor([0]), v)", {"x": [1.0], "v": 2.0}, None),
    ("x.index_copy(0, torch.tensor([1]), v)", {"x": X, "v": [[inf, 0.0, nan]]}, G),
    ("x.index_copy(0, torch.tensor([2, 0]), v)", {"x": V, "v": [8.0, 9.0]}, V),
    ("x.index_fill(1, torch.tensor([0, 0]), v)", {"x": X, "v": 7.0}, G),
    ("x.index_fill(1, torch.tensor([-1]), 7.0)", {"x": X}, G),
    ("x.index_fill(0, torch.tensor([0]), nan)", {"x": X}, G),
    ("x.index_fill(1, torch.zeros(0).long(), v)", {"x": X, "v": 7.0}, G),
    ("x.index_fill(0, torch.tensor([5]), 7.0)", {"x": [[], []]}, None),
    ("x.index_select(0, torch.tensor([1, 1, 1]))", {"x": X}, [G[0], G[1], [nan, inf, 0.0]]),
    ("x.index_select(1, torch.zeros(0).long())", {"x": X}, [[], []]),
    ("x.index_select(0, torch.tensor([0]))", {"x": 2.0}, None),
    (
        "x.index_reduce(0, torch.tensor([0, 0]), v, 'amax')",
        {"x": [2.0, 1.0], "v": [2.0, 2.0]},
        [1.0, 2.0],
    ),
    (
        "x.index_reduce(0, torch.tensor([0, 0]), v, 'prod', include_self=False)",
        {"x": [2.0, 1.0], "v": [0.0, 2.0]},
        [1.0, 2.0],
    ),
    (
        "x.index_reduce(0, torch.tensor([1, 1]), v, 'mean', include_self=False)",
        {"x": [2.0, 1.0], "v": [0.0, 2.0]},
        [1.0, 2.0],
    ),
    # ---- take, put, gather, index_put
    ("x.take(torch.tensor([0, 0, -1]))", {"x": X}, [1.0, 2.0, inf]),
    ("x.take(torch.tensor(4))", {"x": X}, None),
    ("x.take(torch.zeros(0).long())", {"x": X}, []),
    ("torch.take(x, torch.tensor([[0]]))", {"x": 2.0}, [[3.0]]),
    ("x.put(torch.tensor([1, 1]), v)", {"x": X, "v": [8.0, 9.0]}, G),
    ("x.put(torch.tensor([-1, 0]), v, True)", {"x": X, "v": [8.0, nan]}, G),
    ("x.put(torch.tensor([0, 0]), v, accumulate=True)", {"x": [1e16], "v": [1.0, 1.0]}, [2.0]),
    ("x.put(torch.tensor(0), v)", {"x": 1.0, "v": 2.0}, None),
    (
        "x.gather(0, torch.tensor([[1, 1], [1, 0], [1, 1]]))",
        {"x": X},
        [[1.0, 2.0], [3.0, inf], [0.0, 1.0]],
    ),
    ("x.gather(0, torch.tensor([0, 0]))", {"x": 2.0}, [1.0, 2.0]),
    ("torch.take_along_dim(x, torch.tensor([[-1], [0]]), 1)", {"x": X}, [[1.0], [2.0]]),
    ("torch.take_along_dim(x, torch.tensor([5, 5]))", {"x": X}, [1.0, 2.0]),
    ("x.index_put((torch.tensor([0, 0]), torch.tensor([1, 1])), v)", {"x": X, "v": [8.0, 9.0]}, G),
    (
        "x.index_put((torch.tensor([0, 0]), torch.tensor([1, 1])), v, accumulate=True)",
        {"x": X, "v": [8.0, 9.0]},
        G,
    ),
    ("x.index_put((torch.tensor([0, 1]),), v)", {"x": X, "v": 5.0}, G),
    ("x.index_put((torch.tensor([True, False]),), v)", {"x": X, "v": [1.0, nan, inf]}, G),
    ("x.index_put((x > 0,), v)", {"x": X, "v": 2.0}, G),
    # ---- masks
    ("x.masked_fill(x != x, v)", {"x": [nan, 1.0, inf], "v": 0.0}, [1.0, 2.0, 3.0]),
    ("x.masked_fill(torch.tensor([[True], [False]]), -inf)", {"x": V}, [V, V]),
    ("x.masked_fill(torch.tensor(True), v)", {"x": V, "v": nan}, V),
    (
        "x.masked_scatter(torch.tensor([True, False, True, True]), v)",
        {"x": V, "v": [5.0, nan, 7.0, 9.0]},
        V,
    ),
    ("x.masked_scatter(torch.tensor([False, False, False, False]), v)", {"x": V, "v": [5.0]}, V),
    ("x.masked_select(x > 0)", {"x": X}, [1.0, inf, 3.0, nan]),
    ("x.masked_select(x > 10)", {"x": X}, []),
    ("x.masked_select(torch.tensor([[True], [True]]))", {"x": [1.0, nan]}, [1.0, 2.0, 3.0, 4.0]),
    # ---- views and what is written over
    ("torch.as_strided(x, (3, 2), (1, 1))", {"x": V}, [[1.0, 2.0], [3.0, 4.0], [5.0, inf]]),
    ("torch.as_strided(x, (2, 3), (0, 1))", {"x": V}, G),
    ("torch.as_strided(x, (), (), 2)", {"x": V}, None),
    ("torch.as_strided_scatter(x, v, (2, 2), (1, 2))", {"x": X, "v": [[1.0, 2.0], [3.0, 4.0]]}, G),
    ("x.unfold(0, 2, 1)", {"x": V}, [[1.0, 2.0], [3.0, inf], [nan, 6.0]]),
    ("x.unfold(1, 2, 2)", {"x": X}, [[[1.0, 2.0]], [[3.0, 4.0]]]),
    ("x.unfold(0, 1, 1)", {"x": 2.0}, [3.0]),
    ("torch.diagonal_scatter(x, v, 1)", {"x": X, "v": [nan, 1.0]}, G),
    *(
        (f"torch.{name}([x])", {"x": V}, None)
        for name in ("hstack", "vstack", "dstack", "column_stack")
    ),
    ("torch.select_scatter(x, v, 1, -1)", {"x": X, "v": [nan, 1.0]}, G),
    ("torch.slice_scatter(x, v, 1, 0, 3, 2)", {"x": X, "v": [[nan, 1.0], [2.0, 3.0]]}, G),
    ("torch.slice_scatter(x, v, 0, 5)", {"x": V, "v": []}, V),
    ("x.diagonal(2)", {"x": X}, [inf]),
    ("x.diagonal(-2)", {"x": X}, []),
    (
        "torch.diag_embed(x, -1)",
        {"x": [nan, 2.0]},
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
    ),
    ("torch.fill(x, v)", {"x": [nan, 1.0], "v": 3.0}, [1.0, 2.0]),
    # ---- order, joining, splitting
    ("torch.cat([x, v])", {"x": [], "v": V}, V),
    ("torch.cat([x, v], 1)", {"x": [], "v": X}, G),
    ("torch.cat([x, x])", {"x": [nan, inf]}, V),
    ("torch.roll(x, -5, 1)", {"x": X}, G),
    ("torch.roll(x, 7)", {"x": X}, G),
    ("torch.roll(x, (1, 1), (1, 1))", {"x": X}, G),
    ("torch.rot90(x, -3)", {"x": X}, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    ("torch.movedim(x, (0, 1), (1, 0))", {"x": X}, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    ("torch.block_diag(x, v)", {"x": 2.0, "v": [1.0, nan]}, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ("torch.combinations(x, 2, True)", {"x": [1.0, nan]}, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    ("torch.combinations(x, 3)", {"x": [1.0, 2.0]}, None),
    ("torch.cartesian_prod(x, v)", {"x": [1.0, inf], "v": [2.0]}, [[1.0, 2.0], [3.0, 4.0]]),
    ("torch.meshgrid(x, v, indexing='xy')[0]", {"x": [1.0, 2.0, 3.0], "v": [nan, 5.0]}, G),
    ("torch.tensor_split(x, 3)[0]", {"x": V}, [1.0, 2.0]),
    *((f"x.split({size})[0]", {"x": []}, []) for size in (0, 1, 2)),
    ("x.chunk(2)[1]", {"x": []}, []),
    ("x.split(2, dim=1)[0]", {"x": [[], []]}, [[], []]),
    ("torch.tensor_split(x, (1, 9))[2]", {"x": V}, []),
    ("torch.repeat_interleave(x, torch.tensor([0, 3]), dim=0)", {"x": X}, [*G, [inf, 0.0, nan]]),
    ("torch.hstack((x, v))", {"x": 1.0, "v": [2.0, nan]}, [1.0, 2.0, 3.0]),
    ("torch.column_stack((x, v))", {"x": [1.0, 2.0], "v": X}, [[1.0] * 4, [2.0] * 4]),
    # ---- tables
    ("(F.one_hot(torch.tensor([0, 2])) * v).sum()", {"v": V[:3]}, None),
    ("F.embedding(torch.tensor([0, 0, 3]), w)", {"w": TABLE}, [[1.0, 2.0], [3.0, inf], [nan, 6.0]]),
    (
        "F.embedding(torch.tensor([0, 0, 3]), w, padding_idx=-4)",
        {"w": TABLE},
        [[1.0, 2.0], [3.0, inf], [nan, 6.0]],
    ),
    (
        "F.embedding(torch.tensor([0, 0, 3, 0]), w, scale_grad_by_freq=True)",
        {"w": TABLE},
        [[1.0, 2.0], [3.0, 1.0], [5.0, 6.0], [7.0, 8.0]],
    ),
    (
        "F.embedding(torch.tensor([0, 0, 3]), w, padding_idx=0, scale_grad_by_freq=True)",
        {"w": TABLE},
        [[1.0, 2.0], [3.0, 1.0], [5.0, 6.0]],
    ),
    (
        "F.embedding_bag(torch.tensor([0, 2, 2]), w, torch.tensor([0, 2, 2]), mode='sum')",
        {"w": TABLE},
        [[1.0, 2.0], [3.0, inf], [5.0, 6.0]],
    ),
    (
        "F.embedding_bag(torch.tensor([0, 2, 2]), w, torch.tensor([0, 0, 3]))",
        {"w": TABLE},
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    ),
    (
        "F.embedding_bag(torch.tensor([[0, 2], [3, 3]]), w, padding_idx=3)",
        {"w": TABLE},
        [[1.0, 2.0], [3.0, 4.0]],
    ),
    *(
        (f"F.embedding_bag({bags}, mode='max')", {"w": table}, None)
        for bags in (
            "torch.tensor([[0, 2], [1, 1], [2, 0]]), w",
            "torch.tensor([0, 2, 1, 2, 1, 0]), w, torch.tensor([0, 2, 2, 3])",
        )
        for table in ([[1.0, nan], [2.0, 3.0], [nan, 4.0]], [[-inf, inf], [nan, nan], [nan, nan]])
    ),
    (
        "F.embedding_bag(torch.tensor([[0, 2], [3, 0]]), w, mode='max')",
        {"w": [[1.0, 0.0], [3.0, -1.0], [1.0, 0.0], [1.0, 4.0]]},
        [[1.0, 2.0], [3.0, 4.0]],
    ),
    (
        "F.embedding_bag(torch.tensor([0, 2, 0]), w, torch.tensor([0, 1]), mode='sum', "
        "per_sample_weights=p)",
        {"w": TABLE, "p": [0.0, inf, -1.0]},
        [[1.0, 2.0], [3.0, 4.0]],
    ),
    (
        "F.pixel_shuffle(x, 2)",
        {"x": [[[1.0]], [[nan]], [[2.0]], [[3.0]]]},
        [[[1.0, 2.0], [inf, 4.0]]],
    ),
]
