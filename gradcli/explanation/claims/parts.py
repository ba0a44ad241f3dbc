"""The parts of a formula, as Python's syntax has them."""

import ast
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from ...language.syntax import called_name
from .lengths import IN_FULL, INSIDE

REDUCTIONS = {"sum": "mean", "mean": "sum"}
SIZES = ("shape", "size", "numel", "ndim")


def parts(e: ast.expr) -> Iterator[ast.expr]:
    """The tensors that a formula is made of, from the outside in; numbers are none."""
    if is_number(e):
        return
    yield e
    for inner in operands(e):
        yield from parts(inner)


def operands(e: ast.expr) -> list[ast.expr]:
    """The tensors that a part is made of."""
    if isinstance(e, ast.BinOp):
        return [e.left, e.right]
    if isinstance(e, ast.Compare):
        return [e.left, *e.comparators]
    if isinstance(e, ast.UnaryOp):
        return [e.operand]
    if isinstance(e, ast.Attribute | ast.Subscript):
        return [e.value]
    if isinstance(e, ast.Call):
        return [e.func.value, *e.args] if isinstance(e.func, ast.Attribute) else list(e.args)
    return []


def factors_of(e: ast.expr) -> Iterator[ast.expr]:
    """What a formula is a product of, left of quotients."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult | ast.Div | ast.MatMult):
        yield from factors_of(e.left)
        yield from () if isinstance(e.op, ast.Div) else factors_of(e.right)
    elif isinstance(e, ast.UnaryOp):
        yield from factors_of(e.operand)
    else:
        yield e


def is_number(e: ast.expr) -> bool:
    """Whether it is a number, several of them, or a size."""
    if isinstance(e, ast.UnaryOp):
        return is_number(e.operand)
    return isinstance(e, ast.Constant | ast.Tuple | ast.List | ast.Starred) or is_size(e)


def is_size(e: ast.expr) -> bool:
    """Whether it is a size, as `x.shape[0]`, `x.size(0)`, `x.numel()` and `len(x)` are."""
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name):
        return e.func.id == "len"
    if isinstance(e, ast.Subscript | ast.Call):
        return is_size(e.value if isinstance(e, ast.Subscript) else e.func)
    return isinstance(e, ast.Attribute) and e.attr in SIZES


def expression(text: str) -> ast.expr:
    """A text as syntax."""
    return ast.parse(text, mode="eval").body


def shown(e: ast.expr) -> str:
    """A part as a sentence has it."""
    text = ast.unparse(e)
    return text if len(text) <= INSIDE else "a part of it"


def replaced_text(old: ast.expr, new: ast.expr) -> str:
    """`g.roll(-1) belongs where g.roll(1) stands`, or by names alone where calls are long."""
    texts = [ast.unparse(e) for e in (new, old)]
    if isinstance(old, ast.Call) and isinstance(new, ast.Call) and max(map(len, texts)) > IN_FULL:
        names = [ast.unparse(e.func).rpartition(".")[2] for e in (new, old)]
        texts = names if names[0] != names[1] else texts
    return f"{texts[0]} belongs where {texts[1]} stands"


def around(part: ast.expr, value: ast.expr) -> ast.expr | None:
    """What a part stands in, if the same stands elsewhere in the formula too."""
    text = ast.unparse(part)
    same = (e for e in ast.walk(value) if isinstance(e, type(part)) and ast.unparse(e) == text)
    if len([*same]) == 1:
        return None
    return next((e for e in parts(value) if part in operands(e)), None)


def times(e: ast.expr, factor: ast.expr) -> ast.expr:
    """e * factor."""
    return ast.BinOp(e, ast.Mult(), factor)


def is_quotient(e: ast.expr) -> TypeGuard[ast.BinOp]:
    """Whether it is a / b."""
    return isinstance(e, ast.BinOp) and isinstance(e.op, ast.Div)


def divided(e: ast.expr) -> ast.expr | None:
    """d of 1 / d, and of ones_like(x) / d; None for what is no such quotient."""
    if not is_quotient(e):
        return None
    one = isinstance(e.left, ast.Constant) and e.left.value == 1
    ones = isinstance(e.left, ast.Call) and ast.unparse(e.left.func) == "ones_like"
    return e.right if one or ones else None


def reduction(e: ast.expr) -> str | None:
    """ "sum" or "mean" for a call of it."""
    name = called_name(e) if operands(e) else None
    return name if name in REDUCTIONS else None


def method(
    base: ast.expr, name: str, args: Iterable[ast.expr] = (), keywords: Iterable[ast.keyword] = ()
) -> ast.Call:
    """base.name(args)."""
    return ast.Call(ast.Attribute(base, name), list(args), list(keywords))
