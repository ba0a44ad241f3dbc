"""The ranks of inputs without a given shape, in order of plausibility.

A vector is the first guess. Operands of @ are matrices, except w in `X @ w` and x in `x @ A @ x`
(`products`), and so are tensors that are reduced or sorted along a named dimension, or transposed;
x is a vector in `softmax(x, dim=0)`, which has the shape of x, unless a product follows.
In a program with @, all upper-case names are matrices unless they are divisors. Names such as lam
and eps are scalars, unless they are operands of @ (`coefficients`). If the program does not accept
these ranks, others are tried.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

from ...graphs import Operator
from ...operators.families import Shorthand
from ..program import Program
from ..syntax import called_name, is_whole_number
from .coefficients import coefficients, divisors, intercepts
from .products import (
    all_factors,
    arguments,
    called,
    elementwise,
    factors,
    in_upper_case,
    operands_of_matmul,
    transpose_operand,
    vectors,
)

MIXED = 6  # inputs whose ranks are varied independently; further ones are vectors


def ranks_to_try(
    program: Program,
    unknown: Sequence[str],
    seed_rank: int | None,
    fixed: Mapping[str, int],
    integer_inputs: Collection[str],
) -> Iterator[tuple[int, ...]]:
    """Yield ranks of the unknown inputs: vectors, then the rank of the seed, then one rank for all,
    then mixtures. `fixed` ranks are not varied; `integer_inputs` are vectors first.
    """
    fixed = {**_einsum_ranks(program), **fixed}
    matrices = operands_of_matmul(program) | along_dimensions(program)
    matrices |= _before_products(program, matrices)
    upper = dict.fromkeys({*in_upper_case(program, unknown)} - divisors(program), 2)
    numbers = dict.fromkeys(coefficients(program) - operands_of_matmul(program), 0)
    likely = dict.fromkeys(matrices, 2) | dict.fromkeys(integer_inputs, 1) | numbers
    order = list(dict.fromkeys([1, *([] if seed_rank is None else [seed_rank]), 2, 3, 4, 0]))
    columns = vectors(program)
    small = dict.fromkeys(columns - along_dimensions(program, columns), 1)
    numbers |= dict.fromkeys(intercepts(program), 0) if small else {}
    tried: dict[tuple[int, ...], None] = {}
    readings = (upper | likely | small | numbers, upper | likely, likely | small | numbers, likely)
    for rank, first in product(order, readings):
        tried[tuple(fixed.get(n, first.get(n, rank)) for n in unknown)] = None
    yield from tried
    choices = [_choices(name, order, likely, fixed) for name in unknown[:MIXED]]
    rest = tuple(fixed.get(name, 1) for name in unknown[MIXED:])
    yield from (ranks for ranks in _mixtures(choices, rest) if ranks not in tried)


def _mixtures(choices: list[list[int]], rest: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Combinations of ranks, followed by `rest`; those of the first choices come first."""

    def later(ranks: tuple[int, ...]) -> int:
        return sum(c.index(r) for c, r in zip(choices, ranks, strict=True))

    for chosen in sorted(product(*choices), key=later):
        yield *chosen, *rest


def _einsum_ranks(program: Program) -> dict[str, int]:
    """The ranks of names that are operands of einsum, from the subscripts in its equation."""
    result = {}
    for e in program.syntax:
        if not isinstance(e, ast.Call) or called_name(e) != "einsum" or not e.args:
            continue
        equation = getattr(e.args[0], "value", None)
        terms = equation.partition("->")[0].split(",") if isinstance(equation, str) else []
        for term, operand in zip(terms, e.args[1:]):
            letters = term.replace(" ", "")
            if isinstance(operand, ast.Name) and letters.isalpha():
                result[operand.id] = len(letters)
    return result


def _choices(
    name: str, order: Sequence[int], likely: Mapping[str, int], fixed: Mapping[str, int]
) -> list[int]:
    if name in fixed:
        return [fixed[name]]
    return sorted(order, key=lambda rank: rank != likely[name]) if name in likely else list(order)


# ---- along a dimension ---------------------------------------------------------------------------


def along_dimensions(program: Program, columns: Collection[str] = ()) -> set[str]:
    """The names in operands of calls along a dimension, such as x in `softmax(x / t, dim=-1)`, and
    of transposes, through elementwise operations. Names in `columns` may be transposed vectors.
    """
    meanings = program.names
    multiplied = all_factors(program)
    result: set[str] = set()
    for e in program.syntax:
        operand = along_a_dimension(e)
        if operand is not None and (e in multiplied or not _of_a_vector(e)):
            may_be = columns if transpose_operand(e) is not None else ()
            result |= _of_its_shape(operand, meanings).difference(may_be)
    return result


def along_a_dimension(e: ast.AST) -> ast.expr | None:
    """The operand of a transpose, or of a call along a dimension; None for other expressions."""
    if not isinstance(e, ast.Call) or transpose_operand(e) is not None:
        return transpose_operand(e)
    op, args = called(e), arguments(e)
    moves = isinstance(op, Operator) and (op.family == "movement" or op.variadic)
    if op is None or not args or moves or isinstance(args[0], ast.List | ast.Tuple):
        return None
    return args[0] if _named_dimensions(e, op) else None


def _named_dimensions(e: ast.Call, op: Operator | Shorthand) -> list[ast.expr]:
    """The integer literals that a call has as dim or axis."""
    given = zip(op.positional, arguments(e), strict=False)
    bindings = dict(given) | {k.arg: k.value for k in e.keywords}
    chosen = (bindings.get(name) for name in ("dim", "axis"))
    return [d for d in chosen if d is not None and is_whole_number(d)]


def _of_a_vector(e: ast.AST) -> bool:
    """Whether a call keeps the shape of its operand and names its first dimension."""
    if not isinstance(e, ast.Call):
        return False
    op = called(e)
    if not isinstance(op, Operator) or op.family != "operator":
        return False
    return [ast.unparse(d) for d in _named_dimensions(e, op)] == ["0"]


def _before_products(program: Program, matrices: Collection[str]) -> set[str]:
    """The names from which an operand of @ is computed elementwise, if none of them is known to be
    a matrix; x and e in `z = x + e; z @ W`.
    """
    meanings = program.names
    result: set[str] = set()
    for name in operands_of_matmul(program) & meanings.keys() - vectors(program):
        operands = _of_its_shape(meanings[name], meanings)
        result |= set() if operands & set(matrices) else operands
    return result


def _of_its_shape(operand: ast.expr, meanings: Mapping[str, ast.expr]) -> set[str]:
    """The names from which an operand is computed elementwise; empty if it contains a matrix
    product, which determines the rank.
    """
    result: set[str] = set()
    pending = [operand]
    while pending:
        e = pending.pop()
        if factors(e):
            return set()
        if isinstance(e, ast.Name) and e.id not in result:
            result.add(e.id)
            pending += [meanings[e.id]] if e.id in meanings else []
        else:
            pending += elementwise(e)
    return result
