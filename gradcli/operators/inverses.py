"""Inverses of square matrices, and systems of linear equations.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), cited below as Giles with the section.
"""

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, Outputs, as_node, shapes
from ..lazy import np
from . import matrix_elements
from .elements import NotWritable
from .families import operator, shorthand
from .lapack import (
    LINALG,
    each_matrix,
    elimination,
    matrix,
    of_each_matrix,
    packed_lu,
    solved,
    square,
)
from .matrix import outer_product
from .permuting import permute
from .shaping import reshape


def _inverse(x, *, check):
    unit = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    return solved(np.ascontiguousarray(x), unit, check=check)


def _is_transposed(x):
    """Whether a node is a transpose."""
    last = {x.ndim - 2, x.ndim - 1}
    return x.op.name == "transpose" and {d % x.ndim for d in x.attrs.values()} == last


def inverse_of(x):
    """The inverse in index notation, with inv(A)[j,i] in place of inv(A.T)[i,j]."""
    return x.parents[0].inv().mT if _is_transposed(x) else x.inv()


@operator(
    shape=lambda s, *, check: square(s),
    index=lambda lower, i, x, *, check: inverse_of(x) if _is_transposed(x) else None,
    value=_inverse,
    dtype="float",
    torch=LINALG + "inv",
    aliases=("inverse",),
    attributes={"check": True},
    order="x * check",
    symbolic=matrix_elements.inverse,
    spelling="inv({0})",
    examples=(("inv(x + 3 * eye(3))", "x=3x3"), ("linalg.inv(x + 3 * eye(2))", "x=2x2x2")),
    flops=of_each_matrix(lambda n, _: 2 * n**3),
    typical_inputs=("invertible",),
    numpy="np.linalg.inv",
    input_dtypes="floats",
    saved=(..., INTERMEDIATE),
)
def inv(g, y, x, *, check):
    """Inverse of a square matrix. Giles 2.2.3."""
    return -(y.mT @ g @ y.mT)


def _solution_shape(a, b, *, left, check):
    square(a)
    if not left:
        return shapes.matmul(matrix(b), a)
    is_vector = _is_vector(a, b)
    rows = b[-1 if is_vector else -2]
    if rows != a[-1]:
        needed = f"of length {a[-1]}" if is_vector else f"with {a[-1]} rows"
        message = f"solve() needs a right-hand side {needed}, got {rows}"
        raise shapes.Conflict(message, a[-1], rows)
    return a[:-1] if is_vector else shapes.matmul(a, b)


def _is_vector(a, b):
    """Whether b is a vector, or a batch of vectors: of a's shape without the last size."""
    return len(b) == 1 or (len(a) - 1 == len(b) and b == a[:-1])


def _solve(a, b, *, left, check):
    if not left:
        transposed = _solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), left=True, check=check)
        return np.swapaxes(transposed, -1, -2)
    vector = _is_vector(np.shape(a), np.shape(b))
    b = b[..., None] if vector else b
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = solved(a, np.broadcast_to(b, batch + b.shape[-2:]), check=check)
    return x[..., 0] if vector else x


def _solve_symbols(sp, a, b, *, left, check):
    if not left:
        transposed = _solve_symbols(
            sp, np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), left=True, check=check
        )
        return np.swapaxes(transposed, -1, -2)
    return matrix_elements.solution(sp, a, b, _is_vector(a.shape, b.shape))


def _by_inverse(lower, i, a, b, *, left, check):
    if not left:
        return b @ inverse_of(a)
    if _is_vector(a.shape, b.shape) and b.ndim > 1:
        return (inverse_of(a) * b.unsqueeze(dim=-2)).sum(dim=-1)
    return inverse_of(a) @ b


def _solve_flops(out, a, b, **_):
    """FLOP of a decomposition, and of two triangular systems for each right-hand side."""
    return of_each_matrix(elimination)(out, a) + 2 * shapes.numel(out) * a[-1]


@operator(
    shape=_solution_shape,
    index=_by_inverse,
    value=_solve,
    dtype="float",
    torch=LINALG + "solve",
    attributes={"left": True, "check": True},
    order="a b * left check",
    spelling="linalg.solve({0}, {1}, left={left})",
    symbolic=_solve_symbols,
    examples=(
        ("solve(a + 3 * eye(3), b)", "a=3x3,b=3x2"),
        ("linalg.solve(a + 3 * eye(3), b)", "a=3x3,b=3"),
        ("solve(a + 3 * eye(2), b)", "a=2x2x2,b=2x2x3"),
        ("linalg.solve(a + 3 * eye(2), b, left=False)", "a=2x2,b=3x2"),
    ),
    flops=_solve_flops,
    typical_inputs=("invertible",),
    input_dtypes="floats of one dtype",
    saved=(..., INTERMEDIATE),
)
def solve(g, y, a, b, *, left, check):
    """x such that a @ x is b, or x @ a where left is False. Giles 2.3.1."""
    to_b = solve(a.mT, g, left=left, check=check)
    if not left:
        return -(y.mT @ to_b), to_b
    to_a = -outer_product(to_b, y) if _is_vector(a.shape, b.shape) else -(to_b @ y.mT)
    return to_a, to_b


@operator(
    shape=lambda s: matrix(s)[:-2],
    value=lambda x: each_matrix(lambda m: packed_lu(m)[2], (), x, dtype=int),
    symbolic=NotWritable("which pivot is 0 depends on the values"),
    dtype="int",
    torch=LINALG + "lu_factor_ex",
    spelling="linalg.lu_factor_ex({0}).info",
    examples=(("x * inv_ex(x).info", "x=3x3"),),
    flops=of_each_matrix(elimination),
)
def zero_pivot(g, y, x):
    """The first pivot of the LU decomposition that is 0, counted from 1; 0 if none is."""
    return None


@shorthand(input_dtypes="floats")
def inv_ex(A, *, check_errors=False):
    """Inverse, with info: 0 where there is one."""
    return Outputs((inv(A, check=check_errors), zero_pivot(A)), ("inverse", "info"))


@shorthand(input_dtypes="floats of one dtype")
def solve_ex(A, B, *, left=True, check_errors=False):
    """As solve, with info: 0 where there is a solution."""
    result = solve(A, B, left=left, check=check_errors)
    return Outputs((result, zero_pivot(A)), ("result", "info"))


@shorthand(input_dtypes="floats")
def tensorinv(A, ind=2):
    """Inverse of A as a linear map from its dimensions from `ind` on to those before."""
    A = as_node(A)
    head, tail = A.shape[:ind], A.shape[ind:]
    if ind < 1:
        raise GradcliError("arguments", f"ind of tensorinv() must be positive, got {ind}")
    matrix = reshape(A, shape=(shapes.numel(head), shapes.numel(tail)))
    return reshape(inv(matrix), shape=(*tail, *head))


@shorthand(input_dtypes="floats of one dtype")
def tensorsolve(A, B, dims=None):
    """x such that tensordot(A, x, x.ndim) is B; `dims` of A are moved to its end first."""
    A, B = as_node(A), as_node(B)
    if dims is not None:
        last = [shapes.axis(d, A.ndim) for d in dims]
        A = permute(A, dims=(*(d for d in range(A.ndim) if d not in last), *last))
    tail = A.shape[B.ndim :]
    matrix = reshape(A, shape=(B.numel, shapes.numel(tail)))
    return reshape(solve(matrix, reshape(B, shape=(-1,))), shape=tail)
