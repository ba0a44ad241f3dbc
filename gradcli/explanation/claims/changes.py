"""What can be done to one part of a formula, each with the mistake that it would mend.

Knows which mistakes people make, and nothing about whether a change is right.
"""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from ...language.inference.products import called
from ...language.inference.ranks import along_a_dimension
from ...language.syntax import is_whole_number
from .brackets import bracketed, ordered, summed_with
from .drafts import Change
from .functions import (
    branches_exchanged,
    compared_with_names,
    factor_missing,
    sisters,
    turned_round,
    with_derivatives,
    without_function,
)
from .parts import (
    REDUCTIONS,
    divided,
    expression,
    factors_of,
    is_size,
    method,
    operands,
    reduction,
    shown,
    times,
)
from .shifts import other_places
from .words import Words

EPSILON = 1e-3  # the largest number that is added to keep a denominator from 0
WIDER = 3  # the rank of another dimension


# ---- changes -------------------------------------------------------------------------------------


def changes(e: ast.expr, words: Words, whole: bool) -> Iterator[Change]:
    """What can be done to one part."""
    it = "it" if whole else shown(e)
    yield from _along_others(e, words.dims)
    yield from _permuted_back(e)
    yield from _widened(e, it)
    yield from _turned(e, it)
    yield from ordered(e)
    yield from bracketed(e)
    yield from summed_with(e)
    yield from turned_round(e)
    yield from sisters(e)
    yield from other_places(e)
    yield from compared_with_names(e, words.names)
    yield from branches_exchanged(e)
    yield from without_function(e)
    yield from _signs(e, it)
    yield from _dropped(e)
    yield from _factors(e, it, words)
    yield from _reductions(e, it, words.dims)


def _turned(e: ast.expr, it: str) -> Iterator[Change]:
    new, why = transposed(e, it)
    rank = 1 if isinstance(e, ast.Name | ast.Attribute | ast.Call) else 2
    yield Change(new, why, rank)
    if not isinstance(e, ast.Attribute):
        yield Change(ast.Attribute(e, "mT"), why, 2)
    elif e.attr == "T":
        last = ast.Attribute(e.value, "mT")
        yield Change(last, f"{ast.unparse(last)} belongs where {ast.unparse(e)} stands", 1)
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult):
        right = e.right.value if is_transposed(e.right) else e.right
        outer = ast.Call(ast.Name("outer"), [e.left, right], [])
        yield Change(outer, f"an outer product is meant: {ast.unparse(outer)}", 3)
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult | ast.Div):
        symbol = "@" if isinstance(e.op, ast.MatMult) else "/"
        yield Change(ast.BinOp(e.right, e.op, e.left), f"the operands of {symbol} are exchanged", 2)


def _permuted_back(e: ast.expr) -> Iterator[Change]:
    """g.permute(1, 2, 0) for g.permute(2, 0, 1)."""
    if not isinstance(e, ast.Call) or not all(map(is_whole_number, e.args)):
        return
    order = [ast.literal_eval(a) for a in e.args]
    if len(order) > 2 and sorted(order) == [*range(len(order))]:
        back: list[ast.expr] = [ast.Constant(order.index(d)) for d in range(len(order))]
        new = ast.Call(e.func, back, e.keywords)
        yield Change(new, f"the dimensions are to be moved back: {shown(new)}", 1)


def transposed(e: ast.expr, it: str) -> tuple[ast.expr, str]:
    """A part transposed, or not transposed any more; and why."""
    if is_transposed(e):
        return e.value, f"{shown(e.value)} is not to be transposed"
    return ast.Attribute(e, "T"), f"{it} is to be transposed"


def is_transposed(e: ast.expr) -> TypeGuard[ast.Attribute]:
    """Whether it is `x.T` or `x.mT`."""
    return isinstance(e, ast.Attribute) and e.attr in ("T", "mT")


def widened(e: ast.Call) -> bool:
    """Whether a call adds a dimension, as x.unsqueeze(0) does."""
    return isinstance(e.func, ast.Attribute) and e.func.attr == "unsqueeze"


