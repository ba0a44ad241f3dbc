"""Cures of gradcheck: inputs without gradient, numbers that are too coarse, a wrong rule."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .derivatives import derivative
from .functions import (
    as_function,
    classes,
    methods,
    results_of,
    returned,
    unpackings,
    uses_ctx,
)
from .nodes import dotted, is_operation, parts, within
from .requiring import requiring


def checked(case: Case) -> list[list[ast.expr]]:
    """The inputs that each gradcheck is given."""
    calls = case.calls("gradcheck", "gradgradcheck")
    return [parts(c.args[1]) for c in calls if len(c.args) > 1]


def gradcheck_inputs(case: Case) -> Iterator[Proposal]:
    """requires_grad=True, in float64."""
    for items in checked(case):
        tensors = [i for i in items if not isinstance(i, ast.Constant)]
        yield case.proposal(*[case.appending(i, ".double().requires_grad_()") for i in tensors])
        yield from case.change(*[e for i in items if (e := requiring(case, dotted(i)))])


def mismatch(case: Case) -> Iterator[Proposal]:
    """float64; else PyTorch's own derivative of forward."""
    for items in checked(case):
        coarse = [i for i in items if (t := case.tensor(i)) is None or t.dtype.name != "float64"]
        edits = [case.appending(i, ".double().detach().requires_grad_()") for i in coarse]
        yield from case.change(*edits)
    for cls in classes(case):
        for backward in methods(cls, "backward"):
            yield from powers(case, backward)
    for cls, _, given in returned(case):
        place = int(case.match[2])
        derived = derivative(case, cls, place) if place < len(given) else None
        if derived is not None:
            note = "The derivative of what forward computes."
            yield case.replaced(given[place], derived, note=note)
    for cls in classes(case):
        for forward in methods(cls, "forward"):
            if not uses_ctx(forward):
                yield from as_function(case, cls, forward)


def powers(case: Case, backward: ast.FunctionDef) -> Iterator[Proposal]:
    """A power that is missing in a backward of one product."""
    saved = [dotted(t) for s in unpackings(backward, case) for t in parts(s.targets[0])]
    for value in results_of(backward):
        if is_operation(value, ast.Mult):
            for x in [n for n in within(value, ast.Name) if n.id in saved]:
                for power in (2, 3):
                    yield case.replaced(x, f"{x.id} ** {power}")
