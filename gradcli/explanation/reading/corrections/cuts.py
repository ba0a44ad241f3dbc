"""Corrections for tensors without a graph: detached tensors, no_grad blocks, second derivatives.

Each function proposes edits. "Write A for B" means that an edit replaces B in the program by A.
"""

import ast
import re
from collections.abc import Iterator

from .case import Case, Proposal, giving
from .cut_steps import uncut
from .functions import classes, methods, results_of
from .nodes import (
    calls_in,
    dotted,
    elements,
    keyword,
    method,
    names_in,
    operands,
    owner,
    target_of,
    targets,
    value_of,
    within,
)
from .requiring import (
    asked_for,
    flag_too_late,
    is_leaf,
    leaves,
    part_flagged,
    requiring,
    unfrozen,
    why_leaves,
)
from .text import Edit

reentrant = giving("checkpoint", "use_reentrant", "False")

WITHOUT_RECORD = ("no_grad", "inference_mode", "set_grad_enabled")


def no_graph(case: Case) -> Iterator[Proposal]:
    """Remove what cuts the graph; or make the leaves require grad."""
    roots = [root for _, root in case.roots]
    yield from second_order(case)
    yield from without_once(case)
    yield from kept_with_graph(case)
    for root in roots:
        yield from recorded_again(case, root)
        yield from value_of_place(case, root)
        yield from leaf_of_each_turn(case, root)
        yield from cuts_replaced(case, root)
    yield from without_no_grad(case)
    yield from reentrant(case)
    yield from flag_too_late(case, roots)
    yield from part_flagged(case)
    if not any(is_leaf(case, n) for n in asked_for(case)):
        yield from unfrozen(case)
    yield from leaves(case, roots)
    yield from unfrozen(case)
    yield from constant_gradient(case)
    for hook in case.calls("detach", everywhere=True) if "_hook" in case.source else ():
        yield case.without(hook)


def recorded_again(case: Case, root: ast.expr) -> Iterator[Proposal]:
    """Compute a value under enable_grad in the backward of a custom Function, which runs without
    recording, and differentiate it there.
    """
    around = [n for n in case.around(case.statement) if isinstance(n, ast.FunctionDef)]
    if not around or around[0].name != "backward" or case.statement not in around[0].body:
        return
    depends = case.slice_of(root, case.line)
    body = [s for s in around[0].body if s in depends and isinstance(s, ast.Assign)]
    made = [s for s in body if not calls_in(s, "detach", "detach_", "requires_grad_")]
    if made and made[-1].lineno < case.line:
        why = f"backward() of a Function is not recorded, so line {made[-1].lineno} has no graph."
        yield case.proposal(case.wrapping(made[-1:], "with torch.enable_grad():"), why=why)


def kept_with_graph(case: Case) -> Iterator[Proposal]:
    """Write ctx.x = x for ctx.x = x.detach() in the forward of a custom Function, whose backward is
    differentiated.
    """
    for function in [f for cls in classes(case) for f in methods(cls, "forward")]:
        for built in within(function, ast.Assign):
            kept = target_of(built, ast.Attribute)
            if kept is None or dotted(kept.value) != function.args.args[0].arg:
                continue
            why = f"Line {built.lineno} saves values without a graph, so the gradient has none."
            for call in calls_in(built.value, "detach"):
                yield case.without(call, why=why)
            for node in [n for n in within(built.value, ast.Attribute) if n.attr == "data"]:
                yield case.proposal(Edit(case.dot(node), case.end(node), ""), why=why)


def leaf_of_each_turn(case: Case, root: ast.expr) -> Iterator[Proposal]:
    """Write w = (w.detach() - lr * w.grad).requires_grad_() in a loop whose next turn needs w."""
    for name in dict.fromkeys(n for s in case.slice_of(root, case.line) for n in names_in(s)):
        tensor = case.tensor_of(name)
        built = [s for s in case.assignments(name) if case.loop(s) and f"{name}.grad" in case.of(s)]
        for last in built[-1:] if tensor is not None and not tensor.requires_grad else ():
            why = f"Line {last.lineno} assigns to {name} a tensor that does not require grad."
            if isinstance(last, ast.Assign):
                yield case.appended(last.value, ".requires_grad_()", why=why)


