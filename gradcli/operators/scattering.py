"""Elements overwritten by or added to others, at integer indices and masks."""

from ..errors import GradcliError
from ..graphs import Node, NoRule, as_node, shapes
from ..graphs.operator import check_dtypes
from ..lazy import np
from . import elements
from .comparisons import where
from .families import composite, no_flops, operator, shorthand
from .gathering import BY_INDEX, check_index, flat_indices, wrapped
from .leaves import arange, full, zeros
from .reductions import TIE
from .shaping import expand, reshape


def _scatter_to(v, index, *, shape, dim):
    out = np.zeros(shapes.numel(shape), dtype=np.asarray(v).dtype)
    np.add.at(out, flat_indices(np.asarray(index), shape, dim), np.reshape(v, -1))
    return out.reshape(shape)


def _added_to_zeros(v, index, *, shape, dim):
    v = v if v.shape == index.shape else v.expand(shape=index.shape)
    return zeros(size=shape).scatter_add(dim=dim, index=index, src=v)


@operator(
    shape=lambda s, index, *, shape, dim: shape,
    value=_scatter_to,
    torch_expand=_added_to_zeros,
    symbolic=lambda sp, v, index, *, shape, dim: elements.scattered(
        sp, _scatter_to, v, index, shape, dim
    ),
    dtype="first",
    order="v shape dim index",
    integer_inputs=("index",),
    method=True,
    examples=(("x.scatter_to((2, 3), 1, tensor([[0, 0], [2, 1]]))", "x=2x2"),),
    torch=None,
    index=lambda lower, i, v, index, *, shape, dim: lower.scattered(i, v, index, dim, shape),
)
def scatter_to(g, y, v, index, *, shape, dim):
    """v added into zeros of `shape` at the indices along dim: the transpose of gather."""
    return g.gather(dim=dim, index=index), None


# ---- an index for each element -------------------------------------------------------------------


def _scattered(name):
    """The field `shape` of the operator `name`: the shape of x, if index and src fit it."""

    def shape(s, index, src, *, dim, **_):
        check_index(s, index, dim, name)
        short = [(n, k) for n, k in zip(src, index, strict=False) if k > n]
        one = name == "scatter" or shapes.numel(index) == 1 >= len(index)
        fits = len(src) == max(len(index), 1) and not short if src else one
        if 0 not in index and not fits:
            message = (
                f"the index of {name}() has shape {shapes.text(index)} and src only "
                f"{shapes.text(src)}"
            )
            if short:
                raise shapes.Conflict(message, *short[0])
            raise GradcliError("shape", message)
        return s

    return shape


def _used_values(src, index):
    """As `_used`, for NumPy arrays; as a vector."""
    if np.ndim(src):
        src = np.asarray(src)[_source_index(np.asarray(src), np.asarray(index))]
    return np.broadcast_to(src, np.shape(index) if np.ndim(index) else np.shape(src)).reshape(-1)


def _source_gradient(g, src, dim, index):
    """The gradient of src: g at the indices, and 0 for elements of src that index does not use."""
    back = g.gather(dim=dim, index=index)
    return back if back.shape == src.shape or not src.ndim else _in_source_shape(back, src, index)


def _in_source_shape(sent, src, index):
    """`sent`, which has the shape of index, in the shape of src; 0 for unused elements."""
    if src.numel == sent.numel:
        return sent.reshape(shape=src.shape)
    picked = _source_index(src, index)
    return sent.reshape(shape=sent.shape or (1,)).put_at(shape=src.shape, index=picked)


def _source_index(src, index):
    """The slices of src that a smaller index uses: the first elements along each dimension."""
    return tuple(map(slice, index.shape or (1,) * src.ndim))


LAST_WINS = (
    "of several values written to one index the last remains, but each receives its whole gradient"
)


def _repeated_indices(y, x, index, src, *, dim):
    ones = expand(as_node(1.0), shape=index.shape)
    return scatter_to(ones, shape=x.shape, dim=dim, index=index) > 1


def _overwritten(lower, x, counts, written):
    """Overwriting in index notation: `written` for elements that are written, otherwise x. `counts`
    is how often each element is written; where it is 0, `written` is 0. None if indices repeat or
    are unknown.
    """
    number = None if lower.values is None else lower.values(counts)
    if number is None or np.any(np.asarray(number) > 1):
        return None
    return written + where(counts > 0, 0, x)


