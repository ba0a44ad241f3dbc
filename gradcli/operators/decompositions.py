"""Matrix decompositions by elimination and by reflections: LU and QR.

Each output of a decomposition is a separate operator; the gradient is the sum of their gradients.
"""

from ..errors import GradcliError
from ..graphs import Outputs, as_node
from ..lazy import np
from .diagonals import diagonal
from .elements import NotWritable
from .families import no_flops, operator, shorthand
from .guards import raise_where
from .inverses import zero_pivot
from .joining import cat
from .lapack import (
    FOUND,
    LINALG,
    each_matrix,
    elimination,
    matrix,
    of_each_matrix,
    packed_lu,
    reflections,
)
from .leaves import eye, zeros
from .triangular import solve_triangular, triangle

PIVOTS = NotWritable("which rows are exchanged depends on the values")


def with_zeros(x, count, dim):
    """`x` with `count` rows (dim -2) or columns (-1) of zeros appended."""
    size = list(x.shape)
    size[dim] = count
    return cat([x, zeros(size=tuple(size))], dim=dim) if count else x


# ---- LU ------------------------------------------------------------------------------------------


def _row_order(pivots, rows):
    """The row order that results from the exchanges in LAPACK pivots, which count from 1."""
    order = np.arange(rows)
    for k, other in enumerate(pivots):
        order[[k, other - 1]] = order[[other - 1, k]]
    return order


def _permutation(exchanges, rows):
    """The matrix P of P @ L @ U, from the pivots."""
    pivots = np.asarray(exchanges)[..., None]
    return each_matrix(lambda p: np.eye(rows)[:, _row_order(p[:, 0], rows)], (rows, rows), pivots)


def checked_pivots(s, pivots, *_, **attrs):
    """The pivots of a matrix of shape s. Raises GradcliError if one is no row number, from 1."""
    rows, pivots = s[-2], np.asarray(pivots)
    odd = pivots[(pivots < 1) | (pivots > rows)]
    if odd.size:
        raise GradcliError(
            "index",
            f"pivots must be row numbers from 1 to {rows}, got {odd[0]}",
            hint="lu_factor() returns a matrix and its pivots",
        )
    return pivots


@operator(
    shape=lambda s, pivots: (*matrix(s)[:-1], s[-2]),
    value=lambda x, pivots: _permutation(checked_pivots(x.shape, pivots), x.shape[-2]),
    symbolic=PIVOTS,
    dtype="float",
    integer_inputs=("pivots",),
    check_indices=checked_pivots,
    torch="torch.lu_unpack",
    spelling="lu_unpack({0}, {1}).P",
    examples=(("lu_unpack(x, lu_factor(x).pivots).P @ x", "x=2x2"),),
    flops=no_flops,
)
def row_exchanges(g, y, packed, pivots):
    """P of a decomposition P @ L @ U, from its pivots; no gradient."""
    return None, None


def _lu_operator(name, k, **fields):
    """A decorator for the operators lu_p, lu_l and lu_u, the factors of P @ L @ U."""
    return operator(
        symbolic=PIVOTS,
        dtype="float",
        torch=LINALG + "lu",
        spelling=f"linalg.lu({{0}}).{name}",
        flops=of_each_matrix(elimination),
        numpy=f"scipy.linalg.lu({{0}})[{k}]",
        jax="",
        **fields,
    )


@_lu_operator(
    "P",
    0,
    shape=lambda s: (*matrix(s)[:-1], s[-2]),
    value=lambda x: _permutation(_exchanges(x), x.shape[-2]),
    examples=(("linalg.lu(x).P @ x", "x=2x2"),),
)
def lu_p(g, y, x):
    """P of the decomposition P @ L @ U: a permutation matrix; no gradient."""
    return None


def _exchanges(x):
    rows, columns = x.shape[-2:]
    return each_matrix(lambda m: packed_lu(m)[1] + 1, (min(rows, columns),), x, dtype=int)


@operator(
    shape=lambda s: (*matrix(s)[:-2], min(s[-2:])),
    value=_exchanges,
    symbolic=PIVOTS,
    dtype="int",
    torch=LINALG + "lu_factor",
    spelling="linalg.lu_factor({0}).pivots",
    examples=(("x * lu_factor(x).pivots", "x=2x2"),),
    flops=of_each_matrix(elimination),
    numpy="scipy.linalg.lu_factor({0})[1] + 1",
)
def lu_pivots(g, y, x):
    """The row that each row was exchanged with, counted from 1; no gradient."""
    return None


def _packed(x):
    return each_matrix(lambda m: packed_lu(m)[0], x.shape[-2:], x)


def _lower(packed):
    k = min(packed.shape[-2:])
    return np.tril(packed[..., :k], -1) + np.eye(packed.shape[-2], k)


