"""Distances between vectors, and losses based on them."""

from functools import cache
from math import inf, nan

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, shapes
from ..lazy import np
from .arithmetic import abs, sign
from .bounds import NOT_NEGATIVE
from .comparisons import minimum, where
from .families import composite, one_of, reduction, require, shorthand
from .guards import unless
from .leaves import Array
from .losses import SINGLE_EPS, clamp_with_gradient, loss, reduced
from .norms import norm_by_powers, vector_norm
from .pointwise import F

# ---- norms of a difference -----------------------------------------------------------------------


def _unless_nan(x, value):
    return unless(x.ne(x), value, instead=nan)


def _norm_inf(x, axis, keepdims, *, skip_nan):
    largest = np.fmax if skip_nan else np.maximum
    return largest.reduce(np.abs(x), axis=axis, keepdims=keepdims, initial=0)


def _largest_length(x, *, dim, keepdim, skip_nan):
    lengths = abs(x)  # the maximum of an empty tensor is 0
    return (
        lengths.amax(dim=dim, keepdim=keepdim) if x.numel else lengths.sum(dim=dim, keepdim=keepdim)
    )


@reduction(
    _norm_inf,
    symbolic=lambda sp, *xs, skip_nan: vector_norm.symbolic(sp, *xs, ord=inf),
    expand=_largest_length,
    torch=None,
    examples=(("norm_inf(x, dim=1)", "x=2x3"),),
    method=False,
)
def norm_inf(g, y, x, dim, *, skip_nan=False):
    """norm(x, inf) along dim; each tied element receives the whole gradient."""
    return _unless_nan(y - abs(x), g * sign(x) * abs(x).eq(y))


@reduction(
    lambda x, axis, keepdims: np.sum(np.abs(x), axis=axis, keepdims=keepdims),
    symbolic=lambda sp, *xs: vector_norm.symbolic(sp, *xs, ord=1),
    expand=lambda x, *, dim, keepdim: abs(x).sum(dim=dim, keepdim=keepdim),
    torch=None,
    examples=(("norm_1(x, dim=1)", "x=2x3"),),
    method=False,
)
def norm_1(g, y, x, dim):
    """norm(x, 1) along dim, with a gradient of nan at nan, where abs has 0."""
    return _unless_nan(x, g * sign(x))


def _norm_p_rule(g, y, x, *, p):
    """The gradient of norm_p, with operations in PyTorch's order; 0 at distance 0, even if g is inf
    or nan.
    """
    y, g = y.unsqueeze(dim=-1), g.unsqueeze(dim=-1)
    none = y.eq(0) | x.eq(0) if p < 1 else y.eq(0)
    if p == 2:
        return where(none, 0, g * x / y)
    if p < 2:
        return where(none, 0, sign(x) * abs(x) ** (p - 1) * g / y ** (p - 1))
    return where(none, 0, x * abs(x) ** (p - 2) * g / y ** (p - 1))


@composite(
    rule=_norm_p_rule,
    shape=lambda s, *, p: s[:-1],
    rows=lambda s, *, p: (len(s) > 1,),
    dtype="float",
    value=lambda x, *, p: norm_by_powers(x, -1, False, ord=p),
    workspace=lambda out, s, *, p: shapes.numel(s),  # of the powers
    method=True,
    examples=(("norm_p(x)", "x=2x3"), ("norm_p(x, p=3.0)", "x=2x3")),
    torch=None,
)
def norm_p(x, *, p=2):
    """norm(x, p, dim=-1), with a gradient of 0 at the zero vector, even if g is inf or nan."""
    return vector_norm(x, dim=-1, ord=p)


def _norm(x, p, *, skip_nan=False):
    """The p-norm along the last dimension, as in cdist and pdist; the maximum of cdist ignores nan,
    that of pdist propagates it.
    """
    if not p >= 0:
        raise GradcliError("arguments", f"p of a distance must be at least 0, got {p}")
    if p == 0:
        return abs(x).ceil().clamp(max=1).sum(dim=-1)
    if p == 1:
        return norm_1(x, dim=-1)
    return norm_inf(x, dim=-1, skip_nan=skip_nan) if p == inf else norm_p(x, p=p)


