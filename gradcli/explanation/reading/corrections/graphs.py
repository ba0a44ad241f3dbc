"""Corrections for a second backward pass through a graph that was freed."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.records import inputs_first
from ....snippets.eager.tensor import Accumulator, Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, is_computed, layers_of
from .functions import methods
from .nodes import (
    calls_in,
    dotted,
    is_operation,
    method,
    names_in,
    owner,
    targets,
    value_of,
    within,
)
from .optimisers import computes
from .seeds import is_called_loss
from .text import Edit

SECOND = (
    "The first backward pass freed the tensors that the operations had saved; a second one needs "
    "them."
)
BUT_LAST = "Keep the graph in every backward pass except the last."
IN_LOOP = "In a loop each backward pass keeps the graph for the next one."


def freed(case: Case) -> Iterator[Proposal]:
    """Recompute values that change, detach those of an earlier iteration, or retain the graph."""
    yield from last_term(case)
    yield from emptied(case)
    yield from detached_for_other(case)
    yield from detached_for_critic(case)
    yield from detached_by_name(case)
    yield from detached_from_trained(case)
    yield from recomputed(case)
    yield from computed_in_init(case)
    yield from stepped_leaf(case)
    yield from projected(case)
    yield from carried_over(case)
    yield from carried_by_object(case)
    yield from carried_by_module(case)
    calls, again = freeing(case), case.here
    if any(case.feeds_backward(c) for c in calls):
        feeding = [c for c in case.backwards if case.feeds_backward(c)]
        edits = [case.with_keyword(c, "create_graph", "True") for c in feeding]
        yield case.proposal(*edits, note="The gradient is differentiated again.")
    note = IN_LOOP if any(case.loop(c) for c in again) else BUT_LAST
    yield from kept(case, [c for c in calls if c not in again], BUT_LAST)
    yield from kept(case, [c for c in case.backwards if c not in again], BUT_LAST)
    yield from kept(case, again, note)
    yield from kept(case, [*calls, *again], note)


def kept(case: Case, calls: list[ast.Call], note: str) -> Iterator[Proposal]:
    """Pass retain_graph=True to backward passes."""
    edits = [case.with_keyword(c, "retain_graph", "True") for c in dict.fromkeys(calls)]
    yield from case.change(*edits, note=" ".join(filter(None, [note, added_up(case)])))


def added_up(case: Case) -> str:
    """A remark on the leaves whose .grad, which the program reads, gets the gradients of two losses
    of different lines; "" if there are none.
    """
    ways = [w for w in case.reading.trace.backwards if w.kind == "backward"]
    if len({w.line for w in ways}) < 2 or re.search(r"zero_|\.grad *=", case.source):
        return ""
    last = ways[-1]
    before = {leaf for w in ways[:-1] if w.line != last.line for leaf in w.leaves}
    names = [last.called.get(leaf, "") for leaf in last.leaves if leaf in before]
    read = [f"{n}.grad" for n in names if n and case.reads_grad(n)]
    return f"{' and '.join(read)}: the gradients of both passes add up." if read else ""


def freeing(case: Case) -> list[ast.Call]:
    """The calls of backward or grad that freed the saved tensors."""
    refused = case.reading.trace.refused
    if refused is None:
        return []
    line = refused[0].freed_line
    return [c for c in case.backwards if c.lineno <= line <= (c.end_lineno or line)]


# ---- two networks --------------------------------------------------------------------------------


def detached_for_other(case: Case) -> Iterator[Proposal]:
    """Write D(fake.detach()): detach the output of one network where only the other one is trained.

    If the second loss uses an output of the other network from before its step, recompute it.
    """
    if len({case.of(c.func) for c in case.calls("step", everywhere=True)}) < 2:
        return
    for back in [*freeing(case), *case.here]:
        root, at = case.root(back), case.statement_of(back)
        slices = [at, *case.slice_of(root, at.lineno)] if root is not None else []
        for call in [n for s in slices for n in calls_in(s)]:
            if not (_is_network(case, call) and _stepped_after(case, call, at)):
                continue
            (given, *_) = call.args
            built = case.assignments(dotted(given), at.lineno)
            if built and _is_network(case, value_of(built[-1])):
                name, network = case.of(given), case.of(call.func)
                both = f" Both losses run backward through {name}; the first does not need it."
                yield case.proposal(
                    case.appending(given, ".detach()"),
                    *_said_again(case, call, at),
                    note=f"This loss trains {network} only; the other one uses {name}.",
                    why=SECOND + both,
                )


def detached_for_critic(case: Case) -> Iterator[Proposal]:
    """Write D(fake.detach()) in the loss that also has D(real): it compares the output of another
    network with data, and the later loss, with D(fake) alone, trains that network.
    """
    if case.calls("step", everywhere=True):
        return
    for first, second in [(a, b) for a in freeing(case) for b in case.here if a is not b]:
        before, after = _calls_of_networks(case, first), _calls_of_networks(case, second)
        again = {case.of(c) for c in after}
        data = {case.of(c.func) for c in before if case.of(c) not in again if _on_data(case, c)}
        critics = [c for c in before if case.of(c) in again and case.of(c.func) in data]
        own = [c for c in critics if not _on_data(case, c)]
        yield from case.change(
            *[case.appending(c.args[0], ".detach()") for c in own],
            note="The loss with real data trains the discriminator; the other one trains "
            "the generator.",
        )


DISCRIMINATORS = {"d", "disc", "discriminator", "critic", "dis"}  # words in names of losses
GENERATORS = {"g", "gen", "generator"}


def detached_by_name(case: Case) -> Iterator[Proposal]:
    """Detach the generated tensor in d_loss, if g_loss is computed from it too."""
    for first, second in [(a, b) for a in freeing(case) for b in case.here if a is not b]:
        roots = [r for r in (case.root(first), case.root(second)) if r is not None]
        words = [set(re.findall(r"[a-z]+|[A-Z]", dotted(r))) for r in roots]
        lower = [{w.lower() for w in of_name} for of_name in words]
        if len(lower) < 2 or not (lower[0] & DISCRIMINATORS and lower[1] & GENERATORS):
            continue
        own, other = (case.slice_of(r, case.line) for r in roots)
        shared = {n for s in other for n in names_in(value_of(s))}
        read = [n for s in own if s not in other for n in within(value_of(s), ast.Name)]
        read = [n for n in read if n.id in shared and is_computed(case.values.get(n.id))]
        yield from case.change(
            *[case.appending(n, ".detach()") for n in read],
            note=f"{case.of(roots[0])} trains the discriminator only.",
        )


def _calls_of_networks(case: Case, back: ast.Call) -> list[ast.Call]:
    """The calls of networks that the loss of a backward pass is computed from."""
    root, at = case.root(back), case.statement_of(back)
    own = [at, *case.slice_of(root, at.lineno)] if root is not None else []
    return [c for s in own for c in calls_in(s) if _is_network(case, c)]


def _on_data(case: Case, call: ast.Call) -> bool:
    """Whether a network is called with a tensor that needs no gradient."""
    given = case.tensor(call.args[0])
    return given is not None and not given.requires_grad


def detached_from_trained(case: Case) -> Iterator[Proposal]:
    """Write adv.detach() in the loss of one network, if adv depends only on parameters of another
    one that no later step changes.
    """
    roots = [r for back in freeing(case) if (r := case.root(back)) is not None]
    first = {s for r in roots for s in case.slice_of(r, case.line)}
    for back in case.here:
        root, at = case.root(back), case.statement_of(back)
        later = _stepped(case, at)
        own = [at, *(case.slice_of(root, at.lineno) if root is not None and any(later) else [])]
        for name in [n for s in own if s not in first for n in within(s, ast.Name)]:
            leaves = _leaves(case.tensor_of(name.id)) if isinstance(name.ctx, ast.Load) else set()
            if leaves and not any(leaves & stepped for stepped in later):
                why = f" {name.id} comes from parameters that are trained by the first loss only."
                yield case.appended(name, ".detach()", why=SECOND + why)


def _leaves(tensor: Tensor | None) -> set[int]:
    """The ids of the leaves to which gradients of a tensor flow."""
    if tensor is None or tensor.record is None:
        return set()
    records = inputs_first([tensor.record])
    return {id(r.tensor) for r in records if isinstance(r, Accumulator)}


def _stepped(case: Case, at: ast.stmt) -> list[set[int]]:
    """For each optimiser step after a statement, the ids of the parameters that it changes."""
    result = []
    for step in [c for later in case.block_after(at) for c in calls_in(later, "step")]:
        optimiser = case.value(owner(step))
        if isinstance(optimiser, Instance):
            groups = optimiser.fields.get("param_groups", [])
            result.append({id(p) for g in groups for p in g["params"]})
    return result


def _stepped_after(case: Case, call: ast.Call, at: ast.stmt) -> bool:
    """Whether the step after a backward pass changes the network that is called."""
    parameters = {id(p) for p in _parameters_of(case.value(call.func))}
    return any(bool(stepped & parameters) for stepped in _stepped(case, at)[:1])


def _parameters_of(module: Any) -> Iterator[Any]:
    """The parameters of a module and its submodules."""
    for layer in layers_of(module):
        yield from layer.fields.get("_parameters", {}).values()


def _is_network(case: Case, node: ast.AST | None) -> bool:
    """Whether a node is a call of a module with arguments."""
    value = case.value(node.func) if isinstance(node, ast.Call) and node.args else None
    return isinstance(value, Instance) and "_parameters" in value.fields


def _said_again(case: Case, call: ast.Call, first: ast.stmt) -> list[Edit]:
    """Repeat the statement of a call before a later loss uses it."""
    statement = case.statement_of(call)
    ways = [(case.root(back), back.lineno) for back in case.backwards if back.lineno > first.lineno]
    losses = {s for root, line in ways if root is not None for s in case.slice_of(root, line)}
    given = {n.id for n in within(statement, ast.Name) if isinstance(n.ctx, ast.Store)}
    if statement in case.blocks[first]:
        for later in case.block_after(first):
            if later in losses and given & set(names_in(later)):
                return [case.before(later, *case.lines_of(statement))]
    return []


# ---- loops ---------------------------------------------------------------------------------------


def _detached(case: Case, fixed: ast.stmt) -> Proposal:
    """Detach what is computed once before a loop, from numbers that the loop does not change."""
    return case.appended(
        fixed.value,  # type: ignore[attr-defined]
        ".detach()",
        note="The loop changes none of its inputs: its value stays the same.",
        why=SECOND + f" Line {fixed.lineno} runs once, and every iteration uses its graph.",
    )


def recomputed(case: Case) -> Iterator[Proposal]:
    """Move a forward computation from before a loop into it.

    Only if the loop changes something that it depends on, so that each iteration needs it anew.
    """
    for call, root in case.roots:
        loop = case.loop(call)
        if loop is None or not updates(loop):
            continue
        outside = [
            s
            for s in reversed(case.slice_of(root, case.line))
            if s.lineno < loop.lineno and case.loop(s) is case.loop(loop)
            if isinstance(value_of(s), ast.AST) and computes(case, s)
        ]
        sources = {s: [s, *case.slice_of(value_of(s), s.lineno)] for s in outside}
        anew = [s for s in outside if any(_called_anew(case, o, root, loop) for o in sources[s])]
        yield from case.change(
            *[case.appending(value_of(s), ".detach()") for s in anew],
            note="The value from before the loop stays; the loop calls the network again.",
            why=SECOND + " Each iteration runs backward through the graph from before the loop.",
        )
        fixed = [s for s in outside if _is_fixed(case, s)]
        if fixed:
            yield _detached(case, fixed[-1])
            continue
        lines = [line for s in outside for line in case.lines_of(s)]
        yield from case.change(
            *[case.removing(s) for s in outside],
            case.before(loop.body[0], *lines) if outside else None,
            note="Each iteration changes the parameters, so it needs its own forward pass.",
            why=SECOND + " The forward pass is outside the loop, and builds the graph only once.",
        )


def _called_anew(case: Case, before: ast.stmt, root: ast.expr, loop: ast.AST) -> bool:
    """Whether each iteration's loss calls a network again that a statement before the loop calls:
    then the earlier output is meant as a constant.
    """
    called = [n.func for n in within(before, ast.Call) if _is_network(case, n)]
    turn = [s for s in case.slice_of(root, case.line) if loop in case.around(s)]
    again = {case.of(n.func) for s in turn for n in within(s, ast.Call)}
    return any(case.of(f) in again for f in called)


def _is_fixed(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement calls only networks that no optimiser of the program changes."""
    groups = [
        g
        for v in case.scope.values()
        if isinstance(v, Instance)
        for g in v.fields.get("param_groups", ())
    ]
    changed = {id(p) for g in groups for p in g["params"]}
    value = value_of(statement)
    read = [case.value(n) for n in within(value, ast.Name)]
    held = [p for m in read for p in ([m] if isinstance(m, Tensor) else _parameters_of(m))]
    networks = [n for n in within(value, ast.Call) if _is_network(case, n)]
    return bool(changed and networks) and not changed & {id(p) for p in held}


