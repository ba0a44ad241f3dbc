"""Verdicts on claims: whether they are right at all points, and for every size."""

import ast
import re
from copy import copy
from functools import cached_property, lru_cache, partial
from itertools import chain, islice

from ...errors import if_applicable
from ...graphs import Node, walk
from ...graphs.shapes import Shape
from ...language.inference.suggested_sizes import different_sides
from ...language.problem import Problem
from ...language.program import read_program
from ...notation import tree
from ..analysis import Analysis, is_large
from ..formulas.formula_writer import FormulaWriter
from ..formulas.readings import (
    RANKS,
    Reading,
    of_rank,
    readings,
    resized,
    shrunk,
    with_matrices,
    with_rank,
    with_vectors,
)
from .branches import on_all_branches
from .caveats import Deviation, condition, deviation, negligible
from .claim import ORIGIN, Claim, ClaimTexts, built, read_claims, uses_seed
from .edits import Correction
from .factors import ratio
from .findings import Finding, at_point, holds
from .points import Point, Points, points
from .proof import same
from .search import Search
from .syntax import loses_dimension

FAR = 9  # a claim with a larger index does not fit the small sizes at which claims are tried
IN_BRACKETS, NUMBER = re.compile(r"\[[^\]]*\]"), re.compile(r"\d+")
PROVED = 2  # sizes at which equality is proved; at further sizes only values are compared
# for more elements of all nodes together, corrections are searched for at smaller sizes
LARGE = 20_000
LONG = 500  # claims with more nodes in their syntax trees are not corrected


