"""Cures of changes in place of views, and through them."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .in_place import NEW, base_of, in_place_calls, out_of_place, unrecorded, written
from .nodes import dotted, method, owner, value_of, within


def several_views(case: Case) -> Iterator[Proposal]:
    """Out of place; of the base or of the view."""
    for statement in case.statements:
        yield from by_index(case, statement)
        yield from in_list(case, statement)
    for statement in case.statements:
        target = base_of(written(statement))
        if target is None:
            continue
        for built in case.makers(target) if "custom Function" in case.message else ():
            yield case.appended(built.value, ".clone()")
        yield from out_of_place(case, statement)
    for earlier in case.of_type(ast.stmt, everywhere=True):
        if earlier.lineno < case.line and written(earlier) and not hasattr(earlier, "body"):
            yield from out_of_place(case, earlier)


def in_list(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """rows = list(h.unbind(0)); rows[0] = rows[0].mul(2)."""
    call = value_of(statement)
    target = owner(call) if call in in_place_calls(call) else None
    if not (isinstance(target, ast.Subscript) and isinstance(case.value(target.value), tuple)):
        return
    for built in case.makers(target.value):
        yield case.proposal(
            case.replacing(built.value, f"list({case.of(built.value)})"),
            case.inserting(statement, f"{case.of(target)} = "),
            case.renamed(call, method(call).removesuffix("_")),
            note=NEW,
        )


def by_index(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """for row in y: row *= 2, as for i in range(len(y)): y[i] *= 2."""
    loop, target = case.loop(statement), base_of(written(statement))
    if not (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)):
        return
    row, base = loop.target.id, dotted(loop.iter)
    if not (isinstance(loop.iter, ast.Name) and dotted(target) == row):
        return
    index = next(n for n in ("i", "j", "k", "index") if n not in case.values)
    read = [n for s in loop.body for n in within(s, ast.Name) if n.id == row]
    yield case.proposal(
        case.replacing(loop.target, index),
        case.replacing(loop.iter, f"range(len({base}))"),
        *[case.replacing(n, f"{base}[{index}]") for n in read],
        note=f"Each row is a view of its own of {base}, which autograd follows.",
    )


def view_without_record(case: Case) -> Iterator[Proposal]:
    """The view outside the block, with the change; or the change within it."""
    for node in case.of_type(ast.With, everywhere=True):
        switched_off = method(node.items[0].context_expr) in ("no_grad", "inference_mode")
        if switched_off and node.lineno < case.line:
            yield case.proposal(case.unwrapping(node))
    for statement in case.statements:
        yield from unrecorded(case, statement)
        yield from out_of_place(case, statement)


def shared_memory(case: Case) -> Iterator[Proposal]:
    """A copy first."""
    hooked = case.calls("register_hook", everywhere=True)
    calls = [c for n in case.statements + hooked for c in in_place_calls(n)]
    for statement in case.statements:
        if "some elements" in case.match[1]:
            given = [a for c in calls for a in c.args[:1]]
            if isinstance(statement, ast.AugAssign | ast.Assign):
                given.insert(0, statement.value)
            for value in given:
                yield case.appended(value, ".clone()")
        base = base_of(written(statement))
        for built in case.makers(base) if isinstance(base, ast.Name) else ():
            yield case.appended(built.value, ".clone()")
    for call in calls:
        if isinstance(call.func, ast.Attribute):
            yield case.renamed_to(call, method(call).removesuffix("_"))
    for statement in case.statements:
        yield from out_of_place(case, statement)
