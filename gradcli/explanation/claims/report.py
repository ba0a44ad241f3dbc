"""Verdicts as text: for which sizes a claim is right, what is wrong, the first wrong element."""

from typing import Any, NamedTuple

from ...graphs.shapes import Shape
from ...notation.indices.element import Written, short, written_out
from ...notation.tree import Token
from ..arrays import jsonable
from ..blocks import Formula, Line, plain, text_of, words
from ..formulas.formula_writer import FormulaWriter
from ..phrases import element_name, listed, shape_text
from .findings import Finding
from .verdict import Verdict

NEARLY = 1e-3  # largest relative error of a claim that counts as nearly right
DEPENDS = "the output does not depend on it: PyTorch leaves its gradient at None"


def writer(finding: Finding) -> FormulaWriter:
    """The names and formulas of a finding's problem."""
    return finding.point.writer


def shapes_text(shapes: dict[str, Shape]) -> str:
    """The shapes of the inputs as text: `x 2×3, W 3×4`."""
    return ", ".join(f"{name} {shape_text(shape)}" for name, shape in shapes.items())


# ---- right ---------------------------------------------------------------------------------------


def extent(v: Verdict) -> str:
    """The sizes for which a claim is right, as text."""
    if _of_all_sizes(v):
        kind = (
            "the same formula for every size" if v.is_proved else f"agrees at {len(v.sizes)} sizes"
        )
        return kind + f", {v.remark}" * bool(v.remark) + _reading(v)
    kind = "the same formula" if v.is_proved else f"agrees at {len(v.findings)} points"
    return f"{kind}, for the sizes given: {shapes_text(v.sizes[0])}{_reading(v)}"


def _of_all_sizes(v: Verdict) -> bool:
    return v.points.sizes_vary or v.is_proved_elsewhere


def _reading(v: Verdict) -> str:
    """A clause on the reading in which the claim is understood, if it is right in that one only,
    such as `, where A is the step before`; otherwise "".
    """
    steps = v.claim.reading if v.claim.stepwise is None else ""
    return f", where {steps}" * bool(steps)


def right_line(v: Verdict) -> Line:
    """The gradient itself as a claim: `W.grad = x.T @ g`."""
    grad = v.findings[0].point.gradient(v.claim.name)
    if grad is None:
        return words(f"none: {DEPENDS}")
    return (Token(f"{v.claim.name}.grad = "), *writer(v.findings[0]).formula_line(grad))


def exception(v: Verdict) -> str | None:
    """The caveats of a right claim, or None: deviations from PyTorch, negligible terms."""
    return "; ".join(filter(None, (_deviation(v), _negligible(v.negligible)))) or None


def _negligible(numbers: list[float]) -> str | None:
    """A sentence on negligible constants: `the term 1e-12 should not be there, though it is too
    small to matter here`.
    """
    if not numbers:
        return None
    only = len(numbers) == 1
    terms = f"term {numbers[0]}" if only else f"terms {listed([*map(str, numbers)])}"
    they = "it is" if only else "they are"
    return f"the {terms} should not be there, though {they} too small to matter here"


def _deviation(v: Verdict) -> str | None:
    """A clause on where a right claim differs from PyTorch: `at x = 0, x.grad[0] is 0 in PyTorch,
    but nan in the claim`.
    """
    if v.deviation is None:
        return None
    where, finding = v.deviation
    index = finding.first_wrong()
    if index is None:
        return f"at {where} its shape is not that of PyTorch's gradient"
    right, result = _distinct(float(finding.right[index]), float(finding.value[index]))
    return f"at {where}, {_element(v, index)} is {right} in PyTorch, but {result} in the claim"


# ---- wrong ---------------------------------------------------------------------------------------


def reason(v: Verdict) -> str:
    """The mistake in a claim, in one line."""
    remarks = "; ".join(filter(None, (v.remark, v.claim.reading)))
    return _mistake(v) + f" ({remarks})" * bool(remarks)


def right_where(v: Verdict) -> str | None:
    """A clause on the condition under which the claim is right, `right where d is positive`; None
    if `reason` states it.
    """
    return None if v.condition is None or v.correction is None else f"right where {v.condition}"


def is_as_right(v: Verdict) -> bool:
    """Whether the claim is not finite, and neither is the formula of the gradient."""
    undefined = v.wrong is not None and v.wrong.is_undefined
    return undefined and v.claim.name in writer(v.findings[0]).reach.undefined


def _mistake(v: Verdict) -> str:
    if v.correction is not None:
        return v.correction.why + _off(v)
    finding = v.wrong
    assert finding is not None
    if finding.is_undefined:
        return "it divides by 0 or overflows where the gradient does not"
    if v.condition is not None:
        return f"right only where {v.condition}"
    if finding.error is not None:
        return "it cannot be computed"
    if v.shape != v.expected:
        return f"its shape is not that of {v.claim.name}"
    if v.fails_at_other_sizes:
        shapes, other_shapes = shapes_text(v.sizes[0]), shapes_text(finding.point.shapes)
        return f"right where {shapes}, but not where {other_shapes}"
    return "its numbers are not those of the gradient"


