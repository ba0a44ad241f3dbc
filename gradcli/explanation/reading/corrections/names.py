"""Corrections of missing names and attributes: imports, keys, misspellings, functions that this
PyTorch does not have.
"""

import ast
import difflib
import re
from collections.abc import Iterator
from itertools import takewhile

from ....public_names import in_pytorch
from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Bound, Instance
from .calls import layer_made_of_values, made_first, misspelled_init
from .case import Case, Proposal, named_fields
from .functions import classes, functions, without_apply
from .nodes import (
    argument,
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
from .text import Edit

IMPORTS = {
    "torch": "import torch",
    "nn": "import torch.nn as nn",
    "F": "import torch.nn.functional as F",
    "optim": "import torch.optim as optim",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "copy": "import copy",
    "time": "import time",
    "random": "import random",
    "itertools": "import itertools",
    "functools": "import functools",
    "Variable": "from torch.autograd import Variable",
    "Function": "from torch.autograd import Function",
    "grad": "from torch.autograd import grad",
    "autograd": "from torch import autograd",
    "jacobian": "from torch.autograd.functional import jacobian",
    "hessian": "from torch.autograd.functional import hessian",
    "gradcheck": "from torch.autograd import gradcheck",
    "vmap": "from torch.func import vmap",
    "jacrev": "from torch.func import jacrev",
    "jacfwd": "from torch.func import jacfwd",
    "functional_call": "from torch.func import functional_call",
    "Parameter": "from torch.nn import Parameter",
    "deepcopy": "from copy import deepcopy",
    "partial": "from functools import partial",
    "OrderedDict": "from collections import OrderedDict",
    "Tensor": "from torch import Tensor",
    "tensor": "from torch import tensor",
}


LOSS_NAMES = ("criterion", "loss_fn", "loss_func", "loss_function", "criteria")


def loss_not_made(case: Case, name: str) -> Iterator[Proposal]:
    """Write criterion = nn.MSELoss(), or nn.CrossEntropyLoss(), before the program's loop."""
    for call in case.calls(name) if name in LOSS_NAMES else ():
        target = case.tensor(call.args[-1]) if call.args else None
        classes = target is not None and not target.dtype.is_floating
        made = "torch.nn.CrossEntropyLoss()" if classes else "torch.nn.MSELoss()"
        note = (
            f"Choose the loss that you need: this one is for {'classes' if classes else 'numbers'}."
        )
        first = case.outermost(case.statement)
        yield case.proposal(case.before(first, f"{name} = {made}"), note=note)


def undefined(case: Case) -> Iterator[Proposal]:
    """Import a missing module; use the most similar name; or add the module before a function."""
    name = case.match[1]
    yield from context_for_self(case, name)
    yield from imported(case, name)
    yield from class_around(case, name)
    defined = case.of_type(ast.FunctionDef, ast.ClassDef, everywhere=True)
    known = [n for n in case.reading.outcome.scope if isinstance(n, str)]
    known += [s.name for s in defined]
    known += [n for n in case.failure.names if n not in known]
    if not difflib.get_close_matches(name, known, 1, 0.6):
        yield from loss_not_made(case, name)
        yield from never_begun(case, name)
    for node in case.names(name, everywhere=False):
        for near in difflib.get_close_matches(name, known, 2, 0.6):
            yield case.replaced(node, near)
        if name in in_pytorch()["torch"]:
            yield case.replaced(node, f"torch.{name}")
        yield case.replaced(node, f"self.{name}")
        if name in ("device", "DEVICE"):
            yield case.proposal(case.before(top_statement(case), f'{name} = "cpu"'))
    yield from computed_last(case, name)
    yield from defined_later(case, name)
    for gone in case.of_type(ast.Delete, everywhere=True):
        if name in [dotted(t) for t in gone.targets]:
            yield case.proposal(case.removing(gone), why=f"del removed {name}.")


def never_begun(case: Case, name: str) -> Iterator[Proposal]:
    """Write total = 0 before the outermost loop that adds to total and does not read it."""
    for added in [s for s in case.of_type(ast.AugAssign) if dotted(s.target) == name]:
        loops = [n for n in case.around(added) if isinstance(n, ast.For | ast.While)]
        read = case.reads_of(name)
        unread = [f for f in loops if not any(f in case.around(n) for n in read)]
        for loop in (unread or loops)[-1:]:
            why = f"{name} is added to, and never begins."
            yield case.proposal(case.before(loop, f"{name} = 0"), why=why)


def context_for_self(case: Case, name: str) -> Iterator[Proposal]:
    """Write ctx for self in a static method whose first argument is ctx."""
    function = case.function_of(case.statement)
    first = function.args.args[0].arg if function is not None and function.args.args else ""
    if name == "self" and first in ("ctx", "context"):
        read = [n for n in within(function, ast.Name) if n.id == name]
        why = f"A static method has no self; saved values are in {first}."
        yield from case.change(*[case.replacing(n, first) for n in read], why=why)


def class_around(case: Case, name: str) -> Iterator[Proposal]:
    """Write super(Net, self) with the actual name of the class."""
    for call in case.calls("super"):
        for cls in [n for n in case.around(call) if isinstance(n, ast.ClassDef)][:1]:
            if call.args and dotted(call.args[0]) == name:
                why = f"The class is called {cls.name} here."
                yield case.replaced(call.args[0], cls.name, why=why)


def computed_last(case: Case, name: str) -> Iterator[Proposal]:
    """Return the variable that a function computes last in place of an undefined one."""
    for returned in case.of_type(ast.Return):
        function = case.function_of(returned)
        if function is not None and dotted(returned.value) == name:
            given = [n for s in function.body for n in targets(s) if n and "." not in n]
            for last in given[-1:]:
                why = f"{function.name} computes {last} last."
                yield case.replaced(returned.value, last, why=why)  # type: ignore[arg-type]


def defined_later(case: Case, name: str) -> Iterator[Proposal]:
    """Move the assignment of a name before its use."""
    top = top_statement(case)
    for later in case.block_after(top):
        if isinstance(later, ast.FunctionDef | ast.ClassDef) and later.name == name:
            why = f"Line {later.lineno} defines {name} only after it is used."
            moved = case.lines_of(later)
            yield case.proposal(case.before(top, *moved), case.removing(later), why=why)
        if isinstance(later, ast.Assign) and name in targets(later):
            why = f"Line {later.lineno} assigns {name} only after it is read."
            moved = case.lines_of(top)
            yield case.proposal(case.removing(top), case.after(later, *moved), why=why)


def imported(case: Case, name: str) -> Iterator[Proposal]:
    """Import a name."""
    body = case.tree.body
    rest = [s for s in body if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]
    top, note = (rest or body)[0], "The import was missing."
    transforms = any(isinstance(case.parents.get(c), ast.Call) for c in case.calls(name))
    if transforms and name in ("grad", "jacrev", "vmap"):
        yield case.proposal(case.before(top, f"from torch.func import {name}"), note=note)
    if name in IMPORTS:
        yield case.proposal(case.before(top, IMPORTS[name]), note=note)


def top_statement(case: Case) -> ast.stmt:
    """The top-level statement that raises."""
    line = [n for n in (*case.failure.lines, case.line) if n][-1]
    return next(s for s in case.tree.body if line <= (s.end_lineno or s.lineno))


def unbound(case: Case) -> Iterator[Proposal]:
    """Begin a sum; or declare the name global."""
    name = case.match[1] or case.match[2]
    if name not in case.scope:
        yield from never_begun(case, name)
    for outer in case.around(case.statement):
        if isinstance(outer, ast.FunctionDef):
            yield case.proposal(case.before(outer.body[0], f"global {name}"))
            return


UNKNOWN = ("<unk>", "<UNK>", "[UNK]", "UNK", "unk", "<oov>", "<OOV>")  # tokens of vocabularies


def missing_key(case: Case) -> Iterator[Proposal]:
    """Use the most similar key."""
    if case.failure.type != "KeyError":
        return
    for node in case.of_type(ast.Subscript):
        held = case.value(node.value)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        for other in UNKNOWN if isinstance(held, dict) and key is None else ():
            if other in held:
                text = case.of(node.value)
                new = f"{text}.get({case.of(node.slice)}, {text}[{other!r}])"
                yield case.replaced(node, new, why=f"{other} stands for missing items of {text}.")
        if isinstance(held, dict) and isinstance(key, str) and key not in held:
            known = [k for k in held if isinstance(k, str)]
            begun = [k for k in known if k.startswith(key)]
            for near in dict.fromkeys(begun + difflib.get_close_matches(key, known, 2, 0.5)):
                yield case.replaced(node.slice, repr(near))
            read = {value_of(n.slice) for n in case.of_type(ast.Subscript, everywhere=True)}
            unread = [k for k in known if k not in read]
            if len(unread) == 1:
                why = f"{unread[0]!r} is the only key that is not read."
                yield case.replaced(node.slice, repr(unread[0]), why=why)
    texts = {n: n.value for n in case.of_type(ast.Constant, everywhere=True)}
    wanted = case.message.strip("'")
    others = {t for t in texts.values() if isinstance(t, str)} - {wanted}
    for near in difflib.get_close_matches(wanted, others, 2, 0.5):
        places = [n for n, text in texts.items() if text == wanted]
        for place in places:
            yield case.replaced(place, repr(near), weak=True)
        misspelled = [n for n, text in texts.items() if text == near] if not places else []
        edits = [case.replacing(n, repr(wanted)) for n in misspelled]
        yield from case.change(*edits, why=f"The key is called {wanted}.")
    for display in case.of_type(ast.Dict):
        keys = {str(k.value): k for k in display.keys if isinstance(k, ast.Constant)}
        for key in difflib.get_close_matches(wanted, keys, 1, 0.5) if wanted not in keys else ():
            yield case.replaced(keys[key], repr(wanted), why=f"The key is called {wanted}.")


# ---- modules without super().__init__() ----------------------------------------------------------


def missing_super(case: Case) -> Iterator[Proposal]:
    """Add super().__init__() to the __init__ of a module."""
    for called in [s.value for s in case.of_type(ast.Expr, everywhere=True)]:
        if isinstance(called, ast.Attribute) and called.attr == "__init__":
            yield case.appended(called, "()", why="nn.Module's own __init__ is not called.")
        if isinstance(called, ast.Call) and dotted(called.func) == "super.__init__":
            why = "super() refers to the base class; super alone is Python's own class."
            yield case.proposal(
                case.before_attribute(called, "()"),
                Edit(case.end(called.func), case.end(called), "()"),
                why=why,
            )
        if isinstance(called, ast.Call) and dotted(called.func) == "super":
            end = ".__init__()"
            yield case.appended(called, end, why="nn.Module's own __init__ is not called.")
    yield from misspelled_init(case)
    modules = [c for c in case.classes if any("Module" in dotted(b) for b in c.bases)]
    for f in [f for c in modules for f in c.body if isinstance(f, ast.FunctionDef)]:
        text = case.of(f)
        if f.name == "__init__" and ("super(" in text or "Module.__init__" in text):
            yield from _first(case, f)
        elif f.name == "__init__":
            yield case.proposal(
                case.before(f.body[0], "super().__init__()"),
                why="nn.Module's own __init__ was not called.",
            )


def _first(case: Case, function: ast.FunctionDef) -> Iterator[Proposal]:
    """Move super().__init__() to the start of an __init__."""
    for statement in function.body[1:]:
        text = case.of(statement)
        if text.startswith(("super(", "nn.Module.__init__(", "torch.nn.Module.__init__(")):
            yield case.proposal(
                case.before(function.body[0], text),
                case.removing(statement),
                why="nn.Module's own __init__ was called too late.",
            )


# ---- attributes ----------------------------------------------------------------------------------
# spellings of other releases and of other libraries.


OLD = {
    **{"data_": "data", "volatile": "requires_grad", "size_": "size", "gradient": "grad"},
    **{"grads": "grad", "require_grad_": "requires_grad_", "astype": "to", "copy": "clone"},
    **dict.fromkeys(("require_grad", "require_grads", "requires_grads"), "requires_grad"),
    **dict.fromkeys(("backwards", "back", "backprop", "step"), "backward"),
    "zero_gradients": "zero_grad",
}  # attributes of tensors


def _module_dict(case: Case) -> Iterator[Proposal]:
    """Make a dict of modules a ModuleDict, which has parameters()."""
    for node in case.attributes("parameters"):
        for built in case.makers(node.value)[:1]:
            why = "A dict of modules is not a module: a ModuleDict has their parameters."
            new = f"torch.nn.ModuleDict({case.of(built.value)})"
            yield case.replaced(built.value, new, why=why)


def _rate_of_group(case: Case) -> Iterator[Proposal]:
    """Read the learning rate of the first group of an optimiser's parameters."""
    edits = [
        case.replacing(n, f'{case.of(n.value)}.param_groups[0]["lr"]')
        for n in case.attributes("lr")
        if "param_groups" in getattr(case.value(n.value), "fields", ())
    ]
    yield from case.change(*edits, why="Each group of parameters has its own learning rate.")


def attribute(case: Case) -> Iterator[Proposal]:
    """Use the current name of an attribute, or the most similar one."""
    match = case.match
    owner, name = match[1] or match[4] or match[6], match[2] or match[5] or match[7]
    yield from made_first(case)
    yield from layer_made_of_values(case, owner)
    if any(c.name == owner for c in classes(case)):
        yield from without_apply(case)
    yield from as_method(case, name)
    yield from of_parameters(case, name)
    if (owner, name) == ("Tensor", "append"):
        yield from grown_by_cat(case)
    if owner.endswith("Backward"):
        for node in case.attributes(name) if name.startswith("saved") else ():
            yield case.renamed_to(node, "saved_tensors")
        yield from kept_in_context(case, name)
    yield from of_items(case, owner, name)
    yield from rows_as_columns(case, owner, name)
    if (owner, name) == ("dict", "parameters"):
        yield from _module_dict(case)
    if name == "lr":
        yield from _rate_of_group(case)
    if owner in ("builtin_function_or_method", "method", "function"):
        yield from not_called(case, name)
    for node in case.attributes(name):
        yield from renamed(case, owner, node)
        if owner == "Sequential":
            yield from of_part(case, node)
        yield from of_some_layers(case, node)
    yield from missing_super(case)
    yield from local_in_init(case, owner, name)


def rows_as_columns(case: Case, owner: str, name: str) -> Iterator[Proposal]:
    """Write Transition(*zip(*batch)) for a list of named tuples of which a field is read."""
    for node in case.attributes(name) if owner in ("list", "tuple", "deque") else ():
        held, built = list(case.value(node.value) or ()), case.makers(node.value)[:1]
        fields = {n for row in held[:1] for n in named_fields(row)}
        for made in [b.value for b in built] if name in fields else ():
            why = "Each item has this field, not the list: zip(*rows) makes columns of the rows."
            yield case.replaced(made, f"{held[0].cls.name}(*zip(*{case.of(made)}))", why=why)


def of_items(case: Case, owner: str, name: str) -> Iterator[Proposal]:
    """Write d["key"] for d.key, or for an attribute of a list of dicts; or read an attribute of
    each item of a list.
    """
    for node in case.attributes(name) if owner == "list" else ():
        held = case.value(node.value)
        if held and isinstance(held[0], dict) and name in held[0]:
            new = f"{case.of(node.value)}[0][{name!r}]"
            yield case.replaced(node, new, why="It is a list of dicts, which are read by key.")
    for node in case.attributes(name) if owner == "dict" else ():
        held = case.value(node.value)
        if isinstance(held, dict) and name in held:
            new = f"{case.of(node.value)}[{name!r}]"
            yield case.replaced(node, new, why="An item of a dict is read by its key.")
    for node in case.attributes(name) if owner == "list" and name == "parameters" else ():
        call, models = case.parents.get(node), case.of(node.value)
        new = f"[p for m in {models} for p in m.parameters()]"
        if isinstance(call, ast.Call):
            yield case.replaced(call, new, why="The list has no parameters, its modules do.")


OF_TENSORS = ("grad", "register_hook", "data", "numel", "retain_grad", "grad_fn", "is_leaf")


def of_parameters(case: Case, name: str) -> Iterator[Proposal]:
    """Iterate over model.parameters() in place of the layers."""
    for node in case.attributes(name) if name in OF_TENSORS else ():
        loop = case.loop(node)
        if not isinstance(loop, ast.For) or dotted(node.value) != dotted(loop.target):
            continue
        if case.is_module(node.value) and case.is_module(loop.iter):
            why = "Iterating over this model yields its layers; parameters() yields its tensors."
            yield case.appended(loop.iter, ".parameters()", why=why)


def of_some_layers(case: Case, node: ast.Attribute) -> Iterator[Proposal]:
    """Write `if hasattr(m, "weight"):` in a loop over layers that do not all have it."""
    loop, statement = case.loop(node), case.statement
    function, layer = case.function_of(node), case.of(node.value)
    looped = isinstance(loop, ast.For) and layer in names_in(loop.target)
    applied = [a.id for c in case.methods("apply", everywhere=True) for a in within(c, ast.Name)]
    given = function is not None and [layer] == [a.arg for a in function.args.args]
    if not looped and not (given and function and function.name in applied):
        return
    if case.is_module(node.value) and node.attr in ("weight", "bias", "reset_parameters"):
        header = f"if hasattr({layer}, {node.attr!r}):"
        why = f"Not every layer has a {node.attr}."
        parts = (f"{layer}.weight", f"{layer}.bias")
        later = takewhile(
            lambda s: any(p in case.of(s) for p in parts), case.block_after(statement)
        )
        yield case.proposal(case.wrapping([statement, *later], header), why=why)


def grown_by_cat(case: Case) -> Iterator[Proposal]:
    """Write x = torch.cat([x, y]) for x.append(y) of tensors."""
    for statement in case.of_type(ast.Expr):
        call = statement.value
        grown = call.func if isinstance(call, ast.Call) else None
        if isinstance(grown, ast.Attribute) and grown.attr == "append":
            held, item = case.of(grown.value), case.of(call.args[0])  # type: ignore[attr-defined]
            why = "A tensor cannot grow: cat returns a new one."
            yield case.replaced(statement, f"{held} = torch.cat([{held}, {item}])", why=why)


def of_part(case: Case, node: ast.Attribute) -> Iterator[Proposal]:
    """Write net[0].weight for net.weight: the attribute of the first layer that has it; or net[1]
    for net.relu: the layer of this class.
    """
    module = case.value(node.value)
    parts = module.fields.get("_modules", {}) if isinstance(module, Instance) else {}
    kind, place = re.fullmatch(r"(.*?)_?(\d*)", node.attr.lower()).groups()  # type: ignore[union-attr]
    kind = {"fc": "linear", "lin": "linear", "bn": "batchnorm"}.get(kind, kind)
    trained = [n for n, p in parts.items() if any(map(p.fields.get, ("_parameters", "_modules")))]
    named = [n for n, p in parts.items() if p.cls.name.lower().startswith(kind)]
    named = trained if kind in ("layer", "block", "hidden") else named
    for name in named[max(int(place or 1) - 1, 0) :][:1] if kind else ():
        why = "Its layers are indexed by number."
        yield case.replaced(node, f"{case.of(node.value)}[{name}]", why=why)
    for name, part in parts.items():
        if isinstance(part, Instance) and part.fields.get("_parameters", {}).get(node.attr):
            why = f"Its layers are indexed by number: {node.attr} belongs to one of them."
            yield case.replaced(node.value, f"{case.of(node.value)}[{name}]", why=why)
            return


def of_owner(case: Case, node: ast.Attribute) -> Iterator[Proposal]:
    """Write net.zero_grad() for net.parameters().zero_grad(), and call backward() of the loss, not
    of the criterion.
    """
    call = node.value.func if isinstance(node.value, ast.Call) else None
    held = call.value if isinstance(call, ast.Attribute) else None
    value = case.value(held)
    if isinstance(value, Instance) and any(node.attr in c.members for c in value.cls.mro):
        why = f"{node.attr} is a method of {case.of(held)}, not of its result."
        yield case.replaced(node.value, case.of(held), why=why)
    alone = node.attr == "step" and len(case.calls("step", everywhere=True)) == 1
    for name, there in case.scope.items() if alone else ():
        if isinstance(there, Instance) and "param_groups" in there.fields:
            yield case.replaced(node.value, name, why="step() is a method of the optimiser.")
    if node.attr in ("backward", "item") and case.is_module(node.value):
        called = case.of(node.value)
        for built in reversed(case.of_type(ast.Assign, everywhere=True)):
            name = dotted(target_of(built, ast.Name))
            if name and dotted(getattr(value_of(built), "func", None)) == called:
                why = f"{called} computes the loss; {name} is its result."
                yield case.replaced(node.value, name, why=why)


OF_NUMPY = {
    **{"expand_dims": "unsqueeze", "array": "tensor", "asarray": "as_tensor", "power": "pow"},
    **{"repeat": "repeat_interleave", "absolute_value": "abs", "multiple": "mul", "amax": "amax"},
    **{"matrix_multiply": "matmul", "dotproduct": "dot", "arange_like": "arange"},
}  # names in other libraries, and PyTorch's names
ONLY_IN_PLACE = ("zero", "fill", "copy", "normal", "uniform", "random", "exponential")


def _similar(
    case: Case, owner: str, node: ast.Attribute, call: ast.AST | None
) -> Iterator[Proposal]:
    """Use a name with similar spelling; softmax is given the last dimension."""
    of_program = owner in [c.name for c in case.classes]
    for near in near_names(case, owner, node):
        why = f"{owner} has no {node.attr}: it has {near}." if of_program else ""
        if near in ("softmax", "log_softmax") and isinstance(call, ast.Call):
            edits = [] if keyword(call, "dim") else [case.with_argument(call, "dim=-1")]
            yield case.proposal(case.renamed(node, near), *edits)
        yield case.renamed_to(node, near, why=why)


def _of_numpy(
    case: Case, owner: str, node: ast.Attribute, call: ast.AST | None
) -> Iterator[Proposal]:
    """Use PyTorch's name or function in place of NumPy's."""
    name = node.attr
    if owner == "Tensor" and name == "astype" and isinstance(call, ast.Call) and call.args:
        dtype = case.of(call.args[0]).strip("'\"").removeprefix("np.").removeprefix("numpy.")
        dtype = {"float": "float32", "int": "int64"}.get(dtype, dtype)
        new = f"{case.of(node.value)}.to(torch.{dtype})"
        yield case.replaced(call, new, why="to() converts the dtype.")
    if owner == "torch" and name in OF_NUMPY:
        yield case.renamed_to(node, OF_NUMPY[name], why=f"{name} is NumPy's name.")
    if owner == "torch" and name == "append" and isinstance(call, ast.Call):
        joined = ", ".join(map(case.of, call.args[:2]))
        rest = "".join(f", {case.of(a)}" for a in call.args[2:])
        yield case.replaced(call, f"torch.cat([{joined}]{rest})", why="append is NumPy's name.")


def renamed(case: Case, owner: str, node: ast.Attribute) -> Iterator[Proposal]:
    """Use another name, another module, or the tensor that an object wraps."""
    name, holder, call = node.attr, case.of(node.value), case.parents.get(node)
    if case.match[3]:
        yield case.renamed_to(node, case.match[3])
    if owner == "Tensor" and name in ONLY_IN_PLACE:
        yield case.renamed_to(node, f"{name}_", why=f"It is changed in place by {name}_().")
    if name == "device" and dotted(node.value) == "self":
        why = "A module has no device; its parameters do."
        yield case.replaced(node, "next(self.parameters()).device", why=why)
    yield from of_owner(case, node)
    yield from elsewhere(case, owner, node)
    yield from _of_numpy(case, owner, node, call)
    for made in case.calls("make_dual", everywhere=True) if name in ("tangent", "primal") else ():
        unpack = case.of(made.func).replace("make_dual", "unpack_dual")
        why = "A dual is a tensor: unpack_dual returns its parts."
        yield case.replaced(node.value, f"{unpack}({holder})", why=why)
    if owner == "Tensor" and name in OLD:
        yield case.renamed_to(node, OLD[name])
    yield from _similar(case, owner, node, call)
    if name in ("shape", "size") and isinstance(call, ast.Call):
        yield case.replaced(call, case.of(node))
    if name == "backward" and case.is_module(node.value):
        yield case.first(node, ".sum()")
    if owner == "list" and name in ("shape", "size", "sum", "mean", "T", "view"):
        yield case.replaced(node.value, f"torch.tensor({holder})")
    if owner in ("ndarray", "float", "int"):
        yield case.replaced(node.value, f"torch.as_tensor({holder})", weak=True)


def batch_of_names(case: Case) -> Iterator[Proposal]:
    """Write for batch in loader and x, y = batch["x"], batch["y"], if a loader yields dicts."""
    loops = [n for n in case.around(case.statement) if isinstance(n, ast.For)]
    for loop in [*loops, *case.of_type(ast.For)]:
        parts = elements(loop.target)
        keys = [case.value(p) for p in parts]
        if not (keys and all(isinstance(k, str) for k in keys)) or method(loop.iter) == "items":
            continue
        if isinstance(case.value(loop.iter), Instance) and case.alone(loop.body[0]):
            read = ", ".join(f"batch[{k!r}]" for k in keys)
            yield case.proposal(
                case.replacing(loop.target, "batch"),
                case.before(loop.body[0], f"{', '.join(map(case.of, parts))} = {read}"),
                uncovers=True,
            )


def length(case: Case) -> Iterator[Proposal]:
    """Add __len__ to a class that stores its samples in an attribute."""
    for cls in [c for c in case.classes if c.name == case.match[1]]:
        held = [
            n
            for f in cls.body
            if isinstance(f, ast.FunctionDef) and f.name == "__getitem__"
            for n in ast.walk(f)
            if isinstance(n, ast.Subscript) and dotted(n.value).startswith("self.")
        ]
        for node in held[:1]:
            lines = ["", "def __len__(self):", f"    return len({case.of(node.value)})"]
            why = f"A {cls.name} must define its number of samples."
            yield case.proposal(case.after(cls.body[-1], *lines), why=why)


REFLECTED = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "@": "matmul", "**": "pow"}


