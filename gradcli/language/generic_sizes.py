"""A problem at generic sizes, which are all different where possible.

At the user's sizes two dimensions may be equal by coincidence, which a formula cannot express.
Therefore formulas are derived with the sizes `shapes.GENERIC_SIZES`.
"""

import re
from collections.abc import Callable, Sequence
from math import lcm
from typing import Any

from ..errors import GradcliError, if_applicable
from ..graphs import Node, Operator, walk
from ..graphs.shapes import GENERIC_SIZES, Shape, is_square, numel
from ..lazy import np
from .arguments.values import Reader
from .inference.infer import Attempt, Outcome, generic_shapes
from .inference.suggested_sizes import different_sides, typical_equal_sizes, unusual_sizes
from .posing import Posing
from .problem import Input, Problem

FACTORS = (1, 2, 3, 4, 6, 8, 12)  # divisors that sizes may need
PARTS = 16  # further divisors are the numbers in the program up to this one
MOST_VALUES = 2_000_000  # most elements of an input that is resized
LARGEST = 400  # most nodes of a program whose formulas are derived


def to_generic_sizes(problem: Problem, keeps_ones: bool = False) -> Problem | None:
    """The problem at generic sizes, including those of integer inputs if possible, without values
    that it does not need. None if the program accepts no other sizes. With `keeps_ones`, sizes of 1
    are not changed.
    """
    if _is_large(problem):
        return None
    ones = not keeps_ones and any(n == 1 for i in problem.inputs.values() for n in i.shape)
    for k in factors(problem) if ones else ():
        result = at_generic_sizes(problem, multiples(k), least=1)
        if result is not None and _behaves_alike(problem, result):
            return result
    kinds = (True, False) if _integer_inputs(problem, {}) else (False,)
    for of_integers in kinds:
        for k in factors(problem):
            result = at_generic_sizes(problem, multiples(k), of_integers=of_integers)
            if result is not None:
                return _in_parts(problem, result, k, of_integers)[0]
    return None


def oblong_sizes(problem: Problem) -> Problem | None:
    """The problem with non-square shapes for inputs whose given shape is square.

    Only inputs from which a usually square matrix is computed are changed, such as x in
    (2 * x).diag(). None if they must be square, or if there are none.
    """
    square_inputs = {
        i.node for i in problem.inputs.values() if not i.inferred and is_square(i.shape)
    }
    matrices = [n.parents[0] for n in walk(problem.roots) if "square" in n.op.typical_inputs]
    if _is_large(problem) or square_inputs.isdisjoint(walk(matrices)):
        return None
    result = at_generic_sizes(problem, sides=True)
    return result if result is not None and different_sides(result.roots) else None


def _behaves_alike(problem: Problem, larger: Problem) -> bool:
    """Whether the sizes of 1 of a problem behave like the sizes that replace them in `larger`.

    They must not be broadcast, as x.expand(2, -1) broadcasts a size of 1 to 2, must not be dropped,
    and must not make the output a scalar.
    """
    shapes = larger.shapes
    pairs = {p for i in problem.inputs.values() for p in zip(i.shape, shapes[i.name])}
    were_one = {new for old, new in pairs if old == 1}
    return (
        _computed(problem) == _computed(larger)
        and all(old == 1 for old, new in pairs if new in were_one)
        and not any(1 < new < GENERIC_SIZES[0] for new in were_one)
        and (problem.out.numel > 1 or larger.out.numel == 1)
    )


def _computed(problem: Problem) -> list[tuple[Operator, int]]:
    """The operators that depend on values of inputs, with the ranks of their outputs."""
    result: dict[Node, None] = {}
    for n in walk(problem.roots):
        if n.op.name == "input" or (not n.op.shape_only and any(i in result for i in n.parents)):
            result[n] = None
    return [(n.op, n.ndim) for n in result]


def generic_factor(problem: Problem) -> int:
    """The first factor such that the problem has generic sizes that are its multiples."""
    for k in factors(problem):
        result = at_generic_sizes(problem, multiples(k))
        if result is not None:
            return _in_parts(problem, result, k, True)[1]
    return 1


