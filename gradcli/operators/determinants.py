"""Determinants, their signs and logarithms, and their derivatives.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), cited below as Giles with the section.
"""

import math

from ..graphs import INTERMEDIATE, Outputs, as_node, shapes
from ..lazy import np
from . import matrix_elements
from .arithmetic import abs
from .families import operator, shorthand, written_out
from .floats import rounding_unit
from .guards import unless
from .inverses import inv
from .lapack import (
    LINALG,
    each_matrix,
    elimination,
    of_each_matrix,
    packed_lu,
    solved_by_lu,
    square,
)
from .leaves import ones_like
from .precision import unit

# A matrix is nearly singular if its determinant is below this many rounding units in absolute
# value; `cofactors` and `cofactors_along` then use singular values.
NEARLY = 100


def _scaled_inverse_transpose(x, scale):
    """scale * inv(x).mT, from an LU decomposition. A zero pivot gives inf and nan, not an error."""

    def one(m, s):
        packed, exchanges, _ = packed_lu(m.T)
        return _solved(packed, exchanges, s[0, 0])

    return each_matrix(one, x.shape[-2:], x, _numbers(scale)) if x.size else x


def _numbers(scale):
    """An array of one number for each matrix, with two dimensions of size 1 appended."""
    return np.asarray(scale)[..., None, None]


def _solved(packed, exchanges, scale):
    """scale * inv(A) from the LU decomposition of A."""
    return solved_by_lu(packed, exchanges, np.diag(np.full(len(packed), scale)), transposed=False)


def _for_each_matrix(scale, x):
    """`scale`, one number for each matrix, reshaped to broadcast with the matrices x."""
    return scale.unsqueeze(dim=-1).unsqueeze(dim=-1) if x.ndim > 2 else scale


def _scaled_inverse(x, scale):
    return _for_each_matrix(scale, x) * inv(x, check=False).mT


@written_out(
    value=_scaled_inverse_transpose,
    index=lambda lower, i, x, scale: _scaled_inverse(x, scale),
    with_graph=lambda x, scale: _for_each_matrix(scale, x) * inv(x).mT,
    examples=(("scaled_inverse_transpose(x + 3 * eye(3), s)", "x=3x3,s=()"),),
    flops=of_each_matrix(lambda n, _: 2 * n**3),
)
def scaled_inverse_transpose(x, scale):
    """scale * inv(x).mT, with one scale for each matrix. A zero pivot gives inf and nan."""
    return _scaled_inverse(x, scale)


def _pivots(packed, exchanges):
    """The pivots of an LU decomposition, with the sign of the row permutation applied to the last,
    so that their product is the determinant.
    """
    pivots = np.diagonal(packed).copy()
    pivots[-1:] *= (-1) ** np.count_nonzero(exchanges != np.arange(len(packed)))
    return pivots


def _pivots_of_each(x):
    """The pivots of x.mT, which PyTorch factorises."""

    def one(m):
        packed, exchanges, _ = packed_lu(m.T)
        return _pivots(packed, exchanges)[:, None]

    return each_matrix(one, (x.shape[-1], 1), x)[..., 0]


def _det(x):
    if np.isfinite(x).all():
        return np.linalg.det(np.swapaxes(x, -1, -2))
    return np.prod(_pivots_of_each(x), axis=-1)


# ---- the derivatives of det ----------------------------------------------------------------------
# The gradient of det is the matrix of cofactors. Without create_graph, PyTorch computes it from the
# inverse, and gives 0 for a singular matrix. With create_graph=True, PyTorch computes the cofactors
# of a singular matrix from its SVD and differentiates through the SVD. If singular values are
# equal, the derivative of the singular vectors is undefined and the result is nan.


def _matrix_shape(x, y, *_):
    """Check that y has the shape of det(x); returns the shape of x."""
    batch = square(x)[:-2]
    text = f"y must be det(x), of shape {shapes.text(batch)}, got {shapes.text(y)}"
    shapes.require_equal(y, batch, text)
    return x


def _plain_gradient(x, _, g):
    """The gradient of det, as PyTorch computes it without create_graph. The determinant is
    recomputed from the LU factors used for the inverse, because det(x) is not accurate enough near
    a singular matrix.
    """

    def one(m, s):
        packed, exchanges, _ = packed_lu(m.T)
        scale = s[0, 0] * np.prod(_pivots(packed, exchanges))
        # PyTorch replaces a pivot of 0 by the rounding unit
        lifted = packed + unit(m) * np.diag(np.diagonal(packed) == 0)
        return _solved(lifted, exchanges, scale)

    return each_matrix(one, x.shape[-2:], x, _numbers(g)) if x.size else x


