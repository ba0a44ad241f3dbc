"""Corrections of in-place changes, of leaves and of views: the written tensor, and the same change
out of place.
"""

import ast
from collections.abc import Iterator
from typing import Any

from .case import Case, Proposal
from .graphs import updates
from .nodes import (
    calls_in,
    dotted,
    is_operation,
    keyword,
    method,
    names_in,
    owner,
    value_of,
    within,
)
from .text import Edit

OPERATORS = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"},
    **{ast.MatMult: "@", ast.Mod: "%", ast.FloorDiv: "//"},
}
NO_GRAD = "with torch.no_grad():"
MODULES = ("F", "torch", "torch.nn.functional")  # with functions that change their first argument
INITIALISERS = ("nn.init", "torch.nn.init", "init")
FILLED = ("zero", "fill", "copy", "uniform", "normal", "fill_diagonal")
ARITHMETIC = ("add_", "mul_", "sub_", "div_", "relu_", "sigmoid_", "tanh_", "pow_", "exp_")


# ---- the written tensor --------------------------------------------------------------------------


def in_place_calls(node: ast.AST | None) -> list[ast.Call]:
    """The calls of in-place methods, such as add_ and zero_, in a node."""
    return [c for c in calls_in(node) if _changes(method(c)) and method(c) != "requires_grad_"]


def _changes(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def written(statement: ast.AST) -> ast.expr | None:
    """The tensor that a statement changes in place."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return statement.targets[0]
    if isinstance(statement, ast.Expr | ast.Assign | ast.Return):
        for call in in_place_calls(statement.value):
            if isinstance(call.func, ast.Attribute):
                return _changed(call)
    return None


def _changed(call: ast.Call) -> ast.expr | None:
    """The x of x.add_(1), and of F.relu_(x)."""
    if dotted(owner(call)) not in (*MODULES, *INITIALISERS):
        return owner(call)
    return call.args[0] if call.args else None


def base_of(node: ast.expr | None) -> ast.expr | None:
    """The tensor x in x[0], x.data, x[:, 1]."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


# ---- the same change out of place ----------------------------------------------------------------

NEW = "A new tensor of the same name; the old one keeps its values for the backward pass."
COPY = "The copy is changed; the old tensor keeps its values for the backward pass."


def out_of_place(case: Case, statement: ast.stmt, name: str = "") -> Iterator[Proposal]:
    """Write an in-place change out of place; its result is named `name`, or as before."""
    target = written(statement)
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Subscript):
        left, value = case.of(statement.target), case.of(statement.value)
        if isinstance(statement.value, ast.BinOp | ast.IfExp | ast.Lambda | ast.BoolOp):
            value = f"({value})"
        sign = OPERATORS.get(type(statement.op))
        if sign:
            yield case.replaced(statement, f"{name or left} = {left} {sign} {value}", note=NEW)
    elif isinstance(target, ast.Subscript):
        yield _of_copy(case, statement, target)
    else:
        yield from as_result(case, statement, name)


def _of_copy(case: Case, statement: ast.stmt, target: ast.expr) -> Proposal:
    """Make the change in a copy of the whole tensor."""
    base = case.of(base_of(target))
    return case.proposal(case.before(statement, f"{base} = {base}.clone()"), note=COPY)


def as_result(case: Case, statement: ast.stmt, name: str = "") -> Iterator[Proposal]:
    """Write x = x.add(1) for x.add_(1)."""
    for call in in_place_calls(statement):
        if not isinstance(call.func, ast.Attribute):
            continue
        plain, target = method(call).removesuffix("_"), call.func.value
        if plain in FILLED:
            yield _of_copy(case, statement, target)
            continue
        edit = case.renamed(call, plain)
        if not (isinstance(statement, ast.Expr) and statement.value is call):
            yield case.proposal(edit, note=NEW)
            continue
        if call.args and dotted(target) in MODULES:
            target = call.args[0]
        if isinstance(base_of(target), ast.Name | ast.Attribute):
            left = case.inserting(statement, f"{name or case.of(target)} = ")
            yield case.proposal(left, edit, note=NEW)


