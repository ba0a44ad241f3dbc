"""Claims: right or wrong in one line each; of a wrong one, where, what would mend it, what is right.
"""

from typing import Any

from ...notation import tree
from ...notation.element import Written, short, written_out
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Block, Line, Row, Section, Table, plain, text_of, words
from ..claims.trials import Trial
from ..claims.verdict import Verdict
from ..wording import Wording, shape_text
from .jacobian import label

DEPENDS = "the output does not depend on it: PyTorch leaves its gradient at None"


def claims(a: Analysis) -> Section:
    """A line for every claim, and rows below it where it is wrong."""
    blocks: list[Block] = []
    for verdict in a.verdicts:
        blocks.append(Table((_headline(verdict),)))
        if not verdict.ok:
            blocks.append(Table(tuple(details(verdict))))
    return Section("claims", plain("Claims"), (), tuple(blocks))


def _headline(v: Verdict) -> Row:
    w = wording(v.trials[0])
    claim = w.coloured(plain(v.claim.written(v.claim.text)))
    said = f"✓ right: {extent(v)}" if v.ok else f"✗ wrong: {reason(v)}"
    return Row((claim, words(said)))


def extent(v: Verdict) -> str:
    """For which sizes a claim is right."""
    where = f", {v.remark}" * bool(v.remark)
    if v.points.sizes_vary:
        kind = "the same formula for every size" if v.same else f"agrees at {len(v.sizes)} sizes"
        return kind + where
    kind = "the same formula" if v.same else f"agrees at {len(v.trials)} points"
    return f"{kind}, for the sizes given: {_shapes(v.sizes[0])}"


def _shapes(shapes: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape_text(shape)}" for name, shape in shapes.items())


def reason(v: Verdict) -> str:
    """What is the matter, in one line."""
    if v.mend is not None:
        return v.mend.why
    trial = v.wrong
    assert trial is not None
    if trial.error is not None:
        return "it cannot be computed"
    if v.shape != v.expected:
        return f"its shape is not that of {v.claim.name}"
    if v.only_here:
        return f"right where {_shapes(v.sizes[0])}, and not where {_shapes(trial.point.shapes)}"
    return "its numbers are not those of the gradient"


# ---- the rows of a wrong claim -------------------------------------------------------------------


def details(v: Verdict) -> list[Row]:
    """Shape, first wrong element, what would mend it, the right formula."""
    rows = [*_shape_rows(v), *_element_rows(v)]
    if v.condition is not None:
        rows.append(_row("but", words(f"right where {v.condition}")))
    w = wording(v.trials[0])
    right = right_line(v)
    if v.mend is not None:
        mended = w.coloured(plain(v.claim.written(v.mend.formula)))
        longer = len(text_of(mended)) > len(text_of(right))
        rows += [_row("mended", mended)] * (text_of(mended) != text_of(right) and not longer)
    return [*rows, _row("right", right)]


def _row(name: str, line: Line) -> Row:
    return Row((words(name), line), 1)


def _shape_rows(v: Verdict) -> list[Row]:
    trial = v.wrong
    assert trial is not None
    at, should = _shapes(trial.point.shapes), shape_text(trial.right.shape)
    if trial.error is not None:
        said = f"should be {should}, as {v.claim.name} is, where {at}"
        return [_row("fails", words(failure(trial))), _row("shape", words(said))]
    if trial.shape == trial.right.shape:
        return []
    said = f"{shape_text(trial.shape)}, and {v.claim.name} has {should}, where {at}"
    if trial.broadcasts:
        said += ". A gradient has the shape of what it is the gradient of: nothing is broadcast"
    return [_row("shape", words(said))]


def failure(trial: Trial) -> str:
    """The error of a formula that cannot be computed, and where."""
    error = trial.error
    assert error is not None
    if error.span is None:
        return error.message
    return f"{error.message}, in {error.span.text[error.span.start : error.span.end]}"


def _element_rows(v: Verdict) -> list[Row]:
    found = element(v)
    if found is None:
        return []
    at, claimed, right = found
    return [*_equation("claimed", at, claimed), *_equation("but is", at, right)]


def element(v: Verdict) -> tuple[str, Written, Written] | None:
    """The first wrong element: its name, and what it is by the claim and by the gradient."""
    for trial in v.trials:
        place = trial.first_wrong()
        grad = trial.point.gradient(v.claim.name)
        if place is not None and trial.node is not None and grad is not None:
            w, at = wording(trial), label(f"{v.claim.name}.grad", trial.right.shape, flat_of(trial))
            nodes = (w.without_implicit_seed(node) for node in (trial.node, grad))
            claimed, right = (written_out(n, place, w.names, _values(trial)) for n in nodes)
            return at, claimed, right
    return None


def flat_of(trial: Trial) -> int:
    """The place of the first wrong element, counted row by row."""
    from .gradient import flat

    place = trial.first_wrong()
    assert place is not None
    return flat(place, trial.right.shape)


def _values(trial: Trial) -> Any:
    return lambda node: trial.point(node)


def _equation(name: str, at: str, written: Written) -> list[Row]:
    """`claimed  W.grad[0] = 2·g[0]·x[0]`, and below it `= 2·0.5·0.3 = 0.3`."""
    lines = [tuple(tree.tokens(t)) for t in (written.symbols, written.numbers) if t is not None]
    if written.total is not None:
        total = (Token(short(written.total), "number"),)
        lines = [*lines[:-1], (*lines[-1], Token(" = "), *total)] if lines else [total]
    heads = [(words(name), plain(f"{at} = ")), *((words(""), plain("= ")) for _ in lines[1:])]
    return [Row((head, (*lead, *line)), 1) for (head, lead), line in zip(heads, lines)]


# ---- the right formula ---------------------------------------------------------------------------


def wording(trial: Trial) -> Wording:
    """How the nodes of a trial's problem are written."""
    return Wording(Analysis(trial.point.problem))


def right_line(v: Verdict) -> Line:
    """`W.grad = x.T @ g`."""
    grad = v.trials[0].point.gradient(v.claim.name)
    if grad is None:
        return words(f"none: {DEPENDS}")
    return (Token(f"{v.claim.name} = "), *wording(v.trials[0]).formula_line(grad))