def _widened(e: ast.expr, it: str) -> Iterator[Change]:
    """Another dimension, for what is multiplied with a tensor of more of them, or at another place
    than it has.
    """
    if isinstance(e, ast.Name | ast.Call | ast.Attribute) and not is_transposed(e):
        for place in ("-1", "0"):
            made = method(e, "unsqueeze", [expression(place)])
            yield Change(made, f"{it} lacks a dimension: {ast.unparse(made)}", WIDER, widens=True)
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and widened(e):
        for place in ("0", "1", "-1"):
            made = method(e.func.value, "unsqueeze", [expression(place)])
            if ast.unparse(made) != ast.unparse(e):
                yield Change(made, f"{ast.unparse(made)} belongs where {shown(e)} stands", 1)


def _signs(e: ast.expr, it: str) -> Iterator[Change]:
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add):
        yield Change(ast.BinOp(e.left, ast.Sub(), e.right), "a + is to be a -", 4)
    elif isinstance(e, ast.BinOp) and isinstance(e.op, ast.Sub):
        yield Change(ast.BinOp(e.left, ast.Add(), e.right), "a - is to be a +", 4)
        yield Change(ast.BinOp(e.right, ast.Sub(), e.left), "the sign is wrong", 4)
    elif isinstance(e, ast.UnaryOp):
        yield Change(e.operand, "a minus is one too many", 4)
    else:
        yield Change(opposite(e), f"the sign of {it} is wrong", 4)


def opposite(e: ast.expr) -> ast.expr:
    """A part with the other sign."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
        return e.operand
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult | ast.Div | ast.MatMult):
        return ast.BinOp(opposite(e.left), e.op, e.right)
    return ast.UnaryOp(ast.USub(), e)


def _dropped(e: ast.expr) -> Iterator[Change]:
    """A factor, a term or an exponent less."""
    if not isinstance(e, ast.BinOp):
        return
    if isinstance(e.op, ast.Mult):
        yield Change(e.right, f"the factor {shown(e.left)} is one too many", 4, alone=True)
        yield Change(e.left, f"the factor {shown(e.right)} is one too many", 4, alone=True)
        for kept, other in ((e.left, e.right), (e.right, e.left)):
            why = f"{shown(other)} divides, and does not multiply"
            yield Change(ast.BinOp(kept, ast.Div(), other), why, 5, alone=True)
    elif isinstance(e.op, ast.Div):
        yield Change(e.left, f"it is not to be divided by {shown(e.right)}", 4, alone=True)
        yield from _other_divisors(e.left, e.right)
        product = ast.BinOp(e.left, ast.Mult(), e.right)
        yield Change(product, f"{shown(e.right)} multiplies, and does not divide", 5, alone=True)
    elif isinstance(e.op, ast.Add | ast.Sub):
        right = e.right if isinstance(e.op, ast.Add) else ast.UnaryOp(ast.USub(), e.right)
        yield _without_term(e.left, e.right)
        yield _without_term(right, e.left)
    elif isinstance(e.op, ast.Pow) and isinstance(e.right, ast.Constant):
        exponent = e.right.value
        for n in (exponent - 1, exponent + 1) if isinstance(exponent, int | float) else ():
            new = e.left if n == 1 else ast.BinOp(e.left, e.op, ast.Constant(n))
            yield Change(new, f"the exponent is to be {n}", 4)
        yield from _lower_exponent(e)


def _lower_exponent(e: ast.BinOp) -> Iterator[Change]:
    """1 - y ** 2 for (1 - y) ** 2."""
    if isinstance(e.left, ast.BinOp):
        power = ast.BinOp(e.left.right, e.op, e.right)
        new = ast.BinOp(e.left.left, e.left.op, power)
        yield Change(new, f"the exponent is that of {shown(e.left.right)} alone", 5)


def _other_divisors(above: ast.expr, below: ast.expr) -> Iterator[Change]:
    """The root of what divides, and one less than a number of elements."""
    root = ast.Call(ast.Name("sqrt"), [below], [])
    yield Change(ast.BinOp(above, ast.Div(), root), f"the root of {shown(below)} divides", 5)
    if is_size(below):
        less = ast.BinOp(below, ast.Sub(), ast.Constant(1))
        why = f"it is to be divided by {ast.unparse(less)} in place of {ast.unparse(below)}"
        yield Change(ast.BinOp(above, ast.Div(), less), why, 5)


def without_small_term(e: ast.expr) -> Iterator[tuple[ast.expr, float]]:
    """What is left of a sum without a small number in it, and that number."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add | ast.Sub):
        for rest, term in ((e.left, e.right), (e.right, e.left)):
            number = _small_number(term)
            if number is not None:
                yield rest, number


