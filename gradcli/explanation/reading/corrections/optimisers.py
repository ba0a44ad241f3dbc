"""Cures of optimisers, and of parameters that a module does not know."""

import ast
from collections.abc import Iterator

from ....snippets.python.values import Instance
from .case import Case, Proposal, cures
from .cuts import CREATORS, unfrozen
from .text import dotted, keyword, method


@cures(r"'(\w+)' object is not iterable", "An optimiser takes the parameters of a module.")
def optimised_module(case: Case) -> Iterator[Proposal]:
    """model.parameters()."""
    for call in case.calls(*OPTIMISERS):
        if call.args and isinstance(call.args[0], ast.Attribute):
            yield case.appended(call.args[0], "()", why="parameters is a method: it is called.")
        if call.args and isinstance(case.value(call.args[0]), Instance):
            yield case.appended(call.args[0], ".parameters()")
        for k in call.keywords:
            if k.arg == "params" and isinstance(case.value(k.value), Instance):
                yield case.appended(k.value, ".parameters()")


@cures("can't optimize a non-leaf Tensor", "An optimiser changes leaves; this one is computed.")
def optimised_non_leaf(case: Case) -> Iterator[Proposal]:
    """The leaf that it is computed from, or a leaf in its place."""
    for call in case.calls(*OPTIMISERS):
        listed = call.args[0] if call.args else None
        items = listed.elts if isinstance(listed, ast.List | ast.Tuple) else []
        for item in items:
            name = dotted(item)
            for made in reversed(case.assignments(name, case.line)) if name else ():
                if isinstance(made, ast.Assign):
                    yield from _leaf_again(case, made)
                    end = ".detach().requires_grad_()"
                    yield case.appended(made.value, end)
            if not name:
                for n in ast.walk(item):
                    if isinstance(n, ast.Name) and (t := case.tensor(n)) is not None and t.is_leaf:
                        yield case.replaced(item, n.id)
    for n in case.of_type(ast.Assign, everywhere=True):
        yield from _leaf_again(case, n)


def _leaf_again(case: Case, made: ast.Assign) -> Iterator[Proposal]:
    """f(torch.randn(3, requires_grad=True)) as f(torch.randn(3)).requires_grad_()."""
    for inner in ast.walk(made.value):
        if isinstance(inner, ast.Call) and keyword(inner, "requires_grad"):
            edit = case.without_keyword(inner, "requires_grad")
            end = case.text.appending(made.value, ".requires_grad_()")
            if edit and inner is not made.value and end.start >= edit.end:
                yield case.proposal(edit, end)
            elif edit and inner is not made.value:
                inside = case.text.of(made.value)
                shift = case.text.start(made.value)
                cut = inside[: edit.start - shift] + inside[edit.end - shift :]
                new = f"({cut}).requires_grad_()"
                yield case.replaced(made.value, new)


OPTIMISERS = (
    *("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax"),
    *("NAdam", "RAdam", "ASGD", "Rprop", "LBFGS", "SparseAdam"),
)


@cures(
    r"params argument given to the optimizer should be an iterable of Tensors",
    "An optimiser takes a list of tensors, even of one.",
)
def one_parameter(case: Case) -> Iterator[Proposal]:
    """[w]."""
    for call in case.calls(*OPTIMISERS):
        if call.args:
            text = case.text.of(call.args[0])
            yield case.replaced(call.args[0], f"[{text}]")


@cures(
    r"optimizer can only optimize Tensors, but one of the params is (\w+)|"
    r"optimizer got an empty parameter list|some parameters appear in more than one",
    "An optimiser needs the parameters themselves, each once.",
)
def wrong_parameters(case: Case) -> Iterator[Proposal]:
    """Lists of layers registered; numbers as tensors; each parameter once."""
    if "empty" in case.failure.message:
        yield from unfrozen(case)
    yield from registered(case)
    for call in case.calls(*OPTIMISERS):
        listed = call.args[0] if call.args else None
        if isinstance(listed, ast.List | ast.Tuple):
            names = [n for n in case.leaves if n]
            if isinstance(listed, ast.List) and not listed.elts and names:
                yield case.replaced(listed, f"[{', '.join(names)}]")
            form = "torch.tensor({}, requires_grad=True)"
            yield from case.together(case.numbers_as(form, listed.elts))
            for e in listed.elts:
                if isinstance(e, ast.Name) and isinstance(case.value(e), int | float):
                    for made in reversed(case.assignments(e.id, case.line)):
                        if isinstance(made, ast.Assign):
                            number = f"float({case.text.of(made.value)})"
                            new = f"torch.tensor({number}, requires_grad=True)"
                            yield case.replaced(made.value, new)
                if method(e) == "parameters":
                    edit = case.text.replacing(e, f"*{case.text.of(e)}")
                    yield case.proposal(edit)
            unique = dict.fromkeys(case.text.of(e) for e in listed.elts)
            if len(unique) < len(listed.elts):
                yield case.replaced(listed, f"[{', '.join(unique)}]")
            if not listed.elts:
                new = "[torch.zeros(1, requires_grad=True)]"
                yield case.replaced(listed, new, weak=True)
        if isinstance(listed, ast.Name):
            for made in reversed(case.assignments(listed.id, case.line)):
                if isinstance(made, ast.Assign) and method(made.value) in ("parameters", "filter"):
                    new = f"list({case.text.of(made.value)})"
                    yield case.replaced(
                        made.value,
                        new,
                        why="parameters() can be gone through once; it was used up before.",
                    )


