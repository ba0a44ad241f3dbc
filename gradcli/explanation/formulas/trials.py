"""The trials at which the formulas of a problem are compared with its gradients."""

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import islice

from ...errors import if_applicable, result_or_error
from ...graphs import walk
from ...graphs.shapes import TELLING, Shape
from ...language.general import at_shapes, oblong_sizes
from ...language.inference.infer import unusual_sizes
from ...language.problem import Problem
from .other_sizes import followed_shapes, other_shapes, single_shapes, untied_shapes
from .posed_again import posed_again
from .trial import Trial, ranks

SMALL = (3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)  # in the place of TELLING
UNTIED = 12  # sizes at which only products are equal, that a formula is tried out at


class Trials:
    """The trials of a problem, and of what it is `in_general` where it is that; each made once."""

    def __init__(self, problem: Problem, in_general: Problem | None):
        self.problem, self.in_general = problem, in_general

    @cached_property
    def first(self) -> list[Trial]:
        """Those that a formula has to pass: at small sizes, where it is for any, and at its own."""
        general, own = self.in_general, self.problem
        small = [] if general is None else _computed(general, _small(general))
        return [*small, *_computed(general or own, own.shapes)]

    @cached_property
    def here(self) -> list[Trial]:
        """Those at its own sizes, and with numbers below 0 where it chooses by them."""
        return [*_computed(self.problem, self.problem.shapes), *self.signed]

    @cached_property
    def signed(self) -> list[Trial]:
        """Those with numbers below 0 too, where it chooses by them."""
        return signed(self.problem)

    @cached_property
    def elsewhere(self) -> list[Trial]:
        """Those at sizes that are not its own."""
        return list(_elsewhere(self.problem, self.in_general))


def signed(problem: Problem) -> list[Trial]:
    """A problem at small sizes with numbers below 0 too, where it chooses by them."""
    chooses = any(n.dtype == "bool" or n.op.kink is not None for n in walk(problem.roots))
    return _computed(problem, _small(problem), signed=True) if chooses else []


def _computed(problem: Problem, shapes: dict[str, Shape], signed: bool = False) -> list[Trial]:
    """The trial at these shapes; none where it cannot be computed."""
    trial = Trial.at(problem, shapes, signed)
    return [] if trial is None else [trial]


def _elsewhere(problem: Problem, in_general: Problem | None) -> Iterator[Trial]:
    """The problem at sizes that are not its own, as far as its program takes them, has no more
    dimensions to broadcast, and sizes stay equal that are so as a rule; those of the problem
    `in_general` are known to fit together.
    """
    built: dict[tuple[Shape, ...], Trial | None] = {}
    narrow, unusual = _narrow(problem), bool(unusual_sizes(problem.roots))

    def is_alike(other: Problem) -> bool:
        return _narrow(other) <= narrow and (unusual or not unusual_sizes(other.roots))

    def trial(shapes: dict[str, Shape]) -> Trial | None:
        key = tuple(shapes.values())
        if key not in built:
            result = Trial.at(problem, shapes)
            built[key] = result if result is not None and is_alike(result.problem) else None
        return built[key]

    falling = [] if in_general is None else [_small(in_general, falling=True)]
    untied = untied_shapes(problem, lambda shapes: trial(shapes) is not None)
    for shapes in (*falling, *other_shapes(problem), *islice(untied, UNTIED)):
        result = trial(shapes)
        if result is not None:
            yield result
    yield from _followed(problem, in_general)
    if in_general is not None:
        yield from _squeezed(problem, _small(in_general))
    sides = oblong_sizes(problem) if problem.before is None else None
    if sides is not None:
        yield from _computed(problem, _small(sides))


def _followed(problem: Problem, in_general: Problem | None) -> Iterator[Trial]:
    """The problem with one dimension longer and those that follow from it, where some do."""
    of = {} if in_general is None else in_general.shapes
    if of and all(n < TELLING[0] or _is_multiple(n) for shape in of.values() for n in shape):
        return

    def fit(shapes: dict[str, Shape]) -> Trial | Exception:
        return result_or_error(lambda: Trial(problem, shapes))

    yield from followed_shapes(problem.shapes, fit)


def _is_multiple(n: int) -> bool:
    """Whether a size is one that tells, times a small number."""
    return any(n % t == 0 and n // t < TELLING[0] for t in TELLING)


def _squeezed(problem: Problem, small: dict[str, Shape]) -> Iterator[Trial]:
    """The problem where one of the small sizes is 1 and what is computed loses a dimension by that,
    as that of squeeze() and cov(x) does.
    """
    for shapes in single_shapes(small):
        there = partial(at_shapes, shapes=shapes)
        result = if_applicable(partial(posed_again, problem, there))
        if result is not None and ranks(result) != ranks(problem):
            yield from _computed(problem, shapes)


def _narrow(problem: Problem) -> int:
    """How many dimensions of size 1 or 0 the nodes of a program have."""
    return sum(size <= 1 for n in walk([problem.out]) for size in n.shape)


def _small(problem: Problem, falling: bool = False) -> dict[str, Shape]:
    """Shapes with small sizes in the place of those that tell, and of those in products; `falling`
    where what was smaller becomes larger.
    """
    inputs = problem.inputs.values()
    met = [t for t in TELLING if any(n % t == 0 for i in inputs for n in i.shape)]
    small = dict(zip(met[::-1] if falling else TELLING, SMALL))

    def smaller(n: int) -> int:
        for t in met if n else ():
            while n % t == 0:
                n = n // t * small[t]
        return n

    return {i.name: tuple(map(smaller, i.shape)) for i in inputs}
