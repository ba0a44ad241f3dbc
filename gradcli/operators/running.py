"""Operators with one value for each element along a dimension: cumulative sums, differences,
integrals.
"""

from ..errors import GradcliError
from ..graphs import Node, Outputs, as_node, shapes
from ..graphs.arguments import REQUIRED
from ..lazy import np
from . import elements
from .arithmetic import copied
from .comparisons import where
from .families import composite, flops_per_element, operator, require, same_with_axis, shorthand
from .guards import otherwise
from .joining import cat
from .leaves import ones, zeros
from .reductions import others
from .sorting import selected

MOST_SYMBOLIC = 16  # most elements of a symbolic running extreme


def part(x: Node, dim: int, start=None, end=None, step=None) -> Node:
    """x[start:end:step] along dim."""
    return x[(*(slice(None),) * shapes.axis(dim, x.ndim), slice(start, end, step))]


# ---- cumulative sums, products and extremes ------------------------------------------------------


def running(function, **fields):
    """Declare a cumulative operator; `function(x, dim)` computes it for arrays."""
    return operator(
        shape=same_with_axis,
        dtype="number",
        value=lambda x, *, dim: function(x, dim) if np.ndim(x) else x,
        method=True,
        **fields,
    )


@running(
    lambda x, dim: 0 + np.cumsum(x, axis=dim),  # cumsum starts from 0, so that -0 becomes 0
    examples=(("x.cumsum(dim=1)", "x=2x3"), ("cumsum(x, 0)", "x=3")),
    index=lambda lower, i, x, *, dim: lower.cumulative_sum(i, x, dim),
    numpy="np.cumsum({0}, axis={dim})",
    exact="all",
)
def cumsum(g, y, x, *, dim):
    """Cumulative sum along dim."""
    return reverse_cumsum(g, dim)


def reverse_cumsum(g, dim):
    """The cumulative sum along dim from the end."""
    return g.flip(dims=(dim,)).cumsum(dim=dim).flip(dims=(dim,)) if g.ndim else g


@running(
    lambda x, dim: np.cumprod(x, axis=dim),
    examples=(("x.cumprod(dim=1)", "x=2x3"), ("cumprod(x, 0)", "x=3")),
    saved=(..., "output"),
    numpy="np.cumprod({0}, axis={dim})",
    exact="all",
)
def cumprod(g, y, x, *, dim):
    """Cumulative product along dim; its derivative is exact where factors are 0."""
    has_one_factor = x.ndim == 0 or x.shape[dim] == 1
    return g if has_one_factor else g.cumprod_backward(x, y, dim=dim)


def _cumprod_backward(g, x, y, *, dim):
    """The gradient of cumprod as in PyTorch: by division before the first 0, without it at its
    index, 0 after it.
    """
    zeros_met = np.cumsum(x == 0, axis=dim)
    before, between = zeros_met == 0, zeros_met == 1
    here = _reverse_cumsum(np.where(before, g * y, 0), dim) / x
    if before.all():
        return here
    first = between & (x == 0)
    after = np.cumprod(np.where(between & ~first, x, 1), axis=dim)
    at_first = np.sum(np.where(between, g, 0) * after, axis=dim, keepdims=True)
    at_first = at_first * np.prod(np.where(before, x, 1), axis=dim, keepdims=True)
    return np.where(before, here, np.where(first, at_first, 0))


def _reverse_cumsum(x, dim):
    return np.flip(np.cumsum(np.flip(x, dim), axis=dim), dim)


def pairs(x, dim):
    """`x` with dim moved last, and its shape with that dimension repeated."""
    rows = moved_last(x, dim)
    return rows, (*rows.shape, rows.shape[-1])


def moved_last(x, dim):
    """`x` with dim and the last dimension exchanged."""
    return x.transpose(dim0=dim, dim1=-1)