class Verdict:
    """The verdict on one claim. Corrections are searched for on demand. If the verdict holds for
    other shapes than those inferred first, `remark` names them.
    """

    def __init__(self, claim: Claim, points: Points, remark: str = ""):
        self.claim, self.points, self.remark = claim, points, remark
        self.findings = [at_point(claim.program, claim.name, point) for point in points.tried]
        for finding in self.findings:
            if finding.unreadable:
                raise finding.error  # type: ignore[misc]

    def with_remark(self, remark: str) -> "Verdict":
        """The same verdict with another remark."""
        other = copy(self)
        other.remark = remark
        return other

    @property
    def ok(self) -> bool:
        """Whether the claim is right at all points."""
        return self.wrong is None

    @cached_property
    def wrong(self) -> Finding | None:
        """The first finding that disagrees by more than rounding errors; None if the claim is
        right, or equal to the formula that would correct it.
        """
        return next((t for t in self.findings if not (t.agrees or self._equals_formula(t))), None)

    def _equals_formula(self, t: Finding) -> bool:
        """Whether a finding with other, finite numbers is proved equal to the gradient, or to the
        formula displayed for it: one side is rounded, as a saturated sigmoid.
        """
        return t.is_finite and t.point.problem.limits.budget.search(
            lambda: self._is_proved_at(t.point, t.node), lambda: False
        )

    @cached_property
    def is_proved(self) -> bool:
        """Whether the claim is proved equal to the gradient at the first sizes, and at other sizes
        if there are any. The second proof is needed because each treats sizes as numbers.
        """
        at_other_sizes = (t for t in self.findings if self._sizes(t) != self.sizes[0])
        chosen = [self.findings[0], *at_other_sizes][:2]
        return self.ok and all(self._is_proved_at(t.point, t.node) for t in chosen)

    def _is_proved_at(self, point: Point, node: Node | None) -> bool:
        w, grad = point.writer, point.gradient(self.claim.name)
        if node is None or grad is None:
            return False
        return same(node, grad, point, w.names) or self._is_displayed_formula(node, grad, point, w)

    def _is_displayed_formula(self, node: Node, grad: Node, point: Point, w: FormulaWriter) -> bool:
        """Whether the claim is equal to the formula that is displayed for the gradient."""
        result = w.formula(grad)
        if result is None:
            return False
        displayed = built(read_program(tree.text(result), point.problem.limits), point.problem)
        return same(node, displayed, point, w.names)

    @cached_property
    def is_proved_elsewhere(self) -> bool:
        """Whether the claim is proved equal to the gradient at other sizes too."""
        if self.points.sizes_vary or not self.is_proved or self._reaches_far:
            return False
        problems = (trial.problem for trial in self.points.tried[0].writer.trials.elsewhere)
        elsewhere = (self._verdict_at(p) for p in problems if not different_sides(p.roots))
        result = [v for v in elsewhere if v is not None]
        return (
            bool(result) and all(v.ok for v in result) and all(v.is_proved for v in result[:PROVED])
        )

    def _verdict_at(self, problem: Problem) -> "Verdict | None":
        """The verdict at other sizes; None if the claim does not fit them."""
        return if_applicable(lambda: Verdict(self.claim, points([problem], [self.claim.name])))

    @property
    def _reaches_far(self) -> bool:
        """Whether the claim has an index larger than FAR, such as g[:1000]."""
        within = "".join(IN_BRACKETS.findall(self.claim.program.source.text))
        return any(int(n) > FAR for n in NUMBER.findall(within))

    @cached_property
    def sizes(self) -> list[dict[str, Shape]]:
        """The distinct shapes of the inputs at which the claim was tried."""
        return list({tuple(s.items()): s for s in map(self._sizes, self.findings)}.values())

    def _sizes(self, finding: Finding) -> dict[str, Shape]:
        return finding.point.shapes

    @property
    def has_wrong_shape(self) -> bool:
        """Whether the claim's shape at the first sizes is wrong."""
        return self.shape != self.expected

    @property
    def has_wrong_rank(self) -> bool:
        """Whether the claim has the wrong rank, or no value, at the first sizes."""
        return self.shape is None or len(self.shape) != len(self.expected)

    @property
    def is_multiple(self) -> bool:
        """Whether the claim is a number times the gradient at each point."""
        return all(ratio(t) is not None for t in self.findings)

    @property
    def computable(self) -> bool:
        """Whether the claim can be computed at all points."""
        return all(t.error is None for t in self.findings)

    @property
    def outranks(self) -> bool:
        """Whether the claim has more dimensions than any tensor of the program."""
        nodes = walk([self.findings[0].point.problem.out])
        return len(self.shape or ()) > max(node.ndim for node in nodes)

    @property
    def is_plausible(self) -> bool:
        """Whether the claim is computable at the first shapes, without too many dimensions."""
        return self.computable and not self.outranks

    @property
    def is_plausible_but_wrong(self) -> bool:
        """Whether the claim is wrong for the first shapes, but plausible."""
        return not self.ok and (self.is_plausible or self.lacks_keepdim)

    @property
    def lacks_keepdim(self) -> bool:
        """Whether the claim cannot be computed for the first shapes, and keepdim=True in a
        reduction corrects it; with inputs of one dimension this mistake has no effect.
        """
        loses = any(map(loses_dimension, ast.walk(self.claim.program.result)))
        if self.computable or not loses or self.correction is None:
            return False
        mended = ast.walk(
            read_program(self.correction.formula, self.points.tried[0].problem.limits).result
        )
        return not any(map(loses_dimension, mended))

    @property
    def shape(self) -> Shape | None:
        """The shape of the claim at the first sizes; None if it cannot be computed."""
        node = self.findings[0].node
        return None if node is None else node.shape

    @property
    def expected(self) -> Shape:
        """The shape of the gradient at the first sizes."""
        return self.findings[0].right.shape

    @cached_property
    def correction(self) -> Correction | None:
        """The correction, or None; for large tensors it is searched for at small sizes. None too
        for a long claim, of which there are too many variations.
        """
        problem = self.points.tried[0].problem
        if self.ok or is_large(problem) or self._is_long:
            return None
        return problem.limits.budget.search(self._search_correction, lambda: None)

    @property
    def _is_long(self) -> bool:
        nodes = chain.from_iterable(map(ast.walk, self.claim.program.values))
        return sum(1 for _ in islice(nodes, LONG + 1)) > LONG

    def _search_correction(self) -> Correction | None:
        problem = self.points.tried[0].problem
        if sum(n.numel for n in walk([problem.out])) <= LARGE:
            return Search(self.claim, self.findings, self.points).correction()
        small = shrunk(problem)
        other = None if small is None else _verdicts_at([self.claim], [small])[0]
        result = None if other is None or other.ok else other.correction
        program = None if result is None else read_program(result.formula, problem.limits, ORIGIN)
        right = program and holds(program, self.claim.name, self.points.tried)
        return result if right else None

    @cached_property
    def condition(self) -> str | None:
        """The condition on an input under which the claim is right, or None."""
        return None if self.ok else condition(self.claim, self.findings)

    @cached_property
    def deviation(self) -> Deviation | None:
        """The values at which a right claim differs from PyTorch, or None."""
        return deviation(self.claim, self.points.tried) if self.ok else None

    @cached_property
    def negligible(self) -> list[float]:
        """Negligible constants in a right claim."""
        return negligible(self.claim, self.points.tried) if self.ok and not self.is_proved else []

    @property
    def fails_at_other_sizes(self) -> bool:
        """Whether the claim is right at the first sizes and wrong at others."""
        agreeing = [t.agrees for t in self.findings if self._sizes(t) == self.sizes[0]]
        return not self.ok and all(agreeing)


