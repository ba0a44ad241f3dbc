"""Cures of what has no graph: a tensor cut off, a leaf without requires_grad, a flat step."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures, names_in
from .cut_steps import uncut
from .seeds import here, roots
from .text import Edit, dotted, keyword, method

CREATORS = (
    *("tensor", "rand", "randn", "ones", "zeros", "full", "arange", "linspace", "eye", "randint"),
    *("normal", "empty", "ones_like", "zeros_like", "rand_like", "randn_like", "as_tensor"),
)
WITHOUT_RECORD = ("no_grad", "inference_mode", "set_grad_enabled")
NO_GRAPH = (
    "Nothing that leads to it was recorded: no tensor on the way requires grad, or a step cuts the "
    "graph."
)


@cures(r"element (\d+) of tensors does not require grad and does not have a grad_fn", NO_GRAPH)
def no_graph(case: Case) -> Iterator[Proposal]:
    """Take away what cuts the graph; then make the leaves require grad."""
    targets = [r for c in here(case) if (r := roots(case, c)) is not None]
    yield from second_order(case)
    yield from without_once(case)
    for target in targets:
        yield from connected(case, target)
    yield from recording(case)
    yield from flag_too_late(case, targets)
    if not any(is_leaf(case, n) for n in asked_for(case)):
        yield from unfrozen(case)
    yield from leaves(case, targets)
    yield from unfrozen(case)


def connected(case: Case, target: ast.expr) -> Iterator[Proposal]:
    """Each step that cuts, on the way to a value, replaced by one that does not."""
    places: list[ast.AST] = [target]
    places += list(case.slice_of(target, case.line + 1))
    places += function_bodies(case, places)
    for place in places:
        for node in ast.walk(place):
            step = uncut(case, node)
            if step is not None:
                kept = isinstance(place, ast.stmt) and _is_target(case, place)
                yield case.proposal(step.edit, note=step.note, why=step.why, weak=kept)
    yield from all_connected(case, target)


def _is_target(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement makes a target, which is cut off on purpose."""
    names = " ".join(dotted(t) for t in getattr(statement, "targets", []))
    return any(word in names for word in ("target", "label", "baseline", "teacher", "expected"))


def all_connected(case: Case, target: ast.expr) -> Iterator[Proposal]:
    """All steps that cut replaced, the innermost first, until none is left."""
    now, changed, whys = case, 0, dict[str, None]()
    line, text = target.lineno, case.text.of(target)
    for _ in range(6):
        root = next(
            (n for n in now.text.nodes(line) if isinstance(n, ast.expr) and now.text.of(n) == text),
            None,
        )
        if root is None:
            return
        places: list[ast.AST] = [root, *now.slice_of(root, case.line + 1)]
        places += function_bodies(now, places)
        steps = [s for p in places for n in ast.walk(p) if (s := uncut(now, n)) is not None]
        edits = list(dict.fromkeys(s.edit for s in steps))
        inner = [
            e
            for e in edits
            if not any(o is not e and e.start <= o.start and o.end <= e.end for o in edits)
        ]
        if not inner:
            break
        changed += len(inner)
        whys |= dict.fromkeys(s.why for s in steps if s.edit in inner)
        source = now.text.edited(*inner)
        try:
            now = Case(case.reading._replace(source=source), case.match)
        except SyntaxError:
            return
    if changed > 1:
        yield Proposal(now.text.source, why=" ".join(list(whys)[:2]))


def function_bodies(case: Case, places: list[ast.AST]) -> list[ast.AST]:
    """The functions and methods of the program that run on the way to a value."""
    called = {method(n) for p in places for n in ast.walk(p) if isinstance(n, ast.Call)}
    classes = {n.name: n for n in case.of_type(ast.ClassDef, everywhere=True)}
    makes = {method(n) for n in case.all_nodes if isinstance(n, ast.Call)} & set(classes)
    bodies: list[ast.AST] = []
    for node in case.of_type(ast.FunctionDef, everywhere=True):
        owner = case.text.parents.get(node)
        forward = isinstance(owner, ast.ClassDef) and owner.name in makes and "forward" in node.name
        if node.name in called or forward:
            bodies.append(node)
    return bodies


@cures(
    r"(mean|sum|std|var|max|min|prod)\(\)(: argument 'dim' must be| got an unexpected keyword "
    r"argument 'axis')",
    "NumPy's function calls the tensor's own method, with arguments that it does not have.",
)
def reduced_by_numpy(case: Case) -> Iterator[Proposal]:
    """PyTorch's function of the same name."""
    for call in case.calls(case.match[1]):
        if dotted(call.func).partition(".")[0] in ("np", "numpy"):
            yield case.replaced(call.func, f"torch.{case.match[1]}")


