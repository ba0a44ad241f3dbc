"""Cures that are one edit of one kind of place."""

import ast
from collections.abc import Callable, Iterator

from .case import Case, Proposal
from .cut_steps import SMOOTH

Cure = Callable[[Case], Iterator[Proposal]]


def renaming(*names: str, to: str) -> Cure:
    """Another attribute, or method, on the line that raises."""
    return lambda case: (case.renamed_to(n, to) for n in case.attributes(*names))


def giving(call: str, name: str, value: str) -> Cure:
    """A keyword argument of the calls of a function."""
    return lambda case: (case.given(c, name, value) for c in case.calls(call, everywhere=True))


def appending(end: str, *names: str) -> Cure:
    """Something called on the first argument of calls."""
    return lambda case: (case.appended(c.args[0], end) for c in case.calls(*names) if c.args)


not_contiguous = renaming("view", to="reshape")
joined_numbers = renaming("cat", "concat", to="stack")
boolean_mask = appending(".bool()", "masked_fill", "masked_fill_")
reentrant = giving("checkpoint", "use_reentrant", "False")
vmap_random = giving("vmap", "randomness", '"different"')


def sigmoid_for_step(case: Case) -> Iterator[Proposal]:
    """torch.sigmoid(x) for torch.heaviside(x, values)."""
    for call in case.calls("heaviside", everywhere=True):
        if len(call.args) == 2:
            yield case.replaced(call, f"torch.sigmoid({case.of(call.args[0])})", note=SMOOTH)


def as_text(case: Case) -> Iterator[Proposal]:
    """str(...)."""
    for node in case.of_type(ast.BinOp):
        if isinstance(node.op, ast.Add):
            yield case.replaced(node.right, f"str({case.of(node.right)})")
