"""Triangular systems, and the Cholesky decomposition."""

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes
from ..graphs.operator import FLOATS_FIRST
from ..lazy import np, scipy_linalg
from . import matrix_elements
from .diagonals import diagonal
from .elements import NotWritable
from .families import composite, no_flops, one_of, operator, shorthand
from .guards import raise_where
from .inverses import inverse_of
from .lapack import LINALG, each_matrix, of_each_matrix, square, triangular
from .leaves import eye, zeros


def triangle(x, *, upper, strict=False):
    """The upper or lower triangle of x; with `strict`, without the diagonal."""
    return x.triu(diagonal=int(strict)) if upper else x.tril(diagonal=-int(strict))


def _system(a, b, *, left, **_):
    square(a)
    if len(b) < 2:
        raise GradcliError("shape", f"B must be a matrix, and its shape is {shapes.text(b)}")
    return shapes.matmul(a, b) if left else shapes.matmul(b, a)


def _solve_triangular(a, b, *, upper, left, unitriangular):
    form = {"upper": upper, "left": left, "unitriangular": unitriangular}
    return each_matrix(lambda m, c: triangular(m, c, **form), b.shape[-2:], a, b)


def _by_inverse(lower, i, a, b, *, upper, left, unitriangular):
    if unitriangular:
        return None
    inverse = inverse_of(triangle(a, upper=upper))
    return inverse @ b if left else b @ inverse


def _in_numpy(*, upper, left, unitriangular):
    solved = "scipy.linalg.solve_triangular({0}, {1}, lower={lower})"
    if not left:
        solved = "scipy.linalg.solve_triangular({0}.mT, {1}.mT, lower={lower}).mT"
    unit = ", unit_diagonal=True" * unitriangular
    return solved.replace("{lower}", str(upper != left) + unit)


@operator(
    shape=_system,
    index=_by_inverse,
    value=_solve_triangular,
    symbolic=matrix_elements.triangular_solution,
    dtype="float",
    torch=LINALG + "solve_triangular",
    order="A B * upper left unitriangular",
    spelling="linalg.solve_triangular({0}, {1}, upper={upper}, left={left}, "
    "unitriangular={unitriangular})",
    examples=(
        ("solve_triangular(a + 3 * eye(3), b, upper=True)", "a=3x3,b=3x2"),
        ("linalg.solve_triangular(a + 3 * eye(2), b, upper=False, left=False)", "a=2x2,b=3x2x2"),
        ("solve_triangular(a, b, upper=False, unitriangular=True)", "a=2x3x3,b=3x2"),
    ),
    flops=lambda out, a, b, **_: shapes.numel(out) * a[-1],
    numpy=_in_numpy,
    input_dtypes=FLOATS_FIRST,
    canonical_attributes=one_of(upper=(True, False)),
)
def solve_triangular(g, y, A, B, *, upper, left=True, unitriangular=False):
    """x such that A @ x is B, or x @ A if left=False; only one triangle of A is used."""
    to_B = solve_triangular(A.mT, g, upper=not upper, left=left, unitriangular=unitriangular)
    to_A = -(to_B @ y.mT) if left else -(y.mT @ to_B)
    return triangle(to_A, upper=upper, strict=unitriangular), to_B


@shorthand(input_dtypes="floats of one dtype")
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    """x such that A @ x is b, and a copy of A."""
    b, A = as_node(b), as_node(A)
    matrix, side = (A.mT, not upper) if transpose else (A, upper)
    result = solve_triangular(matrix, b, upper=side, unitriangular=unitriangular)
    return Outputs((result, cloned_coefficient(A, b)), ("solution", "cloned_coefficient"))


def _in_batches(A, b):
    return (*shapes.broadcast(A[:-2], b[:-2]), *A[-2:])


@operator(
    shape=_in_batches,
    value=lambda A, b: np.broadcast_to(A, _in_batches(np.shape(A), np.shape(b))) * 1,
    dtype="first",
    part_of="triangular_solve",
    torch="torch.triangular_solve",
    spelling="triangular_solve({1}, {0})[1]",
    numpy="{0} * 1",
    index=lambda lower, i, A, b: lower.of(A, i),
    examples=(("triangular_solve(b, A)[1]", "b=3x1,A=3x3"),),
    saved=(),
    flops=no_flops,
)
def cloned_coefficient(g, y, A, b):
    """The matrix that triangular_solve has used; its gradient with respect to B is 0."""
    return g, zeros(size=b.shape)


# ---- Cholesky ------------------------------------------------------------------------------------

WHETHER_POSITIVE = NotWritable("whether a matrix is positive definite depends on its values")
NOT_POSITIVE = "the matrix is not positive definite, and has no Cholesky decomposition"
MOST_UNBLOCKED = 32  # rows of a matrix that LAPACK factorises without blocking


