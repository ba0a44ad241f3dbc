"""Formulas as Python syntax trees: their parts, patterns that match parts, and replacements.

A pattern is a formula in which single letters stand for parts: `a @ b` matches any matrix product,
`a.unsqueeze(...)` a call with any arguments, and `a.R(...)` a sum or a mean, also `sum(a, ...)`;
some letters match parts of one kind only (`KINDS`).
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeGuard

from ...language.inference.products import called
from ...language.inference.ranks import along_a_dimension
from ...language.program import Program
from ...language.syntax import called_name, is_whole_number, negated

REDUCTIONS = {"sum": "mean", "mean": "sum"}
EPSILON = 1e-3  # the largest constant that counts as a guard of a denominator
SIZES = ("shape", "size", "numel", "ndim")
PRODUCTS = (ast.Mult, ast.Div, ast.MatMult)

Bindings = dict[str, Any]  # maps each letter of a pattern to the part that it matches


def expression(text: str) -> ast.expr:
    """A text as a syntax tree."""
    return ast.parse(text, mode="eval").body


# ---- parts ---------------------------------------------------------------------------------------


def parts(e: ast.expr) -> Iterator[ast.expr]:
    """The tensor-valued parts of a formula in pre-order, without numbers."""
    if is_number(e):
        return
    yield e
    for inner in operands(e):
        yield from parts(inner)


def operands(e: ast.expr) -> list[ast.expr]:
    """The operands of a part."""
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
    """The factors of a product, or of the numerator of a quotient."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, PRODUCTS):
        yield from factors_of(e.left)
        yield from () if isinstance(e.op, ast.Div) else factors_of(e.right)
    elif isinstance(e, ast.UnaryOp):
        yield from factors_of(e.operand)
    else:
        yield e


def around(part: ast.expr, value: ast.expr) -> ast.expr | None:
    """The operation that contains a part, if an equal part occurs elsewhere too; else None."""
    text = ast.unparse(part)
    same = (e for e in ast.walk(value) if isinstance(e, type(part)) and ast.unparse(e) == text)
    if len([*same]) == 1:
        return None
    return next((e for e in parts(value) if part in operands(e)), None)


def is_number(e: ast.expr) -> bool:
    """Whether an expression is a number, a list of numbers, or a size."""
    if isinstance(e, ast.UnaryOp):
        return is_number(e.operand)
    return isinstance(e, ast.Constant | ast.Tuple | ast.List | ast.Starred) or is_size(e)


def is_size(e: ast.expr) -> bool:
    """Whether an expression is a size: `x.shape[0]`, `x.size(0)`, `x.numel()` or `len(x)`."""
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name):
        return e.func.id == "len"
    if isinstance(e, ast.Subscript | ast.Call):
        return is_size(e.value if isinstance(e, ast.Subscript) else e.func)
    return isinstance(e, ast.Attribute) and e.attr in SIZES


def is_product(e: ast.AST) -> TypeGuard[ast.BinOp]:
    """Whether an expression is a product a * b."""
    return isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult)


def is_quotient(e: ast.AST) -> TypeGuard[ast.BinOp]:
    """Whether an expression is a quotient a / b."""
    return isinstance(e, ast.BinOp) and isinstance(e.op, ast.Div)


def is_sum(e: ast.AST) -> TypeGuard[ast.BinOp]:
    """Whether an expression is a sum a + b or a difference a - b."""
    return isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add | ast.Sub)


