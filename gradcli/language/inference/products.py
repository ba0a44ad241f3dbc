"""Matrix products in a program, and the ranks of operands that they suggest.

An upper-case name is a matrix, as in textbooks; a lower-case name may be a vector.
"""

import ast
from collections.abc import Collection, Sequence
from functools import lru_cache

from ...budget import tick
from ...graphs import Operator
from ...operators import lookup
from ...operators.families import Shorthand
from ..libraries import Function, library_function
from ..names import library_path
from ..program import Program
from ..syntax import called_name

TRANSPOSES = ("T", "mT", "H", "mH")


def operands_of_matmul(program: Program) -> set[str]:
    """The names that are operands of matrix products, transposed or not."""
    return {e.id for e in map(bare, all_factors(program)) if isinstance(e, ast.Name)}


def all_factors(program: Program) -> list[ast.expr]:
    """The operands of all matrix products."""
    return [side for sides in _products(program) for side in sides]


def in_upper_case(program: Program, names: Collection[str]) -> list[str]:
    """The upper-case names, if the program combines tensors by operations that are not elementwise,
    or if it indexes the name or moves its elements.
    """
    parts = list(program.syntax)
    rows = {e.id for e in map(_indexed_operand, parts) if isinstance(e, ast.Name)}
    combines = any(factors(e) or _combines_tensors(e) for e in parts)
    return [n for n in names if n[0].isupper() and (combines or n in rows)]


def _indexed_operand(e: ast.AST) -> ast.expr | None:
    """X in `X[0]`, `X.unsqueeze(1)` and other calls that move elements."""
    if isinstance(e, ast.Subscript):
        return e.value
    op = called(e) if isinstance(e, ast.Call) else None
    operands = arguments(e) if isinstance(op, Operator) and op.family == "movement" else []  # type: ignore[arg-type]
    return operands[0] if operands else None


def _combines_tensors(e: ast.AST) -> bool:
    """Whether e is a call that combines tensors: `solve(A, b)`, `kron(A, B)`, `cdist(X, Y)`."""
    op = called(e) if isinstance(e, ast.Call) else None
    several = isinstance(op, Operator) and len(op.inputs) > 1
    return several and op.family != "elementwise"  # type: ignore[union-attr]


def small_operands(program: Program) -> list[str]:
    """The names in products of lower-case names without transposes: `a @ x`, `softmax(a, 0) @
    x`.
    """
    result: dict[str, None] = {}
    for sides in _products(program):
        names = [names_in(side) for side in sides]
        if len(sides) > 1 and all(map(_are_lower, names)) and not any(map(_transposes, sides)):
            result |= dict.fromkeys(name for side in names for name in sorted(side))
    return list(result)


