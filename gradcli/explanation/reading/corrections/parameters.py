"""Corrections of requires_grad flags, of conversions, and of assignments to parameters or
gradients.
"""

import ast
from collections.abc import Iterator

from .case import Case, Proposal, is_computed, weight_of
from .cut_steps import IN_TORCH
from .cuts import all_connected, without_no_grad
from .dtypes import floating_creation
from .in_place import NO_GRAD
from .nodes import (
    calls_in,
    dotted,
    is_transposed,
    keyword,
    method,
    owner,
    size,
    target_of,
    value_of,
    within,
)
from .numbers import without_array
from .requiring import leaves, requiring, unfrozen

# ---- requires_grad -------------------------------------------------------------------------------


def flag_of_computed(case: Case) -> Iterator[Proposal]:
    """Call retain_grad() for a computed tensor that needs a gradient, or detach() for one that does
    not.
    """
    for statement in case.statements:
        flagged = target_of(statement, ast.Attribute)
        target = owner(flagged)
        value = value_of(value_of(statement)) if flagged else None
        for call in calls_in(statement, "requires_grad_"):
            target, value = owner(call), value_of(call.args[0]) if call.args else True
        if target is None:
            continue
        text = case.of(target)
        if not value and isinstance(target, ast.Subscript):
            continue
        if not value:
            note = "The same values without the graph."
            yield case.replaced(statement, f"{text} = {text}.detach()", note=note)
            continue
        built = case.makers(text)
        for last in built[:1] if case.loop(statement) else ():
            note = "A new leaf in each iteration, without the graph of the previous one."
            yield case.appended(last.value, ".detach()", note=note)
        note = "It already requires grad; retain_grad() keeps its gradient."
        yield case.replaced(statement, f"{text}.retain_grad()", note=note)
        yield case.replaced(statement, f"{text} = {text}.detach().requires_grad_()")
        for earlier in built:
            yield case.appended(earlier.value, ".detach()")


def cleared_gradient(case: Case) -> Iterator[Proposal]:
    """w.grad.zero_() for w.grad = 0, or for w.grad.data = 0, everywhere."""
    edits = []
    for statement in case.of_type(ast.Assign, everywhere=True):
        cleared = target_of(statement, ast.Attribute)
        value = value_of(statement.value)
        of_grad = cleared and dotted(cleared).removesuffix(".data").endswith(".grad")
        if cleared and of_grad and type(value) in (int, float) and value == 0:
            edits.append(case.replacing(statement, f"{case.of(cleared)}.zero_()"))
    yield from case.change(*edits)


def assigned_gradient(case: Case) -> Iterator[Proposal]:
    """Transpose a matrix that is assigned to .grad."""
    sizes = case.match[1], case.match[2]
    for statement in case.of_type(ast.Assign) if all(sizes) else ():
        if size(sizes[0]) == size(sizes[1])[::-1]:
            yield case.appended(statement.value, ".T")


def flag_no_bool(case: Case) -> Iterator[Proposal]:
    """Pass True or False."""
    for node in case.nodes:
        flag = isinstance(node, ast.keyword) and node.arg == "requires_grad"
        value = node.value if flag else node
        if isinstance(value, ast.Constant) and not isinstance(value.value, bool):
            yield case.replaced(value, str(bool(value.value)))


def of_matrices(case: Case) -> Iterator[Proposal]:
    """Initialise only matrices in a loop over all parameters; set a bias to zero."""
    for call in case.calls():
        for given in call.args[:1] if case.loop(call) else ():
            if isinstance(given, ast.Name):
                header = f"if {given.id}.dim() > 1:"
                yield case.proposal(case.wrapping([case.statement], header))
        for given in call.args[:1] if method(call).endswith("_") else ():
            yield case.replaced(call, f"torch.nn.init.zeros_({case.of(given)})")


def no_flag(case: Case) -> Iterator[Proposal]:
    """Set requires_grad=True where a tensor is created, or where its source is."""
    for call in case.calls():
        watched = method(call) in ("retain_grad", "register_hook")
        named = keyword(call, "inputs")
        asked = [owner(call)] if watched else []
        asked += within(named.value, ast.AST) if named else []
        for name in [dotted(n) for n in asked if dotted(n)]:
            edit = requiring(case, name) if case.tensor_of(name) else None
            read = ast.Name(name, ast.Load())
            if len(case.slice_of(read, case.line)) <= 1:
                yield from case.change(edit)
            yield from without_no_grad(case)
            yield from leaves(case, [read])
            yield from case.change(edit)
    yield from unfrozen(case)