def recording(case: Case) -> Iterator[Proposal]:
    """Blocks and decorators that switch recording off, taken away."""
    for node in case.all_nodes:
        if isinstance(node, ast.With):
            names = [method(i.context_expr) for i in node.items]
            if len(names) == 1 and names[0] in WITHOUT_RECORD:
                yield from parted(case, node)
                why = f"Line {node.lineno}: nothing is recorded within {names[0]}()."
                yield case.proposal(case.text.unwrapping(node), why=why)
        if isinstance(node, ast.FunctionDef):
            for d in node.decorator_list:
                if method(d) in WITHOUT_RECORD or dotted(d).split(".")[-1] in WITHOUT_RECORD:
                    why = f"Line {d.lineno}: nothing is recorded within this function."
                    start = case.text.starts[d.lineno - 1]
                    end = case.text.starts[d.end_lineno or d.lineno]
                    yield case.proposal(Edit(start, end, ""), why=why)
        if isinstance(node, ast.Expr) and method(node.value) == "set_grad_enabled":
            why = f"Line {node.lineno}: nothing is recorded from here on."
            yield case.proposal(case.text.removing(node), why=why)


FIXED = re.compile(r"teacher|target|ref|frozen|baseline|old|ema", re.I)


def parted(case: Case, block: ast.With) -> Iterator[Proposal]:
    """What is called a teacher or a target stays without record; what comes after it leaves."""
    fixed = [bool(FIXED.search(case.text.of(s))) for s in block.body]
    kept = fixed.index(False) if False in fixed else 0
    if not kept or any(fixed[kept:]) or block.body[0].lineno == block.lineno:
        return
    cut = len(case.text.indent(block.body[0])) - len(case.text.indent(block))
    start, end = case.text.span(block.body[kept:])
    rest = "\n".join(line[cut:] for line in case.text.source[start:end].split("\n"))
    yield case.proposal(Edit(start, end, rest), why=f"Line {block.lineno}: nothing is recorded.")


def leaves(case: Case, targets: list[ast.expr]) -> Iterator[Proposal]:
    """requires_grad=True for what the gradient is asked of, or what leads to the output."""
    wanted = asked_for(case)
    source = [n for t in targets for n in names_in(t)]
    source += [n for t in targets for s in case.slice_of(t, case.line) for n in names_in(s)]
    order = [*wanted, *reversed(list(dict.fromkeys(source)))]
    names = [n for n in dict.fromkeys(order) if is_leaf(case, n)]
    names = [n for n in names if n in wanted or is_given(case, n)]
    names = sorted(names, key=lambda n: not is_given(case, n))  # of a computed one, its source
    asked = [n for n in names if n in wanted]
    asked = [n for n in asked if is_given(case, n)] or asked
    if len(asked) > 1:
        edits = [e for n in asked if (e := requiring(case, n))]
        if len(edits) == len(asked):
            yield case.proposal(*edits, why=_why_leaves(asked))
    for name in names:
        edit = requiring(case, name)
        if edit is not None:
            yield case.proposal(
                edit, why=_why_leaves([name]), weak=bool(asked) and name not in asked
            )
    loops = case.of_type(ast.For, everywhere=True)
    source += [n for f in loops if set(names_in(f.target)) & set(source) for n in names_in(f.iter)]
    for name in dict.fromkeys(source):
        yield from held_leaves(case, name)


def held_leaves(case: Case, name: str) -> Iterator[Proposal]:
    """requires_grad=True for all tensors that a list, or a dict, of them is made with."""
    for made in case.assignments(name):
        value = getattr(made, "value", None)
        if isinstance(value, ast.List | ast.ListComp | ast.Dict | ast.DictComp):
            edits = [
                case.with_keyword(n, "requires_grad", "True")
                for n in ast.walk(value)
                if isinstance(n, ast.Call)
                and method(n) in CREATORS
                and dotted(n.func).startswith("torch.")
            ]
            yield from case.together(edits, why=_why_leaves([f"what {name} holds"]))


def flag_too_late(case: Case, targets: list[ast.expr]) -> Iterator[Proposal]:
    """x.requires_grad_() after what is computed from x: right after x is made."""
    used = {n: s for t in targets for s in case.slice_of(t, case.line) for n in names_in(s)}
    for statement in case.all_nodes:
        name = ""
        if isinstance(statement, ast.Expr) and method(statement.value) == "requires_grad_":
            name = dotted(getattr(statement.value, "func", None)).rpartition(".")[0]
        elif (
            isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Attribute)
            and statement.targets[0].attr == "requires_grad"
        ):
            name = dotted(statement.targets[0].value)
        if name not in used or used[name].lineno > statement.lineno:
            continue
        for made in case.assignments(name, statement.lineno)[:1]:
            yield case.proposal(
                case.text.removing(statement),
                case.text.after(made, *case.text.lines_of(statement)),
                why=f"{name} required no grad yet when it was computed with.",
            )


