"""The pseudoinverse, and least-squares solutions based on it."""

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes
from ..graphs.operator import FLOATS_FIRST
from ..lazy import np
from . import lapack, matrix_elements
from .elements import NotWritable
from .families import operator, require, shorthand
from .guards import raise_where
from .lapack import LINALG, matrix, of_each_matrix, singular_values, singular_vectors, square
from .leaves import zeros
from .precision import unit
from .singular import svdvals

NOT_FINITE = "lstsq() is not computed with inf or nan: PyTorch's result depends on the driver"


def _nonzero(sizes, atol, rtol, shape):
    """The mask of singular values, largest first, that are above the tolerances."""
    atol = 0.0 if atol is None else np.asarray(atol)
    if rtol is None:
        rtol = np.where(np.asarray(atol) > 0, 0.0, unit(sizes) * max(shape[-2:]))
    largest = np.max(sizes, axis=-1, initial=0.0)
    return sizes > np.maximum(atol, np.asarray(rtol) * largest)[..., None]


def _inverted(values, mask):
    return np.where(mask, 1 / np.where(mask, values, 1), 0)


def _pinv(x, atol=None, rtol=None, *, hermitian):
    if not x.size:
        return np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]))
    if hermitian:
        values, vectors = lapack.eigh(x, "L")
        inverted = _inverted(values, _nonzero(np.abs(values), atol, rtol, x.shape))
        return (vectors * inverted[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    u, s, vh = lapack.svd(x)
    inverted = _inverted(s, _nonzero(s, atol, rtol, x.shape))
    return (np.swapaxes(vh, -1, -2) * inverted[..., None, :]) @ np.swapaxes(u, -1, -2)


def _pinv_flops(out, s, *_, **__):
    """FLOP of a singular value decomposition, and of the product of its factors."""
    return of_each_matrix(singular_vectors)(out, s) + 2 * shapes.numel(out) * min(s[-2:])


def _pinv_shape(s, atol=None, rtol=None, *, hermitian):
    (square if hermitian else matrix)(s)
    return (*_batch(s, atol, rtol), s[-1], s[-2])


def _batch(s, *tolerances):
    """The batch shape of a matrix, broadcast with those of the tolerances."""
    return shapes.broadcast(s[:-2], *(t for t in tolerances if t is not None))


@operator(
    shape=_pinv_shape,
    value=_pinv,
    symbolic=matrix_elements.pseudoinverse,
    dtype="float",
    torch=LINALG + "pinv",
    numbers=("atol", "rtol"),
    order="x rtol hermitian * atol",
    examples=(
        ("pinv(x)", "x=3x1"),
        ("linalg.pinv(x)", "x=2x1x2"),
        ("linalg.pinv(x + x.T, rtol=1e-6, hermitian=True)", "x=2x2"),
    ),
    flops=_pinv_flops,
    input_dtypes=FLOATS_FIRST,
)
def pinv(g, y, x, atol=None, rtol=None, *, hermitian=False):
    """The pseudoinverse: of all x with the smallest A @ x - B, the shortest is pinv(A) @ B."""
    if x.shape[-2] <= x.shape[-1]:
        K = g.mT @ y
        wide = K @ y.mT
        to_x = wide - (y @ K).mT - (x @ y) @ wide + (y.mT @ y) @ (g.mT - K @ x)
    else:
        K = y @ g.mT
        tall = y.mT @ K
        to_x = (g.mT - x @ K) @ y @ y.mT - (K @ y).mT + tall - tall @ y @ x
    return to_x, None, None


@shorthand("linalg.pinv", only_aliases=True, input_dtypes=FLOATS_FIRST)
def pinv_named(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudoinverse; singular values up to atol, or rtol times the largest, count as 0."""
    return pinv(A, rcond if rtol is None else rtol, hermitian, atol=atol)


@shorthand(input_dtypes=FLOATS_FIRST)
def pinverse(input, rcond=1e-15):
    """The pseudoinverse; singular values up to rcond times the largest count as 0."""
    return pinv(input, rcond)


@operator(
    shape=lambda s, atol=None, rtol=None, *, hermitian: _batch(matrix(s), atol, rtol),
    value=lambda x, atol=None, rtol=None, *, hermitian: _nonzero(
        lapack.svdvals(x), atol, rtol, x.shape
    ).sum(-1),
    symbolic=NotWritable("it counts singular values"),
    dtype="int",
    torch=LINALG + "matrix_rank",
    order="x atol hermitian * rtol",
    examples=(("x * linalg.matrix_rank(x)", "x=2x3"),),
    flops=of_each_matrix(singular_values),
    input_dtypes=FLOATS_FIRST,
)
def matrix_rank(g, y, x, atol=None, rtol=None, *, hermitian=False):
    """How many singular values differ from 0; no gradient."""
    return None


def _batched(A, B):
    """`B` with the batch dimensions of A. If B has one dimension fewer, PyTorch uses its rows as a
    batch as well, and repeats the solution for each.
    """
    if A.ndim == B.ndim:
        return B
    return B.expand(shape=(*B.shape[:-1], *B.shape[-2:]))


@shorthand(input_dtypes="floats of one dtype")
def lstsq(A, b, rcond=None, *, driver=None):
    """x that minimizes the sum of squares of A @ x - b; and residuals, rank and singular values."""
    A, B = (raise_where(x, (x * 0).ne(0), message=NOT_FINITE) for x in map(as_node, (A, b)))
    number = rcond is None or isinstance(rcond, int | float)
    require(number, f"rcond of lstsq() must be a number, got {rcond!r}")
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise GradcliError("arguments", f"there is no driver {driver!r}")
    rows, columns = matrix(A.shape)[-2:]
    if A.ndim - B.ndim not in (0, 1):
        have = f"shapes {shapes.text(A.shape)} and {shapes.text(B.shape)}"
        message = f"lstsq() needs a B with as many dimensions as A, or one fewer, got {have}"
        raise GradcliError("shape", message, hint="expand() the one with fewer")
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    right = B.unsqueeze(dim=-1) if vector else _batched(A, B)
    x = pinv(A) @ right
    residuals = ((A @ x - right) ** 2).sum(dim=-2)
    nothing = residuals.reshape(shape=(residuals.numel,))[:0]  # its gradient is 0 in PyTorch
    return Outputs(
        (
            x.squeeze(dim=-1) if vector else x,
            residuals if rows > columns and driver != "gelsy" else nothing,
            zeros(size=(0,)) if driver == "gels" else matrix_rank(A),
            svdvals(A).detach() if driver in ("gelsd", "gelss") else zeros(size=(0,)),
        ),
        ("solution", "residuals", "rank", "singular_values"),
    )