def updates(loop: ast.AST) -> bool:
    """Whether a loop changes parameters, by an optimiser's step or by a gradient."""
    if calls_in(loop, "step", "sub_", "add_", "copy_"):
        return True
    return any(_by_gradient(s.value) for s in within(loop, ast.AugAssign, ast.Assign))


def _by_gradient(value: ast.expr) -> bool:
    """Whether an expression depends on a .grad."""
    read = [n for n in within(value, ast.Attribute) if n.attr == "grad"]
    computed = not isinstance(value, ast.Attribute)
    return computed and any(dotted(n.value) not in TRANSFORMS for n in read)


TRANSFORMS = ("autograd", "torch.autograd", "func", "torch.func")  # modules that define grad


def stepped_leaf(case: Case) -> Iterator[Proposal]:
    """Make x = x - f(x.grad) in a loop a leaf, as the next iteration differentiates with respect to
    it.
    """
    loop = case.loop_here
    for step in within(loop, ast.Assign):
        (name, *others) = targets(step)
        by_grad = [n for n in within(step.value, ast.Attribute) if n.attr == "grad"]
        if name and not others and name in [dotted(n.value) for n in by_grad]:
            why = f" Line {step.lineno} makes {name} a computed tensor: each step needs a new leaf."
            yield case.appended(step.value, ".detach().requires_grad_()", why=SECOND + why)