def _small_number(e: ast.expr) -> float | None:
    value = e.value if isinstance(e, ast.Constant) else None
    return value if isinstance(value, float) and 0 < value <= EPSILON else None


def _without_term(rest: ast.expr, term: ast.expr) -> Change:
    number = _small_number(term)
    if number is not None:
        return Change(rest, f"right but for the small term {number}", 6)
    return Change(rest, f"the term {shown(term)} is one too many", 5, alone=True)


def _factors(e: ast.expr, it: str, words: Words) -> Iterator[Change]:
    """A factor more: the seed, a derivative, or anything that has a name."""
    if words.seed is not None:
        yield from _with_seed(e, words.seed)
    yield from with_derivatives(e, it, words.derivatives)
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add | ast.Sub):
        for term in (e.left, e.right):
            twice = ast.BinOp(ast.Constant(2), ast.Mult(), term)
            sides = (twice if side is term else side for side in (e.left, e.right))
            why = f"the term {shown(term)} is half what it should be"
            yield Change(ast.BinOp(next(sides), e.op, next(sides)), why, 4)
    if isinstance(e, ast.Name | ast.Call):
        squared = ast.BinOp(e, ast.Pow(), ast.Constant(2))
        yield Change(squared, f"{it} is to be squared", 5)
    for name in words.names:
        named = expression(name)
        yield Change(times(e, named), factor_missing(name, it), 7)
        if all(ast.unparse(factor) != name for factor in factors_of(e)):
            why = f"it is to be divided by {name}"
            yield Change(ast.BinOp(e, ast.Div(), named), why, 7)


def _with_seed(e: ast.expr, seed: str) -> Iterator[Change]:
    why, below = f"the seed {seed} is missing", divided(e)
    if below is not None:
        yield Change(ast.BinOp(ast.Name(seed), ast.Div(), below), why, 1)
    for place, text in enumerate((seed, f"{seed}.unsqueeze(-1)", f"{seed}.unsqueeze(0)")):
        yield Change(ast.BinOp(expression(text), ast.Mult(), e), why, 1 + (place > 0))
    for text in (seed, f"{seed}.T"):
        yield Change(ast.BinOp(expression(text), ast.MatMult(), e), why, 2)
        yield Change(ast.BinOp(e, ast.MatMult(), expression(text)), why, 2)
    turned = ast.Attribute(e, "T")
    yield Change(ast.BinOp(turned, ast.MatMult(), ast.Name(seed)), why, 3)
    yield Change(ast.BinOp(ast.Name(seed), ast.MatMult(), turned), why, 3)
    yield Change(ast.Call(ast.Name("outer"), [ast.Name(seed), e], []), why, 3)
    yield Change(ast.Call(ast.Name("outer"), [e, ast.Name(seed)], []), why, 3)


def added(left: ast.expr, right: ast.expr) -> ast.expr:
    """left + right; left - b where right is -b."""
    first = right
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mult | ast.Div | ast.MatMult):
        first = first.left
    if isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub):
        return ast.BinOp(left, ast.Sub(), opposite(right))
    return ast.BinOp(left, ast.Add(), right)


# ---- sums and means ------------------------------------------------------------------------------


