"""Numerical tests of formulas before they are shown.

The closed form of a gradient is derived at generic sizes, all different, and compared with the
gradient at random values at other, small sizes; if the program cannot have generic sizes, it is
derived at the user's. The result is compared at further sizes, to know whether it holds there.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property, lru_cache, partial
from itertools import islice, product
from typing import Any

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import EXPRESSION, GradcliError, if_applicable, result_or_error
from ...graphs import OPS, Node, as_node, downstream, walk
from ...graphs.shapes import GENERIC_SIZES, Shape
from ...language.arguments.assumptions import with_properties
from ...language.building.build import Builder
from ...language.generic_sizes import at_shapes, oblong_sizes
from ...language.inference.suggested_sizes import different_sides, unusual_sizes
from ...language.problem import Input, Problem
from ...language.program import Program, read_again
from ...lazy import np
from ...notation import tree
from ..checking.finite_differences import (
    is_well_conditioned,
    perturbed,
    symmetric_inputs,
    symmetrized,
)
from ..random_numbers import Numbers
from .other_sizes import adapted_shapes, other_shapes, posed_again, shapes_with_ones, untied_shapes
from .trial_values import in_ranges

MOST = 200_000  # largest number of elements of all tensors of a trial
MOST_BACK = 2_000_000  # largest number of elements of all tensors that a gradient depends on
CLOSE = 1e-6
DRAWS = 4  # draws of random numbers, until outputs are finite
ZERO = 1e-30  # smaller values are rounding errors: the random numbers are of order 1
SINGULAR = 1e12  # a matrix with a larger condition number counts as singular
INVERSES = ("inv", "solve")
SMALL = (3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)  # in place of GENERIC_SIZES
UNTIED = 12  # most trials at `untied_shapes`, where only products of sizes must be equal


class Trial:
    """A problem at other sizes with random values, at which formulas are tested; the values are
    positive unless `signed`.
    """

    @classmethod
    def at(cls, problem: Problem, shapes: dict[str, Shape], signed: bool = False) -> "Trial | None":
        """The trial at these shapes; None if the problem cannot be computed there."""
        return if_applicable(lambda: cls(problem, shapes, signed))

    def __init__(self, problem: Problem, shapes: dict[str, Shape], signed: bool = False):
        """Raises GradcliError if the problem cannot be computed at these shapes."""
        self.origin = problem, shapes
        p = posed_again(problem, lambda p: at_shapes(p, shapes))
        if p is None or sum(n.numel for n in walk(p.roots)) > MOST:
            raise GradcliError("limit", "too large to be tried out")
        self.problem = p
        self._use(*_finite_values(p, signed))

    def _use(self, given: dict[Node, Any], evaluate: Evaluator) -> None:
        p = self.problem
        self._given, self.evaluate = given, evaluate
        nodes = p.scope | {p.out_name: p.out, p.seed.name: p.seed.node}
        self.values = dict(zip(nodes, self.evaluate(*nodes.values()), strict=True))
        self._gradients: dict[str, Node | None] = {}  # by name of the input
        self._arrays: dict[str, Any] = {}  # of formulas, or the errors that they raise

    def at_zero(self, number: str) -> "Trial":
        """The same trial with the value 0 for an input that is a single number."""
        result = copy(self)
        given = self._given | {self.problem.inputs[number].node: np.zeros(())}
        result._use(given, Evaluator(given, limits=self.problem.limits))
        return result

    def holds(self, formula: str, name: str) -> bool:
        """Whether a formula has the value of the gradient of the input `name`."""
        expected, result = self.expected(name), self.array(formula)
        if expected is None or result is None or result.shape != expected.shape:
            return False
        with np.errstate(all="ignore"):
            close = np.allclose(result, expected, rtol=CLOSE, atol=CLOSE, equal_nan=True)
        return close and not self.inverts_singular(formula)

    def fails(self, formula: str, name: str) -> bool:
        """Whether a formula differs from the gradient; only by shape if not conclusive."""
        if self.holds(formula, name) or self.cannot_read(formula):
            return False
        return self.is_conclusive(name) or not self._fits(formula, name)

    def _fits(self, formula: str, name: str) -> bool:
        """Whether a formula has the shape of the gradient of an input, or () if there is none."""
        value = self.expected(name)
        if value is None:
            return True
        shape = () if self._gradient(name) is None else value.shape
        result = self._result(formula)
        if isinstance(result, GradcliError):
            return result.code != "shape"
        return result.shape == shape

    def expected(self, name: str) -> Any:
        """The value of a gradient, zeros if none flows; None if it cannot be computed."""
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
            grad = backward(p.out, p.seed.node, [x]).of[x]
            if grad is not None and sum(n.numel for n in walk([grad])) > MOST_BACK:
                raise GradcliError("limit", "too large to be tried out")
            self._gradients[name] = grad
        return self._gradients[name]

    @property
    def squeezed(self) -> bool:
        """Whether nodes have other ranks here than at the original sizes, as after squeeze()."""
        return ranks(self.problem) != ranks(self.origin[0])

    @property
    def has_same_size_order(self) -> bool:
        """Whether sizes compare here as they do in the problem: equal, smaller or larger."""
        problem, shapes = self.origin
        pairs = [p for i in problem.inputs.values() for p in zip(i.shape, shapes[i.name])]
        return all((a < b) == (c < d) for (a, c), (b, d) in product(pairs, pairs))

    def is_conclusive(self, name: str) -> bool:
        """Whether the output is finite here, and the gradient is well conditioned or zero."""
        return if_applicable(lambda: self._is_conclusive(name)) is True

    def _is_conclusive(self, name: str) -> bool:
        p, grad = self.problem, self._gradient(name)
        if grad is None:
            return False
        out, here = self.evaluate(p.out, grad)
        floats = [i.node for i in p.inputs.values() if i.node.dtype == "float"]
        (near,) = Evaluator(perturbed(self._given, floats), limits=p.limits)(grad)
        vanishes = bool(np.all(np.abs(here) < ZERO))
        return bool(np.all(np.isfinite(out))) and (vanishes or is_well_conditioned(here, near))

    def contradicts(self, formula: str, name: str) -> bool:
        """Whether a formula differs from the gradient of the input `name` where it is finite."""
        if not self.fails(formula, name):
            return False
        result, expected = self.array(formula), self.expected(name)
        if result is None or expected is None or result.shape != expected.shape:
            return True
        at = np.isfinite(result)
        with np.errstate(all="ignore"):
            return not np.allclose(result[at], expected[at], rtol=CLOSE, atol=CLOSE)

    def without_number(self, formula: str, name: str) -> Any:
        """A mask of where a formula is nan and the gradient of `name` is not, or the formula is
        infinite and the gradient finite.
        """
        expected, result = self.expected(name), self.array(formula)
        if expected is None or result is None or np.shape(expected) != np.shape(result):
            return np.False_
        nan = np.isnan(result) & ~np.isnan(expected)
        return nan | (np.isinf(result) & np.isfinite(expected))

    def has_pole(self, formula: str, number: str) -> bool:
        """Whether an operation of a formula is infinite where an operand is 0 that depends on the
        input `number`.
        """
        node = if_applicable(lambda: node_of(formula, self.problem))
        if node is None:
            return False
        dependent = downstream(walk([node]), [self.problem.inputs[number].node])
        own = dependent.difference(walk(self.problem.roots))
        operands = (x for n in own for x in n.op.inputs_with_poles(n).values())
        return any(x in dependent for x in operands)

    def cannot_read(self, formula: str) -> bool:
        """Whether a call such as `randn(3)` may mean either of two draws of the program."""
        return not reads_one_draw(self.problem, formula)

    def array(self, formula: str) -> Any:
        """The array of a name or a formula; None if it cannot be computed."""
        return if_applicable(lambda: self.computed(formula))

    def computed(self, formula: str) -> Any:
        """The array of a name or a formula. Raises GradcliError if it cannot be computed."""
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
        """Whether a formula contains the inverse of a numerically singular matrix."""
        if not any(f"{name}(" in formula for name in INVERSES):
            return False
        node, evaluate = _readable(formula, self.values, self.problem)
        matrices = [n.parents[0] for n in walk([node]) if n.op.name in INVERSES]
        return any(map(_is_singular, evaluate(*matrices)))


def _finite_values(p: Problem, signed: bool) -> tuple[dict[Node, Any], Evaluator]:
    """Random values for inputs and the seed, and an evaluator for them: the first draw at which all
    outputs are finite, or the first draw if there is none. logdet(K + s), for example, is nan for a
    negative determinant. If `signed`, outputs may be infinite, as 1 / relu(x) is.
    """
    holds = (lambda out: ~np.isnan(out)) if signed else np.isfinite
    first = None
    for values in _draws(p, signed):
        drawn = values, Evaluator(values, limits=p.limits)
        first = first or drawn
        with np.errstate(all="ignore"):
            outs = drawn[1](*(q.out for q in p.orders))
        if all(np.all(holds(out)) for out in outs):
            return drawn
    assert first is not None
    return first


def _draws(p: Problem, signed: bool) -> Iterator[dict[Node, Any]]:
    """Random values of all inputs in one range, a few times, then in different ranges."""
    for k in range(DRAWS):
        yield _random_values(p, signed, k)
    free = [] if signed else [i for i in p.inputs.values() if i.value is None]
    values = _random_values(p, signed, 0) if free else {}
    for other in in_ranges(free, draw=0, assumed=True) if free else ():
        yield values | _symmetrized(other, p)


def _random_values(p: Problem, signed: bool, k: int) -> dict[Node, Any]:
    """The random values of draw `k`."""
    draw = Numbers(k)
    values = {i.node: _value(draw, i) for i in p.inputs.values()}
    if signed:
        without_value = [i.node for i in p.inputs.values() if i.value is None]
        free = [n for n in without_value if n.dtype == "float" and not n.attrs["known"]]
        values |= {n: values[n] * np.sign(draw.normal(n.shape)) for n in free}
    values = _symmetrized(values, p)
    one = p.seed.implicit and p.out.numel == 1
    values[p.seed.node] = np.ones(p.out.shape) if one else draw.uniform(0.5, 1.5, p.out.shape)
    return values


def _symmetrized(values: dict[Node, Any], p: Problem) -> dict[Node, Any]:
    """The values, with symmetric matrices for the inputs that must be symmetric."""
    symmetric = (x for x in symmetric_inputs(p.out) if x in values)
    return values | {x: symmetrized(values[x]) for x in symmetric}


def reads_one_draw(problem: Problem, formula: str) -> bool:
    """Whether each call in a formula, such as `randn(3)`, means a single draw of the program."""
    by_text: dict[str, Any] = {}
    return all(
        np.array_equal(by_text.setdefault(data.text, data.value), data.value)
        or data.text not in formula
        for data in _tensors(problem)
    )


def ranks(problem: Problem) -> list[int]:
    """The number of dimensions of every node."""
    return [n.ndim for n in walk([problem.out])]


def value_of(formula: str, values: Mapping[str, Any], problem: Problem) -> Any:
    """The array of a name or a formula, given arrays by name; random numbers are those of the
    problem. Raises GradcliError.
    """
    if formula in values:
        return values[formula]
    node, evaluate = _readable(formula, values, problem)
    return np.asarray(evaluate(node)[0])


def node_of(formula: str, problem: Problem) -> Node:
    """A formula as a graph over the named nodes of a problem. Raises GradcliError."""
    scope = problem.constants | problem.scope | {problem.out_name: problem.out}
    scope |= {problem.seed.name: problem.seed.node}
    values, limits = problem.values, problem.limits
    return as_node(Builder(_read(formula), scope, values=values, limits=limits).run())


def _readable(formula: str, values: Mapping[str, Any], problem: Problem) -> tuple[Node, Evaluator]:
    """A formula over arrays by name as a graph, and an evaluator that has these arrays."""
    inputs: dict[str, Node] = {}
    arrays: dict[Node, Any] = {}
    for name, value in values.items():
        if name not in formula:
            continue
        dtype = {"i": "int", "b": "bool"}.get(value.dtype.kind, "float")
        inputs[name] = OPS["input"](name=name, shape=value.shape, dtype=dtype)
        arrays[inputs[name]] = value
    limits = problem.limits
    random_tensors = {data.text: data for data in _tensors(problem)}
    scope: dict[str, Any] = {n: v for n, v in problem.constants.items() if isinstance(v, tuple)}
    builder = Builder(
        _read(formula), scope | inputs, values=arrays, limits=limits, drawn=random_tensors
    )
    return as_node(builder.run()), Evaluator(arrays, limits=limits)


@lru_cache(maxsize=32)
def _read(formula: str) -> Program:
    """A formula as a parsed program; cached, because it is tested at several sizes."""
    return read_again(formula, EXPRESSION)


def _is_singular(x: Any) -> bool:
    return x.size > 0 and bool(np.isfinite(x).all() and np.any(np.linalg.cond(x) > SINGULAR))


def _tensors(problem: Problem) -> list[Any]:
    """The arrays, with their source texts, that a program contains or draws at random."""
    return [n.attrs["data"] for n in walk(problem.roots) if n.op is OPS["tensor"]]


def _value(draw: Any, x: Input) -> Any:
    """The value of an input, or a random one that satisfies the assumptions on it."""
    if x.value is not None:
        return x.value
    return with_properties(x.node.attrs["known"], draw.uniform(0.2, 0.9, x.shape))


# ---- all trials of a problem ---------------------------------------------------------------------


class Trials:
    """The trials of a problem, and of the problem at `generic` sizes if it has such; cached."""

    def __init__(self, problem: Problem, generic: Problem | None):
        self.problem, self.generic = problem, generic

    @cached_property
    def first(self) -> list[Trial]:
        """The trials that a formula must pass: at small sizes, if it was derived at generic sizes,
        and at the problem's own sizes.
        """
        problem, own = self.generic or self.problem, self.problem.shapes
        small = own if self.generic is None else _small(self.generic)
        return [t for s in ([own] if small == own else [small, own]) for t in _computed(problem, s)]

    @cached_property
    def here(self) -> list[Trial]:
        """The trials at the problem's own sizes, and those of `signed`."""
        return [*_computed(self.problem, self.problem.shapes), *self.signed]

    @cached_property
    def signed(self) -> list[Trial]:
        """The trials with values of both signs, if the program branches on values."""
        return _signed(self.problem)

    @cached_property
    def generic_signed(self) -> list[Trial]:
        """The trials with values of both signs of the problem at generic sizes. They are the trials
        of `signed` if they have the same small sizes.
        """
        generic = self.generic
        if generic is None or _small(generic) == _small(self.problem):
            return self.signed
        return _signed(generic)

    @cached_property
    def elsewhere(self) -> list[Trial]:
        """The trials at sizes other than the problem's."""
        return list(_at_other_sizes(self.problem, self.generic))


