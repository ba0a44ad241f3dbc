"""The search for the nearest right formula, a correction of a claim.

A correction is parsed from its text and verified at all points, and at further points that cover
the branches of the correction itself.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, partial
from itertools import chain, combinations, islice, product

from ...autodiff.reverse import Contribution, Step, backward
from ...errors import if_applicable
from ...graphs import Node
from ...language.problem import Problem
from ...language.program import Program, read_again
from ...lazy import np
from ...notation import tree
from ..blocks import text_of
from ..formulas.other_sizes import generic_problem
from ..formulas.readings import with_rank
from ..formulas.trials import SMALL, Trial
from ..phrases import listed
from . import edits, factors
from .branches import on_all_branches
from .claim import ORIGIN, Claim, built, reread, targets
from .edits import FIRST, LIKELY, NEAR, RENAMED, Correction, Edit, written
from .findings import Finding, at_point, close, holds, is_jacobian_diagonal, same
from .mutations import edits as edits_of
from .mutations import pairs
from .omissions import exchanges, omissions_of, parts_of, with_common_mistake
from .points import Point, Points
from .syntax import divided, expression, factors_of, is_quotient
from .words import Words, formula, words

ONLY_SHAPED = "the numbers are right, but the shape is not"
LENGTH = re.compile(r"\blen\((\w+)\)")
MOST_USES = 5  # largest number of uses of an input of which some may be missing
TRIED = 40_000  # largest total number of characters of the changed formulas that are tried
TRIED_IN_PAIRS = 20_000  # the same for formulas with two changes
FACTOR = 60  # largest number of characters of a missing factor that is reported
# a reason of at most this many characters is reported before other corrections are tried
REASON = 80


TriedEdit = tuple[Edit, Finding]  # a changed formula, and its finding


class Tries:
    """Candidate texts for the correction of one claim. At the first of its `findings` all values
    have few digits, such as 0.25.
    """

    def __init__(self, claim: Claim, findings: list[Finding], points: Points):
        self.claim, self.findings, self.points = claim, findings, points
        self.problem = points.tried[0].problem
        self.w = points.tried[0].writer
        self.grad = points.tried[0].gradient(claim.name)
        self.target = targets(self.problem)[claim.name]
        self.others: list[Trial] = []
        self._holding: dict[str, Program | None] = {}
        self._first_findings: dict[str, Finding | None] = {}

    def verified(self, text: str) -> Program | None:
        """The program of a text that is right at all points and in the trials `others`; or None."""
        if text not in self._holding:
            self._holding[text] = self._at_all_points(text)
        program = self._holding[text]
        holds_elsewhere = program and not any(t.fails(text, self.claim.name) for t in self.others)
        return program if holds_elsewhere else None

    def _at_all_points(self, text: str) -> Program | None:
        program, name, points = reread(text), self.claim.name, self.points
        if program is None or not holds(program, name, points.tried):
            return None
        own_branches = on_all_branches(points, [self.claim._replace(program=program)], [name])
        return program if holds(program, name, own_branches.tried[len(points.tried) :]) else None

    def finding_of(self, text: str, point: Point) -> Finding | None:
        """The finding of a text at a point; None if it is invalid."""
        program = reread(text)
        result = None if program is None else at_point(program, self.claim.name, point)
        return None if result is None or result.unreadable else result

    def has_value_of(self, text: str, finding: Finding) -> bool:
        """Whether a text is valid and has the same value as the claim."""
        result = self.finding_of(text, finding.point)
        return result is not None and result.same_as(finding)

    def rank_of(self, text: str) -> int:
        """The number of dimensions of a text's value; -1 if it has none."""
        result = self.finding_of(text, self.points.tried[0])
        return -1 if result is None or result.value is None else len(result.shape)

    def shorter(self, node: Node) -> str | None:
        """The formula of a node if it is shorter than the gradient's; None otherwise."""
        built, whole = self.w.formula(node), self.w.formula(self.grad)
        if built is None or whole is None or tree.size(built) >= tree.size(whole):
            return None
        return tree.text(built)

    def formula(self, node: Node | None) -> str | None:
        """The formula of a node; None if it has none."""
        return formula(node, self.w)

    def sizes(self) -> list[str]:
        """Sizes as texts: of dimensions, and numbers of elements."""
        named = {n: node for n, node in self.named().items() if node.ndim}
        wholes = [f"{name}.numel()" for name in named]
        sizes = ((name, d, n) for name, node in named.items() for d, n in enumerate(node.shape))
        dims = [f"{name}.shape[{d}]" for name, d, n in sizes if n != 1]
        return [*dims, *wholes]

    @cached_property
    def words(self) -> Words:
        """The candidates that may replace a part of the claim."""
        return words(self.claim, self.findings[0], self.named(), self.sizes())

    def named(self) -> dict[str, Node]:
        """The nodes that a claim may be about, and the output, by name."""
        p = self.problem
        result = targets(p)
        return result if p.out in result.values() else result | {p.out_name: p.out}


