"""What PyTorch refuses of shapes and ranges in functions of tensors, in its words."""

from collections.abc import Sequence
from typing import Any

from ..python.values import error
from .checks import check_bmm, check_broadcast, check_fits, check_mv, dimension
from .kernels import not_implemented
from .refusals import CHECKS, check
from .tensor import Tensor


def refuse_if(condition: bool, text: str, kind: str = "RuntimeError") -> None:
    """Raise an exception of the program where a condition holds."""
    if condition:
        raise error(kind, text)


# ---- products ------------------------------------------------------------------------------------


@check("addmm")
def _addmm(input: Tensor, mat1: Tensor, mat2: Tensor, **_: Any) -> None:
    CHECKS["expand"][0](input, (mat1.shape[0], mat2.shape[1]))


@check("addmv")
def _addmv(input: Tensor, mat: Tensor, vec: Tensor, **_: Any) -> None:
    if input.numel not in (1, mat.shape[0]):
        rows = "x".join(map(str, mat.shape))
        text = f"size mismatch, got input ({input.numel}), mat ({rows}), vec ({vec.numel})"
        raise error("RuntimeError", text)
    check_mv(mat, vec)


@check("baddbmm")
def _baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, **_: Any) -> None:
    check_bmm(batch1, batch2)


@check("outer", "ger")
def _outer(input: Tensor, vec2: Tensor) -> None:
    for name, tensor in (("self", input), ("vec2", vec2)):
        text = f"outer: Expected 1-D argument {name}, but got {tensor.ndim}-D"
        refuse_if(tensor.ndim != 1, text)


@check("cross", "linalg.cross")
def _cross(input: Tensor, other: Tensor, dim: int | None = None) -> None:
    text = "linalg.cross: inputs must have the same number of dimensions."
    refuse_if(input.ndim != other.ndim, text)
    if dim is None:
        refuse_if(3 not in input.shape, "no dimension of size 3 in input")
        dim = input.shape.index(3)
    place = dimension(dim, input.ndim)
    sizes = input.shape[place], other.shape[place]
    text = "linalg.cross: inputs dimension {} must have length 3. Got {} and {}"
    refuse_if(sizes != (3, 3), text.format(dim, *sizes))


@check("inner")
def _inner(input: Tensor, other: Tensor) -> None:
    if input.ndim and other.ndim and input.shape[-1] != other.shape[-1]:
        text = "inner() the last dimension must match on both input tensors but got shapes "
        raise error("RuntimeError", f"{text}{list(input.shape)} and {list(other.shape)}")


@check("vdot")
def _vdot(input: Tensor, other: Tensor) -> None:
    a, b = input.numel, other.numel
    if input.ndim == other.ndim == 1 and a != b:
        text = f"inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same "
        text += f"number of elements, but got {a} and {b} elements respectively"
        raise error("RuntimeError", text)


@check("tensordot")
def _tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> None:
    if isinstance(dims, int):
        text = f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}"
        refuse_if(dims > min(a.ndim, b.ndim), text)
        dims = list(range(-dims, 0)), list(range(dims))
    for left, right in zip(*dims):
        sizes = a.shape[dimension(left, a.ndim)], b.shape[dimension(right, b.ndim)]
        text = "contracted dimensions need to match, but first has size {} in dim {} and second "
        text = text.format(sizes[0], left) + f"has size {sizes[1]} in dim {right}"
        refuse_if(sizes[0] != sizes[1] and 1 not in sizes, text)


# ---- dimensions ----------------------------------------------------------------------------------


@check("narrow")
def _narrow(input: Tensor, dim: int, start: Any, length: int) -> None:
    refuse_if(length < 0, "narrow(): length must be non-negative.")
    size = input.shape[dimension(dim, input.ndim)] if input.ndim else 1
    if not isinstance(start, int):
        return
    text = f"start out of range (expected to be in range of [-{size}, {size}], but got {start})"
    refuse_if(not -size <= start <= size, text, "IndexError")
    start += size if start < 0 else 0
    text = f"start ({start}) + length ({length}) exceeds dimension size ({size})."
    refuse_if(start + length > size, text)


@check("diag")
def _diag(input: Tensor, *_: Any, **__: Any) -> None:
    text = f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D"
    refuse_if(input.ndim not in (1, 2), text)