def _scatter_by_index(lower, i, x, index, src, *, dim):
    if index.ndim != x.ndim or not x.ndim:
        return None
    attrs = {"shape": x.shape, "dim": dim, "index": index}
    ones = expand(as_node(1.0), shape=index.shape)
    return _overwritten(lower, x, scatter_to(ones, **attrs), scatter_to(_used(src, index), **attrs))


def _used(src, index):
    """The part of src that index uses, in the shape of index. If index is smaller than src, these
    are the first elements along each dimension.
    """
    if src.shape == index.shape:
        return src
    if not src.ndim:
        return src.expand(shape=index.shape)
    sent = src[_source_index(src, index)]
    return sent if index.ndim else sent.reshape(shape=())


def _scatter(x, index, src, *, dim):
    out = np.array(x, order="C")
    out.reshape(-1)[flat_indices(np.asarray(index), out.shape, dim)] = _used_values(src, index)
    return out


def _without_derivative(x, index, src, *, reduce="sum", **_):
    """The inputs for which PyTorch's backward raises an error, because src is larger than index."""
    if src.shape in ((), index.shape):
        return ()
    if reduce in ("sum", "mean"):
        return ("src",)
    return () if index.numel == 1 else ("x", "src")


ONE_ELEMENT_INDEX = NoRule(
    "where an index of one element selects from a larger src, PyTorch's gradient of src is wrong: "
    "cut src to that element"
)
SCATTER = BY_INDEX | {"without_derivative": _without_derivative, "input_dtypes": "any of one dtype"}


@operator(
    shape=_scattered("scatter"),
    value=_scatter,
    order="x dim index src",
    numbers=True,
    kink=_repeated_indices,
    caveat=LAST_WINS,
    examples=(
        ("x.scatter(1, tensor([[0], [2]]), v)", "x=2x3,v=2x1"),
        ("scatter(x, 0, tensor([[1, 0]]), 2.5)", "x=2x3"),
    ),
    index=_scatter_by_index,
    flops=no_flops,
    **SCATTER,
)
def scatter(g, y, x, index, src, *, dim):
    """x with src written at the indices along dim."""
    return g.scatter(dim=dim, index=index, src=0), None, _source_gradient(g, src, dim, index)


def _scatter_add(x, index, src, *, dim):
    out = np.array(x, order="C")
    flat = flat_indices(np.asarray(index), out.shape, dim)
    np.add.at(out.reshape(-1), flat, _used_values(src, index))
    return out


@composite(
    shape=_scattered("scatter_add"),
    value=_scatter_add,
    rule=lambda g, y, x, index, src, *, dim: (g, None, _source_gradient(g, src, dim, index)),
    order="x dim index src",
    examples=(
        ("x.scatter_add(1, tensor([[0, 0], [2, 1]]), v)", "x=2x3,v=2x2"),
        ("scatter_add(x, 0, tensor([1, 1]), v)", "x=2,v=2"),
    ),
    **SCATTER,
    exact="all",
)
def scatter_add(x, index, src, *, dim):
    """x with src added at the indices along dim."""
    return x + scatter_to(_used(src, index), shape=x.shape, dim=dim, index=index)


# ---- reductions ----------------------------------------------------------------------------------

NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "amax": -float("inf"), "amin": float("inf")}
COMBINE = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "maximum", "amin": "minimum"}


def _scatter_reduce(x, index, src, *, dim, reduce, include_self):
    out, indices = np.array(x, order="C"), flat_indices(np.asarray(index), np.shape(x), dim)
    flat = out.reshape(-1)
    if not include_self:
        flat[indices] = _neutral(reduce, out.dtype)
    getattr(np, COMBINE[reduce]).at(flat, indices, _used_values(src, index))
    if reduce != "mean":
        return out
    counts = np.bincount(indices, minlength=flat.size) + include_self
    divide = np.floor_divide if out.dtype.kind == "i" else np.divide
    return divide(out, np.maximum(counts, 1).reshape(out.shape))


def _neutral(reduce, dtype):
    """The neutral element of a reduction, in a dtype."""
    if dtype.kind == "i" and reduce in ("amax", "amin"):
        return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max
    return reduce == "amin" if reduce == "amax" and dtype.kind == "b" else NEUTRAL[reduce]