EUCLID = "use_mm_for_euclid_dist"
IF_LARGE = f"{EUCLID}_if_necessary"
COMPUTE_MODES = IF_LARGE, EUCLID, f"donot_{EUCLID}"
LARGE = 25  # rows above which PyTorch uses matrix products
MOST_ROWS = 6_000  # most rows whose pairs are enumerated: 18 million pairs
NOT_AGAIN = "the derivative for '{}' is not implemented."
COINCIDENT = (
    "no derivative where points coincide (for p <= 1 in any coordinate), nor for p=inf at ties: "
    "PyTorch takes 0, and gives each of the ties the whole gradient"
)


def _multiplied(x1, x2, p, compute_mode):
    """Whether PyTorch computes distances from products of matrices."""
    large = max(x1.shape[-2], x2.shape[-2]) > LARGE
    return p == 2 and (compute_mode == EUCLID or (large and compute_mode == IF_LARGE))


def _cdist_once(x1, x2, **how):
    return None if _multiplied(x1, x2, **how) else NOT_AGAIN.format("_cdist_backward")


def _differences(x1, x2):
    return x1.unsqueeze(dim=-2) - x2.unsqueeze(dim=-3)


def _corner(y, differences, p):
    return vector_norm.kink(y, differences, dim=-1, keepdim=False, ord=p)


@composite(
    order="x1 x2 p compute_mode",
    caveat=COINCIDENT,
    kink=lambda y, x1, x2, *, p, **_: _corner(y, _differences(x1, x2), p),
    examples=(("cdist(a, b)", "a=2x3,b=4x3"), ("cdist(a, b, p=1.0)", "a=2x3,b=2x3")),
    saved=("x1", "x2", "output", INTERMEDIATE),
    once_differentiable=_cdist_once,
    canonical_attributes=one_of(compute_mode=COMPUTE_MODES),
    bounds=NOT_NEGATIVE,
    input_dtypes="floats of one dtype",
)
def cdist(x1, x2, *, p=2.0, compute_mode=IF_LARGE):
    """The distance of each row of x1 from each row of x2."""
    if min(x1.ndim, x2.ndim) < 2:
        raise GradcliError("shape", "cdist() needs tensors of at least two dimensions")
    have, want = x1.shape[-1], x2.shape[-1]
    if have != want:
        raise shapes.Conflict(
            f"cdist() needs rows of equal size, got {have} and {want}", have, want
        )
    differences = _differences(x1, x2)
    if _multiplied(x1, x2, p, compute_mode):
        differences = _nan_where_products_overflow(differences, x1, x2)
    return _norm(differences, p, skip_nan=True)


def _nan_where_products_overflow(differences, x1, x2):
    """The differences, or nan where x1 @ x1 + x2 @ x2 - 2 * x1 @ x2 is inf - inf, as in PyTorch."""
    infinite = ~(x1 @ x2.mT).lt(inf)
    return unless(infinite.unsqueeze(dim=-1), differences, instead=nan)


@cache
def _pairs(count):
    """The row indices (i, j) of all pairs i < j below `count`."""
    if count > MOST_ROWS:
        raise GradcliError("limit", f"pdist() of {count:,} rows has too many pairs")
    return [Array(place) for place in np.triu_indices(count, 1)]


def _of_pairs(input):
    first, second = _pairs(input.shape[0])
    return input[first] - input[second]