class Search(Tries):
    """The search for a correction of one claim, by several strategies that yield candidates."""

    def correction(self) -> Correction | None:
        """The first right candidate, preferably one that is right at other sizes and ranks."""
        if self.grad is None:
            return None
        for trials in further_trials(self.claim, self.problem):
            self.others = trials
            candidates = chain.from_iterable(way() for way in self._strategies())
            result = next((m for m in candidates if m.is_right or self.verified(m.formula)), None)
            if result is not None:
                return result
        return None

    def _strategies(self) -> Iterator[Callable[[], Iterable[Correction]]]:
        """The strategies, the likeliest mistakes first."""
        yield partial(self._edited, FIRST)
        yield self._a_size_for_a_number
        yield self._scaled_by_size
        yield self._scaled_by_number
        yield self._another_number
        yield self._broadcast
        yield partial(self._edited, NEAR)
        yield self._rearranged
        yield self._diagonal_alone
        yield self._edited_and_broadcast
        yield self._short_omission
        yield self._edited_with_mistake
        yield self._exchanged
        yield partial(self._edited, RENAMED)
        yield self._contribution_missing
        yield self._by_a_fraction
        yield self._omission
        yield self._factor_missing
        yield self._term_missing
        yield self._edited_and_scaled
        yield self._edited_twice

    # ---- a factor that is the same everywhere ----------------------------------------------------

    def _scaled_by_size(self) -> Iterator[Correction]:
        """Corrections by a factor that is a number of elements, as between sum and mean."""
        yield from self._scaled(self.claim.program, self.findings, sizes=True)

    def _scaled_by_number(self) -> Iterator[Correction]:
        """Corrections by a factor that is a number, such as 2 or -1."""
        yield from self._scaled(self.claim.program, self.findings, sizes=False)

    def _by_a_fraction(self) -> Iterator[Correction]:
        yield from factors.scaled_by_number(self.claim.program, self.findings, whole=False)

    def _another_number(self) -> Iterator[Correction]:
        """Corrections of a number in the formula to another number."""
        yield from factors.other_numbers(self.claim.program, self.findings)

    def _a_size_for_a_number(self) -> Iterator[Correction]:
        """Corrections of a number in the formula to a number of elements."""
        yield from factors.sizes_for_numbers(self.claim.program, self.findings, self.sizes())

    def _scaled(
        self, program: Program, findings: list[Finding], sizes: bool
    ) -> Iterator[Correction]:
        """A formula divided by a factor, a number or a size, in the shortest form."""
        result = factors.scaled_by_number(program, findings, whole=True)
        if sizes:
            mentioned = LENGTH.sub(r"\1.shape[0]", f"{self.formula(self.grad)} {self.claim.text}")
            likely = sorted(self.sizes(), key=lambda size: size not in mentioned)
            candidates = ((s, s in mentioned or bool(self.others)) for s in likely)
            tried = chain.from_iterable(
                factors.scaled_by_size(program, findings, *s) for s in candidates
            )
            result = (m for m in tried if self.verified(m.formula))
        for m in islice(result, 1):
            texts = [e.formula for e in self._edited(LIKELY)]
            yield Correction(min([*texts, m.formula], key=len), m.why)

    # ---- edits of the claim's text ---------------------------------------------------------------

    def _broadcast(self) -> Iterator[Correction]:
        """Corrections of claims that have the right numbers in another shape."""
        if all(t.broadcasts or t.agrees for t in self.findings):
            program, name = self.claim.program, self.claim.name
            filled = edits.scaled(program, f"ones_like({name})")  # a Python number has no methods
            shaped = [edits.called(program, way, f"{name}.shape") for way in ("expand", "reshape")]
            texts = shaped if np.ndim(self.findings[0].value) else [filled]
            yield from (Correction(text, ONLY_SHAPED) for text in texts)
            yield self._gradient(ONLY_SHAPED)

    def _gradient(self, why: str) -> Correction:
        """The formula of the gradient itself as the correction."""
        return Correction(self.formula(self.grad) or "", why, is_right=True)

    def _rearranged(self) -> Iterator[Correction]:
        """Corrections of claims that have the right numbers in their order, in another shape."""
        shape = f"{self.claim.name}.shape"
        yield Correction(edits.called(self.claim.program, "reshape", shape), ONLY_SHAPED)

    def _edited(self, rank: int) -> Iterator[Correction]:
        """Corrections by one edit of at most this rank."""
        yield from self._right(e for e, finding in self._edits_up_to(rank) if finding.agrees)

    def _right(self, result: Iterable[Edit]) -> Iterator[Correction]:
        """The edits that make the claim right."""
        return (Correction(e.text, e.why) for e in result if self.verified(e.text))

    @cached_property
    def _edits(self) -> list[Edit]:
        return written(edits_of(self.claim.program, self.words), TRIED)

    def _edits_up_to(self, rank: int) -> Iterator[TriedEdit]:
        """The valid edits up to a rank, with their findings at the first point."""
        for e in self._edits:
            if e.rank <= rank:
                if e.text not in self._first_findings:
                    self._first_findings[e.text] = self.finding_of(e.text, self.points.tried[0])
                finding = self._first_findings[e.text]
                if finding is not None:
                    yield e, finding

    def _edited_and_scaled(self) -> Iterator[Correction]:
        """An edit combined with a factor."""
        for e, first in self._edits_up_to(LIKELY):
            if factors.ratio(first) is not None:
                further = [self.finding_of(e.text, point) for point in self.points.tried[1:]]
                findings = [first, *(t for t in further if t is not None)]
                program = read_again(e.text, ORIGIN)
                for sizes in (True, False):
                    for m in self._scaled(program, findings, sizes):
                        yield Correction(m.formula, f"{e.why}; and as a whole, {m.why}")

    def _edited_and_broadcast(self) -> Iterator[Correction]:
        """An edit combined with another shape."""
        name = self.claim.name
        for e in (e for e, finding in self._edits_up_to(LIKELY) if finding.broadcasts):
            text = edits.called(read_again(e.text, ORIGIN), "expand", f"{name}.shape")
            yield Correction(text, f"{e.why}; and its shape is not that of {name}")

    def _edited_with_mistake(self) -> Iterator[Correction]:
        """An edit combined with a mistake in another part: the edited claim is the right formula
        with that mistake.
        """
        text, first = self.formula(self.grad), self.points.tried[0]
        if text is None:
            return
        built = written(with_common_mistake(read_again(text, ORIGIN)), TRIED_IN_PAIRS)
        wrong = [(e, t) for e in built if (t := self.finding_of(e.text, first)) and not t.agrees]
        likely = ((e, t) for e, t in self._edits_up_to(LIKELY) if not e.alone)
        changed = ((e, t) for e, t in likely if not self.findings[0].same_as(t))
        same = (
            pair
            for pair in equal_pairs(changed, wrong)
            if self._have_equal_values(*(e.text for e in pair))
        )
        yield from (Correction(text, f"{e.why}, and {other.why}") for e, other in islice(same, 1))

    def _have_equal_values(self, text: str, other: str) -> bool:
        """Whether two texts have the same value at all points, and in the trials `others`."""
        tries = [self.finding_of(text, point) for point in self.points.tried]
        if not all(t is not None and self.has_value_of(other, t) for t in tries):
            return False
        return all(_same_in_trial(t, text, other) for t in self.others)

    def _exchanged(self) -> Iterator[Correction]:
        """Corrections in which a part of the right formula, or of the program, replaces one."""
        text = self.formula(self.grad)
        right = () if text is None else read_again(text, ORIGIN).values
        replacements = parts_of((*right, *self.problem.program.values))
        ranks = self.rank_of if self.findings[0].comparable else None
        yield from self._right(written(exchanges(self.claim.program, replacements, ranks), TRIED))

    def _edited_twice(self) -> Iterator[Correction]:
        """Corrections by two edits, paired by `pairs`."""
        yield from self._right(self._edits_twice)

    @cached_property
    def _edits_twice(self) -> list[Edit]:
        return written(pairs(self.claim.program), TRIED_IN_PAIRS)

    def _diagonal_alone(self) -> Iterator[Correction]:
        """The correction of a claim that is the diagonal of the Jacobian times the seed."""
        name, out = self.claim.name, self.problem.out_name
        if all(is_jacobian_diagonal(t, name) for t in self.findings):
            explanation = f"every element of {out} depends on several elements of {name}"
            yield self._gradient(f"{explanation}; this is only the diagonal of the Jacobian")

    # ---- what is missing -------------------------------------------------------------------------

    def _short_omission(self) -> Iterator[Correction]:
        """The correction of a claim that lacks a part, if the sentence that says so is short."""
        yield from (self._gradient(why) for why in self._lacking if len(why) <= REASON)

    def _omission(self) -> Iterator[Correction]:
        """The correction of a claim that is the right formula without one part."""
        yield from map(self._gradient, self._lacking)

    @cached_property
    def _lacking(self) -> list[str]:
        text, value = self.formula(self.grad), self.findings[0].value
        if text is None or value is None:
            return []
        omissions = omissions_of(read_again(text, ORIGIN))
        lacking = (e for e in omissions if all(self.has_value_of(e.text, t) for t in self.findings))
        return [e.why for e in islice(lacking, 1)]

    def _contribution_missing(self) -> Iterator[Correction]:
        """The correction of a claim that lacks the contributions of some uses of an input."""
        value = self.findings[0].value
        steps = backward(self.problem.out, self.problem.seed.node, [self.target]).steps
        arriving = [(s, c) for s in steps for c in s.contributions if c.to is self.target]
        if value is None or not 1 < len(arriving) <= MOST_USES:
            return
        arrays = [self.points.tried[0](c.sent) for _, c in arriving]
        counts = range(len(arriving) - 1, 0, -1)
        for present in chain.from_iterable(combinations(range(len(arriving)), n) for n in counts):
            if value.shape == arrays[0].shape and close(value, sum(arrays[k] for k in present)):
                yield from self._with_ways([a for k, a in enumerate(arriving) if k not in present])
                return

    def _with_ways(self, missing: list[tuple[Step, Contribution]]) -> Iterator[Correction]:
        total = missing[0][1].sent
        for _, contribution in missing[1:]:
            total = total + contribution.sent
        steps = dict.fromkeys(text_of(self.w.source.short(step.node)) for step, _ in missing)
        missed = f"the gradient through {listed([*steps])} is missing"
        yield from self._plus(total, f"{self.claim.name} is used several times, and {missed}")

    def _plus(self, term: Node, why: str) -> Iterator[Correction]:
        text = self.formula(term)
        if text is not None:
            yield Correction(edits.plus(self.claim.program, text), why)

    def _term_missing(self) -> Iterator[Correction]:
        """A missing term, right - claim, if it is short."""
        first = self.findings[0]
        if first.node is not None and first.comparable:
            term = self.grad - first.node
            text = self.shorter(term)
            if text is not None:
                yield from self._plus(term, f"a term is missing: {text}")

    def _factor_missing(self) -> Iterator[Correction]:
        """A missing factor right / claim, or divisor claim / right, if it is short."""
        first = self.findings[0]
        if first.node is None or not first.comparable or not np.all(first.value):
            return
        ratio = self.grad / first.node
        factor = self.formula(ratio)
        if factor is None or len(factor) > FACTOR:
            return
        e = expression(factor)
        below = divided(e)
        if below is not None:
            yield from self._divided_by(below)
        elif self.shorter(ratio) is not None:
            if is_quotient(e):
                yield from self._in_place_of_a_factor(e)
            if not is_quotient(e) or not isinstance(e.left, ast.BinOp):  # others are implausible
                text = edits.scaled(self.claim.program, factor)
                yield Correction(text, f"the factor {factor} is missing")

    def _divided_by(self, below: ast.expr) -> Iterator[Correction]:
        """The claim divided by `below`, first in lowest terms."""
        program, divisor = self.claim.program, ast.unparse(below)
        texts = edits.divided_by(program, below), edits.scaled(program, divisor, divide=True)
        yield from (Correction(text, f"it should be divided by {divisor}") for text in texts)

    def _in_place_of_a_factor(self, quotient: ast.BinOp) -> Iterator[Correction]:
        """The claim with log(x) in place of y, for a missing factor log(x) / y."""
        new, old = ast.unparse(quotient.left), ast.unparse(quotient.right)
        program = self.claim.program
        for e in (e for e in factors_of(program.result) if ast.unparse(e) == old):
            yield Correction(edits.with_another(program, e, new), f"{old} should be {new}")


