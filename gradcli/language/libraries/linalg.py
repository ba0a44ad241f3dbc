"""The functions of `numpy.linalg` and of `scipy.linalg`."""

from typing import Any

from ...errors import GradcliError
from ...graphs import Outputs
from ...lazy import np
from ...operators.leaves import numbers
from .function import WithKnownNumbers, op
from .numpy import ARRAYS, array_list, bounded, refuse


def _solve(a, b):
    if b.ndim == 1:
        return op["linalg.solve"](a, op.expand(b, shape=(*a.shape[:-2], *b.shape)))
    batch = op.broadcast_tensors(a[..., 0, 0], b[..., 0, 0])[0].shape
    a, b = (op.expand(m, shape=(*batch, *m.shape[-2:])) for m in (a, b))
    return op["linalg.solve"](a, b)


def _qr(a, mode="reduced"):
    if mode == "raw":
        raise refuse("qr(mode='raw')", "reduced gives Q and R")
    out = op["linalg.qr"](a, "reduced" if mode == "r" else mode)
    return out[1] if mode == "r" else out


def symmetric_from_triangle(a, lower=True):
    """The symmetric matrix whose lower or upper triangle is that of `a`."""
    half = op.tril(a, diagonal=-1) if lower else op.triu(a, diagonal=1)
    return half + op.matrix_transpose(half) + op.diag_embed(op.diagonal(a, dim1=-2, dim2=-1))


def _least_squares(a, b, rcond=None):
    """lstsq() with only one output, the solution: the number of residuals depends on the rank."""
    if rcond is not None:
        raise refuse("lstsq() with rcond=", "leave it out: the matrix has full rank")
    return Outputs((op["linalg.lstsq"](a, b)[0],))


def _svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    a = symmetric_from_triangle(a) if hermitian else a
    return op["linalg.svd"](a, full_matrices) if compute_uv else op["linalg.svdvals"](a)


def _norm(x, ord=None, axis=None, keepdims=False):
    return op["linalg.norm"](x, ord, axis, keepdims)


def _pinv(a, rcond=None, hermitian=False, *, rtol=None):
    a = symmetric_from_triangle(a) if hermitian else a
    tolerance = rcond if rtol is None else rtol
    return op["linalg.pinv"](a, **({} if tolerance is None else {"rtol": tolerance}))


def _cholesky(a, upper=False):
    lower = op["linalg.cholesky"](op.matrix_transpose(a) if upper else a)
    return op.matrix_transpose(lower) if upper else lower


def _outer(x1, x2):
    if x1.ndim != 1 or x2.ndim != 1:
        raise GradcliError("shape", "linalg.outer() takes vectors")
    return op.outer(x1, x2)


def _rank(A, tol=None, hermitian=False, *, rtol=None):
    if tol is not None or rtol is not None:
        raise refuse("matrix_rank() with a tolerance", "count the singular values above it")
    return op["linalg.matrix_rank"](symmetric_from_triangle(A) if hermitian else A)


NUMPY: dict[str, Any] = {
    "cholesky": lambda a, *, upper=False: _cholesky(a, upper),
    "cond": WithKnownNumbers(("p",), lambda x, p=None: op["linalg.cond"](x, p)),
    "cross": lambda x1, x2, *, axis=-1: ARRAYS["cross"](x1, x2, axis=axis),
    "det": lambda a: op["linalg.det"](a),
    "diagonal": lambda x, *, offset=0: op.diagonal(x, offset=offset, dim1=-2, dim2=-1),
    "eigh": lambda a, UPLO="L": op["linalg.eigh"](a, UPLO),
    "eigvalsh": lambda a, UPLO="L": op["linalg.eigvalsh"](a, UPLO),
    "inv": lambda a: op["linalg.inv"](a),
    "lstsq": _least_squares,
    "matmul": "matmul",
    "matrix_norm": lambda x, *, ord="fro", keepdims=False: op["linalg.matrix_norm"](
        x, ord=ord, keepdim=keepdims
    ),
    "matrix_power": lambda a, n: op["linalg.matrix_power"](a, n),
    "matrix_rank": _rank,
    "matrix_transpose": lambda x: op.matrix_transpose(x),
    "multi_dot": lambda arrays: op["linalg.multi_dot"](array_list(arrays)),
    "norm": _norm,
    "outer": _outer,
    "pinv": _pinv,
    "qr": _qr,
    "slogdet": lambda a: op["linalg.slogdet"](a),
    "solve": _solve,
    "svd": _svd,
    "svdvals": lambda x: op["linalg.svdvals"](x),
    "tensordot": ARRAYS["tensordot"],
    "tensorinv": lambda a, ind=2: op["linalg.tensorinv"](a, ind),
    "tensorsolve": lambda a, b, axes=None: op["linalg.tensorsolve"](a, b, dims=axes),
    "trace": lambda x, *, offset=0: ARRAYS["trace"](x, offset, -2, -1),
    "vecdot": ARRAYS["vecdot"],
    "vector_norm": lambda x, *, axis=None, ord=2, keepdims=False: op["linalg.vector_norm"](
        x, ord=ord, dim=axis, keepdim=keepdims
    ),
}


