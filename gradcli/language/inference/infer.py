"""Inference of missing shapes.

Each unknown size is represented by a large prime, its stand-in, and the program is built with
these. If two sizes must agree and do not, the operator raises shapes.Conflict with both, and the
primes identify the sizes, which are unified. So operators need nothing but their shape functions.
Ranks are tried in order of plausibility (`ranks`).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count, filterfalse, islice, permutations, repeat, tee
from typing import NamedTuple

from ...errors import GradcliError, if_applicable
from ...graphs import Node
from ...graphs.shapes import Conflict, Shape, numel, text
from ..program import Program
from .broadcasts import unbroadcast_ranks
from .stand_ins import Sizes
from .suggested_sizes import least_sizes, unusual_sizes

# They decrease steeply, so that a kernel, which comes after its image, is smaller than the image.
PRIMES = (
    20011, 16381, 13451, 11027, 9043, 7417, 6079, 4987, 4079, 3347, 2749, 2251, 1847, 1511, 1237,
    1019, 829, 683, 557, 461, 373, 307, 251, 199, 167, 139, 113, 89,
)  # fmt: skip
ATTEMPTS = 400  # most combinations of ranks
MOST_TRIES = 600  # most builds of a program
SMALL = 8  # the last primes, which are used if the others make tensors too large
LIKELIEST = 8  # ranks for which sizes are tried although stand-ins cannot be unified
MOST_SKIPPED = 20  # sizes that are skipped because the output would have no element, or only one
MOST_SIZES = 200  # unknown sizes beyond those that PRIMES represent
PERMUTATIONS = 60  # orders of sizes that are tried if stand-ins cannot be unified
STEEPNESSES = (1, 1.2, 1.4)  # steepness of decreasing sizes
Numberings = Callable[[int, Collection[int]], Iterator[Shape]]


class Outcome(NamedTuple):
    """The result of an attempt: the shapes of output and seed (upstream gradient), pairs of sizes
    that differ but are usually equal, ranks of inputs that are more plausible, because the inputs
    are not broadcast, and pairs of sizes of which the first must not be less than the second.
    """

    out: Shape
    seed: Shape | None
    equal_sizes: list[tuple[int, int]]
    ranks: Mapping[str, int] = {}
    least_sizes: Sequence[tuple[int, int]] = ()

    @classmethod
    def of(cls, roots: list[Node], seed: Shape | None) -> "Outcome":
        """The outcome of a graph whose first root is the output."""
        ranks = unbroadcast_ranks(roots)
        return cls(roots[0].shape, seed, unusual_sizes(roots), ranks, least_sizes(roots))


Attempt = Callable[[dict[str, Shape]], Outcome]  # builds the program with these shapes


class Inferred(NamedTuple):
    """The shapes of all unknown inputs, and the dimensions whose sizes were chosen freely."""

    shapes: dict[str, Shape]
    assumed: dict[str, tuple[int, ...]]


def infer(
    program: Program,
    known: dict[str, Shape],
    unknown: Sequence[str],
    attempt: Attempt,
    seed_rank: int | None,
    fixed: Mapping[str, int],
    integer_inputs: Collection[str] = (),
) -> Inferred:
    """The shapes of the inputs `unknown`, given those of `known`.

    `attempt(shapes)` builds the program and returns its Outcome; `fixed` are ranks of some inputs;
    `integer_inputs` are vectors if possible. Raises the error of the most plausible attempt if none
    succeeds.
    """
    from .ranks import ranks_to_try

    counted = Counted(attempt)
    first_error: GradcliError | None = None
    tried = islice(ranks_to_try(program, unknown, seed_rank, fixed, integer_inputs), ATTEMPTS)
    for numberings, ranks in _attempts(tried):
        chosen = dict(zip(unknown, ranks, strict=True))
        if numberings is not different and first_error and first_error.code == "arguments":
            raise first_error
        try:
            result = _solved_or_misfit(chosen, known, counted, numberings, first_error is not None)
        except GradcliError as error:
            raise error.at(program.first_use(unknown[0])) from None
        if isinstance(result, Inferred):
            return _refined(result, chosen, known, attempt, numberings, fixed)
        first_error = first_error or result
        if counted.tries > MOST_TRIES:
            break
    assert first_error is not None
    raise _without_stand_ins(first_error, unknown)


class Counted:
    """An attempt that counts its calls."""

    def __init__(self, attempt: Attempt):
        self.attempt, self.tries = attempt, 0

    def __call__(self, shapes: dict[str, Shape]) -> Outcome:
        self.tries += 1
        return self.attempt(shapes)


def _solved_or_misfit(
    ranks: dict[str, int],
    known: dict[str, Shape],
    attempt: Attempt,
    numberings: Numberings,
    after_misfit: bool,
) -> Inferred | GradcliError:
    """The shapes of inputs of these ranks, or the error if other ranks may fit. `after_misfit` says
    whether more plausible ranks did not fit; then a tensor that is too large is such an error too.
    """
    try:
        return _solve(ranks, known, attempt, numberings)
    except GradcliError as error:
        is_too_large = after_misfit and error.code == "limit"
        if not (error.is_misfit or error.code == "arguments" or is_too_large):
            raise
        return error


def _without_stand_ins(error: GradcliError, unknown: Sequence[str]) -> GradcliError:
    """The error with `?` for stand-ins in its message, and with a hint to give shapes if these may
    be its cause.
    """
    shapes = f"give shapes: {' '.join(f'-s {name}=2x3' for name in unknown)}"
    hint = error.hint if error.code == "arguments" and error.hint else shapes
    message = re.sub(r"\d+", lambda m: "?" if int(m[0]) in PRIMES else m[0], error.message)
    return GradcliError(error.code, message, span=error.span, hint=hint)


def _attempts(tried: Iterable[tuple[int, ...]]) -> Iterator[tuple[Numberings, tuple[int, ...]]]:
    """Numberings and ranks in order of plausibility, lazily."""
    plausible, again, once_more = tee(tried, 3)
    yield from zip(repeat(different), plausible)
    yield from zip(repeat(equal), again)
    yield from zip(repeat(few), islice(once_more, LIKELIEST))


def _refined(
    result: Inferred,
    chosen: dict[str, int],
    known: dict[str, Shape],
    attempt: Attempt,
    numberings: Numberings,
    fixed: Collection[str],
) -> Inferred:
    """The shapes, refined by the more plausible ranks that the built program suggests."""
    settled = set(fixed)
    refined: Inferred | None = result
    while refined is not None:
        result = refined
        outcome = if_applicable(partial(attempt, known | result.shapes))
        ranks = {} if outcome is None else outcome.ranks
        better = {name: r for name, r in ranks.items() if name in chosen and name not in settled}
        if not better:
            break
        settled |= better.keys()
        chosen = chosen | better
        refined = if_applicable(partial(_solve, chosen, known, attempt, numberings))
    return result


def generic_shapes(
    shapes: dict[str, Shape],
    known: dict[str, Shape],
    attempt: Attempt,
    generic: Sequence[int],
    least: int,
) -> dict[str, Shape] | None:
    """The shapes with sizes from `generic`, equal only where the program requires it; None if the
    program accepts no other sizes.

    If the errors of operators do not show which sizes must be equal, equal sizes stay equal. Sizes
    below `least`, such as 0 and 1, are not changed, because they matter for broadcasting.
    """
    generalised = partial(_generalised, shapes, known, attempt, generic, least)
    sizes = [n for shape in shapes.values() for n in shape if n >= least]
    result = if_applicable(partial(generalised, apart=True))
    if result is None and len(set(sizes)) < len(sizes):  # one generic size for all equal sizes
        result = if_applicable(partial(generalised, apart=False))
    return result


def _generalised(
    given_shapes: dict[str, Shape],
    known: dict[str, Shape],
    attempt: Attempt,
    generic: Sequence[int],
    least: int,
    *,
    apart: bool,
) -> dict[str, Shape]:
    """Shapes with generic sizes in the order of the given ones: smaller sizes stay smaller, and the
    first of equal ones becomes the smallest.
    """
    places = [
        (n, name, d)
        for name, shape in given_shapes.items()
        for d, n in enumerate(shape)
        if n >= least
    ]
    keys = sorted(places, key=lambda p: p[0]) if apart else sorted({n for n, _, _ in places})
    used = {n for shape in known.values() for n in shape}
    free = [n for n in generic if n not in used]
    if len(keys) > len(free):
        raise GradcliError("limit", "there are too many sizes")
    new: dict[object, int] = dict(zip(keys, free, strict=False))
    symbolic = {
        name: tuple(
            n if n < least else new[(n, name, d) if apart else n] for d, n in enumerate(shape)
        )
        for name, shape in given_shapes.items()
    }
    sizes = Sizes(new.values(), spare=free[len(keys) :] if apart else ())
    _unify(symbolic, known, sizes, attempt)
    return {name: sizes.of(shape) for name, shape in symbolic.items()}


def _solve(
    ranks: dict[str, int], known: dict[str, Shape], attempt: Attempt, numberings: Numberings
) -> Inferred:
    """Shapes for inputs of these ranks. Raises GradcliError if there are none."""
    try:
        return _solved(ranks, known, attempt, numberings, PRIMES)
    except GradcliError as error:
        if error.code != "limit":
            raise
    return _solved(ranks, known, attempt, numberings, PRIMES[-SMALL:])


def _solved(
    ranks: dict[str, int],
    known: dict[str, Shape],
    attempt: Attempt,
    numberings: Numberings,
    primes: Sequence[int],
) -> Inferred:
    """The shapes, with these primes as stand-ins. Raises GradcliError if there are none."""
    used = {n for shape in known.values() for n in shape}
    stand_ins = (p for p in chain(primes, islice(_further_primes(), MOST_SIZES)) if p not in used)
    numbers = list(islice(stand_ins, sum(ranks.values())))
    if len(numbers) < sum(ranks.values()):
        hint = "give shapes with -s"
        raise GradcliError("limit", "too many inputs have no shape", hint=hint)
    each = iter(numbers)
    symbolic = {name: tuple(islice(each, rank)) for name, rank in ranks.items()}
    sizes = Sizes(p for shape in symbolic.values() for p in shape)
    try:
        seed = _unify(symbolic, known, sizes, attempt)
    except GradcliError:
        if numberings is different:
            raise
        seed = ()  # the smaller sizes to be tried may fit although stand-ins do not
    fixed = {n for s in (*known.values(), *map(sizes.of, symbolic.values()), seed or ()) for n in s}
    return _smallest(symbolic, known, sizes, numberings(len(sizes.free()), fixed), attempt)


def _unify(
    symbolic: dict[str, Shape], known: dict[str, Shape], sizes: "Sizes", attempt: Attempt
) -> Shape | None:
    """Unify sizes until the program can be built; returns the shape of the seed, or None."""
    while True:
        shapes = known | {name: sizes.of(shape) for name, shape in symbolic.items()}
        try:
            out, seed, equal_sizes, *_ = attempt(shapes)
        except Conflict as conflict:
            if not sizes.unify(conflict.left, conflict.right):
                raise
            continue
        if any(sizes.pair(a, b) or sizes.unify(a, b) for a, b in equal_sizes):
            continue
        if seed is None or out == seed:
            return seed
        if len(out) != len(seed):
            message = f"the seed has shape {text(seed)}, and the output {len(out)} dimensions"
            raise GradcliError("seed-shape", message)
        different = next((a, b) for a, b in zip(out, seed, strict=True) if a != b)
        if not sizes.unify(*different):
            message = f"the seed has shape {text(seed)}, and the output cannot have it"
            raise GradcliError("seed-shape", message)


def _further_primes() -> Iterator[int]:
    return (n for n in count(PRIMES[0] + 2, 2) if all(n % k for k in range(3, 200, 2)))


def _smallest(
    symbolic: dict[str, Shape],
    known: dict[str, Shape],
    sizes: Sizes,
    numberings: Iterator[tuple[int, ...]],
    attempt: Attempt,
) -> Inferred:
    """The shapes with the first numbers for the free sizes that the program accepts.

    Raises the first error if there are none. If others exist, numbers are skipped for which the
    output is empty (x[2:] of two elements), has one element, so that its seed would be 1, or has a
    size of 1 by coincidence.
    """
    stand_ins = known | {n: sizes.of(s) for n, s in symbolic.items()}
    outcome, free = if_applicable(partial(attempt, stand_ins)), sizes.free()
    ones = 0 if outcome is None else outcome.out.count(1)
    if outcome is not None and outcome.least_sizes:
        numberings = _in_order(numberings, free, outcome.least_sizes)
    error = GradcliError("shape", "there are no shapes that fit together")
    passed: list[tuple[tuple[bool, bool], Inferred]] = []
    for k, numbers in enumerate(numberings):
        chosen = dict(zip(free, numbers, strict=True))
        try:
            shapes = _numbered(symbolic, known, sizes, chosen, attempt)
            out, seed, *_ = attempt(known | shapes)
        except GradcliError as failed:
            error = error if k else failed
            continue
        if seed is not None and out != seed:
            continue
        result = Inferred(shapes, _assumed(symbolic, sizes, chosen))
        if not out or any(0 in s for s in known.values()):
            return result
        if numel(out) > 1 and out.count(1) <= ones:
            return result
        passed.append(((0 in out, numel(out) == 1), result))
        if len(passed) > MOST_SKIPPED:
            break
    if passed:
        return min(passed, key=lambda entry: entry[0])[1]
    raise error


def _in_order(
    numberings: Iterator[tuple[int, ...]], free: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, ...]]:
    """The numberings in which the first size of each pair is not less than the second; after them,
    all others.
    """

    def holds(numbers: tuple[int, ...]) -> bool:
        chosen = dict(zip(free, numbers, strict=True))
        return all(chosen.get(a, a) >= chosen.get(b, b) for a, b in pairs)

    preferred, others = tee(numberings)
    return chain(filter(holds, preferred), filterfalse(holds, others))


def _numbered(
    symbolic: dict[str, Shape],
    known: dict[str, Shape],
    sizes: Sizes,
    chosen: dict[int, int],
    attempt: Attempt,
) -> dict[str, Shape]:
    """The shapes with these numbers for the free sizes. A size derived from a stand-in, such as n -
    1 in x[1:], is derived again from the number.
    """
    known_sizes = {n for shape in known.values() for n in shape}
    result = [
        p for p in sizes.values if sizes.find(p) not in chosen and sizes.find(p) not in known_sizes
    ]
    shapes = {
        name: tuple(p if p in result else chosen.get(n, n) for p, n in zip(s, sizes.of(s)))
        for name, s in symbolic.items()
    }
    if not result:
        return shapes
    again = Sizes(result)
    _unify(shapes, known, again, attempt)
    if again.free():
        raise GradcliError("shape", "these numbers leave a size undetermined")
    return {name: again.of(shape) for name, shape in shapes.items()}


def _assumed(
    symbolic: dict[str, Shape], sizes: Sizes, chosen: Collection[int]
) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple(d for d, p in enumerate(shape) if sizes.find(p) in chosen)
        for name, shape in symbolic.items()
    }


# ---- numbers for the free sizes ------------------------------------------------------------------


def different(length: int, fixed: Collection[int]) -> Iterator[Shape]:
    """Sizes in order of plausibility: all different, each the smallest that the earlier ones allow.
    Later ones fit images that are larger than the kernels that move over them.
    """
    for start, attempts in ((2, 1000), (5, 40), (10, 40), (30, 2), (100, 2), (1000, 2)):
        pool = islice((n for n in count(start) if n not in fixed), max(length + 1, 8))
        yield from islice(permutations(pool, length), attempts)
    for steepness in STEEPNESSES:
        yield _falling(length, fixed, steepness)


def _falling(length: int, fixed: Collection[int], steepness: float) -> Shape:
    """Sizes that decrease like the stand-ins, so that images are larger than their kernels."""
    result: list[int] = []
    size = 2.0
    while len(result) < length:
        if round(size) not in (*fixed, *result):
            result.append(round(size))
        size = max(size * steepness, size + 1)
    return tuple(result[::-1])


def few(length: int, fixed: Collection[int]) -> Iterator[Shape]:
    """Sizes for stand-ins that cannot be unified: different ones, and 3, for cross(x, y)."""
    return chain(islice(different(length, fixed), PERMUTATIONS), ((3,) * length,))


def equal(length: int, fixed: Collection[int]) -> Iterator[Shape]:
    """Equal sizes, a last resort for programs that do not accept different sizes, or primes."""
    return ((n,) * length for n in (2, 4, 1))