def projected(case: Case) -> Iterator[Proposal]:
    """Write x.data = x.data.clamp(min=0) for x = x.clamp(min=0) of a parameter in a loop."""
    loop = case.loop_here
    optimisers = [c for c in case.calls(everywhere=True) if "optim" in dotted(c.func)]
    trained = {n for c in optimisers for a in c.args for n in names_in(a)}
    for step in within(loop, ast.Assign):
        (name, *others) = targets(step)
        read = [n for n in within(step.value, ast.Name) if n.id == name]
        if name in trained and not others and read:
            why = f" Line {step.lineno} makes {name} a computed tensor: the optimiser has the leaf."
            edits = [case.adding(n, ".data") for n in (step.targets[0], *read)]
            yield case.proposal(*edits, why=SECOND + why)


def computed_in_init(case: Case) -> Iterator[Proposal]:
    """Compute in forward() what __init__() computes of parameters."""
    for cls in case.classes:
        for init, forward in zip(methods(cls, "__init__"), methods(cls, "forward")):
            for s in [n for n in within(init, ast.Assign) if "self." in case.of(n.value)]:
                moved = case.before(forward.body[0], *case.lines_of(s))
                why = SECOND + f" Line {s.lineno} runs once; every call needs its graph."
                yield case.proposal(case.removing(s), moved, why=why)


