"""The operations of the reverse pass, in words that hold for any sizes."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...autodiff.reverse import Step
from ...graphs import walk
from ...notation import tree
from ...notation.formulas.sizes import LEAST
from ...notation.tree import Name
from .wording import Wording

NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def in_general(w: Wording, k: int) -> tuple[Wording, Step]:
    """An operation of the reverse pass in the words that hold for any sizes, where it has the same
    there and all its sizes have names; in its own otherwise.
    """
    general, own = w.in_general, w.analysis.gradients.steps[k]
    theirs = [] if general is None else general.analysis.gradients.steps
    if general is None or len(theirs) != len(w.analysis.gradients.steps):
        return w, own
    there = theirs[k]
    if not w.alike.steps(own, there):
        return w, own
    if _may_be_nameless(general, there) and not _large(general, there) <= _large(w, own):
        return w, own
    return general, there


def _may_be_nameless(w: Wording, step: Step) -> bool:
    """Whether an operation goes by large numbers that are not sizes of what has a name."""
    known = {step.received, step.node, *w.names}
    sizes = {n for node in w.names for n in node.shape}
    nodes = walk([c.sent for c in step.contributions], lambda n: () if n in known else n.parents)
    return any(n >= LEAST and n not in sizes for node in nodes for n in _whole(node.attrs.values()))


def _whole(values: Iterable[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
        elif isinstance(value, tuple):
            yield from _whole(value)
        elif isinstance(value, slice):
            yield from _whole((value.start, value.stop))


def _large(w: Wording, step: Step) -> set[int]:
    """The large numbers in what an operation sends."""
    received = {step.received: Name(w.received)}
    return large_numbers(w.formula(c.sent, received) for c in step.contributions)


def large_numbers(formulas: Iterable[tree.Tree | None]) -> set[int]:
    """The integers in formulas that may be sizes at which they were derived."""
    result = (NUMBER.findall(tree.text(f)) for f in formulas if f is not None)
    return {int(n) for numbers in result for n in numbers if int(n) >= LEAST}
