"""Formulas tried out before they are shown.

The closed form of a gradient is derived at sizes that tell which dimensions they belong to, and
compared with the gradient in random numbers at others, small ones; only where the program has no
such sizes are the user's own taken. What is shown is tried out at further sizes, so that it is
known where it holds for these alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from itertools import islice, product
from typing import Any

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import EXPRESSION, GradcliError, if_applicable, result_or_error
from ...graphs import OPS, Node, as_node, walk
from ...graphs.shapes import TELLING, Shape
from ...language.building.build import Builder
from ...language.generic_sizes import at_shapes, oblong_sizes
from ...language.given.assumptions import made
from ...language.inference.infer import different_sides, unusual_sizes
from ...language.problem import Input, Problem
from ...language.program import Program, read_again
from ...lazy import np
from ...notation import tree
from ..checking.perturbation import is_well_conditioned, kept_symmetric, perturbed, symmetrized
from ..random_numbers import Numbers
from .other_sizes import followed_shapes, other_shapes, posed_again, single_shapes, untied_shapes

MOST = 200_000  # elements of the tensors that a formula is tried out on
CLOSE = 1e-6
DRAWS = 4  # of random numbers, until outputs are finite
ZERO = 1e-30  # less is rounding: the numbers are drawn from about 1
SINGULAR = 1e12  # a larger condition number is that of a singular matrix, but for rounding
INVERSES = ("inv", "solve")
SMALL = (3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)  # in the place of TELLING
UNTIED = 12  # sizes at which only products are equal, that a formula is tried out at


class Trial:
    """A problem at other sizes with random numbers, for formulas to be tried out on: above 0, or
    `signed`.
    """

    @classmethod
    def at(cls, problem: Problem, shapes: dict[str, Shape], signed: bool = False) -> "Trial | None":
        """The trial at these shapes; None where it cannot be computed."""
        return if_applicable(lambda: cls(problem, shapes, signed))

    def __init__(self, problem: Problem, shapes: dict[str, Shape], signed: bool = False):
        """Raises GradcliError where it cannot be computed."""
        self.origin = problem, shapes
        p = posed_again(problem, lambda p: at_shapes(p, shapes))
        if p is None or sum(n.numel for n in walk(p.roots)) > MOST:
            raise GradcliError("limit", "too large to be tried out")
        self.problem = p
        given = _finite_values(p, signed)
        floats = [i.node for i in p.inputs.values() if i.node.dtype == "float"]
        self.evaluate = Evaluator(given, limits=p.limits)
        self._near = perturbed(given, floats)
        nodes = p.scope | {p.out_name: p.out, p.seed.name: p.seed.node}
        self.values = {name: np.asarray(self.evaluate(node)[0]) for name, node in nodes.items()}
        self._gradients: dict[str, Node | None] = {}  # by name of the input
        self._arrays: dict[str, Any] = {}  # of formulas, or the errors that they raise

    def holds(self, formula: str, name: str) -> bool:
        """Whether a formula has the value of the gradient of the input `name`."""
        expected, result = self.expected(name), self.array(formula)
        if expected is None or result is None or result.shape != expected.shape:
            return False
        with np.errstate(all="ignore"):
            alike = np.allclose(result, expected, rtol=CLOSE, atol=CLOSE, equal_nan=True)
        return alike and not self.inverts_singular(formula)

    def fails(self, formula: str, name: str) -> bool:
        """Whether a formula does not have the value of a gradient that can be computed, or not the
        shape of one that is no number.
        """
        if self.holds(formula, name) or self.cannot_read(formula):
            return False
        return self.tells(name) or not self._fits(formula, name)

    def _fits(self, formula: str, name: str) -> bool:
        """Whether a formula has the shape of the gradient of an input; none has it where nothing
        flows, but a number.
        """
        value = self.expected(name)
        if value is None:
            return True
        shape = () if self._gradient(name) is None else value.shape
        result = self._result(formula)
        if isinstance(result, GradcliError):
            return result.code != "shape"
        return result.shape == shape

    def expected(self, name: str) -> Any:
        """The value of the gradient of an input, 0 where nothing flows; None where it cannot be
        computed.
        """
        return if_applicable(lambda: self._value(name))

    def _value(self, name: str) -> Any:
        grad = self._gradient(name)
        if grad is None:
            return np.zeros(self.problem.inputs[name].shape)
        return np.asarray(self.evaluate(grad)[0])

    def _gradient(self, name: str) -> Node | None:
        if name not in self._gradients:
            p = self.problem
            x = p.inputs[name].node
            self._gradients[name] = backward(p.out, p.seed.node, [x]).of[x]
        return self._gradients[name]

    @property
    def squeezed(self) -> bool:
        """Whether what is computed has lost dimensions here, as squeeze() leaves out those of 1."""
        return ranks(self.problem) != ranks(self.origin[0])

    @property
    def sizes_alike(self) -> bool:
        """Whether sizes are equal or larger here where those that the problem had are."""
        problem, shapes = self.origin
        pairs = [p for i in problem.inputs.values() for p in zip(i.shape, shapes[i.name])]
        return all((a < b) == (c < d) for (a, c), (b, d) in product(pairs, pairs))

    def tells(self, name: str) -> bool:
        """Whether output and gradient are finite here, and not those of a singular matrix."""
        return if_applicable(lambda: self._tells(name)) is True

    def _tells(self, name: str) -> bool:
        p, grad = self.problem, self._gradient(name)
        if grad is None:
            return False
        out, here = self.evaluate(p.out, grad)
        (near,) = Evaluator(self._near, limits=p.limits)(grad)
        vanishes = bool(np.all(np.abs(here) < ZERO))
        return bool(np.all(np.isfinite(out))) and (vanishes or is_well_conditioned(here, near))

    def contradicts(self, formula: str, name: str) -> bool:
        """Whether a formula has numbers that are not those of the gradient of the input `name`; nan
        and infinity are none.
        """
        if not self.fails(formula, name):
            return False
        result, expected = self.array(formula), self.expected(name)
        if result is None or expected is None or result.shape != expected.shape:
            return True
        at = np.isfinite(result)
        with np.errstate(all="ignore"):
            return not np.allclose(result[at], expected[at], rtol=CLOSE, atol=CLOSE)

    def without_number(self, formula: str, name: str) -> Any:
        """Where a formula is nan or infinite, and the gradient of the input `name` is not."""
        expected, result = self.expected(name), self.array(formula)
        if expected is None or result is None:
            return np.False_
        return np.isfinite(expected) & ~np.isfinite(result)

    def cannot_read(self, formula: str) -> bool:
        """Whether a text in a formula, as `randn(3)`, means two draws of the program."""
        return not reads_one_draw(self.problem, formula)

    def array(self, formula: str) -> Any:
        """The array of a name or a formula; None where it has none."""
        return if_applicable(lambda: self.computed(formula))

    def computed(self, formula: str) -> Any:
        """The same. Raises GradcliError where it has none."""
        result = self._result(formula)
        if isinstance(result, GradcliError):
            raise result
        return result

    def _result(self, formula: str) -> Any:
        """The array of a name or a formula, or the error that it raises."""
        if formula not in self._arrays:
            read = lambda: value_of(formula, self.values, self.problem)  # noqa: E731
            self._arrays[formula] = result_or_error(read)
        return self._arrays[formula]

    def inverts_singular(self, formula: str) -> bool:
        """Whether a formula has the inverse of a matrix that is singular but for rounding."""
        if not any(f"{name}(" in formula for name in INVERSES):
            return False
        node, evaluate = _readable(formula, self.values, self.problem)
        matrices = [n.parents[0] for n in walk([node]) if n.op.name in INVERSES]
        return any(map(_is_singular, evaluate(*matrices)))


def _finite_values(p: Problem, signed: bool) -> dict[Node, Any]:
    """Random numbers for inputs and the seed at which outputs are numbers, where some are soon met:
    logdet(K + s) has none where a determinant is below 0. `signed` ones are to meet such values.
    """
    first = None
    for k in range(1 if signed else DRAWS):
        given = _drawn(p, signed, k)
        first = first or given
        with np.errstate(all="ignore"):
            outs = Evaluator(given, limits=p.limits)(*(q.out for q in p.orders))
        if all(np.all(np.isfinite(out)) for out in outs):
            return given
    assert first is not None
    return first


def _drawn(p: Problem, signed: bool, k: int) -> dict[Node, Any]:
    """The random numbers of draw `k`."""
    draw = Numbers(k)
    given = {i.node: _value(draw, i) for i in p.inputs.values()}
    if signed:
        drawn = [i.node for i in p.inputs.values() if i.value is None]
        free = [n for n in drawn if n.dtype == "float" and not n.attrs["known"]]
        given |= {n: given[n] * np.sign(draw.normal(n.shape)) for n in free}
    given |= {x: symmetrized(given[x]) for x in kept_symmetric(p.out)}
    one = p.seed.implicit and p.out.numel == 1
    given[p.seed.node] = np.ones(p.out.shape) if one else draw.uniform(0.5, 1.5, p.out.shape)
    return given


def reads_one_draw(problem: Problem, formula: str) -> bool:
    """Whether each text in a formula, as `randn(3)`, means one draw of the program alone."""
    by_text: dict[str, Any] = {}
    return all(
        np.array_equal(by_text.setdefault(data.text, data.value), data.value)
        or data.text not in formula
        for data in _tensors(problem)
    )


def ranks(problem: Problem) -> list[int]:
    """The number of dimensions of all that is computed."""
    return [n.ndim for n in walk([problem.out])]


def value_of(formula: str, values: Mapping[str, Any], problem: Problem) -> Any:
    """The array of a name or a formula, of the arrays by name; random numbers are those that the
    problem has. Raises GradcliError.
    """
    if formula in values:
        return values[formula]
    node, evaluate = _readable(formula, values, problem)
    return np.asarray(evaluate(node)[0])


def node_of(formula: str, problem: Problem) -> Node:
    """A formula as graph, of the nodes that have names in a problem. Raises GradcliError."""
    scope = problem.constants | problem.scope | {problem.out_name: problem.out}
    scope |= {problem.seed.name: problem.seed.node}
    values, limits = problem.values, problem.limits
    return as_node(Builder(_read(formula), scope, values=values, limits=limits).run())


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


# ---- all trials of a problem ---------------------------------------------------------------------


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


# ---- formulas that pass them ---------------------------------------------------------------------


def tried_out(
    problem: Problem, at: Iterable[Trial], result: Mapping[str, tree.Tree]
) -> dict[str, tree.Tree]:
    """Of the formulas by name of the input those that have the gradient's value `at` some trials,
    wherever it can be computed, and at numbers below 0.
    """
    tried, below = list(at), list(signed(problem))
    holding = {}
    for name, f in result.items():
        text = tree.text(f)
        holds = not tried or any(trial.holds(text, name) for trial in tried)
        if holds and not any(trial.fails(text, name) for trial in (*tried, *below)):
            holding[name] = f
    return holding


class Reach:
    """How far formulas hold, which are texts by name of the input."""

    def __init__(self, formulas: Mapping[str, str], trials: Trials):
        self.formulas, self.trials = formulas, trials

    @cached_property
    def only_here(self) -> dict[str, str]:
        """Those that fail at sizes other than the problem's."""
        at = self.trials.elsewhere if self.formulas else ()
        return {n: f for n, f in self.formulas.items() if any(t.fails(f, n) for t in at)}

    @cached_property
    def extents(self) -> dict[str, str]:
        """How far each of these holds."""
        at = self.trials.elsewhere
        return {name: _extent(at, f, name) for name, f in self.only_here.items()}

    @cached_property
    def undefined(self) -> dict[str, str]:
        """For which random values formulas have no number, where the gradient has one."""
        result = {name: undefined(self._tried(name), f, name) for name, f in self.formulas.items()}
        return {name: where for name, where in result.items() if where is not None}

    def _tried(self, name: str) -> list[Trial]:
        return self.trials.here if name in self.only_here else self.trials.signed


def _extent(at: Iterable[Trial], formula: str, name: str) -> str:
    """How far a formula holds that fails at some trials: where no size is 1 ("above-one"), where
    matrices are square that are so as a rule ("square"), where sizes are all equal ("equal"), or
    equal or larger as those given ("alike"), at some others ("some"), or "here".
    """
    plain = [trial for trial in at if not trial.squeezed]
    failing = [trial for trial in plain if trial.fails(formula, name)]
    if not failing:
        return "above-one"
    if all(different_sides(trial.problem.roots) for trial in failing):
        return "square"
    alike = [trial for trial in plain if trial.sizes_alike]
    if not any(trial.tells(name) for trial in alike) or any(trial in failing for trial in alike):
        others = (t for t in plain if t.problem.shapes != t.origin[0].shapes and t.tells(name))
        return "some" if any(t.holds(formula, name) for t in others) else "here"
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
