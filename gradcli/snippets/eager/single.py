"""Operators in float32 with the rounding of PyTorch's CPU kernels.

The steps are those of the kernels: cascade sums, fused multiply-adds, intermediate results in
double precision. So results agree with PyTorch's to the last digit; those of matrix products only
if the matrices are small.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...graphs.shapes import axes
from ...lazy import np
from ...operators.arithmetic import SHORT_POWERS
from ...operators.precision import by_python
from ...operators.shaping import summed_axes
from . import libm

_erf = by_python("erf")
LANES = 8  # floats in a vector register
BRANCHES = 4  # partial sums of a row that are computed at the same time
BLOCK = 16  # terms that are added before their sum is added to the next level
LEVELS = 4  # of a cascade sum
# Matrix products with more terms in an element, and more terms in all elements together, are
# computed by NumPy.
LONGEST, MOST_TERMS = 128, 1 << 18
PACKED = 4, 12  # least numbers of rows and columns for which products use fused multiply-adds
SMALL_PRODUCT = 400  # terms up to which a product in a batch is computed with plain loops
PANEL = 192  # terms whose sum is added to those of other panels
# Fused multiply-adds are used for all rows, not only for groups of four, if there are at most TILE
# columns and terms, or more than TILED_ROWS rows.
TILE, TILED_ROWS = 16, 12

Kernel = Callable[..., Any]
KERNELS: dict[str, Kernel] = {}
BACKWARDS: dict[str, Kernel] = {}  # (g, *inputs, output) -> the gradient of the first input
CONDITIONS: dict[str, Callable[..., bool]] = {  # when a kernel applies, if not always
    "vector_norm": lambda x, *, dim, keepdim, ord: (
        ord == 2 and x.size > 0 and len(axes(dim, x.ndim)) in (1, x.ndim)
    ),
}


def composite(name: str, arrays: Sequence[Any]) -> Kernel | None:
    """The kernel of a composite operator; None if there is none or some floats are not float32."""
    return KERNELS.get(name) if _single(arrays) else None


def kernel_of(name: str, otherwise: Kernel) -> Kernel:
    """The function that computes an operator: the kernel of this file if it has one and all floats
    are float32, else `otherwise`.
    """
    kernel = KERNELS.get(name)
    if kernel is None:
        return otherwise
    takes = CONDITIONS.get(name)

    def value(*arrays: Any, **attrs: Any) -> Any:
        if not _single(arrays) or (takes is not None and not takes(*arrays, **attrs)):
            return otherwise(*arrays, **attrs)
        result = kernel(*arrays, **attrs)
        return otherwise(*arrays, **attrs) if result is NotImplemented else result

    return value


def _kernel(*names: str) -> Callable[[Kernel], Kernel]:
    def note(function: Kernel) -> Kernel:
        KERNELS.update(dict.fromkeys(names, function))
        return function

    return note


def _single(arrays: Sequence[Any]) -> bool:
    """Whether at least one array is of floats, and all such arrays are float32."""
    dtypes = [a.dtype for a in arrays if isinstance(a, np.ndarray | np.generic)]
    return np.float32 in dtypes and all(d == np.float32 or d.kind in "bi" for d in dtypes)


def fused_sum(name: str, a: Any, b: Any, alpha: Any) -> Any:
    """`a + alpha * b`, or `a - alpha * b` if `name` is "sub", rounded once."""
    return fused(-alpha if name == "sub" else alpha, b, a)


def fused(a: Any, b: Any, c: Any) -> Any:
    """a * b + c in float32, rounded once: the float64 product of two float32 numbers is exact."""
    return (_double(a) * _double(b) + _double(c)).astype(np.float32)


def fused_double(a: Any, b: Any, c: Any) -> Any:
    """a * b + c in float64, rounded once: the rounding errors of the product (Dekker 1971) and of
    the sum (Knuth) are computed, and added to the sum.
    """
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    added = total - product
    return total + ((product - (total - added)) + (c - added) + error)


def _halves(x: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits whose sum is x."""
    scaled = (2.0**27 + 1) * x
    high = scaled - (scaled - x)
    return high, x - high


def _double(x: Any) -> Any:
    """float32 converted to float64; other values unchanged."""
    return np.asarray(x, np.float32).astype(np.float64)


# ---- exponentials --------------------------------------------------------------------------------

INVERSE, HIGH, LOW = np.float32(1.44269502), np.float32(0.693145752), np.float32(1.42860677e-06)
SERIES = (0.000198527618, 0.00139304355, 0.00833336078, 0.0416664854, 0.166666672, 0.5)
SMALLEST, LARGEST = -104, 100  # the result is 0 below, and inf above


def _exp(x: Any) -> Any:
    return np.exp(_double(x)).astype(np.float32)


def _vector_exp(x: Any) -> Any:
    """Sleef's exponential, which PyTorch uses for vectors of floats."""
    power = np.rint(x * INVERSE)
    rest = fused(power, -LOW, fused(power, -HIGH, x))
    series = np.full_like(rest, SERIES[0])
    for coefficient in SERIES[1:]:
        series = fused(series, rest, np.float32(coefficient))
    series = np.float32(1) + fused(rest * rest, series, rest)
    inside = np.where(np.abs(x) < 1000, power, 0).astype(int)
    result = np.ldexp(series, inside).astype(np.float32)
    return np.where(x < SMALLEST, np.float32(0), np.where(x > LARGEST, np.float32(np.inf), result))


def _in_vectors(size: int) -> int:
    """How many of `size` elements a vectorised loop processes; the rest is computed one by one."""
    return size // (4 * LANES) * 4 * LANES


def _exp_by_vectors(x: Any) -> Any:
    """exp: Sleef's for the elements that are computed in vectors, the C library's for the rest."""
    count = _in_vectors(np.size(x))
    if not count:
        return _exp(x)
    flat = x.ravel()
    return np.concatenate([_vector_exp(flat[:count]), _exp(flat[count:])]).reshape(x.shape)


LN2 = float(np.float32(0.69314718246459960938)) + float(np.float32(-1.904654323148236017e-09))
LOG_SERIES = 0.3027294874, 0.3996108174, 0.6666694880  # of log((1 + q) / (1 - q)) / q, from q ** 6