def out_of_place_edits(case: Case, statements: list[ast.stmt], name: str = "") -> list[Edit]:
    """For each statement, the first change that `out_of_place` proposes, as one edit."""
    first = [next(out_of_place(case, s, name), None) for s in dict.fromkeys(statements)]
    return [_only_edit(case.source, p.source) for p in first if p]


def _only_edit(before: str, after: str) -> Edit:
    """The single edit that turns one text into another."""
    most = min(len(before), len(after))
    start = next((k for k in range(most) if before[k] != after[k]), most)
    rest = range(most - start)
    end = next((k for k in rest if before[-1 - k] != after[-1 - k]), most - start)
    return Edit(start, len(before) - end, after[start : len(after) - end])


def without_inplace(case: Case) -> Iterator[Proposal]:
    """Remove inplace=True everywhere."""
    edits = []
    for call in case.calls(everywhere=True):
        named, last = keyword(call, "inplace"), call.args[-1] if call.args else None
        if named:
            cut = case.without_keyword(call, "inplace") if value_of(named.value) is True else None
            edits += [cut] if cut else []
        elif method(call) in ("ReLU", "LeakyReLU", "Dropout") and value_of(last) is True:
            edits.append(case.replacing(call.args[-1], "False"))
    for edit in edits:
        yield case.proposal(edit)
    if len(edits) > 1:
        yield case.proposal(*edits)


# ---- leaves --------------------------------------------------------------------------------------


def of_leaf(case: Case) -> Iterator[Proposal]:
    """Update or initialise a leaf under no_grad; or compute out of place."""
    yield from without_inplace(case)
    for statement in case.statements:
        yield from averaged_copies(case, statement)
        yield from by_index(case, statement)
        yield from copied_view(case, statement)
        target = base_of(written(statement))
        if target is None:
            yield from unrecorded(case, statement)
            continue
        name = dotted(target)
        if _of_loop(case, statement, name):
            yield from updated_list(case, statement)
            yield from unrecorded(case, statement)
            continue
        if is_update(case, statement) or isinstance(target, ast.Attribute) or _alias(case, name):
            yield from unrecorded(case, statement)
        elif isinstance(statement, ast.AugAssign) or calls_in(statement, *ARITHMETIC):
            yield from renamed(case, statement, name)
            if not case.reads_grad(name) and not _discarded(statement):
                yield from out_of_place(case, statement)
            yield from unrecorded(case, statement)
        else:
            if case.reading.trace.backwards or _used_before(case, statement, name):
                yield from renamed(case, statement, name)
            yield from unrecorded(case, statement)
        if not _discarded(statement):
            yield from out_of_place(case, statement)


