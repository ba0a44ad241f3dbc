"""The nearest right formula: what would mend a claim.

Whatever is offered was read from its text and is right at all points, on its own branches too.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, combinations
from typing import NamedTuple

from ...autodiff.reverse import Contribution, Step, backward
from ...errors import GradcliError
from ...graphs import Node
from ...language.program import Program, read_again
from ...lazy import np
from ...notation import tree
from ..blocks import text_of
from ..formulas.trial import Trial
from ..phrases import listed
from . import edits, factors
from .beyond import beyond
from .branches import on_all_branches
from .edits import FIRST, LIKELY, NEAR, RENAMED, Edit, written
from .findings import Finding, at_point, close, holds, is_jacobian_diagonal, same
from .given import ORIGIN, Claim, reread, targets
from .mutations import edits as edits_of
from .mutations import pairs
from .omissions import exchanges, left_out, parts_of, with_a_mistake
from .points import Point, Points
from .syntax import divided, expression, factors_of, is_quotient
from .words import Words, formula, words

ONLY_SHAPED = "the numbers are right, and the shape is not"
LENGTH = re.compile(r"\blen\((\w+)\)")
USES = 5  # uses of an input, of which some may be missing
TRIED = 40_000  # characters of all changed formulas that are tried, together
TRIED_IN_PAIRS = 20_000  # of those with two changes
FACTOR = 60  # of a factor that is said to be missing
REASON = 80  # of what is said of a part that was left out, while there may be shorter reasons


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
        program, name, points = reread(text), self.claim.name, self.points
        if program is None or not holds(program, name, points.tried):
            return None
        own = on_all_branches(points, [self.claim._replace(program=program)], [name])
        return program if holds(program, name, own.tried[len(points.tried) :]) else None

    def if_right(self, text: str, why: str) -> Mend | None:
        """A text as what mends the claim, if it is verified."""
        return Mend(text, why) if self.verified(text) else None

    def finding_of(self, text: str, point: Point) -> Finding | None:
        """What a text comes to at a point; None where it cannot be read."""
        program = reread(text)
        found = None if program is None else at_point(program, self.claim.name, point)
        return None if found is None or found.unreadable else found

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


class Search(Tries):
    """The search for what would mend one claim."""

    def mend(self) -> Mend | None:
        """The nearest right formula, as far as one was found: right at other sizes and ranks too,
        where there is one.
        """
        if self.grad is None:
            return None
        for others in beyond(self.claim, self.problem):
            self.others = others
            found = self._nearest()
            if found is not None:
                return found
        return None

    def _nearest(self) -> Mend | None:
        ways = (
            partial(self._edited, FIRST),
            self._a_size_for_a_number,
            self._by_a_size,
            self._by_a_number,
            self._another_number,
            self._broadcast,
            partial(self._edited, NEAR),
            self._rearranged,
            self._diagonal_alone,
            self._edited_and_broadcast,
            self._left_out_in_short,
            self._edited_and_left_out,
            self._exchanged,
            partial(self._edited, RENAMED),
            self._way_back_missing,
            self._by_a_fraction,
            self._left_out,
            self._factor_missing,
            self._term_missing,
            self._edited_and_scaled,
            self._edited_twice,
        )
        return next((found for way in ways if (found := way()) is not None), None)

    # ---- a factor that is the same everywhere ----------------------------------------------------

    def _by_a_size(self) -> Mend | None:
        """Too large or too small by a number of elements, as a sum is for a mean."""
        return self._scaled(self.claim.program, self.findings, sizes=True)

    def _by_a_number(self) -> Mend | None:
        """Twice too large, or of the other sign."""
        return self._scaled(self.claim.program, self.findings, sizes=False)

    def _by_a_fraction(self) -> Mend | None:
        found = factors.by_a_number(self.claim.program, self.findings, whole=False)
        return found and self.if_right(*found)

    def _another_number(self) -> Mend | None:
        """A number in the formula that is to be another one."""
        return self._renumbered(factors.other_numbers(self.claim.program, self.findings))

    def _a_size_for_a_number(self) -> Mend | None:
        """A number in the formula that is to be a number of elements."""
        sizes = self.sizes()
        return self._renumbered(factors.sizes_for_numbers(self.claim.program, self.findings, sizes))

    def _renumbered(self, others: Iterable[tuple[str, str, str]]) -> Mend | None:
        right = (other for other in others if self.verified(other[0]))
        return next((Mend(text, f"{old} is to be {new}") for text, old, new in right), None)

    def _scaled(self, program: Program, findings: list[Finding], sizes: bool) -> Mend | None:
        """A formula without a factor, in the shortest way; the factor is a number, or a size."""
        if not sizes:
            found = factors.by_a_number(program, findings, whole=True)
        else:
            mentioned = LENGTH.sub(r"\1.shape[0]", f"{self.formula(self.grad)} {self.claim.text}")
            likely = sorted(self.sizes(), key=lambda size: size not in mentioned)
            told = ((s, s in mentioned or bool(self.others)) for s in likely)
            tried = (factors.by_a_size(program, findings, *size) for size in told)
            found = next((f for f in tried if f and self.verified(f[0])), None)
        if found is None:
            return None
        texts = [e.text for e in self._right_edits if e.rank <= LIKELY]
        return self.if_right(min([*texts, found[0]], key=len), found[1])

    # ---- changes of the claim's text -------------------------------------------------------------

    def _broadcast(self) -> Mend | None:
        """Right numbers in another shape."""
        if not all(t.broadcasts or t.agrees for t in self.findings):
            return None
        program, name = self.claim.program, self.claim.name
        filled = edits.scaled(program, f"ones_like({name})")  # a Python number has no methods
        shaped = [edits.called(program, way, f"{name}.shape") for way in ("expand", "reshape")]
        texts = shaped if np.ndim(self.findings[0].value) else [filled]
        right = [*filter(self.verified, texts), self.formula(self.grad) or ""]
        return Mend(right[0], ONLY_SHAPED)

    def _rearranged(self) -> Mend | None:
        """As many numbers, and in their order."""
        shaped = edits.called(self.claim.program, "reshape", f"{self.claim.name}.shape")
        return self.if_right(shaped, ONLY_SHAPED)

    def _edited(self, rank: int) -> Mend | None:
        """A change of the claim, no less likely than that of a rank."""
        return self._first_of(e for e in self._right_edits if e.rank <= rank)

    def _first_of(self, right: Iterable[Edit]) -> Mend | None:
        return next((Mend(e.text, e.why) for e in right), None)

    @property
    def _right_edits(self) -> list[Edit]:
        """The changes that make the claim right, the likeliest first."""
        return [e for e, finding in self._tried_edits if finding.agrees and self.verified(e.text)]

    @cached_property
    def _tried_edits(self) -> list[TriedEdit]:
        """The changes that can be computed, with what they come to at the first point."""
        made = written(edits_of(self.claim.program, self.words), TRIED)
        tried = ((e, self.finding_of(e.text, self.points.tried[0])) for e in made)
        return [(e, finding) for e, finding in tried if finding is not None]

    def _edited_and_scaled(self) -> Mend | None:
        """A change, and a factor beside it."""
        for e, first in self._tried_edits:
            if e.rank <= LIKELY and factors.ratio(first) is not None:
                others = [self.finding_of(e.text, point) for point in self.points.tried[1:]]
                findings = [first, *(t for t in others if t is not None)]
                program = read_again(e.text, ORIGIN)
                for sizes in (True, False):
                    found = self._scaled(program, findings, sizes)
                    if found is not None:
                        return Mend(found.formula, f"{e.why}; and as a whole, {found.why}")
        return None

    def _edited_and_broadcast(self) -> Mend | None:
        """A change, and another shape beside it."""
        for e, finding in self._tried_edits:
            if e.rank <= LIKELY and finding.broadcasts:
                shape = f"{self.claim.name}.shape"
                text = edits.called(read_again(e.text, ORIGIN), "expand", shape)
                if self.verified(text):
                    return Mend(text, f"{e.why}; and its shape is not that of {self.claim.name}")
        return None

    def _left_out_in_short(self) -> Mend | None:
        """A part that was left out, where that is a short reason."""
        found = self._left_out()
        return found if found and len(found.why) <= REASON else None

    def _left_out(self) -> Mend | None:
        """A part of the right formula, without which it is the claim."""
        return self._lacking

    @cached_property
    def _lacking(self) -> Mend | None:
        text, value = self.formula(self.grad), self.findings[0].value
        if text is None or value is None:
            return None
        lacking = left_out(read_again(text, ORIGIN))
        why = next((e.why for e in lacking if self._is_claimed(e.text)), None)
        return Mend(text, why) if why else None

    def _is_claimed(self, text: str) -> bool:
        return all(self.comes_to(text, t) for t in self.findings)

    def _edited_and_left_out(self) -> Mend | None:
        """A change, and a mistake in another part: what the change makes of the claim is the right
        formula with that mistake.
        """
        text, first = self.formula(self.grad), self.points.tried[0]
        if text is None:
            return None
        made = written(with_a_mistake(read_again(text, ORIGIN)), TRIED_IN_PAIRS)
        wrong = [(e, t) for e in made if (t := self.finding_of(e.text, first)) and not t.agrees]
        likely = ((e, t) for e, t in self._tried_edits if e.rank <= LIKELY and not e.alone)
        kept = ((e, t) for e, t in likely if not self.findings[0].is_as(t))
        for e, other in alike(kept, wrong):
            if self._same(e.text, other.text):
                return self.if_right(text, f"{e.why}, and {other.why}")
        return None

    def _same(self, text: str, other: str) -> bool:
        """Whether two texts come to the same at all points, and at the `others`."""
        tries = [self.finding_of(text, point) for point in self.points.tried]
        if not all(t is not None and self.comes_to(other, t) for t in tries):
            return False
        with suppress(GradcliError):  # a text that does not fit the shapes of a trial
            return all(same(t.array(text), t.array(other)) for t in self.others)
        return False

    def _exchanged(self) -> Mend | None:
        """A part of the right formula, or of the program, in the place of one of the claim's."""
        text = self.formula(self.grad)
        right = () if text is None else read_again(text, ORIGIN).values
        others = parts_of((*right, *self.problem.program.values))
        ranks = self.rank_of if self.findings[0].comparable else None
        made = written(exchanges(self.claim.program, others, ranks), TRIED)
        return self._first_of(e for e in made if self.verified(e.text))

    def _edited_twice(self) -> Mend | None:
        """Two changes: of shapes and places, and of the sign beside them."""
        return self._first_of(e for e in self._edits_twice if self.verified(e.text))

    @cached_property
    def _edits_twice(self) -> list[Edit]:
        return written(pairs(self.claim.program), TRIED_IN_PAIRS)

    def _diagonal_alone(self) -> Mend | None:
        """Where each element of the output is taken to depend on one element of the input."""
        if not all(is_jacobian_diagonal(t, self.claim.name) for t in self.findings):
            return None
        name, out = self.claim.name, self.problem.out_name
        why = f"every element of {out} depends on others of {name} too: this is the diagonal alone"
        return Mend(self.formula(self.grad) or "", why)

    # ---- what is missing -------------------------------------------------------------------------

    def _way_back_missing(self) -> Mend | None:
        """An input that is used several times, and some of the uses forgotten."""
        value = self.findings[0].value
        steps = backward(self.problem.out, self.problem.seed.node, [self.target]).steps
        arriving = [(s, c) for s in steps for c in s.contributions if c.to is self.target]
        if value is None or not 1 < len(arriving) <= USES:
            return None
        arrays = [self.points.tried[0](c.sent) for _, c in arriving]
        chosen = chain.from_iterable(
            combinations(range(len(arriving)), n) for n in range(len(arriving) - 1, 0, -1)
        )
        for there in chosen:
            if value.shape == arrays[0].shape and close(value, sum(arrays[k] for k in there)):
                return self._with_ways([a for k, a in enumerate(arriving) if k not in there])
        return None

    def _with_ways(self, missing: list[tuple[Step, Contribution]]) -> Mend | None:
        total = missing[0][1].sent
        for _, contribution in missing[1:]:
            total = total + contribution.sent
        steps = dict.fromkeys(text_of(self.w.source.short(step.node)) for step, _ in missing)
        through = listed(list(steps))
        used = f"{self.claim.name} is used several times"
        return self._plus(total, f"{used}, and what comes back from {through} is missing")

    def _plus(self, term: Node, why: str) -> Mend | None:
        text = self.formula(term)
        made = "" if text is None else edits.plus(self.claim.program, text)
        return self.if_right(made, why)

    def _factor_missing(self) -> Mend | None:
        """right / claim, where that is short; claim / right, where that is what it lacks below."""
        first = self.findings[0]
        if first.node is None or not first.comparable or not np.all(first.value):
            return None
        ratio = self.grad / first.node
        factor = self.formula(ratio)
        if factor is None or len(factor) > FACTOR:
            return None
        below = divided(expression(factor))
        if below is not None:
            return self._divided_by(below)
        if self.shorter(ratio) is None:
            return None
        return self._in_place_of_a_factor(factor) or self._with_factor(factor)

    def _divided_by(self, below: ast.expr) -> Mend | None:
        """The claim divided, in lowest terms if it is right like that."""
        program, divisor = self.claim.program, ast.unparse(below)
        texts = edits.divided_by(program, below), edits.scaled(program, divisor, divide=True)
        right = filter(self.verified, texts)
        return next((Mend(text, f"it is to be divided by {divisor}") for text in right), None)

    def _in_place_of_a_factor(self, factor: str) -> Mend | None:
        """For a factor log(x) / y, log(x) in the place of y."""
        quotient = expression(factor)
        if not is_quotient(quotient):
            return None
        new, old = ast.unparse(quotient.left), ast.unparse(quotient.right)
        program, why = self.claim.program, f"{new} belongs where {old} stands"
        places = (e for e in factors_of(program.result) if ast.unparse(e) == old)
        texts = (edits.with_another(program, e, new) for e in places)
        return next((found for text in texts if (found := self.if_right(text, why))), None)

    def _with_factor(self, factor: str) -> Mend | None:
        """The factor, if it is no quotient of sums: nobody forgets such."""
        quotient = expression(factor)
        if is_quotient(quotient) and isinstance(quotient.left, ast.BinOp):
            return None
        made = edits.scaled(self.claim.program, factor)
        return self.if_right(made, f"the factor {factor} is missing")

    def _term_missing(self) -> Mend | None:
        """right - claim, where that is short."""
        first = self.findings[0]
        if first.node is None or not first.comparable:
            return None
        term = self.grad - first.node
        text = self.shorter(term)
        return None if text is None else self._plus(term, f"a term is missing: {text}")


def alike(some: Iterable[TriedEdit], others: list[TriedEdit]) -> Iterator[tuple[Edit, Edit]]:
    """The pairs of formulas that come to the same, and not to 0."""
    for e, one in some:
        for other, there in others:
            if one.is_as(there) and np.any(one.value):
                yield e, other