def _cholesky(x, *, upper):
    if upper:
        return np.swapaxes(_cholesky(np.swapaxes(x, -1, -2), upper=False), -1, -2)
    if np.isinf(np.tril(x, -1)).any():  # OpenBLAS computes inf / inf as 0
        raise _not_positive()
    try:
        result = np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        raise _not_positive() from None
    if np.isnan(np.diagonal(result, axis1=-2, axis2=-1)).any():
        raise _not_positive()
    return result


def _not_positive():
    return GradcliError("arguments", NOT_POSITIVE, hint="x @ x.mT + eye(n) always is")


def _of_positive(value, **fields):
    """Declare an operator that computes a Cholesky factor."""
    return operator(
        shape=lambda s, *, upper: square(s),
        value=value,
        dtype="float",
        symmetric=("x",),
        flops=of_each_matrix(lambda n, _: n**3 / 3),
        typical_inputs=("invertible",),
        **fields,
    )


def _cholesky_rule(g, y, upper):
    """The gradient of x from the gradient g of its Cholesky factor y."""
    lower, to_lower = (y.mT, g.mT) if upper else (y, g)
    inner = (lower.mT @ to_lower).tril()
    return _between_inverses(lower, 0.5 * (inner + inner.tril(diagonal=-1).mT))


def _between_inverses(lower, middle):
    """inv(lower).T @ middle @ inv(lower)."""
    half = solve_triangular(lower.mT, middle, upper=True)
    return solve_triangular(lower, half, upper=False, left=False)


@_of_positive(
    _cholesky,
    symbolic=matrix_elements.cholesky_factor,
    torch=LINALG + "cholesky",
    numpy=lambda *, upper: "np.linalg.cholesky({0}.mT).mT" if upper else "np.linalg.cholesky({0})",
    examples=(
        ("cholesky(x @ x.T + eye(2))", "x=2x2"),
        ("linalg.cholesky(x @ x.mT + eye(2), upper=True)", "x=2x2x2"),
    ),
    input_dtypes="floats",
)
def cholesky(g, y, x, *, upper=False):
    """Lower triangular L such that L @ L.mT is x; with upper=True, its transpose."""
    return _cholesky_rule(g, y, upper)


@operator(
    shape=lambda s: square(s),
    value=lambda x: _cholesky(x, upper=False),
    dtype="float",
    symbolic=lambda sp, x: matrix_elements.cholesky_factor(sp, x, upper=False),
    torch=None,
    expand=lambda x: cholesky(x),
    symmetric=("x",),
    numpy="np.linalg.cholesky({0})",
    examples=(("cholesky_by_element(x @ x.T + eye(2))", "x=2x2"),),
    input_dtypes="floats",
)
def cholesky_by_element(g, y, x):
    """cholesky(x) with JAX's gradient, which treats x[i,j] and x[j,i] as independent."""
    inner = (y.mT @ g).tril()
    return _between_inverses(y, 0.5 * (inner + inner.tril(diagonal=-1)))


def _failed_minor(x):
    if not x.size:
        return 0
    factor, failed = scipy_linalg.lapack.dpotrf(x, lower=True)
    undefined = np.flatnonzero(np.isnan(np.diagonal(factor)))
    return failed or (undefined[0] + 1 if undefined.size else 0)


@operator(
    shape=lambda s: square(s)[:-2],
    value=lambda x: each_matrix(_failed_minor, (), x, dtype=int),
    symbolic=WHETHER_POSITIVE,
    dtype="int",
    torch=LINALG + "cholesky_ex",
    spelling="linalg.cholesky_ex({0}).info",
    examples=(("x * cholesky_ex(x @ x.T + eye(2)).info", "x=2x2"),),
    flops=of_each_matrix(lambda n, _: n**3 / 3),
)
def failed_minor(g, y, x):
    """The first leading minor that is not positive, counted from 1; 0 if all are."""
    return None


def _partial_factor(x):
    """The Cholesky factor of x; if x is not positive definite, the partial result of LAPACK. It
    consists of the columns up to the first failing pivot, this pivot, and unchanged elements of x.
    """
    if not _failed_minor(x):
        return np.linalg.cholesky(x)
    if len(x) > MOST_UNBLOCKED:
        message = f"PyTorch computes a matrix of more than {MOST_UNBLOCKED} rows in blocks, and "
        message += "the L of one that is not positive definite is not known here"
        raise GradcliError("unsupported", message, hint="only info is known: cholesky_ex(x).info")
    L = np.tril(x)
    for k in range(len(L)):
        L[k, k] -= L[k, :k] @ L[k, :k]
        if not L[k, k] > 0:
            break
        L[k, k] **= 0.5
        L[k + 1 :, k] = (L[k + 1 :, k] - L[k + 1 :, :k] @ L[k, :k]) / L[k, k]
    return L


