"""Readings: alternative shapes of inputs that the user may have meant. Also random sizes in place
of sizes that were not given.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations, count, islice
from typing import Any, NamedTuple

from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import walk
from ...graphs.shapes import Shape
from ...language.inference.coefficients import multipliers
from ...language.inference.products import (
    in_upper_case,
    operands_of_matmul,
    small_operands,
    transposed,
    vectors,
)
from ...language.inference.suggested_sizes import read_by_elements
from ...language.posing import pose
from ...language.problem import Problem
from ...lazy import np
from ..phrases import listed

SIZES = 3  # random choices of sizes besides the first
SMALLEST, LARGEST = 2, 9  # range of random sizes
DRAWS = 40  # attempts to find sizes that the program accepts
READINGS = 16  # largest number of combinations of inputs whose ranks are changed
VECTORS = ((3, 5, 4), (5, 2, 7), (4, 6, 3))  # sizes of vectors that are tried
ELEMENTS = 1_000_000  # largest number of elements of all nodes of a problem
RANKS = {  # names, by rank
    0: ("a number", "numbers"),
    1: ("a vector", "vectors"),
    2: ("a matrix", "matrices"),
    3: ("a batch of matrices", "batches of matrices"),
    4: ("a batch of images", "batches of images"),
}


class Reading(NamedTuple):
    """Alternative shapes for a program."""

    problems: list[Problem]  # with these shapes, at several sizes
    remark: str  # describes the shapes
    single: bool = False  # whether the output is a scalar only with these shapes
    ranks: bool = False  # whether inputs have other ranks, which the program does not determine
    names: tuple[str, ...] = ()  # the inputs whose ranks differ

    @property
    def of_numbers(self) -> bool:
        """Whether an input is a scalar in this reading."""
        return any(not self.problems[0].inputs[name].shape for name in self.names)


def resized(problem: Problem, most: int = SIZES) -> list[Problem]:
    """The problem at up to `most` other choices of the sizes that were not given."""
    rng = np.random.default_rng(0)
    result: dict[tuple[Shape, ...], Problem] = {}
    for _ in range(2 * most):
        other = _resized(problem, rng) if len(result) < most else None
        if other is not None:
            result[tuple(i.shape for i in other.inputs.values())] = other
    return list(result.values())


def shrunk(problem: Problem) -> Problem | None:
    """The problem with large sizes replaced by small ones; None if they do not fit the program."""
    shapes = problem.shapes
    sizes = sorted({n for shape in shapes.values() for n in shape})
    room = (n for n in count(SMALLEST) if n not in sizes)
    new = {n: next(room) if n > LARGEST else n for n in sizes}
    return _posed(problem, {name: tuple(new[n] for n in s) for name, s in shapes.items()})


def _resized(problem: Problem, rng: Any) -> Problem | None:
    free = _freely_chosen_sizes(problem)
    if not free:
        return None
    fixed = {n for i in problem.inputs.values() for n in i.shape} - set(free)
    for draw in range(DRAWS):
        high = LARGEST + len(free) + draw
        room = [n for n in range(SMALLEST, high) if n not in fixed]
        numbers = rng.choice(room, len(free), replace=False).tolist()
        if draw > DRAWS // 2:
            numbers.sort()  # some programs need the order, as an image must be larger than a kernel
        result = _posed(problem, _shapes(problem, dict(zip(free, numbers))))
        if result is not None:
            return result
    return None


def _freely_chosen_sizes(problem: Problem) -> list[int]:
    """The sizes that inference chose freely, because the program does not determine them."""
    return sorted({i.shape[d] for i in problem.inputs.values() for d in i.assumed})


def _shapes(problem: Problem, sizes: Mapping[int, int]) -> dict[str, Shape]:
    """The shapes of all inputs with freely chosen sizes replaced."""
    return {
        i.name: tuple(sizes.get(n, n) if d in i.assumed else n for d, n in enumerate(i.shape))
        for i in problem.inputs.values()
    }


def _posed(
    problem: Problem, shapes: Mapping[str, Shape], ranks: Mapping[str, int] | None = None
) -> Problem | None:
    """The problem with these shapes, or ranks; None if they do not fit the program."""
    seed = problem.seed
    grad: Any = seed.text
    if grad is None and seed.value is not None and not seed.implicit:
        grad = Evaluator({})(seed.value)[0]
    posed = partial(
        pose,
        problem.program.source.text,
        shapes=shapes,
        values={i.name: i.value for i in problem.inputs.values() if i.value is not None},
        grad=grad,
        wrt=[x.name for x in problem.wrt],
        limits=problem.limits,
        assume=problem.assume,
        ranks=ranks,
    )
    result = if_applicable(posed)
    if result is None:
        return None
    fits = sum(n.numel for n in walk([result.out])) <= ELEMENTS
    return None if not fits or _transposes_vector(problem, result) else result


def _transposes_vector(problem: Problem, result: Problem) -> bool:
    """Whether an input that the program transposes, as k in `q @ k.T`, is a vector in `result`.
    Vectors are allowed if the output is a scalar: x in `x.T @ y`.
    """
    if all(len(result.shapes[name]) == len(s) for name, s in problem.shapes.items()):
        return False
    columns, matrices = transposed(problem.program)
    transposed_names = matrices | columns if result.out.shape else matrices
    inferred = {i.name for i in problem.inputs.values() if i.inferred}
    return any(len(result.shapes[name]) == 1 for name in transposed_names & inferred)


def _all_of(posed: Iterator[Problem | None]) -> list[Problem]:
    """All problems of an iterator, or an empty list as soon as one is None."""
    result: list[Problem] = []
    for problem in posed:
        if problem is None:
            return []
        result.append(problem)
    return result


# ---- other shapes --------------------------------------------------------------------------------


def readings(problem: Problem) -> Iterator[Reading]:
    """The readings of a problem: with scalars for vectors, vectors for matrices, other ranks, and
    equal sizes for different ones.
    """
    yield from _with_numbers(problem)
    yield from with_vectors(problem)
    ranks = with_rank(problem, 1, 2), with_rank(problem, 2, 1)
    likely = with_coefficients(problem), with_matrices(problem), *ranks
    for other in chain(filter(None, likely), _with_other_ranks(problem)):
        yield other._replace(remark=f"with {other.remark}")
    yield from _with_equal_sizes(problem)


def with_rank(problem: Problem, have: int, rank: int) -> Reading | None:
    """The reading with rank `rank` for inputs of inferred rank `have`: first for all of these
    inputs together; if that fails, for the first single one that works. Its remark has no "with":
    `x a matrix`.

    None if a matrix product determines the ranks, or the program does not work with others.
    """
    if operands_of_matmul(problem.program):
        return None
    fixed = read_by_elements(problem.roots)
    inferred = [i for i in problem.inputs.values() if i.inferred and i.name not in fixed]
    free = [i.name for i in inferred if len(i.shape) == have]
    for names in dict.fromkeys([tuple(free), *((name,) for name in free)]):
        result = _with_ranks(problem, names, rank)
        if result is not None:
            return _at_sizes(result, of_rank(names, rank), names, ranks=True)
    return None


def with_matrices(problem: Problem) -> Reading | None:
    """Matrices for vectors that are operands of @, as w in `X @ w` and x in `x @ A @ x`."""
    small = vectors(problem.program) | operands_of_matmul(problem.program)
    inputs = problem.inputs.values()
    names = tuple(i.name for i in inputs if i.inferred and len(i.shape) == 1 and i.name in small)
    ranks = dict.fromkeys(names, 2)
    return _of_ranks(problem, ranks, names, of_rank(names, 2)) if names else None


def _with_other_ranks(problem: Problem) -> Iterator[Reading]:
    """Vectors for inferred matrices and matrices for inferred vectors, the fewest changes first,
    and a scalar for one vector; inputs with upper-case names keep their rank.
    """
    ranks = {i.name: len(i.shape) for i in problem.inputs.values() if i.inferred}
    fixed = read_by_elements(problem.roots)
    free = [name for name, rank in ranks.items() if rank in (1, 2) and name not in fixed]
    upper = in_upper_case(problem.program, free)
    small = [name for name in free if name not in upper]
    chosen = (names for n in range(1, len(small) + 1) for names in combinations(small, n))
    several = islice(chosen, READINGS)
    exchanged = ({name: 3 - ranks[name] for name in names} for names in several)
    numbers = ({name: 0} for name in small if ranks[name] == 1)
    for other in (*exchanged, *numbers):
        groups = [[n for n in other if other[n] == rank] for rank in range(3)]
        text = [of_rank(group, rank) for rank, group in enumerate(groups) if group]
        result = _of_ranks(problem, ranks | other, tuple(other), " and ".join(text))
        if result is not None and (result.problems[0].out.shape or not problem.out.shape):
            yield result  # with_vectors yields the readings that turn the output into a scalar


def _of_ranks(
    problem: Problem, ranks: Mapping[str, int], names: tuple[str, ...], remark: str
) -> Reading | None:
    result = _posed(problem, _given_shapes(problem), ranks)
    return None if result is None else _at_sizes(result, remark, names, ranks=True)


def _at_sizes(
    problem: Problem,
    remark: str,
    names: tuple[str, ...],
    *,
    single: bool = False,
    ranks: bool = False,
) -> Reading:
    """The reading of a problem at its sizes and at others."""
    return Reading([problem, *resized(problem)], remark, single, ranks, names)


def _given_shapes(problem: Problem) -> dict[str, Shape]:
    """The shapes that were not inferred."""
    return {i.name: i.shape for i in problem.inputs.values() if not i.inferred}


def of_rank(names: Sequence[str], rank: int) -> str:
    """Inputs and their rank as words: `x a matrix`, `x and y matrices`."""
    one, several = RANKS[rank]
    return f"{listed(names)} {one if len(names) == 1 else several}"


def with_vectors(problem: Problem, most: int = 3) -> Iterator[Reading]:
    """Vectors for up to `most` lower-case matrices, if these make the output a scalar."""
    free = [i.name for i in problem.inputs.values() if i.assumed and len(i.shape) == 2]
    upper = in_upper_case(problem.program, free)
    assumed = [name for name in free if name not in upper]
    fixed = {i.name: i.shape for i in problem.inputs.values() if not i.assumed}
    chosen = (names for n in range(1, most + 1) for names in combinations(assumed, n))
    for names in islice(chosen, READINGS):
        for equal in (False, True):
            lengths = [(row[0],) * len(names) if equal else row for row in VECTORS]
            tried = (
                _posed(problem, fixed | {name: (n,) for name, n in zip(names, row)})
                for row in lengths
            )
            result = _all_of(p if p is not None and p.out.shape == () else None for p in tried)
            if result:
                yield Reading(result, f"with {of_rank(names, 1)}", single=True, names=names)
                break


def with_columns(problem: Problem) -> Reading | None:
    """Vectors for the matrices of a product of inputs with lower-case names, as in `a @ x`, if all
    their shapes were inferred.
    """
    small = [problem.inputs[n] for n in small_operands(problem.program) if n in problem.inputs]
    names = tuple(i.name for i in small if len(i.shape) == 2)
    result = _with_ranks(problem, names, 1) if all(i.inferred for i in small) else None
    return None if result is None else Reading([result], of_rank(names, 1), names=names)


def with_coefficients(problem: Problem) -> Reading | None:
    """Scalars for inputs that multiply as coefficients, as beta in `beta * (a - b)`."""
    coefficients = multipliers(problem.program)
    free = (i for i in problem.inputs.values() if i.inferred and i.shape)
    names = tuple(i.name for i in free if i.name in coefficients)
    result = _with_ranks(problem, names, 0)
    return None if result is None else _at_sizes(result, of_rank(names, 0), names)


def _with_numbers(problem: Problem, most: int = 3) -> Iterator[Reading]:
    """Scalars for up to `most` inferred inputs, as s in `norm(x) / s`, if the output is a scalar
    with them, and is not without; at least one input remains a tensor.
    """
    if not problem.out.shape:
        return
    free = [i.name for i in problem.inputs.values() if i.inferred and i.shape]
    chosen = (names for n in range(1, most + 1) for names in combinations(free, n))
    for names in islice(chosen, READINGS):
        result = _with_ranks(problem, names, 0)
        if result is not None and not result.out.shape and any(i.shape for i in result.wrt):
            yield _at_sizes(result, f"with {of_rank(names, 0)}", names, single=True)


def _with_ranks(problem: Problem, names: Sequence[str], rank: int) -> Problem | None:
    """The problem with this rank for `names`, and unchanged ranks for other inferred inputs."""
    ranks = {i.name: len(i.shape) for i in problem.inputs.values() if i.inferred}
    ranks |= dict.fromkeys(names, rank)
    return _posed(problem, _given_shapes(problem), ranks) if names else None


def _with_equal_sizes(problem: Problem) -> Iterator[Reading]:
    """Readings in which two of the freely chosen sizes, or all of them, are equal, such as
    `det(A @ X @ B)` for square matrices.
    """
    free = _freely_chosen_sizes(problem)
    room = range(SMALLEST, LARGEST + len(free))
    rng = np.random.default_rng(0)
    for equal in (*combinations(free, 2), *[tuple(free)] * (len(free) > 2)):
        numbers = [rng.choice(room, len(free), replace=False).tolist() for _ in range(SIZES)]
        size_maps = [dict(zip(free, row)) for row in numbers]
        same = (s | dict.fromkeys(equal, s[equal[0]]) for s in size_maps)
        result = _all_of(_posed(problem, _shapes(problem, sizes)) for sizes in same)
        if result:
            yield Reading(result, f"where {' = '.join(_dimension(problem, n) for n in equal)}")


def _dimension(problem: Problem, size: int) -> str:
    """The first dimension that has a size, as text: `A.shape[0]`."""
    places = [(i, d) for i in problem.inputs.values() for d in i.assumed if i.shape[d] == size]
    return f"{places[0][0].name}.shape[{places[0][1]}]"
