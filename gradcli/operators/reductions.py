"""Reductions along dimensions, and running sums."""

import math

from ..errors import GradcliError
from ..graphs import Node, Outputs, as_node, shapes
from ..lazy import np
from . import elements
from .arithmetic import abs, maximum, minimum, same, sign, where
from .families import composite, operator, reduced, reduction, same_with_axis, shorthand
from .leaves import eye, size
from .pointwise import exp

TIE = "ties share the gradient equally"


def _mean(x, axis, keepdims):
    """Without NumPy's warning for a mean of nothing."""
    count = np.float64(shapes.numel([np.shape(x)[d] for d in axis]))
    return np.sum(x, axis=axis, keepdims=keepdims) / count


@reduction(
    lambda x, axis, keepdims: np.sum(x, axis=axis, keepdims=keepdims),
    symbolic=lambda sp, *xs: sp.Add(*xs),
    dtype="number",
    index="sum",
)
def sum(g, y, x, dim):
    """Sum along dim."""
    return g


@reduction(_mean, dtype="float", symbolic=elements.mean, index="mean")
def mean(g, y, x, dim):
    """Average along dim."""
    return g / size(x, dim=dim)


@reduction(dtype="number", symbolic=lambda sp, *xs: sp.Mul(*xs))
def prod(g, y, x, dim):
    """Product along dim; exact where factors are 0."""
    return g * prod_others(x, dim=dim)


def _others(x, *, dim):
    """By division where nothing is 0, as PyTorch: inf and nan come out the same."""
    zeros = np.count_nonzero(x == 0)
    if zeros == 0:
        return np.prod(x, axis=dim, keepdims=True) / x
    if zeros > 1 and len(dim) == x.ndim:
        return np.zeros_like(x)
    return _exclusive_products(x, dim=dim)


def _exclusive_products(x, *, dim):
    """Products of all before times products of all after, so that no division meets a 0."""
    last = tuple(range(-len(dim), 0))
    moved = np.moveaxis(x, dim, last)
    flat = moved.reshape(*moved.shape[: x.ndim - len(dim)], -1)
    before, after = np.ones_like(flat), np.ones_like(flat)
    before[..., 1:] = np.cumprod(flat[..., :-1], axis=-1)
    after[..., :-1] = np.cumprod(flat[..., :0:-1], axis=-1)[..., ::-1]
    return np.moveaxis((before * after).reshape(moved.shape), last, dim)


@composite(
    shape=lambda s, *, dim: s,
    value=_others,
    symbolic=lambda sp, x, *, dim: _exclusive_products(x, dim=dim),
    examples=(("prod_others(x, dim=(1,))", "x=2x3"),),
    torch=None,
)
def prod_others(x, *, dim):
    """For each element, the product of all others along dim."""
    kept = tuple(d for d in range(x.ndim) if d not in dim)
    order = (*kept, *dim)
    n = shapes.numel([x.shape[d] for d in dim])
    rows = x.permute(dims=order).reshape(shape=(*(x.shape[d] for d in kept), 1, n))
    left_out = (
        where(eye(n=n) > 0, 1, rows).prod(dim=-1).reshape(shape=tuple(x.shape[d] for d in order))
    )
    return left_out.permute(dims=tuple(order.index(d) for d in range(x.ndim)))


def _squared_distance(x, axis):
    distance = x - _mean(x, axis, True)
    return np.square(distance, out=distance if distance.ndim else None)


def _variance(x, axis, keepdims, *, correction):
    freedom = shapes.numel([x.shape[d] for d in axis]) - correction
    spread = np.sum(_squared_distance(x, axis), axis=axis, keepdims=keepdims)
    return np.divide(spread, np.float64(freedom if freedom > 0 else 0))


def _slope_of_variance(x, dim, correction):
    count, mean = size(x, dim=dim), x.mean(dim=dim, keepdim=True)
    if shapes.numel([x.shape[d] for d in dim]) <= correction:
        return where(x.eq(mean), math.nan, math.inf)  # as PyTorch
    return 2 / (count - correction if correction else count) * (x - mean)


@reduction(
    _variance,
    symbolic=elements.variance,
    dtype="float",
    order="x dim correction keepdim",
    examples=(("x.var()", "x=2x3"), ("x.var(dim=1, correction=0)", "x=2x3")),
    index=lambda lower, i, x, **attrs: lower.variance(x, **attrs),
)
def var(g, y, x, dim, *, correction=1):
    """Mean squared distance from the mean; divided by n - correction."""
    return g * _slope_of_variance(x, dim, correction)


