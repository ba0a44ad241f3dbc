"""The singular value decomposition, A = U diag(S) Vh, its three parts an operator each.

Reduced: of an m×n matrix there are min(m, n) singular values. Rules after J. Townsend,
"Differentiating the singular value decomposition" (2016).
"""

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes
from ..lazy import np
from .arithmetic import where
from .families import operator, shorthand
from .leaves import eye

ALIKE = "no derivative where singular values are equal: PyTorch answers with inf or nan"


def _sizes(s):
    if len(s) < 2:
        raise GradcliError("shape", f"a matrix is needed, and the shape is {shapes.text(s)}")
    return s[:-2], *s[-2:], min(s[-2:])


def _left_shape(s):
    batch, m, _, k = _sizes(s)
    return (*batch, m, k)


def _values_shape(s):
    batch, _, _, k = _sizes(s)
    return (*batch, k)


def _right_shape(s):
    batch, _, n, k = _sizes(s)
    return (*batch, k, n)


def _svd(x):
    try:
        return np.linalg.svd(x, full_matrices=False)
    except np.linalg.LinAlgError:
        raise GradcliError("value", "the matrix has no singular values: it holds nan") from None


@operator(
    shape=_values_shape,
    value=lambda x: _svd(x)[1],
    dtype="float",
    torch="torch.linalg.svdvals",
    examples=(("linalg.svdvals(x)", "x=2x3"),),
)
def svdvals(g, y, x):
    """Singular values, the largest first."""
    return (svd_left(x) * g.unsqueeze(dim=-2)) @ svd_right(x)


def _gaps(s):
    """What a rotation of singular vectors is divided by: differences of squares; 1 for itself."""
    squares = s * s
    gaps = squares.unsqueeze(dim=-2) - squares.unsqueeze(dim=-1)
    return where(eye(n=s.shape[-1]) > 0, 1, gaps)


@operator(
    shape=_left_shape,
    value=lambda x: _svd(x)[0],
    dtype="float",
    caveat=ALIKE,
    torch="torch.linalg.svd",
    spelling="torch.linalg.svd({0}, full_matrices=False).U",
    examples=(("u = linalg.svd(x, full_matrices=False).U; u @ u.mT @ a", "x=3x2,a=3"),),
)
def svd_left(g, y, x):
    """Left singular vectors, a column each; their sign is free."""
    s, right = svdvals(x), svd_right(x)
    turn = y.mT @ g
    to_x = y @ ((turn - turn.mT) / _gaps(s) * s.unsqueeze(dim=-2)) @ right
    if x.shape[-2] <= x.shape[-1]:
        return to_x
    scaled = g / s.unsqueeze(dim=-2)
    return to_x + (scaled - y @ (y.mT @ scaled)) @ right


@operator(
    shape=_right_shape,
    value=lambda x: _svd(x)[2],
    dtype="float",
    caveat=ALIKE,
    torch="torch.linalg.svd",
    spelling="torch.linalg.svd({0}, full_matrices=False).Vh",
    examples=(
        (
            "linalg.svd(x, full_matrices=False).Vh.mT @ linalg.svd(x, full_matrices=False).Vh @ a",
            "x=2x3,a=3",
        ),
    ),
)
def svd_right(g, y, x):
    """Right singular vectors, a row each; their sign is free."""
    s, left = svdvals(x), svd_left(x)
    turn = y @ g.mT
    to_x = left @ (s.unsqueeze(dim=-1) * ((turn - turn.mT) / _gaps(s))) @ y
    if x.shape[-1] <= x.shape[-2]:
        return to_x
    scaled = g / s.unsqueeze(dim=-1)
    return to_x + left @ (scaled - (scaled @ y.mT) @ y)


@shorthand("linalg.svd", alone=True)
def svd(A, full_matrices=True):
    """The reduced decomposition: left singular vectors, singular values, right ones."""
    x = as_node(A)
    _, m, n, _ = _sizes(x.shape)
    if full_matrices and m != n:
        said = "singular vectors are computed for the singular values only"
        raise GradcliError("unsupported", said, hint="svd(A, full_matrices=False)")
    return Outputs((svd_left(x), svdvals(x), svd_right(x)), ("U", "S", "Vh"))
