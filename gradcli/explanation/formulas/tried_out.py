"""The closed form of a gradient, for any sizes.

It is derived at sizes that tell which dimensions they belong to, and compared with the gradient in
numbers at others, small ones; only where the program has no such sizes are the user's own taken.
What is shown is tried out at further sizes, so that it is known where it holds for these alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from itertools import islice, product
from typing import Any

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import EXPRESSION, GradcliError
from ...graphs import OPS, Node, as_node, walk
from ...graphs.shapes import TELLING, Conflict, Shape
from ...language.building.build import Builder
from ...language.general import at_shapes, in_general_sizes, oblong_sizes
from ...language.given.assumptions import made
from ...language.inference.infer import different_sides, unusual_sizes
from ...language.problem import Input, Problem
from ...language.program import Program, read_again
from ...lazy import np
from ...notation import tree
from ..checking.mirrored import kept_symmetric, mirrored
from ..checking.steady import is_steady, nudged
from ..derived import of_gradient
from ..random_numbers import Numbers
from .other_sizes import followed_shapes, other_shapes, single_shapes, untied_shapes

SMALL = (3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)  # in the place of TELLING
MOST = 200_000  # elements of the tensors that a formula is tried out on
CLOSE = 1e-6
ZERO = 1e-30  # less is rounding: the numbers are drawn from about 1
SINGULAR = 1e12  # a larger condition number is that of a singular matrix, but for rounding
INVERSES = ("inv", "solve")
UNTIED = 12  # sizes at which only products are equal, that a formula is tried out at
Pose = Callable[[Problem], Problem | None]  # the same problem at other sizes


def general(problem: Problem, keeps_ones: bool = False) -> Problem | None:
    """The problem where its formula is derived; None where that is at the user's own sizes."""
    return _again(problem, partial(in_general_sizes, keeps_ones=keeps_ones))


def _again(problem: Problem, pose: Pose) -> Problem | None:
    """What `pose` makes of a problem; where its output is a gradient, the gradient of what it makes
    of the problem before. None where there is none.
    """
    found = pose(problem) if problem.before is None else _gradient_again(problem, pose)
    if found is None:
        return None
    return found._replace(seed=found.seed._replace(implicit=problem.seed.implicit))


def _gradient_again(problem: Problem, pose: Pose) -> Problem | None:
    assert problem.before is not None
    seed = problem.before.seed
    given = seed.value is not None and not seed.implicit
    before = None if given else _again(problem.before, pose)
    if before is None or before.seed.implicit is not (before.seed.value is not None):
        return None
    (x,) = before.wrt
    made = before.named.values()  # so that sums are in the same order
    grad = backward(before.out, before.seed.node, [x.node], tuple(made)).of[x.node]
    if grad is None:
        return None
    wrt = [before.inputs[z.name] for z in problem.wrt]
    return of_gradient(before, x, grad, problem.seed.name, wrt)


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


