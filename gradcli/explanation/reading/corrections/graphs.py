"""Cures of graphs that were freed: a second way back through the same records."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures, names_in
from .seeds import here, roots
from .text import Edit, dotted, method

SECOND = (
    "The first way back freed what the operations had saved; a second one through them finds "
    "nothing."
)


@cures("Trying to backward through the graph a second time", SECOND)
def freed(case: Case) -> Iterator[Proposal]:
    """Compute again what changes, cut off what belongs to an earlier step, else keep the graph."""
    yield from last_term(case)
    yield from detached_for_other(case)
    yield from recomputed(case)
    yield from carried_over(case)
    yield from carried_by_module(case)
    calls, again = freeing(case), here(case)
    looped = any(case.loop(c) for c in again)
    before = [c for c in case.backwards if c not in again]
    yield from kept(case, [c for c in calls if c not in again], BUT_LAST)
    yield from kept(case, before, BUT_LAST)
    yield from kept(case, again, IN_LOOP if looped else BUT_LAST)
    yield from kept(case, [*calls, *again], IN_LOOP if looped else BUT_LAST)


BUT_LAST = "Keep the graph in every way back but the last."
IN_LOOP = "In a loop each way back keeps the graph for the next one."


def kept(case: Case, calls: list[ast.Call], note: str) -> Iterator[Proposal]:
    """retain_graph=True for ways back."""
    edits = [case.with_keyword(c, "retain_graph", "True") for c in dict.fromkeys(calls)]
    yield from case.together(edits, note=note)


def detached_for_other(case: Case) -> Iterator[Proposal]:
    """D(fake.detach()): what one network makes is cut off where the other one alone is trained.

    Where the second loss uses what the other network said before its step, that is computed again.
    """
    if len({case.text.of(c.func) for c in case.calls("step", everywhere=True)}) < 2:
        return
    for first in [*freeing(case), *here(case)]:
        root, at = roots(case, first), case.text.statement(first)
        case.text.blocks.get(at, [])
        slices = [at, *case.slice_of(root, at.lineno)] if root is not None else []
        calls = [n for s in slices for n in ast.walk(s) if isinstance(n, ast.Call)]
        for call in calls:
            if not (_is_network(case, call) and _stepped_after(case, call, at)):
                continue
            (given, *_) = call.args
            made = case.assignments(dotted(given), at.lineno)
            if not made or not _is_network(case, getattr(made[-1], "value", None)):
                continue
            edits = [case.text.appending(given, ".detach()"), *_said_again(case, call, at)]
            name, network = case.text.of(given), case.text.of(call.func)
            yield case.proposal(
                *edits,
                note=f"This loss trains {network} alone; the other one goes through {name}.",
                why=SECOND + f" Both losses go back through {name}; the first needs none of it.",
            )


def _stepped_after(case: Case, call: ast.Call, at: ast.stmt) -> bool:
    """Whether the step that follows a way back is one of the network that is called."""
    block = case.text.blocks[at]
    for later in block[block.index(at) + 1 :]:
        for step in [n for n in ast.walk(later) if method(n) == "step"]:
            optimiser = case.value(step.func.value)  # type: ignore[attr-defined]
            groups = optimiser.fields["param_groups"] if isinstance(optimiser, Instance) else []
            stepped = {id(p) for g in groups for p in g["params"]}
            network = case.value(call.func)
            return bool(stepped & {id(p) for p in _parameters_of(network)})
    return False


def _parameters_of(module: Any) -> Iterator[Any]:
    """The parameters of a module and of those within."""
    if isinstance(module, Instance):
        yield from module.fields.get("_parameters", {}).values()
        for inner in module.fields.get("_modules", {}).values():
            yield from _parameters_of(inner)


def _is_network(case: Case, node: ast.AST | None) -> bool:
    """Whether a node calls a module with something."""
    if not (isinstance(node, ast.Call) and node.args):
        return False
    value = case.value(node.func)
    return isinstance(value, Instance) and "_parameters" in value.fields


def _said_again(case: Case, call: ast.Call, first: ast.stmt) -> list[Edit]:
    """The statement of a call once more, before what uses it after the first way back."""
    statement, text = case.text.statement(call), case.text
    block = text.blocks[first]
    names = {dotted(t) for t in getattr(statement, "targets", [])}
    if not names or statement not in block:
        return []
    for later in block[block.index(first) + 1 :]:
        if names & set(names_in(later)):
            return [text.before(later, *text.lines_of(statement))]
    return []


def freeing(case: Case) -> list[ast.Call]:
    """The calls that freed what cannot be read."""
    refused = case.reading.trace.refused
    if refused is None:
        return []
    line = refused[0].freed_line
    return [c for c in case.backwards if c.lineno <= line <= (c.end_lineno or line)]


def recomputed(case: Case) -> Iterator[Proposal]:
    """A forward that stands before the loop, moved into it.

    Only where the loop changes what the forward reads, so that each turn needs another one.
    """
    for call in here(case):
        root, loop = roots(case, call), case.loop(call)
        if root is None or loop is None or not updates(loop):
            continue
        outside = [
            s
            for s in case.slice_of(root, case.line)
            if s.lineno < loop.lineno and _depends(case, s) and case.loop(s) is case.loop(loop)
        ]
        if not outside:
            continue
        outside.reverse()
        lines = [line for s in outside for line in case.text.lines_of(s)]
        edits = [case.text.removing(s) for s in outside]
        first = loop.body[0]
        yield case.proposal(
            *edits,
            case.text.before(first, *lines),
            note="Each turn of the loop changes the parameters: it needs a forward of its own.",
            why=SECOND + " The forward stands outside the loop and builds the graph only once.",
        )


def updates(loop: ast.AST) -> bool:
    """Whether a loop changes parameters: an optimiser's step, or a change by a gradient."""
    for node in ast.walk(loop):
        if method(node) in ("step", "sub_", "add_", "copy_"):
            return True
        if isinstance(node, ast.AugAssign | ast.Assign) and _by_gradient(node.value):
            return True
    return False


