"""Cures of attributes that are not there: spellings of other releases and of other libraries."""

import ast
import difflib
from collections.abc import Iterator

from ....operators.positional import in_pytorch
from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .calls import made_first
from .case import Case, Proposal
from .functions import classes, functions, without_apply
from .names import missing_super

OLD = {
    **{"data_": "data", "volatile": "requires_grad", "size_": "size", "gradient": "grad"},
    **{"grads": "grad", "require_grad_": "requires_grad_", "astype": "to", "copy": "clone"},
    **dict.fromkeys(("require_grad", "require_grads", "requires_grads"), "requires_grad"),
    **dict.fromkeys(("backwards", "back", "backprop", "step"), "backward"),
    "zero_gradients": "zero_grad",
}  # attributes of tensors


def attribute(case: Case) -> Iterator[Proposal]:
    """The name that it has now, or the nearest there is."""
    match = case.match
    owner, name = match[1] or match[4] or match[6], match[2] or match[5] or match[7]
    yield from made_first(case)
    if any(c.name == owner for c in classes(case)):
        yield from without_apply(case)
    yield from as_method(case, name)
    if owner.endswith("Backward"):
        for node in case.attributes(name) if name.startswith("saved") else ():
            yield case.renamed_to(node, "saved_tensors")
        yield from kept_in_context(case, name)
    for node in case.attributes("lr") if name == "lr" else ():
        new = f'{case.of(node.value)}.param_groups[0]["lr"]'
        yield case.replaced(node, new, why="Each group of parameters has a rate of its own.")
    if owner in ("builtin_function_or_method", "method", "function"):
        yield from not_called(case, name)
    for node in case.attributes(name):
        yield from renamed(case, owner, node)
        if owner == "Sequential":
            yield from of_part(case, node)
    yield from missing_super(case)
    yield from local_in_init(case, owner, name)


def of_part(case: Case, node: ast.Attribute) -> Iterator[Proposal]:
    """net[0].weight: what the first of the layers that has it has."""
    module = case.value(node.value)
    parts = module.fields.get("_modules", {}) if isinstance(module, Instance) else {}
    for name, part in parts.items():
        if isinstance(part, Instance) and part.fields.get("_parameters", {}).get(node.attr):
            why = f"The layers are in it by their numbers: {node.attr} is that of one of them."
            yield case.replaced(node.value, f"{case.of(node.value)}[{name}]", why=why)
            return


def renamed(case: Case, owner: str, node: ast.Attribute) -> Iterator[Proposal]:
    """Another name, another module, or what holds the attribute as a tensor."""
    name, holder, call = node.attr, case.of(node.value), case.parents.get(node)
    if case.match[3]:
        yield case.renamed_to(node, case.match[3])
    yield from elsewhere(case, owner, node)
    if owner == "Tensor" and name in OLD:
        yield case.renamed_to(node, OLD[name])
    for near in near_names(case, owner, node):
        yield case.renamed_to(node, near)
    if name in ("shape", "size") and isinstance(call, ast.Call):
        yield case.replaced(call, case.of(node))
    if name == "backward" and case.is_module(node.value):
        yield case.first(node, ".sum()")
    if owner == "list" and name in ("shape", "size", "sum", "mean", "T", "view"):
        yield case.replaced(node.value, f"torch.tensor({holder})")
    if owner in ("ndarray", "float", "int"):
        yield case.replaced(node.value, f"torch.as_tensor({holder})", weak=True)


def as_method(case: Case, name: str) -> Iterator[Proposal]:
    """optimizer.backward(loss) as loss.backward()."""
    for call in case.calls("backward") if name == "backward" else ():
        if call.args and case.tensor(call.args[0]) is not None:
            new = f"{case.operand(call.args[0])}.backward()"
            yield case.replaced(call, new, why="It is the loss that goes back.")


def kept_in_context(case: Case, name: str) -> Iterator[Proposal]:
    """ctx.b = b in forward, for what backward reads."""
    for forward in functions(case, "forward"):
        ctx, *names = [a.arg for a in forward.args.args]
        if name in names:
            yield case.proposal(
                case.before(forward.body[-1], f"{ctx}.{name} = {name}"),
                why=f"backward reads {ctx}.{name}, which forward has not kept.",
            )


def local_in_init(case: Case, owner: str, name: str) -> Iterator[Proposal]:
    """lin = nn.Linear(2, 1) in __init__, as self.lin."""
    for built in case.assignments(name):
        within = {getattr(n, "name", "") for n in case.around(built)}
        if isinstance(built, ast.Assign) and {"__init__", owner} <= within:
            why = f"Line {built.lineno} gives a name of __init__ alone a value, not the module."
            yield case.proposal(case.inserting(built, "self."), why=why)


def elsewhere(case: Case, owner: str, node: ast.Attribute) -> Iterator[Proposal]:
    """A function that stands in another module: torch.nn.functional's of torch, nn, a tensor."""
    name, functional = node.attr, "torch.nn.functional"
    if owner in ("torch", "torch.nn") and name in in_pytorch()[functional]:
        yield case.replaced(node, f"{functional}.{name}")
    if owner in (functional, "torch.nn") and name in in_pytorch()["torch"]:
        yield case.replaced(node, f"torch.{name}")
    call = case.parents.get(node)
    if owner == "Tensor" and isinstance(call, ast.Call) and call.func is node:
        arguments = ", ".join(case.of(a) for a in (node.value, *call.args))
        for module in ("torch", functional):
            if name in in_pytorch()[module]:
                yield case.replaced(call, f"{module}.{name}({arguments})")


def not_called(case: Case, name: str) -> Iterator[Proposal]:
    """The parentheses that are missing: of a method, or where its name was given to it."""
    why = "A method without parentheses is the method itself; its result comes with ()."
    for node in case.attributes(name):
        for value in [node.value, *[m.value for m in reversed(case.makers(node.value))]]:
            if isinstance(value, ast.Attribute):
                yield case.appended(value, "()", why=why)


def near_names(case: Case, owner: str, node: ast.Attribute) -> list[str]:
    """Names like an attribute that its owner has."""
    value = case.value(node.value)
    known: list[str] = []
    if isinstance(value, Tensor) or owner == "Tensor":
        known = sorted(in_pytorch()["torch.Tensor"])
    elif isinstance(value, Instance):
        known = [*value.fields, *[n for c in value.cls.mro for n in c.members]]
        for group in ("_parameters", "_modules", "_buffers"):
            known += list(value.fields.get(group, {}))
    elif owner.endswith("Backward"):
        known = ["saved_tensors", "save_for_backward", "needs_input_grad", "mark_dirty"]
    elif owner.startswith("torch"):
        known = list(in_pytorch().get(owner, ()))
    known = [n for n in known if n.endswith("_") == node.attr.endswith("_")]
    same = [n for n in known if n.lower() == node.attr.lower() and n != node.attr]
    return same + difflib.get_close_matches(node.attr, known, 2, 0.7)