class Trial:
    """A problem at other sizes with random numbers, for formulas to be tried out on: above 0, or
    `signed`.
    """

    def __init__(self, problem: Problem, shapes: dict[str, Shape], signed: bool = False):
        self.origin = problem, shapes
        p = _again(problem, lambda p: at_shapes(p, shapes))
        if p is None or sum(n.numel for n in walk(p.roots)) > MOST:
            raise GradcliError("limit", "too large to be tried out")
        self.problem = p
        draw = Numbers(0)
        given = {i.node: _value(draw, i) for i in p.inputs.values()}
        floats = [i.node for i in p.inputs.values() if i.node.dtype == "float"]
        if signed:
            free = [n for n in floats if not n.attrs["known"]]
            given |= {n: given[n] * np.sign(draw.normal(n.shape)) for n in free}
        given |= {x: mirrored(given[x]) for x in kept_symmetric(p.out)}
        one = problem.seed.implicit and p.out.numel == 1
        given[p.seed.node] = np.ones(p.out.shape) if one else draw.uniform(0.5, 1.5, p.out.shape)
        self.evaluate = Evaluator(given, limits=p.limits)
        self._near = nudged(given, floats)
        nodes = p.scope | {p.out_name: p.out, p.seed.name: p.seed.node}
        self.values = {name: np.asarray(self.evaluate(node)[0]) for name, node in nodes.items()}
        self._gradients: dict[str, Node | None] = {}  # by name of the input
        self._arrays: dict[str, Any] = {}  # of the formulas that were asked for

    def holds(self, formula: str, name: str) -> bool:
        """Whether a formula has the value of the gradient of the input `name`."""
        with suppress(GradcliError), np.errstate(all="ignore"):
            expected, found = self.expected(name), self.array(formula)
            return (
                expected is not None
                and found.shape == expected.shape
                and np.allclose(found, expected, rtol=CLOSE, atol=CLOSE, equal_nan=True)
                and not self.inverts_singular(formula)
            )
        return False

    def fails(self, formula: str, name: str) -> bool:
        """Whether a formula does not have the value of a gradient that can be computed, or not the
        shape of one that is no number.
        """
        if self.holds(formula, name) or self.cannot_read(formula):
            return False
        return self.tells(name) or not self._fits(formula, name)

    def _fits(self, formula: str, name: str) -> bool:
        """Whether a formula has the shape of the gradient of an input, where that has one."""
        with suppress(GradcliError), np.errstate(all="ignore"):
            shape = np.shape(self.expected(name))
            try:
                return self.array(formula).shape == shape
            except GradcliError as error:
                return error.code != "shape"
        return True

    def expected(self, name: str) -> Any:
        """The value of the gradient of the input `name`; None where there is none."""
        grad = self._gradient(name)
        return None if grad is None else np.asarray(self.evaluate(grad)[0])

    def _gradient(self, name: str) -> Node | None:
        if name not in self._gradients:
            p = self.problem
            x = p.inputs[name].node
            self._gradients[name] = backward(p.out, p.seed.node, [x]).of[x]
        return self._gradients[name]

    @property
    def squeezed(self) -> bool:
        """Whether what is computed has lost dimensions here, as squeeze() leaves out those of 1."""
        return _ranks(self.problem) != _ranks(self.origin[0])

    @property
    def sizes_alike(self) -> bool:
        """Whether sizes are equal or larger here where those that the problem had are."""
        problem, shapes = self.origin
        pairs = [p for i in problem.inputs.values() for p in zip(i.shape, shapes[i.name])]
        return all((a < b) == (c < d) for (a, c), (b, d) in product(pairs, pairs))

    def tells(self, name: str) -> bool:
        """Whether output and gradient are finite here, and not those of a singular matrix."""
        p = self.problem
        try:
            grad = self._gradient(name)
            if grad is None:
                return False
            with np.errstate(all="ignore"):
                out = self.evaluate(p.out)[0]
                here, near = self.evaluate(grad)[0], Evaluator(self._near, limits=p.limits)(grad)[0]
        except GradcliError:
            return False
        vanishes = bool(np.all(np.abs(here) < ZERO))
        return bool(np.all(np.isfinite(out))) and (vanishes or is_steady(here, near))

    def contradicts(self, formula: str, name: str) -> bool:
        """Whether a formula has numbers that are not those of the gradient of the input `name`; nan
        and infinity are none.
        """
        if not self.fails(formula, name):
            return False
        with suppress(GradcliError), np.errstate(all="ignore"):
            found, expected = self.array(formula), self.expected(name)
            at = np.isfinite(found)
            return found.shape != expected.shape or not np.allclose(
                found[at], expected[at], rtol=CLOSE, atol=CLOSE
            )
        return True

    def without_number(self, formula: str, name: str) -> Any:
        """Where a formula is nan or infinite, and the gradient of the input `name` is not."""
        with suppress(GradcliError), np.errstate(all="ignore"):
            return np.isfinite(self.expected(name)) & ~np.isfinite(self.array(formula))
        return np.False_

    def cannot_read(self, formula: str) -> bool:
        """Whether a text in a formula, as `randn(3)`, means two draws of the program."""
        by_text: dict[str, Any] = {}
        for data in _tensors(self.problem):
            same = np.array_equal(by_text.setdefault(data.text, data.value), data.value)
            if not same and data.text in formula:
                return True
        return False

    def array(self, formula: str) -> Any:
        """The array of a name or a formula. Raises GradcliError."""
        if formula not in self._arrays:
            self._arrays[formula] = value_of(formula, self.values, self.problem)
        return self._arrays[formula]

    def inverts_singular(self, formula: str) -> bool:
        """Whether a formula has the inverse of a matrix that is singular but for rounding."""
        if not any(f"{name}(" in formula for name in INVERSES):
            return False
        node, evaluate = _readable(formula, self.values, self.problem)
        matrices = [n.parents[0] for n in walk([node]) if n.op.name in INVERSES]
        return any(map(_is_singular, evaluate(*matrices)))


