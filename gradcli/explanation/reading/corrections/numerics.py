"""Cures of what has no derivative at a point, or in a mode: singular matrices, nan, checkpoint."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal, cures
from .text import dotted, keyword, method


@cures(
    r"linalg.(inv|solve|inv_ex): The diagonal element|linalg.cholesky: The factorization could not|"
    r"linalg.(det|inv|cholesky|eigh|slogdet): A must be batches of square",
    "The matrix has no inverse, or is not positive definite.",
)
def singular(case: Case) -> Iterator[Proposal]:
    """A little more on the diagonal."""
    for node in case.calls():
        if node.args:
            a = case.text.operand(node.args[0])
            if method(node) in ("inv", "inverse"):
                yield case.replaced(node.func, "torch.linalg.pinv")
            if method(node) in ("det", "slogdet", "cholesky", "inv", "solve", "eigh"):
                new = f"{a} + 1e-3 * torch.eye({a}.shape[-1])"
                yield case.replaced(node.args[0], new)
                new = f"{a} @ {a}.T + 1e-3 * torch.eye({a}.shape[0])"
                yield case.replaced(node.args[0], new)
                yield case.replaced(node.args[0], f"{a}.T @ {a}")


@cures(
    r"The derivative of linalg.qr depends on Q|The QR decomposition is not differentiable",
    "Only the reduced decomposition has a derivative.",
)
def qr_mode(case: Case) -> Iterator[Proposal]:
    """mode="reduced"."""
    for node in case.calls("qr", everywhere=True):
        if named := keyword(node, "mode"):
            yield case.replaced(named.value, '"reduced"')


@cures(
    r"Function '(\w+)' returned nan values in its (\d+)th output",
    "The rule of this operation divides by 0, or multiplies 0 by infinity.",
)
def nan_found(case: Case) -> Iterator[Proposal]:
    """Away from the point where the derivative is infinite."""
    name = case.match[1].partition("Backward")[0].lower()
    for node in case.calls(everywhere=True):
        if method(node) in (name, "sqrt", "norm", "pow", "log") and isinstance(
            node.func, ast.Attribute
        ):
            note = "1e-12 keeps the argument away from 0, where the derivative is infinite."
            if dotted(node.func.value) in ("torch", "torch.linalg") and node.args:
                x = case.text.operand(node.args[0])
                yield case.replaced(node.args[0], f"{x} + 1e-12", note=note)
            elif dotted(node.func.value) not in ("torch", "torch.linalg", "F"):
                inner, dot = node.func.value, case.dot(node.func)
                x = case.text.of(inner)
                bracketed = ")" in case.text.source[case.text.end(inner) : dot]
                new = f"{x} + 1e-12" if bracketed else f"({x} + 1e-12)"
                yield case.replaced(inner, new, note=note)
    for quotient in case.of_type(ast.BinOp, everywhere=True):
        if isinstance(quotient.op, ast.Div):
            x = case.text.operand(quotient.right)
            yield case.replaced(quotient.right, f"({x} + 1e-12)")


@cures(
    "When use_reentrant=True, torch.utils.checkpoint is incompatible",
    "The re-entrant form of checkpoint runs a backward of its own.",
)
def reentrant(case: Case) -> Iterator[Proposal]:
    """use_reentrant=False."""
    for node in case.calls("checkpoint", everywhere=True):
        yield case.proposal(case.with_keyword(node, "use_reentrant", "False"))


@cures(
    r"The function '(\w+)' is not differentiable with respect to argument '(\w+)'",
    "This argument is taken as a constant.",
)
def constant_argument(case: Case) -> Iterator[Proposal]:
    """.detach()."""
    for node in case.calls():
        if named := keyword(node, case.match[2]):
            yield case.appended(named.value, ".detach()")
