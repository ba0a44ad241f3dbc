"""The singular value decomposition, and functions defined by it."""

import math

from ..errors import GradcliError
from ..graphs import Outputs, as_node
from . import lapack
from .arithmetic import abs
from .comparisons import where
from .elements import NotWritable
from .families import composite, operator, shorthand
from .inverses import inv
from .lapack import (
    FOUND,
    LINALG,
    matrix,
    of_each_matrix,
    singular_values,
    singular_vectors,
    square,
)
from .leaves import eye, zeros
from .ties import nearly_equal, nearly_zero

BY_SINGULAR_VALUES = (None, 2, -2)
NORMS = "1, 2, inf, -1, -2, -inf, 'fro' and 'nuc' are"
ROOTS = NotWritable("singular values are roots of a polynomial")


def _reduced_svd(y, x):
    return svd_left(x), svdvals(x), svd_right(x)


def _all_svd(y, x):
    return svd_left_all(x), svdvals(x), svd_right_all(x)


def _vectors(name, k, *, full=False, **fields):
    """A decorator for operators of singular vectors; `full`: those of full_matrices=True."""
    how = "" if full else ", full_matrices=False"
    return operator(
        value=lambda x: lapack.svd(x, full=full)[k],
        symbolic=ROOTS,
        dtype="float",
        torch=LINALG + "svd",
        saved=_all_svd if full else _reduced_svd,
        caveat=FOUND,
        spelling=f"linalg.svd({{0}}{how}).{name}",
        flops=of_each_matrix(singular_vectors),
        numpy=f"np.linalg.svd({{0}}{how})[{k}]",
        **fields,
    )


@_vectors(
    "U",
    0,
    shape=lambda s: (*matrix(s)[:-1], min(s[-2:])),
    examples=(
        ("linalg.svd(x, False)[0] ** 2", "x=3x2"),
        ("linalg.svd(x, False).U ** 2", "x=2x2x3"),
    ),
)
def svd_left(g, y, x):
    """The left singular vectors of x, as columns."""
    return _gradient_of_left(g, y, svdvals(x), svd_right(x))


@operator(
    shape=lambda s: (*matrix(s)[:-2], min(s[-2:])),
    value=lambda x: lapack.svdvals(x),
    symbolic=ROOTS,
    dtype="float",
    torch=LINALG + "svdvals",
    kink=lambda y, x: nearly_zero(y, x.shape[-2:]) | nearly_equal(y, x.shape[-2:]),
    caveat="no derivative at singular values of 0 or equal ones: the gradient depends on the "
    "vectors that LAPACK returns",
    examples=(("svdvals(x)", "x=3x2"), ("linalg.svd(x, False).S", "x=2x2x3")),
    flops=of_each_matrix(singular_values),
    saved=_reduced_svd,
    digits="vary",
    numpy="np.linalg.svd({0}, compute_uv=False)",
    input_dtypes="floats",
)
def svdvals(g, y, x):
    """The singular values of x, largest first."""
    return svd_left(x) @ (g.unsqueeze(dim=-1) * svd_right(x))


@_vectors(
    "Vh",
    2,
    shape=lambda s: (*matrix(s)[:-2], min(s[-2:]), s[-1]),
    examples=(
        ("linalg.svd(x, False)[2] ** 2", "x=2x3"),
        ("linalg.svd(x, False).Vh ** 2", "x=2x3x2"),
    ),
)
def svd_right(g, y, x):
    """The right singular vectors of x, as rows."""
    return _gradient_of_right(g, svd_left(x), svdvals(x), y)


@_vectors(
    "U",
    0,
    full=True,
    shape=lambda s: (*matrix(s)[:-1], s[-2]),
    examples=(("linalg.svd(x).U[:, :2] ** 2", "x=3x2"),),
    jax="",
)
def svd_left_all(g, y, x):
    """The left singular vectors of x, completed to a square matrix by constant vectors."""
    k = min(x.shape[-2:])
    return _gradient_of_left(g[..., :k], y[..., :k], svdvals(x), svd_right_all(x)[..., :k, :])