def registered(case: Case) -> Iterator[Proposal]:
    """self.layers = [nn.Linear(...)] as nn.ModuleList, self.w = torch.randn as nn.Parameter."""
    edits = []
    for node in case.of_type(ast.Assign, everywhere=True):
        if not (dotted(node.targets[0]).startswith("self.")):
            continue
        value = node.value
        layers = [n for n in ast.walk(value) if "nn." in dotted(getattr(n, "func", None))]
        if isinstance(value, ast.List | ast.ListComp) and layers:
            prefix = dotted(layers[0].func).rpartition(".")[0]  # type: ignore[attr-defined]
            new = f"{prefix}.ModuleList({case.text.of(value)})"
            edits.append(case.text.replacing(value, new))
        elif isinstance(value, ast.Dict) and layers:
            prefix = dotted(layers[0].func).rpartition(".")[0]  # type: ignore[attr-defined]
            new = f"{prefix}.ModuleDict({case.text.of(value)})"
            edits.append(case.text.replacing(value, new))
        elif (
            isinstance(value, ast.Call)
            and method(value) in CREATORS
            and dotted(value.func).startswith("torch.")
        ):
            edit = case.without_keyword(value, "requires_grad")
            inner = case.text.of(value)
            if edit:
                at = case.text.start(value)
                inner = inner[: edit.start - at] + inner[edit.end - at :]
            new = f"torch.nn.Parameter({inner})"
            edits.append(case.text.replacing(value, new))
    why = "A module knows the parameters and modules that are its attributes, not those in a list."
    yield from case.together(edits, why=why)


@cures(
    r"'(float|Tensor|int)' object is not callable",
    "An optimiser's step() takes a function that computes the loss, or nothing.",
)
def step_with_number(case: Case) -> Iterator[Proposal]:
    """step()."""
    for call in case.calls("step"):
        if call.args:
            yield case.replaced(call.args[0], "")


@cures(
    r"LBFGS.step\(\) missing 1 required positional argument: 'closure'|"
    r"step\(\) missing 1 required positional argument: 'closure'",
    "LBFGS evaluates the loss several times a step: it needs a function for that.",
)
def closure(case: Case) -> Iterator[Proposal]:
    """The backward as a closure."""
    for call in case.calls("step"):
        statement = case.text.statement(call)
        block = case.text.blocks[statement]
        place = block.index(statement)
        optimiser = case.text.of(call.func)
        backs = [s for s in block[:place] if any(method(n) == "backward" for n in ast.walk(s))]
        loss = ""
        moved: list[ast.stmt] = []
        if backs:
            start = backs[-1]
            back = next(n for n in ast.walk(start) if method(n) == "backward")
            assert isinstance(back, ast.Call)
            assert isinstance(back.func, ast.Attribute)
            loss = case.text.of(back.func.value)
            sliced = [s for s in case.slice_of(back.func.value, start.lineno) if s in block]
            first = min((block.index(s) for s in sliced if _tensor_made(case, s)), default=place)
            moved = block[min(first, block.index(start)) : place]
        body = [line for s in moved for line in case.text.lines_of(s)]
        name = optimiser.rpartition(".")[0]
        if body and not any("zero_grad" in b for b in body):
            body.insert(0, f"{name}.zero_grad()")
        if not body:
            leaf = next(iter(case.leaves), "")
            if not leaf:
                return
            body = [f"{name}.zero_grad()", f"loss = ({leaf} ** 2).sum()", "loss.backward()"]
            loss = "loss"
        lines = ["def closure():", *[f"    {b}" for b in body], f"    return {loss}"]
        edits = [case.text.removing(s) for s in moved]
        step = case.with_argument(call, "closure")
        yield case.proposal(*edits, case.text.before(statement, *lines), step)


def _tensor_made(case: Case, statement: ast.stmt) -> bool:
    return any(
        a.line == statement.lineno and a.tensor.record is not None
        for a in case.reading.trace.assignments
    )


@cures(
    r"Adam does not support sparse gradients|SparseAdam does not support dense gradients",
    "Sparse and dense gradients need optimisers of their own.",
)
def sparse(case: Case) -> Iterator[Proposal]:
    """The other optimiser."""
    for node in case.all_nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("Adam", "SparseAdam"):
            new = "SparseAdam" if node.attr == "Adam" else "Adam"
            yield case.renamed_to(node, new)
        if isinstance(node, ast.Call) and keyword(node, "sparse"):
            edit = case.without_keyword(node, "sparse")
            if edit:
                yield case.proposal(edit)


@cures(
    r"The total norm of order .* for gradients from `parameters` is non-finite",
    "A gradient is nan or infinite: no factor makes its norm 1.",
)
def non_finite(case: Case) -> Iterator[Proposal]:
    """The check left out."""
    for call in case.calls("clip_grad_norm_"):
        edit = case.without_keyword(call, "error_if_nonfinite")
        if edit:
            yield case.proposal(
                edit, note="The gradient stays nan; find where it becomes so.", weak=True
            )


@cures(
    r"Invalid [\w ]+(?: value| parameter at index \d)?: (-[\d.e-]+)",
    "This number of an optimiser may not be negative.",
)
def negative_number(case: Case) -> Iterator[Proposal]:
    """Without the sign."""
    for number in case.of_type(ast.UnaryOp):
        value = getattr(number.operand, "value", None)
        if isinstance(number.op, ast.USub) and value == -float(case.match[1]):
            yield case.replaced(number, case.text.of(number.operand))
