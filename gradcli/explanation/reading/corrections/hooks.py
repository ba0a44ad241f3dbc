"""Cures of hooks: how many arguments they take, and what they return."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .functions import functions, results_of
from .nodes import calls_in, method, parts, within
from .text import Edit


def hooks(case: Case) -> list[ast.Lambda | ast.FunctionDef]:
    """The functions that are registered as hooks."""
    result: list[ast.Lambda | ast.FunctionDef] = []
    for call in [c for c in case.calls(everywhere=True) if "hook" in method(c)]:
        result += [a for a in call.args if isinstance(a, ast.Lambda)]
        names = [a.id for a in call.args if isinstance(a, ast.Name)]
        result += [case.functions[n] for n in names if n in case.functions]
    return result


def number_for_gradient(case: Case) -> Iterator[Proposal]:
    """The number times ones in the shape of what arrived."""
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
    """One argument less, where the first is not used; or more."""
    for function in hooks(case):
        if getattr(function, "name", "<lambda>") != case.match[1] or not function.args.args:
            continue
        first, *rest = function.args.args
        unused = not any(n.id == first.arg for n in within(function, ast.Name))
        if case.match[2] is not None:
            more = range(int(case.match[3]) - int(case.match[2]))
            names = "".join(f", other_{k + 1}" for k in more)
            yield case.proposal(case.adding([first, *rest][-1], names))
        elif rest and unused:
            cut = Edit(case.start(first), case.start(rest[0]), "")
            yield case.proposal(cut, why="A hook of a tensor takes its gradient alone.")


def hook_changed(case: Case) -> Iterator[Proposal]:
    """The same shape and dtype."""
    for function in hooks(case):
        grad = function.args.args[-1].arg
        for value in results_of(function):
            if case.match[2] == "type":
                yield case.appended(value, f".to({grad}.dtype)")
            for call in calls_in(value, "sum", "mean", "norm"):
                yield case.proposal(case.with_argument(call, "dim=0, keepdim=True"))
            yield case.appended(value, f".expand_as({grad})")
