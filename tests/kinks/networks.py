"""Activations, normalisation, losses and distances at corners, ties, ±0, inf and nan."""

from math import inf, nan

import numpy as np

AROUND = [-inf, -4.0, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 4.0, 6.0, inf, nan]
SEED = [1.0, 2.0, -1.0, 0.5, 3.0, 1.0, 2.0, -0.5, 1.0, 2.0, 1.0, -1.0, 2.0, 1.0]
FINITE = AROUND[1:12]
MATRIX = [[1.0, 2.0, 4.0], [0.5, -1.0, 3.0]]
ROWS = [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [-3.0, 4.0]]
CLASSES = [[0.5, 1.5, -0.5], [2.0, 1.0, 1.0]]
IMAGE = [[[1.0, 2.0], [3.0, 3.0]], [[0.0, 0.0], [-1.0, 5.0]]]
PATHS = [[[-1.0, -2.0, -0.5], [-1.0, -1.5, -0.7]]] * 3

ACTIVATIONS = [
    *(
        (f"F.{call}", {"x": AROUND}, SEED)
        for call in (
            "hardsigmoid(x)",
            "hardswish(x)",
            "hardtanh(x)",
            "hardtanh(x, -0.5, 0.5)",
            "hardtanh(x, min_val=0.5, max_val=0.5)",
            "relu6(x)",
            "celu(x)",
            "celu(x, 0.3)",
            "celu(x, alpha=-1.0)",
            "selu(x)",
            "mish(x)",
            "softsign(x)",
            "tanhshrink(x)",
            "hardshrink(x)",
            "hardshrink(x, 0.0)",
            "hardshrink(x, -0.5)",
            "softshrink(x)",
            "softshrink(x, 0.0)",
            "softshrink(x, 3.0)",
            "threshold(x, 0.5, 9.0)",
            "threshold(x, inf, 1.0)",
            "logsigmoid(x)",
            "rrelu(x)",
            "rrelu(x, 0.5, 0.5)",
            "softmin(x, dim=0)",
            "dropout(x, p=1.0)",
            "dropout(x, 0.0)",
            "dropout(x, 0.5, False)",
        )
    ),
    ("torch.selu(x) + torch.celu(x) + torch.rrelu(x)", {"x": FINITE}, None),
    ("F.prelu(x, w)", {"x": AROUND, "w": [0.25]}, SEED),
    (
        "torch.prelu(x, w)",
        {"x": [[-1.0, 0.0, -0.0], [2.0, -3.0, nan]], "w": [0.5, -1.0, 2.0]},
        None,
    ),
    ("F.prelu(x, w)", {"x": [[-1.0, -inf], [2.0, 3.0]], "w": [inf, 0.0]}, None),
    ("F.prelu(x, w)", {"x": -2.0, "w": [0.5]}, None),
    ("F.glu(x)", {"x": [[1.0, inf, 0.0, -800.0], [nan, 2.0, 800.0, -0.0]]}, None),
    ("F.glu(x)", {"x": [1e200, -800.0]}, [1e200]),
    ("F.glu(x, 0)", {"x": MATRIX}, None),
    ("F.alpha_dropout(x, 1.0, True)", {"x": [1.0, -2.0]}, None),
    ("torch.dropout(x, 0.5, False)", {"x": [1.0, inf]}, None),
]