def averaged_copies(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """Fill a dict or list with copies of parameters, if they are averaged in it, not trained."""
    for name in [n for n in names_in(statement) if isinstance(case.values.get(n), dict | list)]:
        for built in [s.value for s in case.makers(name)]:
            item = built.value if isinstance(built, ast.DictComp) else getattr(built, "elt", None)
            source = [c for part in getattr(built, "generators", ()) for c in calls_in(part.iter)]
            of_module = any(method(c) in ("parameters", "named_parameters") for c in source)
            if isinstance(item, ast.Name) and of_module:
                why = f"{name} contains the parameters themselves: changing its items changes them."
                copied = case.appending(item, ".detach().clone()")
                yield case.proposal(copied, case.wrapping([statement], NO_GRAD), why=why)


def _discarded(statement: ast.stmt) -> bool:
    """Whether a statement changes the result of chained methods, so that a new tensor would be
    lost.
    """
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(owner(call), ast.Call)


def copied_view(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """Write y = x.view(2, 3).clone() for a named view that is used later."""
    name = dotted(base_of(written(statement)))
    if "view of" not in case.message or not name or ".grad" in case.of(statement):
        return
    outer = case.loop(statement) or statement
    used = [n for n in case.reads_of(name) if n.lineno > (outer.end_lineno or 0)]
    for built in case.makers(name)[:1] if used and case.backwards else ():
        if isinstance(built.value, ast.Call | ast.Subscript) and method(built.value) != "detach":
            yield case.appended(built.value, ".clone()", note=COPY)


def _of_loop(case: Case, statement: ast.stmt, name: str) -> bool:
    """Whether a name is a loop's target that is not read afterwards, so that a new tensor would be
    lost.
    """
    loop = case.loop(statement)
    if not isinstance(loop, ast.For) or name not in names_in(loop.target):
        return False
    later = [n.lineno for n in case.names(name) if loop in case.around(n)]
    return max(later, default=0) <= statement.lineno


def updated_list(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """Build a list of new tensors, for a loop that updates those of a list by differentiable
    gradients.
    """
    loop = case.loop(statement)
    created = any(keyword(c, "create_graph") for c in case.backwards)
    later = any(c.lineno > statement.lineno for c in case.backwards)
    if not (isinstance(loop, ast.For) and isinstance(statement, ast.AugAssign)):
        return
    if not (created and later):
        return
    zipped = loop.iter.args if isinstance(loop.iter, ast.Call) else []
    held = dotted(zipped[0]) if zipped and method(loop.iter) == "zip" else ""
    sign = OPERATORS.get(type(statement.op))
    if held and len(loop.body) == 1 and isinstance(case.values.get(held), list) and sign:
        p, change = case.of(statement.target), case.of(statement.value)
        change = f"({change})" if is_operation(statement.value, ast.Add | ast.Sub) else change
        new = f"{held} = [{p} {sign} {change} for {case.of(loop.target)} in {case.of(loop.iter)}]"
        note = "New tensors, which autograd tracks; the parameters keep their values."
        yield case.replaced(loop, new, note=note)


def _alias(case: Case, name: str) -> bool:
    """Whether a name refers to a module's parameter, as in w = layer.weight."""
    return any(isinstance(value_of(s), ast.Attribute) for s in case.assignments(name))


def is_update(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement changes a parameter by a gradient, or after all backward passes."""
    loop = case.loop(statement)
    if ".grad" in case.of(statement):
        return True
    if loop is None:
        return bool(case.backwards) and case.backwards[-1].lineno < case.line
    return updates(loop)


def _used_before(case: Case, statement: ast.stmt, name: str) -> bool:
    """Whether a leaf is used before it is changed."""
    used = case.of_type(ast.BinOp, ast.Call, ast.Compare, everywhere=True)
    read = [n for s in used for n in within(s, ast.Name) if n.id == name]
    return any(n.lineno < statement.lineno for n in read)


def unrecorded(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """Make the change under torch.no_grad()."""
    note = "The values change, but autograd does not record the change."
    created = any("create_graph" in case.of(c) for c in case.backwards)
    if created and any(c.lineno > statement.lineno for c in case.backwards):
        note += " A backward pass through the change needs new tensors: torch.func.functional_call."
    group = [statement]
    for other in case.block_after(statement):
        if not _of_parameter(case, other):
            break
        group.append(other)
    if len(group) > 1:
        yield case.proposal(case.wrapping(group, NO_GRAD), note=note)
    yield case.proposal(case.wrapping([statement], NO_GRAD), note=note)


def _of_parameter(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement changes a leaf that requires grad in place."""
    tensor = case.tensor(base_of(written(statement)))
    return tensor is not None and tensor.requires_grad and tensor.is_leaf


def renamed(case: Case, statement: ast.stmt, name: str) -> Iterator[Proposal]:
    """Give the result another name: the leaf keeps its name and its .grad."""
    if "." in name or not name or case.loop(statement) or not case.reads_grad(name):
        return
    taken = {n.id for n in case.of_type(ast.Name, everywhere=True)}
    new = next(n for n in (f"{name}_new", f"new_{name}", f"{name}_2") if n not in taken)
    last = statement.end_lineno or 0
    later = [n for n in case.names(name) if n.lineno > last and not _of_leaf(case.parents[n])]
    edits = [case.replacing(n, new) for n in later]
    note = f"{name} stays the leaf whose .grad is read; {new} is the changed tensor."
    if isinstance(written(statement), ast.Subscript) or not isinstance(statement, ast.AugAssign):
        edits += [case.replacing(n, new) for n in within(statement, ast.Name) if n.id == name]
        copy = case.before(statement, f"{new} = {name}.clone()")
        yield case.proposal(copy, *edits, note=note)
    else:
        changed = out_of_place_edits(case, [statement], new)
        yield from case.change(*changed, *edits, note=note)


def _of_leaf(node: Any) -> bool:
    """Whether a node reads an attribute that only leaves have."""
    asked = ("grad", "requires_grad", "is_leaf", "zero_grad")
    return isinstance(node, ast.Attribute) and node.attr in asked


def detached_view(case: Case) -> Iterator[Proposal]:
    """Write y[:2] = y[:2].detach() for y[:2].detach_(), or y = y.detach() for a named view."""
    for statement in case.of_type(ast.Expr):
        call = statement.value
        if method(call) == "detach_" and isinstance(owner(call), ast.Subscript | ast.Name):
            text = case.of(owner(call))
            yield case.replaced(statement, f"{text} = {text}.detach()")


# ---- dtype, shape, memory ------------------------------------------------------------------------


def keeps_dtype(case: Case) -> Iterator[Proposal]:
    """Create a floating tensor; or compute out of place."""
    for statement in case.statements:
        base = base_of(written(statement))
        for built in reversed(case.makers(base)) if base else ():
            yield case.appended(built.value, ".float()")
        yield from out_of_place(case, statement)


def keeps_shape(case: Case) -> Iterator[Proposal]:
    """Compute out of place."""
    for statement in case.statements:
        yield from out_of_place(case, statement)


def plain_no_grad(case: Case) -> Iterator[Proposal]:
    """Write torch.no_grad() for torch.inference_mode()."""
    for node in case.attributes("inference_mode", everywhere=True):
        note = "no_grad() also records nothing, but its tensors can be used in autograd later."
        yield case.renamed_to(node, "no_grad", note=note)


def several_views(case: Case) -> Iterator[Proposal]:
    """Compute out of place, for the base or for the view."""
    yield from without_inplace(case)
    for statement in case.statements:
        yield from by_index(case, statement)
        yield from in_list(case, statement)
    for statement in case.statements:
        target = base_of(written(statement))
        if target is None or _of_loop(case, statement, dotted(target)):
            continue
        for built in case.makers(target) if "custom Function" in case.message else ():
            yield case.appended(built.value, ".clone()")
        yield from out_of_place(case, statement)
    for earlier in case.of_type(ast.stmt, everywhere=True):
        if earlier.lineno < case.line and written(earlier) and not hasattr(earlier, "body"):
            yield from out_of_place(case, earlier)


def in_list(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """Write rows = list(h.unbind(0)); rows[0] = rows[0].mul(2)."""
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
    """Write for i in range(len(y)): y[i] *= 2 for for row in y: row *= 2."""
    loop, target = case.loop(statement), base_of(written(statement))
    if not (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)):
        return
    rows = owner(loop.iter) if case.of(loop.iter).endswith((".unbind()", ".unbind(0)")) else None
    whole = rows or loop.iter
    row, base = loop.target.id, dotted(whole)
    if not (isinstance(whole, ast.Name) and case.tensor(whole) and dotted(target) == row):
        return
    index = next(n for n in ("i", "j", "k", "index") if n not in case.values)
    read = [n for s in loop.body for n in within(s, ast.Name) if n.id == row]
    yield case.proposal(
        case.replacing(loop.target, index),
        case.replacing(loop.iter, f"range(len({base}))"),
        *[case.replacing(n, f"{base}[{index}]") for n in read],
        note=f"Each row is a separate view of {base}, which autograd follows.",
        uncovers=True,
    )


def shared_memory(case: Case) -> Iterator[Proposal]:
    """Copy the tensor first."""
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
            statement, edit = case.statement_of(call), case.renamed(call, method(call).rstrip("_"))
            hook = getattr(case.function_of(statement), "name", "")
            if hook and hook in [dotted(a) for h in hooked for a in h.args]:
                yield case.proposal(case.inserting(statement, "return "), edit)
            yield case.proposal(edit)
    for statement in case.statements:
        yield from out_of_place(case, statement)