@_vectors(
    "Vh",
    2,
    full=True,
    shape=lambda s: (*matrix(s)[:-2], s[-1], s[-1]),
    examples=(("linalg.svd(x).Vh[:2] ** 2", "x=2x3"),),
    jax="",
)
def svd_right_all(g, y, x):
    """The right singular vectors of x, completed to a square matrix by constant vectors."""
    k = min(x.shape[-2:])
    return _gradient_of_right(g[..., :k, :], svd_left_all(x)[..., :k], svdvals(x), y[..., :k, :])


def _skew(x):
    return x - x.mT


def _squared_gaps(S):
    """The differences of squared singular values by which the gradient of vectors is divided; 1 on
    the diagonal.
    """
    squares = S * S
    gaps = squares.unsqueeze(dim=-2) - squares.unsqueeze(dim=-1)
    return where(eye(n=S.shape[-1]) > 0, 1, gaps)


def _gradient_of_left(g, U, S, Vh):
    """The gradient of x from that of the left singular vectors."""
    inner = U @ (_skew(U.mT @ g) / _squared_gaps(S) * S.unsqueeze(dim=-2))
    if U.shape[-2] > Vh.shape[-1]:
        outside = g / S.unsqueeze(dim=-2)
        inner = inner + outside - U @ (U.mT @ outside)
    return inner @ Vh


def _gradient_of_right(g, U, S, Vh):
    """The gradient of x from that of the right singular vectors."""
    inner = (S.unsqueeze(dim=-1) * (_skew(Vh @ g.mT) / _squared_gaps(S))) @ Vh
    if U.shape[-2] < Vh.shape[-1]:
        outside = g / S.unsqueeze(dim=-1)
        inner = inner + outside - (outside @ Vh.mT) @ Vh
    return U @ inner


@shorthand("linalg.svd", only_aliases=True, input_dtypes="floats")
def svd_parts(A, full_matrices=True, *, driver=None):
    """U, S and Vh such that U @ diag(S) @ Vh is A."""
    A = as_node(A)
    left, right = (svd_left_all, svd_right_all) if full_matrices else (svd_left, svd_right)
    return Outputs((left(A), svdvals(A), right(A)), ("U", "S", "Vh"))


@shorthand(input_dtypes="floats")
def svd(input, some=True, compute_uv=True):
    """U, S and V such that U @ diag(S) @ V.mT is input."""
    if not compute_uv:
        raise GradcliError("unsupported", "use svdvals() for singular values without vectors")
    U, S, Vh = svd_parts(input, full_matrices=not some)
    return Outputs((U, S, Vh.mT), ("U", "S", "V"))


# ---- norms and ranks by singular values ----------------------------------------------------------


def _norm(x, p):
    if p == "fro":
        return x.vector_norm(dim=(-2, -1))
    along, across = (-1, -2) if math.isinf(p) else (-2, -1)
    sums = abs(x).sum(dim=along, keepdim=True)
    return (sums.amax if p > 0 else sums.amin)(dim=across, keepdim=True).squeeze(dim=(-2, -1))


@composite(
    torch=LINALG + "cond",
    examples=(("linalg.cond(x)", "x=3x2"), ("linalg.cond(x, 'nuc')", "x=2x2")),
    # PyTorch overwrites in place the inverse that its backward pass needs
    without_derivative=lambda A, *, p: () if p in (*BY_SINGULAR_VALUES, "nuc") else ("A",),
    input_dtypes="floats",
)
def cond(A, *, p=None):
    """How far a matrix is from being singular: its norm times that of its inverse."""
    if p not in (*BY_SINGULAR_VALUES, "nuc", "fro", 1, -1, math.inf, -math.inf):
        raise GradcliError("arguments", f"cond() has no norm {p!r}", hint=NORMS)
    if p in ("nuc", "fro"):
        square(A.shape)
    if not A.numel:
        return zeros(size=matrix(A.shape)[:-2])
    if p in BY_SINGULAR_VALUES:
        S = svdvals(A)
        largest, smallest = S[..., 0], S[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if p == "nuc":
        S = svdvals(A)
        return S.sum(dim=-1) * S.reciprocal().sum(dim=-1)
    return _norm(A, p) * _norm(inv(A, check=False), p)