def value_of_place(case: Case, root: ast.expr) -> Iterator[Proposal]:
    """Write scores.max() for scores.argmax(), if the result itself is differentiated."""
    made = case.made(root)
    if isinstance(made, ast.Call) and method(made) in ("argmax", "argmin"):
        place, value = method(made), method(made).removeprefix("arg")
        along = len(operands(made)) > 1 or keyword(made, "dim") is not None
        text = case.of(made).replace(place, f"a{value}" if along else value, 1)
        why = f"Line {made.lineno}: {place} is the index, an integer; {value} is the value."
        once = isinstance(root, ast.Name) and len(case.reads_of(root.id)) == 1
        yield case.replaced(made if once else root, text, why=why)


def input_without_grad(case: Case) -> Iterator[Proposal]:
    """Set requires_grad=True for an input of grad(); if the input is itself a gradient, pass
    create_graph=True where it is computed.
    """
    yield from gradient_as_input(case)
    names = [n for c in case.here for n in names_in(case.inputs_of(c)) if is_leaf(case, n)]
    edits = [e for n in names if (e := requiring(case, n))]
    again = [c for c in case.here if case.feeds_backward(c) and not keyword(c, "create_graph")]
    created = [case.with_keyword(c, "create_graph", "True") for c in again]
    if edits and created:
        yield from case.change(*edits, *created, why=f"{why_leaves(names)} {CREATED}")
    yield from case.change(*edits, why=why_leaves(names))
    yield from without_no_grad(case)


def gradient_as_input(case: Case) -> Iterator[Proposal]:
    """Pass create_graph=True where an input of grad() was itself made by grad()."""
    for name in [n for c in case.here for n in within(case.inputs_of(c), ast.Name)]:
        for made in [c for s in case.makers(name)[:1] for c in calls_in(s.value, "grad")]:
            if case.is_grad(made) and not keyword(made, "create_graph"):
                yield case.given(made, "create_graph", "True", why=CREATED)


def number_as_leaf(case: Case) -> Iterator[Proposal]:
    """Pass tensors without their names; or write a = torch.tensor(2.0, requires_grad=True) for
    a = 2.0, if its gradient is asked for.
    """
    for given in [i for c in case.here if (i := case.inputs_of(c)) is not None]:
        why = "A gradient is with respect to tensors, without their names."
        for call in calls_in(case.made(given), "named_parameters", "state_dict"):
            yield case.renamed_to(call, "parameters", why=why)
        if isinstance(case.value(given), dict):
            yield case.replaced(given, f"list({case.operand(given)}.values())", why=why)
    names = [n for c in case.here for n in names_in(case.inputs_of(c))]
    edits = []
    for name in [n for n in names if type(case.values.get(n)) in (int, float)]:
        for built in case.makers(name)[:1]:
            number = f"torch.tensor({float(case.values[name])}, requires_grad=True)"
            edits.append(case.replacing(built.value, number))
    yield from case.change(*edits, why="A gradient is with respect to tensors; this is a number.")


# ---- steps that cut ------------------------------------------------------------------------------


def cuts_replaced(case: Case, differentiated: ast.expr) -> Iterator[Proposal]:
    """Replace a step that cuts the graph between the inputs and the value that is differentiated.
    Each step is replaced alone first, since more replacements may change what the program prints;
    the last proposal replaces all.
    """
    none_printed = "None" in case.reading.outcome.stdout.split()
    for place in _way_to(case, differentiated, case.line + 1):
        for node in ast.walk(place):
            step = uncut(case, node)
            if step is not None:
                yield case.proposal(
                    step.edit,
                    note=step.note,
                    why=step.why,
                    weak=_is_target(place),
                    reprints=bool(step.note) or none_printed,
                )
    yield from all_connected(case, differentiated)


def _way_to(case: Case, differentiated: ast.expr, before: int) -> list[ast.AST]:
    """The expression that is differentiated, the statements that it depends on, and the functions
    that these call.
    """
    places: list[ast.AST] = [differentiated, *case.slice_of(differentiated, before)]
    return places + function_bodies(case, places)


def _is_target(place: ast.AST) -> bool:
    """Whether a statement computes a training target, judged by the names that it assigns to. Such
    a target is detached on purpose.
    """
    names = " ".join(targets(place))
    return any(word in names for word in ("target", "label", "baseline", "teacher", "expected"))