def _why_leaves(names: list[str]) -> str:
    listed = " and ".join(names)
    return f"{listed} does not require grad, so nothing that is computed from it is recorded."


def asked_for(case: Case) -> list[str]:
    """Names whose gradient the program reads, asks for, or gives to an optimiser."""
    result: list[str] = []
    for node in case.all_nodes:
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            result.append(dotted(node.value))
        if isinstance(node, ast.Call) and (case.is_grad(node) or "optim" in dotted(node.func)):
            place = 1 if case.is_grad(node) else 0
            result += names_in(node.args[place]) if len(node.args) > place else []
            named = keyword(node, "inputs") or keyword(node, "params")
            result += names_in(named.value) if named else []
        if method(node) in ("retain_grad", "register_hook"):
            assert isinstance(node, ast.Call)
            if isinstance(node.func, ast.Attribute):
                result.append(dotted(node.func.value))
    return [n for n in dict.fromkeys(result) if n]


def is_leaf(case: Case, name: str) -> bool:
    """Whether a name is a tensor that records nothing and could."""
    tensor = case.values.get(name)
    return isinstance(tensor, Tensor) and not tensor.requires_grad


def is_given(case: Case, name: str) -> bool:
    """Whether a name is given its numbers, and not computed from other tensors."""
    values = [getattr(s, "value", None) for s in case.assignments(name)]
    return bool(values) and not any(
        isinstance(case.values.get(n), Tensor | Instance) for v in values for n in names_in(v)
    )


def requiring(case: Case, name: str) -> Edit | None:
    """requires_grad=True where a tensor is made, or right after that."""
    made = [s for s in case.assignments(name) if isinstance(s, ast.Assign)]
    if not made:
        return None
    statement = made[0]
    tensor = case.values.get(name)
    value = statement.value
    floating = isinstance(tensor, Tensor) and tensor.dtype.is_floating
    if len(statement.targets) == 1 and isinstance(value, ast.Call):
        named = keyword(value, "requires_grad")
        near = [k for k in value.keywords if k.arg in ("require_grad", "requires_grads", "grad")]
        if near and floating:
            start = case.text.start(near[0])
            return Edit(start, start + len(near[0].arg or ""), "requires_grad")
        if named and floating:
            return case.text.replacing(named.value, "True")
        creator = method(value) in CREATORS and dotted(value.func).startswith("torch.")
        if dotted(value.func).endswith("Variable") and floating:
            return case.with_keyword(value, "requires_grad", "True")
        if creator and floating:
            return case.with_keyword(value, "requires_grad", "True")
        if creator and method(value) != "randint":
            return case.with_argument(value, "dtype=torch.float32, requires_grad=True")
    end = ".requires_grad_()" if floating else ".float().requires_grad_()"
    if len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        if isinstance(value, ast.Call):
            return case.text.appending(value, end)
        return case.text.after(statement, f"{name} = {name}.detach(){end}")
    return case.text.after(statement, f"{name} = {name}{end}")


def unfrozen(case: Case) -> Iterator[Proposal]:
    """Parameters that were told not to require grad: told nothing."""
    for node in case.all_nodes:
        if (
            isinstance(node, ast.Assign)
            and any(
                isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets
            )
            and getattr(node.value, "value", None) is False
        ):
            why = f"Line {node.lineno} switches the gradient of every parameter off."
            outer = case.text.parents.get(node)
            whole = isinstance(outer, ast.For) and outer.body == [node]
            statement = outer if whole and isinstance(outer, ast.For) else node
            yield case.proposal(case.text.removing(statement), why=why)
        if (
            isinstance(node, ast.Call)
            and method(node) == "requires_grad_"
            and node.args
            and getattr(node.args[0], "value", None) is False
        ):
            why = f"Line {node.lineno} switches the gradient off."
            yield case.replaced(node.args[0], "True", why=why)


def second_order(case: Case) -> Iterator[Proposal]:
    """create_graph=True in the ways back before this one."""
    yield from by_grad(case)
    earlier = [c for c in case.backwards if c.lineno < case.line and c not in here(case)]
    edits = [case.with_keyword(c, "create_graph", "True") for c in earlier if _feeds(case, c)]
    yield from case.together(edits, why=CREATED)


