"""Corrections of custom Functions, hooks and gradcheck."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from ....errors import GradcliError
from ....language.posing import pose
from ....notation import tree
from ...analysis import Analysis
from ...formulas.formula_writer import writer_of
from ...short.gradients import Gradients
from .case import Case, Proposal
from .nodes import calls_in, dotted, method, operands, owner, parts, target_of, within
from .text import Edit

CONTEXTS = ("ctx", "self", "context")


def classes(case: Case) -> list[ast.ClassDef]:
    """The custom Functions of a program; the one that an error names comes first."""
    result = [c for c in case.classes if any("Function" in dotted(b) for b in c.bases)]
    return sorted(result, key=lambda c: c.name not in case.message)


def methods(cls: ast.ClassDef, *names: str) -> list[ast.FunctionDef]:
    """The methods of a class with these names, or all."""
    result = [s for s in cls.body if isinstance(s, ast.FunctionDef)]
    return [s for s in result if s.name in names] if names else result


def functions(case: Case, name: str) -> list[ast.FunctionDef]:
    """The methods with this name of all custom Functions."""
    return [f for cls in classes(case) for f in methods(cls, name)]


def results_of(function: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    """The expressions that a function returns."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [r.value for r in within(function, ast.Return) if r.value is not None]


def returned(case: Case) -> Iterator[tuple[ast.ClassDef, ast.expr, list[ast.expr]]]:
    """The class, expression and parts of what the backward of each custom Function returns."""
    for cls in classes(case):
        for backward in methods(cls, "backward"):
            for value in results_of(backward):
                yield cls, value, value.elts if isinstance(value, ast.Tuple) else [value]


def unpackings(function: ast.AST, case: Case) -> list[ast.Assign]:
    """The assignments that unpack saved_tensors."""
    return [s for s in within(function, ast.Assign) if "saved_tensors" in case.of(s.value)]


# ---- what backward returns -----------------------------------------------------------------------


def number_of_gradients(case: Case) -> Iterator[Proposal]:
    """Return one gradient for each argument of forward, None for arguments that need none."""
    expected, got = int(case.match[2]), int(case.match[3])
    rest = range(got, expected)
    for cls, value, given in returned(case):
        texts = [case.of(p) for p in given]
        if len(texts) != got:
            continue
        derived = [derivative(case, cls, k) or "None" for k in rest]
        if any(d != "None" for d in derived):
            note = "The missing part is the derivative of forward."
            yield case.replaced(value, ", ".join([*texts, *derived]), note=note)
        yield case.replaced(value, ", ".join([*texts[:expected], *["None" for _ in rest]]))


def shape_of_gradient(case: Case) -> Iterator[Proposal]:
    """Return the derivative of forward; or bring the returned gradient to the right shape."""
    place = int(case.match[2])
    for cls, _, given in returned(case):
        if place < len(given):
            derived = derivative(case, cls, place)
            if derived is not None:
                note = "The derivative of forward."
                yield case.replaced(given[place], derived, note=note)
            value = given[place]
            if isinstance(value, ast.Call) and method(value) in ("sum", "mean"):
                note = "Each element has a gradient of its own."
                yield case.replaced(value, case.of(operands(value)[0]), note=note)
            sizes = f"({case.match[4].strip()},)" if case.match[4].strip() else "()"
            for built in calls_in(given[place], "ones", "zeros"):
                yield case.replaced(built, f"{case.of(built.func)}({sizes})")
            yield case.appended(given[place], ".T")
            yield case.appended(given[place], f".sum_to_size({sizes})")


def gradient_of_each_output(case: Case) -> Iterator[Proposal]:
    """A gradient for each output of forward, and the derivatives of all of them."""
    taken, given = int(case.match[2]), int(case.match[3])
    for cls, value, sent in returned(case):
        names = [a.arg for f in methods(cls, "backward") for a in f.args.args]
        if len(names) != taken:
            continue
        (*_, last) = [a for f in methods(cls, "backward") for a in f.args.args]
        names = [last.arg, *[f"{last.arg}_{k + 2}" for k in range(given - taken)]]
        texts = [_of_outputs(case, cls, place, names) for place in range(len(sent))]
        new = [t or "None" for t, old in zip(texts, sent) if t or case.of(old) == "None"]
        if any(texts) and len(new) == len(sent):
            added = case.adding(last, f", {', '.join(names[1:])}")
            why = "forward has several outputs: backward receives a gradient for each of them."
            yield case.proposal(added, case.replacing(value, ", ".join(new)), why=why)


