"""Cures of custom Functions and of hooks."""

import ast
from collections.abc import Iterator
from typing import Any

from .case import Case, Proposal, cures
from .cuts import without_once
from .derivatives import derivative
from .text import Edit, dotted, method


def classes(case: Case) -> list[ast.ClassDef]:
    """The custom Functions of a program; the one that an error names first."""
    found = [
        n
        for n in case.all_nodes
        if isinstance(n, ast.ClassDef) and any("Function" in dotted(b) for b in n.bases)
    ]
    return sorted(found, key=lambda c: c.name not in case.failure.message)


def functions(case: Case, name: str, cls: ast.ClassDef | None = None) -> list[ast.FunctionDef]:
    """The methods of this name of all custom Functions, or of one."""
    return [
        s
        for c in ([cls] if cls else classes(case))
        for s in c.body
        if isinstance(s, ast.FunctionDef) and s.name == name
    ]


def returns(function: ast.AST) -> list[ast.Return]:
    """Its return statements."""
    return [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]


@cures(
    r"function (\w+) returned an incorrect number of gradients \(expected (\d+), got (\d+)\)",
    "backward returns one gradient for each argument of forward after ctx; None where there is "
    "none.",
)
def number_of_gradients(case: Case) -> Iterator[Proposal]:
    """The gradient of each argument that has one, None for the others."""
    expected, got = int(case.match[2]), int(case.match[3])
    for cls, value, parts in returned(case):
        texts = [case.text.of(p) for p in parts]
        if len(texts) == got:
            rest = range(got, expected)
            derived = [derivative(case, cls, k) or "None" for k in rest]
            note = "What is missing is the derivative of what forward computes."
            if any(d != "None" for d in derived):
                yield case.replaced(value, ", ".join([*texts, *derived]), note=note)
            yield case.replaced(value, ", ".join([*texts[:expected], *["None" for _ in rest]]))


def returned(case: Case) -> Iterator[tuple[ast.ClassDef, ast.expr, list[ast.expr]]]:
    """What the backward of each custom Function returns, and its parts."""
    for cls in classes(case):
        for function in functions(case, "backward", cls):
            for value in [node.value for node in returns(function) if node.value is not None]:
                yield cls, value, value.elts if isinstance(value, ast.Tuple) else [value]


@cures(
    r"(?:Function|function) (\w+) returned an invalid gradient at index (\d+) - got \[(.*?)\] but "
    r"expected shape compatible with \[(.*?)\]",
    "The gradient of an argument has the argument's shape.",
)
def shape_of_gradient(case: Case) -> Iterator[Proposal]:
    """The derivative of what forward computes; else what is returned, brought to the shape."""
    place = int(case.match[2])
    for cls, _, parts in returned(case):
        if place < len(parts):
            derived = derivative(case, cls, place)
            if derived is not None:
                note = "The derivative of what forward computes."
                yield case.replaced(parts[place], derived, note=note)
            yield from reshaped(case, parts[place], case.match[4].strip())
            backward = functions(case, "backward", cls)[0]
            grad = backward.args.args[1].arg if len(backward.args.args) > 1 else "g"
            yield case.replaced(parts[place], grad, weak=True)


def reshaped(case: Case, part: ast.expr, sizes: str) -> Iterator[Proposal]:
    """A gradient summed to a shape, transposed, or expanded."""
    shape = f"({sizes}{',' if sizes and ',' not in sizes else ''})"
    calls = [n for n in ast.walk(part) if isinstance(n, ast.Call)]
    for n in ast.walk(part):
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult):
            yield case.replaced(n, f"{_flipped(case, n.right)} @ {_flipped(case, n.left)}")
            yield case.replaced(n, f"{case.text.of(n.right)} @ {case.text.of(n.left)}")
        if isinstance(n, ast.Call) and method(n) == "sum" and n.args:
            yield case.replaced(n.args[-1], "1" if case.text.of(n.args[-1]) == "0" else "0")
    for n in calls:
        if dotted(n.func) in ("torch.ones", "torch.zeros"):
            yield case.replaced(n, f"{dotted(n.func)}({shape})")
    yield case.appended(part, ".T")
    for n in calls:
        if method(n) in ("sum", "mean") and not n.args:
            yield case.proposal(case.without_method(n))
    for end in (f".sum_to_size({shape})", f".expand({shape})", f".reshape({shape})"):
        yield case.appended(part, end)


