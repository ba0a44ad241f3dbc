"""The test whether an expression may replace the original: it must be finite at the given values,
and have the same value and gradient elsewhere.
"""

import re
from functools import partial
from typing import Any

from ....autodiff.reverse import backward
from ....backends.numeric import Evaluator
from ....errors import GradcliError, if_applicable
from ....language.posing import pose
from ....language.problem import Problem
from ....lazy import np
from ...analysis import Analysis
from ...checking.rounding import LONGER

UNFIT = (GradcliError, TypeError)  # LAPACK raises TypeError for long doubles
NAME = re.compile(r"[^\W\d]\w*")
CLOSE = 1e-9
RANGES = (
    *((0.01, 2.0), (-2.0, 2.0), (0.05, 0.95), (-0.6, 0.6), (0.5, 4.0), (-30.0, 30.0)),
    *((0.1, 0.3), (-0.2, 0.0)),
)
STEP = 1e-5  # step of difference quotients
NEAR = 1e-6  # the distance at which limits are evaluated
AGREES = 1e-3  # relative tolerance of limits and slopes


class Numbers:
    """A problem as a function from the values of its inputs to its output and its gradients."""

    def __init__(self, problem: Problem, names: list[str], seed: Any):
        self.p, self.seed = problem, seed
        self.nodes = [problem.inputs[name].node for name in names]
        of = backward(problem.out, problem.seed.node, self.nodes).of
        self.names, self.grads = names, [of[n] for n in self.nodes]

    def __call__(self, values: dict[str, Any], dtype: str = "float64") -> tuple[Any, list[Any]]:
        """Output and gradients at values by name; absent gradients are zeros."""
        arrays = {x.node: values[name] for name, x in self.p.inputs.items()}
        arrays[self.p.seed.node] = self.seed
        floats = {n: v.astype(dtype) if v.dtype.kind == "f" else v for n, v in arrays.items()}
        evaluator = Evaluator(floats, dtype=dtype, limits=self.p.limits)
        (out,) = evaluator(self.p.out)
        grads = [
            np.zeros(n.shape) if g is None else evaluator(g)[0]
            for n, g in zip(self.nodes, self.grads)
        ]
        return out, grads

    def out(self, values: dict[str, Any]) -> Any:
        """The output at `values`, without gradients."""
        arrays = {x.node: values[name] for name, x in self.p.inputs.items()}
        return Evaluator(arrays, limits=self.p.limits)(self.p.out)[0]


