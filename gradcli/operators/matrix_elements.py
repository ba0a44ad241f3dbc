"""The `symbolic` fields of linear algebra: functions of matrices of SymPy elements."""

from itertools import islice

from ..errors import GradcliError, Singular
from ..lazy import np
from .elements import SMALL, choice, compare

MOST_POINTS = 5  # at which polynomials are evaluated; 61 % of pairs of random integers are coprime
MOST_ROWS = 6  # most rows of a matrix whose determinant or factor is written out: 720 products
ORDERS = {  # by number of rows: the products in a determinant, as the column in each row, and sign
    0: (((), 1),),
    1: (((0,), 1),),
    2: (((0, 1), 1), ((1, 0), -1)),
    3: tuple(((k, (k + s) % 3, (k - s) % 3), s) for k in range(3) for s in (1, -1)),
}


def determinant(sp, x):
    """The determinant over the last two dimensions."""
    return _each_matrix(lambda m: _determinant(sp, m), x, ())


def of_determinant(function):
    """A `symbolic` field: `function(sp, determinant)` of each matrix."""
    return lambda sp, x: _each_matrix(lambda m: function(sp, _determinant(sp, m)), x, ())


def inverse(sp, x, *, check):
    """The inverse: cofactors divided by the determinant. Without `check`, the inverse of a singular
    matrix is inf.
    """

    def invert(m):
        cofactors, det = _cofactors(sp, m, check)
        return np.vectorize(lambda c: _quotient(sp, c, det), otypes=[object])(cofactors.T)

    return _each_matrix(invert, x, x.shape[-2:])


def solution(sp, a, b, is_vector):
    """The solution of a @ x = b: cofactors times b, divided by the determinant."""
    columns = b[..., None] if is_vector else b
    result = _each_matrix(lambda m: _cofactors(sp, m, True)[0].T, a, a.shape[-2:]) @ columns
    det = np.asarray(determinant(sp, a))[..., None, None]
    out = np.vectorize(lambda c, d: _quotient(sp, c, d), otypes=[object])(result, det)
    return out[..., 0] if is_vector else out


def _each_matrix(function, x, shape):
    """`function` applied to the matrices in the last two dimensions; each result has this shape."""
    out = np.empty((*x.shape[:-2], *shape), object)
    for where in np.ndindex(x.shape[:-2]):
        out[where] = function(x[where])
    return out


def _determinant(sp, m):
    """The determinant: written out for up to three rows, otherwise expanded by the first row."""
    _check_rows("the determinant", len(m))
    if len(m) <= 3:
        return sp.Add(*(sign * sp.Mul(*m[range(len(m)), p]) for p, sign in ORDERS[len(m)]))
    minors = (_determinant(sp, np.delete(m[1:], k, 1)) for k in range(len(m)))
    return sp.Add(*((-1) ** k * m[0, k] * minor for k, minor in enumerate(minors)))


def _check_rows(what, count):
    if count > MOST_ROWS:
        raise GradcliError("limit", f"{what} of {count} rows is too long to write out in symbols")


def _cofactors(sp, m, check):
    """The matrix of cofactors, and the determinant."""
    det = _determinant(sp, m)
    if check and _is_zero(sp, det):
        raise Singular("the matrix is singular: it has no inverse")
    out = np.empty(m.shape, object)
    for r, c in np.ndindex(m.shape):
        minor = np.delete(np.delete(m, r, 0), c, 1)
        out[r, c] = (-1) ** (r + c) * _determinant(sp, minor)
    return out, det


def _is_zero(sp, e):
    """Whether an expression is identically 0. Most others are not 0 at random integers, which is
    fast to check.
    """
    return next(_at_random(sp, e))[0] == 0 and sp.expand(e) == 0


def _at_random(sp, *expressions):
    """Yield the values of expressions at random integers, endlessly."""
    from random import Random  # the import takes 3 ms

    draw = Random(0)
    symbols = sorted(set().union(*(e.free_symbols for e in expressions)), key=str)
    while True:
        at = {x: sp.Integer(draw.randint(2, 999)) for x in symbols}
        yield [e.xreplace(at) for e in expressions]


