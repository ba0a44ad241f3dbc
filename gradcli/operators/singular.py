"""The singular value decomposition, and what is said with it."""

import math

from ..errors import GradcliError
from ..graphs import Outputs, as_node
from ..lazy import np
from . import matrix_elements
from .arithmetic import abs, where
from .families import operator, shorthand
from .inverses import inv
from .lapack import LINALG, matrix
from .leaves import eye

NORMS = "1, 2, inf, -1, -2, -inf, 'fro' and 'nuc' are"
ROOTS = matrix_elements.Unwritten("singular values are roots of a polynomial")


def _svd(place):
    return lambda x, *, full_matrices: np.linalg.svd(x, full_matrices=full_matrices)[place]


def _gaps(S):
    """The differences of squares that a change of vectors is divided by."""
    squares = S * S
    gaps = squares.unsqueeze(dim=-2) - squares.unsqueeze(dim=-1)
    return where(eye(n=S.shape[-1]) > 0, 1, gaps)


def _skew(x):
    return x - x.mT


@operator(
    shape=lambda s, *, full_matrices: (*matrix(s)[:-1], s[-2] if full_matrices else min(s[-2:])),
    value=_svd(0),
    symbolic=ROOTS,
    dtype="float",
    torch=LINALG + "svd",
    spelling="svd({0}, full_matrices={full_matrices}).U",
    examples=(
        ("linalg.svd(x, False)[0] ** 2", "x=3x2"),
        ("linalg.svd(x, False).U ** 2", "x=2x2x3"),
    ),
)
def svd_left(g, y, x, *, full_matrices=False):
    """The left singular vectors of x, as columns."""
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    U, S, g = y[..., :k], svdvals(x), g[..., :k]
    Vh = svd_right(x, full_matrices=full_matrices)[..., :k, :]
    inner = U @ (_skew(U.mT @ g) / _gaps(S) * S.unsqueeze(dim=-2))
    if rows > columns:
        outside = g / S.unsqueeze(dim=-2)
        inner = inner + outside - U @ (U.mT @ outside)
    return inner @ Vh


@operator(
    shape=lambda s: (*matrix(s)[:-2], min(s[-2:])),
    value=lambda x: np.linalg.svd(x, compute_uv=False),
    symbolic=ROOTS,
    dtype="float",
    torch=LINALG + "svdvals",
    kink=lambda y, x: y.eq(0),
    caveat="no derivative at a singular value of 0: PyTorch takes that of the vectors it found",
    examples=(("svdvals(x)", "x=3x2"), ("linalg.svd(x, False).S", "x=2x2x3")),
)
def svdvals(g, y, x):
    """The singular values of x, largest first."""
    U, Vh = svd_left(x), svd_right(x)
    return U @ (g.unsqueeze(dim=-1) * Vh)


@operator(
    shape=lambda s, *, full_matrices: (
        *(*matrix(s)[:-2], s[-1] if full_matrices else min(s[-2:])),
        s[-1],
    ),
    value=_svd(2),
    symbolic=ROOTS,
    dtype="float",
    torch=LINALG + "svd",
    spelling="svd({0}, full_matrices={full_matrices}).Vh",
    examples=(
        ("linalg.svd(x, False)[2] ** 2", "x=2x3"),
        ("linalg.svd(x, False).Vh ** 2", "x=2x3x2"),
    ),
)
def svd_right(g, y, x, *, full_matrices=False):
    """The right singular vectors of x, as rows."""
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    Vh, S, g = y[..., :k, :], svdvals(x), g[..., :k, :]
    U = svd_left(x, full_matrices=full_matrices)[..., :k]
    inner = (S.unsqueeze(dim=-1) * (_skew(Vh @ g.mT) / _gaps(S))) @ Vh
    if rows < columns:
        outside = g / S.unsqueeze(dim=-1)
        inner = inner + outside - (outside @ Vh.mT) @ Vh
    return U @ inner


@shorthand("linalg.svd", "np.svd", alone=True)
def svd_parts(A, full_matrices=True, *, driver=None):
    """U, S and Vh such that U @ diag(S) @ Vh is A."""
    A = as_node(A)
    U = svd_left(A, full_matrices=full_matrices)
    Vh = svd_right(A, full_matrices=full_matrices)
    return Outputs((U, svdvals(A), Vh), ("U", "S", "Vh"))


@shorthand()
def svd(input, some=True, compute_uv=True):
    """U, S and V such that U @ diag(S) @ V.mT is input."""
    if not compute_uv:
        raise GradcliError("unsupported", "svd() without its vectors is svdvals()")
    U, S, Vh = svd_parts(input, full_matrices=not some)
    return Outputs((U, S, Vh.mT), ("U", "S", "V"))


# ---- norms and ranks by singular values ----------------------------------------------------------


def _norm(x, p):
    if p == "nuc":
        return svdvals(x).sum(dim=-1)
    if p == "fro":
        return x.vector_norm(dim=(-2, -1))
    along, across = (-1, -2) if math.isinf(p) else (-2, -1)
    sums = abs(x).sum(dim=along, keepdim=True)
    return (sums.amax if p > 0 else sums.amin)(dim=across, keepdim=True).squeeze(dim=(-2, -1))


@shorthand()
def cond(A, p=None):
    """How far a matrix is from being singular: its norm times that of its inverse."""
    A = as_node(A)
    if p in (None, 2, -2):
        S = svdvals(A)
        largest, smallest = S[..., 0], S[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise GradcliError("arguments", f"cond() has no norm {p!r}", hint=NORMS)
    return _norm(A, p) * _norm(inv(A, check=False), p)