NORMALISATION = [
    ("F.normalize(x)", {"x": ROWS}, None),
    ("F.normalize(x, p=1.0, dim=0)", {"x": MATRIX}, None),
    ("F.normalize(x, p=inf)", {"x": [[1.0, -1.0], [0.0, 0.0]]}, None),
    ("F.normalize(x, p=0.5)", {"x": [[1.0, 0.0], [0.0, 0.0]]}, None),
    ("F.normalize(x, eps=5.0)", {"x": [[3.0, 4.0], [3.0, 3.0]]}, None),
    ("F.normalize(x)", {"x": [[inf, 1.0], [nan, 1.0]]}, None),
    ("renorm(x, 2, 0, 5.0)", {"x": ROWS}, None),
    ("renorm(x, 2, 0, 1.0)", {"x": ROWS}, None),
    ("renorm(x, inf, 1, 2.0)", {"x": [[2.0, -3.0], [1.0, 3.0]]}, None),
    ("x.renorm(1, -1, 0)", {"x": MATRIX}, None),
    ("F.layer_norm(x, (2,))", {"x": [[1.0, 1.0], [0.0, inf]]}, [[1.0, 2.0], [1.0, 1.0]]),
    ("torch.layer_norm(x, [3])", {"x": MATRIX}, [[1.0, 2.0, 0.0], [1.0, 0.0, 0.0]]),
    ("torch.rms_norm(x, (2,))", {"x": ROWS}, None),
    ("F.rms_norm(x, (2,), w, 0.5)", {"x": ROWS, "w": [inf, -1.0]}, None),
    (
        "F.batch_norm(x, None, None, w, b, True)",
        {"x": ROWS, "w": [0.0, 2.0], "b": [1.0, 2.0]},
        None,
    ),
    ("F.batch_norm(x, tensor([0.0, 1.0]), tensor([0.0, 4.0]))", {"x": ROWS}, None),
    ("F.instance_norm(x)", {"x": IMAGE}, [[[1.0, 2.0], [1.0, 0.0]], [[3.0, 0.0], [0.0, 1.0]]]),
    ("F.group_norm(x, 2)", {"x": IMAGE}, [[[1.0, 2.0], [1.0, 0.0]], [[3.0, 0.0], [0.0, 1.0]]]),
    ("torch.group_norm(x, 1, w)", {"x": IMAGE, "w": [2.0, 0.0]}, IMAGE),
    ("F.local_response_norm(x, 2, alpha=1.0, beta=0.5, k=0.0)", {"x": IMAGE}, None),
    ("F.local_response_norm(x, 5)", {"x": IMAGE}, None),
    ("F.local_response_norm(x, 2)", {"x": np.zeros((2, 0, 3))}, None),
    ("native_layer_norm(x, (3,), None, None, 0.1)[0]", {"x": MATRIX}, MATRIX),
]

PAIR = {"a": [0.0, 1.0, -1.0, 3.0, inf, nan, 2.0], "b": [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, inf]}
LOSSES = [
    *(
        (f"F.{call}", PAIR, None)
        for call in (
            "smooth_l1_loss(a, b)",
            "smooth_l1_loss(a, b, reduction='sum')",
            "smooth_l1_loss(a, b, reduction='sum', beta=2.0)",
            "smooth_l1_loss(a, b, beta=0, reduction='sum')",
            "huber_loss(a, b, reduction='sum')",
            "huber_loss(a, b, reduction='sum', delta=2.0)",
            "huber_loss(a, b, delta=inf)",
            "hinge_embedding_loss(a, b, reduction='sum')",
            "kl_div(a, b, reduction='sum')",
            "kl_div(a, b, reduction='sum', log_target=True)",
            "poisson_nll_loss(a, b, reduction='sum')",
            "poisson_nll_loss(a, b, log_input=False, full=True, reduction='sum')",
        )
    ),
    (
        "F.hinge_embedding_loss(a, b, reduction='sum')",
        {"a": [1.0, 1.0, 2.0], "b": [-1.0, 1, 3]},
        None,
    ),
    (
        "F.gaussian_nll_loss(a, b, v)",
        {"a": [1.0, 2.0, 3.0], "b": [1.0, 0.0, 3.0], "v": [0.0, 1e-6, inf]},
        None,
    ),
    ("F.gaussian_nll_loss(a, b, 0.5, full=True)", {"a": [1.0, 2.0], "b": [1.0, 0.0]}, None),
    (
        "F.soft_margin_loss(a, tensor([1, -1, 1, 1, -1]), reduction='sum')",
        {"a": [800.0, 800.0, -800.0, 0.0, nan]},
        None,
    ),
    (
        "F.margin_ranking_loss(a, b, tensor([1, -1, 1]), reduction='sum')",
        {"a": [1.0, 1.0, 0.0], "b": [1.0, 1.0, 2.0]},
        None,
    ),
    ("F.multi_margin_loss(x, tensor([1, 0]))", {"x": CLASSES}, None),
    ("F.multi_margin_loss(x, tensor([1, 0]), p=2, reduction='none')", {"x": CLASSES}, [1.0, 2.0]),
    (
        "F.multi_margin_loss(x, tensor([0, 2]), p=2)",
        {"x": [[inf, 1.0, nan], [1.0, -inf, 1.0]]},
        None,
    ),
    ("F.multilabel_margin_loss(x, tensor([[1, 1, -1], [-1, 0, 0]]))", {"x": CLASSES}, None),
    ("F.multilabel_margin_loss(x, tensor([2, 0, -1]))", {"x": [1.0, 1.0, 2.0]}, None),
    ("F.multilabel_soft_margin_loss(x, t)", {"x": [[800.0, -800.0]], "t": [[0.0, 0.5]]}, None),
    ("F.multilabel_soft_margin_loss(x, t)", {"x": [[1.0]], "t": [1.0, 0.0]}, None),
    (
        "F.multilabel_soft_margin_loss(x, t, w)",
        {"x": [1.0, 2.0], "t": 0.5, "w": [[1.0, 2.0], [3.0, 4.0]]},
        None,
    ),
    (
        "F.multilabel_soft_margin_loss(x, t, reduction='none')",
        {"x": [[1.0], [2.0], [-1.0]], "t": [[[1.0], [0.0], [0.5]]] * 2},
        [[1.0], [2.0]],
    ),
    ("F.ctc_loss(x, tensor([[1, 1], [2, 0]]), (3, 2), (2, 1))", {"x": PATHS}, None),
    (
        "F.ctc_loss(x, tensor([[1, 1], [2, 0]]), (2, 3), (2, 1), reduction='sum')",
        {"x": PATHS},
        None,
    ),
    ("F.ctc_loss(x, tensor([1, 1, 2]), (2, 3), (2, 1), zero_infinity=True)", {"x": PATHS}, None),
    (
        "F.ctc_loss(x, tensor([[1, 1], [2, 0]]), (0, 3), (0, 0), reduction='none')",
        {"x": PATHS},
        [1.0, 2.0],
    ),
    (
        "F.ctc_loss(x, tensor([1, 0]), (3,), (2,), blank=2)",
        {"x": [[-1.0, -2.0, -0.5], [-1.0, -1.5, -0.7], [-0.5, -1.0, -800.0]]},
        None,
    ),
    (
        "F.ctc_loss(x, tensor([[1]]), (2,), (1,))",
        {"x": [[[-1.0, -inf, -0.5]], [[-1.0, -1.5, -inf]]]},
        None,
    ),
]