def _flipped(case: Case, node: ast.expr) -> str:
    """The transpose of a matrix."""
    text = case.text.operand(node)
    for end in (".T", ".t()", ".mT"):
        if text.endswith(end):
            return text.removesuffix(end)
    return f"{text}.T"


@cures(
    r"function (\w+) returned a gradient different than None at position (\d+)",
    "That argument is no tensor: it has no gradient.",
)
def gradient_of_number(case: Case) -> Iterator[Proposal]:
    """None there."""
    place = int(case.match[2]) - 1
    for function in functions(case, "backward"):
        for node in returns(function):
            if isinstance(node.value, ast.Tuple):
                for k in (place, place + 1):
                    if 0 <= k < len(node.value.elts):
                        yield case.replaced(node.value.elts[k], "None")


@cures(
    "Legacy autograd function with non-static forward method is deprecated",
    "Since PyTorch 1.3 forward and backward are static, and .apply calls them.",
)
def legacy(case: Case) -> Iterator[Proposal]:
    """@staticmethod, ctx for self, .apply for an instance."""
    edits: list[Edit] = []
    for cls in classes(case):
        for function in [s for s in cls.body if isinstance(s, ast.FunctionDef)]:
            if function.name not in ("forward", "backward"):
                continue
            if not any(dotted(d) == "staticmethod" for d in function.decorator_list):
                edits.append(case.text.before(function, "@staticmethod"))
                first = function.args.args[0]
                edits.append(
                    Edit(case.text.start(first), case.text.start(first) + len(first.arg), "ctx")
                )
                edits += [
                    case.text.replacing(n, "ctx")
                    for n in ast.walk(function)
                    if isinstance(n, ast.Name) and n.id == first.arg
                ]
        for node in case.calls(everywhere=True):
            if dotted(node.func) == cls.name and not node.args:
                outer = case.text.parents.get(node)
                if isinstance(outer, ast.Call) and outer.func is node:
                    edits.append(case.text.replacing(node, f"{cls.name}.apply"))
                elif isinstance(outer, ast.Attribute) and outer.attr in ("forward", "apply"):
                    edits.append(case.text.replacing(outer, f"{cls.name}.apply"))
                elif isinstance(outer, ast.Assign):
                    edits.append(case.text.replacing(node, f"{cls.name}.apply"))
    yield from case.together(edits)


@cures(
    r"(\w+)\(\) takes no arguments|(\w+)\.(?:forward|backward)\(\) missing \d+ required positional",
    "A custom Function is called by its apply.",
)
def without_apply(case: Case) -> Iterator[Proposal]:
    """F.apply(x)."""
    for cls in classes(case):
        edits = [
            case.text.replacing(n.func, f"{cls.name}.apply")
            for n in case.all_nodes
            if isinstance(n, ast.Call) and dotted(n.func) in (cls.name, f"{cls.name}.forward")
        ]
        yield from case.together(edits)


@cures(
    r"(\w+)\.(?:forward|backward)\(\) takes (\d+) positional arguments? but (\d+) were given",
    "The first argument of forward and backward is ctx.",
)
def without_first(case: Case) -> Iterator[Proposal]:
    """ctx before the others."""
    edits = []
    for cls in [c for c in classes(case) if c.name == case.match[1]]:
        for function in [s for s in cls.body if isinstance(s, ast.FunctionDef)]:
            arguments = function.args.args
            if arguments and arguments[0].arg not in ("ctx", "self", "context"):
                at = case.text.start(arguments[0])
                edits.append(Edit(at, at, "ctx, "))
    yield from case.together(edits)


@cures(
    r"You must implement either the backward or vjp method",
    "A custom Function has no way back but the one that is written.",
)
def no_backward(case: Case) -> Iterator[Proposal]:
    """Without the Function: PyTorch differentiates what forward computes."""
    for cls in classes(case):
        for node in [n for n in cls.body if isinstance(n, ast.FunctionDef)]:
            if node.name == "forward" and not uses_ctx(node):
                flat = any(method(n) in FLAT or isinstance(n, ast.Compare) for n in ast.walk(node))
                lines = ["", "@staticmethod", "def backward(ctx, grad_output):"]
                lines += ["    return grad_output" + ", None" * (len(node.args.args) - 2)]
                straight = case.proposal(
                    case.text.after(node, *lines),
                    note="The gradient goes straight through; write the right one.",
                    weak=not flat,
                )
                if flat:
                    yield straight
                yield from as_function(case, cls, node)
                yield straight


