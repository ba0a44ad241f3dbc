"""The gradient that the backward of a custom Function should return: gradcli's own formula of what
its forward computes, in the names that backward has.
"""

import ast
import re
from typing import Any

from ....errors import GradcliError
from ....language.posing import pose
from ....notation import tree
from ...analysis import Analysis
from ...formulas.wording import wording_of
from ...short.gradients import Gradients
from .case import Case
from .nodes import dotted, method


def derivative(case: Case, cls: ast.ClassDef, place: int) -> str | None:
    """The gradient of an argument of forward as an expression of backward; None where it is not
    known, or needs what backward does not have.
    """
    methods = {f.name: f for f in cls.body if isinstance(f, ast.FunctionDef)}
    forward, backward = methods["forward"], methods["backward"]
    names = [a.arg for a in forward.args.args[1:]]
    text = _program(case, forward)
    shapes = _shapes(case, cls, names)
    if text is None or names[place] not in shapes:
        return None
    try:
        a = Analysis(pose(text, shapes=shapes, wrt=[names[place]]))
        results = Gradients(a, wording_of(a))
        (x,) = a.problem.wrt
        formula = results.formula(x)
        written = "" if formula is None else tree.text(results.w.in_statements(formula))
    except GradcliError:
        return None
    grad = backward.args.args[-1].arg
    known = {n.id for n in ast.walk(backward) if isinstance(n, ast.Name)} | {grad}
    result = re.sub(r"\bg\b", grad, written)
    if not a.problem.out.shape:  # its seed is 1, and left out
        result = f"{grad} * {result if result.isidentifier() else f'({result})'}"
    used = {n.id for n in ast.walk(ast.parse(result)) if isinstance(n, ast.Name)}
    return result if written and used <= known else None


def _program(case: Case, forward: ast.FunctionDef) -> str | None:
    """What forward computes, as statements of the language; None where ctx is more than a store."""
    lines: list[str] = []
    for statement in forward.body:
        value: Any = getattr(statement, "value", None)
        if isinstance(value, ast.Constant) or method(value) == "save_for_backward":
            continue
        if isinstance(statement, ast.Return) and value is not None:
            lines.append(case.of(value))
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            lines.append(case.of(statement))
        elif not dotted(getattr(statement, "targets", [None])[0]).startswith("ctx."):
            return None
    return "\n".join(lines)


def _shapes(case: Case, cls: ast.ClassDef, names: list[str]) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors that the Function is applied to."""
    for call in case.calls("apply", everywhere=True):
        if dotted(call.func) == f"{cls.name}.apply":
            tensors = {n: case.tensor(a) for n, a in zip(names, call.args)}
            return {n: t.shape for n, t in tensors.items() if t is not None}
    return {}