@_lu_operator(
    "L",
    1,
    shape=lambda s: (*matrix(s)[:-1], min(s[-2:])),
    value=lambda x: _lower(_packed(x)),
    examples=(
        ("linalg.lu(x)[1]", "x=3x3"),
        ("linalg.lu(x).L", "x=2x3x2"),
        ("linalg.lu(x)[1]", "x=2x3"),
    ),
)
def lu_l(g, y, x):
    """L of the decomposition P @ L @ U with rows exchanged: lower triangular, 1 on the diagonal."""
    rows, columns = x.shape[-2:]
    k, U = min(rows, columns), lu_u(x)
    if rows <= columns:
        inner = triangle(y.mT @ g, upper=False, strict=True)
        inner = solve_triangular(U[..., :k].mT, inner, upper=False, left=False)
        inner = with_zeros(inner, columns - k, -1)
        return lu_p(x) @ solve_triangular(y.mT, inner, upper=True, unitriangular=True)
    strict = triangle(g, upper=False, strict=True)
    inner = -triangle(y.mT @ strict, upper=True)
    inner = solve_triangular(y[..., :k, :].mT, inner, upper=True, unitriangular=True)
    inner = cat([inner + strict[..., :k, :], g[..., k:, :]], dim=-2)
    return lu_p(x) @ solve_triangular(U.mT, inner, upper=False, left=False)


@_lu_operator(
    "U",
    2,
    shape=lambda s: (*matrix(s)[:-2], min(s[-2:]), s[-1]),
    value=lambda x: np.triu(_packed(x)[..., : min(x.shape[-2:]), :]),
    examples=(
        ("linalg.lu(x)[2]", "x=3x3"),
        ("linalg.lu(x).U", "x=2x2x3"),
        ("linalg.lu(x)[2]", "x=3x2"),
    ),
)
def lu_u(g, y, x):
    """U of the decomposition P @ L @ U with rows exchanged: upper triangular."""
    rows, columns = x.shape[-2:]
    k, L = min(rows, columns), lu_l(x)
    upper = triangle(g, upper=True)
    if rows >= columns:
        inner = triangle(g @ y.mT, upper=True)
        inner = solve_triangular(L[..., :k, :].mT, inner, upper=True, unitriangular=True)
        inner = with_zeros(inner, rows - k, -2)
        return lu_p(x) @ solve_triangular(y.mT, inner, upper=False, left=False)
    inner = -triangle(upper @ y.mT, upper=False, strict=True)
    inner = solve_triangular(y[..., :k].mT, inner, upper=False, left=False)
    inner = cat([inner + upper[..., :k], g[..., k:]], dim=-1)
    return lu_p(x) @ solve_triangular(L.mT, inner, upper=True, unitriangular=True)


def _check_pivoting(pivot):
    if not pivot:
        raise GradcliError(
            "unsupported",
            "LU without exchanged rows is not implemented on the CPU, in PyTorch either",
            hint="leave pivot=False out",
        )


@shorthand("linalg.lu", only_aliases=True, input_dtypes="floats")
def lu_parts(A, *, pivot=True):
    """P, L and U such that P @ L @ U is A."""
    _check_pivoting(pivot)
    A = as_node(A)
    return Outputs((lu_p(A), lu_l(A), lu_u(A)), ("P", "L", "U"))


def _packed_factors(A, pivot, check):
    """L and U in one matrix, and the pivots. With `check`, raises GradcliError if a diagonal
    element of U is 0.
    """
    _check_pivoting(pivot)
    rows, columns = matrix(A.shape)[-2:]
    upper, lower = lu_u(A), triangle(lu_l(A), upper=False, strict=True)
    packed = with_zeros(lower, columns - lower.shape[-1], -1)
    packed = packed + with_zeros(upper, rows - min(rows, columns), -2)
    result = packed, lu_pivots(A)
    if not check:
        return result
    zero = diagonal(upper, dim1=-2, dim2=-1).eq(0).sum() > 0
    return tuple(raise_where(x, zero, message=ZERO_PIVOT, code="singular") for x in result)


ZERO_PIVOT = "lu_factor() refuses a matrix with a pivot of 0; lu_factor_ex() accepts it"


@shorthand("linalg.lu_factor", input_dtypes="floats")
def lu_factor(A, *, pivot=True):
    """L and U packed into one matrix, and the pivots."""
    return Outputs(_packed_factors(as_node(A), pivot, check=True), ("LU", "pivots"))


@shorthand(input_dtypes="floats")
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """As lu_factor, with info: the first pivot that is 0, counted from 1; 0 if none is."""
    A = as_node(A)
    result = _packed_factors(A, pivot, check_errors)
    return Outputs((*result, zero_pivot(A)), ("LU", "pivots", "info"))


@shorthand(input_dtypes="floats")
def lu(A, pivot=True, get_infos=False):
    """L and U packed into one matrix, and the pivots."""
    if get_infos:
        return lu_factor_ex(A, pivot=pivot)
    return Outputs(_packed_factors(as_node(A), pivot, check=False), ("LU", "pivots"))


