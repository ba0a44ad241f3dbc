"""Norms of vectors and matrices."""

import math

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..lazy import np
from . import elements
from .arithmetic import abs, sign_in_gradient
from .bounds import NOT_NEGATIVE
from .comparisons import same, where
from .families import (
    composite,
    is_integer,
    reduced,
    reduced_nonempty,
    reduction,
    require,
    shorthand,
)
from .permuting import permuted
from .reductions import tied
from .singular import svd_left, svd_right, svdvals
from .ties import nearly_equal, nearly_zero


def _norm(x, axis, keepdims, *, ord):
    alone = all(np.shape(x)[k] == 1 for k in shapes.axes(axis, np.ndim(x)))
    if ord == 1 or (alone and ord != 0):  # avoids overflow of the power
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    return norm_by_powers(x, axis, keepdims, ord=ord)


def norm_by_powers(x, axis, keepdims, *, ord):
    """The norm by its formula, even for a single element, whose power may overflow or underflow."""
    if math.isinf(ord):
        return (
            np.max(np.abs(x), axis=axis, keepdims=keepdims)
            if ord > 0
            else np.min(np.abs(x), axis=axis, keepdims=keepdims)
        )
    if ord == 0:
        return np.sum(np.not_equal(x, 0).astype(float), axis=axis, keepdims=keepdims)
    if ord == 2:
        return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))
    return np.power(np.sum(np.power(np.abs(x), ord), axis=axis, keepdims=keepdims), 1 / ord)


def _norm_meaning(x, *, dim, keepdim, ord):
    if ord == math.inf:
        return abs(x).amax(dim=dim, keepdim=keepdim)
    if ord == -math.inf:
        return abs(x).amin(dim=dim, keepdim=keepdim)
    if ord == 0:
        return x.ne(0).double().sum(dim=dim, keepdim=keepdim)
    if ord == 2:
        return (x * x).sum(dim=dim, keepdim=keepdim).sqrt()
    return (abs(x) ** ord).sum(dim=dim, keepdim=keepdim) ** (1 / ord)


def _kinks(y, x, *, dim, keepdim, ord):
    """Kinks: the zero vector; for ord <= 1, any element of 0; for infinite ord, tied extremes."""
    if math.isinf(ord):
        return y.eq(0) | tied(y, abs(x), dim=dim, keepdim=keepdim)
    return x.eq(0).any(dim=dim, keepdim=keepdim) if ord <= 1 else y.eq(0)


def _norm_shape(s, *, dim, keepdim, ord):
    """As `reduced`. Raises GradcliError for a size of 0 if ord is infinite or below 0."""
    shape = reduced if 0 <= ord < math.inf else reduced_nonempty
    return shape(s, dim=dim, keepdim=keepdim)


@reduction(
    _norm,
    shape=_norm_shape,
    symbolic=elements.norm,
    dtype="float",
    expand=_norm_meaning,
    kink=_kinks,
    between_kinks=lambda *, dim, keepdim, ord: "smooth" if 1 < ord < np.inf else "",
    caveat="no derivative at 0, nor for ord=inf at ties: PyTorch takes 0 at 0, and splits the "
    "gradient equally at ties",
    torch="torch.linalg.vector_norm",
    numpy=lambda *, dim, keepdim, ord: (
        "np.linalg.norm({0}, axis={dim}, keepdims={keepdim})"
        if ord == 2 and (dim is None or isinstance(dim, int))
        else None
    ),
    order="x ord dim keepdim",
    spelling="{0}.norm({ord}, dim={dim}, keepdim={keepdim})",
    examples=(
        ("x.norm()", "x=2x3"),
        ("norm(x, 1, dim=1)", "x=2x3"),
        ("norm(x, inf)", "x=2x3"),
        ("norm(x, 3, dim=0)", "x=2x3"),
    ),
    saved=(..., "output"),
    bounds=NOT_NEGATIVE,
    input_dtypes="floats",
    exact=lambda y, x, *, ord, **_: "all" if ord in (2, np.inf) else "",
)
def vector_norm(g, y, x, dim, *, ord=2):
    """(sum of |x|**ord) ** (1/ord); the Euclidean length for ord = 2."""
    if ord == 0:
        return None
    if ord == 1:
        return g * sign_in_gradient(x)
    if ord == 2:
        return g * where(y.eq(0), 0, x / y)
    if math.isinf(ord):
        hit = same(abs(x), y)
        return sign_in_gradient(x) * (g / hit.sum(dim=dim, keepdim=True) * hit)
    if ord < 1:
        return sign_in_gradient(x) * where(x.eq(0), 0, abs(x) ** (ord - 1)) * g * y ** (1 - ord)
    scale = where(y.eq(0), 0, g / y ** (ord - 1))
    return (
        sign_in_gradient(x) * abs(x) ** (ord - 1) if ord < 2 else x * abs(x) ** (ord - 2)
    ) * scale


