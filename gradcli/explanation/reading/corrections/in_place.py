"""Cures of changes in place: of leaves, of what a way back needs, of views."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from .case import Case, Proposal, cures, names_in
from .graphs import freeing, recomputed, updates
from .seeds import here, roots
from .text import Edit, dotted, keyword, method

OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.Mod: "%",
    ast.FloorDiv: "//",
}
NO_GRAD = "with torch.no_grad():"
LEAF = (
    "The tensor is a leaf: its .grad belongs to the numbers that it has, and a change in place "
    "would be recorded as an operation on itself."
)
NEEDED = (
    "The way back needs the numbers that were there in the forward; the change wrote over them."
)


def written(case: Case, statement: ast.AST) -> ast.expr | None:
    """The tensor that a statement changes in place."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return statement.targets[0]
    if isinstance(statement, ast.Expr | ast.Assign | ast.Return):
        value: Any = statement.value
        nodes: list[Any] = list(ast.walk(value)) if value is not None else []
        for node in nodes:
            if in_place_call(node) and isinstance(node.func, ast.Attribute):
                if dotted(node.func.value) in ("F", "torch", "torch.nn.functional", "nn.init"):
                    return node.args[0] if node.args else None
                if dotted(node.func.value) in ("torch.nn.init", "init"):
                    return node.args[0] if node.args else None
                return node.func.value
    return None


def in_place_call(node: Any) -> bool:
    """Whether a node calls a method that changes its tensor: add_, zero_."""
    name = method(node)
    return name.endswith("_") and not name.endswith("__") and name not in ("requires_grad_",)


def base_of(node: ast.expr | None) -> ast.expr | None:
    """x of x[0], x.data, x[:, 1]."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def out_of_place(case: Case, statement: ast.stmt, name: str = "") -> Iterator[Proposal]:
    """The same change with a new tensor as its result, called `name` if it is another."""
    text = case.text
    target = written(case, statement)
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Subscript):
        left = text.of(statement.target)
        value = text.of(statement.value)
        if isinstance(statement.value, ast.BinOp | ast.IfExp | ast.Lambda | ast.BoolOp):
            value = f"({value})"
        operator = OPERATORS.get(type(statement.op))
        if operator:
            new = f"{name or left} = {left} {operator} {value}"
            yield case.proposal(text.replacing(statement, new), note=CLONED[0])
    elif isinstance(target, ast.Subscript):
        base = base_of(target)
        left = text.of(base)
        new = f"{left} = {left}.clone()"
        yield case.proposal(text.before(statement, new), note=CLONED[1])
    else:
        yield from _method(case, statement, name)


COPIED = "The operation saves a copy, which the change does not reach."
CLONED = (
    "A new tensor of the same name; the old one keeps its numbers for the way back.",
    "The change is made to a copy; the old tensor keeps its numbers for the way back.",
)


def _method(case: Case, statement: ast.stmt, name: str) -> Iterator[Proposal]:
    """x.add_(1) as x = x.add(1)."""
    text = case.text
    for node in ast.walk(statement):
        if not in_place_call(node):
            continue
        assert isinstance(node, ast.Call)
        func = node.func
        if not isinstance(func, ast.Attribute):
            continue
        plain = func.attr.removesuffix("_")
        if plain in ("zero", "fill", "copy", "uniform", "normal", "fill_diagonal"):
            base = text.of(base_of(func.value))
            yield case.proposal(text.before(statement, f"{base} = {base}.clone()"), note=CLONED[1])
            continue
        start = text.end(func) - len(func.attr)
        edit = Edit(start, text.end(func), plain)
        if isinstance(statement, ast.Expr) and statement.value is node:
            target: ast.expr = func.value
            if node.args and dotted(func.value) in ("F", "torch", "torch.nn.functional"):
                target = node.args[0]
            left = name or text.of(target)
            begin = text.start(statement)
            if isinstance(base_of(target), ast.Name | ast.Attribute):
                yield case.proposal(Edit(begin, begin, f"{left} = "), edit, note=CLONED[0])
        else:
            yield case.proposal(edit, note=CLONED[0])


def without_inplace(case: Case) -> Iterator[Proposal]:
    """inplace=True taken away, everywhere."""
    edits = []
    for node in case.all_nodes:
        if isinstance(node, ast.Call) and (named := keyword(node, "inplace")):
            if getattr(named.value, "value", None) is True:
                edit = case.without_keyword(node, "inplace")
                edits += [edit] if edit else []
        elif isinstance(node, ast.Call) and method(node) in ("ReLU", "LeakyReLU", "Dropout"):
            last = node.args[-1] if node.args else None
            if isinstance(last, ast.Constant) and last.value is True:
                edits.append(case.text.replacing(last, "False"))
    for edit in edits:
        yield case.proposal(edit)
    if len(edits) > 1:
        yield case.proposal(*edits)


# ---- leaves --------------------------------------------------------------------------------------


@cures(r"a (view of a )?leaf Variable that requires grad is being used in an in-place", LEAF)
def of_leaf(case: Case) -> Iterator[Proposal]:
    """An update or an initialisation without recording; a computation out of place."""
    yield from without_inplace(case)
    for statement in case.statements:
        target = base_of(written(case, statement))
        if target is None:
            yield from unrecorded(case, statement)
            continue
        name = dotted(target)
        if is_update(case, statement) or isinstance(target, ast.Attribute) or _alias(case, name):
            yield from unrecorded(case, statement)
        elif isinstance(statement, ast.AugAssign) or _computes(case, statement):
            yield from renamed(case, statement, name)
            if not case.reads_grad(name):
                yield from out_of_place(case, statement)
            yield from unrecorded(case, statement)
        else:
            if case.reading.trace.backwards or _used_before(case, statement, name):
                yield from renamed(case, statement, name)
            yield from unrecorded(case, statement)
        yield from out_of_place(case, statement)


def _alias(case: Case, name: str) -> bool:
    """Whether a name is that of a module's parameter: w = layer.weight."""
    return any(isinstance(getattr(s, "value", None), ast.Attribute) for s in case.assignments(name))