def carried_over(case: Case, why: str = SECOND) -> Iterator[Proposal]:
    """Detach a state that an iteration of a loop takes from the previous one."""
    loop = case.loop_here
    if loop is None or not case.alone(loop.body[0]):
        return
    names = _states(case, loop)
    computed = [n for n in names if _has_graph(case.values.get(n))]
    if len(computed) > 1:
        yield _cut_at(case, loop, computed, why)
    for name in names:
        yield _cut_at(case, loop, [name], why)
        for statement in case.assignments(name):
            if loop in case.around(statement) and isinstance(statement, ast.Assign):
                yield case.proposal(case.after(statement, _cut(case, name)), weak=True)


def _states(case: Case, loop: ast.For | ast.While) -> list[str]:
    """Names that are assigned before a loop, and read and assigned in it."""
    read = dict.fromkeys(n for s in loop.body for n in names_in(s))
    return [
        name
        for name in read
        if "." not in name
        and any(loop in case.around(s) for s in case.assignments(name))
        and case.assignments(name, loop.lineno)
    ]


def _cut_at(case: Case, loop: ast.For | ast.While, names: list[str], why: str) -> Proposal:
    """Detach states at the start of each iteration; convert those that are numbers to tensors."""
    begun = [value_of(s) for n in names for s in case.assignments(n, loop.lineno)[-1:]]
    listed = " and ".join(names)
    lines = [_cut(case, n) for n in names]
    back = next((case.statement_of(c) for c in case.here), loop.body[0])
    now_and_then = isinstance(case.parents[back], ast.If) and loop in case.around(back)
    last = case.blocks[back][-1] if now_and_then else back
    return case.proposal(
        *case.numbers_as("torch.tensor({})", begun),
        case.after(last, *lines) if now_and_then else case.before(loop.body[0], *lines),
        note=f"{listed}: the values are kept, without the graph of the previous iteration.",
        why=why + f" {listed}: from the previous iteration, with its graph.",
    )