def _symbols_reduced(sp, x, index, src, *, dim, reduce, include_self):
    indices = flat_indices(np.asarray(index), x.shape, dim).tolist()
    rows = [[e] if include_self or k not in indices else [] for k, e in enumerate(x.reshape(-1))]
    for k, e in zip(indices, _used_values(src, index), strict=True):
        rows[k].append(e)
    combine = {
        "sum": sp.Add,
        "prod": sp.Mul,
        "mean": lambda *row: elements.mean(sp, *row),
        "amax": lambda *row: elements.extreme(sp, "Max", *row),
        "amin": lambda *row: elements.extreme(sp, "Min", *row),
    }[reduce]
    out = np.empty(len(rows), object)
    for k, row in enumerate(rows):
        out[k] = combine(*row)
    return out.reshape(x.shape)


def _scatter_reduced(s, index, src, *, dim, reduce, include_self):
    if reduce not in NEUTRAL:
        known = ", ".join(NEUTRAL)
        message = f"reduce of scatter_reduce() must be {known}, got {reduce!r}"
        raise GradcliError("arguments", message)
    return _scattered("scatter_reduce")(s, index, src, dim=dim)


def _of_prod(g, y, x, index, src, options):
    """The gradients of x and src for "prod": g times the product of the other factors."""
    dim = options["dim"]
    one = where(x.eq(0), 1, x)
    others = one.scatter_reduce(index=index, src=src, reduce="prod", **options)
    to_x = g * others / one
    zero = src.eq(0)
    count = zeros(size=x.shape).scatter_add(dim=dim, index=index, src=zero.double())
    single = zero & count.gather(dim=dim, index=index).eq(1)
    without = x.scatter_reduce(index=index, src=where(single, 1, src), reduce="prod", **options)
    to_src = where(
        single,
        (g * without).gather(dim=dim, index=index),
        (g * y).gather(dim=dim, index=index) / where(zero, 1, src),
    )
    return to_x, to_src


def _of_mean(g, y, x, index, src, options):
    """The gradients of x and src for "mean": g divided by the number of elements."""
    dim = options["dim"]
    base = zeros(size=x.shape) + (1 if options["include_self"] else 0)
    ones = expand(as_node(1.0), shape=index.shape)
    count = base.scatter_add(dim=dim, index=index, src=ones)
    count = where(count.eq(0), 1, count)
    return g / count, g.gather(dim=dim, index=index) / count.gather(dim=dim, index=index)


def _of_extreme(g, y, x, index, src, options):
    """The gradients of x and src for "amax" and "amin": g, shared equally among ties."""
    dim = options["dim"]
    in_x, in_src = x.eq(y), src.eq(y.gather(dim=dim, index=index))
    count = in_x.double().scatter_add(dim=dim, index=index, src=in_src.double())
    share = g / count
    return in_x * share, in_src * share.gather(dim=dim, index=index)


GRADIENTS = {
    "sum": lambda g, y, x, index, src, options: (g, g.gather(dim=options["dim"], index=index)),
    "mean": _of_mean,
    "prod": _of_prod,
    "amax": _of_extreme,
    "amin": _of_extreme,
}


def tied(y, x, index, src, *, dim, reduce, include_self):
    """The mask of results that more than one element attains."""
    if reduce not in ("amax", "amin"):
        return full(size=(), fill_value=False)
    in_x = x.eq(y).double() if include_self else zeros(size=x.shape)
    in_src = _used(src, index).eq(y.gather(dim=dim, index=index)).double()
    return in_x.scatter_add(dim=dim, index=index, src=in_src) > 1


