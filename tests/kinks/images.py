"""Convolution, pooling, padding, resampling and attention where they are ugly."""

inf, nan = float("inf"), float("nan")
ROW = {"x": [[[1.0, 3.0, 3.0, 2.0, 3.0]]]}
FLAT = {"x": [[[2.0, 2.0, 2.0, 2.0]]]}
NAN = {"x": [[[1.0, nan, 2.0, nan, 0.0]]]}
INF = {"x": [[[1.0, inf, -inf, 2.0, 0.0]]]}
LOW = {"x": [[[-inf, -inf, -inf, -inf]]]}
IMAGE = {"x": [[[[1.0, 1.0, 0.0], [1.0, -0.0, 0.0], [2.0, 2.0, 2.0]]]]}
HOLES = {"x": [[[[nan, 1.0, inf], [1.0, nan, 0.0], [-inf, 2.0, 2.0]]]]}
KERNEL = {"w": [[[1.0, -2.0]]]}
KERNEL2 = {"w": [[[[1.0, 0.0], [0.0, -1.0]]]]}
QUERY = {"q": [[1.0, 2.0], [0.5, -1.0]], "k": [[1.0, 0.0], [1.0, 0.0]], "v": [[1.0], [3.0]]}
SQUARE = {"x": [[[[1.0, 2.0, -1.0], [0.5, 4.0, 3.0], [2.0, -2.0, 1.0]]]]}
PLACES = {"p": [[[[-1.0, -1.0], [0.0, 0.0], [1.0, 0.5], [-2.0, 0.25], [5.0, -3.0], [1 / 3, -0.5]]]]}
CUBE = {"x": [[[[[1.0, 2.0], [3.0, 5.0]], [[0.0, -1.0], [2.0, 4.0]]]]]}
PLACES3 = {"p": [[[[[-1.0, 0.0, 1.0], [0.0, 0.5, -3.0], [2.0, 0.0, 0.0]]]]]}
LOST = [[[[[nan, 0.0, 0.5], [0.3, inf, 0.2], [-0.4, 0.1, -inf], [0.1, 0.2, 1.0]]]]]
ATTENTION = "scaled_dot_product_attention(q, k, v"

