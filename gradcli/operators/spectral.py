"""Eigenvalues and eigenvectors of symmetric matrices, and the exponential of a matrix."""

from ..errors import GradcliError
from ..graphs import Outputs, as_node
from ..lazy import np, scipy_linalg
from . import lapack
from .comparisons import where
from .elements import NotWritable
from .families import operator, shorthand
from .joining import cat
from .lapack import FOUND, LINALG, each_matrix, of_each_matrix, square
from .leaves import eye, zeros
from .ties import nearly_equal

ROOTS = NotWritable("eigenvalues are roots of a polynomial")


def _eigh(y, x, *, UPLO):
    return eigvalsh(x, UPLO=UPLO), eigh_vectors(x, UPLO=UPLO)


def _symmetric(s, UPLO):
    if UPLO not in ("L", "U", "l", "u"):
        raise GradcliError("arguments", f"UPLO must be 'L' or 'U', got {UPLO!r}")
    return square(s)


@operator(
    shape=lambda s, *, UPLO: _symmetric(s, UPLO)[:-1],
    value=lambda x, *, UPLO: lapack.eigvalsh(x, UPLO),
    symbolic=ROOTS,
    dtype="float",
    kink=lambda y, x, *, UPLO: nearly_equal(y, x.shape[-2:]),
    caveat=FOUND,
    torch=LINALG + "eigvalsh",
    examples=(("eigvalsh(x + x.T)", "x=3x3"), ("linalg.eigh(x + x.mT)[0]", "x=2x2x2")),
    flops=of_each_matrix(lambda n, _: 4 / 3 * n**3),
    symmetric=("x",),
    saved=_eigh,
    digits="vary",
    numpy="np.linalg.eigvalsh({0}, {UPLO?})",
    input_dtypes="floats",
)
def eigvalsh(g, y, x, *, UPLO="L"):
    """Eigenvalues of a symmetric matrix, smallest first; one triangle of x is read."""
    V = eigh_vectors(x, UPLO=UPLO)
    return (V * g.unsqueeze(dim=-2)) @ V.mT


@operator(
    shape=lambda s, *, UPLO: _symmetric(s, UPLO),
    value=lambda x, *, UPLO: lapack.eigh(x, UPLO)[1],
    symbolic=ROOTS,
    dtype="float",
    caveat=FOUND,
    torch=LINALG + "eigh",
    spelling="linalg.eigh({0}, UPLO={UPLO}).eigenvectors",
    examples=(("eigh(x + x.T)[1] ** 2", "x=3x3"), ("eigh(x + x.mT).eigenvectors ** 2", "x=2x2x2")),
    flops=of_each_matrix(lambda n, _: 9 * n**3),
    symmetric=("x",),
    saved=_eigh,
    numpy="np.linalg.eigh({0}, {UPLO?})[1]",
)
def eigh_vectors(g, y, x, *, UPLO="L"):
    """Eigenvectors of a symmetric matrix, as columns."""
    L, inner = eigvalsh(x, UPLO=UPLO), y.mT @ g
    inner = 0.5 * (inner - inner.mT)
    gaps = where(eye(n=L.shape[-1]) > 0, 1, L.unsqueeze(dim=-2) - L.unsqueeze(dim=-1))
    return y @ ((inner / gaps) @ y.mT)


@shorthand(input_dtypes="floats")
def eigh(A, UPLO="L"):
    """Eigenvalues of a symmetric matrix, smallest first, and eigenvectors as columns."""
    A = as_node(A)
    parts = (eigvalsh(A, UPLO=UPLO), eigh_vectors(A, UPLO=UPLO))
    return Outputs(parts, ("eigenvalues", "eigenvectors"))


def _exponential(x):
    x = np.asarray(x, float)
    # a copy, because SciPy before 1.12 needs a writable array
    return scipy_linalg.expm(np.array(x)) if np.isfinite(x).all() else np.full_like(x, np.nan)


@operator(
    shape=square,
    value=lambda x: each_matrix(_exponential, x.shape[-2:], x) if x.size else x,
    symbolic=NotWritable("it is the limit of a series"),
    dtype="float",
    method=True,
    examples=(("matrix_exp(x)", "x=2x2"), ("x.matrix_exp()", "x=2x2x2")),
    flops=of_each_matrix(lambda n, _: 44 / 3 * n**3),
    numpy="scipy.linalg.expm",
    input_dtypes="floats",
)
def matrix_exp(g, y, x):
    """Exponential of a matrix: the sum of x @ ... @ x / n!. R. Mathias (1996)."""
    above = cat([x.mT, g], dim=-1)
    below = cat([zeros(size=x.shape), x.mT], dim=-1)
    n = x.shape[-1]
    return matrix_exp(cat([above, below], dim=-2))[..., :n, n:]