def all_connected(case: Case, target: ast.expr) -> Iterator[Proposal]:
    """Replace all steps that cut the graph, innermost first."""
    now, changed, whys = case, 0, dict[str, None]()
    for _ in range(6):
        same = [n for n in now.nodes_of(target.lineno) if isinstance(n, ast.expr)]
        same = [n for n in same if now.of(n) == case.of(target)]
        if not same:
            break
        places = _way_to(now, same[0], case.line + 1)
        steps = [s for p in places for n in ast.walk(p) if (s := uncut(now, n)) is not None]
        edits = list(dict.fromkeys(s.edit for s in steps))
        inner = [e for e in edits if not any(o is not e and _holds(e, o) for o in edits)]
        if not inner:
            break
        changed += len(inner)
        whys |= dict.fromkeys(s.why for s in steps if s.edit in inner)
        try:
            now = Case(case.reading._replace(source=now.edited(*inner)), case.match)
        except SyntaxError:
            return
    if changed > 1:
        yield Proposal(now.source, why=" ".join(list(whys)[:2]))


def _holds(outer: Edit, inner: Edit) -> bool:
    """Whether the text that one edit replaces contains that of the other."""
    return outer.start <= inner.start and inner.end <= outer.end


def function_bodies(case: Case, places: list[ast.AST]) -> list[ast.AST]:
    """The functions and methods of the program that are called on the way to a value."""
    called = {method(c) for p in places for c in calls_in(p)}
    built = {method(c) for c in case.calls(everywhere=True)}
    applied = {dotted(c.func) for c in case.calls("apply", everywhere=True)}
    bodies: list[ast.AST] = []
    for node in case.of_type(ast.FunctionDef, everywhere=True):
        cls = case.parents.get(node)
        forward = isinstance(cls, ast.ClassDef) and cls.name in built and "forward" in node.name
        back = isinstance(cls, ast.ClassDef) and f"{cls.name}.apply" in applied
        if node.name in called or forward or (back and node.name == "backward"):
            bodies.append(node)
    return bodies


def reduced_by_numpy(case: Case) -> Iterator[Proposal]:
    """Write torch.sum(x) for np.sum(x), and likewise for the other functions."""
    for call in case.calls(case.match[1]):
        if dotted(call.func).partition(".")[0] in ("np", "numpy"):
            yield case.replaced(call.func, f"torch.{case.match[1]}")


# ---- operations that are not recorded ------------------------------------------------------------


def without_no_grad(case: Case) -> Iterator[Proposal]:
    """Remove blocks and decorators that disable recording."""
    for node in case.of_type(ast.With, ast.FunctionDef, ast.Expr, everywhere=True):
        if isinstance(node, ast.With):
            names = [method(i.context_expr) for i in node.items]
            if len(names) == 1 and names[0] in WITHOUT_RECORD:
                yield from validated(case, node)
                yield from moved_out_of_no_grad(case, node)
                yield from in_training(case, node)
                why = f"Line {node.lineno}: operations inside {names[0]}() are not recorded."
                yield case.proposal(case.unwrapping(node), why=why)
        elif isinstance(node, ast.Expr):
            if method(node.value) == "set_grad_enabled":
                why = f"Line {node.lineno}: operations are not recorded from here on."
                yield case.proposal(case.removing(node), why=why)
        else:
            for d in node.decorator_list:
                name = dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2]
                if name in WITHOUT_RECORD:
                    why = f"Line {d.lineno}: operations inside this function are not recorded."
                    yield case.proposal(case.without_lines(d), why=why)


def validated(case: Case, block: ast.With) -> Iterator[Proposal]:
    """Remove the backward pass of a validation loss, where a training loss has one too."""
    for call in case.here:
        statement, outside = case.statement_of(call), case.blocks[block]
        before = outside[: outside.index(block)]
        switched = any(calls_in(s, "eval") for s in before)
        named = VALIDATION.search(case.of(statement))
        trained = any(c.lineno < block.lineno for c in case.backwards)
        if block in case.around(statement) and trained and (switched or named):
            why = "A validation loss is only measured: it has no backward pass."
            yield case.proposal(case.removing(statement), why=why)


VALIDATION = re.compile(r"(?<![a-z])(?:val|test|eval)(?![a-z])|valid|testing|evaluat", re.I)