def _per_matrix(singular, regular, x, y, *more):
    """For each matrix: det * regular(inverse transpose, ...), or, if the determinant is nearly 0,
    det(u) * det(v) * singular(u, values, v, ...) from the SVD.
    """

    def one(m, d, *rest):
        if not np.abs(d[0, 0]) < NEARLY * unit(m):
            return d * regular(_scaled_inverse_transpose(m, 1.0), *rest)
        if not np.isfinite(m).all():
            return np.full(m.shape, np.nan)
        u, values, v = np.linalg.svd(m)
        return np.linalg.det(u) * np.linalg.det(v) * singular(u, values, v, *rest)

    return each_matrix(one, x.shape[-2:], x, _numbers(y), *more) if x.size else x


def _products_of_others(values):
    """An n×n matrix: element [i, j] is the product of all values except values[i] and values[j]."""
    rows = np.where(np.eye(len(values)) > 0, 1.0, values)
    before, after = np.ones_like(rows), np.ones_like(rows)
    np.cumprod(rows[:, :-1], axis=1, out=before[:, 1:])
    np.cumprod(rows[:, :0:-1], axis=1, out=after[:, -2::-1])
    return before * after


def _singular_cofactors_along(u, values, v, t):
    """The derivative of the cofactors of a nearly singular matrix in the direction t, from its
    singular values.

    For a diagonal matrix, element [i, i] is Σ_{k≠i} t[k,k] P[i,k], and element [i, j] with i ≠ j is
    -t[j,i] P[i,j], where P[i,j] is the product of all singular values but the i-th and j-th.
    """
    if np.any(np.diff(values * values) == 0):
        return np.full(t.shape, np.nan)
    products = _products_of_others(values)
    np.fill_diagonal(products, 0.0)
    rotated = u.T @ t @ v.T
    return u @ (np.diag(products @ np.diagonal(rotated)) - products * rotated.T) @ v


def _cofactor_derivative(t, scale, inverse_T):
    """The derivative of scale * inverse_T in the direction t, where scale is the determinant."""
    trace = _for_each_matrix((inverse_T * t).sum(dim=(-2, -1)), inverse_T)
    return scale * trace * inverse_T - scale * inverse_T @ t.mT @ inverse_T


def _parts(x, y):
    return _for_each_matrix(y, x), inv(x, check=False).mT


def _parts_away_from_0(x, y):
    """det(x) and inv(x).mT; the latter is nan for a nearly singular matrix, whose inverse is not
    accurate enough.
    """
    scale, inverse_T = _parts(x, y)
    return scale, unless(abs(scale) < NEARLY * rounding_unit(x), inverse_T)


@written_out(
    shape=_matrix_shape,
    value=_plain_gradient,
    dtype="float",
    symbolic=matrix_elements.plain_cofactors,
    torch_expand=lambda x, y, scale: _scaled_inverse(x, scale * y),
    index=lambda lower, i, x, y, scale: (
        _for_each_matrix(scale, x) * math.prod(_parts_away_from_0(x, y))
    ),
    rule=lambda g, out, x, y, scale: (
        _for_each_matrix(scale, x) * cofactors_along(x, y, g),
        None,
        (g * scaled_cofactors(x, y, ones_like(scale))).sum(dim=(-2, -1)),
    ),
    with_graph=lambda x, y, scale: _for_each_matrix(scale, x) * cofactors(x, y),
    examples=(("scaled_cofactors(x, det(x), s)", "x=3x3,s=()"),),
    flops=of_each_matrix(lambda n, _: 2 * n**3),
)
def scaled_cofactors(x, y, scale):
    """scale * cofactors(x), given y = det(x), with one scale for each matrix; 0 if x is
    singular.
    """
    return _scaled_inverse(x, scale * det(x))


@written_out(
    shape=_matrix_shape,
    value=lambda x, y: _per_matrix(
        lambda u, values, v: u * np.diagonal(_products_of_others(values)) @ v,
        lambda inverse_T: inverse_T,
        x,
        y,
    ),
    dtype="float",
    symbolic=matrix_elements.cofactors,
    torch_expand=_scaled_inverse,
    index=lambda lower, i, x, y: math.prod(_parts_away_from_0(x, y)),
    rule=lambda g, out, x, y: (cofactors_along(x, y, g), None),
    examples=(("cofactors(x, det(x))", "x=3x3"),),
    flops=of_each_matrix(lambda n, _: 2 * n**3),
)
def cofactors(x, y):
    """The cofactor matrix of x, given y = det(x); from singular values if x is nearly singular."""
    return _scaled_inverse(x, det(x))


