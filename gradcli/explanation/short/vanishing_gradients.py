"""Notes on vanishing gradients: units that are never active, saturated functions."""

from collections.abc import Iterator
from functools import reduce
from typing import Any

from ...autodiff.reverse import Step
from ...graphs import OPS, Node, walk
from ...lazy import np
from ...notation import tree
from ..analysis import Analysis
from ..blocks import text_of
from ..formulas.formula_writer import FormulaWriter
from ..phrases import listed

MOST = 4  # largest number of units, and of operations, that are named
FLAT = 1e-6  # distance from its bounds at which a function counts as saturated; a note names it
SMALLEST = 1.4e-45  # numbers below it are 0 in single precision


def vanishing_gradients(a: Analysis, w: FormulaWriter) -> list[tuple[str, str]]:
    """Notes on units that pass no gradient, saturated functions, and gradients that are all 0."""
    return [
        *_dead_units(a, w),
        *_few(_logs_of_zero(a, w)),
        *_few(_saturated(a, w)),
        *_zero_gradients(a, w),
    ]


def _few(result: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first of several similar notes, and the number of others."""
    notes = [*result]
    left = len(notes) - MOST
    if left <= 0:
        return notes
    return [*notes[:MOST], (notes[0][0], f"the same holds for {left:,} more operations.")]


def _dead_units(a: Analysis, w: FormulaWriter) -> Iterator[tuple[str, str]]:
    """One note on all units that are 0 for every row."""
    units = [*dict.fromkeys(unit for step in a.gradients.steps for unit in _dead(a, w, step))]
    if units:
        few, left = units[:MOST], len(units) - MOST
        named = f"{', '.join(few)} and {left:,} more" if left > 0 else listed(few)
        are = "are" if len(units) > 1 else "is"
        yield "dead-unit", f"{named} {are} 0 for every row: no gradient flows back there."


def _dead(a: Analysis, w: FormulaWriter, step: Step) -> list[str]:
    """The columns of an operation, as `h[:,0]`, that are 0 and pass no gradient in any row."""
    node = step.node
    mask = passing_mask(a, step) if node.ndim == 2 and len(node.inputs) == 1 else None
    if mask is None or len(mask) < 2:
        return []
    name = text_of(w.source.short(node))
    return [f"{name}[:,{k}]" for k in np.flatnonzero(~np.any(mask | (a.value(node) != 0), axis=0))]


def _logs_of_zero(a: Analysis, w: FormulaWriter) -> Iterator[tuple[str, str]]:
    """Saturated functions whose logarithm is taken."""
    for inner in _logged(a):
        value = a.value(inner)
        zero = [] if value is None else np.argwhere(np.asarray(value) < SMALLEST).tolist()
        if zero:
            name, at = text_of(w.source.short(inner)), ",".join(map(str, zero[0]))
            place = f" at [{at}]" if at else ""
            yield (
                "saturated",
                f"{name} is 0 in single precision{place}, where its log is -inf: "
                f"{inner.op.log} is finite.",
            )


def _logged(a: Analysis) -> list[Node]:
    """The operands of logarithms for which there is a function that includes the logarithm."""
    logs = [step.node for step in a.gradients.steps if step.node.op.name == "log"]
    return [n.parents[0] for n in logs if n.parents[0].op.log]


def _saturated(a: Analysis, w: FormulaWriter) -> Iterator[tuple[str, str]]:
    logged = _logged(a)
    for step in a.gradients.steps:
        if step.node in logged:  # the gradient of the function and its log does not vanish
            continue
        bounds = _reached_bounds(a, step.node)
        named = [(text_of(w.source.short(step.node)), bounds)] if bounds else _of_loss(a, w, step)
        for name, (low, high) in named:
            text = f"{name} is within 1e-6 of {low:g} or {high:g}"
            yield "saturated", f"{text}: almost no gradient flows back there."


def _reached_bounds(a: Analysis, node: Node) -> tuple[float, float] | None:
    """The bounds of a function whose values are all at one of them; None for other nodes."""
    is_softmax = node.op.name == "exp" and node.parents[0].op.name == "log_softmax"
    bounds = (0.0, 1.0) if is_softmax else node.op.bounds
    if not isinstance(bounds, tuple) or not np.all(np.isfinite(bounds)):
        return None
    value = a.value(node)
    if value is None or not value.size:
        return None
    at_a_bound = reduce(np.logical_or, (np.abs(value - bound) < FLAT for bound in bounds))
    return bounds if np.all(at_a_bound) else None


def _of_loss(
    a: Analysis, w: FormulaWriter, step: Step
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The saturated functions within a loss, such as softmax in cross_entropy, with their bounds;
    none if the loss sends a gradient back, as it does for wrong predictions.
    """
    ends = {step.node, step.received, *step.node.inputs}  # outside the loss
    for c in step.contributions if step.node.op.expand is not None else ():
        value = a.value(c.local)
        if value is None or not value.size or np.any(np.abs(value) > FLAT):
            continue
        for node in walk([c.local], lambda n: () if n in ends else n.inputs):
            bounds = _reached_bounds(a, node)
            written = w.formula(node) if bounds else None
            if bounds and written is not None:
                yield tree.text(written), bounds


def _zero_gradients(a: Analysis, w: FormulaWriter) -> Iterator[tuple[str, str]]:
    values = {w.gradient_name(x): a.grad_value(x) for x in a.problem.wrt}
    zero = [n for n, v in values.items() if v is not None and v.size and not np.any(v)]
    if zero:
        are = "are" if len(zero) > 1 else "is"
        yield "zero-gradient", f"{listed(zero)} {are} exactly 0: gradcli why names the cause."


def passing_mask(a: Analysis, step: Step) -> Any:
    """A mask of the elements whose gradient an operation passes on; None if the operation passes
    all, or its values are unknown.
    """
    local = step.contributions[0].local if len(step.contributions) == 1 else None
    if local is None or local.op is not OPS["where"]:
        return None
    condition, yes, no = local.parents
    mask = a.value(condition)
    if mask is None or mask.shape != local.shape:
        return None
    if yes is step.received and _is_zero(no):
        return mask
    return ~mask if no is step.received and _is_zero(yes) else None


def _is_zero(node: Node) -> bool:
    return node.op.name == "constant" and node.attrs["value"] == 0