def _of_outputs(case: Case, cls: ast.ClassDef, place: int, names: list[str]) -> str | None:
    """The gradient of an argument of forward, as a sum over outputs, by their gradients' names."""
    terms = [derivative(case, cls, place, output) for output in enumerate(names)]
    return None if None in terms else " + ".join(map(str, terms))


def gradient_of_constant(case: Case) -> Iterator[Proposal]:
    """Return None for an argument that is not a tensor."""
    place = int(case.match[2]) - 1
    for _, _, given in returned(case):
        if place < len(given):
            yield case.replaced(given[place], "None")


# ---- how a Function is called --------------------------------------------------------------------


def legacy(case: Case) -> Iterator[Proposal]:
    """Use @staticmethod, ctx in place of self, and .apply in place of an instance."""
    edits: list[Edit] = []
    for cls in classes(case):
        for function in methods(cls, "forward", "backward"):
            if not any(dotted(d) == "staticmethod" for d in function.decorator_list):
                first = function.args.args[0]
                at = case.start(first)
                edits += [case.before(function, "@staticmethod")]
                edits += [Edit(at, at + len(first.arg), "ctx")]
                read = [n for n in within(function, ast.Name) if n.id == first.arg]
                edits += [case.replacing(n, "ctx") for n in read]
        for call in case.calls(everywhere=True):
            outer = case.parents.get(call)
            if dotted(call.func) != cls.name or call.args:
                continue
            if isinstance(outer, ast.Attribute) and outer.attr in ("forward", "apply"):
                edits.append(case.replacing(outer, f"{cls.name}.apply"))
            elif isinstance(outer, ast.Assign) or getattr(outer, "func", None) is call:
                edits.append(case.replacing(call, f"{cls.name}.apply"))
    yield from case.change(*edits)


def without_apply(case: Case) -> Iterator[Proposal]:
    """Write F.apply(x)."""
    for cls in classes(case):
        called = [n.func for n in case.calls(everywhere=True)]
        called = [f for f in called if dotted(f) in (cls.name, f"{cls.name}.forward")]
        yield from case.change(*[case.replacing(f, f"{cls.name}.apply") for f in called])


def without_first(case: Case) -> Iterator[Proposal]:
    """Add ctx as the first argument."""
    named = [c for c in classes(case) if c.name == case.match[1]]
    firsts = [f.args.args[0] for c in named for f in methods(c) if f.args.args]
    edits = [case.inserting(a, "ctx, ") for a in firsts if a.arg not in CONTEXTS]
    yield from case.change(*edits)


# ---- what forward saves --------------------------------------------------------------------------


def saved_number(case: Case) -> Iterator[Proposal]:
    """Write ctx.k = k for a number in save_for_backward."""
    place = int(case.match[1])
    saves = [c for f in functions(case, "forward") for c in calls_in(f, "save_for_backward")]
    saves = [c for c in saves if place < len(c.args)]
    for call in saves[:1]:
        if len(call.args) == 1 and isinstance(call.args[0], ast.List | ast.Tuple):
            inner = ", ".join(case.of(e) for e in call.args[0].elts)
            yield case.replaced(call.args[0], inner)
            return
    for call in saves[:1]:
        number = call.args[place]
        if not isinstance(number, ast.Name | ast.Attribute | ast.Constant | ast.Subscript):
            continue
        name = number.id if isinstance(number, ast.Name) else "constant"
        rest = ", ".join(case.of(a) for k, a in enumerate(call.args) if k != place)
        kept = f"ctx.{name} = {case.of(number)}"
        edits = [case.replacing(call, f"ctx.save_for_backward({rest})" if rest else kept)]
        edits += [case.after(case.statement_of(call), kept)] if rest else []
        for backward in functions(case, "backward"):
            edits += _unpacked_without(case, backward, place, name, len(call.args))
        yield case.proposal(*edits)
    for call in saves:
        new = f"torch.as_tensor({case.of(call.args[place])})"
        yield case.replaced(call.args[place], new, weak=True)