# ---- conversions ---------------------------------------------------------------------------------


def to_numpy(case: Case) -> Iterator[Proposal]:
    """Call .detach() first; or use torch's function if a gradient is needed."""
    later = [c for c in case.backwards if c.lineno > case.line]
    goes_on = bool(later) or (case.function_of(case.statement) is not None and case.backwards != [])
    for call in case.backwards:
        root = case.root(call)
        whole = case.calls("from_numpy", "tensor", "as_tensor")
        if root is not None and case.statement in case.slice_of(root, call.lineno) and whole:
            yield from all_connected(case, root)
    yield from arrays_of_items(case, goes_on)
    if goes_on:
        yield from array_beside_recorded(case)
    calls = [c for c in case.calls() if dotted(owner(c)) in ("np", "numpy", "math") and c.args]
    if goes_on and len(calls) > 1:
        yield case.proposal(*[case.replacing(c.func, f"torch.{_name(c)}") for c in calls])
    for call in case.calls():
        if method(call) in ("numpy", "apply_", "map_") and owner(call) is not None:
            yield case.first(call, ".detach()")
        given = [a for a in call.args if not isinstance(a, ast.Constant)]
        cut = {a: case.appending(a, ".detach()") for a in given if _recorded(case, a) is not False}
        if dotted(call.func).split(".")[0] not in ("np", "numpy", "math", "plt"):
            yield from (case.proposal(e) for a, e in cut.items() if _recorded(case, a))
        elif call.args:
            if goes_on:
                yield case.replaced(call.func, f"torch.{_name(call)}")
            yield from case.change(*cut.values())
            yield from (case.proposal(e) for e in cut.values())


def array_beside_recorded(case: Case) -> Iterator[Proposal]:
    """Write x * torch.as_tensor(array).float() for x.numpy() * array."""
    for node in case.of_type(ast.BinOp):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            called = isinstance(side, ast.Call) and method(side) == "numpy"
            if called and hasattr(case.value(other), "array"):
                array = case.replacing(other, f"torch.as_tensor({case.of(other)}).float()")
                why = "An array has no graph: the gradient would not reach the tensor."
                yield case.proposal(without_array(case, side), array, why=why)  # type: ignore[arg-type]


def arrays_of_items(case: Case, goes_on: bool) -> Iterator[Proposal]:
    """Write np.concatenate([x.detach().numpy() for x in xs]); or torch.stack(xs) if a loss depends
    on it.
    """
    for call in case.calls("concatenate", "stack", "vstack", "hstack", "array"):
        given = call.args[0] if call.args else None
        numpy = dotted(owner(call)) in ("np", "numpy")
        if given is None or not numpy or not case.listed(given):
            continue
        if goes_on and method(call) == "array":
            yield case.replaced(call, f"torch.stack({case.of(given)})")
        elif not goes_on:
            new = f"[item.detach().numpy() for item in {case.of(given)}]"
            yield case.replaced(given, new)


def _name(call: ast.Call) -> str:
    """PyTorch's name of a function of NumPy."""
    return IN_TORCH.get(method(call), method(call))


def _recorded(case: Case, node: ast.expr) -> bool | None:
    """Whether a tensor requires grad; None if it is not known."""
    tensor = case.tensor(node)
    return None if tensor is None else tensor.requires_grad


def deep_copied(case: Case) -> Iterator[Proposal]:
    """Write .detach().clone()."""
    for node in case.calls("deepcopy"):
        (given, *_) = node.args
        text, held = case.operand(given), case.value(given)
        copies = f"{text}.detach().clone()"
        if isinstance(held, dict):
            copies = f"{{k: v.detach().clone() for k, v in {text}.items()}}"
        elif isinstance(held, list | tuple):
            copies = f"[v.detach().clone() for v in {text}]"
        yield case.replaced(node, copies)
    yield from without_graphs(case)
    for built in case.of_type(ast.Assign, everywhere=True):
        if dotted(built.targets[0]).startswith("self.") and built.lineno != case.line:
            yield case.appended(built.value, ".detach()")