def in_training(case: Case, block: ast.With) -> Iterator[Proposal]:
    """Put the backward pass and the step under `if training:`, where they are in a block of
    set_grad_enabled(training).
    """
    (context,) = [i.context_expr for i in block.items]
    given = context.args[:1] if isinstance(context, ast.Call) else []
    for flag in [a for a in given if not isinstance(a, ast.Constant)]:
        for at in [case.statement_of(back) for back in case.here]:
            later = case.block_after(at)
            steps = [n for n, s in enumerate(later) if calls_in(s, "step")]
            trained = [at, *later[: max(steps, default=-1) + 1]]
            why = f"Line {block.lineno}: operations are not recorded if {case.of(flag)} is False."
            yield case.proposal(case.wrapping(trained, f"if {case.of(flag)}:"), why=why)


FIXED = re.compile(
    r"teacher|target|reference|frozen|baseline|(?<![a-z])(?:ref|old|ema)(?![a-z])", re.I
)


def moved_out_of_no_grad(case: Case, block: ast.With) -> Iterator[Proposal]:
    """Move statements out of a no_grad block, except those that compute a teacher or a target."""
    fixed = [bool(FIXED.search(case.of(s))) for s in block.body]
    kept = fixed.index(False) if False in fixed else 0
    if not kept or any(fixed[kept:]) or block.body[0].lineno == block.lineno:
        return
    cut = len(case.indent(block.body[0])) - len(case.indent(block))
    start, end = case.span(block.body[kept:])
    rest = "\n".join(line[cut:] for line in case.source[start:end].split("\n"))
    yield case.proposal(Edit(start, end, rest), why=f"Line {block.lineno}: this is not recorded.")


# ---- inputs of grad() ----------------------------------------------------------------------------


def unused(case: Case) -> Iterator[Proposal]:
    """Correct grad(y, x) where y does not depend on x. If x is a part or a copy of a tensor that y
    depends on, use the same one in both places; or pass allow_unused=True.
    """
    place = int(case.match[1])
    for call in case.here:
        inputs = case.inputs_of(call)
        listed: list[ast.expr | None] = [*elements(inputs)] or [inputs]
        wanted = listed[place] if place < len(listed) else None
        if isinstance(wanted, ast.Subscript) and len(listed) == 1:
            yield from whole_instead(case, call, wanted)
        if isinstance(wanted, ast.Name):
            yield from joined_columns(case, call, wanted)
            yield from used_instead(case, call, wanted)
        note = "The gradient is then None for an input that the output does not depend on."
        yield case.given(call, "allow_unused", "True", note=note, weak=True)
        yield case.proposal(
            case.with_argument(call, "allow_unused=True, materialize_grads=True"),
            note="The gradient is then 0 for an input that the output does not depend on.",
            weak=True,
        )


def joined_columns(case: Case, call: ast.Call, wanted: ast.Name) -> Iterator[Proposal]:
    """Write net(torch.cat([x, t], dim=1)) for net(xt), if x and t are columns of xt."""
    made = _column(case, wanted.id)
    root = case.root(call)
    if made is None or root is None:
        return
    whole = dotted(made.value)
    names = [a.name for a in case.reading.trace.assignments if a.line < call.lineno]
    columns = {n: c for n in dict.fromkeys(names) if (c := _column(case, n)) is not None}
    parts = [n for n, column in columns.items() if dotted(column.value) == whole]
    ends = [s.lineno for s in case.assignments(wanted.id, call.lineno)]
    used = [n for s in case.slice_of(root, call.lineno) for c in calls_in(s) for n in c.args]
    read = [n for n in used if dotted(n) == whole and n.lineno > max(ends)]
    widths = [case.shape(ast.Name(n, ast.Load())) or () for n in parts]
    if len(parts) < 2 or sum(w[-1] for w in widths if w) != (case.shape(made.value) or (0,))[-1]:
        return
    end = "dim=1" if all(len(w) == 2 for w in widths) else "dim=-1"
    joined = f"torch.cat([{', '.join(parts)}], {end})"
    why = f"{' and '.join(parts)} are slices of {whole}: a tensor computed from it does not "
    why += "depend on them."
    yield from case.change(*[case.replacing(n, joined) for n in read], why=why)


def _column(case: Case, name: str) -> ast.Subscript | None:
    """The part of a tensor that a name is assigned, also by x, y = xy[:, :1], xy[:, 1:]."""
    for built in case.makers(name)[:1]:
        (target,), value = built.targets[:1], built.value
        pairs = zip(elements(target), elements(value)) if elements(value) else [(target, value)]
        for node, part in pairs:
            if method(part) in ("requires_grad_", "clone", "unsqueeze"):
                part = owner(part)
            if dotted(node) == name and isinstance(part, ast.Subscript):
                return part
    return None


