"""Reductions along dimensions."""

from ..errors import GradcliError
from ..graphs import Node, Outputs, as_node, shapes
from ..graphs.arguments import REQUIRED
from ..lazy import np
from . import elements
from .bounds import summed, unchanged
from .comparisons import maximum, minimum, same, where
from .families import (
    composite,
    flops_per_element,
    named,
    operator,
    reduced_nonempty,
    reduction,
    shorthand,
)
from .guards import otherwise, unless
from .joining import cat
from .leaves import ones, size
from .permuting import permuted
from .pointwise import exp
from .sum_kernels import largest, total

TIE = "ties share the gradient equally"
FIRST = "of equal elements it is the index of the first"


def average(x, axis, keepdims):
    """np.mean without NumPy's warning for empty slices."""
    count = np.float64(shapes.numel([np.shape(x)[d] for d in axis]))
    return total(x, axis, keepdims) / count


@reduction(
    total,
    symbolic=lambda sp, *xs: sp.Add(*xs),
    dtype="number",
    index="sum",
    numpy="{0}.sum(axis={dim}, keepdims={keepdim})",
    bounds=summed,
    finite=True,
    exact="all",
)
def sum(g, y, x, dim):
    """Sum along dim."""
    return g


@reduction(
    average,
    dtype="float",
    symbolic=elements.mean,
    index="mean",
    input_dtypes="floats",
    numpy="{0}.mean(axis={dim}, keepdims={keepdim})",
    saved=(),
    bounds=unchanged,
    finite=True,
    exact="all",
)
def mean(g, y, x, dim):
    """Average along dim."""
    return g / size(x, dim=dim)


def _prod_of_all(g, y, x):
    to_x = g * prod_others(x, dim=tuple(range(x.ndim)))
    return unless(x.eq(0).sum() > 1, to_x, instead=0.0) if x.ndim else g


def _along_one(*, dim, keepdim):
    if isinstance(dim, tuple) and len(dim) != 1:
        message = "prod() reduces one dimension, or all of them"
        hint = "reduce several one after the other: x.prod(1).prod(0)"
        raise GradcliError("arguments", message, hint=hint)
    return {"dim": dim, "keepdim": keepdim}


@reduction(
    of_all=_prod_of_all,
    canonical_attributes=_along_one,
    dtype="number",
    symbolic=lambda sp, *xs: sp.Mul(*xs),
    saved=(..., "output"),
)
def prod(g, y, x, dim):
    """Product along dim; its derivative is exact where factors are 0."""
    return g * prod_others(x, dim=dim)


def others(x, *, dim):
    """For each element of an array, the product of the other elements along dim; as in PyTorch, by
    division if no element is 0.
    """
    if np.count_nonzero(x == 0) == 0:
        return np.prod(x, axis=dim, keepdims=True) / x
    return _exclusive_products(x, dim=dim)


def _exclusive_products(x, *, dim):
    """`others` without division: the product of the elements before times that of those after."""
    last = tuple(range(-len(dim), 0))
    transposed = np.moveaxis(x, dim, last)
    flat = transposed.reshape(*transposed.shape[: x.ndim - len(dim)], -1)
    before, after = np.ones_like(flat), np.ones_like(flat)
    before[..., 1:] = np.cumprod(flat[..., :-1], axis=-1)
    after[..., :-1] = np.cumprod(flat[..., :0:-1], axis=-1)[..., ::-1]
    return np.moveaxis((before * after).reshape(transposed.shape), last, dim)


def _product(x, dim):
    return x.prod() if len(dim) == x.ndim else x.prod(dim=dim[0], keepdim=True)


def _others_by_index(lower, i, x, *, dim):
    total = x.prod() if len(dim) == x.ndim else x.prod(dim=dim[0])
    unreduced = [letter for d, letter in enumerate(i) if d not in dim]
    return lower.product(lower(total, unreduced), lower(1 / x, i))


@composite(
    shape=lambda s, *, dim: s,
    value=others,
    torch_expand=lambda x, *, dim: _product(x, dim) / x,
    index=_others_by_index,
    symbolic=lambda sp, x, *, dim: _exclusive_products(x, dim=dim),
    examples=(("prod_others(x, dim=(1,))", "x=2x3"),),
    torch=None,
    flops=flops_per_element,
)
def prod_others(x, *, dim):
    """For each element, the product of all others along dim."""
    if not shapes.numel(x.shape):
        return x
    divided = x.ne(0).all()
    away, near = otherwise(~divided, x, 1), otherwise(divided, x, 1)
    return otherwise(~divided, _product(away, dim) / away, without_each(near, dim))