def reflected(case: Case) -> Iterator[Proposal]:
    """Add __rmul__ to a class with __mul__, for a number on the left; or define __sub__ by other
    operators.
    """
    sign, left, name = case.match.groups()
    word = REFLECTED.get(sign, "")
    if left == name:
        yield from by_others(case, name, word)
    elif left in ("int", "float"):
        yield from _reflected(case, name, word)


def by_others(case: Case, name: str, word: str) -> Iterator[Proposal]:
    """Define a - b by + and a product, or a / b by a power, in a class with these operators."""
    why = f"{name} has no __{word}__, which Python calls here."
    if word == "sub":
        yield from _operator(case, name, "__sub__", "self + (-other)", ("__add__", "__neg__"), why)
    elif word == "truediv":
        needed = "__mul__", "__pow__"
        yield from _operator(case, name, "__truediv__", "self * other**-1", needed, why)


def _reflected(case: Case, name: str, word: str) -> Iterator[Proposal]:
    """Define a reflected operator by the existing one."""
    ways = {
        "add": ("__add__", "self + other"),
        "mul": ("__mul__", "self * other"),
        "sub": ("__mul__", "self * -1 + other"),
        "truediv": ("__pow__", "other * self**-1"),
    }
    if word in ways:
        needed, text = ways[word]
        why = f"Python tries the number first, and then __r{word}__ of {name}."
        yield from _operator(case, name, f"__r{word}__", text, (needed,), why)