def _reductions(e: ast.expr, it: str, dims: tuple[str, ...]) -> Iterator[Change]:
    """A sum more or less, over other dimensions, or a mean in its place."""
    name = reduction(e)
    if isinstance(e, ast.Call) and name is not None:
        base, other = operands(e)[0], REDUCTIONS[name]
        args = e.args if isinstance(e.func, ast.Attribute) else e.args[1:]
        why = f"a {name} stands where a {other} belongs"
        yield Change(method(base, other, args, e.keywords), why, 0)
        for over, kept in _dims(dims):
            why = f"the {name} of {shown(base)} is to go {_over(over)}{_keeping(kept)}"
            if kept and loses_dimension(e) and [*map(ast.dump, args)] == [*map(ast.dump, over)]:
                why = f"the {name} of {shown(base)} lacks keepdim=True"
            yield Change(method(base, name, over, kept), why, 2 if kept else 1)
        yield Change(base, f"the {name} is one too many", 4, alone=True)
        return
    for over, kept in _dims(dims):
        for kind, rank in (("sum", 4), ("mean", 6)):
            why = f"a {kind} of {it} {_over(over)} is missing{_keeping(kept)}"
            yield Change(method(e, kind, over, kept), why, rank)


def _along_others(e: ast.expr, dims: tuple[str, ...]) -> Iterator[Change]:
    """Another dimension for a function along one, as `softmax(x, 0)` is; or the dimension kept."""
    if not isinstance(e, ast.Call) or reduction(e) is not None:
        return
    old = dimension(e)
    if old is None:
        return
    if _may_keep(e):
        kept = keeping(e)
        why = f"{shown(e)} lacks a dimension: {ast.unparse(kept)}"
        yield Change(kept, why, WIDER, widens=True)
    for text in dims:
        new = expression(text)
        if is_whole_number(new) and text != ast.unparse(old):
            made, why = along(e, old, new), f"{shown(e)} is to go along dimension {text}"
            yield Change(made, why, 1)
            if _may_keep(e):
                yield Change(keeping(made), f"{why}, with keepdim=True", WIDER, widens=True)
    if "keepdim" in _places(e):
        yield Change(along(e, old, None), f"{shown(e)} is to go over all elements", 2)


def dimension(e: ast.Call) -> ast.expr | None:
    """The number of the dimension that a call goes along; None for other calls."""
    if along_a_dimension(e) is None:
        return None
    given = [*e.args[-1:], *(k.value for k in e.keywords if k.arg in ("dim", "axis"))]
    return next(filter(is_whole_number, given), None)


def along(e: ast.Call, old: ast.expr, new: ast.expr | None) -> ast.Call:
    """The same call along another dimension, or along none."""
    args = [new if a is old else a for a in e.args]
    pairs = [(k.arg, new if k.value is old else k.value) for k in e.keywords]
    named = [ast.keyword(k, v) for k, v in pairs if v and (new or k != "keepdim")]
    return ast.Call(e.func, [a for a in args if a], named)


def _places(e: ast.Call) -> tuple[str, ...]:
    op = called(e)
    return () if op is None else op.places


def _may_keep(e: ast.Call) -> bool:
    """Whether a call that takes keepdim=True has none."""
    return "keepdim" in _places(e) and all(k.arg != "keepdim" for k in e.keywords)


def loses_dimension(e: ast.AST) -> bool:
    """Whether a part of a formula is a call along a dimension that it does not keep."""
    return isinstance(e, ast.Call) and dimension(e) is not None and _may_keep(e)


def keeping(e: ast.Call) -> ast.Call:
    """The same call with the dimension kept that it goes along, if it takes that."""
    named = [ast.keyword("keepdim", ast.Constant(True))] if _may_keep(e) else []
    return ast.Call(e.func, e.args, [*e.keywords, *named])


def _over(args: list[ast.expr]) -> str:
    if not args:
        return "over all elements"
    several = "s" * isinstance(args[0], ast.Tuple)
    return f"over dimension{several} {ast.unparse(args[0])}"


def _keeping(keywords: list[ast.keyword]) -> str:
    return ", with keepdim=True" if keywords else ""


def _dims(dims: tuple[str, ...]) -> Iterator[tuple[list[ast.expr], list[ast.keyword]]]:
    keepdim = ast.keyword("keepdim", ast.Constant(True))
    for dim in dims:
        yield [expression(dim)], []
        yield [expression(dim)], [keepdim]
    yield [], []
