"""Corrections of in-place changes of tensors that were saved for the backward pass."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .graphs import carried_over, recomputed
from .in_place import (
    NEW,
    base_of,
    is_update,
    out_of_place,
    out_of_place_edits,
    without_inplace,
    written,
)
from .nodes import calls_in, dotted, keyword, method, names_in, owner, targets

COPIED = "The operation saves a copy, which the change does not affect."
STEPPED = "The step changes parameters that the previous iteration still needs."
RANDOM = ("rand", "randn", "normal", "randint", "randperm", "dropout", "bernoulli", "next")


def needed(case: Case) -> Iterator[Proposal]:
    """Change out of place; or repeat the forward computation after an optimiser's step; or step
    later.
    """
    statements = [s for line in changing_lines(case) for s in case.statements_of(line)]
    yield from without_inplace(case)
    yield from own_memory(case, statements)
    if any(keyword(c, "retain_graph") for c in case.here):
        yield from carried_over(case, STEPPED)
    viewed = list(base_copied(case, statements))
    yield from viewed
    for statement in statements:
        if viewed:
            break
        leaf = case.tensor(base_of(written(statement)))
        if leaf is not None and leaf.is_leaf and leaf.requires_grad:
            yield from after_step(case, without_recording(case, statement))
        if calls_in(statement, "step"):
            yield from after_step(case, statement)
        elif is_update(case, statement) and ".grad" in case.of(statement):
            yield from recomputed(case)
        else:
            yield from out_of_place(case, statement)
    yield from recomputed(case)
    yield from copied_operand(case)
    for statement in statements if _leaf_was_changed(case) else ():
        yield from after_step(case, statement)
    edits = out_of_place_edits(case, statements)
    if len(edits) > 1:
        yield case.proposal(*edits, note=NEW)


def _leaf_was_changed(case: Case) -> bool:
    """Whether the changed tensor is a leaf, such as a parameter, or a view of one."""
    refused = case.reading.trace.refused
    if refused is None or refused[1] is None:
        return False
    tensor = refused[1].tensor
    return (tensor.view.base if tensor.view else tensor).is_leaf


def own_memory(case: Case, statements: list[ast.stmt]) -> Iterator[Proposal]:
    """Write x.detach().clone(): detached tensors and .data share the memory of x."""
    for statement in statements:
        base = base_of(written(statement))
        for built in case.makers(base, statement.lineno)[:1] if base is not None else ():
            value = built.value
            shared = isinstance(value, ast.Attribute) and value.attr == "data"
            if method(value) in ("detach", "numpy") or shared:
                why = f"{case.of(value)} shares its memory: a change of one changes both."
                yield case.appended(value, ".clone()", why=why, reprints=True)


def base_copied(case: Case, statements: list[ast.stmt]) -> Iterator[Proposal]:
    """Copy the base of a view that is changed, if it is read later."""
    for statement in statements:
        target = base_of(written(statement))
        view = case.tensor(target)
        if not isinstance(target, ast.Name) or view is None or view.view is None:
            continue
        for name, value in case.values.items():
            read = [n for n in case.reads_of(name) if n.lineno > statement.lineno]
            built = case.makers(name, statement.lineno)[:1]
            if value is view.view.base and value is not view and read and built:
                note = f"{dotted(target)} is a view of {name}: changing it changes {name}."
                yield case.appended(built[0].value, ".clone()", note=note)


def without_recording(case: Case, statement: ast.stmt) -> ast.stmt:
    """The no_grad() block that contains a statement; otherwise the statement."""
    outer = case.parents[statement]
    return outer if isinstance(outer, ast.With) and "no_grad" in case.of(outer) else statement


def changing_lines(case: Case) -> list[int]:
    """The lines that changed the saved tensor after it was saved."""
    refused = case.reading.trace.refused
    if refused is None or refused[1] is None:
        return []
    saved = refused[1]
    lines = saved.tensor.version.lines[saved.version :]
    return [n for n in dict.fromkeys(lines) if n]


def copied_operand(case: Case) -> Iterator[Proposal]:
    """Pass a copy of a tensor that is changed later to the operation."""
    refused = case.reading.trace.refused
    if refused is None or refused[1] is None:
        return
    names = {a.name for a in case.reading.trace.assignments if a.tensor is refused[1].tensor}
    edits, nodes = [], case.nodes_of(refused[0].line or 0)
    calls = [c for c in nodes if method(c).endswith("_")]
    changed = {a for c in calls for a in (owner(c), *c.args[:1])}  # as v in F.relu_(v)
    for node in [n for n in nodes if n not in changed]:
        name = isinstance(node, ast.Name) and node.id in names
        part = isinstance(node, ast.Subscript) and case.tensor(node.value) is not None
        if (name or part) and isinstance(node.ctx, ast.Load):
            edits.append(case.appending(node, ".clone()"))
            yield case.proposal(edits[-1], note=COPIED)
    if len(edits) > 1:
        yield case.proposal(*edits, note=COPIED)


# ---- after a step --------------------------------------------------------------------------------


def after_step(case: Case, step: ast.stmt) -> Iterator[Proposal]:
    """Repeat or move the forward computation after an optimiser's step, or move the step.

    Two networks that are trained in turn, with an optimiser each, need the forward again; one
    network with two losses is stepped once, after both.
    """
    several = len({case.of(c.func) for c in case.calls("step", everywhere=True)}) > 1
    ways = [_forward_after, _step_later] if several else [_step_later, _forward_after]
    for call in case.here:
        if case.statement_of(call) in case.block_after(step):
            for way in ways:
                yield from way(case, step, call)


def _step_later(case: Case, step: ast.stmt, call: ast.Call) -> Iterator[Proposal]:
    """Move the step after both backward passes; or remove it, if there is a step already."""
    last = case.statement_of(call)
    note = "Both backward passes run before the parameters change."
    if any(case.of(s) == case.of(step) for s in [last, *case.block_after(last)]):
        yield case.proposal(case.removing(step), note=note)
    yield case.proposal(case.removing(step), case.after(last, *case.lines_of(step)), note=note)


def _forward_after(case: Case, step: ast.stmt, call: ast.Call) -> Iterator[Proposal]:
    """Move the forward computation after the step; or repeat it there, if others need it."""
    at, root, block = case.statement_of(call), case.root(call), case.blocks[step]
    if root is None:
        return
    earlier, after = block[: block.index(step)], block[block.index(step) + 1 : block.index(at)]
    wanted = [s for s in case.slice_of(root, case.line) if s in earlier]
    for n in range(1, len(wanted) + 1):
        moved = list(reversed(wanted[:n]))
        if any(calls_in(s, *RANDOM) for s in moved):
            return
        lines = [line for s in moved for line in case.lines_of(s)]
        others = [s for s in [*earlier, step, *after] if s not in moved]
        edits = [case.removing(s) for s in moved if not _needed_by(s, others)]
        given = {name for s in moved for name in targets(s)}
        user = next((s for s in after if given & set(names_in(s))), at)
        note = "Its forward runs after the step, with the parameters as they are then."
        yield case.proposal(*edits, case.before(user, *lines), note=note)


def _needed_by(statement: ast.stmt, others: list[ast.stmt]) -> bool:
    """Whether other statements read a value that a statement assigns."""
    names = set(targets(statement))
    return any(names & set(names_in(s)) for s in others if s.lineno > statement.lineno)
