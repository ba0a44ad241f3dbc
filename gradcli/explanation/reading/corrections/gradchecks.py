"""Cures of gradcheck: inputs without gradient, numbers that are too coarse, a wrong rule."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .functions import as_function, classes, methods, results_of, unpackings, uses_ctx
from .nodes import dotted, is_operation, parts, within
from .requiring import requiring
from .table import cures


def checked(case: Case) -> list[list[ast.expr]]:
    """The inputs that each gradcheck is given."""
    calls = case.calls("gradcheck", "gradgradcheck")
    return [parts(c.args[1]) for c in calls if len(c.args) > 1]


@cures(
    r"gradcheck expects at least one input tensor to require gradient",
    "gradcheck compares gradients: an input must require one.",
)
def gradcheck_inputs(case: Case) -> Iterator[Proposal]:
    """requires_grad=True, in float64."""
    for items in checked(case):
        tensors = [i for i in items if not isinstance(i, ast.Constant)]
        yield case.proposal(*[case.appending(i, ".double().requires_grad_()") for i in tensors])
        yield from case.change(*[e for i in items if (e := requiring(case, dotted(i)))])


@cures(
    r"Jacobian mismatch for output (\d+) with respect to input (\d+)",
    "The backward that is written is not the derivative of the forward, or the numbers are too "
    "coarse: gradcheck needs float64.",
)
def mismatch(case: Case) -> Iterator[Proposal]:
    """float64; else PyTorch's own derivative of forward."""
    for items in checked(case):
        coarse = [i for i in items if (t := case.tensor(i)) is None or t.dtype.name != "float64"]
        edits = [case.appending(i, ".double().detach().requires_grad_()") for i in coarse]
        yield from case.change(*edits)
    for cls in classes(case):
        for backward in methods(cls, "backward"):
            yield from differentiated(case, backward)


def differentiated(case: Case, backward: ast.FunctionDef) -> Iterator[Proposal]:
    """A wrong factor in a backward of one product: the power rule, 2 for the square."""
    saved = [dotted(t) for s in unpackings(backward, case) for t in parts(s.targets[0])]
    for value in results_of(backward):
        if is_operation(value, ast.Mult):
            for x in [n for n in within(value, ast.Name) if n.id in saved]:
                for power in (2, 3):
                    yield case.replaced(x, f"{x.id} ** {power}")
            for name in saved:
                for factor in (2, 3):
                    yield case.proposal(case.adding(value, f" * {factor} * {name}"))
            for factor_before in ("2 * ", "3 * ", "0.5 * ", "-1 * "):
                yield case.proposal(case.inserting(value, factor_before))
        yield case.replaced(value, f"-({case.of(value)})")
    for cls in classes(case):
        for forward in methods(cls, "forward"):
            if not uses_ctx(forward):
                yield from as_function(case, cls, forward)
