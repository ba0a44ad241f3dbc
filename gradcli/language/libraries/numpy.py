"""The functions of `numpy`, with its arguments and defaults, written with gradcli's operators.

NumPy has no gradients: at kinks these functions have the operators' gradients, which are PyTorch's.
"""

import math
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, Outputs
from ...graphs.shapes import Shape, axes, broadcast, numel
from ...graphs.shapes import axis as axis_of
from ...lazy import np
from ...operators.leaves import Array, numbers
from .function import WithKnownNumbers, array, op, promoted

MOST = 10_000  # most elements of an array that a function creates
MOST_POWERS = 5_000  # highest degree of a polynomial, as each power is an operation

# ---- helpers -------------------------------------------------------------------------------------


def floats(a: Any) -> Node:
    """An array converted to floats."""
    a = array(a)
    return a if a.dtype == "float" else op.double(a)


def mask(a: Any) -> Node:
    """The mask of elements that are not 0."""
    a = array(a)
    return a if a.dtype == "bool" else op.ne(a, 0)


def array_list(sequence: Any) -> tuple[Node, ...]:
    """The arrays of a list, or the slices of an array along its first axis."""
    if isinstance(sequence, Node):
        return tuple(op.unbind(sequence, 0))
    return tuple(map(array, sequence))


def flat(a: Node, axis: Any) -> tuple[Node, Any]:
    """(a, axis); if `axis` is None, the flattened array and its only axis."""
    return (op.flatten(a), 0) if axis is None else (a, axis)


def along(a: Node, axis: Any, keepdims: bool) -> dict[str, Any]:
    """The arguments of a reduction over an axis, or over all axes."""
    if axis is None:
        return {"dim": tuple(range(a.ndim)), "keepdim": True} if keepdims else {}
    return {"dim": axis, "keepdim": keepdims}


def gathered(function: Callable, a: Node, axis: Any, keepdims: bool) -> Node:
    """The value of `function(rows, dim)`, a function that reduces one dimension, for one axis, for
    several axes, or for all of them.
    """
    if axis is None and not keepdims:
        return function(op.flatten(a), 0)
    if isinstance(axis, int):
        out = function(a, axis)
        return op.unsqueeze(out, axis_of(axis, a.ndim)) if keepdims else out
    over = range(a.ndim) if axis is None else axes(axis, a.ndim)
    others = [d for d in range(a.ndim) if d not in over]
    sizes = tuple(a.shape[d] for d in others)
    out = function(op.reshape(op.permute(a, dims=(*others, *over)), (*sizes, -1)), -1)
    shape = tuple(1 if d in over else size for d, size in enumerate(a.shape))
    return op.reshape(out, shape) if keepdims else out


def bounded(*sizes: int) -> tuple[int, ...]:
    """The sizes of an array that is created before it becomes part of a graph. Raises GradcliError
    `limit` if it is too large.
    """
    if numel(sizes) > MOST:
        message = f"{numel(sizes):,} numbers are written out here, but at most {MOST:,} are allowed"
        raise GradcliError("limit", message, hint="make it smaller, or give it as an input")
    return sizes


def pick(a: Node, indices: Any, axis: int) -> Node:
    """The slices along an axis at the given indices."""
    return op.index_select(a, dim=axis, index=numbers(np.asarray(indices)))


def part(a: Node, start: int, stop: int, axis: int) -> Node:
    """The slices along an axis from start to stop - 1."""
    return op.narrow(a, axis, start, max(stop - start, 0))


def known(value: Any) -> Any:
    """The values of an argument as numbers or lists; they must not depend on inputs."""
    return value.value.tolist() if isinstance(value, Array) else value


def several(shape: Any) -> Shape:
    """A shape as a tuple, also if it is passed as a number."""
    return tuple(shape) if isinstance(shape, tuple) else (shape,)


def refuse(message: str, cure: str) -> GradcliError:
    """The error for unsupported arguments."""
    return GradcliError("unsupported", message, hint=cure)


def _reduced(name: str, empty: float | None = None) -> Callable:
    """A reduction by the operator `name`; elements that a mask excludes are replaced by `empty`."""

    def reduce(a, axis=None, dtype=None, *, keepdims=False, where=None, initial=None):
        if where is not None:
            a = op.where(mask(where), a, _filling(name, empty, initial))
        out = op[name](a, **along(a, axis, keepdims))
        return out if initial is None else _with_initial(name, out, initial)

    return reduce


def _filling(name: str, empty: float | None, initial: Any) -> Any:
    fill = initial if empty is None else empty
    if fill is None:
        raise GradcliError("arguments", f"{name}() with where= needs initial=")
    return fill


def _with_initial(name: str, out: Node, initial: Any) -> Node:
    return op[{"sum": "add", "amax": "maximum", "amin": "minimum"}[name]](out, array(initial))


def _prod(a, axis=None, dtype=None, *, keepdims=False, where=None, initial=1):
    a = a if where is None else op.where(mask(where), a, 1.0)
    out = op.prod(a) if axis is None else a
    over = () if axis is None else axes(axis, a.ndim)
    for d in reversed(over):
        out = op.prod(out, dim=d)
    if keepdims:
        gone = range(a.ndim) if axis is None else over
        out = op.reshape(out, tuple(1 if d in gone else n for d, n in enumerate(a.shape)))
    return out if initial == 1 else out * initial


def _mean(a, axis=None, dtype=None, *, keepdims=False, where=None):
    if where is None:
        return op.mean(floats(a), **along(a, axis, keepdims))
    taken = op.broadcast_to(mask(where), a.shape)
    count = op.sum(op.double(taken), **along(a, axis, keepdims))
    return op.sum(op.where(taken, a, 0.0), **along(a, axis, keepdims)) / count