def _same_in_trial(trial: Trial, text: str, other: str) -> bool:
    arrays = trial.array(text), trial.array(other)
    return all(array is not None for array in arrays) and same(*arrays)


def equal_pairs(
    some: Iterable[TriedEdit], candidates: list[TriedEdit]
) -> Iterator[tuple[Edit, Edit]]:
    """The pairs of edits that have the same value, unless it is 0."""
    for e, one in some:
        for other, other_finding in candidates:
            if one.same_as(other_finding) and np.any(one.value):
                yield e, other


# ---- further trials of a corrected claim ---------------------------------------------------------
# A corrected formula is tried at other sizes too, and with matrices where vectors were inferred.


def further_trials(claim: Claim, problem: Problem) -> Iterator[list[Trial]]:
    """Lists of trials, the strictest first; a corrected formula must pass all of one list.

    An integer in the claim may stand for a size. For each dimension that has this size, one of the
    lists keeps it. The last list is empty, so that a formula which holds only for the given sizes
    is accepted in the end; it is omitted if the claim names sizes, as in x.shape[0].
    """
    if claim.name not in problem.inputs:
        yield []
        return
    matrices, sizes, result = _matrices(claim, problem), _given_sizes(problem), []
    for fixed in _fixed_sizes(claim, sizes):
        trial = _trial_at_other_sizes(problem, sizes, fixed)
        if trial is not None and trial.is_conclusive(claim.name):
            result.append([trial, *matrices])
    yield from result
    if matrices and not result:
        yield matrices
    named = ".shape" in claim.text or ".numel()" in claim.text
    if not named or not result:
        yield []