@composite(
    shape=lambda g, s, t, *, dim: s,
    value=_cumprod_backward,
    torch_expand=lambda g, x, y, *, dim: reverse_cumsum(g * y, dim) / x,
    index=lambda lower, i, g, x, y, *, dim: lower(reverse_cumsum(g * y, dim) / x, i),
    torch=None,
    examples=(("cumprod_backward(g, x, cumprod(x, 1), dim=1)", "g=2x3,x=2x3"),),
    flops=flops_per_element,
    workspace=lambda out, *_, **__: 6 * shapes.numel(out),  # products and masks beside the first 0
)
def cumprod_backward(g, x, y, *, dim):
    """sum_{k>=i} g[k] prod_{j<=k, j!=i} x[j], the gradient of y = cumprod(x)."""
    divided = x.ne(0).all()
    away, near = otherwise(~divided, x, 1), otherwise(divided, x, 1)
    by_division = reverse_cumsum(g * away.cumprod(dim=dim), dim) / away
    return otherwise(~divided, by_division, cumprod_by_leaving_out(g, near, dim=dim))


def _without_one(x, dim):
    """Copies of x, the k-th with x[k] replaced by 1, and the mask of the other elements."""
    rows, both = pairs(x, dim)
    off = ones(size=both[-2:]).tril(diagonal=-1) + ones(size=both[-2:]).triu(diagonal=1)
    return where(off > 0, rows.unsqueeze(dim=-2), 1), off


def _leaving_out_double_backward(h, y, g, x, *, dim):
    rows, _ = _without_one(x, dim)
    products = rows.cumprod(dim=-1).triu()
    to_g = moved_last((products * moved_last(h, dim).unsqueeze(dim=-1)).sum(dim=-2), dim)
    return to_g, cumprod_double_backward(h, g, x, dim=dim)


@composite(
    rule=_leaving_out_double_backward,
    torch=None,
    examples=(("cumprod_by_leaving_out(a, x, dim=1)", "a=2x3,x=2x3"),),
)
def cumprod_by_leaving_out(g, x, *, dim):
    """cumprod_backward by products that leave x[i] out, as PyTorch computes it if an x is 0."""
    rows, _ = _without_one(x, dim)
    products = rows.cumprod(dim=-1).triu()
    return moved_last((products * moved_last(g, dim).unsqueeze(dim=-2)).sum(dim=-1), dim)


def _cumprod_double_backward(h, g, x, *, dim):
    """The gradient of cumprod_backward with respect to x. As in PyTorch, the terms of each element
    x[k] are computed separately, because elements may be 0.
    """
    h, g, x = (np.swapaxes(n, dim, -1) for n in (h, g, x))
    result = np.zeros(np.shape(x))
    for k in range(x.shape[-1]):
        weighted, before, after = h[..., k : k + 1] * g[..., k:], x[..., :k], x[..., k + 1 :]
        until, onward = before.prod(-1, keepdims=True), after.cumprod(-1)
        to_until = weighted[..., :1] + (weighted[..., 1:] * onward).sum(-1, keepdims=True)
        result[..., :k] += to_until * others(before, dim=(-1,))
        to_onward = weighted[..., 1:] * until
        short = after.shape[-1] == 1
        result[..., k + 1 :] += (
            to_onward if short else _cumprod_backward(to_onward, after, onward, dim=-1)
        )
    return np.swapaxes(result, dim, -1)


@composite(
    shape=lambda h, g, s, *, dim: s,
    value=_cumprod_double_backward,
    torch=None,
    examples=(("cumprod_double_backward(h, g, x, dim=1)", "h=2x3,g=2x3,x=2x3"),),
    flops=flops_per_element,
)
def cumprod_double_backward(h, g, x, *, dim):
    """The gradient of (h * cumprod_backward(g, x)).sum() with respect to x."""
    rows, off = _without_one(x, dim)
    weighted = moved_last(h, dim).unsqueeze(dim=-1) * moved_last(g, dim).unsqueeze(dim=-2)
    slopes = weighted.triu().cumprod_backward(rows, rows.cumprod(dim=-1), dim=-1)
    return moved_last((slopes * off).sum(dim=-2), dim)


def _ties_with_previous(y, x, *, dim):
    """The mask of elements equal to the extreme of the elements before."""
    if not x.ndim:
        return y < y
    first = part(x, dim, 0, 1)
    return cat([first < first, part(x, dim, 1).eq(part(y, dim, None, -1))], dim=dim)


def _latest(sp, relation, row):
    """The index of the last element that is the extreme of the row: `relation`, "Ge" or "Le", holds
    between it and every other element.
    """
    out = sp.Integer(0)
    for k in range(1, len(row)):
        over = (elements.compare(sp, relation, row[k], x) for x in row[:k] + row[k + 1 :])
        out = elements.choice(sp, elements.both(sp, *over), sp.Integer(k), out)
    return out


