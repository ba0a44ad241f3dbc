"""Seeds with inf and nan beside slopes of 0: what spreads, and what does not."""

from math import inf, nan

ROWS = [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [-3.0, 4.0]]
LIKELY = [
    [[-0.9277006, -0.5225304, -4.4636749]],
    [[-6.8687672, -1.3777089, -0.2919517]],
    [[-1.8410438, -1.7265382, -0.4103032]],
    [[-0.4335527, -1.0450903, -8.8897501]],
]
FAR = [[inf, 0.0, -0.0], [-inf, nan, 1000.0]]
CASES = [
    *(
        (f"F.ctc_loss(x, tensor([[1, 2]]), (3,), (2,), reduction='none', zero_infinity={zero})",
         {"x": [[[odd if (t, c) == at else LIKELY[t][0][c] for c in range(3)]] for t in range(3)]},
         [1.0])
        for at in ((0, 0), (0, 2), (1, 1), (2, 0), (2, 1), (2, 2))
        for odd in (nan, inf, -inf)
        for zero in (False, True)
    ),
    *(
        (f"F.ctc_loss({x}, tensor([{labels}]), ({times},), ({count},), reduction='none')",
         {"x": LIKELY}, [seed])
        for x, times in (("x", 3), ("log_softmax(x, 2)", 4))
        for labels, count in (([1, 2], 2), ([0], 1), ([0, 1], 2), ([1, 0], 2), ([0, 0], 2),
                              ([1, 0, 1], 3))
        for seed in (1.0, inf, nan)
    ),
    *(
        (f"F.ctc_loss(x, tensor([[1, 1]]), ({times},), (2,), reduction='none', zero_infinity=True)",
         {"x": LIKELY}, [inf])
        for times in (2, 4)
    ),
    *(
        (f"F.kl_div(x, t, reduction='none'{more})", {"x": [0.5, 1.0, inf], "t": t}, seed)
        for t in ([-1.0, 0.0, 0.5], [-0.0, nan, -inf], [-1e-320, inf, 1.0])
        for more in ("", ", log_target=True")
        for seed in ([0.0, 0.0, 0.0], [1.0, inf, nan])
    ),
    *(
        (f"F.binary_cross_entropy_with_logits(x, t, pos_weight=tensor({weight}), reduction='none')",
         {"x": x, "t": [[0.0, 1.0, 0.5], [1.0, 0.0, 1.0]]}, [[seed, 1.0, seed], [1.0, seed, 1.0]])
        for weight in ("[1.0, 2.0, 3.0]", "[0.0, inf, -1.0]")
        for x in ([[0.1, 0.3, 0.2], [0.4, 9.0, 3.0]], FAR)
        for seed in (1.0, inf, nan)
    ),
    *(
        (f"F.{loss}, reduction='none')", {"x": x}, [seed, -1.0])
        for loss in (
            "multi_margin_loss(x, tensor([0, 2])",
            "multi_margin_loss(x, tensor([0, 2]), p=2, weight=tensor([0.0, 1.0, inf])",
            "multilabel_margin_loss(x, tensor([[0, -1, 1], [2, 1, -1]])",
        )
        for x in ([[0.1, 0.3, 0.2], [0.4, 9.0, 3.0]], FAR)
        for seed in (1.0, inf, nan)
    ),
    *(
        (f"{f}, p={p})", {"x": ROWS} | y, seed)
        for f, y, whole in (
            ("cdist(x, y", {"y": ROWS[:3]}, lambda g: [[g] * 3] * 4),
            ("pdist(x", {}, lambda g: [g] * 6),
        )
        for p in (0.5, 1.5, 2, 3)
        for seed in (whole(inf), whole(nan))
    ),
    *(
        (f"{name}(x, a, b, {factor}=0)", {"x": 1.0, "a": a, "b": b}, [[seed, 1.0], [2.0, 3.0]])
        for name, a, b in (
            ("addmm", ROWS[:2], ROWS[1:3]),
            ("addr", [1.0, 2.0], [3.0, -1.0]),
            ("addbmm", [ROWS[:2]], [ROWS[1:3]]),
        )
        for factor in ("beta", "alpha")
        for seed in (inf, nan)
    ),
    ("addmv(x, a, b, beta=0)", {"x": 1.0, "a": ROWS[:2], "b": [1.0, 2.0]}, [inf, 1.0]),
    ("baddbmm(x, a, b, beta=0)", {"x": 1.0, "a": [ROWS[:2]], "b": [ROWS[1:3]]},
     [[[inf, 1.0], [2.0, nan]]]),
    *(
        (f"F.conv_transpose1d(x, w, dilation=3, output_padding=2, padding={padding})",
         {"x": [[0.3, -1.7, 0.5, -1.0]], "w": [[[1.5, 1.9, 0.75]]]},
         [[0.1, seed, 0.1, -1.2, -1.2, 1.1, 0.2, -seed, -0.3, 1.0, 2.0, seed][2 * padding:]])
        for padding in (0, 1, 2)
        for seed in (1.0, inf, nan)
    ),
    *(
        (f"grid_sample(x, p, 'bicubic', '{padding}', False)",
         {"x": [[[[1.0, 2.0], [0.5, 4.0]]]], "p": [[[[0.1, -0.7], [0.9, 0.1]]]]}, [[[[seed, 1.0]]]])
        for padding in ("zeros", "border", "reflection")
        for seed in (inf, nan)
    ),
    # a weight of inf or nan where labels are ignored, and where they are not
    *(
        (f"F.{loss}(x, tensor([1, 0, 2]), tensor({weight}), ignore_index={ignored}, "
         f"reduction='{how}')",
         {"x": [[0.5, -1.0, 2.0], [1.0, 0.0, -0.5], [0.3, 0.1, 0.2]]},
         [1.0, -2.0, 0.5] if how == "none" else 1.0)
        for loss in ("nll_loss", "cross_entropy")
        for weight in ("[1.0, inf, 2.0]", "[1.0, nan, 2.0]", "[-inf, 1.0, 1.0]")
        for ignored in (0, 1, -100)
        for how in ("mean", "sum", "none")
    ),
]  # fmt: skip
