"""Tensors that should require grad, and where the program creates them."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, layers_of
from .nodes import dotted, keyword, method, names_in, owner, target_of, value_of, within
from .text import Edit

CREATORS = (
    *("tensor", "rand", "randn", "ones", "zeros", "full", "arange", "linspace", "eye", "randint"),
    *("normal", "empty", "ones_like", "zeros_like", "rand_like", "randn_like", "as_tensor"),
)


def leaves(case: Case, targets: list[ast.expr]) -> Iterator[Proposal]:
    """Set requires_grad=True for the tensors whose gradient is needed, or on which the output
    depends.
    """
    wanted = asked_for(case)
    source = [n for t in targets for n in names_in(t)]
    source += [n for t in targets for s in case.slice_of(t, case.line) for n in names_in(s)]
    source = [n for n in source if n not in compared_with(case) or n in wanted]
    if any(trains(case.values.get(n)) for n in source):  # the graph is cut elsewhere
        source = [n for n in source if n in wanted]
    order = dict.fromkeys([*wanted, *reversed(list(dict.fromkeys(source)))])
    yield from leaves_in_container(case, list(order))
    names = [n for n in order if is_leaf(case, n) and (n in wanted or is_given(case, n))]
    names = sorted(names, key=lambda n: not is_given(case, n))  # of a computed tensor, its source
    asked = [n for n in names if n in wanted]
    asked = [n for n in asked if is_given(case, n)] or asked
    if len(asked) > 1:
        yield from case.change(*[requiring(case, n) for n in asked], why=why_leaves(asked))
    for name in names:
        weak = bool(asked) and name not in asked
        yield from case.change(requiring(case, name), why=why_leaves([name]), weak=weak)


def leaves_in_container(case: Case, names: list[str]) -> Iterator[Proposal]:
    """Set requires_grad=True for each tensor that a list or dict is written with."""
    for name in names:
        for built in case.makers(name)[:1] if holds_tensors(case.values.get(name)) else ():
            items = getattr(built.value, "values", getattr(built.value, "elts", []))
            made = [_in_creation(case, i, True) for i in items if isinstance(i, ast.Call)]
            if len(made) == len(items):
                yield from case.change(*made, why=why_leaves([name]))


def holds_tensors(value: object) -> bool:
    """Whether a value is a list or dict of tensors."""
    items = list(value.values()) if isinstance(value, dict) else value
    known = isinstance(items, list | tuple) and bool(items)
    return known and all(isinstance(i, Tensor) for i in items)  # type: ignore[attr-defined]


def flag_too_late(case: Case, targets: list[ast.expr]) -> Iterator[Proposal]:
    """Move x.requires_grad_() to right after x is created, if tensors are computed from x before
    it.
    """
    used = {n: s for t in targets for s in case.slice_of(t, case.line) for n in names_in(s)}
    for statement in case.of_type(ast.Expr, ast.Assign, everywhere=True):
        flagged = target_of(statement, ast.Attribute)
        name = dotted(owner(flagged)) if flagged and flagged.attr == "requires_grad" else ""
        if isinstance(statement, ast.Expr) and method(statement.value) == "requires_grad_":
            name = dotted(owner(statement.value))
        if name in used and used[name].lineno <= statement.lineno:
            for built in case.assignments(name, statement.lineno)[:1]:
                yield case.proposal(
                    case.removing(statement),
                    case.after(built, *case.lines_of(statement)),
                    why=f"{name} did not require grad yet when it was used.",
                )


def part_flagged(case: Case) -> Iterator[Proposal]:
    """Write x.requires_grad = True for x[0].requires_grad = True; and requires_grad_(True) on a
    module, which has no such flag.
    """
    for statement in case.of_type(ast.Assign, everywhere=True):
        flagged = target_of(statement, ast.Attribute)
        part = owner(flagged) if flagged and flagged.attr == "requires_grad" else None
        whole = part.value if isinstance(part, ast.Subscript) else part
        if whole is not None and case.is_module(whole):
            new = f"{case.of(part)}.requires_grad_({case.of(statement.value)})"
            why = f"{case.of(flagged)} is a plain attribute, which changes no parameter."
            yield case.replaced(statement, new, why=why)
            continue
        if isinstance(part, ast.Subscript) and case.tensor(whole) is not None:
            text = case.of(whole)
            why = f"{case.of(part)} is a new tensor: the flag was set on it, not on {text}."
            yield case.replaced(part, text, why=why)


def trains(value: object) -> bool:
    """Whether a value is a tensor that requires grad, or a module with such a parameter."""
    if isinstance(value, Tensor):
        return value.requires_grad
    layers = [layer.fields.get("_parameters", {}) for layer in layers_of(value)]
    return any(p is not None and p.requires_grad for held in layers for p in held.values())


def why_leaves(names: list[str]) -> str:
    """Why nothing was recorded for tensors computed from these names."""
    listed = " and ".join(names)
    return f"{listed} does not require grad, so operations on it are not recorded."


def asked_for(case: Case) -> list[str]:
    """Names whose gradient the program reads, computes, or passes to an optimiser."""
    result: list[str] = []
    for node in case.of_type(ast.Attribute, ast.Call, everywhere=True):
        if isinstance(node, ast.Attribute):
            result += [dotted(node.value)] if node.attr == "grad" else []
            continue
        if case.is_grad(node) or "optim" in dotted(node.func):
            place = 1 if case.is_grad(node) else 0
            result += names_in(node.args[place]) if len(node.args) > place else []
            named = keyword(node, "inputs") or keyword(node, "params")
            result += names_in(named.value) if named else []
        if method(node) in ("retain_grad", "register_hook"):
            result.append(dotted(owner(node)))
    return [n for n in dict.fromkeys(result) if n]


def compared_with(case: Case) -> set[str]:
    """Names that are only used as targets of a loss."""
    losses = [c for c in case.calls(everywhere=True) if len(c.args) == 2 and case.is_loss(c)]
    read = [n for c in losses for n in within(c.args[1], ast.Name)]
    names = {n.id for n in read}
    return {n for n in names if all(r in read for r in case.reads_of(n))}


def is_leaf(case: Case, name: str) -> bool:
    """Whether a name is a floating tensor that does not require grad."""
    tensor = case.tensor_of(name)
    return tensor is not None and not tensor.requires_grad


def is_given(case: Case, name: str) -> bool:
    """Whether a name is assigned numbers, not computed from other tensors."""
    values = [value_of(s) for s in case.assignments(name)]
    read = [case.values.get(n) for v in values for n in names_in(v)]
    computed = any(isinstance(v, Tensor | Instance) or holds_tensors(v) for v in read)
    return bool(values) and not computed


def requiring(case: Case, name: str) -> Edit | None:
    """Set requires_grad=True where a tensor is created, or right after."""
    built = [s for s in case.assignments(name) if isinstance(s, ast.Assign)]
    if not built:
        return None
    statement, value, tensor = built[0], built[0].value, case.tensor_of(name)
    floating = tensor is not None and tensor.dtype.is_floating
    alone = len(statement.targets) == 1
    if alone and isinstance(value, ast.Call):
        edit = _in_creation(case, value, floating)
        if edit:
            return edit
    end = ".requires_grad_()" if floating else ".float().requires_grad_()"
    if not (alone and isinstance(statement.targets[0], ast.Name)):
        return case.after(statement, f"{name} = {name}{end}")
    if isinstance(value, ast.Call):
        return case.appending(value, end)
    return case.after(statement, f"{name} = {name}.detach(){end}")


def _in_creation(case: Case, call: ast.Call, floating: bool) -> Edit | None:
    """Pass requires_grad to the call that creates a tensor; or rename it if misspelt."""
    creator = method(call) in CREATORS and dotted(call.func).startswith("torch.")
    if floating:
        for k in call.keywords:
            if k.arg in ("require_grad", "requires_grads", "grad"):
                return Edit(case.start(k), case.start(k) + len(k.arg), "requires_grad")
        if creator or keyword(call, "requires_grad") or dotted(call.func).endswith("Variable"):
            return case.with_keyword(call, "requires_grad", "True")
    elif creator and method(call) != "randint":
        return case.with_argument(call, "dtype=torch.float32, requires_grad=True")
    return None


def frozen_too_late(case: Case) -> Iterator[Proposal]:
    """Move a loop that freezes a model before the line that replaces its last layer."""
    for loop in case.of_type(ast.For, everywhere=True):
        model = dotted(owner(loop.iter))
        flags = [n for n in within(loop, ast.Attribute) if n.attr.startswith("requires_grad")]
        if method(loop.iter) != "parameters" or not flags or not model:
            continue
        for new in case.blocks[loop][: case.blocks[loop].index(loop)]:
            target = target_of(new, ast.Attribute) or target_of(new, ast.Subscript)
            made = method(value_of(new))[:1].isupper()
            if target is None or not made or not _part_of(target, model):
                continue
            why = f"Line {loop.lineno} freezes the new layer of line {new.lineno} too."
            yield case.proposal(
                case.before(new, *case.lines_of(loop)), case.removing(loop), why=why
            )


def _part_of(target: ast.expr, model: str) -> bool:
    """Whether a target is a layer of a model, such as model.fc or model[2]."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        if dotted(target) == model:
            return True
    return False