@reduction(
    lambda x, axis, keepdims, *, correction: np.sqrt(
        _variance(x, axis, keepdims, correction=correction)
    ),
    symbolic=lambda sp, *xs, correction: sp.sqrt(elements.variance(sp, *xs, correction=correction)),
    dtype="float",
    order="x dim correction keepdim",
    kink=lambda y, x, *, dim, keepdim, correction: y.eq(0),
    caveat="no derivative where all are equal: PyTorch takes 0",
    examples=(("x.std()", "x=2x3"), ("x.std(dim=1, correction=0)", "x=2x3")),
    index=lambda lower, i, x, **attrs: lower.variance(x, **attrs).sqrt(),
)
def std(g, y, x, dim, *, correction=1):
    """Square root of the variance."""
    to_variance = where(y.eq(0), 0, g / (y * 2))
    return to_variance * _slope_of_variance(x, dim, correction)


def _shared(g, y, x, dim):
    hit = x.eq(y)
    return g * hit / hit.sum(dim=dim, keepdim=True)


def _tied(y, x, *, dim, keepdim):
    """Whether more than one element along dim is the extreme one."""
    over = shapes.axes(dim, x.ndim)
    kept = tuple(1 if d in over else n for d, n in enumerate(x.shape))
    return (x.eq(y.reshape(shape=kept)).sum(dim=dim, keepdim=keepdim)) > 1


@reduction(
    lambda x, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims),
    symbolic=lambda sp, *xs: elements.extreme(sp, "Max", *xs),
    kink=_tied,
    caveat=TIE,
)
def amax(g, y, x, dim):
    """Largest element along dim."""
    return _shared(g, y, x, dim)


@reduction(
    lambda x, axis, keepdims: np.min(x, axis=axis, keepdims=keepdims),
    symbolic=lambda sp, *xs: elements.extreme(sp, "Min", *xs),
    kink=_tied,
    caveat=TIE,
)
def amin(g, y, x, dim):
    """Smallest element along dim."""
    return _shared(g, y, x, dim)


def _index_of(ufunc):
    def find(x, *, dim, keepdim):
        return np.asarray(getattr(np, ufunc)(x, axis=dim, keepdims=keepdim))

    return find


@operator(
    shape=reduced,
    value=_index_of("argmax"),
    symbolic=elements.place_along("Max"),
    dtype="int",
    examples=(("x * x.argmax(dim=1, keepdim=True)", "x=2x3"),),
    method=True,
)
def argmax(g, y, x, *, dim=None, keepdim=False):
    """Where the largest element along dim stands; no gradient."""
    return None


@operator(
    shape=reduced,
    value=_index_of("argmin"),
    symbolic=elements.place_along("Min"),
    dtype="int",
    examples=(("x * x.argmin(dim=1, keepdim=True)", "x=2x3"),),
    method=True,
)
def argmin(g, y, x, *, dim=None, keepdim=False):
    """Where the smallest element along dim stands; no gradient."""
    return None


def _values(name, place, symbol):
    def meaning(x, *, dim, keepdim=False):
        if x.ndim == 0:
            return x * 1.0
        taken = x.gather(dim=dim, index=place(x, dim=dim, keepdim=True))
        return taken if keepdim else taken.squeeze(dim=dim)

    meaning.__name__, meaning.__doc__ = f"{name}_values", f"The values of {name}(x, dim)."
    return composite(
        value=lambda x, *, dim, keepdim: getattr(np, name)(x, axis=dim, keepdims=keepdim),
        shape=reduced,
        kink=_tied,
        symbolic=elements.extreme_along(symbol),
        caveat="of equal elements the first takes the whole gradient",
        spelling=f"{name}({{0}}, dim={{dim}}, keepdim={{keepdim}}).values",
        examples=((f"{name}(x, dim=1).values", "x=2x3"), (f"x.{name}(0)[0]", "x=2x3")),
        torch=f"torch.{name}",
    )(meaning)


max_values = _values("max", argmax, "Max")
min_values = _values("min", argmin, "Min")


def _extreme(whole, between, values, place, input, second, keepdim):
    if second is None:
        return whole(input)
    if isinstance(second, Node | float):
        return between(input, second)
    return Outputs(
        (values(input, dim=second, keepdim=keepdim), place(input, dim=second, keepdim=keepdim)),
        ("values", "indices"),
    )


def _hit(g, y, x):
    hit = same(x, y)
    return where(hit, g / hit.sum(), 0)


def _of_all(name, along, sentence):
    def meaning(x):
        return getattr(x, along)()

    meaning.__name__, meaning.__doc__ = f"{name}_all", sentence
    examples = ((f"{name}(x)", "x=2x3"), (f"x.{name}()", "x=3"))
    return composite(
        rule=_hit, spelling=f"{name}({{0}})", torch=f"torch.{name}", caveat=TIE, examples=examples,
        kink=lambda y, x: x.eq(y).sum() > 1,
    )(meaning)  # fmt: skip