def without_once(case: Case) -> Iterator[Proposal]:
    """Without @once_differentiable, which lets no gradient through a backward."""
    for function in case.all_nodes:
        for d in getattr(function, "decorator_list", []):
            if "once_differentiable" in dotted(d):
                start = case.text.starts[d.lineno - 1]
                why = "once_differentiable says that backward itself cannot be differentiated."
                yield case.proposal(Edit(start, case.text.starts[d.lineno], ""), why=why)


def by_grad(case: Case) -> Iterator[Proposal]:
    """y.backward(); g = x.grad, which goes back again: g = torch.autograd.grad(y, x)[0]."""
    for call in case.backwards:
        statement, root = case.text.statement(call), roots(case, call)
        if case.is_grad(call) or root is None or call.lineno >= case.line:
            continue
        for read in case.all_nodes:
            value = getattr(read, "value", None)
            if isinstance(value, ast.Call) and method(value) in ("clone", "detach"):
                value = getattr(value.func, "value", None)
            if not (isinstance(read, ast.Assign) and isinstance(value, ast.Attribute)):
                continue
            if value.attr == "grad" and read.lineno > call.lineno:
                y, x = case.text.of(root), case.text.of(value.value)
                new = f"torch.autograd.grad({y}, {x}, create_graph=True)[0]"
                yield case.proposal(
                    case.text.removing(statement),
                    case.text.replacing(value, new),
                    why=CREATED,
                    note=f"{x}.grad is then the second derivative alone.",
                )


CREATED = "A gradient has a graph of its own only where create_graph=True made it."


def _feeds(case: Case, call: ast.Call) -> bool:
    """Whether what goes back on the line that raises comes from a gradient of a call."""
    if case.is_grad(call):
        return True
    lines = [roots(case, c) for c in here(case)]
    texts = [case.text.of(r) for r in lines if r is not None]
    slices = [case.text.of(s) for r in lines if r is not None for s in case.slice_of(r, case.line)]
    return any(".grad" in t for t in [*texts, *slices])


@cures(
    "One of the differentiated Tensors does not require grad",
    "A gradient is asked for with respect to a tensor that records nothing.",
)
def input_without_grad(case: Case) -> Iterator[Proposal]:
    """requires_grad=True for that input."""
    names = [
        n
        for c in here(case)
        if (named := keyword(c, "inputs")) or len(c.args) > 1
        for n in names_in(named.value if named else c.args[1])
        if is_leaf(case, n)
    ]
    edits = [e for n in names if (e := requiring(case, n))]
    yield from case.together(edits, why=_why_leaves(names))
    yield from recording(case)


@cures(
    r"The differentiated Tensor at index (\d+) appears to not have been used in the graph",
    "The output was not computed from this tensor: there is no way from the one to the other.",
)
def unused(case: Case) -> Iterator[Proposal]:
    """The tensor that was used, where it is a part or a copy of it; else None is accepted."""
    for call in here(case):
        inputs = case.argument(call, 1, "inputs")
        listed = inputs.elts if isinstance(inputs, ast.List | ast.Tuple) else [inputs]
        place = int(case.match[1])
        wanted = listed[place] if place < len(listed) else None
        if isinstance(wanted, ast.Subscript):
            whole = case.text.of(wanted.value)
            index = case.text.source[case.text.end(wanted.value) : case.text.end(wanted)]
            if len(listed) == 1:
                target = case.text.parents.get(call)
                edits = [case.text.replacing(wanted, whole)]
                part = case.text.replacing(wanted, whole)
                if not isinstance(target, ast.Subscript | ast.Assign):
                    end = case.text.end(call)
                    note = f"The gradient of {whole}, and the part of it."
                    yield case.proposal(part, Edit(end, end, f"[0]{index}"), note=note)
                if isinstance(target, ast.Subscript):
                    edits.append(Edit(case.text.end(target), case.text.end(target), index))
                    yield case.proposal(
                        *edits, note=f"The gradient of {whole}, and the part of it."
                    )
        if isinstance(wanted, ast.Name):
            yield from used_instead(case, call, wanted)
        note = "The gradient of what the output does not depend on is then None."
        yield case.proposal(case.with_keyword(call, "allow_unused", "True"), note=note, weak=True)
        yield case.proposal(
            case.with_argument(call, "allow_unused=True, materialize_grads=True"),
            note="The gradient of what the output does not depend on is then 0.",
            weak=True,
        )


