"""A problem at other sizes, with the numbers that formulas have there."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import Any

from ...autodiff.reverse import backward
from ...backends.numeric import Evaluator
from ...errors import EXPRESSION, GradcliError
from ...graphs import OPS, Node, as_node, walk
from ...graphs.shapes import Shape
from ...language.building.build import Builder
from ...language.general import at_shapes
from ...language.given.assumptions import made
from ...language.problem import Input, Problem
from ...language.program import Program, read_again
from ...lazy import np
from ..checking.symmetric import kept_symmetric, symmetrized
from ..checking.well_conditioned import is_well_conditioned, perturbed
from ..random_numbers import Numbers
from .posed_again import posed_again

MOST = 200_000  # elements of the tensors that a formula is tried out on
CLOSE = 1e-6
DRAWS = 4  # of random numbers, until outputs are finite
ZERO = 1e-30  # less is rounding: the numbers are drawn from about 1
SINGULAR = 1e12  # a larger condition number is that of a singular matrix, but for rounding
INVERSES = ("inv", "solve")


class Trial:
    """A problem at other sizes with random numbers, for formulas to be tried out on: above 0, or
    `signed`.
    """

    def __init__(self, problem: Problem, shapes: dict[str, Shape], signed: bool = False):
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
        self._arrays: dict[str, Any] = {}  # of the formulas that were asked for

    def holds(self, formula: str, name: str) -> bool:
        """Whether a formula has the value of the gradient of the input `name`."""
        with suppress(GradcliError), np.errstate(all="ignore"):
            expected, result = self.expected(name), self.array(formula)
            return (
                expected is not None
                and result.shape == expected.shape
                and np.allclose(result, expected, rtol=CLOSE, atol=CLOSE, equal_nan=True)
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
        return ranks(self.problem) != ranks(self.origin[0])

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
        return bool(np.all(np.isfinite(out))) and (vanishes or is_well_conditioned(here, near))

    def contradicts(self, formula: str, name: str) -> bool:
        """Whether a formula has numbers that are not those of the gradient of the input `name`; nan
        and infinity are none.
        """
        if not self.fails(formula, name):
            return False
        with suppress(GradcliError), np.errstate(all="ignore"):
            result, expected = self.array(formula), self.expected(name)
            at = np.isfinite(result)
            return result.shape != expected.shape or not np.allclose(
                result[at], expected[at], rtol=CLOSE, atol=CLOSE
            )
        return True

    def without_number(self, formula: str, name: str) -> Any:
        """Where a formula is nan or infinite, and the gradient of the input `name` is not."""
        with suppress(GradcliError), np.errstate(all="ignore"):
            return np.isfinite(self.expected(name)) & ~np.isfinite(self.array(formula))
        return np.False_

    def cannot_read(self, formula: str) -> bool:
        """Whether a text in a formula, as `randn(3)`, means two draws of the program."""
        return not reads_one_draw(self.problem, formula)

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