@check("diagonal")
def _diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> None:
    same = dimension(dim1, input.ndim) == dimension(dim2, input.ndim)
    refuse_if(same, f"diagonal dimensions cannot be identical {dim1}, {dim2}")


@check("meshgrid")
def _meshgrid(*tensors: Any, **_: Any) -> None:
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    kinds = {t.dtype for t in given if isinstance(t, Tensor)}
    refuse_if(len(kinds) > 1, "meshgrid expects all tensors to have the same dtype")


@check("cartesian_prod", "combinations")
def _vectors(*tensors: Any, **_: Any) -> None:
    for tensor in tensors:
        if isinstance(tensor, Tensor):
            text = f"Expect a 1D vector, but got shape {list(tensor.shape)}"
            refuse_if(tensor.ndim != 1, text)


@check("reshape_as")
def _reshape_as(input: Tensor, other: Tensor) -> None:
    text = f"shape '{list(other.shape)}' is invalid for input of size {input.numel}"
    refuse_if(input.numel != other.numel, text)


@check("expand_as")
def _expand_as(input: Tensor, other: Tensor) -> None:
    CHECKS["expand"][0](input, other.shape)


@check("unflatten")
def _unflatten(input: Tensor, dim: int, sizes: Any) -> None:
    given = [int(n) for n in getattr(sizes, "payload", sizes)]
    place = dimension(dim, input.ndim)
    size, count = input.shape[place], 1
    for n in given:
        count *= n
    if count != size and -1 not in given:
        text = f"unflatten: Provided sizes {given} don't multiply up to the size of dim {place} "
        raise error("RuntimeError", f"{text}({size}) in the input tensor")


def check_split(part: int, size: int) -> None:
    """Refuse parts of a dimension that have no size."""
    text = f"split expects split_size be non-negative, but got split_size={part}"
    refuse_if(part < 0, text)
    text = f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
    refuse_if(part == 0 and size > 0, text)


@check("tensor_split")
def _tensor_split(input: Tensor, sections: Any, *_: Any, **__: Any) -> None:
    text = f"number of sections must be larger than 0, got {sections}"
    refuse_if(isinstance(sections, int) and sections < 1, text)


@check("roll")
def _roll(input: Tensor, shifts: Any, dims: Any = None) -> None:
    if dims is not None:
        counts = [len(v) if isinstance(v, list | tuple) else 1 for v in (shifts, dims)]
        text = "shifts and dimensions must align. shifts: {}, dims:{}".format(*counts)
        refuse_if(counts[0] != counts[1], text)


@check("rot90")
def _rot90(input: Tensor, *_: Any, **__: Any) -> None:
    text = f"expected total dims >= 2, but got total dims = {input.ndim}"
    refuse_if(input.ndim < 2, text)


