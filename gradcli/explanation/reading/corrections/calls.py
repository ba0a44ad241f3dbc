"""Corrections of calls: of a class instead of its instance, of a value, with wrong arguments."""

import ast
import difflib
import re
from collections.abc import Iterator

from ....snippets.eager import signatures
from ....snippets.eager.parameter_lists import parameters_of
from ....snippets.eager.tensor import Tensor
from ....snippets.python.objects import Function
from ....snippets.python.values import Builtin, Class, Instance, Module
from .case import Case, Proposal, layers_of, weight_of
from .layers import states_together
from .nodes import (
    argument,
    dotted,
    elements,
    is_operation,
    keyword,
    method,
    owner,
    value_of,
    within,
)
from .seeds import is_called_loss
from .text import Edit

BUILT_IN = ("sum", "max", "min", "abs", "len", "range", "print", "list", "float")
NO_METHODS = ("grad", "data", "shape", "T", "is_leaf", "requires_grad", "grad_fn", "ndim")
KEYWORDS = {
    **dict.fromkeys(("keepdims", "keep_dim", "keep_dims"), "keepdim"),
    **{"axis": "dim", "axes": "dim", "size_average": "reduction", "learning_rate": "lr"},
    **{"num": "steps", "lower": "min", "upper": "max"},
    **dict.fromkeys(("require_grad", "requires_grads", "requiresgrad", "grad"), "requires_grad"),
    **{"create_graphs": "create_graph", "retain_graphs": "retain_graph"},
}
ATTENDED = re.compile(
    r"k|v|keys?|values?|mem(ory)?|context|enc\w*|x_?kv|kv"
)  # may also be the queries
USUAL = {"max_norm": "1.0", "step_size": "10", "gamma": "0.9", "T_max": "10"}


# ---- classes -------------------------------------------------------------------------------------


def made_first(case: Case) -> Iterator[Proposal]:
    """Write nn.ReLU()(x) for nn.ReLU(x): construct a layer or a loss, then call it."""
    named = {c.name for c in case.classes}
    earlier = [s.value for n in case.attributes() for s in case.makers(n.value)]
    for call in (*case.calls(), *[c for c in earlier if isinstance(c, ast.Call)]):
        built = case.assignments(dotted(call.func), case.line) if dotted(call.func) else []
        for value in [value_of(s) for s in built]:
            layer = isinstance(value, ast.Attribute) and value.attr[:1].isupper()
            if isinstance(value, ast.expr) and (layer or dotted(value) in named):
                why = f"{case.of(value)} is a class: calling it with () creates the layer or loss."
                yield case.appended(value, "()", why=why)
    for call in case.calls(everywhere=True):
        layer = method(call)[:1].isupper() and method(call) != "Parameter"
        layer &= dotted(call.func).startswith(("nn.", "torch.nn."))
        if layer and call.args and call.lineno <= case.line:
            yield from _tensors_into_call(case, call)