def _in_parts(
    problem: Problem, result: Problem, factor: int, of_integers: bool
) -> tuple[Problem, int]:
    """The problem `result` at multiples of `factor`, and the factor.

    If the program fixes a size, as x.reshape(2, -1) does, multiples of this number are tried too,
    and used if this makes more sizes generic.
    """
    fixed = _numbers(result)
    several = lcm(factor, *fixed)
    other = (
        at_generic_sizes(problem, multiples(several), of_integers=of_integers) if fixed else None
    )
    fewer = other is not None and len(_numbers(other)) < len(fixed)
    return (other, several) if other is not None and fewer else (result, factor)


def _numbers(problem: Problem) -> list[int]:
    """The sizes of a problem that are fixed, not generic."""
    return [n for i in problem.inputs.values() for n in i.shape if 1 < n < GENERIC_SIZES[0]]


def factors(problem: Problem) -> tuple[int, ...]:
    """The divisors that sizes may need, in the order in which they are tried."""
    written = sorted(k for k in _integers(problem) if k <= PARTS)
    return tuple(dict.fromkeys([*FACTORS, *written]))


def multiples(factor: int) -> tuple[int, ...]:
    """Generic sizes that `factor` divides."""
    return tuple(factor * n for n in GENERIC_SIZES)


def at_generic_sizes(
    problem: Problem,
    generic: Sequence[int] = GENERIC_SIZES,
    *,
    of_integers: bool = True,
    least: int = 2,
    sides: bool = False,
) -> Problem | None:
    """The problem with sizes from `generic` in place of those that are at least `least`.

    None if the program does not accept such sizes. With `of_integers`, sizes of integer inputs are
    changed too. With `sides`, matrices that are usually square may get different sides.
    """
    if not problem.as_written or _may_be_mistaken(problem):
        return None

    def posing(shapes: dict[str, Shape], sizes: bool = False) -> Posing:
        integer_inputs = _integer_inputs(problem, shapes)
        floats = {name: shape for name, shape in shapes.items() if name not in integer_inputs}
        return _posing(problem, floats, integer_inputs, sizes)

    def attempt(shapes: dict[str, Shape]) -> Outcome:
        return posing(shapes).attempt(shapes)

    written = {name: problem.inputs[name].shape for name in sorted(problem.inputs)}
    integer_inputs = () if of_integers else _integer_inputs(problem, {})
    fixed = {name: written.pop(name) for name in integer_inputs}
    attempting = _with_sides(attempt) if sides or unusual_sizes(problem.roots) else attempt
    shapes = _most_different(
        written,
        _first_names(problem, written),
        lambda ordered: generic_shapes(ordered, fixed, attempting, generic, least),
    )
    if shapes is None:
        return None
    names = [x.name for x in problem.wrt]
    return if_applicable(lambda: posing(fixed | shapes, sizes=True).problem(names))


def _first_names(problem: Problem, shapes: dict[str, Shape]) -> Sequence[Sequence[str]]:
    """Lists of names whose sizes are chosen first, one for each order; the first is empty."""
    ends = _ends(problem)
    if not ends and not typical_equal_sizes(problem.roots):
        return [()]
    cutting = [[name] for name, shape in shapes.items() if not ends.isdisjoint(shape)]
    return [(), [*shapes][::-1], *cutting]


def _most_different(
    shapes: dict[str, Shape],
    first: Sequence[Sequence[str]],
    generalised: Callable[[dict[str, Shape]], dict[str, Shape] | None],
) -> dict[str, Shape] | None:
    """The result of `generalised` with the most different sizes, or None.

    Several orders of the shapes are tried, each with some names `first`, because sizes increase in
    this order, and if x is sliced to the size of y, then y must be smaller.
    """
    best, order = None, shapes
    tried: set[tuple[str, ...]] = set()
    for names in first:
        ordered = {name: shapes[name] for name in names} | order
        if tuple(ordered) in tried:
            continue
        tried.add(tuple(ordered))
        result = generalised(ordered)
        if result is not None and (best is None or _variety(result) > _variety(best)):
            best, order = result, ordered
    return best