def _operator(
    case: Case, name: str, operator: str, text: str, needed: tuple[str, ...], why: str
) -> Iterator[Proposal]:
    """Add an operator to a class that has the operators by which it is defined."""
    for cls in [c for c in case.classes if c.name == name]:
        there = {f.name for f in cls.body if isinstance(f, ast.FunctionDef)}
        there |= {dotted(t) for s in cls.body if isinstance(s, ast.Assign) for t in s.targets}
        if set(needed) <= there and operator not in there:
            lines = ["", f"def {operator}(self, other):", f"    return {text}"]
            yield case.proposal(case.after(cls.body[-1], *lines), why=why)


def as_method(case: Case, name: str) -> Iterator[Proposal]:
    """Write loss.backward() for optimizer.backward(loss)."""
    for call in case.calls("backward") if name == "backward" else ():
        if call.args and case.tensor(call.args[0]) is not None:
            new = f"{case.operand(call.args[0])}.backward()"
            yield case.replaced(call, new, why="backward() is a method of the loss.")


def kept_in_context(case: Case, name: str) -> Iterator[Proposal]:
    """Write ctx.b = b in forward, if backward reads it."""
    for forward in functions(case, "forward"):
        ctx, *names = [a.arg for a in forward.args.args]
        if name in names:
            yield case.proposal(
                case.before(forward.body[-1], f"{ctx}.{name} = {name}"),
                why=f"backward reads {ctx}.{name}, which forward did not save.",
            )