def _signed(problem: Problem) -> list[Trial]:
    """A trial at small sizes with values of both signs, if the program branches on values."""
    chooses = any(n.dtype == "bool" or n.op.kink is not None for n in walk(problem.roots))
    return _computed(problem, _small(problem), signed=True) if chooses else []


def _computed(problem: Problem, shapes: dict[str, Shape], signed: bool = False) -> list[Trial]:
    """A list of the trial at these shapes; empty if it cannot be computed."""
    trial = Trial.at(problem, shapes, signed)
    return [] if trial is None else [trial]


def _at_other_sizes(problem: Problem, generic: Problem | None) -> Iterator[Trial]:
    """Trials at other sizes that the program accepts, without additional broadcasting, and with
    equal sizes where operators usually require it. Sizes of the `generic` problem are known to be
    compatible.
    """
    built: dict[tuple[Shape, ...], Trial | None] = {}
    narrow, unusual = _narrow(problem), bool(unusual_sizes(problem.roots))

    def is_comparable(other: Problem) -> bool:
        return _narrow(other) <= narrow and (unusual or not unusual_sizes(other.roots))

    def trial(shapes: dict[str, Shape]) -> Trial | None:
        key = tuple(shapes.values())
        if key not in built:
            result = Trial.at(problem, shapes)
            built[key] = result if result is not None and is_comparable(result.problem) else None
        return built[key]

    falling = [] if generic is None else [_small(generic, falling=True)]
    untied = untied_shapes(problem, lambda shapes: trial(shapes) is not None)
    for shapes in (*falling, *other_shapes(problem), *islice(untied, UNTIED)):
        result = trial(shapes)
        if result is not None:
            yield result
    yield from _with_larger_size(problem, generic)
    if generic is not None:
        yield from _squeezed(problem, _small(generic))
    sides = oblong_sizes(problem) if problem.lower_order is None else None
    if sides is not None:
        yield from _computed(problem, _small(sides))