def _by_gradient(value: ast.expr) -> bool:
    """Whether an expression computes with a .grad."""
    return not isinstance(value, ast.Attribute) and any(
        isinstance(n, ast.Attribute) and n.attr == "grad" and dotted(n.value) not in TRANSFORMS
        for n in ast.walk(value)
    )


TRANSFORMS = ("autograd", "torch.autograd", "func", "torch.func")  # modules with a function grad


def _depends(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement computes with a tensor that requires grad."""
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.AST):
        return False
    for a in case.reading.trace.assignments:
        if a.line == statement.lineno and a.tensor.record is not None:
            return True
    return False


def carried_over(case: Case) -> Iterator[Proposal]:
    """A state that a turn of a loop takes from the one before: cut off from its graph."""
    loop = next((lp for c in here(case) if (lp := case.loop(c))), None)
    if loop is None:
        return
    if not case.text.alone(loop.body[0]):
        return
    states = [n for n in _states(case, loop) if _has_graph(case.scope.get(n))]
    if len(states) > 1:
        yield _cut_at(case, loop, states)
    for name in _states(case, loop):
        yield _cut_at(case, loop, [name])
        for statement in case.assignments(name):
            if loop in case.text.around(statement) and isinstance(statement, ast.Assign):
                yield case.proposal(case.text.after(statement, _cut(case, name)), weak=True)


def _cut_at(case: Case, loop: ast.For | ast.While, names: list[str]) -> Proposal:
    """States cut off where a turn of a loop begins; one that begins as a number is a tensor."""
    begun = [
        getattr(s, "value", None) for n in names for s in case.assignments(n, loop.lineno)[-1:]
    ]
    listed = " and ".join(names)
    return case.proposal(
        *case.numbers_as("torch.tensor({})", [n for n in begun if isinstance(n, ast.expr)]),
        case.text.before(loop.body[0], *[_cut(case, n) for n in names]),
        note=f"{listed}: the numbers are kept, the graph of the turn before is let go.",
        why=SECOND + f" {listed}: from the turn before, with its graph.",
    )


def _cut(case: Case, name: str) -> str:
    """The statement that cuts a state, or a tuple of them, off from its graph."""
    if isinstance(case.reading.outcome.scope.get(name), tuple):
        return f"{name} = tuple(s.detach() for s in {name})"
    return f"{name} = {name}.detach()"


def _has_graph(value: Any) -> bool:
    return isinstance(value, Tensor) and value.record is not None


def carried_by_module(case: Case) -> Iterator[Proposal]:
    """A state that a module keeps from call to call: cut off where the call begins."""
    for function in case.all_nodes:
        if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
            continue
        stored = {
            dotted(n)
            for n in ast.walk(function)
            if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
        }
        read = {
            dotted(n)
            for n in ast.walk(function)
            if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)
        }
        for name in sorted(n for n in stored & read if n.startswith("self.")):
            value = f"{name}.detach()"
            for text in (value, f"tuple(s.detach() for s in {name})"):
                yield case.proposal(
                    case.text.before(function.body[0], f"{name} = {text}"),
                    note=f"{name} keeps its numbers; the graph of the call before is let go.",
                    why=SECOND + f" {name} comes from the call before, and brings its graph along.",
                )


def last_term(case: Case) -> Iterator[Proposal]:
    """total += loss; total.backward() in a loop: the loss of each turn goes back alone."""
    for call in here(case):
        root, loop = roots(case, call), case.loop(call)
        if not isinstance(root, ast.Name) or loop is None:
            continue
        for s in case.assignments(root.id, case.line):
            term = _term(s, root.id) if loop in case.text.around(s) else None
            if term is not None and case.assignments(root.id, loop.lineno):
                why = f"{root.id} holds the losses of the turns before, whose graphs are freed."
                yield case.proposal(
                    case.text.appending(term, ".detach()"),
                    case.text.replacing(root, case.text.of(term)),
                    why=why,
                    note=f"{root.id} counts the numbers; each turn goes back from its own loss.",
                )


def _term(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement adds to a name."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return statement.value
    value = getattr(statement, "value", None)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return value.right if dotted(value.left) == name else None
    return None


def _states(case: Case, loop: ast.For | ast.While) -> list[str]:
    """Names that are given before a loop, read in it, and given again."""
    result = []
    for name in dict.fromkeys(n for s in loop.body for n in names_in(s)):
        inside = [s for s in case.assignments(name) if loop in case.text.around(s)]
        before = list(case.assignments(name, loop.lineno))
        if inside and before and "." not in name:
            result.append(name)
    return result
