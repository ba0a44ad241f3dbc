"""Numerical checks of the answer: seed times Jacobian, finite differences, and frameworks."""

from collections.abc import Callable, Collection, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple

from ..backends.numeric import Evaluator, array_bytes, sources
from ..errors import if_applicable
from ..frameworks import version
from ..graphs import Node, walk
from ..language.problem import Input, Problem
from ..lazy import np
from .analysis import Analysis, once, within_budget
from .checking.finite_differences import (
    CORNER,
    NOT_FINITE,
    TOLERANCE,
    UNCLEAR,
    Perturbed,
    is_well_conditioned,
    perturbed,
    symmetric_inputs,
)
from .formulas.trial_values import random_values
from .phrases import label, listed
from .random_numbers import Numbers

ROWS, DIFFERENCES = "seed times Jacobian", "finite differences"
TOO_LONG = "left out: it takes longer than the limit of seconds"
RANDOM_VALUES, RANDOM_SEED = "at random values", "with a random seed"
TOO_LARGE = "left out: too large to try with random values"
TOO_MUCH = "left out: it takes more than the limit of memory"
COPIES = 4  # memory of checks, relative to the values of the program and its gradients
LARGEST = 1_000_000  # largest number of elements of a program that is tried at random values
EVERY_ROW = 400  # largest number of rows of a Jacobian that is computed for the check
# rows are checked in groups if all of them one by one would need more computed elements
MOST_ROWWISE = 50_000_000
GROUPS = 8  # the least number of groups
MOST_WORK = 1 << 27  # largest number of elements computed for one value of a perturbed input
MOST_PERTURBED = 1 << 21  # largest number of elements of a perturbed input
TOO_LARGE_TO_MOVE = "too large to perturb"
NOT_TRIANGULAR = "the gradient is for a matrix whose other triangle is 0"
UNCOMPARED = {
    CORNER: "a corner",
    NOT_FINITE: "not finite",
    UNCLEAR: "slope unclear because of rounding, corners or jumps nearby",
}
AGREE = 1e-9  # largest relative error where neither side is a finite difference


class Check(NamedTuple):
    """The outcome of one check. `max_error` is relative where gradients exceed 1; `place` names the
    element that has this error.
    """

    name: str
    ok: bool | None = None
    max_error: float | None = None
    place: str = ""
    remark: str = ""


@once
def run_checks(a: Analysis) -> list[Check]:
    """Seed times Jacobian, finite differences and comparisons with frameworks, at the given values,
    or at random ones for inputs without a value.
    """
    at = _sampled(a)
    if isinstance(at, str):
        names = (ROWS, DIFFERENCES, *map(version, a.against))
        return [Check(name, remark=at) for name in names]
    comparisons = [_against(a, at, name) for name in a.against]
    return [_seed_times_jacobian(a, at), _finite_differences(a, at), *comparisons]


def differences(a: Analysis) -> Check:
    """The check by finite differences only."""
    at = _sampled(a)
    return Check(DIFFERENCES, remark=at) if isinstance(at, str) else _finite_differences(a, at)


def _sampled(a: Analysis) -> "Sample | str":
    """The values at which checks are made, or the reason why there are no checks."""
    if too_large(a):
        return TOO_LARGE
    nodes = walk([a.problem.out, *[grad for _, grad in _differentiated(a)]], sources)
    if COPIES * sum(map(array_bytes, nodes)) > a.problem.limits.sizes["memory"]:
        return TOO_MUCH
    return _sample(a) or TOO_LONG


def too_large(a: Analysis) -> bool:
    """Whether inputs lack values and the program is too large for random ones."""
    return not a.problem.numeric and sum(n.numel for n in walk([a.problem.out])) > LARGEST


@within_budget(in_large=True)
def _sample(a: Analysis) -> "Sample | None":
    return Sample(a)