def local_in_init(case: Case, owner: str, name: str) -> Iterator[Proposal]:
    """Write self.lin = nn.Linear(2, 1) for lin = nn.Linear(2, 1) in __init__."""
    for built in case.assignments(name):
        within = {getattr(n, "name", "") for n in case.around(built)}
        if isinstance(built, ast.Assign) and {"__init__", owner} <= within:
            why = f"Line {built.lineno} assigns a local variable, not an attribute of the module."
            yield case.proposal(case.inserting(built, "self."), why=why)
    for cls in [c for c in case.classes if c.name == owner]:
        for init in [f for f in cls.body if getattr(f, "name", "") == "__init__"]:
            if isinstance(init, ast.FunctionDef) and name in [a.arg for a in init.args.args]:
                why = f"__init__ receives {name}, but does not store it."
                yield case.proposal(case.after(_first_of(init), f"self.{name} = {name}"), why=why)


def _first_of(init: ast.FunctionDef) -> ast.stmt:
    """The statement super().__init__() of an __init__, or its first statement."""
    started = [s for s in init.body if calls_in(s, "__init__")]
    return (started or init.body)[0]


def elsewhere(case: Case, owner: str, node: ast.Attribute) -> Iterator[Proposal]:
    """Use a function of another module: torch, torch.nn, torch.nn.functional, or a method of
    tensors.
    """
    name, functional = node.attr, "torch.nn.functional"
    if owner in ("torch", "torch.nn") and name in in_pytorch()[functional]:
        yield case.replaced(node, f"{functional}.{name}")
    if owner == functional and name in in_pytorch()["torch.nn"]:
        plain = name.lower()
        for function in sorted(in_pytorch()[functional]):
            if function.replace("_", "") in (plain, plain.removesuffix("loss")):
                why = f"{name} is a class of torch.nn; its function is {function}."
                yield case.renamed_to(node, function, why=why)
    if owner in (functional, "torch.nn") and name in in_pytorch()["torch"]:
        yield case.replaced(node, f"torch.{name}")
    call = case.parents.get(node)
    called = isinstance(call, ast.Call) and call.func is node
    for module in ("torch", functional) if called and dotted(node.value) == "self" else ():
        if name in in_pytorch()[module]:
            why = f"self has no {name}; PyTorch has a function of this name."
            yield case.replaced(node, f"{module}.{name}", why=why)
    if owner == "Tensor" and isinstance(call, ast.Call) and call.func is node:
        arguments = ", ".join(case.of(a) for a in (node.value, *call.args))
        for module in ("torch", functional):
            if name in in_pytorch()[module]:
                yield case.replaced(call, f"{module}.{name}({arguments})")