@check("sum", "flip")
def _dims_once(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    if isinstance(dim, list | tuple):
        places = [dimension(d, input.ndim) for d in dim]
        for place in places:
            text = f"dim {place} appears multiple times in the list of dims"
            refuse_if(places.count(place) > 1, text)


def _joined(name: str, least: int, dim: int) -> None:
    """hstack, vstack and dstack are cat of tensors with at least so many dimensions."""

    def checked(tensors: Any, **_: Any) -> None:
        shapes = [_at_least(t.shape, least) for t in tensors if isinstance(t, Tensor)]
        place = 0 if name == "hstack" and len(shapes[0]) == 1 else dim
        for k, shape in enumerate(shapes[1:], 1):
            text = "Tensors must have same number of dimensions: got {} and {}"
            refuse_if(len(shape) != len(shapes[0]), text.format(len(shapes[0]), len(shape)))
            for d, (a, b) in enumerate(zip(shapes[0], shape)):
                text = f"Sizes of tensors must match except in dimension {place}. Expected size "
                text += f"{a} but got size {b} for tensor number {k} in the list."
                refuse_if(d != place and a != b, text)

    check(name)(checked)


def _at_least(shape: Sequence[int], least: int) -> tuple[int, ...]:
    if len(shape) < least:
        shape = {2: (1, *shape), 3: (1, *shape)}.get(least, tuple(shape)) if shape else (1,)
    return (*shape, *(1,) * (least - len(shape)))


_joined("hstack", 1, 1)
_joined("vstack", 2, 0)
_joined("dstack", 3, 2)


# ---- ranges --------------------------------------------------------------------------------------


@check("quantile", "nanquantile")
def _quantile(input: Tensor, q: Any, *_: Any, **__: Any) -> None:
    if isinstance(q, Tensor):
        refuse_if(q.ndim > 1, "quantile() q must be a scalar or 1D tensor")
        text = "quantile() q tensor must be same dtype as the input tensor"
        refuse_if(q.dtype is not input.dtype, text)
        outside = bool(((q.data < 0) | (q.data > 1)).any())
        refuse_if(outside, "quantile() q values must be in the range [0, 1]")
    elif isinstance(q, int | float):
        refuse_if(not 0 <= q <= 1, f"quantile() q must be in the range [0, 1] but got {q:g}")


@check("kthvalue")
def _kthvalue(input: Tensor, k: int, dim: int = -1, *_: Any, **__: Any) -> None:
    place = dimension(dim, input.ndim)
    text = f"kthvalue(): selected number k out of range for dimension {place}"
    refuse_if(bool(input.ndim) and not 1 <= k <= input.shape[place], text)


@check("bincount")
def _bincount(input: Tensor, weights: Any = None, *_: Any, **__: Any) -> None:
    if input.dtype.is_floating:
        raise not_implemented("bincount_cpu", input.dtype)
    text = "bincount only supports 1-d non-negative integral inputs."
    refuse_if(input.ndim != 1 or bool((input.data < 0).any()), text)
    if isinstance(weights, Tensor):
        text = "weights should be 1-d and have the same length as input"
        refuse_if(weights.shape != input.shape, text)


@check("bucketize")
def _bucketize(input: Tensor, boundaries: Any, **_: Any) -> None:
    if isinstance(boundaries, Tensor):
        text = f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})"
        refuse_if(boundaries.ndim != 1, text)


@check("searchsorted")
def _searchsorted(sequence: Tensor, input: Any, **_: Any) -> None:
    if isinstance(input, Tensor) and sequence.ndim != 1:
        text = (
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sequence.shape)} and input value tensor {list(input.shape)}"
        )
        refuse_if(sequence.shape[:-1] != input.shape[:-1] or sequence.ndim != input.ndim, text)


# ---- distances -----------------------------------------------------------------------------------


@check("cdist")
def _cdist(x1: Tensor, x2: Tensor, *_: Any, **__: Any) -> None:
    for place, tensor in enumerate((x1, x2), 1):
        text = f"cdist only supports at least 2D tensors, X{place} got: {tensor.ndim}D"
        refuse_if(tensor.ndim < 2, text)
    columns = x1.shape[-1], x2.shape[-1]
    text = "X1 and X2 must have the same number of columns. X1: {} X2: {}".format(*columns)
    refuse_if(columns[0] != columns[1], text)


@check("pdist")
def _pdist(input: Tensor, *_: Any, **__: Any) -> None:
    refuse_if(input.ndim != 2, f"pdist only supports 2D tensors, got: {input.ndim}D")


@check("dist", "pairwise_distance", "cosine_similarity")
def _pair(input: Tensor, other: Tensor, *_: Any, **__: Any) -> None:
    check_broadcast(input, other)


@check("max", "min")
def _larger(input: Tensor, other: Any = None, *_: Any, **__: Any) -> None:
    check_broadcast(input, other)


# ---- indices -------------------------------------------------------------------------------------


@check("gather")
def _gather(input: Tensor, dim: int, index: Tensor, **_: Any) -> None:
    place = dimension(dim, input.ndim)
    for d, (n, size) in enumerate(zip(index.shape, input.shape)):
        text = f"Size does not match at dimension {d} expected index {list(index.shape)} to be no "
        text += f"larger than self {list(input.shape)} apart from dimension {place}"
        refuse_if(d != place and n > size, text)


@check("take_along_dim")
def _take_along_dim(input: Tensor, indices: Tensor, dim: Any = None) -> None:
    if dim is not None and input.ndim != indices.ndim:
        text = "torch.take_along_dim(): input and indices should have the same number of "
        text += f"dimensions, but got {input.ndim} dimensions for input, and {indices.ndim} "
        raise error("RuntimeError", text + "dimensions for indices")