def is_update(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement changes a parameter by a gradient, or after all ways back."""
    loop = case.loop(statement)
    if loop is None and case.backwards:
        return ".grad" in case.text.of(statement) or case.backwards[-1].lineno < case.line
    return ".grad" in case.text.of(statement) or (loop is not None and updates(loop))


def _computes(case: Case, statement: ast.stmt) -> bool:
    """Whether a change in place is arithmetic, not the writing of given numbers."""
    return any(
        method(n) in ("add_", "mul_", "sub_", "div_", "relu_", "sigmoid_", "tanh_", "pow_", "exp_")
        for n in ast.walk(statement)
    )


def _used_before(case: Case, statement: ast.stmt, name: str) -> bool:
    """Whether a leaf was computed with before it is changed."""
    return any(
        isinstance(n, ast.Name) and n.id == name and n.lineno < statement.lineno
        for s in case.all_nodes
        if isinstance(s, ast.BinOp | ast.Call)
        for n in ast.walk(s)
    )


def unrecorded(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """The change within torch.no_grad()."""
    note = "The numbers are changed, and nothing is recorded of it."
    block = case.text.blocks.get(statement, [])
    group = [statement]
    for other in block[block.index(statement) + 1 :] if statement in block else ():
        if not _of_parameter(case, other):
            break
        group.append(other)
    if len(group) > 1:
        yield case.proposal(case.text.wrapping(group, NO_GRAD), note=note)
    yield case.proposal(case.text.wrapping([statement], NO_GRAD), note=note)


def _of_parameter(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement changes a leaf that requires grad in place."""
    tensor = case.tensor(base_of(written(case, statement)))
    return tensor is not None and tensor.requires_grad and tensor.is_leaf


def renamed(case: Case, statement: ast.stmt, name: str) -> Iterator[Proposal]:
    """The result under a name of its own: the leaf stays, and keeps its .grad."""
    if "." in name or not name or case.loop(statement) or not case.reads_grad(name):
        return
    new, text = fresh(case, name), case.text
    later = [
        n
        for n in case.all_nodes
        if isinstance(n, ast.Name)
        and n.id == name
        and n.lineno > (statement.end_lineno or 0)
        and not (isinstance(text.parents[n], ast.Attribute) and _of_leaf(text.parents[n]))
    ]
    edits = [text.replacing(n, new) for n in later]
    target = written(case, statement)
    note = f"{name} stays the leaf whose .grad is read; {new} is what it becomes."
    if isinstance(target, ast.Subscript) or not isinstance(statement, ast.AugAssign):
        inner = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
        edits += [text.replacing(n, new) for n in inner]
        yield case.proposal(text.before(statement, f"{new} = {name}.clone()"), *edits, note=note)
        return
    for p in out_of_place(case, statement, new):
        changed = _only_edit(case.text.source, p.source)
        yield case.proposal(changed, *edits, note=note)


def _of_leaf(node: Any) -> bool:
    return node.attr in ("grad", "requires_grad", "is_leaf", "zero_grad")


def _only_edit(before: str, after: str) -> Edit:
    """The one edit that makes a text another."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    most = min(len(before), len(after)) - start
    while end < most and before[-1 - end] == after[-1 - end]:
        end += 1
    return Edit(start, len(before) - end, after[start : len(after) - end])


def fresh(case: Case, name: str) -> str:
    """A name that the program does not have."""
    taken = {n.id for n in case.all_nodes if isinstance(n, ast.Name)}
    return next(n for n in (f"{name}_new", f"new_{name}", f"{name}_2") if n not in taken)


# ---- what the way back needs ---------------------------------------------------------------------


@cures("one of the variables needed for gradient computation has been modified by an in", NEEDED)
def needed(case: Case) -> Iterator[Proposal]:
    """Out of place; or the forward again after an optimiser's step; or the step later."""
    lines = changing_lines(case)
    yield from without_inplace(case)
    for line in lines:
        for statement in case.text.statements(line):
            leaf = case.tensor(base_of(written(case, statement)))
            if leaf is not None and leaf.is_leaf and leaf.requires_grad:
                yield from after_step(case, without_recording(case, statement))
            if any(method(n) in ("step",) for n in ast.walk(statement)):
                yield from after_step(case, statement)
            elif is_update(case, statement) and ".grad" in case.text.of(statement):
                yield from recomputed(case)
            else:
                yield from out_of_place(case, statement)
    yield from recomputed(case)
    for line in lines:
        for statement in case.text.statements(line):
            yield from after_step(case, statement)
            yield from copied_operand(case)
    statements = [s for line in lines for s in case.text.statements(line)]
    edits = [
        _only_edit(case.text.source, p.source)
        for s in dict.fromkeys(statements)
        for p in list(out_of_place(case, s))[:1]
    ]
    if len(edits) > 1:
        yield case.proposal(*edits, note=CLONED[0])


def without_recording(case: Case, statement: ast.stmt) -> ast.stmt:
    """The block of no_grad() that a statement stands in; else the statement."""
    outer = case.text.parents[statement]
    return outer if isinstance(outer, ast.With) and "no_grad" in case.text.of(outer) else statement


def changing_lines(case: Case) -> list[int]:
    """The lines that changed what was needed, after it was saved."""
    refused = case.reading.trace.refused
    if refused is None or refused[1] is None:
        return []
    saved = refused[1]
    lines = saved.tensor.version.lines[saved.version :]
    return [n for n in dict.fromkeys(lines) if n]


def copied_operand(case: Case) -> Iterator[Proposal]:
    """The operation takes a copy of what is changed later."""
    refused = case.reading.trace.refused
    if refused is None or refused[1] is None:
        return
    names = {a.name for a in case.reading.trace.assignments if a.tensor is refused[1].tensor}
    places = []
    for node in case.text.nodes(refused[0].line or 0):
        read = isinstance(getattr(node, "ctx", None), ast.Load)
        if (read and isinstance(node, ast.Name) and node.id in names) or (
            read and isinstance(node, ast.Subscript) and isinstance(case.value(node.value), Tensor)
        ):
            yield case.appended(node, ".clone()", note=COPIED)
            places.append(case.text.appending(node, ".clone()"))
    if len(places) > 1:
        yield case.proposal(*places, note=COPIED)


def after_step(case: Case, step: ast.stmt) -> Iterator[Proposal]:
    """What goes back after an optimiser's step: its forward after the step, or the step later.

    Two networks that are trained in turn (with an optimiser each) need the forward again; one
    network with two losses is stepped once, after both.
    """
    steps = [case.text.of(n.func) for n in case.calls("step", everywhere=True)]
    several = len(set(steps)) > 1
    ways = [_forward_after, _step_later] if several else [_step_later, _forward_after]
    for call in here(case):
        last, block = case.text.statement(call), case.text.blocks.get(step)
        if block is None or case.text.blocks.get(last) is not block:
            continue
        if block.index(step) < block.index(last):
            for way in ways:
                yield from way(case, step, call)


def _step_later(case: Case, step: ast.stmt, call: ast.Call) -> Iterator[Proposal]:
    """The step after both ways back; where one stands there already, that alone."""
    text, last = case.text, case.text.statement(call)
    block = text.blocks[step]
    note = "Both ways back run before the parameters change."
    if any(text.of(s) == text.of(step) for s in block[block.index(last) :]):
        yield case.proposal(text.removing(step), note=note)
    yield case.proposal(text.removing(step), text.after(last, *text.lines_of(step)), note=note)


RANDOM = ("rand", "randn", "normal", "randint", "randperm", "dropout", "bernoulli", "next")


def _forward_after(case: Case, step: ast.stmt, call: ast.Call) -> Iterator[Proposal]:
    """The forward of what goes back, after the step: moved, or run again where others need it."""
    text, at = case.text, case.text.statement(call)
    root, block = roots(case, call), text.blocks[step]
    if root is None:
        return
    wanted = [s for s in case.slice_of(root, case.line) if s in block[: block.index(step)]]
    for n in range(1, len(wanted) + 1):
        moved = list(reversed(wanted[:n]))
        if any(method(m) in RANDOM for s in moved for m in ast.walk(s)):
            return
        lines = [line for s in moved for line in text.lines_of(s)]
        others = [s for s in block[: block.index(at)] if s not in moved]
        edits = [text.removing(s) for s in moved if not _needed_by(case, s, others)]
        after = block[block.index(step) + 1 : block.index(at)]
        given = {dotted(t) for s in moved for t in getattr(s, "targets", [])}
        user = next((s for s in after if given & set(names_in(s))), at)
        yield case.proposal(
            *edits,
            text.before(user, *lines),
            note="Its forward runs after the step, with the parameters as they are then.",
        )


def _needed_by(case: Case, statement: ast.stmt, others: list[ast.stmt]) -> bool:
    """Whether what a statement gives is read by others."""
    names = {dotted(t) for t in getattr(statement, "targets", [])}
    return any(names & set(names_in(s)) for s in others if s.lineno > statement.lineno)


# ---- views ---------------------------------------------------------------------------------------


MULTIPLE = (
    "unbind, split, chunk and iterating give several views at once; autograd does not follow a "
    "change in place through them."
)


@cures(
    r"Output (\d+) of (\w+) is a view and (is being modified inplace|its base or another view)",
    MULTIPLE,
)
def several_views(case: Case) -> Iterator[Proposal]:
    """Out of place; of the base or of the view."""
    custom = "custom Function" in case.failure.message
    for statement in case.statements:
        yield from by_index(case, statement)
        yield from in_list(case, statement)
    for statement in case.statements:
        target = base_of(written(case, statement))
        if custom and target is not None:
            for made in reversed(case.assignments(dotted(target), case.line)):
                if isinstance(made, ast.Assign):
                    yield case.appended(made.value, ".clone()")
        if target is not None:
            yield from out_of_place(case, statement)
    for proposals in _changed_before(case):
        yield from proposals


def in_list(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """rows = list(h.unbind(0)); rows[0] = rows[0].mul(2)."""
    call: Any = getattr(statement, "value", None)
    target = getattr(call.func, "value", None) if in_place_call(call) else None
    if not (isinstance(target, ast.Subscript) and isinstance(case.value(target.value), tuple)):
        return
    for made in reversed(case.assignments(dotted(target.value), case.line)):
        if isinstance(made, ast.Assign) and isinstance(call.func, ast.Attribute):
            at = case.text.start(statement)
            yield case.proposal(
                case.text.replacing(made.value, f"list({case.text.of(made.value)})"),
                Edit(at, at, f"{case.text.of(target)} = "),
                case.renamed(call.func, call.func.attr.removesuffix("_")),
                note=CLONED[0],
            )


def by_index(case: Case, statement: ast.stmt) -> Iterator[Proposal]:
    """for row in y: row *= 2, as for i in range(len(y)): y[i] *= 2."""
    loop, target = case.loop(statement), base_of(written(case, statement))
    if not (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)):
        return
    if not (isinstance(loop.iter, ast.Name) and dotted(target) == loop.target.id):
        return
    index = next(n for n in ("i", "j", "k", "index") if n not in case.values)
    row, base = loop.target.id, loop.iter.id
    edits = [
        case.text.replacing(n, f"{base}[{index}]")
        for s in loop.body
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and n.id == row
    ]
    yield case.proposal(
        case.text.replacing(loop.target, index),
        case.text.replacing(loop.iter, f"range(len({base}))"),
        *edits,
        note=f"Each row is a view of its own of {base}, which autograd follows.",
    )


def _changed_before(case: Case) -> Iterator[Iterator[Proposal]]:
    """Earlier changes in place, each out of place."""
    for node in case.all_nodes:
        if (
            isinstance(node, ast.stmt)
            and node.lineno < case.line
            and written(case, node) is not None
        ) and not hasattr(node, "body"):
            yield out_of_place(case, node)


@cures(
    r"A view was created in (no_grad|inference) mode and is being modified inplace",
    "Whether the change should be recorded is not clear: the view was made without recording.",
)
def view_without_record(case: Case) -> Iterator[Proposal]:
    """The view outside the block, with the change; or the change within it."""
    for node in case.of_type(ast.With, everywhere=True):
        if node.lineno < case.line:
            name = method(node.items[0].context_expr)
            if name in ("no_grad", "inference_mode"):
                yield case.proposal(case.text.unwrapping(node))
    for statement in case.statements:
        yield from unrecorded(case, statement)
        yield from out_of_place(case, statement)


@cures("Can't detach views in-place", "A view shares its memory and its graph with what it is of.")
def detached_view(case: Case) -> Iterator[Proposal]:
    """v = v.detach()."""
    yield from _method(case, case.statement, "")


@cures(
    r"unsupported operation: (more than one element of the written-to|some elements of the input)",
    "Several elements stand at one place in memory: the change would not be the same for each.",
)
def shared_memory(case: Case) -> Iterator[Proposal]:
    """A copy first."""
    hooked = case.calls("register_hook", everywhere=True)
    nodes = [*case.nodes, *[m for h in hooked for m in ast.walk(h)]]
    for statement in case.statements:
        target = written(case, statement)
        base = base_of(target)
        if "some elements" in case.match[1]:
            values = []
            if isinstance(statement, ast.AugAssign | ast.Assign):
                values = [statement.value]
            for node in nodes:
                if in_place_call(node):
                    values += node.args[:1]
            for value in values:
                if value is not None:
                    yield case.appended(value, ".clone()")
        if base is not None and isinstance(base, ast.Name):
            for made in reversed(case.assignments(base.id, case.line)):
                if isinstance(made, ast.Assign):
                    yield case.appended(made.value, ".clone()")
    for node in nodes:
        if in_place_call(node) and isinstance(node.func, ast.Attribute):
            yield case.proposal(case.renamed(node.func, node.func.attr.removesuffix("_")))
    for statement in case.statements:
        yield from out_of_place(case, statement)


@cures(
    r"result type (\w+) can't be cast to the desired output type (\w+)",
    "A change in place keeps the dtype of its tensor, and integers cannot hold fractions.",
)
def keeps_dtype(case: Case) -> Iterator[Proposal]:
    """A floating tensor from the start; else out of place."""
    for statement in case.statements:
        base = base_of(written(case, statement))
        for made in case.assignments(dotted(base), case.line):
            if isinstance(made, ast.Assign):
                yield case.appended(made.value, ".float()")
        yield from out_of_place(case, statement)


@cures(
    r"output with shape (\[.*?\]) doesn't match the broadcast shape",
    "A change in place keeps the shape of its tensor, and the operand is larger.",
)
def keeps_shape(case: Case) -> Iterator[Proposal]:
    """Out of place."""
    for statement in case.statements:
        yield from out_of_place(case, statement)


@cures(
    "cannot resize variables that require grad",
    "Resizing changes the memory that the way back needs.",
)
def resized(case: Case) -> Iterator[Proposal]:
    """reshape, or a part."""
    for node in case.calls("resize_", "resize"):
        if isinstance(node.func, ast.Attribute):
            yield case.proposal(case.renamed(node.func, "reshape"))
            tensor = case.text.of(node.func.value)
            sizes = ", ".join(case.text.of(a) for a in node.args)
            product = " * ".join(f"({case.text.of(a)})" for a in node.args)
            new = f"{tensor}.flatten()[:{product}].reshape({sizes})"
            left = f"{tensor} = " if isinstance(case.statement, ast.Expr) else ""
            yield case.replaced(node, left + new)


@cures(
    r"(\w+)\(\): functions with out=... arguments don't support automatic differentiation",
    "out= writes over a tensor that autograd has not made.",
)
def out_argument(case: Case) -> Iterator[Proposal]:
    """name = f(...)."""
    for node in case.calls():
        if named := keyword(node, "out"):
            edit = case.without_keyword(node, "out")
            if edit:
                at = case.text.start(case.statement)
                alone = isinstance(case.statement, ast.Expr)
                left = [Edit(at, at, f"{case.text.of(named.value)} = ")] if alone else []
                yield case.proposal(edit, *left)


@cures(
    "Inplace update to inference tensor outside InferenceMode",
    "What inference_mode makes is for inference alone.",
)
def of_inference(case: Case) -> Iterator[Proposal]:
    """no_grad() in its place."""
    yield from plain_no_grad(case)
    for statement in case.statements:
        yield from out_of_place(case, statement)


@cures(
    r"Inference tensors cannot be saved for backward|Setting requires_grad=True on inference",
    "What inference_mode makes is for inference alone.",
)
def inference_saved(case: Case) -> Iterator[Proposal]:
    """no_grad() in its place."""
    yield from plain_no_grad(case)


def plain_no_grad(case: Case) -> Iterator[Proposal]:
    """torch.no_grad() in the place of torch.inference_mode()."""
    for node in case.attributes("inference_mode", everywhere=True):
        note = "no_grad() records nothing either, and its tensors can be used later."
        yield case.proposal(case.renamed(node, "no_grad"), note=note)


__all__ = ["freeing", "needed"]