def not_called_in_sum(case: Case) -> Iterator[Proposal]:
    """Write x.numel() for x.numel in sums, and where a method is assigned to a name."""
    called = {c.func for c in case.calls()}
    inner = [n.elt for n in case.of_type(ast.GeneratorExp, ast.ListComp)]
    kept = case.of_type(ast.Assign, everywhere=True)
    methods = [s.value for s in kept if isinstance(case.value(s.targets[0]), Bound)]
    lists = [n.id for n in case.of_type(ast.Name) if _holds_methods(case.value(n))]
    added = case.calls("append", everywhere=True)
    methods += [a for c in added if dotted(owner(c)) in lists for a in c.args]
    assigned = [s.value for n in case.of_type(ast.Name) for s in case.makers(n)]
    for part in (*case.sides, *inner, *methods, *assigned):
        for value in (part, case.made(part)):
            if isinstance(value, ast.Attribute) and value not in called:
                yield case.appended(value, "()")


def _holds_methods(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(i, Bound) for i in value)


def not_called(case: Case, name: str) -> Iterator[Proposal]:
    """Add missing parentheses to a method, or where it was assigned to a name."""
    why = "Without parentheses this is the method itself; () calls it."
    for node in case.attributes(name):
        for value in [node.value, *[m.value for m in reversed(case.makers(node.value))]]:
            if isinstance(value, ast.Attribute):
                yield case.appended(value, "()", why=why)