DISTANCES = [
    *(
        (f"cdist(x, y, {p})", {"x": ROWS, "y": ROWS[:3]}, None)
        for p in (0, 0.5, 1.0, 1.5, 2.0, 3.0, inf)
    ),
    *((f"pdist(x, {p})", {"x": ROWS}, None) for p in (0, 0.5, 1.0, 1.5, 2.0, 3.0, inf)),
    *(
        (f"cdist(x, y, compute_mode='{mode}use_mm_for_euclid_dist')", {"x": x, "y": y}, None)
        for mode in ("", "donot_")
        for x in ([[1.0, inf]], [[inf, inf]], [[nan, 1.0]], [[1.0, 2.0], [inf, 1.0]])
        for y in ([[1.0, 2.0]], [[1.0, -2.0]], [[inf, 2.0]], [[1.0, 2.0], [0.0, -inf]])
    ),
    ("cdist(x, y, inf)", {"x": np.zeros((2, 0)), "y": np.zeros((3, 0))}, None),
    ("cdist(x, y)", {"x": [[1.0, inf], *([k, 1.0] for k in range(25))], "y": [[1.0, 2.0]]}, None),
    ("cdist(x, y)", {"x": [[1.0, inf], *([k, 1.0] for k in range(24))], "y": [[1.0, 2.0]]}, None),
    (
        "F.kl_div(x, y, False, reduction='batchmean')",
        {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [[0.1, 0.2], [0.3, 0.4]]},
        None,
    ),
    *(
        (f"cdist(x, y, p={p})", {"x": [[0.0]], "y": [[size]]}, None)
        for p in (1.5, 2.0, 3.0, 4.0)
        for size in (1e-250, 1e-110, 1e110, 1e250)
    ),
    ("F.pdist(x[:, None])", {"x": [1e200, 1e200, 2.0]}, None),
    ("cdist(x, y, inf)", {"x": [[1.0, 1.0]], "y": [[0.0, 0.0], [2.0, 0.0]]}, None),
    ("pdist(x)", {"x": [[inf, 1.0], [1.0, 1.0], [nan, 0.0]]}, None),
    ("dist(x, y)", {"x": [1.0, 2.0], "y": [1.0, 2.0]}, None),
    ("dist(x, y, inf)", {"x": [1.0, 2.0], "y": [0.0, 1.0]}, None),
    ("pairwise_distance(x, y, eps=0.0)", {"x": ROWS, "y": [0.0, 0.0]}, None),
    ("pairwise_distance(x, x)", {"x": ROWS}, None),
    ("F.pairwise_distance(x, y, p=inf, keepdim=True)", {"x": ROWS, "y": [1.0, 1.0]}, None),
    ("cosine_similarity(x, y)", {"x": ROWS, "y": [[1.0, 0.0]] * 4}, None),
    ("F.cosine_similarity(x, y, dim=0, eps=10.0)", {"x": [3.0, 4.0], "y": [0.0, 1.0]}, None),
    ("cosine_similarity(x, y)", {"x": [1.0, 2.0], "y": ROWS}, None),
    ("cosine_similarity(x, y, 1, 1.0)", {"x": [[0.7], [0.1]], "y": [[1.0, 0.0, 2.0]] * 2}, None),
    ("F.cosine_similarity(x, y, -1)", {"x": [inf, 1.0], "y": [nan, 1.0]}, None),
    ("F.lp_pool1d(x, 2.0, 2)", {"x": [[1.0, -2.0, 3.0, 0.5]]}, None),
    ("F.lp_pool2d(x, 3.0, 2)", {"x": [[[1.0, 2.0], [3.0, 0.5]]]}, None),
    ("F.cosine_embedding_loss(x, y, tensor([1, -1, 1, 0]))", {"x": ROWS, "y": ROWS[::-1]}, None),
    ("F.cosine_embedding_loss(x, y, tensor(-1), 1.0)", {"x": [2.0, 0.0], "y": [1.0, 0.0]}, None),
    ("F.triplet_margin_loss(x, y, z)", {"x": ROWS, "y": ROWS, "z": ROWS[::-1]}, None),
    ("F.triplet_margin_loss(x, y, z, swap=True, eps=0.0)", {"x": ROWS, "y": ROWS, "z": ROWS}, None),
    ("F.triplet_margin_with_distance_loss(x, y, z)", {"x": ROWS, "y": ROWS[::-1], "z": ROWS}, None),
]

