"""Cures of names that nothing gives a value: imports that are missing, keys, definitions."""

import ast
import difflib
from collections.abc import Iterator

from ....operators.positional import in_pytorch
from .case import Case, Proposal
from .nodes import dotted
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


def shared_default(case: Case) -> Iterator[Proposal]:
    """field(default_factory=...) for a list as the default of a field."""
    imports = [
        n
        for n in case.of_type(ast.ImportFrom, everywhere=True)
        if n.module == "dataclasses" and "field" not in [a.name for a in n.names]
    ]
    edits = [case.adding(n.names[-1], ", field") for n in imports]
    plain = case.of_type(ast.Import, everywhere=True)
    whole = any(a.name == "dataclasses" for n in plain for a in n.names)
    for built in case.of_type(ast.AnnAssign, everywhere=True):
        value = built.value
        if not isinstance(value, ast.List | ast.Dict | ast.Set | ast.Call):
            continue
        text = case.of(value)
        made = {"[]": "list", "{}": "dict", "list()": "list", "dict()": "dict", "set()": "set"}
        kind = {ast.List: "list", ast.Dict: "dict", ast.Set: "set"}.get(type(value))
        if kind is None and text not in made:
            continue
        factory = made.get(text, f"lambda: {text}")
        function = "dataclasses.field" if whole and not imports else "field"
        edits.append(case.replacing(value, f"{function}(default_factory={factory})"))
    yield from case.change(*edits)


def undefined(case: Case) -> Iterator[Proposal]:
    """The import that is missing; the name that is nearly the same; the module before it."""
    name = case.match[1]
    yield from imported(case, name)
    defined = case.of_type(ast.FunctionDef, ast.ClassDef, everywhere=True)
    known = [n for n in case.reading.outcome.scope if isinstance(n, str)]
    known += [s.name for s in defined]
    for node in case.names(name, everywhere=False):
        for near in difflib.get_close_matches(name, known, 2, 0.6):
            yield case.replaced(node, near)
        if name in in_pytorch()["torch"]:
            yield case.replaced(node, f"torch.{name}")
        yield case.replaced(node, f"self.{name}")
        if name in ("device", "DEVICE"):
            yield case.proposal(case.before(top_statement(case), f'{name} = "cpu"'))
    for gone in case.of_type(ast.Delete, everywhere=True):
        if name in [dotted(t) for t in gone.targets]:
            yield case.proposal(case.removing(gone), why=f"del took {name} away.")
    yield from defined_later(case, name)


def imported(case: Case, name: str) -> Iterator[Proposal]:
    """The import of a name."""
    body = case.tree.body
    rest = [s for s in body if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]
    top, note = (rest or body)[0], "The import was missing."
    transforms = any(isinstance(case.parents.get(c), ast.Call) for c in case.calls(name))
    if transforms and name in ("grad", "jacrev", "vmap"):
        yield case.proposal(case.before(top, f"from torch.func import {name}"), note=note)
    if name in IMPORTS:
        yield case.proposal(case.before(top, IMPORTS[name]), note=note)


def defined_later(case: Case, name: str) -> Iterator[Proposal]:
    """A definition further down, moved before the line that needs it."""
    for statement in case.tree.body:
        defines = isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name
        given = defines or statement in case.assignments(name)
        if given and statement.lineno > case.line and case.alone(statement):
            lines, cut = case.lines_of(statement), Edit(*case.span([statement]), "")
            yield case.proposal(cut, case.before(top_statement(case), *lines))


def top_statement(case: Case) -> ast.stmt:
    """The statement of the program itself that raises."""
    line = [n for n in (*case.failure.lines, case.line) if n][-1]
    return next(s for s in case.tree.body if line <= (s.end_lineno or s.lineno))


def unbound(case: Case) -> Iterator[Proposal]:
    """global."""
    name = case.match[1] or case.match[2]
    for outer in case.around(case.statement):
        if isinstance(outer, ast.FunctionDef):
            yield case.proposal(case.before(outer.body[0], f"global {name}"))
            return


def missing_key(case: Case) -> Iterator[Proposal]:
    """The key that is nearly the same."""
    if case.failure.type != "KeyError":
        return
    for node in case.of_type(ast.Subscript):
        held = case.value(node.value)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(held, dict) and isinstance(key, str) and key not in held:
            known = [k for k in held if isinstance(k, str)]
            begun = [k for k in known if k.startswith(key)]
            for near in dict.fromkeys(begun + difflib.get_close_matches(key, known, 2, 0.5)):
                yield case.replaced(node.slice, repr(near))
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


# ---- modules that were not initialised -----------------------------------------------------------

MISSPELLED = ("__int__", "_init_", "__init_", "_init__", "init", "__init", "__inti__")


def missing_super(case: Case) -> Iterator[Proposal]:
    """super().__init__() in the __init__ of a module that has none."""
    for called in [s.value for s in case.of_type(ast.Expr, everywhere=True)]:
        if isinstance(called, ast.Attribute) and called.attr == "__init__":
            yield case.appended(called, "()", why="nn.Module's own __init__ is not called.")
    modules = [c for c in case.classes if any("Module" in dotted(b) for b in c.bases)]
    for f in [f for c in modules for f in c.body if isinstance(f, ast.FunctionDef)]:
        text = case.of(f)
        if f.name in MISSPELLED:
            why = f"{f.name} is no name that Python knows: __init__ makes a new object."
            yield case.proposal(case.naming(f, "__init__"), why=why)
        elif f.name == "__init__" and ("super(" in text or "Module.__init__" in text):
            yield from _first(case, f)
        elif f.name == "__init__":
            yield case.proposal(
                case.before(f.body[0], "super().__init__()"),
                why="nn.Module's own __init__ was not called.",
            )


def _first(case: Case, function: ast.FunctionDef) -> Iterator[Proposal]:
    """The call of nn.Module's own __init__ before all else."""
    for statement in function.body[1:]:
        text = case.of(statement)
        if text.startswith(("super(", "nn.Module.__init__(", "torch.nn.Module.__init__(")):
            yield case.proposal(
                case.before(function.body[0], text),
                case.removing(statement),
                why="nn.Module's own __init__ was called too late.",
            )