def _cut(case: Case, name: str) -> str:
    """The statement that detaches a state, or a tuple of states; None stays."""
    several = isinstance(case.values.get(name), tuple)
    cut = f"tuple(s.detach() for s in {name})" if several else f"{name}.detach()"
    return f"{name} = {_unless_none(case, name, cut)}"


def _unless_none(case: Case, name: str, cut: str) -> str:
    """An expression for a state that is detached; None stays, if the state begins as None."""
    begun = [value_of(s) for s in case.assignments(name)[:1]]
    if begun and isinstance(begun[0], ast.Constant) and begun[0].value is None:
        return f"None if {name} is None else {cut}"
    return cut


def _has_graph(value: Any) -> bool:
    return any(map(_has_graph, value)) if isinstance(value, tuple) else is_computed(value)


def carried_by_object(case: Case) -> Iterator[Proposal]:
    """Detach, at the start of each iteration, an object's state that several iterations update."""
    loop = case.loop_here
    inner = [n for n in within(loop, ast.For, ast.While) if n is not loop]
    if loop is None or not case.alone(loop.body[0]):
        return
    called = [c.func for n in inner for c in calls_in(n)]
    names = {dotted(f) for f in called} | {dotted(owner(f)) for f in called}
    for name in sorted(n for n in names if n and case.assignments(n, loop.lineno)):
        fields = getattr(case.scope.get(name), "fields", {})
        held = [f"{name}.{field}" for field, value in fields.items() if is_computed(value)]
        lines = [f"{h} = {h}.detach()" for h in held]
        yield from case.change(
            case.before(loop.body[0], *lines) if lines else None,
            note=f"{name} keeps its values, without the graph of the previous iteration.",
            why=SECOND + f" {name} carries it over from the previous iteration.",
        )


def carried_by_module(case: Case) -> Iterator[Proposal]:
    """Detach, at the start of each call, a state that a module or a global name keeps."""
    for function in case.of_type(ast.FunctionDef, everywhere=True):
        if function.name == "__init__":
            continue
        nodes = [n for n in within(function, ast.Attribute) if dotted(n).startswith("self.")]
        stored = {dotted(n) for n in nodes if isinstance(n.ctx, ast.Store)}
        read = {dotted(n) for n in nodes if isinstance(n.ctx, ast.Load)}
        shared = {n for s in within(function, ast.Global) for n in s.names}
        first = next(s for s in function.body if not isinstance(s, ast.Global))
        for name in sorted(stored & read | shared):
            for text in (f"{name}.detach()", f"tuple(s.detach() for s in {name})"):
                yield case.proposal(
                    case.before(first, f"{name} = {_unless_none(case, name, text)}"),
                    note=f"{name} keeps its values, without the graph of the previous call.",
                    why=SECOND + f" {name} comes from the previous call, with its graph.",
                )


