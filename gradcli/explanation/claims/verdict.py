"""Is a claim right? At all points, and for every size where the two formulas can be brought together.
"""

from collections.abc import Sequence
from functools import cached_property

from ...graphs import Node
from ...graphs.shapes import Shape
from ...language.problem import Problem
from ...lazy import np
from ..analysis import Analysis
from ..wording import Wording
from .mending import Mend, Search
from .points import Point, Points, points
from .proof import same
from .reading import Claim, read_claims
from .trials import Trial, tried


class Verdict:
    """One claim, judged; what is wrong about it is looked for when it is asked for."""

    def __init__(self, claim: Claim, points: Points):
        self.claim, self.points = claim, points
        self.trials = [tried(claim.program, claim.name, point) for point in points.tried]

    @property
    def ok(self) -> bool:
        """Whether it is right at all points."""
        return self.wrong is None

    @cached_property
    def wrong(self) -> Trial | None:
        """The first trial that disagrees."""
        return next((t for t in self.trials if not t.agrees), None)

    @cached_property
    def same(self) -> bool:
        """Whether it is the same formula: at the first sizes, and at others where there are some.

        Sizes stand in it as numbers; that they are the right ones is what other sizes tell.
        """
        chosen = [self.trials[0], *(t for t in self.trials if self._sizes(t) != self.sizes[0])][:2]
        return self.ok and all(self._same(t.point, t.node) for t in chosen)

    def _same(self, point: Point, node: Node | None) -> bool:
        names = Wording(Analysis(point.problem)).names
        return node is not None and same(node, point, self.claim.name, names)

    @cached_property
    def sizes(self) -> list[dict[str, Shape]]:
        """The shapes of the inputs that it was tried at, each once."""
        return list({tuple(s.items()): s for s in map(self._sizes, self.trials)}.values())

    def _sizes(self, trial: Trial) -> dict[str, Shape]:
        return trial.point.shapes

    @property
    def shape(self) -> Shape | None:
        """The shape that the formula has at the first sizes; None where it has none."""
        node = self.trials[0].node
        return None if node is None else node.shape

    @property
    def expected(self) -> Shape:
        """The shape of the gradient at the first sizes."""
        return self.trials[0].right.shape

    @cached_property
    def mend(self) -> Mend | None:
        """What would mend it."""
        return None if self.ok else Search(self.claim, self.trials, self.points).mend()

    @cached_property
    def condition(self) -> str | None:
        """What an input would have to be for the claim to be right after all."""
        return None if self.ok else _condition(self.claim, self.trials)

    @property
    def only_here(self) -> bool:
        """Whether it is right at the first sizes and wrong at others."""
        here = [t.agrees for t in self.trials if self._sizes(t) == self.sizes[0]]
        return not self.ok and all(here)


def judge(given: Sequence[str] | dict[str, str], problem: Problem) -> list[Verdict]:
    """A verdict for every claim. Raises GradcliError for one that cannot be read."""
    claims = read_claims(given, problem)
    found = points(problem, list(dict.fromkeys(c.name for c in claims)))
    return [Verdict(claim, found) for claim in claims]


# ---- right under a condition ---------------------------------------------------------------------


def _symmetric(array):
    return (array + np.swapaxes(array, -1, -2)) / 2


def _summing_to_one(array):
    return np.abs(array) / np.abs(array).sum(axis=-1, keepdims=True)


def _condition(claim: Claim, trials: list[Trial]) -> str | None:
    """`A is symmetric`, where the claim is right for an input of that kind and not for others."""
    for x in trials[0].point.problem.inputs.values():
        square = len(x.shape) > 1 and x.shape[-1] == x.shape[-2]
        if x.node.dtype == "float" and square and _right_for(claim, trials, x.name, _symmetric):
            return f"{x.name} is symmetric"
        if x.node.dtype == "float" and x.shape and _right_for(claim, trials, x.name, _summing_to_one):
            return f"{x.name} sums to 1 along its last dimension"
    return None


def _right_for(claim: Claim, trials: list[Trial], name: str, special) -> bool:
    """Whether the claim is right where an input is made special."""
    agree = []
    for trial in trials:
        point = trial.point
        x = point.problem.inputs[name].node
        given = {i.node: point(i.node) for i in point.problem.inputs.values()}
        changed = Point(point.problem, given | {x: special(point(x))}, point.seed)
        agree.append(changed.finite([claim.name]) and tried(claim.program, claim.name, changed).agrees)
    return all(agree)
