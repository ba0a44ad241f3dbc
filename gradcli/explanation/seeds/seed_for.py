"""The seed that produces a target gradient, other such seeds, or the reasons why there is none."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from ...backends.numeric import Evaluator
from ...errors import GradcliError
from ...graphs import value_inputs, walk
from ...graphs.shapes import multi_index
from ...language.problem import Input, Problem
from ...lazy import np
from ...limits import hint
from ...notation.tree import Attribute, Indexed, Name, Number, Tree
from ..analysis import Analysis
from ..formulas.trial_values import random_values
from ..in_pytorch.kinks import kinks_hit
from ..phrases import label, listed
from .least_norm import Equations, in_proportion

SHOWN = 3  # number of free directions, and of obstacles, that are shown
TRIALS = (float("nan"), -7.3, -0.6, 0.4, 1.7, 8.9)  # values that are tried for an element
COPIES = 6  # copies of the Jacobian that are in memory at the same time
STEP = 1e-6  # the step of a finite difference


class Term(NamedTuple):
    """A factor, and the element of the input `x` with the flat index `flat`."""

    factor: float
    x: Input
    flat: int

    @property
    def written(self) -> Tree:
        """The name of the element, such as `x.grad[0,1]`."""
        return self.at(Attribute(Name(self.x.name), "grad"))

    def at(self, base: Tree) -> Tree:
        """The element of `base` at the same index."""
        index = multi_index(self.flat, self.x.shape)
        return Indexed(base, tuple(map(Number, index))) if index else base


class Obstacle(NamedTuple):
    """A linear combination of elements of gradients that is 0 for every seed, while its value for
    the target, `wanted`, is not 0.
    """

    terms: tuple[Term, ...]
    wanted: float


class SeedFor:
    """The seed of least norm whose gradients are the targets, or nearest to them."""

    def __init__(self, problem: Problem, targets: Mapping[str, Any]):
        self.a = Analysis(_with_stand_ins(problem))
        self.p, self.targets = self.a.problem, targets
        self.target = np.concatenate([np.ravel(targets[x.name]) for x in self.p.wrt])
        with np.errstate(all="ignore"):
            self.equations = Equations(self.jacobian, self.target, self.p.limits)
            finite = np.all(np.isfinite(self.equations.g))
        if not finite:
            message = "the seed would overflow: it needs numbers above the largest float"
            raise GradcliError("value", message)

    @cached_property
    def jacobian(self) -> Any:
        """The Jacobians of all inputs that have a target, concatenated along columns."""
        out = self.p.out
        columns = sum(x.node.numel for x in self.p.wrt)
        what = f"the Jacobian of shape {(out.numel, columns)}"
        self.p.limits.check("elements", out.numel * columns, what)
        self.p.limits.check("memory", COPIES * 8 * out.numel * columns, f"{what} and its parts")
        result = np.hstack(self._matrices())
        odd = np.argwhere(~np.isfinite(result))
        if len(odd):
            row, column = map(int, odd[0])
            x, flat = self._element(column)
            of, wrt = label(self.p.out_name, out.shape, row), label(x.name, x.shape, flat)
            message = (
                f"the derivative of {of} with respect to {wrt} is {result[row, column]}, so no "
                "seed can be computed"
            )
            raise GradcliError("value", message, hint="give other values")
        return result

    def _matrices(self) -> list[Any]:
        """The Jacobian of each input. Raises GradcliError ("limit") if they take too long."""
        result, limits = list[Any](), self.p.limits

        def compute() -> None:
            result.extend(self.a.jacobian(x).matrix for x in self.p.wrt)

        def refuse() -> NoReturn:
            rows, seconds = self.p.out.numel, limits.sizes["seconds"]
            message = f"{rows:,} rows of a Jacobian take more than {seconds:,} seconds"
            raise GradcliError("limit", message, hint=hint("seconds"))

        limits.budget.compute(compute, refuse)
        return result

    def _element(self, column: int) -> tuple[Input, int]:
        """The input of a column, and the flat index of its element."""
        for x in self.p.wrt:
            if column < x.node.numel:
                return x, column
            column -= x.node.numel
        raise AssertionError

    # ---- the seed --------------------------------------------------------------------------------

    @property
    def seed(self) -> Any:
        """The seed as an array, in the shape of the output."""
        return self.equations.g.reshape(self.p.out.shape)

    @property
    def exact(self) -> Any:
        """The seed as strings such as 2/3, or None if its elements are not small fractions."""
        result = self.equations.exact
        if result is None or all(f.denominator == 1 for f in result):
            return None
        return np.array([_fraction_text(f) for f in result], object).reshape(self.p.out.shape)

    @cached_property
    def grads(self) -> dict[str, Any]:
        """The VJP of this seed, by input."""
        values = {**self.p.values, self.p.seed.node: self.seed}
        evaluate = Evaluator(values, limits=self.p.limits)
        grads = {x.name: (self.a.gradient(x), x.shape) for x in self.p.wrt}
        return {
            name: np.zeros(shape) if grad is None else evaluate(grad)[0]
            for name, (grad, shape) in grads.items()
        }

    @property
    def residuals(self) -> dict[str, Any]:
        """The differences of the gradients from the targets."""
        return {name: grad - self.targets[name] for name, grad in self.grads.items()}

    @property
    def max_error(self) -> float:
        """The largest residual."""
        return max(float(np.max(np.abs(r), initial=0.0)) for r in self.residuals.values())

    @property
    def distance(self) -> float:
        """The Euclidean norm of the residuals."""
        off = np.concatenate([np.ravel(r) for r in self.residuals.values()])
        unit = self.max_error or 1.0
        return float(unit * np.sqrt(np.sum((off / unit) ** 2)))

    @property
    def possible(self) -> bool:
        """Whether a seed produces the targets."""
        return self.equations.solvable

    @property
    def accurate(self) -> bool:
        """Whether the residuals are due to rounding only."""
        off = np.concatenate([np.ravel(r) for r in self.residuals.values()])
        with np.errstate(all="ignore"):
            summed = np.abs(self.equations.g) @ np.abs(self.jacobian)
        return bool(np.all(np.abs(off) <= 1e-9 * np.abs(self.target) + 1e-12 * summed))

    # ---- other seeds -----------------------------------------------------------------------------

    @property
    def freedom(self) -> int:
        """The dimension of the space of seeds whose gradients are zero."""
        return len(self.equations.free)

    def directions(self, most: int) -> Any:
        """The first basis vectors of this space, each in the shape of the output."""
        free = self.equations.free
        rows = [in_proportion(free.vector(k)) for k in range(min(most, len(free)))]
        return np.array(rows).reshape(len(rows), *self.p.out.shape)

    # ---- obstacles -------------------------------------------------------------------------------

    @cached_property
    def _broken(self) -> list[int]:
        """The ties that the target violates; only one for an input to which no gradient flows."""
        result, seen = [], set()
        for k in self.equations.broken:
            x, _ = self._element(int(self.equations.ties.others[k]))
            if x.name not in seen:
                result.append(int(k))
            if self.a.gradient(x) is None:
                seen.add(x.name)
        return result

    @property
    def count_of_obstacles(self) -> int:
        """The number of independent obstacles."""
        return len(self._broken)

    def obstacles(self, most: int) -> list[Obstacle]:
        """The first obstacles, the shortest first; empty if there is a seed."""
        return [self._obstacle(self.equations.tie(k)) for k in self._broken[:most]]

    def _obstacle(self, row: Any) -> Obstacle:
        places = [int(k) for k in np.flatnonzero(row)]
        terms = tuple(Term(float(row[k]), *self._element(k)) for k in places)
        return Obstacle(terms, float(row @ self.target))

    def depends(self, term: Term) -> bool:
        """Whether the output depends on an element, at several trial values."""
        usual, changed = self._moving(term)
        return any(not np.array_equal(changed(t), usual, equal_nan=True) for t in TRIALS)

    def is_at_kink(self, term: Term) -> bool:
        """Whether the output has a nonzero one-sided slope at an element where the gradient is 0 by
        convention.
        """
        if not kinks_hit(self.a):
            return False
        usual, changed = self._moving(term)
        here = float(np.ravel(self.p.values[term.x.node])[term.flat])
        slopes = [(changed(here + step) - usual) / step for step in (-STEP, STEP)]
        return bool(np.any(np.abs(slopes) > 1e-3))

    def _moving(self, term: Term) -> tuple[Any, Callable[[float], Any]]:
        """The output, and the output as a function of one element."""
        values = random_values(self.p)
        known = {node: value for node, value in values.items() if node is not term.x.node}
        out = Evaluator(known, limits=self.p.limits).varying(self.p.out, term.x.node)
        here = np.asarray(values[term.x.node], float)

        def changed(number: float) -> Any:
            there = here.copy()
            there.flat[term.flat] = number
            return out(there)

        return out(here), changed


def _with_stand_ins(problem: Problem) -> Problem:
    """The problem with zeros for missing values that the gradients do not depend on."""
    grads = Analysis(problem).gradients.of.values()
    order = walk([g for g in grads if g is not None], value_inputs)
    valued = {*problem.values, problem.seed.node}
    missing = [n.attrs["name"] for n in order if n.op.name == "input" and n not in valued]
    if missing:
        has = "it has" if len(missing) == 1 else "they have"
        raise GradcliError(
            "needs-value",
            f"the Jacobian depends on {listed(sorted(missing))}, but {has} no value",
            hint=f"give numbers: -v {missing[0]}=[...]",
        )
    inputs = {
        name: x._replace(value=np.zeros(x.shape)) if x.value is None else x
        for name, x in problem.inputs.items()
    }
    return problem._replace(inputs=inputs, wrt=[inputs[x.name] for x in problem.wrt])


def _fraction_text(f: Fraction) -> str:
    return str(f.numerator) if f.denominator == 1 else f"{f.numerator}/{f.denominator}"