def _running_extreme(name, extreme, relation):
    def indices_of(rows):
        best = getattr(np, extreme).accumulate(rows, axis=-1)
        hit = (rows == best) | (rows != rows)
        return np.maximum.accumulate(np.where(hit, np.arange(rows.shape[-1]), 0), axis=-1)

    def symbolic_indices_of(sp, row):
        elements.require_few(row, MOST_SYMBOLIC, f"running {extreme}")
        return [_latest(sp, relation, row[: k + 1]) for k in range(len(row))]

    return selected(
        name,
        same_with_axis,
        indices_of,
        symbolic_indices_of,
        call=f"{name}({{0}}, dim={{dim}})",
        examples=((f"{name}(x, 1)", "x=2x3"),),
        kink=_ties_with_previous,
        caveat="of equal elements the latest receives the gradient",
        running=True,
        dim=REQUIRED,
    )


def _extremes(pair, input, dim):
    return Outputs((one(as_node(input), dim=dim) for one in pair), ("values", "indices"))


_cummax = _running_extreme("cummax", "maximum", "Ge")
_cummin = _running_extreme("cummin", "minimum", "Le")


@shorthand()
def cummax(input, dim):
    """Running maximum along dim, and its indices (the last of equal elements)."""
    return _extremes(_cummax, input, dim)


@shorthand()
def cummin(input, dim):
    """Running minimum along dim, and its indices (the last of equal elements)."""
    return _extremes(_cummin, input, dim)


# ---- differences ---------------------------------------------------------------------------------


@composite(
    order="x n dim prepend append",
    examples=(
        ("diff(x)", "x=2x3"),
        ("x.diff(2, dim=0)", "x=3x2"),
        ("diff(x, prepend=a)", "x=2x3,a=2x1"),
    ),
    exact="all",
)
def diff(x, prepend=None, append=None, *, n=1, dim=-1):
    """Differences of neighbours along dim, n times."""
    if not x.ndim:
        raise GradcliError("shape", "diff() needs at least one dimension")
    if not isinstance(n, int) or n < 0:
        raise GradcliError("arguments", f"n of diff() must be an integer of at least 0, got {n!r}")
    if n == 0:
        return copied(x)
    if prepend is not None or append is not None:
        x = cat([one for one in (prepend, x, append) if one is not None], dim=dim)
    size = x.shape[shapes.axis(dim, x.ndim)]
    if n >= size:
        return part(x, dim, 0, 0)
    for _ in range(n):
        after, before = part(x, dim, 1), part(x, dim, None, -1)
        x = after.ne(before) if x.dtype == "bool" else after - before
    return x