def _spread(name: str) -> Callable:
    def spread(a, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=None, where=None):
        freedom = ddof if correction is None else correction
        if where is not None:
            variance = _variance_where(a, axis, freedom, keepdims, where)
            return variance if name == "var" else op.sqrt(variance)
        return op[name](floats(a), correction=freedom, **along(a, axis, keepdims))

    return spread


def _variance_where(a, axis, freedom, keepdims, where):
    included = op.double(op.broadcast_to(mask(where), a.shape))
    deviations = (a - _mean(a, axis, keepdims=True, where=where)) * included
    count = op.sum(included, **along(a, axis, keepdims)) - freedom
    return op.sum(op.square(deviations), **along(a, axis, keepdims)) / count


def without_nan(a: Node, fill: float) -> Node:
    """The array with nan replaced by `fill`."""
    return op.where(op.isnan(a), fill, a)


def _nan_extreme(name: str, fill: float) -> Callable:
    def extreme(a, axis=None, *, keepdims=False):
        out = op[name](without_nan(a, fill), **along(a, axis, keepdims))
        none = op.all(op.isnan(a), **along(a, axis, keepdims))
        return op.where(none, float("nan"), out)

    return extreme


def _nan_var(a, axis=None, dtype=None, *, ddof=0, keepdims=False):
    missing = op.isnan(a)
    count = op.sum(op.double(~missing), **along(a, axis, True))
    mean = op.sum(without_nan(a, 0.0), **along(a, axis, True)) / count
    squares = op.square(op.where(missing, 0.0, a - mean))
    total = op.sum(squares, **along(a, axis, True)) / (count - ddof)
    return total if keepdims else op.sum(total, **along(a, axis, False))


def _average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if returned:
        raise refuse("average(returned=True) gives two arrays", "write the sum of weights out")
    if weights is None:
        return op.mean(floats(a), **along(a, axis, keepdims))
    if weights.shape != a.shape:
        if not isinstance(axis, int) or weights.ndim != 1:
            raise GradcliError("shape", "weights have the shape of a, or are 1-D along the axis")
        after = a.ndim - 1 - axis_of(axis, a.ndim)
        weights = op.reshape(weights, (-1, *(1,) * after))
    total = op.sum(op.expand(weights, shape=a.shape), **along(a, axis, keepdims))
    return op.sum(a * weights, **along(a, axis, keepdims)) / total


# ---- sorting -------------------------------------------------------------------------------------


def _quantile(name: str, ranks: Callable = lambda q: q) -> Callable:
    def quantile(a, q, axis=None, *, method="linear", keepdims=False):
        if method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            raise refuse(f"method={method!r} is not available", "linear is NumPy's default")
        rank = ranks(array(q) if isinstance(q, tuple) else q)
        if isinstance(rank, Node) and rank.ndim and not (axis is None or isinstance(axis, int)):
            raise refuse("several quantiles along several axes", "ask for one after the other")
        rows, along = flat(floats(a), axis) if isinstance(rank, Node) else (floats(a), axis)

        def of_rows(rows, dim, keepdim=False):
            return op[name](rows, rank, dim=dim, keepdim=keepdim, interpolation=method)

        if isinstance(rank, Node) and rank.ndim:
            if keepdims and axis is None:
                return op.reshape(of_rows(rows, 0), (-1, *(1,) * a.ndim))
            return of_rows(rows, along, keepdims)
        return gathered(of_rows, floats(a), axis, keepdims)

    return quantile


def _hundredths(q: Any) -> Any:
    return q / 100


def _median(name: str) -> Callable:
    def median(a, axis=None, *, keepdims=False):
        def quantile(method):
            return _quantile(name)(a, 0.5, axis, method=method, keepdims=keepdims)

        low, high = quantile("lower"), quantile("higher")
        infinite = op.isinf(low) | op.isinf(high)  # where the interpolated quantile is nan
        return op.otherwise(infinite, quantile("linear"), (low + high) / 2)

    return median


def _sort(a, axis=-1):
    return op.sort(*flat(a, axis))[0]


def _argsort(a, axis=-1):
    return op.argsort(*flat(a, axis), stable=True)


def _indices(name: str, fill: float | None = None) -> Callable:
    def indices(a, axis=None, *, keepdims=False):
        a = a if fill is None else without_nan(a, fill)
        out = op[name](a, **along(a, axis, keepdims and axis is not None))
        return op.reshape(out, (1,) * a.ndim) if keepdims and axis is None else out

    return indices


def _running(name: str, fill: float | None = None) -> Callable:
    def run(a, axis=None, dtype=None):
        a, axis = flat(a if fill is None else without_nan(a, fill), axis)
        return op[name](a, dim=axis)

    return run


def _cumulative(name: str, first: float) -> Callable:
    def run(x, *, axis=None, dtype=None, include_initial=False):
        if axis is None and x.ndim > 1:
            raise GradcliError("arguments", "axis is needed for more than one dimension")
        axis = axis_of(axis or 0, x.ndim)
        out = op[name](x, dim=axis)
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        return op.cat([op.full(shape, first), out], dim=axis) if include_initial else out

    return run


# ---- shapes --------------------------------------------------------------------------------------


def _transpose(a, axes=None):
    return op["T"](a) if axes is None else op.permute(a, dims=axes)


def _squeeze(a, axis=None):
    over = () if axis is None else axes(axis, a.ndim)
    long = [d for d in over if a.shape[d] != 1]
    if long:
        raise GradcliError("shape", f"axis {long[0]} has size {a.shape[long[0]]}, not 1")
    return op.squeeze(a) if axis is None else op.squeeze(a, dim=over)


def _expand_dims(a, axis):
    for d in sorted(axes(axis, a.ndim + len(several(axis)))) if axis != () else ():
        a = op.unsqueeze(a, dim=d)
    return a


