"""Cures of names: imports that are missing, spellings of other releases and other libraries."""

import ast
import difflib
import re
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.names import in_pytorch
from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures
from .functions import classes, functions, without_apply
from .seeds import size
from .text import Edit, dotted, keyword, method

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


@cures(r"name '(\w+)' is not defined", "Nothing gives this name a value before the line.")
def undefined(case: Case) -> Iterator[Proposal]:
    """The import that is missing; the name that is nearly the same; the module before it."""
    name = case.match[1]
    top = _after_docstring(case)
    if name in ("grad", "jacrev", "vmap") and f"{name}(" in case.text.source:
        outer = [case.text.parents.get(c) for c in case.calls(name)]
        if any(isinstance(o, ast.Call) for o in outer):
            line = f"from torch.func import {name}"
            yield case.proposal(case.text.before(top, line), note="The import was missing.")
    if name in IMPORTS:
        yield case.proposal(case.text.before(top, IMPORTS[name]), note="The import was missing.")
    for node in case.of_type(ast.Name):
        if node.id == name:
            known = [n for n in case.reading.outcome.scope if isinstance(n, str)]
            known += [
                s.name for s in case.all_nodes if isinstance(s, ast.FunctionDef | ast.ClassDef)
            ]
            for near in difflib.get_close_matches(name, known, 2, 0.6):
                yield case.replaced(node, near)
            if name in in_pytorch()["torch"]:
                yield case.replaced(node, f"torch.{name}")
            yield case.replaced(node, f"self.{name}")
            if name in ("device", "DEVICE"):
                yield case.proposal(case.text.before(top_statement(case), f'{name} = "cpu"'))
    for gone in case.of_type(ast.Delete, everywhere=True):
        if name in [dotted(t) for t in gone.targets]:
            yield case.proposal(case.text.removing(gone), why=f"del took {name} away.")
    # a definition further down
    for statement in case.text.tree.body:
        defines = isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name
        if (defines or statement in case.assignments(name)) and statement.lineno > case.line:
            first = top_statement(case)
            if case.text.alone(statement):
                lines = case.text.lines_of(statement)
                start, end = case.text.span([statement])
                yield case.proposal(Edit(start, end, ""), case.text.before(first, *lines))


def top_statement(case: Case) -> ast.stmt:
    """The statement of the program itself that raises."""
    lines = [n for n in (*case.failure.lines, case.line) if n]
    return next(
        s
        for s in case.text.tree.body
        if s.lineno <= lines[-1] <= (s.end_lineno or s.lineno) or s.lineno >= lines[-1]
    )