def _unpacked_without(
    case: Case, backward: ast.FunctionDef, place: int, name: str, count: int
) -> list[Edit]:
    """The unpacking of saved_tensors without one of them."""
    edits: list[Edit] = []
    for built in unpackings(backward, case):
        target = target_of(built, ast.Tuple)
        if target is None or len(target.elts) != count:
            continue
        names = [case.of(e) for e in target.elts]
        gone = f"{names.pop(place)} = ctx.{name}"
        if not names:
            edits.append(case.replacing(built, gone))
            continue
        left = names[0] + "," if len(names) == 1 else ", ".join(names)
        edits.append(case.replacing(built, f"{left} = {case.of(built.value)}"))
        edits.append(case.after(built, gone))
    return edits


def not_saved(case: Case) -> Iterator[Proposal]:
    """Call ctx.save_for_backward in forward with the names that backward unpacks."""
    for cls in classes(case):
        for backward in methods(cls, "backward"):
            if not backward.lineno <= case.line <= (backward.end_lineno or 0):
                continue
            for built in unpackings(backward, case):
                names = ", ".join(case.of(t) for t in parts(built.targets[0]))
                for forward in methods(cls, "forward"):
                    text = f"{forward.args.args[0].arg}.save_for_backward({names})"
                    calls = calls_in(forward, "save_for_backward")
                    if calls:
                        yield case.replaced(calls[0], text)
                    else:
                        yield case.proposal(case.before(forward.body[-1], text))


# ---- hooks ---------------------------------------------------------------------------------------


def hooks(case: Case) -> list[ast.Lambda | ast.FunctionDef]:
    """The functions that are registered as hooks."""
    result: list[ast.Lambda | ast.FunctionDef] = []
    for call in [c for c in case.calls(everywhere=True) if "hook" in method(c)]:
        result += [a for a in call.args if isinstance(a, ast.Lambda)]
        names = [a.id for a in call.args if isinstance(a, ast.Name)]
        result += [case.functions[n] for n in names if n in case.functions]
        result += [f for a in call.args if isinstance(a, ast.Call) for f in _given_by(case, a)]
    return result


def _given_by(case: Case, call: ast.Call) -> list[ast.Lambda | ast.FunctionDef]:
    """The functions that a function of the program defines and returns."""
    maker = case.functions.get(dotted(call.func))
    values = [r.value for r in within(maker, ast.Return)]
    result: list[ast.Lambda | ast.FunctionDef] = [v for v in values if isinstance(v, ast.Lambda)]
    named = [dotted(v) for v in values if isinstance(v, ast.Name)]
    return result + [f for f in within(maker, ast.FunctionDef) if f.name in named]


def number_for_gradient(case: Case) -> Iterator[Proposal]:
    """Return the number times ones of the gradient's shape."""
    for function in [*functions(case, "backward"), *hooks(case)]:
        grad = function.args.args[-1].arg if function.args.args else "g"
        for part in [p for value in results_of(function) for p in parts(value)]:
            text = case.of(part)
            if isinstance(part, ast.Constant) and isinstance(part.value, int | float):
                yield case.replaced(part, f"torch.full_like({grad}, {text})")
                yield case.replaced(part, f"{grad} * {text}")
                continue
            for call in calls_in(part, "item", "numpy", "tolist"):
                yield case.without(call)
            yield case.replaced(part, f"{grad} * ({text})")
            yield case.replaced(part, f"torch.as_tensor({text})")


def hook_arguments(case: Case) -> Iterator[Proposal]:
    """Remove an unused first argument of a hook, or pass the tensor's name; or add arguments."""
    for function in hooks(case):
        if getattr(function, "name", "<lambda>") != case.match[1] or not function.args.args:
            continue
        first, *rest = function.args.args
        unused = not any(n.id == first.arg for n in within(function, ast.Name))
        if case.match[2] is not None:
            more = int(case.match[3]) - int(case.match[2])
            yield from _with_arguments(case, function, more)
        elif rest and unused:
            cut = Edit(case.start(first), case.start(rest[0]), "")
            yield case.proposal(cut, why="A hook of a tensor takes only its gradient.")
        else:
            yield from _named(case, function)