# ---- matrices ------------------------------------------------------------------------------------


def _extreme(result, ord, dim):
    return result.amax(dim=dim) if ord > 0 else result.amin(dim=dim)


def _of_matrix(m, ord):
    """The matrix norm over the last two dimensions."""
    if ord == "fro":
        return vector_norm(m, dim=(-2, -1))
    if ord == "nuc":
        return svdvals(m).sum(dim=-1)
    if ord in (2, -2):
        return _extreme(svdvals(m), ord, -1)
    if ord in (1, -1, math.inf, -math.inf):
        return _extreme(vector_norm(m, ord=1, dim=-1 if math.isinf(ord) else -2), ord, -1)
    raise GradcliError(
        "arguments",
        f"a matrix has no norm {ord!r}",
        hint="norms of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf and -inf",
    )


def _permutation(x, dim):
    """The permutation that moves the two dimensions of the matrix last, and its inverse."""
    rows, columns = (shapes.axis(d, x.ndim) for d in dim)
    order = (*(d for d in range(x.ndim) if d not in (rows, columns)), rows, columns)
    return order, tuple(order.index(d) for d in range(x.ndim))


def _by_singular_values(g, y, x, *, ord, dim, keepdim):
    """The gradient for ord=2 and ord=-2, shared by equal singular values. As in PyTorch, singular
    values are computed again, so their last digits may differ from the norm's.
    """
    if ord not in (2, -2):
        return NotImplemented
    order, back = _permutation(x, dim)
    m = permuted(x, order)
    S = svdvals(m)
    hit = S.eq(S[..., :1] if ord > 0 else S[..., -1:])
    g = (permuted(g, order)[..., 0] if keepdim else g.unsqueeze(dim=-1)) * hit
    shares = g / hit.sum(dim=-1, keepdim=True)
    return permuted(svd_left(m) @ (shares.unsqueeze(dim=-1) * svd_right(m)), back)


def _matrix_kinks(y, x, *, ord, dim, keepdim):
    """Kinks: tied extreme sums or singular values, or an extreme sum with an element of 0."""
    m = permuted(x, _permutation(x, dim)[0])
    if ord == "fro":
        return y.eq(0)
    if ord in ("nuc", 2, -2):
        S, size = svdvals(m), m.shape[-2:]
        hit = nearly_zero(S, size)
        if ord == "nuc":
            return hit.any(dim=-1)
        return (hit | nearly_equal(S, size))[..., 0 if ord > 0 else -1]
    over = -1 if math.isinf(ord) else -2
    sums = vector_norm(m, ord=1, dim=over)
    counts = sums.eq(_extreme(sums, ord, -1).unsqueeze(dim=-1))
    return (counts.sum(dim=-1) > 1) | (counts & m.eq(0).any(dim=over)).any(dim=-1)