def whole_instead(case: Case, call: ast.Call, part: ast.Subscript) -> Iterator[Proposal]:
    """Write grad(y, x)[0][1] for grad(y, x[1])."""
    whole, outer = case.of(part.value), case.parents.get(call)
    index = case.source[case.end(part.value) : case.end(part)]
    edit, note = case.replacing(part, whole), f"The gradient of {whole}, then its part."
    if isinstance(outer, ast.Subscript):
        yield case.proposal(edit, case.adding(outer, index), note=note)
    elif not isinstance(outer, ast.Assign):
        yield case.proposal(edit, case.adding(call, f"[0]{index}"), note=note)


def used_instead(case: Case, call: ast.Call, wanted: ast.Name) -> Iterator[Proposal]:
    """If x2 is computed from x, and grad(y, x2) is asked for: compute y from x2 in place of x, or
    write grad(y, x).
    """
    built = case.makers(wanted, call.lineno)
    root = case.root(call)
    lines = case.slice_of(root, call.lineno) if root is not None else []
    for other in dict.fromkeys(names_in(built[0].value)) if len(built) == 1 else ():
        tensor = case.tensor_of(other)
        if tensor is None or not (tensor.requires_grad and tensor.is_leaf):
            continue
        uses = [n for n in case.reads_of(other) if built[0].lineno < n.lineno < call.lineno]
        edits = [case.replacing(n, wanted.id) for n in uses if case.statement_of(n) in lines]
        why = f"{wanted.id} is a new tensor; the output was computed from {other}."
        yield from case.change(*edits, why=why)
        yield case.replaced(wanted, other, weak=True)


def plain_number(case: Case) -> Iterator[Proposal]:
    """Where a Python number is used as a tensor: remove the step that turned a tensor into it, such
    as item(); or write torch.tensor(number).
    """
    for made in case.calls("Parameter"):
        for given in made.args[:1]:
            number = value_of(given)
            plain = isinstance(number, int | float)
            text = str(float(number)) if plain else f"float({case.of(given)})"
            text = case.of(given) if isinstance(given, ast.List) else text
            why = "A parameter is created from a tensor."
            yield case.replaced(given, f"torch.tensor({text})", why=why)
    for node in case.attributes(case.match[2]):
        inner, call = node.value, case.parents.get(node)
        if node.attr == "item" and isinstance(call, ast.Call):
            yield case.replaced(call, case.of(inner))
        yield from item_moved_to_total(case, inner)
        yield from number_from_forward(case, inner)
        yield from cuts_replaced(case, inner)
        yield case.replaced(inner, f"torch.tensor({case.of(inner)})", weak=True)


def number_from_forward(case: Case, number: ast.expr) -> Iterator[Proposal]:
    """Return the tensor itself in place of x.item() from the forward of a custom Function."""
    made = {dotted(owner(case.made(number)))}
    for cls in [c for c in classes(case) if c.name in made]:
        for value in [v for f in methods(cls, "forward") for v in results_of(f)]:
            why = "The forward of a custom Function must return tensors: a number has no graph."
            if method(value) == "item" and isinstance(value, ast.Call):
                yield case.proposal(case.without_method(value), why=why)
            if dotted(getattr(value, "func", None)) in ("float", "int") and value.args:  # type: ignore[attr-defined]
                yield case.replaced(value, case.of(value.args[0]), why=why)  # type: ignore[attr-defined]


def item_moved_to_total(case: Case, number: ast.expr) -> Iterator[Proposal]:
    """Write loss = criterion(...) for criterion(...).item(), then `total += loss.item()`."""
    name = dotted(number)
    sums = [s for s in case.of_type(ast.AugAssign, everywhere=True) if dotted(s.value) == name]
    for built in case.assignments(name)[-1:] if sums else ():
        call = value_of(built)
        if method(call) == "item" and isinstance(call, ast.Call):
            yield case.proposal(
                case.without_method(call), *[case.appending(s.value, ".item()") for s in sums]
            )


CREATED = "A gradient has a graph only if it was computed with create_graph=True."