INPUTS = ("inp", "args", "x")  # usual names of a module's inputs in hooks


def _with_arguments(
    case: Case, function: ast.Lambda | ast.FunctionDef, more: int
) -> Iterator[Proposal]:
    """A hook with more arguments; those of a forward hook come before the output."""
    given = function.args.args
    if _of_forward(case, function) and more == 1 and given[-1].arg.startswith(INPUTS):
        why = "A forward hook takes the module, its inputs as a tuple, and its output."
        yield case.proposal(case.adding(given[-1], ", output"), why=why)
        return
    if _of_forward(case, function) and len(given) + more == 3:
        names = ("module, ", "inputs, ")[len(given) - 1 :]
        why = "A forward hook takes the module, its inputs and its output."
        yield case.proposal(case.inserting(given[-1], "".join(names)), why=why)
    if more == 1 and _registered(case, function, "full_backward_hook"):
        yield from _with_gradients(case, given)
    if more == 1 and _registered(case, function, "forward_pre_hook", "full_backward_hook"):
        yield case.proposal(case.inserting(given[0], "module, "), why="It gets the module first.")
    names = tuple(f", other_{k + 1}" for k in range(more))
    yield case.proposal(case.adding(given[-1], "".join(names)))


def _with_gradients(case: Case, given: list[ast.arg]) -> Iterator[Proposal]:
    """A backward hook of a module and one gradient, with the other gradient as well."""
    why = "A backward hook takes the module, and the gradients of its inputs and of its outputs."
    first, last = given[0].arg, given[-1]
    if len(given) == 2 and not first.startswith("g"):
        of_inputs = "in" in last.arg.split("_")[-1]
        other = case.adding(last, ", grad_output") if of_inputs else None
        yield case.proposal(other or case.inserting(last, "grad_input, "), why=why)


def _of_forward(case: Case, function: ast.AST) -> bool:
    """Whether a function is a forward hook of a module."""
    return _registered(case, function, "forward_hook")


def _registered(case: Case, function: ast.AST, *kinds: str) -> bool:
    """Whether a function is registered as a hook of one of these kinds."""
    for call in case.calls(*[f"register_{kind}" for kind in kinds], everywhere=True):
        if function in call.args or getattr(function, "name", "") in map(dotted, call.args):
            return True
        if any(function in _given_by(case, a) for a in call.args if isinstance(a, ast.Call)):
            return True
    return False


def _named(case: Case, function: ast.Lambda | ast.FunctionDef) -> Iterator[Proposal]:
    """Register lambda grad: hook(name, grad) with the name of the tensor."""
    for call in case.calls("register_hook", everywhere=True):
        tensor = dotted(owner(call))
        if len(function.args.args) == 2 and tensor and dotted(call.args[0]) == function.name:  # type: ignore[union-attr]
            new = f"lambda grad: {case.of(call.args[0])}({tensor!r}, grad)"
            why = "A hook of a tensor takes only its gradient."
            yield case.replaced(call.args[0], new, why=why)


def hook_count(case: Case) -> Iterator[Proposal]:
    """Return as many gradients as the module has inputs: the first ones."""
    got, expected = int(case.match[1]), int(case.match[2])
    for value in [v for f in hooks(case) for v in results_of(f)]:
        given = parts(value)
        if given == [value] and expected == 1:
            why = "It must return a tuple with one gradient for each input."
            yield case.replaced(value, f"({case.of(value)},)", why=why)
        if len(given) == got > expected:
            texts = [case.of(p) for p in given[:expected]]
            yield case.replaced(value, f"({', '.join(texts)}{',' * (expected == 1)})")


def hook_changed(case: Case) -> Iterator[Proposal]:
    """Return a gradient of the same shape and dtype."""
    for function in hooks(case):
        grad = function.args.args[-1].arg
        for value in results_of(function):
            if case.match[2] == "type":
                yield case.appended(value, f".to({grad}.dtype)")
            for call in calls_in(value, "sum", "mean", "norm"):
                yield case.proposal(case.with_argument(call, "dim=0, keepdim=True"))
            yield case.appended(value, f".expand_as({grad})")