def _with_larger_size(problem: Problem, generic: Problem | None) -> Iterator[Trial]:
    """Trials in which one size is larger than given, and sizes that depend on it are adapted."""
    of = {} if generic is None else generic.shapes
    if of and all(n < GENERIC_SIZES[0] or _is_multiple(n) for shape in of.values() for n in shape):
        return

    def fit(shapes: dict[str, Shape]) -> Trial | Exception:
        return result_or_error(lambda: Trial(problem, shapes))

    yield from adapted_shapes(problem.shapes, fit)


def _is_multiple(n: int) -> bool:
    """Whether a size is a generic size times a small integer."""
    return any(n % t == 0 and n // t < GENERIC_SIZES[0] for t in GENERIC_SIZES)


def _squeezed(problem: Problem, small: dict[str, Shape]) -> Iterator[Trial]:
    """Trials in which a size is 1 and nodes lose a dimension, as in squeeze() and cov(x)."""
    for shapes in shapes_with_ones(small):
        pose = partial(at_shapes, shapes=shapes)
        result = if_applicable(partial(posed_again, problem, pose))
        if result is not None and ranks(result) != ranks(problem):
            yield from _computed(problem, shapes)


def _narrow(problem: Problem) -> int:
    """The number of dimensions of size 0 or 1, over all nodes."""
    return sum(size <= 1 for n in walk([problem.out]) for size in n.shape)


def _small(problem: Problem, falling: bool = False) -> dict[str, Shape]:
    """Shapes with small sizes for generic ones; with `falling`, larger ones become smaller."""
    inputs = problem.inputs.values()
    met = [t for t in GENERIC_SIZES if any(n % t == 0 for i in inputs for n in i.shape)]
    small = dict(zip(met[::-1] if falling else GENERIC_SIZES, SMALL))

    def smaller(n: int) -> int:
        for t in met if n else ():
            while n % t == 0:
                n = n // t * small[t]
        return n

    return {i.name: tuple(map(smaller, i.shape)) for i in inputs}


# ---- formulas that pass them ---------------------------------------------------------------------


def formulas_that_pass(trials: Trials, result: Mapping[str, tree.Tree]) -> dict[str, tree.Tree]:
    """The formulas, by name of the input, that passed their tests: each equals the gradient in at
    least one of the first trials, and fails neither in these nor at values of both signs.
    """
    tried, below = trials.first, trials.generic_signed
    holding = {}
    for name, f in result.items():
        text = tree.text(f)
        holds = not tried or any(trial.holds(text, name) for trial in tried)
        if holds and not any(trial.fails(text, name) for trial in (*tried, *below)):
            holding[name] = f
    return holding


class Reach:
    """The sizes and values for which formulas hold; `formulas` are texts by name of the input,
    `numbers` the names of inputs that are single numbers and may be 0.
    """

    def __init__(self, formulas: Mapping[str, str], trials: Trials, numbers: Collection[str] = ()):
        self.formulas, self.trials, self.numbers = formulas, trials, numbers

    @cached_property
    def failing_elsewhere(self) -> dict[str, str]:
        """The formulas that fail at other sizes than the problem's."""
        at = self.trials.elsewhere if self.formulas else ()
        return {n: f for n, f in self.formulas.items() if any(t.fails(f, n) for t in at)}

    @cached_property
    def extents(self) -> dict[str, str]:
        """For each formula of `failing_elsewhere`, the sizes for which it holds (see `_extent`)."""
        at = self.trials.elsewhere
        return {name: _extent(at, f, name) for name, f in self.failing_elsewhere.items()}

    @cached_property
    def undefined(self) -> dict[str, str]:
        """By input name, the values for which a formula is not finite while the gradient is."""
        result = {
            name: undefined(self._trials_for(name), f, name) for name, f in self.formulas.items()
        }
        return {name: where for name, where in result.items() if where is not None}

    @cached_property
    def undefined_at_zero(self) -> dict[str, list[str]]:
        """By input name, the numbers at whose 0 a formula is not finite while the gradient is (see
        `Trial.without_number`).
        """
        result: dict[str, list[str]] = {}
        for trial, number in product(self.trials.first[:1], self.numbers):
            for name in self._undefined_at_zero(trial, number):
                result.setdefault(name, []).append(number)
        return result

    def _undefined_at_zero(self, trial: Trial, number: str) -> list[str]:
        with_pole = {n: f for n, f in self.formulas.items() if trial.has_pole(f, number)}
        with np.errstate(all="ignore"):
            at_zero = if_applicable(partial(trial.at_zero, number)) if with_pole else None
            if at_zero is None:
                return []
            return [n for n, f in with_pole.items() if np.any(at_zero.without_number(f, n))]

    def _trials_for(self, name: str) -> list[Trial]:
        return self.trials.here if name in self.failing_elsewhere else self.trials.signed


def _extent(at: Iterable[Trial], formula: str, name: str) -> str:
    """The extent of a formula that fails in some trials: it holds if no size is 1 ("above-one"), if
    usually square matrices are square ("square"), if all sizes are equal ("equal"), if sizes
    compare as the given ones ("alike"), at some other sizes ("some"), or only at the given ones
    ("here").
    """
    plain = [trial for trial in at if not trial.squeezed]
    failing = [trial for trial in plain if trial.fails(formula, name)]
    if not failing:
        return "above-one"
    if all(different_sides(trial.problem.roots) for trial in failing):
        return "square"
    same_order = [trial for trial in plain if trial.has_same_size_order]
    fails = any(trial in failing for trial in same_order)
    if fails or not any(trial.is_conclusive(name) for trial in same_order):
        elsewhere = (
            t for t in plain if t.problem.shapes != t.origin[0].shapes and t.is_conclusive(name)
        )
        return "some" if any(t.holds(formula, name) for t in elsewhere) else "here"
    sizes = {n for i in same_order[0].origin[0].inputs.values() for n in i.shape}
    return "equal" if len(sizes) == 1 else "alike"


def undefined(at: Iterable[Trial], formula: str, name: str) -> str | None:
    """When a formula is not finite while the gradient is, in words; None if never."""
    masks = [trial.without_number(formula, name) for trial in at]
    if not any(map(np.any, masks)):
        return None
    return "whatever the values are" if all(map(np.all, masks)) else "for some values"