@shorthand()
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """P, L and U, from the output of lu_factor()."""
    data = as_node(LU_data)
    rows, columns = matrix(data.shape)[-2:]
    k = min(rows, columns)
    P = row_exchanges(data, LU_pivots) if unpack_pivots else zeros(size=(0,))
    if not unpack_data:
        return Outputs((P, zeros(size=(0,)), zeros(size=(0,))), ("P", "L", "U"))
    unit = eye(n=rows, m=k)
    L = triangle(data[..., :k], upper=False, strict=True) + unit
    return Outputs((P, L, triangle(data[..., :k, :], upper=True)), ("P", "L", "U"))


# ---- QR ------------------------------------------------------------------------------------------


def _size(s, mode):
    return s[-2] if mode == "complete" else min(s[-2:])


def _check_rule(x, mode):
    rows, columns = x.shape[-2:]
    if mode == "complete" and rows > columns:
        raise GradcliError(
            "not-differentiable",
            "the QR decomposition is not differentiable when mode='complete' and there are more "
            "rows than columns",
            hint="mode='reduced' is",
        )
    if mode == "r":
        raise GradcliError(
            "not-differentiable",
            "the derivative of linalg.qr depends on Q, which is not computed when mode='r'",
            hint="mode='reduced' gives Q and R",
        )


def _symmetrized(x):
    """The symmetric matrix whose upper triangle is x."""
    return x + triangle(x, upper=True, strict=True).mT


REFLECTED = NotWritable("the signs of Q depend on the values of x")


def _qr_operator(name, k, **fields):
    """A decorator for the operators qr_q and qr_r, the factors of Q @ R."""

    def value(x, *, mode):
        full = "complete" if mode == "complete" else "reduced"
        return np.linalg.qr(x + 0.0, full)[k]  # OpenBLAS treats -0.0 as negative

    return operator(
        value=value,
        symbolic=REFLECTED,
        dtype="float",
        caveat=FOUND,
        torch=LINALG + "qr",
        saved=lambda y, x, **mode: (qr_q(x, **mode), qr_r(x, **mode)),
        spelling=f"linalg.qr({{0}}, mode={{mode}}).{name}",
        numpy=f"np.linalg.qr({{0}}, {{mode?}})[{k}]",
        **fields,
    )


@_qr_operator(
    "Q",
    0,
    shape=lambda s, *, mode: (*matrix(s)[:-1], _size(s, mode)),
    examples=(("linalg.qr(x)[0]", "x=3x2"), ("qr(x).Q", "x=2x2x3")),
    flops=of_each_matrix(lambda m, n: 2 * reflections(m, n)),
)
def qr_q(g, y, x, *, mode="reduced"):
    """Q of the decomposition Q @ R: orthogonal columns of length 1."""
    _check_rule(x, mode)
    rows, columns = x.shape[-2:]
    R, inner = qr_r(x, mode=mode), y.mT @ g
    if rows >= columns:
        back = y @ _symmetrized(triangle(-inner, upper=True)) + g
        return solve_triangular(R.mT, back, upper=False, left=False)
    back = y @ triangle(inner - inner.mT, upper=False)
    back = solve_triangular(R[..., :rows].mT, back, upper=False, left=False)
    return with_zeros(back, columns - rows, -1)


@_qr_operator(
    "R",
    1,
    shape=lambda s, *, mode: (*matrix(s)[:-2], _size(s, mode), s[-1]),
    examples=(("linalg.qr(x)[1]", "x=3x2"), ("qr(x).R", "x=2x2x3")),
    flops=of_each_matrix(reflections),
)
def qr_r(g, y, x, *, mode="reduced"):
    """R of the decomposition Q @ R: upper triangular."""
    _check_rule(x, mode)
    rows, columns = x.shape[-2:]
    Q, inner = qr_q(x, mode=mode), g @ y.mT
    if rows >= columns:
        back = Q @ _symmetrized(triangle(inner, upper=True))
        return solve_triangular(y.mT, back, upper=False, left=False)
    back = Q @ triangle(inner.mT - inner, upper=False)
    back = solve_triangular(y[..., :rows].mT, back, upper=False, left=False)
    return with_zeros(back, columns - rows, -1) + Q @ g


@shorthand("linalg.qr", only_aliases=True, input_dtypes="floats")
def qr_parts(A, mode="reduced"):
    """Q with orthogonal columns and R upper triangular such that Q @ R is A."""
    if mode not in ("reduced", "complete", "r"):
        raise GradcliError("arguments", f"mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    A = as_node(A)
    Q = zeros(size=(0,)) if mode == "r" else qr_q(A, mode=mode)
    return Outputs((Q, qr_r(A, mode=mode)), ("Q", "R"))


@shorthand(input_dtypes="floats")
def qr(input, some=True):
    """Q with orthogonal columns and R upper triangular such that Q @ R is input."""
    return qr_parts(input, "reduced" if some else "complete")