def last_term(case: Case) -> Iterator[Proposal]:
    """Write loss.backward() for total += loss; total.backward() in a loop."""
    for call, root in case.roots:
        loop = case.loop(call)
        if not isinstance(root, ast.Name) or loop is None:
            continue
        name = root.id
        for s in case.assignments(name, case.line):
            term = _term(s, name) if loop in case.around(s) else None
            begun = case.assignments(name, loop.lineno)
            outer = case.parents.get(case.statement_of(call))
            if term is not None and begun and isinstance(outer, ast.If):
                yield case.proposal(
                    case.after(case.blocks[case.statement_of(call)][-1], case.of(begun[-1])),
                    why=f"{name} contains earlier losses, whose graphs are freed.",
                    note=f"{name} is summed again after each step.",
                )
            elif term is not None and begun:
                yield case.proposal(
                    case.appending(term, ".detach()"),
                    case.replacing(root, case.of(term)),
                    why=f"{name} contains earlier losses, whose graphs are freed.",
                    note=f"{name} sums the values; each iteration runs backward from its own loss.",
                )


def emptied(case: Case) -> Iterator[Proposal]:
    """Empty lists at the start of each iteration, if its loss is computed from them."""
    for call, root in case.roots:
        loop = case.loop(call)
        if loop is None:
            continue
        turn = case.slice_of(root, case.line)
        used = {n for s in turn for n in names_in(value_of(s))}
        used |= {n for s in turn for f in case.around(s) for n in names_in(getattr(f, "iter", s))}
        begun = [
            s
            for name in sorted(used | set(names_in(root)))
            for s in case.assignments(name, loop.lineno)[-1:]
            if _is_empty(value_of(s))
            if any(c for c in calls_in(loop, "append", "extend") if dotted(owner(c)) == name)
        ]
        held = [
            s
            for s in begun
            if isinstance(s, ast.Assign)
            if _is_memory(case, s.targets[0]) or _is_filled_later(case, targets(s)[0], call)
        ]
        yield from _kept_states(case, loop, [targets(s)[0] for s in held])
        listed = " and ".join(targets(s)[0] for s in begun)
        yield from case.change(
            *[case.removing(s) for s in begun],
            case.before(loop.body[0], *[case.of(s) for s in begun]) if begun else None,
            why=f"{listed}: items of previous iterations stay in it, and their graphs are freed.",
            note="Each iteration starts with an empty list.",
        )


def _is_empty(value: Any) -> bool:
    """Whether an expression is [], or an empty deque."""
    return (isinstance(value, ast.List) and not value.elts) or method(value) == "deque"


def _is_memory(case: Case, target: ast.expr) -> bool:
    """Whether a list is stacked or concatenated, and contains neither losses nor numbers: its items
    are used again.
    """
    used = [n for c in case.calls("stack", "cat", everywhere=True) for n in names_in(c)]
    name, held = dotted(target), case.value(target)
    single = isinstance(held, list) and all(isinstance(t, Tensor) and not t.ndim for t in held)
    return name in used and not is_called_loss(name) and not single


def _is_filled_later(case: Case, name: str, back: ast.Call) -> bool:
    """Whether a list is only appended to after a backward pass: its items are for later turns."""
    added = [c for c in case.calls("append", "extend", everywhere=True) if dotted(owner(c)) == name]
    return all(c.lineno > back.lineno for c in added)


def _kept_states(case: Case, loop: ast.For | ast.While, names: list[str]) -> Iterator[Proposal]:
    """The items of lists, and the states of a loop, cut off from the graphs of the turns before."""
    lines = [f"{name} = {_cut_items(case, name, loop)}" for name in names]
    states = [n for n in _states(case, loop) if n not in names and _has_graph(case.values.get(n))]
    for more in ([], states) if states else ([],):
        yield from case.change(
            case.before(loop.body[0], *lines, *[_cut(case, n) for n in more]) if lines else None,
            why=f"{' and '.join(names + more)}: earlier results keep their graphs.",
            note="The values are kept, without the graphs of previous iterations.",
        )


def _cut_items(case: Case, name: str, loop: ast.AST) -> str:
    """The items of a list, or of a deque, without their graphs."""
    begun = case.made(ast.Name(name, ast.Load()), loop.lineno)  # type: ignore[attr-defined]
    items = f"item.detach() for item in {name}"
    deque = isinstance(begun, ast.Call)
    return f"{case.of(begun.func)}(({items}), {name}.maxlen)" if deque else f"[{items}]"  # type: ignore[attr-defined]


def _term(statement: ast.stmt, name: str) -> ast.expr | None:
    """The term that a statement adds to a name."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return statement.value
    value = value_of(statement)
    added = is_operation(value, ast.Add) and dotted(value.left) == name
    return value.right if added else None
