"""What was checked, in one line."""

from ..blocks import Row, Section, Table, words
from ..checks import ROWS, Check, run_checks
from .gradients import Gradients

NAMES = {ROWS: "g·J equals backward"}
RANDOM = "at random values"
MARKS = {True: "✓", False: "✗", None: "–"}


def checked(grads: Gradients) -> Section:
    """The checks side by side; those that were left out say why."""
    run = run_checks(grads.a)
    text = [words(_said(c)) for c in run]
    if any(c.ok is not None and "random" in c.remark for c in run):
        text.append(words(RANDOM))
    return Section("checks", (), (), (Table((Row(tuple(text)),)),))


def _said(c: Check) -> str:
    error = "" if not c.max_error else f" {c.max_error:.0e}"
    remark = c.remark.removeprefix(RANDOM).removeprefix("; ")  # which is said of all together
    why = f" ({remark})" if remark and c.ok is not True else ""
    return f"{MARKS[c.ok]} {NAMES.get(c.name, c.name)}{error}{why}"