def _off(v: Verdict) -> str:
    """The rounding error of a claim that is right up to this error: `: x.grad[0] is off by 7e-09`;
    "" for other claims.
    """
    if not all(t.gap < NEARLY for t in v.findings):
        return ""
    finding, index = next((t, p) for t in v.findings if (p := t.first_wrong()) is not None)
    gap = abs(float(finding.value[index] - finding.right[index]))
    return f": {_element(v, index)} is off by {gap:.0e}"


def failure(finding: Finding) -> str:
    """The error of a formula that cannot be computed, and where."""
    error = finding.error
    assert error is not None
    if error.span is None:
        return error.message
    return f"{error.message}, in {error.span.excerpt}"


def mended_line(v: Verdict) -> Line:
    """The corrected claim; empty if it is no shorter than the formula of the gradient."""
    if v.correction is None:
        return ()
    result = writer(v.findings[0]).source.with_roles(plain(v.claim.written(v.correction.formula)))
    right = text_of(right_line(v))
    return () if text_of(result) == right or len(text_of(result)) > len(right) else result


class Wrong(NamedTuple):
    """The first wrong element: name, finding, index, claimed and right value written out."""

    name: str
    finding: Finding
    at: tuple[int, ...]
    claimed: Written
    right: Written


def first_wrong(v: Verdict) -> Wrong | None:
    """The first wrong element of a claim; None if no element can be compared."""
    for finding in v.findings:
        index, grad = finding.first_wrong(), finding.point.gradient(v.claim.name)
        if index is not None and finding.node is not None and grad is not None:
            w = writer(finding)
            nodes = (w.without_implicit_seed(node) for node in (finding.node, grad))
            claimed, right = (written_out(n, index, w.names, finding.point) for n in nodes)
            return Wrong(_element(v, index), finding, index, claimed, right)
    return None


def _element(v: Verdict, index: tuple[int, ...]) -> str:
    return element_name(f"{v.claim.name}.grad", index)


def equations(result: Wrong) -> tuple[list[Line], list[Line]]:
    """For the claimed element and for the right one, the lines that write it out: in symbols,
    `2·g[0]·x[0]`, and in numbers, `2·0.5·0.3 = 0.3`.
    """
    values = [float(array[result.at]) for array in (result.finding.value, result.finding.right)]
    texts = _distinct(*values)
    distinguishable = texts != tuple(map(short, values))
    written = result.claimed, result.right
    claimed, right = (
        _equation(w, text if distinguishable or w.total is not None else None)
        for w, text in zip(written, texts)
    )
    return claimed, right


def _equation(written: Written, total: str | None) -> list[Line]:
    lines = [plain(Formula(t)) for t in (written.symbols, written.numbers) if t is not None]
    if total is None:
        return lines
    end = (Token(total, "number"),)
    return [*lines[:-1], (*lines[-1], Token(" = "), *end)] if lines else [end]


def _distinct(a: float, b: float) -> tuple[str, ...]:
    """Two numbers with enough digits to distinguish them."""
    texts = (short(a), short(b))
    for digits in range(5, 18):
        if texts[0] != texts[1]:
            break
        texts = (f"{a:.{digits}g}", f"{b:.{digits}g}")
    return texts


# ---- as data -------------------------------------------------------------------------------------


def as_data(v: Verdict) -> dict[str, Any]:
    """A verdict as JSON."""
    grad = v.findings[0].point.gradient(v.claim.name)
    wrong, error = v.wrong, None if v.wrong is None else v.wrong.error
    return {
        "input": v.claim.name,
        "claim": v.claim.text,
        "ok": v.ok,
        "every_size": v.is_proved and _of_all_sizes(v),
        "remark": extent(v) if wrong is None else reason(v),
        "sizes": [{name: list(s) for name, s in shapes.items()} for shapes in v.sizes],
        "shape": None if v.shape is None else list(v.shape),
        "expected_shape": list(v.expected),
        "error": None if error is None else failure(wrong),  # type: ignore[arg-type]
        "element": _element_data(v),
        "condition": v.condition,
        "exception": exception(v),
        "mended": None if v.correction is None else v.correction.formula,
        "formula": None if grad is None else text_of(writer(v.findings[0]).formula_line(grad)),
    }


def _element_data(v: Verdict) -> dict[str, Any] | None:
    result = None if v.ok else first_wrong(v)
    if result is None:
        return None
    claimed, right = (" = ".join(map(text_of, lines)) for lines in equations(result))
    return {
        "name": result.name,
        "place": list(result.at),
        "claimed": claimed,
        "is": right,
        "claimed_value": jsonable(float(result.finding.value[result.at])),
        "value": jsonable(float(result.finding.right[result.at])),
    }