@lru_cache(maxsize=1)  # used for the document, and for the exit status
def verdicts(a: Analysis) -> list[Verdict]:
    """The verdicts of `judge` on the claims of an analysis."""
    return judge(a.claims, a.problem)


def judge(texts: ClaimTexts, problem: Problem) -> list[Verdict]:
    """A verdict for every claim. Raises GradcliError for one that cannot be read.

    If claims do not fit the inferred shapes, others are tried: other ranks and equal sizes, which
    are accepted if all claims are right for them; ranks that the program leaves open are accepted
    only for claims that cannot be computed for the inferred shapes. Wrong claims that can be
    computed, and corrected, at equal sizes only are judged there. If no claim has a seed, shapes
    that make the output a scalar are preferred.
    """
    claims = read_claims(texts, problem)
    others = islice(resized(problem), 1 if is_large(problem) else None)
    result = _verdicts_at(claims, [problem, *others])
    scalar = problem.seed.refused and not any(uses_seed(c.program, problem) for c in claims)
    return problem.limits.budget.search(
        lambda: _in_other_shapes(claims, problem, result, scalar), lambda: result
    )


def _in_other_shapes(
    claims: list[Claim], problem: Problem, result: list[Verdict], scalar: bool
) -> list[Verdict]:
    """The verdicts after other shapes were tried; `result` are those for the inferred shapes."""
    if all(v.ok or not (v.has_wrong_shape or scalar) for v in result):
        return [_of_every_rank(v, problem) for v in result]
    wrong = []
    for reading in readings(problem):
        other = if_applicable(partial(_verdicts_at, claims, reading.problems, reading.remark))
        if other is None:
            continue
        if reading.ranks and not scalar and any(v.is_plausible_but_wrong for v in result):
            result = _with_remarks(reading, result, other)
        elif all(v.ok for v in other) or (scalar and _means_scalar(reading, result, other)):
            return other
        elif not (reading.ranks or reading.single or any(v.has_wrong_shape for v in other)):
            wrong.append(other)
    return _corrected(result, wrong) or [_of_every_rank(v, problem) for v in result]


def _corrected(result: list[Verdict], others: list[list[Verdict]]) -> list[Verdict] | None:
    """The first of the verdicts at `others` in which claims that cannot be computed at the inferred
    sizes, where no correction is known, are right or corrected: `2 * det(A @ X @ B) * inv(X).T` for
    square matrices. Verdicts on multiples of the gradient come first.
    """
    if all(v.shape is not None for v in result):
        return None
    for other in others:
        if all(v.ok or v.is_multiple for v in other):
            return other
    if all(v.shape is not None or v.correction for v in result):
        return None
    return next((other for other in others if all(v.ok or v.correction for v in other)), None)


def _means_scalar(reading: Reading, result: list[Verdict], other: list[Verdict]) -> bool:
    """Whether claims without a seed are meant for shapes that make the output a scalar: they have
    the gradient's shapes there. If no vector became a scalar in this reading, at least one claim
    must also have a wrong shape for the inferred shapes.
    """
    fits = reading.single and not any(v.has_wrong_shape for v in other)
    return fits and (reading.of_numbers or any(v.has_wrong_shape for v in result))