def _all_pairs(s, **_):
    if len(s) != 2:
        raise GradcliError("shape", f"pdist() needs a matrix, not shape {shapes.text(s)}")
    return (s[0] * (s[0] - 1) // 2,)


@composite(
    shape=_all_pairs,
    dtype="float",
    torch=F + "pdist",
    caveat=COINCIDENT,
    kink=lambda y, input, *, p: _corner(y, _of_pairs(input), p),
    examples=(("pdist(x)", "x=4x3"), ("pdist(x, p=3.0)", "x=3x2")),
    saved=("input", "output"),
    once_differentiable=NOT_AGAIN.format("_pdist_backward"),
    input_dtypes="floats",
)
def pdist(input, *, p=2.0):
    """The distance of each row from each row after it."""
    return _norm(_of_pairs(input), p)


@shorthand(input_dtypes="floats, no masks")
def dist(input, other, p=2):
    """The p-norm of input - other over all elements."""
    return vector_norm(input - other, ord=p)


@composite(
    order="x1 x2 p eps keepdim",
    torch=F + "pairwise_distance",
    examples=(
        ("pairwise_distance(a, b)", "a=2x3,b=2x3"),
        ("pairwise_distance(a, b, p=1.0, keepdim=True)", "a=2x3,b=3"),
    ),
    bounds=NOT_NEGATIVE,
    input_dtypes="no masks",
    saved=(..., INTERMEDIATE),
)
def pairwise_distance(x1, x2, *, p=2.0, eps=1e-06, keepdim=False):
    """The length of x1 - x2 + eps along the last dimension."""
    return vector_norm(x1 - x2 + eps, ord=p, dim=-1, keepdim=keepdim)


def _broadcast_both(x1, x2):
    shape = shapes.broadcast(x1.shape, x2.shape)
    return x1.expand(shape=shape), x2.expand(shape=shape)


def _has_clamped_norm(y, x1, x2, *, dim, eps):
    return tuple(vector_norm(x, dim=dim) <= eps for x in _broadcast_both(x1, x2))


@composite(
    torch=F + "cosine_similarity",
    order="x1 x2 dim eps",
    typical_same_shape=("x1", "x2"),
    examples=(
        ("cosine_similarity(a, b)", "a=2x3,b=2x3"),
        ("cosine_similarity(a, b, dim=0)", "a=3,b=3"),
    ),
    kink=_has_clamped_norm,
    caveat="the gradient flows through a length below eps as if it were not clamped",
    input_dtypes="floats",
    saved=(..., INTERMEDIATE),
    exact="all",
)
def cosine_similarity(x1, x2, *, dim=1, eps=1e-08):
    """The cosine of the angle between vectors along dim, with lengths clamped to at least eps."""
    require(eps >= 0, f"eps of cosine_similarity() must be at least 0, got {eps}")
    directions = []
    for x in _broadcast_both(x1, x2):
        length = clamp_with_gradient(vector_norm(x, dim=dim, keepdim=True), min=eps)
        directions.append(x / length)
    return (directions[0] * directions[1]).sum(dim=dim)


# ---- losses --------------------------------------------------------------------------------------


@loss(
    typical_same_shape=("input1", "input2"),
    order="input1 input2 target margin size_average reduce reduction",
    examples=(
        ("cosine_embedding_loss(a, b, tensor([1, -1]))", "a=2x3,b=2x3"),
        ("cosine_embedding_loss(a, b, tensor([-1, 1]), margin=-1.0)", "a=2x3,b=2x3"),
    ),
    saved=(..., INTERMEDIATE),
)
def cosine_embedding_loss(input1, input2, target, *, margin=0.0, reduction="mean"):
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1, reduced."""
    if target.ndim > 1 or not input1.ndim == input2.ndim == target.ndim + 1:
        raise GradcliError(
            "shape", "cosine_embedding_loss() needs two vectors, or two matrices and a vector"
        )
    dim = target.ndim
    first, second = ((x * x).sum(dim=dim) + SINGLE_EPS for x in (input1, input2))
    cosine = (input1 * input2).sum(dim=dim) / (first * second).sqrt()
    of_positives = where(target.eq(1), 1 - cosine, 0)
    of_negatives = where(target.eq(-1), (cosine - margin).clamp(min=0), 0)
    return reduced(of_positives + of_negatives, reduction)


@loss(
    typical_same_shape=("anchor", "positive", "negative"),
    order="anchor positive negative margin p eps swap size_average reduce reduction",
    examples=(
        ("triplet_margin_loss(a, b, c)", "a=2x3,b=2x3,c=2x3"),
        ("triplet_margin_loss(a, b, c, p=1, swap=True)", "a=2x3,b=2x3,c=2x3"),
    ),
    input_dtypes="no masks",
    saved=(..., INTERMEDIATE),
)
def triplet_margin_loss(
    anchor, positive, negative, *, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction="mean"
):
    """max(0, margin + distance(anchor, positive) - distance(anchor, negative)), reduced."""
    if margin <= 0:
        raise GradcliError("arguments", f"margin must be positive, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise GradcliError(
            "shape", "triplet_margin_loss() needs tensors with the same number of dimensions"
        )
    near = pairwise_distance(anchor, positive, p=p, eps=eps)
    far = pairwise_distance(anchor, negative, p=p, eps=eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p=p, eps=eps))
    return reduced((margin + near - far).clamp(min=0), reduction)


@shorthand(input_dtypes="no masks")
def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """triplet_margin_loss; distance_function can only be pairwise_distance."""
    if distance_function is not None:
        raise GradcliError(
            "unsupported",
            "distance_function would be a Python function, which gradcli does not run",
            hint="write the loss out: clamp(margin + d(a, p) - d(a, n), min=0).mean()",
        )
    return triplet_margin_loss(
        anchor, positive, negative, margin=margin, swap=swap, reduction=reduction
    )