class Sample:
    """The values at which checks are made, and the seed."""

    def __init__(self, a: Analysis):
        p = a.problem
        self.a = a
        self.triangles = _triangles(p.out)
        without_value = {i.node for i in p.inputs.values() if i.value is None}
        self.values = {
            n: self.triangles[n](v) if n in self.triangles and n in without_value else v
            for n, v in random_values(p).items()
        }
        used = set(walk([p.out, *([p.seed.value] if p.seed.value is not None else [])]))
        without_values = any(i.value is None and i.node in used for i in p.inputs.values())
        self.random = without_values or p.seed.value is None
        evaluator = Evaluator(self.values, limits=p.limits)
        evaluator(p.out)  # first, since an error of the program itself has a span
        if p.seed.value is None:
            self.seed = Numbers(2).uniform(0.5, 1.5, size=p.out.shape)
        else:
            self.seed = evaluator(p.seed.value)[0].astype(float)
        of_seed = RANDOM_SEED if self.random else ""
        self.remark = RANDOM_VALUES if without_values else of_seed
        # Detached values count as constants: they do not change while inputs are perturbed.
        barriers = [n for n in walk([p.out]) if n.op.family == "barrier"]
        self.detached = dict(zip(barriers, evaluator(*barriers), strict=True))

    def evaluator(self, problem: Problem, values: dict[Node, Any] | None = None) -> Evaluator:
        """An evaluator of `problem` with this seed, at these values or at `values`."""
        arrays = {**(values or self.values), problem.seed.node: self.seed}
        return Evaluator(arrays, limits=problem.limits)

    @cached_property
    def gradients(self) -> dict[Node, Any]:
        """The gradients as arrays, by input node."""
        if not self.random and self.a.dtype == "float64":
            return {x.node: np.asarray(self.a.value(grad)) for x, grad in _differentiated(self.a)}
        return self._gradients_at(self.values)

    def _gradients_at(self, values: dict[Node, Any]) -> dict[Node, Any]:
        p, pairs = self.a.problem, [(x.node, grad) for x, grad in _differentiated(self.a)]
        arrays = self.evaluator(p, values)(*[grad for _, grad in pairs])
        return dict(zip([node for node, _ in pairs], arrays, strict=True))

    @cached_property
    def well_conditioned(self) -> bool:
        """Whether the gradients are well conditioned, as those of a singular matrix are not."""
        moving = [x.node for x, _ in _differentiated(self.a)]
        near = if_applicable(lambda: self._gradients_at(perturbed(self.values, moving)))
        if near is None:  # singular at nearby values
            return False
        return all(is_well_conditioned(array, near[x]) for x, array in self.gradients.items())

    def within_triangle(self, x: Input) -> bool:
        """Whether an input of which only one triangle is read is zero in the other."""
        part, value = self.triangles.get(x.node), self.values[x.node]
        return part is None or np.array_equal(part(value), value)


@within_budget(lambda *_: Check(ROWS, remark=TOO_LONG), in_large=True)
def _seed_times_jacobian(a: Analysis, at: Sample) -> Check:
    """Compare the gradient with the sum of the rows of the Jacobian, each computed with a one-hot
    seed and weighted by the seed. If that would take long, the sums of several weighted rows are
    computed at once, with a part of the seed.
    """
    p, worst, place, excluded_count, most = a.problem, 0.0, "", 0, 1
    if p.out.numel > EVERY_ROW:
        return Check(ROWS, remark=f"left out: {p.out.numel:,} rows")
    for x, grad in _differentiated(a):
        vjp = Evaluator(at.values, limits=p.limits).varying(grad, p.seed.node)
        together = _rows_together(p.out.numel, vjp.work + x.node.numel)
        total = sum(_weighed_rows(vjp, at.seed, together), np.zeros(x.shape))
        most, gradient = max(most, together), at.gradients[x.node]
        error, where, excluded = difference_of_finite(total, gradient)
        excluded_count += excluded
        if error > worst:
            worst, place = error, label(x.name, x.shape, where)
    remarks = [at.remark, f"{excluded_count} not finite, left out" if excluded_count else ""]
    remarks += [f"{most} rows at a time" if most > 1 else ""]
    return Check(ROWS, worst <= AGREE, worst, place, "; ".join(filter(None, remarks)))


