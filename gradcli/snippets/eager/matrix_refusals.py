"""Checks of products of matrices, distances and linear algebra, with PyTorch's error messages."""

from typing import Any

from ...lazy import np
from ..python.values import error
from .checks import (
    LINALG_ERROR,
    Check,
    check,
    check_bmm,
    check_broadcast,
    check_mv,
    dimension,
    needs,
    refuse_if,
)
from .dimension_refusals import check_expand
from .tensor import Tensor

# ---- products ------------------------------------------------------------------------------------


@check("bmm")
def _bmm(input: Tensor, mat2: Any, **_: Any) -> None:
    if isinstance(mat2, Tensor):
        check_bmm(input, mat2)


@check("baddbmm")
def _baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, **_: Any) -> None:
    check_bmm(batch1, batch2)


@check("addmm")
def _addmm(input: Tensor, mat1: Tensor, mat2: Tensor, **_: Any) -> None:
    check_expand(input, (mat1.shape[0], mat2.shape[1]))


@check("addmv")
def _addmv(input: Tensor, mat: Tensor, vec: Tensor, **_: Any) -> None:
    if input.numel not in (1, mat.shape[0]):
        rows = "x".join(map(str, mat.shape))
        text = f"size mismatch, got input ({input.numel}), mat ({rows}), vec ({vec.numel})"
        raise error("RuntimeError", text)
    check_mv(mat, vec)


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


# ---- linear algebra ------------------------------------------------------------------------------


@check("trace")
def _trace(input: Tensor) -> None:
    if input.ndim != 2:
        text = f"trace: expected a matrix, but got tensor with dim {input.ndim}"
        raise error("RuntimeError", text)


SINGULAR = (
    "linalg.inv: {batch}The diagonal element {order} is zero, the inversion could not be completed "
    "because the input matrix is singular."
)
NOT_POSITIVE = (
    "{name}: {batch}The factorization could not be completed because the input is not "
    "positive-definite (the leading minor of order {order} is not positive-definite)."
)


def _square(name: str, input: Tensor) -> None:
    if input.ndim < 2:
        text = f"{name}: The input tensor A must have at least 2 dimensions."
        raise error("RuntimeError", text)
    rows, columns = input.shape[-2:]
    if rows != columns:
        raise error(
            "RuntimeError",
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices",
        )


for _function, _title in {
    **{"det": "linalg.det", "logdet": "logdet", "slogdet": "linalg.slogdet"},
    **{"eigh": "linalg.eigh", "eigvalsh": "linalg.eigh"},
    **{"matrix_power": "linalg.matrix_power", "matrix_exp": "linalg.matrix_exp"},
}.items():
    for _path in (_function, f"linalg.{_function}"):
        check(_path)(lambda A, *_, _title=_title, **__: _square(_title, A))
for _function in ("svd", "qr", "svdvals", "matrix_norm"):
    _title = f"linalg.{_function}"
    needs(2, f"{_title}: The input tensor A must have at least 2 dimensions.", _function, _title)
needs(
    2,
    "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.",
    *("matrix_rank", "linalg.matrix_rank"),
)


@check("inv", "inverse", "linalg.inv")
def _inv(A: Tensor, **_: Any) -> None:
    _square("linalg.inv", A)
    if not A.dtype.is_floating:
        text = "linalg.inv: Expected a floating point or complex tensor as input. Got "
        raise error("RuntimeError", text + A.dtype.scalar_name)
    for place, matrix in enumerate(A.data.reshape(-1, *A.shape[-2:])):
        order = _zero_pivot(matrix)
        if order:
            batch = f"(Batch element {place}): " if A.ndim > 2 else ""
            raise error(LINALG_ERROR, SINGULAR.format(batch=batch, order=order))


def _zero_pivot(matrix: Any) -> int:
    """The 1-based index of the first zero pivot of an LU decomposition with partial pivoting; 0 if
    there is none.
    """
    a = np.array(matrix)
    for k in range(len(a)):
        best = k + int(np.argmax(np.abs(a[k:, k])))
        if a[best, k] == 0:
            return k + 1
        a[[k, best]] = a[[best, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return 0


@check("linalg.solve", "solve")
def _solve(A: Tensor, B: Any = None, **_: Any) -> None:
    if isinstance(B, Tensor) and A.dtype is not B.dtype:
        text = (
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.scalar_name} and B of type {B.dtype.scalar_name} instead"
        )
        raise error("RuntimeError", text)
    _square("linalg.solve", A)
    if any(_zero_pivot(matrix) for matrix in A.data.reshape(-1, *A.shape[-2:])):
        text = "torch.linalg.solve: The solver failed because the input matrix is singular."
        raise error(LINALG_ERROR, text)
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


def _cholesky(name: str) -> Check:
    def function(A: Tensor, *_: Any, **__: Any) -> None:
        _square(name, A)
        for place, matrix in enumerate(A.data.reshape(-1, *A.shape[-2:])):
            for order in range(1, len(matrix) + 1):
                try:
                    np.linalg.cholesky(matrix[:order, :order].astype(float))
                except np.linalg.LinAlgError:
                    batch = f"(Batch element {place}): " if A.ndim > 2 else ""
                    text = NOT_POSITIVE.format(name=name, batch=batch, order=order)
                    raise error(LINALG_ERROR, text) from None

    return function


check("linalg.cholesky")(_cholesky("linalg.cholesky"))
check("cholesky")(_cholesky("linalg.cholesky"))
check("older.cholesky")(_cholesky("cholesky"))
