"""What to write for steps that change a tensor in place: values never change here."""

import ast
from collections.abc import Callable
from typing import Any, TypeGuard

from ..errors import GradcliError, Span
from ..operators import lookup
from .refusals import BY_UNDERSCORE
from .source import Source
from .syntax import dotted, is_whole_number
from .vocabulary import module_of

COPIES = "index_put, select_scatter and slice_scatter give a changed copy"
INSTEAD = {"fill": "full_like", "zero": "zeros_like"}  # for names that no method has
LONG = "give the changed value a name: h = ..., and write h from there on"
NOT_IN_PLACE = "in-place changes are not part of the language"


def assigned(node: ast.Assign, source: Source) -> GradcliError:
    """The error for `x[0] = y`, and for what else cannot be given a value."""
    target = node.targets[0]
    if isinstance(target, ast.Tuple | ast.List):
        hint = "take tuples in tuples apart one at a time: a, b = y; c, d = b"
    elif isinstance(target, ast.Subscript):
        hint = f"{NOT_IN_PLACE}; {_told(changed_copy, target, node.value)}"
    else:
        hint = NOT_IN_PLACE
    said = "values are given to names only"
    return GradcliError("syntax", said, span=source.span(target), hint=hint)


def augmented(node: ast.AugAssign, source: Source) -> GradcliError:
    """The error for `x += y`, which in PyTorch changes x itself."""
    name = source.segment(node.target)
    sign = source.segment(node)[len(name) :].split("=")[0].strip()
    said = f"{sign}= changes {name} in place, and values never change here"
    result = ast.BinOp(node.target, node.op, node.value)
    hint = _told(changed_copy, node.target, result)
    return GradcliError("syntax", said, span=source.span(node), hint=hint)


def underscored(e: ast.Call, name: str, span: Span) -> GradcliError:
    """The error for `x.add_(y)`, which in PyTorch changes x itself."""
    said = f"{name} {BY_UNDERSCORE}"
    return GradcliError("unsupported", said, span=span, hint=_told(_plain_call, e, name))


def _told(hint: Callable, *parts: Any) -> str | None:
    """What to write, as `hint` says it; where it is too long to be said again, what to do."""
    try:
        return hint(*parts)
    except RecursionError:
        return LONG


def _plain_call(e: ast.Call, name: str) -> str | None:
    """The same call without the underscore: `write x = x.add(y)`; None where there is none."""
    func, plain = e.func, name.removesuffix("_")
    if not isinstance(func, ast.Attribute) or not (plain in INSTEAD or lookup(plain)):
        return None
    operands = e.args if module_of(dotted(func.value) or "") else [func.value, *e.args]
    if plain in INSTEAD:
        same = ast.Call(ast.Name(INSTEAD[plain]), operands, e.keywords)
    else:
        same = ast.Call(ast.Attribute(func.value, plain), e.args, e.keywords)
    changed = operands[0] if operands else None
    name = f"{changed.id} = " if isinstance(changed, ast.Name) else ""
    return f"write {name}{ast.unparse(same)}"


def changed_copy(target: ast.expr, value: ast.expr) -> str:
    """What to write for a change to `value`: `write x = x.index_put((tensor(0),), y)` for x[0]."""
    if not isinstance(target, ast.Subscript):
        return f"write {ast.unparse(target)} = {ast.unparse(value)}"
    if not isinstance(target.value, ast.Name):
        return COPIES
    base = target.value.id
    if isinstance(target.slice, ast.Compare):
        mask = ast.unparse(target.slice)
        return f"write {base} = {_where(base, mask, value)}{_wider(base, target.slice)}"
    items = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    if not all(map(is_whole_number, items)):
        return COPIES
    places = "".join(f"tensor({ast.unparse(item)}), " for item in items)
    places = places.strip() if len(items) == 1 else places.removesuffix(", ")
    return f"write {base} = {base}.index_put(({places}), {_as_tensor(ast.unparse(value))})"


def _wider(base: str, mask: ast.Compare) -> str:
    """What to add where a mask may have fewer dimensions than what it chooses from."""
    if any(isinstance(e, ast.Name) and e.id == base for e in ast.walk(mask)):
        return ""
    return f"; where {base} has a dimension more, with ({ast.unparse(mask)}).unsqueeze(-1)"


def _where(base: str, mask: str, value: ast.expr) -> str:
    """`where(x > 0, x + 1, x)` for x[x > 0] + 1; what takes the chosen elements together, as
    x[x > 0].sum(), has them alone.
    """
    whole = _of_all(value, mask)
    if any(_is_chosen(e, mask) for e in ast.walk(whole)):
        return f"{base}.index_put(({mask},), {ast.unparse(value)})"
    return f"where({mask}, {ast.unparse(whole)}, {base})"


def _of_all(e: ast.expr, mask: str) -> ast.expr:
    """Arithmetic on the elements that a mask chooses, as that on all of them."""
    if _is_chosen(e, mask):
        return e.value
    if isinstance(e, ast.BinOp) and not isinstance(e.op, ast.MatMult):
        return ast.BinOp(_of_all(e.left, mask), e.op, _of_all(e.right, mask))
    return ast.UnaryOp(e.op, _of_all(e.operand, mask)) if isinstance(e, ast.UnaryOp) else e


def _is_chosen(e: ast.AST, mask: str) -> TypeGuard[ast.Subscript]:
    return isinstance(e, ast.Subscript) and ast.unparse(e.slice) == mask


def _as_tensor(text: str) -> str:
    """tensor(2.0) for 2, as PyTorch needs it; other texts as they are."""
    try:
        return f"tensor({float(text)})"
    except ValueError:
        return text