def _rows_together(rows: int, work: int) -> int:
    """How many rows to compute at once, if each takes `work` elements."""
    groups = max(MOST_ROWWISE // max(work, 1), GROUPS)
    return max(-(-rows // groups), 1)


def _weighed_rows(vjp: Callable[[Any], Any], seed: Any, together: int) -> Iterator[Any]:
    """Sums of `together` rows of the Jacobian, each weighted by its element of the seed."""
    flat = np.ravel(seed)
    for k in range(0, flat.size, together):
        hot = np.zeros(flat.size)
        hot[k : k + together] = 1.0 if together == 1 else flat[k : k + together]
        with np.errstate(all="ignore"):
            row = vjp(hot.reshape(seed.shape))
            yield np.where(row == 0, 0.0, flat[k] * row) if together == 1 else row


def _differentiated(a: Analysis) -> Iterator[tuple[Input, Node]]:
    for x in a.problem.wrt:
        grad = a.gradient(x)
        if grad is not None:
            yield x, grad


def largest_difference(left: Any, right: Any) -> tuple[float, int]:
    """The largest difference, relative where `right` exceeds 1, and its flat index. Two nan, or
    equal infinities, count as equal.
    """
    if np.array_equal(left, right):
        return 0.0, 0
    with np.errstate(all="ignore"):
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        difference = np.where(same, 0.0, np.abs(left - right) / np.maximum(1, np.abs(right)))
    difference = np.where(np.isnan(difference), np.inf, difference)
    where = int(np.argmax(difference))
    return float(np.ravel(difference)[where]), where


def difference_of_finite(left: Any, right: Any) -> tuple[float, int, int]:
    """The largest difference of the elements that are finite on both sides, its flat index (see
    `largest_difference`), and the number of other elements.
    """
    finite = np.isfinite(left) & np.isfinite(right)
    error, where = largest_difference(np.where(finite, left, 0), np.where(finite, right, 0))
    return error, where, int(np.sum(~finite))


# ---- finite differences --------------------------------------------------------------------------


@within_budget(lambda *_: Check(DIFFERENCES, remark=TOO_LONG), in_large=True)
def _finite_differences(a: Analysis, at: Sample) -> Check:
    """Compare the gradient with central differences of <seed, out>."""
    symmetric = symmetric_inputs(a.problem.out)
    result = _Comparison()
    for x, _ in _differentiated(a):
        if not at.within_triangle(x):
            result.leave_out(x.name, NOT_TRIANGULAR)
        elif (moving := _perturbed(a, at, x, x.node in symmetric)) is None:
            result.leave_out(x.name, TOO_LARGE_TO_MOVE)
        else:
            result.compare(x, moving, lambda: at.well_conditioned or _at_kink(a))
    triangular = () if result.left_out[NOT_TRIANGULAR] else at.triangles
    remarks = [
        at.remark,
        _preserved(a, symmetric, "symmetric"),
        _preserved(a, triangular, "triangular"),
        *result.remarks(),
    ]
    worst, place = result.worst, result.place
    by_convention = worst > TOLERANCE and _at_kink(a)
    empty = [x.name for x, _ in _differentiated(a) if not x.node.numel]
    if by_convention:
        remarks.append(
            f"differs by {worst:.0e} at {place}, where the derivative is a convention (see notes)"
        )
    elif empty and not result.count:
        remarks.append(f"there is no element of {listed(empty)} to perturb")
    text = "; ".join(filter(None, remarks))
    if by_convention or not result.count:
        return Check(DIFFERENCES, remark=text)
    return Check(DIFFERENCES, worst <= TOLERANCE, worst, place, text)


class _Comparison:
    """A comparison of gradients with slopes: how many elements were compared, the largest error and
    its place, the names that were left out by reason, and the inputs of which only a sample of
    elements was perturbed.
    """

    def __init__(self) -> None:
        self.count, self.worst, self.place = 0, 0.0, ""
        reasons = (*UNCOMPARED.values(), NOT_TRIANGULAR, TOO_LARGE_TO_MOVE)
        self.left_out: dict[str, list[str]] = {reason: [] for reason in reasons}
        self.sampled: dict[str, list[str]] = {}

    def leave_out(self, name: str, reason: str) -> None:
        """Count an input or an element as not compared."""
        self.left_out[reason].append(name)

    def compare(self, x: Input, moving: Perturbed, is_clear: Callable[[], bool]) -> None:
        """Compare the elements of an input; errors count only if `is_clear()`."""
        undefined = not np.all(np.isfinite(moving.here))  # nan and inf have no slope
        for name, outcome, error in moving.compared(partial(label, x.name, x.shape)):
            if undefined and error > TOLERANCE:
                outcome = NOT_FINITE
            elif error > TOLERANCE and outcome not in UNCOMPARED and not is_clear():
                outcome = UNCLEAR
            if outcome in UNCOMPARED:
                self.leave_out(name, UNCOMPARED[outcome])
                continue
            self.count += 1
            if error > self.worst:
                self.worst, self.place = error, name
        if moving.sampled and self.count:
            self.sampled.setdefault(moving.sampled, []).append(x.name)

    def remarks(self) -> Iterator[str]:
        """Remarks on inputs that were perturbed in part, and on elements left out."""
        for how, names in self.sampled.items():
            yield f"{listed(names)} perturbed {how}"
        for reason, names in self.left_out.items():
            if names:
                yield _excluded(names, reason)


def _perturbed(a: Analysis, at: Sample, x: Input, symmetric: bool) -> Perturbed | None:
    """The output as a function of one input; None if that takes too much time or memory."""
    p = a.problem
    fixed = {n: v for n, v in at.values.items() if n is not x.node} | at.detached
    out = Evaluator(fixed, limits=p.limits).varying(p.out, x.node)
    if out.work > MOST_WORK or x.node.numel > MOST_PERTURBED:
        return None
    value = np.asarray(at.values[x.node], float)
    within = at.triangles.get(x.node, np.asarray)
    cost = out.work, out.operations
    return Perturbed(x.name, out, value, at.seed, at.gradients[x.node], symmetric, within, *cost)


def _preserved(a: Analysis, nodes: Collection[Node], kind: str) -> str:
    """A remark on perturbations that preserve a property of their inputs: `A and B kept symmetric`;
    "" if there are none.
    """
    names = [x.name for x, _ in _differentiated(a) if x.node in nodes]
    return f"{' and '.join(names)} kept {kind}" if names else ""


def _excluded(names: list[str], why: str) -> str:
    """A remark on elements that were not checked: `not at x[0], x[1] …: a corner`."""
    return f"not at {', '.join(names[:3])}{' …' * (len(names) > 3)}: {why}"


def _at_kink(a: Analysis) -> bool:
    """Whether an operation is evaluated at a point where its derivative is a convention."""
    from .in_pytorch.kinks import kinks_hit

    return a.problem.numeric and bool(kinks_hit(a))


def _triangles(out: Node) -> dict[Node, Callable]:
    """np.tril or np.triu for each input of which an operation reads only that triangle."""
    result = {}
    for node in walk([out]):
        if node.op.triangular is not None:
            name, part = node.op.triangular(**node.attrs)
            x = node.inputs[node.op.inputs.index(name)]
            assert x is not None
            result[x] = np.tril if part == "tril" else np.triu
    return result


# ---- PyTorch and JAX themselves ------------------------------------------------------------------


def _against(a: Analysis, at: Sample, framework: str) -> Check:
    """Compare value and gradients with those that a framework computes at the same values."""
    from .. import frameworks

    name, p = version(framework), a.problem
    pairs = list(_differentiated(a))
    out, earlier = p.orders[0].out, [q.seed.value or q.seed.node for q in p.orders[:-1]]
    used = set(walk([out, *earlier]))
    values = {node: value for node, value in at.values.items() if node in used}
    wrt = [x.node for x, _ in pairs]
    try:
        theirs = frameworks.answer(framework, out, values, at.seed, wrt, earlier)
    except frameworks.NotSupported as error:
        return Check(name, remark=f"not compared: {error}")
    ours = at.evaluator(p)
    compared = [(p.out_name, p.out, theirs.value)]
    compared += [(f"{x.name}.grad", grad, theirs.grads[x.node]) for x, grad in pairs]
    worst = max(
        (_difference(label, ours(node)[0], value) for label, node, value in compared),
        key=lambda d: d.relative,
    )
    agrees = worst.relative <= AGREE
    if not agrees and _at_kink(a):
        remark = f"differs at {worst.text}, where the derivative is a convention (see notes)"
        return Check(name, remark=remark)
    remark = worst.text if worst.ulp else "equal in every bit"
    return Check(name, agrees, worst.relative, "", "; ".join(filter(None, (remark, at.remark))))


class _Difference(NamedTuple):
    """The largest difference of two arrays: relative above 1, in units in the last place."""

    relative: float
    ulp: float
    text: str


def _difference(name: str, ours: Any, theirs: Any) -> _Difference:
    theirs = np.zeros(ours.shape) if theirs is None else np.asarray(theirs, float)
    relative, where = largest_difference(ours, theirs)
    if not relative:
        return _Difference(0.0, 0.0, "")
    left, right = float(np.ravel(ours)[where]), float(np.ravel(theirs)[where])
    ulp = abs(left - right) / float(np.spacing(abs(right))) if np.isfinite(left - right) else np.inf
    text = f"{label(name, ours.shape, where)}: {left:.17g} here, {right:.17g} there"
    return _Difference(relative, ulp, f"{ulp:.0f} ulp at {text}" if ulp < 1e6 else text)