def replaced_head(case: Case) -> Iterator[Proposal]:
    """Write model.fc = nn.Linear(model.fc.in_features, 5) for model.fc.out_features = 5."""
    for node in case.of_type(ast.Assign, everywhere=True):
        target = target_of(node, ast.Attribute)
        layer = case.module(target.value) if target and target.attr == "out_features" else None
        if target is not None and layer is not None and layer.cls.name == "Linear":
            name, package = case.of(target.value), "torch." if "nn" not in case.scope else ""
            new = f"{name} = {package}nn.Linear({name}.in_features, {case.of(node.value)})"
            why = f"Line {node.lineno} changes a number that only describes the layer."
            yield case.replaced(node, new, why=why, note="The new layer requires grad.")


def optimised_part(case: Case) -> Iterator[Proposal]:
    """Add model.fc.requires_grad_(True) after a loop that freezes a model, if an optimiser gets the
    parameters of that part.
    """
    for call in case.calls(everywhere=True):
        given = call.args[0] if call.args and keyword(call, "lr") else None
        if method(given) != "parameters":
            continue
        part = owner(given)
        for loop in case.of_type(ast.For, everywhere=True):
            frozen = method(loop.iter) == "parameters" and "requires_grad" in case.of(loop)
            if frozen and _part_of(part, dotted(owner(loop.iter))):
                why = f"Line {loop.lineno} freezes {case.of(part)} too."
                line = f"{case.of(part)}.requires_grad_(True)"
                yield case.proposal(case.after(loop, line), why=why)


