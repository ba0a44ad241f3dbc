"""What can be done to a function in a formula: its derivative missing or belonging in its place,
branches and comparisons the other way round.
"""

import ast
from collections.abc import Iterable, Iterator

from ...graphs import Operator
from ...language.inference.products import called
from ...language.syntax import called_name
from .derivatives import Derivative
from .drafts import Change
from .parts import divided, expression, operands, replaced_text, shown, times

OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.LtE: ast.Gt, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
}  # fmt: skip
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.LtE: ast.GtE, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.Gt: ast.Lt,
}  # fmt: skip

PAIRS = "triu tril, amax amin, max min, maximum minimum, sin cos, sinh cosh"
SISTERS = dict(map(str.split, PAIRS.split(", ")))
SISTERS |= {b: a for a, b in SISTERS.items()}


def with_derivatives(e: ast.expr, it: str, derivatives: tuple[Derivative, ...]) -> Iterator[Change]:
    """A derivative as a factor of a part, or in the place of the function, what it is of, or a
    mask.
    """
    for formula, function, of in derivatives:
        slope = _as_condition(expression(formula))
        text = ast.unparse(slope)
        why = _missing(text, function, it)
        likely = it == "it" or not isinstance(e, ast.Attribute)  # g in x.T @ g, and not x.T
        yield Change(_with_factor(e, slope), why, 5 - likely)
        if isinstance(e, ast.Call | ast.Compare) or ast.unparse(e) in of:
            known = "" if function is None else f", the derivative of {function}"
            yield Change(slope, f"{shown(e)} is to be {text}{known}", 5)


def factor_missing(factor: str, it: str) -> str:
    """`the factor x is missing`, with the part that it belongs to where that is not all of it."""
    return f"the factor {factor} is missing" + f" beside {it}" * (it != "it")


def _missing(slope: str, function: str | None, it: str) -> str:
    if function is None:
        return factor_missing(slope, it)
    why = f"the derivative of {function}, {slope}, is missing as a factor"
    return why + f" of {it}" * (it != "it")


def _with_factor(e: ast.expr, slope: ast.expr) -> ast.expr:
    """e * slope; e / d for a slope 1 / d."""
    below = divided(slope)
    return times(e, slope) if below is None else ast.BinOp(e, ast.Div(), below)


def _as_condition(e: ast.expr) -> ast.expr:
    """h > 0 for where(h <= 0, 0, 1.0) and for (h > 0).double(), which may be masks combined."""
    if not isinstance(e, ast.Call):
        return e
    if isinstance(e.func, ast.Attribute) and _is_condition(e.func.value) and not e.args:
        return e.func.value
    if not (isinstance(e.func, ast.Name) and e.func.id == "where"):
        return e
    mask, no, yes = e.args
    known = isinstance(mask, ast.Compare) and type(mask.ops[0]) in OPPOSITE
    numbers = isinstance(no, ast.Constant) and isinstance(yes, ast.Constant)
    if not (known and numbers and (no.value, yes.value) == (0, 1)):  # type: ignore[attr-defined]
        return e
    assert isinstance(mask, ast.Compare)
    return ast.Compare(mask.left, [OPPOSITE[type(mask.ops[0])]()], mask.comparators)


def _is_condition(e: ast.expr) -> bool:
    combined = isinstance(e, ast.BinOp) and isinstance(e.op, ast.BitAnd | ast.BitOr)
    return combined or isinstance(e, ast.Compare)


def turned_round(e: ast.expr) -> Iterator[Change]:
    """A comparison the other way round."""
    if isinstance(e, ast.Compare) and type(e.ops[0]) in MIRRORED and len(e.ops) == 1:
        new = ast.Compare(e.left, [MIRRORED[type(e.ops[0])]()], e.comparators)
        yield Change(new, f"the comparison is the wrong way round: {ast.unparse(new)}", 3)


def compared_with_names(e: ast.expr, names: Iterable[str]) -> Iterator[Change]:
    """x > y for x > 0, or for 0 > y."""
    if not isinstance(e, ast.Compare) or len(e.ops) > 1:
        return
    left, right = e.left, e.comparators[0]
    for name in map(expression, names):
        for old, sides in ((right, (left, name)), (left, (name, right))):
            if isinstance(old, ast.Constant):
                new = ast.Compare(sides[0], e.ops, [sides[1]])
                yield Change(new, f"{ast.unparse(new)} belongs where {ast.unparse(e)} stands", 4)


def branches_exchanged(e: ast.expr) -> Iterator[Change]:
    """The branches of a condition exchanged."""
    op = _elementwise(e)
    if isinstance(e, ast.Call) and op is not None and _has_branches(e, op):
        turned = ast.Call(e.func, [e.args[0], e.args[2], e.args[1]], e.keywords)
        yield Change(turned, f"the branches of {op.name} are exchanged", 2)


def sisters(e: ast.expr) -> Iterator[Change]:
    """triu(x) for tril(x), cos(x) for sin(x)."""
    name = called_name(e)
    if isinstance(e, ast.Call) and name in SISTERS:
        method = isinstance(e.func, ast.Attribute)
        func = ast.Attribute(e.func.value, SISTERS[name]) if method else ast.Name(SISTERS[name])  # type: ignore[attr-defined]
        new = ast.Call(func, e.args, e.keywords)
        yield Change(new, replaced_text(e, new), 4)


def without_function(e: ast.expr) -> Iterator[Change]:
    """What an elementwise function is of, in its place."""
    op = _elementwise(e)
    if isinstance(e, ast.Call) and op is not None and not _has_branches(e, op):
        for inner in operands(e)[:1]:
            yield Change(inner, f"{shown(inner)} belongs where {shown(e)} stands", 5)


def _elementwise(e: ast.expr) -> Operator | None:
    """The elementwise operation that a part calls; None for other parts."""
    op = called(e) if isinstance(e, ast.Call) else None
    return op if isinstance(op, Operator) and op.family == "elementwise" else None


def _has_branches(e: ast.Call, op: Operator) -> bool:
    return bool(op.masks) and len(op.inputs) == len(e.args) == 3
