"""The formulas of the steps of the reverse pass, for any sizes if possible."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...autodiff.reverse import Step
from ...graphs import walk
from ...notation import tree
from ...notation.formulas.sizes import LEAST
from .formula_writer import FormulaWriter

NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def generic_step(w: FormulaWriter, k: int) -> tuple[FormulaWriter, Step]:
    """Step k of the reverse pass, with the writer of its formulas: the step at generic sizes if it
    has the same operations there and all its sizes have names; otherwise the step of the problem.
    """
    generic, step = w.generic, w.analysis.gradients.steps[k]
    generic_steps = [] if generic is None else generic.analysis.gradients.steps
    if generic is None or len(generic_steps) != len(w.analysis.gradients.steps):
        return w, step
    counterpart = generic_steps[k]
    if not w.same_computation.steps(step, counterpart):
        return w, step
    nameless = _may_be_nameless(generic, counterpart)
    if nameless and not _large(generic, counterpart) <= _large(w, step):
        return w, step
    return generic, counterpart


def _may_be_nameless(w: FormulaWriter, step: Step) -> bool:
    """Whether a step has large numbers as attributes that are not sizes of named nodes."""
    named = {step.received, step.node, *w.names}
    sizes = {n for node in w.names for n in node.shape}
    nodes = walk([c.sent for c in step.contributions], lambda n: () if n in named else n.parents)
    return any(n >= LEAST and n not in sizes for node in nodes for n in _whole(node.attrs.values()))


def _whole(values: Iterable[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
        elif isinstance(value, tuple):
            yield from _whole(value)
        elif isinstance(value, slice):
            yield from _whole((value.start, value.stop))


def _large(w: FormulaWriter, step: Step) -> set[int]:
    """The large numbers in the formulas of the gradients that a step sends."""
    received = {step.received: w.numbered(1)}
    return large_numbers(w.formula(c.sent, received) for c in step.contributions)


def large_numbers(formulas: Iterable[tree.Tree | None]) -> set[int]:
    """The integers in formulas that may be sizes at which they were derived."""
    result = (NUMBER.findall(tree.text(f)) for f in formulas if f is not None)
    return {int(n) for numbers in result for n in numbers if int(n) >= LEAST}
