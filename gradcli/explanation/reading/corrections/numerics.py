"""Cures of what has no derivative at a point, or in a mode: singular matrices, nan, checkpoint."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import dotted, is_operation, method

OF_TORCH = ("torch", "torch.linalg", "F")


def singular(case: Case) -> Iterator[Proposal]:
    """A little more on the diagonal."""
    for call in [c for c in case.calls() if c.args]:
        matrix, a = call.args[0], case.operand(call.args[0])
        if method(call) in ("inv", "inverse"):
            yield case.replaced(call.func, "torch.linalg.pinv")
        if method(call) in ("det", "slogdet", "cholesky", "inv", "solve", "eigh"):
            yield case.replaced(matrix, f"{a} + 1e-3 * torch.eye({a}.shape[-1])")
            yield case.replaced(matrix, f"{a} @ {a}.T + 1e-3 * torch.eye({a}.shape[0])")
            yield case.replaced(matrix, f"{a}.T @ {a}")


def nan_found(case: Case) -> Iterator[Proposal]:
    """Away from the point where the derivative is infinite."""
    name = case.match[1].partition("Backward")[0].lower()
    note = "1e-12 keeps the argument away from 0, where the derivative is infinite."
    if name == "div":
        yield from _quotients(case)
    for call in case.methods(name, "sqrt", "norm", "pow", "log", everywhere=True):
        assert isinstance(call.func, ast.Attribute)
        x = call.func.value
        if dotted(x) in OF_TORCH[:2] and call.args:
            new = f"{case.operand(call.args[0])} + 1e-12"
            yield case.replaced(call.args[0], new, note=note)
        elif dotted(x) not in OF_TORCH:
            bracketed = ")" in case.source[case.end(x) : case.dot(call)]
            new = f"{case.of(x)} + 1e-12"
            yield case.replaced(x, new if bracketed else f"({new})", note=note)
    yield from _quotients(case)


def _quotients(case: Case) -> Iterator[Proposal]:
    for quotient in case.of_type(ast.BinOp, everywhere=True):
        if is_operation(quotient, ast.Div):
            yield case.replaced(quotient.right, f"({case.operand(quotient.right)} + 1e-12)")
