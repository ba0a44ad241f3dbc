"""What texts come to in the place of a claim: at its points, on its branches, beyond them.

Whatever is offered in its place was read from its text and is right at all points, on its own
branches too.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ...errors import GradcliError
from ...graphs import Node
from ...language.program import Program, read_again
from ...lazy import np
from ...notation import tree
from ..formulas.trial import Trial
from .branches import on_all_branches
from .derivatives import formula
from .drafts import Edit
from .findings import Finding, at_point, holds
from .given import ORIGIN, Claim, targets
from .points import Point, Points
from .words import Words, words

TriedEdit = tuple[Edit, Finding]  # a changed formula, and what it comes to


class Mend(NamedTuple):
    """A formula that is right, and what was the matter with the claim."""

    formula: str
    why: str


class Tries:
    """Texts tried in the place of one claim; of its `findings` the first is at short numbers."""

    def __init__(self, claim: Claim, findings: list[Finding], points: Points):
        self.claim, self.findings, self.points = claim, findings, points
        self.problem = points.tried[0].problem
        self.w = points.tried[0].wording
        self.grad = points.tried[0].gradient(claim.name)
        self.target = targets(self.problem)[claim.name]
        self.others: list[Trial] = []
        self._holding: dict[str, Program | None] = {}

    def verified(self, text: str) -> Program | None:
        """The program of a text that is right at all points, and at the `others`; None for other
        texts.
        """
        if text not in self._holding:
            self._holding[text] = self._at_all_points(text)
        program = self._holding[text]
        there = program and not any(t.fails(text, self.claim.name) for t in self.others)
        return program if there else None

    def _at_all_points(self, text: str) -> Program | None:
        try:
            program = read_again(text, ORIGIN)
        except GradcliError:
            return None
        name, points = self.claim.name, self.points
        if not holds(program, name, points.tried):
            return None
        own = on_all_branches(points, [self.claim._replace(program=program)], [name])
        return program if holds(program, name, own.tried[len(points.tried) :]) else None

    def if_right(self, text: str, why: str) -> Mend | None:
        """A text as what mends the claim, if it is verified."""
        return Mend(text, why) if self.verified(text) else None

    def finding_of(self, text: str, point: Point) -> Finding | None:
        """What a text comes to at a point; None where it cannot be read."""
        try:
            return at_point(read_again(text, ORIGIN), self.claim.name, point)
        except GradcliError:
            return None

    def comes_to(self, text: str, finding: Finding) -> bool:
        """Whether a text can be read, and comes to what the claim does."""
        found = self.finding_of(text, finding.point)
        return found is not None and found.is_as(finding)

    def rank_of(self, text: str) -> int:
        """How many dimensions a text comes to; -1 where it cannot be read."""
        found = self.finding_of(text, self.points.tried[0])
        return -1 if found is None or found.value is None else len(found.shape)

    def shorter(self, node: Node) -> str | None:
        """The formula of a node, if it is shorter than the gradient's."""
        made, whole = self.w.formula(node), self.w.formula(self.grad)
        if made is None or whole is None or tree.size(made) >= tree.size(whole):
            return None
        return tree.text(made)

    def formula(self, node: Node | None) -> str | None:
        """The formula of a node; None where it has none."""
        return formula(node, self.w)

    def sizes(self) -> list[str]:
        """Numbers of elements as texts: of dimensions, and of whole tensors."""
        named = {n: node for n, node in self.named().items() if node.ndim}
        wholes = [f"{name}.numel()" for name in named]
        sizes = ((name, d, n) for name, node in named.items() for d, n in enumerate(node.shape))
        dims = [f"{name}.shape[{d}]" for name, d, n in sizes if n != 1]
        return [*dims, *wholes]

    @cached_property
    def words(self) -> Words:
        """What may stand in the place of a part of the claim."""
        return words(self.claim, self.findings[0], self.named(), self.sizes())

    def named(self) -> dict[str, Node]:
        """What a claim may be about, and the output, by name."""
        p = self.problem
        found = targets(p)
        return found if p.out in found.values() else found | {p.out_name: p.out}


def alike(some: Iterable[TriedEdit], others: list[TriedEdit]) -> Iterator[tuple[Edit, Edit]]:
    """The pairs of formulas that come to the same, and not to 0."""
    for e, one in some:
        for other, there in others:
            if one.is_as(there) and np.any(one.value):
                yield e, other