@shorthand()
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Derivatives along each dimension by central differences; one-sided at the ends."""
    x = as_node(input)
    over = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    shapes.axes(tuple(over), x.ndim)  # raises an error for repeated dimensions
    if spacing is None:
        spacing = 1
    steps = spacing if isinstance(spacing, tuple) else (spacing,) * len(over)
    if len(steps) != len(over):
        message = f"gradient() needs a spacing for each of {len(over)} dimensions, got {len(steps)}"
        raise GradcliError("arguments", message)
    if edge_order not in (1, 2):
        raise GradcliError("arguments", f"edge_order must be 1 or 2, got {edge_order!r}")
    for d in over:
        if x.shape[shapes.axis(d, x.ndim)] <= edge_order:
            message = f"gradient() needs at least {edge_order + 1} elements along dimension {d}"
            raise GradcliError("shape", message)
    along = [_nonuniform if isinstance(s, Node) and s.ndim else _uniform for s in steps]
    return Outputs(f(x, s, d, edge_order) for f, s, d in zip(along, steps, over, strict=True))


def _uniform(x, step, dim, edge_order):
    def end(*weights, start):
        parts = [part(x, dim, start + k, start + k + 1 or None) for k in range(len(weights))]
        return _weighted(weights, parts) / step

    middle = (part(x, dim, 2) - part(x, dim, None, -2)) / step / 2
    if edge_order == 1:
        return cat([end(-1, 1, start=0), middle, end(-1, 1, start=-2)], dim=dim)
    ends = end(-1.5, 2, -0.5, start=0), end(0.5, -2, 1.5, start=-3)
    return cat([ends[0], middle, ends[1]], dim=dim)


def _weighted(weights, parts):
    total = weights[0] * parts[0]
    for weight, one in zip(weights[1:], parts[1:], strict=True):
        total = total + weight * one
    return total


def _nonuniform(x, coordinates, dim, edge_order):
    """Derivatives for nonuniform spacing, by the parabola through three neighbours."""
    steps = _broadcast_along(coordinates[1:] - coordinates[:-1], dim, x.ndim)
    a, b = part(steps, dim, None, -1), part(steps, dim, 1)
    weights = -b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b))
    middle = _weighted(
        weights, [part(x, dim, None, -2), part(x, dim, 1, -1), part(x, dim, 2)]
    )  # fmt: skip
    if edge_order == 1:
        slope = (part(x, dim, 1) - part(x, dim, None, -1)) / steps
        return cat([part(slope, dim, 0, 1), middle, part(slope, dim, -1)], dim=dim)
    a0, b0, a1, b1 = part(a, dim, 0, 1), part(b, dim, 0, 1), part(a, dim, -1), part(b, dim, -1)
    first = _weighted(
        (-(2 * a0 + b0) / (a0 * (a0 + b0)), (a0 + b0) / (a0 * b0), -a0 / (b0 * (a0 + b0))),
        [part(x, dim, k, k + 1) for k in range(3)],
    )
    last = _weighted(
        (b1 / (a1 * (a1 + b1)), -(a1 + b1) / (a1 * b1), (a1 + 2 * b1) / (b1 * (a1 + b1))),
        [part(x, dim, -3, -2), part(x, dim, -2, -1), part(x, dim, -1)],
    )
    return cat([first, middle, last], dim=dim)


# ---- integrals -----------------------------------------------------------------------------------


def _broadcast_along(x, dim, ndim):
    """A vector reshaped to broadcast with a tensor of `ndim` dimensions along dim."""
    axis = shapes.axis(dim, ndim)
    return x.reshape(shape=tuple(-1 if d == axis else 1 for d in range(ndim)))


def _spacing(y, x, dim):
    """The spacing of the coordinates x, in a shape that broadcasts with y along dim."""
    require(x.ndim, "x needs at least one dimension; constant spacing is passed as dx=0.5")
    if x.ndim == 1:
        along = y.shape[dim]
        text = f"y has size {along} along dim, and x has {x.numel} elements"
        shapes.require_equal(x.shape, (along,), text)
    if x.ndim == 1 and y.ndim > 1:
        x = _broadcast_along(x, dim, y.ndim)
    elif x.ndim < y.ndim:
        x = x.reshape(shape=(1,) * (y.ndim - x.ndim) + x.shape)
    return part(x, dim, 1) - part(x, dim, None, -1)


def _neighbour_sums(y, dim):
    """Sums of neighbouring elements."""
    return part(y, dim, None, -1) + part(y, dim, 1)


AREAS = (
    ("{name}(y)", "y=2x3"),
    ("{name}(y, x)", "y=2x3,x=3"),
    ("{name}(y, dx=0.5, dim=0)", "y=3x2"),
)


def _area(**fields):
    def declare(meaning):
        examples = tuple((e.format(name=meaning.__name__), s) for e, s in AREAS)
        return composite(examples=examples, order="y x * dx dim", exact="all", **fields)(meaning)

    return declare


@_area(aliases=("trapz",), input_dtypes="no masks")
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The area under y along dim, by trapezoids between points x, or dx apart."""
    dim = shapes.axis(dim, y.ndim)  # x may have more dimensions than y
    if not y.shape[dim]:
        return zeros(size=shapes.reduce(y.shape, [dim], False))
    if x is not None:
        return (_neighbour_sums(y, dim) * _spacing(y, x, dim)).sum(dim=dim) / 2
    ends = part(y, dim, 0, 1) + part(y, dim, -1)
    return (y.sum(dim=dim) - ends.squeeze(dim=dim) * 0.5) * dx


@_area(input_dtypes="no masks")
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The area under y up to each point along dim, by trapezoids between points x, or dx apart."""
    dim = shapes.axis(dim, y.ndim)  # x may have more dimensions than y
    if x is not None:
        return (_neighbour_sums(y, dim) * _spacing(y, x, dim)).cumsum(dim=dim) / 2
    return (dx / 2) * _neighbour_sums(y, dim).cumsum(dim=dim)
