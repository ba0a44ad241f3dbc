"""Ranks of inputs whose shape nobody gave, in order of plausibility.

A vector is the first guess. What stands beside an @ is a matrix, but for w in `X @ w` and x in
`x @ A @ x` (`products`), and so is what is reduced, summed up or sorted along a dimension that is
named, or transposed: of a vector nobody says that. Beside an @ all names in upper case are those of
matrices if nothing is divided by them. What is called lam or eps is a number, but beside
an @ (`coefficients`). Where the program does not work with these, others are tried.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

from ...graphs import Operator
from ..program import Program
from ..syntax import is_whole_number
from .coefficients import coefficients, divisors, intercepts
from .products import (
    arguments,
    called,
    elementwise,
    factors,
    in_upper_case,
    operands_of_matmul,
    transpose_operand,
    vectors,
)

MIXED = 6  # inputs that get ranks of their own; others are vectors


def ranks_to_try(
    program: Program,
    unknown: Sequence[str],
    seed_rank: int | None,
    fixed: Mapping[str, int],
    labels: Collection[str],
) -> Iterator[tuple[int, ...]]:
    """Numbers of dimensions: vectors, then the seed's, then one for all, then mixtures; those
    `fixed` are what they are, and `labels` are vectors first.
    """
    matrices = operands_of_matmul(program) | along_dimensions(program)
    matrices |= _before_products(program, matrices)
    upper = dict.fromkeys({*in_upper_case(program, unknown)} - divisors(program), 2)
    numbers = dict.fromkeys(coefficients(program) - operands_of_matmul(program), 0)
    likely = dict.fromkeys(matrices, 2) | dict.fromkeys(labels, 1) | numbers
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
    for chosen in sorted(
        product(*choices),
        key=lambda ranks: sum(c.index(r) for c, r in zip(choices, ranks, strict=True)),
    ):
        if (*chosen, *rest) not in tried:
            yield (*chosen, *rest)


def _choices(
    name: str, order: Sequence[int], likely: Mapping[str, int], fixed: Mapping[str, int]
) -> list[int]:
    if name in fixed:
        return [fixed[name]]
    return sorted(order, key=lambda rank: rank != likely[name]) if name in likely else list(order)


# ---- along a dimension ---------------------------------------------------------------------------


def along_dimensions(program: Program, columns: Collection[str] = ()) -> set[str]:
    """The names in what a call with a dimension works on, as x in `softmax(x / t, dim=-1)`, or in
    what is transposed; as far as elementwise operations lead to them. Those of `columns` may be
    transposed and be vectors.
    """
    meanings = program.names
    result: set[str] = set()
    for e in program.syntax:
        operand = along_a_dimension(e)
        if operand is not None:
            may_be = columns if transpose_operand(e) is not None else ()
            result |= _of_its_shape(operand, meanings).difference(may_be)
    return result


def along_a_dimension(e: ast.AST) -> ast.expr | None:
    """What is transposed, or handed to a call along a dimension; None elsewhere."""
    if not isinstance(e, ast.Call) or transpose_operand(e) is not None:
        return transpose_operand(e)
    op, args = called(e), arguments(e)
    moves = isinstance(op, Operator) and (op.family == "movement" or op.variadic)
    if op is None or not args or moves or isinstance(args[0], ast.List | ast.Tuple):
        return None
    bindings = dict(zip(op.places, args, strict=False)) | {k.arg: k.value for k in e.keywords}
    chosen = (bindings.get(name) for name in ("dim", "axis"))
    return args[0] if any(d is not None and is_whole_number(d) for d in chosen) else None


def _before_products(program: Program, matrices: Collection[str]) -> set[str]:
    """The names that elementwise operations make a matrix beside an @ of, as x and e in `z = x + e;
    z @ W`, where none of them is told to be one.
    """
    meanings = program.names
    result: set[str] = set()
    for name in operands_of_matmul(program) & meanings.keys() - vectors(program):
        operands = _of_its_shape(meanings[name], meanings)
        result |= set() if operands & set(matrices) else operands
    return result


def _of_its_shape(operand: ast.expr, meanings: Mapping[str, ast.expr]) -> set[str]:
    """The names that elementwise operations make an operand of; none where a product of matrices
    is among what they work on, for that has its rank without them.
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