@_kernel("log1p")
def _vector_log1p(x: Any) -> Any:
    """Sleef's log1p: 1 + x is 2 ** k * (1 + m), with a series in q = m / (2 + m)."""
    x, one = np.asarray(x, np.float32), np.float32(1)
    with np.errstate(all="ignore"):
        k = np.frexp((x + one) * np.float32(1 / 0.75))[1] - 1
        scale = np.ldexp(one, -k).astype(np.float32)
        m = fused(x, scale, scale - one)
        q = m * (one / (m + np.float32(2)))
        square, series = q * q, np.float32(LOG_SERIES[0])
        for coefficient in LOG_SERIES[1:]:
            series = fused(series, square, np.float32(coefficient))
        start = k * LN2 + 2 * (_double(m) / (_double(m) + 2))
        result = (start + _double(square * q * series)).astype(np.float32)
        return np.where((x > -one) & (x < np.inf), result, np.log1p(x))


def _log1p_by_vectors(x: Any) -> Any:
    """Sleef's log1p for elements in whole vectors, the C library's for the rest."""
    count = _in_vectors(np.size(x))
    if not count:
        return libm.log1p(x)
    flat = x.ravel()
    return np.concatenate([_vector_log1p(flat[:count]), libm.log1p(flat[count:])]).reshape(x.shape)


# ---- sums ----------------------------------------------------------------------------------------


@_kernel("sum")
def sum_along(x: Any, *, dim: Any, keepdim: bool) -> Any:
    """The sum along the dimensions `dim`."""
    return total(x, axes(dim, np.ndim(x)), keepdim)


def total(x: Any, axis: tuple[int, ...], keepdims: bool = False) -> Any:
    """The sum along the dimensions `axis`."""
    x = np.asarray(x)
    shape = [1 if d in axis else n for d, n in enumerate(x.shape)]
    if not keepdims:
        shape = [n for d, n in enumerate(x.shape) if d not in axis]
    if not x.size:
        return np.zeros(shape, np.float32)
    if all(x.shape[d] == 1 for d in axis):
        return x.reshape(shape) + np.float32(0)  # the sum starts at 0: -0 becomes 0
    return _sums_along(x, axis).reshape(shape)


@_kernel("sum_to_size")
def sum_to_size(x: Any, *, shape: tuple[int, ...]) -> Any:
    """The sum over the broadcast dimensions, in the shape `shape`."""
    return total(x, summed_axes(x.shape, shape), keepdims=True).reshape(shape)


@_kernel("nansum")
def nansum(x: Any, *, dim: Any, keepdim: bool) -> Any:
    """The sum along dimensions, without nan."""
    return total(np.where(np.isnan(x), np.float32(0), x), axes(dim, np.ndim(x)), keepdim)


@_kernel("mean")
def mean(x: Any, *, dim: Any, keepdim: bool) -> Any:
    """The mean along dimensions."""
    axis = axes(dim, np.ndim(x))
    count = np.prod([np.shape(x)[d] for d in axis])
    return total(x, axis, keepdim) / np.float32(count)


def _sums_along(x: Any, axis: tuple[int, ...]) -> Any:
    """The sums along the dimensions `axis`, flattened; terms are added in the order of memory."""
    by_stride = sorted((d for d in axis if x.shape[d] > 1), key=lambda d: abs(x.strides[d]))
    others = [d for d in range(x.ndim) if d not in axis]
    groups = _merged_sizes(x, by_stride)
    unreduced = sorted((d for d in others if x.shape[d] > 1), key=lambda d: abs(x.strides[d]))
    steps = (
        x.strides[by_stride[0]] if by_stride else 4,
        x.strides[unreduced[0]] if unreduced else 0,
    )
    transposed = x.transpose(
        [*reversed(by_stride), *(d for d in axis if d not in by_stride), *others]
    )
    outer = [x.shape[d] for d in others]
    columns = int(np.prod(outer, dtype=int))
    rows = transposed.reshape((-1, columns))
    if len(groups) < 2:
        return _rows(rows, x.shape[unreduced[0]] if unreduced else 1, steps).reshape(outer)
    inner = rows.reshape((-1, groups[0], columns))
    parts = [_rows(part, groups[1], (steps[0], steps[0] + 1)) for part in inner]
    return _one_by_one(np.stack(parts)).reshape(outer)


def _merged_sizes(x: Any, dims: Sequence[int]) -> list[int]:
    """The sizes of `dims`, innermost first; dimensions without a gap between them are joined."""
    sizes: list[int] = []
    step = 0
    for d in dims:
        if sizes and x.strides[d] == step:
            sizes[-1] *= x.shape[d]
        else:
            sizes.append(x.shape[d])
        step = x.strides[d] * x.shape[d]
    return sizes


def _rows(rows: Any, across: int, steps: tuple[int, int]) -> Any:
    """The sums of the columns of a matrix, in the order of the kernel for this layout.

    `steps` are the strides in bytes to the next row and the next column; only groups of `across`
    columns have the latter.
    """
    size, columns = rows.shape
    if steps[0] == 4 and size >= LANES:
        return _vectors(rows)
    if steps[1] == 4 and across >= LANES:
        width = BRANCHES * LANES
    elif steps[0] < steps[1]:
        return _branches(rows)
    else:
        width = BRANCHES
    grouped = across // width * width
    if size <= BRANCHES - 1 or not grouped:
        return _branches(rows) if size > BRANCHES - 1 else _one_by_one(rows)
    in_group = np.arange(columns) % across < grouped
    return np.where(in_group, _cascade(rows), _branches(rows))


def _vectors(rows: Any) -> Any:
    """Sums of columns that are contiguous in memory, by LANES partial sums."""
    count = len(rows) // LANES * LANES
    lanes = _branches(rows[:count].reshape((-1, LANES, *rows.shape[1:])))
    return _one_by_one(np.concatenate([_one_by_one(rows[count:])[None], lanes]))


def _branches(rows: Any) -> Any:
    """Sums of columns: BRANCHES partial cascade sums, which are added at the end."""
    count = len(rows) // BRANCHES * BRANCHES
    sums = _cascade(rows[:count].reshape((-1, BRANCHES, *rows.shape[1:])))
    first = _one_by_one(np.concatenate([sums[:1], rows[count:]]))
    return _one_by_one(np.concatenate([first[None], sums[1:]]))