def _factor_so_far(x, *, upper):
    transposed = np.swapaxes(x, -1, -2) if upper else x
    result = each_matrix(_partial_factor, x.shape[-2:], transposed)
    return np.swapaxes(result, -1, -2) if upper else result


@_of_positive(
    _factor_so_far,
    symbolic=WHETHER_POSITIVE,
    torch=LINALG + "cholesky_ex",
    spelling="linalg.cholesky_ex({0}, upper={upper}).L",
    kink=lambda y, x, *, upper: failed_minor(x.mT if upper else x).ne(0),
    caveat="the matrix is not positive definite: LAPACK stops, and PyTorch differentiates the "
    "partial result as if L @ L.mT were x",
    examples=(("cholesky_ex(x @ x.T + eye(2)).L", "x=2x2"),),
)
def factor_so_far(g, y, x, *, upper=False):
    """cholesky(x); if x is not positive definite, LAPACK's partial result."""
    return _cholesky_rule(g, y, upper)


@shorthand(input_dtypes="floats")
def cholesky_ex(A, *, upper=False, check_errors=False):
    """Cholesky decomposition, with info: the first leading minor that is not positive, from 1."""
    A = as_node(A)
    info = failed_minor(A.mT if upper else A)
    if check_errors:
        result = cholesky(A, upper=upper), raise_where(info, info.ne(0), message=NOT_POSITIVE)
        return Outputs(result, ("L", "info"))
    return Outputs((factor_so_far(A, upper=upper), info), ("L", "info"))


def _by_inverse_of_product(lower, i, b, L, *, upper):
    factor = triangle(L, upper=upper)
    return (factor.mT @ factor if upper else factor @ factor.mT).inv() @ b


@operator(
    shape=lambda b, L, *, upper: _system(L, b, left=True),
    value=lambda b, L, *, upper: _cholesky_solve(b, L, upper),
    symbolic=lambda sp, b, L, *, upper: _solved_twice(
        lambda a, x, side: matrix_elements.triangular_solution(
            sp, a, x, upper=side, left=True, unitriangular=False
        ),
        b,
        L,
        upper,
    ),
    index=_by_inverse_of_product,
    dtype="float",
    examples=(
        ("cholesky_solve(b, L.tril() + 3 * eye(2))", "b=2x1,L=2x2"),
        ("cholesky_solve(b, L.triu() + 3 * eye(2), upper=True)", "b=2x2x2,L=2x2"),
    ),
    flops=lambda out, b, L, **_: 2 * shapes.numel(out) * L[-1],
    triangular=lambda *, upper: ("L", "triu" if upper else "tril"),
    saved=("B", "L", "output"),
    numpy=lambda *, upper: f"scipy.linalg.cho_solve(({{1}}, {not upper}), {{0}})",
    input_dtypes="floats of one dtype",
)
def cholesky_solve(g, y, B, L, *, upper=False):
    """x such that L @ L.mT @ x is B, with the factor from cholesky()."""
    to_B = cholesky_solve(g, L, upper=upper)
    common = to_B @ y.mT
    common = common + common.mT
    return to_B, -(L @ common) if upper else -(common @ L)


def _solved_twice(solve, b, L, upper):
    transposed = np.swapaxes(L, -1, -2)
    first, second = (transposed, L) if upper else (L, transposed)
    return solve(second, solve(first, b, False), True)


def _cholesky_solve(b, L, upper):
    def solve(a, x, side):
        return _solve_triangular(a, x, upper=side, left=True, unitriangular=False)

    return _solved_twice(solve, b, L, upper)


ZERO_ON_DIAGONAL = "the diagonal of this factor contains 0, so that its matrix has no inverse"


@composite(
    rule=lambda g, y, L, *, upper=False: cholesky_solve.rule(g, y, None, L, upper=upper)[1],
    index=lambda lower, i, L, **how: lower(cholesky_solve(eye(n=L.shape[-1]), L, **how), i),
    triangular=cholesky_solve.triangular,
    examples=(("cholesky_inverse(L.tril() + 3 * eye(2))", "L=2x2"),),
    input_dtypes="floats",
)
def cholesky_inverse(L, *, upper=False):
    """Inverse of the matrix that L is the Cholesky factor of."""
    square(L.shape)
    zero = diagonal(L, dim1=-2, dim2=-1).eq(0).sum() > 0
    inverse = cholesky_solve(eye(n=L.shape[-1]), L, upper=upper)
    return raise_where(inverse, zero, message=ZERO_ON_DIAGONAL, code="singular")