def _tensors_into_call(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Pass the tensors among the arguments of a layer's constructor to the layer."""
    first, *rest = call.args
    why = f"{dotted(call.func)}(...) creates a layer; pass the tensor to its call."
    if not all(_is_tensor(case, a) for a in call.args):
        options = all(isinstance(case.value(a), int | float) for a in rest)
        if rest and options and _is_tensor(case, first):
            cut = Edit(case.start(first), case.start(rest[0]), "")
            yield case.proposal(cut, case.adding(call, f"({case.of(first)})"), why=why)
    elif call.keywords:
        cut = Edit(case.start(first), case.start(call.keywords[0]), "")
        given = ", ".join(case.of(a) for a in call.args)
        yield case.proposal(cut, case.adding(call, f"({given})"), why=why)
    else:
        yield case.proposal(case.adding(call.func, "()"), why=why)


def layer_made_of_values(case: Case, layer: str) -> Iterator[Proposal]:
    """Write nn.ReLU()(x) for nn.ReLU(x), where the layer was used in place of its output."""
    for call in case.calls(layer, everywhere=True):
        given = call.args[0] if len(call.args) == 1 else None
        held = method(given)[:1].isupper()  # such as the layers of a Sequential
        if isinstance(given, ast.Call | ast.Name | ast.BinOp) and not held:
            why = f"{layer} is a class: create the layer first, and then call it with the values."
            yield case.replaced(call.func, f"{case.of(call.func)}()", why=why)


def exchanged_arguments(case: Case) -> Iterator[Proposal]:
    """Write f(params, x) for f(x, params), if one is a tensor and the other contains tensors."""
    for call in case.calls():
        a, b = call.args[-2:] if len(call.args) in (2, 3) else (None, None)
        held = [isinstance(case.value(n), tuple | list | dict) for n in (a, b)]
        if a and b and sum(held) == 1 and case.tensor(a if held[1] else b) is not None:
            yield case.exchanged(a, b)


def made_of_values(case: Case) -> Iterator[Proposal]:
    """Write nn.ReLU()(x) for nn.ReLU(x), whose result is a layer and not a tensor; or nn.ReLU() for
    a class that is assigned.
    """
    yield from layer_made_of_values(case, case.match[1])
    kept = case.of_type(ast.Assign, everywhere=True)
    classes = [s.value for s in kept if dotted(s.value).rpartition(".")[2] == case.match[1]]
    why = "A layer is created by calling its class."
    yield from case.change(*[case.appending(c, "()") for c in classes], why=why)


def instance_of_class(case: Case) -> Iterator[Proposal]:
    """Write Net() for Net, if a method is called on the class itself."""
    for node in case.attributes(case.match[1]):
        for built in reversed(case.makers(node.value)):
            if isinstance(built.value, ast.Name):
                why = f"{case.of(built.value)} is the class; calling it with () creates an object."
                yield case.appended(built.value, "()", why=why)


def class_for_layer(case: Case) -> Iterator[Proposal]:
    """Write nn.ReLU() for nn.ReLU, or F.relu for nn.ReLU(x), or the layers of a list."""
    for call in case.calls("Sequential"):
        if len(call.args) == 1 and "list" in case.message:
            why = "Sequential takes the layers themselves, not a list of them."
            yield case.proposal(case.inserting(call.args[0], "*"), why=why)
    for call in case.calls("Sequential", "ModuleList"):
        layers = [a for a in call.args if isinstance(a, ast.Attribute) and a.attr[:1].isupper()]
        yield from case.change(*[case.appending(a, "()") for a in layers])
        yield from layers_of_functions(case, call)
    held = [a for c in case.calls("append", everywhere=True) for a in c.args]
    held += [e for n in case.of_type(ast.List, everywhere=True) for e in n.elts]
    classes = [n for n in held if isinstance(n, ast.Attribute) and n.attr[:1].isupper()]
    classes = [n for n in classes if dotted(n.value) in ("nn", "torch.nn")]
    why = "A layer is created by calling its class."
    yield from case.change(*[case.appending(n, "()") for n in classes], why=why)


ACTIVATIONS = (
    *("ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Softplus"),
    *("Softsign", "LogSigmoid", "Hardtanh", "Tanh", "Sigmoid", "Flatten"),
)


def layers_of_functions(case: Case, container: ast.Call) -> Iterator[Proposal]:
    """Write Sequential(nn.ReLU()) for Sequential(F.relu)."""
    classes = {name.lower(): name for name in ACTIVATIONS}
    module = case.of(container.func).removesuffix(method(container))
    edits = [
        case.replacing(a, f"{module}{classes[name]}()")
        for a in container.args
        if (name := (method(a) or dotted(a).rpartition(".")[2]).replace("_", "")) in classes
    ]
    yield from case.change(*edits, why="Sequential takes layers: this is a function.")


def _is_tensor(case: Case, node: ast.expr) -> bool:
    """Whether an argument is a tensor, or an expression that computes one."""
    function = getattr(node, "func", None)
    computed = dotted(function).startswith("torch.") or case.is_module(function)
    return case.tensor(node) is not None or computed


def misspelled_forward(case: Case) -> Iterator[Proposal]:
    """Call the method with a similar name; for a list of layers, call one after the other."""
    listed = case.match[1] == "ModuleList"
    for call in case.methods("ModuleList", everywhere=True) if listed else ():
        if call.args:
            why = "A ModuleList holds layers; Sequential calls them one after the other."
            star = case.inserting(call.args[0], "*")
            yield case.proposal(case.renamed(call, "Sequential"), star, why=why)
    for inner in [f for n, f in case.functions.items() if n == "forward"]:
        outer = case.parents[inner]
        if isinstance(outer, ast.FunctionDef):
            why = f"forward is nested inside {outer.name}: indented like it, it becomes a method."
            moved = case.after(outer, "", *case.lines_of(inner))
            yield case.proposal(case.removing(inner), moved, why=why)
    for cls in [c for c in case.classes if c.name == case.match[1]]:
        methods = {f.name: f for f in cls.body if isinstance(f, ast.FunctionDef)}
        near = difflib.get_close_matches("forward", methods, 1, 0.6)
        for name in near or [n for n in methods if n == "__call__"]:
            yield case.proposal(case.naming(methods[name], "forward"))


def unsorted_lengths(case: Case) -> Iterator[Proposal]:
    """Pass enforce_sorted=False."""
    for call in case.calls("pack_padded_sequence", "pack_sequence"):
        note = "Unpacking restores the original order of the samples."
        yield case.given(call, "enforce_sorted", "False", note=note)


# ---- calls of values that are not callable -------------------------------------------------------


def called_value(case: Case) -> Iterator[Proposal]:
    """Remove the parentheses, or turn them into an index."""
    yield from shadowed(case)
    yield from function_given(case)
    yield from overwritten(case)
    for call in case.calls():
        value = case.value(call.func)
        if owner(call) is not None and method(call) in NO_METHODS and not call.args:
            yield case.replaced(call, case.of(call.func))
        if owner(call) is not None and method(call) == "shape" and len(call.args) == 1:
            text = f"{case.of(call.func)}[{case.of(call.args[0])}]"
            yield case.replaced(call, text, why="shape is an attribute, size() is a method.")
        if isinstance(value, Tensor | list | tuple) and len(call.args) == 1:
            inner, brackets = case.of(call.args[0]), (case.end(call.func), case.end(call))
            yield case.proposal(Edit(*brackets, f"[{inner}]"))
            yield case.proposal(Edit(*brackets, f" * ({inner})"))


TRANSFORMS = ("jacobian", "hessian", "vjp", "jvp", "hvp", "grad", "vmap", "jacrev", "jacfwd")


def function_given(case: Case) -> Iterator[Proposal]:
    """Write jacobian(f, x) for jacobian(f(x), x), and checkpoint(f, x) for checkpoint(f(x))."""
    why = "It expects the function itself, and calls it."
    for called in [a for c in case.calls("step", "apply") for a in c.args]:
        if isinstance(called, ast.Call) and dotted(called.func) in case.functions:
            yield case.replaced(called, case.of(called.func), why=why)
    for call in case.calls("checkpoint", *TRANSFORMS):
        inner = call.args[0] if call.args else None
        if isinstance(inner, ast.Name) and len(call.args) == 2:
            yield from _as_function(case, inner, call.args[1])
        if not isinstance(inner, ast.Call) or not inner.args:
            continue
        edits = [case.replacing(inner, case.of(inner.func))]
        if method(call) == "checkpoint" and len(call.args) == 1:
            given = ", ".join(case.of(a) for a in inner.args)
            text = f"{case.of(inner.func)}, {given}"
            text += "" if keyword(call, "use_reentrant") else ", use_reentrant=False"
            edits = [case.replacing(inner, text)]
        yield case.proposal(*edits, why=why)


def _as_function(case: Case, value: ast.Name, x: ast.expr) -> Iterator[Proposal]:
    """Write f = lambda x: (x ** 3).sum() for f = (x ** 3).sum(), if f is passed to a transform."""
    for built in case.makers(value)[:1]:
        read = [n.id for n in within(built.value, ast.Name)]
        if isinstance(case.value(value), Tensor) and dotted(x) in read:
            why = "It expects a function, which it calls itself; this is a value."
            yield case.proposal(case.inserting(built.value, f"lambda {dotted(x)}: "), why=why)


def overwritten(case: Case) -> Iterator[Proposal]:
    """Give the function another name in loss = nn.MSELoss(); loss = loss(x, y)."""
    for call in case.calls():
        name = dotted(call.func)
        built = [s for s in case.makers(name) if _is_made(s.value)] if name else []
        if not built or not isinstance(case.value(call.func), Tensor):
            continue
        new = next(n for n in (f"{name}_fn", f"{name}_function") if n not in case.values)
        called = [c.func for c in case.calls(everywhere=True) if dotted(c.func) == name]
        edits = [case.replacing(n, new) for n in (built[-1].targets[0], *called)]
        why = f"{name} now refers to a tensor: the function needs another name."
        yield case.proposal(*edits, why=why)


def _is_made(value: ast.expr) -> bool:
    """Whether an expression constructs an object or defines a function."""
    return isinstance(value, ast.Lambda) or method(value)[:1].isupper()


def shadowed(case: Case) -> Iterator[Proposal]:
    """Rename a variable that hides a built-in function of Python."""
    called = {c.func for c in case.calls(everywhere=True)}
    for name in [dotted(c.func) for c in case.calls()]:
        if name in BUILT_IN:
            others = [n for n in case.names(name) if n not in called]
            why = f"{name} is a variable here, which hides Python's function of that name."
            edits = [case.replacing(n, f"{name}_value") for n in others]
            yield from case.change(*edits, why=why)


# ---- arguments -----------------------------------------------------------------------------------


def keyword_name(case: Case) -> Iterator[Proposal]:
    """Rename a keyword argument as in PyTorch, or remove it."""
    name = case.match[3]
    for call in case.calls():
        named = keyword(call, name)
        if named and name in KEYWORDS:
            at = case.start(named)
            yield case.proposal(Edit(at, at + len(name), KEYWORDS[name]))
        for near in _nearest(name, _parameters(case, call)) if named else ():
            at = case.start(named)
            yield case.proposal(Edit(at, at + len(name), near))
        if dotted(call.func) not in {c.name for c in case.classes}:
            yield from _of_pytorch(case, call, name)
        yield from case.change(case.without_keyword(call, name), weak=True)


def _nearest(name: str, parameters: list[str]) -> list[str]:
    """The parameters that a misspelt name resembles, or contains or is part of: p for prob."""
    near = difflib.get_close_matches(name, parameters, 1, 0.6)
    parts = [p for p in parameters if p.startswith(name) or name.startswith(p)]
    parts = parts or [p for p in parameters if p.endswith(f"_{name}")]
    return near or sorted(parts, key=len)[-1:]


def number_of_steps(case: Case) -> Iterator[Proposal]:
    """Pass steps=100 to linspace, its former default."""
    note = "Until PyTorch 1.5 the number of points was 100 by default."
    for call in case.calls("linspace", "logspace"):
        yield case.given(call, "steps", "100", note=note)


def dtype_as_text(case: Case) -> Iterator[Proposal]:
    """Write torch.float32 for "float32"."""
    for call in case.calls():
        named = keyword(call, "dtype")
        text = value_of(named.value) if named else None
        if named and isinstance(text, str):
            yield case.replaced(named.value, f"torch.{text.removeprefix('torch.')}")


def nearest_keyword(case: Case) -> Iterator[Proposal]:
    """Rename a keyword argument to the most similar parameter of the function."""
    for call in case.calls():
        yield from _of_pytorch(case, call, case.match[1] or case.match[2])


def misnamed_argument(case: Case) -> Iterator[Proposal]:
    """Rename all keyword arguments on the line that PyTorch does not have."""
    for call in case.calls():
        for name in [k.arg for k in call.keywords if k.arg and k.arg not in OF_PYTORCH]:
            yield from _of_pytorch(case, call, name)


OF_PYTORCH = ("dim", "keepdim", "dtype", "device", "requires_grad", "size", "min", "max", "out")


def _of_pytorch(case: Case, call: ast.Call, name: str) -> Iterator[Proposal]:
    """Rename a keyword argument as PyTorch does."""
    named = keyword(call, name)
    known = _listed_in(case.message) or _of_function(case, call)
    usual = [k for k in [KEYWORDS.get(name)] if k and (not known or k in known)]
    for right in usual or _nearest(name, known or [*OF_PYTORCH]):
        if named and right != name:
            at = case.start(named)
            yield case.proposal(Edit(at, at + len(name), right))


def _listed_in(message: str) -> list[str]:
    """The parameters in the overloads that an error lists."""
    listed = re.findall(r"^ \* \((.*)\)", message, re.M)
    return re.findall(r"(\w+)(?= = |[,)]|$)", ", ".join(listed))


def _of_function(case: Case, call: ast.Call) -> list[str]:
    """The parameters of a function of PyTorch."""
    held = _of_module(case, call)
    path = f"{held.module}.{held.name}" if isinstance(held, Builtin) else f"Tensor.{method(call)}"
    native = signatures.functions().get(path)
    overloads = native.overloads if native else ()
    return [
        *[p.rstrip("=") for p in parameters_of(path)],
        *[p.name for overload in overloads for p in overload.parameters],
    ]


def _of_module(case: Case, call: ast.Call) -> object:
    """The object that a call names, such as torch.nn.functional.dropout."""
    name = dotted(call.func).split(".")
    value: object = case.values.get(name[0])
    for part in name[1:]:
        value = value.lookup(part) if isinstance(value, Module) else None
    return value


def _parameters(case: Case, call: ast.Call) -> list[str]:
    """The parameters of a function of the program, or of the __init__ of a class."""
    name = method(call)
    inits = [
        f
        for c in case.classes
        if c.name == name
        for f in c.body
        if isinstance(f, ast.FunctionDef) and f.name == "__init__"
    ]
    known = [*inits, *[f for n, f in case.functions.items() if n == name]]
    if not known:
        return _of_layer(case, call)
    return [a.arg for f in known for a in (*f.args.args, *f.args.kwonlyargs) if a.arg != "self"]


def _of_layer(case: Case, call: ast.Call) -> list[str]:
    """The parameters of a layer, or another class, of PyTorch."""
    value = _of_module(case, call)
    start = value.lookup("__init__") if isinstance(value, Class) else None
    return [n for n in start.code.names if n != "self"] if isinstance(start, Function) else []


def _with_self(case: Case) -> Iterator[Proposal]:
    """Add self to the methods that lack it."""
    methods = [f for c in case.classes for f in c.body if isinstance(f, ast.FunctionDef)]
    for f in [f for f in methods if not f.decorator_list]:
        first = f.args.args[0].arg if f.args.args else ""
        if first not in ("self", "ctx", "cls"):
            at = case.source.index("(", case.start(f)) + 1
            yield case.proposal(Edit(at, at, "self, " if first else "self"))


def arguments(case: Case) -> Iterator[Proposal]:
    """Call an instance and not the class; add self to a method; or pass the missing argument."""
    for cls in [owner(c) for c in case.calls()]:
        for name, value in case.scope.items():
            if isinstance(value, Instance) and value.cls.name == dotted(cls):
                why = f"{value.cls.name} is the class; {name} is the module."
                yield case.replaced(cls, name, why=why)
    yield from _with_self(case)
    yield from called_early(case)
    for call in case.calls():
        only = call.args[0] if len(call.args) == 1 and not call.keywords else None
        for many in _numbers_of_results(case, only):
            why = f"{case.of(only)} gives a tuple of {many}: * passes them one by one."
            yield case.proposal(case.inserting(only, "*"), why=why)  # type: ignore[arg-type]
        lacking = re.search(r"missing (\d+) required", case.message)
        for given in call.args if lacking else ():
            if isinstance(given, ast.Tuple) and len(given.elts) == int(lacking[1]) + 1:  # type: ignore[index]
                why = "The arguments are in extra brackets, which make them one argument."
                each = ", ".join(map(case.of, given.elts))
                yield case.replaced(given, each, why=why)
            held = case.value(given)
            many = len(held) if isinstance(held, tuple | list) else 0
            if many > 1 and (given is only or many == int(lacking[1]) + 1):  # type: ignore[index]
                why = f"{case.of(given)} is one argument, of {many}: * passes them one by one."
                yield case.proposal(case.inserting(given, "*"), why=why)
    yield from given_to_super(case)
    missing = re.search(r"missing 1 required positional argument: '(\w+)'$", case.message)
    if missing:
        yield from missing_argument(case, missing[1])


def called_early(case: Case) -> Iterator[Proposal]:
    """Write F.relu(x) for F.relu()(x), nn.ReLU() for F.relu() among layers, and F.relu for the
    F.relu() that is assigned, to be called later.
    """
    why = "It is a function, not a layer: the call with its tensors is the only one."
    name = case.message.partition("() missing")[0]
    for call in [c for c in case.calls(name) if not c.args]:
        outer = case.parents[call]
        if isinstance(outer, ast.Call) and outer.func is call:
            inner = [*outer.args, *outer.keywords, *call.keywords]
            new = f"{case.of(call.func)}({', '.join(map(case.of, inner))})"
            yield case.replaced(outer, new, why=why)
        elif isinstance(outer, ast.Assign) and not call.keywords:
            yield case.replaced(call, case.of(call.func), why=why)
        elif isinstance(outer, ast.Call) and name in case.functions:
            why = f"{case.of(outer.func)} is given the function itself, and calls it."
            yield case.replaced(call, case.of(call.func), why=why)
        elif isinstance(outer, ast.Call) and method(outer) == "Sequential":
            yield from layers_of_functions(case, outer)


def given_to_super(case: Case) -> Iterator[Proposal]:
    """Pass to super().__init__() the arguments of the enclosing __init__ that it requires."""
    missing = re.findall(r"'(\w+)'", case.message.partition("missing")[2])
    for call in case.calls("__init__"):
        function = case.function_of(call)
        own = [a.arg for a in function.args.args[1:]] if function is not None else []
        if missing and set(missing) <= set(own) and method(owner(call)) == "super":
            why = f"The class above needs {', '.join(missing)} too."
            yield case.proposal(case.with_argument(call, ", ".join(missing)), why=why)


def _numbers_of_results(case: Case, node: ast.expr | None) -> Iterator[int]:
    """The numbers of values that a call of a function or module of the program may return."""
    if not isinstance(node, ast.Call):
        return
    bodies = _bodies(case, case.called_class(node) or method(node))
    for returned in [r.value for body in bodies for r in within(body, ast.Return)]:
        if isinstance(returned, ast.Tuple):
            yield len(returned.elts)


def parameters_first(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Pass the parameters of a module to an optimiser."""
    for model in [n for n, v in case.scope.items() if _has_parameters(v)]:
        new = f"{model}.parameters()" + (", " if call.keywords else "")
        at = case.start(call.keywords[0]) if call.keywords else case.end(call) - 1
        yield case.proposal(Edit(at, at, new), why="An optimiser needs the parameters.")


def _optimiser_first(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Give a scheduler the optimiser that was made last."""
    held = [n for n, v in case.scope.items() if "param_groups" in getattr(v, "fields", ())]
    why = "A scheduler changes the learning rate of an optimiser, its first argument."
    for optimiser in held[-1:]:
        yield case.given(call, "optimizer", optimiser, why=why)


def _watched_loss(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Give ReduceLROnPlateau the loss that was computed last."""
    numbers = [n for n, v in case.values.items() if _is_number(v)]
    for loss in [n for n in numbers if is_called_loss(n)][-1:]:
        why = "ReduceLROnPlateau monitors a number, preferably the validation loss."
        number = f"{loss}.item()" if isinstance(case.values[loss], Tensor) else loss
        yield case.proposal(case.with_argument(call, number), why=why)


def missing_argument(case: Case, name: str) -> Iterator[Proposal]:
    """Pass the missing argument: a variable of that name, the same tensor again, or None if the
    function accepts it.
    """
    for call in case.calls():
        if name == "params":
            yield from parameters_first(case, call)
        if name == "optimizer":
            yield from _optimiser_first(case, call)
        for value in difflib.get_close_matches(name, case.scope, 1, 0.6):
            of_log = value.startswith("log") and not name.startswith("log")
            yield case.given(call, name, f"{value}.exp()" if of_log else value)
        if name == "metrics":
            yield from _watched_loss(case, call)
        if name in USUAL:
            note = f"{USUAL[name]} is a common {name}; choose the one you need."
            yield case.given(call, name, USUAL[name], note=note, weak=True)
        attended = ATTENDED.fullmatch(name)
        if attended and call.args and case.tensor(call.args[-1]) is not None:
            last = case.of(call.args[-1])
            note = f"{name} is {last} too: self-attention; pass another tensor if that is meant."
            yield case.given(call, name, last, note=note, weak=True)
    computed = case.of_type(ast.BinOp, everywhere=True)
    factors = {dotted(side) for n in computed for side in (n.left, n.right)}
    for defined in case.of_type(ast.arg, everywhere=True):
        if defined.arg == name and name not in factors:
            yield case.proposal(case.adding(defined, "=None"), weak=True)


def _is_number(value: object) -> bool:
    """Whether a value is a single number."""
    return value.numel == 1 if isinstance(value, Tensor) else isinstance(value, int | float)


def too_many(case: Case) -> Iterator[Proposal]:
    """Construct the class first; rename a misspelt __init__; or remove the last arguments."""
    yield from made_first(case)
    if case.match[1] == "__init__":
        yield from misspelled_init(case)
        yield from _called_class(case)
    yield from hook_made_first(case)
    yield from joined_inputs(case)
    yield from packed_arguments(case)
    yield from states_together(case)
    more = int(case.match[3]) - int(case.match[2])
    for call in case.methods("transpose"):
        places = [case.number(a) for a in call.args]
        if sorted(p for p in places if p is not None) == list(range(len(call.args))):
            why = "transpose swaps two dimensions; permute takes the order of all dimensions."
            yield case.renamed_to(call, "permute", why=why)
    for call in case.calls(case.match[1]) or case.calls():
        if len(call.args) >= more > 0:
            kept = call.args[:-more]
            start = case.end(kept[-1]) if kept else case.start(call.args[0])
            left_out = ", ".join(case.of(a) for a in call.args[-more:])
            note = f"{left_out}: removed, because {case.of(call.func)} takes no more arguments."
            edit = Edit(start, case.end(call.args[-1]), "")
            yield case.proposal(edit, note=note, weak=True)


def hook_made_first(case: Case) -> Iterator[Proposal]:
    """Write y.register_hook(save("y")) for y.register_hook(save), if save(name) gives the hook."""
    for call in case.calls(everywhere=True):
        given = call.args[0] if len(call.args) == 1 and "register_" in method(call) else None
        function = case.functions.get(dotted(given))
        if given is None or function is None or len(function.args.args) != 1:
            continue
        inner = [s.name for s in function.body if isinstance(s, ast.FunctionDef)]
        if {dotted(r.value) for r in within(function, ast.Return)} & set(inner):
            name = case.of(owner(call)).rpartition(".")[2]
            why = f"{case.of(given)} returns a hook when it is called, but is not a hook itself."
            yield case.appended(given, f"({name!r})", why=why)


def joined_inputs(case: Case) -> Iterator[Proposal]:
    """Write net(torch.cat([s, a], dim=-1)) for net(s, a), if the first layer has so many inputs."""
    for call in case.calls():
        shapes = [case.shape(a) for a in call.args]
        weights = [w for m in layers_of(case.value(call.func)) if (w := weight_of(m)) is not None]
        known = [s for s in shapes if s]
        if not weights or len(known) < 2 or len(known) < len(shapes):
            continue
        if weights[0].shape[1:] == (sum(s[-1] for s in known),):
            joined = f"torch.cat([{', '.join(map(case.of, call.args))}], dim=-1)"
            why = "The first layer takes the concatenated features of all tensors."
            yield case.proposal(case.spanning(call.args, joined), why=why)


def packed_arguments(case: Case) -> Iterator[Proposal]:
    """Write net((x, y)) for net(x, y), if forward unpacks its only argument."""
    for call in case.calls():
        name = case.called_class(call) or method(call)
        for function in _bodies(case, name):
            taken = function.args.args[-1].arg if function.args.args else ""
            for built in within(function, ast.Assign):
                names = elements(built.targets[0])
                if taken == dotted(built.value) and len(names) == len(call.args) > 1:
                    together = f"({', '.join(map(case.of, call.args))})"
                    why = f"{function.name} takes {taken} only, and unpacks it itself."
                    yield case.proposal(case.spanning(call.args, together), why=why)


def _bodies(case: Case, name: str) -> list[ast.FunctionDef]:
    """The functions with this name, and the forward of a class with this name."""
    bodies = [f for n, f in case.functions.items() if n == name]
    for cls in [c for c in case.classes if c.name == name]:
        bodies += [f for f in cls.body if isinstance(f, ast.FunctionDef) and f.name == "forward"]
    return bodies


def _has_parameters(value: object) -> bool:
    """Whether a value is a module that has parameters, including those of its layers."""
    return any(layer.fields.get("_parameters") for layer in layers_of(value))


MISSPELLED = ("__int__", "_init_", "__init_", "_init__", "init", "__init", "__inti__")


def _called_class(case: Case) -> Iterator[Proposal]:
    """Write Loss()(x, y) for Loss(x, y), if Loss is a module of the program."""
    modules = {c.name for c in case.classes if any("Module" in dotted(b) for b in c.bases)}
    for call in case.calls():
        if dotted(call.func) in modules and any(case.tensor(a) is not None for a in call.args):
            why = f"{case.of(call.func)}(...) creates the module; pass the tensors to its call."
            yield case.proposal(case.adding(call.func, "()"), why=why)


def misspelled_init(case: Case) -> Iterator[Proposal]:
    """Write __init__ for a similar name."""
    for cls in case.classes:
        for f in [f for f in cls.body if isinstance(f, ast.FunctionDef)]:
            if f.name in MISSPELLED:
                why = f"{f.name} is not a special method of Python; __init__ is."
                above = [n for n in within(cls, ast.Attribute) if n.attr == f.name]
                edits = [case.renamed(n, "__init__") for n in above]
                yield case.proposal(case.naming(f, "__init__"), *edits, why=why)


def older_maker(case: Case) -> Iterator[Proposal]:
    """Write torch.tensor for a call with numbers, torch.empty for a call with sizes."""
    for call in case.calls():
        if method(call).endswith("Tensor") and call.args:
            sizes = all(isinstance(case.value(a), int) for a in call.args)
            yield case.replaced(call.func, "torch.empty" if sizes else "torch.tensor")


def iterated(case: Case) -> Iterator[Proposal]:
    """Write next(iter(loader)) for next(loader) and loader[0], next(it) for it.next(), and
    len(list(x)) for len(x).
    """
    for call in case.calls("len") if "has no len()" in case.message else ():
        why = "A generator or iterator has no length: it yields its items one by one."
        yield case.replaced(call.args[0], f"list({case.of(call.args[0])})", why=why)
    why = "next() needs an iterator, which iter() creates."
    for call in case.calls("next"):
        if isinstance(call.func, ast.Name) and len(call.args) == 1:
            yield case.replaced(call.args[0], f"iter({case.of(call.args[0])})", why=why)
        elif owner(call) is not None and not call.args:
            yield case.replaced(call, f"next({case.of(owner(call))})", why=why)
    for node in case.of_type(ast.Subscript) if "method" in case.message else ():
        why = "Without parentheses this is the method itself; () calls it."
        yield case.appended(node.value, "()", why=why)
    for node in case.of_type(ast.Subscript):
        if value_of(node.slice) == 0 and isinstance(case.value(node.value), Instance):
            yield case.replaced(node, f"next(iter({case.of(node.value)}))", why=why)


# ---- Python's own types --------------------------------------------------------------------------


def whole_division(case: Case) -> Iterator[Proposal]:
    """Write // for /, on the line or where the number is computed; or int(...)."""
    for node in [*case.nodes, *[n for s in case.origins for n in within(s, ast.BinOp)]]:
        if is_operation(node, ast.Div):
            start, end = case.end(node.left), case.start(node.right)
            yield case.proposal(Edit(start, end, case.source[start:end].replace("/", "//")))
    for node in case.of_type(ast.Constant):
        if isinstance(node.value, float):
            yield case.replaced(node, str(int(node.value)))


def missing_dim(case: Case) -> Iterator[Proposal]:
    """Pass the last dimension, which contains the classes."""
    yield from misnamed_argument(case)
    for call in case.calls("transpose"):
        note = "The last two dimensions are swapped."
        yield case.proposal(case.with_argument(call, "-2, -1"), note=note)
    for call in case.calls(case.match[1]):
        why = f"{case.match[1]} works along one dimension, which must be specified."
        yield case.given(call, "dim", "-1", why=why)


def size_as_tuple(case: Case) -> Iterator[Proposal]:
    """Write (n,) for a size n, and x.shape for a tensor x."""
    for call in case.calls("randint", "full", "normal"):
        size = argument(call, 0 if method(call) == "full" else len(call.args) - 1, "size")
        if len(case.shape(size) or ()):
            yield case.appended(size, ".shape")  # type: ignore[arg-type]
        elif size is not None and not isinstance(size, ast.Tuple):
            yield case.replaced(size, f"({case.of(size)},)", why="The size is a tuple of integers.")


def shape_of_tensor(case: Case) -> Iterator[Proposal]:
    """Write torch.zeros_like(x) for torch.zeros(x), and n.tolist() for a tensor n of sizes."""
    makers = ("zeros", "ones", "rand", "randn", "empty", "full")
    for call, given in [(c, a) for c in case.calls(case.match[1]) for a in c.args]:
        tensor = case.tensor(given)
        if tensor is None:
            continue
        if tensor.ndim and tensor.dtype.is_floating and case.match[1] in makers:
            yield case.renamed_to(call.func, f"{case.match[1]}_like")
        elif tensor.ndim == 1 and not tensor.dtype.is_floating:
            yield case.appended(given, ".tolist()")


def share_of_elements(case: Case) -> Iterator[Proposal]:
    """Write a fraction for a percentage."""
    for call in case.calls("Dropout", "Dropout1d", "Dropout2d", "dropout"):
        place = 1 if method(call) == "dropout" else 0
        given = argument(call, place, "p")
        percent = case.number(given)
        if given is not None and percent and percent <= 100:
            yield case.replaced(given, str(percent / 100), why="p is a probability, from 0 to 1.")


def unpacked_parts(case: Case) -> Iterator[Proposal]:
    """Split into as many parts as there are names; unpack a nested part; or iterate over the items
    of a dict.
    """
    yield from other_dimension(case)
    yield from grouped(case)
    yield from pairs(case)
    yield from rest_of_results(case)
    for call in case.calls("chunk"):
        place = 1 if dotted(owner(call)) == "torch" else 0
        if len(call.args) > place:
            yield case.replaced(call.args[place], case.match[1] or case.match[2])


def rest_of_results(case: Case) -> Iterator[Proposal]:
    """Write a, b, *_ = f(x), if a function of the program returns more than two values."""
    for statement in case.of_type(ast.Assign) if "too many values" in case.message else ():
        names = elements(statement.targets[0])
        yield from rest_of_sizes(case, statement.value, names)
        many = max(_numbers_of_results(case, statement.value), default=0)
        if names and many > len(names):
            why = f"{case.of(statement.value)} returns {many} values."
            yield case.proposal(case.adding(names[-1], ", *_"), why=why)


def rest_of_sizes(case: Case, sizes: ast.expr, names: list[ast.expr]) -> Iterator[Proposal]:
    """Write a, b, _, _ = x.shape for a, b = x.shape of a tensor with four dimensions."""
    asked = method(sizes) == "size" or getattr(sizes, "attr", "") == "shape"
    many = len(case.shape(owner(sizes)) or ()) if asked else 0
    if many > len(names) > 0:
        why = f"{case.of(owner(sizes))} has {many} dimensions."
        yield case.proposal(case.adding(names[-1], ", _" * (many - len(names))), why=why)


def other_dimension(case: Case) -> Iterator[Proposal]:
    """Pass dim=1 to a split along a dimension that does not have so many parts."""
    wanted = int(case.match[1] or case.match[2] or 0)
    for statement in case.of_type(ast.Assign):
        if len(shape := case.shape(statement.value) or ()) == 2 and shape[1] == wanted:
            why = f"It has {shape[0]} rows, and {wanted} columns: the columns are unpacked."
            yield case.appended(statement.value, ".T", why=why)
    for call in case.calls("split", "unbind"):
        of_torch = dotted(owner(call)) == "torch"
        shape = case.shape(call.args[0] if of_torch and call.args else owner(call)) or ()
        size = argument(call, 1 if of_torch else 0, "split_size_or_sections")
        part = case.number(size) if method(call) == "split" else 1
        fitting = [k for k, n in enumerate(shape) if part and n == wanted * part]
        if len(fitting) == 1:
            why = f"The size of dimension {fitting[0]} is the number of names."
            yield case.given(call, "dim", str(fitting[0]), why=why)
        dim = case.number(argument(call, 2 if of_torch else 1, "dim")) or 0
        if size is not None and part and shape and shape[dim] % wanted == 0:
            why = f"split takes the size of each part, not the number of parts ({wanted})."
            yield case.replaced(size, str(shape[dim] // wanted), why=why)


def grouped(case: Case) -> Iterator[Proposal]:
    """Write i, (x, y) for i, x, y, if the last or the first part has several parts itself."""
    got = re.search(r"expected (\d+), got (\d+)", case.message)
    yield from _numbered(case, got)
    more = int(got[1]) - int(got[2]) + 1 if got else 0
    weak = not any(method(case.made(call.func)) == "LSTM" for call in case.calls())
    for node in case.of_type(ast.Tuple):
        if isinstance(node.ctx, ast.Store) and len(node.elts) > more > 1:
            for part in (node.elts[-more:], node.elts[:more]):
                start, end = case.start(part[0]), case.end(part[-1])
                text = f"({case.source[start:end]})"
                yield case.proposal(Edit(start, end, text), weak=weak)
        if isinstance(node.ctx, ast.Store) and got and len(node.elts) == int(got[1]):
            last = node.elts[int(got[2]) - 1]
            why = f"There are {got[2]} values, and {got[1]} names for them."
            yield case.proposal(Edit(case.end(last), case.end(node.elts[-1]), ""), why=why)


COUNTERS = ("i", "j", "k", "idx", "index", "step", "batch", "batch_idx", "batch_i", "n", "it")


def _numbered(case: Case, got: re.Match[str] | None) -> Iterator[Proposal]:
    """Write for i, (x, y) in enumerate(batches), if i is a counter."""
    for loop in case.of_type(ast.For, everywhere=True) if got else ():
        names = getattr(loop.target, "elts", [])
        many = got and (int(got[1]), int(got[2])) == (len(names), len(names) - 1)
        if loop.iter in case.nodes and many and dotted(names[0]) in COUNTERS:
            start, end = case.start(names[1]), case.end(names[-1])
            inner = case.source[start:end]
            edit = Edit(start, end, f"({inner})" if len(names) > 2 else inner)
            counted = case.replacing(loop.iter, f"enumerate({case.of(loop.iter)})")
            yield case.proposal(edit, counted, why="enumerate counts the items of the loop.")


def pairs(case: Case) -> Iterator[Proposal]:
    """Iterate over .items() of a dict, or named_parameters() of a module, with two targets."""
    for node in case.of_type(ast.For, ast.comprehension, everywhere=True):
        here = node.iter in case.nodes
        if here and len(getattr(node.target, "elts", ())) == 2:
            if isinstance(case.value(node.iter), dict):
                yield case.appended(node.iter, ".items()")
            if method(node.iter) == "parameters":
                yield case.renamed_to(node.iter, "named_parameters", reprints=True)
            if isinstance(case.value(node.iter), list | tuple | Tensor):
                yield case.replaced(node.iter, f"enumerate({case.of(node.iter)})")


def named_in_loop(case: Case) -> Iterator[Proposal]:
    """Write for name, p in net.named_parameters() for net.parameters()."""
    for loop in [n for n in case.around(case.statement) if isinstance(n, ast.For)]:
        if len(elements(loop.target)) == 2 and method(loop.iter) == "parameters":
            why = "parameters() yields tensors without names; unpacking one yields its rows."
            yield case.renamed_to(loop.iter, "named_parameters", why=why, reprints=True)


def formatted(case: Case) -> Iterator[Proposal]:
    """Call the method; or remove the format."""
    if "Tensor" not in case.message:
        for node in case.attributes("item", "mean", "sum", "norm", "tolist"):
            if getattr(case.parents.get(node), "func", None) is not node:
                yield case.appended(node, "()", why="Without () this is only the method itself.")
        return
    for node in case.of_type(ast.Constant, ast.JoinedStr):
        if isinstance(node, ast.JoinedStr):
            yield case.replaced(node, re.sub(r"(\{[^{}:]+):[^{}]*\}", r"\1}", case.of(node)))
        elif isinstance(node.value, str):
            yield case.replaced(node, re.sub(r"\{(\w*):[^{}]*\}", r"{\1}", case.of(node)))