def _after_docstring(case: Case) -> ast.stmt:
    body = case.text.tree.body
    future = [s for s in body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    rest = [s for s in body if s not in future]
    return rest[0] if rest else body[0]


@cures(
    r"cannot access local variable '(\w+)' where it is not associated|"
    r"local variable '(\w+)' referenced before assignment",
    "A name that a function gives a value is the function's own, all through it.",
)
def unbound(case: Case) -> Iterator[Proposal]:
    """global."""
    name = case.match[1] or case.match[2]
    for outer in case.text.around(case.statement):
        if isinstance(outer, ast.FunctionDef):
            yield case.proposal(case.text.before(outer.body[0], f"global {name}"))
            return


@cures(r"'[^']*'$", "The dictionary has no such key.")
def missing_key(case: Case) -> Iterator[Proposal]:
    """The key that is nearly the same."""
    if case.failure.type != "KeyError":
        return
    for node in case.of_type(ast.Subscript):
        if not isinstance(node.slice, ast.Constant):
            continue
        held, key = case.value(node.value), node.slice.value
        if isinstance(held, dict) and isinstance(key, str) and key not in held:
            known = [k for k in held if isinstance(k, str)]
            begun = [k for k in known if k.startswith(key)]
            for near in dict.fromkeys(begun + difflib.get_close_matches(key, known, 2, 0.5)):
                yield case.replaced(node.slice, repr(near))
    texts = {n: n.value for n in case.of_type(ast.Constant, everywhere=True)}
    wanted = case.failure.message.strip("'")
    others = {t for t in texts.values() if isinstance(t, str)} - {wanted}
    for near in difflib.get_close_matches(wanted, others, 2, 0.5):
        places = [n for n, text in texts.items() if text == wanted]
        for place in places:
            yield case.replaced(place, repr(near), weak=True)
        misspelled = [n for n, text in texts.items() if text == near] if not places else []
        edits = [case.text.replacing(n, repr(wanted)) for n in misspelled]
        yield from case.together(edits, why=f"The key is called {wanted}.")


@cures(
    r"Error\(s\) in loading state_dict for .*?size mismatch for ([\w.]+): copying a param with "
    r"shape torch.Size\((\[[\d, ]+\])\) from checkpoint, the shape in current model is "
    r"torch.Size\((\[[\d, ]+\])\)",
    "A state has the shapes of the model that it was taken from.",
)
def other_state(case: Case) -> Iterator[Proposal]:
    """The layer with the sizes of the state; or the tensors alone that fit."""
    saved, own = size(case.match[2]), size(case.match[3])
    for call in case.calls("Linear", "Embedding", everywhere=True):
        given = [getattr(a, "value", None) for a in call.args[:2]]
        order = -1 if method(call) == "Linear" else 1
        if given == list(own)[::order] and len(saved) == 2:
            edits = [case.text.replacing(a, str(n)) for a, n in zip(call.args, saved[::order])]
            yield case.proposal(*edits, weak=True)
    for call in case.calls("load_state_dict"):
        state, model = case.text.operand(call.args[0]), case.text.of(call.func.value)  # type: ignore[attr-defined]
        fitting = (
            f"{{k: v for k, v in {state}.items() if v.shape == {model}.state_dict()[k].shape}}"
        )
        note = "Layers of other sizes, as a new last one, keep the numbers that they begin with."
        new = f"{model}.load_state_dict({fitting}, strict=False)"
        yield case.replaced(call, new, note=note)


@cures(
    r"Error\(s\) in loading state_dict for .*(Missing|Unexpected) key\(s\) in state_dict: ",
    "The names in a state are those of the model that it was taken from.",
)
def other_names(case: Case) -> Iterator[Proposal]:
    """Without, or with, the first part of the names; else what is there alone."""
    listed = dict(re.findall(r"(Missing|Unexpected) key\(s\).*?: (.*)", case.failure.message))
    missing, given = (re.findall(r'"(.*?)"', listed.get(k, "")) for k in ("Missing", "Unexpected"))
    for call in case.calls("load_state_dict"):
        state = case.text.operand(call.args[0])
        for name, other in zip(missing[:1], given[:1]):
            if other.endswith(name):
                key = f"k.removeprefix({other.removesuffix(name)!r})"
            elif name.endswith(other):
                key = f"{name.removesuffix(other)!r} + k"
            else:
                continue
            why = f"The state was saved from a model that has {other} where this one has {name}."
            new = f"{{{key}: v for k, v in {state}.items()}}"
            yield case.replaced(call.args[0], new, why=why)
        note = "What is not in the state keeps the numbers that it begins with."
        yield case.proposal(case.with_keyword(call, "strict", "False"), note=note, weak=True)


@cures(
    r'can only concatenate str \(not "(\w+)"\) to str',
    "Text is joined with text alone.",
)
def joined_text(case: Case) -> Iterator[Proposal]:
    """str(...)."""
    for node in case.of_type(ast.BinOp):
        if isinstance(node.op, ast.Add):
            yield case.replaced(node.right, f"str({case.text.of(node.right)})")


OLD = {
    ("Tensor", "data_"): "data",
    ("Tensor", "volatile"): "requires_grad",
    ("Tensor", "size_"): "size",
    ("Tensor", "gradient"): "grad",
    ("Tensor", "grads"): "grad",
    ("Tensor", "require_grad"): "requires_grad",
    ("Tensor", "require_grads"): "requires_grad",
    ("Tensor", "requires_grads"): "requires_grad",
    ("Tensor", "require_grad_"): "requires_grad_",
    ("Tensor", "backwards"): "backward",
    ("Tensor", "back"): "backward",
    ("Tensor", "backprop"): "backward",
    ("Tensor", "step"): "backward",
    ("Tensor", "astype"): "to",
    ("Tensor", "copy"): "clone",
    ("Tensor", "zero_gradients"): "zero_grad",
}


@cures(
    r"'(\w+)' object has no attribute '(\w+)'(?:\. Did you mean: '(\w+)'\?)?|"
    r"module '([\w.]+)' has no attribute '(\w+)'|type object '(\w+)' has no attribute '(\w+)'",
    "There is no attribute of this name in PyTorch 2.13.",
)
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
    if name == "lr":
        for node in case.attributes("lr"):
            new = f'{case.text.of(node.value)}.param_groups[0]["lr"]'
            yield case.replaced(node, new, why="Each group of parameters has a rate of its own.")
    if owner in ("builtin_function_or_method", "method", "function"):
        yield from not_called(case, name)
    for node in case.of_type(ast.Attribute):
        if node.attr != name:
            continue
        if match[3]:
            yield case.proposal(case.renamed(node, match[3]))
        yield from elsewhere(case, owner, node)
        if (owner, name) in OLD:
            yield case.proposal(case.renamed(node, OLD[owner, name]))
        for near in near_names(case, owner, node):
            yield case.renamed_to(node, near)
        call = case.text.parents.get(node)
        if name in ("shape", "size") and isinstance(call, ast.Call):
            yield case.replaced(call, case.text.of(node))
        if isinstance(case.value(node.value), Instance) and name == "backward":
            yield case.proposal(case.before_attribute(node, ".sum()"))
        if owner == "list" and name in ("shape", "size", "sum", "mean", "T", "view"):
            new = f"torch.tensor({case.text.of(node.value)})"
            yield case.replaced(node.value, new)
        if owner in ("ndarray", "float", "int"):
            new = f"torch.as_tensor({case.text.of(node.value)})"
            yield case.replaced(node.value, new, weak=True)
    yield from missing_super(case)
    yield from local_in_init(case, owner, name)


def as_method(case: Case, name: str) -> Iterator[Proposal]:
    """optimizer.backward(loss) as loss.backward()."""
    for call in case.calls("backward"):
        if name == "backward" and call.args and case.tensor(call.args[0]) is not None:
            new = f"{case.text.operand(call.args[0])}.backward()"
            yield case.replaced(call, new, why="It is the loss that goes back.")


def kept_in_context(case: Case, name: str) -> Iterator[Proposal]:
    """ctx.b = b in forward, for what backward reads."""
    for forward in functions(case, "forward"):
        if name in [a.arg for a in forward.args.args[1:]]:
            ctx = forward.args.args[0].arg
            yield case.proposal(
                case.text.before(forward.body[-1], f"{ctx}.{name} = {name}"),
                why=f"backward reads {ctx}.{name}, which forward has not kept.",
            )


def local_in_init(case: Case, owner: str, name: str) -> Iterator[Proposal]:
    """lin = nn.Linear(2, 1) in __init__, as self.lin."""
    for made in case.assignments(name):
        within = [getattr(n, "name", "") for n in case.text.around(made)]
        if isinstance(made, ast.Assign) and {"__init__", owner} <= set(within):
            at = case.text.start(made)
            why = f"Line {made.lineno} gives a name of __init__ alone a value, not the module."
            yield case.proposal(Edit(at, at, "self."), why=why)


def elsewhere(case: Case, owner: str, node: ast.Attribute) -> Iterator[Proposal]:
    """A function that stands in another module: torch.nn.functional's of torch, nn, a tensor."""
    name, functional = node.attr, "torch.nn.functional"
    if owner in ("torch", "torch.nn") and name in in_pytorch()[functional]:
        yield case.replaced(node, f"{functional}.{name}")
    if owner in ("torch.nn.functional", "torch.nn") and name in in_pytorch()["torch"]:
        yield case.replaced(node, f"torch.{name}")
    call = case.text.parents.get(node)
    if owner == "Tensor" and isinstance(call, ast.Call) and call.func is node:
        for module in ("torch", functional):
            if name in in_pytorch()[module]:
                arguments = [case.text.of(node.value), *[case.text.of(a) for a in call.args]]
                yield case.replaced(call, f"{module}.{name}({', '.join(arguments)})")


def not_called(case: Case, attribute: str) -> Iterator[Proposal]:
    """The parentheses that are missing: of a method, or where its name was given to it."""
    why = "A method without parentheses is the method itself; its result comes with ()."
    for node in case.attributes(attribute):
        if isinstance(node.value, ast.Attribute):
            yield case.appended(node.value, "()", why=why)
        for made in case.assignments(dotted(node.value), before=case.line):
            if isinstance(made, ast.Assign) and isinstance(made.value, ast.Attribute):
                yield case.appended(made.value, "()", why=why)


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


def made_first(case: Case) -> Iterator[Proposal]:
    """nn.ReLU()(x) for nn.ReLU(x): a layer, or a loss, is made and then called."""
    named = {n.name for n in case.all_nodes if isinstance(n, ast.ClassDef)}
    for call in case.calls():
        for made in case.assignments(dotted(call.func), case.line) if dotted(call.func) else ():
            value = getattr(made, "value", None)
            layer = isinstance(value, ast.Attribute) and value.attr[:1].isupper()
            if isinstance(value, ast.expr) and (layer or dotted(value) in named):
                why = f"{case.text.of(value)} is a class: the layer, or loss, comes with ()."
                yield case.appended(value, "()", why=why)
    for node in case.calls(everywhere=True):
        if not (method(node)[:1].isupper() and node.args):
            continue
        tensors = [a for a in node.args if case.tensor(a) is not None]
        if (
            dotted(node.func).startswith(("nn.", "torch.nn."))
            and len(tensors) == len(node.args)
            and method(node) != "Parameter"
            and node.lineno <= case.line
        ):
            at = case.text.end(node.func)
            why = f"{dotted(node.func)}(...) makes a layer; the tensor goes into its call."
            yield case.proposal(Edit(at, at, "()"), why=why)


@cures(r"Boolean value of Tensor with more than one value", "A layer is made without its input.")
def loss_made_with_tensors(case: Case) -> Iterator[Proposal]:
    """nn.MSELoss()(a, b)."""
    yield from made_first(case)


@cures(
    r"cannot assign (module|parameters?) before Module.__init__\(\) call",
    "A module must be initialised before it is given layers.",
)
def before_init(case: Case) -> Iterator[Proposal]:
    """super().__init__()."""
    yield from missing_super(case)


MISSPELLED = ("__int__", "_init_", "__init_", "_init__", "init", "__init", "__inti__")


def missing_super(case: Case) -> Iterator[Proposal]:
    """super().__init__() in the __init__ of a module that has none."""
    for node in case.all_nodes:
        called = node.value if isinstance(node, ast.Expr) else None
        if isinstance(called, ast.Attribute) and called.attr == "__init__":
            yield case.appended(called, "()", why="nn.Module's own __init__ is not called.")
    for cls in case.of_type(ast.ClassDef, everywhere=True):
        if not any("Module" in dotted(b) for b in cls.bases):
            continue
        for f in cls.body:
            if isinstance(f, ast.FunctionDef) and f.name in MISSPELLED:
                start = case.text.start(f) + len("def ")
                why = f"{f.name} is no name that Python knows: __init__ makes a new object."
                yield case.proposal(Edit(start, start + len(f.name), "__init__"), why=why)
            if (
                isinstance(f, ast.FunctionDef)
                and f.name == "__init__"
                and "super(" not in case.text.of(f)
                and "Module.__init__" not in case.text.of(f)
            ):
                yield case.proposal(
                    case.text.before(f.body[0], "super().__init__()"),
                    why="nn.Module's own __init__ was not called.",
                )
            elif isinstance(f, ast.FunctionDef) and f.name == "__init__":
                yield from _first(case, f)


def _first(case: Case, function: ast.FunctionDef) -> Iterator[Proposal]:
    """The call of nn.Module's own __init__ before all else."""
    for statement in function.body[1:]:
        text = case.text.of(statement)
        if text.startswith(("super(", "nn.Module.__init__(", "torch.nn.Module.__init__(")):
            yield case.proposal(
                case.text.before(function.body[0], text),
                case.text.removing(statement),
                why="nn.Module's own __init__ was called too late.",
            )


@cures(
    r'Module \[(\w+)\] is missing the required "forward" function',
    "A module that is called runs its forward.",
)
def misspelled_forward(case: Case) -> Iterator[Proposal]:
    """The method whose name is nearly that; of a list of layers, one after the other."""
    for call in case.calls("ModuleList", everywhere=True):
        if case.match[1] == "ModuleList" and call.args and isinstance(call.func, ast.Attribute):
            at = case.text.start(call.args[0])
            why = "A ModuleList holds layers; Sequential calls them one after the other."
            yield case.proposal(case.renamed(call.func, "Sequential"), Edit(at, at, "*"), why=why)
    for cls in case.of_type(ast.ClassDef, everywhere=True):
        if cls.name == case.match[1]:
            methods = {f.name: f for f in cls.body if isinstance(f, ast.FunctionDef)}
            near = difflib.get_close_matches("forward", methods, 1, 0.6)
            for name in near or [n for n in methods if n == "__call__"]:
                start = case.text.start(methods[name]) + len("def ")
                yield case.proposal(Edit(start, start + len(name), "forward"))


@cures(
    r"new\(\) received an invalid combination of arguments - got \(.*(requires_grad|dtype)=",
    "torch.Tensor(...), an older maker, has no such argument; torch.tensor(...) has.",
)
def older_maker(case: Case) -> Iterator[Proposal]:
    """torch.tensor of numbers, torch.empty of sizes."""
    for node in case.calls():
        if method(node).endswith("Tensor") and node.args:
            sizes = all(isinstance(case.value(a), int) for a in node.args)
            yield case.replaced(node.func, "torch.empty" if sizes else "torch.tensor")


@cures(
    r"(\w+\.)?(\w+)\(\) got an unexpected keyword argument '(\w+)'",
    "The function has no argument of this name.",
)
def keyword_name(case: Case) -> Iterator[Proposal]:
    """What it is called in PyTorch; else left out."""
    name = case.match[3]
    known = {
        "axis": "dim",
        "keepdims": "keepdim",
        "size_average": "reduction",
        "require_grad": "requires_grad",
        "requires_grads": "requires_grad",
        "requiresgrad": "requires_grad",
        "grad": "requires_grad",
        "learning_rate": "lr",
        "create_graphs": "create_graph",
        "retain_graphs": "retain_graph",
    }
    for node in case.calls():
        if named := keyword(node, name):
            if name in known:
                start = case.text.start(named)
                yield case.proposal(Edit(start, start + len(name), known[name]))
            edit = case.without_keyword(node, name)
            if edit:
                yield case.proposal(edit, weak=True)


@cures(
    r"'(\w+)' object is not callable",
    "What is called is a value, not a function.",
)
def called_value(case: Case) -> Iterator[Proposal]:
    """Without the brackets; an index where one is meant."""
    yield from shadowed(case)
    for node in case.calls():
        value = case.value(node.func)
        attribute_of = isinstance(node.func, ast.Attribute) and node.func.attr in (
            "grad",
            "data",
            "shape",
            "T",
            "is_leaf",
            "requires_grad",
            "grad_fn",
            "ndim",
        )
        if attribute_of and not node.args:
            yield case.replaced(node, case.text.of(node.func))
        if isinstance(value, Tensor | list | tuple) and len(node.args) == 1:
            start, end = case.text.end(node.func), case.text.end(node)
            inner = case.text.of(node.args[0])
            yield case.proposal(Edit(start, end, f"[{inner}]"))
            yield case.proposal(Edit(start, end, f" * ({inner})"))


def shadowed(case: Case) -> Iterator[Proposal]:
    """A value with the name of a function of Python, under another name."""
    for call in case.calls():
        name = dotted(call.func)
        if name not in ("sum", "max", "min", "abs", "len", "range", "print", "list", "float"):
            continue
        others = [
            n
            for n in case.all_nodes
            if isinstance(n, ast.Name) and n.id == name and not _is_called(case, n)
        ]
        edits = [case.text.replacing(n, f"{name}_value") for n in others]
        if edits:
            why = f"{name} is the name of a value here: Python's own function is hidden."
            yield case.proposal(*edits, why=why)


def _is_called(case: Case, node: ast.AST) -> bool:
    call = case.text.parents.get(node)
    return isinstance(call, ast.Call) and call.func is node


@cures(
    r"'float' object cannot be interpreted as an integer|only integers, slices .*got float|"
    r"slice indices must be integers|(list|tuple) indices must be integers or slices, not float|"
    r".*argument 'size' .*must be tuple of ints",
    "A division gives a float, even of integers that it divides evenly.",
)
def whole_division(case: Case) -> Iterator[Proposal]:
    """// for /, on the line or where the number comes from; int(...)."""
    places = [*case.nodes]
    for name in case.of_type(ast.Name):
        places += [n for s in case.assignments(name.id, case.line) for n in ast.walk(s)]
    for node in places:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            start, end = case.text.end(node.left), case.text.start(node.right)
            between = case.text.source[start:end]
            yield case.proposal(Edit(start, end, between.replace("/", "//")))
    for node in case.of_type(ast.Constant):
        if isinstance(node.value, float):
            yield case.replaced(node, str(int(node.value)))


@cures(
    r"too many values to unpack \(expected (\d+)\)|"
    r"not enough values to unpack \(expected (\d+), got \d+\)",
    "There are as many names on the left as there are values, or none is given.",
)
def unpacked_parts(case: Case) -> Iterator[Proposal]:
    """As many parts as there are names."""
    wanted = case.match[1] or case.match[2]
    for call in case.calls("chunk"):
        place = 0 if dotted(getattr(call.func, "value", None)) != "torch" else 1
        if len(call.args) > place:
            yield case.replaced(call.args[place], wanted)


@cures(
    r"unsupported format string passed to Tensor.__format__",
    "A format of numbers is for one number; the tensor has several.",
)
def formatted(case: Case) -> Iterator[Proposal]:
    """Without the format."""
    for node in case.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = case.text.of(node)
            yield case.replaced(node, re.sub(r"\{(\w*):[^{}]*\}", r"{\1}", text))
        if isinstance(node, ast.JoinedStr):
            text = case.text.of(node)
            yield case.replaced(node, re.sub(r"(\{[^{}:]+):[^{}]*\}", r"\1}", text))


@cures(
    r"(\w+)\.forward\(\) (takes|missing) |forward\(\) (takes|missing) |"
    r"(?:\w+\.)?(\w+)\(\) missing (\d+) required positional argument",
    "The call and the definition have different numbers of arguments.",
)
def arguments(case: Case) -> Iterator[Proposal]:
    """An instance in the place of its class; self, where a method lacks it; the argument."""
    for call in case.calls():
        owner: Any = getattr(call.func, "value", None)
        for name, value in case.scope.items():
            if isinstance(value, Instance) and value.cls.name == dotted(owner):
                why = f"{value.cls.name} is the class; {name} is the module."
                yield case.replaced(owner, name, why=why)
    for cls in case.of_type(ast.ClassDef, everywhere=True):
        for f in cls.body:
            if isinstance(f, ast.FunctionDef) and not f.decorator_list:
                first = f.args.args[0].arg if f.args.args else ""
                if first not in ("self", "ctx", "cls"):
                    at = case.text.source.index("(", case.text.start(f)) + 1
                    yield case.proposal(Edit(at, at, "self, " if first else "self"))
    yield from missing_argument(case)


def missing_argument(case: Case) -> Iterator[Proposal]:
    """The argument by its name: a value that is called so; the tensor given, once more; or None,
    for a function that can do without.
    """
    missing = re.search(r"missing 1 required positional argument: '(\w+)'$", case.failure.message)
    for call in case.calls() if missing else ():
        name = missing[1]  # type: ignore[index]
        near = difflib.get_close_matches(name, case.scope, 1, 0.6)
        for value in near:
            yield case.proposal(case.with_argument(call, f"{name}={value}"))
        if call.args and case.tensor(call.args[-1]) is not None:
            last = case.text.of(call.args[-1])
            note = f"{name} is {last} too: self-attention; give another one where that is meant."
            edit = case.with_argument(call, f"{name}={last}")
            yield case.proposal(edit, note=note, weak=True)
    for argument in case.of_type(ast.arg, everywhere=True):
        if missing and argument.arg == missing[1]:
            end = case.text.end(argument)
            yield case.proposal(Edit(end, end, "=None"), weak=True)


@cures(
    r"(?:\w+\.)?(\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) were given",
    "The call has more arguments than the function takes.",
)
def too_many(case: Case) -> Iterator[Proposal]:
    """A class made first; without the last ones."""
    yield from made_first(case)
    more = int(case.match[3]) - int(case.match[2])
    for call in case.calls():
        if len(call.args) >= more > 0:
            kept = call.args[:-more]
            start = case.text.end(kept[-1]) if kept else case.text.start(call.args[0])
            yield case.proposal(Edit(start, case.text.end(call.args[-1]), ""), weak=True)


@cures(
    r"torch.nn.modules.(\w+).(\w+) is not a Module subclass|(\w+) is not a Module subclass|"
    r"[\w.]+ is not a Module subclass|empty\(\) received an invalid combination of arguments",
    "A layer must be made first, then called.",
)
def class_for_layer(case: Case) -> Iterator[Proposal]:
    """nn.ReLU() for nn.ReLU; F.relu for nn.ReLU(x); the layers of a list."""
    for call in case.calls("Sequential"):
        if len(call.args) == 1 and "list" in case.failure.message:
            at = case.text.start(call.args[0])
            why = "Sequential takes the layers themselves, not a list of them."
            yield case.proposal(Edit(at, at, "*"), why=why)
    for node in case.calls("Sequential", "ModuleList"):
        edits = [
            case.text.appending(a, "()")
            for a in node.args
            if isinstance(a, ast.Attribute) and a.attr[:1].isupper()
        ]
        yield from case.together(edits)
