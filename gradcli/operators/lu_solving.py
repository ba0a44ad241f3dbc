"""Linear systems whose matrix is given by its LU decomposition."""

from ..graphs import as_node, shapes
from ..graphs.operator import check_dtypes
from .decompositions import checked_pivots, row_exchanges
from .families import composite, shorthand
from .lapack import LINALG, square
from .leaves import eye
from .triangular import solve_triangular, triangle


def _rule(g, y, LU, pivots, B, *, left, adjoint):
    to_B = lu_solution(LU, pivots, g, left=left, adjoint=not adjoint)
    if not left:
        g, y, adjoint = g.mT, y.mT, not adjoint
    if adjoint:
        P = row_exchanges(LU, pivots)
        L = triangle(LU, upper=False, strict=True) + eye(n=LU.shape[-1])
        back = -P.mT @ y @ g.mT @ P
        by_L = solve_triangular(LU.mT, back, upper=True, left=False, unitriangular=True)
        by_U = solve_triangular(LU.mT, L.mT @ by_L, upper=False, left=False)
    else:
        U = triangle(LU, upper=True)
        by_U = solve_triangular(LU.mT, -g @ y.mT, upper=False)
        by_L = solve_triangular(LU.mT, by_U @ U.mT, upper=True, unitriangular=True)
    return triangle(by_L, upper=False, strict=True) + triangle(by_U, upper=True), None, to_B


@composite(
    rule=_rule,
    integer_inputs=("pivots",),
    check_indices=checked_pivots,
    torch=LINALG + "lu_solve",
    spelling="linalg.lu_solve({0}, {1}, {2}, left={left}, adjoint={adjoint})",
    examples=(
        ("linalg.lu_solve(x, lu_factor(x).pivots, b)", "x=2x2,b=2x3"),
        ("linalg.lu_solve(x, lu_factor(x).pivots, b, adjoint=True)", "x=2x2,b=2x1"),
        ("linalg.lu_solve(x, lu_factor(x).pivots, b, left=False)", "x=2x2,b=3x2"),
        ("linalg.lu_solve(x, lu_factor(x).pivots, b, left=False, adjoint=True)", "x=2x2,b=2x1x2"),
    ),
)
def lu_solution(LU, pivots, B, *, left=True, adjoint=False):
    """The solution x of A @ x = B, or with `adjoint` of A.mT @ x = B, from the LU of A."""
    message = f"lu_solve() needs a pivot for each row of {shapes.text(square(LU.shape))}, not "
    shapes.require_equal(pivots.shape, LU.shape[:-1], message + shapes.text(pivots.shape))
    if not left:
        return lu_solution(LU, pivots, B.mT, adjoint=not adjoint).mT
    P = row_exchanges(LU, pivots)
    if adjoint:
        half = solve_triangular(LU.mT, B, upper=False)
        return P @ solve_triangular(LU.mT, half, upper=True, unitriangular=True)
    half = solve_triangular(LU, P.mT @ B, upper=False, unitriangular=True)
    return solve_triangular(LU, half, upper=True)


@shorthand("linalg.lu_solve", only_aliases=True)
def lu_solve_(LU, pivots, B, *, left=True, adjoint=False):
    """x such that A @ x is B, from the LU decomposition of A."""
    check_dtypes("linalg.lu_solve", "floats of one dtype", (LU, B))
    return lu_solution(as_node(LU), as_node(pivots), as_node(B), left=left, adjoint=adjoint)


@shorthand(input_dtypes=("floats of one dtype", slice(2)))
def lu_solve(b, LU_data, LU_pivots):
    """x such that A @ x is b, from the LU decomposition of A."""
    return lu_solution(as_node(LU_data), as_node(LU_pivots), as_node(b))