def factors(e: ast.AST) -> list[ast.expr]:
    """The operands of `a @ b`, `matmul(a, b)`, `a.matmul(b)` and `linear(a, b, added)`."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult):
        return [e.left, e.right]
    if not isinstance(e, ast.Call):
        return []
    op = called(e)
    of_matrices = isinstance(op, Operator) and "matrices" in op.typical_inputs
    before = [e.func.value] if isinstance(e.func, ast.Attribute) else []
    return [*e.args[:2], *before] if of_matrices else []


def called(e: ast.Call) -> Operator | Shorthand | None:
    """The operator that a call names."""
    path = library_path(e.func, (), called=True)
    name = path or called_name(e) or ""
    function = library_function(name) if path and "." in path else lookup(name)
    result = function.same or function if isinstance(function, Function) else function
    return result if isinstance(result, Operator | Shorthand) else None


@lru_cache(maxsize=8)
def _products(program: Program) -> tuple[list[ast.expr], ...]:
    """The operands of each product."""
    return tuple(sides for e in program.syntax if (sides := factors(e)))


def bare(e: ast.expr) -> ast.expr:
    """An expression without signs and transposes: a for `-a.T`."""
    while (inner := _without_sign_or_transpose(e)) is not None:
        e = inner
    return e


def _without_sign_or_transpose(e: ast.expr) -> ast.expr | None:
    if isinstance(e, ast.Attribute | ast.UnaryOp):
        return e.value if isinstance(e, ast.Attribute) else e.operand
    return transpose_operand(e)


# ---- transposed ----------------------------------------------------------------------------------


def transpose_operand(e: ast.AST) -> ast.expr | None:
    """x for `x.T` and `x.t()`; None for other expressions."""
    if isinstance(e, ast.Attribute):
        return e.value if e.attr in TRANSPOSES else None
    operands = arguments(e) if isinstance(e, ast.Call) and called(e) is lookup("t") else []
    return operands[0] if operands else None


def transposed(program: Program) -> tuple[set[str], set[str]]:
    """The names that the program transposes, in two groups.

    The first group are names that are only transposed as the first factor of a product, as x in
    `x.T @ y`, and may be columns; the second group are matrices.
    """
    parts = list(program.syntax)
    first = [sides[0] for sides in _products(program)]
    pairs = [(x.id, e in first) for e in parts if isinstance(x := transpose_operand(e), ast.Name)]
    matrices = {name for name, is_first in pairs if not is_first}
    return {name for name, _ in pairs} - matrices, matrices


# ---- vectors -------------------------------------------------------------------------------------


def vectors(program: Program) -> set[str]:
    """Lower-case names of vectors.

    These are w in `X @ w`, if it is an operand of no other product; x and y in `x @ A @ y`; w in `w
    @ w`; w and x in `w.T @ x`; and names multiplied by such a vector, as y in `y @ log(X @ w)` and
    `y.T @ (X @ w - b)`.
    """
    products = [*_products(program)]
    result, small = _vectors_of_products(products)
    result |= _in_quadratic_forms(program)
    for _ in small:
        result |= set().union(*(names for names in small if names & result))
    for sides in products:
        first, last = _untransposed(sides[0]), sides[-1]
        if isinstance(first, ast.Name) and first.id.islower() and is_vector(last, result):
            result.add(first.id)
    return result


def _vectors_of_products(
    products: Sequence[Sequence[ast.expr]],
) -> tuple[set[str], list[set[str]]]:
    """The names of vectors that single products show, unless another product contradicts; and the
    names in each product of two lower-case names.
    """
    result: set[str] = set()
    not_vectors: set[str] = set()
    small: list[set[str]] = []
    for sides in products:
        names = [names_in(side) for side in sides]
        if len(sides) == 2 and all(map(_are_lower, names)):
            small.append(names[0] | names[1])
            has_transpose = any(map(_transposes, sides))
            if _is_inner(*sides) if has_transpose else names[0] & names[1]:
                result |= small[-1]
            continue
        last = sides[-1] if len(sides) == 2 and _ends_in_upper_case(sides[0]) else None
        if isinstance(last, ast.Name) and _are_lower(names[-1]):
            result |= _operand_names(sides[-1])
            sides = sides[:-1]
        not_vectors |= set().union(*map(_operand_names, sides))
    return result - not_vectors, small


def _untransposed(e: ast.expr) -> ast.expr:
    """x for `x.T`; other expressions unchanged."""
    return transpose_operand(e) or e


def is_vector(e: ast.expr, columns: Collection[str]) -> bool:
    """Whether an expression is one of the vectors `columns`, a product that ends in one, or an
    elementwise function of these.
    """
    sides = factors(e)
    if sides:
        return not is_vector(sides[0], columns) and is_vector(sides[-1], columns)
    if isinstance(e, ast.Name):
        return e.id in columns
    return any(is_vector(part, columns) for part in elementwise(e))


def elementwise(e: ast.expr) -> list[ast.expr]:
    """The operands of an elementwise operation."""
    if isinstance(e, ast.BinOp):
        return [] if factors(e) else [e.left, e.right]
    if isinstance(e, ast.UnaryOp):
        return [e.operand]
    is_call = isinstance(e, ast.Call) and getattr(called(e), "family", "") == "elementwise"
    return arguments(e) if is_call else []  # type: ignore[arg-type]


def arguments(e: ast.Call) -> list[ast.expr]:
    """The positional arguments; the object of a method comes first."""
    is_method = isinstance(e.func, ast.Attribute) and library_path(e.func, (), called=True) is None
    return [e.func.value, *e.args] if is_method else e.args  # type: ignore[attr-defined]


def _operand_names(e: ast.expr) -> set[str]:
    """The names in an operand of a product, without those in nested products."""
    inside: list[set[str]] = []
    pending: list[ast.AST] = [e]
    while pending:
        part = pending.pop()
        if factors(part):
            inside.append(names_in(part))
        else:
            pending += ast.iter_child_nodes(part)
    return names_in(e).difference(*inside)


def names_in(e: ast.AST) -> set[str]:
    """The names of values in an expression. Checks the time limit of the inference, too."""
    tick()
    called = {id(c.func) for c in ast.walk(e) if isinstance(c, ast.Call)}
    return {n.id for n in ast.walk(e) if isinstance(n, ast.Name) and id(n) not in called}


def _are_lower(names: set[str]) -> bool:
    return bool(names) and all(map(str.islower, names))


def _is_inner(left: ast.expr, right: ast.expr) -> bool:
    """Whether a product is `w.T @ x`, and not the Gram matrix `x.T @ x`."""
    apart = not names_in(left) & names_in(right)
    return transpose_operand(left) is not None and not _transposes(right) and apart


def _transposes(e: ast.expr) -> bool:
    return any(transpose_operand(n) is not None for n in ast.walk(e))


def _ends_in_upper_case(e: ast.expr) -> bool:
    """Whether the last factor of a product is an upper-case name, transposed or not, or a function
    of such names only, such as `inv(A)`.
    """
    last = _untransposed(chain(e)[-1])
    names = names_in(last) if isinstance(last, ast.Name | ast.Call) else set()
    return bool(names) and all(name[0].isupper() for name in names)


def chain(e: ast.expr) -> list[ast.expr]:
    """A, B and C of `A @ B @ C`."""
    result, pending = [], [e]
    while pending:
        e = pending.pop()
        if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult):
            pending += [e.left, e.right]
        else:
            result.append(e)
    return result[::-1]


def _in_quadratic_forms(program: Program) -> set[str]:
    """The names at both ends of quadratic and bilinear forms: `x @ A @ y`, `x.T @ A @ x` and `(x -
    m) @ inv(S) @ (x - m)`.
    """
    result: set[str] = set()
    for sides in _products(program):
        parts = [names_in(e) for side in sides for e in chain(side)]
        first, *between, last = parts if len(parts) > 1 else (set(), set())
        matrices = {name for names in between for name in names if name[0].isupper()}
        if matrices and _are_lower(first) and _are_lower(last):
            result |= first | last
    return result