@written_out(
    shape=_matrix_shape,
    value=lambda x, y, t: _per_matrix(
        _singular_cofactors_along,
        lambda inverse_T, t: (inverse_T * t).sum() * inverse_T - inverse_T @ t.T @ inverse_T,
        *(x, y, t),
    ),
    dtype="float",
    symbolic=matrix_elements.cofactors_along,
    index=lambda lower, i, x, y, t: _cofactor_derivative(t, *_parts_away_from_0(x, y)),
    examples=(("cofactors_along(x, det(x), t)", "x=2x2,t=2x2"),),
    flops=of_each_matrix(lambda n, _: 6 * n**3),
)
def cofactors_along(x, y, t):
    """How cofactors(x, y) change as x moves along t."""
    return _cofactor_derivative(t, *_parts(x, y))


def _of_square(value, **fields):
    """A decorator for operators that return a number for each square matrix, by elimination."""
    return operator(
        shape=lambda s: square(s)[:-2],
        value=value,
        dtype="float",
        flops=of_each_matrix(elimination),
        typical_inputs=("invertible",),
        **fields,
    )


@_of_square(
    _det,
    torch=LINALG + "det",
    symbolic=matrix_elements.determinant,
    kink=lambda y, x: y.eq(0) & (x.shape[-1] > 1),
    between_kinks="smooth",
    caveat="the matrix is singular: PyTorch's rule gives 0, though the derivative need not be",
    examples=(("det(x)", "x=3x3"), ("x.det()", "x=2x2x2")),
    numpy="np.linalg.det",
    input_dtypes="floats",
    saved=(..., INTERMEDIATE),
)
def det(g, y, x):
    """Determinant. Giles 2.2.4."""
    if x.shape[-1] == 1:
        return _for_each_matrix(g, x).expand(shape=x.shape)
    return scaled_cofactors(x, y, g)


def _slogdet(x):
    if np.isfinite(x).all():
        return np.linalg.slogdet(x)
    pivots = _pivots_of_each(x)
    sign = np.prod(np.where(np.isnan(pivots), 0, np.sign(pivots)), axis=-1)
    return sign, np.sum(np.log(np.abs(pivots)), axis=-1)


@_of_square(
    lambda x: _slogdet(x)[0],
    torch=LINALG + "slogdet",
    symbolic=matrix_elements.of_determinant(lambda sp, d: sp.sign(d)),
    spelling="slogdet({0}).sign",
    examples=(("x.det() * slogdet(x)[0]", "x=2x2"),),
    numpy="np.linalg.slogdet({0})[0]",
)
def determinant_sign(g, y, x):
    """Sign of the determinant: -1, 0 or 1; no gradient."""
    return None


@_of_square(
    lambda x: _slogdet(x)[1],
    torch=LINALG + "slogdet",
    symbolic=matrix_elements.of_determinant(lambda sp, d: sp.log(sp.Abs(d))),
    spelling="slogdet({0}).logabsdet",
    examples=(("slogdet(x)[1]", "x=2x2"), ("linalg.slogdet(x).logabsdet", "x=2x2x2")),
    numpy="np.linalg.slogdet({0})[1]",
)
def log_abs_determinant(g, y, x):
    """Logarithm of the absolute value of the determinant."""
    return scaled_inverse_transpose(x, g)


@shorthand(input_dtypes="floats")
def slogdet(A):
    """Sign of the determinant, and the logarithm of its absolute value."""
    A = as_node(A)
    parts = (determinant_sign(A), log_abs_determinant(A))
    return Outputs(parts, ("sign", "logabsdet"))


def _logdet(x):
    sign, logabs = _slogdet(x)
    return np.where(sign < 0, np.nan, logabs)


@_of_square(
    _logdet,
    symbolic=matrix_elements.of_determinant(lambda sp, d: sp.log(d)),
    examples=(("logdet(x @ x.T + eye(3))", "x=3x3"),),
    numpy="np.log(np.linalg.slogdet({0})[0]) + np.linalg.slogdet({0})[1]",
    input_dtypes="floats",
)
def logdet(g, y, x):
    """Logarithm of the determinant; nan where the determinant is negative."""
    # where y is nan, PyTorch returns a constant nan, so the gradient is 0
    scale = unless(y.ne(y), g, instead=0, zero_slope=True)
    return scaled_inverse_transpose(x, scale)