def is_transposed(e: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether an expression is `x.T` or `x.mT`."""
    return isinstance(e, ast.Attribute) and e.attr in ("T", "mT")


def reduction(e: ast.expr) -> str | None:
    """The name "sum" or "mean" if an expression is a call of it, else None."""
    name = called_name(e) if operands(e) else None
    return name if name in REDUCTIONS else None


# ---- patterns ------------------------------------------------------------------------------------


def small_number(e: ast.expr) -> float | None:
    """The value of a constant that may guard a denominator; None for others."""
    value = e.value if isinstance(e, ast.Constant) else None
    return value if isinstance(value, float) and 0 < value <= EPSILON else None


def _is_simple(e: ast.expr) -> bool:
    return isinstance(e, ast.Name | ast.Attribute | ast.Call)


KINDS: dict[str, Callable[[ast.expr], bool]] = {
    "x": lambda e: _is_simple(e) and not is_transposed(e),  # a name, an attribute or a call
    "y": lambda e: not is_transposed(e),
    "z": lambda e: not _is_simple(e),
    "f": lambda e: isinstance(e, ast.Name | ast.Call),
    "k": lambda e: small_number(e) is not None,
    "t": lambda e: small_number(e) is None,
    "l": is_size,
    "n": lambda e: isinstance(e, ast.Constant),
    "u": lambda e: isinstance(e, ast.BinOp),  # needs brackets after a minus
    "v": lambda e: not isinstance(e, ast.BinOp),
    "w": lambda e: not isinstance(e, ast.UnaryOp) and not is_sum(e),  # an operand without a sign
}
pattern = cache(expression)


def matched(text: str, e: ast.expr) -> Bindings | None:
    """The part that each letter of a pattern matches; None if the pattern does not match."""
    result: Bindings = {}
    return result if _matches(pattern(text), e, result) else None


def filled(text: str, result: Bindings) -> ast.expr:
    """A pattern with its letters replaced by parts."""
    built: ast.expr = _filled(pattern(text), result)
    return built


def _matches(p: Any, e: Any, result: Bindings) -> bool:
    """Whether a part matches a pattern; `result` collects the bindings of letters."""
    if isinstance(p, ast.Name) and len(p.id) == 1:
        result[p.id] = e
        return p.id not in KINDS or KINDS[p.id](e)
    if isinstance(p, ast.Call) and _method(p) == "R":
        name = reduction(e)
        if name is None:
            return False
        method = isinstance(e.func, ast.Attribute)
        rest = e.args if method else e.args[1:], e.keywords
        result |= {"R": name, "S": REDUCTIONS[name], "rest": rest}
        return _matches(p.func.value, operands(e)[0], result)  # type: ignore[attr-defined]
    if type(p) is not type(e):
        return False
    if isinstance(p, ast.Call) and isinstance(p.args[0], ast.Constant) and p.args[0].value is ...:
        return _matches(p.func, e.func, result)
    if isinstance(p, ast.Compare):
        if len(e.ops) > 1 or type(p.ops[0]) is not type(e.ops[0]):
            return False
        pairs = (p.left, e.left), (p.comparators[0], e.comparators[0])
        return all(_matches(*pair, result) for pair in pairs)
    fields = ((name, v) for name, v in ast.iter_fields(p) if name != "ctx")
    return all(_fields_match(v, getattr(e, name), result) for name, v in fields)


def _fields_match(v: Any, other: Any, result: Bindings) -> bool:
    """Whether a field of a pattern matches that of a part."""
    if isinstance(v, ast.expr):
        return _matches(v, other, result)
    if isinstance(v, list):
        return len(v) == len(other) and all(_fields_match(a, b, result) for a, b in zip(v, other))
    return type(v) is type(other) if isinstance(v, ast.AST) else v == other


def _filled(p: Any, result: Bindings) -> Any:
    """A copy of a pattern with bindings substituted."""
    if isinstance(p, ast.Name):
        return result[p.id] if len(p.id) == 1 else p
    if isinstance(p, ast.Call) and _method(p) in ("R", "S"):
        base = _filled(p.func.value, result)  # type: ignore[attr-defined]
        return method(base, result[_method(p)], *result["rest"])
    if isinstance(p, list):
        return [_filled(item, result) for item in p]
    if not isinstance(p, ast.expr):
        return p
    return type(p)(**{name: _filled(value, result) for name, value in ast.iter_fields(p)})


def _method(e: ast.Call) -> str:
    return e.func.attr if isinstance(e.func, ast.Attribute) else ""


# ---- other parts ---------------------------------------------------------------------------------


def replaced(e: Any, old: ast.expr, new: ast.expr) -> Any:
    """The tree with one part replaced; subtrees without that part are shared."""
    if e is old:
        return new
    if isinstance(e, list):
        items = [replaced(item, old, new) for item in e]
        return items if any(a is not b for a, b in zip(items, e)) else e
    if not isinstance(e, ast.expr | ast.keyword):
        return e
    fields = dict(ast.iter_fields(e))
    built = {name: replaced(value, old, new) for name, value in fields.items()}
    return type(e)(**built) if any(built[k] is not fields[k] for k in fields) else e


def ending(program: Program, value: ast.expr) -> str:
    """The text of a program with another value for its last statement."""
    return program.written(len(program.values) - 1, value)


def times(e: ast.expr, factor: ast.expr) -> ast.expr:
    """e * factor."""
    return ast.BinOp(e, ast.Mult(), factor)


def over(e: ast.expr, divisor: ast.expr) -> ast.expr:
    """e / divisor."""
    return ast.BinOp(e, ast.Div(), divisor)


def method(
    base: ast.expr, name: str, args: Iterable[ast.expr] = (), keywords: Iterable[ast.keyword] = ()
) -> ast.Call:
    """base.name(args)."""
    return ast.Call(ast.Attribute(base, name), list(args), list(keywords))


def divided(e: ast.expr) -> ast.expr | None:
    """The divisor d if an expression is 1 / d or ones_like(x) / d; None for others."""
    result = matched("1 / d", e) or matched("ones_like(...) / d", e)
    return None if result is None else result["d"]


def opposite(e: ast.expr) -> ast.expr:
    """The negation of a part; x for -x."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, PRODUCTS):
        return ast.BinOp(opposite(e.left), e.op, e.right)
    return negated(e) or ast.UnaryOp(ast.USub(), e)


def added(left: ast.expr, right: ast.expr) -> ast.expr:
    """left + right; left - b where right is -b."""
    first = right
    while isinstance(first, ast.BinOp) and isinstance(first.op, PRODUCTS):
        first = first.left
    if negated(first):
        return ast.BinOp(left, ast.Sub(), opposite(right))
    return ast.BinOp(left, ast.Add(), right)


def transposed(e: ast.expr) -> ast.expr:
    """The transpose of a part: x.T for x, and x for x.T."""
    return e.value if is_transposed(e) else ast.Attribute(e, "T")


# ---- parts in sentences --------------------------------------------------------------------------

LONG, SHORT = 60, 30  # largest numbers of characters of a part that is written out in a sentence


class Excerpt:
    """A part in a sentence: `{a}` is its text if that is short, else "a part of it"; `{a:long}`
    allows longer texts, and `{a:full}` any.
    """

    def __init__(self, e: ast.expr):
        self.e = e

    def __format__(self, spec: str) -> str:
        text = ast.unparse(self.e)
        most = {"": SHORT, "long": LONG, "full": len(text)}[spec]
        return text if len(text) <= most else "a part of it"


def excerpt(e: ast.expr) -> str:
    """The text of a part in a sentence."""
    return f"{Excerpt(e)}"


def replaced_text(old: ast.expr, new: ast.expr) -> str:
    """The sentence `g.roll(1) should be g.roll(-1)`; of long calls it has the names only."""
    texts = [ast.unparse(e) for e in (new, old)]
    if isinstance(old, ast.Call) and isinstance(new, ast.Call) and max(map(len, texts)) > LONG:
        names = [ast.unparse(e.func).rpartition(".")[2] for e in (new, old)]
        texts = names if names[0] != names[1] else texts
    return f"{texts[1]} should be {texts[0]}"


# ---- the dimension and keepdim of a call ---------------------------------------------------------


KEEPDIM = ast.keyword("keepdim", ast.Constant(True))


def dimension(e: ast.Call) -> ast.expr | None:
    """The dimension argument of a call such as x.sum(0), if it is an integer literal; else None."""
    if along_a_dimension(e) is None:
        return None
    candidates = [*e.args[-1:], *(k.value for k in e.keywords if k.arg in ("dim", "axis"))]
    return next(filter(is_whole_number, candidates), None)


def along(e: ast.Call, old: ast.expr, new: ast.expr | None) -> ast.Call:
    """The call with another dimension, or without one."""
    args = [new if a is old else a for a in e.args]
    pairs = [(k.arg, new if k.value is old else k.value) for k in e.keywords]
    named = [ast.keyword(k, v) for k, v in pairs if v and (new or k != "keepdim")]
    return ast.Call(e.func, [a for a in args if a], named)


def takes_keepdim(e: ast.Call) -> bool:
    """Whether a call takes keepdim=True."""
    op = called(e)
    return op is not None and "keepdim" in op.positional


def may_keep(e: ast.Call) -> bool:
    """Whether a call takes keepdim and does not have it."""
    return takes_keepdim(e) and all(k.arg != "keepdim" for k in e.keywords)


def loses_dimension(e: ast.AST) -> bool:
    """Whether a part of a formula is a reduction that drops its dimension."""
    return isinstance(e, ast.Call) and dimension(e) is not None and may_keep(e)


def keeping(e: ast.Call) -> ast.Call:
    """The call with keepdim=True, if it accepts that."""
    return ast.Call(e.func, e.args, [*e.keywords, *([KEEPDIM] if may_keep(e) else [])])