def _with_remarks(reading: Reading, result: list[Verdict], other: list[Verdict]) -> list[Verdict]:
    """The verdicts, with a remark on claims that are right for other shapes only."""
    pairs = zip(result, other) if len(result) == len(other) else ()
    text = (v if v.ok or not o.ok else v.with_remark(f"right {reading.remark}") for v, o in pairs)
    return [*text] or result


def _of_every_rank(v: Verdict, problem: Problem) -> Verdict:
    """The verdict, also after trials with other ranks of inputs whose ranks were inferred."""
    return if_applicable(lambda: _after_other_ranks(v, problem)) or v


def _after_other_ranks(v: Verdict, problem: Problem) -> Verdict:
    if not v.ok:
        return _with_vectors(v, problem)
    other = _with_matrices(v, problem)
    return _with_batches(v, problem) if other is v else other


def _with_batches(v: Verdict, problem: Problem) -> Verdict:
    """The verdict on a right claim, after trials with batches for lower-case matrices too."""
    reading = with_rank(problem, 2, 3)
    if reading is None or all(name[0].isupper() for name in reading.names):
        return v
    if _verdicts_at([v.claim], reading.problems)[0].ok:
        return v
    return v.with_remark(f"with {of_rank(reading.names, 2)}")


def _with_matrices(v: Verdict, problem: Problem) -> Verdict:
    """The verdict on a right claim, after trials with matrices, which reveal a wrong axis."""
    matrices = with_matrices(problem)
    if matrices is not None and not _verdicts_at([v.claim], matrices.problems)[0].ok:
        return v.with_remark(f"with {of_rank(matrices.names, 1)}")
    guessed = all(len(i.shape) < 2 for i in problem.inputs.values() if i.inferred)
    reading = with_rank(problem, 1, 2) if guessed else None
    if reading is None:
        return v
    (other,) = _verdicts_at([v.claim], reading.problems, _only_for_vectors(reading))
    if other.ok:
        return v
    return v.with_remark(f"with {of_rank(reading.names, 1)}") if other.has_wrong_rank else other


def _with_vectors(v: Verdict, problem: Problem) -> Verdict:
    """The verdict on a wrong claim, after trials with vectors for inferred matrices."""
    for reading in filter(None, (with_rank(problem, 2, 1), *with_vectors(problem))):
        other = if_applicable(partial(_verdicts_at, [v.claim], reading.problems))
        if other is not None and other[0].ok:
            return v.with_remark(_only_for_vectors(reading))
    return v


def _only_for_vectors(reading: Reading) -> str:
    """The remark on a claim that matrices refute: `for x a matrix; right for a vector`."""
    several = len(reading.names) > 1
    return f"for {of_rank(reading.names, 2)}; right for {RANKS[1][several]}"


def _verdicts_at(claims: list[Claim], problems: list[Problem], remark: str = "") -> list[Verdict]:
    names = list(dict.fromkeys(c.name for c in claims))
    first = points(problems, names)
    result = problems[0].limits.budget.search(
        lambda: on_all_branches(first, claims, names), lambda: first
    )
    return _without_steps([_in_either_reading(claim, result, remark) for claim in claims])


def _in_either_reading(claim: Claim, points: Points, remark: str) -> Verdict:
    """The verdict on a claim, in which the name of an input denotes the input. If the claim is only
    right with the value that an earlier statement of the claim assigned to that name, the verdict
    on this second reading.
    """
    result, other = Verdict(claim, points, remark), claim.with_steps
    if other is None or result.ok:
        return result
    stepwise = if_applicable(lambda: Verdict(other, points, remark))
    return stepwise if stepwise is not None and stepwise.ok else result


def _without_steps(result: list[Verdict]) -> list[Verdict]:
    """The verdicts without wrong claims that are intermediate steps of right ones."""
    steps = {s for v in result if v.ok and v.claim.both for s in v.claim.program.values[:-1]}
    return [v for v in result if v.ok or v.claim.program.result not in steps]