def _cascade(rows: Any) -> Any:
    """Cascade sums of columns: sums of blocks, then of blocks of these, up to LEVELS times."""
    parts = []
    for _ in range(LEVELS - 1):
        blocks = len(rows) // BLOCK
        parts.append(_one_by_one(rows[blocks * BLOCK :]))
        if not blocks:
            break
        rows = rows[: blocks * BLOCK].reshape((blocks, BLOCK, *rows.shape[1:]))
        rows = np.add.accumulate(rows, axis=1)[:, -1]
    else:
        parts.append(_one_by_one(rows))
    return _one_by_one(np.stack(parts)) if len(parts) > 1 else parts[0]


def _one_by_one(rows: Any) -> Any:
    """Sums of columns, adding one row after the other; 0 if there are no rows."""
    if not len(rows):
        return np.zeros(rows.shape[1:], np.float32)
    return np.add.accumulate(rows, axis=0)[-1] + np.float32(0)


@_kernel("cumsum")
def cumsum(x: Any, *, dim: int) -> Any:
    """Cumulative sums, accumulated in double precision."""
    return (0 + np.cumsum(_double(x), axis=dim)).astype(np.float32) if np.ndim(x) else x


@_kernel("cumprod")
def cumprod(x: Any, *, dim: int) -> Any:
    """Cumulative products, accumulated in double precision."""
    return np.cumprod(_double(x), axis=dim).astype(np.float32) if np.ndim(x) else x


# ---- products of matrices ------------------------------------------------------------------------


@_kernel("matmul", "mm", "mv", "bmm", "dot")
def matmul(a: Any, b: Any) -> Any:
    """The matrix product; if it is small, terms are added in PyTorch's order."""
    length = a.shape[-1]
    if length == 1:
        return _outer(a, b)
    if not length or (length > LONGEST and a.size * b.size > length * MOST_TERMS):
        return np.matmul(a, b)
    if a.ndim == b.ndim == 1:
        return _dot(a, b)
    left = a[None] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    result = _of_two(left, right) if left.ndim == right.ndim == 2 else _of_many(left, right)
    result = result[..., 0] if b.ndim == 1 else result
    result = result[..., 0, :] if a.ndim == 1 else result
    return np.ascontiguousarray(result)  # PyTorch's result is contiguous, too


def _of_many(left: Any, right: Any) -> Any:
    """Products of two batches of matrices; small matrices are multiplied with plain loops."""
    rows, columns, length = left.shape[-2], right.shape[-1], left.shape[-1]
    if right.ndim == 2:
        return _of_two(left.reshape(-1, length), right).reshape(*left.shape[:-1], columns)
    if rows * columns * length < SMALL_PRODUCT:
        return _terms(left, right)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    lefts = np.broadcast_to(left, (*batch, rows, length)).reshape(-1, rows, length)
    rights = np.broadcast_to(right, (*batch, length, columns)).reshape(-1, length, columns)
    result = np.empty((len(lefts), rows, columns), np.float32)
    for number in range(len(lefts)):
        place = number * rows * columns
        result[number] = _of_two(lefts[number], rights[number], place, batched=True)
    return result.reshape(*batch, rows, columns)


def _of_two(left: Any, right: Any, place: int = 0, *, batched: bool = False) -> Any:
    """The product of two matrices. Whole groups of rows are computed by fused multiply-adds, the
    rest by small kernels.

    `place` is the position of the result in memory, in elements, on which the alignment of its rows
    depends.
    """
    (rows, length), columns = left.shape, right.shape[1]
    if rows == columns == 1 and right.strides[1] == 4:
        return _terms(left, right)
    if columns == 1 and left.strides[1] == 4:
        return _by_vector(left * right[:, 0])[:, None]
    if rows == 1 and right.strides[0] == 4:
        return _by_vector(right.T * left[0])[None]
    if rows < PACKED[0] or columns < PACKED[1]:
        return _small_product(left, right, place)
    tiled = batched or rows > TILED_ROWS or max(columns, length) <= TILE or length <= 4
    fused = rows if tiled else rows // 4 * 4
    result = _fused_terms(left[:fused], right)
    if fused < rows:
        rest = _small_product(left[fused:], right, place + fused * columns)
        result = np.concatenate([result, rest])
    return result


def _small_product(a: Any, b: Any, place: int) -> Any:
    """The product of two matrices by the small kernel for their layouts. `place` as in _of_two."""
    if a.strides[1] == b.strides[0] == 4:
        return _row_by_row(a, b)
    result = _terms(a, b)
    if b.strides[1] == 4 and len(b) >= 8 and (len(a) > 1 or place):
        _unaligned_starts(a, b, place, result)
    return result


def _outer(a: Any, b: Any) -> Any:
    """A matrix product with inner dimension 1; -0 becomes 0 if a factor has one row or column."""
    outer = np.ndim(a) == np.ndim(b) == 2 and min(len(a), b.shape[1]) > 1
    return a * b if outer else np.matmul(a, b)


def _terms(a: Any, b: Any) -> Any:
    """The matrix product, with the terms of each element added in order."""
    result = np.float32(0) + a[..., :, :1] * b[..., :1, :]  # sums start at 0, so that none is -0
    for k in range(1, a.shape[-1]):
        result = result + a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return result