FLAT = ("round", "sign", "floor", "ceil", "trunc", "argmax", "argmin", "heaviside")


def uses_ctx(forward: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "ctx" for n in ast.walk(forward))


def as_function(case: Case, cls: ast.ClassDef, forward: ast.FunctionDef) -> Iterator[Proposal]:
    """F.apply(x) as a call of what forward computes."""
    edits = [
        case.text.replacing(n.func, f"{cls.name}.forward")
        for n in case.all_nodes
        if isinstance(n, ast.Call) and dotted(n.func) == f"{cls.name}.apply"
    ]
    for n in case.calls(everywhere=True):
        if dotted(n.func) == f"{cls.name}.apply" and n.args:
            at = case.text.start(n.args[0])
            edits.append(Edit(at, at, "None, "))
    yield case.proposal(*edits, note="PyTorch then differentiates what forward computes.")


@cures("You must implement the forward function", "A custom Function has no forward.")
def no_forward(case: Case) -> Iterator[Proposal]:
    """The identity."""
    for cls in classes(case):
        first = cls.body[0]
        names = [s for s in cls.body if isinstance(s, ast.FunctionDef)]
        lines = ["@staticmethod", "def forward(ctx, x):", "    return x.clone()", ""]
        if isinstance(first, ast.Pass):
            indent = case.text.indent(first)
            yield case.replaced(first, f"\n{indent}".join(lines).rstrip(), weak=True)
        elif names:
            yield case.proposal(case.text.before(first, *lines), weak=True)


@cures(
    r"save_for_backward can only save variables, but argument (\d+) is of type (\w+)",
    "save_for_backward keeps tensors; a number is an attribute of ctx.",
)
def saved_number(case: Case) -> Iterator[Proposal]:
    """ctx.k = k."""
    place = int(case.match[1])
    for forward in functions(case, "forward"):
        call = next((n for n in ast.walk(forward) if method(n) == "save_for_backward"), None)
        if not isinstance(call, ast.Call) or place >= len(call.args):
            continue
        argument = call.args[place]
        if not isinstance(argument, ast.Name | ast.Attribute | ast.Constant | ast.Subscript):
            continue
        name = argument.id if isinstance(argument, ast.Name) else "constant"
        rest = ", ".join(case.text.of(a) for k, a in enumerate(call.args) if k != place)
        edits = [
            case.text.replacing(call, f"ctx.save_for_backward({rest})"),
            case.text.after(case.text.statement(call), f"ctx.{name} = {case.text.of(argument)}"),
        ]
        for backward in functions(case, "backward"):
            edits += _unpacked_without(case, backward, place, name, len(call.args))
        if not rest:
            edits[0] = case.text.replacing(call, f"ctx.{name} = {case.text.of(argument)}")
            edits.pop(1)
        yield case.proposal(*edits)
    for forward in functions(case, "forward"):
        for call in [n for n in ast.walk(forward) if method(n) == "save_for_backward"]:
            assert isinstance(call, ast.Call)
            if place < len(call.args):
                text = case.text.of(call.args[place])
                new = f"torch.as_tensor({text})"
                yield case.replaced(call.args[place], new, weak=True)


@cures(
    r"not enough values to unpack \(expected (\d+), got (\d+)\)|tuple index out of range",
    "saved_tensors gives what forward saved.",
)
def not_saved(case: Case) -> Iterator[Proposal]:
    """ctx.save_for_backward in forward, of the names that backward unpacks."""
    for backward in functions(case, "backward"):
        if not backward.lineno <= case.line <= (backward.end_lineno or 0):
            continue
        for node in ast.walk(backward):
            saved = isinstance(node, ast.Assign) and "saved_tensors" in case.text.of(node.value)
            if not saved or not isinstance(node, ast.Assign):
                continue
            target = node.targets[0]
            names = [case.text.of(t) for t in getattr(target, "elts", [target])]
            owner = case.text.parents[backward]
            for forward in functions(case, "forward"):
                if case.text.parents[forward] is not owner:
                    continue
                calls = [n for n in ast.walk(forward) if method(n) == "save_for_backward"]
                text = f"{forward.args.args[0].arg}.save_for_backward({', '.join(names)})"
                if calls:
                    yield case.replaced(calls[0], text)
                else:
                    last = forward.body[-1]
                    yield case.proposal(case.text.before(last, text))