def value_of(formula: str, values: Mapping[str, Any], problem: Problem) -> Any:
    """The array of a name or a formula, of the arrays by name; random numbers are those that the
    problem has. Raises GradcliError.
    """
    if formula in values:
        return values[formula]
    node, evaluate = _readable(formula, values, problem)
    return np.asarray(evaluate(node)[0])


def _readable(formula: str, values: Mapping[str, Any], problem: Problem) -> tuple[Node, Evaluator]:
    """A formula of the arrays by name, and what evaluates it."""
    inputs: dict[str, Node] = {}
    given: dict[Node, Any] = {}
    for name, value in values.items():
        dtype = {"i": "int", "b": "bool"}.get(value.dtype.kind, "float")
        inputs[name] = OPS["input"](name=name, shape=value.shape, dtype=dtype)
        given[inputs[name]] = value
    limits = problem.limits
    drawn = {data.text: data for data in _tensors(problem)}
    scope: dict[str, Any] = {n: v for n, v in problem.constants.items() if isinstance(v, tuple)}
    builder = Builder(_read(formula), scope | inputs, values=given, limits=limits, drawn=drawn)
    return as_node(builder.run()), Evaluator(given, limits=limits)


@lru_cache(maxsize=32)
def _read(formula: str) -> Program:
    """A formula, which is tried out at several sizes."""
    return read_again(formula, EXPRESSION)


def _is_singular(x: Any) -> bool:
    return x.size > 0 and bool(np.isfinite(x).all() and np.any(np.linalg.cond(x) > SINGULAR))


def _tensors(problem: Problem) -> list[Any]:
    """The arrays, with their texts, that a program writes out or draws."""
    return [n.attrs["data"] for n in walk(problem.roots) if n.op is OPS["tensor"]]


def _value(draw: Any, x: Input) -> Any:
    """Random numbers that are what is assumed about an input; values that it cannot do without."""
    if x.value is not None:
        return x.value
    return made(x.node.attrs["known"], draw.uniform(0.2, 0.9, x.shape))


def tried_out(
    problem: Problem, at: Iterable[Trial], found: Mapping[str, tree.Tree]
) -> dict[str, tree.Tree]:
    """Of the formulas by name of the input those that have the gradient's value `at` some trials,
    wherever it can be computed, and at numbers below 0.
    """
    tried, below = list(at), list(signed(problem))
    holding = {}
    for name, f in found.items():
        text = tree.text(f)
        holds = not tried or any(trial.holds(text, name) for trial in tried)
        if holds and not any(trial.fails(text, name) for trial in (*tried, *below)):
            holding[name] = f
    return holding


def signed(problem: Problem) -> Iterator[Trial]:
    """A problem at small sizes with numbers below 0 too, where it chooses by them."""
    if any(n.dtype == "bool" or n.op.kink is not None for n in walk(problem.roots)):
        with suppress(GradcliError):
            yield Trial(problem, _small(problem), signed=True)


def trials(problem: Problem | None, own: Problem) -> Iterator[Trial]:
    """A problem at small sizes, where it is for any, and at its `own`; where it can be computed."""
    given = own.shapes
    for shapes in (*([] if problem is None else [_small(problem)]), given):
        with suppress(GradcliError):
            yield Trial(problem or own, shapes)