def second_order(case: Case) -> Iterator[Proposal]:
    """Pass create_graph=True to earlier backward passes."""
    yield from backward_as_grad(case)
    earlier = [c for c in case.backwards if c.lineno < case.line and c not in case.here]
    again = [c for c in case.here if case.feeds_backward(c)]
    feeding = [*[c for c in earlier if _feeds(case, c)], *again]
    edits = [case.with_keyword(c, "create_graph", "True") for c in feeding]
    if len(feeding) > len(again):
        yield from case.change(*edits, why=CREATED)
    helpers = [c for c in case.here if case.is_grad(c) and case.function_of(c) is not None]
    lacking = [c for c in helpers if not keyword(c, "create_graph")]
    edits = [case.with_keyword(c, "create_graph", "True") for c in lacking]
    yield from case.change(*edits, why=CREATED)


def constant_gradient(case: Case) -> Iterator[Proposal]:
    """Add 0 * x.sum() to a gradient that does not depend on x, whose derivative is 0. Not for
    custom Functions, whose gradient may depend on x without a graph.
    """
    if any("Function" in dotted(base) for c in case.classes for base in c.bases):
        return
    for call, root in case.roots:
        inputs = case.inputs_of(call)
        built = [s for s in case.slice_of(root, case.line) if "create_graph=True" in case.of(s)]
        if inputs is None or not built or not dotted(inputs):
            continue
        why = f"Line {built[0].lineno}: this gradient is constant in {dotted(inputs)}."
        new = f"{case.of(root)} + 0 * {dotted(inputs)}.sum()"
        yield case.replaced(root, new, why=why, note="The second derivative is 0.")


def backward_as_grad(case: Case) -> Iterator[Proposal]:
    """Write g = torch.autograd.grad(y, x)[0] for y.backward(); g = x.grad."""
    for call in case.backwards:
        root = case.root(call)
        if case.is_grad(call) or root is None or call.lineno >= case.line:
            continue
        for node in [n for _, r in case.roots for n in within(r, ast.Attribute)]:
            if node.attr == "grad":
                yield _differentiated(case, call, root, node)
        yield from read_within(case, call, root)
        for read in case.of_type(ast.Assign, everywhere=True):
            value = read.value
            if method(value) in ("clone", "detach"):
                value = owner(value)
            if not (isinstance(value, ast.Attribute) and read.lineno > call.lineno):
                continue
            if value.attr == "grad":
                yield _differentiated(case, call, root, value)


def _differentiated(case: Case, call: ast.Call, root: ast.expr, read: ast.Attribute) -> Proposal:
    note = f"{case.of(read.value)}.grad is then only the second derivative."
    edits = case.removing(case.statement_of(call)), _grad_instead(case, root, read)
    return case.proposal(*edits, why=CREATED, note=note)


def _grad_instead(case: Case, root: ast.expr, read: ast.Attribute) -> Edit:
    """Write torch.autograd.grad(y, x) for x.grad, with create_graph=True."""
    y, x = case.of(root), case.of(read.value)
    return case.replacing(read, f"torch.autograd.grad({y}, {x}, create_graph=True)[0]")


def read_within(case: Case, call: ast.Call, root: ast.expr) -> Iterator[Proposal]:
    """Write torch.autograd.grad for an x.grad within a differentiated expression, such as (x.grad *
    v).sum().
    """
    for built in [s for _, r in case.roots for s in case.slice_of(r, case.line)]:
        reads = [n for n in within(value_of(built), ast.Attribute) if n.attr == "grad"]
        inner = [n for n in reads if n is not value_of(built) and built.lineno > call.lineno]
        edits = [_grad_instead(case, root, n) for n in inner]
        if edits:
            yield case.proposal(case.removing(case.statement_of(call)), *edits, why=CREATED)


def _feeds(case: Case, call: ast.Call) -> bool:
    """Whether the line that raises may differentiate gradients that a call computed: any of grad();
    those of backward() if the differentiated tensor depends on a .grad.
    """
    if case.is_grad(call):
        return True
    places = [p for _, root in case.roots for p in (root, *case.slice_of(root, case.line))]
    read = [dotted(n) for p in places for n in within(p, ast.Attribute)]
    return any(n.endswith(".grad") and not n.endswith("autograd.grad") for n in read)


def without_once(case: Case) -> Iterator[Proposal]:
    """Remove @once_differentiable, which makes a backward not differentiable."""
    why = "once_differentiable declares that backward itself cannot be differentiated."
    for function in case.of_type(ast.FunctionDef, ast.ClassDef, everywhere=True):
        for d in function.decorator_list:
            if "once_differentiable" in dotted(d):
                yield case.proposal(case.without_lines(d), why=why)