def _gradient(a: Analysis) -> str:
    """The text of the gradient of the only input; empty if it is 0. Raises GradcliError."""
    results = Gradients(a, writer_of(a))
    (x,) = a.problem.wrt
    formula = results.formula(x)
    return "" if formula is None else tree.text(results.w.in_statements(formula))


def derivative(
    case: Case, cls: ast.ClassDef, place: int, output: tuple[int, str] | None = None
) -> str | None:
    """The gradient of an argument of forward as an expression of backward; None if it is not known,
    or needs names that backward does not have. `output`: the index of one of several outputs, and
    the name of its gradient.
    """
    methods = {f.name: f for f in cls.body if isinstance(f, ast.FunctionDef)}
    forward, backward = methods["forward"], methods["backward"]
    names = [a.arg for a in forward.args.args[1:]]
    text = _program(case, forward, output[0] if output else None)
    shapes = _shapes(case, cls, names)
    if text is None or names[place] not in shapes:
        return None
    try:
        a = Analysis(pose(text, shapes=shapes, wrt=[names[place]]))
        written = _gradient(a)
    except GradcliError:
        return None
    grad = output[1] if output else backward.args.args[-1].arg
    known = {n.id for n in ast.walk(backward) if isinstance(n, ast.Name)} | {grad}
    result = re.sub(r"\bg\b", grad, written)
    if "out" not in known:
        result = re.sub(r"\bout\b", f"({text.splitlines()[-1]})", result)
    if not re.search(r"\bg\b", written):  # the seed of a single number is 1, and left out
        result = f"{grad} * {result if result.isidentifier() else f'({result})'}"
    used = {n.id for n in ast.walk(ast.parse(result)) if isinstance(n, ast.Name)}
    return result if written and used <= known else None


def _program(case: Case, forward: ast.FunctionDef, output: int | None) -> str | None:
    """The computation of forward, or of one of its outputs, as statements of gradcli's expression
    language; None if forward does more with ctx than store values.
    """
    lines: list[str] = []
    for statement in forward.body:
        value: Any = getattr(statement, "value", None)
        if isinstance(value, ast.Constant) or method(value) == "save_for_backward":
            continue
        if isinstance(statement, ast.Return) and value is not None:
            lines.append(ast.unparse(value if output is None else parts(value)[output]))
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            lines.append(case.of(statement))
        elif not dotted(getattr(statement, "targets", [None])[0]).startswith("ctx."):
            return None
    return "\n".join(lines)


def _shapes(case: Case, cls: ast.ClassDef, names: list[str]) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors to which the Function is applied."""
    for call in case.calls("gradcheck", "gradgradcheck", everywhere=True):
        if len(call.args) > 1 and dotted(call.args[0]) == f"{cls.name}.apply":
            given = {n: case.tensor(a) for n, a in zip(names, parts(call.args[1]))}
            return {n: t.shape for n, t in given.items() if t is not None}
    for call in case.calls("apply", everywhere=True):
        if dotted(call.func) == f"{cls.name}.apply":
            tensors = {n: case.tensor(a) for n, a in zip(names, call.args)}
            return {n: t.shape for n, t in tensors.items() if t is not None}
    return {}


def checked(case: Case) -> list[list[ast.expr]]:
    """The inputs of each gradcheck."""
    calls = case.calls("gradcheck", "gradgradcheck")
    return [parts(c.args[1]) for c in calls if len(c.args) > 1]


def mismatch(case: Case) -> Iterator[Proposal]:
    """Use float64; or PyTorch's own derivative of forward."""
    for items in checked(case):
        coarse = [i for i in items if (t := case.tensor(i)) is None or t.dtype.name != "float64"]
        edits = [case.appending(i, ".double().detach().requires_grad_()") for i in coarse]
        yield from case.change(*edits)
    for cls, _, given in returned(case):
        place = int(case.match[2])
        derived = derivative(case, cls, place) if place < len(given) else None
        if derived is not None:
            note = "The derivative of forward."
            yield case.replaced(given[place], derived, note=note)