PLAIN = {t.__name__: t for t in (str, list, dict, tuple, set)}


def near_names(case: Case, owner: str, node: ast.Attribute) -> list[str]:
    """Attributes of an object with similar names."""
    value = case.value(node.value)
    known: list[str] = []
    if isinstance(value, Tensor) or owner == "Tensor":
        known = sorted(in_pytorch()["torch.Tensor"])
    elif isinstance(value, Instance):
        known = [*value.fields, *[n for c in value.cls.mro for n in c.members]]
        for group in ("_parameters", "_modules", "_buffers"):
            known += list(value.fields.get(group, {}))
    elif owner in PLAIN:
        known = [n for n in dir(PLAIN[owner]) if not n.startswith("_")]
    elif owner.endswith("Backward"):
        known = ["saved_tensors", "save_for_backward", "needs_input_grad", "mark_dirty"]
    elif owner.startswith("torch"):
        known = list(in_pytorch().get(owner, ()))
    known = [n for n in known if n.endswith("_") == node.attr.endswith("_")]
    same = [n for n in known if n.lower() == node.attr.lower() and n != node.attr]
    layers = [*value.fields.get("_modules", {})] if isinstance(value, Instance) else []
    near = difflib.get_close_matches(node.attr, known, 2, 0.7)
    if isinstance(value, Instance):
        near += [n for n in value.cls.members if n.startswith(f"{node.attr}_")]
    return same + near + difflib.get_close_matches(node.attr, layers, 2, 0.6)


