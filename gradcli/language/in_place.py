"""What to write for steps that change a tensor in place: values never change here."""

import ast
from typing import TYPE_CHECKING

from ..errors import GradcliError

if TYPE_CHECKING:
    from .program import Source

COPIES = "index_put, select_scatter and slice_scatter give a changed copy"
NOT_IN_PLACE = "in-place changes are not part of the language"


def assigned(node: ast.Assign, source: "Source") -> GradcliError:
    """The error for `x[0] = y`, and for what else cannot be given a value."""
    target = node.targets[0]
    if isinstance(target, ast.Tuple | ast.List):
        hint = "take tuples in tuples apart one at a time: a, b = y; c, d = b"
    elif isinstance(target, ast.Subscript):
        copy = changed_copy(target, source.segment(node.value), source)
        hint = f"{NOT_IN_PLACE}; {copy}"
    else:
        hint = NOT_IN_PLACE
    said = "values are given to names only"
    return GradcliError("syntax", said, span=source.span(target), hint=hint)


def augmented(node: ast.AugAssign, source: "Source") -> GradcliError:
    """The error for `x += y`, which in PyTorch changes x itself."""
    name, value = source.segment(node.target), source.segment(node.value)
    sign = source.segment(node)[len(name) :].split("=")[0].strip()
    said = f"{sign}= changes {name} in place, and values never change here"
    result = f"{name} {sign} {value}"
    hint = f"write {name} = {result}"
    if isinstance(node.target, ast.Subscript):
        hint = changed_copy(node.target, result, source)
    return GradcliError("syntax", said, span=source.span(node), hint=hint)


def changed_copy(target: ast.Subscript, value: str, source: "Source") -> str:
    """What to write for a change of elements: `write x = x.index_put((tensor(0),), y)`."""
    base = source.segment(target.value)
    if not isinstance(target.value, ast.Name):
        return COPIES
    if isinstance(target.slice, ast.Compare):
        return f"write {base} = where({source.segment(target.slice)}, {value}, {base})"
    items = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    if not all(map(_is_whole, items)):
        return COPIES
    places = "".join(f"tensor({source.segment(item)}), " for item in items)
    places = places.strip() if len(items) == 1 else places.removesuffix(", ")
    return f"write {base} = {base}.index_put(({places}), {_as_tensor(value)})"


def _is_whole(e: ast.expr) -> bool:
    number = e.operand if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub) else e
    return isinstance(number, ast.Constant) and type(number.value) is int


def _as_tensor(text: str) -> str:
    """tensor(2.0) for 2, as PyTorch needs it; other texts as they are."""
    try:
        return f"tensor({float(text)})"
    except ValueError:
        return text