@operator(
    shape=_scatter_reduced,
    value=_scatter_reduce,
    symbolic=_symbols_reduced,
    order="x dim index src reduce * include_self",
    kink=tied,
    caveat=TIE,
    examples=(
        ("x.scatter_reduce(0, tensor([0, 0, 1]), v, 'prod')", "x=2,v=3"),
        ("x.scatter_reduce(1, tensor([[0, 0], [2, 1]]), v, 'mean')", "x=2x3,v=2x2"),
        ("x.scatter_reduce(0, tensor([0, 0, 1]), v, 'amax', include_self=False)", "x=3,v=3"),
    ),
    saved=("x", "index", "src", "output"),
    **SCATTER,
    exact="all",
)
def scatter_reduce(g, y, x, index, src, *, dim, reduce, include_self=True):
    """x combined with src at the indices along dim, by sum, mean, prod, amax or amin."""
    sent = _used(src, index)
    options = {"dim": dim, "include_self": include_self}
    to_x, to_src = GRADIENTS[reduce](g, y, x, index, sent, options)
    if not include_self:
        to_x = to_x.scatter(dim=dim, index=index, src=0)
    if sent is src:
        return to_x, None, to_src
    if index.numel == 1 < src.numel and reduce not in ("sum", "mean"):
        return to_x, None, ONE_ELEMENT_INDEX
    return to_x, None, _in_source_shape(to_src, src, index)


# ---- flat indices --------------------------------------------------------------------------------


def _put_shape(s, index, source, *, accumulate):
    count, indices = shapes.numel(source), shapes.numel(index)
    if count != indices:
        message = f"put() needs as many elements as indices, got {count} and {indices}"
        if len(source) == len(index):
            raise shapes.Conflict(message, *next((n, k) for n, k in zip(source, index) if n != k))
        if 1 in (len(source), len(index)):
            raise shapes.Conflict(message, count, indices)
        raise GradcliError("shape", message)  # many different sizes would make the counts equal
    return s


def _put(x, index, source, *, accumulate):
    out, indices = np.array(x, order="C"), wrapped(index, np.size(x))
    if accumulate:
        np.add.at(out.reshape(-1), indices, np.reshape(source, -1))
    else:
        out.reshape(-1)[indices] = np.reshape(source, -1)
    return out


def _put_workspace(out, s, index, source, *, accumulate):
    """Elements of the indices, two temporary arrays of them, and the flattened source."""
    return 3 * shapes.numel(index) + shapes.numel(source)


def _put_into_zeros(x, index, source):
    """The source added into zeros of the shape of x."""
    return zeros(size=x.shape).put(index, source, accumulate=True)


def _repeated_flat_indices(y, x, index, source, *, accumulate):
    ones = expand(as_node(0.0 if accumulate else 1.0), shape=index.shape)
    return _put_into_zeros(x, index, ones) > 1


@operator(
    shape=_put_shape,
    dtype="first",
    value=_put,
    workspace=_put_workspace,
    integer_inputs=("index",),
    method=True,
    kink=_repeated_flat_indices,
    caveat=LAST_WINS,
    examples=(
        ("x.put(tensor([0, -2]), v)", "x=2x3,v=2"),
        ("x.put(tensor([1, 1]), v, accumulate=True)", "x=2x3,v=2"),
    ),
    saved=("index", "source"),
    index=lambda lower, i, x, index, source, *, accumulate: (
        x + _added_at_flat_indices(x, index, source)
        if accumulate
        else _overwritten(
            lower,
            x,
            _put_into_zeros(x, index, expand(as_node(1.0), shape=index.shape)),
            _put_into_zeros(x, index, source),
        )
    ),
    input_dtypes="any of one dtype",
    exact="all",
)
def put(g, y, x, index, source, *, accumulate=False):
    """x with source written, or added, at the indices into the flattened tensor."""
    to_x = g if accumulate else g.put(index, zeros(size=source.shape))
    return to_x, None, g.take(index).reshape(shape=source.shape)


def _added_at_flat_indices(x, index, source):
    """The source added into zeros of the shape of x at flat indices, by scatter_to."""
    row = {"index": index.reshape(shape=(index.numel,)), "dim": 0, "shape": (x.numel,)}
    return source.reshape(shape=(index.numel,)).scatter_to(**row).reshape(shape=x.shape)


@shorthand(concrete=("indices",))
def index_put(input, indices, values, accumulate=False):
    """input with values written, or added, at an index."""
    if isinstance(values, Node):
        check_dtypes("index_put", "any of one dtype", (input, values))
    indices_of = reshape(arange(end=input.numel), shape=input.shape)
    picked = indices_of[indices if isinstance(indices, tuple) else (indices,)]
    return put(input, picked, expand(as_node(values), shape=picked.shape), accumulate=accumulate)