def used_instead(case: Case, call: ast.Call, wanted: ast.Name) -> Iterator[Proposal]:
    """The output computed from the very tensor that is asked for: a later name of the same."""
    made = [s for s in case.assignments(wanted.id, call.lineno) if isinstance(s, ast.Assign)]
    if len(made) == 1 and isinstance(made[0].value, ast.AST):
        for other in dict.fromkeys(names_in(made[0].value)):
            tensor = case.values.get(other)
            if isinstance(tensor, Tensor) and tensor.requires_grad and tensor.is_leaf:
                uses = [
                    n
                    for n in case.all_nodes
                    if isinstance(n, ast.Name)
                    and n.id == other
                    and isinstance(n.ctx, ast.Load)
                    and n.lineno < call.lineno
                    and case.text.statement(n) is not made[0]
                ]
                root = roots(case, call)
                lines = case.slice_of(root, call.lineno) if root is not None else []
                edits = [
                    case.text.replacing(n, wanted.id)
                    for n in uses
                    if case.text.statement(n) in lines and n.lineno > made[0].lineno
                ]
                if edits:
                    why = f"{wanted.id} is a new tensor; the output was computed from {other}."
                    yield case.proposal(*edits, why=why)
                yield case.replaced(wanted, other, weak=True)


@cures(
    r"'(float|int|bool|float32|float64|ndarray|numpy\.\w+)' object has no attribute "
    r"'(backward|sum|mean|detach|requires_grad_?|grad|item|retain_grad|pow|exp|norm|clone|sqrt)'",
    "It is a plain number, not a tensor: it knows nothing of what it was computed from.",
)
def plain_number(case: Case) -> Iterator[Proposal]:
    """Keep the tensor."""
    for node in case.of_type(ast.Attribute):
        if node.attr != case.match[2]:
            continue
        inner = node.value
        if case.match[2] == "item":
            call = case.text.parents.get(node)
            if isinstance(call, ast.Call):
                yield case.replaced(call, case.text.of(inner))
        if isinstance(inner, ast.Call) and method(inner) == "item":
            yield from connected(case, inner)
        yield from connected(case, inner)
        yield from kept_in_loop(case, inner)
        yield case.replaced(inner, f"torch.tensor({case.text.of(inner)})", weak=True)


def kept_in_loop(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """A sum that starts as the number 0, where no loop adds to it: a tensor."""
    for statement in case.assignments(dotted(node), case.line):
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and isinstance(value, ast.Constant):
            new = "torch.zeros((), requires_grad=True)"
            why = "The loop added nothing: what is left is the number it started with."
            yield case.replaced(value, new, why=why, weak=True)


@cures(
    r"all inputs have to be Tensors or GradientEdges, but got (\w+)",
    "A gradient is with respect to tensors; this is none.",
)
def inputs_no_tensors(case: Case) -> Iterator[Proposal]:
    """Only the tensors."""
    for call in here(case):
        inputs = case.argument(call, 1, "inputs")
        if isinstance(inputs, ast.List | ast.Tuple):
            kept = [case.text.of(e) for e in inputs.elts if not isinstance(e, ast.Constant)]
            yield case.replaced(inputs, f"[{', '.join(kept)}]")
        if inputs is not None and isinstance(inputs, ast.Name):
            for s in reversed(case.assignments(inputs.id, case.line)):
                if isinstance(s, ast.Assign):
                    new = f"torch.tensor({case.text.of(s.value)}, requires_grad=True)"
                    yield case.replaced(s.value, new)


@cures(r"`inputs` argument to `(backward|grad)\(\)` cannot be empty", "No input is named.")
def no_inputs(case: Case) -> Iterator[Proposal]:
    """Without `inputs`; else with the leaves that the program has."""
    for call in here(case):
        edit = case.without_keyword(call, "inputs")
        if edit and case.match[1] == "backward":
            yield case.proposal(edit)
        inputs = case.argument(call, 1, "inputs")
        if inputs is not None:
            names = [
                n
                for n, v in case.scope.items()
                if isinstance(v, Tensor) and v.requires_grad and v.is_leaf
            ]
            yield case.replaced(inputs, f"[{', '.join(names)}]")
            if isinstance(inputs, ast.Name):
                for s in case.assignments(inputs.id):
                    value: Any = getattr(s, "value", None)
                    if method(value) in ("parameters", "filter", "chain"):
                        note = "parameters() can be gone through once; a list again and again."
                        text = f"list({case.text.of(value)})"
                        yield case.replaced(value, text, note=note)


@cures(r"`inputs` argument to `grad\(\)` must be a dict, not (\w+)", "Only a dict itself is taken.")
def no_dict(case: Case) -> Iterator[Proposal]:
    """dict(...)."""
    for call in here(case):
        if len(call.args) > 1:
            yield case.replaced(call.args[1], f"dict({case.text.of(call.args[1])})")