# ---- what this PyTorch does not have -------------------------------------------------------------
# other devices, and functions of older versions.


NOTE = "On a machine with a GPU the program runs unchanged; gradcli reads it without a GPU."


def on_cpu(case: Case) -> Iterator[Proposal]:
    """Remove .cuda(), and write "cpu" for other devices."""
    moves = [c for c in case.methods("cuda", "mps", "xpu", everywhere=True) if not c.keywords]
    edits = [case.without_method(c) for c in moves]
    for node in case.of_type(ast.Constant, everywhere=True):
        if isinstance(node.value, str) and node.value.partition(":")[0] in ("cuda", "mps", "xpu"):
            edits.append(case.replacing(node, repr("cpu")))
        if isinstance(node.value, str) and node.value.startswith("torch.cuda."):
            edits.append(case.replacing(node, repr(node.value.replace("cuda.", ""))))
    for name in case.attributes(everywhere=True):
        if dotted(name.value) == "torch.cuda" and name.attr.endswith("Tensor"):
            edits.append(case.replacing(name, f"torch.{name.attr}"))
    if edits:
        yield case.proposal(*edits, note=NOTE)


def in_linalg(case: Case) -> Iterator[Proposal]:
    """Use torch.linalg's equivalent function."""
    for call in case.calls("solve", "symeig", "lstsq", "matrix_rank"):
        name = method(call)
        texts = [case.of(a) for a in operands(call) if a is not None]
        if name == "matrix_rank":
            yield case.replaced(call, f"torch.linalg.matrix_rank({', '.join(texts)})")
        elif name == "symeig":
            yield from _of_symmetric(case, call, texts[0])
        elif len(texts) > 1:
            end = ".solution" if name == "lstsq" else ""
            yield from _first_alone(case, call, f"torch.linalg.{name}({texts[1]}, {texts[0]}){end}")


def _of_symmetric(case: Case, call: ast.Call, matrix: str) -> Iterator[Proposal]:
    upper = argument(call, 2, "upper")
    side = "" if value_of(upper) is False else ", UPLO='U'"
    if value_of(argument(call, 1, "eigenvectors")) or keyword(call, "eigenvectors"):
        yield case.replaced(call, f"torch.linalg.eigh({matrix}{side})")
    else:
        yield from _first_alone(case, call, f"torch.linalg.eigvalsh({matrix}{side})")


def _first_alone(case: Case, call: ast.Call, text: str) -> Iterator[Proposal]:
    """Use the function that now returns only the first of two values."""
    place = case.parents[call]
    if isinstance(place, ast.Subscript | ast.Attribute):
        yield case.replaced(place, text)
    for statement in case.of_type(ast.Assign):
        target = statement.targets[0]
        if statement.value is call and isinstance(target, ast.Tuple):
            yield case.proposal(
                case.replacing(target, case.of(target.elts[0])), case.replacing(call, text)
            )
    yield case.replaced(call, text)