# ---- SciPy ---------------------------------------------------------------------------------------


def _factor(a, lower=False):
    """The Cholesky factor of the symmetric matrix whose lower or upper triangle is that of `a`."""
    factor = op["linalg.cholesky"](symmetric_from_triangle(a, lower))
    return factor if lower else op.matrix_transpose(factor)


def _cho_solve(c_and_lower, b):
    factor, lower = c_and_lower
    columns = b[:, None] if b.ndim == 1 else b
    triangle = (op.tril if lower else op.triu)(factor)  # the other triangle is not read
    out = op.cholesky_solve(columns, triangle, upper=not lower)
    return out[:, 0] if b.ndim == 1 else out


def _solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    if trans not in (0, 1, "N", "T"):
        raise refuse(f"solve_triangular(trans={trans!r})", "supported: 0 and 1")
    transposed = trans in (1, "T")
    a = op.matrix_transpose(a) if transposed else a
    columns = b[:, None] if b.ndim == 1 else b
    out = op["linalg.solve_triangular"](
        a, columns, upper=bool(lower) == transposed, unitriangular=unit_diagonal
    )
    return out[:, 0] if b.ndim == 1 else out


def _solve_with(a, b, lower=False, *, assume_a=None):
    if assume_a not in (None, "gen", "general"):
        raise refuse(f"solve(assume_a={assume_a!r})", "leave it out: the answer is the same")
    return _solve(a, b)


def _eigh(a, b=None, lower=True, eigvals_only=False):
    if b is not None:
        raise refuse("eigh() of two matrices", "reduce it to one with a Cholesky factor of b")
    name = "linalg.eigvalsh" if eigvals_only else "linalg.eigh"
    return op[name](a, "L" if lower else "U")


def _lu(a, permute_l=False):
    P, L, U = op["linalg.lu"](a)
    return Outputs((op.matmul(P, L), U)) if permute_l else Outputs((P, L, U))


def _qr_in_full(a, mode="full"):
    modes = {"full": "complete", "economic": "reduced", "r": "r"}
    if mode not in modes:
        raise refuse(f"qr(mode={mode!r})", "supported: full, economic and r")
    out = _qr(a, modes[mode])
    return Outputs((out,)) if mode == "r" else out


def _check_vectors(name: str, *arrays) -> None:
    """Raise GradcliError for arrays that are not vectors: JAX and new versions of SciPy return a
    matrix for each row, and old versions of SciPy flatten the array.
    """
    if any(a.ndim != 1 for a in arrays):
        raise refuse(
            f"{name}() of anything but a vector", "write it for each row, and stack the results"
        )


def toeplitz(c, r=None):
    """The matrix with c in its first column and r in its first row, constant on diagonals."""
    r = c if r is None else r
    _check_vectors("toeplitz", c, r)
    bounded(c.shape[0], r.shape[0])
    both = op.cat([op.flip(c, dims=(0,)), r[1:]], dim=0)
    indices = np.arange(c.shape[0])[::-1, None] + np.arange(r.shape[0])
    return op.take(both, numbers(indices))


def _circulant(c):
    _check_vectors("circulant", c)
    indices = np.arange(bounded(c.shape[0], c.shape[0])[0])
    return op.take(c, numbers((indices[:, None] - indices) % len(indices)))


def _solve_sylvester(a, b, q):
    eyes = op.eye(b.shape[0]), op.eye(a.shape[0])
    both = op.kron(a, eyes[0]) + op.kron(eyes[1], op.matrix_transpose(b))
    return op.reshape(op["linalg.solve"](both, op.flatten(q)), q.shape)


SCIPY: dict[str, Any] = {
    "block_diag": lambda *arrs: op.block_diag(*array_list(arrs)),
    "cho_factor": lambda a, lower=False: (_factor(a, lower), lower),
    "cho_solve": _cho_solve,
    "cholesky": _factor,
    "circulant": _circulant,
    "det": NUMPY["det"],
    "eigh": _eigh,
    "expm": lambda A: op["linalg.matrix_exp"](A),
    "inv": NUMPY["inv"],
    "lu": _lu,
    "qr": _qr_in_full,
    "solve": _solve_with,
    "solve_sylvester": _solve_sylvester,
    "solve_triangular": _solve_triangular,
    "svd": _svd,
    "toeplitz": toeplitz,
}
NOT_IN_JAX: dict[str, Any] = {
    "eigvalsh": lambda a, b=None, lower=True: _eigh(a, b, lower, eigvals_only=True),
    "kron": ARRAYS["kron"],
    "norm": _norm,
    "pinv": lambda a, *, rtol=None: _pinv(a, rtol=rtol),
    "svdvals": NUMPY["svdvals"],
}