def without_each(x, dim):
    """For each element, the product of the other elements along dim, without division: PyTorch's
    method if an element is 0.
    """
    unreduced = tuple(d for d in range(x.ndim) if d not in dim)
    order = (*unreduced, *dim)
    rows = permuted(x, order).reshape(shape=(*(x.shape[d] for d in unreduced), -1))
    one = ones(size=(*rows.shape[:-1], 1))
    before = cat([one, rows[..., :-1]], dim=-1).cumprod(dim=-1)
    after = cat([one, rows[..., 1:].flip(dims=(-1,))], dim=-1).cumprod(dim=-1).flip(dims=(-1,))
    result = (before * after).reshape(shape=tuple(x.shape[d] for d in order))
    return permuted(result, tuple(order.index(d) for d in range(x.ndim)))


def _shared(g, y, x, dim):
    """The gradient of an extreme along dim, divided equally among tied elements."""
    hit = x.eq(y)
    return g * hit / hit.sum(dim=dim, keepdim=True)


def tied(y, x, *, dim, keepdim, **_):
    """The mask of results that more than one element along dim attains."""
    over = shapes.axes(dim, x.ndim)
    shape = tuple(1 if d in over else n for d, n in enumerate(x.shape))
    return (x.eq(y.reshape(shape=shape)).sum(dim=dim, keepdim=keepdim)) > 1


def _shared_by_ties(name, symbol):
    """A decorator for amax and amin, whose gradient is shared by tied elements."""
    return reduction(
        lambda x, axis, keepdims: getattr(np, name)(x, axis=axis, keepdims=keepdims),
        shape=reduced_nonempty,
        symbolic=lambda sp, *xs: elements.extreme(sp, symbol, *xs),
        kink=tied,
        caveat=TIE,
        numpy=f"{{0}}.{name}(axis={{dim}}, keepdims={{keepdim}})",
        bounds=unchanged,
        exact="all",
    )


@_shared_by_ties("max", "Max")
def amax(g, y, x, dim):
    """Largest element along dim."""
    return _shared(g, y, x, dim)


@_shared_by_ties("min", "Min")
def amin(g, y, x, dim):
    """Smallest element along dim."""
    return _shared(g, y, x, dim)


def _arg_reduction(name, symbol, extreme):
    return operator(
        shape=reduced_nonempty,
        value=lambda x, *, dim, keepdim: np.asarray(getattr(np, name)(x, dim, keepdims=keepdim)),
        symbolic=elements.argextreme_along(symbol),
        dtype="int",
        examples=((f"x * x.{name}(dim=1, keepdim=True)", "x=2x3"),),
        method=True,
        numpy=f"{{0}}.{name}(axis={{dim}}, keepdims={{keepdim}})",
        finds_indices=True,
        kink=lambda y, x, **along: tied(extreme(x, **along), x, **along),
        caveat=FIRST,
        input_dtypes="numbers",
    )


@_arg_reduction("argmax", "Max", amax)
def argmax(g, y, x, *, dim=None, keepdim=False):
    """The index of the largest element along dim; no gradient."""
    return None


@_arg_reduction("argmin", "Min", amin)
def argmin(g, y, x, *, dim=None, keepdim=False):
    """The index of the smallest element along dim; no gradient."""
    return None


def _values(name, argextreme, symbol):
    @named(f"{name}_values", f"The values of {name}(x, dim).")
    def meaning(x, *, dim, keepdim=False):
        if x.ndim == 0:
            return x * 1.0
        selected = x.gather(dim=dim, index=argextreme(x, dim=dim, keepdim=True))
        return selected if keepdim else selected.squeeze(dim=dim)

    def saved(y, x, *, dim, keepdim):
        return (argextreme(x, dim=dim, keepdim=True),) if x.ndim else ()

    def value(x, *, dim, keepdim):
        if x.ndim == 0:
            return x
        at = np.expand_dims(getattr(np, f"arg{name}")(x, axis=dim), dim)
        selected = np.take_along_axis(x, at, axis=dim)  # the first of 0 and -0, as in PyTorch
        return selected if keepdim else np.squeeze(selected, axis=dim)

    return composite(
        value=value,
        shape=reduced_nonempty,
        saved=saved,
        kink=tied,
        symbolic=elements.extreme_along(symbol),
        caveat="of equal elements the first receives the whole gradient",
        spelling=f"{name}({{0}}, dim={{dim}}, keepdim={{keepdim}}).values",
        examples=((f"{name}(x, dim=1).values", "x=2x3"), (f"x.{name}(0)[0]", "x=2x3")),
        torch=f"torch.{name}",
        exact="all",
    )(meaning)


