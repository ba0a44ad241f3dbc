"""The closed form of a gradient, tried out before it is shown.

It is derived at sizes that tell which dimensions they belong to, and compared with the gradient in
numbers at others, small ones; only where the program has no such sizes are the user's own taken.
What is shown is tried out at further sizes, so that it is known where it holds for these alone.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

from ...language.inference.infer import different_sides
from ...language.problem import Problem
from ...lazy import np
from ...notation import tree
from .trial import Trial
from .trials import Trials, signed


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
