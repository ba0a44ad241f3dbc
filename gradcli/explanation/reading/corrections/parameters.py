"""Cures of flags, of copies, and of what is assigned to a parameter or a gradient."""

import ast
from collections.abc import Iterator

from ....snippets.eager.tensor import Tensor
from .case import Case, Proposal, cures
from .cuts import leaves, recording, requiring
from .dtypes import INTEGERS, floating_creation
from .in_place import NO_GRAD, is_update
from .text import dotted, keyword, method

# ---- .grad that is None --------------------------------------------------------------------------


# ---- flags ---------------------------------------------------------------------------------------


@cures(
    "you can only change requires_grad flags of leaf variables",
    "What is computed requires grad because its inputs do; only a leaf has a flag of its own.",
)
def flag_of_computed(case: Case) -> Iterator[Proposal]:
    """retain_grad() for what should have a gradient; detach() for what should have none."""
    for statement in case.statements:
        target = value = None
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            target, value = statement.targets[0].value, getattr(statement.value, "value", None)
        for node in ast.walk(statement):
            if (
                method(node) == "requires_grad_"
                and isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
            ):
                target = node.func.value
                value = getattr(node.args[0], "value", True) if node.args else True
        if target is None:
            continue
        text = case.text.of(target)
        if value:
            if case.loop(statement):
                for made in case.assignments(text, case.line)[-1:]:
                    if isinstance(made, ast.Assign):
                        note = "A new leaf in each turn: the graph of the turn before is let go."
                        yield case.appended(made.value, ".detach()", note=note)
            note = "It requires grad already; retain_grad() keeps its gradient."
            yield case.replaced(statement, f"{text}.retain_grad()", note=note)
            new = f"{text} = {text}.detach().requires_grad_()"
            yield case.replaced(statement, new)
            for made in reversed(case.assignments(text, case.line)):
                if isinstance(made, ast.Assign):
                    yield case.appended(made.value, ".detach()")
        else:
            note = "The same numbers without the graph."
            new = f"{text} = {text}.detach()"
            yield case.replaced(statement, new, note=note)


@cures(
    r"requires_grad must be a bool|.*'requires_grad'.* must be bool, not",
    "1 and 'True' are no booleans.",
)
def flag_no_bool(case: Case) -> Iterator[Proposal]:
    """True or False."""
    for node in case.nodes:
        flag = isinstance(node, ast.keyword) and node.arg == "requires_grad"
        value = node.value if flag else node
        if isinstance(value, ast.Constant) and not isinstance(value.value, bool):
            yield case.replaced(value, str(bool(value.value)))


@cures(
    r"can't retain_grad on Tensor that has requires_grad=False|"
    r"cannot register a hook on a tensor that doesn't require gradient",
    "It requires no gradient: none arrives that could be kept or seen.",
)
def no_flag(case: Case) -> Iterator[Proposal]:
    """requires_grad=True where it is made, or where what it comes from is."""

    for node in case.nodes:
        names: list[str] = []
        if isinstance(node, ast.Call):
            if method(node) in ("retain_grad", "register_hook") and isinstance(
                node.func, ast.Attribute
            ):
                names = [dotted(node.func.value)]
            named = keyword(node, "inputs")
            names += [dotted(n) for n in ast.walk(named.value)] if named else []
        for name in [n for n in names if n]:
            tensor = case.values.get(name)
            edit = requiring(case, name) if isinstance(tensor, Tensor) else None
            sliced = case.slice_of(ast.Name(name, ast.Load()), case.line)
            if len(sliced) <= 1 and edit:
                yield case.proposal(edit)
            yield from recording(case)
            yield from leaves(case, [ast.Name(name, ast.Load())])
            if edit:
                yield case.proposal(edit)


@cures(
    "post accumulate grad hooks cannot be registered on non-leaf tensors",
    "Gradients accumulate in leaves alone.",
)
def hook_of_computed(case: Case) -> Iterator[Proposal]:
    """register_hook."""
    for node in case.attributes("register_post_accumulate_grad_hook"):
        yield case.renamed_to(node, "register_hook")


# ---- conversions ---------------------------------------------------------------------------------