@check("scatter", "scatter_add")
def _scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, **_: Any) -> None:
    place = dimension(dim, input.ndim)
    sizes = list(index.shape)
    large = [d for d, (n, m) in enumerate(zip(sizes, input.shape)) if d != place and n > m]
    text = f"Expected index {sizes} to be no larger than self {list(input.shape)} apart from "
    text += f"dimension {place}"
    if isinstance(src, Tensor):
        if src.ndim != index.ndim:
            return
        large += [d for d, (n, m) in enumerate(zip(sizes, src.shape)) if n > m]
        text += f" and to be no larger size than src {list(src.shape)}"
    refuse_if(bool(large), text)


@check("scatter_reduce")
def _scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Any, reduce: Any, **_: Any
) -> None:
    text = f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
    refuse_if(reduce not in ("sum", "prod", "mean", "amax", "amin"), text)


@check("index_add")
def _index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, **_: Any) -> None:
    place = dimension(dim, input.ndim)
    if source.ndim != input.ndim or index.ndim > 1:
        return
    count, rows = index.numel, source.shape[place]
    text = f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): "
    refuse_if(count != rows, f"{text}({rows}), for dim: {place}")
    other = [d for d, (n, m) in enumerate(zip(input.shape, source.shape)) if n != m and d != place]
    text = "source tensor shape must match self tensor shape, excluding the specified dimension. "
    text += f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
    refuse_if(bool(other), text)
    outside = index.data[(index.data < 0) | (index.data >= input.shape[place])]
    if outside.size:
        text = f"index {outside.flat[0]} is out of bounds for dimension {place} with size "
        raise error("RuntimeError", f"{text}{input.shape[place]}")


@check("index_copy")
def _index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, **_: Any) -> None:
    rows = source.shape[dimension(dim, source.ndim)] if source.ndim else 1
    text = f"index_copy_(): Number of indices ({index.numel}) should be equal to source.size(dim) "
    refuse_if(index.numel != rows, f"{text}({rows})", "IndexError")


@check("index_select")
def _index_select(input: Tensor, dim: int, index: Tensor) -> None:
    text = "index_select(): Index is supposed to be a vector"
    refuse_if(index.ndim > 1, text, "IndexError")


@check("masked_fill")
def _masked_fill(input: Tensor, mask: Tensor, value: Any = None) -> None:
    if isinstance(value, Tensor):
        text = "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
        refuse_if(value.ndim > 0, f"{text}{value.ndim} dimension(s).")
    else:
        check_fits(value, input.dtype)


# ---- linear algebra ------------------------------------------------------------------------------


@check("linalg.solve", "solve")
def _solve(A: Tensor, B: Any = None, **_: Any) -> None:
    if not isinstance(B, Tensor) or A.ndim != 2 or B.ndim > 2:
        return
    shape = B.shape if B.ndim == 2 else (*B.shape, 1)
    text = "linalg.solve: Incompatible shapes of A and B for the equation AX = B "
    sizes = f"({A.shape[0]}x{A.shape[1]} and {shape[0]}x{shape[1]})"
    refuse_if(shape[0] != A.shape[0], text + sizes)


@check("linalg.solve_triangular", "solve_triangular")
def _solve_triangular(A: Tensor, B: Tensor, **_: Any) -> None:
    if A.ndim == B.ndim == 2 and A.shape[1] != B.shape[0]:
        text = "linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B "
        sizes = f"({A.shape[0]}x{A.shape[1]} and {B.shape[0]}x{B.shape[1]})"
        raise error("RuntimeError", text + sizes)


@check("cholesky_solve")
def _cholesky_solve(B: Tensor, L: Tensor, *_: Any, **__: Any) -> None:
    text = f"b should have at least 2 dimensions, but has {B.ndim} dimensions instead"
    refuse_if(B.ndim < 2, text)
    if L.ndim == B.ndim == 2 and L.shape[0] != B.shape[0]:
        text = "Incompatible matrix sizes for cholesky_solve: each A matrix is {} by {} but each b "
        sizes = *L.shape, *B.shape
        raise error("RuntimeError", (text + "matrix is {} by {}").format(*sizes))