class Verifier:
    """Compares candidate expressions with the expression of a problem, the original."""

    def __init__(self, a: Analysis):
        p = a.problem
        self.p = p
        self.names = [x.name for x in p.wrt]
        self.values = {name: np.asarray(x.value) for name, x in p.inputs.items()}
        value = p.seed.value
        self.seed = np.ones(p.out.shape) if value is None else a.value(value)
        self.original = Numbers(p, self.names, self.seed)
        with np.errstate(all="ignore"):
            self.at_values = self.original(self.values)
            self.at_other_points = self._at_other_points()

    def _at_other_points(self) -> list[tuple[dict[str, Any], Any]]:
        """Points with other values of the inputs in `wrt`, each with output and gradients of the
        original.

        If the output is not finite at any of them, for example because a mask is empty, the values
        of other inputs are changed, too.
        """
        floats = [n for n, v in self.values.items() if v.dtype.kind == "f"]
        masks = [n for n, v in self.values.items() if v.dtype.kind == "b"]
        for names in (self.names, floats, [*floats, *masks]):
            result = [(v, self._reliable_result(v)) for v in self._points(names)]
            if any(e is not None and np.all(np.isfinite(e[0])) for _, e in result):
                break
        return result

    def _reliable_result(self, values: dict[str, Any]) -> Any:
        """The output and gradients of the original at other values; None if they cannot be
        computed, or not without large rounding errors.
        """
        result = if_applicable(lambda: self.original(values))
        if result is None:
            return None
        longer = if_applicable(lambda: self.original(values, LONGER["float64"]), UNFIT)
        if longer is None:
            return result
        pairs = zip([result[0], *result[1]], [longer[0], *longer[1]])
        return result if all(_same_digits(a, b) for a, b in pairs) else None

    def _points(self, names: list[str]) -> list[dict[str, Any]]:
        """Values for all inputs: random ones, from several ranges, for `names`, and the given ones
        for others.
        """
        rng = np.random.default_rng(7)

        def random_value(name: str, low: float, high: float) -> Any:
            value = self.values[name]
            drawn = rng.uniform(low, high, size=value.shape)
            return drawn > (low + high) / 2 if value.dtype.kind == "b" else drawn

        return [
            self.values | {n: random_value(n, low, high) for n in names}
            for low, high in RANGES
            for _ in range(2)
        ]

    def read(self, text: str) -> Numbers | None:
        """The expression `text` as Numbers of the same inputs; None if it is not valid."""
        named = set(NAME.findall(text))
        values = {n: v for n, v in self.values.items() if n in named}
        posed = partial(pose, text, values=values, grad=self.seed, wrt=self.names)
        with np.errstate(all="ignore"):
            p = if_applicable(posed)
        if p is None or p.out.shape != self.p.out.shape:
            return None
        if not p.inputs.keys() <= self.values.keys():
            return None
        return Numbers(p, self.names, self.seed)

    def accepts(self, other: Numbers, guard: str) -> bool:
        """Whether an expression is finite at the given values and equal to the original elsewhere.

        `guard` is how it was made finite: by a "mask" of the program (its value must be the limit,
        if there is one), by a test for a "singular" point (its gradient must be the limit, too),
        for a zero factor of a "product" (the gradient may be infinite from one side only), or by
        "clamped" operands (its value at the given values may differ).
        """
        with np.errstate(all="ignore"):
            return if_applicable(lambda: self._accepts(other, guard)) is True

    def _accepts(self, other: Numbers, guard: str) -> bool:
        here = self._is_finite_here(other, exact=guard != "clamped")
        if not here or not self._is_equal_elsewhere(other):
            return False
        if guard == "product" and self._is_vertical():
            return False
        is_guarded = guard in ("mask", "product", "singular")
        return not is_guarded or self._is_limit(other, slopes=guard == "singular")

    def _is_finite_here(self, other: Numbers, exact: bool) -> bool:
        out, grads = other(self.values)
        before, before_grads = self.at_values
        known = np.isfinite(before) & exact
        if not close(out[known], before[known]) or not np.all(np.isfinite(out) | np.isinf(before)):
            return False
        return all(
            bool(np.all(np.isfinite(g))) and _is_preserved(g, b)
            for g, b in zip(grads, before_grads)
        )

    def _is_equal_elsewhere(self, other: Numbers) -> bool:
        compared = partial = 0
        for values, expected in self.at_other_points:
            if expected is None or not np.all(np.isfinite(expected[0])):
                continue
            out, grads = other(values)
            if not close(out, expected[0]):
                return False
            finite = [np.isfinite(e) for e in expected[1]]
            if not all(close(g[f], e[f]) for g, e, f in zip(grads, expected[1], finite)):
                return False
            whole = all(map(np.all, finite))
            if not whole and not self._slopes_match(values, grads):
                return False
            compared, partial = compared + whole, partial + (not whole)
        return compared > 1 or partial > 1

    def _slopes_match(self, values: dict[str, Any], grads: list[Any]) -> bool:
        """Whether gradients agree with difference quotients of the output, for points at which the
        gradient of the original is not finite.
        """
        for name, grad in zip(self.names, grads):
            for index in np.ndindex(grad.shape):
                slope = self._slope(values, name, index)
                if slope is None or abs(slope - grad[index]) > AGREES * max(1, abs(slope)):
                    return False
        return True

    def _slope(self, values: dict[str, Any], name: str, index: Any) -> float | None:
        """The central difference quotient with respect to an element; None if it is not finite."""
        above, below = (self._seeded_output_at(values, name, index, s) for s in (STEP, -STEP))
        return None if above is None or below is None else (above - below) / (2 * STEP)

    def _seeded_output_at(
        self, values: dict[str, Any], name: str, index: Any, step: float
    ) -> float | None:
        """<seed, out> with `step` added to one element of an input; None if it is not finite."""
        shifted = np.array(values[name], dtype=float)
        shifted[index] += step
        out = if_applicable(lambda: self.original.out(values | {name: shifted}))
        if out is None:
            return None
        total = float(np.sum(np.where(self.seed == 0, 0, out * self.seed)))
        return total if np.isfinite(total) else None

    # ---- limits ----------------------------------------------------------------------------------

    def _is_limit(self, other: Numbers, slopes: bool) -> bool:
        """Whether values, and with `slopes` also gradients, are the limits of the original's where
        these are not finite.
        """
        out, grads = other(self.values)
        before, before_grads = self.at_values
        if np.any(np.isinf(before)):
            return False
        defined = bool(np.all(np.isfinite(before)))
        limit = None if defined else self._near(NEAR)
        if limit is not None:
            far, hit = self._near(100 * NEAR), np.isnan(before)
            if far is not None and np.max(np.abs(limit)) > 5 * max(1.0, np.max(np.abs(far))):
                return False  # it diverges
            if np.max(np.ptp(limit, axis=0)) > AGREES * max(1.0, np.max(np.abs(limit))):
                return True  # the one-sided limits differ
            if not np.allclose(limit[0], out[hit], rtol=AGREES, atol=AGREES):
                return False
        if not slopes or (not defined and limit is None):
            return True
        return all(
            self._is_slope(name, index, float(grad[index]), defined)
            for name, grad, b in zip(self.names, grads, before_grads)
            for index in map(tuple, np.argwhere(~np.isfinite(b)))
        )

    def _is_vertical(self) -> bool:
        """Whether the slope with respect to some element is infinite from both sides."""
        if not np.all(np.isfinite(self.at_values[0])):
            return False
        infinite = float("inf")
        return any(
            all(self._one_sided(name, index, side, True) == infinite for side in (1, -1))
            for name, grad in zip(self.names, self.at_values[1])
            for index in map(tuple, np.argwhere(~np.isfinite(grad)))
        )

    def _near(self, distance: float) -> Any:
        """The original's values near its nan elements: a row for each random direction in which it
        is finite; None if there are too few.
        """
        rng = np.random.default_rng(3)
        hit = np.isnan(self.at_values[0])
        floats = [n for n, x in self.p.inputs.items() if x.node.dtype == "float"]
        around = []
        for _ in range(12):
            shifted = {
                n: self.values[n] + distance * rng.normal(size=self.values[n].shape) for n in floats
            }
            around.append(self.original.out(self.values | shifted)[hit])
        rows = np.asarray([a for a in around if np.all(np.isfinite(a))])
        return rows if len(rows) > 1 else None

    def _is_slope(self, name: str, index: Any, grad: float, defined: bool) -> bool:
        """Whether a number can be the derivative with respect to an element, as it is between the
        one-sided slopes.
        """
        sides = [self._one_sided(name, index, side, defined) for side in (1, -1)]
        slopes = [s for s in sides if s is not None and np.isfinite(s)]
        room = 10 * AGREES * max([1.0, *map(abs, slopes)])
        if not defined:
            agree = len(slopes) == 2 and abs(slopes[0] - slopes[1]) < room / 10
            return not agree or abs(grad - slopes[0]) < room
        if not slopes or float("inf") in sides:
            return sides == [None, None]
        between = [*slopes, 0.0] if None in sides else slopes
        return min(between) - room <= grad <= max(between) + room

    def _one_sided(self, name: str, index: Any, side: int, defined: bool) -> float | None:
        """The slope from one side (`side` is 1 or -1); inf if it grows as the step decreases."""
        scale = max(1.0, abs(float(self.values[name][index])))
        steps = [1e-4 * scale, 1e-6 * scale]
        far, near = (self._seeded_output_at(self.values, name, index, side * s) for s in steps)
        if far is None or near is None:
            return None
        if not defined:  # extrapolated from two steps
            return side * (far - near) / (steps[0] - steps[1])
        start = self._seeded_output_at(self.values, name, index, 0.0)
        if start is None:
            return None
        far, near = (far - start) / (side * steps[0]), (near - start) / (side * steps[1])
        return float("inf") if abs(near) > 3 * abs(far) and abs(near) > 5 else near


def _same_digits(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=CLOSE / 10, atol=CLOSE / 10, equal_nan=True))


def _is_preserved(after: Any, before: Any) -> bool:
    """Whether finite elements are unchanged, except zeros, which a rewriting may make nonzero."""
    finite = np.isfinite(before) & (before != 0)
    return close(after[finite], before[finite])


def close(a: Any, b: Any) -> bool:
    """Whether numbers are equal up to rounding."""
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE, equal_nan=True))