@composite(
    rule=_by_singular_values,
    kink=_matrix_kinks,
    torch="torch.linalg.matrix_norm",
    order="x ord dim keepdim * dtype",
    caveat="no derivative at 0, nor at equal sums or singular values: PyTorch takes 0 at 0, and "
    "splits the gradient equally at ties; with singular values it depends on the vectors "
    "that LAPACK returns",
    examples=(
        ("linalg.matrix_norm(x)", "x=2x3"),
        ("linalg.matrix_norm(x, 1)", "x=2x3"),
        ("linalg.matrix_norm(x, 2)", "x=2x3"),
        ("linalg.matrix_norm(x, -2, dim=(0, 2), keepdim=True)", "x=3x2x2"),
        ("linalg.matrix_norm(x, -inf, dim=(0, 2), keepdim=True)", "x=2x2x2"),
    ),
    bounds=NOT_NEGATIVE,
    input_dtypes="floats",
)
def matrix_norm(x, *, ord="fro", dim=(-2, -1), keepdim=False):
    """'fro', as of a vector; 'nuc' and 2 of singular values; 1 of column sums, inf of row sums."""
    over = shapes.axes(dim, x.ndim) if isinstance(dim, tuple) else ()
    if len(over) != 2 or x.ndim < 2:
        have = shapes.text(x.shape)
        message = f"a matrix has two dimensions; dim is {dim!r}, and the shape is {have}"
        raise GradcliError("shape", message)
    result = _of_matrix(permuted(x, _permutation(x, dim)[0]), ord)
    for axis in over if keepdim else ():
        result = result.unsqueeze(dim=axis)
    return result


# ---- names ---------------------------------------------------------------------------------------


@shorthand(input_dtypes="floats")
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None, *, ord=None):
    """The p-norm of all elements as one vector, or along dim; with 'nuc' the nuclear norm."""
    x = as_node(input)
    if ord is not None:  # the keyword of linalg.norm
        return vector_or_matrix_norm(x, ord, dim, keepdim)
    if p == "nuc":
        both = tuple(range(x.ndim)) if dim is None else dim
        return matrix_norm(x, ord="nuc", dim=both, keepdim=keepdim)
    return vector_norm(x, ord=2 if p in ("fro", None) else p, dim=dim, keepdim=keepdim)


@shorthand("Tensor.norm", only_aliases=True, input_dtypes="floats")
def norm_of(input, p="fro", dim=None, keepdim=False, dtype=None):
    """norm as a method, without the argument out."""
    return norm(input, p, dim, keepdim)


@shorthand("linalg.norm", only_aliases=True, input_dtypes="floats")
def vector_or_matrix_norm(A, ord=None, dim=None, keepdim=False):
    """The norm of a vector or of a matrix, depending on the number of dimensions."""
    x = as_node(A)
    if ord is None and (dim is None or isinstance(dim, int) or len(dim) != 2):
        return vector_norm(x, dim=dim, keepdim=keepdim)
    over = (tuple(range(x.ndim)) or None) if dim is None else dim
    if isinstance(over, int) or (over is not None and len(over) == 1):
        return vector_norm(x, ord=ord, dim=over, keepdim=keepdim)
    return matrix_norm(x, ord="fro" if ord is None else ord, dim=over, keepdim=keepdim)


@shorthand()
def nuclear_norm(input, dim=None, keepdim=False):
    """The sum of the singular values."""
    return norm(input, "nuc", dim, keepdim)


@shorthand()
def frobenius_norm(input, dim=None, keepdim=False):
    """The square root of the sum of squares, of all elements or along dim."""
    return norm(input, "fro", dim, keepdim)


@shorthand()
def norm_except_dim(v, pow=2, dim=0):
    """The norm over all dimensions but dim; with dim=-1 over all, as a single number."""
    require(is_integer(pow), f"pow of norm_except_dim() must be an integer, got {pow!r}")
    x = as_node(v)
    if dim == -1:
        return vector_norm(x, ord=pow)
    axis = shapes.axis(dim, x.ndim)
    others = tuple(d for d in range(x.ndim) if d != axis)
    return vector_norm(x, ord=pow, dim=others, keepdim=True) if others else abs(x)