def one_left_to_train(case: Case) -> Iterator[Proposal]:
    """Exclude from a loop that freezes modules the one whose gradient is read, or else the last."""
    read = {n.partition(".")[0] for n in asked_for(case)}
    for loop in case.of_type(ast.For, everywhere=True):
        frozen = isinstance(loop.iter, ast.Tuple | ast.List) and "requires_grad" in case.of(loop)
        modules = loop.iter.elts if frozen else []  # type: ignore[attr-defined]
        if len(modules) < 2 or not all(map(case.is_module, modules)):
            continue
        names = [case.of(m) for m in modules]
        trained = next((n for n in names if n in read), names[-1])
        left = ", ".join(n for n in names if n != trained)
        why = f"Line {loop.lineno} leaves no parameter to train: {trained} is frozen too."
        yield case.replaced(loop.iter, f"[{left}]", why=why)


def unfrozen(case: Case) -> Iterator[Proposal]:
    """Remove requires_grad=False of parameters."""
    yield from replaced_head(case)
    yield from frozen_too_late(case)
    yield from optimised_part(case)
    yield from one_left_to_train(case)
    for call in case.calls("from_pretrained", everywhere=True):
        if not keyword(call, "freeze"):
            why = "An embedding from pretrained vectors is frozen, unless freeze=False."
            yield case.given(call, "freeze", "False", why=why)
    read = {n.partition(".")[0] for n in asked_for(case)}
    nodes = case.of_type(ast.Assign, ast.Call, everywhere=True)
    for node in sorted(nodes, key=lambda n: not read & set(names_in(_whole_loop(case, n)))):
        if isinstance(node, ast.Assign):
            flagged = target_of(node, ast.Attribute)
            if flagged and flagged.attr == "requires_grad" and value_of(node.value) is False:
                why = f"Line {node.lineno} turns off the gradients of all parameters."
                yield case.proposal(case.removing(_whole_loop(case, node)), why=why)
        elif method(node) == "requires_grad_" and node.args and value_of(node.args[0]) is False:
            why = f"Line {node.lineno} turns off the gradient."
            yield case.replaced(node.args[0], "True", why=why)


def _whole_loop(case: Case, node: Any) -> Any:
    """The loop whose only statement a node is; else the node itself."""
    outer = case.parents.get(node)
    return outer if isinstance(outer, ast.For) and outer.body == [node] else node
