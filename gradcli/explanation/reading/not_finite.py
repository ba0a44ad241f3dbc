"""Gradients of a program that are nan or infinite: which operation makes them so, and what to write
instead. `gradcli why` says the same of an expression.
"""

from collections.abc import Iterator
from typing import Any

from ...errors import GradcliError, if_applicable
from ...lazy import np
from ...pasted.problems import Unexplained, posed
from ...snippets.reading import Reading
from ...snippets.trace import Backward
from ..why.answer import Element, Why
from .changes import Finding, evidence
from .steps import analysis_of, operands, operation, records, result

GREW = "The numbers grow from turn to turn: a smaller learning rate, or clip_grad_norm_."
KEEP = "Keep its operand away from there: clamp it, or compute the whole by one function."


def not_finite(reading: Reading, _: Any) -> Iterator[Finding]:
    """The first way back whose gradients are nan or infinite."""
    for turn, back in enumerate(reading.backwards):
        kinds = [kind for g in back.results.values() if (kind := kind_of(g))]
        if kinds:
            traced = _traced(back)
            grew = any(b.line == back.line for b in reading.backwards[:turn])
            keep = GREW if grew else KEEP
            if traced is not None:
                yield _of_elements(reading, back, traced, keep)
            else:
                yield from _of_results(reading, back, kinds[0], keep)
            return


def kind_of(array: Any) -> str:
    """Which numbers an array has that are not finite: "nan", "inf", or "" for none."""
    if array is None or np.isfinite(array).all():
        return ""
    return "nan" if np.isnan(array).any() else "inf"


def _traced(back: Backward) -> Why | None:
    """The elements that are not finite, traced back; None for what is no expression."""
    why = if_applicable(lambda: Why(analysis_of(posed(back))), (Unexplained, GradcliError))
    bad = [] if why is None else if_applicable(lambda: _bad(why))
    return why if bad else None


def _bad(why: Why) -> list[Element]:
    """The elements that are not finite, nan before infinities."""
    return sorted(
        (e for e in why.elements if e.kind in ("nan", "inf")), key=lambda e: e.kind != "nan"
    )


def _of_elements(reading: Reading, back: Backward, why: Why, keep: str) -> Finding:
    """The cause of the first element, and an expression without it."""
    first, *others = _bad(why)
    alike = sum((e.kind, e.reason) == (first.kind, first.reason) for e in others)
    more = f" and {alike} more" if alike else ""
    built = sorted({r.line for r in records(back) if operation(r) == first.operation and r.line})
    rows = [(n, f"{first.operation}: the way back through it is {first.kind}") for n in built[:1]]
    same = "\nFinite at these values, and elsewhere the same value and gradient."
    return Finding(
        "not-finite",
        f"The gradient of line {back.line} is {first.kind} at {first.name}{more}",
        _held(back) or first.reason,
        f"{why.rewritten}{same}" if why.rewritten else keep,
        back.line,
        evidence(reading, *rows, (back.line, f"sends {first.kind} to {first.name}{more}")),
    )


def _held(back: Backward) -> str:
    """The leaf that holds such numbers itself, before the way back."""
    for leaf in back.leaves:
        if kind := kind_of(back.values[leaf]):
            return f"{back.paths.get(leaf) or back.names.get(leaf, 'a leaf')} holds {kind} itself"
    return ""


def _of_results(reading: Reading, back: Backward, kind: str, keep: str) -> Iterator[Finding]:
    """The first operation whose result is not finite, though its operands are."""
    for record in reversed(list(records(back))):
        output = result(record)
        given = "" if output is None else kind_of(output.data)
        if given and not any(kind_of(t.data) for t in operands(record)):
            yield Finding(
                "not-finite",
                f"The gradient of line {back.line} is {kind}",
                f"{operation(record)} gives {given} of finite numbers, and the way back meets it.",
                keep,
                back.line,
                evidence(reading, (record.line, f"gives {given}"), (back.line, "goes back")),
            )
            return
