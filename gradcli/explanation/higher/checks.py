"""Numerical checks of Hessians and Jacobian-vector products."""

from ...backends.blocks import values_of
from ...lazy import np
from ..checks import (
    AGREE,
    EVERY_ROW,
    TOO_LARGE,
    TOO_LONG,
    Check,
    Sample,
    difference_of_finite,
    differences,
    too_large,
)
from ..formulas.shortest_structure import in_numbers
from ..phrases import label
from ..random_numbers import Numbers
from .hessian import Hessian
from .jvp import Jvp

SYMMETRIC = "symmetric"
ADJOINT = "VJP and JVP: ⟨g, J·t⟩ = ⟨g·J, t⟩"


def hessian_checks(h: Hessian) -> list[Check]:
    """Check that the Hessian is symmetric, and compare it with finite differences of the gradient;
    at random values for inputs without a value.
    """
    search = h.p.limits.budget.search
    left_out = Check(SYMMETRIC, remark=TOO_LONG)
    return [search(lambda: _symmetric(h), lambda: left_out), *_differences(h)]


def _symmetric(h: Hessian) -> Check:
    size = sum(x.node.numel for x in h.p.wrt)
    if size > EVERY_ROW:
        return Check(SYMMETRIC, remark=f"left out: {size:,} rows")
    worst, place, left_out, total = 0.0, "", 0, 0
    for x, z in h.pairs():
        block = in_numbers(h.gradient(x), z)
        transposed = (block if x is z else in_numbers(h.gradient(z), x)).T
        error, where, excluded = difference_of_finite(block, transposed)
        left_out, total = left_out + excluded, total + block.size
        if error > worst:
            row, column = np.unravel_index(where, block.shape)
            place = f"{label(x.name, x.shape, int(row))}, {label(z.name, z.shape, int(column))}"
            worst = error
    remarks = [] if h.p.numeric else ["at random values"]
    remarks += [f"{left_out} not finite, left out"] if left_out else []
    text = "; ".join(remarks)
    if left_out == total > 0:
        return Check(SYMMETRIC, remark=text)
    return Check(SYMMETRIC, worst <= AGREE, worst, place, text)


def _differences(h: Hessian) -> list[Check]:
    """Compare blocks with finite differences of gradients; a list of the worst result, empty if all
    blocks are zero.
    """
    name = "finite differences of the gradient"

    def compared() -> list[Check]:
        of = [h.gradient(x) for x in h.p.wrt]
        curved = [a for a in of if any(grad is not None for grad in a.gradients.of.values())]
        result = map(differences, curved)
        worst = max(result, key=lambda c: (c.ok is False, c.max_error or 0.0), default=None)
        return [] if worst is None else [worst._replace(name=name)]

    return h.p.limits.budget.search(compared, lambda: [Check(name, remark=TOO_LONG)])


def jvp_checks(j: Jvp) -> list[Check]:
    """Compare the JVP with the VJP, and the VJP with finite differences; at random values for
    inputs without a value.
    """
    left_out = Check(ADJOINT, remark=TOO_LONG)
    adjoint = j.problem.limits.budget.present(lambda: _adjoint(j), lambda: left_out)
    return [adjoint, differences(j.a)]


def _adjoint(j: Jvp) -> Check:
    """Compare ⟨g, J·t⟩ with ⟨g·J, t⟩, with the seed g of the other checks."""
    if too_large(j.a):
        return Check(ADJOINT, remark=TOO_LARGE)
    at = Sample(j.a)
    evaluator, draw = at.evaluator(j.problem), Numbers(4)
    for t in j.problem.tangents:
        value = None if t.value is None else evaluator(t.value)[0]
        evaluator.values[t.node] = draw.normal(size=t.x.shape) if value is None else value
    left = 0.0 if j.node is None else float(np.sum(at.seed * values_of(evaluator, [j.node])[0]))
    right = 0.0
    for t in j.problem.tangents:
        grad = j.a.gradient(t.x)
        if grad is not None:
            moved, back = evaluator(t.node)[0], values_of(evaluator, [grad])[0]
            right += float(np.sum(back * moved))
    error = abs(left - right) / max(1.0, abs(right))
    if not np.isfinite(error):
        return Check(ADJOINT, remark="not finite")
    return Check(ADJOINT, error <= AGREE, error, "", at.remark)