def _unpacked_without(
    case: Case, backward: ast.FunctionDef, place: int, name: str, count: int
) -> list[Edit]:
    """The unpacking of saved_tensors without one of them."""
    edits: list[Edit] = []
    for node in ast.walk(backward):
        if not (isinstance(node, ast.Assign) and "saved_tensors" in case.text.of(node.value)):
            continue
        target = node.targets[0]
        if not isinstance(target, ast.Tuple) or len(target.elts) != count:
            continue
        names = [case.text.of(e) for e in target.elts]
        gone = names.pop(place)
        if not names:
            edits.append(case.text.replacing(node, f"{gone} = ctx.{name}"))
            continue
        left = names[0] + "," if len(names) == 1 else ", ".join(names)
        edits.append(case.text.replacing(node, f"{left} = {case.text.of(node.value)}"))
        edits.append(case.text.after(node, f"{gone} = ctx.{name}"))
    return edits


@cures(
    r"expected Variable or None \(got (\w+)\)|expected Variable, but hook returned '([\w.]+)'",
    "A gradient is a tensor, or None.",
)
def number_for_gradient(case: Case) -> Iterator[Proposal]:
    """The number times ones in the shape of what arrived."""
    for function in [*functions(case, "backward"), *hooks(case)]:
        parameters = [a.arg for a in function.args.args]
        grad = parameters[-1] if parameters else "g"
        values = (
            [function.body]
            if isinstance(function, ast.Lambda)
            else [r.value for r in returns(function) if r.value is not None]
        )
        for value in values:
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            for part in parts:
                text = case.text.of(part)
                if isinstance(part, ast.Constant) and isinstance(part.value, int | float):
                    new = f"torch.full_like({grad}, {text})"
                    yield case.replaced(part, new)
                    yield case.replaced(part, f"{grad} * {text}")
                    continue
                for n in ast.walk(part):
                    if isinstance(n, ast.Call) and method(n) in ("item", "numpy", "tolist"):
                        yield case.proposal(case.without_method(n))
                yield case.replaced(part, f"{grad} * ({text})")
                yield case.replaced(part, f"torch.as_tensor({text})")


def hooks(case: Case) -> list[Any]:
    """The functions that are registered as hooks."""
    found: list[Any] = []
    named = case.functions
    for node in case.calls(everywhere=True):
        if "hook" in method(node):
            for a in node.args:
                if isinstance(a, ast.Lambda):
                    found.append(a)
                elif isinstance(a, ast.Name) and a.id in named:
                    found.append(named[a.id])
    return found


@cures(
    r"(\w+|<lambda>)\(\) (?:takes (\d+) positional arguments? but (\d+) (?:was|were) given|"
    r"missing \d+ required positional arguments?: )",
    "A hook of a tensor takes the gradient; one of a module takes the module, and two more.",
)
def hook_arguments(case: Case) -> Iterator[Proposal]:
    """One argument less, where the first is not used; or more."""
    for function in hooks(case):
        if getattr(function, "name", "<lambda>") != case.match[1] or not function.args.args:
            continue
        first, *rest = function.args.args
        if case.match[2] is None and rest and not _uses(function, first.arg):
            cut = Edit(case.text.start(first), case.text.start(rest[0]), "")
            yield case.proposal(cut, why="A hook of a tensor takes its gradient alone.")
        if case.match[2] is not None:
            at = case.text.end(function.args.args[-1])
            more = range(int(case.match[3]) - int(case.match[2]))
            yield case.proposal(Edit(at, at, "".join(f", other_{k + 1}" for k in more)))


def _uses(function: ast.AST, name: str) -> bool:
    """Whether a function reads a name."""
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(function))


@cures(
    r"hook '(.+?)' has changed the (size|type) of value",
    "A hook may change the numbers of a gradient, not its shape or dtype.",
)
def hook_changed(case: Case) -> Iterator[Proposal]:
    """The same shape and dtype."""
    for function in hooks(case):
        grad = function.args.args[-1].arg
        values = (
            [function.body]
            if isinstance(function, ast.Lambda)
            else [r.value for r in returns(function) if r.value is not None]
        )
        for value in values:
            if case.match[2] == "type":
                yield case.appended(value, f".to({grad}.dtype)")
            for n in ast.walk(value):
                if isinstance(n, ast.Call) and method(n) in ("sum", "mean", "norm"):
                    yield case.proposal(case.with_argument(n, "dim=0, keepdim=True"))
            yield case.appended(value, f".expand_as({grad})")


