"""Cures of a way back through a gradient: what made the gradient must keep its graph."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import dotted, method, owner

CREATED = "A gradient has a graph of its own only where create_graph=True made it."


def second_order(case: Case) -> Iterator[Proposal]:
    """create_graph=True in the ways back before this one."""
    yield from by_grad(case)
    earlier = [c for c in case.backwards if c.lineno < case.line and c not in case.here]
    edits = [case.with_keyword(c, "create_graph", "True") for c in earlier if _feeds(case, c)]
    yield from case.change(*edits, why=CREATED)


def constant_gradient(case: Case) -> Iterator[Proposal]:
    """0 * x.sum() added to a gradient that does not depend on x: its derivative is 0. What a
    Function of the program sends back may depend on x, and not show it.
    """
    if any("Function" in dotted(base) for c in case.classes for base in c.bases):
        return
    for call, root in case.ways:
        inputs = case.inputs_of(call)
        built = [s for s in case.slice_of(root, case.line) if "create_graph=True" in case.of(s)]
        if inputs is None or not built or not dotted(inputs):
            continue
        why = f"Line {built[0].lineno}: this gradient is constant, {dotted(inputs)} is not in it."
        new = f"{case.of(root)} + 0 * {dotted(inputs)}.sum()"
        yield case.replaced(root, new, why=why, note="The second derivative is 0.")


def by_grad(case: Case) -> Iterator[Proposal]:
    """y.backward(); g = x.grad, which goes back again: g = torch.autograd.grad(y, x)[0]."""
    for call in case.backwards:
        root = case.root(call)
        if case.is_grad(call) or root is None or call.lineno >= case.line:
            continue
        for read in case.of_type(ast.Assign, everywhere=True):
            value = read.value
            if method(value) in ("clone", "detach"):
                value = owner(value)
            if not (isinstance(value, ast.Attribute) and read.lineno > call.lineno):
                continue
            if value.attr == "grad":
                y, x = case.of(root), case.of(value.value)
                new = f"torch.autograd.grad({y}, {x}, create_graph=True)[0]"
                yield case.proposal(
                    case.removing(case.statement_of(call)),
                    case.replacing(value, new),
                    why=CREATED,
                    note=f"{x}.grad is then the second derivative alone.",
                )


def _feeds(case: Case, call: ast.Call) -> bool:
    """Whether what goes back on the line that raises comes from a gradient of a call."""
    if case.is_grad(call):
        return True
    places = [p for _, root in case.ways for p in (root, *case.slice_of(root, case.line))]
    return any(".grad" in case.of(p) for p in places)


def without_once(case: Case) -> Iterator[Proposal]:
    """Without @once_differentiable, which lets no gradient through a backward."""
    why = "once_differentiable says that backward itself cannot be differentiated."
    for function in case.of_type(ast.FunctionDef, ast.ClassDef, everywhere=True):
        for d in function.decorator_list:
            if "once_differentiable" in dotted(d):
                yield case.proposal(case.without_lines(d), why=why)