@cures(
    r"Can't call (numpy|apply_|map_|map2_)\(\) on (Tensor|Variable) that requires grad",
    "NumPy and Python functions record nothing: the way back would end there unseen.",
)
def to_numpy(case: Case) -> Iterator[Proposal]:
    """.detach() before it; torch's function where the gradient goes on."""
    for node in case.calls():
        if method(node) in ("numpy", "apply_", "map_") and isinstance(node.func, ast.Attribute):
            yield case.proposal(case.before_attribute(node.func, ".detach()"))
        module = dotted(node.func).split(".")[0]
        if module in ("np", "numpy", "math", "plt") and node.args:
            if _goes_on(case):
                name = method(node)
                new = {"arctan": "atan", "power": "pow", "absolute": "abs"}.get(name, name)
                yield case.replaced(node.func, f"torch.{new}")
            edits = [
                case.text.appending(a, ".detach()")
                for a in node.args
                if (t := case.tensor(a)) is None or t.requires_grad
                if not isinstance(a, ast.Constant)
            ]
            yield case.proposal(*edits)
            yield from (case.proposal(e) for e in edits)
        elif node.args:
            for a in node.args:
                tensor = case.tensor(a)
                if tensor is not None and tensor.requires_grad:
                    yield case.appended(a, ".detach()")


def _goes_on(case: Case) -> bool:
    """Whether a way back comes after the line that raises."""
    return any(c.lineno > case.line for c in case.backwards)


@cures(
    "Only Tensors created explicitly by the user",
    "A copy of a computed tensor would have to copy its graph.",
)
def deep_copied(case: Case) -> Iterator[Proposal]:
    """.detach().clone()."""
    for node in case.calls("deepcopy"):
        (argument, *_) = node.args
        text, held = case.text.operand(argument), case.value(argument)
        if isinstance(held, dict):
            copies = f"{{k: v.detach().clone() for k, v in {text}.items()}}"
        elif isinstance(held, list | tuple):
            copies = f"[v.detach().clone() for v in {text}]"
        else:
            copies = f"{text}.detach().clone()"
        yield case.replaced(node, copies)
    for made in case.of_type(ast.Assign, everywhere=True):
        if dotted(made.targets[0]).startswith("self.") and made.lineno != case.line:
            yield case.appended(made.value, ".detach()")


# ---- optimisers and parameters -------------------------------------------------------------------


@cures(
    r"cannot assign '(.+?)' as parameter '(\w+)'",
    "The attribute is a parameter: what is computed cannot take its place.",
)
def assigned_parameter(case: Case) -> Iterator[Proposal]:
    """copy_ without recording."""
    for statement in case.statements:
        if isinstance(statement, ast.Assign):
            left, right = case.text.of(statement.targets[0]), case.text.of(statement.value)
            edit = case.text.wrapping([statement], NO_GRAD)
            new = edit.text.replace(case.text.of(statement), f"{left}.copy_({right})")
            yield case.proposal(
                edit._replace(text=new), note="The parameter stays, with new numbers."
            )
            yield case.replaced(statement.value, f"torch.nn.Parameter({right})")
        elif isinstance(statement, ast.AugAssign):
            yield case.proposal(case.text.wrapping([statement], NO_GRAD))


@cures(
    r"attempting to assign a gradient of size|attempting to assign a gradient with dtype|"
    r"can't assign Variable as its own grad|assigned grad expected to be a Tensor or None",
    "A gradient is another tensor, of the shape and dtype of what it belongs to.",
)
def assigned_gradient(case: Case) -> Iterator[Proposal]:
    """Fitted to the tensor."""
    for statement in case.statements:
        if not (
            isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)
        ):
            continue
        owner = case.text.of(statement.targets[0].value)
        value = statement.value
        if isinstance(value, ast.Constant):
            text = case.text.of(value)
            new = f"torch.full_like({owner}, {text})" if value.value else "None"
            yield case.replaced(value, new)
        for end in (
            f".to({owner}.dtype)",
            f".expand_as({owner}).clone()",
            f".view_as({owner})",
            ".detach().clone()",
        ):
            yield case.appended(value, end)
        yield case.replaced(value, f"torch.ones_like({owner})", weak=True)


@cures(
    "data set to a tensor that requires gradients must be floating point",
    INTEGERS,
)
def integer_data(case: Case) -> Iterator[Proposal]:
    """.float()."""
    for statement in case.statements:
        if isinstance(statement, ast.Assign):
            yield from floating_creation(case, list(ast.walk(statement.value)))
            yield case.appended(statement.value, ".float()")


@cures(
    "attribute 'grad_fn' of 'torch._C.TensorBase' objects is not writable",
    "grad_fn says how a tensor was computed; detach() gives one without.",
)
def grad_fn_written(case: Case) -> Iterator[Proposal]:
    """detach()."""
    for statement in case.statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            owner = case.text.of(statement.targets[0].value)
            yield case.replaced(statement, f"{owner} = {owner}.detach()")


__all__ = ["is_update"]