max_values = _values("max", argmax, "Max")
min_values = _values("min", argmin, "Min")


def _extreme(operators, input, second, keepdim):
    """Dispatch max() or min(): over all elements, of two tensors, or along a dimension."""
    over_all, between, *along = operators
    if second is None:
        return over_all(input)
    if isinstance(second, Node) or (isinstance(second, float) and not keepdim):
        return between(input, second)
    both = (one(input, dim=second, keepdim=keepdim) for one in along)
    return Outputs(both, ("values", "indices"))


def share_all(g, y, x):
    """The rule of max and min over all elements: tied elements share the gradient; so do all nan if
    the result is nan.
    """
    hit = same(x, y)
    return where(hit, g / hit.sum(), 0)


def of_all(name, meaning, sentence, examples):
    """Declare the operator `{name}_all`, which selects one of all elements; elements equal to it
    share the gradient.
    """
    return composite(
        rule=share_all, spelling=f"{name}({{0}})", torch=f"torch.{name}", examples=examples,
        kink=lambda y, x: x.eq(y).sum() > 1, caveat=TIE, exact="all",
    )(named(f"{name}_all", sentence)(meaning))  # fmt: skip


def _extreme_of_all(name, meaning, sentence):
    return of_all(name, meaning, sentence, ((f"{name}(x)", "x=2x3"), (f"x.{name}()", "x=3")))


max_all = _extreme_of_all("max", lambda x: x.amax(), "Largest of all elements.")
min_all = _extreme_of_all("min", lambda x: x.amin(), "Smallest of all elements.")


@shorthand()
def max(input, dim=None, keepdim=False, *, other=None):
    """Largest of all elements; along dim, values and indices; or the larger of two tensors."""
    operators = max_all, maximum, max_values, argmax
    return _extreme(operators, as_node(input), dim if other is None else other, keepdim)


@shorthand()
def min(input, dim=None, keepdim=False, *, other=None):
    """Smallest of all elements; along dim, values and indices; or the smaller of two tensors."""
    operators = min_all, minimum, min_values, argmin
    return _extreme(operators, as_node(input), dim if other is None else other, keepdim)


@composite(
    method=True,
    examples=(("x * count_nonzero(x)", "x=2x3"), ("x * x.count_nonzero(dim=0)", "x=2x3")),
)
def count_nonzero(x, *, dim=None):
    """How many elements along dim are not 0; no gradient."""
    return x.ne(0).sum(dim=dim)


def _truth(name, joined, sentence):
    @named(name, sentence)
    def rule(g, y, x, dim):
        return None

    return reduction(
        symbolic=lambda sp, *xs: joined(sp, *xs),
        dtype="bool",
        examples=((f"x * (x > 0).{name}()", "x=2x3"), (f"x * {name}(x > 0, dim=0)", "x=2x3")),
    )(rule)


all = _truth(
    "all", elements.both, "Whether all elements along dim are True (nonzero); no gradient."
)
any = _truth(
    "any", elements.either, "Whether any element along dim is True (nonzero); no gradient."
)


@shorthand()
def aminmax(input, *, dim=None, keepdim=False):
    """The smallest and the largest element along dim."""
    both = (one(as_node(input), dim=dim, keepdim=keepdim) for one in (amin, amax))
    return Outputs(both, ("min", "max"))


def _logsumexp(x, axis, keepdims):
    top = largest(x, axis)
    top = np.where(np.isfinite(top), top, 0)
    out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis=axis)


@reduction(
    _logsumexp,
    attributes={"dim": REQUIRED, "keepdim": False},
    dtype="float",
    expand=lambda x, *, dim, keepdim: exp(x).sum(dim=dim, keepdim=keepdim).log(),
    examples=(("x.logsumexp(dim=1)", "x=2x3"), ("logsumexp(x, (0, 1))", "x=2x3")),
    jax="jax.nn.logsumexp({0}, axis={dim}, keepdims={keepdim})",
    numpy="scipy.special.logsumexp({0}, axis={dim}, keepdims={keepdim})",
)
def logsumexp(g, y, x, dim):
    """log of the sum of exp(x) along dim, computed without overflow."""
    return g * exp(x - y)