HOLES = [[nan, 1.0], [1.0, 2.0], [inf, 0.0], [1.0, 2.0], [0.0, -inf]]
ODD = [
    ("scaled_dot_product_attention(x, x, x)", {"x": [[40.0, 3.0], [-50.0, 60.0]]}, None),
    *((f"cdist(x, y, {p})", {"x": HOLES[:2], "y": HOLES[1:]}, None) for p in (0, 1.0, 2.0, inf)),
    *((f"pdist(x, {p})", {"x": HOLES}, None) for p in (0, 1.0, 2.0, inf)),
    *((f"renorm(x, {p}, 0, 1.5)", {"x": HOLES}, None) for p in (1, 2, inf)),
    *(
        (f"F.{loss}", {"x": CLASSES}, seed)
        for loss in (
            "multi_margin_loss(x, tensor([1, 0]))",
            "multi_margin_loss(x, tensor([1, 0]), p=2)",
            "multilabel_margin_loss(x, tensor([[1, 1, -1], [-1, 0, 0]]))",
        )
        for seed in (inf, nan, 0.0)
    ),
    *(
        ("F.binary_cross_entropy_with_logits(x, t)", {"x": [x, 1.0], "t": [0.0, 0.5]}, seed)
        for x in (0.0, 800.0, inf, -inf, nan)
        for seed in (1.0, inf, nan)
    ),
]
NUMBERS = {"a": [[0.1, 0.7]], "b": [[0.3, 0.4]]}
IN_TORCH = [
    ("torch.dropout(a, 0.5, False) * b", NUMBERS, None),
    ("torch.adaptive_max_pool1d(a, 1)[0] * b", NUMBERS, None),
]

# two positions of two samples, or of one, with two features, each a head of its own
HEADS = "F.multi_head_attention_forward(x, x, x, 2, 2, w, None, None, None, False, 0.0, w[:2], None"
PROJECTION = [[1.0, 0.5], [-0.5, 1.0], [0.25, 2.0], [1.5, -1.0], [0.5, 0.5], [-1.0, 1.0]]
SAMPLES = [[[0.5, 1.0], [2.0, -1.0]], [[1.5, 0.25], [-0.5, 1.0]]]
SHOWN = "tensor([[[0.5, -1.0], [2.0, 0.0]]]).expand(4, -1, -1)"  # what is added, for each head
LEFT_OUT = "tensor([[False, True], [False, False]])"
ATTENTION = [
    *(
        (f"{HEADS}, training=False, {how})[0]", {"x": x, "w": PROJECTION}, None)
        for x, masks in (
            (
                SAMPLES[0],
                (
                    "",
                    "attn_mask=tensor([[0.5, -1.0], [2.0, 0.0]])",
                    "attn_mask=tensor([[0.5, -1.0], [2.0, 0.0]]), need_weights=False",
                ),
            ),
            (
                SAMPLES,
                (
                    f"attn_mask={SHOWN}",
                    f"attn_mask={SHOWN}, need_weights=False",
                    f"key_padding_mask={LEFT_OUT}",
                    f"key_padding_mask={LEFT_OUT}, attn_mask={SHOWN} > 1",
                    f"key_padding_mask={LEFT_OUT}, attn_mask=tensor([[0, 1], [0, 0]]) > 0",
                    "attn_mask=tensor([[0, 1], [0, 0]]) > 0, is_causal=True",
                ),
            ),
        )
        for how in masks
    ),
]

CASES = [*ACTIVATIONS, *NORMALISATION, *LOSSES, *DISTANCES, *ODD, *IN_TORCH, *ATTENTION]
