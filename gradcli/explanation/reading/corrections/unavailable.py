"""Cures of what this PyTorch does not have: other devices, and functions of older versions."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import argument, keyword, method, owner, value_of

NOTE = "With a graphics processor the program runs as it is; here it is read without one."


def on_cpu(case: Case) -> Iterator[Proposal]:
    """No .cuda(), and "cpu" for the name of any other device."""
    moves = [c for c in case.methods("cuda", "mps", "xpu", everywhere=True) if not c.keywords]
    edits = [case.without_method(c) for c in moves]
    for node in case.of_type(ast.Constant, everywhere=True):
        if isinstance(node.value, str) and node.value.partition(":")[0] in ("cuda", "mps", "xpu"):
            edits.append(case.replacing(node, repr("cpu")))
    if edits:
        yield case.proposal(*edits, note=NOTE)


def in_linalg(case: Case) -> Iterator[Proposal]:
    """torch.linalg's function of the same meaning."""
    for call in case.calls("solve", "symeig", "lstsq", "matrix_rank"):
        name, of_torch = method(call), case.of(owner(call)) == "torch"
        given = list(call.args) if of_torch else [owner(call), *call.args]
        texts = [case.of(a) for a in given if a is not None]
        if name == "matrix_rank":
            yield case.replaced(call, f"torch.linalg.matrix_rank({', '.join(texts)})")
        elif name == "symeig":
            yield from _of_symmetric(case, call, texts[0])
        elif len(texts) > 1:
            end = ".solution" if name == "lstsq" else ""
            yield from _first_alone(case, call, f"torch.linalg.{name}({texts[1]}, {texts[0]}){end}")


def _of_symmetric(case: Case, call: ast.Call, matrix: str) -> Iterator[Proposal]:
    upper = argument(call, 2, "upper")
    side = "" if value_of(upper) is False else ", UPLO='U'"
    if value_of(argument(call, 1, "eigenvectors")) or keyword(call, "eigenvectors"):
        yield case.replaced(call, f"torch.linalg.eigh({matrix}{side})")
    else:
        yield from _first_alone(case, call, f"torch.linalg.eigvalsh({matrix}{side})")


def _first_alone(case: Case, call: ast.Call, text: str) -> Iterator[Proposal]:
    """What now gives one value, where a program takes the first of two."""
    place = case.parents[call]
    if isinstance(place, ast.Subscript | ast.Attribute):
        yield case.replaced(place, text)
    for statement in case.of_type(ast.Assign):
        target = statement.targets[0]
        if statement.value is call and isinstance(target, ast.Tuple):
            yield case.proposal(
                case.replacing(target, case.of(target.elts[0])), case.replacing(call, text)
            )
    yield case.replaced(call, text)