@cures(
    r"Some elements marked as dirty during the forward method were not returned",
    "What forward changes in place must be an output.",
)
def dirty(case: Case) -> Iterator[Proposal]:
    """The changed input returned."""
    for forward in functions(case, "forward"):
        call = next((n for n in ast.walk(forward) if method(n) == "mark_dirty"), None)
        if isinstance(call, ast.Call) and call.args:
            name = case.text.of(call.args[0])
            for r in returns(forward):
                assert r.value is not None
                yield case.replaced(r.value, name)
            yield case.proposal(case.text.removing(case.text.statement(call)))


@cures(
    "a leaf Variable that requires grad has been used in an in-place operation",
    "The Function changes its input in place, and a leaf may not be changed.",
)
def dirty_leaf(case: Case) -> Iterator[Proposal]:
    """A copy of the leaf."""
    for node in case.calls("apply"):
        if node.args:
            yield case.appended(node.args[0], ".clone()")


@cures(
    r"trying to differentiate twice a function that was marked with @once_differentiable",
    "The decorator says that backward itself cannot be differentiated.",
)
def once(case: Case) -> Iterator[Proposal]:
    """Without it."""
    yield from without_once(case)


@cures("Implementing both 'backward' and 'vjp'", "They are two names of the same method.")
def both(case: Case) -> Iterator[Proposal]:
    """backward alone."""
    for function in functions(case, "vjp"):
        start, end = case.text.span([function])
        yield case.proposal(Edit(start, end, ""))


@cures(
    r"In order to use an autograd.Function with functorch transforms",
    "torch.func needs forward without ctx, and setup_context beside it.",
)
def without_context(case: Case) -> Iterator[Proposal]:
    """forward taken apart."""
    for forward in functions(case, "forward"):
        ctx = forward.args.args[0].arg
        arguments = [a.arg for a in forward.args.args[1:]]
        uses = [
            s
            for s in forward.body
            if any(isinstance(n, ast.Name) and n.id == ctx for n in ast.walk(s))
        ]
        first = forward.args.args[0]
        end = case.text.start(forward.args.args[1]) if arguments else case.text.end(first)
        edits = [Edit(case.text.start(first), end, "")]
        edits += [case.text.removing(s) for s in uses]
        result = returns(forward)[-1:]
        name = case.text.of(result[0].value) if result else ""
        left = f"({', '.join(arguments)},)" if len(arguments) == 1 else f"({', '.join(arguments)})"
        lines = ["", "@staticmethod", "def setup_context(ctx, inputs, output):"]
        lines += [f"    {left[1:-1]} = inputs"]
        if name.isidentifier() and name not in arguments:
            lines.append(f"    {name} = output")
        lines += [f"    {line}" for s in uses for line in case.text.lines_of(s)]
        edits.append(case.text.after(forward.body[-1], *[_dedented(x) for x in lines]))
        source = case.text.edited(*edits)
        indent = case.text.indent(forward)
        inner = case.text.indent(forward.body[-1])
        source = source.replace(f"\n{inner}\x00", f"\n{indent}")
        yield Proposal(source)


def _dedented(line: str) -> str:
    """A line that belongs to the class, not to the function that it is put after."""
    return f"\x00{line}"


@cures(
    r"You tried to vmap over (\w+), but it does not have vmap support",
    "vmap needs a rule of the Function; it can make one itself.",
)
def vmap_rule(case: Case) -> Iterator[Proposal]:
    """generate_vmap_rule = True."""
    for cls in classes(case):
        yield case.proposal(case.text.before(cls.body[0], "generate_vmap_rule = True"))


@cures(
    r"(\w+\.)?backward\(\) takes (\d+) positional arguments? but (\d+) were given",
    "backward takes one gradient for each output of forward.",
)
def arguments_of_backward(case: Case) -> Iterator[Proposal]:
    """One more argument."""
    more = int(case.match[3]) - int(case.match[2])
    for cls in classes(case):
        for forward in [f for f in functions(case, "forward") if f in cls.body]:
            if more > 0 and not uses_ctx(forward):  # the new gradients belong into the result
                yield from as_function(case, cls, forward)
    for function in functions(case, "backward"):
        last = function.args.args[-1]
        names = "".join(f", grad_{k + 2}" for k in range(more))
        at = case.text.start(last) + len(last.arg)
        if more > 0:
            yield case.proposal(Edit(at, at, names))


# ---- torch.func and autograd.functional ----------------------------------------------------------


# ---- linear algebra, modes -----------------------------------------------------------------------