def _variety(shapes: dict[str, Shape]) -> int:
    return len({n for shape in shapes.values() for n in shape})


def _ends(problem: Problem) -> set[int]:
    """The ends of slices, as in `pe[:x.shape[0]]`, where pe may be longer than x."""
    indices = (n.attrs.get("index") for n in walk(problem.roots))
    items = (i for index in indices if isinstance(index, tuple) for i in index)
    slices = [i for i in items if isinstance(i, slice)]
    stops = {abs(s.stop) for s in slices if s.stop is not None}
    return stops | {-s.start for s in slices if (s.start or 0) < 0}


def at_shapes(problem: Problem, shapes: dict[str, Shape]) -> Problem:
    """The problem at these shapes. Integer inputs are resized by repetition, and all other given
    values too if a mask needs them. Raises GradcliError if the program fails at these shapes.
    """
    integer_inputs = _integer_inputs(problem, shapes)
    try:
        return _at_shapes(problem, shapes, integer_inputs)
    except GradcliError as error:
        valued = [i for i in problem.inputs.values() if i.value is not None]
        if error.code != "needs-value" or len(valued) == len(integer_inputs):
            raise
        values = _resized(valued, shapes)
        return _at_shapes(problem, shapes, values)


def with_values(problem: Problem, values: dict[str, Any]) -> Problem:
    """The problem with other values for some inputs. Raises GradcliError."""
    original = {i.name: i.value for i in problem.inputs.values() if i.value is not None}
    return _at_shapes(problem, problem.shapes, original | values)


def decided_by_values(problem: Problem) -> bool:
    """Whether the graph depends on float values, as those of a boolean index x > 0."""
    shapes = problem.shapes
    try:
        _at_shapes(problem, shapes, _integer_inputs(problem, shapes))
    except GradcliError as error:
        return error.code == "needs-value"
    return False


def _at_shapes(problem: Problem, shapes: dict[str, Shape], values: dict) -> Problem:
    shapes = {name: shape for name, shape in shapes.items() if name not in values}
    return _posing(problem, shapes, values).problem([x.name for x in problem.wrt])


def _integer_inputs(problem: Problem, shapes: dict[str, Shape]) -> dict[str, Any]:
    """The values of integer inputs, resized to these shapes."""
    return _resized([i for i in problem.inputs.values() if i.node.dtype != "float"], shapes)


def _resized(inputs: Sequence[Input], shapes: dict[str, Shape]) -> dict[str, Any]:
    """The values of inputs, repeated to these shapes. Raises GradcliError if too large."""
    new_shapes = {i.name: shapes.get(i.name, i.shape) for i in inputs if i.value is not None}
    if any(numel(shape) > MOST_VALUES for shape in new_shapes.values()):
        raise GradcliError("limit", "there are too many values at these sizes")
    return {i.name: np.resize(i.value, new_shapes[i.name]) for i in inputs if i.name in new_shapes}


def _posing(
    problem: Problem, shapes: dict[str, Shape], integer_inputs: dict, sizes: bool = False
) -> Posing:
    reader = Reader(problem.limits.without("elements"), 0, None)
    arguments = problem.program, [*problem.inputs], shapes, integer_inputs, reader, problem.assume
    return Posing(*arguments, sizes=sizes)


def _with_sides(attempt: Attempt) -> Attempt:
    """An attempt that does not unify sizes only because they are usually equal."""
    return lambda shapes: attempt(shapes)._replace(equal_sizes=[])


def _is_large(problem: Problem) -> bool:
    return len(walk(problem.roots)) > LARGEST


def _may_be_mistaken(problem: Problem) -> bool:
    """Whether the program contains numbers that could be mistaken for generic sizes."""
    large = [n for n in _integers(problem) if n >= GENERIC_SIZES[0]]
    return any(n % t == 0 or n - t in GENERIC_SIZES for n in large for t in GENERIC_SIZES)


def _integers(problem: Problem) -> set[int]:
    """The positive integers in the text of a program."""
    text = problem.program.source.text
    return {int(n) for n in re.findall(r"(?<![\w.])[1-9]\d{0,8}(?![\w.])", text)}