def _fused_terms(a: Any, b: Any) -> Any:
    """A matrix product by fused multiply-adds within panels of terms, whose sums are added."""
    length = a.shape[1]
    panel = length if length <= PANEL else min(length // 2, PANEL)
    a, b = _double(a), _double(b)
    total = np.zeros((len(a), b.shape[1]), np.float32)
    for start in range(0, length, panel):
        sums = np.zeros_like(total)
        for k in range(start, min(start + panel, length)):
            sums = (a[:, k : k + 1] * b[k : k + 1] + sums).astype(np.float32)
        total = total + sums
    return total


def _unaligned_starts(a: Any, b: Any, place: int, result: Any) -> None:
    """Recompute, in each row of a result, the elements before the first that is aligned in memory
    to four floats: their terms are added in groups of eight.
    """
    columns = b.shape[1]
    for row in range(len(a)):
        before = -(place + row * columns) % 4
        if before and columns - before >= 4:
            result[row, :before] = _in_eights(a[row, :, None] * b[:, :before])


def _in_eights(terms: Any) -> Any:
    """Sums of columns by eight terms: four are added one by one, then the sum of four."""
    count = len(terms) // 8 * 8
    total = np.zeros(terms.shape[1:], np.float32)
    for start in range(0, count, 8):
        total = _one_by_one(np.concatenate([total[None], terms[start : start + 4]]))
        total = total + _one_by_one(terms[start + 4 : start + 8])
    return _one_by_one(np.concatenate([total[None], terms[count:]]))


def _row_by_row(a: Any, b: Any) -> Any:
    """A matrix product, four columns at a time with four partial sums for each element; the
    remaining columns have eight.

    The terms before the first aligned element of a row are added first.
    """
    start = a.__array_interface__["data"][0] // 4
    before = -(start + a.strides[0] // 4 * np.arange(len(a))) % 4
    fours = b.shape[1] // 4 * 4
    result = np.empty((len(a), b.shape[1]), np.float32)
    for first in set(before.tolist()):
        rows = before == first
        terms = np.moveaxis(a[rows][:, None, :] * b.T[None], 2, 0)
        result[rows, :fours] = _in_lanes(terms[..., :fours], first, 4)
        result[rows, fours:] = _in_lanes(terms[..., fours:], first, 8)
    return result


def _by_vector(terms: Any) -> Any:
    """Sums of rows, four rows at a time with four partial sums; the remaining rows have four or
    eight.

    If the length is no multiple of four, the first partial sum starts with the excess terms.
    """
    fours, length = len(terms) // 4 * 4, terms.shape[1]
    columns = terms.T
    sums = [_in_lanes(columns[:, :fours], (length - 1) % 4 + 1, 4)]
    for place, row in enumerate(terms[fours:]):
        sums.append(_in_lanes(row[:, None], 4, 4 if place == 1 else 8, 8))
    return np.concatenate(sums)


def _in_lanes(terms: Any, first: int, lanes: int, block: int = 0) -> Any:
    """Sums of columns by `lanes` partial sums.

    The first `first` terms are added one by one, and start the first partial sum. Whole blocks of
    `block` terms follow. The partial sums are added pairwise, then the remaining terms.
    """
    block = block or lanes
    end = first + (len(terms) - first) // block * block
    if end <= first:
        return _one_by_one(terms)
    start = np.zeros((1, lanes, *terms.shape[1:]), np.float32)
    start[0, 0] = _one_by_one(terms[:first])
    steps = terms[first:end].reshape(((end - first) // lanes, lanes, *terms.shape[1:]))
    sums = _one_by_one(np.concatenate([start, steps]))
    while len(sums) > 1:
        sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
    return _one_by_one(np.concatenate([sums, terms[end:]]))


def _dot(a: Any, b: Any) -> Any:
    """The dot product by two or four sums of four lanes; excess terms are added to the first."""
    terms = a * b
    size, fours = len(terms), len(terms) // 4
    if size < 4:
        return _one_by_one(terms)
    if size in (13, 14, 15) or (size > 15 and size % 16 >= 12):
        return np.matmul(a, b)
    vectors, count = terms[: 4 * fours].reshape((-1, 4)), 2 if size < 16 else 4
    sums = [_one_by_one(vectors[k::count]) for k in range(count)]
    sums[0][0] = _one_by_one(np.concatenate([sums[0][:1], terms[4 * fours :]]))
    total = _one_by_one(np.stack(sums))
    return (total[0] + total[2]) + (total[1] + total[3])


# ---- element by element --------------------------------------------------------------------------


@_kernel("sigmoid")
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), every step rounded."""
    return np.float32(1) / (np.float32(1) + _exp_by_vectors(-x))


@_kernel("silu")
def silu(x: Any) -> Any:
    """x / (1 + exp(-x)), every step rounded."""
    return x / (np.float32(1) + _exp_by_vectors(-x))


def _expm1(x: Any) -> Any:
    return np.expm1(_double(x)).astype(np.float32)


def _tanh(x: Any) -> Any:
    return np.tanh(_double(x)).astype(np.float32)


@_kernel("softplus")
def softplus(x: Any, *, beta: float, threshold: float) -> Any:
    """log(1 + exp(beta x)) / beta, each step rounded."""
    scaled = x * np.float32(beta)
    smooth = _log1p_by_vectors(_exp_by_vectors(np.minimum(scaled, np.float32(threshold))))
    return np.where(scaled > threshold, x, smooth / np.float32(beta))


@_kernel("logsigmoid")
def logsigmoid(x: Any) -> Any:
    """min(x, 0) - log(1 + exp(-|x|)), each step rounded."""
    return np.minimum(x, np.float32(0)) - _vector_log1p(_vector_exp(-np.abs(x)))


@_kernel("bce_terms")
def bce_terms(x: Any, target: Any) -> Any:
    """The terms of binary_cross_entropy, each step rounded."""
    least, one = np.float32(-100), np.float32(1)
    off = (target - one) * np.maximum(libm.log1p(-x), least)
    return off - target * np.maximum(libm.log(x), least)


@_kernel("logistic_terms")
def logistic_terms(x: Any, target: Any) -> Any:
    """The terms of binary_cross_entropy_with_logits before reduction, each step rounded."""
    return (np.float32(1) - target) * x - logsigmoid(x)


@_kernel("weighted_logistic_terms")
def weighted_logistic_terms(x: Any, target: Any, weight: Any) -> Any:
    """logistic_terms with pos_weight, each step rounded."""
    factor = (weight - np.float32(1)) * target + np.float32(1)
    return (np.float32(1) - target) * x - logsigmoid(x) * factor


@_kernel("mish")
def mish(x: Any) -> Any:
    """x tanh(log(1 + exp(x))), each step rounded."""
    return x * _tanh(_log1p_by_vectors(_exp_by_vectors(x)))


@_kernel("elu")
def elu(x: Any, *, alpha: float) -> Any:
    """x for x > 0, else alpha * (exp(x) - 1), rounded before and after the multiplication."""
    return np.where(x > 0, x, _expm1(np.minimum(x, np.float32(0))) * np.float32(alpha))


@_kernel("selu")
def selu(x: Any) -> Any:
    """elu with scaled positive and negative parts."""
    below = _expm1(np.minimum(x, np.float32(0))) * np.float32(SELU_SCALE * SELU_ALPHA)
    return np.where(x > 0, x * np.float32(SELU_SCALE), below)


SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@_kernel("gelu")
def gelu(x: Any, *, approximate: str) -> Any:
    """gelu with approximate="tanh"; NotImplemented for the exact function."""
    if approximate != "tanh":
        return NotImplemented
    inner = np.float32(math.sqrt(2 / math.pi)) * fused(x * x * x, np.float32(0.044715), x)
    return np.float32(0.5) * x * (np.float32(1) + _tanh(inner))


@_kernel("lerp")
def lerp(a: Any, b: Any, weight: Any) -> Any:
    """a + weight * (b - a), computed from b if |weight| >= 0.5."""
    weight = np.float32(weight)
    near = fused(weight, b - a, a)
    return np.where(np.abs(weight) < 0.5, near, fused(weight - np.float32(1), b - a, b))


@_kernel("addcmul")
def addcmul(a: Any, b: Any, c: Any, *, value: float) -> Any:
    """a + (value * b) * c, with a fused multiply-add."""
    return fused(np.float32(value) * b, c, a)


@_kernel("pow")
def power(a: Any, b: Any) -> Any:
    """a ** b, computed in double precision, except for exponents such as 2 and 0.5, for which
    PyTorch multiplies or takes roots.
    """
    if type(b) in (int, float) and b in (2, 3, 0.5, -0.5, -1, 1, 0):
        return SHORT_POWERS[b](a) if b in SHORT_POWERS else np.power(a, np.float32(b))
    return np.power(_double(a), _double(b)).astype(np.float32)


# ---- along a dimension ---------------------------------------------------------------------------


@_kernel("softmax")
def softmax(x: Any, *, dim: int) -> Any:
    """exp(x - max(x)) / sum; along the last dimension, times the reciprocal of the sum."""
    if not np.ndim(x):
        return np.exp(x - x)
    below = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    if dim in (-1, x.ndim - 1):
        shares = _vector_exp(below)
        return shares * (np.float32(1) / _in_row(shares, dim))
    after = x.shape[dim:][1:]
    inside = math.prod(after)
    in_vectors = np.arange(inside) < inside // (2 * LANES) * 2 * LANES
    shares = np.where(in_vectors.reshape(after), _vector_exp(below), _exp(below))
    return shares / np.expand_dims(_one_by_one(np.moveaxis(shares, dim, 0)), dim)


@_kernel("log_softmax")
def log_softmax(x: Any, *, dim: int) -> Any:
    """x - max(x), minus the logarithm of the sum of exponentials."""
    if not np.ndim(x):
        return x - x
    below = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    return below - np.log(_double(_in_row(_vector_exp(below), dim))).astype(np.float32)


@_kernel("vector_norm")
def vector_norm(x: Any, *, dim: Any, keepdim: bool, ord: Any) -> Any:
    """The Euclidean norm along one dimension, or of all elements."""
    axis = axes(dim, np.ndim(x))
    shape = [1 if d in axis else n for d, n in enumerate(x.shape)]
    if len(axis) == np.ndim(x):
        length = _length(np.ascontiguousarray(x).reshape((-1, 1)))
    else:
        rows = np.moveaxis(x, axis[0], 0)
        in_row = axis[0] == np.ndim(x) - 1
        length = _length(rows) if in_row else np.sqrt(_one_by_one(rows * rows))
    return length.reshape(shape if keepdim else [n for d, n in enumerate(shape) if d not in axis])


def _length(rows: Any) -> Any:
    """Euclidean norms of columns. Squares are added LANES at a time, then four at a time, the
    remaining ones by fused multiply-adds.
    """
    squares = rows * rows
    in_lanes, fours = len(rows) // LANES * LANES, len(rows) // 4 * 4
    lanes = _one_by_one(squares[:in_lanes].reshape((-1, LANES, *rows.shape[1:])))
    total = _one_by_one(np.concatenate([lanes, squares[in_lanes:fours]]))
    for row in rows[fours:]:
        total = fused(row, row, total)
    return np.sqrt(total)


def _in_row(x: Any, dim: int, wide: int = 2 * LANES) -> Any:
    """The sum along a dimension, by `wide` partial sums."""
    rows = np.moveaxis(x, dim, 0)
    if len(rows) >= wide:
        count = len(rows) // wide * wide
        lanes = _one_by_one(rows[:count].reshape((-1, wide, *rows.shape[1:])))
        rest = rows[count:]
        lanes[: len(rest)] += rest
        while len(lanes) > 1:
            lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
        return np.expand_dims(lanes[0], dim)
    return np.expand_dims(_one_by_one(rows), dim)


@_kernel("nll_loss")
def nll_loss(x: Any, target: Any, weight: Any = None, *, ignore_index: int, reduction: str) -> Any:
    """nll_loss of a batch by a cascade sum; NotImplemented for other arguments."""
    if x.ndim != 2 or reduction == "none":
        return NotImplemented
    counted = [k for k, label in enumerate(target.tolist()) if label != ignore_index]
    labels = target[counted]
    weights = np.ones(len(labels), np.float32) if weight is None else weight[labels]
    total = _in_levels(counted, -x[counted, labels] * weights)
    return total / _in_levels(counted, weights) if reduction == "mean" else total


@_kernel("cross_entropy")
def cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Any:
    """cross_entropy of probabilities or with label smoothing; else NotImplemented."""
    axis = min(x.ndim - 1, 1)
    each, weights = -log_softmax(x, dim=axis), _per_class(weight, x, axis)
    if target.shape == x.shape:
        probabilities = _smoothed(target, label_smoothing, x.shape[axis])
        return -_soft_loss(-each * probabilities * weights, axis, reduction)  # may be -0
    each = each * weights
    if x.ndim != 2 or not label_smoothing:
        return NotImplemented
    counted = target != ignore_index
    picked = np.take_along_axis(each, np.where(counted, target, 0)[:, None], 1)[:, 0] * counted
    even = _total(each, 1) * counted
    if reduction != "none":
        places = np.flatnonzero(counted)
        picked, even = _in_levels(places, picked[places]), _total(even[places])
    if reduction == "mean":
        labels = target[counted]
        weights = np.ones(len(labels), np.float32) if weight is None else weight[labels]
        picked, even = picked / _in_levels(places, weights), even / _total(weights)
    even = even * np.float32(label_smoothing / x.shape[axis])
    return picked * np.float32(1 - label_smoothing) + even


def _soft_loss(each: Any, axis: int, reduction: str) -> Any:
    """Terms of a loss, summed over the classes (dimension `axis`) and reduced over the batch."""
    if reduction == "none":
        return _total(each, axis)
    total = _total(each)
    return total / np.float32(each.size / each.shape[axis]) if reduction == "mean" else total


def _total(x: Any, dim: int | None = None) -> Any:
    """The sum along a dimension, or of all elements."""
    return KERNELS["sum"](x, dim=tuple(range(x.ndim)) if dim is None else (dim,), keepdim=False)


def _per_class(weight: Any, x: Any, axis: int) -> Any:
    """Class weights in a shape that broadcasts with x; 1 if `weight` is None."""
    if weight is None:
        return np.float32(1)
    return weight.reshape([-1 if d == axis else 1 for d in range(x.ndim)])


def _smoothed(target: Any, smoothing: float, classes: int) -> Any:
    """Class probabilities with label smoothing."""
    if not smoothing:
        return target
    return target * np.float32(1 - smoothing) + np.float32(smoothing / classes)


def _in_levels(places: Sequence[int], terms: Any) -> Any:
    """A cascade sum: the terms are added in blocks of BLOCK by their positions `places`, and the
    sums of blocks again in blocks.
    """
    sums = [np.float32(0)] * (2 * LEVELS)
    for place, term in zip(places, terms):
        sums[0] += term
        for level in range(1, len(sums)):
            if place % BLOCK**level:
                break
            sums[level] += sums[level - 1]
            sums[level - 1] = np.float32(0)
    return _one_by_one(np.array(sums))


# ---- normalisation -------------------------------------------------------------------------------


@_kernel("layer_norm")
def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Any, eps: float
) -> Any:
    """Layer normalisation: mean and variance of each row by Welford's algorithm."""
    length = int(np.prod(normalized_shape))
    rows = x.reshape((-1, length)).T
    mean, var = _moments(rows)
    scaled = ((rows - mean) * (np.float32(1) / np.sqrt(var + np.float32(eps)))).T.reshape(x.shape)
    if weight is None:
        return scaled if bias is None else scaled + bias
    return scaled * weight if bias is None else fused(scaled, weight, bias)


def _moments(rows: Any) -> tuple[Any, Any]:
    """Mean and variance of columns by Welford's algorithm: LANES partial moments and those of the
    remaining rows are combined.
    """
    blocks = len(rows) // LANES
    mean = square = np.zeros(rows.shape[1:], np.float32)
    for count, row in enumerate(rows[blocks * LANES :], 1):
        deviation = row - mean
        mean = mean + deviation / np.float32(count)
        square = square + deviation * (row - mean)
    lanes = rows[: blocks * LANES].reshape((blocks, LANES, *rows.shape[1:]))
    means = squares = np.zeros((LANES, *rows.shape[1:]), np.float32)
    for count, row in enumerate(lanes, 1):
        deviation = row - means
        means = fused(deviation, np.float32(1) / np.float32(count), means)
        squares = fused(deviation, row - means, squares)
    count = len(rows) % LANES
    for lane in range(LANES if blocks else 0):
        share, deviation = np.float32(blocks) / np.float32(count + blocks), means[lane] - mean
        mean = fused(share, deviation, mean)
        square = square + fused(deviation * deviation * share, np.float32(count), squares[lane])
        count += blocks
    return mean, square / np.float32(len(rows))


@_kernel("standardize")
def standardize(x: Any, *, dim: Any, eps: float) -> Any:
    """(x - mean) / std over the dimensions `dim`, in one fused step. The variance is the mean of
    squared differences.
    """
    axis = axes(dim, x.ndim)
    mean, var = _moments_of_batches(x, axis)
    scale = (1 / np.sqrt(_double(var) + eps)).astype(np.float32)
    shape = [1 if d in axis else n for d, n in enumerate(x.shape)]
    return fused(x, scale.reshape(shape), (-mean * scale).reshape(shape))


def _moments_of_batches(x: Any, axis: Sequence[int]) -> tuple[Any, Any]:
    """Mean and variance over the dimensions `axis`."""
    others = [d for d in range(x.ndim) if d not in axis]
    rows = x.transpose([*axis, *others]).reshape((-1, *(x.shape[d] for d in others)))
    count = np.float32(len(rows))
    if x.ndim == 2:  # one partial sum for each half of the rows
        half = -(-len(rows) // 2)
        parts = [p for p in (rows[:half], rows[half:]) if len(p)]
        mean = _one_by_one(np.stack([_one_by_one(p) for p in parts])) / count
        total = _one_by_one(np.stack([_squares(p - mean) for p in parts]))
    else:
        mean = _double(rows).mean(axis=0).astype(np.float32)
        total = _double((rows - mean) * (rows - mean)).sum(axis=0).astype(np.float32)
    return mean, total / count


def batch_norm(
    x: Any,
    mean: Any,
    var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Batch normalisation: each channel is scaled and shifted by one fused multiply-add."""
    if training:
        mean, var = _moments_of_batches(x, [d for d in range(x.ndim) if d != 1])
        scale = (1 / np.sqrt(_double(var) + eps)).astype(np.float32)
    else:
        scale = np.float32(1) / np.sqrt(var + np.float32(eps))
    scale = scale if weight is None else scale * weight
    shift = fused(-mean, scale, np.float32(0) if bias is None else bias)
    shape = [n if d == 1 else 1 for d, n in enumerate(x.shape)]
    return fused(x, scale.reshape(shape), shift.reshape(shape))


COMPOSITES: dict[str, Kernel] = {"batch_norm": batch_norm}  # composite operators


def _squares(rows: Any) -> Any:
    """The sum of squares along the first axis, by fused multiply-adds."""
    total = np.zeros(rows.shape[1:], np.float32)
    for row in rows:
        total = fused(row, row, total)
    return total


# ---- the backward pass ---------------------------------------------------------------------------


def backward_of(name: str, arrays: Sequence[Any]) -> Kernel | None:
    """The kernel that computes the gradient of an operator's first input; None if there is none. If
    some floats are not float32, only the kernels of IN_DOUBLE apply.
    """
    return (BACKWARDS if _single(arrays) else IN_DOUBLE).get(name)


def _silu_back(g: Any, x: Any, y: Any) -> Any:
    """The gradient of silu."""
    share = sigmoid(x)
    return g * share * fused(x, np.float32(1) - share, np.float32(1))


def _gelu_back(g: Any, x: Any, y: Any, *, approximate: str) -> Any:
    """The gradient of gelu. The term 1/2 is added last, so the gradient is exactly 0 for very
    negative x. None if the steps are not known.
    """
    if approximate != "none" or np.size(x) == 1:  # a vectorised kernel, not for one number
        return None
    half = np.float32(0.5)
    density = np.exp(_double(-half * x * x)).astype(np.float32) * np.float32(DENSITY)
    error = _erf(_double(x * np.float32(math.sqrt(0.5)))).astype(np.float32)
    return g * (half + (x * density + half * error))


def _layer_norm_back(
    g: Any,
    x: Any,
    weight: Any = None,
    bias: Any = None,
    y: Any = None,
    *,
    normalized_shape: Any,
    eps: float,
) -> Any:
    """The gradient of layer_norm with respect to its input."""
    length = int(np.prod(normalized_shape))
    rows, sent = x.reshape((-1, length)), g.reshape((-1, length))
    scale = np.float32(1) if weight is None else weight.reshape(-1)
    mean, var = (v[:, None] for v in _moments(rows.T))
    inverse = np.float32(1) / np.sqrt(var + np.float32(eps))
    share = np.float32(1) / np.float32(length)
    products, sums = (_in_row(v, 1, LANES) for v in (sent * rows * scale, sent * scale))
    slope = fused(sums, mean, -products) * inverse * inverse * inverse * share
    rest = fused(-slope, mean, -(sums * inverse * share))
    return (fused(slope, rows, inverse * sent * scale) + rest).reshape(x.shape)


def _softmax_back(g: Any, x: Any, y: Any, *, dim: int) -> Any:
    """The gradient of softmax: y * (g - sum(g * y))."""
    if not y.ndim:
        return None
    dim = dim % y.ndim
    sent, shares = np.moveaxis(g, dim, 0), np.moveaxis(y, dim, 0)
    total = (_products_in_row if dim == y.ndim - 1 else _products_in_column)(sent, shares)
    return None if total is None else y * (g - np.expand_dims(total, dim))


def _products_in_row(a: Any, b: Any) -> Any:
    """sum(a * b) along the first axis, which is contiguous: whole vectors, then the remaining terms
    by fused multiply-adds. None if the order is not known.
    """
    wide = 2 * LANES
    count = len(b) // wide * wide
    if not count:
        return _one_by_one(a * b)
    rest = len(b) - count
    if rest and count > wide:
        return None
    lanes = _one_by_one((a * b)[:count].reshape((-1, wide, *b.shape[1:])))
    lanes[:rest] = fused(a[count:], b[count:], lanes[:rest])
    return _in_lanes(lanes, 0, wide)


def _products_in_column(a: Any, b: Any) -> Any:
    """sum(a * b) along the first axis, by fused multiply-adds."""
    total = np.zeros(b.shape[1:], np.float32)
    for left, right in zip(a, b):
        total = fused(left, right, total)
    return total


def _huber_loss_back(
    g: Any, x: Any, target: Any, weight: Any, y: Any, *, reduction: str, delta: float
) -> Any:
    """The gradient of huber_loss; a mean's 1 / size is applied first."""
    if weight is not None:
        return None
    share = _reduction_factor(x, reduction)
    difference, limit = x - target, np.float32(delta)
    outside = np.copysign(share * g * limit, difference * g)
    return np.where(np.abs(difference) < limit, share * difference * g, outside)


def _smooth_l1_loss_back(
    g: Any, x: Any, target: Any, y: Any, *, reduction: str, beta: float
) -> Any:
    """The gradient of smooth_l1_loss. The factor 1 / size of a mean is applied first. Elements that
    are not computed in vectors are divided by beta last, in double precision.
    """
    share, difference, limit = _reduction_factor(x, reduction), x - target, np.float32(beta)
    in_vectors = np.arange(x.size) < _in_vectors(x.size)
    last = (_double(share * difference * g) / beta).astype(np.float32)
    inside = np.where(in_vectors.reshape(x.shape), share * (difference / limit) * g, last)
    return np.where(np.abs(difference) < limit, inside, share * np.sign(difference) * g)


def _binary_cross_entropy_back(
    g: Any, x: Any, target: Any, weight: Any, y: Any, *, reduction: str
) -> Any:
    """The gradient of binary_cross_entropy; a mean's 1 / size comes last."""
    slope = g * (x - target) / np.maximum(np.float32(EPSILON), (np.float32(1) - x) * x)
    slope = slope if weight is None else slope * weight
    return slope / np.float32(x.size) if reduction == "mean" else slope


def _logistic_back(
    g: Any, x: Any, target: Any, weight: Any, positive: Any, y: Any, *, reduction: str
) -> Any:
    """The gradient of binary_cross_entropy_with_logits; a mean's 1 / size comes last."""
    if positive is None:
        slope = sigmoid(x) - target
    else:
        scaled = positive * target
        slope = (scaled + np.float32(1) - target) * sigmoid(x) - scaled
    slope = slope * g if weight is None else slope * g * weight
    return slope / np.float32(x.size) if reduction == "mean" else slope


def _cross_entropy_back(
    g: Any,
    x: Any,
    target: Any,
    weight: Any,
    y: Any,
    *,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Any:
    """The gradient of cross_entropy: that of log_softmax, from a stepwise rounded seed."""
    axis = min(x.ndim - 1, 1)
    classes, mean = x.shape[axis], reduction == "mean"
    sent = np.expand_dims(g, axis) if reduction == "none" and x.ndim > 1 else g
    weights = _per_class(weight, x, axis)
    if target.shape == x.shape:
        share = sent / np.float32(x.size / classes) if mean else sent
        seed = share * weights * _smoothed(target, label_smoothing, classes)
    elif label_smoothing and x.ndim > 1:
        counted = target != ignore_index
        total = _weight_of(target[counted], weight) if mean else np.float32(1)
        at_label = _per_class(np.arange(classes), x, axis) == np.expand_dims(target, axis)
        picked = sent * np.float32(1 - label_smoothing) / total
        even = sent * np.float32(label_smoothing / classes) / total
        seed = (at_label * (picked * weights) + even * weights) * np.expand_dims(counted, axis)
    else:
        return None
    seed = np.where(seed == 0, np.float32(0), -seed)
    return BACKWARDS["log_softmax"](seed, x, log_softmax(x, dim=axis), dim=axis)


def _weight_of(labels: Any, weight: Any) -> Any:
    """The sum of the class weights of labels; the number of labels if `weight` is None."""
    return np.float32(labels.size) if weight is None else _total(weight[labels])


def _reduction_factor(x: Any, reduction: str) -> Any:
    """The factor of each element in a reduction: 1 / size for a mean, else 1."""
    return np.float32(1 / x.size if reduction == "mean" and x.size else 1)


EPSILON = 1e-12  # smallest denominator in the gradient of binary_cross_entropy
DENSITY = 1 / math.sqrt(2 * math.pi)  # density of the standard normal distribution at 0
BACKWARDS |= {
    "binary_cross_entropy": _binary_cross_entropy_back,
    "binary_cross_entropy_with_logits": _logistic_back,
    "cross_entropy": _cross_entropy_back,
    "gelu": _gelu_back,
    "huber_loss": _huber_loss_back,
    "smooth_l1_loss": _smooth_l1_loss_back,
    "softmax": _softmax_back,
    "layer_norm": _layer_norm_back,
    "tanh": lambda g, x, y: g * fused(-y, y, np.float32(1)),
    "silu": _silu_back,
    "log_softmax": lambda g, x, y, *, dim: (
        fused(-_vector_exp(y), _in_row(g, dim), g) if np.ndim(y) else g - g
    ),
}


def _tanh_back(g: Any, x: Any, y: Any) -> Any:
    """The gradient of tanh in float64, g * (1 - y²), whose difference is rounded once: the rounding
    error of y² is computed by splitting y (Dekker 1971).
    """
    if y.dtype != np.float64:
        return None
    square, scaled = y * y, y * 134217729.0
    high = scaled - (scaled - y)
    low = y - high
    rest = ((high * high - square) + 2 * high * low) + low * low
    left = np.longdouble(1) - square.astype(np.longdouble)
    return g * (left - rest.astype(np.longdouble)).astype(np.float64)


IN_DOUBLE: dict[str, Kernel] = {"tanh": _tanh_back}
MOST_ROWS = 5  # largest matrix for which LAPACK's steps are known


def eliminated(matrix: Any) -> tuple[Any, list[int], int]:
    """LU decomposition with pivoting: L and U in one matrix, the row order, and its sign."""
    lu, order, sign = np.array(matrix), list(range(len(matrix))), 1
    size = len(lu)
    for k in range(size):
        largest = k + int(np.argmax(np.abs(lu[k:, k])))
        if largest != k:
            lu[[k, largest]] = lu[[largest, k]]
            order[k], order[largest] = order[largest], order[k]
            sign = -sign
        if not lu[k, k]:
            continue
        below = lu[k + 1 :]
        last = size < MOST_ROWS and k == size - 2
        below[:, k] = below[:, k] / lu[k, k] if last else below[:, k] * (np.float32(1) / lu[k, k])
        below[:, k + 1 :] -= below[:, k : k + 1] * lu[k, k + 1 :]
    return lu, order, sign


def _minus_multiples(row: Any, factors: Any, rows: Any) -> Any:
    """`row` minus the sum of factors[k] * rows[k]."""
    if not len(rows):
        return row
    total = factors[0] * rows[0]
    for factor, other in zip(factors[1:], rows[1:], strict=True):
        total = total + factor * other
    return row - total


def solution(matrix: Any, right: Any) -> Any:
    """The solution x of `matrix @ x = right`; NotImplemented if the matrix is singular."""
    lu, order, _ = eliminated(matrix)
    if not np.all(np.diag(lu)):
        return NotImplemented
    x, size = np.array(right)[order], len(lu)
    for k in range(size):
        x[k] = _minus_multiples(x[k], lu[k, :k], x[:k])
    step = 1 if size < 4 else -1  # PyTorch's order of terms
    for k in reversed(range(size)):
        x[k] = _minus_multiples(x[k], lu[k, k + 1 :][::step], x[k + 1 :][::step])
        x[k] = x[k] * (np.float32(1) / lu[k, k])
    return x


def inverse(x: Any, *, check: bool) -> Any:
    """The inverse matrix: the solution of x @ X = I."""
    return solution(x, np.eye(len(x), dtype=np.float32))


def solve(a: Any, b: Any, *, left: bool, check: bool) -> Any:
    """The solution X of a @ X = b, for a vector or a matrix b."""
    return solution(a, b)


def det(x: Any) -> Any:
    """The determinant: the product of the pivots of x.T, as LAPACK is column-major."""
    lu, _, sign = eliminated(x.T)
    product = np.float32(1)
    for pivot in np.diag(lu):
        product = product * pivot
    return product * np.float32(sign)


def _small(x: Any, b: Any = None, *, left: bool = True, **_: Any) -> bool:
    return bool(left and x.ndim == 2 and 0 < len(x) <= MOST_ROWS and np.all(np.isfinite(x)))


KERNELS |= {"inv": inverse, "solve": solve, "det": det}
CONDITIONS |= dict.fromkeys(("inv", "solve", "det"), _small)


# ---- half precision ------------------------------------------------------------------------------
# PyTorch computes these operators in float32, but rounds some intermediate results.


def in_half(
    name: str, dtype: str, narrow: Kernel, arrays: Sequence[Any], attrs: dict[str, Any]
) -> Any:
    """The result of an operator in half precision, as a float32 array. `narrow` rounds an array to
    `dtype`. NotImplemented if PyTorch rounds no intermediate result of the operator.
    """
    kernel = IN_HALF.get(name) or (IN_BFLOAT16.get(name) if dtype == "bfloat16" else None)
    return kernel(narrow, *arrays, **attrs) if kernel else NotImplemented


def _log_softmax_in_half(narrow: Kernel, x: Any, *, dim: int) -> Any:
    """log_softmax along the last dimension; the sum and its logarithm are rounded."""
    if not x.ndim or dim not in (-1, x.ndim - 1):
        return NotImplemented
    below = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    total = narrow(_in_row(_vector_exp(below), dim))
    return below - narrow(np.log(_double(total)).astype(np.float32))


def _power_in_half(narrow: Kernel, a: Any, b: Any) -> Any:
    return narrow(a * a) * a if type(b) in (int, float) and b == 3 else NotImplemented


def _quotient_in_half(narrow: Kernel, a: Any, b: Any) -> Any:
    """A number divided by a tensor: the number times the rounded reciprocal."""
    inverse = isinstance(a, int | float)
    return narrow(np.float32(1) / b) * np.float32(a) if inverse else NotImplemented


IN_HALF: dict[str, Kernel] = {
    "log_softmax": _log_softmax_in_half,
    "div": _quotient_in_half,
}
IN_BFLOAT16: dict[str, Kernel] = {"pow": _power_in_half}
WIDE_NUMBERS = ("mul", "div")  # operators that do not round a Python number to half precision