def cofactors(sp, x, y):
    """The cofactors of a matrix."""
    return _each_matrix(lambda m: _cofactors(sp, m, False)[0], x, x.shape[-2:])


def plain_cofactors(sp, x, y, scale):
    """scale * cofactors without create_graph: 0 where y is 0, except for 1×1 matrices."""
    result = scale[..., None, None] * cofactors(sp, x, y)
    singular = np.broadcast_to(y[..., None, None], result.shape)
    if x.shape[-1] == 1:
        return result

    def chosen(d, value):
        return choice(sp, compare(sp, "Eq", d, sp.S.Zero), sp.S.Zero, value)

    return np.vectorize(chosen, otypes=[object])(singular, result)


def cofactors_along(sp, x, y, t):
    """The derivative of the cofactors in the direction t."""
    out = np.empty(x.shape, object)
    for *where, r, c in np.ndindex(x.shape):
        minor, tangent_minor = (np.delete(np.delete(a[*where], r, 0), c, 1) for a in (x, t))
        out[*where, r, c] = (-1) ** (r + c) * (
            _cofactors(sp, minor, False)[0] * tangent_minor
        ).sum()
    return out


def _quotient(sp, top, bottom):
    """The quotient, with common factors cancelled if that is fast."""
    if bottom == 0:
        return sp.oo
    has_cases = top.has(sp.Piecewise) or bottom.has(sp.Piecewise)  # which are no polynomials
    if has_cases or bottom.has(sp.Float) or len(bottom.free_symbols) > SMALL:
        return top / bottom
    if _are_coprime(sp, top, bottom):
        return top / bottom
    common = sp.gcd(top, bottom)
    return top / bottom if common.is_Number else sp.cancel(top / bottom)


def _are_coprime(sp, top, bottom):
    """Whether two polynomials are shown to be coprime by coprime values at some integers."""
    for values in islice(_at_random(sp, top, bottom), MOST_POINTS):
        if not all(v.is_Integer for v in values):
            return False
        if sp.igcd(*values) == 1:
            return True
    return False


def triangular_solution(sp, a, b, *, upper, left, unitriangular):
    """The solution of a triangular system, by substitution."""
    if not left:
        how = {"upper": not upper, "left": True, "unitriangular": unitriangular}
        return _transposed(triangular_solution(sp, _transposed(a), _transposed(b), **how))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, batch + a.shape[-2:])
    out = np.broadcast_to(b, batch + b.shape[-2:]).copy()
    size = a.shape[-1]
    for k in reversed(range(size)) if upper else range(size):
        before = slice(k + 1, size) if upper else slice(k)
        out[..., k, :] -= (a[..., k, before, None] * out[..., before, :]).sum(-2)
        if not unitriangular:
            out[..., k, :] = out[..., k, :] / a[..., k, k, None]
    return out


def _transposed(x):
    return np.swapaxes(x, -1, -2)


def cholesky_factor(sp, x, *, upper):
    """The triangular factor of a symmetric matrix, computed column by column."""
    _check_rows("the Cholesky factor", x.shape[-1])
    out = np.full(x.shape, sp.S.Zero, dtype=object)
    x = _transposed(x) if upper else x
    for j in range(x.shape[-1]):
        done = out[..., j:, :j] @ out[..., j, :j, None]
        column = x[..., j:, j] - done[..., 0]
        root = np.vectorize(sp.sqrt, otypes=[object])(column[..., :1])
        out[..., j:, j] = column / root
        out[..., j : j + 1, j] = root
    return _transposed(out) if upper else out


def pseudoinverse(sp, x, *_, hermitian):
    """The pseudoinverse of a matrix of full rank, by the inverse of its Gram matrix."""
    if x.shape[-2] < x.shape[-1]:
        return _transposed(x) @ inverse(sp, x @ _transposed(x), check=True)
    return inverse(sp, _transposed(x) @ x, check=True) @ _transposed(x)