max_all = _of_all("max", "amax", "Largest of all elements.")
min_all = _of_all("min", "amin", "Smallest of all elements.")


@shorthand()
def max(input, dim=None, keepdim=False, *, other=None):
    """Of all elements; along dim, with values and indices; or the larger of two tensors."""
    return _extreme(
        max_all,
        maximum,
        max_values,
        argmax,
        as_node(input),
        dim if other is None else other,
        keepdim,
    )


@shorthand()
def min(input, dim=None, keepdim=False, *, other=None):
    """Of all elements; along dim, with values and indices; or the smaller of two tensors."""
    return _extreme(
        min_all,
        minimum,
        min_values,
        argmin,
        as_node(input),
        dim if other is None else other,
        keepdim,
    )


def _logsumexp(x, axis, keepdims):
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis=axis)


@reduction(
    _logsumexp,
    dtype="float",
    expand=lambda x, *, dim, keepdim: exp(x).sum(dim=dim, keepdim=keepdim).log(),
    examples=(("x.logsumexp(dim=1)", "x=2x3"), ("logsumexp(x, (0, 1))", "x=2x3")),
)
def logsumexp(g, y, x, dim):
    """log of the sum of exp(x) along dim, computed without overflow."""
    return g * exp(x - y)


def _norm(x, axis, keepdims, *, p):
    if math.isinf(p):
        return (
            np.max(np.abs(x), axis=axis, keepdims=keepdims)
            if p > 0
            else np.min(np.abs(x), axis=axis, keepdims=keepdims)
        )
    if p == 0:
        return np.sum(np.not_equal(x, 0).astype(float), axis=axis, keepdims=keepdims)
    if p == 2:
        return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))
    return np.power(np.sum(np.power(np.abs(x), p), axis=axis, keepdims=keepdims), 1 / p)


def _norm_meaning(x, *, dim, keepdim, p):
    if p == math.inf:
        return abs(x).amax(dim=dim, keepdim=keepdim)
    if p == -math.inf:
        return abs(x).amin(dim=dim, keepdim=keepdim)
    if p == 2:
        return (x * x).sum(dim=dim, keepdim=keepdim).sqrt()
    return (abs(x) ** p).sum(dim=dim, keepdim=keepdim) ** (1 / p)


@reduction(
    _norm,
    symbolic=elements.norm,
    dtype="float",
    expand=_norm_meaning,
    aliases=("vector_norm",),
    kink=lambda y, x, *, dim, keepdim, p: y.eq(0),
    caveat="no derivative at the zero vector: PyTorch takes 0",
    torch="torch.linalg.vector_norm",
    order="x p dim keepdim",
    spelling="{0}.norm({p}, dim={dim}, keepdim={keepdim})",
    examples=(
        ("x.norm()", "x=2x3"),
        ("norm(x, 1, dim=1)", "x=2x3"),
        ("norm(x, inf)", "x=2x3"),
        ("norm(x, 3, dim=0)", "x=2x3"),
    ),
)
def vector_norm(g, y, x, dim, *, p=2):
    """(sum of |x|**p) ** (1/p); the Euclidean length for p = 2."""
    if p == 0:
        return None
    if p == 1:
        return g * sign(x)
    if p == 2:
        return g * where(y.eq(0), 0, x / y)
    if math.isinf(p):
        hit = same(abs(x), y)
        return sign(x) * (g / hit.sum(dim=dim, keepdim=True) * hit)
    if p < 1:
        return sign(x) * where(x.eq(0), 0, abs(x) ** (p - 1)) * g * y ** (1 - p)
    scale = where(y.eq(0), 0, g / y ** (p - 1))
    return (sign(x) * abs(x) ** (p - 1) if p < 2 else x * abs(x) ** (p - 2)) * scale


@shorthand()
def norm(input, p=2, dim=None, keepdim=False, *, ord=None):
    """The length of a vector; of a matrix's elements, as torch.norm."""
    order = p if ord is None else ord
    if order in ("fro", None):
        order = 2
    if not isinstance(order, int | float):
        raise GradcliError(
            "arguments",
            f"the norm {order!r} is not one of a vector",
            hint="p is a number, inf or 'fro'",
        )
    return vector_norm(input, dim=dim, keepdim=keepdim, p=order)


@operator(
    shape=same_with_axis,
    dtype="number",
    value=lambda x, *, dim: np.cumsum(x, axis=dim) if np.ndim(x) else x,
    method=True,
    examples=(("x.cumsum(dim=1)", "x=2x3"), ("cumsum(x, 0)", "x=3")),
    index=lambda lower, i, x, *, dim: lower.running(i, x, dim),
)
def cumsum(g, y, x, *, dim):
    """Running sum along dim."""
    return g.flip(dims=(dim,)).cumsum(dim=dim).flip(dims=(dim,)) if x.ndim else g