CASES = [
    # the first of equal elements takes all; a nan beats everything, the last nan among them
    *((f"max_pool1d(x, {how})", x, None) for x in (ROW, FLAT, NAN, INF, LOW) for how in (
        "2", "3", "2, stride=1", "3, stride=1, padding=1", "2, 2, 1, 1, True", "2, 1, 1, 2",
    )),
    *((f"max_pool2d(x, {how})", x, None) for x in (IMAGE, HOLES) for how in (
        "2", "2, stride=1", "2, stride=2, padding=1", "3, stride=2, padding=1, ceil_mode=True",
    )),
    *((f"adaptive_max_pool1d(x, {n})", x, None) for x in (ROW, NAN, INF) for n in (1, 2, 3)),
    ("adaptive_max_pool2d(x, 2)", IMAGE, None),
    ("adaptive_max_pool2d(x, 2)", HOLES, None),
    # averages, whose windows may hang over
    *((f"avg_pool1d(x, {how})", x, None) for x in (ROW, NAN, INF) for how in (
        "2", "3, 2, 1", "3, 2, 1, True", "3, 2, 1, True, False",
    )),
    ("avg_pool2d(x, 2, divisor_override=3)", IMAGE, None),
    ("avg_pool2d(x, 2, 2, 1, count_include_pad=False)", HOLES, None),
    *((f"adaptive_avg_pool1d(x, {n})", x, None) for x in (ROW, INF) for n in (1, 2, 3, 7)),
    ("adaptive_avg_pool2d(x, (2, 1))", HOLES, None),
    # edges
    ("pad(x, (1, 2), value=inf)", ROW, None),
    ("pad(x, (1, 2), value=nan)", ROW, None),
    ("pad(x, (-1, -2))", INF, None),
    ("pad(x, (-3, -2))", ROW, None),
    ("pad(x, (4, 4), mode='reflect')", ROW, None),
    ("pad(x, (-4, 3), mode='replicate')", NAN, None),
    ("pad(x, (5, 5), mode='circular')", INF, None),
    ("pad(x, (-1, 2), mode='circular')", ROW, None),
    ("pad(x, (2, 1, 1, 2), mode='reflect')", HOLES, None),
    ("pad(x, (0, 0))", ROW, None),
    # resampling: a weight of 0 times inf is nan
    *((f"interpolate(x, {how})", x, None) for x in (ROW, INF) for how in (
        "3", "8", "scale_factor=1.7", "7, mode='nearest-exact'", "3, mode='area'",
        "7, mode='linear'", "7, mode='linear', align_corners=True",
    )),
    ("interpolate(x, 1, mode='linear', align_corners=True)", ROW, None),
    ("interpolate(x, (4, 5), mode='bicubic')", IMAGE, None),
    ("interpolate(x, (2, 2), mode='bilinear', antialias=True)", IMAGE, None),
    ("interpolate(x, (2, 2), mode='bicubic', antialias=True)", IMAGE, None),
    (
        "interpolate(x, (1, 3), mode='bilinear', antialias=True)",
        {"x": [[[[1.0, inf, 3.0, 4.0, 5.0]]]]},
        None,
    ),
    # zeros around times inf
    ("conv1d(x, w)", ROW | KERNEL, None),
    ("conv1d(x, w, padding=1)", INF | KERNEL, None),
    ("conv1d(x, w, padding='same')", NAN | KERNEL, None),
    ("conv1d(x, w, stride=3)", ROW | KERNEL, None),
    ("conv1d(x, w, dilation=4)", ROW | KERNEL, None),
    ("conv1d(x, w)", ROW | {"w": [[[inf, nan]]]}, None),
    ("conv2d(x, w, padding=1)", IMAGE | KERNEL2, None),
    ("conv2d(x, w)", HOLES | KERNEL2, None),
    ("conv_transpose1d(x, w, stride=2, padding=1, output_padding=1)", ROW | KERNEL, None),
    ("conv_transpose1d(x, w, dilation=3, output_padding=2)", INF | KERNEL, None),
    ("conv_transpose2d(x, w, stride=2)", IMAGE | KERNEL2, None),
    ("F.unfold(x, 2, padding=1)", HOLES, None),
    ("fold(F.unfold(x, 2), (3, 3), 2)", IMAGE, None),
    # rows that see nothing are 0
    (ATTENTION + ")", QUERY, None),
    (ATTENTION + ", is_causal=True)", QUERY, None),
    (ATTENTION + ", tensor([[False, False], [True, False]]))", QUERY, None),
    (ATTENTION + ", tensor([[-inf, -inf], [0.0, -inf]]))", QUERY, None),
    (ATTENTION + ", m)", QUERY | {"m": [[-inf, 0.0], [-inf, -inf]]}, None),
    (ATTENTION + ", scale=0.0)", QUERY, None),
    (ATTENTION + ")", QUERY | {"k": [[1.0, -inf], [3.0, -inf]], "q": [[1.0, 2.0]]}, None),
    (ATTENTION + ")", QUERY | {"k": [[1.0, 0.5], [3.0, inf]], "q": [[1.0, -2.0]]}, None),
    # places on elements, between them at the edge, outside, and turned back
    *((f"grid_sample(x, p, '{mode}', '{padding}', {corners})", SQUARE | PLACES, None)
      for mode in ("bilinear", "nearest", "bicubic")
      for padding in ("zeros", "border", "reflection") for corners in (True, False)),
    *((f"grid_sample(x, p, '{mode}', '{padding}', True)", CUBE | PLACES3, None)
      for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")),
    *((f"grid_sample(x, p, '{mode}', '{padding}', {corners})", CUBE | {"p": LOST}, None)
      for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")
      for corners in (True, False)),
    ("grid_sample(x, p, align_corners=True)", SQUARE | {"p": [[[[nan, 0.0], [inf, 0.0]]]]}, None),
]  # fmt: skip
