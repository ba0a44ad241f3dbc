"""NumPy's and LAPACK's functions on batches of matrices, with gradcli's error messages."""

from ..errors import GradcliError, Singular
from ..graphs import shapes
from ..lazy import np, scipy_linalg

LINALG = "torch.linalg."
FOUND = (
    "for a matrix with equal eigenvalues or singular values, without full rank, or with inf or nan,"
    " the vectors, and so the gradient, depend on the version of LAPACK"
)


def matrix(s):
    """The shape s. Raises GradcliError unless it is that of matrices."""
    if len(s) < 2:
        raise GradcliError("shape", f"a matrix is needed, and the shape is {shapes.text(s)}")
    return s


def square(s):
    """The shape s. Raises GradcliError unless it is that of square matrices."""
    rows, columns = matrix(s)[-2:]
    if rows != columns:
        raise shapes.Conflict(
            f"a square matrix is needed, and this one is {rows}×{columns}", rows, columns
        )
    return s


def each_matrix(function, shape, *arrays, dtype=float):
    """`function` applied to the matrices in the last two dimensions; each result has this shape."""
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    wide = [np.broadcast_to(a, batch + a.shape[-2:]) for a in arrays]
    out = np.empty((*batch, *shape), dtype)
    for where in np.ndindex(batch):
        out[where] = function(*(a[where] for a in wide))
    return out


# ---- FLOP ----------------------------------------------------------------------------------------
# G. Golub and C. Van Loan, "Matrix Computations" (2013), and LAPACK's working note 41.


def of_each_matrix(count):
    """The field `flops`: count(rows, columns) for each matrix of the first input."""

    def flops(out, s, /, *_, **__):
        return shapes.numel(s[:-2]) * round(count(*s[-2:]))

    return flops


def elimination(m, n):
    """FLOP of an LU decomposition of an m×n matrix: 2/3 n**3 for a square matrix."""
    low, high = min(m, n), max(m, n)
    return high * low**2 - low**3 / 3


def reflections(m, n):
    """FLOP of R of a QR decomposition; computing Q takes the same again."""
    low, high = min(m, n), max(m, n)
    return 2 * high * low**2 - 2 / 3 * low**3


def singular_values(m, n):
    """FLOP of singular values alone."""
    low, high = min(m, n), max(m, n)
    return 4 * high * low**2 - 4 / 3 * low**3


def singular_vectors(m, n):
    """FLOP of singular values and vectors, after a QR decomposition."""
    low, high = min(m, n), max(m, n)
    return 6 * high * low**2 + 11 * low**3


# ---- arrays --------------------------------------------------------------------------------------


def _finite(x):
    """For each matrix, whether all elements are finite; otherwise LAPACK may not terminate."""
    return np.isfinite(x).all(axis=(-2, -1))


def _with_zeros(x, finite):
    return np.where(finite[..., None, None], x + 0.0, 0.0)  # OpenBLAS treats -0.0 as negative


def svd(x, *, full=False):
    """U, S and Vh. As in PyTorch, S is nan for a matrix with inf. Raises GradcliError `arguments`
    for a matrix with nan.
    """
    finite = _finite(x)
    _check_not_nan(x)
    u, s, vh = np.linalg.svd(_with_zeros(x, finite), full_matrices=full)
    s[~finite] = u[~finite] = vh[~finite] = np.nan
    only_on_diagonal = ~finite & _finite_off_diagonal(x)
    if only_on_diagonal.any():
        u[only_on_diagonal] = vh[only_on_diagonal] = _ends_exchanged(x.shape[-1])
    return u, s, vh


def svdvals(x):
    """The singular values."""
    finite = _finite(x)
    _check_not_nan(x)
    s = np.linalg.svd(_with_zeros(x, finite), compute_uv=False)
    s[~finite] = np.nan
    return s


def _check_not_nan(x):
    if np.isnan(x).any():
        message = "a matrix with nan has no singular values"
        hint = "PyTorch: the algorithm failed to converge, for the matrix has non-finite values"
        raise GradcliError("arguments", message, hint=hint)


def _finite_off_diagonal(x):
    """For each matrix, whether it is square and its off-diagonal elements are finite."""
    if x.shape[-2] != x.shape[-1]:
        return np.zeros(x.shape[:-2], bool)
    return _finite(np.where(np.eye(x.shape[-1]) > 0, 0.0, x))


