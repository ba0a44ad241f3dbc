"""Products put together otherwise: another order, other brackets, a factor inside of a sum."""

import ast
from collections.abc import Iterator
from itertools import permutations

from .drafts import Change
from .parts import method, operands, reduction, shown, times

MATRICES = 4  # of a product whose orders are tried


def ordered(e: ast.expr) -> Iterator[Change]:
    """A product of several matrices in another order."""
    matrices = [*_multiplied(e)]
    for order in permutations(matrices) if 2 < len(matrices) <= MATRICES else ():
        new = order[0]
        for matrix in order[1:]:
            new = ast.BinOp(new, ast.MatMult(), matrix)
        yield Change(new, f"the order of the product is to be {ast.unparse(new)}", 4)


def _multiplied(e: ast.expr) -> Iterator[ast.expr]:
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult):
        yield from _multiplied(e.left)
        yield e.right
    else:
        yield e


def bracketed(e: ast.expr) -> Iterator[Change]:
    """a @ (b * c) for a @ b * c, and (a * b) @ c for a * (b @ c)."""
    if not (isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult)):
        return
    found = []
    if isinstance(e.left, ast.BinOp) and isinstance(e.left.op, ast.MatMult):
        inner = ast.BinOp(e.left.right, ast.Mult(), e.right)
        found.append(ast.BinOp(e.left.left, ast.MatMult(), inner))
    if isinstance(e.right, ast.BinOp) and isinstance(e.right.op, ast.MatMult):
        inner = ast.BinOp(e.left, ast.Mult(), e.right.left)
        found.append(ast.BinOp(inner, ast.MatMult(), e.right.right))
    for new in found:
        yield Change(new, f"the brackets are to stand as in {ast.unparse(new)}", 4)


def summed_with(e: ast.expr) -> Iterator[Change]:
    """(x * g).sum() for x * g.sum(), and x * g.sum() for (x * g).sum()."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult):
        for factor, call in ((e.left, e.right), (e.right, e.left)):
            if isinstance(call, ast.Call) and (name := reduction(call)):
                inner = times(factor, operands(call)[0])
                why = f"{shown(factor)} belongs into the {name}"
                yield Change(_reduced(name, inner, call), why, 4)
    elif isinstance(e, ast.Call) and (name := reduction(e)):
        inner = operands(e)[0]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
            for factor, other in ((inner.left, inner.right), (inner.right, inner.left)):
                new = times(factor, _reduced(name, other, e))
                yield Change(new, f"{shown(factor)} belongs outside of the {name}", 4)


def _reduced(name: str, e: ast.expr, call: ast.Call) -> ast.Call:
    """A part summed as a call sums."""
    args = call.args if isinstance(call.func, ast.Attribute) else call.args[1:]
    return method(e, name, args, call.keywords)