def _rollaxis(a, axis, start=0):
    axis = axis_of(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    order = [d for d in range(a.ndim) if d != axis]
    order.insert(start - (axis < start), axis)
    return op.permute(a, dims=order)


def _each(name: str) -> Callable:
    def each(*arys):
        out = [op[name](a) for a in map(array, arys)]
        return out[0] if len(out) == 1 else Outputs(out)

    return each


def _concatenate(arrays, axis=0):
    parts = array_list(arrays)
    if axis is None:
        return op.cat([op.flatten(p) for p in parts], dim=0)
    return op.cat(parts, dim=axis)


def _append(arr, values, axis=None):
    return _concatenate((arr, values), axis)


def _split(ary, indices_or_sections, axis, evenly=True):
    parts, size = known(indices_or_sections), ary.shape[axis_of(axis, ary.ndim)]
    if isinstance(parts, int):
        bounded(parts)
        if parts < 1 or (evenly and size % parts):
            message = f"size {size} does not divide into {parts} equal parts"
            raise GradcliError("shape", message, hint="array_split makes parts of unequal sizes")
        small, more = divmod(size, parts)
        parts = list(accumulate([small + 1] * more + [small] * (parts - more)))[:-1]
    limits = [0, *(min(p + size if p < 0 else p, size) for p in parts), size]
    return Outputs(part(ary, low, high, axis) for low, high in pairwise(limits))


def _split_by(evenly: bool) -> Callable:
    return lambda ary, indices_or_sections, axis=0: _split(ary, indices_or_sections, axis, evenly)


def _split_along(axis: int) -> Callable:
    def split(ary, indices_or_sections):
        return _split(ary, indices_or_sections, 0 if axis == 1 and ary.ndim == 1 else axis)

    return split


def _block(arrays):
    depth, inner = 0, arrays
    while isinstance(inner, tuple):
        depth, inner = depth + 1, inner[0]

    def joined(value, axis):
        if not isinstance(value, tuple):
            return _at_least(array(value), depth)
        return op.cat([joined(v, axis + 1) for v in value], dim=axis)

    return joined(arrays, -depth)


def _at_least(a: Node, ndim: int) -> Node:
    return op.reshape(a, (*(1,) * (ndim - a.ndim), *a.shape)) if a.ndim < ndim else a


def _tile(A, reps):
    reps = tuple(known(n) for n in several(known(reps)))
    return op.tile(A, reps)


def _repeat(a, repeats, axis=None):
    counts = Array(np.array(repeats), str(list(repeats))) if type(repeats) is tuple else repeats
    bounded(int(np.sum(counts.value if isinstance(counts, Array) else counts)))
    return op.repeat_interleave(a, counts, axis)


def _roll(a, shift, axis=None):
    if axis is None:
        return op.roll(a, shift)
    if axis == ():
        return a
    over, shifts = several(axis), several(shift)
    count = max(len(over), len(shifts))
    over, shifts = (p * (count if len(p) == 1 else 1) for p in (over, shifts))
    for d, by in zip(over, shifts, strict=True):
        a = op.roll(a, by, dims=d)
    return a


def _flip(m, axis=None):
    return op.flip(m, dims=tuple(range(m.ndim)) if axis is None else axes(axis, m.ndim))


def _resize(a, new_shape):
    shape = bounded(*several(new_shape))
    indices = np.arange(numel(shape)) % max(a.numel, 1)
    return op.reshape(pick(op.flatten(a), indices, 0), shape)


def _delete(arr, obj, axis=None):
    arr, axis = flat(arr, axis)
    obj = known(obj)
    obj = list(obj) if isinstance(obj, tuple) else obj
    return pick(arr, np.delete(np.arange(arr.shape[axis]), obj), axis)


def _insert(arr, obj, values, axis=None):
    arr, axis = flat(arr, axis)
    obj = known(obj)
    if not isinstance(obj, int):
        raise refuse("insert() at several indices", "insert one after the other")
    axis = axis_of(axis, arr.ndim)
    size = arr.shape[axis]
    if values.ndim < arr.ndim and values.ndim:
        values = op.unsqueeze(values, axis) if arr.ndim > 1 else values
    thick = values.shape[axis] if values.ndim == arr.ndim else 1
    new = op.expand(values, shape=(*arr.shape[:axis], thick, *arr.shape[axis + 1 :]))
    start = obj + size if obj < 0 else obj
    return op.cat([part(arr, 0, start, axis), new, part(arr, start, size, axis)], dim=axis)


def _pad(array, pad_width, mode="constant", *, constant_values=0, **named):
    a, width = array, np.array(known(pad_width))
    if np.any(width < 0):
        raise GradcliError("arguments", "widths of pad() cannot be negative")
    amounts = np.broadcast_to(width, (a.ndim, 2)).tolist()
    if named or mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        wrong = next(iter(named), f"mode={mode!r}")
        raise refuse(
            f"pad() with {wrong}", "supported: constant, edge, reflect, symmetric and wrap"
        )
    if mode == "constant" and isinstance(constant_values, int | float):
        ends = [n for pair in reversed(amounts) for n in pair]
        return op.constant_pad_nd(a, ends, constant_values) if a.ndim else a
    for axis, pair in enumerate(amounts):
        if mode == "constant":
            fill = np.broadcast_to(np.array(constant_values), (a.ndim, 2)).tolist()[axis]
            a = _joined_constants(a, axis, pair, fill)
        elif any(pair):
            bounded(sum(pair))
            a = pick(a, np.pad(np.arange(a.shape[axis]), pair, mode), axis)
    return a


def _joined_constants(a: Node, axis: int, counts: list[int], fill: list[float]) -> Node:
    blocks = [op.full((*a.shape[:axis], n, *a.shape[axis + 1 :]), v) for n, v in zip(counts, fill)]
    return op.cat([blocks[0], a, blocks[1]], dim=axis)


def _meshgrid(*xi, indexing="xy", sparse=False, copy=True):
    given = [op.flatten(a) for a in map(array, xi)]
    if sparse:
        raise refuse("meshgrid(sparse=True)", "write x[:, None] and y[None, :]")
    if indexing not in ("xy", "ij"):
        raise GradcliError("arguments", f"indexing must be 'xy' or 'ij', got {indexing!r}")
    grids = op.meshgrid(*given, indexing="ij")
    swapped = indexing == "xy" and len(given) > 1
    return Outputs(op.transpose(g, dim0=0, dim1=1) for g in grids) if swapped else grids


# ---- elements by index ---------------------------------------------------------------------------


def _take(a, indices, axis=None, *, mode=None):
    a, axis = flat(a, axis)
    index = array(indices)
    axis = axis_of(axis, a.ndim)
    if mode == "wrap":
        index = op.remainder(index, a.shape[axis])
    if mode == "clip":
        index = op.clamp(index, 0, a.shape[axis] - 1)
    if mode in (None, "raise"):
        index = op.where(index < 0, index + a.shape[axis], index)
    out = op.index_select(a, dim=axis, index=op.reshape(index, (-1,)))
    return op.reshape(out, (*a.shape[:axis], *index.shape, *a.shape[axis + 1 :]))


def _take_along_axis(arr, indices, axis=-1):
    arr, axis = flat(arr, axis)
    return op.take_along_dim(arr, array(indices), axis)


def _compress(condition, a, axis=None):
    a, axis = flat(a, axis)
    return pick(a, np.flatnonzero(np.array(known(condition))), axis)


def _bincount(x, weights=None, minlength=0):
    indices = np.array(known(x), dtype=int)
    size = max(int(indices.max(initial=-1)) + 1, minlength)
    each = op.ones(indices.shape) if weights is None else weights
    counts = op.index_add(op.zeros((size,)), 0, numbers(indices), each)
    return op.long(counts) if weights is None else counts


def _unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    if axis is not None:
        raise refuse(
            "unique(axis=...) compares slices", "leave axis out: all elements are compared"
        )
    wanted = (True, return_index, return_inverse, return_counts)
    result = np.unique(known(ar), return_index=True, return_inverse=True, return_counts=True)
    parts = [numbers(part) for part, is_wanted in zip(result, wanted, strict=True) if is_wanted]
    return parts[0] if len(parts) == 1 else Outputs(parts)


def _where(condition, x=None, y=None):
    if x is None or y is None:
        raise refuse("where(condition) gives indices", "write where(condition, x, y)")
    return op.where(mask(condition), x, y)


def _select(condlist, choicelist, default=0):
    out = array(default)
    for condition, choice in reversed(
        list(zip(array_list(condlist), array_list(choicelist), strict=True))
    ):
        out = op.where(mask(condition), choice, out)
    return op.expand(out, shape=broadcast(*(c.shape for c in array_list(choicelist)), out.shape))


def choose(a, choices):
    """For each element k of a, the element of choices[k] at the same index."""
    parts = array_list(choices)
    out = parts[0]
    for k, choice in enumerate(parts[1:], 1):
        out = op.where(op.eq(a, k), choice, out)
    return out


# ---- products ------------------------------------------------------------------------------------


def dot(a, b):
    """The sum of products over the last axis of a and the last but one of b, or its only one; for
    a number, the product.
    """
    if 0 in (a.ndim, b.ndim):
        return a * b
    if b.ndim == 1 or max(a.ndim, b.ndim) <= 2:
        return op.matmul(a, b)
    return op.tensordot(a, b, dims=((a.ndim - 1,), (b.ndim - 2,)))


def _inner(a, b):
    return a * b if 0 in (a.ndim, b.ndim) else op.inner(*promoted(a, b))


def _einsum(*operands):
    if isinstance(operands[0], str):
        return op.einsum(operands[0], *promoted(*map(array, operands[1:])))
    return op.einsum(*operands)


def _tensordot(a, b, axes=2):
    if isinstance(axes, tuple):
        axes = tuple(several(part) for part in axes)
    return op.tensordot(a, b, dims=axes)


def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = op.movedim(a, axisa, -1), op.movedim(b, axisb, -1)
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return op.movedim(op["linalg.cross"](*op.broadcast_tensors(a, b), dim=-1), -1, axisc)


def _trace(a, offset=0, axis1=0, axis2=1):
    if (offset, axis1, axis2, a.ndim) == (0, 0, 1, 2):
        return op.trace(a)
    return op.sum(op.diagonal(a, offset=offset, dim1=axis1, dim2=axis2), dim=-1)


def convolve(a, v, mode="full"):
    """The sums of products of a with v reversed, at each shift."""
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    return _part_of_full(_full(a, v), mode, a.shape[0], v.shape[0], (v.shape[0] - 1) // 2)


def _full(a: Node, v: Node) -> Node:
    return op.conv_transpose1d(a[None, None], v[None, None])[0, 0]


def _part_of_full(full: Node, mode: str, long: int, short: int, start: int) -> Node:
    if mode not in ("full", "same", "valid"):
        raise GradcliError("arguments", f"mode must be 'full', 'same' or 'valid', got {mode!r}")
    if mode == "full":
        return full
    first, count = (start, long) if mode == "same" else (short - 1, long - short + 1)
    return part(full, first, first + count, 0)


def _correlate(a, v, mode="valid"):
    kernel = op.flip(v, dims=(0,))
    if a.shape[0] >= v.shape[0]:
        return convolve(a, kernel, mode)
    return _part_of_full(_full(kernel, a), mode, v.shape[0], a.shape[0], a.shape[0] // 2)


# ---- polynomials, from the highest power down ----------------------------------------------------


def _polyval(p, x):
    if p.shape[0] > MOST_POWERS:
        message = (
            f"polyval() of {p.shape[0]:,} coefficients, but at most {MOST_POWERS:,} are allowed"
        )
        raise GradcliError("limit", message, hint="sum(p * x ** k) accepts more")
    out = op.zeros(x.shape)
    for k in range(p.shape[0]):
        out = out * x + p[k] if k else op.expand(p[k], shape=x.shape)
    return out


def _aligned(combine: Callable) -> Callable:
    def combined(a1, a2):
        a, b = op.atleast_1d(a1), op.atleast_1d(a2)
        size = max(a.shape[0], b.shape[0])
        a, b = (op.constant_pad_nd(p, (size - p.shape[0], 0), 0) for p in (a, b))
        return combine(a, b)

    return combined


def _polyder(p, m=1):
    for _ in range(min(m, p.shape[0])):
        p = p[:-1] * op.arange(start=max(p.shape[0] - 1, 0), end=0, step=-1)
    return p


def _polyint(p, m=1, k=None):
    if k is not None and k != 0:
        raise refuse("polyint() with constants", "append them to the result with k=0")
    bounded(m, m)
    for _ in range(m):
        p = op.constant_pad_nd(p / op.arange(start=p.shape[0], end=0, step=-1), (0, 1), 0)
    return p


def _poly(seq_of_zeros):
    out = numbers(np.array([1.0]))
    for zero in array_list(seq_of_zeros):
        out = op.cat([out, op.zeros((1,))], 0) - op.cat([op.zeros((1,)), zero * out], 0)
    return out


# ---- differences and interpolation ---------------------------------------------------------------


def _diff(a, n=1, axis=-1, prepend=None, append=None):
    ends = {"prepend": prepend, "append": append}
    ends = {k: _end(array(e), a, axis) for k, e in ends.items() if e is not None}
    return op.diff(a, n=n, dim=axis, **ends)


def _end(value: Node, a: Node, axis: int) -> Node:
    axis = axis_of(axis, a.ndim)
    shape = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    return value if value.ndim else op.expand(value, shape=shape)


def _gradient(f, *varargs, axis=None, edge_order=1):
    over = range(f.ndim) if axis is None else axes(axis, f.ndim)
    steps = varargs * (len(over) if len(varargs) == 1 else 1) or (1,) * len(over)
    out = [
        op.gradient(f, spacing=s if isinstance(s, int | float) else (array(s),), dim=d,
                    edge_order=edge_order)[0]
        for s, d in zip(steps, over, strict=True)
    ]  # fmt: skip
    return out[0] if len(out) == 1 else Outputs(out)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation between points (xp, fp) whose xp increase; beyond them `left` and
    `right`, by default the first and the last fp.
    """
    if period is not None:
        raise refuse("interp() with a period", "take x % period, and points beyond both ends")
    after = op.clamp(op.searchsorted(xp, x, right=True), 1, xp.shape[0] - 1)
    x0, y0 = op.take(xp, after - 1), op.take(fp, after - 1)
    slope = (op.take(fp, after) - y0) / (op.take(xp, after) - x0)
    out = op.where(x < xp[0], fp[0] if left is None else left, y0 + (x - x0) * slope)
    return op.where(x > xp[-1], fp[-1] if right is None else right, out)


def _unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    step = op.diff(p, dim=axis)
    half = period / 2
    wrapped = op.remainder(step + half, period) - half
    wrapped = op.where(op.eq(wrapped, -half) & (step > 0), half, wrapped)
    small = op.abs(step) < (half if discont is None else max(discont, half))
    change = op.where(small, 0.0, wrapped - step)
    first = part(p, 0, 1, axis)
    rest = part(p, 1, p.shape[axis], axis) + op.detach(op.cumsum(change, dim=axis))
    return op.cat([first, rest], dim=axis)


def _ediff1d(ary, to_end=None, to_begin=None):
    parts = (to_begin, op.diff(op.flatten(ary)), to_end)
    return op.cat([op.flatten(array(part)) for part in parts if part is not None], dim=0)


# ---- arrays of numbers ---------------------------------------------------------------------------


def _arange(start, stop=None, step=1):
    if not all(isinstance(n, int | float | None) for n in (start, stop, step)):
        raise GradcliError("arguments", "arange() takes numbers")
    start, stop = (0, start) if stop is None else (start, stop)
    return op.arange(start=start, end=stop if (stop - start) * step >= 0 else start, step=step)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Evenly spaced numbers from start to stop."""
    if retstep:
        raise refuse("linspace() with retstep=", "write the step out")
    if axis != 0:
        return op.movedim(linspace(start, stop, num, endpoint), 0, axis)
    if endpoint and all(isinstance(n, int | float) for n in (start, stop)):
        return op.linspace(start, stop, num)
    start, stop = array(start), array(stop)
    shape = broadcast(start.shape, stop.shape)
    steps = op.reshape(op.arange(end=num), (num, *(1,) * len(shape)))
    return start + (stop - start) * steps / (max(num - 1, 1) if endpoint else num)


def _logspace(start, stop, num=50, endpoint=True, base=10.0):
    return op.pow(base, linspace(start, stop, num, endpoint))


def _geomspace(start, stop, num=50, endpoint=True):
    return op.exp(linspace(op.log(array(start)), op.log(array(stop)), num, endpoint))


def _trapezoid(y, x=None, dx=1.0, axis=-1):
    """PyTorch's trapezoid(). y and x of different ranks are refused, because there PyTorch takes
    other axes than NumPy.
    """
    y = array(y)
    if x is None:
        return op.trapezoid(y, dx=dx, dim=axis)
    x = array(x)
    if x.ndim not in (1, y.ndim):
        raise refuse("trapezoid() of y and x of different ranks", "broadcast y to the shape of x")
    return op.trapezoid(y, x, dim=axis)


def _full_of(shape, fill_value, dtype=None):
    value = array(fill_value)
    if isinstance(fill_value, int | float):
        return op.full(several(shape), fill_value)
    return op.expand(value, shape=several(shape))


def full_like(a, fill_value):
    """An array of the shape and kind of a; the number is converted to this kind."""
    a = array(a)
    out = _full_of(a.shape, fill_value)
    return mask(out) if a.dtype == "bool" else op.long(out) if a.dtype == "int" else out


def _eye(N, M=None, k=0, dtype=None):
    M = N if M is None else M
    return op.eye(N, M) if k == 0 else numbers(np.eye(*bounded(N, M), k))


def _constant(name: str) -> Callable:
    return lambda M, *more: numbers(getattr(np, name)(*bounded(M), *more))


def _index_arrays(name: str) -> Callable:
    def places(n, *more, **named):
        bounded(n, n)
        return tuple(map(numbers, getattr(np, name)(n, *more, **named)))

    return places


def _cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    m = m if y is None else op.cat([op.atleast_2d(m), op.atleast_2d(y)], 0)
    m = m if rowvar or m.ndim < 2 else op["T"](m)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = {"fweights": fweights, "aweights": aweights}
    weights = {name: array(w) for name, w in weights.items() if w is not None}
    return op.cov(m, correction=correction, **weights)


def _corrcoef(x, y=None, rowvar=True):
    x = x if y is None else op.cat([op.atleast_2d(x), op.atleast_2d(y)], 0)
    return op.corrcoef(x if rowvar or x.ndim < 2 else op["T"](x))


def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if all(isinstance(n, int | float | None) for n in (low, high)):
        return a if low is high is None else op.clamp(a, low, high)
    a = a if low is None else op.maximum(a, array(low))
    return a if high is None else op.minimum(a, array(high))


def _round(a, decimals=0):
    if a.dtype != "float" and decimals >= 0:
        return op.long(a) if a.dtype == "bool" else a
    return op.round(floats(a), decimals=decimals)


def _remainder(x1, x2):
    """remainder(), except that a remainder of 0 has the sign of x2."""
    left = op.remainder(x1, x2)
    return op.signed_zeros(left, x2) if left.dtype == "float" else left


def _divmod(x1, x2):
    return Outputs((_floor_divide(x1, x2), _remainder(x1, x2)))


def _floor_divide(x1, x2):
    return op.floor_divide(op.detach(x1), op.detach(x2))


def sign(x):
    """-1, 0 or 1, and nan where x is nan."""
    return op.where(op.isnan(x), math.nan, op.sign(x)) if x.dtype == "float" else op.sign(x)


def _heaviside(x1, x2):
    return op.where(op.isnan(x1), x1, op.where(op.eq(x1, 0), x2, op.double(x1 > 0)))


def _modf(x):
    left = op.signed_zeros(op.unless(op.isinf(x), op.fmod(x, 1.0), instead=0.0), x)
    return Outputs((left, op.trunc(x)))


def _reshaped(a, shape=None, newshape=None):
    return op.reshape(a, several(newshape if shape is None else shape))


def _equal(a1, a2):
    return a1.shape == a2.shape and op.equal(a1, a2)


def _as(kind: str) -> Callable:
    return lambda x=0.0: op[kind](array(x)) if kind != "bool" else mask(x)


def angle_by(arctangent: str) -> Callable:
    """NumPy's angle() of real numbers, computed with the operator `arctangent` of two arguments."""

    def angle(z, deg=False):
        return (op.rad2deg if deg else op.clone)(op[arctangent](op.zeros_like(z), z))

    return angle


# Operators with the same name and meaning.
ELEMENTWISE = """
    abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh acos acosh asin asinh
    atan atan2 atanh ceil copysign cos cosh deg2rad divide exp exp2 expm1 float_power
    floor fmax fmin fmod greater greater_equal hypot i0 isfinite isinf
    isnan isneginf isposinf isreal less less_equal log log10 log1p log2 logaddexp
    logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum multiply negative
    nextafter not_equal positive pow rad2deg real reciprocal signbit sin sinc
    sinh sqrt square subtract tan tanh true_divide trunc bitwise_and bitwise_or bitwise_xor
    bitwise_not bitwise_left_shift bitwise_right_shift conj
"""
ARRAYS: dict[str, Any] = {
    # elementwise
    **{name: name for name in ELEMENTWISE.split()},
    **{"equal": "eq", "fabs": "abs", "power": "pow", "rint": "round"},
    **{"degrees": "rad2deg"},
    **{"radians": "deg2rad", "conjugate": "conj", "invert": "bitwise_not"},
    **{"left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"},
    **{"bitwise_invert": "bitwise_not", "cbrt": "cbrt"},
    "angle": angle_by("atan2"),
    "imag": lambda val: op.zeros_like(val),  # all numbers are real
    "around": _round,
    "round": _round,
    "clip": _clip,
    "divmod": _divmod,
    "floor_divide": _floor_divide,
    **dict.fromkeys(("mod", "remainder"), _remainder),
    "heaviside": _heaviside,
    "ldexp": lambda x1, x2: op.ldexp(x1, floats(x2)),  # in floats, because 2 ** -1 is no integer
    "modf": _modf,
    "sign": sign,
    "frexp": lambda x: op.frexp(x),
    "nan_to_num": lambda x, copy=True, nan=0.0, posinf=None, neginf=None: op.nan_to_num(
        x, nan=nan, posinf=posinf, neginf=neginf
    ),
    "unwrap": _unwrap,
    "where": _where,
    "select": _select,
    "choose": choose,
    "interp": interp,
    "astype": lambda x, dtype=None: x,
    "copy": lambda a: op.clone(a),
    **dict.fromkeys(("float64", "float32", "float16", "double", "single"), _as("double")),
    **dict.fromkeys(("int64", "int32"), _as("long")),
    "bool_": _as("bool"),
    # along axes
    "sum": _reduced("sum", empty=0.0),
    "max": _reduced("amax"),
    "amax": _reduced("amax"),
    "min": _reduced("amin"),
    "amin": _reduced("amin"),
    "prod": _prod,
    "mean": _mean,
    "var": _spread("var"),
    "std": _spread("std"),
    "average": _average,
    "ptp": lambda a, axis=None, *, keepdims=False: (
        op.amax(a, **along(a, axis, keepdims)) - op.amin(a, **along(a, axis, keepdims))
    ),
    "all": lambda a, axis=None, *, keepdims=False: op.all(mask(a), **along(a, axis, keepdims)),
    "any": lambda a, axis=None, *, keepdims=False: op.any(mask(a), **along(a, axis, keepdims)),
    "count_nonzero": lambda a, axis=None, *, keepdims=False: op.sum(
        op.long(mask(a)), **along(a, axis, keepdims)
    ),
    "nansum": lambda a, axis=None, dtype=None, *, keepdims=False: op.nansum(
        a, **along(a, axis, keepdims)
    ),
    "nanmean": lambda a, axis=None, dtype=None, *, keepdims=False: op.nanmean(
        a, **along(a, axis, keepdims)
    ),
    "nanprod": lambda a, axis=None, dtype=None, *, keepdims=False: _prod(
        without_nan(a, 1.0), axis, keepdims=keepdims
    ),
    "nanmax": _nan_extreme("amax", -math.inf),
    "nanmin": _nan_extreme("amin", math.inf),
    "nanvar": _nan_var,
    "nanstd": lambda a, axis=None, dtype=None, *, ddof=0, keepdims=False: op.sqrt(
        _nan_var(a, axis, ddof=ddof, keepdims=keepdims)
    ),
    "median": _median("quantile"),
    "nanmedian": _median("nanquantile"),
    "quantile": _quantile("quantile"),
    "nanquantile": _quantile("nanquantile"),
    "percentile": _quantile("quantile", _hundredths),
    "nanpercentile": _quantile("nanquantile", _hundredths),
    "sort": _sort,
    "argsort": _argsort,
    "argmax": _indices("argmax"),
    "argmin": _indices("argmin"),
    "nanargmax": _indices("argmax", -math.inf),
    "nanargmin": _indices("argmin", math.inf),
    "cumsum": _running("cumsum"),
    "cumprod": _running("cumprod"),
    "nancumsum": _running("cumsum", 0.0),
    "nancumprod": _running("cumprod", 1.0),
    "cumulative_sum": _cumulative("cumsum", 0.0),
    "cumulative_prod": _cumulative("cumprod", 1.0),
    "diff": _diff,
    "ediff1d": _ediff1d,
    "gradient": _gradient,
    "trapezoid": _trapezoid,
    "cov": _cov,
    "corrcoef": _corrcoef,
    # shapes
    "reshape": _reshaped,
    "ravel": lambda a: op.flatten(a),
    "transpose": _transpose,
    "permute_dims": _transpose,
    "matrix_transpose": lambda x: op.matrix_transpose(x),
    "swapaxes": lambda a, axis1, axis2: op.transpose(a, dim0=axis1, dim1=axis2),
    "moveaxis": lambda a, source, destination: op.movedim(a, source, destination),
    "rollaxis": _rollaxis,
    "squeeze": _squeeze,
    "expand_dims": _expand_dims,
    "atleast_1d": _each("atleast_1d"),
    "atleast_2d": _each("atleast_2d"),
    "atleast_3d": _each("atleast_3d"),
    "broadcast_to": lambda array, shape: op.expand(array, shape=several(shape)),
    "broadcast_arrays": lambda *arrays: op.broadcast_tensors(*map(array, arrays)),
    "broadcast_shapes": lambda *shapes: broadcast(*map(several, shapes)),
    "concatenate": _concatenate,
    "concat": _concatenate,
    "stack": lambda arrays, axis=0: op.stack(array_list(arrays), dim=axis),
    "unstack": lambda x, *, axis=0: op.unbind(x, axis),
    "hstack": lambda tup: op.hstack(array_list(tup)),
    "vstack": lambda tup: op.vstack(array_list(tup)),
    "dstack": lambda tup: op.dstack(array_list(tup)),
    "column_stack": lambda tup: op.column_stack(array_list(tup)),
    "append": _append,
    "insert": WithKnownNumbers(("obj",), _insert),
    "delete": WithKnownNumbers(("obj",), _delete),
    "resize": _resize,
    "block": lambda arrays: _block(arrays),
    "split": WithKnownNumbers(("indices_or_sections",), _split_by(evenly=True)),
    "array_split": WithKnownNumbers(("indices_or_sections",), _split_by(evenly=False)),
    "hsplit": WithKnownNumbers(("indices_or_sections",), _split_along(1)),
    "vsplit": WithKnownNumbers(("indices_or_sections",), _split_along(0)),
    "dsplit": WithKnownNumbers(("indices_or_sections",), _split_along(2)),
    "tile": WithKnownNumbers(("reps",), _tile),
    "repeat": WithKnownNumbers(("repeats",), _repeat),
    "roll": _roll,
    "flip": _flip,
    "fliplr": lambda m: op.fliplr(m),
    "flipud": lambda m: op.flipud(m),
    "rot90": lambda m, k=1, axes=(0, 1): op.rot90(m, k, axes),
    "pad": WithKnownNumbers(("pad_width",), _pad),
    "meshgrid": _meshgrid,
    # elements by index
    "take": _take,
    "take_along_axis": _take_along_axis,
    "compress": WithKnownNumbers(("condition",), _compress),
    "extract": WithKnownNumbers(("condition",), lambda condition, arr: _compress(
        np.ravel(np.array(known(condition))).tolist(), arr
    )),
    "diag": lambda v, k=0: op.diag(v, diagonal=k),
    "diagflat": lambda v, k=0: op.diagflat(v, k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: op.diagonal(
        a, offset=offset, dim1=axis1, dim2=axis2
    ),
    "tril": lambda m, k=0: op.tril(m, diagonal=k),
    "triu": lambda m, k=0: op.triu(m, diagonal=k),
    "searchsorted": lambda a, v, side="left": op.searchsorted(a, v, side=side),
    "digitize": lambda x, bins, right=False: op.bucketize(x, array(bins), right=not right),
    "unique": WithKnownNumbers(("ar",), _unique),
    "bincount": WithKnownNumbers(("x",), _bincount),
    "isin": lambda element, test_elements: op.isin(array(element), array(test_elements)),
    # products
    "dot": dot,
    "matmul": "matmul",
    "inner": _inner,
    "outer": lambda a, b: op.outer(op.flatten(a), op.flatten(b)),
    "vdot": lambda a, b: op.dot(op.flatten(a), op.flatten(b)),
    "vecdot": lambda x1, x2, *, axis=-1: op.vecdot(array(x1), array(x2), dim=axis),
    "matvec": lambda x1, x2: op.matmul(x1, x2[..., None])[..., 0],
    "vecmat": lambda x1, x2: op.matmul(x1[..., None, slice(None)], x2)[..., 0, slice(None)],
    "tensordot": _tensordot,
    "einsum": _einsum,
    "kron": lambda a, b: op.kron(a, b),
    "cross": _cross,
    "trace": _trace,
    "convolve": convolve,
    "correlate": _correlate,
    "vander": lambda x, N=None, increasing=False: op.vander(x, N=N, increasing=increasing),
    "polyval": _polyval,
    "polyadd": _aligned(lambda a, b: a + b),
    "polysub": _aligned(lambda a, b: a - b),
    "polymul": lambda a1, a2: convolve(op.atleast_1d(a1), op.atleast_1d(a2)),
    "polyder": WithKnownNumbers(("m",), _polyder),
    "polyint": WithKnownNumbers(("m",), _polyint),
    "poly": _poly,
    # arrays of numbers
    "arange": _arange,
    "linspace": linspace,
    "logspace": _logspace,
    "geomspace": _geomspace,
    "zeros": lambda shape, dtype=None: op.zeros(several(shape)),
    "ones": lambda shape, dtype=None: op.ones(several(shape)),
    "full": _full_of,
    "zeros_like": lambda a: op.zeros_like(a),
    "ones_like": lambda a: op.ones_like(a),
    "full_like": full_like,
    "eye": _eye,
    "identity": lambda n: op.eye(n),
    "tri": lambda N, M=None, k=0: op.tril(op.ones((N, N if M is None else M)), diagonal=k),
    **{name: _constant(name) for name in ("hanning", "hamming", "blackman")},
    **{name: _constant(name) for name in ("bartlett", "kaiser")},
    **{name: _index_arrays(name) for name in ("tril_indices", "triu_indices", "diag_indices")},
    "ix_": lambda *args: tuple(map(numbers, np.ix_(*(np.array(known(a)) for a in args)))),
    "nonzero": WithKnownNumbers(
        ("a",), lambda a: tuple(map(numbers, np.nonzero(known(a)))), floats=True
    ),
    "flatnonzero": WithKnownNumbers(
        ("a",), lambda a: numbers(np.flatnonzero(known(a))), floats=True
    ),
    "indices": lambda dimensions: numbers(np.indices(bounded(*dimensions))),
    # comparisons of arrays
    "allclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: op.allclose(
        a, b, rtol, atol, equal_nan
    ),
    "isclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: op.isclose(
        a, b, rtol, atol, equal_nan
    ),
    "array_equal": _equal,
}  # fmt: skip


def _item(a, *args):
    if not args:
        return op.reshape(a, ())
    index = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    return (op.flatten(a) if len(index) == 1 else a)[index]


NOT_IN_JAX: dict[str, Any] = {
    "fix": "fix",
    "real_if_close": "real",
    "row_stack": lambda tup: op.vstack(array_list(tup)),
}
METHODS: dict[str, Any] = {"item": _item}  # methods of arrays that are not functions of numpy


def _rolled_by_half(sign: int) -> Callable:
    def shift(x, axes=None):
        for d in range(x.ndim) if axes is None else several(axes):
            half = x.shape[d] // 2
            x = op.roll(x, half if sign > 0 else -half, dims=d)
        return x

    return shift


FFT: dict[str, Any] = {"fftshift": _rolled_by_half(1), "ifftshift": _rolled_by_half(-1)}


# ---- methods of ufuncs ---------------------------------------------------------------------------


def _outer_of(name: str) -> Callable:
    def outer(A, B):
        A, B = array(A), array(B)
        return op[name](op.reshape(A, (*A.shape, *(1,) * B.ndim)), B)

    return outer


def _reduction_of(name: str) -> Callable:
    def reduce(array, axis=0, dtype=None, *, keepdims=False, initial=None):
        first = {} if initial is None else {"initial": initial}
        return ARRAYS[name](array, axis, keepdims=keepdims, **first)

    return reduce


def _accumulation_of(name: str) -> Callable:
    return lambda array, axis=0, dtype=None: op[name](array, dim=axis)


def _running_extreme(name: str) -> Callable:
    return lambda array, axis=0: op[name](array, dim=axis)[0]


def _log_sum(array, axis=0, dtype=None, *, keepdims=False):
    over = tuple(range(array.ndim)) if axis is None else axis
    return op.logsumexp(array, **along(array, over, keepdims))


def _methods(outer: str, reduce: Callable, accumulate: Callable) -> dict[str, Any]:
    return {"reduce": reduce, "accumulate": accumulate, "outer": _outer_of(outer)}


ADD = _methods("add", _reduction_of("sum"), _accumulation_of("cumsum"))
MULTIPLY = _methods("mul", _reduction_of("prod"), _accumulation_of("cumprod"))
MAXIMUM = _methods("maximum", _reduction_of("max"), _running_extreme("cummax"))
MINIMUM = _methods("minimum", _reduction_of("min"), _running_extreme("cummin"))
LOGADDEXP = _methods("logaddexp", _log_sum, _accumulation_of("logcumsumexp"))
SUBTRACT: dict[str, Any] = {"outer": _outer_of("sub")}
DIVIDE: dict[str, Any] = {"outer": _outer_of("div")}
POWER: dict[str, Any] = {"outer": _outer_of("pow")}