def _ends_exchanged(n):
    """The identity matrix with its first and last row exchanged."""
    return np.eye(n)[[*range(n - 1, n), *range(1, n - 1), *range(min(n - 1, 1))]]


def eigh(x, UPLO):
    """Eigenvalues and eigenvectors; those of a matrix with inf or nan are as in PyTorch."""
    read = (np.tril if UPLO in "Ll" else np.triu)(x)
    finite = _finite(read)
    values, vectors = np.linalg.eigh(_with_zeros(read, finite), UPLO.upper())
    values[~finite] = read[~finite][..., 0] if x.shape[-1] == 1 else np.nan
    vectors[~finite] = np.nan
    infinite = ~np.isnan(read).any(axis=(-2, -1)) & _finite_off_diagonal(read)
    vectors[~finite & infinite] = np.eye(x.shape[-1])
    return values, vectors


def eigvalsh(x, UPLO):
    """The eigenvalues."""
    finite = _finite((np.tril if UPLO in "Ll" else np.triu)(x))
    return np.linalg.eigvalsh(x, UPLO) if finite.all() else eigh(x, UPLO)[0]


def _singular():
    return Singular(
        "the matrix is singular: it has no inverse",
        hint="PyTorch: The diagonal element is zero, the solve could not be completed",
    )


def solved(a, b, *, check=True):
    """The solution x of a @ x = b, for batches of matrices. Raises GradcliError `singular`; without
    `check`, a pivot of 0 gives inf and nan.
    """
    if not (check and np.isfinite(a).all() and np.isfinite(b).all()):
        return each_matrix(lambda m, c: _solved(m, c, check), b.shape[-2:], a, b)
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise _singular() from None


def _solved(a, b, check):
    """The solution by LU decomposition. As in PyTorch, a transposed view is solved with the
    decomposition of the matrix that it is a view of.
    """
    transposed = not a.flags.c_contiguous
    factors, exchanges, zero = packed_lu(a.T if transposed else a)
    if zero and check:
        raise _singular()
    return solved_by_lu(factors, exchanges, b, transposed=transposed)


def solved_by_lu(packed, exchanges, b, *, transposed):
    """The solution x of A @ x = b, from the LU decomposition of A, or of A.T if `transposed`."""
    if not b.size:
        return b
    rows = list(range(len(b)))
    for k, other in enumerate(exchanges):
        rows[k], rows[other] = rows[other], rows[k]
    trsm = scipy_linalg.blas.dtrsm
    if not transposed:
        return trsm(1.0, packed, trsm(1.0, packed, b[rows], lower=1, diag=1))
    half = trsm(1.0, packed, trsm(1.0, packed, b, trans_a=1), lower=1, diag=1, trans_a=1)
    x = np.empty_like(half)
    x[rows] = half
    return x


def packed_lu(x):
    """L and U in one matrix, the pivots from 0, and the first zero pivot from 1; 0 if none."""
    rows, columns = x.shape
    if not x.size:
        return np.zeros(x.shape), np.arange(min(rows, columns)), 0
    return scipy_linalg.lapack.dgetrf(x) if np.isfinite(x).all() else _eliminated(x)


def _eliminated(x):
    """`packed_lu` for matrices with inf or nan, for which LAPACK libraries differ."""
    x, exchanges = np.array(x), []
    for k in range(min(x.shape)):
        pivot = k
        for row in range(k + 1, len(x)):
            pivot = row if abs(x[row, k]) > abs(x[pivot, k]) else pivot
        exchanges.append(pivot)
        x[[k, pivot]] = x[[pivot, k]]
        if x[k, k] != 0:
            x[k + 1 :, k] /= x[k, k]
        x[k + 1 :, k + 1 :] -= np.multiply.outer(x[k + 1 :, k], x[k, k + 1 :])
    zeros = np.flatnonzero(np.diagonal(x) == 0)
    return x, np.array(exchanges), int(zeros[0]) + 1 if zeros.size else 0


def triangular(a, b, *, upper, left, unitriangular):
    """The solution of one triangular system; zeros on the diagonal give inf and nan, no error."""
    if not b.size:
        return b
    return scipy_linalg.blas.dtrsm(1.0, a, b, side=not left, lower=not upper, diag=unitriangular)