def elsewhere(problem: Problem, in_general: Problem | None) -> Iterator[Trial]:
    """The problem at sizes that are not its own, as far as its program takes them, has no more
    dimensions to broadcast, and sizes stay equal that are so as a rule; those of the problem
    `in_general` are known to fit together.
    """
    made: dict[tuple[Shape, ...], Trial | None] = {}
    narrow, unusual = _narrow(problem), bool(unusual_sizes(problem.roots))

    def is_alike(other: Problem) -> bool:
        return _narrow(other) <= narrow and (unusual or not unusual_sizes(other.roots))

    def trial(shapes: dict[str, Shape]) -> Trial | None:
        key = tuple(shapes.values())
        if key not in made:
            made[key] = None
            with suppress(GradcliError):
                found = Trial(problem, shapes)
                made[key] = found if is_alike(found.problem) else None
        return made[key]

    falling = [] if in_general is None else [_small(in_general, falling=True)]
    untied = untied_shapes(problem, lambda shapes: trial(shapes) is not None)
    for shapes in (*falling, *other_shapes(problem), *islice(untied, UNTIED)):
        found = trial(shapes)
        if found is not None:
            yield found
    yield from _followed(problem, in_general)
    if in_general is not None:
        yield from _squeezed(problem, _small(in_general))
    sides = oblong_sizes(problem) if problem.before is None else None
    if sides is not None:
        with suppress(GradcliError):
            yield Trial(problem, _small(sides))


def _followed(problem: Problem, in_general: Problem | None) -> Iterator[Trial]:
    """The problem with one dimension longer and those that follow from it, where some do."""
    of = {} if in_general is None else in_general.shapes
    if of and all(n < TELLING[0] or _is_multiple(n) for shape in of.values() for n in shape):
        return
    fits: list[Trial] = []

    def fit(shapes: dict[str, Shape]) -> bool:
        try:
            fits[:] = [Trial(problem, shapes)]
        except Conflict:
            raise
        except GradcliError:
            return False
        return True

    for _ in followed_shapes(problem.shapes, fit):
        yield fits[0]


def _is_multiple(n: int) -> bool:
    """Whether a size is one that tells, times a small number."""
    return any(n % t == 0 and n // t < TELLING[0] for t in TELLING)


def _squeezed(problem: Problem, small: dict[str, Shape]) -> Iterator[Trial]:
    """The problem where one of the small sizes is 1 and what is computed loses a dimension by that,
    as that of squeeze() and cov(x) does.
    """
    for shapes in single_shapes(small):
        with suppress(GradcliError):
            found = _again(problem, partial(at_shapes, shapes=shapes))
            if found is not None and _ranks(found) != _ranks(problem):
                yield Trial(problem, shapes)


def _ranks(problem: Problem) -> list[int]:
    return [n.ndim for n in walk([problem.out])]


def _narrow(problem: Problem) -> int:
    """How many dimensions of size 1 or 0 the nodes of a program have."""
    return sum(size <= 1 for n in walk([problem.out]) for size in n.shape)


def extent(at: Iterable[Trial], formula: str, name: str) -> str:
    """How far a formula holds that fails at some trials: where no size is 1 ("above-one"), where
    matrices are square that are so as a rule ("square"), where sizes are all equal ("equal"), or
    equal or larger as those given ("alike"), or "here".
    """
    plain = [trial for trial in at if not trial.squeezed]
    failing = [trial for trial in plain if trial.fails(formula, name)]
    if not failing:
        return "above-one"
    if all(different_sides(trial.problem.roots) for trial in failing):
        return "square"
    alike = [trial for trial in plain if trial.sizes_alike]
    if not any(trial.tells(name) for trial in alike) or any(trial in failing for trial in alike):
        return "here"
    sizes = {n for i in alike[0].origin[0].inputs.values() for n in i.shape}
    return "equal" if len(sizes) == 1 else "alike"


def undefined(at: Iterable[Trial], formula: str, name: str) -> str | None:
    """For which random values a formula is nan or infinite where the gradient is not; None where
    that is so for none.
    """
    masks = [trial.without_number(formula, name) for trial in at]
    if not any(map(np.any, masks)):
        return None
    return "whatever the values are" if all(map(np.all, masks)) else "for some values"