def _matrices(claim: Claim, problem: Problem) -> list[Trial]:
    """A list of one trial with matrices in place of inferred vectors; empty if the claim does not
    have the number of dimensions of the gradient there.
    """
    if any(i.inferred and len(i.shape) > 1 for i in problem.inputs.values()):
        return []
    reading = with_rank(problem, 1, 2)
    other = None if reading is None else reading.problems[0]
    if other is None:
        return []
    node = if_applicable(partial(built, claim.program, other))
    fits = node is not None and node.ndim == len(other.inputs[claim.name].shape)
    trial = Trial.at(other, other.shapes) if fits else None
    return [] if trial is None else [trial]


# ---- other sizes ---------------------------------------------------------------------------------


def _given_sizes(problem: Problem) -> dict[int, int]:
    """A map from each generic size to the given size in its place; empty if there are none."""
    generic = generic_problem(problem)
    if generic is None:
        return {}
    pairs = ((generic.inputs[i.name].shape, i.shape) for i in problem.inputs.values())
    return {
        t: n
        for generic_shape, shape in pairs
        for t, n in zip(generic_shape, shape, strict=True)
        if t != n
    }


def _fixed_sizes(claim: Claim, sizes: dict[int, int]) -> Iterator[tuple[int, ...]]:
    """Choices of generic sizes that keep their given values: first none, then a size for each
    integer in the claim that may stand for it.
    """
    numbers = {
        e.value
        for e in claim.program.syntax
        if isinstance(e, ast.Constant) and type(e.value) is int
    }
    candidates = [[t for t, n in sizes.items() if n == number] for number in sorted(numbers)]
    yield ()
    if any(candidates):
        yield from product(*filter(None, candidates))


def _trial_at_other_sizes(
    problem: Problem, sizes: dict[int, int], fixed: tuple[int, ...]
) -> Trial | None:
    """A trial with all sizes changed but the `fixed` ones; None if that is not possible."""
    generic = generic_problem(problem)
    if generic is None or len(fixed) == len(sizes):
        return None
    new = {t: sizes[t] for t in fixed} | _distinct_new_sizes(sizes, sizes.keys() - set(fixed))
    shapes = {
        i.name: tuple(new.get(n, n) for n in i.shape)
        for i in generic.inputs.values()
        if i.node.dtype == "float"
    }
    return Trial.at(problem, shapes)


def _distinct_new_sizes(sizes: dict[int, int], free: Collection[int]) -> dict[int, int]:
    """New values for the sizes in `free`, none of them a given size. They have the order of the
    given sizes, so that invertible products of matrices stay invertible, but other differences.
    """
    room = iter(sorted(n for n in SMALL if n not in sizes.values()))
    new: dict[int, int] = {}
    for t in sorted(free, key=lambda t: sizes[t]):
        apart = {n + sizes[t] - sizes[u] for u, n in new.items()}
        new[t] = next((n for n in room if n not in apart), sizes[t])
    return new