def without_graphs(case: Case) -> Iterator[Proposal]:
    """Write net.h = net.h.detach() before deepcopy(net), where a call of net stored h."""
    for copied in [a for c in case.calls("deepcopy") for a in c.args[:1]]:
        fields = getattr(case.value(copied), "fields", {})
        held = [f"{case.of(copied)}.{name}" for name, v in fields.items() if is_computed(v)]
        lines = [f"{name} = {name}.detach()" for name in held]
        note = "The copy has the value of its last call, without the graph."
        yield from case.change(case.before(case.statement, *lines) if lines else None, note=note)


# ---- assignments ---------------------------------------------------------------------------------


def assigned_parameter(case: Case) -> Iterator[Proposal]:
    """Assign to another attribute, if the value has a graph; or call copy_ under no_grad."""
    yield from local_in_method(case)
    for call in [c for c in case.calls("setattr") if len(c.args) == 3]:
        holder, name, value = map(case.of, call.args)
        if any("param_groups" in getattr(v, "fields", ()) for v in case.values.values()):
            edit = case.wrapping([case.statement_of(call)], NO_GRAD)
            new = edit.text.replace(case.of(call), f"getattr({holder}, {name}).copy_({value})")
            yield case.proposal(edit._replace(text=new), note="The optimiser keeps its parameter.")
        yield case.replaced(call.args[2], f"torch.nn.Parameter({value})", note="A new parameter.")
    for statement in case.of_type(ast.Assign):
        if weight_of(case.value(statement.value)) is not None:
            why = "A layer is not a parameter, but has one."
            yield case.appended(statement.value, f".{case.match[2]}", why=why)
    yield from tied_weight(case)
    computed = "torch.nn.Parameter" not in "".join(case.of(s) for s in case.of_type(ast.Assign))
    for statement in case.of_type(ast.Assign) if computed else ():
        if case.leads_to_leaf(statement.value):
            name = case.of(statement.targets[0])
            note = f"{name} is now a computed tensor, through which gradients flow."
            kept = f"{name.rpartition('.')[2]}_v"
            read = [n for n in within(statement.value, ast.Attribute) if case.of(n) == name]
            lines = [f"{kept} = {name}", f"del {name}"] if read else [f"del {name}"]
            edits = [case.replacing(n, kept) for n in read]
            yield case.proposal(case.before(statement, *lines), *edits, note=note)
    for statement in case.of_type(ast.Assign, ast.AugAssign):
        edit = case.wrapping([statement], NO_GRAD)
        if isinstance(statement, ast.AugAssign):
            yield case.proposal(edit)
            continue
        left, right = case.of(statement.targets[0]), case.of(statement.value)
        right = f"torch.as_tensor({right})" if "ndarray" in case.message else right
        new = edit.text.replace(case.of(statement), f"{left}.copy_({right})")
        note = "The parameter stays, with new values."
        yield case.proposal(edit._replace(text=new), note=note)
        yield case.replaced(statement.value, f"torch.nn.Parameter({right})")


def local_in_method(case: Case) -> Iterator[Proposal]:
    """Write a local variable for self.w = self.w / 2 in forward, so that the parameter stays."""
    for statement in case.of_type(ast.Assign):
        target = target_of(statement, ast.Attribute)
        function = case.function_of(statement)
        if target is None or function is None or function.name == "__init__":
            continue
        text, new = case.of(target), target.attr
        read = [n for n in within(function, ast.Attribute) if dotted(n) == text]
        later = [n for n in read if n.lineno > (statement.end_lineno or 0)]
        taken = {n.id for n in within(function, ast.Name)}
        if (
            later
            and new not in taken
            and text in [dotted(n) for n in within(statement.value, ast.Attribute)]
        ):
            edits = [case.replacing(n, new) for n in (target, *later)]
            note = f"{text} stays the parameter; {new} is computed from it in each call."
            yield case.proposal(*edits, note=note)


def tied_weight(case: Case) -> Iterator[Proposal]:
    """Write dec.weight = emb.weight for dec.weight = emb.weight.T, if it has the shape of the
    assigned weight already.
    """
    for statement in case.of_type(ast.Assign):
        held = case.shape(statement.targets[0])
        for node in within(statement.value, ast.Attribute, ast.Call):
            shared = owner(node)
            if is_transposed(node) and held is not None and case.shape(shared) == held:
                note = f"Both are of shape {held}: the two layers share one parameter."
                yield case.replaced(statement.value, case.of(shared), note=note)


def integer_data(case: Case) -> Iterator[Proposal]:
    """Convert by .float()."""
    for statement in case.of_type(ast.Assign):
        yield from floating_creation(case, within(statement.value, ast.AST))
        yield case.appended(statement.value, ".float()")
